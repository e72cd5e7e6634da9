"""Measures of cumulative gain: DCG, nDCG, NDCNG, nDCGφ, SDCG."""

import math
import re
from collections.abc import Mapping
from functools import cache, partial
from math import inf
from typing import Any, Self

from gradely.errors import MeasureError
from gradely.kernel import by_place
from gradely.kernel.backend import has_short_rows, is_any, sum_rows
from gradely.kernel.batch import Array, Batch
from gradely.kernel.families import additive, no_discount, rank_discount
from gradely.kernel.gains import GAINS, LabelTable, exponents, headroom, log2, units
from gradely.kernel.parameters import one_of, parameter
from gradely.kernel.ties import Discount, sum_in_parts
from gradely.kernel.uncertain import Gains, UncertainBatch, over_ideal
from gradely.measures.base import Expected, Graded, ScaleBased
from gradely.relevance import Levels, Max, Phi, RelevanceLike
from gradely.settings import check_choice


def letor(batch: Batch, rank: Array) -> Array:
    """Return, for rank i, log2(i), but 1 at ranks 1 and 2 (Järvelin and Kekäläinen 2002; LETOR)."""
    return batch.xp.log2(batch.xp.clip(rank, min=2.0))


def jk10(batch: Batch, rank: Array) -> Array:
    """Return, for rank i, log10(i), but 1 at ranks 1 to 10 (Järvelin and Kekäläinen 2002; MATTERS)."""
    return batch.xp.log10(batch.xp.clip(rank, min=10.0))


DISCOUNTS: dict[str, Discount] = {
    "log2": log2,
    "zipf": rank_discount,
    "letor": letor,
    "jk10": jk10,
    "none": no_discount,
}


def discount_of(name: str) -> Discount:
    """Return a discount by name; jk(b) is the logarithm to base b from rank b on (Järvelin and Kekäläinen 2002)."""
    if isinstance(name, str) and name not in DISCOUNTS and (base := re.fullmatch(r"jk\(([\d.]+)\)", name)):
        return log_from(float(base[1]))
    if not isinstance(name, str) or name not in DISCOUNTS:
        check_choice("discount", name, (*DISCOUNTS, "jk(10)"), MeasureError)
    return DISCOUNTS[name]


@cache
def log_from(base: float) -> Discount:
    """Return the discount that is the logarithm of the rank to a base from rank `base` on, and 1 before."""
    if base == 10:
        return jk10
    if base <= 1:
        raise MeasureError(f"the base of a logarithm must be above 1, as in discount='jk(10)'; found {base:g}")

    def discount(batch: Batch, rank: Array) -> Array:
        return batch.xp.log(batch.xp.clip(rank, min=base)) / math.log(base)

    return discount


def gain_parameter(default: str) -> Any:
    """Return a field for the gain, with this default."""
    doc = "how relevance becomes gain: 'linear', 'exp' or a table {label: gain}"
    return parameter(default=default, doc=doc, check=check_gain)


def check_gain(name: str, value: Any) -> str | LabelTable:
    """Check the name of a gain, or a table of gains."""
    if isinstance(value, LabelTable):
        return value
    return LabelTable.of(dict(value)) if isinstance(value, Mapping) else str(one_of(GAINS)(name, value))


def check_discount(_: str, value: Any) -> str:
    """Check the name of a discount."""
    discount_of(value)
    return str(value)


