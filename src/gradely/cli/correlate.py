"""gradely correlate, and the options that it shares with gradely pools."""

from collections.abc import Callable
from typing import Any

import click

from gradely.cli import options
from gradely.cli.options import Request
from gradely.cli.output import OutputOptions, write_result
from gradely.comparison.correlate import TOPICS, Correlation, Pools, correlate


def selection_options(command: options.Command) -> options.Command:
    """Add the options that select queries and runs: --topics, --level, --min-quartile."""
    return options.add_options(
        command,
        options.choice("--topics", TOPICS, "all", f"Queries to use; few-high: {TOPICS['few-high']}."),
        click.option("--level", type=float, metavar="K", help="Level K of --topics few-high.  [default: the highest]"),
        click.option("--min-quartile", is_flag=True, help="Drop runs below the first quartile of AP."),
    )


def correlate_runs(
    work: Callable[..., Correlation | Pools],
    later: dict[str, float],
    *,
    request: Request,
    output: OutputOptions,
    **selection: Any,
) -> None:
    """Read qrels and runs, correlate, and write the result; `later` is work for the progress bar after reading runs."""
    data = request.read()
    with data.bar(later) as bar:
        result = work(data.qrels, data.runs, data.measures, progress=bar, **selection, **request.keywords)
    write_result(result, output)


@options.command("correlate")
@options.measures
@selection_options
@options.settings("ties", "seed", "precision", "judged_only", "empty", "exclude_self", "threads")
@options.weights
@options.request
@options.output
def command(**keywords: Any) -> None:
    """Correlate measures by how they rank RUNS: Kendall's τ, and τ_AP with each measure as the reference.

    τ (τ_b) counts the pairs of runs that two measures rank in the same order; τ_AP gives most weight to the best runs.
    """
    correlate_runs(correlate, {}, **keywords)
