"""gradely report."""

import shlex
from typing import NamedTuple

import click

from gradely.cli import options
from gradely.cli.options import FILE, Request
from gradely.cli.output import check_output, say, say_beside, write_file
from gradely.comparison.compare import compare
from gradely.report.page import check_installed
from gradely.tables import count_of, plain_line


class PageOptions(NamedTuple):
    """The options of a page."""

    queries_text: str | None
    docs_text: str | None


def command_line() -> str:
    """Return the command line as the user typed it."""
    return shlex.join(("gradely", *click.get_current_context().obj))


def page_options(command: options.Command) -> options.Command:
    """Add --queries-text and --docs-text, for commands that write the page of a comparison."""
    return options.add_options(
        options.pack(PageOptions, "texts", PageOptions._fields, command),
        options.queries_text,
        options.docs_text,
    )


@options.command("report")
@click.option("-o", "--output", "path", required=True, type=FILE, metavar="FILE.html", help="The file to write.")
@click.option("--title", help="Title of the page.")
@page_options
@options.measures
@options.settings()
@options.by_segment
@options.weights
@options.request
def command(request: Request, *, path: str, title: str | None, texts: PageOptions) -> None:
    """Write a self-contained HTML page about RUNS: leaderboard, all pairs, rankings, curves, ties, and measures."""
    if path == "-":
        raise click.UsageError("a page must be written to a file: -o report.html", click.get_current_context())
    check_output(path)
    check_installed()
    data = request.read()
    many = count_of(len(data.runs), "run")
    with data.bar() as bar:
        comparison = compare(data.qrels, data.runs, data.measures, details=True, progress=bar, **request.keywords)
        about = title or f"Evaluation of {many}"
        page = comparison.to_html(about, **texts._asdict(), command=command_line()).encode()
    write_file(page, path)
    say_beside(())
    say(f"{plain_line(path)}: {len(page) / 1e6:.1f} MB, {many}; open it in a browser\n")
