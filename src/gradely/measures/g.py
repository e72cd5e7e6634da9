"""Normalized gain, which discounts a document by the gain that was missed before it: G and binG."""

from gradely.kernel.backend import sum_rows
from gradely.kernel.batch import Array, Batch
from gradely.kernel.families import Opposition, preference
from gradely.kernel.gains import log2
from gradely.kernel.tie_groups import before, divisors, in_group, sums
from gradely.measures.base import Binary
from gradely.measures.dcg import GainBased


class binG(Binary):  # noqa: N801 - the field's name
    """Each relevant document discounted by the documents that stand above it and are not relevant.

        binG@k = (1/RB) Σ over relevant ranks i <= k of 1/log2(2 + a)

    a is the number of documents above that are not relevant.

    Ties: in a tie group with n' documents that are not relevant, a is uniform on a … a+n'. No relevant document: 0.
    Reference: Buckley, binG in trec_eval (2008).

    >>> from gradely import binG, from_arrays
    >>> binG()(from_arrays([4, 3, 2, 1], [1, 0, 0, 1])).tolist() == [(1 + 1 / 2) / 2]
    True
    """

    name = "binG"

    def terms(self, batch: Batch) -> Array:
        """1/log2(2 + a), the mean over the places a document can take."""
        xp, x = batch.xp, batch.number(self.relevant(batch))
        over = batch.number(batch.above) - before(batch, x)
        against = Opposition(over, batch.number(batch.tied) - in_group(batch, x) + 1)
        divisor, (high, low) = divisors(batch, log2), sums(batch, log2)

        def credit(y: Array, over: Array) -> Array:
            """Σ over u < y of 1/log2(2 + over + u)."""
            start, stop = (xp.astype(xp.clip(a, max=float(batch.depth)), batch.above.dtype) for a in (over, over + y))
            alone = 1.0 / divisor[xp.clip(start, max=batch.depth - 1)]
            return xp.where(y == 1, alone, (high[stop] - high[start]) + (low[stop] - low[start]))

        return preference(batch, x > 0, against, credit, self.k)

    def norm(self, batch: Batch) -> Array:
        """The relevant documents."""
        return self.recall_base(batch)


def gain_over_missed(batch: Batch, gain: Array, ideal: Array) -> Array:
    """Return [Q, H]: each gain over log2 of 2 and what an ideal ranking, [Q, B], had found more by then."""
    xp = batch.xp
    cost = xp.cumulative_sum(xp.clip(ideal, min=1.0), axis=1, include_initial=True)
    rank, last = batch.above + 1, cost.shape[1] - 1
    reached = cost[batch.row, xp.clip(rank, max=last)] + batch.number(xp.clip(rank - last, min=0))
    missed = xp.clip(reached - (before(batch, gain) + gain), min=0.0)
    return gain / log2(batch, missed + 1)


class G(GainBased):
    """Each gain discounted by how much more gain an ideal ranking had found by then.

        G@k = Σ_{i<=k} g_i / log2(2 + C_i - S_i) / (sum of all gains of the pool)

    S_i = g_1 + … + g_i, and C_i is the same of the ideal ranking, where a place gains at least 1.

    Ties: the mean over orders has no closed form; ties='expected' is refused, other policies work. Best and worst go
    by gain, which may miss the extreme. No relevant document: 0.
    Reference: Buckley, G in trec_eval (2008).

    >>> from gradely import G, from_arrays
    >>> G()(from_arrays([4, 3, 2, 1], [2, 0, 0, 1])).tolist() == [(2 + 1 / 2) / (2 + 1)]
    True
    """

    name = "G"
    takes_expected = False

    def terms(self, batch: Batch) -> Array:
        """The gain over its discount."""
        terms = gain_over_missed(batch, self.found(batch), self.ideal(batch))
        return terms if self.k is None else batch.xp.where(batch.above < self.k, terms, 0.0)

    def norm(self, batch: Batch) -> Array:
        """All gains of the pool."""
        return sum_rows(self.ideal(batch))
