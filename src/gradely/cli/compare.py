"""gradely compare."""

import os
import sys
from dataclasses import asdict
from typing import Any

import click

from gradely.cli import options
from gradely.cli.inputs import choose_measures, read_inputs
from gradely.cli.options import InputOptions, OutputOptions
from gradely.cli.output import check_writable, write_file
from gradely.cli.results import list_notes, to_json, write_results
from gradely.comparison.compare import Comparison, compare
from gradely.comparison.resampling import RESAMPLES
from gradely.comparison.significance import CORRECTIONS, TESTS
from gradely.data import run_name
from gradely.evaluation.notes import Note
from gradely.report.page import check_installed
from gradely.settings import Settings
from gradely.tables import LATEX, escape_markdown, plain_line, render


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
    "--resamples",
    type=click.IntRange(min=1),
    default=RESAMPLES,
    show_default=True,
    help="How many draws a randomization, bootstrap or Tukey test takes.",
)
@click.option("--pairs", is_flag=True, help="Show every pair: difference, interval, effect size, wins, p-values.")
@click.option("--report", "page", metavar="FILE.html", help="Write a page to look at, too.")
@options.settings()
@options.inputs
@options.output
def command(
    qrels: str,
    runs: tuple[str, ...],
    *,
    measures: tuple[str, ...],
    baselines: tuple[str, ...],
    pairs: bool,
    page: str | None,
    settings: Settings,
    inputs: InputOptions,
    output: OutputOptions,
    **design: Any,
) -> None:
    """Compare RUNS on the judgments in QRELS, each pair of them or each with a baseline."""
    check_writable(page)
    if page:
        check_installed()
    given = read_inputs(qrels, runs, inputs, settings)
    if len(given.runs) < 2:
        raise click.UsageError("name at least two runs to compare", click.get_current_context())
    named = [name if name in given.runs else run_name(name) for name in baselines]
    with given.bar() as bar:
        comparison = compare(
            given.qrels,
            given.runs,
            choose_measures(measures, settings.ties),
            baselines=named,
            details=bool(page),
            progress=bar,
            **design,
            **asdict(settings),
        )
        html = comparison.to_html() if page else ""
    if page:
        write_file(html.encode(), page)
    text = show(comparison, output, pairs=pairs)
    marks = output.form == "table" and not pairs
    write_results(text, explain_table(comparison, marks=marks), output)


def show(comparison: Comparison, output: OutputOptions, *, pairs: bool) -> str:
    """Return the comparison in a format, with what is needed to do it again."""
    form = output.form
    if form == "json":
        return to_json(as_data(comparison))
    tidy = form in ("csv", "tsv")
    bold = not output.to_file and sys.stdout.isatty() and "NO_COLOR" not in os.environ
    table = comparison.pairs_table() if pairs else comparison.runs_table() if tidy else comparison.table()
    text = render(table._replace(digits=output.digits, bold=bold), form)
    if form == "markdown":
        return f"{text}\n{escape_markdown(comparison.caption())}\n"
    if form == "latex":
        return f"% {plain_line(comparison.caption()).translate(LATEX)}\n{text}"
    return text


def explain_table(comparison: Comparison, *, marks: bool) -> str:
    """Return the lines below a table: what the marks mean, how it was tested, and what there is to note."""
    power = ", ".join(f"{measure} {100 * share:.1f} %" for measure, share in comparison.power().items())
    lines: list[Note | str] = [
        *([comparison.legend()] if marks else []),
        comparison.caption(),
        f"Discriminative power, the share of pairs with p below α before correction: {power}",
        *comparison.notes,
    ]
    return list_notes(lines)


def as_data(comparison: Comparison) -> dict[str, Any]:
    """Return everything as plain data, values in full."""
    header, *rows = comparison.runs_table().header, *comparison.runs_table().rows
    board = comparison.board
    return {
        "caption": comparison.caption(),
        "design": comparison.design._asdict() | asdict(board.settings) | {"topics": len(board.queries)},
        "runs": [dict(zip(header, row, strict=True)) for row in rows],
        "pairs": [pair._asdict() for pair in comparison.pairs],
        "discriminative_power": comparison.power(),
        "achieved_significance_levels": comparison.levels(),
        "notes": [note.as_dict() for note in comparison.notes],
    }
