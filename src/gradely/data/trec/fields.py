"""Where the fields of lines are."""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from gradely.data.trec.chunks import NEWLINE, IrregularText, Piece
from gradely.data.trec.decimals import to_finite
from gradely.data.trec.plain import Layout
from gradely.data.types import Bools, Bytes, Ints

Field: TypeAlias = tuple[Ints, Ints]
"""start and stop of one field, for every line"""
BLANK, TAB, RETURN, HASH = 32, 9, 13, 35


class Dialect(NamedTuple):
    """What a reader takes beside regular lines."""

    comments: bool = False
    """lines that begin with # are passed over"""
    any_bytes: bool = False
    """text need not be UTF-8, and control characters are part of names"""
    number: Callable[[bytes], float] = to_finite
    """reads a number that is written in an unusual way; raises IrregularText where it is none"""


STRICT = Dialect()


def fields(piece: Piece, layout: Layout, columns: tuple[int, ...], dialect: Dialect = STRICT) -> list[Field]:
    """Return some of the fields of lines; raise IrregularText where a line has too few, or too many for the layout."""
    text = piece.text[piece.start : piece.stop]
    if not dialect.any_bytes and text.max() > 127:
        _check_utf8(piece)
    blank = np.less_equal(text, BLANK, out=piece.scratch())
    places = None if blank[0] or (blank[1:] & blank[:-1]).any() else _split_regular(text, blank, layout.width, columns)
    if places is None:
        places = _split_any(text, _white_space(text, blank, dialect), layout, columns, comments=dialect.comments)
    return [(start + piece.start, stop + piece.start) for start, stop in places]


def _check_utf8(piece: Piece) -> None:
    try:
        piece.text[piece.start : piece.stop].tobytes().decode()
    except UnicodeDecodeError:
        raise IrregularText from None


def _split_regular(text: Bytes, blank: Bools, width: int, columns: tuple[int, ...]) -> list[Field] | None:
    """Return the fields of lines with one blank or tab between fields and a newline at the end; None where not so."""
    stop = np.flatnonzero(blank)
    kind = text[stop]
    spaces = np.count_nonzero(kind == BLANK) + np.count_nonzero(kind == TAB)
    newlines = np.count_nonzero(kind == NEWLINE)
    aligned = width * newlines == len(kind) == spaces + newlines and (kind[width - 1 :: width] == NEWLINE).all()
    if not aligned:
        return None
    first = np.concatenate([[-1], stop[width - 1 : -1 : width]])
    return [((stop[i - 1 :: width] if i else first) + 1, stop[i::width]) for i in columns]


def _white_space(text: Bytes, blank: Bools, dialect: Dialect) -> Bools:
    """Return which bytes separate fields; refuse control characters, and carriage returns that do not end a line."""
    if dialect.any_bytes:
        return blank & ~((text < TAB) | (text - np.uint8(14) < 18))
    if text.min() < TAB or (text - np.uint8(14) < 18).any():
        raise IrregularText
    behind = np.flatnonzero(text == RETURN) + 1  # the last byte is a newline
    if not np.isin(text[behind], (RETURN, NEWLINE)).all():
        raise IrregularText
    return blank


def _split_any(text: Bytes, blank: Bools, layout: Layout, columns: tuple[int, ...], *, comments: bool) -> list[Field]:
    """Return the fields of lines with any white space between them; blank lines are passed over."""
    edge = np.flatnonzero(blank[1:] != blank[:-1]) + 1
    edge = edge if blank[0] else np.concatenate([[0], edge])
    start, stop = edge[::2], edge[1::2]
    newline, width = np.flatnonzero(text == NEWLINE), layout.width
    if len(start) == width * len(newline) and not comments:  # mostly every line has its fields, and no more
        inside = (start[width::width] > newline[:-1]) & (stop[width - 1 : -1 : width] <= newline[:-1])
        if inside.all():
            return [(start[i::width], stop[i::width]) for i in columns]
    line = np.concatenate([[0], np.searchsorted(start, newline)])
    first, count = line[:-1], np.diff(line)
    used = count > 0
    if comments:
        used[used] = text[start[first[used]]] != HASH
    first, count = first[used], count[used]
    if (count < width).any() or (not layout.extra and (count > width).any()):
        raise IrregularText
    return [(start[first + i], stop[first + i]) for i in columns]
