"""Qrels and runs from anything: files of every format, dataframes, dicts."""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, TypeAlias

from gradely.data.qrels import Qrels
from gradely.data.read.column_roles import DUPLICATES, Names
from gradely.data.read.dicts import MAPPING, WholeKeys, as_labels, as_scores
from gradely.data.read.sources import FORMATS, Source, clip, format_of, run_name
from gradely.data.table import Table, TableScores, qrels_from
from gradely.data.trec import plain as trec
from gradely.data.trec.plain import Rows, to_number
from gradely.errors import DataError, InputError, did_you_mean
from gradely.parallel import cores
from gradely.settings import check_choice
from gradely.tables import count_of

DOCID = re.compile(rb"docid\s*=\s*(\S+)")
EXPECTED = "label qid:Q 1:value 2:value …"
ABSENT = (b"null", b"nan")
SIZES = (".query", ".group")
"""endings of the file of sizes, which come after the name of the file or in place of its own ending"""


def looks_like(start: bytes) -> bool:
    """True where the first line has a qid field, or numbered features without one."""
    return re.match(rb"\s*\S+\s+(qid:\S|\d+:\S+\s+\d+:)", start) is not None


def read_labels(source: Source) -> dict[str, dict[str, float]]:
    """Return {query: {document: label}}; a document is its docid, or else its line number."""
    rows = Rows(source.name)
    for number, query, doc, fields in _lines(source):
        rows.add(number, query, doc, to_number(source, "label", number, fields[0].decode()))
    return rows.values


def read_feature(source: Source, feature: int, *, ascending: bool) -> dict[str, dict[str, float]]:
    """Return {query: {document: score}} with a feature as the score.

    A feature that a line does not list is 0, one that is NULL means not retrieved. With `ascending`, low values are
    best, as where features are ranks.
    """
    rows, prefix, present = Rows(source.name), b"%d:" % feature, False
    for number, query, doc, fields in _lines(source):
        value = next((field[len(prefix) :] for field in fields[1:] if field.startswith(prefix)), None)
        present = present or value is not None
        rows.values.setdefault(query, {})
        if value is None or value.lower() not in ABSENT:
            score = to_number(source, f"feature {feature}", number, (value or b"0").decode())
            rows.add(number, query, doc, -score if ascending else score)
    if not present:
        raise InputError(f"{source.name}: no line has a feature {feature}")
    return rows.values


def _lines(source: Source) -> Iterator[tuple[int, str, str, list[bytes]]]:
    """Yield number, query, document and the fields of each line."""
    beside: Iterator[str] | None = None
    sizes = sizes_file(source.path)
    for count, (number, line) in enumerate(source.lines()):
        content, _, comment = line.partition(b"#")
        fields = content.split()
        own = len(fields) > 1 and fields[1].startswith(b"qid:")
        if count == 0 and not own and sizes is not None:
            beside = _queries(sizes)
        if beside is None and (not own or len(fields[1]) == 4):
            raise InputError(f"{source.name}:{number}: expected {EXPECTED}, found {clip(line)}{_hint(source, line)}")
        query = fields[1][4:].decode() if beside is None else next(beside, None)
        if query is None:
            raise InputError(f"{source.name}:{number}: {sizes} has sizes for {count:,} lines only")
        named = DOCID.search(comment)
        yield number, query, named[1].decode() if named else str(number), fields
    if beside is not None and next(beside, None) is not None:
        raise InputError(f"{sizes}: the sizes add up to more lines than {source.name} has")


def _hint(source: Source, line: bytes) -> str:
    if b":" not in line or b"qid:" in line:
        return ""
    beside = os.path.basename(source.path) + SIZES[0]
    return f"; write the query of each line into it, or the sizes of the groups into {beside}"


def sizes_file(path: str) -> str | None:
    """Return the file of sizes beside a file, where there is one."""
    stem = os.path.splitext(path)[0]
    names = [base + ending for base in (path, stem) for ending in SIZES]
    return next((name for name in names if os.path.isfile(name)), None)


def _queries(path: str) -> Iterator[str]:
    """Yield the query of each line, numbered from 1, from a file with one size per line."""
    query = 0
    for number, line in Source(path).lines():
        for word in line.split():
            if not word.isdigit() or len(word) > 15:
                raise InputError(f"{path}:{number}: expected the size of a group, a whole number; found {clip(line)}")
            query += 1
            for _ in range(int(word)):
                yield str(query)


