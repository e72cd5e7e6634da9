"""The least and greatest value of a measure over all labels that open documents may have, as array operations.

A document is open if it is unjudged. A row of the arrays is one run, or the difference of two, on one query: `base` is
the sum over judged documents, and `weight` holds the term of each open document per unit of its gain. Rows are padded
with 0 to the same length. Open documents that a run does not retrieve have no column, but they count in norms.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from gradely.data.ids import Floats, Ints
from gradely.evaluation.notes import SAME


class Range(NamedTuple):
    """The least and greatest value of each row."""

    low: Floats
    high: Floats


def is_decided(low: float, high: float) -> bool:
    """True if a difference has the same sign at both ends, or is 0 at both."""
    return low > SAME or high < -SAME or max(abs(low), abs(high)) <= SAME


def linear_range(base: Floats, weight: Floats) -> Range:
    """Return the range of sums to which each open document adds its weight or nothing."""
    return Range(base + np.minimum(weight, 0).sum(axis=1), base + np.maximum(weight, 0).sum(axis=1))


class Ideal(NamedTuple):
    """The ideal DCG of each query as a function of the gains of open documents."""

    judged: Floats
    """[Q] the ideal DCG of the judged documents"""
    height: Floats
    """[L] the difference of each level of gain from the one below"""
    added: Floats
    """[Q, L, M + 1] the increase of the ideal DCG per unit of height, if m open documents reach the level"""
    open: Ints
    """[Q] the number of open documents"""

    def at(self, query: Ints, count: Ints) -> Floats:
        """Return the ideal DCG of some queries if `count` open documents have the highest gain, and the others none."""
        added = self.added[query, :, np.minimum(count, self.added.shape[2] - 1)]
        return self.judged[query] + added @ self.height


def ideal_of(judged: Floats, levels: Floats, place: Floats, count: int) -> tuple[float, Floats]:
    """Return `judged` and `added` of one query, from the gains of its judged documents and the levels of open ones.

    `place` is 1/discount at each rank down to the cut-off, and `count` the number of open documents that matter. When
    open documents rise from one level to the next, they pass judged documents with gains between the two levels. These
    gains divide the height into stretches, each with its own number of judged documents above; the increase is the mean
    over the stretches, weighted by their lengths.
    """
    gains = -np.sort(-judged)
    sums = np.concatenate([[0.0], np.cumsum(place)])
    below = np.concatenate([[0.0], levels])[:-1]  # also correct if there are no levels
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
    """Return the exact range of sums divided by the ideal DCG of their query."""
    return Range(-_highest_ratio(-base, -weight, query, ideal), _highest_ratio(base, weight, query, ideal))


def _highest_ratio(base: Floats, weight: Floats, query: Ints, ideal: Ideal) -> Floats:
    """Return the greatest ratio of each row over all gains of the open documents.

    If no labels make the sum positive, the ratio is convex in the gains, so at the maximum the documents with the
    largest weights have the highest gain and the others none. Otherwise, Dinkelbach's algorithm finds the greatest t
    with sum - t·ideal >= 0 for some labels. The ideal is a sum over levels of concave functions of the number of
    documents that reach the level, so the best number can be found for each level alone. It does not increase with the
    level, so labels with these numbers exist.
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
    """Return the greatest ratio of rows whose sum can be positive; `sums` [R, M + 1] add up the largest weights."""
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
    """Return the greatest ratio of rows whose sum is always negative.

    The documents without negative weight have the highest gain, and so may some with a negative weight, since they
    raise the ideal.
    """
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
    """Return the exact range of sums divided by a norm that depends on the number of relevant open documents.

    `count` [R] is the number of open documents. `norm` takes numbers of relevant ones, [R, N], and never decreases.
    """
    low = -_highest_over_count(-base, -weight, count, norm)
    return Range(low, _highest_over_count(base, weight, count, norm))


def _highest_over_count(base: Floats, weight: Floats, count: Ints, norm: Callable[[Ints], Floats]) -> Floats:
    """Return the greatest ratio over all numbers of relevant documents, which are those with the largest weights.

    At the maximum, either none or all of the documents with weight 0 are relevant.
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
    """Return the last `count` columns of each row in their order, padded with 0."""
    column = harm.shape[1] - count[:, None] + np.arange(width)
    real = column < harm.shape[1]
    return np.where(real, np.take_along_axis(harm, np.where(real, column, 0), axis=1), 0.0)


def _divide(total: Floats, norm: Floats) -> Floats:
    return np.divide(total, norm, out=np.zeros_like(total), where=norm > 0)
