"""Means of runs for populations of users: eGAP, GAP and xGAP as functions of the shares g.

Everything comes from parts that do not depend on g: T[r, h], the sum of the precision for threshold h over the
documents of level r. N_h = Σ_{r>=h} T[r, h] is the numerator of AP with threshold h.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import comb
from typing import Any, NamedTuple

import numpy as np

from gradely.data.ids import Floats, Ints

CELLS = 1 << 23
"""approximate number of values in memory at a time"""
MOST = 6_000
"""maximum size of a grid for more than two levels: 108 steps for three levels, 31 for four"""
STEPS = 1_000
"""steps for two levels if the mean is not linear in g; crossings between two steps are found by bisection"""
SAME = 1e-12
"""tolerance for equal means"""


@dataclass(frozen=True, eq=False)
class Parts:
    """The parts from which the mean of every run follows for any population."""

    table: Floats
    """[levels r, levels h, queries, runs] T, 0 for h > r"""
    base: Floats
    """[levels, queries] RB, the number of documents in the pool that reach a level"""
    measure: str
    """eGAP, GAP or xGAP"""
    weights: Floats | None = None
    """[queries] with mean 1, already included in T; None if all queries count alike"""

    @property
    def levels(self) -> int:
        """The number of levels."""
        return len(self.base)

    def values(self, g: Floats) -> Floats:
        """Return [populations, queries, runs] from shares [populations, levels]."""
        return {"eGAP": self._egap, "GAP": self._gap, "xGAP": self._xgap}[self.measure](g)

    def means(self, g: Floats, counts: Floats | None = None) -> Floats:
        """Return means [populations, runs] over the queries, or [draws, populations, runs] over resampled queries."""
        queries, runs = self.table.shape[2:]
        out = np.empty((len(g), runs) if counts is None else (len(counts), len(g), runs))
        step = max(1, CELLS // (queries * runs))
        for i in range(0, len(g), step):
            values = self.values(g[i : i + step])
            if counts is None:
                out[i : i + step] = values.mean(axis=1)
            else:
                out[:, i : i + step] = np.einsum("dt,gtr->dgr", counts, values, optimize=True) / queries
        return out

    def _egap(self, g: Floats) -> Floats:
        ap = self.table.sum(axis=0) / np.maximum(self.base, 1)[:, :, None]
        return np.tensordot(g, ap, axes=1)

    def _gap(self, g: Floats) -> Floats:
        norm = g @ self.base
        gained = np.tensordot(g, self.table.sum(axis=0), axes=1)
        return np.where(norm[:, :, None] > 0, gained / np.where(norm > 0, norm, 1.0)[:, :, None], 0.0)

    def _xgap(self, g: Floats) -> Floats:
        users = np.cumsum(g, axis=1)[:, :, None]
        weight = np.cumsum(g[:, :, None] / np.maximum(self.base, 1), axis=1) / np.where(users > 0, users, 1.0)
        return sum(
            (weight[:, r, :, None] * np.tensordot(g, self.table[r], axes=1) for r in range(self.levels)),
            np.zeros((len(g), *self.table.shape[2:])),
        )

    def ceiling(self, g: Floats) -> Floats:
        """Return the highest possible means of eGAP or xGAP; users above a pool's top level find nothing."""
        return np.asarray(np.average(g @ (self.base > 0), axis=1, weights=self.weights))


class BestRange(NamedTuple):
    """For two levels, an interval of shares of users with the lower level in which a run is best."""

    start: float
    stop: float
    run: int


def corners(levels: int) -> Floats:
    """Return the populations with one kind of user, followed by the population with equal shares."""
    return np.vstack([np.eye(levels), np.full((1, levels), 1 / levels)])


def grid(levels: int) -> Floats:
    """Return a uniform grid of populations: the centres of cells of equal size.

    No population lies on the border, which would be overrepresented, and where runs may tie that differ inside.
    """
    steps = 1
    while comb(steps + levels, levels - 1) <= MOST:
        steps += 1
    return (np.asarray(list(_compositions(steps, levels)), np.float64) + 1 / levels) / (steps + 1)


def _compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        yield from ((first, *rest) for rest in _compositions(total - first, parts - 1))


def find_best(means: Floats) -> Ints:
    """Return the best run for each population; the first one if runs are equal."""
    return np.asarray(np.argmax(means >= means.max(axis=-1, keepdims=True) - SAME, axis=-1))


