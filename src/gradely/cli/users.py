"""gradely users."""

from functools import partial

import click

from gradely.cli import options
from gradely.cli.options import MEASURE, Request
from gradely.cli.output import OutputOptions, write_result
from gradely.comparison.users import users


@options.command("users")
@click.option(
    "-m",
    "--measure",
    default=["eGAP"],
    show_default=True,
    multiple=True,
    type=MEASURE,
    metavar="MEASURE",
    callback=options.one_measure,
    help="eGAP, GAP or xGAP, optionally with a cut-off or merged levels, as in "
    "'eGAP(relevance={0: 0, 1: 1, 2: 2, 3: 2})'.",
)
@options.settings()
@options.weights
@options.request
@partial(options.output, pictures=True)
def command(request: Request, *, measure: str, output: OutputOptions) -> None:
    """Find the best of RUNS for each kind of user.

    Users differ in the level of relevance that satisfies them. A population has a share of users for each level, and
    eGAP, GAP and xGAP measure a run for a population. With two levels, the shares at which runs change places are exact
    for eGAP; with more levels, populations come from a fine grid. -o FILE.svg or FILE.png draws a chart: lines for two
    levels, a triangle for three, bars for more.
    """
    data = request.read()
    with data.bar() as bar:
        regions = users(data.qrels, data.runs, measure, progress=bar, **request.keywords)
    write_result(regions, output)
