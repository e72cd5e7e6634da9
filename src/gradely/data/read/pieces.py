"""Text in pieces of a few megabytes, and its numbers, which are parsed with array operations.

A piece ends with a line and, if queries have to stay whole, before a line of another query. `last_cut` decides where,
for streams (`pieces`) and for text in memory (`split_text`). No array with an entry per line outlives its piece.
"""

import queue
from collections.abc import Callable, Iterator
from io import FileIO
from itertools import count
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np

from gradely.data.hashing import FINAL, whole_words, words_of
from gradely.data.ids import PAD, Bools, Bytes, Floats, Ints, U, Words
from gradely.data.source import LONGEST_LINE, Report, Source, UnpackedFile
from gradely.data.table import IrregularText, ScatteredQueries
from gradely.parallel import on_threads, workers

T = TypeVar("T")
NEWLINE = 10  # ord("\n")
PIECE = 3 << 20
"""bytes of a piece: few enough for the cache, and enough that threads seldom wait for one another"""
LONGEST = LONGEST_LINE
"""bytes of the longest piece; a longer query is treated as scattered, a longer line is an error"""
SMALL = 1 << 23
"""bytes of a file that is read in less time than threads take to start"""
ALONE = 1 << 20
"""bytes of a piece on a single thread, which does not wait for others: its arrays reuse memory, so 50 queries of 1,000
documents take 7,300 page faults instead of 9,100, and 45 MB instead of 52"""
QueryAt: TypeAlias = Callable[[memoryview, int], bytes]
"""a function that returns the query of the line that begins at a position"""


class Buffer:
    """Memory for one piece, which is reused: fresh pages cost more than parsing them."""

    def __init__(self, size: int) -> None:
        """Allocate room for a piece of some size."""
        self.grow(size)

    def grow(self, size: int) -> None:
        """Make room for a larger piece; the content is kept."""
        old = getattr(self, "bytes", None)
        self.bytes: Bytes = np.empty(size + 2 * PAD, np.uint8)
        self.bytes[:PAD] = NEWLINE
        if old is not None:
            self.bytes[PAD : len(old)] = old[PAD:]
        self.room = size
        """number of bytes of text that fit in"""
        self.view = memoryview(self.bytes)  # type: ignore[arg-type]
        self.blank = np.empty(len(self.bytes), bool)
        """scratch memory"""


class Piece(NamedTuple):
    """Whole lines at text[start:stop], with newlines around them."""

    text: Bytes
    start: int
    stop: int
    number: int
    """number of pieces before it"""
    buffer: Buffer | None = None
    """the buffer to return when the piece is done"""

    def scratch(self) -> Bools:
        """Return scratch memory of one flag per byte."""
        size = self.stop - self.start
        return np.empty(size, bool) if self.buffer is None else self.buffer.blank[:size]


def first_field(text: memoryview, at: int) -> bytes:
    """Return the first field of the line at a position, as far as its first 512 bytes contain it."""
    fields = bytes(text[at : at + 512]).split(None, 1)
    return fields[0] if fields else b""


def map_pieces(
    source: Source,
    work: Callable[[Piece], T],
    threads: int,
    report: Report,
    *,
    whole_queries: bool,
    query_at: QueryAt = first_field,
    skip: int = 0,
) -> Iterator[T]:
    """Run a function over all pieces of a file after the first `skip` bytes; yield the results in order."""
    free: queue.SimpleQueue[Buffer] = queue.SimpleQueue()

    def use(piece: Piece) -> T:
        try:
            return work(piece)
        finally:
            if piece.buffer is not None:
                free.put(piece.buffer)

    with source.stream() as stream:
        while skip:
            skip -= stream.readinto(bytearray(skip)) or skip
        threads = workers(threads) if source.size > SMALL else 1
        buffers, size = (threads + 1, PIECE) if threads > 1 else (1, min(PIECE, ALONE))
        for _ in range(buffers):
            free.put(Buffer(size))
        parts = pieces(stream, free, size, whole_queries=whole_queries, query_at=query_at)
        for result in on_threads(use, parts, threads):
            report(stream.tell() / source.size)
            yield result


