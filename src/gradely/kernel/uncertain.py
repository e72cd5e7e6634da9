"""Probabilistic labels: exact means of measures over all labels of a query, if documents are independent.

The mean of a sum of products over different documents is the same formula, with probabilities for flags and mean gains
for gains. Other measures have a denominator that also depends on the labels. Three functions compute their mean,
without enumerating labels:

    over_count   a sum over the number of relevant documents: 1/Z is the integral of s^(Z-1) over s from 0 to 1
    with_count   a sum over documents, each term depending on that number: its distribution, by Fourier transform
    over_ideal   a sum over the gains of the best k documents: a walk over the numbers of documents with each gain
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from math import comb, inf, pi
from operator import add
from typing import Any, NamedTuple

from gradely.errors import MeasureError
from gradely.kernel.backend import is_any, sum_rows, to_lists
from gradely.kernel.batch import Array, Batch, rows_at_a_time, sort_distinct
from gradely.lazy import lazy

STATES = 200_000
"""largest number of states of a walk, which takes a second for each query with 100 documents"""
COLUMNS = ("grade", "judged", "above", "tied", "first", "last")
"""the arrays of a batch that have a column for each document"""


@dataclass(frozen=True, eq=False)
class UncertainBatch:
    """The ranks of the judged documents of a block of queries, and the probability of each of their labels."""

    places: Batch
    """the ranks, with one column per judged document that was retrieved, and without labels"""
    labels: Array
    """[L] the labels that occur, ascending"""
    chance: Array
    """[Q, H, L] probabilities for the retrieved documents; 0 in padding"""
    missed: Array
    """[Q, M, L] probabilities for the judged documents that were not retrieved; 0 in padding"""

    @lazy
    def by_label(self) -> Batch:
        """A batch of one query with one document of each label, which shows how a measure treats each label."""
        labels = self.labels[None, :]
        column = self.places.xp.arange(labels.shape[1], dtype=self.places.first.dtype)[None, :]
        pool = -self.places.xp.sort(-labels, axis=1)
        judged = pool > -inf
        return Batch(labels, judged, 0 * column, 0 * column + 1, column, column + 1, pool, judged, column[:, -1] + 1)

    def mean(self, values: Array) -> Array:
        """Return [Q, H]: the mean of the values [L] of labels over the labels of each retrieved document."""
        return mean_over(self.chance, values)


def mean_over(chance: Array, values: Array) -> Array:
    """Return [Q, H]: the mean of values [L] by probabilities [Q, H, L].

    It is added label by label, so no digit depends on Q or H.
    """
    return reduce(add, (chance[:, :, i] * values[i] for i in range(values.shape[0])))


class Chances(NamedTuple):
    """The probability that each document is relevant: [Q, H] for retrieved documents, [Q, M] for the missed ones."""

    chance: Array
    missed: Array

    @classmethod
    def of(cls, batch: UncertainBatch, relevant: Array) -> "Chances":
        """Add up the probabilities of the relevant labels; `relevant` [L] flags them."""
        values = batch.places.to_real(relevant)
        clip = batch.places.xp.clip  # sums of probabilities may exceed 1 by rounding
        return cls(*(clip(mean_over(chance, values), max=1.0) for chance in (batch.chance, batch.missed)))

    def most(self, batch: Batch) -> int:
        """Return the largest number of documents of one query that can be relevant at the same time."""
        return int(sum(batch.xp.sum(batch.to_real(chance > 0)) for chance in self))


Sum = Callable[[Batch, Array], Array]
"""Takes a batch and the probability that each document is relevant, [Q, H]; returns the terms of a sum of products over
different documents."""


def over_count(batch: Batch, relevant: Chances, terms: Sum) -> Array:
    """Return [Q, H]: the mean of each document's term in a sum that is divided by the number of relevant documents.

    For that number Z, 1/Z is the integral of s^(Z-1) over s from 0 to 1. The mean of s^Z times a product over different
    documents is the product of 1-p+ps over all documents, times the same product for documents that are relevant with
    probability ps/(1-p+ps). It is a polynomial in s that s divides, with a degree of at most the number of documents.
    Gauss-Legendre quadrature with half as many nodes therefore gives the integral exactly. The nodes are the rows of a
    batch.
    """
    xp = batch.xp

    def work(row: Batch, relevant: Chances) -> Array:
        nodes, weights = gauss_legendre(xp, relevant.most(row) // 2 + 1)
        total, size = xp.zeros_like(row.grade), rows_at_a_time(row.grade.shape[1])
        for part in _blocks(nodes[None, :], size):
            s, weight = nodes[part, None], weights[part, None]
            mixed, missed = (_mix(chance, s) for chance in relevant)
            every = _product(xp, mixed, 1) * _product(xp, missed, 1)
            added = terms(_repeat(row, s.shape[0]), relevant.chance * s / mixed)
            total = total + xp.sum(weight * every / s * added, axis=0, keepdims=True)
        return total

    return _by_query(batch, relevant, work)


def _by_query(batch: Batch, relevant: Chances, work: Callable[[Batch, Chances], Array]) -> Array:
    """Return [Q, H]: the results of `work` on each query alone, without padding: no digit depends on other queries."""
    parts = []
    for i in range(batch.grade.shape[0]):
        row, width = batch.rows(slice(i, i + 1)), max(1, int(batch.xp.sum(batch.to_real(batch.judged[i, :]))))
        narrow = _cut(row, slice(0, width))
        missed = batch.xp.take(relevant.missed[i, :], batch.xp.nonzero(relevant.missed[i, :])[0])
        terms = work(narrow, Chances(1 * relevant.chance[i : i + 1, :width], missed[None, :]))
        parts.append(batch.xp.concat([terms, row.grade[:, width:]], axis=1))
    return batch.xp.concat(parts)


def _blocks(x: Array, size: int) -> Iterator[slice]:
    """Yield blocks of columns, whose intermediate results fit into the processor's cache."""
    return (slice(start, start + size) for start in range(0, x.shape[1], size))


