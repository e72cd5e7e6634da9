"""Measures of a user who stops: at the first relevant document (RR, Success), or by chance (RBP, RBPresidual)."""

from math import log

from gradely.kernel.batch import Array, Batch
from gradely.kernel.families import additive, cascade, first_hit, no_discount, rank_discount
from gradely.kernel.parameters import BETWEEN_0_AND_1, number, parameter
from gradely.kernel.uncertain import UncertainBatch
from gradely.measures.base import Binary, BinaryOrGraded, Expected, Measure, ScaleBased
from gradely.measures.precision import has_label


def expect_first(measure: "RR | Success", batch: UncertainBatch) -> Expected:
    """A user who stops at each document with the chance that it is relevant."""
    chance = measure.chances(batch).chance
    return Expected(chance, cascade(batch.places, chance, measure.discount, measure.k))


class RR(Binary):
    """Reciprocal rank of the first relevant document.

        RR@k = 1 / (rank of the first relevant document)

    It is 0 where that document is not in the top k. Its mean is MRR.

    Ties: in the first tie group with r relevant among n documents after t others, the mean is
    Σ_x P(x)/(t+x) with P(x) = Π_{j<x} (1 - r/(n-j+1)) · r/(n-x+1). No relevant document: 0.
    Reference: McSherry and Najork (2008); their printed sum uses Π alone, their text and enumeration give P.

    >>> from gradely import RR, from_arrays
    >>> RR()(from_arrays([0.9, 0.5, 0.5], [0, 1, 0])).tolist() == [(1 / 2 + 1 / 3) / 2]
    True
    """

    name = "RR"
    expectation = expect_first
    discount = staticmethod(rank_discount)

    def terms(self, batch: Batch) -> Array:
        """1/rank at the first relevant document."""
        return first_hit(batch, self.relevant(batch), self.discount, self.k)


class Success(Binary):
    """Whether there is a relevant document in the top k.

        Success@k = 1 if the top k hold a relevant document, else 0

    Also known as hit rate.

    Ties: the chance that one is inside, 1 - C(n-r, b)/C(n, b) where k leaves b places of a tie group of n with r
    relevant. No relevant document: 0.
    Reference: McSherry and Najork (2008), by the same argument as their RR.

    >>> from gradely import Success, from_arrays
    >>> Success(k=1)(from_arrays([0.5, 0.5, 0.5], [1, 1, 0])).tolist() == [2 / 3]
    True
    """

    name = "Success"
    expectation = expect_first
    discount = staticmethod(no_discount)

    def terms(self, batch: Batch) -> Array:
        """1 at the first relevant document."""
        return first_hit(batch, self.relevant(batch), self.discount, self.k)


CHANCE_TO_GO_ON = number("the chance to go on", BETWEEN_0_AND_1)


class Persistent(Measure):
    """A measure of a user who goes on to the next document with the same chance everywhere."""

    p: float = parameter(
        default=0.8, doc="persistence: the chance to go on to the next document", check=CHANCE_TO_GO_ON
    )

    def patience(self, batch: Batch, rank: Array) -> Array:
        """1 / ((1-p) p^(rank-1)), held where p^(rank-1) would leave the range of numbers."""
        steps = batch.xp.clip(rank - 1, max=-690 / log(self.p))
        return batch.xp.pow(batch.xp.full_like(rank, self.p), -steps) / (1 - self.p)


def expect_persistence(measure: "RBP", batch: UncertainBatch) -> Expected:
    """The chance to look at each document, times its mean relevance."""
    gain = batch.mean(measure.worth(measure.relevance_of_labels(batch))[0, :])
    return Expected(gain, additive(batch.places, gain, measure.patience, measure.k))


class RBP(BinaryOrGraded, ScaleBased, Persistent):
    """Rank-biased precision, for a user who goes on to the next document with chance p.

        RBP(p) = (1-p) Σ_i p^(i-1) · rel_i

    rel_i is 1 for labels of at least `rel`, else 0. Stating `relevance` makes it graded: relevance over the top of the
    scale in place of rel_i.

    Ties: each document of a tie group gets the mean of p^(i-1) over the group's places. No relevant document: 0.
    Reference: Moffat and Zobel, Rank-biased precision for measurement of retrieval effectiveness (2008).

    >>> from gradely import RBP, from_arrays
    >>> RBP(p=0.5)(from_arrays([0.9, 0.5, 0.1], [1, 0, 1])).tolist() == [(1 - 0.5) * (1 + 0.5**2)]
    True
    """

    name = "RBP"
    expectation = expect_persistence

    def terms(self, batch: Batch) -> Array:
        """The chance to look at each document, times its relevance."""
        return additive(batch, self.worth(batch), self.patience, self.k)

    def factors(self, batch: Batch) -> tuple[Array, Array]:
        """The relevance, and the chance to look at each document."""
        worth = self.worth(batch)
        return worth, additive(batch, batch.xp.ones_like(worth), self.patience, self.k)


def expect_residual(measure: "RBPresidual", batch: UncertainBatch) -> Expected:
    """A document is judged with the chance that its label is not negative."""
    judged = batch.mean(has_label(batch.by_label)[0, :])
    return Expected(
        judged, -additive(batch.places, judged, measure.patience, measure.k), None, measure.start(batch.places)
    )


class RBPresidual(Persistent):
    """How much RBP could still rise if every unjudged document were relevant.

        RBPresidual(p)@k = (1-p) Σ over ranks i <= k without a label of p^(i-1), and p^min(k, N) for what comes after

    N is the length of the ranking. A negative label counts as unjudged, as in Unjudged. Like Unjudged it is a
    diagnostic: it says how far the value of RBP with the same p, which is a lower bound, may be off.

    Ties: 1 less the mean of (1-p)·p^(i-1) over the places of each judged document. No document judged: 1.
    Reference: Moffat and Zobel (2008). rbp_resid of trec_eval has p = 0.9, and forgets what comes after the ranking
    where all of it is judged.

    >>> import gradely
    >>> value = gradely.evaluate({"q": {"a": 1, "b": 0}}, {"q": ["a", "x", "b"]}, ["RBPresidual(p=0.5)"]).values.item()
    >>> value == (1 - 0.5) * 0.5 + 0.5**3
    True
    """

    name = "RBPresidual"
    expectation = expect_residual

    def start(self, batch: Batch) -> Array:
        """All that RBP can be."""
        return batch.constant(1.0)

    def terms(self, batch: Batch) -> Array:
        """What each judged document takes from that: the chance to look at it."""
        return -additive(batch, batch.to_real(has_label(batch)), self.patience, self.k)

    def priority(self, batch: Batch) -> Array:
        """Unjudged documents before judged ones."""
        return -batch.to_real(has_label(batch))

    def degenerate(self, batch: Batch) -> Array:
        """Never: it says something of every ranking."""
        return batch.xp.zeros_like(batch.pooled[:, 0])
