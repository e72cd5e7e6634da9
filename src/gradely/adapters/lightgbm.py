"""LightGBM: measures as evaluation metrics and as objectives, in `lightgbm.train` and in `LGBMRanker`."""

from collections.abc import Callable
from typing import Any

import numpy as np

from gradely.errors import DataError
from gradely.learning.lambdas import Objective, mean_values
from gradely.measures.names import MeasureLike, parse_all

Gradients = tuple[Any, Any]


def metric(*measures: MeasureLike) -> Callable[..., list[tuple[str, float, bool]]]:
    """Return a metric for `lightgbm.train(feval=…)` and for `LGBMRanker.fit(eval_metric=…)`: means over queries.

    `params={"metric": "None"}` leaves LightGBM's own ones out, so that early stopping looks at these.
    """
    parsed = parse_all(measures)

    def gradely_metric(
        y_true: Any, y_pred: Any, weight: Any = None, group: Any = None
    ) -> list[tuple[str, float, bool]]:
        scores, labels, _, sizes = _arguments(y_true, y_pred, weight, group)
        values = mean_values(scores, labels, list(parsed.values()), group=sizes)
        return [(name, value, True) for name, value in zip(parsed, values, strict=True)]

    return gradely_metric


def objective(
    measure: MeasureLike = "nDCG", *, sigma: float = 1.0, truncation: int | None = 30
) -> Callable[..., Gradients]:
    """Return an objective for `lightgbm.train(params={"objective": …})` and for `LGBMRanker(objective=…)`.

    It learns by the lambdas of a measure, as means over all orders of ties: see `gradely.lambdas`.
    """
    learned = Objective(measure, sigma, truncation)

    def gradely_objective(y_true: Any, y_pred: Any, weight: Any = None, group: Any = None) -> Gradients:
        scores, labels, weights, sizes = _arguments(y_true, y_pred, weight, group)
        gradient, hessian = learned(scores, labels, sizes)
        return (gradient, hessian) if weights is None else (gradient * weights, hessian * weights)

    return gradely_objective


def _arguments(first: Any, second: Any, weight: Any, group: Any) -> tuple[Any, Any, Any, Any]:
    """Return scores, labels, weights and sizes of queries.

    `train` passes scores and a Dataset, `LGBMRanker` labels, scores, weights and sizes; it counts four parameters.
    """
    if hasattr(second, "get_group"):
        first, second, weight, group = second.get_label(), first, second.get_weight(), second.get_group()
    if group is None:
        raise DataError("the data has no queries: give lightgbm.Dataset(…, group=sizes), or LGBMRanker.fit(…, group=)")
    return np.asarray(second), np.asarray(first), weight, np.asarray(group)


__all__ = ["metric", "objective"]
