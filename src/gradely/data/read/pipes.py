"""Pipes, sockets and standard input: read once, and kept in a file without a name that is gone with the process."""

import os
import re
import sys
import weakref
from contextlib import AbstractContextManager, nullcontext
from io import FileIO
from typing import BinaryIO

from gradely.data.read.formats import STANDARD_INPUT
from gradely.errors import InputError, read_error

DESCRIPTOR = re.compile(r"/(?:dev|proc/self)/fd/(\d+)")


class Pipe:
    """What comes out of a pipe. It is read when it is first asked for."""

    def __init__(self, path: str) -> None:
        """Name the pipe; nothing is read yet."""
        self.path = path
        self._file: FileIO | None = None

    def rewind(self) -> int:
        """Return a descriptor of all that came out, at its start."""
        if self._file is None:
            self._file = self._spool()
            weakref.finalize(self, self._file.close)
        self._file.seek(0)
        return self._file.fileno()

    def _spool(self) -> FileIO:
        import shutil
        import tempfile

        file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - open as long as the pipe is
        with self._open() as stream:
            try:
                shutil.copyfileobj(stream, file, 1 << 20)
            except OSError as error:
                file.close()
                name = "standard input" if self.path == "-" else self.path
                raise read_error(name, error) from None
        return file

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


_pipes: "weakref.WeakValueDictionary[str, Pipe]" = weakref.WeakValueDictionary()


def pipe_at(path: str) -> Pipe:
    """Return the pipe at a path; as long as somebody holds it, everybody who asks gets the same."""
    key = "-" if path in STANDARD_INPUT else path
    pipe = _pipes.get(key)
    if pipe is None:
        pipe = _pipes[key] = Pipe(key)
    return pipe
