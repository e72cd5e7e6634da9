"""gradely plan."""

import json
from typing import Any

import click

from gradely.cli import options
from gradely.cli.evaluate import chosen, summed_up
from gradely.cli.output import check_writable, write
from gradely.cli.several import opened, read, stepping
from gradely.comparison.plan import PLANNED, POWER, Plan, plan
from gradely.data import run_name
from gradely.tables import plain_line, render


@click.command("plan")
@click.argument("qrels")
@click.argument("runs", nargs=-1)
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
@options.ties
@options.queries
@options.inputs
@options.threads
@options.output
def command(
    qrels: str,
    runs: tuple[str, ...],
    *,
    measures: tuple[str, ...],
    baselines: tuple[str, ...],
    form: str,
    digits: int,
    path: str | None,
    **settings: Any,
) -> None:
    """Say what difference between RUNS the queries of QRELS could show, and how many queries it would take.

    Two runs that are like those you mean to compare are enough: what counts is how their difference varies from query
    to query.
    """
    check_writable(path)
    judgments, systems = read(qrels, runs, settings)
    if len(systems) < 2:
        raise click.UsageError("name at least two runs to plan for", click.get_current_context())
    named = [name if name in {system.name for system in systems} else run_name(name) for name in baselines]
    with stepping(systems) as step:
        given = opened(systems, runs)
        made = plan(judgments, given, chosen(measures, settings["ties"]), baselines=named, progress=step, **settings)
    write(_render(made, form, digits), path)
    if form in ("csv", "tsv", "latex") or path not in (None, "-"):
        click.echo(_below(made), err=True, nl=False)


def _render(made: Plan, form: str, digits: int) -> str:
    """Return the plan in a format."""
    if form == "json":
        content = {
            "summary": made.summary(),
            "caption": made.caption(),
            **{key: value for key, value in made._asdict().items() if key not in ("rows", "notes")},
            "pairs": [row._asdict() for row in made.rows],
            "notes": [note.as_dict() for note in made.notes],
        }
        return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    text = render(made.table()._replace(digits=digits), form)
    return f"{plain_line(made.summary())}\n\n{text}\n{_below(made)}" if form in ("table", "markdown") else text


def _below(made: Plan) -> str:
    return summed_up([plain_line(line) for line in (made.caption(), *map(str, made.notes))])
