"""Measures of the blended ratio, which counts relevant documents and their gain at once: Q."""

from math import inf
from typing import NamedTuple

from gradely.errors import MeasureError
from gradely.kernel.backend import take_in_rows
from gradely.kernel.batch import Array, Batch
from gradely.kernel.families import Places, threshold
from gradely.kernel.gains import headroom, units
from gradely.kernel.parameters import is_number, parameter, to_python
from gradely.kernel.series import inverse_sums
from gradely.kernel.ties import Sums, group_places, sum_in_parts
from gradely.measures.dcg import GainBased


class Blend(NamedTuple):
    """The blended ratio of an ideal ranking: at rank i what is found there is divided by D_i = count·i + cg*_i."""

    count: Array
    """[Q, 1] what a document counts beside its gain: 1 in the units of the gains, or 0"""
    last: Array
    """[Q, 1] how many documents have a gain: the end of the ideal ranking"""
    gain: Array
    """[Q, B + 1] cg*_i, the gain that an ideal ranking has by rank i, from 0 on; behind its end it stays the same"""
    weights: Sums
    """[Q, B + 1] the sums of 1/D_i over the first 0, 1, … ranks"""
    offsets: Sums
    """[Q, B + 1] the same of (i-1)/D_i"""

    @classmethod
    def of(cls, batch: Batch, count: Array, ideal: Array) -> "Blend":
        """Sum up an ideal ranking, [Q, B]."""
        xp = batch.xp
        ranks = batch.count_up(int(ideal.shape[1]))
        gain = xp.cumulative_sum(ideal, axis=1, include_initial=True)
        divisor = count * ranks + gain[:, 1:]
        weight = xp.where(divisor > 0, 1.0 / xp.where(divisor > 0, divisor, 1.0), 0.0)
        last = xp.sum(xp.astype(ideal > 0, batch.above.dtype), axis=1, keepdims=True, dtype=batch.above.dtype)
        return cls(count, last, gain, sum_in_parts(batch, weight), sum_in_parts(batch, (ranks - 1) * weight))

    def divisor(self, batch: Batch, rank: Array) -> Array:
        """Return D_i at some ranks, [Q, H]."""
        at = batch.xp.clip(rank, max=self.gain.shape[1] - 1)
        divisor = self.count * batch.to_real(rank) + take_in_rows(self.gain, at)
        return batch.xp.where(divisor > 0, divisor, 1.0)

    def over_places(self, batch: Batch, k: int | None) -> Places:
        """Return the sums of 1/D_i over the places of each document's tie group."""
        xp, last = batch.xp, self.last
        start, stop = group_places(batch, k)
        first, end = xp.minimum(start, last), xp.minimum(stop, last)
        weight, offset = (_between(sums, first, end) for sums in (self.weights, self.offsets))
        offset = offset - batch.to_real(batch.above) * weight
        tail = xp.maximum(start, last)
        many, before = batch.to_real(xp.maximum(stop, last) - tail), batch.to_real(tail - batch.above)
        behind = self._behind(batch, tail, many)
        return Places(weight + behind.weight, offset + behind.offset + before * behind.weight)

    def _behind(self, batch: Batch, start: Array, many: Array) -> Places:
        """Return the same for some places behind the end of the ideal ranking, where D_i grows by `count` each."""
        xp = batch.xp
        counts = self.count > 0
        ratio = self.gain[:, -1:] / xp.where(counts, self.count, 1.0)
        most = 2.0 ** (headroom(batch) / 2)  # where D_i hardly grows, or not at all
        x = batch.to_real(start) + 1 + xp.where(counts, xp.clip(ratio, max=most), most)
        scale = x / self.divisor(batch, start + 1)
        inverse, offset = inverse_sums(xp, x, many)
        return Places(scale * inverse, scale * offset)


def _between(sums: Sums, start: Array, stop: Array) -> Array:
    """Return the sums over some columns of each row, from two prefix sums."""
    high, low = (take_in_rows(part, stop) - take_in_rows(part, start) for part in sums)
    return high + low


