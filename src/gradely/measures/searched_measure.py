"""Measures whose best order of tied documents cannot be found by sorting.

For xGAP, G, infAP and most diversity measures, the order of all tied documents is searched. For AUC@k, OPA@k, Pplus
and BPM, only one tie group matters.
"""

from abc import abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Iterable
from functools import cache, partial
from itertools import chain, repeat
from typing import Any, TypeAlias

from gradely.kernel.backend import is_any, to_lists
from gradely.kernel.batch import Array, Batch
from gradely.kernel.compositions import (
    STATES,
    Adds,
    TiedQuery,
    TieGroup,
    best_order,
    check_compositions,
    fill_groups,
    mean_of_kind,
    tied_queries,
)
from gradely.kernel.ties import order_ties, place_columns, sum_in_group
from gradely.measures.base import Measure, Parts

GroupTerms: TypeAlias = Callable[[int, tuple[int, ...], Counter[int]], Adds]
"""Takes the number of documents above a tie group, the kinds in the group, and the number of documents of each kind
above it; returns the contributions of the documents in the group."""


class SearchedMeasure(Measure):
    """A measure whose value can fall when a better document moves up.

    The policies best and worst search the order of each tie group exactly. A group with too many states stays tied and
    gets a bound that no order exceeds.
    """

    may_be_bounded = True

    @abstractmethod
    def kinds(self, batch: Batch) -> Array:
        """Return [Q, H]: the kind of each document, a whole number; documents of the same kind are interchangeable.

        Kind 0 is for documents that the best order ranks last and the worst order first, like unjudged ones.
        """

    @abstractmethod
    def group_terms(self, batch: Batch) -> Callable[[int], GroupTerms]:
        """Return a function that takes the index of a query and returns its GroupTerms."""

    @abstractmethod
    def plain_terms(self, batch: Batch) -> Array:
        """Return [Q, H]: the contributions of documents that are not in a group with a bound."""

    @abstractmethod
    def bound(self, batch: Batch) -> Array:
        """Return [Q, H]: the share of each tied document in the bound of its group.

        The kinds of a group descend for `best` and ascend for `worst`.
        """

    def terms(self, batch: Batch) -> Array:
        """Return the contribution of each document, or its share in the bound of a group too large to search."""
        terms = self.plain_terms(batch)
        if batch.ties == "expected" or batch.untied:
            return terms
        return batch.xp.where(batch.tied > 1, self.bound(batch), terms)

    def order_ties(self, batch: Batch) -> Batch:
        """Return the batch with its ties ordered by its policy; groups that are too large to search stay tied."""
        if batch.ties == "expected" or batch.untied:
            return super().order_ties(batch)
        return order_ties(batch, self.priority, self.is_bounded(batch))

    def is_bounded(self, batch: Batch) -> Array:
        """Return [Q, H]: true for documents of tie groups that are too large to search."""
        return self._search(batch)[1]

    def priority(self, batch: Batch) -> Array:
        """Return priorities that lead to the order found; documents of kind 0 have none."""
        return self._search(batch)[0]

    def _search(self, batch: Batch) -> tuple[Array, Array]:
        """Return priorities and flags of bounded documents, [Q, H] each, computed once per batch."""
        key = (SearchedMeasure, self)
        if key not in batch.memo:
            batch.memo[key] = self._find_bounds(batch)
        bounds: tuple[Array, Array] = batch.memo[key]
        return bounds

    def _find_bounds(self, batch: Batch) -> tuple[Array, Array]:
        xp, kinds = batch.xp, self.kinds(batch)
        relevant = kinds > 0
        mixed = relevant & (
            sum_in_group(batch, batch.to_real(kinds)) != batch.to_real(kinds) * sum_in_group(batch, relevant)
        )
        worth, bounded = batch.to_real(kinds), xp.zeros_like(mixed)
        if batch.untied or batch.ties == "expected" or not is_any(mixed):
            return worth, bounded
        rows, places, group_terms = to_lists(worth), to_lists(batch.to_real(bounded)), self.group_terms(batch)
        for query in tied_queries(batch, kinds, xp.any(mixed, axis=1)):
            rows[query.row], places[query.row] = _search_query(query, group_terms(query.row), best=batch.ties == "best")
        like = {"dtype": worth.dtype, "device": batch.device}
        return xp.asarray(rows, **like), xp.asarray(places, **like) > 0


