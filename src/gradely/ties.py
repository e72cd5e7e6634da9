"""Sums and means over tie groups, exactly and without enumerating orders."""

from dataclasses import replace
from typing import NamedTuple

from gradely.batch import Array, Batch

NARROW = 16
"""rows of so few columns are summed column by column, which is faster"""


class Prefix(NamedTuple):
    """Prefix sums in two parts, high + low, so that differences of them lose no digit."""

    high: Array
    low: Array


def prefix(batch: Batch, values: Array) -> Prefix:
    """Return the prefix sums of a table; entry i is the sum of its first i values."""
    xp = batch.xp
    high = xp.cumulative_sum(values, include_initial=True)
    rounding = values - (high[1:] - high[:-1])
    return Prefix(high, xp.cumulative_sum(rounding, include_initial=True))


def between(batch: Batch, sums: Prefix, start: Array, stop: Array) -> Array:
    """Return the sum of table entries start … stop - 1, element by element."""
    high = lookup(batch, sums.high, stop) - lookup(batch, sums.high, start)
    low = lookup(batch, sums.low, stop) - lookup(batch, sums.low, start)
    return high + low


def lookup(batch: Batch, table: Array, index: Array) -> Array:
    """Return table[index] for an index array of any shape."""
    xp = batch.xp
    return xp.reshape(xp.take(table, xp.reshape(index, (-1,)), axis=0), index.shape)


def ranks(batch: Batch) -> Array:
    """Return 1, 2, … up to the deepest place a judged document can take."""
    return batch.xp.arange(1, batch.depth + 1, dtype=batch.grade.dtype, device=batch.device)


def within(batch: Batch, k: int | None) -> Array:
    """Return the places of each document's tie group that lie in the top k, as a number of places."""
    stop = batch.above + batch.tied
    if k is None:
        return batch.number(batch.tied)
    xp = batch.xp
    return batch.number(xp.clip(stop, max=k) - xp.clip(batch.above, max=k))


def mean_over_places(batch: Batch, gain: Array, divisor: Array, k: int | None) -> Array:
    """Return the mean of gain / divisor[place] over the places a document can take; 0 after place k.

    An untied document has one place, and its gain is divided right there: no digit differs from the plain measure.
    """
    xp = batch.xp
    alone = gain / lookup(batch, divisor, batch.above)
    alone = alone if k is None else xp.where(batch.above < k, alone, 0.0)
    if batch.untied:
        return alone
    each = 1.0 / divisor if k is None else xp.where(ranks(batch) <= k, 1.0 / divisor, 0.0)
    shared = (
        gain * between(batch, prefix(batch, each), batch.above, batch.above + batch.tied) / batch.number(batch.tied)
    )
    return xp.where(batch.tied == 1, alone, shared)


def before(batch: Batch, x: Array) -> Array:
    """Return, for each document, the sum of x over the documents above its tie group."""
    return batch.xp.take_along_axis(_running(batch, x), batch.first, axis=1)


def in_group(batch: Batch, x: Array) -> Array:
    """Return, for each document, the sum of x over the judged documents of its tie group."""
    if batch.untied:
        return x
    sums, xp = _running(batch, x), batch.xp
    return xp.take_along_axis(sums, batch.last, axis=1) - xp.take_along_axis(sums, batch.first, axis=1)


def _running(batch: Batch, x: Array) -> Array:
    return batch.xp.cumulative_sum(x, axis=1, include_initial=True)


def total(batch: Batch, x: Array) -> Array:
    """Return the sum of each row, added in rank order, so that padding changes no digit."""
    if x.shape[1] > NARROW:
        return batch.xp.cumulative_sum(x, axis=1)[:, -1]
    out = x[:, 0]
    for i in range(1, x.shape[1]):
        out = out + x[:, i]
    return out


def resolved(batch: Batch, worth: Array) -> Batch:
    """Return the batch with ties ordered as its policy says: by worth, best or worst first.

    Unjudged documents of a group are worth 0; those worth nothing may stand on either side of them.
    """
    if batch.ties == "expected" or batch.untied:
        return batch
    xp = batch.xp
    worth = xp.where(batch.judged, worth if batch.ties == "best" else -worth, 0.0)
    order = xp.argsort(-worth, axis=1, stable=True)
    order = xp.take_along_axis(order, xp.argsort(_along(batch, batch.first, order), axis=1, stable=True), axis=1)
    column = xp.broadcast_to(xp.arange(order.shape[1], dtype=batch.first.dtype, device=batch.device), order.shape)
    unjudged = batch.tied - (batch.last - batch.first)
    place = batch.above + column - batch.first + xp.where(_along(batch, worth, order) < 0, unjudged, 0)
    return replace(
        batch,
        grade=_along(batch, batch.grade, order),
        judged=_along(batch, batch.judged, order),
        above=place,
        tied=xp.ones_like(batch.tied),
        first=column,
        last=column + 1,
        ties="expected",
    )


def _along(batch: Batch, x: Array, order: Array) -> Array:
    return batch.xp.take_along_axis(x, order, axis=1)
