"""Ids of any type as bytes in a buffer, so names can be compared, hashed and sorted with array operations."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from math import isnan
from numbers import Real
from operator import eq, methodcaller
from typing import Any, NamedTuple, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from gradely.errors import DataError, clip

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]
Bytes: TypeAlias = npt.NDArray[np.uint8]
Words: TypeAlias = npt.NDArray[np.uint64]
U = np.uint64
PAD = 64
"""bytes before the first token and after the last, to keep reading of eight words at a time inside the buffer"""
LONGEST_NAME = (1 << 16) - 1
"""bytes of the longest name of a query or document"""


class Tokens(Sequence[str]):
    """Byte strings in a buffer: token i has size[i] bytes from start[i] on. As a sequence, its items are text."""

    def __init__(self, text: Bytes, start: npt.NDArray[np.integer], size: npt.NDArray[np.integer]) -> None:
        """Store the text, which has PAD bytes around the tokens, and the position of each token."""
        self.text, self.start, self.size = text, start, size

    @classmethod
    def of(cls, strings: Iterable[bytes]) -> "Tokens":
        """Return byte strings in one buffer."""
        parts = list(strings)
        text = np.frombuffer(b"\n" * PAD + b"".join(parts) + b"\n" * PAD, np.uint8)
        size = np.fromiter(map(len, parts), np.int64, len(parts))
        return cls(text, PAD + np.cumsum(size) - size, size)

    def bytes_at(self, at: int) -> bytes:
        """Return a token as bytes."""
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
        """Return one token as text, or several."""
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        return decode(self.bytes_at(at))

    def __eq__(self, other: object) -> bool:
        """True for a sequence of the same texts, such as a list."""
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(eq, self, other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Return the texts as those of a list."""
        return repr(list(self))


class Ids(NamedTuple):
    """One id per row: the bytes start[i] … stop[i] - 1 of a text that has PAD bytes before and after."""

    text: Bytes
    start: Ints
    stop: Ints

    @classmethod
    def of(cls, tokens: Tokens) -> "Ids":
        """Return tokens, which use as little memory as possible, as ids."""
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

    def tokens(self) -> Tokens:
        """Return the ids as a sequence of text that uses as little memory as possible."""
        size = self.stop - self.start
        start = self.start.astype(np.uint32) if len(self.text) < 1 << 32 else self.start
        return Tokens(self.text, start, size.astype(np.uint16) if size.max(initial=0) < 1 << 16 else size)


def are_too_long(*columns: Ids) -> bool:
    """True if one of the ids in some columns is longer than a name may be."""
    return any(int((ids.stop - ids.start).max(initial=0)) > LONGEST_NAME for ids in columns)


def decode(token: bytes) -> str:
    """Return bytes as an id; bytes that are not UTF-8 become lone surrogates, which `encode` turns back."""
    return token.decode(errors="surrogateescape")


def encode(text: str) -> bytes:
    """Return an id as bytes; it may contain any characters."""
    try:
        return text.encode(errors="surrogateescape")
    except UnicodeEncodeError:  # other lone surrogates, which JSON may contain
        return text.encode(errors="surrogatepass")


def as_tokens(strings: Sequence[str]) -> Tokens:
    """Return text as tokens; tokens are returned unchanged."""
    return strings if isinstance(strings, Tokens) else Tokens.of(map(encode, strings))


POWERS = np.array([10**n for n in range(1, 20)], U)
"""powers of ten; a whole number has one digit more than there are powers of ten that do not exceed it"""
MINUS = 45  # ord("-")


def as_text(identifier: Any, name: str) -> str:
    """Return an id as text; 10.0 becomes 10."""
    if isinstance(identifier, str):
        return identifier
    if identifier is None or (isinstance(identifier, Real) and isnan(identifier)):
        raise DataError(f"{name}: an id is missing ({identifier})")
    kind: Any = type(identifier)
    nameless = kind.__str__ is object.__str__ and kind.__repr__ is object.__repr__
    if kind.__hash__ is None or nameless or kind is np.void:  # lists, dicts, arrays and their records, nameless objects
        raise DataError(f"{name}: an id is {clip(str(identifier))}; it must be text or a number")
    try:
        if isinstance(identifier, bytes):
            return identifier.decode()
        integral = isinstance(identifier, Real) and not isinstance(identifier, int) and identifier == identifier // 1
        return str(int(identifier)) if integral else str(identifier)
    except ValueError:
        raise DataError(f"{name}: an id is not UTF-8 text, or has too many digits: {clip(repr(identifier))}") from None


