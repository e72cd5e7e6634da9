"""A run in pieces: rows are matched with the judgments by hashes, put in rank order, and counted."""

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from gradely.data.columns import Triples, has_repetition, new_tokens
from gradely.data.hashing import (
    SALT,
    hashes,
    is_distinct,
    ranges,
)
from gradely.data.hits import Hits
from gradely.data.ids import (
    LONGEST_NAME,
    Bools,
    Bytes,
    Floats,
    Ids,
    Ints,
    Words,
)
from gradely.data.locate.match import UNKNOWN, Judgments
from gradely.data.qrels import Qrels
from gradely.data.table import IrregularText, ScatteredQueries
from gradely.data.tie_breaking import ORDERS, Documents
from gradely.settings import Settings


class Rows(Protocol):
    """Lines of a file or rows of a table, as arrays when asked for."""

    @property
    def number(self) -> int:
        """How many pieces were before it."""

    def columns(self) -> Triples:
        """Return query, document and score of each row."""


class Lines(NamedTuple):
    """The lines of a piece. Those of its query number i are first[i] … first[i] + size[i] - 1."""

    text: Bytes
    start: Ints
    """where each document's name begins"""
    stop: Ints
    score: Floats
    key: Words
    """hash of query and document"""
    first: Ints
    size: Ints
    query: Ints
    """index of each query in the judgments, or UNKNOWN"""
    name: Ids
    """where each query's name is"""

    @property
    def judged(self) -> Bools:
        """Which of the queries have judgments."""
        flags: Bools = self.query != UNKNOWN
        return flags

    def owner(self, line: Ints) -> Ints:
        """Return which of the piece's queries lines are about."""
        return np.searchsorted(self.first, line, side="right") - 1

    def unjudged(self) -> Ids:
        """Return the names of the queries that have no judgments."""
        return self.name.take(np.flatnonzero(~self.judged))

    def documents(self, settings: Settings, line: Ints, base: int = 0) -> Documents:
        """Return what breaks ties between some lines; `base` lines stand before the piece."""
        names = Ids(self.text, self.start[line], self.stop[line])
        return Documents.of(settings, names, line + base, self.name, self.owner(line))


class PieceHits(NamedTuple):
    """What is left of a piece: its queries, and its judged documents."""

    query: Ints
    size: Ints
    unjudged: list[str]
    """names of queries without judgments"""
    hits: tuple[npt.NDArray[np.int32], ...]
    """query, row, above, tied and, where ties are broken, place of each judged document"""
    seen: Any = None
    """what an observer made of the lines"""


class RunQueries:
    """The queries of a run, gathered piece by piece."""

    def __init__(self, judged: int) -> None:
        """Begin with none; take the number of queries that have judgments."""
        self.retrieved = np.zeros(judged, np.int64)
        """[judged queries] how many lines each one has"""
        self.unjudged: dict[str, None] = {}

    def add(self, part: PieceHits) -> None:
        """Take the queries of a piece, each once; one that was in an earlier piece is scattered."""
        judged = part.query != UNKNOWN
        query, before = part.query[judged], len(self.unjudged)
        self.unjudged.update(dict.fromkeys(part.unjudged))
        if self.retrieved[query].any() or len(self.unjudged) < before + len(part.unjudged):
            raise ScatteredQueries
        self.retrieved[query] = part.size[judged]


class Observer(Protocol):
    """Gathers something from lines as they pass, whole queries at a time and each in rank order."""

    def look(self, lines: Lines) -> Any:
        """Return what matters of some lines; on any thread or in another process, so that nothing can be kept here."""

    def add(self, seen: Any) -> None:
        """Keep what matters of some lines, in their order."""


