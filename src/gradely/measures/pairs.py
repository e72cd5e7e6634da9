"""Measures of the share of document pairs in the right order: AUC and OPA."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable
from itertools import chain, product
from typing import NamedTuple

from gradely.kernel.backend import equal_runs, to_lists
from gradely.kernel.batch import Array, Batch
from gradely.kernel.compositions import (
    STATES,
    TiedQuery,
    TieGroup,
    check_compositions,
    compositions,
    find_cut,
    replace_rows,
    tied_queries,
)
from gradely.kernel.families import lower_levels
from gradely.kernel.ties import GroupSums, sum_around
from gradely.measures.base import Binary, Graded
from gradely.measures.searched_measure import ArrangedMeasure, Arrangement, levels_of


class Pairs(NamedTuple):
    """Pairs of documents in the first places of each ranking, without those of a tie group that is cut."""

    right: Array
    """[Q, H] for each document there, the number of documents of a lower level below it; tied ones count one half"""
    count: Array
    """[Q, 1] the number of pairs of documents there with different levels"""


class PairMeasure(ArrangedMeasure):
    """The share of pairs of retrieved documents with different levels in which the higher one is ranked first."""

    takes_fixed = False

    def terms(self, batch: Batch) -> Array:
        """Return, for each document, the share of all pairs that it wins."""
        xp, level = batch.xp, self.kinds(batch)
        cut = self._cut(batch)
        limit = xp.clip(batch.retrieved, max=self.k)[:, None] if self.k else batch.retrieved[:, None]
        if cut is not None:
            inside = xp.max(xp.where(cut, batch.above, -1), axis=1, keepdims=True)
            limit = xp.where(inside >= 0, inside, limit)
        pairs = self._pairs_in(batch, level, limit)
        terms = pairs.right / xp.where(pairs.count > 0, pairs.count, 1.0)
        if cut is None:
            return terms
        # where the cut-off splits a tie group, the number of pairs is random, and terms are means over what is inside
        right, counts = to_lists(pairs.right), to_lists(pairs.count[:, 0])
        queries = tied_queries(batch, level, xp.any(cut, axis=1))
        rows = {query.row: self._mean_of_query(query, right[query.row], int(counts[query.row])) for query in queries}
        return replace_rows(batch, terms, rows)

    def lacks(self, batch: Batch) -> Array:
        """True if the documents in the top, and those tied with them, have one level, and thus form no pair."""
        xp, level = batch.xp, self.kinds(batch)
        limit = xp.clip(batch.retrieved, max=self.k) if self.k else batch.retrieved
        inside = batch.judged & (batch.above < limit[:, None])
        highest = xp.max(xp.where(inside, level, 0), axis=1)
        ends = xp.max(xp.where(inside, batch.above + batch.tied, 0), axis=1)
        equal = xp.count_nonzero(inside & (level == highest[:, None]), axis=1)
        return (highest > 0) & ((limit == 1) | (equal >= xp.maximum(limit, ends)))

    @abstractmethod
    def lower(self, batch: Batch, level: Array, inside: Array) -> GroupSums:
        """Return the numbers of inside documents of a lower level above the tie group of each document, and in it."""

    def _pairs_in(self, batch: Batch, level: Array, limit: Array) -> Pairs:
        """Return the pairs of documents in the first `limit` places, [Q, 1]."""
        xp = batch.xp
        inside = batch.judged & (batch.above < limit)
        level = xp.where(inside, level, 0)
        lower = self.lower(batch, level, inside)
        unjudged = batch.to_real(batch.above - batch.first)
        beside = batch.size - batch.to_real(batch.last - batch.first)
        order = xp.argsort(level, axis=1, stable=True)
        first, _ = equal_runs(batch.to_real(level[batch.row, order]))
        above_or_equal = level.shape[1] - first[batch.row, xp.argsort(order, axis=1, stable=True)]
        behind = batch.to_real(limit - above_or_equal)
        right = behind - (lower.before + unjudged) - (lower.in_group + beside) / 2
        counted = level > 0
        count = xp.sum(xp.where(counted, behind, 0.0), axis=1, keepdims=True)
        return Pairs(xp.where(counted, right, 0.0), count)

    def _cut(self, batch: Batch) -> Array | None:
        """Return [Q, H]: true for documents of the tie group that the cut-off splits; None if it splits none.

        Unjudged documents may fill the places of the group in the top k; then none of its documents matters.
        """
        if self.k is None or batch.untied:
            return None
        return batch.judged & (batch.above < self.k) & (batch.above + batch.tied > self.k)

    def _mean_of_query(self, query: TiedQuery, right: list[float], count: int) -> list[float]:
        groups, kinds = query.groups, query.kinds
        k, group = self.k or 0, groups[find_cut(groups, self.k) or 0]
        check_compositions(self, 1, group.counts)
        before = _levels_above(groups, group)
        adds = dict.fromkeys((*before, *group.kinds), 0.0)
        won, inverse = dict(adds), 0.0
        for placed, chance in compositions(group.counts, group.size, k - group.above):
            inside = Inside.of(group, placed, k)
            pairs = count + inside.across(before) + inside.within()
            if pairs:
                inverse += chance / pairs
                for level in before:
                    adds[level] += chance / pairs * inside.below(level)
                for level, number in zip(group.kinds, placed, strict=True):
                    won[level] += chance / pairs * number * inside.below(level) / 2
        size = group.by_kind
        terms = [0.0] * len(kinds)
        for c in chain.from_iterable(other.columns for other in groups if other.above < group.above):
            terms[c] = right[c] * inverse + (adds[kinds[c]] if kinds[c] else 0.0)
        for c in group.columns:
            terms[c] = won[kinds[c]] / size[kinds[c]] if kinds[c] else 0.0
        return terms

    def arrangements(self, batch: Batch) -> Callable[[TiedQuery], Arrangement]:
        """Return the documents of the divided group that are inside the cut-off; other groups are sorted by level."""
        return lambda query: self._arrange_query(query.groups, best=batch.ties == "best")

    def _arrange_query(self, groups: list[TieGroup], *, best: bool) -> Arrangement:
        k, cut = self.k or 0, find_cut(groups, self.k)
        if cut is None or not groups[cut].counts:
            return {}
        group = groups[cut]
        before = _levels_above(groups, group)
        uncut = [one for one in groups if one.above < group.above]
        count, right = _sorted_pairs(uncut, before, best=best)
        ways = []
        for placed in product(*(range(number + 1) for number in group.counts)):
            if 0 <= k - group.above - sum(placed) <= group.rest:
                inside = Inside.of(group, placed, k)
                pairs = count + inside.across(before) + inside.within()
                won = right + inside.won(before) + (inside.within() if best else 0)
                ways.append((won / pairs if pairs else 0.0, placed))
        _, placed = (max if best else min)(ways)
        order = [kind for kind, number in zip(group.kinds, placed, strict=True) for _ in range(number)]
        idle = [0] * (k - group.above - sum(placed))
        return {cut: [*reversed(order), *idle] if best else [*idle, *order]}

    def too_many(self, groups: list[TieGroup]) -> bool:
        """True if there are too many ways to fill the places inside the cut-off."""
        cut = find_cut(groups, self.k)
        return cut is not None and groups[cut].states > STATES


class Inside(NamedTuple):
    """The documents of a tie group inside the cut-off: the number of documents of each level, including level 0."""

    counts: dict[int, int]

    @classmethod
    def of(cls, group: TieGroup, placed: tuple[int, ...], k: int) -> "Inside":
        """Fill the places inside the cut-off with these numbers of each kind, and with documents of level 0."""
        return cls(dict(zip(group.kinds, placed, strict=True)) | {0: k - group.above - sum(placed)})

    def below(self, level: int) -> int:
        """Return the number of documents of a lower level."""
        return sum(count for other, count in self.counts.items() if other < level)

    def within(self) -> int:
        """Return the number of pairs with different levels."""
        return sum(count * self.below(level) for level, count in self.counts.items())

    def across(self, before: Counter[int]) -> int:
        """Return the number of pairs with documents above that have different levels."""
        return sum(
            count * other for level, count in self.counts.items() for above, other in before.items() if above != level
        )

    def won(self, before: Counter[int]) -> int:
        """Return the number of those pairs in the right order."""
        return sum(other * self.below(above) for above, other in before.items())


def _levels_above(groups: list[TieGroup], group: TieGroup) -> Counter[int]:
    """Return the number of documents of each level above a group."""
    levels = Counter[int]()
    for one in groups:
        if one.above < group.above:
            levels.update(one.by_kind)
    levels[0] = group.above - levels.total()
    return levels


def _sorted_pairs(groups: list[TieGroup], levels: Counter[int], *, best: bool) -> tuple[int, int]:
    """Return the number of pairs with different levels, and of those in the right order, in the best or worst order."""
    pairs = Inside(dict(levels)).within()
    wrong, above = 0, Counter[int]()
    for group in groups:
        own = Inside(group.by_kind | {0: group.rest})
        above[0] = group.above - sum(above[kind] for kind in above if kind)
        wrong += sum(count * Inside(dict(above)).below(level) for level, count in own.counts.items())
        wrong += 0 if best else own.within()
        above.update({kind: count for kind, count in own.counts.items() if kind})
    return pairs, pairs - wrong


class AUC(PairMeasure, Binary):
    """The share of pairs of a relevant and a non-relevant document that are in the right order.

        AUC@k = #{(a, b): a relevant, b not, a above b} / #{(a, b): a relevant, b not}

    Both documents are in the top k; unjudged documents are not relevant. This is the area under the ROC curve of the
    query's ranking.

    Ties: a tied pair counts one half. If k splits a tie group, the mean is over the number of its relevant documents
    in the top k. No relevant or no non-relevant document in the top k: 0.
    Reference: Hanley and McNeil, The meaning and use of the area under a receiver operating characteristic curve
    (1982); called Accuracy in ir_measures.

    >>> from gradely import AUC, from_arrays
    >>> AUC()(from_arrays([4, 3, 2, 1], [1, 0, 1, 0])).tolist() == [(2 + 1) / (2 * 2)]
    True
    """

    name = "AUC"
    may_lack = "non-relevant document in the top"

    def is_fixed(self, ties: str = "expected") -> bool:
        """True unless the cut-off may divide tie groups, or the policy orders them."""
        return super().is_fixed(ties) or (self.k is None and ties == "expected")

    def kinds(self, batch: Batch) -> Array:
        """Return 1 for relevant documents, else 0."""
        return batch.xp.astype(self.relevant(batch), batch.first.dtype)

    def lower(self, batch: Batch, level: Array, inside: Array) -> GroupSums:
        """Return the numbers of non-relevant documents above the tie group of each document, and in it."""
        return sum_around(batch, inside & (level == 0))


class OPA(PairMeasure, Graded):
    """Ordered pair accuracy: the share of pairs of documents with different relevance that are in the right order.

        OPA@k = #{(a, b): g_a > g_b, a above b} / #{(a, b): g_a > g_b}

    Both documents are in the top k; unjudged documents have relevance 0.

    Ties: a tied pair counts one half. If k splits a tie group, the mean is over the numbers of its documents of
    each relevance in the top k; if there are too many such states, it is refused, and ties='sampled' estimates it. No
    documents with different relevance in the top k: 0.
    Reference: ordered_pair_accuracy in TF-Ranking; opa in rax, which count tied pairs as wrong.

    >>> from gradely import OPA, from_arrays
    >>> OPA()(from_arrays([3, 2, 1], [1, 2, 0])).tolist() == [2 / 3]
    True
    """

    name = "OPA"
    may_lack = "documents of different relevance in the top"
    may_refuse = True
    takes_fixed_order = False

    def kinds(self, batch: Batch) -> Array:
        """Return the rank of each document's relevance among the values of the pool, lowest first; 0 for none."""
        return levels_of(batch, batch.pool, batch.grade)

    def lower(self, batch: Batch, level: Array, inside: Array) -> GroupSums:
        """Return the numbers of documents of a lower level above the tie group of each document, and in it."""
        highest = int(batch.xp.max(level)) if 0 not in level.shape else 0
        sums = lower_levels(batch, level, batch.to_real(inside), highest)
        return GroupSums(sums.above_count, sums.beside_count)
