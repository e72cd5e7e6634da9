"""Where the fields of lines are."""

from typing import TypeAlias

import numpy as np

from gradely.data.trec.chunks import NEWLINE, Odd, Piece
from gradely.data.types import Bools, Bytes, Ints

Field: TypeAlias = tuple[Ints, Ints]
"""start and stop of one field, for every line"""
BLANK, TAB = 32, 9


def fields(piece: Piece, width: int, wanted: tuple[int, ...]) -> list[Field]:
    """Return some of the fields of lines that all have `width` fields."""
    text = piece.text[piece.start : piece.stop]
    if text.max() > 127:
        _check_utf8(piece)
    blank = np.less_equal(text, BLANK, out=piece.scratch())
    irregular = blank[0] or (blank[1:] & blank[:-1]).any()
    found = (_irregular if irregular else _regular)(text, blank, width, wanted)
    return [(start + piece.start, stop + piece.start) for start, stop in found]


def _check_utf8(piece: Piece) -> None:
    try:
        piece.text[piece.start : piece.stop].tobytes().decode()
    except UnicodeDecodeError:
        raise Odd from None


def _regular(text: Bytes, blank: Bools, width: int, wanted: tuple[int, ...]) -> list[Field]:
    """Fields of lines with one blank or tab between fields and a newline behind the last."""
    stop = np.flatnonzero(blank)
    kind = text[stop]
    spaces = np.count_nonzero(kind == BLANK) + np.count_nonzero(kind == TAB)
    newlines = np.count_nonzero(kind == NEWLINE)
    aligned = width * newlines == len(kind) == spaces + newlines and (kind[width - 1 :: width] == NEWLINE).all()
    if not aligned:
        raise Odd
    first = np.concatenate([[-1], stop[width - 1 : -1 : width]])
    return [((stop[i - 1 :: width] if i else first) + 1, stop[i::width]) for i in wanted]


def _irregular(text: Bytes, blank: Bools, width: int, wanted: tuple[int, ...]) -> list[Field]:
    """Fields of lines with any white space between them; blank lines are passed over."""
    if text.min() < TAB or (text - np.uint8(14) < 18).any():
        raise Odd  # control characters
    edge = np.flatnonzero(blank[1:] != blank[:-1]) + 1
    edge = edge if blank[0] else np.concatenate([[0], edge])
    start, stop = edge[::2], edge[1::2]
    newline = np.flatnonzero(text == NEWLINE)
    if len(start) != width * len(newline):  # blank lines, or too few fields
        newline = newline[np.diff(np.searchsorted(start, newline), prepend=0) > 0]
    if not len(start) or len(start) != width * len(newline):
        raise Odd
    if (start[width::width] < newline[:-1]).any() or (stop[width - 1 :: width] > newline).any():
        raise Odd
    return [(start[i::width], stop[i::width]) for i in wanted]
