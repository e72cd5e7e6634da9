"""φ: relevance by how far a score stands out in the pool of its query."""

from collections.abc import Iterable
from itertools import pairwise
from math import isfinite
from typing import Any, NamedTuple, TypeAlias

from gradely.errors import MeasureError
from gradely.kernel.backend import is_any
from gradely.kernel.batch import Array, Batch, Levels
from gradely.kernel.gains import headroom, linear
from gradely.kernel.parameters import parameter, to_python
from gradely.relevance.labels import Relevance

Points: TypeAlias = tuple[tuple[float, float], ...]
FAR = 1e300
"""differences between the quartiles of larger scores may overflow"""


class Phi(Relevance):
    """A monotone curve (PCHIP) through control points, from 0 at the median or less to 1 at the maximum.

    The control points are those of the paper (`'paper'`: minimum, median, upper fence if the maximum lies beyond it,
    and maximum), those of the authors' code (`'code'`: the same idea, over the positive scores only), or a list of
    (score, relevance) pairs. If the median is the maximum, the paper's two conditions contradict each other, and φ is a
    step: 1 at the maximum and 0 below it.

    Moniz, Torgo, Vinagre: Data-Driven Relevance Judgments for Ranking Evaluation (2016).
    """

    control: Any = parameter(
        default="paper",
        doc="the control points: 'paper', 'code' or a list of pairs",
        kw_only=False,
        check=lambda _, control: check_control(control),
    )

    def __call__(self, batch: Batch) -> Batch:
        """Return the batch with scores replaced by φ."""
        # φ is monotone, so the pool stays sorted
        if isinstance(self.control, str):
            batch = _scale(batch)
        at = batch.xp.concat([batch.grade, batch.pool], axis=1)
        if isinstance(self.control, str):
            value = _curve(batch, at, CONTROLS[self.control](batch))
        else:
            value = _interpolate_points(batch, at, self.control)
        width = batch.grade.shape[1]
        return batch.relabel(value[:, :width], value[:, width:], batch.pooled)

    def levels(self, levels: Levels) -> None:
        """Return None: every query has its own curve."""

    def top(self, levels: Levels) -> float:  # noqa: ARG002 - the curve does not depend on the labels
        """Return the relevance of the last control point."""
        return 1.0 if isinstance(self.control, str) else float(self.control[-1][1])

    def __str__(self) -> str:
        """Return the function as it appears in the name of a measure."""
        if self.control == "paper":
            return "'phi'"
        return f"phi({self.control!r})" if isinstance(self.control, str) else f"phi({list(self.control)!r})"


def _scale(batch: Batch) -> Batch:
    """Return the batch with extreme scores scaled to about 1, so that no product overflows; φ does not change."""
    xp, room = batch.xp, headroom(batch)
    largest = xp.max(xp.abs(batch.pool), axis=1, keepdims=True)
    power = xp.log2(xp.where(largest > 0, largest, 1.0))
    extreme = xp.abs(power) > room / 4
    if not batch.fixed and not is_any(extreme):
        return batch
    exponent = xp.where(extreme, xp.floor(xp.clip(power, min=-1.9 * room)), 0.0)
    return batch.relabel(linear(batch, batch.grade, exponent), linear(batch, batch.pool, exponent), batch.pooled)


def check_control(points: Any) -> str | Points:
    """Return the name of control points, or checked pairs with rising scores and relevance that never falls."""
    if isinstance(points, str):
        if points not in CONTROLS:
            raise MeasureError(f"no control points {points!r}: use 'paper', 'code' or a list like [(0, 0), (10, 1)]")
        return points
    try:
        pairs = tuple((to_python(x), to_python(y)) for x, y in points)
    except (TypeError, ValueError, OverflowError):
        raise MeasureError(
            f"control points are (score, relevance) pairs, like [(0, 0), (10, 1)]; found {points!r}"
        ) from None
    if len(pairs) < 2 or not all(isfinite(x) and isfinite(y) and y >= 0 for x, y in pairs):
        raise MeasureError(
            f"φ needs at least two finite control points with a relevance of at least 0; found {list(pairs)!r}"
        )
    if not isfinite(float(pairs[-1][0]) - float(pairs[0][0])):  # as floats, since integers never overflow
        raise MeasureError(f"control points lie too far apart; found {list(pairs)!r}")
    if any(a[0] >= b[0] or a[1] > b[1] for a, b in pairwise(pairs)):
        raise MeasureError(
            f"control points must increase in score and must not decrease in relevance; found {list(pairs)!r}"
        )
    return pairs


