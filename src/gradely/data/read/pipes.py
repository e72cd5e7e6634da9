"""Pipes, sockets and standard input: read once, and kept in a file without a name that is gone with the process."""

import os
import re
import select
import sys
import weakref
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from threading import Lock
from typing import BinaryIO

from gradely.data.read.formats import STANDARD_INPUT
from gradely.errors import InputError, read_error

DESCRIPTOR = re.compile(r"/(?:dev|proc/self)/fd/(\d+)")
BLOCK = 1 << 20
"""bytes that are read in one go"""


class Pipe:
    """What comes out of a pipe. It is read once, when it is first asked for, by whichever thread asks first."""

    def __init__(self, path: str) -> None:
        """Name the pipe; nothing is read yet."""
        self.path = path
        self._lock = Lock()
        self._file: BinaryIO | None = None
        self._failure: str | None = None

    def descriptor(self) -> int:
        """Return a descriptor of a file with all that came out. Threads share it, so each reads at its own places."""
        with self._lock:
            if self._failure is not None:
                raise InputError(self._failure)  # part of the pipe is gone: what is left of it would pass for the whole
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
            descriptor = DESCRIPTOR.fullmatch(self.path)  # a socket cannot be opened again by its name
            if descriptor is None:
                raise
            return os.fdopen(os.dup(int(descriptor[1])), "rb")


def keep_in_file(pieces: Iterable[bytes | memoryview], name: str) -> BinaryIO:
    """Return a file without a name that holds all pieces, or fail: a full disk must not cut the input short."""
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
                file.close()  # which tries again to write what is left
        if isinstance(error, OSError):
            reason = error.strerror or error
            advice = "set TMPDIR to a folder with room"
            raise InputError(f"{name}: cannot be kept in a temporary file: {reason}; {advice}") from None
        raise
    return file


def _pieces(stream: BinaryIO, name: str) -> Iterator[bytes]:
    """Yield all that comes out of a stream, up to its end."""
    try:
        while (piece := stream.read(BLOCK)) != b"":
            if piece is None:  # a pipe that does not block, and has nothing yet
                select.select([stream], [], [])
            else:
                yield piece
    except OSError as error:
        raise read_error(name, error) from None


_pipes: "weakref.WeakValueDictionary[str, Pipe]" = weakref.WeakValueDictionary()
_lock = Lock()


def pipe_at(path: str) -> Pipe:
    """Return the pipe at a path; as long as somebody holds it, everybody who asks gets the same."""
    key = "-" if path in STANDARD_INPUT else path
    with _lock:
        pipe = _pipes.get(key)
        if pipe is None:
            pipe = _pipes[key] = Pipe(key)
        return pipe
