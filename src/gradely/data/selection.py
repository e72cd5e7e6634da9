"""Selection: which queries count, their weights and segments, and which documents are removed first."""

import copy
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import pairwise
from math import isfinite, isnan, nan
from typing import Any, Literal, TypeVar, get_args

import numpy as np

from gradely.data.column_roles import Names
from gradely.data.hashing import ranges
from gradely.data.ids import Ints, as_text
from gradely.data.qrels import Qrels
from gradely.data.read.dicts import are_by_subtopic
from gradely.data.read.formats import comma_of, delimiter_of, format_of
from gradely.data.read.readers import read_qrels, read_run
from gradely.data.source import Source
from gradely.errors import DataError, InputError, clip, did_you_mean
from gradely.settings import Settings
from gradely.tables import count_of

T = TypeVar("T")

COLUMNS = {"by": "segment", "weights": "weight"}
"""the column of a separate table, by option"""


def split_queries(queries: Any) -> tuple[Any, Iterable[Any] | None]:
    """Return the query policy, and the queries that count if they are listed."""
    return (queries, None) if isinstance(queries, str) else ("qrels", queries)


def name_queries(queries: Any) -> Iterable[Any] | None:
    """Return the queries that count if they are listed; raise InputError for a policy that depends on the run."""
    policy, only = split_queries(queries)
    if policy != "qrels":
        raise InputError(f"queries={policy!r}: runs are ranked by the same queries; use 'qrels' or a list of queries")
    return only


def read_selected(
    qrels: Any,
    settings: Settings,
    columns: Names | None = None,
    *,
    only: Iterable[Any] | None = None,
    by: Any = None,
    exclude: Any = None,
    weights: Any = None,
    subtopics: bool = False,
) -> Qrels:
    """Read qrels, and apply the selection."""
    if isinstance(qrels, Iterator) and (isinstance(by, str) or isinstance(weights, str)):
        qrels = list(qrels)  # segments and weights may be columns of it
    held = Source(qrels) if isinstance(qrels, str | os.PathLike) else qrels  # segments may come from the same pipe
    judgments = read_qrels(
        held,
        columns=columns,
        duplicates=settings.duplicates,
        threads=settings.threads,
        subtopics=subtopics and (not isinstance(held, Mapping) or are_by_subtopic(held)),  # or the measure refuses
    )
    segments = None if by is None else read_segments(by, qrels, columns)
    weighed = None if weights is None else read_weights(weights, qrels, columns)
    return select(
        judgments, only=only, segments=segments, exclude=exclude, exclude_self=settings.exclude_self, weights=weighed
    )


def select(
    qrels: Qrels,
    *,
    only: Iterable[Any] | None = None,
    segments: Mapping[str, str] | None = None,
    exclude: Any = None,
    exclude_self: bool = False,
    weights: Mapping[str, float] | None = None,
) -> Qrels:
    """Return the qrels with the selection applied; the given ones are not changed."""
    if only is not None:
        qrels = only_queries(qrels, only)
    if segments is None and exclude is None and weights is None and not exclude_self:
        return qrels
    qrels = copy.copy(qrels)
    if segments is not None:
        qrels.segments = _check_common(segments, qrels, "by")
    if exclude is not None:
        qrels.excluded = _read_excluded(exclude)
    if exclude_self:
        qrels.excluded = _add_self(qrels)
    return qrels if weights is None else _weigh(qrels, _check_common(weights, qrels, "weights"))


def _read_excluded(exclude: Any) -> Qrels:
    """Return the documents to exclude, by query; errors say that they are meant."""
    try:
        excluded = read_qrels(exclude, columns={"label": None}, duplicates="first")
    except (InputError, DataError) as error:  # whose message speaks of qrels
        problem = str(error).removeprefix("qrels: ").partition("; this looks like a run")[0]
        raise type(error)(f"exclude: {problem}; give {{query: [documents]}} or a table of both") from None
    if not isinstance(exclude, Qrels | str | os.PathLike):
        excluded.name = "exclude"
    return excluded


def _check_common(values: Mapping[str, T], qrels: Qrels, option: str) -> Mapping[str, T]:
    """Return the values of queries; raise DataError if none of the queries is in the qrels."""
    if not any(query in values for query in qrels.queries):
        theirs = (
            f": the first are {clip(qrels.queries[0])} and, in {option}, {clip(next(iter(values)))}" if values else ""
        )
        raise DataError(f"{option}: no query of {qrels.name} has a {COLUMNS[option]}{theirs}")
    return values


