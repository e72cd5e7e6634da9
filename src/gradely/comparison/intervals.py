"""Confidence intervals: of differences by t, of means by the studentised bootstrap, of many differences at once.

Where there is one query, or no spread at all, there is no interval: its ends are NaN.
"""

from typing import NamedTuple

import numpy as np

from gradely.comparison import tests
from gradely.comparison.student import t_upper
from gradely.comparison.tests import lacks_spread
from gradely.data.ids import Bools, Floats, Ints

DRAWS = 10_000
"""as for the tests; of this number of draws, 250 lie beyond each end of an interval of 95 %"""
SPREADLESS = 0.2
"""where more draws than this share of a tail have no spread, t says too little about that tail. By simulation, the
studentised bootstrap covers .95 to .97 below it; above it (fewer than 5 queries, values nearly all the same) as little
as .5, where t intervals cover .9 and more"""
ABSURD = 3.0
"""a bootstrap interval that reaches this many times as far as t's to one side rests on draws with hardly any spread"""


class Intervals(NamedTuple):
    """The ends of intervals, column by column; NaN where there is none."""

    low: Floats
    high: Floats


def t_intervals(values: Floats, level: float) -> Intervals:
    """Return the t interval of the mean of each column [queries, columns].

    >>> low, high = t_intervals(np.array([[0.1], [0.2], [0.3]]), 0.95)
    >>> (round(float(low[0]), 4), round(float(high[0]), 4))  # 0.2 ± 4.3027 · 0.1 / √3
    (-0.0484, 0.4484)
    """
    return around(values, t_quantile(len(values), level))


def t_quantile(queries: int, level: float) -> float:
    """Return how many standard errors a t interval reaches to each side."""
    if queries < 2:
        return np.nan
    tail = (1 - level) / 2
    return t_upper(tail, queries - 1) if tail > 0 else np.inf  # a level that no number below 1 is as near to


def simultaneous_reach(values: Floats, level: float, seed: int, resamples: int = DRAWS) -> float:
    """Return how many standard errors intervals reach to each side that hold for all columns at once; maybe NaN.

    As many as the largest |t| of all columns has, where the signs of the centred queries are drawn at random (as in the
    max-t test), and never fewer than a t interval.
    """
    queries, spread = len(values), ~_find_constant(values)
    if queries < 2 or not spread.any():
        return np.nan
    centred = values[:, spread] - values[:, spread].mean(axis=0)
    shares = tests.sort_canonically(centred / np.sqrt((centred**2).sum(axis=0)))
    largest = tests.largest_sums(shares, resamples, seed) / np.sqrt(queries)
    share = float(np.quantile(largest, level, method="higher"))
    # |t| = share·√(n-1) / √(1-share²): infinite where, with few queries, a draw of signs makes all differences equal
    reach = share * np.sqrt((queries - 1) / (1 - share**2)) if share < 1 - tests.SLACK else np.nan
    return float(np.maximum(reach, t_quantile(queries, level)))


def bootstrap_intervals(values: Floats, level: float, seed: int, draws: int = DRAWS) -> Intervals:
    """Return the studentised bootstrap interval of the mean of each column (Efron and Tibshirani 1993, 12.5).

    Draws without spread have no t and are left out. Where they are many (SPREADLESS), or where draws with next to no
    spread make an interval absurdly long (ABSURD), the t interval takes its place.
    """
    low, high = t_intervals(values, level)
    spread = np.flatnonzero(~_find_constant(values)) if len(values) > 1 else np.zeros(0, np.int64)
    for block in tests.blocks(len(spread), draws):
        part = spread[block]
        below, above, enough = _drawn_quantiles(np.sort(values[:, part], axis=0), level, seed, draws)
        mean, error = _mean_and_error(values[:, part])
        fits = enough & (np.maximum(above, -below) <= ABSURD * t_quantile(len(values), level))
        low[part] = np.where(fits, mean - above * error, low[part])
        high[part] = np.where(fits, mean - below * error, high[part])
    return Intervals(low, high)


def keep_within(intervals: Intervals, bounds: tuple[float, float], values: Floats) -> Intervals:
    """Return intervals of means cut at the bounds of a measure, which are not believed where a value lies beyond."""
    low, high = min(bounds[0], float(values.min())), max(bounds[1], float(values.max()))
    return Intervals(*(np.clip(end, low, high) for end in intervals))


def _drawn_quantiles(table: Floats, level: float, seed: int, draws: int) -> tuple[Floats, Floats, Bools]:
    """Return the two outer quantiles of t of each column, and whether enough draws had spread."""
    centred, rows = table - table.mean(axis=0), 0
    t = np.empty((draws, table.shape[1]))
    for counts in tests.draw_counts(len(table), draws, seed):
        mean, error = tests.moments(counts, centred)
        t[rows : rows + len(counts)] = np.where(error > 0, mean / np.where(error > 0, error, 1.0), np.nan)
        rows += len(counts)
    tail, counted = (1 - level) / 2, draws - np.count_nonzero(np.isnan(t), axis=0)
    t.sort(axis=0)  # what is NaN goes to the end
    return _quantile(t, counted, tail), _quantile(t, counted, 1 - tail), counted >= (1 - SPREADLESS * tail) * draws


def _quantile(ordered: Floats, counts: Ints, share: float) -> Floats:
    """Return a quantile of each column, whose first `counted` rows are sorted numbers, as np.quantile does of them."""
    place = np.maximum(counts - 1, 0) * share
    low = place.astype(np.int64)
    columns, high = np.arange(len(counts)), np.minimum(low + 1, np.maximum(counts - 1, 0))
    return ordered[low, columns] + (place - low) * (ordered[high, columns] - ordered[low, columns])


def around(values: Floats, reach: float) -> Intervals:
    """Return intervals that reach that many standard errors to each side of the mean of each column."""
    mean, error = _mean_and_error(values)
    return Intervals(mean - reach * error, mean + reach * error)


def _mean_and_error(values: Floats) -> tuple[Floats, Floats]:
    """Return means and standard errors; an error is NaN where there is no spread."""
    mean = values.mean(axis=0)
    if len(values) < 2:
        return mean, np.full_like(mean, np.nan)
    error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
    return mean, np.where(_find_constant(values), np.nan, error)


def _find_constant(values: Floats) -> Bools:
    """Return which columns have the same value on every query, but for rounding."""
    return lacks_spread(np.round(values, 12))
