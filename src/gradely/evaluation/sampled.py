"""Means over sampled orders of tied documents, if the exact mean of a measure is not available.

Orders are drawn in antithetic pairs, an order and its reverse, whose mean varies less than that of two independent
orders. The draw depends on the seed, the query and the rank of the tie group, but not on the names of documents or the
order of the input.
"""

from collections.abc import Iterator, Mapping
from hashlib import blake2b
from math import fsum
from typing import NamedTuple

import numpy as np

from gradely.data import Blocks
from gradely.data.ids import Floats, Ints
from gradely.errors import TooManyOrders
from gradely.evaluation.notes import SAME
from gradely.evaluation.values import measure_blocks
from gradely.kernel.batch import Batch
from gradely.measures import Measure
from gradely.settings import Settings

PAIRS = 100
"""number of orders that are drawn at a time, each with its reverse"""
LONG = 4096
"""size of a tie group above which orders are drawn one at a time, to save memory"""


class Sampling(NamedTuple):
    """Values and their standard errors, [queries, measures]; the error is 0 if the value is exact."""

    values: Floats
    errors: Floats


class Drawn(NamedTuple):
    """A query under sampled orders of its tied documents."""

    value: float
    """the mean value"""
    error: float
    """the standard error of the mean"""
    start: float
    """the part of the mean that no judged document contributes"""
    adds: Floats
    """[H] the mean contribution of each judged document"""


def measure_sampled(
    blocks: Blocks, queries: Ints, measures: Mapping[str, Measure], settings: Settings, workers: int
) -> Sampling:
    """Return the values of these queries: the exact mean over all orders if available, else that of sampled orders."""
    values = np.zeros((len(blocks.retrieved), len(measures)))
    errors = np.zeros_like(values)
    tied = np.zeros(len(values), bool)
    tied[blocks.tied_queries] = True
    for j, (name, measure) in enumerate(measures.items()):
        open_queries = queries[tied[queries]] if not measure.takes_expected else queries[:0]
        exact = np.setdiff1d(queries, open_queries)
        try:
            values[:, j] = measure_blocks(blocks, "expected", exact, {name: measure}, workers)[:, 0]
        except TooManyOrders:
            open_queries = queries[tied[queries]]
            exact = np.setdiff1d(queries, open_queries)
            values[:, j] = measure_blocks(blocks, "expected", exact, {name: measure}, workers)[:, 0]
        for query in open_queries.tolist():
            batch = measure.apply_relevance(blocks.batch_of_query(query, "expected"))
            if has_mean(measure, batch):
                values[query, j] = measure.compute_from_relevance(batch)[0]
            else:
                drawn = measure_drawn(measure, batch, settings, blocks.qrels.queries[query % len(blocks.qrels)])
                values[query, j], errors[query, j] = drawn.value, drawn.error
    return Sampling(values, errors)


def has_mean(measure: Measure, batch: Batch) -> bool:
    """True if the exact mean over all orders of tied documents is available for a batch with relevance."""
    if batch.untied or not measure.takes_expected:
        return batch.untied
    try:
        measure.parts(batch)
    except TooManyOrders:
        return False
    return True


def measure_drawn(measure: Measure, batch: Batch, settings: Settings, query: str) -> Drawn:
    """Return the means of sampled orders of one query, in a batch with relevance."""
    pairs, starts, adds = [], [], np.zeros(batch.grade.shape[1])
    for order, drawn in _draw_orders(batch, settings, query):
        values, parts = measure.compute_from_relevance(drawn), measure.parts(drawn)
        share = np.divide(1.0, parts.norm, out=np.zeros_like(values), where=parts.norm > 0)
        kept = order[:, : parts.terms.shape[1]]
        adds += np.bincount(kept.ravel(), (parts.terms * share[:, None]).ravel(), minlength=len(adds))
        starts.append(0.0 if parts.start is None else float((parts.start * share).sum()))
        pairs.append(values.reshape(2, -1).mean(axis=0))
    means = np.concatenate(pairs)
    error = float(means.std(ddof=1) / np.sqrt(len(means)))
    count = 2 * len(means)
    return Drawn(float(means.mean()), error if error > SAME else 0.0, fsum(starts) / count, adds / count)


def _draw_orders(batch: Batch, settings: Settings, query: str) -> Iterator[tuple[Ints, Batch]]:
    """Yield blocks of sampled orders of a query: the columns of each order, and a batch with one row per order."""
    name = int.from_bytes(blake2b(query.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
    drawers = {
        first: np.random.default_rng([settings.seed, name, int(batch.above[0, first])])
        for first in np.unique(batch.first[0][batch.tied[0] > 1]).tolist()
    }
    for done in range(0, settings.samples // 2, PAIRS):
        count = min(PAIRS, settings.samples // 2 - done)
        places = np.repeat(batch.above, 2 * count, axis=0)
        for first, draw in drawers.items():
            columns, size = slice(first, batch.last[0, first]), int(batch.tied[0, first])
            start, orders = int(batch.above[0, first]), _draw_places(draw, size, columns.stop - first, count)
            places[:count, columns] = start + orders
            places[count:, columns] = start + size - 1 - orders
        order = np.argsort(places, axis=1)
        yield order, _order_columns(batch, order, places)


def _order_columns(batch: Batch, order: Ints, places: Ints) -> Batch:
    """Return a batch with one row per order and no ties."""
    column = np.broadcast_to(np.arange(order.shape[1]), order.shape)
    drawn = Batch(
        grade=batch.grade[0][order],
        judged=np.broadcast_to(batch.judged, order.shape),
        above=np.take_along_axis(places, order, axis=1),
        tied=np.ones_like(order),
        first=column,
        last=column + 1,
        pool=np.repeat(batch.pool, len(order), axis=0),
        pooled=np.repeat(batch.pooled, len(order), axis=0),
        retrieved=np.repeat(batch.retrieved, len(order)),
    )
    drawn.set_cached(untied=True)
    return drawn


def _draw_places(draw: "np.random.Generator", size: int, documents: int, orders: int) -> Ints:
    """Return [orders, documents]: random distinct places of the judged documents of a tie group."""
    if size <= LONG:
        return draw.permuted(np.tile(np.arange(size), (orders, 1)), axis=1)[:, :documents]
    return np.stack([draw.choice(size, documents, replace=False) for _ in range(orders)])