def pieces(
    stream: FileIO | UnpackedFile,
    free: "queue.SimpleQueue[Buffer]",
    size: int,
    *,
    whole_queries: bool,
    query_at: QueryAt = first_field,
) -> Iterator[Piece]:
    """Yield the stream in pieces of about some size, each in a free buffer, which the caller puts back.

    A piece ends with a line, and with `whole_queries` before a line of another query. The same stream is always cut at
    the same positions.
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


def split_text(text: Bytes, stop: int) -> Iterator[Piece]:
    """Yield text in memory in pieces of whole queries; nothing is copied."""
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


def _fill(stream: FileIO | UnpackedFile, buffer: Buffer, start: bytes, limit: int) -> tuple[int, bool]:
    """Append the stream to the rest of the last piece; return the end of the text, and true if the stream ended."""
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
    """True if there is nothing but white space; usually, the first bytes show it."""
    return not bytes(text[:64]).strip() and not bytes(text).strip()


def close(text: Bytes, stop: int) -> int:
    """Put newlines after the last line; return its end, including its own newline."""
    text[stop : stop + PAD] = NEWLINE
    return stop if text[stop - 1] == NEWLINE else stop + 1


def last_cut(text: memoryview, start: int, stop: int, *, whole_queries: bool, query_at: QueryAt = first_field) -> int:
    """Return the last position where text[start:stop] can be cut, between lines or queries; `start` if there is none.

    The start of the last query is found by bisection, which assumes that its lines are contiguous. If they are not, the
    query will appear in two pieces.
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
    """Return the start of the last line that begins in text[start:stop] or right after it."""
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
    """Return the start of the first line that begins at or after a position; there is one."""
    step = 1 << 9
    while True:
        newline = bytes(text[at - 1 : at + step]).find(b"\n")
        if newline >= 0:
            return at + newline
        step *= 4


def check_utf8(text: Bytes) -> None:
    """Raise IrregularText unless this is UTF-8 text."""
    if text.max() > 127:
        try:
            text.tobytes().decode()
        except UnicodeDecodeError:
            raise IrregularText from None


ZEROS = U(0x3030303030303030)
"""eight characters 0; XOR with this turns a digit into its value"""
SIXES, NIBBLES = U(0x0606060606060606), U(0xF0F0F0F0F0F0F0F0)
"""a byte n is a digit if neither n nor n + 6 has a bit in its upper half, since 9 + 6 is the last number below 16"""
DOTS = U(0x1E1E1E1E1E1E1E1E)
"""eight points as they look after XOR with ZEROS: 0x2E and 0x30 differ by 0x1E"""
ONES, TOPS = U(0x0101010101010101), U(0x8080808080808080)
"""the lowest and the highest bit of each byte, with which Mycroft's test finds a byte that is 0"""
POINT, MINUS = 46, 45  # ord("."), ord("-")
TEN = np.array([10.0**k for k in range(23)])
"""powers of ten; 10^22 is the last one that a double represents exactly"""
EXTENDED = np.finfo(np.longdouble).nmant == 63
"""true if long doubles have the 64 bits of x87, of which the last 11 decide how a double is rounded"""
TEN_EXTENDED = np.cumprod(np.array([1] + [10] * 22, dtype=np.longdouble))


def to_finite(text: bytes) -> float:
    """Return a number as float() reads it; raise IrregularText for anything but a finite number."""
    try:
        value = float(text)
    except ValueError:
        raise IrregularText from None
    if b"_" in text or not np.isfinite(value):
        raise IrregularText
    return value


def numbers(piece: Piece, start: Ints, stop: Ints, unusual: Callable[[bytes], float] = to_finite) -> Floats:
    """Return the numbers at start … stop - 1; `unusual` reads those in an unusual notation."""
    alike = _parse_alike(piece, start, stop) if len(start) else np.zeros(0)
    return _parse_any(piece, start, stop, unusual) if alike is None else alike


def _value(word: Words) -> Words:
    """Return the number of eight digits, as nibbles, the first digit in the lowest byte; the word is overwritten.

    Neighbours are joined three times: digits to pairs, pairs to fours, fours to all eight. 2561 is 10 · 2^8 + 1, which
    adds ten times a digit to the next one; 6553601 is 100 · 2^16 + 1 and 42949672960001 is 10000 · 2^32 + 1.
    """
    word *= U(2561)
    word >>= U(8)
    word &= U(0x00FF00FF00FF00FF)
    word *= U(6553601)
    word >>= U(16)
    word &= U(0x0000FFFF0000FFFF)
    word *= U(42949672960001)
    word >>= U(32)
    return word


