"""gradely plan."""

from typing import Any

import click

from gradely.cli import options
from gradely.cli.options import Request
from gradely.cli.output import OutputOptions, write_result
from gradely.comparison.plan import PLANNED, POWER, plan


@options.command("plan")
@options.measures
@click.option("--baseline", "baselines", multiple=True, metavar="RUN", help="Plan for pairs with this run; repeatable.")
@click.option(
    "--difference", type=float, metavar="D", help="Also show how many queries it takes to detect this difference."
)
@click.option(
    "--power",
    type=float,
    metavar="P",
    default=POWER,
    show_default=True,
    help="Probability of detecting a true difference.",
)
@options.alpha
@options.choice(
    "--correction",
    PLANNED,
    "bonferroni",
    "Correction of the significance level for the number of pairs.",
)
@options.settings()
@options.weights
@options.request
@options.output
def command(request: Request, *, baselines: tuple[str, ...], output: OutputOptions, **design: Any) -> None:
    """Find the smallest difference between RUNS that these queries can detect, and how many queries a given one needs.

    RUNS should be like those that you plan to compare; two are enough. What matters is how much their difference varies
    from query to query.
    """
    data = request.read()
    design["baseline"] = data.name_baselines(baselines, "plan for")
    with data.bar() as bar:
        result = plan(data.qrels, data.runs, data.measures, progress=bar, **design, **request.keywords)
    write_result(result, output)
