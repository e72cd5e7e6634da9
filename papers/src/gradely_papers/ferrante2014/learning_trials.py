"""Trials: what models learned in one way are worth on queries that they have not seen."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gradely.data import Report
from gradely.data.types import Floats
from gradely.evaluation.arrays import evaluate_arrays
from gradely.threads import cores, on_threads
from gradely_papers.ferrante2014.learning_data import SETS, Fold, Part, folds
from gradely_papers.ferrante2014.learning_models import LIGHTGBM, OWN, ROUNDS, XGBOOST, Model, learn
from gradely_papers.library import Library

MEASURES = ("AP", "GAP", "xGAP", "eGAP", "muAP", "nDCG", "nDCG@10", "nDCGphi")
SEEDS = 2
"""so many draws of features for each tree"""
ORDERS = 2
"""so many orders of rows are learned from, with each seed"""
STEP = 5
"""numbers of trees that are tried on the queries for validation are multiples of it"""
REAL = "news"
"""the set of real-valued labels, which LightGBM's own objective refuses"""


class Trial(NamedTuple):
    """What models learned in one way are worth on the test queries of a set."""

    name: str
    objective: str
    values: Floats
    """[seeds, orders, queries, measures]"""
    shift: float
    """how far predictions moved between orders of rows, at most, with the same seed"""

    @property
    def means(self) -> Floats:
        """[measures] the means over seeds, orders and queries."""
        return np.asarray(self.values.mean(axis=(0, 1, 2)))

    @property
    def by_query(self) -> Floats:
        """[queries, measures] the means over seeds and orders."""
        return np.asarray(self.values.mean(axis=(0, 1)))

    def spread(self, axis: int) -> Floats:
        """Return [measures], from the lowest to the highest mean over the seeds (0) or orders of rows (1), at most."""
        return np.asarray(np.ptp(self.values.mean(axis=2), axis=axis).max(axis=0))


def measure(part: Part, scores: Floats, measures: Sequence[str] = MEASURES) -> Floats:
    """Return [queries, measures] of scores."""
    values = evaluate_arrays(scores, part.labels, measures, group=part.sizes, threads=1)
    return np.stack(list(values.values()), axis=1)


def choose_trees(model: Model, objective: str, validation: Part | None) -> int:
    """Return how many trees to keep: as many as do best on the queries for validation, by the measure learned."""
    if validation is None:
        return ROUNDS
    target = [objective if objective in OWN else "nDCG"]
    trees = range(min(STEP, ROUNDS), ROUNDS + 1, STEP)
    means = [measure(validation, model(validation.features, count), target).mean() for count in trees]
    return trees[int(np.argmax(means))]


def predict(objective: str, fold: Fold, seed: int, order: int) -> Floats:
    """Learn from the rows in some order, and return the scores of the documents to measure."""
    model = learn(objective, fold.train.shuffle(order), seed)
    return model(fold.test.features, choose_trees(model, objective, fold.validation))


def try_objective(name: str, objective: str, split: list[Fold], seed: int) -> Trial:
    """Learn from each fold with several seeds and orders of rows, and measure the queries left out."""
    values, shift = [], 0.0
    for fold in split:
        scores = np.stack(
            [[predict(objective, fold, seed + i, order) for order in range(ORDERS)] for i in range(SEEDS)]
        )
        values.append(np.stack([[measure(fold.test, row) for row in rows] for rows in scores]))
        shift = max(shift, float(np.ptp(scores, axis=1).max()))
    return Trial(name, objective, np.concatenate(values, axis=2), shift)


def try_all(library: Library, seed: int, progress: Report) -> list[Trial]:
    """Return all trials, set by set."""
    plan = [
        (name, objective)
        for name in SETS
        for objective in (*OWN, LIGHTGBM, XGBOOST)
        if name != REAL or objective != LIGHTGBM
    ]
    split = {name: folds(name, library) for name in SETS}

    def work(way: tuple[str, str]) -> Trial:
        return try_objective(*way, split[way[0]], seed)

    trials: list[Trial] = []
    for trial in on_threads(work, plan, cores()):
        trials.append(trial)
        progress(len(trials) / len(plan))
    return trials
