"""gradely phi."""

import ast
from functools import partial
from typing import Any

import click

from gradely.cli import options
from gradely.cli.options import FILE
from gradely.cli.output import OutputOptions, write_result
from gradely.comparison.phi_curves import phi
from gradely.data import read_qrels


@options.command("phi")
@click.argument("qrels", type=FILE)
@click.argument("query", required=False)
@click.option(
    "--control",
    default="paper",
    show_default=True,
    metavar="POINTS",
    help="Control points: those of the paper's text (paper), of the authors' code (code), or a list like "
    "'[(0, 0), (10, 1)]'.",
)
@options.qrels_format
@partial(options.output, pictures=True)
def command(qrels: str, query: str | None, *, control: str, qrels_format: str | None, output: OutputOptions) -> None:
    """Show φ, the relevance function of nDCGφ: its control points and the φ of the labels in QRELS.

    For a single QUERY, its documents are shown as well. -o FILE.svg or FILE.png draws the curves of up to twelve
    queries.
    """
    curves = phi(read_qrels(qrels, format=qrels_format), query, read_control(control))
    write_result(curves, output)


def read_control(text: str) -> Any:
    """Return control points from text: a name or a list of pairs."""
    if not text.lstrip().startswith(("[", "(")):
        return text
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        raise click.UsageError(f"control points must be a list like [(0, 0), (10, 1)]; found {text[:60]}") from None
