"""Sums over many ranks in closed form, to full precision: Σ 1/(x+j), Σ j/(x+j), and the infinite Σ 1/(x+j)²."""

from typing import Any, NamedTuple

from gradely.kernel.backend import is_any, is_traced
from gradely.kernel.batch import Array

FIRST = 16
"""number of terms that are added one by one; beyond it, the series below have full precision"""
DIGAMMA = (1 / 24, -7 / 960, 31 / 8064, -127 / 30720, 511 / 67584)
"""coefficients of ψ(h + ½) - log h in powers of 1/h², starting with the first power"""
TRIGAMMA = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66)
"""coefficients of ψ'(x) - 1/x - 1/(2x²), the Bernoulli numbers, in odd powers of 1/x, starting with the third"""
SMALL, POWERS = 0.2, 10
"""below SMALL, z - log(1+z) is computed from its series, of which POWERS terms give full precision"""


class InverseSums(NamedTuple):
    """The sums over j < n of 1/(x+j) and of j/(x+j)."""

    inverse: Array
    offset: Array


def inverse_sums(xp: Any, x: Array, n: Array) -> InverseSums:
    """Return both sums for x > 0."""
    inverse = offset = xp.zeros_like(x)
    for j in range(FIRST):
        term = xp.where(n > j, 1 / (x + j), 0.0)
        inverse, offset = inverse + term, offset + j * term
    if not is_traced(n) and not is_any(n > FIRST):
        return InverseSums(inverse, offset)
    more = _many_inverses(xp, x + FIRST, xp.clip(n - FIRST, min=0.0))
    return InverseSums(inverse + more.inverse, offset + FIRST * more.inverse + more.offset)


def _many_inverses(xp: Any, x: Array, n: Array) -> InverseSums:
    """Return both sums for x > FIRST: with h = x - ½, the first is log(1 + n/h) plus the difference of a series."""
    h = x - 0.5
    z = n / h
    log = xp.log1p(z)
    rest = _in_powers(DIGAMMA, (h + n) ** -2) - _in_powers(DIGAMMA, h**-2)
    return InverseSums(log + rest, h * _log_remainder(xp, z, log) - log / 2 - x * rest)


def _log_remainder(xp: Any, z: Array, log: Array) -> Array:
    """Return z - log(1+z) without cancellation: with s = z/(2+z), it is z·s - 2·(s³/3 + s⁵/5 + …)."""
    s = z / (2 + z)
    series = z * s - 2 * s * _in_powers([1 / (2 * i + 3) for i in range(POWERS)], s * s)
    return xp.where(z < SMALL, series, z - log)


def trigamma(xp: Any, x: Array) -> Array:
    """Return ψ'(x), the infinite sum of 1/(x+j)² over j >= 0, for x > 0."""
    y = x + FIRST
    first = xp.zeros_like(x)
    for j in range(FIRST - 1, -1, -1):
        first = first + (x + j) ** -2
    return first + 1 / y + 0.5 * y**-2 + _in_powers(TRIGAMMA, y**-2) / y


def _in_powers(factors: Any, x: Array) -> Array:
    """Return the sum of the factors times rising powers of x, starting with the first power."""
    total = 0 * x
    for factor in reversed(factors):
        total = (total + factor) * x
    return total