class GainBased(Graded):
    """A measure of gains, which are functions of relevance."""

    gain: str | Mapping[float, float] | LabelTable = gain_parameter("linear")

    def fit(self, levels: Levels) -> Self:
        """Return the measure fitted to the collection; raise an error if a table of gains lacks a label."""
        if isinstance(self.gain, LabelTable):
            self.gain.check(levels())
        return super().fit(levels)

    def gains(self, batch: Batch, relevance: Array, exponent: Array | None) -> Array:
        """Return the gains of relevance, in units of 2^exponent."""
        function: Any = self.gain if isinstance(self.gain, LabelTable) else GAINS[str(self.gain)]
        return function(batch, relevance, exponent)

    def exponent(self, batch: Batch) -> Array | None:
        """Return [Q, 1]: the exponent of the unit of gains, 2^exponent, which keeps sums finite; None for units of 1.

        The unit depends on the highest gain of the pool, and cancels if the measure divides by the ideal. With fixed
        shapes, only exponential gains have units: other gains overflow only if their labels do.
        """
        if batch.fixed and self.gain != "exp":
            return None
        return batch.of_pools((GainBased, self.key), self._exponent_of)

    def _exponent_of(self, batch: Batch) -> Array | None:
        highest, room = batch.pool[:, :1], headroom(batch)
        largest = room if self.gain == "exp" else 2.0**room
        if not batch.fixed and not isinstance(self.gain, LabelTable) and not is_any(highest > largest):
            return None  # the usual case, found without computing logarithms
        return exponents(batch, self.power(batch, highest))

    def power(self, batch: Batch, highest: Array) -> Array:
        """Return [Q, 1]: the binary logarithm of the gain of the highest relevance, or a little more."""
        if self.gain == "exp":
            return highest
        top = batch.xp.full_like(highest, float(self.gain.top)) if isinstance(self.gain, LabelTable) else highest
        return batch.xp.log2(batch.xp.clip(top, min=1.0))

    def ideal(self, batch: Batch) -> Array:
        """Return [Q, B]: the gains of the pool, best first."""
        gains = self._gains_where(batch, batch.pooled, batch.pool)
        return -batch.xp.sort(-gains, axis=1) if isinstance(self.gain, LabelTable) else gains

    def retrieved_gains(self, batch: Batch) -> Array:
        """Return [Q, H]: the gain of each retrieved judged document."""
        return self._gains_where(batch, batch.judged, batch.grade)

    def _gains_where(self, batch: Batch, real: Array, relevance: Array) -> Array:
        """Return the gains of documents and 0 in padding, where relevance is 0 but a table may have another gain."""
        gains = self.gains(batch, relevance, self.exponent(batch))
        return batch.xp.where(real, gains, 0.0) if isinstance(self.gain, LabelTable) else gains

    def priority(self, batch: Batch) -> Array:
        """Rank documents by gain, which rises with relevance unless it is a table."""
        return self.retrieved_gains(batch) if isinstance(self.gain, LabelTable) else batch.grade

    @property
    def priority_key(self) -> object:
        """Relevance alone, unless the gain is a table or the measure has a priority of its own."""
        by_relevance = type(self).priority is GainBased.priority and not isinstance(self.gain, LabelTable)
        return Graded if by_relevance else self.key

    def degenerate(self, batch: Batch) -> Array:
        """True if no document of the pool has a positive gain; in a table, relevant documents may have none."""
        gains = self.gains(batch, batch.pool, GainBased.exponent(self, batch))
        return ~batch.xp.any(batch.pooled & (gains > 0), axis=1)


class Discounted(GainBased):
    """A sum of gains, each divided by a discount that grows with the rank."""

    discount: str = parameter(
        default="log2",
        doc="the divisor of a gain at rank i: 'log2', 'zipf', 'letor', 'jk(10)' or 'none'",
        check=check_discount,
    )

    def terms(self, batch: Batch) -> Array:
        """Return gain over discount."""
        return additive(batch, self.retrieved_gains(batch), discount_of(self.discount), self.k)

    def factors(self, batch: Batch) -> tuple[Array, Array]:
        """Return the gain, and the mean of 1/discount over the places that a document can take."""
        return self.retrieved_gains(batch), self.places(batch)

    def places(self, batch: Batch) -> Array:
        """Return [Q, H]: the mean of 1/discount over the places that each document can take."""
        return additive(batch, batch.xp.ones_like(batch.grade), discount_of(self.discount), self.k)

    def gains_of_labels(self, batch: UncertainBatch, *, units: bool) -> Array:
        """Return [L]: the gain of each label, with `units` in units of a power of two if gains are too large."""
        view = self.relevance_of_labels(batch)
        return self.gains(view, view.grade, GainBased.exponent(self, view) if units else None)[0, :]


