"""Output of commands: results to standard output or to a file, notes to standard error, and the progress bar."""

import os
import re
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple, Self

from gradely.errors import InputError, shorten
from gradely.tables import plain_line

if TYPE_CHECKING:
    from rich.progress import Progress

    from gradely.evaluation.result import Result

ENDINGS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".json": "json",
    ".md": "markdown",
    ".tex": "latex",
    ".html": "html",
    ".txt": "table",
}
"""formats by the extension of the output file"""


class OutputOptions(NamedTuple):
    """The format and the destination of a result."""

    form: str
    digits: int
    path: str | None
    picture: str | None = None
    """the format of the picture to write, or None for text"""

    @property
    def to_file(self) -> bool:
        """Whether the result is written to a file."""
        return self.path not in (None, "-")


def format_of_path(path: str) -> str:
    """Return the format by the extension of a file; without extension, or for a device, it is a table."""
    ending = os.path.splitext(path)[1].lower()
    if ending and ending not in ENDINGS and not path.startswith("/dev/"):
        import click

        endings = ", ".join(ENDINGS)
        raise click.UsageError(f"{path}: unknown extension {ending}; use {endings}, or name a --format")
    return ENDINGS.get(ending, "table")


def write(text: str, path: str | None) -> None:
    """Write text to a file, or to standard output if `path` is None or -."""
    if path is None or path == "-":
        say(text)
    else:
        write_file(encode(text), path)


def encode(text: str) -> bytes:
    r"""Return text as UTF-8, with lone surrogates escaped as \udc00, which JSON parsers restore."""
    return text.encode(errors="backslashreplace")


def say(text: str) -> None:
    """Write text to standard output."""
    say_bytes(encode(text))


def say_bytes(content: bytes) -> None:
    """Write bytes to standard output."""
    if sys.stdout is None:
        raise InputError("standard output is closed; open it, or name a file with -o")
    rest = memoryview(content)
    try:
        while rest:  # unbuffered output writes only as much as a pipe has space for
            rest = rest[sys.stdout.buffer.write(rest) :]
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError(f"standard output cannot be written: {error.strerror or error}") from None


def terminal_width() -> int | None:
    """Return the width of the terminal in characters, or None if standard output is none."""
    if sys.stdout is None or not sys.stdout.isatty():
        return None
    return os.get_terminal_size(sys.stdout.fileno()).columns


def fail(message: str, code: int = 2, program: str = "gradely") -> int:
    """Write an error message to standard error as one line, and return the exit code."""
    import click

    with suppress(OSError):  # standard error may be closed
        click.echo(error_line(f"{program}: {message}"), err=True)
    return code


def error_line(message: str) -> str:
    """Return a message as one printable line, shortened in the middle, since its end says what to do."""
    from gradely.tables import plain_line

    return shorten(plain_line(" ".join(message.split())))


