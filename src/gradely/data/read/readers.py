"""Read qrels and runs from files of every format, dataframes, records and dicts."""

import os
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from gradely.data.column_roles import ROLES, Names, normalize
from gradely.data.qrels import Qrels
from gradely.data.read.dicts import MAPPING, are_by_subtopic, are_plain, as_labels, as_scores
from gradely.data.read.formats import FORMATS, ReadOptions, format_of, open_file, run_name
from gradely.data.read.responses import PLAIN, describe_failure, results_of
from gradely.data.source import Source, is_folder_or_pattern
from gradely.data.table import DUPLICATES, Run, Scores, Table
from gradely.data.uncertain import UncertainQrels, join_columns
from gradely.errors import DataError, InputError, clip
from gradely.settings import DuplicatePolicy, check_choice

if TYPE_CHECKING:
    from gradely.data.read.trec import TrecTable

ARRAYS = "; for arrays, there is evaluate_arrays(scores, labels, group=sizes)"
TABLES = "; it holds many tables, so give one of them: {}.table('run')"
WEIGHTS = {"document": "subtopic", "label": "weight"}
"""names of the columns in a table of subtopic weights, in which subtopics are read as documents"""
HINTS = {
    **dict.fromkeys(("numpy", "torch", "jax", "jaxlib", "cupy"), ARRAYS),
    "duckdb": TABLES.format("connection"),
    "pyspark": TABLES.format("spark"),
}
"""advice by the library of an object that cannot be read"""


def read_qrels(
    qrels: Any,
    *,
    format: str | None = None,  # noqa: A002 - its name
    columns: Names | None = None,
    duplicates: DuplicatePolicy = "error",
    threads: int | None = None,
    subtopics: Any = False,
) -> Qrels:
    """Read qrels: a file, a dataframe, records, {query: {document: label}}, or {query: [relevant documents]}.

    `format` is "trec", "csv", "tsv", "json", "jsonl", "parquet" or "letor"; by default, it is recognised.
    `columns` gives the names of the columns of a table if they are unusual: {"query": "uid", "document": "iid",
    "label": "clicks"}. A table without labels contains relevant documents, each with label 1.
    `duplicates` says what to do with duplicate documents of a query: "error" (the default), "max", "sum" or "first".
    `subtopics=True` reads judgments by subtopic: from the second field of TREC diversity qrels, a column subtopic, or
    {query: {document: {subtopic: label}}}, which is always read by subtopic. Instead of True, it may be the weights of
    the subtopics: {query: {subtopic: weight}}, a table of query, subtopic and weight, or a file with these fields.

    >>> read_qrels({"q1": {"d1": 2, "d2": 0}, "q2": ["d7"]})
    Qrels(qrels: 2 queries, 3 judgments)
    """
    if format is not None:
        check_choice("format", format, FORMATS, InputError)
    check_choice("way to treat duplicates", duplicates, DUPLICATES)
    if isinstance(qrels, Qrels):
        return qrels
    options = ReadOptions("label", columns, duplicates)
    in_file = isinstance(qrels, str | os.PathLike | Source)
    if subtopics is not False or "subtopic" in (columns or {}) or (not in_file and are_by_subtopic(qrels)):
        from gradely.data.read.subtopics import read_by_subtopic

        held = Source(qrels) if isinstance(qrels, str | os.PathLike) else qrels
        by_subtopic = read_by_subtopic(held, format, options)
        return by_subtopic if isinstance(subtopics, bool) else weigh_subtopics(by_subtopic, subtopics)
    if in_file:
        source = qrels if isinstance(qrels, Source) else Source(qrels)
        name, open_with = source.name, partial(open_file, source, format)
    else:
        name, open_with = "qrels", partial(_read_object, qrels, "qrels")
    labels = open_with(options)
    if isinstance(labels, Table) and labels.chances:

        def read_column(column: str) -> Qrels:
            table = open_with(options._replace(columns={**(columns or {}), "label": column}))
            return cast("Table", table).qrels(threads)

        return join_columns(labels.chances, read_column)
    if isinstance(labels, Table):
        return labels.qrels(threads)
    judgments = _judgments_of(labels, name)
    judgments.whole = getattr(labels, "whole", False)
    judgments.notes = [*getattr(labels, "notes", ()), *judgments.notes]
    return judgments


def _judgments_of(labels: Mapping[str, Mapping[str, Any]], name: str) -> Qrels:
    """Return the judgments of {query: {document: label}}, in which a label may be {label: probability}."""
    try:
        return Qrels.of(labels, name)
    except DataError:
        if not any(isinstance(value, Mapping) for docs in labels.values() for value in docs.values()):
            raise
    return UncertainQrels.of_labels(labels, name)


def weigh_subtopics(qrels: Qrels, weights: Any) -> Qrels:
    """Return judgments by subtopic with weights of the subtopics: {query: {subtopic: weight}}, a table or a file."""
    assert qrels.subtopics is not None
    qrels.subtopics = qrels.subtopics.with_weights(read_subtopic_weights(weights), qrels.queries, "subtopic weights")
    return qrels


