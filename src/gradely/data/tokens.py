"""Tokens: many short byte strings in one buffer, hashed and compared eight bytes at a time with array operations."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from gradely.data.qrels import Ints

U = np.uint64
Words = npt.NDArray[np.uint64]
PAD = 64
"""bytes before the first token and after the last, so that reading eight at a time stays inside the buffer"""
ODD, MIX, LAST = U(0x9E3779B97F4A7C15), U(0xD6E8FEB86659FD93), U(0xC2B2AE3D27D4EB4F)
TOP = np.array([0] + [((1 << (8 * n)) - 1) << (64 - 8 * n) for n in range(1, 9)], dtype=U)
"""masks for the n bytes of a word that come last in the text"""


def words_of(buffer: npt.NDArray[np.uint8]) -> Words:
    """Return a view of the buffer as 8-byte words, one beginning at every byte; no copy."""
    return np.ndarray(len(buffer) - 7, "<u8", buffer, 0, (1,))


def pack(tokens: Iterable[bytes]) -> tuple[Words, Ints, Ints]:
    """Put byte strings into one buffer; return its words and where each string starts and ends."""
    strings = list(tokens)
    buffer = np.frombuffer(b"\n" * PAD + b"".join(strings) + b"\n" * PAD, np.uint8)
    stop = PAD + np.cumsum([len(string) for string in strings], dtype=np.int64)
    return words_of(buffer), np.concatenate([[PAD], stop[:-1]]).astype(np.int64), stop


def hashes(words: Words, start: Ints, stop: Ints) -> Words:
    """Return a 64-bit hash of each token, over all its bytes, from the last word backwards."""
    size = stop - start
    longest = int(size.max(initial=0))
    out: Words = (words[stop - 8] & TOP[np.minimum(size, 8)]) * ODD
    out ^= out >> U(29)
    for done in range(8, longest, 8):
        word = words[np.maximum(stop - done - 8, 0)] & TOP[np.clip(size - done, 0, 8)]
        out = (out ^ word) * MIX
        out ^= out >> U(29)
    return out


def shuffle_keys(seed: int, query: bytes, docs: Iterable[bytes]) -> Words:
    """Return a key for each document of a query; ordered by it, documents stand in an order drawn with the seed.

    It depends on the seed and the names alone, so neither the order of the input nor the number of threads matters.
    """
    own = hashes(*pack([b"%d " % seed + query]))
    key: Words = (hashes(*pack(docs)) ^ own) * LAST
    key ^= key >> U(32)
    key *= ODD
    key ^= key >> U(29)
    return key