ARRAYS = "; for arrays, there is evaluate_arrays(scores, labels, group=sizes)"
TABLES = "; it holds many tables, so give one of them: {}.table('run')"
HINTS = {
    **dict.fromkeys(("numpy", "torch", "jax", "jaxlib", "cupy"), ARRAYS),
    "duckdb": TABLES.format("connection"),
    "pyspark": TABLES.format("spark"),
}
"""what to do instead, by the library that something comes from which cannot be read"""

Scores: TypeAlias = Mapping[str, Mapping[str, float]]


class Run:
    """A run, what was retrieved: {query: {document: score}}, ids as text."""

    def __init__(self, scores: Scores, name: str = "run") -> None:
        """Hold the scores and what the run is called."""
        self.scores, self.name = scores, name

    def __len__(self) -> int:
        """Return the number of queries."""
        return len(self.scores)

    def __repr__(self) -> str:
        """Say what it holds."""
        return f"Run({self.name}: {count_of(len(self), 'query')})"


def read_qrels(
    qrels: Any,
    *,
    format: str | None = None,  # noqa: A002 - its name
    columns: Names | None = None,
    duplicates: str = "error",
    threads: int | None = None,
) -> Qrels:
    """Read qrels: a file, a dataframe, records, {query: {document: label}}, or {query: [relevant documents]}.

    `format` is one of trec, csv, tsv, json, jsonl, parquet, letor; by default it is recognised.
    `columns` says what a table calls its columns, where their names are unusual: {"query": "uid", "document": "iid",
    "label": "clicks"}. A table without labels holds relevant documents, each with label 1.
    `duplicates` says what to do with a document that is there twice for a query: error, or max, sum, first.

    >>> read_qrels({"q1": {"d1": 2, "d2": 0}, "q2": ["d7"]})
    Qrels(qrels: 2 queries, 3 judgments)
    """
    if isinstance(qrels, Qrels):
        return qrels
    check_choice("way to treat duplicates", duplicates, DUPLICATES)
    if not isinstance(qrels, str | os.PathLike | Source):
        return _as_qrels(_in_memory(qrels, "qrels", "label", columns, duplicates), "qrels", threads)
    source = qrels if isinstance(qrels, Source) else Source(qrels)
    name = format or format_of(source)
    if name == "trec":
        return _trec_qrels(source, duplicates, threads or cores())
    if name == "letor":
        return Qrels.of(read_labels(source), source.name)
    return _as_qrels(_read_shared(source, name, "label", columns, duplicates), source.name, threads)


def files_at(path: str) -> list[str]:
    """Return the files that are read where a path is given: itself, one of sizes beside it, or those of a folder."""
    if not os.path.isfile(path):
        from gradely.data.read.frames import is_folder_or_pattern, parquet_files

        if is_folder_or_pattern(path):
            with suppress(InputError):
                return [source.path for source in parquet_files(Source(path))]
    sizes = sizes_file(path)
    return [path] if sizes is None else [path, sizes]


def _as_qrels(labels: Scores | Table, name: str, threads: int | None) -> Qrels:
    """Return judgments from what was read."""
    if not isinstance(labels, dict) and isinstance(labels, Table):
        return qrels_from(labels, threads)
    qrels = Qrels.of(labels, name)
    qrels.whole, qrels.notes = isinstance(labels, WholeKeys), list(getattr(labels, "notes", ()))
    return qrels


def _trec_qrels(source: Source, duplicates: str, threads: int) -> Qrels:
    """Read judgments the fast way; small or odd text the plain way, which explains what is wrong with it."""
    if not source.is_small:
        from gradely.data.trec.qrels import load_qrels
        from gradely.data.trec.text import IrregularText

        with suppress(IrregularText):
            return load_qrels(source, threads)
    return Qrels.of(trec.read(source, trec.QRELS, duplicates), source.name)


def read_run(
    run: Any,
    *,
    format: str | None = None,  # noqa: A002 - its name
    columns: Names | None = None,
    duplicates: str = "error",
    feature: int | None = None,
    ascending: bool = False,
) -> Run:
    """Read a run: a file, a dataframe, records, {query: {document: score}}, or ranked documents.

    `columns` and `duplicates` are as in read_qrels; with duplicates="max", passages of a document become the document,
    with their best score. In a LETOR file, `feature` is the number of the feature to rank by, and `ascending` says that
    low values are best.

    >>> read_run({"q1": {"d1": 0.9, "d2": 0.4}, "q2": ["d7", "d3"]})
    Run(run: 2 queries)
    """
    ranking = open_run(run, format=format, columns=columns, duplicates=duplicates, feature=feature, ascending=ascending)
    return plain_run(ranking) if isinstance(ranking, Source) else ranking


