"""gradely holes."""

from functools import partial
from typing import Any

import click

from gradely.cli import options
from gradely.cli.options import MEASURE, Request
from gradely.cli.output import OutputOptions, write_result
from gradely.judgments.holes import DEFAULT, holes
from gradely.judgments.judging import simulate_judging


def _labels(_context: click.Context, _parameter: click.Parameter, value: str | None) -> list[float] | None:
    """Take 0,1,2,3 apart."""
    try:
        return None if value is None else [float(label) for label in value.split(",")]
    except ValueError:
        raise click.BadParameter(f"labels are numbers with commas between them, like 0,1,2,3; found {value}") from None


@options.command("holes")
@click.option(
    "--judge",
    "listed",
    type=click.IntRange(min=1),
    metavar="N",
    help="List the N documents to judge next, those first on which most depends; write them with -o to_judge.csv.",
)
@click.option(
    "--simulate",
    is_flag=True,
    help="Hide the judgments and hand them out again: how many decide which run is better, in the order of --judge "
    "and by rank?",
)
@click.option(
    "--labels",
    callback=_labels,
    metavar="LABELS",
    help="The labels that an unjudged document may have, like 0,1,2,3.  [default: those of the qrels]",
)
@click.option("--top", type=float, metavar="LABEL", help="It may have any label from 0 to this, whole or not.")
@click.option(
    "--depth",
    "deepest",
    type=click.IntRange(min=1),
    metavar="N",
    help="How deep in the rankings unjudged documents may be relevant.  [default: the cut-off of the measure, or 100]",
)
@partial(options.measures, kind=MEASURE, more="", default=DEFAULT)
@options.settings("ties", "queries", "exclude_self", "precision", "seed", "threads")
@options.weights
@options.request
@options.output
def command(
    request: Request,
    *,
    listed: int | None,
    simulate: bool,
    deepest: int | None,
    output: OutputOptions,
    **labels: Any,
) -> None:
    """Show what unjudged documents could change: the range of each mean, and which of two RUNS is better in any case.

    Ranges are over all labels that these documents may have, and all runs share them. A note says where they are
    bounds.
    """
    if listed is not None and simulate:
        raise click.UsageError("--judge lists what to judge next, and --simulate needs no list: leave one of them out")
    data = request._replace(measures=request.measures or DEFAULT).read()
    arguments = {"depth": deepest, **labels, **request.keywords}
    with data.bar() as bar:
        if simulate:
            write_result(simulate_judging(data.qrels, data.runs, data.measures, progress=bar, **arguments), output)
            return
        found = holes(data.qrels, data.runs, data.measures, progress=bar, **arguments)
        found.pairs  # noqa: B018 - which take a while, too
    write_result(found if listed is None else found.judge(listed), output)
