"""Values of gains: dcg and its kin, G, rbp. A level gains its number, or what a parameter says."""

from functools import reduce

import numpy as np

from gradely.kernel.backend import sum_rows
from gradely.kernel.batch import Array, Batch
from gradely.kernel.families import additive
from gradely.kernel.gains import log2
from gradely.measures.g import gain_over_missed
from gradely.trec_eval.options import Options
from gradely.trec_eval.values import num_rel, quotient

CELLS = 1 << 20
"""about how many places of rankings are looked at in one go"""


class Gains:
    """The gains of levels; a level that is not listed gains its number, a document without judgment nothing.

    Of a level that is listed several times, a retrieved document gains the lowest, and an ideal one the first.
    """

    def __init__(self, pairs: list[tuple[int, float]]) -> None:
        """Hold the gains that differ from their level."""
        self.gains = [gain for _, gain in pairs]
        self.table = dict(reversed(pairs))
        self.lowest = {level: min(gain for other, gain in pairs if other == level) for level in self.table}

    def _gains_of(self, labels: Array, rows: Array, table: dict[int, float]) -> Array:
        listed = (np.where(labels == level, gain, 0.0) for level, gain in table.items())
        own = np.where(np.isin(labels, list(table)), 0.0, labels)
        return np.where(rows & (labels >= 0), reduce(np.add, listed, own), 0.0)

    def retrieved_gains(self, batch: Batch) -> Array:
        """Return [Q, H]: the gain of each judged document that is retrieved."""
        return self._gains_of(batch.grade, batch.judged, self.lowest)

    def ideal(self, batch: Batch) -> Array:
        """Return [Q, B]: the gains of the pool above 0, best first."""
        return np.maximum(-np.sort(-self._gains_of(batch.pool, batch.pooled, self.table), axis=1), 0.0)

    def range(self, batch: Batch) -> tuple[Array, Array]:
        """Return [Q, 1] each: the lowest and the highest gain of the levels from 0 to the best of the pool."""
        best, inverse = np.unique(np.where(batch.pooled, batch.pool, -1.0).max(axis=1), return_inverse=True)
        spans = np.array([self._span(int(level)) for level in best])[inverse]
        return spans[:, :1], spans[:, 1:]

    def _span(self, best: int) -> tuple[float, float]:
        low = next((level for level in range(best + 1) if level not in self.table), None)
        high = next((level for level in range(best, -1, -1) if level not in self.table), None)
        levels = [*self.gains, *(level for level in (low, high) if level is not None)]
        return min(levels, default=0.0), max(levels, default=0.0)


def running_gains(batch: Batch, gain: Array) -> Array:
    """Return [Q, H+1]: the discounted gain of the first 0, 1, … columns, in rank order."""
    return np.cumulative_sum(additive(batch, gain, log2, None), axis=1, include_initial=True)


def running_ideal(batch: Batch, gains: Gains) -> Array:
    """Return [Q, B+1]: the discounted gain of the first 0, 1, … places of the ideal ranking."""
    ideal = gains.ideal(batch)
    rank = np.arange(1, ideal.shape[1] + 1, dtype=np.float64)
    return np.cumulative_sum(ideal / log2(batch, rank), axis=1, include_initial=True)


def dcg(batch: Batch, gains: Gains) -> Array:
    """Return the discounted cumulated gain."""
    return running_gains(batch, gains.retrieved_gains(batch))[:, -1]


def ideal_dcg(batch: Batch, gains: Gains) -> Array:
    """Return that of the ideal ranking."""
    return running_ideal(batch, gains)[:, -1]


def ndcg(batch: Batch, gains: Gains) -> Array:
    """Return the one over the other."""
    return quotient(dcg(batch, gains), ideal_dcg(batch, gains))


def G(batch: Batch, gains: Gains) -> Array:
    """Return normalized gain."""
    ideal = gains.ideal(batch)
    ones = batch.xp.zeros_like(ideal[:, :1])  # exponents: the units of the gains are 1
    return quotient(sum_rows(gain_over_missed(batch, gains.retrieved_gains(batch), ideal, ones)), sum_rows(ideal))


