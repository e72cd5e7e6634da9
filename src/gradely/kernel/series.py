"""Sums over many places in closed form, to full precision: Σ 1/(x+j), Σ j/(x+j), and the infinite Σ 1/(x+j)²."""

from typing import Any, NamedTuple

from gradely.kernel.backend import is_any, is_traced
from gradely.kernel.batch import Array

FIRST = 16
"""how many terms are added one by one; from there on the series below reach the last digit"""
DIGAMMA = (1 / 24, -7 / 960, 31 / 8064, -127 / 30720, 511 / 67584)
"""ψ(h + ½) - log h in powers of 1/h², from the first on"""
TRIGAMMA = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66)
"""the Bernoulli numbers of ψ'(x) - 1/x - 1/(2x²), in odd powers of 1/x from the third on"""
SMALL, POWERS = 0.2, 10
"""up to where z - log(1+z) is taken from its series, and how many terms of that reach the last digit"""


class InverseSums(NamedTuple):
    """Over j < n: Σ 1/(x+j) and Σ j/(x+j)."""

    inverse: Array
    offset: Array


def inverse_sums(xp: Any, x: Array, n: Array) -> InverseSums:
    """Return both sums of n terms, for x > 0."""
    inverse = offset = xp.zeros_like(x)
    for j in range(FIRST):
        term = xp.where(n > j, 1 / (x + j), 0.0)
        inverse, offset = inverse + term, offset + j * term
    if not is_traced(n) and not is_any(n > FIRST):
        return InverseSums(inverse, offset)
    more = _many_inverses(xp, x + FIRST, xp.clip(n - FIRST, min=0.0))
    return InverseSums(inverse + more.inverse, offset + FIRST * more.inverse + more.offset)


def _many_inverses(xp: Any, x: Array, n: Array) -> InverseSums:
    """Return both sums for x from FIRST on: with h = x - ½, the first is log(1 + n/h) and differences of a series."""
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
    """Return ψ'(x), the sum of 1/(x+j)² over all j from 0 on, for x > 0."""
    y = x + FIRST
    first = xp.zeros_like(x)
    for j in range(FIRST - 1, -1, -1):
        first = first + (x + j) ** -2
    return first + 1 / y + 0.5 * y**-2 + _in_powers(TRIGAMMA, y**-2) / y


def _in_powers(factors: Any, x: Array) -> Array:
    """Return the sum of the factors times rising powers of x, from the first on."""
    total = 0 * x
    for factor in reversed(factors):
        total = (total + factor) * x
    return total
