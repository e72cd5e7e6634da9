"""The command `gradely papers`, which gradely finds by the entry point in pyproject.toml."""

import os
from functools import partial
from pathlib import Path

import click

from gradely import InputError
from gradely.cli import options
from gradely.cli.output import Bar, make_folder, say, write_file
from gradely.tables import Table, plain_line, to_text
from gradely_papers import PAPERS, check_data, experiment, experiments, results
from gradely_papers.experiment import FOLDER, Experiment, Library, Outcome
from gradely_papers.results import Entry, enter, leave_out, markdown, read_record, to_csv

ALL = "all"
WIDTH = 150
"""width of the table of claims where standard output is no terminal"""
SHARES = {"where": 2, "the paper says": 4, "its number": 3, "data": 4, "here": 6}
"""how the columns that wrap share the width"""


@click.group("papers", invoke_without_command=True)
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "csv", "markdown"]),
    default="table",
    show_default=True,
    help="Format of the output; csv and markdown have the claims alone.",
)
@click.pass_context
def papers(context: click.Context, form: str) -> None:
    """List the experiments of the papers that the measures come from, and every claim with its recorded verdict.

    `papers run NAME` runs an experiment again.
    """
    if context.invoked_subcommand is None:
        entries = read_record()
        forms = {"csv": to_csv, "markdown": markdown}
        say(forms[form](entries) if form in forms else f"{listing()}\n{RECORDED}\n\n{claims(entries)}")


RECORDED = "The claims of the papers, as they came out on public data (`gradely papers run all`, seed 0):"


def listing() -> str:
    """Return one line for each experiment, and the papers."""
    rows = [
        [entry.name, f"{entry.paper}, {entry.part}", entry.shows, entry.required_data or "-"]
        for entry in experiments().values()
    ]
    titles = "".join(f"{key}  {title}\n" for key, title in PAPERS.items())
    table = to_text(Table(["name", "paper", "what it shows", "data it needs"], rows))
    return f"{table}\n{titles}\n`gradely papers run NAME` runs one, `gradely papers run all` all of them.\n"


def claims(entries: list[Entry]) -> str:
    """Return one table over all papers, its cells wrapped to the width of the terminal, and the counts below."""
    import io
    import shutil
    import sys

    from rich import box
    from rich.console import Console
    from rich.table import Table as Wrapped
    from rich.text import Text

    source = results.tabulate_claims(entries)
    table = Wrapped(box=box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False, expand=True)
    for name in source.header:
        table.add_column(name, ratio=SHARES.get(name), no_wrap=name in ("paper", "verdict"), overflow="fold")
    for row in source.cells()[1:]:
        table.add_row(*(Text(plain_line(cell)) for cell in row))
    out = io.StringIO()
    width = shutil.get_terminal_size((WIDTH, 24)).columns if sys.stdout.isatty() else WIDTH
    Console(file=out, width=max(width, 100), color_system=None).print(table)
    lines = "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())
    return f"{lines}{to_text(results.count(entries))}"


def _complete_names(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    return [name for name in (*experiments(), ALL) if name.startswith(incomplete)]


@papers.command("run")
@click.argument("names", nargs=-1, required=True, metavar="NAME...", shell_complete=_complete_names)
@click.option(
    "--data",
    default=FOLDER,
    show_default=True,
    type=options.FOLDER,
    metavar="DIR",
    help="The folder that holds the data sets, each in a folder named as `gradely papers` names it.",
)
@click.option(
    "--out",
    default="gradely-papers",
    show_default=True,
    type=options.FOLDER,
    metavar="DIR",
    help="The folder to write to.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Random seed.")
def run(names: tuple[str, ...], data: str, out: str, seed: int) -> None:
    """Run experiments by NAME, or all: numbers as CSV, figures as SVG and PNG, and a page, each in its folder.

    `all` skips an experiment whose libraries are not installed, or whose data is neither public nor there, and says so.
    """
    from gradely.lazy import stats
    from gradely.report.page import check_installed

    library = Library(data)
    selection, absent = choose(names, library)
    check_data(selection, library)
    for entry in absent:
        say(f"{entry.name} is skipped: {entry.skip_reason}\n")
    check_folder(out)
    check_installed()
    stats()
    outcomes = [(experiment, run_one(experiment, library, seed, Path(out))) for experiment in selection]
    entries = [*enter(outcomes), *(entry for experiment in absent for entry in leave_out(experiment))]
    if len(outcomes) > 1:
        _write(
            Path(out),
            {"index.html": results.overview(outcomes, entries).encode(), "claims.csv": to_csv(entries).encode()},
        )
    say(claims(entries) if entries else "")


def check_folder(path: str) -> None:
    """Raise now, before long work, where a folder cannot be made or written to."""
    folder = os.path.abspath(path)
    while not os.path.exists(folder):
        folder = os.path.dirname(folder)
    if not os.path.isdir(folder):
        raise InputError(f"{path}: cannot be written: {folder} is a file; name a folder")
    if not os.access(folder, os.W_OK):
        raise InputError(f"{path}: cannot be written: no permission in {folder}")


def choose(names: tuple[str, ...], library: Library) -> tuple[list[Experiment], list[Experiment]]:
    """Return the experiments that are meant, and those that `all` leaves out for lack of data or libraries."""
    if ALL not in names:
        return [experiment(name) for name in dict.fromkeys(names)], []
    every = list(experiments().values())
    absent = [
        entry for entry in every if entry.missing_libraries or (entry.optional and library.find_missing(entry.needs))
    ]
    return [entry for entry in every if entry not in absent], absent


def run_one(entry: Experiment, library: Library, seed: int, out: Path) -> Outcome:
    """Run an experiment, leave what came out in its folder, and say where."""
    with Bar({entry.name: 1}) as bar:
        outcome = entry.run(library, seed, partial(bar, entry.name))
        content = results.files(entry, outcome, seed)
    _write(out / entry.name, content)
    say(f"{entry.name}: {out / entry.name / 'index.html'}\n")
    say("".join(f"  {observation.question} {observation.answer}\n" for observation in outcome.observations))
    return outcome


def _write(folder: Path, content: dict[str, bytes]) -> None:
    make_folder(folder)
    for name, data in content.items():
        write_file(data, str(folder / name))
