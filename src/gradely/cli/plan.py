"""gradely plan."""

from dataclasses import asdict
from functools import partial
from typing import Any

import click

from gradely.cli import options
from gradely.cli.inputs import InputOptions, choose_measures, read_inputs
from gradely.cli.output import OutputOptions, list_notes, write_results
from gradely.cli.results import caption_notes, show_verdict
from gradely.comparison.plan import PLANNED, POWER, Plan, plan
from gradely.settings import Settings


@click.command("plan")
@options.files
@options.measures
@click.option("--baseline", "baselines", multiple=True, metavar="RUN", help="Plan for pairs with this run; repeatable.")
@click.option("--difference", type=float, help="Say how many queries this difference needs, too.")
@click.option(
    "--power", type=float, default=POWER, show_default=True, help="The chance of finding a difference that is there."
)
@options.alpha
@options.choice(
    "--correction",
    PLANNED,
    "bonferroni",
    "How the level of significance is corrected for the pairs of each measure.",
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
    design["baselines"] = data.name_baselines(baselines, "plan for")
    names = choose_measures(measures, settings.ties)
    with data.bar() as bar:
        result = plan(data.qrels, data.runs, names, progress=bar, **design, **asdict(settings))
    text = show_verdict(result, output, partial(as_data, result))
    write_results(text, list_notes([*caption_notes(result, output.form), *result.notes]), output)


def as_data(result: Plan) -> dict[str, Any]:
    """Return everything as plain data, values in full."""
    design = {key: value for key, value in result._asdict().items() if key not in ("rows", "notes")}
    pairs, notes = [row._asdict() for row in result.rows], [note.as_dict() for note in result.notes]
    return {"summary": result.summary(), "caption": result.caption(), **design, "pairs": pairs, "notes": notes}
