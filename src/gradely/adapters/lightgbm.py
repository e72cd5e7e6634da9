"""LightGBM: measures as evaluation metrics and as objectives, in `lightgbm.train` and in `LGBMRanker`.

The results of `metric` and `objective` can be pickled, and so can an LGBMRanker that was fitted with them.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gradely.errors import DataError
from gradely.learning.lambdas import Objective, mean_values
from gradely.measures import Measure
from gradely.measures.names import MeasureLike, parse_all

__all__ = ["metric", "objective"]


def metric(*measures: MeasureLike) -> "LightGBMMetric":
    """Return a metric for `lightgbm.train(feval=…)` and for `LGBMRanker.fit(eval_metric=…)`: means over queries.

    For early stopping by these measures, disable LightGBM's own metrics with `params={"metric": "None"}`. LightGBM's
    `ndcg@10` uses exponential gains and equals `nDCG(gain='exp')@10`.
    """
    return LightGBMMetric(parse_all(measures))


def objective(measure: MeasureLike = "nDCG", *, sigma: float = 1.0, truncation: int | None = 30) -> "LightGBMObjective":
    """Return an objective for `lightgbm.train(params={"objective": …})` and for `LGBMRanker(objective=…)`.

    Its gradients are the lambdas of the measure, as means over all orders of tied documents: see `gradely.lambdas`.
    """
    return LightGBMObjective(Objective(measure, sigma, truncation))


@dataclass(frozen=True)
class LightGBMMetric:
    """Measures by name, with the interface of a LightGBM metric."""

    measures: dict[str, Measure]

    def __call__(
        self, y_true: Any, y_pred: Any, weight: Any = None, group: Any = None
    ) -> list[tuple[str, float, bool]]:
        """Return (name, mean, True) for each measure, where True means that higher is better."""
        scores, labels, _, sizes = _arguments(y_true, y_pred, weight, group)
        values = mean_values(scores, labels, list(self.measures.values()), group=sizes)
        return [(name, value, True) for name, value in zip(self.measures, values, strict=True)]


@dataclass(frozen=True)
class LightGBMObjective:
    """The lambdas of a measure, with the interface of a LightGBM objective."""

    lambdas: Objective

    def __call__(self, y_true: Any, y_pred: Any, weight: Any = None, group: Any = None) -> tuple[Any, Any]:
        """Return the gradient and the second derivative of each row."""
        scores, labels, weights, sizes = _arguments(y_true, y_pred, weight, group)
        gradient, hessian = self.lambdas(scores, labels, sizes)
        return (gradient, hessian) if weights is None else (gradient * weights, hessian * weights)


def _arguments(first: Any, second: Any, weight: Any, group: Any) -> tuple[Any, Any, Any, Any]:
    """Return scores, labels, weights and the number of rows per query.

    `train` passes scores and a Dataset; `LGBMRanker` passes labels, scores, weights and sizes to functions that have
    four parameters.
    """
    if hasattr(second, "get_group"):
        first, second, weight, group = second.get_label(), first, second.get_weight(), second.get_group()
    if group is None:
        raise DataError("the data has no queries: give lightgbm.Dataset(…, group=sizes), or LGBMRanker.fit(…, group=)")
    return np.asarray(second), np.asarray(first), weight, np.asarray(group)
