"""Rank correlation of two rankings of runs: Kendall's τ, and τ_AP, which gives most weight to the best runs."""

import math
from bisect import bisect_left, bisect_right, insort
from typing import Any

import numpy as np

from gradely.data.ids import Floats, Ints

DIGITS = 12
"""means are rounded to this many decimals, so that rounding errors do not decide which runs tie"""
EQUIVALENT, NOTICEABLE = 0.9, 0.8
"""above the first value, F14 considers two rankings of runs equivalent; below the second, noticeably changed"""
SCALE = f"τ above {EQUIVALENT} means equivalent rankings, below {NOTICEABLE} a noticeable change (Ferrante et al. 2014)"


def meaning(tau: float) -> str:
    """Return F14's interpretation of a τ; '' between both limits, or if τ is undefined.

    >>> meaning(0.95), meaning(0.85), meaning(0.7)
    ('equivalent', '', 'noticeable change')
    """
    if tau > EQUIVALENT:
        return "equivalent"
    return "noticeable change" if tau < NOTICEABLE else ""


def tally(taus: Any, of: str, where: str = "") -> str:
    """Return the number of equivalent and of noticeably changed rankings among several τ.

    `where` says where all runs tie if there is no τ.

    >>> tally([0.95, 0.91, 0.5], "pairs")
    'rankings are equivalent for 2 of 3 pairs, noticeably changed for 1'
    >>> tally([float("nan")], "pair")
    'rankings are equivalent for 0 of 1 pair, noticeably changed for 0; 1 has no τ, since all runs tie'
    """
    words, none = [meaning(tau) for tau in taus], int(np.isnan(taus).sum())
    same, changed = words.count("equivalent"), words.count("noticeable change")
    text = f"rankings are equivalent for {same} of {len(words)} {of}, noticeably changed for {changed}"
    return f"{text}; {none} {'has' if none == 1 else 'have'} no τ, since all runs tie{where}" if none else text


def kendall(x: Any, y: Any) -> float:
    """Return Kendall's τ_b between two rankings of runs, given by their values; NaN if all runs tie.

    τ_b = (C - D) / √(pairs not tied by x · pairs not tied by y), where C and D are the numbers of pairs in the same and
    in the opposite order.

    >>> kendall([1, 2, 3, 4], [1, 2, 4, 3]) == 4 / 6, kendall([1, 2, 2], [1, 2, 3]) == 2 / math.sqrt(2 * 3)
    (True, True)
    """
    x, y = (round_means(np.asarray(values, np.float64)) for values in (x, y))
    above, _, fixed, _ = _count_agreements(x, y)
    untied, of_reference = float(np.sum(above)), float(np.sum(_count_agreements(y, x)[0]))
    # a pair that does not tie by x adds 1 to the agreements if it is in the same order, ½ if it ties by y
    return (
        (2 * float(np.sum(fixed)) - untied) / math.sqrt(untied * of_reference) if untied and of_reference else math.nan
    )


def tau_ap(x: Any, y: Any) -> float:
    """Return τ_AP of the ranking by x against the reference ranking by y.

    τ_AP = 2/(N-1) Σ_{i=2..N} C(i)/(i-1) - 1, where C(i) is the number of runs above rank i by x that the reference also
    ranks above (Yilmaz, Aslam, Robertson 2008). If runs tie by x, it is the mean over all their orders. A pair that
    ties by y counts half, and a pair that ties by both counts as agreement.

    >>> tau_ap([3, 2, 1], [3, 1, 2]) == 2 / 2 * (1 / 1 + 1 / 2) - 1
    True
    """
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    t, n, fixed, beside = _count_agreements(x, y)
    inverse = np.concatenate([[0, 0], np.cumsum(1 / np.arange(1, len(x)))])
    # over the places p of a group of n after t: Σ 1/(p-1) and Σ (p-1-t)/(p-1), where p = 1 has nothing above
    h = inverse[t + n] - inverse[t]
    g = n - (t == 0) - t * h
    loose = beside / np.maximum(n - 1, 1)
    return float(2 / (len(x) - 1) * np.sum((fixed * h + loose * g) / n) - 1)


def _count_agreements(x: Floats, y: Floats) -> tuple[Ints, Ints, Floats, Floats]:
    """Return, for each run, the runs above it by x, the runs tied with it (including itself), and two agreements.

    The agreements count the pairs in which the reference y also ranks the other run first: among runs above it by x,
    where a tie by y counts half, and among runs tied by x, where a tie by y counts fully. Runs are inserted into a
    sorted list, which needs less memory than a table of all pairs.
    """
    order = np.argsort(-x)
    starts = np.flatnonzero(np.diff(x[order], prepend=np.inf) != 0)
    t, n, fixed, beside = np.zeros_like(order), np.zeros_like(order), np.zeros(len(x)), np.zeros(len(x))
    above: list[float] = []
    for group in np.split(order, starts[1:]):
        reference = y[group].tolist()
        ranked = sorted(reference)
        t[group], n[group] = len(above), len(group)
        fixed[group] = [
            len(above) - (bisect_left(above, value) + bisect_right(above, value)) / 2 for value in reference
        ]
        beside[group] = [len(ranked) - bisect_left(ranked, value) - 1 for value in reference]
        for value in reference:
            insort(above, value)
    return t, n, fixed, beside


def round_means(means: Floats) -> Floats:
    """Return means rounded to DIGITS decimals, and very large ones, which have none, as they are.

    >>> round_means(np.array([0.1 + 0.2, 1e300, -1e300])).tolist()
    [0.3, 1e+300, -1e+300]
    """
    rounds = np.abs(means) < 1e15
    return np.where(rounds, np.round(np.where(rounds, means, 0.0), DIGITS), means)


def correlate_both(x: Any, y: Any) -> tuple[float, float]:
    """Return τ and τ_AP; both are NaN if all runs tie in one of the rankings."""
    tau = kendall(x, y)
    return tau, math.nan if math.isnan(tau) else tau_ap(x, y)


def correlations(means: Floats) -> tuple[Floats, Floats]:
    """Return the matrices of τ and τ_AP between all columns of [runs, measures]."""
    columns = round_means(means).T
    pairs = np.asarray([[correlate_both(x, y) for y in columns] for x in columns])
    pairs[np.abs(pairs) < 10.0**-DIGITS] = 0.0  # where rounding leaves less than 0, a table would show -0.000
    return pairs[:, :, 0], pairs[:, :, 1]


def defined_or_none(value: float) -> float | None:
    """Return a number, or None for NaN."""
    return None if np.isnan(value) else float(value)