def _interpolate_points(batch: Batch, at: Array, points: Points) -> Array:
    def row(values: Iterable[float]) -> Array:
        return batch.xp.asarray([[float(v) for v in values]], dtype=at.dtype, device=batch.device)

    return interpolate(batch.xp, row(x for x, _ in points), row(y for _, y in points), at)


class Control(NamedTuple):
    """The control points of each query, [Q, 1], before equal ones are merged."""

    start: Array
    """the first point, where φ is 0"""
    median: Array
    """the median, where φ is 0 as well"""
    w: Array
    """the score from which on scores stand out; ignored unless it lies between median and maximum"""
    high: Array
    """the maximum, where φ is 1"""
    spread: Array
    """the divisor in φ(w) = 1 - (high - w)/spread"""

    def level(self, xp: Any) -> Array:
        """Return φ at w."""
        return 1 - (self.high - self.w) / xp.where(self.spread > 0, self.spread, 1.0)


def _paper(batch: Batch) -> Control:
    """Return the control points of the paper: minimum, median, maximum and w = Q3 + 1.5·IQR."""
    n = batch.xp.sum(batch.to_real(batch.pooled), axis=1, keepdims=True)
    low, q1, median, q3, high = (_quantile(batch, n, share) for share in (0.0, 0.25, 0.5, 0.75, 1.0))
    return Control(low, median, q3 + 1.5 * (q3 - q1), high, high - low)


def _code(batch: Batch) -> Control:
    """Return the control points of the authors' code: 0, and the median, the maximum and w of the positive scores.

    w is the largest score that is at most the upper hinge + 1.5 × the hinge spread, as in R's boxplot.stats.
    """
    xp = batch.xp
    positive = batch.pooled & (batch.pool > 0)
    n = xp.sum(batch.to_real(positive), axis=1, keepdims=True)
    depth = xp.floor((n + 3) / 2) / 2
    lower, upper = _number(batch, n, depth), _number(batch, n, n + 1 - depth)
    inside = positive & (batch.pool <= upper + 1.5 * (upper - lower))
    whisker = xp.max(xp.where(inside, batch.pool, 0.0), axis=1, keepdims=True)
    low, median, high = (_quantile(batch, n, share) for share in (0.0, 0.5, 1.0))
    return Control(xp.zeros_like(low), median, whisker, high, high - low)


CONTROLS = {"paper": _paper, "code": _code}


def control_points(batch: Batch, control: str | Points) -> list[Points]:
    """Return the control points (score, φ) of each query, or none if no score stands out and φ is 0."""
    if not isinstance(control, str):
        return [control] * int(batch.pool.shape[0])
    # in units of 8, the fences of the largest numbers do not overflow
    unit = 8.0 if float(batch.xp.max(batch.xp.abs(batch.pool))) > FAR else 1.0
    small = batch.relabel(batch.grade / unit, batch.pool / unit, batch.pooled)
    points = CONTROLS[control](small)
    lowest = batch.xp.min(batch.xp.where(small.pooled, small.pool, points.high), axis=1, keepdims=True)
    points = points._replace(w=batch.xp.minimum(points.w, points.high))  # beyond the maximum it is ignored
    columns = (*(unit * column for column in points[:4]), points.level(batch.xp), unit * lowest)
    return [_distinct(*(float(column[i, 0]) for column in columns)) for i in range(batch.pool.shape[0])]


