"""Judgments the fast way: from their file to columns over the text itself."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gradely.data.hashing import SALT, hashes, is_distinct, ranges
from gradely.data.ids import PAD, Bytes, Floats, Ints, Tokens, Words
from gradely.data.qrels import Qrels
from gradely.data.read.sources import LONGEST_LINE, DiskFile, Source, UnpackedFile
from gradely.data.trec.match import Judgments, has_repetition, new_tokens
from gradely.data.trec.plain import LONGEST_NAME, QRELS
from gradely.data.trec.text import (
    NEWLINE,
    PIECE,
    STRICT,
    Buffer,
    Dialect,
    IrregularText,
    Piece,
    close,
    fields,
    is_blank,
    last_cut,
    numbers,
)
from gradely.parallel import on_threads

QUERY, DOC, LABEL = 0, 2, 3
"""the fields that matter"""
RANGE = 1 << 24
"""bytes that a thread reads in one go"""


class Columns(NamedTuple):
    """What is kept of every line; pieces write their part of it, so that no part is held twice."""

    doc: npt.NDArray[np.uint32] | Ints
    size: npt.NDArray[np.uint16]
    key: Words
    label: Floats

    def at(self, lines: Ints) -> "Columns":
        """Return what is kept of some lines."""
        return Columns(self.doc[lines], self.size[lines], self.key[lines], self.label[lines])


class PieceQueries(NamedTuple):
    """What is kept of the queries of a piece."""

    lines: int
    first: Ints
    """the first line of each"""
    start: Ints
    size: Ints
    hash: Words


def load_qrels(source: Source, threads: int, dialect: Dialect = STRICT) -> Qrels:
    """Return judgments as columns over the text; raise IrregularText where the plain reader must look."""
    text, stop = _load(source, threads)
    pieces = list(_split_text(text, stop))
    room = np.cumsum([0, *(np.count_nonzero(text[piece.start : piece.stop] == NEWLINE) for piece in pieces)])
    columns = _room(text, int(room[-1]))
    parts = list(on_threads(lambda piece: _write(piece, columns, int(room[piece.number]), dialect), pieces, threads))
    used = np.array([part.lines for part in parts], np.int64)
    if not used.sum():
        raise IrregularText
    if used.sum() < room[-1]:  # blank lines
        columns = columns.at(ranges(room[:-1], used))
    before = np.cumsum(used) - used
    first = np.concatenate([part.first + skipped for part, skipped in zip(parts, before.tolist(), strict=True)])
    start, size, hashed = (np.concatenate([part[i] for part in parts]) for i in (2, 3, 4))
    queries, first = Tokens(text, start, size), np.append(first, used.sum())
    if not is_distinct(hashed):
        queries, first, hashed, columns = _gather(queries, first, hashed, columns, dialect)
    qrels = Qrels(queries, first, Tokens(text, columns.doc, columns.size), columns.label, source.name)
    qrels.hashed = Judgments(qrels, hashed, columns.key)
    return qrels


def _gather(
    queries: Tokens, first: Ints, hashed: Words, columns: Columns, dialect: Dialect
) -> tuple[Tokens, Ints, Words, Columns]:
    """Put the lines of each query together where they are not, in the order in which queries first appear."""
    number: dict[bytes, int] = {}
    query = np.array([number.setdefault(queries.bytes_at(i), len(number)) for i in range(len(queries))])
    order = np.argsort(query, kind="stable")
    opens = order[np.diff(query[order], prepend=-1) != 0]
    lines = ranges(first[order], np.diff(first)[order])
    columns = columns.at(lines)
    owner = np.repeat(query[order], np.diff(first)[order])
    start = columns.doc.astype(np.int64)
    if not dialect.duplicates and has_repetition(columns.key, owner, queries.text, start, start + columns.size):
        raise IrregularText
    bounds = np.searchsorted(owner, np.arange(len(number) + 1))
    return Tokens(queries.text, queries.start[opens], queries.size[opens]), bounds, hashed[opens], columns


def _load(source: Source, threads: int) -> tuple[Bytes, int]:
    """Return the whole text with room around it, and where it ends."""
    with source.stream() as stream:
        buffer = Buffer(source.size + 1)
        filled = PAD + _read_ranges(stream, buffer.view[PAD:], threads)
        while got := stream.readinto(buffer.view[filled : PAD + buffer.room]):
            filled += got
            if filled == PAD + buffer.room:
                if filled > LONGEST_LINE and not (buffer.bytes[filled - LONGEST_LINE : filled] == NEWLINE).any():
                    raise IrregularText
                buffer.grow(2 * buffer.room)
    if filled == PAD:
        raise IrregularText
    return buffer.bytes, close(buffer.bytes, filled)


def _read_ranges(stream: DiskFile | UnpackedFile, view: memoryview, threads: int) -> int:
    """Fill a buffer from a file on disk, on several threads, and leave nothing in its stream; return how much.

    Half of the time of reading goes to memory that nobody has touched before.
    """
    if threads == 1 or not isinstance(stream, DiskFile):
        return 0
    first, last = stream.tell(), stream.limit
    ranges = [(start, min(start + RANGE, last)) for start in range(first, last, RANGE)]
    for _ in on_threads(lambda part: stream.fill(view[part[0] - first : part[1] - first], part[0]), ranges, threads):
        pass
    stream.seek(last)
    return last - first


def _split_text(text: Bytes, stop: int) -> Iterator[Piece]:
    """Yield the text in pieces that end where a query ends."""
    view, start, number = memoryview(text), PAD, 0  # type: ignore[arg-type]
    while start < stop:
        cut, reach = start, start
        while cut == start and reach < stop:
            reach = min(reach + PIECE, stop)
            cut = stop if reach == stop else last_cut(view, start, reach, whole_queries=True)
        if not is_blank(view[start:cut]):
            yield Piece(text, start, cut, number)
            number += 1
        start = cut


def _room(text: Bytes, lines: int) -> Columns:
    """Return columns to be filled."""
    narrow: Any = np.uint32 if len(text) < 1 << 32 else np.int64
    return Columns(np.empty(lines, narrow), np.empty(lines, np.uint16), np.empty(lines, np.uint64), np.empty(lines))


def _write(piece: Piece, columns: Columns, offset: int, dialect: Dialect) -> PieceQueries:
    """Write the judgments of a piece into their part of the columns; return its queries."""
    text = piece.text
    (start, stop), (doc, doc_stop), label = fields(piece, QRELS, (QUERY, DOC, LABEL), dialect)
    first = new_tokens(text, start, stop)
    start, stop = start[first], stop[first]
    hashed, size = hashes(text, start, stop), doc_stop - doc
    key = hashes(text, doc, doc_stop)
    lines = np.diff(first, append=len(doc))
    key ^= np.repeat(hashed * SALT, lines)
    if max(size.max(initial=0), (stop - start).max(initial=0)) > LONGEST_NAME:
        raise IrregularText
    if not (dialect.duplicates or is_distinct(key)):
        owner = np.repeat(np.arange(len(lines)), lines)
        if has_repetition(key, owner, text, doc, doc_stop):
            raise IrregularText
    part = slice(offset, offset + len(doc))
    columns.doc[part], columns.size[part], columns.key[part] = doc, size, key
    columns.label[part] = numbers(piece, *label, dialect.number)
    return PieceQueries(len(doc), first, start, stop - start, hashed)
