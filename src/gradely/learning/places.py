"""Places: the ranks that each document of a query can have, and sums over them.

There is one row per query and one column per document, sorted by score. Since every document has a label, column c is
rank c + 1, and a tie group has the ranks of its own columns.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from gradely.kernel.backend import device_of, is_numpy, namespace, running_max
from gradely.kernel.batch import Array


@dataclass(frozen=True, eq=False, repr=False)
class Places:
    """The ranks of each document's tie group: those after `start`, up to and including `stop`."""

    start: Array
    """the number of documents with a better score, [Q, n]"""
    stop: Array
    """start plus the size of the tie group, [Q, n]"""
    truncation: int
    """the depth within which the upper document of a pair must be for the pair to count"""
    like: Array
    """an array with the data type of results"""

    @cached_property
    def xp(self) -> Any:
        """The array namespace."""
        return namespace(self.start)

    @cached_property
    def device(self) -> Any:
        """The device that the arrays live on."""
        return device_of(self.start)

    def to_real(self, x: Array) -> Array:
        """Return integers as real numbers."""
        return self.xp.astype(x, self.like.dtype)

    @cached_property
    def width(self) -> int:
        """The number of columns."""
        return int(self.start.shape[1])

    @cached_property
    def reach(self) -> Array:
        """The last rank of the group that counts for an upper document, [Q, n], or start if none does."""
        return self.xp.maximum(self.start, self.xp.clip(self.stop, max=self.truncation))

    @cached_property
    def size(self) -> Array:
        """The size of the group as a real number, [Q, n]."""
        return self.to_real(self.stop - self.start)

    @cached_property
    def share(self) -> Array:
        """The probability that the document is in the top `truncation`, [Q, n]."""
        return self.to_real(self.reach - self.start) / self.size

    @cached_property
    def pairs(self) -> Array:
        """The number of pairs of ranks of the group, [Q, n]; 1 if there are none."""
        return self.xp.clip(self.size * (self.size - 1) / 2, min=1.0)

    @cached_property
    def rank(self) -> Array:
        """The places 1, 2, … as real numbers."""
        return self.to_real(self.xp.arange(1, self.width + 1, device=self.device))

    def ties(self, rows: slice) -> Array:
        """Return which columns are in the tie group of each selected column or above it, [Q, columns, n]."""
        return self.xp.arange(self.width, device=self.device) < self.stop[:, rows, None]

    def prefix(self, values: Array) -> Array:
        """Return the sums of the values at the first 0, 1, … places."""
        return self.xp.cumulative_sum(values, include_initial=True)

    def over(self, prefix: Array, start: Array, stop: Array) -> Array:
        """Return the sum over the places after `start`, up to and including `stop`."""
        return prefix[stop] - prefix[start]

    def lower(self, value: Array) -> Array:
        """Return the mean of a value over the places of each document's group."""
        return self.over(self.prefix(value), self.start, self.stop) / self.size

    def upper(self, value: Array) -> Array:
        """Return the mean over the places of each document's group, where the value is 0 below the top `truncation`."""
        return self.over(self.prefix(value), self.start, self.reach) / self.size

    def as_upper(self, value: Array) -> Array:
        """Return the mean of value(a) over all pairs of places a < b of the group, a in the top `truncation`.

        Place a = start + u stands above size - u others.
        """
        last = self.to_real(self.stop)
        plain, weighted = self.prefix(value), self.prefix(value * self.rank)
        return (
            last * self.over(plain, self.start, self.reach) - self.over(weighted, self.start, self.reach)
        ) / self.pairs

    def as_lower(self, value: Array) -> Array:
        """Return the mean of value(b) over the same pairs: place b = start + v stands below min(v - 1, top) of them."""
        plain, weighted = self.prefix(value), self.prefix(value * self.rank)
        first, top = self.to_real(self.start) + 1, self.to_real(self.reach - self.start)
        inside = self.over(weighted, self.start, self.reach) - first * self.over(plain, self.start, self.reach)
        return (inside + top * self.over(plain, self.reach, self.stop)) / self.pairs


