"""How results are shown: tables for people below the sentence that sums them up, records for programs, pictures."""

from collections.abc import Callable
from typing import Any, Protocol

from gradely.cli.output import OutputOptions, to_json, write_file
from gradely.tables import LATEX, Cell, Table, escape_markdown, plain_line, render


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