def _search_query(query: TiedQuery, terms_of_group: GroupTerms, *, best: bool) -> tuple[list[float], list[float]]:
    """Return priorities and flags of bounded documents for one query."""
    worth, bounded = [float(kind) for kind in query.kinds], [0.0] * len(query.kinds)
    above = Counter[int]()
    for group in query.groups:
        columns = group.columns
        if group.states > STATES:
            bounded[columns.start : columns.stop] = [1.0] * len(columns)
        elif len(group.kinds) > 1:
            adds = terms_of_group(group.above if best else group.above + group.rest, group.kinds, above)
            order = best_order(group.counts, adds, 1 if best else -1)
            place: dict[int, deque[int]] = {kind: deque() for kind in group.kinds}
            for i, number in enumerate(order):
                place[group.kinds[number]].append(len(order) - i if best else i + 1)
            for c in columns:
                worth[c] = float(place[query.kinds[c]].popleft()) if query.kinds[c] else 0.0
        above.update(group.by_kind)
    return worth, bounded


class ComposedMeasure(SearchedMeasure):
    """A measure whose mean over orders is a mean over compositions, the states of the search."""

    def terms(self, batch: Batch) -> Array:
        """Return the contribution of each document, under `expected` the mean over all orders."""
        terms = super().terms(batch)
        return terms if batch.untied or batch.ties != "expected" else self._mean_terms(batch, terms)

    def _mean_terms(self, batch: Batch, terms: Array) -> Array:
        group_terms = self.group_terms(batch)

        def mean(query: TiedQuery) -> dict[int, dict[int, float]]:
            terms_of_group, above, means = group_terms(query.row), Counter[int](), {}
            for i, group in enumerate(query.groups):
                if group.size > 1 and group.kinds:
                    self.check_states(group)
                    means[i] = self.group_means(group, terms_of_group, above.copy())
                above.update(group.by_kind)
            return means

        return fill_groups(batch, terms, self.kinds(batch), mean)

    def check_states(self, group: TieGroup) -> None:
        """Raise TooManyOrders if a tie group has too many states for the mean."""
        check_compositions(self, group.size, group.counts)

    def group_means(self, group: TieGroup, terms_of_group: GroupTerms, above: Counter[int]) -> dict[int, float]:
        """Return the mean contribution of a document of each kind, given the kinds of the documents above the group."""

        @cache
        def adds_behind(idle: int) -> Adds:
            return terms_of_group(group.above + idle, group.kinds, above)

        return {kind: mean_of_kind(group, number, adds_behind, self.k) for number, kind in enumerate(group.kinds)}


class WholeNumbers:
    """Converts numbers to multiples of a power of two that divides them all, which makes their sums exact."""

    def __init__(self, numbers: Iterable[float]) -> None:
        """Find the power of two."""
        self.scale = max((number.as_integer_ratio()[1] for number in numbers), default=1)

    def __call__(self, number: float) -> int:
        """Return the number as a multiple."""
        above, below = number.as_integer_ratio()
        return above * self.scale // below


def by_kind(kinds: Array, *values: Array) -> list[Callable[[int], dict[int, Any]]]:
    """Return, for each array [Q, H, …], a function that takes the index of a query and returns {kind: value}."""
    numbers = to_lists(kinds)

    def look_up(table: list[Any], row: int) -> dict[int, Any]:
        return dict(zip(map(int, numbers[row]), table[row], strict=True))

    return [partial(look_up, to_lists(x)) for x in values]


def levels_of(batch: Batch, pool: Array, values: Array) -> Array:
    """Return [Q, H]: the rank of each value among the positive values of the pool, lowest first; 0 if not positive."""
    xp = batch.xp
    order = xp.argsort(xp.concat([pool, values], axis=1), axis=1, stable=True)
    placed = xp.cumulative_sum(xp.astype(order < pool.shape[1], batch.first.dtype), axis=1)
    levels = placed[batch.row, xp.argsort(order, axis=1)][:, pool.shape[1] :]
    return xp.where(values > 0, levels, 0)


