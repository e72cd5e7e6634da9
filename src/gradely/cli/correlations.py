"""What `gradely correlate` and `gradely pools` share: the queries and runs they take, and how they show the result."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import click

from gradely.cli.inputs import choose_measures, read_inputs
from gradely.cli.options import Command, InputOptions, add_options
from gradely.cli.results import OutputOptions, list_notes, show_result, write_results
from gradely.comparison.correlate import Correlation
from gradely.comparison.pools import Pools
from gradely.comparison.selection import TOPICS
from gradely.settings import Settings


def selection_options(command: Command) -> Command:
    """Add the options that choose queries and runs: --topics, --level, --min-quartile."""
    return add_options(
        command,
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


def correlate_runs(
    work: Callable[..., Correlation | Pools],
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
    write_results(
        show_result(result, output, result.as_dict), list_notes([*result.summary().splitlines(), *result.notes]), output
    )
