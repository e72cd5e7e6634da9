"""gradely trec_eval."""

import os
from functools import partial
from typing import TYPE_CHECKING

import click

from gradely import __version__
from gradely.cli.output import Bar, fail, say_bytes
from gradely.trec_eval.command import help_text, trec_eval
from gradely.trec_eval.options import Options, Quit, parse

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class Verbatim(click.Command):
    """A command that parses its arguments itself, as trec_eval does."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Pass the arguments on unparsed."""
        ctx.params = {"arguments": list(args)}
        return []

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":  # noqa: ARG002 - click's signature
        """Complete names of files."""
        from click.shell_completion import CompletionItem

        return [CompletionItem(incomplete, type="file")]


@click.command("trec_eval", cls=Verbatim)
def command(arguments: list[str]) -> int:
    """Print what trec_eval prints."""
    try:
        options = parse(arguments)
        say_bytes(_output(options))
    except Quit as quit_:
        return fail(str(quit_), quit_.code, "trec_eval")
    return 0


def _output(options: Options) -> bytes:
    if options.version:
        click.echo(f"trec_eval version {options.compat}.0 (gradely {__version__})", err=True)
        return b""
    if options.help:
        return help_text(options).encode()
    size = os.path.getsize(options.run) if os.path.isfile(options.run) else 1
    with Bar({options.run: size}) as bar:
        return trec_eval(options, partial(bar, options.run))