class Blended(GainBased):
    """A measure of blended ratios."""

    beta: float = parameter(
        default=1, doc="how much gain weighs against the number of relevant documents; 0: not at all, inf: alone"
    )

    def check_parameters(self) -> None:
        """Refuse a weight that is not a number of at least 0 or infinite."""
        super().check_parameters()
        if self.beta in ("inf", inf):
            self._set("beta", inf)
        elif not is_number(self.beta) or self.beta < 0:
            raise MeasureError(f"beta is the weight of gain, a number of at least 0 or inf; found {self.beta!r}")
        else:
            self._set("beta", to_python(self.beta))

    def relevant(self, batch: Batch) -> Array:
        """Return [Q, H]: true for documents of positive gain."""
        return self.retrieved_gains(batch) > 0

    def value(self, batch: Batch) -> Array:
        """Return [Q, H]: what each document counts, itself and its gain, weighted."""
        value = self._count(batch) + self._weigh(self.retrieved_gains(batch))
        return batch.xp.where(self.relevant(batch), value, 0.0)

    def blend(self, batch: Batch) -> Blend:
        """Return the blended ratio of the ideal ranking; made once a pool."""
        return batch.of_pools(
            (Blend, self.key), lambda pools: Blend.of(pools, self._count(pools), self._weigh(self.ideal(pools)))
        )

    def ratios(self, batch: Batch) -> Array:
        """Return [Q, H]: the blended ratio at each relevant document."""
        blend = self.blend(batch)
        places = None if batch.untied else blend.over_places(batch, self.k)
        divisor = blend.divisor(batch, batch.above + 1)
        return threshold(batch, self.relevant(batch), self.k, places, value=self.value(batch), divisor=divisor)

    def recall_base(self, batch: Batch) -> Array:
        """Return [Q]: RB, how many documents of the pool are relevant."""
        return batch.of_pools(
            (Blended, self.key), lambda pools: pools.xp.sum(pools.to_real(self.ideal(pools) > 0), axis=1)
        )

    def degenerate(self, batch: Batch) -> Array:
        """No document of positive gain."""
        return self.recall_base(batch) == 0

    def _count(self, batch: Batch) -> Array:
        """Return [Q, 1]: what a document counts beside its gain."""
        exponent = None if self.beta == 0 else self.exponent(batch)
        one = batch.xp.ones_like(batch.pool[:, :1]) if exponent is None else units(batch, exponent)
        return 0.0 * one if self.beta == inf else one

    def _weigh(self, gain: Array) -> Array:
        return gain if self.beta == inf else self.beta * gain


class Q(Blended):
    """Average precision of graded relevance: precision that counts relevant documents and their gain at once.

        Q@k = (1/min(RB, k)) Σ over relevant ranks i <= k of (C_i + β·cg_i) / (i + β·cg*_i)

    C_i is the number of relevant documents down to rank i, cg_i their gain, and cg*_i the gain of the ideal ranking
    down to there. A document is relevant where its gain is above 0; RB is the number of those in the pool. With β = 0
    it is AP, but for the cut-off in the norm; `Q(beta=inf)` is average weighted precision (AWP), cg_i over cg*_i.

    Ties: a document of value v = 1 + β·gain in a tie group of n, with the sum V of values, after documents with the sum
    S, adds 1/n · [(S+v)·H + (V-v)/(n-1)·O], where H = Σ w_i and O = Σ (i-t-1)·w_i over the group's places, and
    w_i = 1/(i + β·cg*_i). No relevant document: 0.
    Reference: Sakai, New performance metrics based on multigrade relevance: their application to question answering
    (2004); as in NTCIREVAL. The closed form is ours.

    >>> from gradely import Q, from_arrays
    >>> Q()(from_arrays([3, 2, 1], [1, 0, 2])).tolist() == [((1 + 1) / (1 + 2) + (2 + 3) / (3 + 3)) / 2]
    True
    """

    name = "Q"

    def terms(self, batch: Batch) -> Array:
        """The blended ratio at each relevant document."""
        return self.ratios(batch)

    def norm(self, batch: Batch) -> Array:
        """The relevant documents that the top k can hold."""
        base = self.recall_base(batch)
        return base if self.k is None else batch.xp.clip(base, max=float(self.k))
