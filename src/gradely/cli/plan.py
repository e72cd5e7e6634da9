"""gradely plan."""

from dataclasses import asdict
from typing import Any

import click

from gradely.cli import options
from gradely.cli.argument_types import FILE
from gradely.cli.inputs import choose_measures, read_inputs
from gradely.cli.options import InputOptions, OutputOptions
from gradely.cli.output import list_notes, to_json, write_results
from gradely.comparison.plan import PLANNED, POWER, Plan, plan
from gradely.data import run_name
from gradely.settings import Settings
from gradely.tables import escape_markdown, plain_line, render


@click.command("plan")
@click.argument("qrels", type=FILE)
@click.argument("runs", nargs=-1, type=FILE)
@options.measures
@click.option("--baseline", "baselines", multiple=True, metavar="RUN", help="Plan for pairs with this run; repeatable.")
@click.option("--difference", type=float, help="Say how many queries this difference needs, too.")
@click.option("--power", type=float, default=POWER, show_default=True, help="The chance to find what is there.")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="The level of significance.")
@click.option(
    "--correction",
    type=click.Choice(list(PLANNED)),
    default="bonferroni",
    show_default=True,
    help="For the pairs of each measure.",
)
@options.settings()
@options.inputs
@options.output
def command(
    qrels: str,
    runs: tuple[str, ...],
    *,
    measures: tuple[str, ...],
    baselines: tuple[str, ...],
    settings: Settings,
    inputs: InputOptions,
    output: OutputOptions,
    **design: Any,
) -> None:
    """Say what difference between RUNS the queries of QRELS could show, and how many queries it would take.

    Two runs that are like those you mean to compare are enough: what counts is how their difference varies from query
    to query.
    """
    data = read_inputs(qrels, runs, inputs, settings)
    if len(data.runs) < 2:
        raise click.UsageError("name at least two runs to plan for", click.get_current_context())
    named = [name if name in data.runs else run_name(name) for name in baselines]
    parsed = choose_measures(measures, settings.ties)
    with data.bar() as bar:
        result = plan(data.qrels, data.runs, parsed, baselines=named, progress=bar, **design, **asdict(settings))
    write_results(show(result, output), list_notes([result.caption(), *result.notes]), output)


def show(result: Plan, output: OutputOptions) -> str:
    """Return the plan in a format."""
    if output.form == "json":
        return to_json(as_data(result))
    text = render(result.table()._replace(digits=output.digits), output.form)
    if output.form == "markdown":
        return f"{escape_markdown(result.summary())}\n\n{text}\n{escape_markdown(result.caption())}\n"
    return f"{plain_line(result.summary())}\n\n{text}" if output.form == "table" else text


def as_data(result: Plan) -> dict[str, Any]:
    """Return everything as plain data, values in full."""
    design = {key: value for key, value in result._asdict().items() if key not in ("rows", "notes")}
    pairs, notes = [row._asdict() for row in result.rows], [note.as_dict() for note in result.notes]
    return {"summary": result.summary(), "caption": result.caption(), **design, "pairs": pairs, "notes": notes}
