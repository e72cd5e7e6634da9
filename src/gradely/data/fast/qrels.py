"""Judgments the fast way: from their file to columns over the text itself."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gradely.data.fast.columns import fields
from gradely.data.fast.decimals import numbers
from gradely.data.fast.judgments import Judgments, new_tokens
from gradely.data.fast.pieces import PIECE, Buffer, Odd, Piece, close, is_blank, last_cut, on_threads
from gradely.data.qrels import Floats, Ints, Qrels
from gradely.data.source import Source
from gradely.data.tokens import LAST, PAD, Bytes, Tokens, Words, distinct, hashes
from gradely.data.trec import QRELS

QUERY, DOC, LABEL = 0, 2, 3
"""the fields that matter"""
LONGEST = 1 << 16


class Judged(NamedTuple):
    """What is kept of a piece: a line each for `doc`, `label`; for `query`, those where a query begins."""

    first: Ints
    """the lines where a query begins"""
    query: Ints
    query_size: Ints
    query_hash: Words
    doc: npt.NDArray[np.integer]
    doc_size: npt.NDArray[np.uint16]
    doc_hash: Words
    label: Floats


def load_qrels(source: Source, threads: int) -> Qrels:
    """Return judgments as columns over the text; raise Odd where the plain reader must look."""
    text, stop = _load(source)
    parts = list(on_threads(_judged, _cut(text, stop), threads))
    if not parts:
        raise Odd
    lines = np.array([len(part.label) for part in parts])
    before = np.cumsum(lines) - lines
    first = np.concatenate([part.first + number for part, number in zip(parts, before.tolist(), strict=True)])
    column = {name: np.concatenate([getattr(part, name) for part in parts]) for name in Judged._fields}
    queries, docs = (Tokens(text, column[name], column[f"{name}_size"]) for name in ("query", "doc"))
    qrels = Qrels(queries, np.append(first, lines.sum()), docs, column["label"], source.name)
    qrels.hashed = Judgments(qrels, column["query_hash"], column["doc_hash"])
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
    view, start = memoryview(text), PAD  # type: ignore[arg-type]
    while start < stop:
        cut, reach = start, start
        while cut == start and reach < stop:
            reach = min(reach + PIECE, stop)
            cut = stop if reach == stop else last_cut(view, start, reach, whole_queries=True)
        if not is_blank(view[start:cut]):
            yield Piece(text, np.empty(cut - start, bool), start, cut, last=cut == stop)
        start = cut


def _judged(piece: Piece) -> Judged:
    """Return the judgments of a piece."""
    text = piece.text
    (start, stop), (doc, doc_stop), label = fields(piece, QRELS.width, (QUERY, DOC, LABEL))
    first = new_tokens(text, start, stop)
    query, query_stop = start[first], stop[first]
    salt = hashes(text, query, query_stop)
    key = hashes(text, doc, doc_stop)
    size = doc_stop - doc
    if not distinct(key ^ np.repeat(salt * LAST, np.diff(first, append=len(doc)))) or size.max() >= LONGEST:
        raise Odd
    narrow = np.uint32 if len(text) < 1 << 32 else np.int64
    values = numbers(piece, *label)
    return Judged(first, query, query_stop - query, salt, doc.astype(narrow), size.astype(np.uint16), key, values)