def read_subtopic_weights(weights: Any) -> dict[str, dict[str, float]]:
    """Return {query: {subtopic: weight}} from a table of query, subtopic and weight, or text with three fields."""
    source = Source(weights) if isinstance(weights, str | os.PathLike) else None
    if source is not None and format_of(source) == "trec":
        from gradely.data.read.subtopics import read_weight_lines

        return read_weight_lines(source)
    try:
        table = read_qrels(source or weights, columns=None if isinstance(weights, MAPPING) else WEIGHTS)
    except (InputError, DataError) as error:  # whose message says qrels for any input
        raise type(error)(str(error).replace("qrels: ", "subtopic weights: ", 1)) from None
    return {query: table.labels(query) for query in table.queries}


def read_run(
    run: Any,
    *,
    format: str | None = None,  # noqa: A002 - its name
    columns: Names | None = None,
    duplicates: DuplicatePolicy = "error",
    feature: int | None = None,
    ascending: bool = False,
    split: str | None = None,
    document_pattern: str | None = None,
) -> Run:
    """Read a run: a file, a dataframe, records, {query: {document: score}}, or ranked documents.

    `format`, which may also be "msmarco", `columns` and `duplicates` are as in read_qrels; with duplicates="max",
    passages with the name of their document become one document with their best score. In a LETOR file, `feature` is
    the number of the feature to rank by, and `ascending` is true if low values are best. `split`, such as "test" or
    "default/test", chooses one of the splits in predictions of MTEB. `document_pattern`, a regular expression like
    "^(.*)#", turns passages into documents: the match of its group in the name of a passage is the document, which has
    the score of its best passage. TREC and JSON files are read at once, CSV, Parquet and dataframes when their scores
    are needed.

    >>> read_run({"q1": {"d1": 0.9, "d2": 0.4}, "q2": ["d7", "d3"]})
    Run(run: 2 queries)
    """
    ranking = open_run(
        run,
        format=format,
        columns=columns,
        duplicates=duplicates,
        feature=feature,
        ascending=ascending,
        split=split,
        document_pattern=document_pattern,
    )
    table = trec_table(ranking)
    return ranking if table is None else Run(table.plain(), ranking.name, ranking.where)


def open_run(
    run: Any,
    *,
    format: str | None = None,  # noqa: A002 - its name
    columns: Names | None = None,
    duplicates: str = "error",
    feature: int | None = None,
    ascending: bool = False,
    split: str | None = None,
    document_pattern: str | None = None,
) -> Run:
    """Open a run as read_run does, but read tables (TREC, CSV, Parquet, frames) only when their scores are needed.

    If `run` is a function, it is called to get the run.
    """
    while callable(run):
        run = run()
    if format is not None:
        check_choice("format", format, FORMATS, InputError)
    check_choice("way to treat duplicates", duplicates, DUPLICATES)
    ranking = _open(run, format, ReadOptions("score", columns, duplicates, feature, ascending, split))
    if document_pattern is None:
        return ranking
    from gradely.data.read.passages import merge_passages

    return merge_passages(ranking, document_pattern, duplicates)


def _open(run: Any, form: str | None, options: ReadOptions) -> Run:
    """Open a run with these options."""
    if isinstance(run, Run):
        return run
    if isinstance(run, MAPPING) or not isinstance(run, str | os.PathLike | Source):
        return Run(_read_object(run, "run", options), "run")
    source = run if isinstance(run, Source) else Source(run)
    form, feature = form or format_of(source), options.feature
    if feature is not None and form != "letor":
        from gradely.data.read.letor import EXPECTED

        raise InputError(f"{source.name}: only LETOR files have features to rank by ({EXPECTED})")
    scores = open_file(source, form, options)
    name = run_name(source.path)
    return Run(scores, name, source.name) if feature is None else Run(scores, f"{name}:{feature}")


def trec_table(run: Run) -> "TrecTable | None":
    """Return the table of a run that is a TREC file, or None for other runs."""
    if not isinstance(run.scores, Table):
        return None
    from gradely.data.read.trec import TrecTable

    return run.scores if isinstance(run.scores, TrecTable) else None


def files_at(path: str) -> list[str]:
    """Return the files that are read for a path: the file and its file of group sizes, if any, or those of a folder."""
    if not os.path.isfile(path) and is_folder_or_pattern(path):
        from gradely.data.read.frames import parquet_files

        with suppress(InputError):
            return [source.path for source in parquet_files(Source(path))]
    from gradely.data.read.letor import sizes_file

    sizes = sizes_file(path)
    return [path] if sizes is None else [path, sizes]


