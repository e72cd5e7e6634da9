"""Source: the bytes of a path, a pipe or standard input, plain or compressed."""

import codecs
import os
import re
import stat
import sys
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import cached_property, partial
from importlib import import_module
from io import FileIO
from itertools import chain
from threading import Lock
from typing import Any, BinaryIO, NoReturn, Self, TypeAlias

from gradely.errors import InputError, MissingExtra, clip, read_error

BLOCK = 1 << 20
"""number of bytes that are read at a time"""
HEAD = 4096
"""number of bytes at the beginning of a file by which its format is recognised"""
LONGEST_LINE = 1 << 26
"""number of bytes of the longest line: more would be held in memory only to report an error"""
SMALL = 1 << 12
"""number of bytes up to which TREC text is read line by line; at about 150 lines, both readers are equally fast"""
BOM = b"\xef\xbb\xbf"
CONTROL = rb"[\x00-\x08\x0e-\x1f]"
STANDARD_INPUT = ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")
Report: TypeAlias = Callable[[float], None]
"""a function that is called with the share of a file that is done, from 0 to 1"""


def ignore(done: float) -> None:
    """Do nothing; the default report."""


def split_report(report: Report) -> tuple[Report, Report]:
    """Return two reports, for the first and for the second half of the work."""
    return lambda done: report(done / 2), lambda done: report((1 + done) / 2)


def change_error(name: str) -> InputError:
    """Return the error for a file that changed while it was read."""
    return InputError(f"{name}: changed while it was read; try again when it is complete")


