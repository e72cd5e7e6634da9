"""Rank-biased precision, RBP, whose user goes on with a constant probability, and RBPresidual."""

from gradely.kernel.batch import Array, Batch
from gradely.kernel.families import additive
from gradely.kernel.gains import inverse_power
from gradely.kernel.parameters import CHANCE_TO_GO_ON, parameter
from gradely.kernel.uncertain import UncertainBatch
from gradely.measures.base import BinaryOrGraded, Expected, Measure, ScaleBased
from gradely.measures.precision import has_label


class Persistent(Measure):
    """A measure whose user goes on to the next document with the same probability at each rank."""

    p: float = parameter(
        default=0.8, doc="persistence: the probability of going on to the next document", check=CHANCE_TO_GO_ON
    )

    def patience(self, batch: Batch, rank: Array) -> Array:
        """Return 1 / ((1-p) p^(rank-1)), capped where p^(rank-1) would underflow."""
        return inverse_power(batch, self.p, rank - 1) / (1 - self.p)


def expect_persistence(measure: "RBP", batch: UncertainBatch) -> Expected:
    """A document contributes the probability that the user looks at it, times its mean relevance."""
    gain = batch.mean(measure.worth(measure.relevance_of_labels(batch))[0, :])
    return Expected(gain, additive(batch.places, gain, measure.patience, measure.k))


class RBP(BinaryOrGraded, ScaleBased, Persistent):
    """Rank-biased precision, for a user who goes on to the next document with probability p.

        RBP(p) = (1-p) Σ_i p^(i-1) · rel_i

    rel_i is 1 for labels of at least `rel`, else 0. With `relevance`, the measure is graded: rel_i is relevance over
    the top of the scale.

    Ties: each document of a tie group gets the mean of p^(i-1) over the group's places. No relevant document: 0.
    Reference: Moffat and Zobel, Rank-biased precision for measurement of retrieval effectiveness (2008).

    >>> from gradely import RBP, from_arrays
    >>> RBP(p=0.5)(from_arrays([0.9, 0.5, 0.1], [1, 0, 1])).tolist() == [(1 - 0.5) * (1 + 0.5**2)]
    True
    """

    name = "RBP"
    expectation = expect_persistence

    def terms(self, batch: Batch) -> Array:
        """Return the probability that the user looks at each document, times its relevance."""
        return additive(batch, self.worth(batch), self.patience, self.k)

    def factors(self, batch: Batch) -> tuple[Array, Array]:
        """Return the relevance, and the probability that the user looks at each document."""
        worth = self.worth(batch)
        return worth, additive(batch, batch.xp.ones_like(worth), self.patience, self.k)


def expect_residual(measure: "RBPresidual", batch: UncertainBatch) -> Expected:
    """A document is judged with the probability that its label is at least 0."""
    judged = batch.mean(has_label(batch.by_label)[0, :])
    return Expected(
        judged, -additive(batch.places, judged, measure.patience, measure.k), None, measure.start(batch.places)
    )


class RBPresidual(Persistent):
    """How much RBP could still rise if every unjudged document were relevant.

        RBPresidual(p)@k = (1-p) (Σ over ranks i <= k without a label of p^(i-1)) + p^min(k, N)

    N is the length of the ranking, and the last term stands for the documents after it. A negative label counts as
    unjudged, as in Unjudged. Like Unjudged, it is a diagnostic: RBP with the same p is a lower bound, and RBPresidual
    says how far it may be below the true value.

    Ties: 1 minus the mean of (1-p)·p^(i-1) over the places of each judged document. No document judged: 1.
    Reference: Moffat and Zobel (2008). rbp_resid of trec_eval has p = 0.9, and omits the documents after the ranking
    if all retrieved documents are judged.

    >>> import gradely
    >>> value = gradely.evaluate({"q": {"a": 1, "b": 0}}, {"q": ["a", "x", "b"]}, ["RBPresidual(p=0.5)"]).values.item()
    >>> value == (1 - 0.5) * 0.5 + 0.5**3
    True
    """

    name = "RBPresidual"
    expectation = expect_residual

    def start(self, batch: Batch) -> Array:
        """Return the maximum of RBP."""
        return batch.constant(1.0)

    def terms(self, batch: Batch) -> Array:
        """Return minus the probability that the user looks at each judged document."""
        return -additive(batch, batch.to_real(has_label(batch)), self.patience, self.k)

    def priority(self, batch: Batch) -> Array:
        """Rank unjudged documents before judged ones."""
        return -batch.to_real(has_label(batch))

    def degenerate(self, batch: Batch) -> Array:
        """Return false: the measure is meaningful for every ranking."""
        return batch.xp.zeros_like(batch.pooled[:, 0])
