"""Tie breaking: the order of documents with the same score, for policies that order documents.

Only this module of data knows these policies by name. There are two implementations with the same results: for lists of
names in memory (`break_ties`), and for arrays over the text of a file or table (`Documents`). Engines follow the same
`Order`.
"""

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
from gradely.data.ids import Bools, Bytes, Floats, Ids, Ints, Words, encode
from gradely.settings import Settings


class Order(NamedTuple):
    """How tied documents are ordered: by input order, or else by a drawn key, if any, and then by name."""

    by_line: bool = False
    """in the order of the input"""
    shuffled: bool = False
    """by a key that is drawn with the seed; ids break ties between documents with the same key"""
    descending: bool = False
    """by name, from the last to the first"""


ORDERS = {"trec": Order(descending=True), "order": Order(by_line=True), "random": Order(shuffled=True)}
"""by policy; names are compared by their bytes"""
FEW = 4
"""comparisons per tied line up to which judged documents are compared with all others; beyond, all are sorted"""


def break_ties(settings: Settings, query: str, tied: list[str]) -> list[str]:
    """Return the tied documents of a query, given in input order, in the order of the policy."""
    order = ORDERS[settings.ties]
    if order.by_line:
        return tied
    names = [encode(doc) for doc in tied]
    keys = shuffle_keys_of(settings.seed, encode(query), names).tolist() if order.shuffled else [0] * len(names)
    return [doc for *_, doc in sorted(zip(keys, names, tied, strict=True), reverse=order.descending)]


def places_among_tied(
    settings: Settings, query: str, ranking: list[str], scores: Floats, docs: Sequence[str], mine: Floats
) -> Ints:
    """Return the position of some documents of a ranking, given with their scores, within their tie groups."""
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


class Documents(NamedTuple):
    """Documents that may tie: their order, their names, their lines, and their keys if keys are drawn."""

    order: Order
    text: Bytes
    start: Ints
    stop: Ints
    line: Ints
    """number of the line in the file, or in the part if only lines of the same part are compared"""
    key: Words | None

    @classmethod
    def of(cls, settings: Settings, names: Ids, line: Ints, queries: Ids, owner: Ints) -> "Documents":
        """Create it from the names of documents, their lines, and the index of the query of each."""
        order, key = ORDERS[settings.ties], None
        if order.shuffled:
            query = hashes(*queries, FIXED_KEYS)[owner]
            key = shuffle_keys(settings.seed, query, hashes(*names, FIXED_KEYS))
        return cls(order, *names, line, key)

    def at(self, rows: Ints) -> "Documents":
        """Return some of the documents."""
        key = None if self.key is None else self.key[rows]
        return self._replace(start=self.start[rows], stop=self.stop[rows], line=self.line[rows], key=key)

    def comes_before(self, other: "Documents") -> Bools:
        """Return flags of the pairs of tied documents in which the first one comes before the second."""
        if self.order.by_line:
            return self.line < other.line
        if self.key is None or other.key is None:
            return _name_before(self, other)
        before: Bools = self.key < other.key
        alike = np.flatnonzero(self.key == other.key)
        before[alike] = _name_before(self.at(alike), other.at(alike))
        return before

    def sort(self, group: Ints) -> Ints:
        """Return the order that sorts the groups, and the documents of each group by the policy."""
        if self.order.by_line:
            return np.lexsort((self.line, group))
        name = rank_names(
            self.text, self.start, self.stop, group if self.key is None else _number_alike(self.key, group)
        )
        name = -name if self.order.descending else name
        return np.lexsort((name, group) if self.key is None else (name, self.key, group))

    def places(self, line: Ints, first: Ints, last: Ints) -> Ints:
        """Return the number of the tied documents first … last - 1 that come before each given line.

        The tie groups of the lines are in ascending order. These Documents are those of all tie groups, concatenated.
        """
        new = np.flatnonzero(np.diff(first, prepend=-1))
        size = (last - first)[new]
        offset = np.repeat(np.cumsum(size) - size, np.diff(new, append=len(first)))
        own = offset + line - first
        if int((last - first).sum()) <= FEW * int(size.sum()):
            mine, other = np.repeat(np.arange(len(own)), last - first), ranges(offset, last - first)
            before = self.at(other).comes_before(self.at(own[mine]))
            return np.bincount(mine[before], minlength=len(own))
        place = np.empty(int(size.sum()), np.int64)
        place[self.sort(np.repeat(np.arange(len(size)), size))] = np.arange(len(place))
        out: Ints = place[own] - offset
        return out


def _name_before(mine: Documents, other: Documents) -> Bools:
    sign = compare_names(mine.text, mine.start, mine.stop, other.text, other.start, other.stop)
    return sign > 0 if mine.order.descending else sign < 0


def _number_alike(key: Words, group: Ints) -> Ints:
    """Return the same number for documents with the same group and key, which are then compared by name."""
    order = np.lexsort((key, group))
    new = (np.diff(group[order], prepend=-1) != 0) | np.append(True, np.diff(key[order]) != 0)[: len(key)]
    out = np.empty(len(key), np.int64)
    out[order] = np.cumsum(new)
    return out
