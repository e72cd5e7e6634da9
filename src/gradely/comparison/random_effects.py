"""Random effects: one difference from several collections, each with its own true difference.

Collections differ in what is asked and what is relevant, and so does the difference of two systems. Its mean over all
collections like these is estimated from the difference y_k on each collection and its variance v_k. The variance of
the true differences, τ², is that of Paule and Mandel (1982): with it, the weighted squares around the mean are as
large as they should be.

The weights that are best with a known τ², 1/(v_k + τ²), leave the mean to one or two large collections where τ² happens
to be estimated as 0, and then too much is significant (IntHout, Ioannidis and Borm 2014). So the median of the v_k is
added to each, and the standard error is the one that does not rest on the weights being the best: from the distance of
each y_k to the mean, corrected for its leverage (Bell and McCaffrey 2002; Tipton 2015). t has K - 1 degrees of freedom.
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
"""halvings of the interval that holds τ²: more than the digits of a double"""
SAME = 1e-12
"""differences closer than this are the same"""


class Combined(NamedTuple):
    """The mean difference over collections like these."""

    difference: float
    error: float
    """its standard error"""
    tau2: float
    """the variance of the true differences between collections"""
    i2: float
    """the share of the variation between collections that is not chance (Higgins and Thompson 2002)"""
    weights: list[float]
    """the share that each collection has in the mean"""
    variance: float
    """of the mean, by τ² and the variances of the collections alone, which is steadier than the error"""

    def prediction(self, level: float) -> tuple[float, float] | None:
        """Return the interval of the true difference on a new collection; None for fewer than three.

        It has t with K - 2 degrees of freedom (Higgins, Thompson and Spiegelhalter 2009).
        """
        freedom = len(self.weights) - 2
        if freedom < 1:
            return None
        reach = t_upper((1 - level) / 2, freedom) * sqrt(self.tau2 + self.variance)
        return self.difference - reach, self.difference + reach


def combine(y: Floats, v: Floats) -> Combined | None:
    """Combine differences `y` with variances `v` of two collections or more; None where nothing varies at all.

    With the weights w_k and s_k = v_k + τ², the variance of the mean is Σ w_k²·e_k²·s_k/Var(e_k) for the distances e_k
    of the y_k to it, where Var(e_k) = s_k·(1 - 2w_k) + Σ w²s. Where all y_k are the same, it is Σ w²s.

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
    """Return τ², with which the weighted squares around the mean are K - 1; 0 where they are no more without it."""
    goal, low, high = len(y) - 1, 0.0, float(y.var(ddof=1))  # with this τ², they are no more than K - 1
    if squares(y, v, 0.0) <= goal:
        return 0.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if squares(y, v, middle) > goal else (low, middle)
    return (low + high) / 2


def squares(y: Floats, v: Floats, tau2: float) -> float:
    """Return the weighted squares around the weighted mean, Q, with this τ²; infinite where sure differences differ."""
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
    """Say where collections are closer together than their errors predict, so that an interval is very narrow."""
    alike = sum(one is not None and one.error**2 < one.variance / 4 for one in found)
    text = (
        f"in {alike:,} of {count_of(len(found), 'test')} the differences on the collections are closer together than "
        "their standard errors predict: the interval is less than half as wide as these errors would make it"
    )
    return [Note("alike", alike, len(found), text)] if alike else []
