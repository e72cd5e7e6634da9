"""The command `gradely`: it loads subcommands when they are used, and prints one clear line for every error."""

import importlib
import os
import re
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

import click

from gradely import __version__
from gradely.cli.output import fail, open_streams
from gradely.errors import GradelyError, did_you_mean

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

GROUPS = {
    "Measure": {
        "evaluate": "Evaluate runs against qrels.",
        "explain": "Explain a value rank by rank.",
        "ties": "Show how much the order of tied documents matters.",
        "measures": "List all measures, or describe one.",
        "phi": "Show the relevance function of nDCGφ.",
    },
    "Compare": {
        "compare": "Compare runs: tests, intervals, effect sizes.",
        "suite": "Compare systems on several collections.",
        "gate": "Fail if a run is worse than its baseline.",
        "plan": "Plan how many queries a comparison needs.",
        "overlap": "Show how similar runs are, without judgments.",
        "correlate": "Correlate measures by how they rank runs.",
        "users": "Find the best run for each kind of user.",
        "report": "Write an interactive HTML page.",
        "plot": "Draw a figure for a paper.",
    },
    "Judgments": {
        "judges": "Compare judges: their agreement and its effect on results.",
        "holes": "Show what unjudged documents could change.",
        "estimate": "Combine a few human labels with many from a judge.",
        "sample": "Sample queries for people to judge.",
        "check": "Find errors and likely mistakes in the data.",
        "pools": "Correlate rankings from full and smaller pools.",
    },
    "Tools": {
        "demo": "Create a small collection and evaluate it.",
        "papers": "Repeat the experiments of the papers.",
        "trec_eval": "Stand in for trec_eval, with its options and output.",
        "completion": "Print a script for shell completion.",
    },
}
"""the commands by purpose, each with a line of help"""
COMMANDS = {name: text for commands in GROUPS.values() for name, text in commands.items()}


COMPLETION = "_GRADELY_COMPLETE"
"""the variable that shells set to request completions: bash_complete, zsh_complete or fish_complete"""


class Commands(click.Group):
    """Subcommands that are imported when they are called, so that `gradely --version` is instant."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Return a subcommand."""
        if name not in COMMANDS:
            if ctx.resilient_parsing:
                return None
            raise click.UsageError(f"no command {name!r}.{did_you_mean(name, COMMANDS)}", ctx)
        command: click.Command = importlib.import_module(f"gradely.cli.{name}").command
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """Complete the names of subcommands without importing them, and options."""
        from click.shell_completion import CompletionItem

        names = [CompletionItem(name, help=text) for name, text in COMMANDS.items() if name.startswith(incomplete)]
        return names + click.Command.shell_complete(self, ctx, incomplete)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        """Write the list of subcommands without importing them."""
        for title, commands in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(max(map(len, COMMANDS))), text) for name, text in commands.items()])


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Measure ranking quality, with graded relevance and exact handling of ties. "
    "Try `gradely demo`, then `gradely evaluate QRELS RUN`.",
)
@click.version_option(__version__, prog_name="gradely", message="%(prog)s %(version)s")
@click.pass_context
def gradely(context: click.Context) -> None:
    """Run a subcommand, or show the list of all."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


class Terminated(BaseException):
    """Raised by a signal that asks the program to end; its argument is the number of the signal."""


def start(command: tuple[str, ...]) -> NoReturn:
    """Run the command line, or a single command, and exit with its exit code."""
    sys.setswitchinterval(0.00005)  # a waiting thread takes over soon: array operations on small runs are short
    open_streams()
    _listen()
    if COMPLETION in os.environ:
        from gradely.cli.completion import complete

        code = complete(os.environ[COMPLETION])
    else:
        code = run([*command, *expand(sys.argv[1:])])
    with suppress(OSError):
        sys.stderr.flush()
    os._exit(code)  # tearing modules down takes longer than evaluating a small run


def expand(words: list[str]) -> list[str]:
    """Return the words of a command line; on Windows, whose shells do not expand patterns, with patterns expanded."""
    if sys.platform != "win32":
        return words
    from glob import glob

    return [path for word in words for path in (sorted(glob(word)) if set(word) & set("*?") else []) or [word]]


def _listen() -> None:
    """Let signals raise exceptions, so that commands clean up; signals that are ignored stay ignored."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _terminate)


def _terminate(number: int, _frame: object) -> NoReturn:
    raise Terminated(number)


def run(arguments: list[str]) -> int:
    """Run a command; return its exit code: 0, or 2 after one line on standard error."""
    try:
        with gradely.make_context("gradely", list(arguments), obj=tuple(arguments)) as context:
            result = gradely.invoke(context)
        if sys.stdout is not None:
            sys.stdout.flush()
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.ClickException as error:
        return fail(_usage(error))
    except (click.Abort, KeyboardInterrupt):
        return fail("interrupted", code=130)
    except Terminated as signalled:
        return fail("terminated", code=128 + signalled.args[0])
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return fail("standard output was closed early")
    except MemoryError:
        return fail("not enough memory")
    except OSError as error:
        return fail(f"{error.filename or 'input or output'}: {error.strerror or error}")
    except GradelyError as error:  # anything else is a bug and shows its traceback
        return fail(re.sub(r"(?<=\w)\.$", "", str(error)))  # no line ends in a period
    return result if isinstance(result, int) else 0


def _usage(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    hint = f" (see {context.command_path} --help)" if context else ""
    message = error.format_message().rstrip(".")
    kind = re.search(r"a valid (integer|float)( range)?$", message)
    if kind is not None:  # Click's names of types
        message = message[: kind.start()] + {"integer": "a whole number", "float": "a number"}[kind[1]]
    return message + hint
