"""gradely estimate."""

from typing import Any

import click

from gradely.cli import options
from gradely.cli.options import FILE, Request
from gradely.cli.output import OutputOptions, write_result
from gradely.comparison.regression import TARGETS
from gradely.judgments.estimate import estimate


@options.command("estimate")
@options.measures
@click.option(
    "--judge", required=True, type=FILE, metavar="QRELS", help="The labels of the judge, such as a language model."
)
@click.option(
    "--for",
    "target",
    type=click.Choice(list(TARGETS)),
    default="like",
    show_default=True,
    help="What the means are of: queries like these, or these queries of the judge.",
)
@options.slope
@options.alpha
@options.settings("ties", "precision", "judged_only", "exclude_self", "threads", "seed")
@options.by_segment
@options.request
@options.output
def command(request: Request, *, judge: str, output: OutputOptions, **design: Any) -> None:
    """Estimate the means of RUNS from few human labels and many of a judge.

    QRELS are the human labels of a random sample of queries, as `gradely sample` draws them; --judge has labels of all
    queries. The judge may be wrong: people correct it, and the interval says how well. --by and --only are about the
    queries of the judge.
    """
    human, data = request.read_both(judge)
    with data.bar() as bar:
        result = estimate(human, data.runs, data.measures, judge=data.qrels, progress=bar, **design, **request.keywords)
    write_result(result, output)
