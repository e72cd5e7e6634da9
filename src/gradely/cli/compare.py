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
from gradely.comparison.design import FAMILIES
from gradely.comparison.resampling import RESAMPLES
from gradely.comparison.significance import CORRECTIONS, SIMULTANEOUS, TESTS
from gradely.data import run_name
from gradely.report.page import check_installed
from gradely.tables import LATEX, plain_line, render


@dataclass
class Shown:
    """How the comparison is shown."""

    form: str
    digits: int
    pairs: bool
    influence: bool
    bold: bool


@click.command("compare")
@click.argument("qrels")
@click.argument("runs", nargs=-1)
@options.measures
@click.option("--baseline", "baselines", multiple=True, metavar="RUN", help="Compare with this run only; repeatable.")
@click.option("--test", type=click.Choice(list(TESTS)), default="t", show_default=True, help="The significance test.")
@click.option(
    "--correction",
    type=click.Choice(list(CORRECTIONS)),
    help="For many tests: holm by default; tukey and max-t take none.",
)
@click.option(
    "--family",
    type=click.Choice(list(FAMILIES)),
    default="measure",
    show_default=True,
    help=f"What is corrected together. {options.explained(FAMILIES)}",
)
@click.option("--alpha", type=float, default=0.05, show_default=True, help="The level of significance.")
@click.option(
    "--resamples", type=click.IntRange(min=1), default=RESAMPLES, show_default=True, help="How often a test draws."
)
@click.option("--simultaneous", is_flag=True, help="Intervals of differences that hold for the whole family at once.")
@click.option(
    "--rope",
    type=float,
    metavar="DIFFERENCE",
    help="The largest difference that does not matter: test equivalence, too.",
)
@click.option("--influence", is_flag=True, help="Show how much each verdict depends on single queries, too.")
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
    influence: bool,
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
    write(shown(made, Shown(form, digits, pairs, influence, bold)), path)
    if form in ("csv", "tsv", "latex") or path not in (None, "-"):
        click.echo(below(made), err=True, nl=False)


def shown(made: Comparison, how: Shown) -> str:
    """Return the comparison in a format, with what is needed to do it again."""
    if how.form == "json":
        return as_json(made, influence=how.influence)
    tidy = how.form in ("csv", "tsv")
    table = made.pairs_table() if how.pairs else made.runs_table() if tidy else made.table()
    text = render(table._replace(digits=how.digits, bold=how.bold), how.form)
    if how.form == "latex":
        return f"% {plain_line(made.caption()).translate(LATEX)}\n{text}"
    if tidy:
        return text
    return f"{plain_line(made.summary())}\n\n{text}\n{_influence(made, how)}{below(made, marks=not how.pairs)}"


def _influence(made: Comparison, how: Shown) -> str:
    """Return the table of influence, where it was asked for."""
    if not how.influence:
        return ""
    table = made.influence.table()._replace(digits=how.digits)
    return (
        f"{render(table, how.form)}\n{made.influence.caption()}\n\n" if table.rows else made.influence.caption() + "\n"
    )


def below(made: Comparison, *, marks: bool = False) -> str:
    """Return the lines below a table: what the marks mean, how it was tested, and what there is to note."""
    tested = len(made.tested.pairs) > 0
    lines = [
        *([made.legend()] if marks and tested else []),
        made.caption(),
        *([_power(made)] if tested else []),
        *(str(note) for note in made.notes),
    ]
    return summed_up([plain_line(line) for line in lines])


def _power(made: Comparison) -> str:
    """Return the discriminative power of each measure, in a line."""
    power = ", ".join(f"{measure} {100 * share:.1f} %" for measure, share in made.power().items())
    kind = "" if made.design.test in SIMULTANEOUS else " before correction"
    return f"Discriminative power, the share of pairs with p below α{kind}: {power}"


def as_json(made: Comparison, *, influence: bool = False) -> str:
    """Return everything, values in full."""
    header, *rows = made.runs_table().header, *made.runs_table().rows
    content = {
        "summary": made.summary(),
        "answers": made.answers(),
        "caption": made.caption(),
        "design": made.design._asdict() | made.board.policies._asdict() | {"count": len(made.board.queries)},
        "runs": [dict(zip(header, row, strict=True)) for row in rows],
        "pairs": [_finite(dict(zip(made.fields, pair, strict=False))) for pair in made.pairs],
        "discriminative_power": made.power(),
        "achieved_significance_levels": made.levels(),
        "notes": [note.as_dict() for note in made.notes],
    }
    if influence:
        content["influence"] = [row._asdict() for row in made.influence.rows()]
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _finite(row: dict[str, Any]) -> dict[str, Any]:
    """JSON has no infinity: an effect size without spread is null."""
    return {key: None if isinstance(value, float) and math.isinf(value) else value for key, value in row.items()}
