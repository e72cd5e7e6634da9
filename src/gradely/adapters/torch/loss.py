"""LambdaLoss: a loss whose gradients are the lambdas of a measure, for rankers that are networks."""

from collections.abc import Sequence
from typing import Any

import torch
from torch.nn.functional import softplus

from gradely.kernel.arrays import align_arrays, check_numbers, rank_documents
from gradely.kernel.backend import constants, namespace
from gradely.kernel.batch import Levels
from gradely.learning.lambdas import Pairs, check_options
from gradely.learning.places import places_of, reorder
from gradely.learning.swaps import check, swaps_of
from gradely.measures.names import MeasureLike, parse


class LambdaLoss(torch.nn.Module):  # type: ignore[misc,unused-ignore]
    """The sum over pairs of documents of E|Δ| · log(1 + exp(-σ(s_i - s_j))), y_i > y_j, as a mean over queries.

    E|Δ| is by how much the measure changes when the two trade places, as a mean over all orders of ties. It is taken as
    given, so the gradients are those of `gradely.lambdas`, over the number of queries. `levels` lists the positive
    labels of the collection; without, those of each batch stand for it.
    """

    def __init__(
        self,
        measure: MeasureLike = "nDCG",
        *,
        sigma: float = 1.0,
        truncation: int | None = 30,
        levels: Sequence[float] | None = None,
    ) -> None:
        """Refuse what cannot be learned."""
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
        """Return the order of the documents, and for pairs of them, the upper one first, E|Δ| and who is better."""
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