def expect_gains(measure: "DCG", batch: UncertainBatch) -> Expected:
    """A document contributes its mean gain over its discount."""
    gain = batch.mean(measure.gains_of_labels(batch, units=False))
    return Expected(gain, gain * measure.places(batch.places))


def expect_share_of_ideal(measure: "nDCG", batch: UncertainBatch) -> Expected:
    """A document contributes its discounted gain over the ideal DCG, which depends on the labels of all documents."""
    places, gains = batch.places, measure.gains_of_labels(batch, units=True)
    by_gain = Gains.of(batch, gains)
    ideal = partial(measure.ideal_of, places, by_gain)
    return Expected(
        batch.mean(gains), over_ideal(str(measure), places, measure.places(places), by_gain, ideal, measure.k)
    )


class DCG(Discounted):
    """Discounted cumulative gain.

        DCG@k = Σ_{i<=k} G(relevance at rank i) / D(i)

    The gain G of relevance g is g itself (`linear`), 2^g - 1 (`exp`) or taken from a table {label: gain}. The discount
    D at rank i is log2(i+1) (`log2`), i (`zipf`), max(1, log2 i) (`letor`), the logarithm to any base b from rank b on
    (`jk(b)`; `jk(10)`, or `jk10`, is the default of the toolkit MATTERS) or 1 (`none`, which gives cumulative gain). A
    value beyond the range of numbers, as for `exp` from labels of 1024, is an error.

    Ties: each document of a tie group gets the mean of 1/D over the group's places. No relevant document: 0.
    Reference: Järvelin and Kekäläinen, Cumulative gain-based evaluation of IR techniques (2002); ties: McSherry and
    Najork (2008).

    >>> from gradely import DCG, from_arrays
    >>> DCG(discount="zipf")(from_arrays([0.9, 0.5, 0.5], [3, 2, 0])).tolist() == [3 + 2 * (1 / 2 + 1 / 3) / 2]
    True
    """

    name = "DCG"
    expectation = expect_gains
    bounds = (0.0, inf)

    def exponent(self, batch: Batch) -> Array | None:
        """Return the exponent for the documents that can be in the top k, since units do not cancel in DCG."""
        if super().exponent(batch) is None:
            return None
        highest = batch.xp.max(batch.xp.where(self._inside(batch), batch.grade, 0.0), axis=1, keepdims=True)
        exponent = exponents(batch, self.power(batch, self._cap(batch, highest)))
        return batch.xp.zeros_like(highest) if exponent is None else exponent

    def _inside(self, batch: Batch) -> Array:
        return batch.judged if self.k is None else batch.judged & (batch.above < self.k)

    def retrieved_gains(self, batch: Batch) -> Array:
        """Return the gains, 0 for documents that cannot be in the top k, whose gain might overflow."""
        exponent = self.exponent(batch)
        if exponent is None:
            return super().retrieved_gains(batch)
        inside = self._inside(batch)
        relevance = self._cap(batch, batch.xp.where(inside, batch.grade, 0.0))
        return batch.xp.where(inside, self.gains(batch, relevance, exponent), 0.0)

    def _cap(self, batch: Batch, relevance: Array) -> Array:
        """Return relevance, capped at a value whose exponential gain is too large to represent in any case.

        From 2^53 on, units and gains would be the same number, and every gain would be 1.
        """
        return batch.xp.clip(relevance, max=4 * headroom(batch)) if self.gain == "exp" else relevance

    def norm(self, batch: Batch) -> Array:
        """Return 1 in the units of the gains.

        If that underflows, the smallest positive number is returned; the value is then too large to represent.
        """
        exponent = self.exponent(batch)
        if exponent is None:
            return batch.constant(1.0)
        return batch.xp.clip(units(batch, exponent), min=float(batch.xp.finfo(batch.grade.dtype).smallest_normal))[:, 0]


