"""The option --by, of commands that show means by segment."""

import click

from gradely.cli.argument_types import FILE

by_segment = click.option(
    "--by",
    type=FILE,
    metavar="COLUMN|FILE",
    help="Show means by segment: a column of the qrels, or a table of query and segment.",
)
"""adds --by, which is read with the other options of inputs: it stands above them"""
