"""gradely measures."""

import inspect

import click

from gradely.cli.argument_types import FILE, MEASURE
from gradely.cli.measures_page import page, section, summary
from gradely.cli.output import write
from gradely.measures import ALL, Measure, parameters
from gradely.measures.base import show
from gradely.measures.names import find
from gradely.tables import Table, to_text


@click.command("measures")
@click.argument("name", type=MEASURE, required=False)
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "markdown"]),
    default="table",
    show_default=True,
    help="Format of the output. Without NAME, markdown is a page that explains all measures.",
)
@click.option("-o", "--output", "path", type=FILE, metavar="FILE", help="Write to a file instead of standard output.")
def command(name: str | None, form: str, path: str | None) -> None:
    """List all measures, or explain one: formula, parameters, ties, reference."""
    if form == "markdown":
        write(section(find(name)) if name else page(), path)
    else:
        write(card(find(name)) if name else overview(), path)


def overview() -> str:
    """Return one line per measure."""
    rows = [[measure.name, summary(measure), ", ".join(parameters(measure))] for measure in ALL]
    return to_text(Table(["measure", "what it says", "parameters"], rows)) + "\n`gradely measures NAME` explains one.\n"


def card(measure: type[Measure]) -> str:
    """Return all about a measure: its documentation and its parameters."""
    rows = [[name, show(declared.default), declared.doc] for name, declared in parameters(measure).items()]
    return f"{measure.name}\n\n{inspect.getdoc(measure)}\n\n{to_text(Table(['parameter', 'default', 'meaning'], rows))}"