def _read_object(value: Any, name: str, options: ReadOptions) -> Scores:
    """Read an object in memory, or open a frame that is in an engine."""
    kind, columns, duplicates, *_ = options
    if isinstance(value, MAPPING):
        return _read_mapping(value, name, options)
    from gradely.data.engine import ONE_AT_A_TIME, EngineScores, is_lazy
    from gradely.data.read.exports import is_ragas, read_export, unwrap
    from gradely.data.read.frames import FrameTable, is_frame, names_of, rows_of
    from gradely.data.read.records import RecordTable, are_records

    if is_frame(value):
        with ONE_AT_A_TIME:  # a connection of DuckDB refuses a second call
            names = names_of(value)
        if is_ragas(names):
            value = rows_of(value)
        elif kind == "score" and is_lazy(value):
            return EngineScores(value, name, columns, duplicates)
        else:
            return FrameTable(value, kind, name, columns, duplicates)
    if are_records(value):
        _refuse_list(value, kind, name)
        exported = read_export(value, kind, name, duplicates)
        return RecordTable(value, kind, name, columns, duplicates) if exported is None else exported
    library = type(value).__module__.split(".")[0].lstrip("_")
    held = value if library in HINTS else unwrap(value, kind)
    if held is not value:
        return _read_object(held, name, options)
    raise DataError(f"{name}: {_refuse(value, kind)}{HINTS.get(library, '')}")


def _read_mapping(value: Mapping[Any, Any], name: str, options: ReadOptions) -> Scores:
    """Read {query: …}, or the export of another tool."""
    kind, columns, duplicates, *_ = options
    if not are_plain(value):
        from gradely.data.read.exports import choose_split, read_export

        value = choose_split(value, kind, name, options.split)
        exported = read_export(value, kind, name, duplicates)
        if exported is not None:
            return exported
    first = next(iter(value.values()), None)
    if isinstance(first, list | tuple) or results_of(first) is not None or describe_failure(first) is not None:
        from gradely.data.read.records import RecordTable, as_nested

        nested = as_nested(value)
        if nested is not None:
            return RecordTable(nested, kind, name, columns, duplicates)
    if kind == "label":
        return as_labels(value, name)
    _refuse_several(value, name)
    return as_scores(value, name, duplicates)


def _refuse_several(runs: Mapping[Any, Any], name: str) -> None:
    """Raise DataError for a dict of several runs, whose values are paths or rankings by query."""
    first = next(iter(runs.values()), None)
    inside = next(iter(first.values()), None) if isinstance(first, MAPPING) else None
    if isinstance(first, MAPPING) and isinstance(inside, MAPPING):
        fields = [key for key in inside if normalize(key) in map(normalize, ROLES["score"])]
        if fields:
            where = f"{name}: query {clip(str(next(iter(runs))))}, document {clip(str(next(iter(first))))}"
            raise DataError(f"{where}: expected a number, found fields: give {{query: {{document: {fields[0]}}}}}")
    names_file = isinstance(first, str) and ("." in first or os.sep in first)
    if names_file or isinstance(first, os.PathLike | Run) or isinstance(inside, (*MAPPING, list, tuple)):
        names = ", ".join(clip(str(one), 30) for one in islice(runs, 3))
        raise DataError(
            f"{name}: looks like several runs by name, {names}: give one of them, or all to evaluate_runs(qrels, runs) "
            "or compare(qrels, runs)"
        )


SEVERAL = "; evaluate_runs and compare take {name: run}, and compare also {system: [run, run]}"
"""what to do with several runs"""


def _refuse_list(value: list[Any], kind: str, name: str) -> None:
    """Raise DataError for a list of several runs or qrels, each {query: {document: number}}."""
    first = value[0]
    if (
        isinstance(first, MAPPING)
        and all(isinstance(inside, MAPPING) for inside in first.values())
        and are_plain(first)
    ):
        several = SEVERAL if kind == "score" else ""
        raise DataError(f"{name}: is a list of {len(value):,} {{query: {{document: {kind}}}}}: give one{several}")


def _refuse(value: Any, kind: str) -> str:
    """Return the error for an object that cannot be read, with advice."""
    if hasattr(value, "read"):
        path = getattr(value, "name", None)
        give = "records, or a file that holds the text" if path is None else f"its path, {path!r}"
        return f"is an open file: give {give}"
    if isinstance(value, list | tuple) and value and all(isinstance(one, str | os.PathLike | Qrels) for one in value):
        several = SEVERAL if kind == "score" else ""
        return f"is a list of {len(value)}: give one, or concatenate the files first, as with cat{several}"
    if isinstance(value, list | tuple) and value and not isinstance(value[0], PLAIN):
        kind_of = type(value[0]).__name__
        tuples = isinstance(value[0], list | tuple)
        items = f"{kind_of}s, whose values have no names" if tuples else f"objects of type {kind_of}"
        return (
            f"is a list of {items}: give dicts or named tuples, like {{'query': 'q1', 'document': 'd1', {kind!r}: 1}}"
        )
    if isinstance(value, list | tuple) and not value:
        return f"cannot be read from {type(value).__name__}: it has no rows"
    if hasattr(value, "qrels_iter"):
        return "is a data set of ir_datasets: give its qrels_iter()"
    return f"cannot be read from {type(value).__name__}; give a path, a dataframe or {{query: {{document: {kind}}}}}"
