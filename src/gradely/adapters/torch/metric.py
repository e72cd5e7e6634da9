"""RankingMetric: a measure as a metric of torchmetrics."""

from typing import Any

import torch
from torchmetrics import Metric
from torchmetrics.utilities import dim_zero_cat

from gradely.errors import DataError
from gradely.evaluation.arrays import evaluate_arrays
from gradely.measures.names import MeasureLike, parse


class RankingMetric(Metric):  # type: ignore[misc,unused-ignore]
    """The mean of a measure over queries, ties as means over all orders.

    As torchmetrics' retrieval metrics have it: `update(preds, target, indexes)` takes scores, labels and the query of
    each document, in any shape. Everything stays on the device.
    """

    is_differentiable = False
    higher_is_better = True
    full_state_update = False
    preds: list[Any]
    target: list[Any]
    indexes: list[Any]

    def __init__(self, measure: MeasureLike = "nDCG", **options: Any) -> None:
        """Take a measure; the options are torchmetrics' own."""
        super().__init__(**options)
        self.measure = parse(measure)
        for name in ("preds", "target", "indexes"):
            self.add_state(name, default=[], dist_reduce_fx="cat")

    def update(self, preds: Any, target: Any, indexes: Any) -> None:
        """Take scores, labels and queries of some documents."""
        if not preds.shape == target.shape == indexes.shape:
            shapes = ", ".join(str(tuple(x.shape)) for x in (preds, target, indexes))
            raise DataError(f"preds, target and indexes must have one shape; found {shapes}")
        self.preds.append(preds.detach().reshape(-1))
        self.target.append(target.detach().reshape(-1))
        self.indexes.append(indexes.detach().reshape(-1))

    def compute(self) -> Any:
        """Return the mean over all queries seen; 0 where there are none."""
        if not len(self.preds):
            return torch.zeros(())
        scores, labels, queries = (dim_zero_cat(x) for x in (self.preds, self.target, self.indexes))
        scores, labels, mask = by_query(scores, labels, queries)
        return evaluate_arrays(scores, labels, [self.measure], mask)[str(self.measure)].mean()


def by_query(scores: Any, labels: Any, queries: Any) -> tuple[Any, Any, Any]:
    """Return scores, labels and a mask with one row per query, as wide as the longest query."""
    _, row, counts = torch.unique(queries, return_inverse=True, return_counts=True)
    order = torch.argsort(row, stable=True)
    column = torch.arange(len(row), device=row.device) - torch.repeat_interleave(counts.cumsum(0) - counts, counts)
    shape = (len(counts), int(counts.max()))
    mask = torch.zeros(shape, dtype=torch.bool, device=row.device)
    mask[row[order], column] = True
    dense = [torch.zeros(shape, dtype=x.dtype, device=x.device) for x in (scores, labels)]
    for table, x in zip(dense, (scores, labels), strict=True):
        table[row[order], column] = x[order]
    return dense[0], dense[1], mask
