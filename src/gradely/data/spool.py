"""Spool: rows that are sorted into parts, in memory or, if they are many, in a temporary file.

Rows are of one fixed size in a Spool, and hold names and a number in a NameSpool.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from itertools import pairwise
from typing import Any, BinaryIO, NamedTuple, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from gradely.data.columns import compact, concatenate
from gradely.data.ids import Bytes, Floats, Ids, Ints, from_buffer
from gradely.errors import InputError

SpoolRows: TypeAlias = npt.NDArray[Any]
PARTS = 256
"""number of parts that keys are sorted into: one per value of a byte, since bytes are sorted fast; if there are 30
million keys, a part fits into the cache"""
IN_MEMORY = 1 << 20
"""number of rows that are kept in memory: 8 MB of keys, and three times that while they are sorted"""
NAMES_IN_MEMORY = 1 << 17
"""number of rows with names that are kept in memory: about 10 MB, and three times that while they are sorted"""


class TemporaryFile:
    """A file without a name that is made when something is written, and closed at the end."""

    def __init__(self, name: str) -> None:
        """Store the name of the run, for error messages."""
        self.name = name

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file, if there is one."""
        if "_file" in self.__dict__:
            with suppress(OSError):
                self._file.close()  # after an error, this tries to write again

    @cached_property
    def _file(self) -> BinaryIO:
        import tempfile

        return tempfile.TemporaryFile()  # buffered: otherwise a read or a write may do only part of its work

    def write(self, content: memoryview | bytes) -> None:
        """Write bytes at the end of the file."""
        with self._explain_errors():
            self._file.write(content)
            self._file.flush()

    def read(self, start: int, size: int) -> bytes:
        """Return some bytes of the file."""
        with self._explain_errors():
            self._file.seek(start)
            content = self._file.read(size)
            if len(content) < size:
                raise OSError("it is truncated")
        return content

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        """Raise InputError with advice if the file cannot be used, as on a full disk."""
        try:
            yield
        except OSError as error:
            raise InputError(
                f"{self.name}: has too many lines to count in memory, and a temporary file cannot be used: "
                f"{error.strerror or error}; set TMPDIR to a folder with enough space"
            ) from None


class Spool:
    """Rows of one type, sorted into parts. Parts come back one after the other, their rows in the order given."""

    def __init__(self, name: str, kind: npt.DTypeLike) -> None:
        """Store the name of the run, for error messages, and the type of a row."""
        self._file = TemporaryFile(name)
        self._rows, self._part, self._count = np.empty(IN_MEMORY, kind), np.empty(IN_MEMORY, np.uint8), 0
        self._blocks: list[Ints] = []
        """the first row of each part of each block of the file, and the end of the last part"""

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self._file.__exit__()

    def add(self, rows: SpoolRows, part: Bytes) -> None:
        """Add rows, given the part of each."""
        while len(rows):
            here = slice(self._count, self._count + len(rows))
            count = len(self._part[here])
            self._rows[here], self._part[here] = rows[:count], part[:count]
            self._count, rows, part = self._count + count, rows[count:], part[count:]
            if self._count == len(self._rows):
                self._write()

    def parts(self) -> Iterator[SpoolRows]:
        """Yield the rows of each part; if all rows fit into memory, they are sorted at once, which is faster."""
        if not self._blocks:
            yield self._rows[: self._count]
            return
        rows, bounds = self._by_part()
        for i in range(PARTS):
            blocks = [self._read(block[i], block[i + 1]) for block in self._blocks]
            yield np.concatenate([*blocks, rows[bounds[i] : bounds[i + 1]]])

    def _by_part(self) -> tuple[SpoolRows, Ints]:
        """Return the rows in memory, sorted by part, and the first row of each part."""
        part = self._part[: self._count]
        return self._rows[np.argsort(part, kind="stable")], _bounds(part)

    def _write(self) -> None:
        """Move the rows from memory to the file."""
        rows, bounds = self._by_part()
        self._file.write(rows.view(np.uint8).data)
        self._blocks.append(bounds + len(self._blocks) * len(rows))
        self._count = 0

    def _read(self, start: int, stop: int) -> SpoolRows:
        """Return some rows of the file."""
        size = self._rows.itemsize
        return np.frombuffer(self._file.read(int(start) * size, int(stop - start) * size), self._rows.dtype)


