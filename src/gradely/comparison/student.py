"""Student's t distribution, central and noncentral, with NumPy alone."""

from functools import lru_cache
from math import erfc, exp, inf, lgamma, pi, sqrt
from statistics import NormalDist

import numpy as np

from gradely.data.ids import Floats

WIDTH = 10.0
"""half the width of integrals over the sample deviation, in standard deviations"""


def t_tail(t: Floats, freedom: float | Floats) -> Floats:
    """Return P(T > t), elementwise, to about 14 digits even in the tails, or 12 digits for fractional freedom.

    >>> [round(float(p), 4) for p in t_tail(np.array([0.0, 2.0, -2.0]), 1)]  # Cauchy: 1/2 - atan(t)/π
    [0.5, 0.1476, 0.8524]
    """
    t = np.asarray(t, np.float64)
    outside = _two_sided_tail(np.abs(t), freedom) / 2
    return np.where(t > 0, outside, 1 - outside)


def _two_sided_tail(t: Floats, freedom: float | Floats) -> Floats:
    """Return P(|T| > t) for t >= 0: the regularised incomplete beta function I_x(ν/2, 1/2) at x = ν / (ν + t²)."""
    freedom, square = np.asarray(freedom, np.float64), t**2
    a: Floats = freedom / 2
    x, rest = freedom / (freedom + square), square / (freedom + square)
    with np.errstate(under="ignore"):
        front = np.exp(-a * np.log1p(square / freedom)) * np.sqrt(rest) * _gamma_ratios(freedom) / sqrt(pi)
    far = x < (a + 1) / (a + 2.5)  # where its continued fraction converges fast; elsewhere the mirrored one does
    fraction = _beta_fraction(np.where(far, a, 0.5), np.where(far, 0.5, a), np.where(far, x, rest))
    return np.where(far, front / a * fraction, 1 - 2 * front * fraction)


def _gamma_ratio(freedom: float) -> float:
    """Return Γ((ν + 1)/2) / Γ(ν/2), as a product for integer ν, since differences of logarithms lose digits."""
    if freedom % 1:
        return exp(lgamma((freedom + 1) / 2) - lgamma(freedom / 2))
    steps = np.arange(1 if freedom % 2 else 2, freedom, 2, dtype=np.float64)
    return float(np.prod((steps + 1) / steps)) * (1 / sqrt(pi) if freedom % 2 else sqrt(pi) / 2)


def _gamma_ratios(freedom: Floats) -> Floats:
    return np.asarray([_gamma_ratio(one) for one in freedom.ravel().tolist()]).reshape(freedom.shape)


def _beta_fraction(a: Floats, b: Floats, x: Floats) -> Floats:
    """Return the continued fraction of the incomplete beta function by Lentz's method (DLMF 8.17.22)."""
    ahead, behind = np.ones_like(x), 1 / (1 - (a + b) * x / (a + 1))
    total, step = behind.copy(), 0
    while True:
        step += 1
        even = step * (b - step) * x / ((a + 2 * step - 1) * (a + 2 * step))
        odd = -(a + step) * (a + b + step) * x / ((a + 2 * step) * (a + 2 * step + 1))
        before = total
        for term in (even, odd):
            ahead, behind = 1 + term / ahead, 1 / (1 + term * behind)
            total = total * ahead * behind
        if np.all(np.abs(total - before) <= 1e-15 * np.abs(total)) or step > 10 * sqrt(float(np.max(a + b))) + 100:
            return total


@lru_cache(maxsize=256)
def t_upper(tail: float, freedom: float) -> float:
    """Return the t that is exceeded with probability `tail`, which is below 1/2.

    >>> round(t_upper(0.025, 9), 4)
    2.2622
    """
    z = -NormalDist().inv_cdf(tail)
    # from here on, Cornish and Fisher's expansion (Abramowitz and Stegun 26.7.5) has an error below 1e-14
    if freedom >= 500 * max(1.0, z * z):
        terms = (
            (z**3 + z) / 4,
            (5 * z**5 + 16 * z**3 + 3 * z) / 96,
            (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
            (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
        )
        return z + float(sum(term / freedom ** (i + 1) for i, term in enumerate(terms)))
    # Newton's method: the tail is convex, and the normal quantile lies to the left of the solution
    scale, t = _gamma_ratio(freedom) / sqrt(freedom * pi), z
    while True:
        excess = float(t_tail(np.array([t]), freedom)[0]) - tail
        step = excess / scale * float((1 + t * t / freedom) ** ((freedom + 1) / 2))
        t += step
        if abs(step) <= 1e-8 * t:  # the next step would be of the size of its square
            return t


def noncentral_tail(t: float, freedom: int, shift: float) -> float:
    """Return P(T > t) for noncentral t: a normal variable with mean `shift` over an independent sample deviation.

    The conditional probability Φ(shift - t·s) is integrated over s with the density s^(ν-1) exp(-ν s²/2).
    """
    middle, width = (shift / t, 9 / abs(t)) if t else (1.0, 1.0)  # where the chance changes from 1 to 0
    s, density = _deviations(freedom, (middle - width, middle + width))
    chance = np.array([erfc((t * each - shift) / sqrt(2)) / 2 for each in s.tolist()])
    return float((density * chance).sum() / density.sum())


@lru_cache(maxsize=256)
def deviation_quantile(share: float, freedom: int) -> float:
    """Return a quantile of the sample deviation, as a multiple of the true deviation.

    >>> round(deviation_quantile(0.95, 9), 4)  # √(16.919 / 9), by the table of χ²
    1.3711
    """
    low, high = 0.0, 1 + WIDTH / sqrt(2 * freedom)
    for _ in range(60):
        middle = (low + high) / 2
        s, density = _deviations(freedom, (middle, middle))
        low, high = (middle, high) if density[s < middle].sum() < share * density.sum() else (low, middle)
    return high


def _deviations(freedom: int, breaks: tuple[float, float]) -> tuple[Floats, Floats]:
    """Return nodes and weights of an integral over sample deviations, as multiples of the true deviation.

    The integral has three parts, which give enough nodes to functions that change quickly between the two breaks.
    """
    reach = WIDTH / sqrt(2 * freedom)
    ends = np.clip([0.0, *breaks, inf], max(0.0, 1 - reach), 1 + reach)
    nodes, weights = _legendre()
    half = np.diff(ends)[:, None] / 2
    s = (ends[:-1, None] + half * (nodes + 1)).ravel()
    logarithm = np.log(np.where(s > 0, s, 1.0))
    density = np.where(s > 0, np.exp((freedom - 1) * logarithm - freedom * (s**2 - 1) / 2), float(freedom == 1))
    return s, (half * weights).ravel() * density


@lru_cache(maxsize=1)
def _legendre() -> tuple[Floats, Floats]:
    """Return the nodes and weights of Gauss-Legendre integration in each part."""
    nodes, weights = np.polynomial.legendre.leggauss(100)
    return nodes, weights