def _add_self(qrels: Qrels) -> Qrels:
    """Return the documents to remove from rankings, including those that have the id of their query."""
    if qrels.excluded is None:
        queries = qrels.queries
        return Qrels(queries, np.arange(len(queries) + 1), queries, np.ones(len(queries)), "excluded documents")
    named = {query: qrels.excluded.labels(query) | {query: 1.0} for query in qrels.queries}
    return Qrels.of(named, qrels.excluded.name)


def _weigh(qrels: Qrels, weights: Mapping[str, float]) -> Qrels:
    """Return the qrels with weights; queries of weight 0 are left out, and every other query needs a weight."""
    lacking = [query for query in qrels.queries if query not in weights]
    if lacking:
        many = f"{len(lacking):,} of {count_of(len(qrels), 'query')}"
        have = "has" if len(lacking) == 1 else "have"
        raise DataError(f"weights: {many} {have} no weight, such as {clip(lacking[0])}; weight 0 leaves a query out")
    nothing = [query for query in qrels.queries if weights[query] == 0]
    if len(nothing) == len(qrels):
        raise DataError("weights: every query has weight 0, so there is no mean; give some of them a weight")
    qrels.weights = weights
    return leave_out(qrels, nothing, "weight") if nothing else qrels


def leave_out(qrels: Qrels, queries: Collection[str], reason: str) -> Qrels:
    """Return the qrels without some queries, which do not count for a reason; some must remain."""
    names = set(queries)
    rest = _take(qrels, np.array([i for i, query in enumerate(qrels.queries) if query not in names], np.int64))
    rest.left_out = qrels.left_out | {reason: [query for query in qrels.queries if query in names]}
    rest.levels, rest.selected = qrels.levels, qrels.selected  # the labels of the collection stay the same
    return rest


def only_queries(qrels: Qrels, only: Iterable[Any]) -> Qrels:
    """Return the judgments of some queries, in the order of the qrels; raise DataError for a query without any."""
    names = {as_text(query, "queries") for query in only}
    unknown = next((name for name in names if name not in qrels.index), None)
    if unknown is not None or not names:
        hint = did_you_mean(unknown, qrels.queries) if unknown is not None and len(qrels) < 10_000 else ""
        raise DataError(f"queries: {clip(unknown or '')} has no judgments in {qrels.name}.{hint}")
    subset = _take(qrels, np.array(sorted(qrels.index[name] for name in names), np.int64))
    subset.selected = True
    return subset


def _take(qrels: Qrels, at: Ints) -> Qrels:
    """Return the judgments of the queries at some positions."""
    rows = ranges(qrels.start[at], qrels.start[at + 1] - qrels.start[at])
    start = np.concatenate([[0], np.cumsum(qrels.start[at + 1] - qrels.start[at])])
    docs = [qrels.docs[row] for row in rows.tolist()]
    subset = qrels.subset([qrels.queries[i] for i in at.tolist()], start, docs, rows)
    subset.whole, subset.notes = qrels.whole, qrels.notes
    subset.excluded, subset.segments, subset.weights = qrels.excluded, qrels.segments, qrels.weights
    subset.subtopics = None if qrels.subtopics is None else qrels.subtopics.select(at, rows)
    return subset


def read_queries(path: str) -> list[str]:
    """Return the ids of queries from a file, one per line."""
    return [line.decode().strip() for _, line in Source(path).lines()]


def read_segments(by: Any, qrels: Any, columns: Names | None) -> dict[str, str]:
    """Return the segment of each query: from a mapping, a column of the qrels, or a table of query and segment.

    A query may have none; rows without a value in that column are ignored.
    """
    segments = _read_column(by, "by", qrels, columns)
    return {query: as_text(segment, "by") for query, segment in segments.items() if not _is_missing(segment)}


def read_weights(weights: Any, qrels: Any, columns: Names | None) -> dict[str, float]:
    """Return the weight of each query: from a mapping, a column of the qrels, or a table of query and weight."""
    return {
        query: _to_weight(query, weight) for query, weight in _read_column(weights, "weights", qrels, columns).items()
    }


