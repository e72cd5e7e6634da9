"""gradely papers: the command of the distribution gradely-papers, or a hint how to install it."""

from importlib.metadata import entry_points

import click

from gradely.errors import GradelyError
from gradely.install import install_papers


def find() -> click.Command:
    """Return the command that gradely-papers registers, or one that says how to install it."""
    for entry in entry_points(group="gradely.commands", name="papers"):
        command: click.Command = entry.load()
        return command
    return absent


@click.command("papers", context_settings={"ignore_unknown_options": True}, add_help_option=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def absent(arguments: tuple[str, ...]) -> None:  # noqa: ARG001 - the message does not depend on them
    """Say how to install the experiments of the papers."""
    raise GradelyError(f"the experiments of the papers are not installed: {install_papers()}")


command = find()