def _mix(chance: Array, s: Array) -> Array:
    """Return the mean of s^x, where x is 1 if the document is relevant and else 0."""
    return 1 - chance + chance * s


def _cut(row: Batch, columns: slice) -> Batch:
    """Return a slice of the columns of a batch."""
    return row.reorder(**{name: getattr(row, name)[:, columns] for name in COLUMNS})


def _product(xp: Any, x: Array, axis: int) -> Array:
    """Return the product along an axis, which is kept; factors are multiplied in order, so padding changes no digit."""
    products = xp.cumulative_prod(x, axis=axis, include_initial=True)
    return products[-1:, :] if axis == 0 else products[:, -1:]


def _repeat(row: Batch, times: int) -> Batch:
    """Return a batch of one row with the row repeated."""
    arrays = {name: getattr(row, name) for name in (*COLUMNS, "pool", "pooled", "retrieved")}
    repeated = {name: row.xp.broadcast_to(array, (times, *array.shape[1:])) for name, array in arrays.items()}
    return replace(row, **repeated)


@lru_cache(maxsize=256)
def gauss_legendre(xp: Any, count: int) -> tuple[Array, Array]:
    """Return the nodes and weights of Gauss-Legendre quadrature between 0 and 1.

    The nodes are found by six steps of Newton's method, of which five give full precision for up to 2,000 nodes. The
    slope of the last step gives the weights.
    """
    x = xp.cos(pi * (xp.arange(count, dtype=xp.float64) + 0.75) / (count + 0.5))
    for _ in range(6):
        before, value = xp.ones_like(x), x
        for degree in range(2, count + 1):
            before, value = value, ((2 * degree - 1) * x * value - (degree - 1) * before) / degree
        slope = count * (before - x * value) / (1 - x * x)
        x = x - value / slope
    return (1 + x) / 2, 1 / ((1 - x * x) * slope**2)


def with_count(batch: Batch, relevant: Chances, worth: Callable[[Batch, Array], Array]) -> Array:
    """Return [Q, H]: the mean value of each relevant document, which depends on the number of relevant documents.

    `worth` takes a batch of one query and the numbers 1, 2, … [N] of relevant documents, and returns the value of a
    relevant document for each number, [H, N] or [1, N]. The number of other relevant documents has the generating
    function Π (1-p+ps) over these documents. The Fourier transform of its values on the unit circle is the
    distribution. The number of values is odd to avoid s = -1, where 1-p+ps may be 0.
    """
    xp = batch.xp

    def work(row: Batch, relevant: Chances) -> Array:
        count = relevant.most(row) // 2 * 2 + 1
        angle = 2 * pi * xp.arange(count, dtype=row.grade.dtype) / count
        s = (xp.cos(angle) + 1j * xp.sin(angle))[None, :]
        every, size = xp.ones_like(s), rows_at_a_time(count)
        for chance in relevant:
            for block in _blocks(chance, size):
                every = every * _product(xp, _mix(chance[:, block].T, s), 0)
        parts = []
        for block in _blocks(relevant.chance, size):
            others = xp.real(xp.fft.fft(every / _mix(relevant.chance[:, block].T, s), axis=1)) / count
            parts.append(sum_rows(others * worth(_cut(row, block), row.count_up(count))))
        return relevant.chance * xp.concat(parts)[None, :]

    return _by_query(batch, relevant, work)


