"""CatBoost: measures as evaluation metrics.

There are no objectives, since CatBoost passes at most 1,000 rows and no queries to custom ones.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradely.errors import DataError
from gradely.learning.lambdas import mean_values
from gradely.measures.names import MeasureLike, parse

__all__ = ["metric"]


def metric(measure: MeasureLike, *group_ids: Any) -> "GroupedMetric":
    """Return a metric for `CatBoostRanker(eval_metric=…)`: the mean over queries.

    CatBoost does not tell a metric which rows belong to which query. So pass their ids here: those of the training data
    and those of the evaluation data, which are told apart by their number of rows.
    """
    return GroupedMetric(measure, group_ids)


class GroupedMetric:
    """A measure with the interface of a CatBoost metric."""

    def __init__(self, measure: MeasureLike, group_ids: Sequence[Any]) -> None:
        """Take the measure and the query ids of each set of rows."""
        self.measure = parse(measure)
        self.by_length: dict[int, Any] = {}
        for ids in map(np.asarray, group_ids):
            if len(ids) in self.by_length and not np.array_equal(ids, self.by_length[len(ids)]):
                raise DataError(
                    f"two data sets have {len(ids)} rows each and cannot be told apart; leave out the training data"
                )
            self.by_length[len(ids)] = ids

    def is_max_optimal(self) -> bool:
        """Return True: a higher value is better."""
        return True

    def evaluate(self, approxes: Any, target: Any, weight: Any) -> tuple[float, float]:  # noqa: ARG002 - CatBoost's name
        """Return the value and its weight, 1."""
        labels = np.asarray(target, dtype=np.float64)
        if len(labels) not in self.by_length:
            lengths = ", ".join(map(str, self.by_length))
            raise DataError(
                f"there are no query ids for a data set of {len(labels)} rows, only for {lengths or 'none'}"
            )
        scores = np.asarray(approxes[0], dtype=np.float64)
        (value,) = mean_values(scores, labels, [self.measure], qid=self.by_length[len(labels)])
        return value, 1.0

    def get_final_error(self, error: float, weight: float) -> float:
        """Return the value divided by its weight."""
        return error / weight
