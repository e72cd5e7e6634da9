"""Pairs whose differences have standard errors and degrees of freedom of their own: t, intervals, equivalence.

Systems with several runs, and systems on several collections, are compared by estimates of this kind.
"""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from gradely.comparison.intervals import Intervals
from gradely.comparison.pairwise import Pairwise
from gradely.comparison.student import t_tail, t_upper
from gradely.comparison.tests import ROUNDING, Chances
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

    def p_values(self) -> Floats:
        """Return the two-sided p-values; where nothing varies, those of the exact randomization test, 2 / 2^n."""
        exact = np.where(self.difference == 0, 1.0, 2.0 ** (1 - self.units))
        return np.where(self.constant, exact, 2 * t_tail(np.abs(self.difference) / self._divisor, self._freedom))

    def p_above(self, limits: Any) -> Floats:
        """Return the one-sided p-values that differences are above their limits."""
        beyond = self.difference - limits
        exact = np.where(beyond > 0, 0.5**self.units, 1.0)
        return np.where(self.constant, exact, t_tail(beyond / self._divisor, self._freedom))

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


class Estimated(Pairwise):
    """Pairs that are tested by t from estimates; a subclass says what these are."""

    @cached_property
    def estimates(self) -> list[Estimates]:
        """The estimates by measure."""
        raise NotImplementedError

    @cached_property
    def differences(self) -> Floats:
        """The differences that are tested."""
        return np.stack([estimates.difference for estimates in self.estimates])

    @cached_property
    def p(self) -> Floats:
        """The p-values, not corrected."""
        return np.stack([estimates.p_values() for estimates in self.estimates])

    @cached_property
    def directions(self) -> Floats:
        """Which of a pair has the higher mean: 1 for the first, -1 for the second."""
        return np.where(np.abs(self.differences) > ROUNDING, np.sign(self.differences), 0.0)

    @cached_property
    def contradicts(self) -> Bools:
        """Nowhere: t goes by the difference."""
        return np.zeros(self.p.shape, np.bool_)

    @cached_property
    def least(self) -> Floats:
        """The least p-values that there can be, not corrected: t has none, but where nothing varies."""
        return np.stack([np.where(e.constant, 2.0 ** (1 - e.units), 0.0) for e in self.estimates])

    @cached_property
    def intervals(self) -> list[Intervals]:
        """The intervals of the differences, measure by measure."""
        return [estimates.intervals(1 - self.design.alpha) for estimates in self.estimates]

    def corrected_interval(self, measure: int, pair: int) -> tuple[float, float]:
        """Return the interval of a difference, corrected as its p-value is; NaN where there is none."""
        share = self.p[measure, pair] / self.adjusted[measure, pair] if self.is_corrected else 1.0
        one = Estimates(*(column[[pair]] for column in self.estimates[measure]))
        low, high = one.intervals(1 - self.design.alpha * float(share))
        return float(low[0]), float(high[0])

    @cached_property
    def count_replaced(self) -> int:
        """How many tests were replaced: the difference is the same everywhere, and not 0."""
        return sum(int(np.count_nonzero(e.constant & (e.difference != 0))) for e in self.estimates)

    @cached_property
    def tost(self) -> Floats:
        """The p-values of equivalence, not corrected; NaN where no region was given."""
        rope = self.design.rope
        return np.full(self.p.shape, np.nan) if rope is None else np.stack([e.tost(rope) for e in self.estimates])

    def chances(self, measure: int, rope: float) -> Chances:
        """Return the posterior chances that the first of each pair is better, as good as equal, worse."""
        return self.estimates[measure].chances(rope)
