"""The least and the greatest value of a measure over all labels that open documents may have, as array operations.

A document is open where nobody judged it. A row of the arrays is one run, or the difference of two, on one query:
`base` is what the judged documents add, and `weight` what an open one adds for each unit of its gain. Rows have as many
columns as the longest one, and 0 in the others. Open documents that a run does not retrieve have no column, but count.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from gradely.data.ids import Floats, Ints
from gradely.evaluation.notes import SAME


class Range(NamedTuple):
    """The least and the greatest value of each row."""

    low: Floats
    high: Floats


def is_decided(low: float, high: float) -> bool:
    """Return whether a difference has the same sign at both ends, or is 0 at both."""
    return low > SAME or high < -SAME or max(abs(low), abs(high)) <= SAME


def linear_range(base: Floats, weight: Floats) -> Range:
    """Return the range of sums: each open document takes part, or it does not."""
    return Range(base + np.minimum(weight, 0).sum(axis=1), base + np.maximum(weight, 0).sum(axis=1))


class Ideal(NamedTuple):
    """The DCG of the ideal ranking of each query, [Q], and how it grows with the gains of open documents.

    Gains have levels. `height` [L] is how far each level is above the one below, and `added` [Q, L, M + 1] what m
    documents on the level, or above, add to the ideal for each unit of height.
    """

    judged: Floats
    height: Floats
    added: Floats
    open: Ints
    """[Q] how many open documents there are"""

    def at(self, query: Ints, count: Ints) -> Floats:
        """Return the ideal of some queries with `count` open documents on the highest level, the others on none."""
        added = self.added[query, :, np.minimum(count, self.added.shape[2] - 1)]
        return self.judged[query] + added @ self.height


def ideal_of(judged: Floats, levels: Floats, place: Floats, count: int) -> tuple[float, Floats]:
    """Return `judged` and `added` of one query, from the gains of its judged documents and the levels of open ones.

    `place` is one over the discount at each rank, 0 beyond the cut-off, and `count` how many open documents matter.
    Where open documents rise from a level to the next, they pass judged ones: each stretch between these has its own
    number of judged documents above it, and counts by its length.
    """
    gains = -np.sort(-judged)
    sums = np.concatenate([[0.0], np.cumsum(place)])
    below = np.concatenate([[0.0], levels])[:-1]  # which is right without levels, too
    added = np.zeros((len(levels), count + 1))
    for j, (low, high) in enumerate(zip(below.tolist(), levels.tolist(), strict=True)):
        ends = np.append(np.unique(gains[(gains > low) & (gains < high)]), high)
        better = np.searchsorted(-gains, -ends, side="right")
        ranks = np.minimum(better[:, None] + np.arange(count + 1), len(place))
        stretch = np.diff(ends, prepend=low)[:, None] / (high - low)
        added[j] = (stretch * (sums[ranks] - sums[ranks[:, :1]])).sum(axis=0)
    kept = min(len(gains), len(place))
    return float(gains[:kept] @ place[:kept]), added


def ratio_range(base: Floats, weight: Floats, query: Ints, ideal: Ideal) -> Range:
    """Return the range of sums over the ideal of their query, exact."""
    return Range(-_highest_ratio(-base, -weight, query, ideal), _highest_ratio(base, weight, query, ideal))


def _highest_ratio(base: Floats, weight: Floats, query: Ints, ideal: Ideal) -> Floats:
    """Return the greatest ratio of each row over all gains of the open documents.

    Where no labels make the sum positive, the ratio is convex in the gains: some documents, those of the largest
    weight, have the highest gain, the others none. Else Dinkelbach: the greatest t with sum - t·ideal >= 0 for some
    labels. The ideal is the sum over levels of a concave function of how many documents reach the level, so that the
    best number of documents is found level by level; fewer reach a higher one, so that there are such labels.
    """
    ordered = -np.sort(-weight, axis=1)
    top = float(ideal.height.sum())
    positive = np.maximum(ordered, 0)
    most = int(np.count_nonzero(positive, axis=1).max(initial=0))
    sums = np.concatenate([np.zeros((len(base), 1)), np.cumsum(positive[:, :most], axis=1)], axis=1)
    highest = base + top * sums[:, -1]
    best = np.zeros(len(base))
    rows = np.flatnonzero(highest >= 0)
    if len(rows):
        best[rows] = _dinkelbach(base[rows], sums[rows], query[rows], ideal)
    rows = np.flatnonzero(highest < 0)
    if len(rows):
        best[rows] = _least_negative(highest[rows], top * ordered[rows], query[rows], ideal)
    return best


def _dinkelbach(base: Floats, sums: Floats, query: Ints, ideal: Ideal) -> Floats:
    """Return the greatest ratio of rows that can be positive, from sums of the largest weights, [R, M + 1]."""
    column = np.minimum(np.arange(sums.shape[1]), ideal.added.shape[2] - 1)
    best, rows = np.maximum(_divide(base, ideal.judged[query]), 0), np.arange(len(base))
    while len(rows):
        total, norm = base[rows].copy(), ideal.judged[query[rows]].copy()
        for level, height in enumerate(ideal.height.tolist()):
            cost = ideal.added[query[rows, None], level, column]
            count = np.argmax(sums[rows] - best[rows, None] * cost, axis=1)
            total += height * sums[rows, count]
            norm += height * np.take_along_axis(cost, count[:, None], axis=1)[:, 0]
        value = _divide(total, norm)
        better = value > best[rows]
        best[rows] = np.maximum(value, best[rows])
        rows = rows[better]
    return best


def _least_negative(highest: Floats, ordered: Floats, query: Ints, ideal: Ideal) -> Floats:
    """Return the greatest ratio of rows that are always negative: all documents that do no harm, and some that do."""
    harm = np.minimum(ordered, 0)
    count = np.count_nonzero(harm, axis=1)
    width = int(count.max(initial=0))
    sums = np.concatenate([np.zeros((len(highest), 1)), np.cumsum(_move_left(harm, count, width), axis=1)], axis=1)
    best = np.full(len(highest), -np.inf)
    for extra in range(width + 1):
        norm = ideal.at(query, ideal.open[query] - count + np.minimum(extra, count))
        best = np.maximum(best, _divide(highest + sums[:, extra], norm))
    return best


def counted_range(base: Floats, weight: Floats, count: Ints, norm: Callable[[Ints], Floats]) -> Range:
    """Return the range of sums over a norm that depends on how many open documents are relevant, exact.

    `count` [R] is how many open documents there are, and `norm` takes numbers of relevant ones, [R, N]; it never falls.
    """
    low = -_highest_over_count(-base, -weight, count, norm)
    return Range(low, _highest_over_count(base, weight, count, norm))


def _highest_over_count(base: Floats, weight: Floats, count: Ints, norm: Callable[[Ints], Floats]) -> Floats:
    """Return the greatest ratio: for each number of relevant documents, those of the largest weights.

    Of documents of weight 0, it is best that none is relevant, or that all are.
    """
    ordered = -np.sort(-weight, axis=1)
    width, column = ordered.shape[1], np.arange(ordered.shape[1] + 1)
    sums = np.concatenate([np.zeros((len(base), 1)), np.cumsum(ordered, axis=1)], axis=1)
    gain = np.count_nonzero(ordered > 0, axis=1)[:, None]
    harm = np.count_nonzero(ordered < 0, axis=1)[:, None]
    few, rest = np.minimum(column, gain), np.minimum(width - column, harm)
    without = _divide(base[:, None] + np.take_along_axis(sums, few, axis=1), norm(few))
    with_rest = _divide(base[:, None] + np.take_along_axis(sums, width - rest, axis=1), norm(count[:, None] - rest))
    best: Floats = np.maximum(without.max(axis=1), with_rest.max(axis=1))
    return best


def _move_left(harm: Floats, count: Ints, width: int) -> Floats:
    """Return the last `count` columns of each row, in their order, then 0."""
    column = harm.shape[1] - count[:, None] + np.arange(width)
    real = column < harm.shape[1]
    return np.where(real, np.take_along_axis(harm, np.where(real, column, 0), axis=1), 0.0)


def _divide(total: Floats, norm: Floats) -> Floats:
    return np.divide(total, norm, out=np.zeros_like(total), where=norm > 0)
