"""gradely users."""

from dataclasses import asdict
from functools import partial

import click

from gradely.cli import options
from gradely.cli.options import MEASURE, Request
from gradely.cli.output import OutputOptions, write_result
from gradely.comparison.users import users


@click.command("users")
@click.option(
    "-m",
    "--measure",
    default="eGAP",
    show_default=True,
    type=MEASURE,
    metavar="MEASURE",
    help="eGAP, GAP or xGAP; with a cut-off or merged levels if you like: 'eGAP(relevance={0: 0, 1: 1, 2: 2, 3: 2})'.",
)
@options.settings()
@options.request
@partial(options.output, pictures=True)
def command(request: Request, *, measure: str, output: OutputOptions) -> None:
    """Say for which users which of RUNS is best.

    Users differ in the level of relevance that they are content with. A population has a share of users for each level;
    eGAP, GAP and xGAP measure a run for a population. For two levels the shares at which runs change places are exact;
    for more, the populations are those of a fine grid. With -o FILE.svg or FILE.png a chart is drawn: lines for two
    levels, a triangle for three, bars for more.
    """
    data = request.read()
    with data.bar() as bar:
        regions = users(data.qrels, data.runs, measure, progress=bar, **asdict(data.settings))
    write_result(regions, output)
