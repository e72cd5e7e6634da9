"""bpref: preference of relevant over non-relevant documents, both judged."""

from gradely.kernel.batch import Array, Batch
from gradely.kernel.families import Opposition, preference
from gradely.kernel.tie_groups import sum_before, sum_in_group
from gradely.measures.binary import Binary


class bpref(Binary):  # noqa: N801 - the field's name
    """How rarely judged non-relevant documents stand above relevant ones; unjudged documents do not matter.

        bpref = (1/RB) Σ over retrieved relevant documents of 1 - min(a, RB) / min(RB, NR)

    a is the number of judged non-relevant documents above it, NR that of the pool; RB is the number of relevant
    documents of the pool. A negative label counts as unjudged, as in trec_eval.

    Ties: with n' judged non-relevant documents in its tie group, a is uniform on a … a+n'. No relevant document: 0.
    Reference: Buckley and Voorhees, Retrieval evaluation with incomplete information (2004), as in trec_eval.

    >>> from gradely import bpref, from_arrays
    >>> bpref()(from_arrays([4, 3, 2, 1], [1, 0, 1, 0])).tolist() == [(1 + (1 - 1 / 2)) / 2]
    True
    """

    name = "bpref"

    def is_opposed(self, real: Array, labels: Array) -> Array:
        """True for judged non-relevant documents."""
        return real & (labels >= 0) & (labels < self.rel)

    def terms(self, batch: Batch) -> Array:
        """1 less the share of preferences that are wrong."""
        xp = batch.xp
        base = self.recall_base(batch)[:, None]
        opposed = xp.sum(batch.to_real(self.is_opposed(batch.pooled, batch.pool)), axis=1, keepdims=True)
        norm = xp.clip(xp.minimum(base, opposed), min=1.0)

        def credit(y: Array, over: Array) -> Array:
            """Σ over u < y of 1 - min(over + u, RB)/norm, an arithmetic series."""
            rising = xp.minimum(xp.maximum(base - over, xp.zeros_like(over)), y)
            return y - (rising * over + rising * (rising - 1) / 2 + (y - rising) * base) / norm

        x = batch.to_real(self.is_opposed(batch.judged, batch.grade))
        against = Opposition(sum_before(batch, x), sum_in_group(batch, x) + 1)
        return preference(batch, self.relevant(batch), against, credit, self.k)

    def norm(self, batch: Batch) -> Array:
        """The relevant documents."""
        return self.recall_base(batch)

    def priority(self, batch: Batch) -> Array:
        """Relevant documents, then unjudged, then judged non-relevant ones."""
        return batch.to_real(self.relevant(batch)) - batch.to_real(self.is_opposed(batch.judged, batch.grade))
