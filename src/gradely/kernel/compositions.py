"""Compositions: the numbers of documents of each kind above a rank of a tie group, and their probabilities.

At each rank, many measures depend only on the composition. Their mean over all orders is therefore a mean over
compositions, which are far fewer, and dynamic programming over the same states finds their best order. Documents that
only take up a rank, such as unjudged ones, are the rest and not a kind of their own.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby, product
from math import prod
from typing import NamedTuple, TypeAlias

from gradely.errors import TooManyOrders
from gradely.kernel.backend import to_lists
from gradely.kernel.batch import Array, Batch

MOST = 100_000
"""largest number of ranks times compositions of a tie group for which a mean is computed, in half a second"""
STATES = 2000
"""largest number of states of a tie group that is searched for its best order, which takes some milliseconds"""

Adds: TypeAlias = Callable[[int, tuple[int, ...]], float]
"""Takes the index of a kind, and the numbers of documents of each kind above in the group; returns the term of a
document of this kind."""


class TieGroup(NamedTuple):
    """A tie group of one query, and the numbers of its documents of each kind."""

    columns: range
    """the columns of its judged documents"""
    above: int
    """number of documents above the group"""
    size: int
    """number of its documents, judged or not"""
    kinds: tuple[int, ...]
    """the distinct kinds, ascending"""
    counts: tuple[int, ...]
    """number of documents of each kind"""

    @property
    def by_kind(self) -> dict[int, int]:
        """The number of documents of each kind."""
        return dict(zip(self.kinds, self.counts, strict=True))

    @property
    def rest(self) -> int:
        """The number of documents of no kind."""
        return self.size - sum(self.counts)

    @property
    def states(self) -> int:
        """The number of ways to choose how many documents of each kind are placed."""
        return prod(count + 1 for count in self.counts)

    def places(self, k: int | None) -> int:
        """Return the number of its ranks in the top k."""
        return self.size if k is None else min(max(k - self.above, 0), self.size)

    def rest_fills(self, k: int | None) -> bool:
        """True if documents of no kind can fill its ranks in the top k."""
        return self.places(k) <= self.rest


def find_cut(groups: Sequence[TieGroup], k: int | None) -> int | None:
    """Return the index of the tie group that the cut-off splits, or None."""
    return next((i for i, group in enumerate(groups) if 0 < group.places(k) < group.size), None)


class TiedQuery(NamedTuple):
    """A query in which documents that belong to a kind are tied."""

    row: int
    kinds: list[int]
    """the kind of the document in each column; 0 for no kind"""
    groups: list[TieGroup]
    """all its tie groups, including those of one document"""


def tied_queries(batch: Batch, kinds: Array, chosen: Array | None = None) -> Iterator[TiedQuery]:
    """Yield the queries in which documents that belong to a kind are tied, or those flagged in `chosen`, [Q]."""
    xp = batch.xp
    chosen = xp.any((kinds > 0) & (batch.tied > 1), axis=1) if chosen is None else chosen
    (rows,) = xp.nonzero(chosen)
    fields = (kinds, batch.judged, batch.first, batch.above, batch.tied)
    columns = [to_lists(rows), *(to_lists(xp.take(field, rows, axis=0)) for field in fields)]
    for row, numbers, judged, *places in zip(*columns, strict=True):
        own = [int(kind) for kind in numbers]
        yield TiedQuery(int(row), own, list(_tie_groups(own, judged, *places)))


def _tie_groups(
    kinds: list[int], judged: list[bool], first: list[int], above: list[int], tied: list[int]
) -> Iterator[TieGroup]:
    for start, members in groupby((c for c in range(len(kinds)) if judged[c]), key=lambda c: first[c]):
        columns = range(int(start), int(start) + len(list(members)))
        counts = Counter(kinds[c] for c in columns if kinds[c])
        own = tuple(sorted(counts))
        size = int(tied[columns.start])
        yield TieGroup(columns, int(above[columns.start]), size, own, tuple(counts[kind] for kind in own))


def best_order(counts: Sequence[int], adds: Adds, sign: int) -> list[int]:
    """Return the indices of kinds in the order with the largest sum, or the smallest if `sign` is -1.

    The term of a document depends on its kind and on the number of documents of each kind above it. The best order of
    some documents of each kind therefore follows from the best orders with one document fewer: dynamic programming
    finds it exactly.
    """
    best, last = {(0,) * len(counts): 0.0}, dict[tuple[int, ...], int]()
    for placed in product(*(range(count + 1) for count in counts)):
        for kind, count in enumerate(counts):
            if placed[kind] < count:
                after = (*placed[:kind], placed[kind] + 1, *placed[kind + 1 :])
                value = best[placed] + sign * adds(kind, placed)
                if after not in best or value > best[after]:
                    best[after], last[after] = value, kind
    order, remaining = [], tuple(counts)
    while any(remaining):
        kind = last[remaining]
        order.append(kind)
        remaining = (*remaining[:kind], remaining[kind] - 1, *remaining[kind + 1 :])
    return order[::-1]


@lru_cache(maxsize=4096)
def hypergeometric(size: int, special: int, draws: int) -> tuple[tuple[int, float], ...]:
    """Return the possible numbers of special items among those drawn, with their probabilities.

    Weights start with 1 at the most likely number and follow the ratios of neighbours from there, so none overflows.
    """
    least, most = max(0, draws - (size - special)), min(special, draws)
    mode = min(max((draws + 1) * (special + 1) // (size + 2), least), most)
    weights = {mode: 1.0}
    for c in range(mode, most):
        weights[c + 1] = weights[c] * (special - c) * (draws - c) / ((c + 1) * (size - special - draws + c + 1))
    for c in range(mode, least, -1):
        weights[c - 1] = weights[c] * c * (size - special - draws + c) / ((special - c + 1) * (draws - c + 1))
    total = sum(weights.values())
    return tuple((c, weights[c] / total) for c in range(least, most + 1))


def compositions(counts: Sequence[int], size: int, draws: int) -> Iterator[tuple[tuple[int, ...], float]]:
    """Yield the possible numbers of each kind among the first `draws` documents of a group, and their probabilities."""
    if not counts:
        yield (), 1.0
        return
    for c, chance in hypergeometric(size, counts[0], draws):
        for placed, further in compositions(counts[1:], size - counts[0], draws - c):
            yield (c, *placed), chance * further


def check_compositions(measure: object, size: int, counts: Sequence[int]) -> None:
    """Raise TooManyOrders if the mean over the orders of a tie group has too many states."""
    states = size * prod(count + 1 for count in counts)
    if states > MOST:
        raise TooManyOrders(
            f"{measure}: the exact mean over the orders of {size:,} tied documents takes {states:,} steps, more than"
            f" {MOST:,}; ties='sampled' estimates it, and best, worst, trec, order and random take one order"
        )


def mean_of_kind(group: TieGroup, number: int, adds_behind: Callable[[int], Adds], k: int | None) -> float:
    """Return the mean term of a document of a kind, given by its index, over all orders of the group.

    `adds_behind` takes the number of documents of no kind above it in the group.
    """
    others = [count - (i == number) for i, count in enumerate(group.counts)]
    total = 0.0
    for x in range(group.places(k)):
        for placed, chance in compositions(others, group.size - 1, x):
            total += chance * adds_behind(x - sum(placed))(number, placed)
    return total / group.size


def fill_groups(
    batch: Batch, terms: Array, kinds: Array, mean: Callable[[TiedQuery], dict[int, dict[int, float]]]
) -> Array:
    """Return the terms with those of tied documents replaced by their means.

    `mean` returns the means by kind for some tie groups of a query, given by index.
    """
    rows = to_lists(terms)
    for query in tied_queries(batch, kinds):
        for i, means in mean(query).items():
            for c in query.groups[i].columns:
                rows[query.row][c] = means.get(query.kinds[c], 0.0)
    return batch.xp.asarray(rows, dtype=terms.dtype, device=batch.device)


def replace_rows(batch: Batch, terms: Array, rows: Mapping[int, list[float]]) -> Array:
    """Return the terms with those of some queries replaced."""
    every = to_lists(terms)
    for row, own in rows.items():
        every[row] = own
    return batch.xp.asarray(every, dtype=terms.dtype, device=batch.device)
