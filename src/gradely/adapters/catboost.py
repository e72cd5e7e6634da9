"""CatBoost: measures as evaluation metrics. Its custom objectives see at most 1,000 rows, and no queries."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradely.errors import DataError
from gradely.learning.lambdas import mean_values
from gradely.measures.names import MeasureLike, parse

__all__ = ["metric"]


def metric(measure: MeasureLike, *group_ids: Any) -> "GroupedMetric":
    """Return a metric for `CatBoostRanker(eval_metric=…)`: the mean over queries.

    CatBoost does not tell a metric which rows are of one query, so it is given their ids here: those of the training
    data and those of the data to evaluate on. They are told apart by their number of rows.
    """
    return GroupedMetric(measure, group_ids)


class GroupedMetric:
    """What CatBoost asks of a metric, by its own names."""

    def __init__(self, measure: MeasureLike, group_ids: Sequence[Any]) -> None:
        """Keep the ids by how many there are."""
        self.measure = parse(measure)
        self.by_length: dict[int, Any] = {}
        for ids in map(np.asarray, group_ids):
            if len(ids) in self.by_length and not np.array_equal(ids, self.by_length[len(ids)]):
                raise DataError(
                    f"two sets of rows have {len(ids)} each and cannot be told apart; leave the training out"
                )
            self.by_length[len(ids)] = ids

    def is_max_optimal(self) -> bool:
        """More is better."""
        return True

    def evaluate(self, approxes: Any, target: Any, weight: Any) -> tuple[float, float]:  # noqa: ARG002 - of rows
        """Return the value, and 1, its weight."""
        labels = np.asarray(target, dtype=np.float64)
        if len(labels) not in self.by_length:
            lengths = ", ".join(map(str, self.by_length))
            raise DataError(f"no ids of queries were given for {len(labels)} rows, only for {lengths or 'none'}")
        scores = np.asarray(approxes[0], dtype=np.float64)
        (value,) = mean_values(scores, labels, [self.measure], qid=self.by_length[len(labels)])
        return value, 1.0

    def get_final_error(self, error: float, weight: float) -> float:
        """Return the value."""
        return error / weight
