"""Files as bytes: plain or gzip, by path or from standard input, with errors that say what to do."""

import os
import re
import sys
import weakref
from collections.abc import Callable, Iterator
from functools import cached_property
from io import BytesIO, FileIO
from typing import NoReturn, TypeAlias

from gradely.data.read.gzip import GZIP, Inflated
from gradely.errors import InputError

BOM = b"\xef\xbb\xbf"
CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
HEAD = 4096
SEVERAL = 1 << 15
"""lines between two reports"""

Report: TypeAlias = Callable[[float], None]
"""told how much of a file is done, from 0 to 1"""


def ignore(done: float) -> None:
    """Report to nobody."""


def halves(report: Report) -> tuple[Report, Report]:
    """Return two reports, for the first and for the second half of the work."""
    return lambda done: report(done / 2), lambda done: report((1 + done) / 2)


class Source:
    """A file that can be read more than once; `-` is standard input, kept in a temporary file."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Name the file; nothing is opened yet."""
        self.path = os.fspath(path)
        self.name = "standard input" if self.path == "-" else self.path

    @cached_property
    def _spool(self) -> FileIO:
        """All of standard input, in a file without a name that is gone with the process."""
        import shutil
        import tempfile

        file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - open as long as the source is
        weakref.finalize(self, file.close)
        shutil.copyfileobj(sys.stdin.buffer, file)
        return file

    def open(self) -> FileIO:
        """Open the file as it is stored."""
        try:
            if self.path == "-":
                self._spool.seek(0)
                return FileIO(self._spool.fileno(), closefd=False)
            return FileIO(self.path)
        except FileNotFoundError:
            raise InputError(f"{self.name}: no such file") from None
        except IsADirectoryError:
            raise InputError(f"{self.name}: is a directory; name a file") from None
        except OSError as error:
            raise InputError(f"{self.name}: cannot be opened: {error.strerror or error}") from None

    def stream(self) -> FileIO | Inflated:
        """Open the file unpacked, without a byte order mark."""
        file = self.open()
        start = file.read(HEAD)
        if start.startswith(GZIP):
            return Inflated(file, start, self.name, skip=BOM)
        file.seek(len(BOM) if start.startswith(BOM) else 0)
        return file

    @cached_property
    def size(self) -> int:
        """How many bytes are stored."""
        with self.open() as file:
            return os.fstat(file.fileno()).st_size

    @cached_property
    def head(self) -> bytes:
        """The first bytes, unpacked, to tell formats apart."""
        with self.stream() as stream:
            start = bytearray(HEAD)
            return bytes(start[: stream.readinto(start)])

    def read(self) -> bytes:
        """Return the whole content, unpacked; refuse an empty file."""
        with self.stream() as stream:
            content = stream.readall()
        if not content.strip():
            raise InputError(f"{self.name}: is empty")
        return content

    def text(self) -> str:
        """Return the whole content; refuse what is not UTF-8 text."""
        return self._checked(self.read())

    def _checked(self, content: bytes) -> str:
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

    def lines(self, report: Report = ignore) -> Iterator[tuple[int, bytes]]:
        """Yield the lines that are not blank, with their numbers from 1."""
        content = self.read()
        self._checked(content)
        file = BytesIO(content)
        for number, line in enumerate(file, 1):
            if number % SEVERAL == 0:
                report(file.tell() / len(content))
            if not line.isspace():
                yield number, line.removesuffix(b"\n")


def clip(found: bytes | str, limit: int = 60) -> str:
    """Return a piece of the input as an error shows it: printable, in quotes, and not too long."""
    text = found.decode(errors="replace") if isinstance(found, bytes) else found
    text = text.strip("\r\n")
    return repr(text if len(text) <= limit else text[:limit] + "…")
