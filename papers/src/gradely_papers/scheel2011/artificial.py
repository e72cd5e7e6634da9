"""Artificial lists with more and more levels of relevance, more and more out of order."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from gradely.data import Report
from gradely.data.read.sources import ignore
from gradely.data.types import Floats, Ints
from gradely_papers.rankings import rank_labels
from gradely_papers.scheel2011.means import MEANS
from gradely_papers.verdicts import Record

ITEMS, SWAPS, RUNS = 100, 100, 100
LEVELS = (2, 10, 20, 50)


class Curves(NamedTuple):
    """The mean over all runs of each measure, [numbers of levels, swaps]."""

    values: dict[str, Floats]
    swaps: list[int]

    def records(self) -> list[Record]:
        """Return one row per measure, number of levels and number of swaps."""
        return [
            {"measure": name, "levels": levels, "swaps": swaps, "value": float(value)}
            for name, table in self.values.items()
            for levels, row in zip(LEVELS, table, strict=True)
            for swaps, value in zip(self.swaps, row, strict=True)
        ]

    def spread(self, measure: str) -> float:
        """Return how far apart the numbers of levels are, the mean over all swaps."""
        return float(np.mean(np.ptp(self.values[measure], axis=0)))


def swap_pairs(rng: np.random.Generator, runs: int, swaps: int) -> Ints:
    """Return [runs, swaps, items]: the items in order, then after 1, 2, … swaps of a random pair."""
    order = np.broadcast_to(np.arange(ITEMS), (runs, ITEMS)).copy()
    out = [order.copy()]
    every = np.arange(runs)
    for _ in range(swaps - 1):
        first = rng.integers(ITEMS, size=runs)
        second = (first + rng.integers(1, ITEMS, size=runs)) % ITEMS
        order[every, first], order[every, second] = order[every, second], order[every, first]
        out.append(order.copy())
    return np.stack(out, axis=1)


def draw_uniform(rng: np.random.Generator, runs: int, levels: int) -> Ints:  # noqa: ARG001 - nothing is drawn
    """Return [runs, items]: grades 0 … levels - 1, the same number of items each, best first."""
    return np.broadcast_to(np.arange(ITEMS)[::-1] * levels // ITEMS, (runs, ITEMS))


def draw_uneven(rng: np.random.Generator, runs: int, levels: int) -> Ints:
    """Return [runs, items]: grades best first; in each run a random half of the levels, of random sizes.

    The lowest and the highest level are always there.
    """
    return np.stack([_draw_uneven(rng, levels) for _ in range(runs)])


def _draw_uneven(rng: np.random.Generator, levels: int) -> Ints:
    top, others = levels - 1, max(0, levels // 2 - 2)
    used = np.concatenate([[0, top], rng.permutation(np.arange(1, top))[:others]])
    share = rng.dirichlet(np.ones(len(used)))
    grades = np.concatenate([[0, top], rng.choice(used, size=ITEMS - 2, p=share)])
    return np.sort(grades)[::-1]


def draw_free(rng: np.random.Generator, runs: int, levels: int) -> Ints:
    """Return [runs, items]: as uneven, but neither the lowest nor the highest level must be there."""
    return np.stack([_draw_free(rng, levels) for _ in range(runs)])


def _draw_free(rng: np.random.Generator, levels: int) -> Ints:
    used = rng.permutation(levels)[: max(2, levels // 2)]
    return np.sort(rng.choice(used, size=ITEMS, p=rng.dirichlet(np.ones(len(used)))))[::-1]


def number_from_one(reference: "Reference") -> "Reference":
    """Return the same lists with the levels numbered 1 … L in place of 0 … L - 1, so that every item is relevant."""
    return lambda rng, runs, levels: reference(rng, runs, levels) + 1


Reference = Callable[[np.random.Generator, int, int], Ints]


def curves(
    reference: Reference, seed: int, runs: int = RUNS, swaps: int = SWAPS, step: int = 1, progress: Report = ignore
) -> Curves:
    """Return the curves of all measures at every `step` swaps; the same swaps serve every number of levels."""
    rng = np.random.default_rng(seed)
    order = swap_pairs(rng, runs, swaps)[:, ::step]
    values: dict[str, list[Floats]] = {name: [] for name in MEANS}
    for i, levels in enumerate(LEVELS):
        grades = np.take_along_axis(reference(rng, runs, levels)[:, None, :], order, axis=2)
        batch = rank_labels(grades.reshape(-1, ITEMS))
        for name, mean in MEANS.items():
            values[name].append(mean(batch).reshape(runs, -1).mean(axis=0))
        progress((i + 1) / len(LEVELS))
    return Curves({name: np.stack(rows) for name, rows in values.items()}, list(range(0, swaps, step)))
