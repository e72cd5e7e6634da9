"""Means over drawn orders of tied documents, for measures of which no exact mean can be had.

Orders are drawn in pairs, one and its reverse, which vary less together than two on their own. What is drawn depends on
the seed, the query and where a tie group stands, and never on names of documents or the order of input.
"""

from collections.abc import Mapping
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from gradely.data import Blocks
from gradely.data.ids import Floats, Ints
from gradely.errors import TooManyOrders
from gradely.evaluation.notes import SAME
from gradely.evaluation.values import measure_blocks
from gradely.kernel.batch import Batch
from gradely.measures import Measure

PAIRS = 100
"""how many orders are drawn for a query, each of which is taken backwards, too"""
LONG = 4096
"""documents of a tie group from which on places are drawn one order at a time, to save memory"""


class Sampling(NamedTuple):
    """Values and their standard errors, [queries, measures]; the error is 0 where the value is exact."""

    values: Floats
    errors: Floats


def measure_sampled(
    blocks: Blocks, queries: Ints, measures: Mapping[str, Measure], seed: int, workers: int = 1
) -> Sampling:
    """Return the values of these queries: the exact mean over all orders where there is one, else that of some."""
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
            values[query, j], errors[query, j] = _measure_query(blocks, query, measure, seed)
    return Sampling(values, errors)


def _measure_query(blocks: Blocks, query: int, measure: Measure, seed: int) -> tuple[float, float]:
    """Return the value of a query and its standard error: exact where it can be."""
    batch = blocks.batch_of_query(query, "expected")
    if measure.takes_expected:
        try:
            return float(measure.compute(batch)[0]), 0.0
        except TooManyOrders:
            pass
    name = blocks.qrels.queries[query % len(blocks.qrels)]
    drawn = measure.compute_from_relevance(draw_orders(measure.apply_relevance(batch), seed, name))
    pairs = (drawn[:PAIRS] + drawn[PAIRS:]) / 2
    error = float(pairs.std(ddof=1) / np.sqrt(PAIRS))
    return float(pairs.mean()), error if error > SAME else 0.0


def draw_orders(batch: Batch, seed: int, query: str) -> Batch:
    """Return a batch of one row per drawn order of a query, whose documents tie."""
    places = np.repeat(batch.above, 2 * PAIRS, axis=0)
    name = int.from_bytes(blake2b(query.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
    for first in np.unique(batch.first[0][batch.tied[0] > 1]).tolist():
        start, size, columns = int(batch.above[0, first]), int(batch.tied[0, first]), slice(first, batch.last[0, first])
        draw = np.random.default_rng([seed, name, start])
        orders = _draw_places(draw, size, columns.stop - columns.start)
        places[:PAIRS, columns] = start + orders
        places[PAIRS:, columns] = start + size - 1 - orders
    order = np.argsort(places, axis=1)
    column = np.broadcast_to(np.arange(order.shape[1]), order.shape)
    drawn = Batch(
        grade=batch.grade[0][order],
        judged=np.broadcast_to(batch.judged, order.shape),
        above=np.take_along_axis(places, order, axis=1),
        tied=np.ones_like(order),
        first=column,
        last=column + 1,
        pool=np.repeat(batch.pool, 2 * PAIRS, axis=0),
        pooled=np.repeat(batch.pooled, 2 * PAIRS, axis=0),
        retrieved=np.repeat(batch.retrieved, 2 * PAIRS),
    )
    drawn.set_cached(untied=True)
    return drawn


def _draw_places(draw: np.random.Generator, size: int, count: int) -> Ints:
    """Return [orders, documents]: the places of some documents of a tie group, all different."""
    if size <= LONG:
        return draw.permuted(np.tile(np.arange(size), (PAIRS, 1)), axis=1)[:, :count]
    return np.stack([draw.choice(size, count, replace=False) for _ in range(PAIRS)])
