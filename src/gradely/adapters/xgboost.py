"""XGBoost: measures as evaluation metrics and as objectives in `xgboost.train`."""

from collections.abc import Callable
from typing import Any

import numpy as np

from gradely.errors import DataError
from gradely.learning.lambdas import Objective, mean_values
from gradely.measures.names import MeasureLike, label, parse

__all__ = ["metric", "objective"]


def metric(measure: MeasureLike) -> Callable[[Any, Any], tuple[str, float]]:
    """Return a metric for `xgboost.train(custom_metric=…)`: the mean over queries. XGBoost takes one.

    XGBRanker is no place for it: it calls a metric once per query and weights the values by the queries' lengths.
    Stop early with `xgboost.callback.EarlyStopping(rounds, maximize=True, metric_name=…)`.
    """
    parsed, name = parse(measure), label(measure)

    def gradely_metric(scores: Any, matrix: Any) -> tuple[str, float]:
        (value,) = mean_values(scores, matrix.get_label(), [parsed], group=_sizes(matrix))
        return name, value

    return gradely_metric


def objective(
    measure: MeasureLike = "nDCG", *, sigma: float = 1.0, truncation: int | None = 30
) -> Callable[[Any, Any], tuple[Any, Any]]:
    """Return an objective for `xgboost.train(obj=…)`: the lambdas of a measure, as means over all orders of ties.

    The second derivatives are small, since a measure is at most 1 for a whole query: set `min_child_weight` to 0.001 or
    so, since with the default, 1, hardly any leaf is made. XGBRanker takes no objective of one's own.
    """
    learned = Objective(measure, sigma, truncation)

    def gradely_objective(scores: Any, matrix: Any) -> tuple[Any, Any]:
        gradient, hessian = learned(np.asarray(scores).ravel(), matrix.get_label(), _sizes(matrix))
        weight = matrix.get_weight()
        if len(weight):
            weight = np.repeat(weight, _sizes(matrix))
            gradient, hessian = gradient * weight, hessian * weight
        return gradient, hessian

    return gradely_objective


def _sizes(matrix: Any) -> Any:
    """Return how many rows each query has."""
    sizes = np.diff(matrix.get_uint_info("group_ptr").astype(np.int64))
    if not len(sizes):
        raise DataError("the data has no queries: give xgboost.DMatrix(…, qid=ids), or call set_group(sizes)")
    return sizes
