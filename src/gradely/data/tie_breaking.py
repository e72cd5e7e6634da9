"""Tie policies that go by document: each puts the tied documents of a query in order, best first."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from gradely.data.trec.tokens import encoded, shuffle_keys
from gradely.data.types import Floats, Ints

Breaker: TypeAlias = Callable[[list[str], str, int], list[str]]


def _by_name(tied: list[str], query: str, seed: int) -> list[str]:  # noqa: ARG001 - one signature for all
    """By name, descending. Python compares code points, which orders as UTF-8 bytes do."""
    return sorted(tied, reverse=True)


def _as_given(tied: list[str], query: str, seed: int) -> list[str]:  # noqa: ARG001 - one signature for all
    """In the order of the input."""
    return tied


def _shuffled(tied: list[str], query: str, seed: int) -> list[str]:
    """In an order drawn with the seed."""
    key = shuffle_keys(seed, encoded(query), map(encoded, tied))
    return [tied[i] for i in np.argsort(key, kind="stable").tolist()]


BREAKERS: dict[str, Breaker] = {"trec": _by_name, "order": _as_given, "random": _shuffled}


def breaker(ties: str, query: str, seed: int) -> Callable[[list[str]], list[str]]:
    """Return what puts tied documents of a query in order."""
    return lambda tied: BREAKERS[ties](tied, query, seed)


def places_among_tied(
    ranking: list[str], scores: Floats, docs: Sequence[str], mine: Floats, order: Callable[[list[str]], list[str]]
) -> Ints:
    """Return the place of each of some documents of a ranking among those that share its score."""
    out = np.zeros(len(docs), np.int64)
    for score in np.unique(mine):
        tied = order([ranking[i] for i in np.flatnonzero(scores == score).tolist()])
        place = {doc: i for i, doc in enumerate(tied)}
        here = np.flatnonzero(mine == score)
        out[here] = [place[docs[i]] for i in here.tolist()]
    return out