def open_run(
    run: Any,
    *,
    format: str | None = None,  # noqa: A002 - its name
    columns: Names | None = None,
    duplicates: str = "error",
    feature: int | None = None,
    ascending: bool = False,
) -> Run | Source:
    """Read a run, as read_run does, but leave a TREC file to be read piece by piece. A function opens its run."""
    if callable(run):
        return open_run(run())
    if isinstance(run, Run | Source):
        return run
    check_choice("way to treat duplicates", duplicates, DUPLICATES)
    if isinstance(run, MAPPING) or not isinstance(run, str | os.PathLike):
        return _as_run(_in_memory(run, "run", "score", columns, duplicates), "run")
    source = Source(run)
    name = format or format_of(source)
    if feature is not None or name == "letor":
        return Run(_feature(source, name, feature, ascending=ascending), f"{run_name(source.path)}:{feature}")
    if name == "trec":
        return source if duplicates == "error" else plain_run(source, duplicates)
    return _as_run(_read_shared(source, name, "score", columns, duplicates), run_name(source.path))


def _as_run(scores: Scores | Table, name: str) -> Run:
    """Return a run from what was read; a table is read on when it is needed."""
    return Run(scores if isinstance(scores, dict) or not isinstance(scores, Table) else TableScores(scores), name)


def plain_run(source: Source, duplicates: str = "error") -> Run:
    """Read a TREC file as a whole."""
    return Run(trec.read(source, trec.RUN, duplicates), run_name(source.path))


def _in_memory(value: Any, name: str, kind: str, columns: Names | None, duplicates: str) -> Scores | Table:
    if isinstance(value, MAPPING):
        return as_labels(value, name) if kind == "label" else as_scores(value, name)
    from gradely.data import engine
    from gradely.data.read import frames

    if kind == "score" and engine.is_lazy(value):
        return engine.EngineScores(value, name, columns, duplicates)
    if frames.is_frame(value):
        return frames.FrameTable(value, kind, name, columns, duplicates)
    if frames.are_records(value):
        return frames.RecordTable(value, kind, name, columns, duplicates)
    hint = HINTS.get(type(value).__module__.split(".")[0].lstrip("_"), "")
    raise DataError(
        f"{name}: cannot be read from {type(value).__name__}; "
        f"give a path, a dataframe or {{query: {{document: {kind}}}}}{hint}"
    )


def _feature(source: Source, name: str, feature: int | None, *, ascending: bool) -> Scores:
    """Read a run from a feature of a LETOR file."""
    if name != "letor":
        raise InputError(f"{source.name}: a feature to rank by is for LETOR files ({EXPECTED})")
    if feature is None:
        raise InputError(f"{source.name}: is a LETOR file; say which feature to rank by: feature=21, or --feature 21")
    return read_feature(source, feature, ascending=ascending)


def _read_shared(source: Source, name: str, kind: str, columns: Names | None, duplicates: str) -> Scores | Table:
    """Read a format that judgments and runs share."""
    if name in ("csv", "tsv"):
        from gradely.data.read.csv_files import CsvTable

        return CsvTable(source, kind, "," if name == "csv" else "\t", columns, duplicates)
    if name == "parquet":
        from gradely.data.read.frames import ParquetTable

        return ParquetTable(source, kind, columns, duplicates)
    if name in ("json", "jsonl"):
        return _json(source, name, kind, columns, duplicates)
    raise InputError(f"no format {name!r}: use one of {', '.join(FORMATS)}.{did_you_mean(name, FORMATS)}")


def _json(source: Source, name: str, kind: str, columns: Names | None, duplicates: str) -> Scores | Table:
    from gradely.data.read import json_files as json
    from gradely.data.read.frames import RecordTable

    reader = as_labels if kind == "label" else as_scores
    if name == "jsonl":
        return json.from_json_lines(source, kind, reader, columns, duplicates)
    content = json.from_json(source, reader)
    return RecordTable(content, kind, source.name, columns, duplicates) if isinstance(content, list) else content
