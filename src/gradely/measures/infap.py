"""Inferred average precision, of judgments that are a sample."""

from gradely.kernel.batch import Array, Batch
from gradely.kernel.tie_groups import before
from gradely.measures.base import Binary

EPSILON = 0.00001


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
