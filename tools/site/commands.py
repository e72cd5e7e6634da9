"""A page per command, from what `gradely COMMAND --help` prints."""

import inspect
import re

import click

from gradely.cli.main import COMMANDS, GROUPS, gradely

KEEP = "\b\n"
"""marks lines that click leaves unwrapped"""
WIDTH = 96
"""columns of the help, which fit the page on a desktop without scrolling"""


def pages() -> dict[str, str]:
    """Return the page of every command by its place on the site, and the list of all."""
    places = {f"reference/commands/{name}.md": page(name) for name in COMMANDS}
    return {"reference/commands.md": overview(), **places}


def overview() -> str:
    """Return the list of commands, grouped by task."""
    sections = "".join(
        f"\n## {title}\n\n"
        + "".join(f"- [`gradely {name}`](commands/{name}.md): {text}\n" for name, text in commands.items())
        for title, commands in GROUPS.items()
    )
    names = "\n".join(f"commands/{name}" for name in COMMANDS)
    return (
        "# Commands\n\nEvery command has `--help`; those that print results have `--format` and `-o`. Errors are one"
        " line, with exit code 2.\n"
        f"{sections}\n```{{toctree}}\n:hidden:\n\n{names}\n```\n"
    )


def page(name: str) -> str:
    """Return the page about a command: usage and prose, then its options, group by group."""
    usage, _, rest = help_of(name).partition("\n\n")
    groups = re.split(r"^(?=\S.*:\n)", rest, flags=re.MULTILINE)[1:]
    blocks = "".join(
        f"\n## {title.rstrip(':')}\n\n```text\n{body.rstrip()}\n```\n"
        for title, _, body in (group.partition("\n") for group in groups)
    )
    called = " ".join(usage.removeprefix("Usage: ").split())
    about = prose(command_of(name).help or "")
    return f"# gradely {name}\n\n{COMMANDS[name]}\n\n```text\n{called}\n```\n\n{about}\n{blocks}"


def prose(text: str) -> str:
    r"""Return the help of a command as Markdown; text that click leaves unwrapped becomes a block.

    >>> print(prose("Do it.\n\n\b\na = 1\nb = 2"))
    Do it.
    <BLANKLINE>
    ```text
    a = 1
    b = 2
    ```
    """
    parts = [
        f"```text\n{part.removeprefix(KEEP)}\n```" if part.startswith(KEEP) else escaped(" ".join(part.split()))
        for part in inspect.cleandoc(text).split("\n\n")
    ]
    return "\n\n".join(parts)


def command_of(name: str) -> click.Command:
    """Return a command."""
    command = gradely.get_command(click.Context(gradely), name)
    assert command is not None
    return command


def help_of(name: str) -> str:
    """Return the help of a command as it is printed."""
    with click.Context(gradely, info_name="gradely", terminal_width=WIDTH, max_content_width=WIDTH) as parent:
        command = command_of(name)
        with click.Context(
            command, info_name=name, parent=parent, terminal_width=WIDTH, max_content_width=WIDTH
        ) as context:
            return str(command.get_help(context))


def escaped(text: str) -> str:
    """Return prose with stars and underscores escaped, except between backticks."""
    parts = text.split("`")
    parts[::2] = [re.sub(r"([*_<\[])", r"\\\1", part) for part in parts[::2]]
    return "`".join(parts)
