"""Columns: ids and numbers of many rows as arrays, wherever they came from; no Python object per row.

An id is a stretch of bytes in a buffer, as in TREC text, so that everything that is done with lines of TREC text
(matching, ranking, breaking ties) is done with rows of tables by the same functions, with the same results.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from gradely.data.hashing import (
    LONG,
    SALT,
    compare_tokens,
    find_repeated,
    hashes,
    is_among,
    is_distinct,
    ranges,
    slots,
    table_bits,
    words_of,
)
from gradely.data.ids import (
    PAD,
    Bools,
    Bytes,
    Floats,
    Ids,
    Ints,
    U,
    Words,
)
from gradely.errors import DataError, clip


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
    """Return the ids in the order of first appearance, most repeats left out.

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


def new_tokens(text: Bytes, start: Ints, stop: Ints) -> Ints:
    """Return the lines whose token differs from that of the line before.

    Words are compared with whatever stands before a short token, which is mostly the same in all lines; where they
    differ, or a token is long, the tokens themselves decide.
    """
    size, words = stop - start, words_of(text)
    longest = int(size.max(initial=0))
    differs = (size[1:] != size[:-1]) | (size[1:] > LONG)
    for done in range(8, min(longest, LONG) + 8, 8):
        word = words[np.maximum(stop - done, 0)]
        differs |= word[1:] != word[:-1]
    maybe = np.flatnonzero(differs) + 1
    again = size[maybe] == size[maybe - 1]
    again[again] = compare_tokens(text, start[maybe[again]], text, start[maybe[again] - 1], size[maybe[again]])
    return np.concatenate([[0], maybe[~again]]) if len(size) else maybe


def has_repetition(key: Words, query: Ints, text: Bytes, start: Ints, stop: Ints) -> bool:
    """True where two lines are about the same query and document; lines that merely share their key are not.

    Given are the keys of all lines, the numbers of their queries, and where the names of their documents are.
    """
    suspects = np.flatnonzero(is_among(key, find_repeated(key)))
    names = {(int(query[i]), text[start[i] : stop[i]].tobytes()) for i in suspects.tolist()}
    return len(names) < len(suspects)


def flat(tables: Sequence[Mapping[str, float]], where: Callable[[int, str], str]) -> Floats:
    """Return the values of all tables in a row; `where` says what errors call a value, by table and document."""
    size = sum(map(len, tables))
    try:
        columns = [table.values() for table in tables]
        values = np.fromiter(columns[0] if len(columns) == 1 else chain.from_iterable(columns), np.float64, size)
        if np.count_nonzero(np.isfinite(values)) == size:  # faster than .all()
            return values
    except (TypeError, ValueError, OverflowError):
        pass
    checked = [to_number(value, where(i, doc)) for i, table in enumerate(tables) for doc, value in table.items()]
    return np.array(checked, np.float64)


def to_number(value: object, title: str) -> float:
    """Return a value as a number, also one that is written as text; refuse what is none, or not finite."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except OverflowError:
        raise DataError(f"{title} {clip(_text(value))} is too large for a number") from None
    except (TypeError, ValueError):
        raise DataError(f"{title} {clip(_text(value))} is not a number") from None
    if not isfinite(number):
        raise DataError(f"{title} is {number}; it must be a finite number")
    return number


def _text(value: object) -> str:
    """Return a value as text; Python refuses to write integers of thousands of digits."""
    try:
        return str(value)
    except ValueError:
        return f"of type {type(value).__name__}"


def check_finite(values: Floats, kind: str, name: str, start: int, row: str) -> Floats:
    """Return numbers; refuse NaN and infinity."""
    odd = np.flatnonzero(~np.isfinite(values))
    if len(odd):
        problem = f"{row} {start + odd[0] + 1}: the {kind} is {values[odd[0]]}"
        raise DataError(f"{name}: {problem}; it must be a finite number")
    return values


def numbers_of_objects(values: list[Any], kind: str, name: str, start: int, row: str = "row") -> Floats:
    """Return Python objects as numbers, all finite; text is read as in a CSV file."""
    out = np.empty(len(values))
    for i, value in enumerate(values):
        try:
            out[i] = float(value) if not (isinstance(value, str) and "_" in value) else None
        except (TypeError, ValueError, OverflowError):
            problem = f"{row} {start + i + 1}: the {kind} {clip(str(value))} is not a number"
            raise DataError(f"{name}: {problem}") from None
    return check_finite(out, kind, name, start, row)
