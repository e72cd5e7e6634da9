"""gradely ties."""

from functools import partial

import click

from gradely.cli import options
from gradely.cli.options import MEASURE, Request
from gradely.cli.output import OutputOptions, write_result
from gradely.comparison.ties import tie_sensitivity


@click.command("ties")
@partial(options.measures, kind=MEASURE, more="")
@options.settings("queries", "judged_only", "threads")
@options.request
@options.output
def command(request: Request, *, output: OutputOptions) -> None:
    """Show what the order of tied documents decides in RUNS, and which runs change places with it."""
    data, settings = request.read(), request.settings
    with data.bar() as bar:
        ties = tie_sensitivity(
            data.qrels,
            data.runs,
            data.measures,
            queries=settings.queries,
            judged_only=settings.judged_only,
            threads=settings.threads,
            progress=bar,
        )
    write_result(ties, output)
