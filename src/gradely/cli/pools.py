"""gradely pools."""

from functools import partial
from typing import Any

import click

from gradely.cli import options
from gradely.cli.correlate import correlate_runs, selection_options
from gradely.comparison.correlate import LEAST, LEAST_NONRELEVANT, POOLS, RATES, pools


@options.command("pools")
@options.measures
@click.option(
    "--rates",
    metavar="SHARES",
    default=",".join(map(str, RATES)),
    show_default=True,
    callback=options.read_numbers,
    help="Shares of the pool to keep.",
)
@options.count("--repeat", 10, "Number of draws.")
@options.count(
    "--least",
    LEAST,
    "Minimum number of documents to keep of each query and grade above 0; 0 lets grades vanish.",
    least=0,
)
@options.count(
    "--least-nonrelevant", LEAST_NONRELEVANT, "Minimum number of non-relevant documents to keep of each query.", least=0
)
@selection_options
@options.settings("ties", "seed", "precision", "judged_only", "empty", "exclude_self", "threads")
@options.weights
@options.request
@partial(options.output, digits=2)
def command(**keywords: Any) -> None:
    """Correlate the ranking of RUNS under the full pools with that under smaller pools.

    As in Buckley and Voorhees (2004), a random share of the judgments of each query and grade is kept: at least --least
    of each grade above 0, and --least-nonrelevant of the others. The rest counts as unjudged. The table shows the mean
    τ and an interval that contains 95 % of the draws.
    """
    correlate_runs(pools, {POOLS: 3.0}, **keywords)
