"""Evaluation on the executors of a Spark cluster, for judgments that are too many for one machine.

The driver combines judgments and rankings into one DataFrame, sorted by query. Executors read it in Arrow batches,
measure some whole queries at a time, and return the values.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from gradely.data import Run, open_run, read_qrels
from gradely.data.column_roles import Names
from gradely.data.engine import pick_by_type, rename
from gradely.data.locate import find_selected_hits
from gradely.data.read.passages import compile_pattern, merge_passages
from gradely.data.selection import select
from gradely.data.table import DUPLICATES
from gradely.errors import DataError, InputError, clip
from gradely.evaluation.evaluate import DEFAULT
from gradely.evaluation.scores import REST
from gradely.evaluation.values import Evaluation, check_bounds
from gradely.kernel.batch import Levels
from gradely.lazy import optional
from gradely.measures import Measure
from gradely.measures.names import MeasureLike, fit_all, parse_all
from gradely.settings import DuplicatePolicy, EmptyPolicy, Precision, Settings, TiePolicy, check_choice

VALUES = "query string, measure string, value double"
SEGMENT = "segment"
JUDGED = {"query": "query", "document": "document", "label": "value"}
RANKED = {"query": "query", "document": "document", "score": "value"}
ROWS = 1 << 17
"""the least number of rows to measure at a time, large enough to make the overhead of Python negligible"""


def evaluate(
    qrels: Any,
    run: Any,
    measures: MeasureLike | Iterable[MeasureLike] = DEFAULT,
    *,
    by: str | None = None,
    ties: TiePolicy = "expected",
    judged_only: bool = False,
    precision: Precision = "double",
    seed: int = 0,
    columns: Names | None = None,
    duplicates: DuplicatePolicy = "error",
    document_pattern: str | None = None,
    exclude_self: bool = False,
    empty: EmptyPolicy = "zero",
    weights: Any = None,
) -> Any:
    """Evaluate a run against qrels, both Spark DataFrames; return a DataFrame of (query, measure, value).

    Every query of the qrels counts; a query missing from the run counts as 0. With `by`, a column of the qrels, the
    result is a DataFrame of (that column, measure, n, value): means over the n queries of each segment, where queries
    without a segment form the segment "(none)". The other parameters are those of gradely.evaluate, but ties="order"
    and duplicates="first" are refused, since rows in Spark have no order. With empty="skip", a query has no row for a
    measure for which it has no relevant document. Weights are refused: join them to the values.

    Only the distinct labels are computed at once, since measures are fitted to them; the rest is computed when the
    result is used.
    """
    settings = Settings(
        ties, "qrels", judged_only, precision, seed, 1, empty, exclude_self, duplicates, document_pattern
    )
    check_policies(settings, weights)
    if ties == "order":
        raise DataError(
            "ties='order' depends on the order of rows, which Spark does not have; use 'expected' or 'trec'"
        )
    rows, kind = _rows(qrels, run, by, columns)
    labels = rows.filter("judged").select("value").distinct().toArrow()["value"].drop_null().to_numpy()
    levels = Levels(np.asarray(labels[np.isfinite(labels)]))
    fitted = fit_all(parse_all(measures), levels) if len(labels) else {}
    if not fitted:
        raise DataError("qrels: has no rows")
    if empty == "one":
        check_bounds(fitted)
    sorted_rows = rows.repartition("query").sortWithinPartitions("query")
    schema = VALUES if by is None else f"{VALUES}, {SEGMENT} string"
    values = sorted_rows.mapInArrow(partial(measure_partition, measures=fitted, settings=settings, by=by), schema)
    return values.withColumn("query", values["query"].cast(kind)) if by is None else _segment_means(values, by)


def check_policies(settings: Settings, weights: Any) -> None:
    """Refuse settings that executors do not support, and say what to do instead."""
    if weights is not None:
        raise DataError("weights are not supported on Spark executors; join the weights to the values by query, "
                        "and take sum(weight * value) / sum(weight)")  # fmt: skip
    check_choice("way to treat duplicates", settings.duplicates, DUPLICATES)
    if settings.duplicates == "first":
        raise DataError(
            "duplicates='first' depends on the order of rows, which Spark does not have; use 'max' or 'sum'"
        )
    if settings.document_pattern is not None:
        compile_pattern(settings.document_pattern)


def _rows(qrels: Any, run: Any, by: str | None, columns: Names | None) -> tuple[Any, Any]:
    """Return judgments and run in one DataFrame, whose column `judged` tells them apart, and the type of query ids."""
    functions = optional("pyspark.sql.functions", "PySpark", "spark")
    import narwhals.stable.v2 as nw

    parts = []
    for name, table, kind in (("qrels", qrels, "label"), ("run", run, "score")):
        frame: Any = nw.from_native(table, pass_through=True)
        if getattr(getattr(frame, "implementation", None), "name", "") not in ("PYSPARK", "PYSPARK_CONNECT"):
            raise InputError(f"{name}: is not a Spark DataFrame but a {type(table).__name__}; use gradely.evaluate")
        roles = pick_by_type(frame, kind, name, columns)
        if kind == "label" and by is not None and by not in table.columns:
            raise InputError(f"qrels: no column {by!r} to group means by; found {', '.join(table.columns)}")
        segment = _segment(frame, by) if kind == "label" and by is not None else nw.lit(None).cast(nw.String)
        renamed = rename(frame, roles, kind, segment=segment).to_native()
        parts.append(renamed.withColumnRenamed(kind, "value").withColumn("judged", functions.lit(kind == "label")))
        if kind == "label":
            query = table.schema[roles.query].dataType
    return parts[0].unionByName(parts[1]), query


def _segment(frame: Any, by: str) -> Any:
    """Return a column as names of segments; refuse floats, which Spark and gradely write differently."""
    import narwhals.stable.v2 as nw

    kind, column = frame.collect_schema()[by], nw.col(by)
    if kind.is_float():
        raise DataError(f"qrels: column {by!r} holds {kind}; cast segments to text or to whole numbers")
    if str(kind) == "Boolean":
        return nw.when(column).then(nw.lit("True")).when(~column).then(nw.lit("False")).otherwise(nw.lit(None))
    return column.cast(nw.String)


def _segment_means(values: Any, by: str) -> Any:
    """Return the mean and the number of queries of each segment."""
    functions = optional("pyspark.sql.functions", "PySpark", "spark")
    mean, count = functions.avg("value").alias("value"), functions.count("value").alias("n")
    return values.groupBy(SEGMENT, "measure").agg(count, mean).withColumnRenamed(SEGMENT, by)


def measure_partition(
    batches: Iterable[Any], measures: Mapping[str, Measure], settings: Settings, by: str | None
) -> Iterator[Any]:
    """Yield batches of (query, measure, value), with the segment if `by` is given."""
    import pyarrow.compute as pc

    for table in whole_queries(batches):
        judged = table["judged"]
        labels, scores = table.filter(judged), table.filter(pc.invert(judged))
        _check(labels, "qrels", "label")
        _check(scores, "run", "score")
        if len(labels):
            columns = _values(labels, scores, measures, settings)
            columns |= {} if by is None else {SEGMENT: _segments(labels, columns["query"], by)}
            yield from _as_table(columns).to_batches()


def whole_queries(batches: Iterable[Any], least: int = ROWS) -> Iterator[Any]:
    """Yield tables of whole queries with at least this many rows; a query may be split over several batches."""
    import pyarrow as pa
    import pyarrow.compute as pc

    pieces: list[Any] = []
    rest: list[Any] = []
    for batch in batches:
        if not len(batch):
            continue
        query = batch["query"]
        cut = pc.index(query, query[-1]).as_py()  # where the last query of the batch begins
        if not rest or query[0] != rest[0]["query"][0]:
            pieces, rest = pieces + rest, []
        if cut:
            pieces, rest = [*pieces, *rest, batch.slice(0, cut)], []
        rest.append(batch.slice(cut))
        if sum(map(len, pieces)) >= least:
            yield pa.Table.from_batches(pieces)
            pieces = []
    if pieces or rest:
        yield pa.Table.from_batches(pieces + rest)


def _check(rows: Any, name: str, kind: str) -> None:
    """Refuse missing values and numbers that are not finite."""
    for column, role in (("query", "query"), ("document", "document"), ("value", kind)):
        missing = rows[column].is_null().to_numpy()
        if missing.any():
            query = rows["query"][int(np.argmax(missing))].as_py()
            raise DataError(f"{name}: a {role} is missing, in query {clip(query or '')}")
    odd = ~np.isfinite(rows["value"].to_numpy())
    if odd.any():
        at = int(np.argmax(odd))
        place = f"query {clip(rows['query'][at].as_py())}, document {clip(rows['document'][at].as_py())}"
        raise DataError(f"{name}: {place}: the {kind} is {rows['value'][at].as_py()}; it must be a finite number")


def _values(labels: Any, scores: Any, measures: Mapping[str, Measure], settings: Settings) -> dict[str, list[Any]]:
    """Return the columns query, measure and value for some whole queries."""
    qrels = read_qrels(labels, columns=JUDGED, duplicates=settings.duplicates)
    qrels = select(qrels, exclude_self=settings.exclude_self)
    run = open_run(scores, columns=RANKED, duplicates=settings.duplicates) if len(scores) else Run({}, "run")
    if settings.document_pattern is not None:
        run = merge_passages(run, settings.document_pattern, settings.duplicates, some_match=False)
    hits = find_selected_hits(qrels, run, settings, 1)
    evaluation = Evaluation(qrels, hits, measures, settings, "run", settings.ties)
    queries, names = np.asarray(list(evaluation.queries), object), np.asarray(list(measures), object)
    counted = np.ones((len(queries), len(names)), bool)
    if settings.empty == "skip":
        empty = evaluation.degenerate
        counted = ~np.stack([empty[name] & measures[name].needs_relevant for name in measures], axis=1)
    row, column = np.nonzero(counted)
    return {
        "query": queries[row].tolist(),
        "measure": names[column].tolist(),
        "value": evaluation.table[row, column].tolist(),
    }


def _segments(labels: Any, queries: list[str], by: str) -> list[str]:
    """Return the segment of each query; refuse a query in two segments, and ignore rows without one."""
    segment: dict[str, str] = {}
    for query, name in zip(labels["query"].to_pylist(), labels[SEGMENT].to_pylist(), strict=True):
        if name and segment.setdefault(query, name) != name:
            raise DataError(f"{by}: query {clip(query)} is in two segments, {clip(segment[query])} and {clip(name)}")
    return [segment.get(query, REST) for query in queries]


def _as_table(columns: Mapping[str, list[Any]]) -> Any:
    import pyarrow as pa

    types = {name: pa.float64() if name == "value" else pa.string() for name in columns}
    return pa.table({name: pa.array(values, types[name]) for name, values in columns.items()})
