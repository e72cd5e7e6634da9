"""Columns: the ids and numbers of many rows as arrays, from any input, without a Python object per row.

An id is a range of bytes in a buffer, as in TREC text. The functions that match and rank lines of TREC text and break
their ties therefore also work on the rows of tables, with the same results.
"""

from collections.abc import Sequence
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from gradely.data.hashing import (
    SALT,
    compare_tokens,
    hashes,
    is_distinct,
    ranges,
    slots,
    table_bits,
)
from gradely.data.ids import (
    PAD,
    Bools,
    Floats,
    Ids,
    Ints,
    U,
)
from gradely.errors import DataError, clip, hint_number


class Triples(NamedTuple):
    """Rows of a table: query, document and number."""

    query: Ids
    document: Ids
    value: Floats


def find_nameless(query: Ids, document: Ids) -> int | None:
    """Return the first row whose query or document is empty text, or None."""
    empty = np.flatnonzero((query.start == query.stop) | (document.start == document.stop))
    return int(empty[0]) if len(empty) else None


def check_names(query: Ids, document: Ids, where: str, first: int) -> None:
    """Raise DataError for rows whose query or document is empty; `first` is the number of the first row, from 0."""
    row = find_nameless(query, document)
    if row is not None:
        which = "query" if query.start[row] == query.stop[row] else "document"
        raise DataError(f"{where} {first + row + 1}: the id of the {which} is missing")


def compact(ids: Ids) -> Ids:
    """Copy ids into a text of their own that holds nothing else."""
    size = ids.stop - ids.start
    stop = PAD + np.cumsum(size)
    text = np.full(PAD + int(size.sum()) + PAD, 10, np.uint8)
    text[PAD : len(text) - PAD] = ids.text[ranges(ids.start, size)]
    return Ids(text, stop - size, stop)


def concatenate(parts: Sequence[Ids]) -> Ids:
    """Concatenate the ids of several columns."""
    base = np.cumsum([0, *(len(part.text) for part in parts)]).tolist()
    start, stop = (
        np.concatenate([part[i] + skipped for part, skipped in zip(parts, base, strict=False)]) for i in (1, 2)
    )
    return Ids(np.concatenate([part.text for part in parts]), start, stop)


def number_ids(ids: Ids) -> tuple[Ints, Ints]:
    """Number ids in the order of first appearance; return the number of each row, and the first row of each id.

    Equal ids are found by hash and confirmed by their bytes; if two ids share a hash, a dict tells them apart.
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
    """Return the ids in the order of first appearance, with most duplicates removed.

    All ids are written into a hash table, the first ones last. An id that finds an equal one in its slot is removed.
    """
    number = np.arange(len(ids.start))
    bits = table_bits(len(number))
    slot = slots(hashes(*ids), 64 - bits, bits)
    table = np.empty(1 << bits, np.int64)
    table[slot[::-1]] = number[::-1]
    winner = table[slot]
    return ids.take(np.flatnonzero((winner == number) | ~_same_ids(ids, number, winner)))


def earliest_alike(query: Ints, document: Ids) -> Ints | None:
    """Return, for each row, the first row that has the same query and document; None if all rows differ."""
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
    for row in np.flatnonzero(~confirmed).tolist():  # rows that share only a hash with another row
        earliest[row] = first_row.setdefault((int(query[row]), document.name(row)), row)
    return None if (earliest == np.arange(len(order))).all() else earliest


def _same_ids(ids: Ids, one: Ints, other: Ints) -> Bools:
    """Return flags of the pairs of rows with the same id."""
    size = ids.stop - ids.start
    alike: Bools = size[one] == size[other]
    here = np.flatnonzero(alike & (one != other))
    alike[here] = compare_tokens(ids.text, ids.start[one[here]], ids.text, ids.start[other[here]], size[one[here]])
    return alike


def to_number(value: object, title: str) -> float:
    """Convert a value, or its text, to a number; raise DataError for anything but a finite number."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except OverflowError:
        raise DataError(f"{title} {clip(_text(value))} is too large to represent") from None
    except (TypeError, ValueError):
        raise DataError(f"{title} {clip(_text(value))} is not a number{hint_number(value)}") from None
    if not isfinite(number):
        raise DataError(f"{title} is {number}; it must be a finite number")
    return number


def _text(value: object) -> str:
    """Return the text of a value; Python refuses to print integers of thousands of digits."""
    try:
        return str(value)
    except ValueError:
        return f"of type {type(value).__name__}"


def check_finite(values: Floats, kind: str, name: str, start: int, row: str) -> Floats:
    """Return the numbers; raise DataError for NaN and infinity."""
    odd = np.flatnonzero(~np.isfinite(values))
    if len(odd):
        problem = f"{row} {start + odd[0] + 1}: the {kind} is {values[odd[0]]}"
        raise DataError(f"{name}: {problem}; it must be a finite number")
    return values


def numbers_of_objects(values: list[Any], kind: str, name: str, start: int, row: str = "row") -> Floats:
    """Convert Python objects to finite numbers; text is read as in a CSV file."""
    out = np.empty(len(values))
    for i, value in enumerate(values):
        try:
            out[i] = float(value) if not (isinstance(value, str) and "_" in value) else None
        except (TypeError, ValueError, OverflowError):
            problem = f"{row} {start + i + 1}: the {kind} {clip(str(value))} is not a number{hint_number(value)}"
            raise DataError(f"{name}: {problem}") from None
    return check_finite(out, kind, name, start, row)
