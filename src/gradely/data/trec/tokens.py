"""Tokens: many short byte strings in one buffer, hashed and compared eight bytes at a time with array operations."""

from collections.abc import Iterable, Iterator, Sequence
from typing import overload

import numpy as np
import numpy.typing as npt

from gradely.data.types import Bools, Bytes, Ints, Words

U = np.uint64
PAD = 64
"""bytes before the first token and after the last, so that reading eight at a time stays inside the buffer"""
ODD, MIX, LAST = U(0x9E3779B97F4A7C15), U(0xD6E8FEB86659FD93), U(0xC2B2AE3D27D4EB4F)
FIRST = np.array([(1 << (8 * n)) - 1 for n in range(9)], dtype=U)
"""masks for the first n bytes of a word, as they stand in the text"""
FINAL = np.array([((1 << (8 * n)) - 1) << (64 - 8 * n) if n else 0 for n in range(9)], dtype=U)
"""masks for the last n bytes of a word"""


def words_of(text: Bytes) -> Words:
    """Return a view of text as 8-byte words, one beginning at every byte; nothing is copied."""
    return np.ndarray(len(text) - 7, "<u8", text, 0, (1,))


class Tokens(Sequence[str]):
    """Byte strings in a buffer, from start[i] to stop[i]; as a sequence, text."""

    def __init__(self, text: Bytes, start: npt.NDArray[np.integer], size: npt.NDArray[np.integer]) -> None:
        """Hold the text, which has PAD bytes around the tokens, and where each one is."""
        self.text, self.start, self.size = text, start, size

    @classmethod
    def of(cls, strings: Iterable[bytes]) -> "Tokens":
        """Put byte strings into one buffer."""
        several = list(strings)
        text = np.frombuffer(b"\n" * PAD + b"".join(several) + b"\n" * PAD, np.uint8)
        size = np.fromiter(map(len, several), np.int64, len(several))
        return cls(text, PAD + np.cumsum(size) - size, size)

    def hashes(self) -> Words:
        """Return a 64-bit hash of each token."""
        start = self.start.astype(np.int64)
        return hashes(self.text, start, start + self.size)

    def __len__(self) -> int:
        """Return the number of tokens."""
        return len(self.start)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        """Return a token as text, or several."""
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        start = int(self.start[at])
        return self.text[start : start + int(self.size[at])].tobytes().decode()


def encoded(text: str) -> bytes:
    """Return an id as bytes, whatever characters it has."""
    return text.encode(errors="surrogatepass")


def as_tokens(strings: Sequence[str]) -> Tokens:
    """Return text as tokens; tokens as they are."""
    return strings if isinstance(strings, Tokens) else Tokens.of(map(encoded, strings))


def hashes(text: Bytes, start: Ints, stop: Ints) -> Words:
    """Return a 64-bit hash of each token: its whole words and its last eight bytes, each times an odd number, mixed."""
    size = stop - start
    shortest, longest = int(size.min(initial=8)), int(size.max(initial=0))
    out: Words = words_of(text)[stop - 8]
    if shortest < 8:
        out &= FINAL[np.minimum(size, 8)]
    out *= ODD
    for i, words in enumerate(whole_words(text, start, longest // 8)):
        inside = words * (size >= 8 * (i + 1)) if shortest < 8 * (i + 1) else words
        out += inside * U(int(MIX) + 2 * i)
    out += size.view(U) * LAST
    out ^= out >> U(32)
    out *= MIX
    out ^= out >> U(29)
    return out


def whole_words(text: Bytes, start: Ints, count: int) -> Iterator[Words]:
    """Yield the first, second, … word of each token; beyond its end there may be anything.

    The first words of a token lie side by side and are fetched at once, which costs no more than fetching one.
    """
    together, words = min(count, PAD // 8), words_of(text)
    if together > 1:
        rows = np.ndarray(len(text) - 8 * together + 1, f"V{8 * together}", text, 0, (1,))[start]
        yield from np.ascontiguousarray(rows.view(U).reshape(len(start), together).T)
    elif together:
        yield words[start]
    for i in range(together, count):
        yield words[np.minimum(start + 8 * i, len(words) - 1)]


def slots(key: Words, shift: int, bits: int) -> Ints:
    """Return some bits of keys, as places in a table."""
    return ((key >> U(max(shift, 0))) & U((1 << bits) - 1)).view(np.int64)


def distinct(key: Words) -> bool:
    """True where no key is there twice.

    All keys are put into a small table, one overwriting another; those overwritten are either the same as what they
    find in their place, or go into the next round, with other slots.
    """
    for top in (64, 48, 40, 32):
        bits = min(19, max(8, (4 * len(key)).bit_length()))
        table = np.empty(1 << bits, np.int32)
        number, slot = np.arange(len(key), dtype=np.int32), slots(key, top - bits, bits)
        table[slot] = number
        winner = table[slot]
        lost = np.flatnonzero(winner != number)
        if (key[lost] == key[winner[lost]]).any():
            return False
        key = key[lost]
    key = np.sort(key)
    return not bool((key[1:] == key[:-1]).any())


def same(text: Bytes, start: Ints, other: Bytes, other_start: Ints, size: Ints) -> Bools:
    """Return which pairs of tokens of the same size are the same, byte for byte."""
    out = np.ones(len(size), bool)
    words, others = words_of(text), words_of(other)
    for done in range(0, int(size.max(initial=0)), 8):
        mask = FIRST[np.clip(size - done, 0, 8)]
        here, there = np.minimum(start + done, len(words) - 1), np.minimum(other_start + done, len(others) - 1)
        out &= (words[here] & mask) == (others[there] & mask)
    return out


def in_byte_order(text: Bytes, start: Ints, size: Ints) -> list[Words]:
    """Return numbers that order tokens as their bytes do: the first number that differs decides."""
    words, out = words_of(text), []
    for done in range(0, int(size.max(initial=0)), 8):
        at = np.minimum(start + done, len(words) - 1)
        out.append((words[at] & FIRST[np.clip(size - done, 0, 8)]).byteswap())
    return out


def shuffle_keys(seed: int, query: Words | bytes, docs: Words | Iterable[bytes]) -> Words:
    """Return a key for each document; ordered by it, the documents of a query stand in an order drawn with the seed.

    A query is given as a string or as its salt, documents as strings or as hashes. The keys depend on the seed and the
    names alone, so that neither the order of the input nor the number of threads matters.
    """
    query = Tokens.of([query]).hashes() * LAST if isinstance(query, bytes) else query
    docs = docs if isinstance(docs, np.ndarray) else Tokens.of(docs).hashes()
    drawn = Tokens.of([b"%d" % seed]).hashes()
    key: Words = (docs ^ query ^ drawn) * LAST
    key ^= key >> U(32)
    key *= ODD
    key ^= key >> U(29)
    return key
