"""Numbers from text with array operations, correctly rounded as float() does it.

Up to eight digits stand in a 64-bit word and become a number in three multiplications. A decimal with at most 15 digits
is an integer over a power of ten, both exact as doubles, so that one division rounds correctly (Clinger). With more
digits the quotient is taken in extended precision where the machine has it; the few that lie too near the middle
between two doubles, and everything unusual, go through a function: float() itself, or what another reader asks for.
"""

from collections.abc import Callable

import numpy as np

from gradely.data.trec.chunks import IrregularText, Piece
from gradely.data.trec.tokens import FINAL, U, whole_words, words_of
from gradely.data.types import Bytes, Floats, Ints, Words

ZEROS = U(0x3030303030303030)
"""eight characters 0; a digit and this differ by its value"""
SIXES, NIBBLES = U(0x0606060606060606), U(0xF0F0F0F0F0F0F0F0)
"""a byte n is a digit if neither n nor n + 6 has a bit in its upper half, since 9 + 6 is the last number below 16"""
DOTS = U(0x1E1E1E1E1E1E1E1E)
"""eight points, each as it stands beside ZEROS: 0x2E and 0x30 differ by 0x1E"""
ONES, TOPS = U(0x0101010101010101), U(0x8080808080808080)
"""the lowest and the highest bit of each byte, with which Mycroft's test finds a byte that is 0"""
POINT, MINUS = 46, 45  # ord("."), ord("-")
TEN = np.array([10.0**k for k in range(23)])
"""10^22 is the last power of ten that a double holds exactly"""
EXTENDED = np.finfo(np.longdouble).nmant == 63
"""true where long doubles have the 64 bits of x87, of which the last 11 decide how a double is rounded"""
TEN_EXTENDED = np.cumprod(np.array([1] + [10] * 22, dtype=np.longdouble))


def to_finite(text: bytes) -> float:
    """Return a number as float() reads it; what is no finite number is odd."""
    try:
        value = float(text)
    except ValueError:
        raise IrregularText from None
    if b"_" in text or not np.isfinite(value):
        raise IrregularText
    return value


def numbers(piece: Piece, start: Ints, stop: Ints, unusual: Callable[[bytes], float] = to_finite) -> Floats:
    """Return the numbers that stand at start … stop - 1; unusual ones are read by a function."""
    alike = _parse_alike(piece, start, stop) if len(start) else np.zeros(0)
    return _parse_any(piece, start, stop, unusual) if alike is None else alike


def _value(word: Words) -> Words:
    """Return the number of eight digits, as nibbles, the first digit in the lowest byte; the word is used up.

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
    """Return unsigned numbers of at most 15 digits that all have as many decimals; None where any is not so."""
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
    """Return the last eight bytes of each number and, where numbers are longer, the eight before them."""
    if longest <= 8:
        low = words_of(text)[stop - 8]
        return low, low
    high, low = whole_words(text, stop - 16, 2)
    return low, high


def _parse_any(piece: Piece, start: Ints, stop: Ints, unusual: Callable[[bytes], float]) -> Floats:
    """Return signed numbers of up to 24 characters with the point anywhere; the rest are read by a function."""
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
    """Return the digits as an integer, how many are decimals, and which numbers are too unusual for this."""
    parts = []
    for done in range(0, min(24, int(size.max())), 8):
        word = words_of(text)[stop - (done + 8)]
        word ^= ZEROS
        word &= FINAL[np.clip(size - done, 0, 8)]
        parts.append(word)
    value, decimals, hard = np.zeros(len(size), U), np.zeros(len(size), np.int64), (size > 24) | (size < 1)
    moved = np.zeros(len(size), bool)  # the point was met in a word nearer the end
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
    """Return the top bit of the first byte that is a point, 0 where none is, and how many bytes are before it."""
    dots = word ^ DOTS
    dots = (dots - ONES) & ~dots & TOPS
    dots &= -dots
    return dots, np.bitwise_count((dots >> U(7)) - (dots != 0)).astype(np.int64) >> 3


def _close_gap(word: Words, point: Words, before: Words | np.uint64, here: np.ndarray, moved: np.ndarray) -> Words:
    """Return the digits of a word with the point taken out and the gap closed from the word before."""
    below = (point >> U(7)) - here.astype(U)
    without = (word & ~(below | (point >> U(7)) * U(255))) | ((word & below) << U(8)) | before
    return np.where(here, without, np.where(moved, (word << U(8)) | before, word))
