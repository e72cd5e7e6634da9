"""gradely pools."""

from functools import partial
from typing import Any

import click

from gradely.cli import options
from gradely.cli.correlate import correlate_runs, selection_options
from gradely.comparison.correlate import LEAST, LEAST_NONRELEVANT, POOLS, RATES, pools


def shares(context: click.Context, parameter: click.Parameter, text: str) -> list[float]:
    """Return the rates in a list like 1.0,0.5."""
    try:
        return [float(rate) for rate in text.split(",")]
    except ValueError:
        raise click.BadParameter("shares of the pool, like 1.0,0.5,0.1", context, parameter) from None


@options.command("pools")
@options.measures
@click.option(
    "--rates",
    default=",".join(map(str, RATES)),
    show_default=True,
    callback=shares,
    help="Shares of the pool to keep.",
)
@options.count("--repeat", 10, "Number of draws.")
@options.count(
    "--least", LEAST, "Documents of each query and grade above 0 to keep at least; 0 lets grades vanish.", least=0
)
@options.count(
    "--least-nonrelevant", LEAST_NONRELEVANT, "Non-relevant documents of each query to keep at least.", least=0
)
@selection_options
@options.settings("ties", "seed", "precision", "judged_only", "empty", "exclude_self", "threads")
@options.weights
@options.request
@partial(options.output, digits=2)
def command(**keywords: Any) -> None:
    """Correlate the rankings of RUNS from the full pools with those from smaller pools.

    For each query and grade, a random share of the documents stays judged, as in Buckley and Voorhees (2004): at least
    --least of each grade above 0, and --least-nonrelevant of the others. The rest counts as unjudged. The table shows
    the mean τ and the interval that holds 95 % of the draws.
    """
    correlate_runs(pools, {POOLS: 3.0}, **keywords)
