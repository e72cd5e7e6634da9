"""Packed files: gzip, bzip2, xz and Zstandard, unpacked as they are read, a bounded piece at a time."""

import zlib
from importlib import import_module
from io import FileIO
from typing import Any, NoReturn, Self

from gradely.data.read.formats import kind_of
from gradely.errors import InputError, MissingExtra

BLOCK = 1 << 18
"""bytes that are read in one go"""
MOST = 1 << 20
"""bytes that are unpacked in one go, however well they are packed"""


class Gunzip:
    """Gzip as the standard library's other decompressors have it."""

    def __init__(self) -> None:
        """Begin a member."""
        self._engine = zlib.decompressobj(wbits=31)

    def decompress(self, data: bytes, most: int) -> bytes:
        """Return what comes out of the next bytes, or at most so much of it."""
        return self._engine.decompress(self._engine.unconsumed_tail + data, most)

    @property
    def eof(self) -> bool:
        """True at the end of the member."""
        return self._engine.eof

    @property
    def needs_input(self) -> bool:
        """True where nothing comes out without more bytes."""
        return not self._engine.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        """What comes after the member."""
        return self._engine.unused_data


def engine(kind: str) -> Any:
    """Return what unpacks one member of a packed file."""
    if kind == "gzip":
        return Gunzip()
    if kind == "zstd":
        return _zstd().ZstdDecompressor()
    return import_module("bz2").BZ2Decompressor() if kind == "bzip2" else import_module("lzma").LZMADecompressor()


def _zstd() -> Any:
    """Return the module for Zstandard: Python 3.14 has it, for older ones there is a package that is the same."""
    for name in ("compression.zstd", "backports.zstd"):
        try:
            return import_module(name)
        except ImportError:
            continue
    raise MissingExtra("backports.zstd to read Zstandard", "zstd")


class UnpackedFile:
    """The content of a packed file, of one member or several."""

    def __init__(self, file: FileIO, start: bytes, name: str, skip: bytes) -> None:
        """Take an open file, what was already read of it, what errors call it, and what to pass over at its start."""
        self.file, self.name, self._kind = file, name, kind_of(start) or ""
        self._packed, self._content = start, memoryview(b"")
        self._engine = engine(self._kind)
        begin = b""
        while len(begin) < len(skip) and self._unpack_next():
            begin += self._content
        self._content = memoryview(begin.removeprefix(skip))

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self.file.close()

    def tell(self) -> int:
        """Return how much of the file as stored is read."""
        return self.file.tell()

    def readinto(self, view: memoryview | bytearray) -> int:
        """Fill part of a buffer; return how much, 0 at the end."""
        while not self._content:
            if not self._unpack_next():
                return 0
        count = min(len(view), len(self._content))
        view[:count] = self._content[:count]
        self._content = self._content[count:]
        return count

    def readall(self) -> bytes:
        """Return the rest of the content."""
        parts = [bytes(self._content)]
        while self._unpack_next():
            parts.append(bytes(self._content))
        self._content = memoryview(b"")
        return b"".join(parts)

    def _unpack_next(self) -> bool:
        """Unpack the next piece; return False at the end of the file."""
        if self._engine.eof and not self._next_member():
            return False
        data = b""
        if self._engine.needs_input:
            data, self._packed = self._packed or self.file.read(BLOCK), b""
            if not data:
                self._fail(f"the {self._kind} file ends too early")
        try:
            self._content = memoryview(self._engine.decompress(data, MOST))
        except Exception as error:  # noqa: BLE001 - each library has its own, for what is damaged
            self._fail(error)
        return True

    def _next_member(self) -> bool:
        """Begin the next member, if there is one; zeros may fill up what is between."""
        rest = (self._engine.unused_data + self._packed).lstrip(b"\0")
        while not rest and (block := self.file.read(BLOCK)):
            rest = block.lstrip(b"\0")
        self._packed = rest
        if rest:
            self._engine = engine(self._kind)
        return bool(rest)

    def _fail(self, reason: object) -> NoReturn:
        self.file.close()
        raise InputError(f"{self.name}: cannot be read: {reason}")
