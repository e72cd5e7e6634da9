"""Files whose queries are not contiguous, in two passes and little memory.

The first pass finds the judged documents and their scores. The second counts, for every line, which judged documents of
its query it stands above or ties with. Of the lines themselves only hashes are kept, to find one that is there twice,
and beyond some millions in a temporary file.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from gradely.data.columns import leave_out_repeats
from gradely.data.hits import Hits
from gradely.data.search import end_of_better
from gradely.data.trec.chunks import ChangedFile, IrregularText
from gradely.data.trec.hashing import FIXED_KEYS, hashes
from gradely.data.trec.match import UNKNOWN, Judgments
from gradely.data.trec.place import Lines, Rows, match_lines, read_lines
from gradely.data.trec.repeats import check_names, find_repeats, lines_with
from gradely.data.trec.spool import Spool
from gradely.data.trec.tie_breaking import Documents, sort_tied, stands_before
from gradely.data.types import Floats, Ints, Words
from gradely.settings import Settings

Pass: TypeAlias = Callable[[Callable[[Rows], Any]], Iterator[Any]]
"""runs a function over all pieces of a file, in order"""


class Look(NamedTuple):
    """What the first pass keeps of a piece."""

    key: Words
    query: Ints
    """its judged queries, as indices, once or more"""
    size: Ints
    """how many lines there are of each"""
    unjudged: list[str]
    hits: tuple[Ints, Ints, Floats, Ints]
    """query, row, score and line of the judged documents"""


class Judged(NamedTuple):
    """The judged documents of a run by query, best first; those of query i are start[i] … start[i+1] - 1."""

    start: Ints
    query: Ints
    row: Ints
    score: Floats
    docs: Documents | None
    """what breaks ties between them, where ties are broken"""


class Pieces(NamedTuple):
    """What the first pass finds in all pieces."""

    base: list[int]
    """how many lines stand before each piece; the last entry is that of all"""
    repeats: Words
    """keys of more than one line"""
    retrieved: Ints
    unjudged: tuple[str, ...]
    hits: list[Any]
    """query, row, score and line, as columns"""


def count_scattered(name: str, judgments: Judgments, settings: Settings, over_pieces: Pass) -> Hits:
    """Return where the judged documents of a file of some name stand."""
    first = _first_pass(name, judgments, settings, over_pieces)
    if len(first.repeats):
        check_names(over_pieces(lambda piece: lines_with(read_lines(judgments, piece, settings), first.repeats)))
    judged = _rank(judgments, settings, *first.hits)
    slots = len(judged.row) + len(judged.start)
    above, tied, ahead = (np.zeros(slots, np.int64) for _ in range(3))
    done = 0
    for lines, better, (high, low), before in over_pieces(
        lambda piece: _second_look(judgments, settings, judged, piece, first.base)
    ):
        done += lines
        np.add.at(above, better, 1)
        np.add.at(tied, high, 1)
        np.subtract.at(tied, low, 1)
        if settings.breaks_ties:
            np.add.at(ahead, before, 1)
            np.subtract.at(ahead, low, 1)
    if done != first.base[-1]:
        raise ChangedFile
    above, tied, ahead = (_running(judged, count) for count in (above, tied, ahead))
    place = above + ahead if settings.breaks_ties else None
    return Hits(judged.query, judged.row, above, tied, place, first.retrieved, first.retrieved > 0, first.unjudged)


def _first_pass(name: str, judgments: Judgments, settings: Settings, over_pieces: Pass) -> Pieces:
    """Find the judged documents of all pieces; of a piece nothing is kept that is as long as the judgments."""
    base, hits, in_run = [0], list[Any](), np.zeros(len(judgments.key), bool)
    retrieved, unjudged = np.zeros(len(judgments.qrels), np.int64), dict[str, None]()
    with Spool(name, np.uint64) as keys:
        for look in over_pieces(lambda piece: _first_look(judgments, settings, piece)):
            np.add.at(retrieved, look.query, look.size)
            unjudged.update(dict.fromkeys(look.unjudged))
            query, row, score, line = look.hits
            if in_run[row].any():
                raise IrregularText
            in_run[row] = True
            hits.append((query, row, score, line + base[-1]))
            keys.add(look.key, look.key.astype(np.uint8))
            base.append(base[-1] + len(look.key))
        repeats = find_repeats(keys)
    if base[-1] == 0:
        raise IrregularText
    columns = [np.concatenate(parts) for parts in zip(*hits, strict=True)]
    return Pieces(base, repeats, retrieved, tuple(unjudged), columns)


def _first_look(judgments: Judgments, settings: Settings, piece: Rows) -> Look:
    """Find the judged documents of a piece."""
    lines = read_lines(judgments, piece, settings)
    line, row = match_lines(judgments, lines)
    judged = lines.query != UNKNOWN
    unjudged = leave_out_repeats(lines.unjudged()).names()
    hits = lines.query[lines.owner(line)], row, lines.score[line], line
    return Look(lines.key, lines.query[judged], lines.size[judged], unjudged, hits)


def _rank(judgments: Judgments, settings: Settings, query: Ints, row: Ints, score: Floats, line: Ints) -> Judged:
    """Return the judged documents in the order in which they stand, tied ones as the policy has them."""
    order = np.lexsort((-score, query))
    query, row, score, line = query[order], row[order], score[order], line[order]
    start = np.searchsorted(query, np.arange(len(judgments.qrels) + 1))
    if not settings.breaks_ties:
        return Judged(start, query, row, score, None)
    new = (np.diff(query, prepend=-1) != 0) | np.append(True, score[1:] != score[:-1])[: len(score)]
    docs = _documents(judgments, settings, query, row, line)
    order = sort_tied(settings, docs, np.cumsum(new))
    return Judged(start, query, row[order], score, docs.at(order))


def _documents(judgments: Judgments, settings: Settings, query: Ints, row: Ints, line: Ints) -> Documents:
    """Return what breaks ties between judged documents."""
    names, queries, hashed = judgments.docs, judgments.queries, None
    if settings.ties == "random":
        which, owner = np.unique(query, return_inverse=True)
        begin = queries.start[which].astype(np.int64)
        hashed = hashes(queries.text, begin, begin + queries.size[which], FIXED_KEYS)[owner]
    start = names.start[row].astype(np.int64)
    return Documents.of(settings, names.text, (start, start + names.size[row]), line, hashed)


Counts: TypeAlias = tuple[int, Ints, tuple[Ints, Ints], Ints]


def _second_look(judgments: Judgments, settings: Settings, judged: Judged, piece: Rows, base: list[int]) -> Counts:
    """Return how many lines a piece has and, for its lines, slots of judged documents.

    They are those from which on documents are lower, those between which they are tied, and those from which on tied
    documents stand behind the line.
    """
    lines = read_lines(judgments, piece, settings)
    if piece.number >= len(base) - 1:
        raise ChangedFile
    query = np.repeat(lines.query, lines.size)
    line = np.flatnonzero(query != UNKNOWN)
    query, score = query[line], lines.score[line]
    bounds = judged.start[query], judged.start[query + 1]
    high = end_of_better(*bounds, lambda at: judged.score[at] > score)
    low = end_of_better(high, bounds[1], lambda at: judged.score[at] >= score)
    tied = np.flatnonzero(low > high)
    before = _behind(settings, judged, lines, (line[tied], high[tied], low[tied]), base[piece.number])
    shift = query[tied]
    return len(lines.key), low + query, (high[tied] + shift, low[tied] + shift), before + shift[: len(before)]


def _behind(settings: Settings, judged: Judged, lines: Lines, tied: tuple[Ints, Ints, Ints], base: int) -> Ints:
    """Return the first of the judged documents that stand behind each tied line, among those that tie with it."""
    line, high, low = tied
    if judged.docs is None or not len(line):
        return high[:0]
    docs, mine = judged.docs, lines.documents(settings, line, base)
    return end_of_better(high, low, lambda at: ~stands_before(settings, mine, docs.at(at)))


def _running(judged: Judged, count: Ints) -> Ints:
    """Return sums of counts from the first slot of each document's query to its own; each query has one to spare."""
    sums: Ints = np.concatenate([[0], np.cumsum(count)])
    slot = np.arange(len(judged.row)) + judged.query
    out: Ints = sums[slot + 1] - sums[judged.start[judged.query] + judged.query]
    return out