def find_in_part(
    judgments: Judgments,
    piece: Rows,
    settings: Settings,
    observe: Observer | None = None,
    *,
    keep_duplicates: bool = False,
) -> PieceHits:
    """Return where the judged documents of a piece stand; every query of it must be whole."""
    lines = read_lines(judgments, piece, settings)
    unjudged = lines.unjudged().names()
    judged = lines.query[lines.judged]
    if len(judgments.once(judged)) < len(judged) or len(set(unjudged)) < len(unjudged):
        raise ScatteredQueries
    if not (keep_duplicates or is_distinct(lines.key)) and has_repetition(
        lines.key, np.repeat(np.arange(len(lines.size)), lines.size), lines.text, lines.start, lines.stop
    ):
        raise IrregularText
    lines = _in_order(lines)
    seen = None if observe is None else observe.look(lines)
    line, row = match_lines(judgments, lines)
    owner = lines.owner(line)
    first, last = _tie_groups(lines, line)
    above, tied = first - lines.first[owner], last - first
    hits = [lines.query[owner], row, above, tied]
    hits += [above + _places(lines, line, first, last, settings)] if settings.breaks_ties else []
    return PieceHits(lines.query, lines.size, unjudged, tuple(column.astype(np.int32) for column in hits), seen)


def read_lines(judgments: Judgments, piece: Rows, settings: Settings) -> Lines:
    """Return the lines of a piece."""
    query, document, score = piece.columns()
    first = new_tokens(*query)
    size = np.diff(first, append=len(score))
    query = query.take(first)
    if max(query.longest, document.longest) > LONGEST_NAME:
        raise IrregularText
    index, query_hash = judgments.query(*query)
    key = hashes(*document)
    key ^= np.repeat(query_hash * SALT, size)
    return Lines(*document, settings.round(score), key, first, size, index, query)


def match_lines(judgments: Judgments, lines: Lines) -> tuple[Ints, Ints]:
    """Return the lines that are about judged documents, and the rows of the judgments."""
    line, row = judgments.match(lines.query, lines.size, lines.key)
    query = lines.query[lines.owner(line)]
    confirmed = judgments.confirm(row, query, lines.text, lines.start[line], lines.stop[line])
    return line[confirmed], row[confirmed]


def _in_order(lines: Lines) -> Lines:
    """Return the lines with each query's scores descending; where they tie, as they were."""
    falls = lines.score[1:] <= lines.score[:-1]
    falls[lines.first[1:] - 1] = True
    if falls.all():
        return lines
    order = np.lexsort((-lines.score, np.repeat(np.arange(len(lines.first)), lines.size)))
    start, stop = lines.start[order], lines.stop[order]
    return lines._replace(start=start, stop=stop, score=lines.score[order], key=lines.key[order])


def _tie_groups(lines: Lines, line: Ints) -> tuple[Ints, Ints]:
    """Return the first line of the tie group that each line is in, and one past the last."""
    score, last = lines.score, len(lines.score) - 1
    alike = (score[np.maximum(line, 1) - 1] == score[line]) & (line > 0)
    alike |= (score[np.minimum(line + 1, last)] == score[line]) & (line < last)
    if not alike.any():
        return line, line + 1
    new = np.empty(len(lines.score) + 1, bool)
    np.not_equal(lines.score[1:], lines.score[:-1], out=new[1:-1])
    new[lines.first] = new[-1] = True
    group = np.flatnonzero(new)
    at = np.searchsorted(group, line, side="right")
    return group[at - 1], group[at]


def _places(lines: Lines, line: Ints, first: Ints, last: Ints, settings: Settings) -> Ints:
    """Return how many of the tied lines first … last - 1 stand before each line."""
    if ORDERS[settings.ties].by_line:
        return line - first
    out = np.zeros(len(line), np.int64)
    tied = np.flatnonzero(last - first > 1)
    if len(tied):
        line, first, last = line[tied], first[tied], last[tied]
        group = np.flatnonzero(np.diff(first, prepend=-1))
        docs = lines.documents(settings, ranges(first[group], (last - first)[group]))
        out[tied] = docs.places(line, first, last)
    return out


def join_hits(qrels: Qrels, parts: Iterator[PieceHits], observe: Observer | None = None) -> Hits:
    """Return the hits of all pieces, each of which has whole queries."""
    queries, hits = RunQueries(len(qrels)), []
    for part in parts:
        queries.add(part)
        hits.append(part.hits)
        if observe is not None:
            observe.add(part.seen)
    if not queries.unjudged and not queries.retrieved.any():
        raise IrregularText
    query, row, above, tied, *place = (np.concatenate(columns) for columns in zip(*hits, strict=True))
    retrieved, unjudged = queries.retrieved, tuple(queries.unjudged)
    return Hits(query, row, above, tied, place[0] if place else None, retrieved, retrieved > 0, unjudged)
