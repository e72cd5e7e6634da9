"""How results are shown: tables for people below the sentence that sums them up, records for programs, pictures."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from gradely.cli.output import OutputOptions, list_notes, to_json, write_file, write_results
from gradely.evaluation.notes import Note
from gradely.tables import LATEX, Cell, Table, escape_markdown, plain_line, render


class Verdict(Protocol):
    """A result that says in a sentence what came out, and in a line how."""

    def summary(self) -> str:
        """Return what came out."""

    def caption(self) -> str:
        """Return how it came about."""

    def table(self) -> Table:
        """Return the table that people look at."""

    @property
    def notes(self) -> Sequence[Note]:
        """What there is to note."""


class Result(Protocol):
    """A result of several tables, which can be drawn."""

    def tables(self, digits: int) -> list[Table]:
        """Return tables for people."""

    def records(self) -> list[dict[str, Cell]]:
        """Return everything, for programs."""

    def as_dict(self) -> dict[str, Any]:
        """Return everything, for JSON."""

    def chart(self) -> Any:
        """Return an altair chart."""


def write_verdict(verdict: Verdict, output: OutputOptions, data: Callable[[], Any]) -> None:
    """Write a verdict in a format: its table below the sentence, or its data as JSON."""
    if output.form == "json":
        text = to_json(data())
    else:
        text = frame_table(verdict, render(verdict.table()._replace(digits=output.digits), output.form), output.form)
    write_results(text, list_notes([*caption_notes(verdict, output.form), *verdict.notes]), output)


def write_result(result: Result, notes: Iterable[object], output: OutputOptions) -> None:
    """Write a result in a format: its tables, its data as JSON, or for other programs its records.

    Where the output is a picture, it is drawn there, and the text goes to standard output.
    """
    if output.picture:
        from gradely.comparison.charts import picture

        write_file(picture(result.chart(), output.picture), str(output.path))
        output = output._replace(path=None)
    if output.form == "json":
        text = to_json(result.as_dict())
    elif output.form in ("csv", "tsv"):
        text = render(Table.of(result.records()), output.form)
    else:
        text = "\n".join(render(table, output.form) for table in result.tables(output.digits))
    write_results(text, list_notes(notes), output)


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
