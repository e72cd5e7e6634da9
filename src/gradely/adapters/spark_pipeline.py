"""What executors do: Arrow batches of rows, sorted by query, become values, some whole queries at a time."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from gradely.data import Run, open_run, read_qrels
from gradely.data.locate import find_hits
from gradely.data.read.sources import clip
from gradely.errors import DataError
from gradely.evaluation.scores import REST
from gradely.evaluation.values import Evaluation
from gradely.measures import Measure
from gradely.settings import Settings

ROWS = 1 << 17
"""rows that are measured at a time, at least: enough that the steps of Python do not count"""
SEGMENT = "segment"
JUDGED = {"query": "query", "document": "document", "label": "value"}
RANKED = {"query": "query", "document": "document", "score": "value"}


def measure_partition(
    batches: Iterable[Any], measures: Mapping[str, Measure], settings: Settings, by: str | None
) -> Iterator[Any]:
    """Yield batches of (query, measure, value), and the segment where means are asked for."""
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
    """Yield tables of whole queries, of some rows at least; the last query of a batch may go on in the next."""
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
    """Refuse what is missing or not a finite number."""
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
    """Return query, measure and value of some whole queries, as columns."""
    qrels = read_qrels(labels, columns=JUDGED)
    run = open_run(scores, columns=RANKED) if len(scores) else Run({}, "run")
    hits = find_hits(qrels, run, settings, 1)
    evaluation = Evaluation(qrels, hits, measures, settings, "run", settings.ties)
    queries, names = list(evaluation.queries), list(measures)
    return {
        "query": [query for query in queries for _ in names],
        "measure": names * len(queries),
        "value": evaluation.table.ravel().tolist(),
    }


def _segments(labels: Any, queries: list[str], by: str) -> list[str]:
    """Return the segment of each query; rows without one say nothing, and a query that is in two is refused."""
    segment: dict[str, str] = {}
    for query, name in zip(labels["query"].to_pylist(), labels[SEGMENT].to_pylist(), strict=True):
        if name and segment.setdefault(query, name) != name:
            raise DataError(f"{by}: query {clip(query)} is in two segments, {clip(segment[query])} and {clip(name)}")
    return [segment.get(query, REST) for query in queries]


def _as_table(columns: Mapping[str, list[Any]]) -> Any:
    import pyarrow as pa

    types = {name: pa.float64() if name == "value" else pa.string() for name in columns}
    return pa.table({name: pa.array(values, types[name]) for name, values in columns.items()})
