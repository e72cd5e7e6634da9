"""Average precision, binary: AP, and infAP of judgments that are a sample."""

from gradely.kernel.batch import Array, Batch
from gradely.kernel.families import threshold
from gradely.kernel.tie_groups import before
from gradely.measures.base import Binary

EPSILON = 0.00001
"""trec_eval's, which keeps the estimate of an empty sample defined"""


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


class infAP(Binary):  # noqa: N801 - the field's name
    """Average precision, estimated from judgments of a random part of the pool.

        infAP = (1/RB) Σ over relevant ranks i of 1/i + (i-1)/i · |pool|/(i-1) · (r + ε)/(r + n + 2ε)

    r and n are the relevant and other judged documents above, |pool| those and the ones in the pool that were not
    judged (a negative label); ε = 0.00001. Documents outside the pool count as not relevant. With all of the pool
    judged it is nearly AP.

    Ties: the mean over orders has no closed form; ties='expected' is refused, other policies work. Best and worst put
    relevant documents first or last, which may miss the extreme by about ε. No relevant document: 0.
    Reference: Yilmaz and Aslam, Estimating average precision with incomplete and imperfect judgments (2006).

    >>> from gradely import from_arrays, infAP
    >>> value = infAP()(from_arrays([3, 2, 1], [1, -1, 1])).item()
    >>> value == (1 + 1 / 3 + 2 / 3 * 2 / 2 * (1 + 0.00001) / (1 + 0.00002)) / 2
    True
    """

    name = "infAP"
    takes_expected = False

    def terms(self, batch: Batch) -> Array:
        """The estimated precision at each relevant document."""
        xp, relevant = batch.xp, self.relevant(batch)
        above = batch.number(batch.above)
        r = before(batch, batch.number(relevant))
        judged = before(batch, batch.number(batch.judged & (batch.grade >= 0)))
        pool = before(batch, batch.number(batch.judged))
        estimate = (above / (above + 1)) * (pool / xp.clip(above, min=1.0)) * ((r + EPSILON) / (judged + 2 * EPSILON))
        counts = relevant if self.k is None else relevant & (batch.above < self.k)
        return xp.where(counts, 1.0 / (above + 1) + estimate, 0.0)

    def norm(self, batch: Batch) -> Array:
        """The relevant documents."""
        return self.recall_base(batch)
