"""The orders of the tied documents of one query, with the value of a measure in each.

Orders are enumerated from the top, one place at a time. As soon as the order of the remaining documents does not change
the value, they are left open, and one entry represents all these orders.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import groupby
from math import factorial, prod
from typing import Any, NamedTuple, cast

import numpy as np

from gradely.evaluation.notes import SAME
from gradely.kernel.batch import Batch
from gradely.measures import Measure
from gradely.measures.searched_measure import ArrangedMeasure, SearchedMeasure

COUNTED = 12
"""size of the largest tie group whose orders are counted (479 million); for larger ones, entries only have a share"""
ALIKE = 3
"""largest number of documents of a kind that are all named at each place that one of them may take"""


class TieOrder(NamedTuple):
    """A set of orders of the tied documents with the same value."""

    places: tuple[str, ...]
    """the documents of each tie group from top to bottom; "…" is any order of the rest"""
    share: float
    """their share of all orders of tied documents"""
    orders: int | None
    """their number; None if a tie group has more than 12 documents"""
    value: float
    """the value of the measure in each of them"""


class TieOrders(NamedTuple):
    """All orders of the tied documents, by their value of a measure."""

    ranks: tuple[str, ...]
    """the ranks of each tie group whose order matters, such as "2–4" """
    entries: tuple[TieOrder, ...]

    @property
    def total(self) -> int | None:
        """The number of all orders; None if they are not counted."""
        counts = [entry.orders for entry in self.entries]
        return None if None in counts else sum(cast("list[int]", counts))

    def as_list(self) -> list[dict[str, Any]]:
        """Return the entries as plain data, with the number of orders only if they are counted."""
        return [
            {name: value for name, value in entry._asdict().items() if value is not None}
            | {"places": [{"ranks": r, "documents": d} for r, d in zip(self.ranks, entry.places, strict=True)]}
            for entry in self.entries
        ]


class _Partial(NamedTuple):
    """A ranking with partly ordered tie groups, as columns of a batch."""

    columns: tuple[int, ...]
    above: tuple[int, ...]
    tied: tuple[int, ...]
    share: Fraction
    kinds: Mapping[int, tuple[float, ...]]
    """the kinds of the documents placed so far, by the number of documents above their tie group"""


class _Group(NamedTuple):
    """The rest of a tie group: its first place, its columns, and the number of its documents of each kind."""

    above: int
    columns: range
    size: int
    kinds: Counter[float]


def list_orders(measure: Measure, view: Batch, documents: Sequence[str], most: int) -> TieOrders | None:
    """Return the orders of tied documents in a batch of one query with relevance; None if entries exceed `most`.

    Documents of the same kind are interchangeable, as are documents without gain and unjudged documents. There are no
    entries if the order does not change the value.
    """
    return _Orders(measure, view, documents).search(most)


class _Orders:
    """A batch of one query with relevance, the kinds of its documents, and its tie groups."""

    def __init__(self, measure: Measure, view: Batch, documents: Sequence[str]) -> None:
        self.measure, self.view, self.documents = measure, view, documents
        if isinstance(measure, SearchedMeasure | ArrangedMeasure):
            kinds = measure.kinds(view)
        else:
            kinds = measure.priority(view)
        self.kind = np.asarray(kinds, np.float64)[0, : len(documents)].tolist()
        width = len(documents)
        above, tied = (tuple(column[0, :width].tolist()) for column in (view.above, view.tied))
        self.root = _Partial(tuple(range(width)), above, tied, Fraction(1), {})
        self.groups = {group.above: group for group in self._open_groups(self.root)}

    def search(self, most: int) -> TieOrders | None:
        """Enumerate orders from the top until the rest of each does not change the value."""
        done: list[tuple[_Partial, float]] = []
        todo = [self.root]
        while todo:
            if len(done) + len(todo) > most:
                return None
            ranking = todo.pop()
            worst, best = (self._value(ranking, ties) for ties in ("worst", "best"))
            if _same(worst, best):  # whatever the order of the rest
                done.append((ranking, self._value(ranking)))
            else:
                todo += reversed(self._branch(ranking))
        if len(done) == 1:
            return TieOrders((), ())
        matter = sorted({above for ranking, _ in done for above in ranking.kinds})
        groups = [self.groups[above] for above in matter]
        counted = all(group.size <= COUNTED for group in groups)
        total = prod(factorial(group.size) for group in groups) if counted else None
        entries = [
            TieOrder(
                tuple(self._write(group, ranking.kinds.get(group.above, ())) for group in groups),
                float(ranking.share),
                None if total is None else int(ranking.share * total),
                value,
            )
            for ranking, value in done
        ]
        return TieOrders(tuple(f"{group.above + 1}–{group.above + group.size}" for group in groups), tuple(entries))

    def _branch(self, ranking: _Partial) -> list[_Partial]:
        """Return the rankings with one more place filled, in the first tie group where this changes the mean."""
        first: list[_Partial] = []
        for group in self._open_groups(ranking):
            children = [self._place(ranking, group, kind) for kind in sorted(group.kinds, reverse=True)]
            values = [self._value(child) for child in children]
            if not _same(min(values), max(values)):
                return children
            first = first or children
        return first

    def _open_groups(self, ranking: _Partial) -> Iterator[_Group]:
        """Yield the tie groups with documents of several kinds."""
        start = 0
        while start < len(ranking.columns):
            above, size = ranking.above[start], ranking.tied[start]
            stop = start
            while stop < len(ranking.columns) and ranking.above[stop] == above:
                stop += 1
            kinds = Counter(self.kind[ranking.columns[i]] for i in range(start, stop))
            kinds[0.0] += size - (stop - start)
            if len(kinds := +kinds) > 1:
                yield _Group(above, range(start, stop), size, kinds)
            start = stop

    def _place(self, ranking: _Partial, group: _Group, kind: float) -> _Partial:
        """Return the ranking with a document of a kind at the first place of a tie group."""
        columns, above, tied = (list(part) for part in ranking[:3])
        start = group.columns.start
        for i in group.columns:
            above[i], tied[i] = group.above + 1, group.size - 1
        unjudged = group.size - len(group.columns)
        if kind or not unjudged:
            place = next(i for i in group.columns if self.kind[columns[i]] == kind)
            columns.insert(start, columns.pop(place))
            above[start], tied[start] = group.above, 1
        share = ranking.share * Fraction(group.kinds[kind], group.size)
        top = max(known for known in self.groups if known <= group.above)
        kinds = {**ranking.kinds, top: (*ranking.kinds.get(top, ()), kind)}
        return _Partial(tuple(columns), tuple(above), tuple(tied), share, kinds)

    def _value(self, ranking: _Partial, ties: str = "expected") -> float:
        """Return the value of a ranking: the mean over all orders of the rest, or its best or worst value."""
        width = len(ranking.columns)
        if not width:
            return float(self.measure.compute_from_relevance(self.view.with_ties(ties))[0])
        view, order = self.view, np.array([ranking.columns])
        above, tied = np.array([ranking.above]), np.array([ranking.tied])
        batch = view.reorder(
            ties=ties,
            grade=view.grade[:, order[0]],
            judged=view.judged[:, order[0]],
            above=above,
            tied=tied,
            first=np.searchsorted(above[0], above[0], side="left")[None, :],
            last=np.searchsorted(above[0], above[0], side="right")[None, :],
            subtopics=None if view.subtopics is None else view.subtopics.reorder(order),
        )
        return float(self.measure.compute_from_relevance(batch)[0])

    def _write(self, group: _Group, placed: tuple[float, ...]) -> str:
        """Return the documents of a tie group from top to bottom, as far as their order matters."""
        left = group.kinds - Counter(placed)
        rest = [kind for kind in left.elements() if len(left) == 1]
        texts = [self._name(group, kind, count) for kind, count in _runs((*placed, *rest))]
        return " > ".join([*texts, *(["…"] if len(left) > 1 else [])])

    def _name(self, group: _Group, kind: float, count: int) -> str:
        """Return the name of a document of a kind, or the number of such documents in a row.

        Documents without gain are called others, like unjudged documents.
        """
        named = sorted(self.documents[i] for i in group.columns if self.kind[i] == kind)
        if len(named) == group.kinds[kind] and (len(named) == 1 or (kind and len(named) <= ALIKE)):
            return " > ".join(["/".join(named)] * count)
        if kind:
            return f"{count} like {named[0]}"
        return "1 other" if count == 1 else f"{count} others"


def _runs(kinds: Iterable[float]) -> list[tuple[float, int]]:
    """Return the runs of equal kinds: each kind with the length of its run."""
    return [(kind, sum(1 for _ in run)) for kind, run in groupby(kinds)]


def _same(low: float, high: float) -> bool:
    return high - low <= SAME * max(1.0, abs(low), abs(high))
