"""Columns: ids and numbers of many rows as arrays, wherever they came from; no Python object per row.

An id is a stretch of bytes in a buffer, as in TREC text, so that everything that is done with lines of TREC text
(matching, ranking, breaking ties) is done with rows of tables by the same functions, with the same results.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gradely.data.hashing import SALT, hashes, is_distinct, ranges, slots, table_bits
from gradely.data.ids import PAD, Bools, Floats, Ids, Ints, U, compare_tokens


class Triples(NamedTuple):
    """Rows of a table: a query, a document and a number each."""

    query: Ids
    document: Ids
    value: Floats


def compact(ids: Ids) -> Ids:
    """Return the ids with a text of their own, which holds nothing else."""
    size = ids.stop - ids.start
    stop = PAD + np.cumsum(size)
    text = np.full(PAD + int(size.sum()) + PAD, 10, np.uint8)
    text[PAD : len(text) - PAD] = ids.text[ranges(ids.start, size)]
    return Ids(text, stop - size, stop)


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
    _, first, which = np.unique(hashes(*ids), return_index=True, return_inverse=True)
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
    slot = slots(hashes(*ids), 64 - bits, bits)
    table = np.empty(1 << bits, np.int64)
    table[slot[::-1]] = number[::-1]
    winner = table[slot]
    return ids.take(np.flatnonzero((winner == number) | ~_same_ids(ids, number, winner)))


def earliest_alike(query: Ints, document: Ids) -> Ints | None:
    """Return, for each row, the first row that has the same query and document; None where all rows differ."""
    key = hashes(*document)
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
