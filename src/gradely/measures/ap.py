"""Average precision, binary: AP, and infAP of judgments that are a sample."""

from collections import Counter

from gradely.kernel.batch import Array, Batch
from gradely.kernel.families import precisions
from gradely.kernel.orders import Adds, Group
from gradely.kernel.tie_groups import sum_around, sum_before, sum_in_group, up_to_column
from gradely.measures.binary import Binary
from gradely.measures.searched_measure import Scene, SearchedMeasure

EPSILON = 0.00001
"""trec_eval's, which keeps the estimate of an empty sample defined"""
RELEVANT, OTHER = 3, 2
"""kinds of judged documents for infAP"""


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
        return precisions(batch, self.relevant(batch), self.k)

    def norm(self, batch: Batch) -> Array:
        """The relevant documents."""
        return self.recall_base(batch)


class infAP(SearchedMeasure, Binary):  # noqa: N801 - the field's name
    """Average precision, estimated from judgments of a random part of the pool.

        infAP = (1/RB) Σ over relevant ranks i of 1/i + (i-1)/i · |pool|/(i-1) · (r + ε)/(r + n + 2ε)

    r and n are the relevant and other judged documents above, |pool| those and the ones in the pool that were not
    judged (a negative label); ε = 0.00001. Documents outside the pool count as not relevant. With all of the pool
    judged it is nearly AP.

    Ties: the mean over orders has no closed form; ties='expected' is refused, other policies work. Best and worst
    are found by an exact search; where a tie group has too many orders, they are bounds that contain every order. No
    relevant document: 0.
    Reference: Yilmaz and Aslam, Estimating average precision with incomplete and imperfect judgments (2006).

    >>> from gradely import from_arrays, infAP
    >>> value = infAP()(from_arrays([3, 2, 1], [1, -1, 1])).item()
    >>> value == (1 + 1 / 3 + 2 / 3 * 2 / 2 * (1 + 0.00001) / (1 + 0.00002)) / 2
    True
    """

    name = "infAP"
    takes_expected = False

    def plain_terms(self, batch: Batch) -> Array:
        """The estimated precision at each relevant document."""
        xp, relevant = batch.xp, self.relevant(batch)
        above = batch.to_real(batch.above)
        r, judged, pool = self._before(batch)
        estimate = (above / (above + 1)) * (pool / xp.clip(above, min=1.0)) * ((r + EPSILON) / (judged + 2 * EPSILON))
        counts = relevant if self.k is None else relevant & (batch.above < self.k)
        return xp.where(counts, 1.0 / (above + 1) + estimate, 0.0)

    def _before(self, batch: Batch) -> tuple[Array, Array, Array]:
        """Return [Q, H]: relevant documents above, all judged ones, all of the pool."""
        judged = batch.judged & (batch.grade >= 0)
        r, judged, pool = (sum_before(batch, flag) for flag in (self.relevant(batch), judged, batch.judged))
        return r, judged, pool

    def norm(self, batch: Batch) -> Array:
        """The relevant documents."""
        return self.recall_base(batch)

    def kinds(self, batch: Batch) -> Array:
        """Relevant documents, other judged ones, and those of the pool that were not judged.

        Documents outside the pool, which have no column, are best last: they only take a place.
        """
        judged = batch.xp.where(batch.grade >= 0, OTHER, batch.xp.ones_like(batch.first))
        return batch.xp.where(self.relevant(batch), RELEVANT, judged)

    def scene(self, batch: Batch, row: int) -> Scene:  # noqa: ARG002 - counts say all
        """A relevant document adds what it adds behind so many of each kind."""

        def of(group: Group, above: Counter[int]) -> Adds:
            def adds(kind: int, placed: tuple[int, ...]) -> float:
                rank = group.start + sum(placed) + 1
                if group.kinds[kind] != RELEVANT or (self.k is not None and rank > self.k):
                    return 0.0
                count = above + Counter(dict(zip(group.kinds, placed, strict=True)))
                return _estimate(rank, count.total(), count[RELEVANT], count[RELEVANT] + count[OTHER])

            return adds

        return of

    def bound(self, batch: Batch) -> Array:
        """The extreme of each relevant document on its own, as the j-th of the group.

        With q, the estimated share of relevant documents, at its extreme, the term (1 + q·|pool|)/i is monotone in i
        both while documents of the pool fill the places above and while others do. So its extreme is at an end.
        """
        xp, relevant = batch.xp, self.relevant(batch)
        r, judged, pool = self._before(batch)
        above, among = sum_around(batch, relevant)
        j = up_to_column(batch, relevant) - above - 1
        others = sum_in_group(batch, batch.judged & (batch.grade >= 0)) - among
        pooled = batch.to_real(batch.last - batch.first) - among
        outside = batch.size - batch.to_real(batch.last - batch.first)
        q = (r + j + EPSILON) / (judged + j + (0.0 if batch.ties == "best" else others) + 2 * EPSILON)
        rank = batch.rank + j
        near, far = (1 + q * (pool + j)) / rank, (1 + q * (pool + j + pooled)) / (rank + pooled)
        last = rank + pooled + outside
        if batch.ties == "best":
            terms, counts = xp.maximum(near, far), True if self.k is None else rank <= self.k
        else:
            terms = xp.minimum((1 + q * (pool + j)) / (rank + outside), (1 + q * (pool + j + pooled)) / last)
            counts = True if self.k is None else last <= self.k
        return xp.where(relevant & counts, terms, 0.0)


def _estimate(rank: int, pool: int, r: int, judged: int) -> float:
    """Return what a relevant document adds at a rank, behind so many of the pool, relevant and judged."""
    return (1 + pool * (r + EPSILON) / (judged + 2 * EPSILON)) / rank
