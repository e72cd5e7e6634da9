"""What `gradely correlate` and `gradely pools` share: the queries and runs they take, and how they show the result."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Protocol

import click

from gradely.cli.inputs import choose_measures, read_inputs
from gradely.cli.options import InputOptions
from gradely.cli.output import list_notes, to_json, write_results
from gradely.cli.output_options import OutputOptions
from gradely.comparison.selection import TOPICS
from gradely.evaluation.notes import Note
from gradely.settings import Settings
from gradely.tables import Cell, Table, render


def selection_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that choose queries and runs: --topics, --level, --min-quartile."""
    decorators = (
        click.option(
            "--topics",
            type=click.Choice(list(TOPICS)),
            default="all",
            show_default=True,
            help=f"Which queries count; few-high are {TOPICS['few-high']}.",
        ),
        click.option("--level", type=float, help="The level k of --topics few-high; by default the highest."),
        click.option("--min-quartile", is_flag=True, help="Leave out runs below the first quartile of AP."),
    )
    for decorate in reversed(decorators):
        command = decorate(command)
    return command


class Result(Protocol):
    """What a correlation of rankings gives."""

    @property
    def notes(self) -> list[Note]:
        """What happened to runs and queries."""

    def summary(self) -> str:
        """Return what it is about, in a line or two."""

    def tables(self, digits: int) -> list[Table]:
        """Return tables for people."""

    def records(self) -> list[dict[str, Cell]]:
        """Return everything, for programs."""


def correlate_runs(
    work: Callable[..., Result],
    qrels: str,
    runs: tuple[str, ...],
    *,
    measures: tuple[str, ...],
    settings: Settings,
    inputs: InputOptions,
    output: OutputOptions,
    later: dict[str, float],
    **selection: Any,
) -> None:
    """Read qrels and runs, correlate, and write what came out. `later` is work after the runs are read, for the bar."""
    names = choose_measures(measures, settings.ties)
    data = read_inputs(qrels, runs, inputs, settings)
    policies = {name: value for name, value in asdict(settings).items() if name != "queries"}
    with data.bar(later) as bar:
        result = work(data.qrels, data.runs, names, progress=bar, **selection, **policies)
    write_results(show(result, output), list_notes([*result.summary().splitlines(), *result.notes]), output)


def show(result: Result, output: OutputOptions) -> str:
    """Return the result in a format."""
    if output.form == "json":
        notes = [note.as_dict() for note in result.notes]
        return to_json({"about": result.summary(), "values": result.records(), "notes": notes})
    if output.form in ("csv", "tsv"):
        return render(Table.of(result.records()), output.form)
    return "\n".join(render(table, output.form) for table in result.tables(output.digits))
