"""gradely plan."""

from dataclasses import asdict
from typing import Any

import click

from gradely.cli import options
from gradely.cli.options import Request
from gradely.cli.output import OutputOptions, write_result
from gradely.comparison.plan import PLANNED, POWER, plan


@click.command("plan")
@options.measures
@click.option("--baseline", "baselines", multiple=True, metavar="RUN", help="Plan for pairs with this run; repeatable.")
@click.option("--difference", type=float, help="Say how many queries this difference needs, too.")
@click.option(
    "--power", type=float, default=POWER, show_default=True, help="The chance of finding a difference that is there."
)
@options.alpha
@options.choice(
    "--correction",
    PLANNED,
    "bonferroni",
    "How the level of significance is corrected for the pairs of each measure.",
)
@options.settings()
@options.request
@options.output
def command(request: Request, *, baselines: tuple[str, ...], output: OutputOptions, **design: Any) -> None:
    """Say what difference between RUNS the queries of QRELS could show, and how many queries it would take.

    Two runs that are like those you mean to compare are enough: what counts is how their difference varies from query
    to query.
    """
    data = request.read()
    design["baselines"] = data.name_baselines(baselines, "plan for")
    with data.bar() as bar:
        result = plan(data.qrels, data.runs, data.measures, progress=bar, **design, **asdict(data.settings))
    write_result(result, output)