class nDCG(Discounted):  # noqa: N801 - the field's name
    """Normalised discounted cumulative gain: DCG divided by the DCG of the ideal ranking.

        nDCG@k = DCG@k / (DCG@k of the pool sorted by gain)

    Gain and discount are those of DCG; the gain is linear by default, as in trec_eval.

    Ties: each document of a tie group gets the mean of 1/D over the group's places. No relevant document: 0.
    Reference: Järvelin and Kekäläinen (2002); ties: McSherry and Najork (2008).

    >>> from gradely import from_arrays, nDCG
    >>> nDCG(discount="zipf")(from_arrays([0.9, 0.5, 0.1], [0, 2, 3])).tolist() == [(2 / 2 + 3 / 3) / (3 + 2 / 2)]
    True
    """

    name = "nDCG"
    expectation = expect_share_of_ideal

    def norm(self, batch: Batch) -> Array:
        """Return the DCG of the ideal ranking."""
        return batch.of_pools((nDCG, self.key), self._ideal_sum)

    def ideal_of(self, batch: Batch, gains: Gains, counts: Array) -> Array:
        """Return [S]: the ideal DCG of S pools, given their numbers of documents with each gain, [S, G]."""
        xp = batch.xp
        inverse = 1 / discount_of(self.discount)(batch, batch.count_up(int(xp.max(xp.sum(counts, axis=1)))))
        upto = xp.cumulative_sum(inverse, include_initial=True)
        last = xp.flip(xp.cumulative_sum(xp.flip(counts, axis=1), axis=1), axis=1)
        return xp.sum(gains.gain * (upto[last] - upto[last - counts]), axis=1)

    def _ideal_sum(self, batch: Batch) -> Array:
        xp = batch.xp
        if batch.by_place and has_short_rows(batch.grade):
            return by_place.best_sum(batch, self.retrieved_gains(batch), discount_of(self.discount), self.k)
        gains = self.ideal(batch)
        gains = gains if self.k is None else gains[:, : min(self.k, gains.shape[1])]
        rank = xp.arange(1, gains.shape[1] + 1, dtype=gains.dtype, device=batch.device)
        return sum_rows(gains / discount_of(self.discount)(batch, rank)[None, :])


class NDCNG(nDCG):
    """nDCG with labels divided by the query's highest label, which makes it independent of the number of levels.

        NDCNG@k = nDCG@k with gain 2^(g/m) - 1

    m is the highest label of the query's pool, or the top of the scale if you give it: `relevance=max(4)`. If the label
    of documents that are not relevant is 1 instead of 0, as with stars, `relevance=shift(1)` shifts the scale first.

    Ties: each document of a tie group gets the mean of 1/D over the group's places. No relevant document: 0.
    Reference: Scheel, Lommatzsch, Albayrak, Performance Measures for Multi-Graded Relevance (2011), eq. 5.

    >>> from gradely import NDCNG, from_arrays
    >>> batch = from_arrays([0.9, 0.5, 0.1], [1, 0, 2])
    >>> NDCNG(discount="zipf")(batch).tolist() == [(2**0.5 - 1 + 1 / 3) / (1 + (2**0.5 - 1) / 2)]
    True
    """

    name = "NDCNG"
    expectation = expect_share_of_ideal
    gain: str | Mapping[float, float] | LabelTable = gain_parameter("exp")
    relevance: RelevanceLike | None = parameter(
        default=Max(),
        doc="how labels become relevance: 'max', max(4) for a given scale, or shift(1), which shifts them first",
    )


