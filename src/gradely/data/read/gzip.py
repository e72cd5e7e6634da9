"""Gzip, unpacked into buffers as it is read."""

import zlib
from io import FileIO
from types import TracebackType
from typing import NoReturn, Self

from gradely.errors import InputError

GZIP = b"\x1f\x8b"
BLOCK = 1 << 18


class Inflated:
    """The unpacked content of a gzip file, of one member or several."""

    def __init__(self, file: FileIO, start: bytes, name: str, skip: bytes) -> None:
        """Take an open file, what was already read of it, what errors call it, and what to pass over at its start."""
        self.file, self.name = file, name
        self._packed, self._unpacked = start, b""
        self._inflate = zlib.decompressobj(wbits=31)
        while len(self._unpacked) < len(skip) and self._more():
            pass
        self._unpacked = self._unpacked.removeprefix(skip)

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file."""
        self.file.close()

    def tell(self) -> int:
        """Return how much of the file as stored is read."""
        return self.file.tell()

    def readinto(self, view: memoryview | bytearray) -> int:
        """Fill part of a buffer; return how much, 0 at the end."""
        while not self._unpacked and self._more():
            pass
        count = min(len(view), len(self._unpacked))
        view[:count] = self._unpacked[:count]
        self._unpacked = self._unpacked[count:]
        return count

    def readall(self) -> bytes:
        """Return the rest of the content."""
        parts = [self._unpacked]
        self._unpacked = b""
        while self._more():
            parts.append(self._unpacked)
            self._unpacked = b""
        return b"".join(parts)

    def _more(self) -> bool:
        """Unpack the next block; return False at the end of the file."""
        if self._inflate.eof:
            self._packed = (self._inflate.unused_data + self._packed).lstrip(b"\0")
            if not self._packed:
                self._packed = self.file.read(BLOCK).lstrip(b"\0")
            if not self._packed:
                return False
            self._inflate = zlib.decompressobj(wbits=31)
        if not self._packed:
            self._packed = self.file.read(BLOCK)
        if not self._packed:
            self._fail("the gzip file ends too early")
        try:
            self._unpacked += self._inflate.decompress(self._packed)
        except zlib.error as error:
            self._fail(error)
        self._packed = b""
        return True

    def _fail(self, reason: object) -> NoReturn:
        self.file.close()
        raise InputError(f"{self.name}: cannot be read: {reason}")
