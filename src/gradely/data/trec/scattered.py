"""Files whose queries are not contiguous, in two passes and little memory.

The first pass finds the judged documents and their scores. The second counts, for every line, which judged documents of
its query it stands above or ties with. Of the lines themselves only hashes are kept, to find one that is there twice.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from gradely.data.hits import Hits
from gradely.data.rule import Rule
from gradely.data.search import end_of_better
from gradely.data.trec.chunks import Odd, Piece
from gradely.data.trec.match import UNKNOWN, Judgments, ranges
from gradely.data.trec.place import Lines, find, read
from gradely.data.trec.tokens import hashes, in_byte_order, shuffle_keys
from gradely.data.types import Bools, Bytes, Floats, Ints, Words

Each: TypeAlias = Callable[[Callable[[Piece], Any]], Iterator[Any]]
"""runs a function over all pieces of a file, in order"""


class Found(NamedTuple):
    """The judged documents of a run by query, best score first; those of query i are start[i] … start[i+1] - 1."""

    start: Ints
    query: Ints
    row: Ints
    score: Floats
    line: Ints
    """the number of its line in the file, from 0"""


def scattered(judgments: Judgments, rule: Rule, each: Each) -> Hits:
    """Return where the judged documents of a file landed."""
    parts = list(each(lambda piece: _look(judgments, rule, piece)))
    base = np.cumsum([len(part.key) for part in parts]) - [len(part.key) for part in parts]
    _check_distinct(np.concatenate([part.key for part in parts]))
    retrieved = np.sum([part.retrieved for part in parts], axis=0)
    unjudged = tuple(dict.fromkeys(name for part in parts for name in part.unjudged))
    found = _sorted(judgments, parts, base)
    slots = len(found.row) + len(found.start)
    above, tied, ahead = (np.zeros(size, np.int64) for size in (slots, slots, len(found.row)))
    for low, (first, last), before in each(
        lambda piece: _count(judgments, rule, found, piece, int(base[piece.number]))
    ):
        np.add.at(above, low, 1)
        np.add.at(tied, first, 1)
        np.subtract.at(tied, last, 1)
        np.add.at(ahead, before, 1)
    above, tied = _running(found, above), _running(found, tied)
    place = above + ahead if rule.breaks else None
    return Hits(found.query, found.row, above, tied, place, retrieved, retrieved > 0, unjudged)


class Seen(NamedTuple):
    """What the first pass keeps of a piece."""

    key: Words
    retrieved: Ints
    unjudged: list[str]
    query: Ints
    row: Ints
    score: Floats
    line: Ints


def _look(judgments: Judgments, rule: Rule, piece: Piece) -> Seen:
    """Find the judged documents of a piece."""
    lines, unjudged = read(judgments, piece, rule)
    line, row = find(judgments, lines)
    known = lines.query != UNKNOWN
    retrieved = np.zeros(len(judgments.qrels), np.int64)
    np.add.at(retrieved, lines.query[known], lines.size[known])
    query = lines.query[np.searchsorted(lines.first, line, side="right") - 1]
    return Seen(lines.key, retrieved, unjudged, query, row, lines.score[line], line)


def _check_distinct(key: Words) -> None:
    key.sort()
    if (key[1:] == key[:-1]).any():
        raise Odd


def _sorted(judgments: Judgments, parts: list[Seen], base: Ints) -> Found:
    """Return the judged documents of all pieces."""
    query, row, score = (np.concatenate([getattr(part, name) for part in parts]) for name in ("query", "row", "score"))
    line = np.concatenate([part.line + first for part, first in zip(parts, base.tolist(), strict=True)])
    order = np.lexsort((-score, query))
    start = np.searchsorted(query[order], np.arange(len(judgments.qrels) + 1))
    return Found(start, query[order], row[order], score[order], line[order])


Counts: TypeAlias = tuple[Ints, tuple[Ints, Ints], Ints]


def _count(judgments: Judgments, rule: Rule, found: Found, piece: Piece, base: int) -> Counts:
    """Return, for the lines of a piece, slots of judged documents.

    They are those from which on documents are lower, those between which they are tied, and the tied ones that a line
    stands before.
    """
    lines, _ = read(judgments, piece, rule)
    query = np.repeat(lines.query, lines.size)
    line = np.flatnonzero(query != UNKNOWN)
    query, score = query[line], lines.score[line]
    bounds = found.start[query], found.start[query + 1]
    high = end_of_better(*bounds, lambda at: found.score[at] > score)
    low = end_of_better(*bounds, lambda at: found.score[at] >= score)
    tied = np.flatnonzero(low > high)
    before = _before(judgments, rule, found, lines, (line[tied], high[tied], low[tied]), base)
    return low + query, (high[tied] + query[tied], low[tied] + query[tied]), before


def _before(
    judgments: Judgments, rule: Rule, found: Found, lines: Lines, tied: tuple[Ints, Ints, Ints], base: int
) -> Ints:
    """Return the judged documents that tied lines stand before, once for each such line."""
    line, high, low = tied
    if not rule.breaks or not len(line):
        return np.zeros(0, np.int64)
    line, hit = np.repeat(line, low - high), ranges(high, low - high)
    if rule.ties == "order":
        return hit[line + base < found.line[hit]]
    mine = _keys(rule, lines.text, lines.start[line], lines.stop[line], _salt(lines, line))
    docs, row = judgments.docs, found.row[hit]
    start = docs.start[row].astype(np.int64)
    theirs = _keys(rule, docs.text, start, start + docs.size[row], judgments.salt[found.query[hit]])
    return hit[_less(mine, theirs)]


def _salt(lines: Lines, line: Ints) -> Words:
    return lines.salt[np.searchsorted(lines.first, line, side="right") - 1]


def _keys(rule: Rule, text: Bytes, start: Ints, stop: Ints, salt: Words) -> list[Words]:
    """Return numbers of some documents, the first one that differs decides, and the lower one stands first."""
    if rule.ties == "random":
        return [shuffle_keys(rule.seed, salt, hashes(text, start, stop))]
    return [~word for word in in_byte_order(text, start, stop - start)]


def _less(mine: list[Words], theirs: list[Words]) -> Bools:
    """Return which keys are less; one that ends early goes on with the highest number, as the shorter name is less."""
    width = max(len(mine), len(theirs))
    full = np.full_like(mine[0], ~np.uint64(0))
    less, undecided = np.zeros(len(full), bool), np.ones(len(full), bool)
    for i in range(width):
        left, right = (key[i] if i < len(key) else full for key in (mine, theirs))
        less |= undecided & (left < right)
        undecided &= left == right
    return less


def _running(found: Found, count: Ints) -> Ints:
    """Return sums of counts from the first slot of each document's query to its own; each query has one to spare."""
    sums: Ints = np.concatenate([[0], np.cumsum(count)])
    slot = np.arange(len(found.row)) + found.query
    out: Ints = sums[slot + 1] - sums[found.start[found.query] + found.query]
    return out