def _to_weight(query: str, value: Any) -> float:
    """Return a weight as a number; raise DataError for anything but a number of at least 0."""
    try:
        weight = float(value)
    except (TypeError, ValueError):
        weight = nan
    if not (isfinite(weight) and weight >= 0):
        found = "NaN" if isinstance(value, float) and isnan(value) else clip(str(value))
        raise DataError(
            f"weights: query {clip(query)} has the weight {found}; a weight must be a finite number of at least 0"
        )
    return weight


def _read_column(values: Any, option: str, qrels: Any, columns: Names | None) -> dict[str, Any]:
    """Return the value of each query: from a mapping, a column of the qrels, or a table; as text if from a table."""
    from gradely.data.read.frames import is_frame  # rarely needed, so loaded late
    from gradely.data.read.records import are_records

    column = COLUMNS[option]
    values = values.to_dict() if hasattr(values, "to_dict") and not is_frame(values) else values  # a pandas Series
    if isinstance(values, Mapping):
        return {as_text(query, option): value for query, value in values.items()}
    if isinstance(values, str) and not os.path.exists(values):
        _check_columns(values, option, qrels)
        query = {role: name for role, name in (columns or {}).items() if role == "query" and name}
        return _column_of(qrels, {"document": values} | query, option)
    if not (isinstance(values, str | os.PathLike) or is_frame(values) or are_records(values)):
        raise InputError(
            f"{option}: cannot be {type(values).__name__}; give {{query: {column}}}, a column of the qrels, or a table"
        )
    try:
        return _column_of(values, {"document": column}, option)
    except (InputError, DataError) as error:  # whose message says qrels for any input
        raise type(error)(str(error).replace("qrels: ", f"{option}: ", 1)) from None


def _is_missing(value: Any) -> bool:
    """True for None, NaN and other values that do not equal themselves."""
    try:
        return value is None or not bool(value == value)  # noqa: PLR0124
    except TypeError:  # the comparison of pandas NA is neither true nor false
        return True


def _check_columns(name: str, option: str, qrels: Any) -> None:
    """Raise InputError for the name of a column if the qrels have no columns."""
    source = Source(qrels) if isinstance(qrels, str | os.PathLike) else None
    plain = source is not None and format_of(source) in ("trec", "letor")
    plain = plain or (source is not None and format_of(source) == "json" and source.head.lstrip().startswith(b"{"))
    if plain or isinstance(qrels, Qrels | Mapping):
        who = f"{source.name} has no columns, and there is no such file" if source else "the qrels have no columns"
        raise InputError(f"{option}={name!r}: {who}; give {{query: {COLUMNS[option]}}} or a table of both")


def _column_of(table: Any, roles: dict[str, str], option: str) -> dict[str, Any]:
    """Return the value of each query in a column of a table, as text; raise DataError for two values of a query."""
    pairs = _read_pairs(table, roles)
    if pairs is None:
        return {}
    found: dict[str, Any] = {}
    for query in pairs.queries:
        names = [name for name in pairs.labels(query) if name]
        if len(names) > 1:
            are = "is in two segments" if option == "by" else "has two weights"
            raise DataError(f"{option}: query {clip(query)} {are}, {clip(names[0])} and {clip(names[1])}")
        if names:
            found[query] = names[0]
    return found


def _read_pairs(table: Any, roles: dict[str, str]) -> Qrels | None:
    """Return qrels whose documents are the segments of queries; None if no row has a segment."""
    from gradely.data.read.frames import FrameTable, ParquetTable, is_frame
    from gradely.data.read.records import RecordTable, are_records

    names: Names = {**roles, "label": None}
    source = Source(table) if isinstance(table, str | os.PathLike) else table
    name, kind = (source.name, _format_of(source, roles)) if isinstance(source, Source) else ("qrels", None)
    if kind == "parquet":
        table = ParquetTable(source, "label", names).read()
    elif kind in ("json", "jsonl"):
        from gradely.data.read.json_files import read_records

        table = read_records(source, kind) or source
    if is_frame(table):
        frame = FrameTable(table, "label", name, names, "first")
        return frame.qrels() if frame.drop_nameless() else None
    if are_records(table):
        records = RecordTable(_fill(table, roles["document"], name), "label", name, names, "first")
        records.nameless = True
        return records.qrels()
    if kind in ("csv", "tsv"):
        from gradely.data.read.csv_files import CsvTable

        lines = CsvTable(source, "label", "\t" if kind == "tsv" else comma_of(source.head), names, "first")
        lines.nameless = True
        return lines.qrels()
    return read_qrels(source, format=kind, columns=names, duplicates="first")


