"""Random-effects meta-analysis: one difference from several collections with different true differences.

The true difference of two systems varies between collections. Its mean over all collections like these is estimated
from the difference y_k on each collection and its variance v_k. The variance of the true differences, τ², is estimated
by the method of Paule and Mandel (1982), which equates the weighted sum of squares to its expectation.

The optimal weights for a known τ², 1/(v_k + τ²), give nearly all weight to one or two large collections if the estimate
of τ² happens to be 0, which inflates the error rate (IntHout, Ioannidis and Borm 2014). Therefore, the median of the
v_k is added to each variance, and the standard error is robust: it is computed from the distance of each y_k to the
mean, corrected for its leverage (Bell and McCaffrey 2002; Tipton 2015). t has K - 1 degrees of freedom.
"""

from collections.abc import Sequence
from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from gradely.comparison.student import t_upper
from gradely.data.ids import Floats
from gradely.evaluation.notes import Note
from gradely.tables import count_of

STEPS = 60
"""bisection steps for τ², more than a double has bits"""
SAME = 1e-12
"""tolerance for equal differences"""


class Combined(NamedTuple):
    """The mean difference over collections like these."""

    difference: float
    error: float
    """the standard error of the difference"""
    tau2: float
    """the variance of the true differences between collections"""
    i2: float
    """the share of the variation between collections that is not due to chance (Higgins and Thompson 2002)"""
    weights: list[float]
    """the weight of each collection in the mean"""
    variance: float
    """the model-based variance of the mean, which is more stable than the robust error"""

    def prediction(self, level: float) -> tuple[float, float] | None:
        """Return the prediction interval for a new collection; None for fewer than three collections.

        t has K - 2 degrees of freedom (Higgins, Thompson and Spiegelhalter 2009).
        """
        freedom = len(self.weights) - 2
        if freedom < 1:
            return None
        reach = t_upper((1 - level) / 2, freedom) * sqrt(self.tau2 + self.variance)
        return self.difference - reach, self.difference + reach


def combine(y: Floats, v: Floats) -> Combined | None:
    """Combine differences `y` with variances `v` of two or more collections; None if nothing varies.

    With the weights w_k and s_k = v_k + τ², the variance of the mean is Σ w_k²·e_k²·s_k/Var(e_k) for the distances e_k
    of the y_k to it, where Var(e_k) = s_k·(1 - 2w_k) + Σ w²s. If all y_k are equal, it is Σ w²s.

    >>> found = combine(np.array([0.1, 0.3]), np.array([0.01, 0.01]))  # Q(τ²) = 2·0.1²/(0.01 + τ²) = 1
    >>> round(found.difference, 4), round(found.tau2, 4), round(found.error, 4)
    (0.2, 0.01, 0.1)
    """
    tau2, scatter = paule_mandel(y, v), squares(y, v, 0.0)
    spread = v + tau2
    if not spread.any():
        return None
    weights = 1 / (spread + (np.median(v) or v.mean()))
    weights /= weights.sum()
    mean = float((weights * y).sum())
    variance = float((weights**2 * spread).sum())
    distance = spread * (1 - 2 * weights) + variance
    robust = float((weights**2 * (y - mean) ** 2 * spread / distance).sum()) if np.ptp(y) > SAME else variance
    excess = 1 - (len(y) - 1) / scatter if scatter > 0 else 0.0
    return Combined(mean, sqrt(robust), tau2, max(0.0, excess), weights.tolist(), variance)


def paule_mandel(y: Floats, v: Floats) -> float:
    """Return the τ² for which the weighted sum of squares is K - 1; 0 if it is not larger even without τ²."""
    goal, low, high = len(y) - 1, 0.0, float(y.var(ddof=1))  # with this τ², they are no more than K - 1
    if squares(y, v, 0.0) <= goal:
        return 0.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if squares(y, v, middle) > goal else (low, middle)
    return (low + high) / 2


def squares(y: Floats, v: Floats, tau2: float) -> float:
    """Return the weighted sum of squares Q for this τ²; infinite if differences without error disagree."""
    spread = v + tau2
    sure = y[spread == 0]
    if not len(sure):
        mean = float((y / spread).sum() / (1 / spread).sum())
        return float(((y - mean) ** 2 / spread).sum())
    if np.ptp(sure) > SAME:
        return inf
    unsure = spread > 0
    return float(((y[unsure] - sure[0]) ** 2 / spread[unsure]).sum())


def note_alike(found: Sequence[Combined | None]) -> list[Note]:
    """Note pairs whose collections agree more than their errors predict, which makes intervals very narrow."""
    alike = sum(one is not None and one.error**2 < one.variance / 4 for one in found)
    text = (
        f"in {alike:,} of {count_of(len(found), 'test')} the differences on the collections are closer together than "
        "their standard errors predict: the interval is less than half as wide as these errors would make it"
    )
    return [Note("alike", alike, len(found), text)] if alike else []
