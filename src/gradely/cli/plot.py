"""gradely plot."""

import os

import click

from gradely.cli import options
from gradely.cli.options import FILE, Request
from gradely.cli.output import check_output, say, say_beside, write_file
from gradely.evaluation.result import shorten_list
from gradely.report.charts import KINDS, Figure, figure
from gradely.report.page import check_installed
from gradely.tables import count_of, plain_line


def form_of_figure(path: str) -> str:
    """Return the format of a figure by the extension of its file."""
    form = os.path.splitext(path)[1].lower().removeprefix(".")
    if form not in ("svg", "pdf", "png"):
        raise click.UsageError(f"{path}: a figure must be an .svg, .pdf or .png file", click.get_current_context())
    return form


@options.command("plot")
@click.argument("kind", type=click.Choice(KINDS), metavar="|".join(KINDS))
@click.option(
    "-o", "--output", "path", required=True, type=FILE, metavar="FILE", help="The file to write: .svg, .pdf or .png."
)
@options.measures
@options.settings()
@options.weights
@options.request
def command(kind: Figure, *, path: str, request: Request) -> None:
    """Draw a figure for a paper.

    leaderboard: means with intervals. queries: the values of all RUNS on each query, or the differences of two RUNS, by
    the first measure. curves: nDCG by rank, precision by recall. ties: how much the order of tied documents changes
    each mean. tau: how similarly the measures rank the RUNS.
    """
    form = form_of_figure(path)
    check_output(path)
    check_installed()
    if kind == "tau" and request.policies["queries"] != "qrels":
        raise click.UsageError("tau uses all queries of the qrels: leave out --queries", click.get_current_context())
    if kind == "ties" and (request.policies["ties"], request.policies["precision"]) != ("expected", "double"):
        raise click.UsageError(
            "ties compares several tie policies in double precision: leave out --ties and --precision"
        )
    data = request.read()
    with data.bar() as bar:
        chart, notes = figure(kind, data.qrels, data.runs, data.measures, progress=bar, **request.keywords)
    from gradely.comparison.charts import picture

    write_file(picture(chart, form), path)
    say(f"{plain_line(path)}: {kind} of {count_of(len(data.runs), 'run')}\n")
    say_beside(shorten_list([*map(str, notes)]))
