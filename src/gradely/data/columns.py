"""Columns: ids and numbers of many rows as arrays, wherever they came from; no Python object per row.

An id is a stretch of bytes in a buffer, as in TREC text, so that everything that is done with lines of TREC text
(matching, ranking, breaking ties) is done with rows of tables by the same functions, with the same results.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gradely.data.trec.hashing import SALT, hashes, is_distinct, slots, table_bits
from gradely.data.trec.match import ranges
from gradely.data.trec.tokens import PAD, Tokens, U, compare_tokens, decode
from gradely.data.types import Bools, Bytes, Floats, Ints, Words


class Ids(NamedTuple):
    """One id per row: the bytes start[i] … stop[i] - 1 of a text that has room around them."""

    text: Bytes
    start: Ints
    stop: Ints

    @classmethod
    def of(cls, tokens: Tokens) -> "Ids":
        """Return names that are held in as little memory as possible as ids."""
        start = tokens.start.astype(np.int64)
        return cls(tokens.text, start, start + tokens.size)

    def take(self, rows: Ints) -> "Ids":
        """Return the ids of some rows."""
        return Ids(self.text, self.start[rows], self.stop[rows])

    def hashes(self) -> Words:
        """Return a 64-bit hash of each id."""
        return hashes(self.text, self.start, self.stop)

    def bytes_at(self, row: int) -> bytes:
        """Return the id of one row."""
        return self.text[self.start[row] : self.stop[row]].tobytes()

    def name(self, row: int) -> str:
        """Return the id of one row as text."""
        return decode(self.bytes_at(row))

    def names(self) -> list[str]:
        """Return the ids of all rows as text."""
        return [self.name(i) for i in range(len(self.start))]

    @property
    def longest(self) -> int:
        """How many bytes the longest id has."""
        return int((self.stop - self.start).max(initial=0))

    def compact(self) -> "Ids":
        """Return the ids with a text of their own, which holds nothing else."""
        size = self.stop - self.start
        stop = PAD + np.cumsum(size)
        text = np.full(PAD + int(size.sum()) + PAD, 10, np.uint8)
        text[PAD : len(text) - PAD] = self.text[ranges(self.start, size)]
        return Ids(text, stop - size, stop)

    def tokens(self) -> Tokens:
        """Return the ids as a sequence of text, in as little memory as holds them."""
        size = self.stop - self.start
        start = self.start.astype(np.uint32) if len(self.text) < 1 << 32 else self.start
        return Tokens(self.text, start, size.astype(np.uint16) if size.max(initial=0) < 1 << 16 else size)


class Triples(NamedTuple):
    """Rows of a table: a query, a document and a number each."""

    query: Ids
    document: Ids
    value: Floats


def concatenate(parts: Sequence[Ids]) -> Ids:
    """Return the ids of several columns as one."""
    base = np.cumsum([0, *(len(part.text) for part in parts)]).tolist()
    start, stop = (
        np.concatenate([part[i] + skipped for part, skipped in zip(parts, base, strict=False)]) for i in (1, 2)
    )
    return Ids(np.concatenate([part.text for part in parts]), start, stop)


def number_ids(ids: Ids) -> tuple[Ints, Ints]:
    """Return a number for each row, equal where ids are, in the order of first appearance; and the first row of each.

    Hashes bring equal ids together and bytes confirm them; where two ids share a hash, a dict tells them apart.
    """
    _, first, which = np.unique(ids.hashes(), return_index=True, return_inverse=True)
    if not _same_ids(ids, np.arange(len(which)), first[which]).all():
        numbers: dict[str, int] = {}
        which = np.fromiter((numbers.setdefault(ids.name(i), len(numbers)) for i in range(len(which))), np.int64)
        first = np.unique(which, return_index=True)[1]
    order = np.argsort(first)
    number = np.empty_like(order)
    number[order] = np.arange(len(order))
    return number[which], first[order]


def leave_out_repeats(ids: Ids) -> Ids:
    """Return the ids in the order of first appearance; those that are left out are there before, and most are left out.

    All are put into a table by their hashes, the first ones last; each one that finds itself in its place is left out.
    """
    number = np.arange(len(ids.start))
    bits = table_bits(len(number))
    slot = slots(ids.hashes(), 64 - bits, bits)
    table = np.empty(1 << bits, np.int64)
    table[slot[::-1]] = number[::-1]
    winner = table[slot]
    return ids.take(np.flatnonzero((winner == number) | ~_same_ids(ids, number, winner)))


def earliest_alike(query: Ints, document: Ids) -> Ints | None:
    """Return, for each row, the first row that has the same query and document; None where all rows differ."""
    key = document.hashes()
    key ^= query.astype(U) * SALT
    if is_distinct(key):
        return None
    order = np.argsort(key, kind="stable")
    new = np.flatnonzero(np.concatenate([[True], key[order][1:] != key[order][:-1]]))
    earliest = np.arange(len(order))
    candidate = np.empty_like(order)
    candidate[order] = np.repeat(order[new], np.diff(new, append=len(order)))
    confirmed = (query == query[candidate]) & _same_ids(document, earliest, candidate)
    earliest[confirmed] = candidate[confirmed]
    first_row: dict[tuple[int, str], int] = {}
    for row in np.flatnonzero(~confirmed).tolist():  # rows that only share a hash with another
        earliest[row] = first_row.setdefault((int(query[row]), document.name(row)), row)
    return None if (earliest == np.arange(len(order))).all() else earliest


def _same_ids(ids: Ids, one: Ints, other: Ints) -> Bools:
    """Return which pairs of rows have the same id."""
    size = ids.stop - ids.start
    alike: Bools = size[one] == size[other]
    here = np.flatnonzero(alike & (one != other))
    alike[here] = compare_tokens(ids.text, ids.start[one[here]], ids.text, ids.start[other[here]], size[one[here]])
    return alike
