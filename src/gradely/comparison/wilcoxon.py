"""Wilcoxon's signed-rank test, exact where ranks tie and where differences are 0, too."""

from math import erfc, sqrt

import numpy as np

from gradely.data.types import Floats, Ints

EXACT = 100
"""up to so many differences that are not 0 the distribution is computed: 0.5 ms for each pair of runs"""


def wilcoxon(differ: Floats) -> Floats:
    """Return the two-sided p-value of each column of differences; those that are 0 are left out (Wilcoxon 1945).

    >>> wilcoxon(np.array([[0.1], [0.1], [0.3], [0.0]])).tolist() == [2 / 2**3]
    True
    """
    return np.asarray([_p_value(column[column != 0]) for column in differ.T])


def _p_value(differ: Floats) -> float:
    if not len(differ):
        return 1.0
    ranks = _doubled_ranks(np.abs(differ))
    positive = int(ranks[differ > 0].sum())
    lower = min(positive, int(ranks.sum()) - positive)
    return _exact(ranks, lower) if len(ranks) <= EXACT else _normal(ranks, lower)


def _doubled_ranks(size: Floats) -> Ints:
    """Return twice the ranks, which are whole numbers where ties share the mean of their ranks."""
    _, group, count = np.unique(size, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    return (2 * last - count + 1)[group]


def _exact(ranks: Ints, lower: int) -> float:
    """Return the share of the 2^n ways to choose signs whose smaller sum of ranks is no larger than this one.

    The ways to reach each sum are counted by adding one rank after another, a convolution with 1 + x^rank. Only sums up
    to `lower` matter: the distribution is symmetric. Counts are positive doubles, so nothing cancels.
    """
    ways = np.zeros(lower + 1)
    ways[0] = 1.0
    for rank in ranks[ranks <= lower].tolist():
        ways[rank:] += ways[:-rank].copy()
    return min(1.0, float(np.ldexp(ways.sum(), 1 - len(ranks))))


def _normal(ranks: Ints, lower: int) -> float:
    """Return the p-value by the normal approximation; the variance of the sum is Σ rank²/4, ties or not."""
    mean, deviation = float(ranks.sum()) / 2, sqrt(float((ranks.astype(np.float64) ** 2).sum())) / 2
    return erfc((mean - lower) / deviation / sqrt(2))
