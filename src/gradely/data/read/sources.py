"""Files as bytes: plain or packed, by path, from a pipe or from standard input, with errors that say what to do."""

import os
import re
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from io import FileIO
from threading import Lock
from typing import BinaryIO, NoReturn, TypeAlias

from gradely.data.read.formats import is_pipe, kind_of
from gradely.data.read.packed import UnpackedFile
from gradely.data.read.pipes import Pipe, keep_in_file, pipe_at
from gradely.errors import InputError, read_error

BOM = b"\xef\xbb\xbf"
CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
HEAD = 4096
"""bytes at the beginning of a file by which its format is recognised"""
SMALL = 1 << 12
"""bytes of TREC text that is read line by line; at some 150 lines its two readers take as long, measured warm"""
BLOCK = 1 << 20
"""bytes that are read in one go"""
LONGEST_LINE = 1 << 26
"""bytes of the longest line: more would be held in memory for nothing but an error"""
POSITION = Lock()
"""held where reading at a place has to move the position of a descriptor first"""

Report: TypeAlias = Callable[[float], None]
"""told how much of a file is done, from 0 to 1"""


def ignore(done: float) -> None:
    """Report to nobody."""


def split_report(report: Report) -> tuple[Report, Report]:
    """Return two reports, for the first and for the second half of the work."""
    return lambda done: report(done / 2), lambda done: report((1 + done) / 2)


def change_error(name: str) -> InputError:
    """Return the error about a file that is not the same as before."""
    return InputError(f"{name}: changed while it was read; try again when it is complete")


