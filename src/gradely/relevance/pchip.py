"""Monotone piecewise cubic interpolation (PCHIP), one curve per row, in any array library.

SciPy's PchipInterpolator draws one curve a call and knows NumPy alone; here every query has its own curve. Slopes as
there: Fritsch and Butland's weighted harmonic mean inside, the three-point formula at the ends.
"""

from typing import Any

from gradely.kernel.batch import Array


def interpolate(xp: Any, x: Array, y: Array, at: Array) -> Array:
    """Return the curve through the points (x, y) [Q, P], x ascending, at the positions `at` [Q, N].

    Outside the points the curve keeps the value of the nearest one. A row whose x do not ascend gives no sense, but no
    error either, so that callers can choose rows afterwards.
    """
    h = x[:, 1:] - x[:, :-1]
    secant = xp.where(h > 0, (y[:, 1:] - y[:, :-1]) / xp.where(h > 0, h, 1.0), 0.0)
    slope = _slopes(xp, h, secant)
    out = xp.broadcast_to(y[:, :1], at.shape)
    for i in range(h.shape[1]):
        piece = _hermite(xp, x[:, i, None], h[:, i, None], y[:, i : i + 2], slope[:, i : i + 2], at)
        out = xp.where(at > x[:, i, None], piece, out)
    return out


def _slopes(xp: Any, h: Array, secant: Array) -> Array:
    """Return the slope at every point."""
    if h.shape[1] == 1:
        return xp.concat([secant, secant], axis=1)
    left, right = secant[:, :-1], secant[:, 1:]
    w1, w2 = 2 * h[:, 1:] + h[:, :-1], h[:, 1:] + 2 * h[:, :-1]
    steep = _sides(xp, left, right) > 0
    mean = w1 / xp.where(steep, left, 1.0) + w2 / xp.where(steep, right, 1.0)
    inner = xp.where(steep, (w1 + w2) / xp.where(steep, mean, 1.0), 0.0)
    return xp.concat(
        [
            _end(xp, h[:, :2], secant[:, :2]),
            inner,
            _end(xp, xp.flip(h[:, -2:], axis=1), xp.flip(secant[:, -2:], axis=1)),
        ],
        axis=1,
    )


def _sides(xp: Any, a: Array, b: Array) -> Array:
    """Return the sign of the product, which itself may be larger than any number, or too small for one."""
    return xp.sign(a) * xp.sign(b)


def _end(xp: Any, h: Array, secant: Array) -> Array:
    """Return the slope at an end from the two intervals next to it, the outer one first.

    It has the sign of the outer secant, or is 0. It exceeds three times that only where the inner one turns.
    """
    h0, h1, m0, m1 = h[:, :1], h[:, 1:], secant[:, :1], secant[:, 1:]
    width = h0 + h1
    slope = ((2 * h0 + h1) * m0 - h0 * m1) / xp.where(width > 0, width, 1.0)
    slope = xp.where(_sides(xp, slope, m0) > 0, slope, 0.0)
    return xp.where(xp.abs(slope) > 3 * xp.abs(m0), 3 * m0, slope)


def _hermite(xp: Any, x: Array, h: Array, y: Array, slope: Array, at: Array) -> Array:
    """Return the cubic with these values and slopes at x and x + h, at most as far as x + h."""
    width = xp.where(h > 0, h, 1.0)
    s = xp.clip((at - x) / width, min=0.0, max=1.0)
    rise = s * s * (3 - 2 * s)
    bend = s * (1 - s) * h
    return (1 - rise) * y[:, :1] + rise * y[:, 1:] + bend * ((1 - s) * slope[:, :1] - s * slope[:, 1:])
