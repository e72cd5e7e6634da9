"""Synthetic scores, balanced and imbalanced, and two mistakes in ranking them."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from gradely import Batch
from gradely.data.ids import Bools, Floats
from gradely_papers.moniz2016.grades import place_grades
from gradely_papers.rankings import rank_labels

ITEMS, SAMPLES = 100, 1000
Draw = Callable[[np.random.Generator, int], Floats]
"""takes a random generator and a number of samples, and returns scores, best first [samples, items]"""


def draw_balanced(rng: np.random.Generator, samples: int) -> Floats:
    """Return scores uniform on [1, 1000]."""
    return _best_first(rng.uniform(1, 1000, (samples, ITEMS)))


def draw_imbalanced(rng: np.random.Generator, samples: int) -> Floats:
    """Return scores with nine tenths in [1, 100] and one tenth in [100, 1000], as in the paper's text."""
    tenth = ITEMS // 10
    few, many = rng.uniform(100, 1000, (samples, tenth)), rng.uniform(1, 100, (samples, ITEMS - tenth))
    return _best_first(np.concatenate([few, many], axis=1))


def draw_balanced_code(rng: np.random.Generator, samples: int) -> Floats:
    """Return whole scores from 1 to 1000, as in the authors' code."""
    return _best_first(rng.integers(1, 1001, (samples, ITEMS)).astype(np.float64))


def draw_imbalanced_code(rng: np.random.Generator, samples: int) -> Floats:
    """Return 80 whole scores from 1 to 500 and 20 from 500 to 1000, as in the authors' code.

    Samples without an outlier are drawn again.
    """
    fifth = ITEMS // 5
    out = np.empty((0, ITEMS))
    while len(out) < samples:
        many = rng.integers(1, 501, (samples, ITEMS - fifth))
        few = rng.integers(500, 1001, (samples, fifth))
        scores = _best_first(np.concatenate([many, few], axis=1).astype(np.float64))
        out = np.concatenate([out, scores[has_outlier(scores)]])
    return out[:samples]


def has_outlier(scores: Floats) -> Bools:
    """Return which rows, best first, have an outlier of R's boxplot.stats, 1.5 hinge spreads beyond a hinge.

    >>> has_outlier(np.array([[9.0, 3, 2, 2, 1], [4, 3, 2, 2, 1]])).tolist()
    [True, False]
    """
    depth = (scores.shape[1] + 3) // 2 / 2
    ends = (depth, 1 + scores.shape[1] - depth)
    upper, lower = ((scores[:, int(end) - 1] + scores[:, int(np.ceil(end)) - 1]) / 2 for end in ends)
    reach = 1.5 * (upper - lower)
    return np.asarray((scores[:, 0] > upper + reach) | (scores[:, -1] < lower - reach))


def _best_first(scores: Floats) -> Floats:
    return np.sort(scores, axis=1)[:, ::-1]


TEXT: dict[str, Draw] = {"balanced": draw_balanced, "imbalanced": draw_imbalanced}
CODE: dict[str, Draw] = {"balanced": draw_balanced_code, "imbalanced": draw_imbalanced_code}
BOTH = tuple(TEXT)
"""the distributions"""
SCENARIOS = {
    "items 10 and 11 swapped": [*range(9), 10, 9, *range(11, ITEMS)],
    "top 10 inverted": [*range(9, -1, -1), *range(10, ITEMS)],
}
"""the place in the true order of the item at each rank"""
SWAP, INVERSION = SCENARIOS


class Samples(NamedTuple):
    """Rankings with a mistake and ideal rankings, of true scores and of grades by place."""

    distribution: str
    scenario: str
    scores: Batch
    grades: Batch
    ideal_scores: Batch
    ideal_grades: Batch


def draw_samples(seed: int, samples: int = SAMPLES, distributions: dict[str, Draw] = TEXT) -> list[Samples]:
    """Return the samples of both distributions with both mistakes."""
    rng = np.random.default_rng(seed)
    out = []
    for distribution, draw in distributions.items():
        scores = draw(rng, samples)
        grades = np.broadcast_to(place_grades(ITEMS), scores.shape)
        for scenario, places in SCENARIOS.items():
            batches = (rank_labels(labels) for labels in (scores[:, places], grades[:, places], scores, grades))
            out.append(Samples(distribution, scenario, *batches))
    return out