def _distinct(start: float, median: float, w: float, high: float, level: float, lowest: float) -> Points:
    """Return the points of the curve of one query; a step has two points at its score, the lower one first."""
    if lowest >= high or start >= high:
        return ()
    if median >= high:
        return ((start, 0.0), (high, 0.0), (high, 1.0))
    points = [(start, 0.0)] if start < median else []
    beyond = [(w, level)] if median < w < high else []
    return (*points, (median, 0.0), *beyond, (high, 1.0))


def _curve(batch: Batch, at: Array, control: Control) -> Array:
    """Return φ through (start, 0), (median, 0), (w, 1 - (high - w)/spread) if median < w < high, and (high, 1).

    If start equals median, they are one point. If the median is the maximum, φ is 1 there and 0 below; if no score
    stands out, φ is 0.
    """
    xp, (start, median, w, high, _) = batch.xp, control
    zero, one = xp.zeros_like(high), xp.ones_like(high)
    level = control.level(xp)
    value = xp.where(at >= high, one, zero)
    apart, beyond = start < median, (median < w) & (w < high)
    for piece, x, y in (
        (~apart & ~beyond, [median, high], [zero, one]),
        (~apart & beyond, [median, w, high], [zero, level, one]),
        (apart & ~beyond, [start, median, high], [zero, zero, one]),
        (apart & beyond, [start, median, w, high], [zero, zero, level, one]),
    ):
        value = xp.where(
            piece & (median < high), interpolate(xp, xp.concat(x, axis=1), xp.concat(y, axis=1), at), value
        )
    lowest = xp.min(xp.where(batch.pooled, batch.pool, high), axis=1, keepdims=True)
    return xp.where((lowest < high) & (start < high), value, 0.0)


def _quantile(batch: Batch, n: Array, share: float) -> Array:
    """Return [Q, 1]: a quantile of the n highest scores of each pool, linearly interpolated."""
    return _number(batch, n, 1 + (n - 1) * share)


def _number(batch: Batch, n: Array, number: Array) -> Array:
    """Return [Q, 1]: the score with this number among the n highest in ascending order, linearly interpolated."""
    xp = batch.xp
    below = xp.floor(number)

    def score(number: Array) -> Array:
        column = xp.clip(n - number, min=0.0)
        return batch.pool[batch.row, xp.astype(column, batch.first.dtype)]

    return score(below) + (number - below) * (score(below + 1) - score(below))


# The curve: piecewise cubic Hermite interpolation that never overshoots (PCHIP)


def interpolate(xp: Any, x: Array, y: Array, at: Array) -> Array:
    """Return the curve through the points (x, y) [Q, P], x ascending, at the positions `at` [Q, N].

    Outside the points, the curve has the value of the nearest one. Rows whose x do not ascend have meaningless values
    but raise no error, since callers choose among rows afterwards.
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
    """Return the slope of the curve at every point."""
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
    """Return the sign of a · b; the product itself may overflow or underflow."""
    return xp.sign(a) * xp.sign(b)


def _end(xp: Any, h: Array, secant: Array) -> Array:
    """Return the slope at an end of the curve from the two intervals next to it, the outer one first.

    The slope has the sign of the outer secant or is 0, and is at most three times as steep.
    """
    h0, h1, m0, m1 = h[:, :1], h[:, 1:], secant[:, :1], secant[:, 1:]
    width = h0 + h1
    slope = ((2 * h0 + h1) * m0 - h0 * m1) / xp.where(width > 0, width, 1.0)
    slope = xp.where(_sides(xp, slope, m0) > 0, slope, 0.0)
    return xp.where(xp.abs(slope) > 3 * xp.abs(m0), 3 * m0, slope)


def _hermite(xp: Any, x: Array, h: Array, y: Array, slope: Array, at: Array) -> Array:
    """Return the cubic with these values and slopes at x and x + h, evaluated at positions clipped to this interval."""
    width = xp.where(h > 0, h, 1.0)
    s = xp.clip((at - x) / width, min=0.0, max=1.0)
    rise = s * s * (3 - 2 * s)
    bend = s * (1 - s) * h
    return (1 - rise) * y[:, :1] + rise * y[:, 1:] + bend * ((1 - s) * slope[:, :1] - s * slope[:, 1:])
