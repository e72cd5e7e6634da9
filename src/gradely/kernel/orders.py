"""The best order of a tie group where no sorting finds it: by search over how many of each kind were placed."""

from collections.abc import Callable, Sequence
from itertools import product
from math import prod
from typing import NamedTuple, TypeAlias

STATES = 2000
"""a tie group with more states is not searched; so many take some milliseconds"""

Adds: TypeAlias = Callable[[int, tuple[int, ...]], float]
"""From a kind, by number, and how many of each kind stand above it in the group, to what a document of it adds."""


class Group(NamedTuple):
    """The tied documents of a query that are of a kind: those that may change places."""

    start: int
    """how many documents stand above them, whatever their order: also those of the group that are put first"""
    kinds: tuple[int, ...]
    """the distinct kinds, ascending"""
    counts: tuple[int, ...]
    """how many there are of each"""

    @property
    def states(self) -> int:
        """How many ways there are to have placed some of each kind."""
        return prod(count + 1 for count in self.counts)


def best_order(counts: Sequence[int], adds: Adds, sign: int) -> list[int]:
    """Return the kinds, by number, in the order with the largest sum, or the smallest for a sign of -1.

    What a document adds depends on its kind and on how many of each kind stand above it. So the best way to place some
    of each kind follows from the best ways to place one fewer: dynamic programming, exact.
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
