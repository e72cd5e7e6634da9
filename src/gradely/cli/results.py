"""How results are shown: the options, tables for people, records for programs, JSON with everything, and the notes."""

import json
import os
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple, Protocol

import click

from gradely.cli.argument_types import FILE
from gradely.cli.options import Command, add_options, pack
from gradely.cli.output import check_writable, write, write_file
from gradely.evaluation.notes import Note
from gradely.report.formatting import replace_infinite
from gradely.tables import FORMATS, LATEX, SAFE, Cell, Table, escape_markdown, plain_line, render

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
MOST = 20
"""below a table, more notes than this are summed up"""


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
    endings = ".csv, .tsv, .json, .md, .tex, .html or .txt"
    picture = ", or .svg or .png for a chart, with the text on standard output" if pictures else ""
    return add_options(
        pack(partial(_settle_output, pictures=pictures), "output", OutputOptions._fields, command),
        click.option(
            "--format",
            "form",
            type=click.Choice([*FORMATS, "json"]),
            help="Format of the output.  [default: by the ending of -o, else table]",
        ),
        click.option(
            "--digits",
            type=click.IntRange(0, 17),
            default=digits,
            show_default=True,
            help="How many decimals formats for people have; csv, tsv and json have all.",
        ),
        click.option(
            "-o",
            "--output",
            "path",
            type=FILE,
            metavar="FILE",
            help=f"Write to a file; its ending gives the format: {endings}{picture}.",
        ),
        click.option(
            "--safe-csv",
            is_flag=True,
            expose_value=False,
            callback=lambda _context, _parameter, safe: SAFE.set(safe),
            help="In csv and tsv, put ' before text that a spreadsheet would take for a formula: "
            "= + - @ at its beginning.",
        ),
    )


def _settle_output(form: str | None, digits: int, path: str | None, *, pictures: bool = False) -> OutputOptions:
    """Take the format from the ending of the file where none is named; refuse an ending that says nothing."""
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


class Verdict(Protocol):
    """A result that says in a sentence what came out, and in a line how."""

    def summary(self) -> str:
        """Return what came out."""

    def caption(self) -> str:
        """Return how it came about."""

    def table(self) -> Table:
        """Return the table that people look at."""


class Result(Protocol):
    """A result of several tables, which can be drawn."""

    def tables(self, digits: int) -> list[Table]:
        """Return tables for people."""

    def records(self) -> list[dict[str, Cell]]:
        """Return everything, for programs."""

    def chart(self) -> Any:
        """Return an altair chart."""


def show_verdict(verdict: Verdict, output: OutputOptions, data: Callable[[], Any]) -> str:
    """Return a verdict in a format: its table below the sentence, or its data as JSON."""
    if output.form == "json":
        return to_json(data())
    return frame_table(verdict, render(verdict.table()._replace(digits=output.digits), output.form), output.form)


def show_result(result: Result, output: OutputOptions, data: Callable[[], Any]) -> str:
    """Return a result in a format: its tables, its data as JSON, or for other programs its records."""
    if output.form == "json":
        return to_json(data())
    if output.form in ("csv", "tsv"):
        return render(Table.of(result.records()), output.form)
    return "\n".join(render(table, output.form) for table in result.tables(output.digits))


def draw_result(result: Result, output: OutputOptions) -> OutputOptions:
    """Draw a result where the output is a picture; return the output of its text, which is standard output then."""
    if not output.picture:
        return output
    from gradely.comparison.charts import picture

    write_file(picture(result.chart(), output.picture), str(output.path))
    return output._replace(path=None)


def frame_table(verdict: Verdict, table: str, form: str) -> str:
    """Return a table below the sentence that sums it up; in a document, above the line that says how it came about."""
    if form == "markdown":
        return f"{escape_markdown(verdict.summary())}\n\n{table}\n{escape_markdown(verdict.caption())}\n"
    if form == "latex":
        return f"% {plain_line(verdict.caption()).translate(LATEX)}\n{table}"
    return f"{plain_line(verdict.summary())}\n\n{table}" if form == "table" else table


def caption_notes(verdict: Verdict, form: str) -> list[str]:
    """Return how it came about, to be noted, unless it stands beside the table already."""
    return [] if form in ("markdown", "latex") else [verdict.caption()]


def list_notes(notes: Iterable[Note | str]) -> str:
    """Return notes, one line each, and of very many only the first."""
    lines = [plain_line(str(note)) for note in notes]
    if len(lines) > MOST:
        rest = len(lines) - MOST
        lines = [*lines[:MOST], f"… and {rest:,} more notes; --format json has them all"]
    return "".join(f"{line}\n" for line in lines)


def to_json(content: Any) -> str:
    """Return content as JSON, values in full; what is not finite is null, since JSON has no infinity."""
    return json.dumps(replace_infinite(content), indent=2, ensure_ascii=False) + "\n"


def write_results(text: str, notes: str, output: OutputOptions) -> None:
    """Write a result. The notes stand below a table; for other formats, or a file, they go to standard error."""
    write(f"{text}\n{notes}" if output.form == "table" and notes else text, output.path)
    if output.form not in ("table", "json") or output.to_file:
        click.echo(notes, err=True, nl=False)
