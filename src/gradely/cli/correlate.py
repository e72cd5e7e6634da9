"""gradely correlate."""

from typing import Any

import click

from gradely.cli import options
from gradely.cli.correlations import correlate_runs, selection_options
from gradely.cli.results import output_options
from gradely.comparison.correlate import correlate


@click.command("correlate")
@options.files
@options.measures
@selection_options
@options.settings("ties", "seed", "precision", "judged_only", "threads")
@options.inputs
@output_options
def command(qrels: str, runs: tuple[str, ...], **keywords: Any) -> None:
    """Correlate the rankings of RUNS by several measures: Kendall's τ, and τ_AP against each reference.

    τ (τ_b) counts the pairs of runs that two measures rank alike; τ_AP gives most weight to the best runs.
    """
    correlate_runs(correlate, qrels, runs, later={}, **keywords)
