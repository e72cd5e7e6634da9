"""Average precision, binary."""

from gradely.kernel.batch import Array, Batch
from gradely.kernel.families import threshold
from gradely.measures.base import Binary


class AP(Binary):
    """Average precision: the mean of the precision at each relevant document.

        AP@k = (Σ over relevant ranks i <= k of P@i) / RB

    RB is the number of relevant documents of the pool. Its mean is MAP.

    Ties: for r relevant among the n documents of a tie group after t others, R of them relevant, the group adds
    r/n · [(R+1)·H + (r-1)/(n-1)·G], H = Σ 1/i and G = Σ (i-t-1)/i over its places i <= k. No relevant document: 0.
    Reference: McSherry and Najork (2008); the closed form is ours.

    >>> from gradely import AP, from_arrays
    >>> AP()(from_arrays([0.9, 0.5, 0.1], [1, 0, 1])).tolist() == [(1 / 1 + 2 / 3) / 2]
    True
    """

    name = "AP"

    def terms(self, batch: Batch) -> Array:
        """The precision at each relevant document."""
        return threshold(batch, self.relevant(batch), self.k)

    def norm(self, batch: Batch) -> Array:
        """The relevant documents."""
        return self.recall_base(batch)
