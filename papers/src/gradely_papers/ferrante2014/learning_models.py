"""Models that learn to rank: LambdaMART by our lambdas, and by the libraries' own."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from gradely.data.types import Floats
from gradely.learning.lambdas import Lambdas
from gradely.optional import optional
from gradely_papers.ferrante2014.learning_data import Part

ROUNDS = 30
RATE = 0.1
LEAVES = 15
SHARE = 0.8
"""of the features, drawn by the seed for each tree; rows are not drawn, since that would depend on their order"""
TRUNCATION = 30
Model: TypeAlias = Callable[[Floats, int], Floats]
"""From features and a number of trees to scores."""
LIGHTGBM, XGBOOST = "LightGBM's lambdarank", "XGBoost's rank:ndcg"
OWN = ("AP", "GAP", "xGAP", "eGAP", "muAP", "nDCG", "nDCGphi")
"""measures learned by our lambdas; each model learns on one thread, and several models at a time"""


def learn(name: str, part: Part, seed: int) -> Model:
    """Return a model that learned from some documents."""
    if name == XGBOOST:
        return _by_xgboost(part, seed)
    lambdas = None if name == LIGHTGBM else Lambdas(part.labels, name, group=part.sizes, truncation=TRUNCATION)
    return _by_lightgbm(part, seed, lambdas)


def _by_lightgbm(part: Part, seed: int, lambdas: Lambdas | None) -> Model:
    """Learn by lambdas, or by LightGBM's own, with the gains of nDCG: the grades themselves."""
    lightgbm = optional("lightgbm", "LightGBM", "lightgbm")
    own: Any = "lambdarank" if lambdas is None else lambda scores, _: lambdas(scores)
    options = {
        "objective": own,
        "learning_rate": RATE,
        "num_leaves": LEAVES,
        "feature_fraction": SHARE,
        "lambdarank_truncation_level": TRUNCATION,
        "verbosity": -1,
        "seed": seed,
        "deterministic": True,
        "force_col_wise": True,
        "metric": "None",
        "num_threads": 1,
    }
    if lambdas is None:
        options["label_gain"] = list(range(int(part.labels.max()) + 1))
    data = lightgbm.Dataset(part.features, part.labels, group=part.sizes)
    model = lightgbm.train(options, data, ROUNDS)
    return lambda features, trees: np.asarray(model.predict(features, num_iteration=trees, num_threads=1))


def _by_xgboost(part: Part, seed: int) -> Model:
    xgboost = optional("xgboost", "XGBoost", "xgboost")
    query = np.repeat(np.arange(len(part.sizes)), part.sizes)
    options = {
        "objective": "rank:ndcg",
        "ndcg_exp_gain": False,
        "eta": RATE,
        "max_leaves": LEAVES,
        "grow_policy": "lossguide",
        "colsample_bytree": SHARE,
        "lambdarank_num_pair_per_sample": TRUNCATION,
        "min_child_weight": 1e-3,
        "seed": seed,
        "nthread": 1,
    }
    model = xgboost.train(options, xgboost.DMatrix(part.features, part.labels, qid=query, nthread=1), ROUNDS)

    def predict(features: Floats, trees: int) -> Floats:
        table = xgboost.DMatrix(features, nthread=1)
        return np.asarray(model.predict(table, iteration_range=(0, trees)), np.float64)

    return predict
