"""Judgments the fast way: from their file to columns over the text itself."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gradely.data.qrels import Qrels
from gradely.data.read.files import Source
from gradely.data.trec.chunks import NEWLINE, PIECE, Buffer, Odd, Piece, close, is_blank, last_cut
from gradely.data.trec.decimals import numbers
from gradely.data.trec.fields import fields
from gradely.data.trec.match import Judgments, new_tokens, ranges
from gradely.data.trec.plain import QRELS
from gradely.data.trec.tokens import LAST, PAD, Tokens, distinct, hashes
from gradely.data.types import Bytes, Floats, Ints, Words
from gradely.threads import on_threads

QUERY, DOC, LABEL = 0, 2, 3
"""the fields that matter"""
LONGEST = 1 << 16
"""names of documents are shorter"""


class Columns(NamedTuple):
    """What is kept of every line; pieces write their part of it, so that no part is held twice."""

    doc: npt.NDArray[np.uint32] | Ints
    size: npt.NDArray[np.uint16]
    key: Words
    label: Floats


class Begun(NamedTuple):
    """What is kept of the queries of a piece."""

    lines: int
    first: Ints
    """the first line of each"""
    start: Ints
    size: Ints
    hash: Words


def load_qrels(source: Source, threads: int) -> Qrels:
    """Return judgments as columns over the text; raise Odd where the plain reader must look."""
    text, stop = _load(source)
    several = list(_cut(text, stop))
    room = np.cumsum([0, *(np.count_nonzero(text[piece.start : piece.stop] == NEWLINE) for piece in several)])
    columns = _room(text, int(room[-1]))
    parts = list(on_threads(lambda piece: _judged(piece, columns, int(room[piece.number])), several, threads))
    if not parts:
        raise Odd
    used = np.array([part.lines for part in parts])
    if used.sum() < room[-1]:  # blank lines
        lines = ranges(room[:-1], used)
        columns = Columns(columns.doc[lines], columns.size[lines], columns.key[lines], columns.label[lines])
    before = np.cumsum(used) - used
    first = np.concatenate([part.first + skipped for part, skipped in zip(parts, before.tolist(), strict=True)])
    start, size, hashed = (np.concatenate([part[i] for part in parts]) for i in (2, 3, 4))
    docs = Tokens(text, columns.doc, columns.size)
    qrels = Qrels(Tokens(text, start, size), np.append(first, used.sum()), docs, columns.label, source.name)
    qrels.hashed = Judgments(qrels, hashed, columns.key)
    return qrels


def _load(source: Source) -> tuple[Bytes, int]:
    """Return the whole text with room around it, and where it ends."""
    with source.stream() as stream:
        buffer = Buffer(source.size + 1)
        filled = PAD
        while got := stream.readinto(buffer.view[filled : PAD + buffer.room]):
            filled += got
            if filled == PAD + buffer.room:
                buffer.grow(2 * buffer.room)
    if filled == PAD:
        raise Odd
    return buffer.bytes, close(buffer.bytes, filled)


def _cut(text: Bytes, stop: int) -> Iterator[Piece]:
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


def _judged(piece: Piece, columns: Columns, offset: int) -> Begun:
    """Write the judgments of a piece into their part of the columns; return its queries."""
    text = piece.text
    (start, stop), (doc, doc_stop), label = fields(piece, QRELS.width, (QUERY, DOC, LABEL))
    first = new_tokens(text, start, stop)
    start, stop = start[first], stop[first]
    hashed, size = hashes(text, start, stop), doc_stop - doc
    key = hashes(text, doc, doc_stop)
    key ^= np.repeat(hashed * LAST, np.diff(first, append=len(doc)))
    if not distinct(key) or size.max() >= LONGEST:
        raise Odd
    part = slice(offset, offset + len(doc))
    columns.doc[part], columns.size[part], columns.key[part] = doc, size, key
    columns.label[part] = numbers(piece, *label)
    return Begun(len(doc), first, start, stop - start, hashed)
