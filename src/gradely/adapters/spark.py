"""Evaluation on the executors of a Spark cluster, where even the judgments are too many for one machine."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np

from gradely.adapters.spark_pipeline import SEGMENT, measure_partition
from gradely.data.engine import pick_by_type, rename
from gradely.errors import DataError, InputError
from gradely.evaluation.evaluate import DEFAULT
from gradely.kernel.batch import Levels
from gradely.lazy import optional
from gradely.measures.names import MeasureLike, fit_all, parse_all
from gradely.settings import Precision, Settings, TiePolicy

VALUES = "query string, measure string, value double"


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
    columns: Mapping[str, str] | None = None,
) -> Any:
    """Evaluate a run against qrels, both Spark DataFrames; return a DataFrame of (query, measure, value).

    Every query of the qrels counts; one that the run does not answer is 0. With `by`, a column of the qrels, it is a
    DataFrame of (that column, measure, n, value): means over the n queries of each segment, of which those without one
    are together in "(none)". The rest is as in gradely.evaluate, but ties="order" is refused, since rows of Spark have
    no order.

    Nothing is computed before the result is used, except for the distinct labels, which measures are fitted to.
    """
    settings = Settings(ties, "qrels", judged_only, precision, seed, 1)
    if ties == "order":
        raise DataError("ties='order' goes by the order of rows, which Spark does not have; use 'expected' or 'trec'")
    rows, kind = _rows(qrels, run, by, columns)
    labels = rows.filter("judged").select("value").distinct().toArrow()["value"].drop_null().to_numpy()
    levels = Levels(np.asarray(labels[np.isfinite(labels)]))
    fitted = fit_all(parse_all(measures), levels) if len(labels) else {}
    if not fitted:
        raise DataError("qrels: has no rows")
    sorted_rows = rows.repartition("query").sortWithinPartitions("query")
    schema = VALUES if by is None else f"{VALUES}, {SEGMENT} string"
    values = sorted_rows.mapInArrow(partial(measure_partition, measures=fitted, settings=settings, by=by), schema)
    return values.withColumn("query", values["query"].cast(kind)) if by is None else _segment_means(values, by)


def _rows(qrels: Any, run: Any, by: str | None, columns: Mapping[str, str] | None) -> tuple[Any, Any]:
    """Return judgments and run as rows of one frame, which tell what they are, and the type of the queries."""
    functions = optional("pyspark.sql.functions", "PySpark", "spark")
    import narwhals.stable.v2 as nw

    parts = []
    for name, table, kind in (("qrels", qrels, "label"), ("run", run, "score")):
        frame: Any = nw.from_native(table, pass_through=True)
        if getattr(getattr(frame, "implementation", None), "name", "") not in ("PYSPARK", "PYSPARK_CONNECT"):
            raise InputError(f"{name}: is not a DataFrame of Spark but of {type(table).__name__}; use gradely.evaluate")
        roles = pick_by_type(frame, kind, name, columns)
        if kind == "label" and by is not None and by not in table.columns:
            raise InputError(f"qrels: no column {by!r} to give means by, among {', '.join(table.columns)}")
        segment = _segment(frame, by) if kind == "label" and by is not None else nw.lit(None).cast(nw.String)
        renamed = rename(frame, roles, kind, segment=segment).to_native()
        parts.append(renamed.withColumnRenamed(kind, "value").withColumn("judged", functions.lit(kind == "label")))
        if kind == "label":
            query = table.schema[roles.query].dataType
    return parts[0].unionByName(parts[1]), query


def _segment(frame: Any, by: str) -> Any:
    """Return a column as names of segments, as they are elsewhere; refuse numbers that Spark writes in its own way."""
    import narwhals.stable.v2 as nw

    kind, column = frame.collect_schema()[by], nw.col(by)
    if kind.is_float():
        raise DataError(f"qrels: column {by!r} holds {kind}; cast segments to text or to whole numbers")
    if str(kind) == "Boolean":
        return nw.when(column).then(nw.lit("True")).when(~column).then(nw.lit("False")).otherwise(nw.lit(None))
    return column.cast(nw.String)


def _segment_means(values: Any, by: str) -> Any:
    """Return the means of the queries of each segment, and how many there are."""
    functions = optional("pyspark.sql.functions", "PySpark", "spark")
    mean, count = functions.avg("value").alias("value"), functions.count("value").alias("n")
    return values.groupBy(SEGMENT, "measure").agg(count, mean).withColumnRenamed(SEGMENT, by)
