"""Synthetic scores, balanced and not, and two mistakes in ranking them."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from gradely.data.types import Floats
from gradely.kernel.batch import Batch
from gradely.kernel.from_arrays import from_arrays
from gradely.papers.moniz2016.grades import adhoc

ITEMS, SAMPLES = 100, 1000


def balanced(rng: np.random.Generator, samples: int) -> Floats:
    """Return [samples, items]: scores uniform on [1, 1000], best first."""
    return _best_first(rng.uniform(1, 1000, (samples, ITEMS)))


def imbalanced(rng: np.random.Generator, samples: int) -> Floats:
    """Return [samples, items]: nine tenths of the scores in [1, 100], one tenth in [100, 1000], best first."""
    tenth = ITEMS // 10
    few, many = rng.uniform(100, 1000, (samples, tenth)), rng.uniform(1, 100, (samples, ITEMS - tenth))
    return _best_first(np.concatenate([few, many], axis=1))


def _best_first(scores: Floats) -> Floats:
    return np.sort(scores, axis=1)[:, ::-1]


DISTRIBUTIONS: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "balanced": balanced,
    "imbalanced": imbalanced,
}


def _swapped() -> list[int]:
    return [*range(9), 10, 9, *range(11, ITEMS)]


def _inverted() -> list[int]:
    return [*range(9, -1, -1), *range(10, ITEMS)]


SCENARIOS = {"items 10 and 11 swapped": _swapped(), "top 10 inverted": _inverted()}
"""what is ranked at each place, by its place in the true order"""


class Samples(NamedTuple):
    """Rankings with a mistake and without, of true scores and of grades by place."""

    distribution: str
    scenario: str
    scores: Batch
    grades: Batch
    ideal_scores: Batch
    ideal_grades: Batch


def drawn_samples(seed: int, samples: int = SAMPLES) -> list[Samples]:
    """Return the samples of both distributions with both mistakes."""
    rng = np.random.default_rng(seed)
    out = []
    for distribution, draw in DISTRIBUTIONS.items():
        scores = draw(rng, samples)
        grades = adhoc(scores)
        for scenario, places in SCENARIOS.items():
            batches = (ranked(labels) for labels in (scores[:, places], grades[:, places], scores, grades))
            out.append(Samples(distribution, scenario, *batches))
    return out


def ranked(labels: Floats) -> Batch:
    """Return rankings without ties, from left to right."""
    return from_arrays(np.broadcast_to(-np.arange(labels.shape[1]), labels.shape), labels)
