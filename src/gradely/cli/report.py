"""gradely report."""

from dataclasses import asdict

import click

from gradely.cli import options
from gradely.cli.argument_types import FILE
from gradely.cli.inputs import choose_measures, read_inputs
from gradely.cli.options import InputOptions
from gradely.cli.output import check_writable, say, write_file
from gradely.cli.page_options import PageOptions, page_options
from gradely.comparison.compare import compare
from gradely.report.page import check_installed
from gradely.settings import Settings
from gradely.tables import count_of, plain_line


@click.command("report")
@options.files
@click.option("-o", "--output", "path", required=True, type=FILE, metavar="FILE.html", help="The file to write.")
@click.option("--title", help="The title of the page.")
@page_options
@options.measures
@options.settings()
@options.by_segment
@options.inputs
def command(
    qrels: str,
    runs: tuple[str, ...],
    *,
    path: str,
    title: str | None,
    texts: PageOptions,
    measures: tuple[str, ...],
    settings: Settings,
    inputs: InputOptions,
) -> None:
    """Write one self-contained HTML page about RUNS: leaderboard, every pair, rankings, curves, ties, measures."""
    if path == "-":
        raise click.UsageError("a page goes to a file: -o report.html", click.get_current_context())
    check_writable(path)
    check_installed()
    data = read_inputs(qrels, runs, inputs, settings)
    names, many = choose_measures(measures, settings.ties), count_of(len(data.runs), "run")
    with data.bar() as bar:
        comparison = compare(data.qrels, data.runs, names, details=True, progress=bar, **asdict(settings))
        about = texts._asdict() | {"command": texts.command}
        page = comparison.to_html(title or f"Evaluation of {many}", **about).encode()
    write_file(page, path)
    say(f"{plain_line(path)}: {len(page) / 1e6:.1f} MB, {many}; open it in a browser\n")
