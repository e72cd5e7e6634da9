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
@click.option("--judge", required=True, type=FILE, metavar="QRELS", help="Labels of a judge, such as a language model.")
@click.option(
    "--for",
    "target",
    type=click.Choice(list(TARGETS)),
    default="like",
    show_default=True,
    help="What the means describe: a population of queries like these, or exactly the queries of the judge.",
)
@options.slope
@options.alpha
@options.settings("ties", "precision", "judged_only", "exclude_self", "threads", "seed")
@options.by_segment
@options.request
@options.output
def command(request: Request, *, judge: str, output: OutputOptions, **design: Any) -> None:
    """Estimate the means of RUNS from a few human labels and many labels from a judge.

    QRELS are human labels for a random sample of queries, as drawn by `gradely sample`; --judge labels all queries.
    The judge may be wrong: the human labels correct its errors, and the interval shows the remaining uncertainty. --by
    and --only apply to the queries of the judge.
    """
    human, data = request.read_both(judge)
    with data.bar() as bar:
        result = estimate(human, data.runs, data.measures, judge=data.qrels, progress=bar, **design, **request.keywords)
    write_result(result, output)
