"""Ids of any type as bytes: whole numbers, Arrow columns, Python objects."""

from collections.abc import Iterable
from math import isnan
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from gradely.data.read.sources import clip
from gradely.data.trec.tokens import PAD, Ids, Tokens, U, encode
from gradely.data.types import Bytes
from gradely.errors import DataError

POWERS = np.array([10**n for n in range(1, 20)], U)
"""a whole number has one digit more than powers of ten that are not above it"""
FOUR = (np.arange(10_000, dtype="u2")[:, None] // np.array([1000, 100, 10, 1], "u2") % 10 + 48).astype("u1")
FOUR = FOUR.view("<u4")[:, 0].astype(U)
"""the four digits of numbers below 10,000"""
MINUS = 45  # ord("-")


def as_text(identifier: Any, name: str) -> str:
    """Return an id as text; 10.0 is 10."""
    if isinstance(identifier, str):
        return identifier
    if identifier is None or (isinstance(identifier, Real) and isnan(identifier)):
        raise DataError(f"{name}: an id is missing ({identifier})")
    if type(identifier).__hash__ is None:  # lists, dicts, arrays
        raise DataError(f"{name}: an id is {clip(str(identifier))}; it must be text or a number")
    try:
        if isinstance(identifier, bytes):
            return identifier.decode()
        integral = isinstance(identifier, Real) and not isinstance(identifier, int) and identifier == identifier // 1
        return str(int(identifier)) if integral else str(identifier)
    except ValueError:
        raise DataError(f"{name}: an id is not UTF-8 text, or has too many digits: {clip(repr(identifier))}") from None


def from_integers(values: npt.NDArray[np.integer]) -> Ids:
    """Return whole numbers as decimal digits, four at a time from a table; each number ends a cell of whole words."""
    negative = values < 0
    signed = values.astype(np.int64) if values.dtype.kind == "i" else values
    rest: Any = np.where(negative, -signed, signed).astype(U) if negative.any() else signed.astype(U)
    size = np.searchsorted(POWERS, rest, side="right") + 1 + negative
    words = (int(size.max(initial=1)) + 7) // 8
    text = np.full(2 * PAD + 8 * words * len(values), 10, np.uint8)
    cells = text[PAD : len(text) - PAD].view("<u8").reshape(len(values), words)
    for column in range(words - 1, -1, -1):
        eight = (rest % U(10**8)).astype(np.uint32)
        upper = eight // np.uint32(10_000)
        cells[:, column] = FOUR[upper] | FOUR[eight - upper * np.uint32(10_000)] << U(32)
        rest = rest // U(10**8)
    stop = PAD + 8 * words * np.arange(1, len(values) + 1)
    text[(stop - size)[negative]] = MINUS
    return Ids(text, stop - size, stop)


def from_floats(values: npt.NDArray[np.floating], name: str) -> Ids:
    """Return numbers as ids; 10.0 is 10."""
    if not np.isfinite(values).all():
        raise DataError(f"{name}: an id is {values[~np.isfinite(values)][0]}; fill it in, or drop its row")
    whole = values.astype(np.int64) if np.abs(values).max(initial=0) < 2.0**63 else None
    if whole is not None and (whole == values).all():
        return from_integers(whole)
    return from_objects(values.tolist(), name)


def from_objects(values: Iterable[Any], name: str) -> Ids:
    """Return Python objects as ids, each made text by itself."""
    objects = list(values)
    if set(map(type, objects)) == {int} and (whole := np.array(objects)).dtype.kind in "iu":
        return from_integers(whole)
    try:  # all text, and mostly ASCII, where characters are bytes
        joined = "".join(objects)
        if joined.isascii():
            return from_buffer(joined.encode(), np.fromiter(map(len, objects), np.int64, len(objects)))
    except TypeError:
        pass
    return Ids.of(Tokens.of(encode(as_text(value, name)) for value in objects))


def from_buffer(content: bytes, size: npt.NDArray[np.int64]) -> Ids:
    """Return ids that stand side by side, of so many bytes each."""
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
    """Return Arrow text with large offsets as ids; its bytes are copied once, to have room around them."""
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
            raise DataError(f"{name}: an id is not UTF-8 text: {excerpt!r}; decode ids before") from None


def _from_dictionary(array: Any, name: str) -> Ids:
    """Return codes into a dictionary as ids; nothing is decoded, unless the dictionary is longer than the rows."""
    if len(array.dictionary) > len(array):
        return from_arrow(array.dictionary_decode(), name)
    entries = from_arrow(array.dictionary, name)
    return entries.take(array.indices.to_numpy())
