"""XGBoost: measures as evaluation metrics and as objectives in `xgboost.train`.

The results of `metric` and `objective` can be pickled.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gradely.errors import DataError
from gradely.learning.lambdas import Objective, mean_values
from gradely.measures import Measure
from gradely.measures.names import MeasureLike, label, parse

__all__ = ["metric", "objective"]


def metric(measure: MeasureLike) -> "XGBoostMetric":
    """Return a metric for `xgboost.train(custom_metric=…)`: the mean over queries. XGBoost takes a single metric.

    Do not use it with XGBRanker, which calls a metric once per query and weights the values by the lengths of the
    queries. For early stopping, use `xgboost.callback.EarlyStopping(rounds, maximize=True, metric_name=…)`.
    """
    return XGBoostMetric(label(measure), parse(measure))


def objective(measure: MeasureLike = "nDCG", *, sigma: float = 1.0, truncation: int | None = 30) -> "XGBoostObjective":
    """Return an objective for `xgboost.train(obj=…)`: the lambdas of a measure, as means over all orders of ties.

    The second derivatives are small, since a measure is at most 1 for a whole query. So set `min_child_weight` to about
    0.001: with the default of 1, trees have hardly any leaves. XGBRanker does not support custom objectives.
    """
    return XGBoostObjective(Objective(measure, sigma, truncation))


@dataclass(frozen=True)
class XGBoostMetric:
    """A measure and its name, with the interface of an XGBoost metric."""

    name: str
    measure: Measure

    def __call__(self, scores: Any, matrix: Any) -> tuple[str, float]:
        """Return the name and the mean over queries."""
        (value,) = mean_values(scores, matrix.get_label(), [self.measure], group=_sizes(matrix))
        return self.name, value


@dataclass(frozen=True)
class XGBoostObjective:
    """The lambdas of a measure, with the interface of an XGBoost objective."""

    lambdas: Objective

    def __call__(self, scores: Any, matrix: Any) -> tuple[Any, Any]:
        """Return the gradient and the second derivative of each row."""
        sizes, weight = _sizes(matrix), matrix.get_weight()
        gradient, hessian = self.lambdas(np.asarray(scores).ravel(), matrix.get_label(), sizes)
        if not len(weight):
            return gradient, hessian
        weight = np.repeat(weight, sizes)
        return gradient * weight, hessian * weight


def _sizes(matrix: Any) -> Any:
    """Return the number of rows of each query."""
    sizes = np.diff(matrix.get_uint_info("group_ptr").astype(np.int64))
    if not len(sizes):
        raise DataError("the data has no queries: give xgboost.DMatrix(…, qid=ids), or call set_group(sizes)")
    return sizes
