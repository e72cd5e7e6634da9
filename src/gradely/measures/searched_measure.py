"""Measures whose best order of tied documents no sorting finds: xGAP, G and infAP."""

from abc import abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import TypeAlias

from gradely.kernel.backend import is_any, to_lists
from gradely.kernel.batch import Array, Batch
from gradely.kernel.ties import STATES, Adds, Group, best_order, order_ties, sum_in_group
from gradely.measures.base import Measure

Scene: TypeAlias = Callable[[Group, Counter[int]], Adds]
"""From a tie group of a query and the kinds of documents above it to what documents of the group add."""


class SearchedMeasure(Measure):
    """A measure of which moving a better document up can lower the value.

    Policies best and worst search the order of a tie group, exactly; a group with too many states stays tied and gets
    a bound, which no order exceeds.
    """

    may_be_bounded = True

    @abstractmethod
    def kinds(self, batch: Batch) -> Array:
        """Return [Q, H]: whole numbers; documents of one kind can take each other's place.

        Kind 0 is for documents that are best last and worst first, as unjudged ones are.
        """

    @abstractmethod
    def scene(self, batch: Batch, row: int) -> Scene:
        """Return what documents add, for one query."""

    @abstractmethod
    def plain_terms(self, batch: Batch) -> Array:
        """Return [Q, H]: what each document adds that is not in a group with a bound."""

    @abstractmethod
    def bound(self, batch: Batch) -> Array:
        """Return [Q, H]: for each document of a tie group its part of the group's bound.

        The kinds of a group descend for `best` and ascend for `worst`.
        """

    def terms(self, batch: Batch) -> Array:
        """What each document adds; of a tie group that is too large to be searched, its part of a bound."""
        terms = self.plain_terms(batch)
        if batch.ties == "expected" or batch.untied:
            return terms
        return batch.xp.where(batch.tied > 1, self.bound(batch), terms)

    def order_ties(self, batch: Batch) -> Batch:
        """Return the batch with ties as its policy has them, as far as they can be searched."""
        if batch.ties == "expected" or batch.untied:
            return super().order_ties(batch)
        return order_ties(batch, self.priority, self.is_bounded(batch))

    def is_bounded(self, batch: Batch) -> Array:
        """Return [Q, H]: true for documents of tie groups that are too large to be searched."""
        return self._search(batch)[1]

    def priority(self, batch: Batch) -> Array:
        """The order that was found; documents of kind 0 are worth nothing."""
        return self._search(batch)[0]

    def _search(self, batch: Batch) -> tuple[Array, Array]:
        """Return worth and what is bounded, [Q, H]; made once a batch."""
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
        rows, places = to_lists(worth), to_lists(batch.to_real(bounded))
        for q, odd in enumerate(to_lists(xp.any(mixed, axis=1))):
            if odd:
                rows[q], places[q] = self._row(batch, q, [int(kind) for kind in rows[q]])
        like = {"dtype": worth.dtype, "device": batch.device}
        return xp.asarray(rows, **like), xp.asarray(places, **like) > 0

    def _row(self, batch: Batch, q: int, kinds: list[int]) -> tuple[list[float], list[float]]:
        """Return worth and what is bounded of one query."""
        scene, above = self.scene(batch, q), Counter[int]()
        worth, bounded = [float(kind) for kind in kinds], [0.0] * len(kinds)
        for columns, group in _groups(batch, q, kinds):
            if group.states > STATES:
                bounded[columns.start : columns.stop] = [1.0] * len(columns)
            elif len(group.kinds) > 1:
                order = best_order(group.counts, scene(group, above), 1 if batch.ties == "best" else -1)
                place: dict[int, deque[int]] = {kind: deque() for kind in group.kinds}
                for i, number in enumerate(order):
                    place[group.kinds[number]].append(len(order) - i if batch.ties == "best" else i + 1)
                for c in columns:
                    worth[c] = float(place[kinds[c]].popleft()) if kinds[c] else 0.0
            above.update(kinds[c] for c in columns if kinds[c])
        return worth, bounded


def _groups(batch: Batch, q: int, kinds: list[int]) -> Iterator[tuple[range, Group]]:
    """Yield the tie groups of a query: their columns, and the documents of a kind in them."""
    first, above, tied, judged = (to_lists(x[q, :]) for x in (batch.first, batch.above, batch.tied, batch.judged))
    for start, members in groupby((c for c in range(len(kinds)) if judged[c]), key=lambda c: first[c]):
        columns = range(int(start), int(start) + len(list(members)))
        counts = Counter(kinds[c] for c in columns if kinds[c])
        before = 0 if batch.ties == "best" else int(tied[columns.start]) - counts.total()
        sizes = sorted(counts)
        yield columns, Group(int(above[columns.start]) + before, tuple(sizes), tuple(counts[kind] for kind in sizes))
