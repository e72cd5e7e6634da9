"""Differences with standard errors and degrees of freedom of their own: t, intervals, equivalence."""

from typing import Any, NamedTuple

import numpy as np

from gradely.comparison.intervals import Intervals
from gradely.comparison.student import t_tail, t_upper
from gradely.comparison.tests import Chances, lacks_spread
from gradely.data.ids import Bools, Floats


class Estimates(NamedTuple):
    """The differences of some pairs by one measure, [pairs], and how sure they are."""

    difference: Floats
    error: Floats
    """the standard error; NaN where nothing varies, so that there is no t"""
    freedom: Floats
    """the degrees of freedom of t"""
    units: Floats
    """on how many queries, or collections, the difference was observed"""

    @classmethod
    def of(cls, differ: Floats) -> "Estimates":
        """Return the means of columns of differences [queries, pairs], with the errors that a paired t-test has."""
        queries, pairs = differ.shape
        varies = ~lacks_spread(differ) if queries > 1 else np.zeros(pairs, np.bool_)
        error = differ.std(axis=0, ddof=1) / np.sqrt(queries) if queries > 1 else np.zeros(pairs)
        freedom, units = np.full(pairs, queries - 1.0), np.full(pairs, float(queries))
        return cls(differ.mean(axis=0), np.where(varies, error, np.nan), freedom, units)

    def p_values(self) -> Floats:
        """Return the two-sided p-values; where nothing varies, those of the exact randomization test, 2 / 2^n."""
        exact = np.where(self.difference == 0, 1.0, 2.0 ** (1 - self.units))
        return np.where(self.constant, exact, 2 * t_tail(np.abs(self.difference) / self._divisor, self._freedom))

    def p_above(self, limits: Any) -> Floats:
        """Return the one-sided p-values that differences are above their limits."""
        beyond = self.difference - limits
        exact = np.where(beyond > 0, 0.5**self.units, 1.0)
        return np.where(self.constant, exact, t_tail(beyond / self._divisor, self._freedom))

    def p_below(self, limits: Any) -> Floats:
        """Return the one-sided p-values that differences are below their limits."""
        return self._replace(difference=-self.difference).p_above(-np.asarray(limits))

    def intervals(self, level: Any) -> Intervals:
        """Return the t intervals of a level, which may be another for each pair; NaN where nothing varies."""
        tails = (1 - np.broadcast_to(level, self.error.shape)) / 2
        reach = [t_upper(float(tail), float(freedom)) for tail, freedom in zip(tails, self._freedom, strict=True)]
        half = np.asarray(reach, np.float64).reshape(self.error.shape) * self.error
        return Intervals(self.difference - half, self.difference + half)

    def tost(self, rope: float) -> Floats:
        """Return the p-values of equivalence: the larger one of two one-sided t-tests (Schuirmann 1987)."""
        size = np.abs(self.difference)
        inside = np.where(size < rope, 0.5**self.units, 1.0)
        return np.where(self.constant, inside, t_tail((rope - size) / self._divisor, self._freedom))

    def chances(self, rope: float) -> Chances:
        """Return the posterior chances with the prior that says nothing: above rope, within, below; NaN without t."""
        above = t_tail((rope - self.difference) / self._divisor, self._freedom)
        below = t_tail((rope + self.difference) / self._divisor, self._freedom)
        return Chances(*(np.where(self.constant, np.nan, part) for part in (above, 1 - above - below, below)))

    @property
    def constant(self) -> Bools:
        """Where nothing varies."""
        return np.isnan(self.error)

    @property
    def _divisor(self) -> Floats:
        return np.where(self.constant, 1.0, self.error)

    @property
    def _freedom(self) -> Floats:
        return np.where(self.constant, 1.0, self.freedom)
