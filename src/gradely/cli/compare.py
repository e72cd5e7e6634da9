"""gradely compare."""

import json
import math
import os
import sys
from dataclasses import dataclass
from typing import Any

import click

from gradely.cli import options
from gradely.cli.evaluate import chosen, summed_up
from gradely.cli.output import check_writable, write, write_file
from gradely.cli.several import opened, read, stepping
from gradely.comparison.compare import Comparison, compare
from gradely.comparison.resampling import RESAMPLES
from gradely.comparison.significance import CORRECTIONS, TESTS
from gradely.data import run_name
from gradely.report.page import check_installed
from gradely.tables import LATEX, plain_line, render


@dataclass
class Shown:
    """How the comparison is shown."""

    form: str
    digits: int
    pairs: bool
    bold: bool


@click.command("compare")
@click.argument("qrels")
@click.argument("runs", nargs=-1)
@options.measures
@click.option("--baseline", "baselines", multiple=True, metavar="RUN", help="Compare with this run only; repeatable.")
@click.option("--test", type=click.Choice(list(TESTS)), default="t", show_default=True, help="The significance test.")
@click.option(
    "--correction", type=click.Choice(list(CORRECTIONS)), help="For many tests; holm by default, none for tukey."
)
@click.option("--alpha", type=float, default=0.05, show_default=True, help="The level of significance.")
@click.option(
    "--resamples", type=click.IntRange(min=1), default=RESAMPLES, show_default=True, help="Draws of a test that draws."
)
@click.option("--pairs", is_flag=True, help="Show every pair: difference, interval, effect size, wins, p-values.")
@click.option("--report", "page", metavar="FILE.html", help="Write a page to look at, too.")
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
    pairs: bool,
    page: str | None,
    form: str,
    digits: int,
    path: str | None,
    **settings: Any,
) -> None:
    """Compare RUNS on the judgments QRELS, each pair of them or each against a baseline."""
    check_writable(path)
    check_writable(page)
    if page:
        check_installed()
    judgments, systems = read(qrels, runs, settings)
    if len(systems) < 2:
        raise click.UsageError("name at least two runs to compare", click.get_current_context())
    named = [name if name in {system.name for system in systems} else run_name(name) for name in baselines]
    with stepping(systems, 2 if page else 1) as step:
        given = opened(systems, runs)
        made = compare(judgments, given, chosen(measures, settings["ties"]), baselines=named, progress=step, **settings)
        html = made.to_html(progress=step) if page else ""
    if page:
        write_file(html.encode(), page)
    bold = path in (None, "-") and sys.stdout.isatty() and "NO_COLOR" not in os.environ
    write(shown(made, Shown(form, digits, pairs, bold)), path)
    if form in ("csv", "tsv", "latex") or path not in (None, "-"):
        click.echo(below(made), err=True, nl=False)


def shown(made: Comparison, how: Shown) -> str:
    """Return the comparison in a format, with what is needed to do it again."""
    if how.form == "json":
        return as_json(made)
    tidy = how.form in ("csv", "tsv")
    table = made.pairs_table() if how.pairs else made.runs_table() if tidy else made.table()
    text = render(table._replace(digits=how.digits, bold=how.bold), how.form)
    if how.form == "latex":
        return f"% {plain_line(made.caption()).translate(LATEX)}\n{text}"
    return text if tidy else f"{text}\n{below(made, marks=not how.pairs)}"


def below(made: Comparison, *, marks: bool = False) -> str:
    """Return the lines below a table: what the marks mean, how it was tested, and what there is to note."""
    power = ", ".join(f"{measure} {100 * share:.1f} %" for measure, share in made.power().items())
    lines = [
        *([made.legend()] if marks else []),
        made.caption(),
        f"Discriminative power, the share of pairs with p below α before correction: {power}",
        *(str(note) for note in made.notes),
    ]
    return summed_up([plain_line(line) for line in lines])


def as_json(made: Comparison) -> str:
    """Return everything, values in full."""
    header, *rows = made.runs_table().header, *made.runs_table().rows
    content = {
        "caption": made.caption(),
        "design": made.design._asdict() | made.board.policies._asdict() | {"topics": len(made.board.queries)},
        "runs": [dict(zip(header, row, strict=True)) for row in rows],
        "pairs": [_finite(pair._asdict()) for pair in made.pairs],
        "discriminative_power": made.power(),
        "achieved_significance_levels": made.levels(),
        "notes": [note.as_dict() for note in made.notes],
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _finite(row: dict[str, Any]) -> dict[str, Any]:
    """JSON has no infinity: an effect size without spread is null."""
    return {key: None if isinstance(value, float) and math.isinf(value) else value for key, value in row.items()}
