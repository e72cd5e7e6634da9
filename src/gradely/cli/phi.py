"""gradely phi."""

import ast
from functools import partial
from typing import Any

import click

from gradely.cli.argument_types import FILE
from gradely.cli.output import list_notes, to_json, write_file, write_results
from gradely.cli.output_options import OutputOptions, output_options
from gradely.comparison.phi_curves import PhiCurves, phi
from gradely.data import FORMATS, read_qrels
from gradely.tables import Table, render


@click.command("phi")
@click.argument("qrels", type=FILE)
@click.argument("query", required=False)
@click.option(
    "--control",
    default="paper",
    show_default=True,
    metavar="POINTS",
    help="Control points: paper (the paper's text), code (the authors' code), or your own, like '[(0, 0), (10, 1)]'.",
)
@click.option("--qrels-format", type=click.Choice(FORMATS), help="Format of the qrels; by default it is recognised.")
@partial(output_options, pictures=True)
def command(qrels: str, query: str | None, *, control: str, qrels_format: str | None, output: OutputOptions) -> None:
    """Show φ, the relevance of nDCGφ: its control points, and what it makes of the scores in QRELS.

    Of one QUERY the documents are shown, too. With -o FILE.svg or FILE.png the curves are drawn, of many queries the
    first twelve.
    """
    curves = phi(read_qrels(qrels, format=qrels_format), query, read_control(control))
    if output.picture:
        from gradely.comparison.charts import picture

        write_file(picture(curves.chart(), output.picture), str(output.path))
        output = output._replace(path=None)
    write_results(show(curves, output), list_notes([curves.summary(), *curves.notes]), output)


def read_control(text: str) -> Any:
    """Return control points from their text: a name, or a list of pairs."""
    if not text.lstrip().startswith(("[", "(")):
        return text
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        raise click.UsageError(f"control points are a list like [(0, 0), (10, 1)]; found {text[:60]}") from None


def show(curves: PhiCurves, output: OutputOptions) -> str:
    """Return the curves in a format; for programs, the control points."""
    if output.form == "json":
        return to_json(curves.as_dict())
    if output.form in ("csv", "tsv"):
        return render(Table.of(curves.records()), output.form)
    return "\n".join(render(table, output.form) for table in curves.tables(output.digits))
