"""gradely report."""

from typing import Any

import click

from gradely.cli import options
from gradely.cli.evaluate import chosen
from gradely.cli.output import check_writable, say, write_file
from gradely.cli.several import opened, read, stepping
from gradely.comparison.compare import compare
from gradely.evaluation.check import count_of
from gradely.report.page import check_installed
from gradely.tables import plain_line


@click.command("report")
@click.argument("qrels")
@click.argument("runs", nargs=-1)
@click.option("-o", "--output", "path", required=True, metavar="FILE.html", help="The file to write.")
@click.option("--title", help="The title of the page.")
@options.measures
@options.ties
@options.queries
@options.inputs
@options.threads
def command(
    qrels: str,
    runs: tuple[str, ...],
    *,
    path: str,
    title: str | None,
    measures: tuple[str, ...],
    **settings: Any,
) -> None:
    """Write one self-contained HTML page about RUNS: leaderboard, differences, rankings, curves, ties, measures."""
    if path == "-":
        raise click.UsageError("a page goes to a file: -o report.html", click.get_current_context())
    check_writable(path)
    check_installed()
    judgments, systems = read(qrels, runs, settings)
    many = count_of(len(systems), "run")
    with stepping(systems, 2) as step:
        made = compare(judgments, opened(systems, runs), chosen(measures, settings["ties"]), progress=step, **settings)
        page = made.to_html(title or f"Evaluation of {many}", progress=step).encode()
    write_file(page, path)
    say(f"{plain_line(path)}: {len(page) / 1e6:.1f} MB, {many}; open it in a browser\n")
