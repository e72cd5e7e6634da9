"""Measures of the first relevant document: its reciprocal rank, RR, and whether it is in the top k, Success."""

from gradely.kernel.batch import Array, Batch
from gradely.kernel.families import cascade, first_hit, no_discount, rank_discount
from gradely.kernel.uncertain import UncertainBatch
from gradely.measures.base import Binary, Expected


def expect_first(measure: "RR | Success", batch: UncertainBatch) -> Expected:
    """The user stops at each document with the probability that it is relevant."""
    chance = measure.chances(batch).chance
    return Expected(chance, cascade(batch.places, chance, measure.discount, measure.k))


class RR(Binary):
    """Reciprocal rank of the first relevant document.

        RR@k = 1 / (rank of the first relevant document)

    It is 0 if that document is not in the top k. Its mean is MRR.

    Ties: for the first tie group with r relevant among n documents, after t others, the mean is
    Σ_x P(x)/(t+x) with P(x) = Π_{j<x} (1 - r/(n-j+1)) · r/(n-x+1). No relevant document: 0.
    Reference: McSherry and Najork (2008), whose printed sum uses Π alone, but whose text and enumeration give P.

    >>> from gradely import RR, from_arrays
    >>> RR()(from_arrays([0.9, 0.5, 0.5], [0, 1, 0])).tolist() == [(1 / 2 + 1 / 3) / 2]
    True
    """

    name = "RR"
    expectation = expect_first
    discount = staticmethod(rank_discount)

    def terms(self, batch: Batch) -> Array:
        """Return 1/rank at the first relevant document."""
        return first_hit(batch, self.relevant(batch), self.discount, self.k)


class Success(Binary):
    """Whether there is a relevant document in the top k.

        Success@k = 1 if the top k contain a relevant document, else 0

    Also known as hit rate.

    Ties: the probability of a relevant document in the top k. It is 1 - C(n-r, b)/C(n, b) if b of the n documents of
    a tie group with r relevant ones fit into the top k. No relevant document: 0.
    Reference: McSherry and Najork (2008), by the same argument as their RR.

    >>> from gradely import Success, from_arrays
    >>> Success(k=1)(from_arrays([0.5, 0.5, 0.5], [1, 1, 0])).tolist() == [2 / 3]
    True
    """

    name = "Success"
    expectation = expect_first
    discount = staticmethod(no_discount)

    def terms(self, batch: Batch) -> Array:
        """Return 1 at the first relevant document."""
        return first_hit(batch, self.relevant(batch), self.discount, self.k)
