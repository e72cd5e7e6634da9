"""Paired significance tests between runs, from their values [queries, runs].

A test returns one p-value for each pair of runs; `adjust` corrects them over a family. The order of queries and runs
does not matter.
"""

from collections.abc import Callable
from math import erfc, sqrt
from typing import Any

import numpy as np

from gradely.comparison import resampling
from gradely.comparison.pairs import Pairs, all_pairs, differences, lacks_spread
from gradely.data.types import Floats, Ints
from gradely.errors import DataError
from gradely.optional import stats
from gradely.settings import check_choice

TESTS = {
    "t": "paired t-test",
    "wilcoxon": "Wilcoxon signed-rank test",
    "randomization": "paired randomization test",
    "bootstrap": "paired bootstrap test, studentised",
    "tukey": "randomised Tukey HSD, blocked by query",
    "max-t": "randomised max-t test",
}
SIMULTANEOUS = ("tukey", "max-t")
"""tests whose p-values hold for all pairs at once and take no correction"""
DRAWN = ("randomization", "bootstrap", *SIMULTANEOUS)
"""tests whose p-values come from draws"""
BY_SPREAD = ("t", "bootstrap")
"""tests that divide by the spread of the differences"""
EXACT = 100
"""up to so many differences that are not 0 the distribution of Wilcoxon's test is computed: 0.5 ms for each pair"""
CORRECTIONS = {"holm": "Holm", "bonferroni": "Bonferroni", "bh": "Benjamini–Hochberg", "none": "no correction"}


def p_values(
    values: Any, test: str = "t", pairs: Pairs | None = None, *, resamples: int = resampling.RESAMPLES, seed: int = 0
) -> Floats:
    """Return the two-sided p-value of each pair (by default all_pairs), not corrected.

    `values` is [queries, runs]. `test` is one of TESTS; randomization, bootstrap, tukey and max-t draw `resamples`
    times with `seed`. tukey holds for all pairs of the runs at once, max-t for all given pairs; neither needs a
    correction. Where the difference is the same on every query, t and bootstrap cannot be computed, and p is that of
    the exact randomization test, 2 / 2^n.

    >>> p_values([[0.5, 0.4], [0.7, 0.4], [0.9, 0.4]], "randomization").tolist() == [2 / 2**3]
    True
    """
    table = check_values(values)
    pairs = all_pairs(table.shape[1]) if pairs is None else pairs
    (p,) = joint_p_values(table[None], test, pairs, resamples=resamples, seed=seed)
    return np.asarray(p)


def joint_p_values(values: Floats, test: str, pairs: Pairs, *, resamples: int, seed: int) -> Floats:
    """Return the p-values [measures, pairs] of values [measures, queries, runs].

    Those of tukey and max-t hold for all measures together; other tests take each pair on each measure by itself.
    """
    check_choice("test", test, TESTS)
    if test == "tukey":
        return resampling.tukey(values, pairs, resamples, seed)
    differ = np.concatenate([differences(table, pairs) for table in values], axis=1)
    out, differing = np.ones(differ.shape[1]), np.any(differ != 0, axis=0)
    if test in BY_SPREAD:
        constant = differing & lacks_spread(differ)
        out[constant], differing = 2.0 ** (1 - len(differ)), differing & ~constant
    if differing.any():
        out[differing] = _TESTS[test](differ[:, differing], resamples, seed)
    return out.reshape(len(values), len(pairs))


def check_values(values: Any) -> Floats:
    """Return values [queries, runs] as an array; refuse what cannot be tested."""
    table: Floats = np.asarray(values, np.float64)
    if table.ndim != 2 or table.shape[0] < 2 or table.shape[1] < 2:
        raise DataError(
            f"a paired test needs at least 2 queries and 2 runs, as an array [queries, runs]; found {table.shape}"
        )
    if not np.isfinite(table).all():
        raise DataError("values that are not finite numbers cannot be tested")
    return table


def wilcoxon(differ: Floats) -> Floats:
    """Return the two-sided p-value of each column of differences; those that are 0 are left out (Wilcoxon 1945).

    It is exact where ranks tie and where differences are 0, too.

    >>> wilcoxon(np.array([[0.1], [0.1], [0.3], [0.0]])).tolist() == [2 / 2**3]
    True
    """
    return np.asarray([_test_signed_ranks(column[column != 0]) for column in differ.T])


def _test_signed_ranks(differ: Floats) -> float:
    if not len(differ):
        return 1.0
    ranks = _doubled_ranks(np.abs(differ))
    positive = int(ranks[differ > 0].sum())
    lower = min(positive, int(ranks.sum()) - positive)
    return _exact_p(ranks, lower) if len(ranks) <= EXACT else _normal_p(ranks, lower)


def _doubled_ranks(size: Floats) -> Ints:
    """Return twice the ranks, which are whole numbers where ties share the mean of their ranks."""
    _, group, count = np.unique(size, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    return (2 * last - count + 1)[group]


def _exact_p(ranks: Ints, lower: int) -> float:
    """Return the share of the 2^n ways to choose signs whose smaller sum of ranks is no larger than this one.

    The ways to reach each sum are counted by adding one rank after another, a convolution with 1 + x^rank. Only sums up
    to `lower` matter: the distribution is symmetric. Counts are positive doubles, so nothing cancels.
    """
    ways = np.zeros(lower + 1)
    ways[0] = 1.0
    for rank in ranks[ranks <= lower].tolist():
        ways[rank:] += ways[:-rank].copy()
    return min(1.0, float(np.ldexp(ways.sum(), 1 - len(ranks))))


def _normal_p(ranks: Ints, lower: int) -> float:
    """Return the p-value by the normal approximation; the variance of the sum is Σ rank²/4, ties or not."""
    mean, deviation = float(ranks.sum()) / 2, sqrt(float((ranks.astype(np.float64) ** 2).sum())) / 2
    return erfc((mean - lower) / deviation / sqrt(2))


_TESTS: dict[str, Callable[[Floats, int, int], Floats]] = {
    "t": lambda differ, *_: np.asarray(stats().ttest_1samp(differ, 0).pvalue),
    "wilcoxon": lambda differ, *_: wilcoxon(differ),
    "randomization": resampling.randomization,
    "bootstrap": resampling.bootstrap,
    "max-t": resampling.max_t,
}


def adjust(p: Any, correction: str = "holm") -> Floats:
    """Return p-values corrected over their family.

    >>> adjust([0.01, 0.02, 0.04], "holm").tolist() == [3 * 0.01, 2 * 0.02, 0.04]
    True
    """
    check_choice("correction", correction, CORRECTIONS)
    raw: Floats = np.asarray(p, np.float64)
    if correction == "none" or not len(raw):
        return raw
    if correction == "bh":
        return np.asarray(stats().false_discovery_control(raw))
    if correction == "bonferroni":
        return np.minimum(1.0, raw * len(raw))
    order = np.argsort(raw, kind="stable")
    out = np.empty_like(raw)
    out[order] = np.minimum(1.0, np.maximum.accumulate(raw[order] * np.arange(len(raw), 0, -1)))
    return out


def achieved_levels(p: Any) -> Floats:
    """Return the achieved-significance-level curve: the p-values of all pairs, from the largest to the smallest."""
    return np.sort(np.asarray(p, np.float64))[::-1]
