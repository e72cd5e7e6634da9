"""Options of commands that write the page of a comparison."""

import shlex
from typing import NamedTuple

import click

from gradely.cli.argument_types import FILE
from gradely.cli.options import Command, add_options, pack


class PageOptions(NamedTuple):
    """What a page shows besides the scores."""

    queries_text: str | None
    docs_text: str | None

    @property
    def command(self) -> str:
        """The command line that makes the page."""
        return shlex.join(("gradely", *click.get_current_context().obj))


def page_options(command: Command) -> Command:
    """Add --queries-text and --docs-text."""
    return add_options(
        pack(PageOptions, "texts", PageOptions._fields, command),
        click.option(
            "--queries-text",
            type=FILE,
            metavar="FILE",
            help="Texts of queries for the page: an id, a tab and a text per line, or JSON Lines with id and text.",
        ),
        click.option(
            "--docs-text", type=FILE, metavar="FILE", help="Texts of documents for the page, in the same formats."
        ),
    )