class DiskFile(FileIO):
    """An open file, up to the size that it had at first: one that grows is read as it was.

    It has a position of its own: several of them may share a descriptor, on several threads.
    """

    def __init__(self, file: str | int, name: str, *, closefd: bool = True) -> None:
        """Open a path or a descriptor; errors call it by a name."""
        super().__init__(file, closefd=closefd)
        self.title, self.limit, self.position = name, os.fstat(self.fileno()).st_size, 0

    def readinto(self, view: memoryview | bytearray) -> int:  # type: ignore[override]
        """Fill part of a buffer; return how much, 0 at the end."""
        room = min(len(view), self.left())
        got = self._read_at(memoryview(view)[:room], self.position) if room else 0
        self.position += got
        return got

    def fill(self, view: memoryview, at: int) -> None:
        """Fill a whole buffer from some place of the file; several threads may do so at a time."""
        while len(view):
            got = self._read_at(view, at)
            view, at = view[got:], at + got

    def _read_at(self, view: memoryview, at: int) -> int:
        """Fill part of a buffer from some place of the file; return how much, at least a byte."""
        try:
            if hasattr(os, "preadv"):
                got = os.preadv(self.fileno(), [view], at)
            else:  # Windows
                with POSITION:
                    super().seek(at)
                    got = super().readinto(view) or 0
        except OSError as error:
            raise read_error(self.title, error) from None
        if not got:
            raise change_error(self.title)
        return got

    def tell(self) -> int:
        """Return where the next byte is read."""
        return self.position

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Say where to read on; return it."""
        self.position = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self.position, os.SEEK_END: self.limit}[whence]
        return self.position

    def left(self) -> int:
        """Return how many bytes are not read yet."""
        return max(self.limit - self.position, 0)

    def read(self, size: int | None = None) -> bytes:
        """Return the next bytes, at most so many."""
        buffer = bytearray(self.left() if size is None or size < 0 else min(size, self.left()))
        return bytes(buffer[: self.readinto(buffer)])

    def readall(self) -> bytes:
        """Return the rest of the content."""
        parts = []
        while part := self.read(BLOCK):
            parts.append(part)
        return b"".join(parts)


class Source:
    """A file that can be read more than once; pipes and standard input (`-`) are kept in a temporary file."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Name the file; nothing is opened yet."""
        self.path = os.fspath(path)
        self.name = "standard input" if self.path == "-" else self.path
        self._pipe: Pipe | None = pipe_at(self.path) if is_pipe(self.path) else None

    def open(self) -> DiskFile:
        """Open the file as it is stored; one that grows keeps the size that it had when it was opened first."""
        try:
            if self._pipe is not None:
                file = DiskFile(self._pipe.descriptor(), self.name, closefd=False)
            else:
                file = DiskFile(self.path, self.name)
        except InputError:
            raise
        except FileNotFoundError:
            raise InputError(f"{self.name}: no such file") from None
        except IsADirectoryError:
            raise InputError(f"{self.name}: is a directory; name a file") from None
        except (OSError, ValueError) as error:
            raise InputError(f"{self.name}: cannot be opened: {getattr(error, 'strerror', '') or error}") from None
        file.limit = self.__dict__.setdefault("size", file.limit)
        return file

    def stream(self) -> DiskFile | UnpackedFile:
        """Open the file unpacked, without a byte order mark."""
        file = self.open()
        start = file.read(HEAD)
        if kind_of(start):
            try:
                return UnpackedFile(file, start, self.name, skip=BOM)
            except BaseException:
                file.close()
                raise
        file.seek(len(BOM) if start.startswith(BOM) else 0)
        return file

    @cached_property
    def size(self) -> int:
        """How many bytes are stored."""
        with self.open() as file:
            return file.limit

    @cached_property
    def head(self) -> bytes:
        """The first bytes, unpacked, to tell formats apart."""
        return self.start(HEAD)

    @property
    def is_small(self) -> bool:
        """Whether the file is read line by line in no time; of a packed one, nobody knows how large it is."""
        if self.size > SMALL:
            return False
        with self.stream() as stream:
            return isinstance(stream, DiskFile)

    def start(self, most: int) -> bytes:
        """Return the first bytes, unpacked, at most so many."""
        buffer = bytearray(most)
        with self.stream() as stream:
            filled = 0
            while filled < most and (got := stream.readinto(memoryview(buffer)[filled:])):
                filled += got
        return bytes(buffer[:filled])

    def read(self) -> bytes:
        """Return the whole content, unpacked; refuse an empty file."""
        with self.stream() as stream:
            content = stream.readall()
        if not content.strip():
            raise InputError(f"{self.name}: is empty")
        return content

    def text(self) -> str:
        """Return the whole content; refuse what is not UTF-8 text."""
        content = self.read()
        self.check_text(content, 1)
        return content.decode()

    def check_text(self, content: bytes, first: int) -> None:
        """Refuse what is not UTF-8 text; the content begins with the line of that number."""
        control = CONTROL.search(content)
        at = control.start() if control else len(content)
        try:
            content[:at].decode()
        except UnicodeDecodeError as error:
            at = error.start
        if at < len(content):
            self._not_text(content, at, first)

    def _not_text(self, content: bytes, at: int, first: int) -> NoReturn:
        line = content.count(b"\n", 0, at) + first
        excerpt = clip(content[max(content.rfind(b"\n", 0, at) + 1, at - 30) : at + 30].split(b"\n")[0])
        raise InputError(f"{self.name}:{line}: is not UTF-8 text: {excerpt}; name a text file, or convert it to UTF-8")

    def unpack(self) -> BinaryIO | DiskFile:
        """Open the file unpacked, for readers that seek; what is packed is unpacked into a temporary file."""
        stream = self.stream()
        if isinstance(stream, DiskFile):
            return stream
        buffer = bytearray(BLOCK)
        with stream:
            pieces = (memoryview(buffer)[:got] for got in iter(partial(stream.readinto, buffer), 0))
            return keep_in_file(pieces, self.name)

    def blocks(self, report: Report = ignore) -> Iterator[tuple[int, bytes]]:
        """Yield whole lines, about a megabyte at a time, with the number of the first of them, from 1."""
        buffer, rest, number = bytearray(BLOCK), list[bytes](), 1
        with self.stream() as stream:
            while got := stream.readinto(buffer):
                block = bytes(memoryview(buffer)[:got])
                cut = block.rfind(b"\n") + 1
                if not cut:
                    rest.append(block)
                    if sum(map(len, rest)) > LONGEST_LINE:
                        raise InputError(f"{self.name}:{number}: a line is longer than {LONGEST_LINE:,} bytes")
                    continue
                whole = b"".join([*rest, block[:cut]])
                yield number, whole
                number += whole.count(b"\n")
                rest = [block[cut:]] if cut < len(block) else []
                report(stream.tell() / self.size)
        if rest:
            yield number, b"".join(rest)

    def lines(self, report: Report = ignore) -> Iterator[tuple[int, bytes]]:
        """Yield the lines that are not blank, with their numbers from 1; refuse what is not UTF-8 text."""
        empty = True
        for first, block in self.blocks(report):
            self.check_text(block, first)
            for number, line in enumerate(block.removesuffix(b"\n").split(b"\n"), first):
                if line and not line.isspace():
                    empty = False
                    yield number, line
        if empty:
            raise InputError(f"{self.name}: is empty")


def clip(content: bytes | str, limit: int = 60) -> str:
    """Return a piece of the input as an error shows it: printable, in quotes, and not too long."""
    text = content[: 4 * limit + 4].decode(errors="replace") if isinstance(content, bytes) else content
    text = text.strip("\r\n")
    return repr(text if len(text) <= limit else text[:limit] + "…")