def open_streams() -> None:
    """Open closed standard streams on the null device, so that files opened later do not get their descriptors.

    sys.stdin and sys.stdout remain None if they were closed.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - open until the program ends


def check_writable(path: str | None) -> None:
    """Raise InputError, before any long work, if a file cannot be written."""
    if path is None or path == "-":
        return
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.isdir(path):
        raise InputError(f"{path}: cannot be written: it is a directory; name a file")
    if _is_special(path) or _descriptor_of(path) is not None:
        return
    if not os.path.isdir(folder):
        raise InputError(f"{path}: cannot be written: there is no folder {os.path.dirname(path) or '.'}")
    if not os.access(folder, os.W_OK):
        raise InputError(f"{path}: cannot be written: no permission in {os.path.dirname(path) or '.'}")


def check_output(
    path: str | None, replaces: str | None = None, *, beside: bool = False, inputs: Iterable[str] = ()
) -> None:
    """Raise InputError, before any long work, if a file cannot be written or is also an input or another output.

    Symbolic and hard links count as the file they lead to. `replaces` is an input that the output may overwrite.
    `beside` means that the file is written in addition to the result, which may already use standard output. `inputs`
    are files that are read but not named on the command line.
    """
    if beside and path == "-":
        raise InputError("-: the result is written to standard output; name a file for this output")
    check_writable(path)
    if path is None or path == "-" or _is_special(path):
        return
    uses = [use for use, named in _named_files() if named != replaces and _is_same_file(named, path)]
    if len(uses) > 1:
        raise InputError(f"{path}: cannot be written: {' and '.join(uses)} are the same file; name another one")
    from gradely.data.read.readers import files_at

    if any(_is_same_file(file, path) for given in inputs for file in files_at(given)):
        raise InputError(f"{path}: cannot be written: it is one of the input files; name another one")


def _named_files() -> Iterator[tuple[str, str]]:
    """Yield (argument or option, file) for all input and output files of the command line."""
    import click

    from gradely.cli.options import PathType
    from gradely.data.read.readers import files_at

    context = click.get_current_context()
    for parameter in context.command.params:
        if isinstance(parameter.type, PathType):
            use = parameter.opts[0] if isinstance(parameter, click.Option) else parameter.human_readable_name
            value = context.params[str(parameter.name)] or ()
            for path in (value,) if isinstance(value, str) else value:
                yield from ((use, file) for file in files_at(path))


def _is_same_file(one: str, other: str) -> bool:
    """Return whether two paths, which need not exist, lead to the same file; `-` is standard input."""
    if os.path.realpath(one) == os.path.realpath(other):
        return True
    with suppress(OSError):
        return os.path.samestat(os.fstat(0) if one == "-" else os.stat(one), os.stat(other))
    return False


def _is_special(path: str) -> bool:
    """Return whether this is a pipe or a device, like /dev/null, which must be written to and never replaced."""
    return os.path.exists(path) and not os.path.isfile(path)


def make_folder(path: str | os.PathLike[str]) -> None:
    """Create a folder and its parents unless they exist."""
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise InputError(f"{path}: cannot be created: {error.strerror}") from None


def write_file(content: bytes, path: str) -> None:
    """Write a file whole or not at all, by renaming a temporary file; symbolic links remain links.

    Pipes, devices and open streams, such as /dev/stdout, are written to directly; streams keep their earlier content.
    """
    check_writable(path)
    try:
        descriptor = _descriptor_of(path)
        if descriptor is not None:
            _write_to_stream(content, descriptor)
        elif _is_special(path):
            with open(path, "wb") as file:
                file.write(content)
        else:
            _replace(content, os.path.realpath(path))
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None


def _descriptor_of(path: str) -> int | None:
    """Return the open stream that a path like /dev/stdout or /dev/fd/3 stands for, also through links."""
    for _ in range(40):  # the number of links that Linux follows
        stream = re.fullmatch(r"/(?:dev|proc/(?:self|thread-self))/fd/(\d+)", os.path.abspath(path))
        if stream is not None:
            return int(stream[1])
        if not os.path.islink(path):
            return None
        path = os.path.join(os.path.dirname(path), os.readlink(path))
    return None


def _write_to_stream(content: bytes, descriptor: int) -> None:
    """Write to an open stream, at its own position: opening it by name would truncate the file behind it."""
    if descriptor == 1 and sys.stdout is not None:
        sys.stdout.flush()
    with os.fdopen(os.dup(descriptor), "wb") as file:
        file.write(content)


def _replace(content: bytes, path: str) -> None:
    import tempfile

    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".gradely-")
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        _usual_mode(temporary, path)
        os.replace(temporary, path)
    finally:
        if temporary is not None:
            with suppress(FileNotFoundError):
                os.unlink(temporary)


def _usual_mode(temporary: str, path: str) -> None:
    """Give the temporary file the permissions of the file it replaces, or those of a new file."""
    if os.path.exists(path):
        mode = os.stat(path).st_mode & 0o777
    else:
        umask = os.umask(0)
        os.umask(umask)
        mode = 0o666 & ~umask
    os.chmod(temporary, mode)


def note_beside(note: str) -> None:
    """Keep a note about the command line for `say_beside`; if the command fails, only its error is printed."""
    import click

    click.get_current_context().meta.setdefault(__name__, []).append(note)


def write_result(result: "Result", output: OutputOptions) -> None:
    """Write a result; notes are printed below a table, and to standard error for other formats and files.

    If the output is a picture, the text of the result goes to standard output.
    """
    if output.picture:
        from gradely.comparison.charts import picture

        write_file(picture(result.chart(), output.picture), str(output.path))  # type: ignore[attr-defined]
        output = output._replace(path=None)
    width = None if output.to_file else terminal_width()
    bold = width is not None and "NO_COLOR" not in os.environ
    write(result.render(output.form, output.digits, width=width, bold=bold), output.path)
    beside = output.form not in ("table", "json") or output.to_file
    say_beside(result.lines_beside(output.form, output.digits) if beside else ())


def say_beside(lines: Iterable[str]) -> None:
    """Write lines to standard error, after the notes that were kept."""
    import click

    lines = [*click.get_current_context().meta.get(__name__, ()), *lines]
    click.echo("".join(f"{plain_line(line)}\n" for line in lines), err=True, nl=False)


PATIENCE = 2.0
"""seconds before the progress bar appears"""


class Bar:
    """A progress bar over pieces of work that may run in parallel; it appears if they take more than two seconds."""

    def __init__(self, sizes: Mapping[str, float]) -> None:
        """Take the size of each piece of work by name."""
        self._sizes, self._done = dict(sizes), dict.fromkeys(sizes, 0.0)
        self._lock, self._start = Lock(), time.monotonic()
        self._bar: Progress | None = None

    def __enter__(self) -> Self:
        """Return the bar."""
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the bar from the terminal."""
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, name: str, done: float) -> None:
        """Show the progress of a piece of work, from 0 to 1."""
        with self._lock:
            # a piece of unknown size is taken to be as large as all others together
            self._sizes.setdefault(name, sum(self._sizes.values()) or 1.0)
            self._done[name] = done
            if self._bar is None and (time.monotonic() - self._start < PATIENCE or not sys.stderr.isatty()):
                return
            if self._bar is None:
                self._bar = _new_bar(self._start)
            total = sum(self._sizes.values())
            completed = sum(self._done[piece] * self._sizes[piece] for piece in self._done)
            self._bar.update(self._bar.task_ids[0], completed=completed, total=total, description=plain_line(name))


def _new_bar(start: float) -> "Progress":
    from rich import progress
    from rich.console import Console

    bar = progress.Progress(
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        progress.TaskProgressColumn(),
        progress.TimeElapsedColumn(),
        progress.TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    bar.add_task("", total=1.0)
    bar.tasks[0].start_time = start
    bar.start()
    return bar
