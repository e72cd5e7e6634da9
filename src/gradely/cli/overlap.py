"""gradely overlap."""

from functools import partial

import click

from gradely.cli import options
from gradely.cli.options import InputOptions, MeasureType, list_runs, split_names
from gradely.cli.output import Bar, OutputOptions, write_result
from gradely.comparison.overlap import DEFAULT, overlap
from gradely.comparison.similarities import SIMILARITIES
from gradely.data.selection import read_queries


class SimilarityType(MeasureType):
    """The name of a similarity measure of rankings."""

    def names(self) -> dict[str, str | None]:
        """Return the similarity measures, each with a line of help."""
        return {name: kind.title for name, kind in SIMILARITIES.items()}


@options.command("overlap")
@click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    type=SimilarityType(),
    metavar="MEASURE",
    callback=lambda _context, _parameter, values: tuple(name for value in values for name in split_names(value)),
    help="RBO, like 'RBO(p=0.95, score=min, ties=b)', tau, tau_AP or Jaccard, optionally with a cut-off, like "
    f"Jaccard@10; repeatable.  [default: {', '.join(DEFAULT)}]",
)
@click.option("--depth", type=click.IntRange(min=1), metavar="N", help="Truncate every ranking at this rank.")
@click.option("--by-query", is_flag=True, help="Show every query instead of means.")
@options.runs_alone
@partial(options.output, pictures=True)
def command(
    runs: tuple[str, ...],
    *,
    measures: tuple[str, ...],
    depth: int | None,
    by_query: bool,
    inputs: InputOptions,
    output: OutputOptions,
) -> None:
    """Show how similar the rankings of RUNS are, on the queries that all of them have. No qrels are needed.

    RBO is rank-biased overlap: 1 for the same ranking, 0 for nothing in common. τ and τ_AP compare the order of the
    documents that both runs retrieve. RBO, τ_AP and Jaccard are exact means over the orders of tied documents, and τ is
    τ_b. -o FILE.svg or FILE.png draws a matrix of the runs.
    """
    if len(runs) + len(inputs.features) < 2:
        raise click.UsageError("name at least two runs to compare", click.get_current_context())
    opened, sizes = list_runs("", runs, inputs)
    only = None if inputs.only is None else read_queries(inputs.only)
    with Bar(sizes) as bar:
        result = overlap(opened, measures or DEFAULT, depth=depth, queries=only, progress=bar, **inputs.keywords)
    write_result(result.by_query() if by_query else result, output)
