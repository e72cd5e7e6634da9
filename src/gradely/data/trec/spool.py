"""Rows in parts, in bounded memory: what is too much goes to a file without a name, which is gone with the process."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import Any, BinaryIO, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from gradely.data.types import Bytes, Ints
from gradely.errors import InputError

Rows: TypeAlias = npt.NDArray[Any]
PARTS = 256
"""as many as a byte tells apart, since bytes are sorted fast; of 30 million keys, a part fits into the cache"""
IN_MEMORY = 1 << 20
"""rows that are held in memory: 8 MB of keys, and three times that while they are put in order"""


class Spool:
    """Rows of one type, each in a part. Parts come back one after the other, with their rows in the order given."""

    def __init__(self, name: str, kind: npt.DTypeLike) -> None:
        """Take the name of the run that the rows are of, which errors speak of, and the type of a row."""
        self.name = name
        self._rows, self._part, self._count = np.empty(IN_MEMORY, kind), np.empty(IN_MEMORY, np.uint8), 0
        self._blocks: list[Ints] = []
        """where the parts of each block of the file begin, and where the last one ends, in rows"""

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file, where there is one."""
        if "_file" in self.__dict__:
            with suppress(OSError):
                self._file.close()  # after an error, this tries again to write

    def add(self, rows: Rows, part: Bytes) -> None:
        """Add rows, given the part of each."""
        while len(rows):
            here = slice(self._count, self._count + len(rows))
            count = len(self._part[here])
            self._rows[here], self._part[here] = rows[:count], part[:count]
            self._count, rows, part = self._count + count, rows[count:], part[count:]
            if self._count == len(self._rows):
                self._write()

    def parts(self) -> Iterator[Rows]:
        """Yield the rows of each part; all rows at once where they fit into memory, which is faster."""
        if not self._blocks:
            yield self._rows[: self._count]
            return
        rows, bounds = self._by_part()
        for i in range(PARTS):
            blocks = [self._read(block[i], block[i + 1]) for block in self._blocks]
            yield np.concatenate([*blocks, rows[bounds[i] : bounds[i + 1]]])

    def _by_part(self) -> tuple[Rows, Ints]:
        """Return the rows in memory, part by part, and where the parts begin."""
        part = self._part[: self._count]
        return self._rows[np.argsort(part, kind="stable")], np.append(0, np.bincount(part, minlength=PARTS).cumsum())

    @cached_property
    def _file(self) -> BinaryIO:
        import tempfile

        return tempfile.TemporaryFile()  # with a buffer: without one, a read or a write may do only part of its work

    def _write(self) -> None:
        """Move the rows from memory to the file."""
        rows, bounds = self._by_part()
        with self._explain_errors():
            self._file.write(rows.view(np.uint8).data)
            self._file.flush()
        self._blocks.append(bounds + len(self._blocks) * len(rows))
        self._count = 0

    def _read(self, start: int, stop: int) -> Rows:
        """Return some rows of the file."""
        with self._explain_errors():
            self._file.seek(start * self._rows.itemsize)
            return np.frombuffer(self._file.read((stop - start) * self._rows.itemsize), self._rows.dtype)

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        """Say what to do where there is no room."""
        try:
            yield
        except OSError as error:
            raise InputError(
                f"{self.name}: has too many lines to count in memory, and a temporary file cannot be used: "
                f"{error.strerror or error}; set TMPDIR to a folder with room"
            ) from None
