"""gradely measures."""

import inspect

import click

from gradely.cli.output import say
from gradely.formats import Table, to_text
from gradely.measures import ALL, Measure, parameters
from gradely.measures.base import show
from gradely.names import find


@click.command("measures")
@click.argument("name", required=False)
def command(name: str | None) -> None:
    """List all measures, or tell all about one: formula, parameters, ties, reference."""
    say(card(find(name)) if name else overview())


def overview() -> str:
    """Return one line a measure."""
    rows = [[measure.name, _summary(measure), ", ".join(parameters(measure))] for measure in ALL]
    return (
        to_text(Table(["measure", "what it says", "parameters"], rows))
        + "\n`gradely measures NAME` tells all about one.\n"
    )


def card(measure: type[Measure]) -> str:
    """Return all about a measure: its documentation and its parameters."""
    rows = [[name, show(declared.default), declared.doc] for name, declared in parameters(measure).items()]
    return f"{measure.name}\n\n{inspect.getdoc(measure)}\n\n{to_text(Table(['parameter', 'default', 'meaning'], rows))}"


def _summary(measure: type[Measure]) -> str:
    return (inspect.getdoc(measure) or "").split("\n")[0].rstrip(".")
