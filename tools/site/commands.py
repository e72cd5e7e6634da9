"""A page per command, from what `gradely COMMAND --help` prints."""

import re

import click

from gradely.cli.main import COMMANDS, GROUPS, gradely

WIDTH = 96
"""columns of the help, which fit the page without scrolling on a desk"""


def pages() -> dict[str, str]:
    """Return the page of every command by its place on the site, and the list of all."""
    places = {f"reference/commands/{name}.md": page(name) for name in COMMANDS}
    return {"reference/commands.md": overview(), **places}


def overview() -> str:
    """Return the list of commands, by what one wants to do."""
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
    text = help_of(name)
    first, *groups = re.split(r"^(?=\S.*:\n)", text, flags=re.MULTILINE)
    if first.startswith("Usage"):
        usage, _, prose = first.partition("\n\n")
    else:
        usage, prose = first, ""
        if groups and groups[0].startswith("Usage"):
            usage, _, prose = groups.pop(0).partition("\n\n")
    paragraphs = "\n\n".join(" ".join(part.split()) for part in prose.split("\n\n") if part.strip())
    blocks = "".join(
        f"\n## {title.rstrip(':')}\n\n```text\n{body.rstrip()}\n```\n"
        for title, _, body in (group.partition("\n") for group in groups)
    )
    called = " ".join(usage.removeprefix("Usage: ").split())
    return f"# gradely {name}\n\n{COMMANDS[name]}\n\n```text\n{called}\n```\n\n{escaped(paragraphs)}\n{blocks}"


def help_of(name: str) -> str:
    """Return what the help of a command prints."""
    with click.Context(gradely, info_name="gradely", terminal_width=WIDTH, max_content_width=WIDTH) as parent:
        command = gradely.get_command(parent, name)
        assert command is not None
        with click.Context(
            command, info_name=name, parent=parent, terminal_width=WIDTH, max_content_width=WIDTH
        ) as context:
            return str(command.get_help(context))


def escaped(text: str) -> str:
    """Return prose in which no star or underscore is taken for Markdown; what stands between backticks stays."""
    parts = text.split("`")
    parts[::2] = [re.sub(r"([*_<\[])", r"\\\1", part) for part in parts[::2]]
    return "`".join(parts)
