"""gradely explain."""

from typing import Any

import click

from gradely.cli import options
from gradely.cli.options import FILE, MEASURE, InputOptions, read_judgments
from gradely.cli.output import OutputOptions, write_result
from gradely.data.source import Source
from gradely.evaluation.explain import FEW_ORDERS, LONG, MOST_ORDERS, explain
from gradely.measures.names import parse


@options.command("explain")
@click.argument("qrels", type=FILE)
@click.argument("run", type=FILE)
@click.argument("query")
@click.option(
    "-m",
    "--measure",
    required=True,
    multiple=True,
    type=MEASURE,
    metavar="MEASURE",
    callback=options.one_measure,
    help="The measure, such as nDCG@10.",
)
@options.samples
@options.settings("ties", "seed", "precision", "exclude_self")
@click.option(
    "--depth",
    type=click.IntRange(min=1),
    metavar="N",
    help=f"Number of documents to show, from the top.  [default: {LONG} in a table, all in other formats]",
)
@click.option(
    "--orders",
    type=click.IntRange(0, MOST_ORDERS),
    metavar="N",
    help="Show every order of the tied documents that matter, with its value, if there are at most this many orders.  "
    f"[default: {FEW_ORDERS}]",
)
@options.queries_text
@options.docs_text
@options.inputs
@options.output
def command(
    qrels: str,
    run: str,
    query: str,
    *,
    measure: str,
    depth: int | None,
    orders: int | None,
    queries_text: str | None,
    docs_text: str | None,
    policies: dict[str, Any],
    inputs: InputOptions,
    output: OutputOptions,
) -> None:
    """Explain the value of a measure on one QUERY, rank by rank: document, label, gain, discount and contribution.

    The ideal ranking is shown below, so you can recompute the value by hand.
    """
    if len(inputs.features) > 1:
        raise click.UsageError("explain takes a single --feature", click.get_current_context())
    feature = inputs.features[0] if inputs.features else None
    explanation = explain(
        read_judgments(qrels, inputs.for_measures({measure: parse(measure)})),
        inputs.opener(Source(run), feature),
        query,
        measure,
        depth=depth,
        orders=orders,
        queries_text=queries_text,
        docs_text=docs_text,
        **policies,
        **inputs.keywords,
    )
    write_result(explanation, output)