class Source:
    """A file that can be read more than once; pipes and standard input (`-`) are kept in a temporary file."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Store the path; nothing is opened yet."""
        self.path = os.fspath(path)
        self.name = "standard input" if self.path == "-" else self.path
        self._pipe: Pipe | None = pipe_at(self.path) if is_pipe(self.path) else None

    def open(self) -> "DiskFile":
        """Open the file as it is stored; a growing file keeps the size that it had when it was first opened.

        An error is raised if the file was replaced by another one and, in `stream`, if it begins with other bytes.
        """
        try:
            if self._pipe is not None:
                file = DiskFile(self._pipe.descriptor(), self.name, closefd=False)
            else:
                file = DiskFile(self.path, self.name)
        except InputError:
            raise
        except FileNotFoundError:
            from gradely.data.addresses import advise

            raise InputError(f"{self.name}: no such file{advise(self.path)}") from None
        except IsADirectoryError:
            raise InputError(f"{self.name}: is a directory; name a file") from None
        except (OSError, ValueError) as error:
            raise InputError(f"{self.name}: cannot be opened: {getattr(error, 'strerror', '') or error}") from None
        file.limit = self.__dict__.setdefault("size", file.limit)
        if self.__dict__.setdefault("_identity", file.identity) != file.identity:
            file.close()
            raise change_error(self.name)
        return file

    def stream(self) -> "DiskFile | UnpackedFile":
        """Open the file decompressed, without a byte order mark."""
        file = self.open()
        start = file.read(HEAD)
        before = self.__dict__.setdefault("_start", start)
        if not start.startswith(before) and not before.startswith(start):  # a read may do part of its work
            file.close()
            raise change_error(self.name)
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
        """The number of bytes that are stored."""
        with self.open() as file:
            return file.limit

    @cached_property
    def head(self) -> bytes:
        """The first bytes, decompressed, to recognise the format."""
        return self.start(HEAD)

    @property
    def is_small(self) -> bool:
        """True if the file is small enough to be read line by line; the size of a compressed file is unknown."""
        if self.size > SMALL:
            return False
        with self.stream() as stream:
            return isinstance(stream, DiskFile)

    def start(self, most: int) -> bytes:
        """Return the first `most` bytes, decompressed."""
        buffer = bytearray(most)
        with self.stream() as stream:
            filled = 0
            while filled < most and (got := stream.readinto(memoryview(buffer)[filled:])):
                filled += got
        return bytes(buffer[:filled])

    def read(self) -> bytes:
        """Return the whole content, decompressed; raise InputError if it is empty."""
        with self.stream() as stream:
            content = stream.readall()
        if not content.strip():
            raise InputError(f"{self.name}: the file is empty")
        return content

    def text(self) -> str:
        """Return the whole content; raise InputError if it is not UTF-8 text."""
        content = self.read()
        self.check_text(content, 1)
        return content.decode()

    def check_text(self, content: bytes, first: int) -> None:
        """Raise InputError for anything but UTF-8 text; `first` is the number of the first line of the content."""
        control = re.search(CONTROL, content)
        at = control.start() if control else len(content)
        try:
            content[:at].decode()
        except UnicodeDecodeError as error:
            at = error.start
        if at < len(content):
            self._not_text(content, at, first)

    def _not_text(self, content: bytes, at: int, first: int) -> NoReturn:
        if content[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            advice = "save it as UTF-8, or convert it: iconv -f UTF-16 -t UTF-8"
            raise InputError(f"{self.name}:{first}: is UTF-16 text, not UTF-8 text; {advice}")
        line = content.count(b"\n", 0, at) + first
        excerpt = clip(content[max(content.rfind(b"\n", 0, at) + 1, at - 30) : at + 30].split(b"\n")[0])
        raise InputError(f"{self.name}:{line}: is not UTF-8 text: {excerpt}; name a text file, or convert it to UTF-8")

    def unpack(self) -> "BinaryIO | DiskFile":
        """Open the file decompressed, for readers that seek; a compressed file is expanded into a temporary file."""
        stream = self.stream()
        if isinstance(stream, DiskFile):
            return stream
        buffer = bytearray(BLOCK)
        with stream:
            pieces = (memoryview(buffer)[:got] for got in iter(partial(stream.readinto, buffer), 0))
            return keep_in_file(pieces, self.name)

    def blocks(self, report: Report = ignore) -> Iterator[tuple[int, bytes]]:
        """Yield whole lines, about a megabyte at a time, with the number of the first line, from 1."""
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
        """Return the lines that are not blank, with their numbers from 1; raise InputError unless they are UTF-8."""
        return chain.from_iterable(self._numbered_lines(report))

    def _numbered_lines(self, report: Report) -> Iterator[list[tuple[int, bytes]]]:
        """Yield many lines at a time."""
        empty = True
        for first, block in self.blocks(report):
            self.check_text(block, first)
            lines = enumerate(block.removesuffix(b"\n").split(b"\n"), first)
            numbered = [(number, line) for number, line in lines if line and not line.isspace()]
            empty = empty and not numbered
            yield numbered
        if empty:
            raise InputError(f"{self.name}: the file is empty")


POSITION = Lock()
"""held while the position of a shared descriptor is moved before reading"""


class DiskFile(FileIO):
    """An open file, up to its size when it was first opened: data appended later are ignored.

    It has its own position, so several objects may share a descriptor on several threads.
    """

    def __init__(self, file: str | int, name: str, *, closefd: bool = True) -> None:
        """Open a path or a descriptor; `name` is used in error messages."""
        super().__init__(file, closefd=closefd)
        status = os.fstat(self.fileno())
        self.title, self.limit, self.position = name, status.st_size, 0
        self.identity = status.st_dev, status.st_ino

    def readinto(self, view: memoryview | bytearray) -> int:  # type: ignore[override]
        """Fill part of a buffer; return the number of bytes, 0 at the end."""
        room = min(len(view), self.left())
        got = self._read_at(memoryview(view)[:room], self.position) if room else 0
        self.position += got
        return got

    def fill(self, view: memoryview, at: int) -> None:
        """Fill a whole buffer from a position of the file; several threads may do so at a time."""
        while len(view):
            got = self._read_at(view, at)
            view, at = view[got:], at + got

    def _read_at(self, view: memoryview, at: int) -> int:
        """Fill part of a buffer from a position of the file; return the number of bytes, at least 1."""
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
        """Return the position of the next byte."""
        return self.position

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Set the position of the next byte; return it."""
        self.position = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self.position, os.SEEK_END: self.limit}[whence]
        return self.position

    def left(self) -> int:
        """Return the number of bytes that are not yet read."""
        return max(self.limit - self.position, 0)

    def read(self, size: int | None = None) -> bytes:
        """Return at most `size` of the next bytes."""
        buffer = bytearray(self.left() if size is None or size < 0 else min(size, self.left()))
        return bytes(buffer[: self.readinto(buffer)])

    def readall(self) -> bytes:
        """Return the rest of the content."""
        parts = []
        while part := self.read(BLOCK):
            parts.append(part)
        return b"".join(parts)


PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
"""the first bytes of compressed files"""


def kind_of(start: bytes) -> str | None:
    """Return the kind of compression of a file, by its first bytes; None if it is not compressed."""
    return next((kind for mark, kind in PACKED.items() if start.startswith(mark)), None)


class UnpackedFile:
    """The content of a compressed file, of one member or several.

    The file objects of bz2 and lzma silently ignore anything after the last member, and that of gzip takes a sixth
    longer.
    """

    def __init__(self, file: "DiskFile", start: bytes, name: str, skip: bytes) -> None:
        """Store an open file, the bytes already read from it, its name in errors, and a prefix to skip."""
        self.file, self.name = file, name
        self._pieces = self._unpack(start, kind_of(start) or "")
        begin = b""
        while len(begin) < len(skip) and (piece := next(self._pieces, None)) is not None:
            begin += piece
        self._content = memoryview(begin.removeprefix(skip))

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self.file.close()

    def tell(self) -> int:
        """Return how much of the stored file has been read."""
        return self.file.tell()

    def readinto(self, view: memoryview | bytearray) -> int:
        """Fill part of a buffer; return the number of bytes, 0 at the end."""
        while not self._content:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._content = memoryview(piece)
        count = min(len(view), len(self._content))
        view[:count] = self._content[:count]
        self._content = self._content[count:]
        return count

    def readall(self) -> bytes:
        """Return the rest of the content."""
        content = b"".join([self._content, *self._pieces])
        self._content = memoryview(b"")
        return content

    def _unpack(self, data: bytes, kind: str) -> Iterator[bytes]:
        """Yield the content, at most a block at a time however well it is compressed; zeros may pad members."""
        while data:
            engine = decompressor(kind)
            while not engine.eof:
                tail = getattr(engine, "unconsumed_tail", b"")  # zlib returns unused bytes, others keep them
                if not data and getattr(engine, "needs_input", not tail):
                    data = self.file.read(BLOCK)
                    if not data:
                        self._fail(f"the {kind} file ends too early")
                try:
                    piece = engine.decompress(tail + data, BLOCK)
                except Exception as error:  # noqa: BLE001 - each library has its own error for damaged data
                    self._fail(error)
                data = b""
                yield piece
            data = engine.unused_data.lstrip(b"\0")
            while not data and (block := self.file.read(BLOCK)):
                data = block.lstrip(b"\0")

    def _fail(self, reason: object) -> NoReturn:
        self.file.close()
        raise InputError(f"{self.name}: cannot be read: {reason}")


def decompressor(kind: str) -> Any:
    """Return an object that decompresses one member of a compressed file."""
    if kind == "gzip":
        return import_module("zlib").decompressobj(wbits=31)
    if kind == "zstd":
        return _zstd().ZstdDecompressor()
    return import_module("bz2").BZ2Decompressor() if kind == "bzip2" else import_module("lzma").LZMADecompressor()


def _zstd() -> Any:
    """Return the module for Zstandard, which is in Python 3.14, or its backport for older versions."""
    for name in ("compression.zstd", "backports.zstd"):
        try:
            return import_module(name)
        except ImportError:
            continue
    raise MissingExtra("backports.zstd to read Zstandard", "zstd")


def is_folder_or_pattern(path: str) -> bool:
    """True for a folder, and for a glob pattern unless a file has exactly that name."""
    return os.path.isdir(path) or (re.search(r"[*?[]", path) is not None and not os.path.exists(path))


def is_pipe(path: str) -> bool:
    """True for standard input, pipes and sockets, which can be read only once; raise InputError for endless devices.

    Files that seem empty count as pipes: those of the system, as in /proc, do not report their size.
    """
    if path == "-":
        return True
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return False
    mode = status.st_mode
    if stat.S_ISBLK(mode) or (stat.S_ISCHR(mode) and path not in (*STANDARD_INPUT, os.devnull, "/dev/tty")):
        raise InputError(f"{path}: is a device; name a file")
    return not stat.S_ISDIR(mode) and (status.st_size == 0 or not stat.S_ISREG(mode))


_pipes: "weakref.WeakValueDictionary[str, Pipe]" = weakref.WeakValueDictionary()
_lock = Lock()


def pipe_at(path: str) -> "Pipe":
    """Return the pipe at a path; as long as it is in use, all callers get the same object, even by another path."""
    path = "-" if path in STANDARD_INPUT else path
    with _lock:
        # two readers by different paths, as links to /dev/stdin, would each get a part of the content
        key = os.path.realpath("/dev/fd/0" if path == "-" else path)
        pipe = _pipes.get(key)
        if pipe is None:
            pipe = _pipes[key] = Pipe(path)
        return pipe


class Pipe:
    """The content of a pipe. It is read once, on first use, by whichever thread comes first."""

    def __init__(self, path: str) -> None:
        """Store the path; nothing is read yet."""
        self.path = path
        self._lock = Lock()
        self._file: BinaryIO | None = None
        self._failure: str | None = None

    def descriptor(self) -> int:
        """Return a descriptor of a file with the whole content. Threads share it and read at their own positions."""
        with self._lock:
            if self._failure is not None:
                raise InputError(self._failure)  # part of the pipe is gone, and the rest would pass for the whole
            if self._file is None:
                with self._open() as stream:
                    self._file = self._keep(stream)
                weakref.finalize(self, self._file.close)
            return self._file.fileno()

    def _keep(self, stream: BinaryIO) -> BinaryIO:
        name = "standard input" if self.path == "-" else self.path
        try:
            return keep_in_file(_pieces(stream, name), name)
        except InputError as error:
            self._failure = str(error)
            raise

    def _open(self) -> AbstractContextManager[BinaryIO]:
        if self.path == "-":
            if sys.stdin is None:
                raise InputError("standard input is closed")
            return nullcontext(sys.stdin.buffer)
        try:
            return open(self.path, "rb")
        except OSError:
            descriptor = re.fullmatch(
                r"/(?:dev|proc/self)/fd/(\d+)", self.path
            )  # a socket cannot be opened again by its name
            if descriptor is None:
                raise
            return os.fdopen(os.dup(int(descriptor[1])), "rb")


def _pieces(stream: BinaryIO, name: str) -> Iterator[bytes]:
    """Yield the content of a stream up to its end."""
    try:
        while (piece := stream.read(BLOCK)) != b"":
            if piece is None:  # a non-blocking pipe that has no data yet
                import select

                select.select([stream], [], [])
            else:
                yield piece
    except OSError as error:
        raise read_error(name, error) from None


def keep_in_file(pieces: Iterable[bytes | memoryview], name: str) -> BinaryIO:
    """Return an unnamed temporary file that holds all pieces, or fail: a full disk must not truncate the input."""
    import tempfile

    file = None
    try:
        file = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
        for piece in pieces:
            file.write(piece)
        file.flush()
    except BaseException as error:
        if file is not None:
            with suppress(OSError):
                file.close()  # closing tries again to write the rest
        if isinstance(error, OSError):
            reason = error.strerror or error
            advice = "set TMPDIR to a folder with enough space"
            raise InputError(f"{name}: cannot be kept in a temporary file: {reason}; {advice}") from None
        raise
    return file
