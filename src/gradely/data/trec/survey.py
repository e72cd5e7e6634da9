"""A run surveyed the fast way: what can be counted of it without judgments, piece by piece."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gradely.data.read.files import Report, Source
from gradely.data.tie_counts import RunCounts, add_counts, count_lines
from gradely.data.trec.chunks import Odd, Piece, Scattered
from gradely.data.trec.decimals import numbers
from gradely.data.trec.fields import fields
from gradely.data.trec.hashing import hashes, is_distinct
from gradely.data.trec.match import new_tokens
from gradely.data.trec.plain import RUN
from gradely.data.trec.runs import map_pieces
from gradely.data.types import Floats, Ints, Words

QUERY, RANK, SCORE = 0, 3, 4
"""the fields that matter"""


class PieceLines(NamedTuple):
    """The lines of a piece, in stretches of one query each."""

    salt: Words
    """hash of the query of each stretch"""
    size: Ints
    score: Floats
    rank: Floats
    """NaN where one of a piece is not a number"""
    piece: Piece
    start: Ints
    stop: Ints
    """where the query of each stretch stands"""

    def name(self, stretch: int) -> str:
        """Return the query of a stretch."""
        return self.piece.text[self.start[stretch] : self.stop[stretch]].tobytes().decode()


def survey(source: Source, threads: int, report: Report) -> RunCounts:
    """Return the counts of a run; raise Odd where the plain reader must look."""
    try:
        return _join_counts(list(map_pieces(source, _count_piece, threads, report, whole_queries=True)))
    except Scattered:
        return _count_scores(map_pieces(source, _keep_scores, threads, report, whole_queries=False))


def _join_counts(parts: list[tuple[Words, RunCounts]]) -> RunCounts:
    """Return the counts of all pieces; a query that is in two of them is scattered."""
    if not parts:
        raise Odd
    if not is_distinct(np.concatenate([salt for salt, _ in parts])):
        raise Scattered
    return add_counts([counts for _, counts in parts])


def _columns(piece: Piece) -> PieceLines:
    (start, stop), rank, score = fields(piece, RUN, (QUERY, RANK, SCORE))
    first = new_tokens(piece.text, start, stop)
    size = np.diff(first, append=len(start))
    salt = hashes(piece.text, start[first], stop[first])
    return PieceLines(salt, size, numbers(piece, *score), _ranks(piece, *rank), piece, start[first], stop[first])


def _ranks(piece: Piece, start: Ints, stop: Ints) -> Floats:
    try:
        return numbers(piece, start, stop)
    except Odd:
        return np.full(len(start), np.nan)


def _count_piece(piece: Piece) -> tuple[Words, RunCounts]:
    """Count the lines of a piece whose queries are whole."""
    columns = _columns(piece)
    if not is_distinct(columns.salt):
        raise Scattered
    query = np.repeat(np.arange(len(columns.size)), columns.size)
    return columns.salt, count_lines(query, columns.score, columns.rank, columns.name)


class PieceScores(NamedTuple):
    """What is kept of a piece where queries are scattered: its queries, once each, and the one of every line."""

    names: list[str]
    query: npt.NDArray[np.int32]
    """which of those each line is about"""
    score: Floats
    rank: Floats


def _keep_scores(piece: Piece) -> PieceScores:
    columns = _columns(piece)
    names = [columns.name(i) for i in range(len(columns.size))]
    number = {name: i for i, name in enumerate(dict.fromkeys(names))}
    query = np.repeat(np.array([number[name] for name in names], np.int32), columns.size)
    return PieceScores(list(number), query, columns.score, columns.rank)


def _count_scores(parts: Iterable[PieceScores]) -> RunCounts:
    """Count all lines at once."""
    number: dict[str, int] = {}
    lines = []
    for part in parts:
        here = np.array([number.setdefault(name, len(number)) for name in part.names], np.int32)
        lines.append((here[part.query], part.score, part.rank))
    query, score, rank = map(np.concatenate, zip(*lines, strict=True))
    return count_lines(query, score, rank, list(number).__getitem__)
