"""Which swaps a measure has: what it needs of a block of queries, whatever their scores."""

from typing import TypeAlias

from gradely.errors import MeasureError
from gradely.kernel.backend import ignore_overflow
from gradely.kernel.batch import Array, Batch
from gradely.kernel.families import no_discount
from gradely.kernel.gains import DISCOUNTS
from gradely.kernel.tie_groups import Discount
from gradely.learning.additive import Additive
from gradely.learning.thresholds import Thresholds
from gradely.learning.weighted_thresholds import WeightedThresholds
from gradely.measures import AP, GAP, RBP, Measure, eGAP, muAP, xGAP
from gradely.measures.dcg import Discounted
from gradely.measures.population import Population
from gradely.measures.precision import F1, F, P, R, RelativeP

Swaps: TypeAlias = Additive | Thresholds | WeightedThresholds
COUNTED = (P, R, F1, F, RelativeP)
TAUGHT = (Discounted, RBP, AP, GAP, xGAP, eGAP, muAP, *COUNTED)
"""measures that can be learned; the others of their families derive from them"""


def check(measure: Measure) -> None:
    """Refuse a measure whose swaps have no closed form."""
    if not isinstance(measure, TAUGHT):
        raise MeasureError(
            f"{measure}: no closed form is known of what a swap changes on average over ties;"
            " learn by nDCG, DCG, NDCNG, nDCGphi, RBP, AP, GAP, xGAP, eGAP, muAP, P, R or F1"
        )


def swaps_of(measure: Measure, batch: Batch) -> Swaps:
    """Return what a fitted measure needs of a batch whose documents stand by label; their scores do not matter."""
    batch = measure.apply_relevance(batch)
    if isinstance(measure, AP):
        level = batch.xp.astype(measure.relevant(batch), batch.first.dtype)
        return Thresholds(level, _inverse(batch, measure.norm(batch))[None, :], measure.k)
    if isinstance(measure, Population):
        return _threshold_swaps(measure, batch)
    gain, discount = _gain(measure, batch)
    rank = batch.xp.arange(1, batch.grade.shape[1] + 1, dtype=batch.grade.dtype, device=batch.device)
    value = 1.0 / discount(batch, rank)
    value = value if measure.k is None else batch.xp.where(rank <= measure.k, value, 0.0)
    return Additive(_over(batch, gain, measure.norm(batch)), value)


def _gain(measure: Measure, batch: Batch) -> tuple[Array, Discount]:
    """Return [Q, n], the gain of each document, and the discount."""
    if isinstance(measure, Discounted):
        return measure.retrieved_gains(batch), DISCOUNTS[measure.discount]
    if isinstance(measure, RBP):
        return batch.grade / float(measure.top or 1), measure.patience
    if isinstance(measure, COUNTED):
        return batch.to_real(measure.relevant(batch)), no_discount
    raise AssertionError(measure)


def _threshold_swaps(measure: Population, batch: Batch) -> Swaps:
    """Return the swaps of GAP, xGAP, eGAP or µAP.

    A query with fewer levels than others of the block has levels of 0 below its own, which all documents reach and
    which weigh nothing.
    """
    xp, thresholds = batch.xp, measure.thresholds(batch)
    reached = batch.grade[:, :, None] >= thresholds.level[:, None, :]
    level = xp.sum(xp.astype(reached, batch.first.dtype), axis=2)
    weight = measure.weight(batch, thresholds) * _inverse(batch, measure.norm(batch))[:, None]
    ascending = xp.flip(xp.permute_dims(weight, (1, 0)), axis=0)
    if isinstance(measure, xGAP):
        return WeightedThresholds(level, ascending, measure.document_weight(batch), measure.k)
    return Thresholds(level, ascending, measure.k)


def _over(batch: Batch, gain: Array, norm: Array) -> Array:
    """Return gains over the norm; where one over that is too large for a number, their quotient need not be."""
    with ignore_overflow():
        product = gain * _inverse(batch, norm)[:, None]
        return batch.xp.where(batch.xp.isfinite(product), product, gain / norm[:, None])


def _inverse(batch: Batch, norm: Array) -> Array:
    """Return 1/norm; 0 where that is 0, since every ranking then scores 0."""
    return batch.xp.where(norm > 0, 1.0 / batch.xp.where(norm > 0, norm, 1.0), 0.0)