class Walk(NamedTuple):
    """The states of a walk over documents: the numbers of the best k documents with each of L gains, lowest first.

    The numbers of a state add up to at most k.
    """

    counts: Array
    """[S, L] the number of documents of each gain in each state; the first state has none"""
    after: Array
    """[L, S] the state that follows after another document of each gain"""
    before: Array
    """[L, S, …] the states from which a document of each gain leads to each state; S in padding"""


@lru_cache(maxsize=16)
def _walk(xp: Any, k: int, gains: int) -> Walk:
    """Return the walk over the best k documents with this number of gains; states are in lexicographic order."""
    counts = xp.zeros((1, 0), dtype=xp.int64)
    for _ in range(gains):
        more = k - xp.sum(counts, axis=1) + 1
        first = xp.repeat(xp.cumulative_sum(more) - more, more)
        column = xp.arange(first.shape[0], dtype=xp.int64) - first
        counts = xp.concat([xp.repeat(counts, more, axis=0), column[:, None]], axis=1)
    sizes = xp.asarray([[comb(room + rest, rest) for room in range(k + 1)] for rest in range(gains, 0, -1)])
    after = xp.stack([_number(xp, sizes, _add(xp, counts, gain, k)) for gain in range(gains)])
    return Walk(counts, after, _invert(xp, after))


def _number(xp: Any, sizes: Array, counts: Array) -> Array:
    """Return [S]: the index of each state; `sizes` holds the number of ways to continue, by gain and remaining room."""
    room = sizes.shape[1] - 1 - (xp.cumulative_sum(counts, axis=1) - counts)
    start = xp.arange(sizes.shape[0], dtype=counts.dtype)[None, :] * sizes.shape[1]
    ways = xp.reshape(sizes, (-1,))
    return xp.sum(ways[start + room] - ways[start + room - counts], axis=1)


def _add(xp: Any, counts: Array, gain: int, k: int) -> Array:
    """Return the states after another document; if it is more than k, one of the lowest gain is removed."""
    column = xp.arange(counts.shape[1], dtype=counts.dtype)[None, :]
    more = counts + xp.astype(column == gain, counts.dtype)
    lowest = xp.argmax(xp.astype(more > 0, counts.dtype), axis=1, keepdims=True)
    too_many = xp.sum(more, axis=1, keepdims=True) > k
    return more - xp.astype(too_many & (column == lowest), counts.dtype)


def _invert(xp: Any, after: Array) -> Array:
    """Return [L, S, …]: the states that lead to each state; S in padding."""
    states, sources = xp.arange(after.shape[1], dtype=after.dtype), []
    for following in (after[gain, :] for gain in range(after.shape[0])):
        order = xp.argsort(following, stable=True)
        ordered = xp.take(following, order)
        sources.append((order, *(xp.searchsorted(ordered, states, side=side) for side in ("left", "right"))))
    width = max(int(xp.max(stop - start)) for _, start, stop in sources)
    place = xp.arange(width, dtype=after.dtype)[None, :]
    return xp.stack(
        [
            xp.where(
                place < (stop - start)[:, None], order[xp.clip(start[:, None] + place, max=len(order) - 1)], len(order)
            )
            for order, start, stop in sources
        ]
    )


class Gains(NamedTuple):
    """The possible gains of documents, with their probabilities."""

    gain: Array
    """[G] the gains above 0, ascending"""
    chance: Array
    """[Q, H, G] probabilities for the retrieved documents"""
    missed: Array
    """[Q, M, G] probabilities for the judged documents that were not retrieved"""

    @classmethod
    def of(cls, batch: UncertainBatch, gain: Array) -> "Gains":
        """Add up the probabilities of labels with the same gain; `gain` [L] is that of each label."""
        gains = sort_distinct(gain)
        gains = gains[gains > 0]
        if not gains.shape[0]:
            return cls(gains, batch.chance[:, :, :0], batch.missed[:, :, :0])
        parts = [
            batch.places.xp.stack([mean_over(chance, batch.places.to_real(gain == x)) for x in gains], axis=2)
            for chance in (batch.chance, batch.missed)
        ]
        return cls(gains, *parts)


