"""Options that several commands share."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from gradely.data.read.inputs import FORMATS as INPUTS
from gradely.evaluation.evaluate import DEFAULT
from gradely.settings import PRECISIONS, QUERIES, TIES
from gradely.tables import FORMATS, SAFE
from gradely.threads import at_most

Command = TypeVar("Command", bound=Callable[..., Any])


def measures(command: Command) -> Command:
    """-m, as often as one likes."""
    return click.option(
        "-m",
        "--measure",
        "measures",
        multiple=True,
        metavar="MEASURE",
        help="A measure, like nDCG@10 or 'AP(rel=2)'; repeat for more. 'all': every measure that takes --ties. "
        f"[default: {', '.join(DEFAULT)}]",
    )(command)


def ties(command: Command) -> Command:
    """--ties, --seed and --precision."""
    command = click.option(
        "--precision",
        type=click.Choice(list(PRECISIONS)),
        default="double",
        show_default=True,
        help=explained(PRECISIONS),
    )(command)
    command = click.option(
        "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of what is drawn at random."
    )(command)
    return click.option(
        "--ties", type=click.Choice(list(TIES)), default="expected", show_default=True, help=explained(TIES)
    )(command)


def queries(command: Command) -> Command:
    """--queries and --judged-only."""
    command = judged_only(command)
    return click.option(
        "--queries", type=click.Choice(list(QUERIES)), default="qrels", show_default=True, help=explained(QUERIES)
    )(command)


def judged_only(command: Command) -> Command:
    """--judged-only."""
    return click.option("--judged-only", is_flag=True, help="Drop unjudged documents from the runs first.")(command)


def inputs(command: Command) -> Command:
    """How to read the files."""
    command = click.option(
        "--ascending", is_flag=True, help="Low values of --feature are best, as where features are ranks."
    )(command)
    command = click.option(
        "--feature",
        "features",
        type=click.IntRange(min=1),
        multiple=True,
        help="Of a LETOR file: the feature to rank by; repeat for more.",
    )(command)
    command = click.option(
        "--run-format", type=click.Choice(INPUTS), help="Format of the runs; told by name and content otherwise."
    )(command)
    return click.option(
        "--qrels-format", type=click.Choice(INPUTS), help="Format of the judgments; told by name and content otherwise."
    )(command)


def threads(command: Command) -> Command:
    """--threads."""
    return click.option(
        "--threads",
        type=click.IntRange(min=1),
        callback=lambda _context, _parameter, number: None if number is None else at_most(number),
        help="How many threads read a run; by default as many as there are processors. Results do not depend on it.",
    )(command)


def output(command: Command, digits: int = 4) -> Command:
    """--format, --digits, --safe-csv and -o."""
    command = click.option(
        "--safe-csv",
        is_flag=True,
        expose_value=False,
        callback=lambda _context, _parameter, safe: SAFE.set(safe),
        help="In csv and tsv, put ' before text that a spreadsheet would take for a formula: = + - @ at its beginning.",
    )(command)
    command = click.option(
        "-o", "--output", "path", metavar="FILE", help="Write to a file instead of standard output."
    )(command)
    command = click.option(
        "--digits",
        type=click.IntRange(0, 17),
        default=digits,
        show_default=True,
        help="Decimals in table, markdown and latex; the others show all.",
    )(command)
    return click.option(
        "--format",
        "form",
        type=click.Choice([*FORMATS, "json"]),
        default="table",
        show_default=True,
        help="Format of the output.",
    )(command)


def explained(known: dict[str, str]) -> str:
    """Return choices and what they mean, as a help text."""
    return " ".join(f"{name}: {meaning}." for name, meaning in known.items())
