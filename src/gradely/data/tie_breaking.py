"""Tie breaking: the order of tied documents."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gradely.data.hashing import (
    FIXED_KEYS,
    compare_names,
    hashes,
    ranges,
    rank_names,
    shuffle_keys,
    shuffle_keys_of,
)
from gradely.data.ids import Bools, Bytes, Floats, Ints, Words, encode
from gradely.settings import Settings


def break_ties(settings: Settings, query: str, tied: list[str]) -> list[str]:
    """Return tied documents of a query, given in the order of the input, as the policy has them."""
    if settings.ties == "trec":
        return sorted(tied, key=encode, reverse=True)
    if settings.ties == "order":
        return tied
    names = [encode(doc) for doc in tied]
    keys = shuffle_keys_of(settings.seed, encode(query), names).tolist()
    return [doc for *_, doc in sorted(zip(keys, names, tied, strict=True))]


def places_among_tied(
    settings: Settings, query: str, ranking: list[str], scores: Floats, docs: Sequence[str], mine: Floats
) -> Ints:
    """Return the place of each of some documents of a ranking, given with their scores, among those that share it."""
    order = np.argsort(-scores, kind="stable")
    descending = -scores[order]
    out = np.zeros(len(docs), np.int64)
    groups: dict[float, list[int]] = {}
    for i, score in enumerate(mine.tolist()):
        groups.setdefault(score, []).append(i)
    for score, members in groups.items():
        first, last = (int(np.searchsorted(descending, -score, side)) for side in ("left", "right"))
        tied = break_ties(settings, query, [ranking[i] for i in order[first:last].tolist()])
        place = {doc: i for i, doc in enumerate(tied)}
        out[members] = [place[docs[i]] for i in members]
    return out


FEW = 4
"""up to so many comparisons per tied line, judged documents are compared with all others; beyond it, all are sorted"""


class Documents(NamedTuple):
    """Documents that may tie: where their names are, their lines, and their keys where ties are random."""

    text: Bytes
    start: Ints
    stop: Ints
    line: Ints
    """the number of the line in the file, or in the piece where it is compared within the piece alone"""
    key: Words | None

    @classmethod
    def of(
        cls, settings: Settings, text: Bytes, name: tuple[Ints, Ints], line: Ints, query: Words | None
    ) -> "Documents":
        """Take names by start and stop; random ties need hashes of the documents' queries, with the fixed keys."""
        start, stop = name
        key = None if query is None else shuffle_keys(settings.seed, query, hashes(text, start, stop, FIXED_KEYS))
        return cls(text, start, stop, line, key)

    def at(self, rows: Ints) -> "Documents":
        """Return some of the documents."""
        key = None if self.key is None else self.key[rows]
        return Documents(self.text, self.start[rows], self.stop[rows], self.line[rows], key)


def stands_before(settings: Settings, mine: Documents, other: Documents) -> Bools:
    """Return for each pair of tied documents whether the first one stands before the second."""
    if settings.ties == "order":
        return mine.line < other.line
    if mine.key is None or other.key is None:
        return _compare(mine, other) > 0
    before: Bools = mine.key < other.key
    alike = np.flatnonzero(mine.key == other.key)
    before[alike] = _compare(mine.at(alike), other.at(alike)) < 0
    return before


def _compare(mine: Documents, other: Documents) -> np.ndarray:
    return compare_names(mine.text, mine.start, mine.stop, other.text, other.start, other.stop)


def sort_tied(settings: Settings, docs: Documents, group: Ints) -> Ints:
    """Return the order that puts groups in order, and in each group the documents as the policy has it."""
    if settings.ties == "order":
        return np.lexsort((docs.line, group))
    name = rank_names(docs.text, docs.start, docs.stop, group if docs.key is None else _number_alike(docs.key, group))
    return np.lexsort((-name, group) if docs.key is None else (name, docs.key, group))


def _number_alike(key: Words, group: Ints) -> Ints:
    """Return numbers that are the same for documents of the same group and key; names decide among those alone."""
    order = np.lexsort((key, group))
    new = (np.diff(group[order], prepend=-1) != 0) | np.append(True, np.diff(key[order]) != 0)[: len(key)]
    out = np.empty(len(key), np.int64)
    out[order] = np.cumsum(new)
    return out


def place_among_tied(settings: Settings, docs: Documents, line: Ints, first: Ints, last: Ints) -> Ints:
    """Return how many of the tied documents first … last - 1 stand before each of some.

    The tie groups of these ascend. `docs` are those of all tie groups in a row.
    """
    new = np.flatnonzero(np.diff(first, prepend=-1))
    size = (last - first)[new]
    offset = np.repeat(np.cumsum(size) - size, np.diff(new, append=len(first)))
    own = offset + line - first
    if int((last - first).sum()) <= FEW * int(size.sum()):
        mine, other = np.repeat(np.arange(len(own)), last - first), ranges(offset, last - first)
        before = stands_before(settings, docs.at(other), docs.at(own[mine]))
        return np.bincount(mine[before], minlength=len(own))
    place = np.empty(int(size.sum()), np.int64)
    place[sort_tied(settings, docs, np.repeat(np.arange(len(size)), size))] = np.arange(len(place))
    out: Ints = place[own] - offset
    return out
