"""How results are written: a table in some format, JSON, and the notes below or on standard error."""

import json
import math
from collections.abc import Iterable
from typing import Any, Protocol

import click

from gradely.cli.options import OutputOptions
from gradely.cli.output import write
from gradely.evaluation.notes import Note
from gradely.tables import LATEX, escape_markdown, plain_line

MOST = 20
"""below a table, more notes than this are summed up"""


class Verdict(Protocol):
    """A result that says in a sentence what came out, and in a line how."""

    def summary(self) -> str:
        """Return what came out."""

    def caption(self) -> str:
        """Return how it came about."""


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


def write_results(text: str, notes: str, output: OutputOptions) -> None:
    """Write a result. The notes stand below a table; for other formats, or a file, they go to standard error."""
    write(f"{text}\n{notes}" if output.form == "table" and notes else text, output.path)
    if output.form not in ("table", "json") or output.to_file:
        click.echo(notes, err=True, nl=False)


def list_notes(notes: Iterable[Note | str]) -> str:
    """Return notes, one line each, and of very many only the first."""
    lines = [plain_line(str(note)) for note in notes]
    if len(lines) > MOST:
        rest = len(lines) - MOST
        lines = [*lines[:MOST], f"… and {rest:,} more notes; --format json has them all"]
    return "".join(f"{line}\n" for line in lines)


def to_json(content: Any) -> str:
    """Return content as JSON, values in full; what is not finite is null, since JSON has no infinity."""
    return json.dumps(finite(content), indent=2, ensure_ascii=False) + "\n"


def finite(content: Any) -> Any:
    """Return content with None in place of numbers that are not finite."""
    if isinstance(content, float):
        return content if math.isfinite(content) else None
    if isinstance(content, dict):
        return {key: finite(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [finite(value) for value in content]
    return content