def find_leaders(means: Floats) -> list[int]:
    """Return, for each run, the first run with the same means for every population."""
    out: list[int] = []
    for run in range(means.shape[1]):
        same = (i for i in range(run) if out[i] == i and np.abs(means[:, i] - means[:, run]).max() <= SAME)
        out.append(next(same, run))
    return out


def split_users(share: Any) -> Floats:
    """Return populations of two levels from the share of users with the lower one."""
    x = np.atleast_1d(np.asarray(share, np.float64))
    return np.stack([x, 1 - x], axis=1)


def stretches(parts: Parts) -> list[BestRange]:
    """Return, for two levels, the best run for every share of users from 0 to 1.

    eGAP is linear in the shares, so its crossings have a closed form. Crossings of GAP and xGAP are located between two
    steps and found by bisection.
    """
    if parts.measure == "eGAP":
        return _envelope(parts.means(split_users([0.0, 1.0])))
    at = np.linspace(0.0, 1.0, STEPS + 1)
    winners = find_best(parts.means(split_users(at)))
    out, start = [], 0.0
    for i in np.flatnonzero(winners[1:] != winners[:-1]).tolist():
        low, high = int(winners[i]), int(winners[i + 1])

        def ahead(x: float, low: int = low, high: int = high) -> float:
            means = parts.means(split_users(x))[0]
            return float(means[low] - means[high])

        cross = _bisect(ahead, float(at[i]), float(at[i + 1]))
        if cross - start > SAME:  # at a share of exactly 0 or 1, GAP and xGAP may jump
            out.append(BestRange(start, cross, low))
            start = cross
    last = out.pop() if start >= 1 - SAME else BestRange(start, 1.0, int(winners[-1]))
    return [*out, last._replace(stop=1.0)]


def draw_shares(parts: Parts, points: Floats, counts: Floats) -> Floats:
    """Return the share of populations for which each run is best [draws, runs], over resampled queries."""
    runs = parts.table.shape[3]
    out = np.zeros((len(counts), runs))
    if parts.levels == 2:
        return _add_stretches(parts.means(points, counts), points[:, 0], out)
    step = max(1, CELLS // out.size)
    for i in range(0, len(points), step):
        winners = find_best(parts.means(points[i : i + step], counts))
        for run in range(runs):
            out[:, run] += (winners == run).sum(axis=1)
    return out / len(points)


def _add_stretches(means: Floats, at: Floats, out: Floats) -> Floats:
    """Add the lengths of the intervals in which each run is best to `out` [draws, runs].

    Means are interpolated linearly between two points, which is exact for eGAP.
    """
    winners, draws = find_best(means), np.arange(len(means))[:, None]
    first, last = winners[:, :-1], winners[:, 1:]
    before = np.take_along_axis(means[:, :-1], np.stack([first, last], axis=-1), axis=-1)
    after = np.take_along_axis(means[:, 1:], np.stack([first, last], axis=-1), axis=-1)
    lead, lag = before[..., 0] - before[..., 1], after[..., 1] - after[..., 0]
    part = np.where(first == last, 1.0, lead / np.where(lead + lag > 0, lead + lag, 1.0))
    np.add.at(out, (draws, first), part * np.diff(at))
    np.add.at(out, (draws, last), (1 - part) * np.diff(at))
    return out


def _bisect(ahead: Callable[[float], float], low: float, high: float) -> float:
    """Return the root of a function that is at least 0 at the low end and at most 0 at the high end."""
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if ahead(middle) > 0 else (low, middle)
    return (low + high) / 2


def _envelope(ends: Floats) -> list[BestRange]:
    """Return the upper envelope of lines, from their values [2, runs] at shares 0 and 1."""
    slope = ends[1] - ends[0]
    out: list[BestRange] = []
    x = 0.0
    run = int(max(range(len(slope)), key=lambda i: (round(float(ends[0, i]) / SAME), float(slope[i]), -i)))
    while True:
        steeper = slope - slope[run] > SAME
        crossings = np.full(len(slope), np.inf)
        crossings[steeper] = (ends[0, run] - ends[0, steeper]) / (slope[steeper] - slope[run])
        stop = float(crossings.min())
        if stop >= 1 - SAME:
            return [*out, BestRange(x, 1.0, run)]
        if stop > x + SAME:
            out.append(BestRange(x, stop, run))
            x = stop
        first = np.flatnonzero(crossings <= stop + SAME)
        run = int(first[np.argmax(slope[first])])