class nDCGphi(nDCG):  # noqa: N801 - the paper's name
    """nDCG with relevance φ, which measures how far a label stands out from the pool of its query.

        nDCGφ@k = nDCG@k with gain 2^φ(y) - 1

    φ is the monotone curve through (minimum, 0), (median, 0), (maximum, 1) and, if the maximum exceeds
    w = Q3 + 1.5·IQR, through (w, 1 - (maximum - w)/(maximum - minimum)). `relevance=phi('code')` uses the control
    points of the authors' code, and `relevance=phi([(0, 0), (10, 1)])` your own.

    Ties: each document of a tie group gets the mean of 1/D over the group's places. All scores equal: 0.
    Reference: Moniz, Torgo, Vinagre, Data-Driven Relevance Judgments for Ranking Evaluation (2016).

    >>> from gradely import from_arrays, nDCGphi
    >>> nDCGphi(discount="zipf")(from_arrays([0.9, 0.5, 0.1], [1, 3, 2])).tolist() == [1 / 2]
    True
    """

    name = "nDCGphi"
    gain: str | Mapping[float, float] | LabelTable = gain_parameter("exp")
    relevance: RelevanceLike | None = parameter(
        default=Phi(), doc="the curve: 'phi', phi('code') or phi([(score, relevance), …])"
    )


def expect_scaled_gains(measure: "SDCG", batch: UncertainBatch) -> Expected:
    """A document contributes its mean relevance over its discount; the norm does not depend on labels."""
    gain = batch.mean(measure.relevance_of_labels(batch).grade[0, :] / float(measure.top or 1))
    return Expected(gain, additive(batch.places, gain, log2, measure.k), measure.norm(batch.places))


MOST_ADDED = 10_000_000
"""the largest cut-off of SDCG, whose norm takes memory for every rank"""


class SDCG(ScaleBased):
    """Discounted relevance, divided by that of a ranking with the highest relevance at every rank from 1 to k.

        SDCG@k = Σ_{i<=k} (g_i / top) / log2(i+1)  /  Σ_{i<=k} 1 / log2(i+1)

    Unlike nDCG, it always divides by k full ranks, even if fewer documents are retrieved or relevant. Without k, the
    length of the ranking is used.

    Ties: each document of a tie group gets the mean of 1/log2(i+1) over the group's places. No relevant document: 0.
    Reference: SDCG in ir_measures and cwl_eval; Moffat, Bailey, Scholer, Thomas, Incorporating user expectations and
    behavior into the measurement of search effectiveness (2017).

    >>> from math import log2
    >>> from gradely import SDCG, from_arrays
    >>> SDCG(k=2)(from_arrays([0.9, 0.5, 0.1], [1, 2, 0])).tolist() == [(1 / 2 + 1 / log2(3)) / (1 + 1 / log2(3))]
    True
    """

    name = "SDCG"
    expectation = expect_scaled_gains

    def check_parameters(self) -> None:
        """Raise MeasureError also for a cut-off with more ranks than the norm can add up."""
        super().check_parameters()
        if self.k is not None and self.k > MOST_ADDED:
            raise MeasureError(f"{self.name} adds up all ranks to the cut-off, at most {MOST_ADDED:,}; found {self.k}")

    def terms(self, batch: Batch) -> Array:
        """Return relevance over the top of the scale, over the discount."""
        return additive(batch, batch.grade / float(self.top or 1), log2, self.k)

    def norm(self, batch: Batch) -> Array:
        """Return the sum of 1/discount over all ranks."""
        xp = batch.xp
        last = batch.retrieved if self.k is None else xp.full_like(batch.retrieved, self.k)
        most = batch.depth if batch.fixed else int(xp.max(last))
        most = most if self.k is None else self.k
        ranks = xp.arange(1, most + 1, dtype=batch.grade.dtype, device=batch.device)
        high, low = sum_in_parts(batch, 1.0 / log2(batch, ranks))
        return high[last] + low[last]