def _format_of(source: Source, roles: dict[str, str]) -> str:
    """Return the format of a file, which may be a table without documents."""
    delimiter = delimiter_of(source.head, [roles["document"]]) if (name := format_of(source)) == "trec" else None
    return name if delimiter is None else "tsv" if delimiter == "\t" else "csv"


def _fill(records: Any, column: str, name: str) -> list[Mapping[str, Any]]:
    """Return records that all have a column: empty text if it has no value."""
    from gradely.data.read.records import flat_records

    flat = flat_records(records, name)
    if not any(column in record for record in flat):
        return flat
    return [{**record, column: "" if _is_missing(record.get(column)) else record[column]} for record in flat]


GradedBy = Literal["score", "rank"]


def qrels_from_run(run: Any, by: GradedBy | None = None, *, levels: Iterable[int] | None = None) -> Qrels:
    """Return the qrels of a virtual user who would rank as a run does.

    `by` determines the label of a document: its "score" (the default), or its "rank" counted from the last, which is n
    for the best of n documents and 1 for the last. If the lowest score of the run is below 0, all scores are shifted to
    make it 0, and a note says so. `levels` are depths to grade by instead: [10, 25, 50] gives 3 to the top 10, 2 to the
    rest of the top 25, 1 to the rest of the top 50 and 0 to all others. Tied documents all have the last of their
    ranks, so the top 10 never has more than 10 documents. `run` may have any type that read_run accepts.

    Scheel, Lommatzsch, Albayrak: Performance Measures for Multi-Graded Relevance (2011).

    >>> qrels_from_run({"q": {"a": 0.9, "b": 0.5, "c": 0.5}}, "rank").labels("q")
    {'a': 3.0, 'b': 1.0, 'c': 1.0}
    >>> qrels_from_run({"q": {"a": 0.9, "b": 0.5, "c": 0.5}}, levels=[1, 2]).labels("q")
    {'a': 2.0, 'b': 0.0, 'c': 0.0}
    """
    if by is not None and by not in get_args(GradedBy):
        raise DataError(f"a virtual user grades by score or rank; found {by!r}")
    if by is not None and levels is not None:
        raise DataError(f"a virtual user grades by {by} or by levels of your choice, not by both: leave out one")
    depths = None if levels is None else _depths(levels)
    ranking = read_run(run)
    name = f"{ranking.name} as qrels"
    labels = {query: _labels(scores, by or "score", depths) for query, scores in ranking.scores.items()}
    lowest = min((min(scores.values(), default=0.0) for scores in labels.values()), default=0.0)
    if lowest >= 0:
        return Qrels.of(labels, name)
    qrels = Qrels.of({q: {doc: score - lowest for doc, score in scores.items()} for q, scores in labels.items()}, name)
    qrels.notes = [f"{name}: labels are scores plus {-lowest:g}, so the lowest is 0: below 0 they have no gain"]
    return qrels


def _labels(scores: Mapping[str, float], by: GradedBy, depths: list[int] | None) -> dict[str, float]:
    """Return {document: label} of one query."""
    if by == "score" and depths is None:
        return {doc: float(score) for doc, score in scores.items()}
    ordered = sorted(map(float, scores.values()), reverse=True)
    place = {score: i for i, score in enumerate(ordered, 1)}  # for tied documents, the last rank
    if depths is None:
        return {doc: float(len(scores) + 1 - place[float(score)]) for doc, score in scores.items()}
    return {doc: float(sum(place[float(score)] <= depth for depth in depths)) for doc, score in scores.items()}


def _depths(levels: Iterable[int]) -> list[int]:
    """Return the depths as whole numbers; raise DataError unless they are ascending."""
    depths = list(levels)
    whole = all(isinstance(depth, int) and not isinstance(depth, bool) and depth > 0 for depth in depths)
    if not depths or not whole or any(b <= a for a, b in pairwise(depths)):
        raise DataError(f"levels must be ascending depths of the ranking, like [10, 25, 50]; found {depths!r}")
    return depths