def _parse_alike(piece: Piece, start: Ints, stop: Ints) -> Floats | None:
    """Return unsigned numbers of at most 15 digits that all have the same number of decimals; None for others."""
    size = stop - start
    shortest, longest = int(size.min()), int(size.max())
    first = piece.text[start[0] : stop[0]].tobytes()
    decimals = len(first) - 1 - first.index(b".") if b"." in first else 0
    if longest > 16 or decimals > 7 or shortest <= max(decimals, b"." in first):
        return None
    low, high = _last_words(piece.text, stop, longest)
    if b"." in first:
        shift = U(8 * (7 - decimals))
        if not ((low >> shift).astype(np.uint8) == POINT).all():
            return None
        low ^= U(POINT ^ 48) << shift
    low ^= ZEROS
    if shortest < 8:
        low &= FINAL[np.minimum(size, 8)]
    bad = np.bitwise_or.reduce(low | (low + SIXES)) & NIBBLES
    value = _value(low)
    if longest > 8:
        high ^= ZEROS
        high &= FINAL[np.maximum(size - 8, 0)]
        bad |= np.bitwise_or.reduce(high | (high + SIXES)) & NIBBLES
        value += _value(high) * U(10**8)
    if bad or (longest == 16 and int(value.max()) >= 1 << 53):
        return None
    if b"." not in first:
        return value.astype(np.float64)
    value -= value // U(10 ** (decimals + 1)) * U(9 * 10**decimals)  # the point took the place of a digit 0
    return value.astype(np.float64) / 10.0**decimals


def _last_words(text: Bytes, stop: Ints, longest: int) -> tuple[Words, Words]:
    """Return the last eight bytes of each number and, if numbers are longer, the eight before them."""
    if longest <= 8:
        low = words_of(text)[stop - 8]
        return low, low
    high, low = whole_words(text, stop - 16, 2)
    return low, high


def _parse_any(piece: Piece, start: Ints, stop: Ints, unusual: Callable[[bytes], float]) -> Floats:
    """Return signed numbers of up to 24 characters with the point anywhere; `unusual` reads the others."""
    negative = piece.text[start] == MINUS
    size = stop - start - negative
    value, decimals, hard = _digits(piece.text, stop, size)
    out: Floats = value.astype(np.float64) / TEN[decimals]
    long = np.flatnonzero((value >= U(1 << 53)) & ~hard)
    if len(long) and EXTENDED:
        quotient = value[long].astype(np.longdouble) / TEN_EXTENDED[decimals[long]]
        dropped = quotient.view(U)[::2] & U(0x7FF)  # the 11 bits that a double does not have
        out[long] = quotient.astype(np.float64)
        hard[long[(dropped >= U(0x3FF)) & (dropped <= U(0x401))]] = True
    else:
        hard[long] = True
    np.negative(out, out=out, where=negative)
    for i in np.flatnonzero(hard).tolist():
        out[i] = unusual(piece.text[start[i] : stop[i]].tobytes())
    return out


def _digits(text: Bytes, stop: Ints, size: Ints) -> tuple[Words, Ints, np.ndarray]:
    """Return the digits as an integer, the number of decimals, and flags of numbers that cannot be read this way."""
    parts = []
    for done in range(0, min(24, int(size.max())), 8):
        word = words_of(text)[stop - (done + 8)]
        word ^= ZEROS
        word &= FINAL[np.clip(size - done, 0, 8)]
        parts.append(word)
    value, decimals, hard = np.zeros(len(size), U), np.zeros(len(size), np.int64), (size > 24) | (size < 1)
    moved = np.zeros(len(size), bool)  # the point was in a word nearer the end
    for i, word in enumerate(parts):
        before = parts[i + 1] >> U(56) if i + 1 < len(parts) else U(0)
        point, places = _point(word)
        here = point != 0
        decimals = np.where(here, 8 * i + 7 - places, decimals)
        closed = _close_gap(word, point, before, here, moved)
        hard |= here & moved  # a second point
        moved |= here
        hard |= ((closed | (closed + SIXES)) & NIBBLES) != 0
        part = _value(closed)
        hard |= (part >= U(1000)) if i == 2 else False  # more than 19 digits
        value += part * U(10 ** (8 * i))
    hard |= (decimals > 22) | (size - moved < 1)
    return value, np.minimum(decimals, 22), hard


def _point(word: Words) -> tuple[Words, Ints]:
    """Return the top bit of the first byte that is a point, 0 if there is none, and the number of bytes before it."""
    dots = word ^ DOTS
    dots = (dots - ONES) & ~dots & TOPS
    dots &= -dots
    return dots, np.bitwise_count((dots >> U(7)) - (dots != 0)).astype(np.int64) >> 3


def _close_gap(word: Words, point: Words, before: Words | np.uint64, here: np.ndarray, moved: np.ndarray) -> Words:
    """Return the digits of a word with the point removed and the gap closed from the word before."""
    below = (point >> U(7)) - here.astype(U)
    without = (word & ~(below | (point >> U(7)) * U(255))) | ((word & below) << U(8)) | before
    return np.where(here, without, np.where(moved, (word << U(8)) | before, word))
