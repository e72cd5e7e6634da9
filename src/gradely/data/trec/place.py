"""Where the judged documents of a piece stand."""

from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from gradely.data.columns import Triples
from gradely.data.search import ranges
from gradely.data.trec.chunks import IrregularText, ScatteredQueries
from gradely.data.trec.hashing import FIXED_KEYS, SALT, hashes, is_distinct
from gradely.data.trec.match import UNKNOWN, Judgments, has_repetition, new_tokens
from gradely.data.trec.plain import LONGEST_NAME
from gradely.data.trec.tie_breaking import Documents, place_among_tied
from gradely.data.trec.tokens import Ids
from gradely.data.types import Bytes, Floats, Ints, Words
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

    def owner(self, line: Ints) -> Ints:
        """Return which of the piece's queries lines are about."""
        return np.searchsorted(self.first, line, side="right") - 1

    def unjudged(self) -> Ids:
        """Return the names of the queries that have no judgments."""
        return self.name.take(np.flatnonzero(self.query == UNKNOWN))

    def documents(self, settings: Settings, line: Ints, base: int = 0) -> Documents:
        """Return what breaks ties between some lines; `base` lines stand before the piece."""
        query = None
        if settings.ties == "random":
            query = hashes(*self.name, FIXED_KEYS)[self.owner(line)]
        return Documents.of(settings, self.text, (self.start[line], self.stop[line]), line + base, query)


class PieceHits(NamedTuple):
    """What is left of a piece: its queries, and its judged documents."""

    query: Ints
    size: Ints
    unjudged: list[str]
    """names of queries without judgments"""
    hits: tuple[npt.NDArray[np.int32], ...]
    """query, row, above, tied and, where ties are broken, place of each judged document"""


class RunQueries:
    """The queries of a run, gathered piece by piece."""

    def __init__(self, judged: int) -> None:
        """Begin with none; so many have judgments."""
        self.retrieved = np.zeros(judged, np.int64)
        """[judged queries] how many lines each one has"""
        self.unjudged: dict[str, None] = {}

    def add(self, part: PieceHits) -> None:
        """Take the queries of a piece, in which each is there once; one that was in an earlier piece is scattered."""
        judged = part.query != UNKNOWN
        query, before = part.query[judged], len(self.unjudged)
        self.unjudged.update(dict.fromkeys(part.unjudged))
        if self.retrieved[query].any() or len(self.unjudged) < before + len(part.unjudged):
            raise ScatteredQueries
        self.retrieved[query] = part.size[judged]


Observer: TypeAlias = Callable[[Lines], None]
"""is shown the lines of each piece, with whole queries in rank order"""


def find_hits(judgments: Judgments, piece: Rows, settings: Settings, observe: Observer | None = None) -> PieceHits:
    """Return where the judged documents of a piece stand; every query of it must be whole."""
    lines = read_lines(judgments, piece, settings)
    unjudged = lines.unjudged().names()
    judged = lines.query[lines.query != UNKNOWN]
    if len(judgments.once(judged)) < len(judged) or len(set(unjudged)) < len(unjudged):
        raise ScatteredQueries
    if not is_distinct(lines.key) and has_repetition(
        lines.key, np.repeat(np.arange(len(lines.size)), lines.size), lines.text, lines.start, lines.stop
    ):
        raise IrregularText
    lines = _in_order(lines)
    if observe is not None:
        observe(lines)
    line, row = match_lines(judgments, lines)
    owner = lines.owner(line)
    first, last = _tie_groups(lines, line)
    above, tied = first - lines.first[owner], last - first
    hits = [lines.query[owner], row, above, tied]
    hits += [above + _places(lines, line, first, last, settings)] if settings.breaks_ties else []
    return PieceHits(lines.query, lines.size, unjudged, tuple(column.astype(np.int32) for column in hits))


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
    if settings.ties == "order":
        return line - first
    out = np.zeros(len(line), np.int64)
    tied = np.flatnonzero(last - first > 1)
    if len(tied):
        line, first, last = line[tied], first[tied], last[tied]
        group = np.flatnonzero(np.diff(first, prepend=-1))
        docs = lines.documents(settings, ranges(first[group], (last - first)[group]))
        out[tied] = place_among_tied(settings, docs, line, first, last)
    return out
