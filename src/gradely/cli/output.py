"""Where results go: standard output, or a file that is written whole or not at all."""

import os
import sys
import tempfile
from pathlib import Path

from gradely.errors import InputError


def write(text: str, path: str | None) -> None:
    """Write text to a file, or to standard output where none is named."""
    if path is None or path == "-":
        say(text)
    else:
        write_file(text.encode(), path)


def say(text: str) -> None:
    """Write text to standard output, all of it: an unbuffered one takes only what a pipe has room for."""
    rest = memoryview(text.encode(errors="surrogatepass"))
    while rest:
        rest = rest[sys.stdout.buffer.write(rest) :]
    sys.stdout.buffer.flush()


def check_writable(path: str | None) -> None:
    """Raise now, before long work, where the output cannot be written."""
    if path is None or path == "-":
        return
    target = Path(path)
    if target.is_dir():
        raise InputError(f"{path}: cannot be written: is a directory; name a file")
    if not target.parent.is_dir():
        raise InputError(f"{path}: cannot be written: there is no folder {target.parent}")
    if not os.access(target.parent, os.W_OK):
        raise InputError(f"{path}: cannot be written: no permission in {target.parent}")


def write_file(content: bytes, path: str) -> None:
    """Write a file whole or not at all: a temporary file beside it, then a rename."""
    check_writable(path)
    target, temporary = Path(path), None
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:50]}.")
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        _usual_mode(temporary, target)
        os.replace(temporary, target)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)


def _usual_mode(temporary: str, target: Path) -> None:
    """Give the file the permissions it had, or those that new files have."""
    if target.exists():
        mode = target.stat().st_mode & 0o777
    else:
        umask = os.umask(0)
        os.umask(umask)
        mode = 0o666 & ~umask
    os.chmod(temporary, mode)