Arrangement: TypeAlias = dict[int, list[int]]
"""Index of a tie group to the kinds of the documents in its first places."""


class ArrangedMeasure(Measure):
    """A measure whose best order is sorted by kind except in one tie group, whose compositions are all tried.

    If there are too many, the best and worst values are the bounds of the measure.
    """

    may_be_bounded = True

    @abstractmethod
    def kinds(self, batch: Batch) -> Array:
        """Return [Q, H]: the kind of each document, which grows with its worth; 0 for those that only fill a place."""

    @abstractmethod
    def arrangements(self, batch: Batch) -> Callable[[TiedQuery], Arrangement]:
        """Return a function that takes a query and returns the order of the tie groups that are not simply sorted."""

    @abstractmethod
    def too_many(self, groups: list[TieGroup]) -> bool:
        """True if a tie group of the query has too many compositions to try."""

    def priority(self, batch: Batch) -> Array:
        """Rank the highest kind first, except in groups whose compositions are tried."""
        return batch.to_real(self.kinds(batch))

    def order_ties(self, batch: Batch) -> Batch:
        """Return the batch with its ties ordered by its policy."""
        if batch.ties == "expected" or batch.untied:
            return super().order_ties(batch)
        if self.key not in batch.orders:
            batch.orders[self.key] = self._arrange(batch)
        return batch.orders[self.key]

    def is_bounded(self, batch: Batch) -> Array:
        """Return [Q, H]: true for tied documents of queries with too many compositions to try."""
        many = {query.row for query in tied_queries(batch, self.kinds(batch)) if self.too_many(query.groups)}
        rows = [[row in many] for row in range(batch.judged.shape[0])]
        return batch.judged & (batch.tied > 1) & batch.xp.asarray(rows, device=batch.device)

    def parts(self, batch: Batch) -> Parts:
        """Return the parts of the values; queries with too many compositions get the bound of the measure."""
        parts = super().parts(batch)
        if batch.ties == "expected" or batch.untied:
            return parts
        xp, bounded = batch.xp, batch.xp.any(self.is_bounded(batch.top(self.k)), axis=1)
        bound = float(self.bounds[batch.ties == "best"])
        start = 0.0 * parts.norm if parts.start is None else parts.start
        terms = xp.where(bounded[:, None], 0.0, parts.terms)
        return Parts(xp.where(bounded, bound, start), terms, xp.where(bounded, 1.0, parts.norm))

    def _arrange(self, batch: Batch) -> Batch:
        best, kinds, arrange = batch.ties == "best", self.kinds(batch), self.arrangements(batch)
        ordered = order_ties(batch, lambda _: batch.to_real(kinds))
        arranged: dict[int, list[tuple[int, int]]] = {}
        for query in tied_queries(batch, kinds):
            found = {} if self.too_many(query.groups) else arrange(query)
            if found:
                orders = [found.get(i) or sort_kinds(group, best=best) for i, group in enumerate(query.groups)]
                arranged[query.row] = list(chain.from_iterable(map(_place, query.groups, repeat(query.kinds), orders)))
        return ordered if not arranged else place_columns(ordered, batch, arranged)


def sort_kinds(group: TieGroup, *, best: bool) -> list[int]:
    """Return the kinds in a tie group, sorted from best to worst or from worst to best."""
    order = [kind for kind, count in zip(group.kinds, group.counts, strict=True) for _ in range(count)]
    return order[::-1] if best else [0] * group.rest + order


def _place(group: TieGroup, kinds: list[int], order: list[int]) -> list[tuple[int, int]]:
    """Return (place, column) of the judged documents in a group whose first places hold these kinds."""
    waiting: dict[int, deque[int]] = {}
    for c in group.columns:
        waiting.setdefault(kinds[c], deque()).append(c)
    placed = [(group.above + x, waiting[kind].popleft()) for x, kind in enumerate(order) if waiting.get(kind)]
    rest = [c for columns in waiting.values() for c in columns]  # after the stated kinds
    return sorted(placed + list(zip(range(group.above + len(order), group.above + group.size), rest, strict=False)))