class NamedRows(NamedTuple):
    """Rows of one or several names, by column, and a number."""

    names: Sequence[Ids]
    value: Floats


class NameSpool:
    """Rows with names, sorted into parts. Parts come back one after the other, their rows in the order given."""

    def __init__(self, name: str) -> None:
        """Store the name of the run, for error messages."""
        self._file = TemporaryFile(name)
        self._waiting: list[tuple[NamedRows, Bytes]] = []
        self._count = self._end = 0
        self._blocks: list[tuple[Ints, Ints]] = []
        """the start of each part of each block of the file, and the number of its rows"""

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self._file.__exit__()

    def add(self, rows: NamedRows, part: Bytes) -> None:
        """Add rows, given the part of each; their names should be compact, since texts are kept."""
        self._waiting.append((rows, part))
        self._count += len(part)
        if self._count >= NAMES_IN_MEMORY:
            self._write()

    def parts(self) -> Iterator[NamedRows]:
        """Yield the rows of each part that has some; if all rows fit into memory, they are one part."""
        if not self._blocks:
            if self._count:
                yield self._gather()[0]
            return
        if self._count:
            self._write()
        for i in range(PARTS):
            blocks = [
                _unpack(self._file.read(int(start[i]), int(start[i + 1] - start[i])), int(count[i]))
                for start, count in self._blocks
                if count[i]
            ]
            if blocks:
                yield _join(blocks)

    def _gather(self) -> tuple[NamedRows, Bytes]:
        """Return the rows in memory, and their parts; forget them."""
        rows, part = zip(*self._waiting, strict=True)
        self._waiting, self._count = [], 0
        return _join(rows), np.concatenate(part)

    def _write(self) -> None:
        """Move the rows from memory to the file."""
        rows, part = self._gather()
        order, bounds = np.argsort(part, kind="stable"), _bounds(part)
        rows = NamedRows([compact(names.take(order)) for names in rows.names], rows.value[order])
        packed = [_pack(rows, start, stop) for start, stop in pairwise(bounds.tolist())]
        self._blocks.append((np.append(0, np.cumsum([len(one) for one in packed])) + self._end, np.diff(bounds)))
        self._end = int(self._blocks[-1][0][-1])
        self._file.write(b"".join(packed))


def _bounds(part: Bytes) -> Ints:
    """Return the first row of each part after sorting, and the end of the last part."""
    return np.append(0, np.bincount(part, minlength=PARTS).cumsum())


def _join(parts: Sequence[NamedRows]) -> NamedRows:
    """Concatenate rows."""
    columns = zip(*(part.names for part in parts), strict=True)
    return NamedRows([concatenate(column) for column in columns], np.concatenate([part.value for part in parts]))


def _pack(rows: NamedRows, start: int, stop: int) -> bytes:
    """Return some rows, whose names are contiguous, as bytes: the numbers, the sizes of the names, and the names."""
    if start == stop:
        return b""
    sizes = [(names.stop - names.start)[start:stop].astype(np.uint32).tobytes() for names in rows.names]
    texts = [names.text[names.start[start] : names.stop[stop - 1]].tobytes() for names in rows.names]
    return b"".join([len(sizes).to_bytes(1, "little"), rows.value[start:stop].tobytes(), *sizes, *texts])


def _unpack(content: bytes, count: int) -> NamedRows:
    """Return the rows that were packed."""
    value = np.frombuffer(content, np.float64, count, 1)
    at = 1 + value.nbytes
    sizes = [np.frombuffer(content, np.uint32, count, at + 4 * count * i).astype(np.int64) for i in range(content[0])]
    at += 4 * count * content[0]
    columns = []
    for size in sizes:
        total = int(size.sum())
        columns.append(from_buffer(content[at : at + total], size))
        at += total
    return NamedRows(columns, value)