@cache
def _four_digits() -> Words:
    """Return the four digits of each number below 10,000."""
    digits = (np.arange(10_000, dtype="u2")[:, None] // np.array([1000, 100, 10, 1], "u2") % 10 + 48).astype("u1")
    four: Words = digits.view("<u4")[:, 0].astype(U)
    return four


def from_integers(values: npt.NDArray[np.integer]) -> Ids:
    """Write integers as decimal digits, four at a time from a table; each number ends a cell of whole words."""
    negative = values < 0
    signed = values.astype(np.int64) if values.dtype.kind == "i" else values
    rest: Any = np.where(negative, -signed, signed).astype(U) if negative.any() else signed.astype(U)
    size = np.searchsorted(POWERS, rest, side="right") + 1 + negative
    words = (int(size.max(initial=1)) + 7) // 8
    text = np.full(2 * PAD + 8 * words * len(values), 10, np.uint8)
    cells = text[PAD : len(text) - PAD].view("<u8").reshape(len(values), words)
    four = _four_digits()
    for column in range(words - 1, -1, -1):
        eight = (rest % U(10**8)).astype(np.uint32)
        upper = eight // np.uint32(10_000)
        cells[:, column] = four[upper] | four[eight - upper * np.uint32(10_000)] << U(32)
        rest = rest // U(10**8)
    stop = PAD + 8 * words * np.arange(1, len(values) + 1)
    text[(stop - size)[negative]] = MINUS
    return Ids(text, stop - size, stop)


def from_floats(values: npt.NDArray[np.floating], name: str) -> Ids:
    """Return numbers as ids; 10.0 becomes 10."""
    if not np.isfinite(values).all():
        raise DataError(f"{name}: an id is {values[~np.isfinite(values)][0]}; fill it in, or drop its row")
    whole = values.astype(np.int64) if np.abs(values).max(initial=0) < 2.0**63 else None
    if whole is not None and (whole == values).all():
        return from_integers(whole)
    return from_objects(values.tolist(), name)


def from_objects(values: Iterable[Any], name: str) -> Ids:
    """Return Python objects as ids, each converted to text."""
    objects = list(values)
    if set(map(type, objects)) == {int} and (whole := np.array(objects)).dtype.kind in "iu":
        return from_integers(whole)
    try:  # all are text, and mostly ASCII, in which a character is a byte
        joined = "".join(objects)
        if joined.isascii():
            return from_buffer(joined.encode(), np.fromiter(map(len, objects), np.int64, len(objects)))
    except TypeError:
        pass
    return Ids.of(Tokens.of(encode(as_text(value, name)) for value in objects))


def from_buffer(content: bytes, size: npt.NDArray[np.int64]) -> Ids:
    """Return ids that are adjacent in the content, given their sizes in bytes."""
    stop = PAD + np.cumsum(size)
    return Ids(np.frombuffer(b"\n" * PAD + content + b"\n" * PAD, np.uint8), stop - size, stop)


def from_arrow(array: Any, name: str) -> Ids:
    """Return an Arrow array as ids: text from its own buffer, dictionaries by their codes."""
    import pyarrow as pa

    array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    kind = array.type
    if pa.types.is_dictionary(kind):
        return _from_dictionary(array, name)
    if pa.types.is_integer(kind):
        return from_integers(array.to_numpy())
    if pa.types.is_floating(kind):
        return from_floats(array.to_numpy().astype(np.float64), name)
    if pa.types.is_string(kind) or pa.types.is_string_view(kind) or pa.types.is_large_string(kind):
        return _from_text(array.cast(pa.large_string()), name)
    if pa.types.is_binary(kind) or pa.types.is_binary_view(kind) or pa.types.is_large_binary(kind):
        return _from_text(array.cast(pa.large_binary()), name)
    return from_objects(array.to_pylist(), name)


def _from_text(array: Any, name: str) -> Ids:
    """Return Arrow text with 64-bit offsets as ids; its bytes are copied once, to have PAD bytes around them."""
    _, offsets, data = array.buffers()
    edge = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
    if not len(array):
        return from_objects([], name)
    begin, end = int(edge[0]), int(edge[-1])
    text = np.full(end - begin + 2 * PAD, 10, np.uint8)
    text[PAD : len(text) - PAD] = np.frombuffer(data or b"", np.uint8)[begin:end]
    _check_utf8(text, name)
    edge = edge + (PAD - begin)
    return Ids(text, edge[:-1], edge[1:])


def _check_utf8(text: Bytes, name: str) -> None:
    if text.max() > 127:
        try:
            text.tobytes().decode()
        except UnicodeDecodeError as error:
            excerpt = text[max(0, error.start - 20) : error.start + 20].tobytes()
            raise DataError(f"{name}: an id is not UTF-8 text: {excerpt!r}; decode the ids first") from None


def _from_dictionary(array: Any, name: str) -> Ids:
    """Return codes into a dictionary as ids; nothing is decoded unless the dictionary is longer than the array."""
    if len(array.dictionary) > len(array):
        return from_arrow(array.dictionary_decode(), name)
    entries = from_arrow(array.dictionary, name)
    return entries.take(array.indices.to_numpy())


AS_BYTES = methodcaller("encode", errors="surrogatepass")
LOOKUP = 8
"""number of ids whose types can be checked in the time of looking up one missing id in other forms; 13 were measured"""


def rename_docs(docs: Mapping[Any, float], name: str, query: str) -> dict[str, float]:
    """Return a mapping with ids as text."""
    out = {as_text(doc, name): value for doc, value in docs.items()}
    if len(out) < len(docs):
        raise DataError(
            f"{name}: query {clip(query)}: duplicate document, as different types; ids are compared as text"
        )
    return out


def are_disguised(docs: Mapping[Any, float], missing: list[str]) -> bool:
    """True if a document that is missing among the text ids is present as a number or as bytes."""
    if len(docs) < LOOKUP * len(missing) and {*map(type, docs)} == {str}:
        return False
    if any(map(docs.__contains__, map(AS_BYTES, missing))):
        return True
    return any(_is_number_of(docs, doc) for doc in missing if doc[:1].isdigit() or doc[:1] == "-")


def _is_number_of(docs: Mapping[Any, float], name: str) -> bool:
    try:
        return float(name) in docs
    except ValueError:
        return False
