"""Tokens: many short byte strings in one buffer, compared eight bytes at a time with array operations."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, overload

import numpy as np
import numpy.typing as npt

from gradely.data.types import Bools, Bytes, Ints, Words

U = np.uint64
PAD = 64
"""bytes before the first token and after the last, so that reading eight words at a time stays inside the buffer"""
FIRST = np.array([(1 << (8 * n)) - 1 for n in range(9)], dtype=U)
"""masks for the first n bytes of a word, as they stand in the text; a word is read with its first byte lowest"""
FINAL = np.array([((1 << (8 * n)) - 1) << (64 - 8 * n) if n else 0 for n in range(9)], dtype=U)
"""masks for the last n bytes of a word"""


def words_of(text: Bytes) -> Words:
    """Return a view of text as 8-byte words, one beginning at every byte; nothing is copied."""
    return np.ndarray(len(text) - 7, "<u8", text, 0, (1,))


class Tokens(Sequence[str]):
    """Byte strings in a buffer, from start[i] on, size[i] bytes each; as a sequence, text."""

    def __init__(self, text: Bytes, start: npt.NDArray[np.integer], size: npt.NDArray[np.integer]) -> None:
        """Hold the text, which has PAD bytes around the tokens, and where each one is."""
        self.text, self.start, self.size = text, start, size

    @classmethod
    def of(cls, strings: Iterable[bytes]) -> "Tokens":
        """Put byte strings into one buffer."""
        parts = list(strings)
        text = np.frombuffer(b"\n" * PAD + b"".join(parts) + b"\n" * PAD, np.uint8)
        size = np.fromiter(map(len, parts), np.int64, len(parts))
        return cls(text, PAD + np.cumsum(size) - size, size)

    def bytes_at(self, at: int) -> bytes:
        """Return a token as it stands in the text."""
        start = int(self.start[at])
        return self.text[start : start + int(self.size[at])].tobytes()

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
        return decode(self.bytes_at(at))


class Ids(NamedTuple):
    """One id per row: the bytes start[i] … stop[i] - 1 of a text that has room around them."""

    text: Bytes
    start: Ints
    stop: Ints

    @classmethod
    def of(cls, tokens: Tokens) -> "Ids":
        """Return names that are held in as little memory as possible as ids."""
        start = tokens.start.astype(np.int64)
        return cls(tokens.text, start, start + tokens.size)

    def take(self, rows: Ints) -> "Ids":
        """Return the ids of some rows."""
        return Ids(self.text, self.start[rows], self.stop[rows])

    def bytes_at(self, row: int) -> bytes:
        """Return the id of one row."""
        return self.text[self.start[row] : self.stop[row]].tobytes()

    def name(self, row: int) -> str:
        """Return the id of one row as text."""
        return decode(self.bytes_at(row))

    def names(self) -> list[str]:
        """Return the ids of all rows as text."""
        return [self.name(i) for i in range(len(self.start))]

    @property
    def longest(self) -> int:
        """How many bytes the longest id has."""
        return int((self.stop - self.start).max(initial=0))

    def tokens(self) -> Tokens:
        """Return the ids as a sequence of text, in as little memory as holds them."""
        size = self.stop - self.start
        start = self.start.astype(np.uint32) if len(self.text) < 1 << 32 else self.start
        return Tokens(self.text, start, size.astype(np.uint16) if size.max(initial=0) < 1 << 16 else size)


def decode(token: bytes) -> str:
    """Return bytes as an id; bytes that are not UTF-8 become lone surrogates, which `encoded` turns back."""
    return token.decode(errors="surrogateescape")


def encode(text: str) -> bytes:
    """Return an id as bytes, whatever characters it has."""
    try:
        return text.encode(errors="surrogateescape")
    except UnicodeEncodeError:  # other lone surrogates, as JSON may hold them
        return text.encode(errors="surrogatepass")


def as_tokens(strings: Sequence[str]) -> Tokens:
    """Return text as tokens; tokens as they are."""
    return strings if isinstance(strings, Tokens) else Tokens.of(map(encode, strings))


def whole_words(text: Bytes, start: Ints, count: int) -> Iterator[Words]:
    """Yield the first, second, … word of each token, at most those in PAD bytes; beyond a token there may be anything.

    They lie side by side and are fetched at once, which costs no more than fetching one.
    """
    if count > 1:
        rows = np.ndarray(len(text) - 8 * count + 1, f"V{8 * count}", text, 0, (1,))[start]
        yield from np.ascontiguousarray(rows.view(U).reshape(len(start), count).T)
    elif count:
        yield words_of(text)[start]


def compare_tokens(text: Bytes, start: Ints, other: Bytes, other_start: Ints, size: Ints) -> Bools:
    """Return which pairs of tokens of the same size are the same, byte for byte."""
    out = np.ones(len(size), bool)
    here, done = np.arange(len(size)), 0
    words, others = words_of(text), words_of(other)
    while len(here):
        mask = FIRST[np.minimum(size[here] - done, 8)]
        equal = (words[start[here] + done] & mask) == (others[other_start[here] + done] & mask)
        out[here[~equal]] = False
        done += 8
        here = here[equal & (size[here] > done)]
    return out
