"""Options of commands that write results: in which format, with how many digits, and where."""

import os
from functools import partial
from typing import NamedTuple

import click

from gradely.cli.argument_types import FILE
from gradely.cli.options import Command, pack
from gradely.tables import FORMATS, SAFE

ENDINGS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".json": "json",
    ".md": "markdown",
    ".tex": "latex",
    ".html": "html",
    ".txt": "table",
}
"""formats by the ending of the file that is written"""
PICTURES = "svg", "png"


class OutputOptions(NamedTuple):
    """How results are to be written, and where."""

    form: str
    digits: int
    path: str | None

    @property
    def to_file(self) -> bool:
        """Whether they go to a file."""
        return self.path not in (None, "-")

    @property
    def picture(self) -> str | None:
        """The format of the picture that the file is to be, if it is one."""
        ending = (self.path or "").rpartition(".")[2].lower()
        return ending if ending in PICTURES else None


def output_options(command: Command, digits: int = 4, *, pictures: bool = False) -> Command:
    """Add --format, --digits and -o, which may name a picture where the command draws one."""
    command = pack(partial(_settle_output, pictures=pictures), "output", OutputOptions._fields, command)
    command = click.option(
        "--safe-csv",
        is_flag=True,
        expose_value=False,
        callback=lambda _context, _parameter, safe: SAFE.set(safe),
        help="In csv and tsv, put ' before text that a spreadsheet would take for a formula: = + - @ at its beginning.",
    )(command)
    command = click.option(
        "-o",
        "--output",
        "path",
        type=FILE,
        metavar="FILE",
        help="Write to a file; its ending gives the format: .csv, .tsv, .json, .md, .tex, .html or .txt"
        + (", or .svg or .png for a chart, with the text on standard output." if pictures else "."),
    )(command)
    command = click.option(
        "--digits",
        type=click.IntRange(0, 17),
        default=digits,
        show_default=True,
        help="Decimals in formats for people; csv, tsv and json have all.",
    )(command)
    return click.option(
        "--format",
        "form",
        type=click.Choice([*FORMATS, "json"]),
        help="Format of the output.  [default: by the ending of -o, else table]",
    )(command)


def _settle_output(form: str | None, digits: int, path: str | None, *, pictures: bool = False) -> OutputOptions:
    """Take the format from the ending of the file where none is named; refuse an ending that says nothing."""
    from gradely.cli.output import check_writable

    check_writable(path)
    drawn = pictures and OutputOptions("", 0, path).picture
    if form is None and path not in (None, "-") and not drawn:
        form = format_of_path(str(path))
    return OutputOptions(form or "table", digits, path)


def format_of_path(path: str) -> str:
    """Return the format that a file's ending stands for; a file without one, or a device, is a table."""
    ending = os.path.splitext(path)[1].lower()
    if ending and ending not in ENDINGS and not path.startswith("/dev/"):
        endings = ", ".join(ENDINGS)
        raise click.UsageError(f"{path}: the ending {ending} stands for no format; use {endings}, or name a --format")
    return ENDINGS.get(ending, "table")
