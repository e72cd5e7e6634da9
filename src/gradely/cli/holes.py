"""gradely holes."""

from functools import partial
from typing import Any

import click

from gradely.cli import options
from gradely.cli.options import MEASURE, Request
from gradely.cli.output import OutputOptions, write_result
from gradely.judgments.holes import DEFAULT, holes
from gradely.judgments.judging import simulate_judging


@options.command("holes")
@click.option(
    "--judge",
    "listed",
    type=click.IntRange(min=1),
    metavar="N",
    help="List the N documents to judge next, most important first; write them to a file with -o to_judge.csv.",
)
@click.option(
    "--simulate",
    is_flag=True,
    help="Hide the judgments, reveal them again, and count how many it takes to decide which run is better: in the "
    "order of --judge, and by rank.",
)
@click.option(
    "--labels",
    callback=options.read_numbers,
    metavar="LABELS",
    help="Labels that an unjudged document may have, like 0,1,2,3.  [default: those of the qrels]",
)
@click.option("--top", type=float, metavar="LABEL", help="Allow every real number from 0 to this label.")
@click.option(
    "--depth",
    "deepest",
    type=click.IntRange(min=1),
    metavar="N",
    help="Depth in the rankings down to which unjudged documents may be relevant.  [default: the cut-off of the "
    "measure, or 100]",
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
    """Show what unjudged documents could change: the range of each mean, and which of two RUNS is certainly better.

    Each range covers all labels that these documents could have; a document has the same label in all runs. A note says
    which ranges are only bounds.
    """
    if listed is not None and simulate:
        raise click.UsageError("--judge and --simulate cannot be combined: leave one of them out")
    data = request._replace(measures=request.measures or DEFAULT).read()
    arguments = {"depth": deepest, **labels, **request.keywords}
    with data.bar() as bar:
        if simulate:
            write_result(simulate_judging(data.qrels, data.runs, data.measures, progress=bar, **arguments), output)
            return
        found = holes(data.qrels, data.runs, data.measures, progress=bar, **arguments)
        found.pairs  # noqa: B018 - slow to compute, so it belongs below the progress bar
    write_result(found if listed is None else found.judge(listed), output)