def ndcg_rel(batch: Batch, gains: Gains) -> Array:
    """Return the mean of ndcg over the documents that gain, at their ranks; those not retrieved take the last value."""
    gain, ideal = gains.retrieved_gains(batch), running_ideal(batch, gains)
    sums, places = running_gains(batch, gain), np.minimum(batch.above + 1, ideal.shape[1] - 1)
    at = np.where(gain > 0, quotient(sums[:, 1:], ideal[batch.row, places]), 0.0)
    count = (gains.ideal(batch) > 0).sum(axis=1)
    missed = batch.to_real(count - (gain > 0).sum(axis=1))
    added = sum_rows(at) + quotient(missed * sums[:, -1], ideal[:, -1])
    return np.where(added > 0, quotient(added, batch.to_real(count)), 0.0)


def Rndcg(batch: Batch, gains: Gains, options: Options) -> Array:
    """Return the mean of ndcg at the ranks where the ideal gain falls, and at the end of a ranking that goes on."""
    ideal, best = running_ideal(batch, gains), gains.ideal(batch)
    sums = running_gains(batch, gains.retrieved_gains(batch))
    added, points = np.zeros(len(best)), np.zeros(len(best))
    for gain in np.unique(best[best > 0])[::-1]:
        depth = (best >= gain).sum(axis=1)
        falls = (best == gain).any(axis=1)
        inside = (batch.judged & (batch.above < depth[:, None])).sum(axis=1)
        row = np.arange(len(best))
        added = added + np.where(falls, quotient(sums[row, inside], ideal[row, depth]), 0.0)
        points = points + falls
    goes_on = (best > 0).sum(axis=1) + 1 < batch.retrieved
    added = added + np.where(goes_on, quotient(sums[:, -1], ideal[:, -1]), 0.0)
    return np.where(num_rel(batch, options) > 0, quotient(added, points + goes_on), 0.0)


def rbp(batch: Batch, gains: Gains, p: float) -> Array:
    """Return rank-biased precision; gains that leave 0 … 1 are brought there, query by query."""
    low, high = gains.range(batch)
    gain, outside = gains.retrieved_gains(batch), (low < 0) | (high > 1)
    judged = batch.judged & (batch.grade >= 0)
    scaled = np.where(judged, quotient(gain - low, high - low), 0.0)
    return (1.0 - p) * sum_rows(np.where(outside, scaled, gain) * _patience(p, batch.depth)[batch.above])


def rbp_resid(batch: Batch, p: float) -> Array:
    """Return how much rank-biased precision may rise, were all documents without judgment relevant."""
    depth = int(batch.retrieved.max())
    patience = _patience(p, depth + 1)
    step = max(1, CELLS // (depth + 1))
    starts = range(0, len(batch.retrieved), step)
    parts = [_residual(batch, slice(i, i + step), patience, depth) for i in starts]
    incomplete = batch.retrieved > (batch.judged & (batch.grade >= 0)).sum(axis=1)
    return np.where(incomplete, patience[batch.retrieved] + (1 - p) * np.concatenate(parts), 0.0)


def _residual(batch: Batch, rows: slice, patience: Array, depth: int) -> Array:
    """Return, for some queries, the sum of p^(i-1) over the ranks i without a judgment, added in rank order."""
    open_places = np.arange(depth) < batch.retrieved[rows, None]
    query, column = np.nonzero((batch.judged & (batch.grade >= 0))[rows])
    open_places[query, batch.above[rows][query, column]] = False
    return np.cumulative_sum(np.where(open_places, patience[:depth], 0.0), axis=1, include_initial=True)[:, -1]


def _patience(p: float, depth: int) -> Array:
    """Return 1, p, p², …, each made from the one before."""
    return np.cumulative_prod(np.full(max(depth - 1, 0), p), include_initial=True)
