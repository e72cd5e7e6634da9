"""The values of measures: from batches of queries to one number per query and measure."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import cast

import numpy as np

from gradely.data import Blocks, Hits, Qrels
from gradely.data.read.files import clip
from gradely.data.types import Bools, Floats, Ints
from gradely.errors import NotFinite
from gradely.kernel.backend import ignore_overflow
from gradely.kernel.batch import Batch
from gradely.measures import Measure
from gradely.measures.base import divide
from gradely.threads import on_threads


def query_of(qrels: Qrels, row: int) -> tuple[str, float]:
    """Return the name of a query and its highest label; rows of several runs, one after the other, have the same."""
    i = row % len(qrels)
    return qrels.queries[i], float(qrels.grade[qrels.start[i] : qrels.start[i + 1]].max())


def name_query(error: NotFinite, query: str, label: float) -> NotFinite:
    """Return the error with the name of the query whose value is too large for a number, and its highest label."""
    return NotFinite(error.measure, error.row, label, clip(query))


def measure_blocks(
    blocks: Iterable[tuple[Ints, Batch]],
    measures: Mapping[str, Measure],
    queries: int,
    workers: int,
    names: Callable[[int], tuple[str, float]],
) -> Floats:
    """Return the values, [queries, measures], 0 for queries in no block.

    Where a value is not finite, `names` says of a query what it is called, and its highest label.
    """
    values = np.zeros((queries, len(measures)))
    if not measures:
        return values

    def measure_block(block: tuple[Ints, Batch]) -> None:
        rows, batch = block
        try:
            values[rows] = measure_batch(batch, measures.values()).T
        except NotFinite as error:
            raise name_query(error, *names(int(rows[error.row]))) from None

    for _ in on_threads(measure_block, blocks, workers):
        pass
    return values


def measure_batch(batch: Batch, measures: Collection[Measure]) -> Floats:
    """Return the values, [measures, queries]: all sums first, then all quotients at once."""
    added, norm = np.empty((2, len(measures), len(batch.grade)))
    with ignore_overflow():
        for j, measure in enumerate(measures):
            added[j], norm[j] = measure.sum_and_norm(measure.apply_relevance(batch))
        values = divide(batch, added, norm)
    if not np.isfinite(values).all():
        for measure in measures:  # one of them says which query it is
            measure.compute(batch)
    return cast("Floats", values)


def find_degenerate(qrels: Qrels, measures: Mapping[str, Measure]) -> dict[str, Bools]:
    """Return, by name of a measure, for which queries every ranking scores 0; found once for all runs."""
    missing = {measure for measure in measures.values() if measure not in qrels.degenerate}
    flags: dict[object, Bools] = {measure: np.zeros(len(qrels), bool) for measure in missing}
    for rows, batch in Blocks(qrels, Hits.none(len(qrels))).batches("expected", np.arange(len(qrels))) if flags else ():
        for measure in missing:
            flags[measure][rows] = measure.degenerate(measure.apply_relevance(batch))
    qrels.degenerate.update(flags)
    return {name: qrels.degenerate[measure] for name, measure in measures.items()}
