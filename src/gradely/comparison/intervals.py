"""Estimates with standard errors, and their confidence intervals: by t, by the bootstrap, and simultaneous ones.

With one query, or without any spread, there is no interval: its ends are NaN.
"""

from typing import Any, NamedTuple

import numpy as np

from gradely.comparison import tests
from gradely.comparison.student import t_tail, t_upper
from gradely.comparison.tests import Chances, lacks_spread
from gradely.data.ids import Bools, Floats, Ints
from gradely.evaluation.notes import SAME

DRAWS = 10_000
"""resamples of the bootstrap, as for tests: 250 lie beyond each end of a 95 % interval"""
SPREADLESS = 0.2
"""if more draws than this share of a tail have no spread, t intervals are used. In simulations, the coverage of the
studentised bootstrap is .95 to .97 below this limit. Above it (fewer than 5 queries, or nearly constant values), it can
be as low as .5, while t intervals cover .9 and more"""
ABSURD = 3.0
"""bootstrap intervals that extend this many times as far as t intervals depend on draws with almost no spread"""


class Intervals(NamedTuple):
    """The ends of the interval of each column; NaN if there is none."""

    low: Floats
    high: Floats


class Estimates(NamedTuple):
    """Estimates by one measure, [pairs], mostly differences of pairs, with their standard errors."""

    difference: Floats
    error: Floats
    """the standard error; NaN if nothing varies, and then there is no t"""
    freedom: Floats
    """the degrees of freedom of t"""
    units: Floats
    """the number of queries or collections"""

    @classmethod
    def of(cls, values: Floats) -> "Estimates":
        """Return the mean of each column [queries, columns], with the standard error of a one-sample t-test."""
        queries, columns = values.shape
        error = np.full(columns, np.nan)
        if queries > 1:
            error = np.where(_find_constant(values), np.nan, values.std(axis=0, ddof=1) / np.sqrt(queries))
        return cls(values.mean(axis=0), error, np.full(columns, queries - 1.0), np.full(columns, float(queries)))

    def only(self, pair: int) -> "Estimates":
        """Return the estimate of one pair."""
        return Estimates(*(column[[pair]] for column in self))

    def p_values(self) -> Floats:
        """Return two-sided p-values; if nothing varies, those of the exact randomization test, 2 / 2^n."""
        exact = np.where(self.difference == 0, 1.0, 2.0 ** (1 - self.units))
        return np.where(self.constant, exact, 2 * t_tail(np.abs(self.difference) / self._divisor, self._freedom))

    def p_above(self, limits: Any) -> Floats:
        """Return one-sided p-values of the hypothesis that differences exceed their limits."""
        beyond = self.difference - limits
        exact = np.where(beyond > SAME, 0.5**self.units, 1.0)
        return np.where(self.constant, exact, t_tail(beyond / self._divisor, self._freedom))

    def p_below(self, limits: Any) -> Floats:
        """Return one-sided p-values of the hypothesis that differences are below their limits."""
        return self._replace(difference=-self.difference).p_above(-np.asarray(limits))

    def around(self, reach: float) -> Intervals:
        """Return the intervals that extend `reach` standard errors to each side."""
        return Intervals(self.difference - reach * self.error, self.difference + reach * self.error)

    def intervals(self, level: Any) -> Intervals:
        """Return t intervals; the level may differ between pairs. They are NaN if nothing varies."""
        tails = (1 - np.broadcast_to(level, self.error.shape)) / 2
        reach = [t_upper(float(tail), float(freedom)) for tail, freedom in zip(tails, self._freedom, strict=True)]
        half = np.asarray(reach, np.float64).reshape(self.error.shape) * self.error
        return Intervals(self.difference - half, self.difference + half)

    def tost(self, rope: float) -> Floats:
        """Return p-values of equivalence (TOST): the larger of two one-sided p-values (Schuirmann 1987)."""
        size = np.abs(self.difference)
        inside = np.where(rope - size > SAME, 0.5**self.units, 1.0)
        return np.where(self.constant, inside, t_tail((rope - size) / self._divisor, self._freedom))

    def chances(self, rope: float) -> Chances:
        """Return posterior probabilities of differences above, within and below the margin under a flat prior."""
        above = t_tail((rope - self.difference) / self._divisor, self._freedom)
        below = t_tail((rope + self.difference) / self._divisor, self._freedom)
        return Chances(*(np.where(self.constant, np.nan, part) for part in (above, 1 - above - below, below)))

    @property
    def constant(self) -> Bools:
        """Whether nothing varies."""
        return np.isnan(self.error)

    @property
    def _divisor(self) -> Floats:
        return np.where(self.constant, 1.0, self.error)

    @property
    def _freedom(self) -> Floats:
        return np.where(self.constant, 1.0, self.freedom)


