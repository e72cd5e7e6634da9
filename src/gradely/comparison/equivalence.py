"""Whether two runs are as good as equal: TOST, and the chance that one is better, equal or worse."""

from typing import NamedTuple

import numpy as np

from gradely.comparison.pairs import lacks_spread
from gradely.data.types import Bools, Floats
from gradely.optional import stats


class Chances(NamedTuple):
    """The posterior chances of each pair that the first run is better, as good as equal, worse; NaN without spread."""

    better: Floats
    equal: Floats
    worse: Floats


def tost(differ: Floats, rope: float) -> Floats:
    """Return p-values of two one-sided t-tests: small where the mean difference surely lies within ± rope.

    The larger of the two counts (Schuirmann 1987). Where the difference is the same on every query there is no t: p is
    that of the exact one-sided randomization test around the nearer end, 1 / 2^n, where it lies within ± rope.

    >>> tost(np.array([[0.0], [0.0], [0.0]]), 0.01).tolist() == [1 / 2**3]
    True
    """
    mean, error, constant = _moments(differ)
    inside = np.where(np.abs(mean) < rope, 0.5 ** len(differ), 1.0)
    p = stats().t.sf((rope - np.abs(mean)) / error, len(differ) - 1)
    return np.where(constant, inside, p)


def chances(differ: Floats, rope: float) -> Chances:
    """Return the posterior chances of the mean difference: above rope, within ± rope, below - rope.

    With the prior that says nothing, p(µ, σ) ∝ 1/σ, µ is t-distributed around the mean with the standard error and
    n - 1 degrees of freedom. This is the Bayesian correlated t-test of Benavoli, Corani, Demšar and Zaffalon (2017)
    with correlation 0, since queries, unlike folds of a cross-validation, share no data.
    """
    mean, error, constant = _moments(differ)
    above = stats().t.sf((rope - mean) / error, len(differ) - 1)
    below = stats().t.cdf((-rope - mean) / error, len(differ) - 1)
    return Chances(*(np.where(constant, np.nan, chance) for chance in (above, 1 - above - below, below)))


def _moments(differ: Floats) -> tuple[Floats, Floats, Bools]:
    """Return means, standard errors (1 where there is no spread), and where there is none."""
    constant = lacks_spread(differ)
    error = differ.std(axis=0, ddof=1) / np.sqrt(len(differ))
    return differ.mean(axis=0), np.where(constant, 1.0, error), constant
