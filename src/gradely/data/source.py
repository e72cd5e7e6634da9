"""Files as bytes: plain or gzip, by path or from standard input, with errors that say what to do."""

import gzip
import os
import re
import sys
import zlib
from collections.abc import Iterator
from functools import cached_property
from typing import BinaryIO, NoReturn

from gradely.errors import InputError

GZIP = b"\x1f\x8b"
BOM = b"\xef\xbb\xbf"
CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]")


class Source:
    """A file that can be read more than once; `-` is standard input, read whole on first use."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Name the file; nothing is opened yet."""
        self.path = os.fspath(path)
        self.name = "standard input" if self.path == "-" else self.path

    @cached_property
    def stdin(self) -> bytes:
        """All of standard input."""
        return sys.stdin.buffer.read()

    @cached_property
    def head(self) -> bytes:
        """The first bytes, unpacked, to tell formats apart."""
        if self.path == "-":
            start = self.stdin[:4096]
        else:
            with self.open() as file:
                start = file.read(4096)
        if start.startswith(GZIP):
            try:
                start = zlib.decompressobj(wbits=31).decompress(start)
            except zlib.error as error:
                raise InputError(f"{self.name}: cannot be read: {error}") from None
        return start.removeprefix(BOM)

    def open(self) -> BinaryIO:
        """Open the file as stored."""
        try:
            return open(self.path, "rb")
        except FileNotFoundError:
            raise InputError(f"{self.name}: no such file") from None
        except IsADirectoryError:
            raise InputError(f"{self.name}: is a directory; name a file") from None
        except OSError as error:
            raise InputError(f"{self.name}: cannot be opened: {error.strerror or error}") from None

    def read(self) -> bytes:
        """Return the whole content, unpacked; refuse an empty file."""
        try:
            content = self._unpacked()
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(f"{self.name}: cannot be read: {error}") from None
        if not content.strip():
            raise InputError(f"{self.name}: is empty")
        return content.removeprefix(BOM)

    def _unpacked(self) -> bytes:
        if self.path == "-":
            content = self.stdin
        else:
            with self.open() as file:
                content = file.read()
        return gzip.decompress(content) if content.startswith(GZIP) else content

    def text(self) -> str:
        """Return the whole content; refuse what is not UTF-8 text."""
        content = self.read()
        if control := CONTROL.search(content):
            self._not_text(content, control.start())
        try:
            return content.decode()
        except UnicodeDecodeError as error:
            self._not_text(content, error.start)

    def _not_text(self, content: bytes, at: int) -> NoReturn:
        line = content.count(b"\n", 0, at) + 1
        found = clip(content[max(content.rfind(b"\n", 0, at) + 1, at - 30) : at + 30].split(b"\n")[0])
        raise InputError(f"{self.name}:{line}: is not UTF-8 text: {found}; name a text file, or convert it to UTF-8")

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield the lines that are not blank, with their numbers from 1."""
        for number, line in enumerate(self.text().encode().split(b"\n"), 1):
            if line and not line.isspace():
                yield number, line


def clip(found: bytes | str, limit: int = 60) -> str:
    """Return a piece of the input as an error shows it: printable, in quotes, and not too long."""
    text = found.decode(errors="replace") if isinstance(found, bytes) else found
    text = text.strip("\r\n")
    return repr(text if len(text) <= limit else text[:limit] + "…")