def places_of(scores: Array, real: Array, truncation: int | None) -> Places:
    """Return the places of documents sorted by descending score; padding comes last and ties with nothing."""
    xp = namespace(scores)
    width = scores.shape[1]
    column = xp.broadcast_to(xp.arange(width, device=device_of(scores)), scores.shape)
    same = (scores[:, 1:] == scores[:, :-1]) & real[:, 1:]
    edge = xp.ones_like(real[:, :1])
    start = running_max(xp.where(xp.concat([edge, ~same], axis=1), column, 0))
    ends = xp.flip(xp.where(xp.concat([~same, edge], axis=1), column + 1, width), axis=1)
    stop = xp.flip(-running_max(-ends), axis=1)
    return Places(start, stop, width if truncation is None else truncation, scores)


FEW = 16
"""the most levels for which multiplying by zeros and ones is faster on NumPy than gathering; both are exact"""


def reorder(x: Array, order: Array) -> Array:
    """Return the columns of each row in another order."""
    return namespace(x).take_along_axis(x, order, axis=1)


def at_start(x: Array, start: Array) -> Array:
    """Return [L, Q, n]: the entries of x [L, Q, n + 1] in the columns `start` [Q, n]."""
    xp = namespace(x)
    levels, queries, width = x.shape
    row = xp.arange(queries, dtype=start.dtype, device=device_of(start))[:, None] * width
    cells = xp.reshape(row + start, (-1,))
    return xp.reshape(xp.take(xp.reshape(x, (levels, -1)), cells, axis=1), (levels, *start.shape))


def look_up(table: Array, level: Array) -> Array:
    """Return [Q, w, n]: for each document of table [L, Q, w], its entries at the levels [Q, n]."""
    xp = namespace(table)
    by_row = xp.permute_dims(table, (1, 2, 0))
    if is_numpy(table) and table.shape[0] <= FEW:
        return xp.matmul(by_row, _flags(table, level[:, None, :], axis=1))
    shape = (*by_row.shape[:2], level.shape[1])
    return xp.take_along_axis(by_row, xp.broadcast_to(level[:, None, :], shape), axis=2)


def look_across(table: Array, level: Array) -> Array:
    """Return [Q, w, n]: at the levels [Q, w], the entries of each document of table [L, Q, n]."""
    xp = namespace(table)
    by_column = xp.permute_dims(table, (1, 0, 2))
    if is_numpy(table) and table.shape[0] <= FEW:
        return xp.matmul(_flags(table, level[:, :, None], axis=2), by_column)
    shape = (by_column.shape[0], level.shape[1], by_column.shape[2])
    return xp.take_along_axis(by_column, xp.broadcast_to(level[:, :, None], shape), axis=1)


def _flags(table: Array, level: Array, axis: int) -> Array:
    """Return 1 where the level equals the index of the row or column, else 0."""
    xp = namespace(table)
    shape = [1, 1, 1]
    shape[axis] = table.shape[0]
    return xp.astype(level == xp.reshape(xp.arange(table.shape[0]), tuple(shape)), table.dtype)


def sum_between(change: Array, level: Array) -> Array:
    """Return [L + 1, Q, n]: the sums of change [L, Q, n] over the levels between each level and the document's own.

    Entry l is the sum over the levels above min(l, level), up to max(l, level).
    """
    xp = namespace(change)
    running = xp.concat([xp.zeros_like(change[:1]), xp.cumulative_sum(change, axis=0)], axis=0)
    own = own_level(running, level)
    number = xp.arange(running.shape[0], device=device_of(level))[:, None, None]
    return xp.where(number >= level[None], running - own, own - running)


def up_to_lower(change: Array, level: Array) -> Array:
    """Return [L + 1, Q, n]: the sums of change [L, Q, n] over the levels up to min(l, level)."""
    xp = namespace(change)
    running = xp.concat([xp.zeros_like(change[:1]), xp.cumulative_sum(change, axis=0)], axis=0)
    number = xp.arange(running.shape[0], device=device_of(level))[:, None, None]
    return xp.where(number >= level[None], own_level(running, level), running)


def own_level(table: Array, level: Array) -> Array:
    """Return [1, Q, n]: the entry of table [L, Q, n] at each document's own level."""
    return namespace(table).take_along_axis(table, level[None], axis=0)
