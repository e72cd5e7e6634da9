"""Measures that model a user who stops at the first satisfying document: ERR, nERR, iRBU."""

from collections.abc import Mapping
from typing import Self

from gradely.errors import MeasureError
from gradely.kernel.backend import sum_rows
from gradely.kernel.batch import Array, Batch
from gradely.kernel.families import cascade, rank_discount
from gradely.kernel.gains import LabelTable, exp, exponents, inverse_power, units
from gradely.kernel.parameters import BETWEEN_0_AND_1, number, parameter
from gradely.kernel.uncertain import UncertainBatch
from gradely.measures.base import Expected, ScaleBased
from gradely.measures.dcg import GainBased, gain_parameter
from gradely.relevance import Levels


class Satisfied(ScaleBased, GainBased):
    """A measure whose user stops at a document with a probability that grows with its gain."""

    takes_fixed = False
    gain: str | Mapping[float, float] | LabelTable = gain_parameter("exp")

    def check_parameters(self) -> None:
        """Raise MeasureError if both a top and a table of gains, which has its own top, are given."""
        super().check_parameters()
        if isinstance(self.gain, LabelTable) and self.top is not None:
            raise MeasureError(f"{self.name}: the top of a table of gains is its highest gain; leave top out")

    def fit(self, levels: Levels) -> Self:
        """Take the top from the table of gains if there is one, else from the scale."""
        return GainBased.fit(self, levels) if isinstance(self.gain, LabelTable) else super().fit(levels)

    def stop(self, batch: Batch) -> Array:
        """Return [Q, H]: the probability that the document satisfies the user."""
        return self._chance(batch, batch.judged, batch.grade)

    def ideal_stop(self, batch: Batch) -> Array:
        """Return [Q, B]: the probabilities of satisfaction in the pool, best first."""
        chance = self._chance(batch, batch.pooled, batch.pool)
        return -batch.xp.sort(-chance, axis=1) if isinstance(self.gain, LabelTable) else chance

    def _chance(self, batch: Batch, real: Array, relevance: Array) -> Array:
        """Return G(g) / (G(top) + 1), for `exp` (2^g - 1) / 2^top."""
        if isinstance(self.gain, LabelTable):
            return batch.xp.where(real, self.gain(batch, relevance), 0.0) / (float(self.gain.top) + 1)
        if self.gain == "linear":
            return relevance / (float(self.top or 1) + 1)
        top = batch.xp.full_like(relevance[:, :1], float(self.top or 1))
        exponent = exponents(batch, top)
        return exp(batch, relevance, exponent) / units(batch, -top if exponent is None else exponent - top)

    def priority(self, batch: Batch) -> Array:
        """Rank documents by the probability that they satisfy the user."""
        return self.stop(batch)


def mean_stop(measure: Satisfied, batch: UncertainBatch) -> Array:
    """Return [Q, H]: the mean over labels of the probability that each document satisfies the user."""
    return batch.mean(measure.stop(measure.relevance_of_labels(batch))[0, :])


def expect_reciprocal_rank(measure: "ERR", batch: UncertainBatch) -> Expected:
    """The user stops at each document with the mean probability over its labels."""
    stop = mean_stop(measure, batch)
    return Expected(stop, cascade(batch.places, stop, rank_discount, measure.k))


