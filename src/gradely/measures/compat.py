"""Agreement of a ranking with an ideal one, rank by rank: Compat."""

from collections import Counter

from gradely.kernel.backend import equal_runs, to_lists
from gradely.kernel.batch import Array, Batch
from gradely.kernel.compositions import TiedQuery, TieGroup, fill_groups, hypergeometric
from gradely.kernel.parameters import CHANCE_TO_GO_ON, check_flag, parameter
from gradely.measures.base import Graded
from gradely.measures.rbp import Persistent
from gradely.measures.searched_measure import levels_of


class Compat(Graded, Persistent):
    """Compatibility: the overlap of the tops of the ranking and of the ideal ranking, averaged over all depths.

        Compat@k = Σ_{d<=D} p^(d-1) · o_d / d, divided by this sum for the ideal ranking

    o_d is the number of documents that the top d of the ranking and of the ideal ranking share, and D is the length of
    the longer one. The ideal ranking has the documents with positive labels, sorted by label; documents with the same
    label are in the order of the ranking, followed by those that were not retrieved. Compat is thus rank-biased overlap
    with the most similar ideal ranking. With `normalize=False`, the sum is divided by Σ_{d<=D} p^(d-1), its value for
    two equal rankings of length D.

    Ties: a document at rank i with place s in the ideal ranking counts from depth max(i, s) on. s depends on the number
    of documents with the same label before it in its tie group, which is hypergeometric. No document with a positive
    label: 0.
    Reference: Clarke, Vtyurina, Smucker, Assessing top-k preferences (2021), as in the authors' compatibility.py.

    >>> from gradely import Compat, from_arrays
    >>> value = Compat(p=0.5)(from_arrays([3, 2, 1], [1, 0, 2])).item()
    >>> abs(value - (0.5 * 1 / 2 + 0.25 * 2 / 3) / (1 + 0.5 * 2 / 2 + 0.25 * 2 / 3)) < 1e-15
    True
    """

    name = "Compat"
    takes_fixed = False
    p: float = parameter(
        default=0.95, doc="persistence: the weight of each depth relative to the one before", check=CHANCE_TO_GO_ON
    )
    normalize: bool = parameter(default=True, doc="whether to divide by the sum of the ideal ranking", check=check_flag)

    def terms(self, batch: Batch) -> Array:
        """Return the weight of all depths at which both the ranking and the ideal ranking have the document."""
        xp, level = batch.xp, levels_of(batch, batch.pool, batch.grade)
        sums = self._sums(batch)
        end, ahead = sums[self._length(batch)][:, None], batch.pool.shape[1] - level
        order = xp.argsort(level, axis=1, stable=True)
        place = xp.argsort(order, axis=1, stable=True)
        first, _ = equal_runs(batch.to_real(level[batch.row, order]))
        number = place - first[batch.row, place]
        start = xp.maximum(batch.above, ahead + number)
        counts = level > 0 if self.k is None else (level > 0) & (batch.above < self.k)
        terms = xp.where(counts, end - sums[xp.where(counts, start, 0)], 0.0)
        return terms if batch.untied else self._mean_terms(batch, level, terms)

    def _mean_terms(self, batch: Batch, level: Array, terms: Array) -> Array:
        sums, width = to_lists(self._sums(batch)), batch.pool.shape[1]
        length = [int(x) for x in to_lists(batch.to_real(self._length(batch)))]

        def mean(query: TiedQuery) -> dict[int, dict[int, float]]:
            above, means, end = Counter[int](), {}, sums[length[query.row]]
            for i, group in enumerate(query.groups):
                if group.size > 1:
                    means[i] = {
                        kind: self._mean(group, count, width - kind + above[kind], sums, end)
                        for kind, count in group.by_kind.items()
                    }
                above.update(group.by_kind)
            return means

        return fill_groups(batch, terms, level, mean)

    def _mean(self, group: TieGroup, count: int, ahead: int, sums: list[float], end: float) -> float:
        """Return the mean weight of a document, given the number of its label in the group and those ahead of them."""
        total = 0.0
        for x in range(group.places(self.k)):
            place = group.above + x
            if ahead + count <= place + 1:
                total += end - sums[place]
            else:
                others = hypergeometric(group.size - 1, count - 1, x)
                total += sum(chance * (end - sums[max(place, ahead + c)]) for c, chance in others)
        return total / group.size

    def norm(self, batch: Batch) -> Array:
        """Return the sum for the ideal ranking or, if not normalised, for two equal rankings."""
        sums, p = self._sums(batch), self.p
        length, ideal = self._length(batch), self._ideal(batch)
        if not self.normalize:
            return (1 - p ** batch.to_real(length)) / (1 - p)
        many = batch.to_real(ideal)
        return (1 - p**many) / (1 - p) + many * (sums[length] - sums[ideal])

    def _ideal(self, batch: Batch) -> Array:
        """Return [Q]: the length of the ideal ranking."""
        return batch.xp.sum(batch.xp.astype(batch.pool > 0, batch.above.dtype), axis=1, dtype=batch.above.dtype)

    def _length(self, batch: Batch) -> Array:
        """Return [Q]: the length of the ranking, cut at k, or of the ideal ranking if that is longer."""
        retrieved = batch.retrieved if self.k is None else batch.xp.clip(batch.retrieved, max=self.k)
        return batch.xp.maximum(batch.xp.astype(retrieved, batch.above.dtype), self._ideal(batch))

    def _sums(self, batch: Batch) -> Array:
        """Return the sums of p^(d-1)/d over the first 0, 1, … depths, computed once per batch."""
        key = (Compat, self.p, self.k)
        if key not in batch.memo:
            longest = batch.depth if batch.fixed else int(batch.xp.max(self._length(batch)))
            depth = batch.count_up(longest)
            batch.memo[key] = batch.xp.cumulative_sum(self.p ** (depth - 1) / depth, include_initial=True)
        return batch.memo[key]