def over_ideal(
    name: str, batch: Batch, weight: Array, gains: Gains, ideal: Callable[[Array], Array], k: int | None
) -> Array:
    """Return [Q, H]: the mean of each document's gain times its weight, over the ideal gain of the best k documents.

    `ideal` returns the ideal gain of states [S, G] of the walk; `name` is the name of the measure in errors. A forward
    pass computes the probability of each state before a document; a backward pass computes, for each state, the mean of
    1/ideal over the documents after it. So all documents together need two passes, and documents without weight only
    the backward one. Queries are grouped by the number of documents that matter, so no digit depends on other queries.
    """
    xp = batch.xp
    if not gains.gain.shape[0]:
        return xp.zeros_like(weight)
    earning = sum(xp.sum(batch.to_real(xp.any(x > 0, axis=2)), axis=1) for x in (gains.chance, gains.missed))
    depths = [int(depth) for depth in to_lists(earning if k is None else xp.clip(earning, max=k))]
    parts, order = list[Array](), list[int]()
    for depth in sorted(set(depths)):
        walk = _walk_for(name, batch, depth, int(gains.gain.shape[0]))
        states = walk.counts.shape[0]
        worth = ideal(walk.counts)
        worth = xp.where(worth > 0, 1 / xp.where(worth > 0, worth, 1.0), 0.0)
        rows = [i for i, own in enumerate(depths) if own == depth]
        size = rows_at_a_time(states * int(gains.gain.shape[0]))
        for start in range(0, len(rows), size):
            chosen = xp.asarray(rows[start : start + size])
            part = Gains(gains.gain, *(xp.take(x, chosen, axis=0) for x in gains[1:]))
            parts.append(_over_ideal(xp, xp.take(weight, chosen, axis=0), part, walk, worth))
            order += rows[start : start + size]
    return xp.take(xp.concat(parts), xp.argsort(xp.asarray(order)), axis=0)


def _walk_for(name: str, batch: Batch, depth: int, gains: int) -> Walk:
    """Return the walk; raise MeasureError if it has too many states."""
    states = comb(depth + gains, gains)
    if states > STATES:
        raise MeasureError(
            f"{name}: labels are probabilities, and the best {depth:,} documents of a query can have {states:,} "
            "combinations of gains, too many to compute; use a smaller cut-off"
        )
    return _walk(batch.xp, depth, gains)


def _over_ideal(xp: Any, weight: Array, gains: Gains, walk: Walk, worth: Array) -> Array:
    """Return the terms of queries that share a walk; columns with a weight come first."""
    width = max((i + 1 for i, some in enumerate(to_lists(xp.any(weight > 0, axis=0))) if some), default=0)
    value = xp.broadcast_to(worth, (weight.shape[0], *worth.shape))
    for i in range(gains.missed.shape[1]):
        value = _look_back(xp, value, gains.missed[:, i, :], walk)
    behind = []
    for i in range(weight.shape[1] - 1, -1, -1):
        behind += [value] if i < width else []
        value = _look_back(xp, value, gains.chance[:, i, :], walk) if i else value
    reached = xp.zeros_like(value) + xp.asarray([1.0] + [0.0] * (worth.shape[0] - 1))
    terms = []
    for i in range(width):
        chance = gains.chance[:, i, :]
        earned = _after(xp, behind.pop(), (chance * gains.gain), walk)
        terms.append(weight[:, i] * sum_rows(reached * earned))
        reached = _go_on(xp, reached, chance, walk)
    return xp.concat([xp.stack(terms, axis=1), xp.zeros_like(weight[:, width:])], axis=1) if terms else 0 * weight


def _after(xp: Any, value: Array, chance: Array, walk: Walk) -> Array:
    """Return [Q, S]: for each state, the sum of a value over the following states, weighted by gain, [Q, G]."""
    return reduce(add, (chance[:, g, None] * xp.take(value, walk.after[g, :], axis=1) for g in range(chance.shape[1])))


def _look_back(xp: Any, value: Array, chance: Array, walk: Walk) -> Array:
    """Return [Q, S]: for each state before a document, the mean of a value after it."""
    if not is_any(chance > 0):
        return value
    return _nothing(xp, chance) * value + _after(xp, value, chance, walk)


def _go_on(xp: Any, reached: Array, chance: Array, walk: Walk) -> Array:
    """Return [Q, S]: the probability of each state after another document."""
    padded = xp.concat([reached, xp.zeros_like(reached[:, :1])], axis=1)
    new = _nothing(xp, chance) * reached
    for gain in range(chance.shape[1]):
        for source in range(walk.before.shape[2]):
            new = new + chance[:, gain, None] * xp.take(padded, walk.before[gain, :, source], axis=1)
    return new


def _nothing(xp: Any, chance: Array) -> Array:
    """Return [Q, 1]: the probability that a document has no gain."""
    return xp.clip(1 - xp.sum(chance, axis=1, keepdims=True), min=0.0)
