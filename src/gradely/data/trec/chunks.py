"""A stream of lines as pieces that end where a query ends."""

import queue
from collections.abc import Callable, Iterator
from io import FileIO
from itertools import count
from typing import NamedTuple, TypeAlias

import numpy as np

from gradely.data.read.packed import UnpackedFile
from gradely.data.read.sources import LONGEST_LINE
from gradely.data.trec.tokens import PAD
from gradely.data.types import Bools, Bytes

NEWLINE = 10  # ord("\n")
PIECE = 3 << 20
"""bytes of a piece: few enough for the cache, and enough that threads seldom wait for one another"""
LONGEST = LONGEST_LINE
"""bytes of the longest piece; a query that is longer is treated as scattered, a line is refused"""


QueryAt: TypeAlias = Callable[[memoryview, int], bytes]
"""returns the query of the line that begins at a position"""


class IrregularText(Exception):
    """The text is not as the fast way expects it; the plain reader must look."""


class ScatteredQueries(Exception):
    """The lines of a query are not together, or are too many to be."""


class ChangedFile(Exception):
    """The file is not the same as when it was read first."""


class Buffer:
    """Memory for one piece, used again and again: fresh pages cost more than parsing them."""

    def __init__(self, size: int) -> None:
        """Allocate room for a piece of some size."""
        self.grow(size)

    def grow(self, size: int) -> None:
        """Make room for a larger piece; what was in it stays."""
        old = getattr(self, "bytes", None)
        self.bytes: Bytes = np.empty(size + 2 * PAD, np.uint8)
        self.bytes[:PAD] = NEWLINE
        if old is not None:
            self.bytes[PAD : len(old)] = old[PAD:]
        self.view = memoryview(self.bytes)  # type: ignore[arg-type]
        self.blank = np.empty(len(self.bytes), bool)
        """scratch"""

    @property
    def room(self) -> int:
        """How many bytes of text fit in."""
        return len(self.bytes) - 2 * PAD


class Piece(NamedTuple):
    """Whole lines at text[start:stop], with newlines around them."""

    text: Bytes
    start: int
    stop: int
    number: int
    """how many pieces were before it"""
    buffer: Buffer | None = None
    """what to put back when the piece is done"""

    def scratch(self) -> Bools:
        """Return room for a flag a byte."""
        size = self.stop - self.start
        return np.empty(size, bool) if self.buffer is None else self.buffer.blank[:size]


def first_field(text: memoryview, at: int) -> bytes:
    """Return the first field of the line at a position, as far as 512 bytes show it."""
    fields = bytes(text[at : at + 512]).split(None, 1)
    return fields[0] if fields else b""


def pieces(
    stream: FileIO | UnpackedFile,
    free: "queue.SimpleQueue[Buffer]",
    size: int,
    *,
    whole_queries: bool,
    query_at: QueryAt = first_field,
) -> Iterator[Piece]:
    """Yield the stream in pieces of about some size, each in a free buffer, which the user of the piece puts back.

    A piece ends with a line, and with `whole_queries` where the next line is of another query. The same stream is
    always cut in the same places.
    """
    rest, number = b"", count()
    while True:
        buffer, limit = free.get(), max(size, len(rest))
        filled, ended = _fill(stream, buffer, rest, limit)
        while (
            not ended
            and (cut := last_cut(buffer.view, PAD, filled, whole_queries=whole_queries, query_at=query_at)) == PAD
        ):
            if limit >= LONGEST:
                raise ScatteredQueries if whole_queries else IrregularText
            limit *= 2
            filled, ended = _fill(stream, buffer, bytes(buffer.view[PAD:filled]), limit)
        cut = filled if ended else cut
        rest = bytes(buffer.view[cut:filled])
        if is_blank(buffer.view[PAD:cut]):
            free.put(buffer)
        else:
            yield Piece(buffer.bytes, PAD, close(buffer.bytes, cut), next(number), buffer)
        if ended:
            return


def _fill(stream: FileIO | UnpackedFile, buffer: Buffer, start: bytes, limit: int) -> tuple[int, bool]:
    """Fill the buffer with what is left over and with the stream; return where it ends and whether the stream did."""
    if limit > buffer.room:
        buffer.grow(limit)
    filled = PAD + len(start)
    buffer.view[PAD:filled] = start
    while filled < PAD + limit:
        got = stream.readinto(buffer.view[filled : PAD + limit])
        if not got:
            return filled, True
        filled += got
    return filled, False


def is_blank(text: memoryview) -> bool:
    """True where there is nothing but white space; one look at the start mostly tells."""
    return not bytes(text[:64]).strip() and not bytes(text).strip()


def close(text: Bytes, stop: int) -> int:
    """Put newlines behind the last line; return where it ends, its own newline included."""
    text[stop : stop + PAD] = NEWLINE
    return stop if text[stop - 1] == NEWLINE else stop + 1


def last_cut(text: memoryview, start: int, stop: int, *, whole_queries: bool, query_at: QueryAt = first_field) -> int:
    """Return where text[start:stop] can be cut last, between lines or between queries; `start` where it cannot.

    The last query begins at the first line from which on its name stands; bisect for it, since its lines are together.
    Where they are not, the query will be met twice.
    """
    end = _last_line(text, start, stop)
    if not whole_queries or end == start:
        return end
    cut = _last_line(text, start, end - 1)
    query = query_at(text, cut)
    low, high = start, cut
    while low < high:
        middle = (low + high) // 2
        line = _line_from(text, middle)
        if line >= cut:
            high = middle
        elif query_at(text, line) == query:
            cut, high = line, middle
        else:
            low = middle + 1
    return cut


def _last_line(text: memoryview, start: int, stop: int) -> int:
    """Return where the last line begins that begins in text[start:stop] or right behind it."""
    step = 1 << 10
    while True:
        low = max(start, stop - step)
        newline = bytes(text[low:stop]).rfind(b"\n")
        if newline >= 0:
            return low + newline + 1
        if low == start:
            return start
        step *= 4


def _line_from(text: memoryview, at: int) -> int:
    """Return where the first line begins that begins at or after a position; there is one."""
    step = 1 << 9
    while True:
        newline = bytes(text[at - 1 : at + step]).find(b"\n")
        if newline >= 0:
            return at + newline
        step *= 4
