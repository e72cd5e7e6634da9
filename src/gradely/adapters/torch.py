"""PyTorch: `LambdaLoss`, a loss that optimises a measure, and `RankingMetric`, a torchmetrics metric."""

from collections.abc import Sequence
from typing import Any

from gradely.errors import DataError
from gradely.evaluation.arrays import evaluate_arrays
from gradely.kernel.arrays import align_arrays, check_numbers, rank_documents
from gradely.kernel.backend import constants, namespace
from gradely.kernel.batch import Levels
from gradely.lazy import needing, optional
from gradely.learning.lambdas import Pairs, check_options
from gradely.learning.places import places_of, reorder
from gradely.learning.swaps import check, swaps_of
from gradely.measures.names import MeasureLike, parse

with needing("PyTorch", extra="torch"):
    import torch
    from torch.nn.functional import softplus
try:
    from torchmetrics import Metric
    from torchmetrics.utilities import dim_zero_cat
except ImportError:  # LambdaLoss needs PyTorch alone
    Metric = object


class LambdaLoss(torch.nn.Module):  # type: ignore[misc,unused-ignore] # it may be absent
    """The sum over pairs of documents with y_i > y_j of E|Δ| · log(1 + exp(-σ(s_i - s_j))), as a mean over queries.

    E|Δ| is the change of the measure when the two documents swap places, as a mean over all orders of tied documents.
    It is treated as a constant, so the gradients are those of `gradely.lambdas` divided by the number of queries.
    `levels` lists the positive labels of the collection; by default, they are taken from each batch.
    """

    def __init__(
        self,
        measure: MeasureLike = "nDCG",
        *,
        sigma: float = 1.0,
        truncation: int | None = 30,
        levels: Sequence[float] | None = None,
    ) -> None:
        """Refuse measures and options that the loss does not support."""
        super().__init__()
        check_options(sigma, truncation)
        self.measure, self.sigma, self.truncation = parse(measure), float(sigma), truncation
        check(self.measure)
        self.levels = None if levels is None else sorted({float(level) for level in levels if level > 0})

    def forward(self, scores: Any, labels: Any, mask: Any = None) -> Any:
        """Return the loss of scores and labels, one row per query; `mask` is true for real documents."""
        scores, labels, mask = align_arrays(scores, labels, mask, "expected", 0)
        mask = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask
        first = torch.argsort(~mask, dim=1, stable=True)
        scores, labels, mask = (x.gather(1, first) for x in (torch.where(mask, scores, 0.0), labels, mask))
        with torch.no_grad():
            order, weight, better = self._pairs(scores.detach(), labels, mask)
        ranking = scores.gather(1, order)
        apart = ranking[:, : weight.shape[1], None] - ranking[:, None, :]
        return (weight * softplus(-self.sigma * torch.where(better, apart, -apart))).sum() / len(scores)

    def _pairs(self, scores: Any, labels: Any, mask: Any) -> tuple[Any, Any, Any]:
        """Return the order of the documents and, for pairs (upper, lower), E|Δ| and whether the upper one is better."""
        check_numbers(namespace(scores), {"score": scores}, mask)
        known = Levels(labels, mask) if self.levels is None else Levels(constants(self.levels))
        column = torch.arange(scores.shape[1], device=scores.device, dtype=torch.float64)
        batch = rank_documents(-column.expand(scores.shape), labels, mask, "expected")
        swaps = swaps_of(self.measure.fit(known), batch)
        order = torch.argsort(torch.where(mask, -scores, torch.inf), dim=1, stable=True)
        ranking, real = scores.gather(1, order).double(), mask.gather(1, order)
        places = places_of(ranking, real, self.truncation)
        worth = reorder(swaps.worth, order)
        rows = slice(0, max(1, int((real & (places.start < places.truncation)).sum(1).max())))
        weight = Pairs(ranking, real, worth, self.sigma).mask_pairs(rows, swaps.changes(places, order)(rows))
        return order, weight.to(scores.dtype), worth[:, rows, None] > worth[:, None, :]


class RankingMetric(Metric):  # type: ignore[misc,unused-ignore] # it may be absent
    """The mean of a measure over queries, where ties count as means over all orders.

    As in the retrieval metrics of torchmetrics, `update(preds, target, indexes)` takes scores, labels and the query of
    each document, in any shape. All computation stays on the device.
    """

    is_differentiable = False
    higher_is_better = True
    full_state_update = False
    preds: list[Any]
    target: list[Any]
    indexes: list[Any]

    def __init__(self, measure: MeasureLike = "nDCG", **options: Any) -> None:
        """Take a measure, and the options of `torchmetrics.Metric`."""
        optional("torchmetrics", "torchmetrics", "torch")
        super().__init__(**options)
        self.measure = parse(measure)
        for name in ("preds", "target", "indexes"):
            self.add_state(name, default=[], dist_reduce_fx="cat")

    def update(self, preds: Any, target: Any, indexes: Any) -> None:
        """Add the scores, labels and queries of some documents."""
        if not preds.shape == target.shape == indexes.shape:
            shapes = ", ".join(str(tuple(x.shape)) for x in (preds, target, indexes))
            raise DataError(f"preds, target and indexes must have the same shape; found {shapes}")
        self.preds.append(preds.detach().reshape(-1))
        self.target.append(target.detach().reshape(-1))
        self.indexes.append(indexes.detach().reshape(-1))

    def compute(self) -> Any:
        """Return the mean over all queries seen so far, or 0 if there are none."""
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
