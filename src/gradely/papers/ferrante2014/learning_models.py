"""Models that learn to rank: LambdaMART by our lambdas, and by the libraries' own."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from gradely.data.types import Floats
from gradely.learning.lambdas import Lambdas
from gradely.optional import optional
from gradely.papers.ferrante2014.learning_data import Part

ROUNDS = 50
RATE = 0.1
LEAVES = 15
Predict: TypeAlias = Callable[[Floats], Floats]
LIGHTGBM, XGBOOST = "LightGBM's lambdarank", "XGBoost's rank:ndcg"
OWN = ("AP", "GAP", "xGAP", "eGAP", "muAP", "nDCG", "nDCGphi")
"""measures learned by our lambdas; each model learns on one thread, and several models at a time"""


def learned(name: str, part: Part, seed: int) -> Predict:
    """Return what a model predicts that learned from some documents."""
    if name == XGBOOST:
        return _by_xgboost(part, seed)
    return _by_lightgbm(part, seed, None if name == LIGHTGBM else Lambdas(part.labels, name, group=part.sizes))


def _by_lightgbm(part: Part, seed: int, lambdas: Lambdas | None) -> Predict:
    lightgbm = optional("lightgbm", "LightGBM", "lightgbm")
    own: Any = "lambdarank" if lambdas is None else lambda scores, _: lambdas(scores)
    options = {
        "objective": own,
        "learning_rate": RATE,
        "num_leaves": LEAVES,
        "lambdarank_truncation_level": 30,
        "verbosity": -1,
        "seed": seed,
        "deterministic": True,
        "force_col_wise": True,
        "metric": "None",
        "num_threads": 1,
    }
    data = lightgbm.Dataset(part.features, part.labels, group=part.sizes)
    return lightgbm.train(options, data, ROUNDS).predict  # type: ignore[no-any-return]


def _by_xgboost(part: Part, seed: int) -> Predict:
    xgboost = optional("xgboost", "XGBoost", "xgboost")
    query = np.repeat(np.arange(len(part.sizes)), part.sizes)
    options = {
        "objective": "rank:ndcg",
        "eta": RATE,
        "max_leaves": LEAVES,
        "grow_policy": "lossguide",
        "min_child_weight": 1e-3,
        "seed": seed,
        "nthread": 1,
    }
    model = xgboost.train(options, xgboost.DMatrix(part.features, part.labels, qid=query), ROUNDS)
    return lambda features: np.asarray(model.predict(xgboost.DMatrix(features)), np.float64)
