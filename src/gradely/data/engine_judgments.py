"""Judgments on their way into an engine: their names as an Arrow table, which each engine takes in its own way."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from importlib import import_module
from typing import Any

import numpy as np

from gradely.data.columns import compact
from gradely.data.qrels import Qrels
from gradely.data.trec.tokens import PAD, Ids, as_tokens
from gradely.data.types import Bools

ROW_OBJECTS = 1 << 20
"""bytes of judgments up to which Spark may keep objects of Java for each row, without a job to read them: that takes
15 times as much heap. A million judgments, 32 MB, filled 480 MB of it, and the run did not fit beside them."""

BROADCAST = 1 << 26
"""bytes of judgments that every executor gets as a whole, so that the run is not shuffled to meet them. A hash table
of them takes 4.4 times as much, here 280 MB; executors have a heap of 1 GB by default, of which Spark uses 434 MB."""


def judged_table(qrels: Qrels) -> Any:
    """Return the judged documents as an Arrow table: names of query and document, and the row."""
    import pyarrow as pa

    queries, docs = (Ids.of(as_tokens(names)) for names in (qrels.queries, qrels.docs))
    owner = np.repeat(np.arange(len(qrels)), np.diff(qrels.start))
    row = np.flatnonzero(_are_text(queries)[owner] & _are_text(docs))  # others cannot be in an engine
    columns = [_as_arrow(queries.take(owner[row])), _as_arrow(docs.take(row)), pa.array(row)]
    return pa.table(columns, ["judged_query", "judged", "row"])


def _are_text(ids: Ids) -> Bools:
    """Return which ids are UTF-8 text; mostly all are, which one look tells."""
    out = np.ones(len(ids.start), bool)
    if ids.text.max(initial=0) > 127:
        for i in range(len(out)):
            try:
                ids.bytes_at(i).decode()
            except UnicodeDecodeError:
                out[i] = False
    return out


def _as_arrow(ids: Ids) -> Any:
    """Return ids as Arrow text."""
    import pyarrow as pa

    ids = compact(ids)
    edges = np.concatenate([[0], np.cumsum(ids.stop - ids.start)]).astype(np.int64)
    text = ids.text[PAD:-PAD]
    return pa.LargeStringArray.from_buffers(len(ids.start), pa.py_buffer(edges), pa.py_buffer(text.tobytes()))


def _to_polars(_: Any, judged: Any) -> Any:
    import polars as pl

    return pl.from_arrow(judged).lazy()  # type: ignore[union-attr]


def _to_duckdb(native: Any, judged: Any) -> Any:  # noqa: ARG001 - DuckDB finds it by name
    """Return judgments as a relation of the same connection, which a query of a relation has."""
    return native.query("gradely_run", "SELECT * FROM judged")


def _to_spark(native: Any, judged: Any) -> Any:
    """Return judgments as a frame of Spark, held as Arrow batches where they are many."""
    session = native.sparkSession
    with _keep_batches(session) if judged.nbytes > ROW_OBJECTS else nullcontext():
        return _broadcast(session.createDataFrame(judged), judged)


def _to_spark_connect(native: Any, judged: Any) -> Any:
    """Return judgments as a frame of a server of Spark, which holds them in a way of its own."""
    return _broadcast(native.sparkSession.createDataFrame(judged), judged)


def _broadcast(frame: Any, judged: Any) -> Any:
    """Let every executor get few judgments as a whole; with many, Spark may shuffle the run to meet them."""
    return frame.hint("broadcast") if judged.nbytes <= BROADCAST else frame


@contextmanager
def _keep_batches(session: Any) -> Iterator[None]:
    """Let Spark keep the frames that are made meanwhile as the Arrow batches they come in, not as an object per row."""
    name = "spark.sql.execution.arrow.localRelationThreshold"
    before = session.conf.get(name, None)
    session.conf.set(name, "0")
    try:
        yield
    finally:
        if before is None:
            session.conf.unset(name)
        else:
            session.conf.set(name, before)


def _to_ibis(_: Any, judged: Any) -> Any:
    return import_module("ibis").memtable(judged)


UPLOADS: dict[str, Callable[[Any, Any], Any]] = {
    "polars": _to_polars,
    "duckdb": _to_duckdb,
    "pyspark": _to_spark,
    "pyspark_connect": _to_spark_connect,
    "ibis": _to_ibis,
}
"""how an Arrow table gets into the engine of a frame, for the engines that can rank"""
