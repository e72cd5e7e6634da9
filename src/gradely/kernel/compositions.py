"""Compositions: how many documents of each kind stand above a place of a tie group, and with what chance.

Many measures depend, at a place, on nothing else. So their mean over all orders is a mean over compositions, which are
far fewer. Documents that only take a place, as unjudged ones do, are the rest and no kind of their own. The search for
the best order (`kernel/ties.py`) goes through the same states.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from math import prod
from typing import NamedTuple

from gradely.errors import TooManyOrders
from gradely.kernel.backend import to_lists
from gradely.kernel.batch import Array, Batch
from gradely.kernel.ties import Adds

MOST = 100_000
"""places times compositions of a tie group of which a mean is taken, which take half a second"""


class TieGroup(NamedTuple):
    """A tie group of one query, with the documents of a kind in it."""

    columns: range
    """its judged documents"""
    above: int
    """how many documents stand above the group"""
    size: int
    """how many documents it has, judged or not"""
    kinds: tuple[int, ...]
    """the distinct kinds, ascending"""
    counts: tuple[int, ...]
    """how many documents there are of each"""

    @property
    def rest(self) -> int:
        """How many documents are of no kind."""
        return self.size - sum(self.counts)

    @property
    def states(self) -> int:
        """How many ways there are to have placed some of each kind."""
        return prod(count + 1 for count in self.counts)

    def places(self, k: int | None) -> int:
        """Return how many of its places lie in the top k."""
        return self.size if k is None else min(max(k - self.above, 0), self.size)

    def rest_fills(self, k: int | None) -> bool:
        """True where documents of no kind can fill those places."""
        return self.places(k) <= self.rest


def find_cut(groups: Sequence[TieGroup], k: int | None) -> int | None:
    """Return the number of the tie group that the cut-off divides; None where it divides none."""
    return next((i for i, group in enumerate(groups) if 0 < group.places(k) < group.size), None)


def tie_groups(batch: Batch, row: int, kinds: Sequence[int]) -> Iterator[TieGroup]:
    """Yield the tie groups of a query, also those of one document; `kinds` has a number for each column, 0 for none."""
    first, above, tied, judged = (to_lists(x[row, :]) for x in (batch.first, batch.above, batch.tied, batch.judged))
    for start, members in groupby((c for c in range(len(kinds)) if judged[c]), key=lambda c: first[c]):
        columns = range(int(start), int(start) + len(list(members)))
        counts = Counter(kinds[c] for c in columns if kinds[c])
        own = sorted(counts)
        yield TieGroup(
            columns,
            int(above[columns.start]),
            int(tied[columns.start]),
            tuple(own),
            tuple(counts[kind] for kind in own),
        )


@lru_cache(maxsize=4096)
def hypergeometric(size: int, special: int, draws: int) -> tuple[tuple[int, float], ...]:
    """Return how many special ones are among those drawn, and with what chance.

    The ratios of neighbours are followed from the likeliest number, 1, so that nothing overflows.
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
    """Yield how many of each kind are among the first documents of a group, and with what chance."""
    if not counts:
        yield (), 1.0
        return
    for c, chance in hypergeometric(size, counts[0], draws):
        for placed, further in compositions(counts[1:], size - counts[0], draws - c):
            yield (c, *placed), chance * further


def check_compositions(measure: object, size: int, counts: Sequence[int]) -> None:
    """Refuse the mean over the orders of a group with too many states."""
    states = size * prod(count + 1 for count in counts)
    if states > MOST:
        raise TooManyOrders(
            f"{measure}: the exact mean over the orders of {size:,} tied documents takes {states:,} steps, more than"
            f" {MOST:,}; ties='sampled' estimates it, and best, worst, trec, order and random take one order"
        )


def mean_of_kind(group: TieGroup, number: int, adds_behind: Callable[[int], Adds], k: int | None) -> float:
    """Return what a document of a kind, by number, adds on average over all orders of the group.

    `adds_behind` takes how many documents of no kind stand above in the group.
    """
    others = [count - (i == number) for i, count in enumerate(group.counts)]
    total = 0.0
    for x in range(group.places(k)):
        for placed, chance in compositions(others, group.size - 1, x):
            total += chance * adds_behind(x - sum(placed))(number, placed)
    return total / group.size


def fill_groups(
    batch: Batch, terms: Array, kinds: Array, mean: Callable[[int, list[TieGroup]], dict[int, dict[int, float]]]
) -> Array:
    """Return the terms, with those of documents of a kind that tie replaced by their means.

    `mean` takes the number of a query and its groups, and returns, for the numbers of some groups, means by kind.
    """
    xp, numbers = batch.xp, to_lists(batch.to_real(kinds))
    rows = to_lists(terms)
    for q, odd in enumerate(to_lists(xp.any((kinds > 0) & (batch.tied > 1), axis=1))):
        if not odd:
            continue
        own = [int(kind) for kind in numbers[q]]
        groups = list(tie_groups(batch, q, own))
        for i, means in mean(q, groups).items():
            for c in groups[i].columns:
                rows[q][c] = means.get(own[c], 0.0)
    return xp.asarray(rows, dtype=terms.dtype, device=batch.device)