class ERR(Satisfied):
    """Expected reciprocal rank of the document that satisfies the user, who then stops.

        ERR@k = Σ_{i<=k} (1/i) · p_i · Π_{j<i} (1 - p_j),  p = G(g) / (G(top) + 1)

    p is the probability that a document of grade g satisfies the user, and top is the highest grade of the scale. The
    gain G of g is 2^g - 1 (`exp`, then p = (2^g - 1)/2^top), g itself (`linear`, then p = g/(top + 1)), or taken from a
    table {label: gain}, whose highest gain is G(top).

    Ties: let E_x be the mean of Π (1-p) over all sets of x documents of a tie group. If the group follows t documents
    and is reached with probability P, it contributes P·Σ_x (E_{x-1} - E_x)/(t+x). No relevant document: 0.
    Reference: Chapelle, Metzler, Zhang, Grinspan, Expected reciprocal rank for graded relevance (2009); `linear` as in
    NTCIREVAL.

    >>> from gradely import ERR, from_arrays
    >>> ERR()(from_arrays([0.9, 0.5, 0.1], [1, 0, 1])).tolist() == [1 / 2 + (1 / 3) * (1 / 2) * (1 - 1 / 2)]
    True
    """

    name = "ERR"
    expectation = expect_reciprocal_rank

    def terms(self, batch: Batch) -> Array:
        """Return 1/rank times the probability of stopping there."""
        return cascade(batch, self.stop(batch), rank_discount, self.k)


class nERR(ERR):  # noqa: N801 - the field's name
    """Normalised expected reciprocal rank: ERR divided by the ERR of the ideal ranking.

        nERR@k = ERR@k / (ERR@k of the pool sorted by gain)

    Gain and top are those of ERR.

    Ties: as for ERR, divided by a constant. No relevant document: 0.
    Reference: Chapelle, Metzler, Zhang, Grinspan (2009), normalised as in the Web tracks of TREC and in NTCIREVAL.

    >>> from gradely import from_arrays, nERR
    >>> value = (1 / 2 + (1 / 3) * (1 / 2) * (1 - 1 / 2)) / (1 / 2 + (1 / 2) * (1 / 2) * (1 - 1 / 2))
    >>> nERR()(from_arrays([0.9, 0.5, 0.1], [1, 0, 1])).tolist() == [value]
    True
    """

    name = "nERR"

    def norm(self, batch: Batch) -> Array:
        """Return the ERR of the ideal ranking."""
        return batch.of_pools((nERR, self.key), self._ideal_sum)

    def _ideal_sum(self, batch: Batch) -> Array:
        stop = self.ideal_stop(batch)
        stop = stop if self.k is None else stop[:, : self.k]
        reach = batch.xp.cumulative_prod(1.0 - stop, axis=1, include_initial=True)[:, :-1]
        return sum_rows(reach * stop / batch.count_up(int(stop.shape[1])))


def expect_patience(measure: "iRBU", batch: UncertainBatch) -> Expected:
    """The user stops at each document with the mean probability over its labels."""
    stop = mean_stop(measure, batch)
    return Expected(stop, cascade(batch.places, stop, measure.patience, measure.k))


class iRBU(Satisfied):  # noqa: N801 - the field's name
    """Intentwise rank-biased utility: the value of the document that satisfies the user, which decreases with its rank.

        iRBU@k = Σ_{i<=k} p^i · p_i · Π_{j<i} (1 - p_j)

    p is the patience, and p_i the probability that the document at rank i satisfies the user, as in ERR. It is not
    normalised: if the first document satisfies with certainty, the value is p.

    Ties: as for ERR, with p^(t+x) instead of 1/(t+x). No relevant document: 0.
    Reference: Sakai and Zeng, Which diversity evaluation measures are "good"? (2019).

    >>> from gradely import from_arrays, iRBU
    >>> iRBU(p=0.5)(from_arrays([0.9, 0.5, 0.1], [1, 0, 1])).tolist() == [0.5 / 2 + 0.5**3 * (1 / 2) * (1 - 1 / 2)]
    True
    """

    name = "iRBU"
    expectation = expect_patience
    p: float = parameter(
        default=0.99,
        doc="patience: the factor by which the value of a satisfying document decreases with every rank",
        check=number("the patience", BETWEEN_0_AND_1),
    )

    def terms(self, batch: Batch) -> Array:
        """Return the patience left at each rank, times the probability of stopping there."""
        return cascade(batch, self.stop(batch), self.patience, self.k)

    def patience(self, batch: Batch, rank: Array) -> Array:
        """Return 1 / p^rank, capped where p^rank would underflow."""
        return inverse_power(batch, self.p, rank)