def _find_constant(values: Floats) -> Bools:
    """Return which columns have the same value on every query, up to rounding."""
    return lacks_spread(np.round(values, tests.DIGITS))


def t_intervals(values: Floats, level: float) -> Intervals:
    """Return the t interval of the mean of each column [queries, columns].

    >>> low, high = t_intervals(np.array([[0.1], [0.2], [0.3]]), 0.95)
    >>> (round(float(low[0]), 4), round(float(high[0]), 4))  # 0.2 ± 4.3027 · 0.1 / √3
    (-0.0484, 0.4484)
    """
    return Estimates.of(values).around(t_quantile(len(values), level))


def t_quantile(queries: int, level: float) -> float:
    """Return half the width of a t interval in standard errors."""
    if queries < 2:
        return np.nan
    tail = (1 - level) / 2
    return t_upper(tail, queries - 1) if tail > 0 else np.inf  # a level that no number below 1 is as near to


def simultaneous_reach(values: Floats, level: float, seed: int, resamples: int = DRAWS) -> float:
    """Return half the width of simultaneous intervals in standard errors; NaN if there are none.

    It is a quantile of the largest |t| of all columns under random signs of the centred queries, as in the max-t test,
    and at least the width of a t interval.
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

    Draws without spread have no t and are ignored. If there are many (SPREADLESS), or if draws with almost no spread
    make an interval implausibly long (ABSURD), the t interval is returned instead.
    """
    low, high = t_intervals(values, level)
    spread = np.flatnonzero(~_find_constant(values)) if len(values) > 1 else np.zeros(0, np.int64)
    for block in tests.blocks(len(spread), draws):
        part = spread[block]
        below, above, enough = _drawn_quantiles(np.sort(values[:, part], axis=0), level, seed, draws)
        mean, error, *_ = Estimates.of(values[:, part])
        fits = enough & (np.maximum(above, -below) <= ABSURD * t_quantile(len(values), level))
        low[part] = np.where(fits, mean - above * error, low[part])
        high[part] = np.where(fits, mean - below * error, high[part])
    return Intervals(low, high)


def keep_within(intervals: Intervals, bounds: tuple[float, float], values: Floats) -> Intervals:
    """Clip intervals of means to the bounds of a measure, or to the range of the values if it is wider."""
    low, high = min(bounds[0], float(values.min())), max(bounds[1], float(values.max()))
    return Intervals(*(np.clip(end, low, high) for end in intervals))


def _drawn_quantiles(table: Floats, level: float, seed: int, draws: int) -> tuple[Floats, Floats, Bools]:
    """Return the lower and upper quantile of t of each column, and whether enough draws have spread."""
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
    """Return a quantile of the first `counts` values of each sorted column, as np.quantile does."""
    place = np.maximum(counts - 1, 0) * share
    low = place.astype(np.int64)
    columns, high = np.arange(len(counts)), np.minimum(low + 1, np.maximum(counts - 1, 0))
    return ordered[low, columns] + (place - low) * (ordered[high, columns] - ordered[low, columns])
