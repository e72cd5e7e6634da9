"""gradely ties."""

from functools import partial

from gradely.cli import options
from gradely.cli.options import MEASURE, Request
from gradely.cli.output import OutputOptions, write_result
from gradely.comparison.ties import tie_sensitivity


@options.command("ties")
@partial(options.measures, kind=MEASURE, more="")
@options.settings("queries", "judged_only", "empty", "exclude_self", "threads")
@options.weights
@options.request
@options.output
def command(request: Request, *, output: OutputOptions) -> None:
    """Show how much the order of tied documents changes the means of RUNS, and which of them can change places."""
    data = request.read()
    with data.bar() as bar:
        ties = tie_sensitivity(data.qrels, data.runs, data.measures, progress=bar, **request.keywords)
    write_result(ties, output)
