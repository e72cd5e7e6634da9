"""The command `gradely papers`, which gradely finds by the entry point in pyproject.toml."""

import os
import shutil
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from textwrap import wrap

import click

from gradely import InputError
from gradely.cli import options
from gradely.cli.output import Bar, make_folder, say, terminal_width, write_file
from gradely.errors import GradelyError
from gradely.parallel import can_fork, cores, in_processes
from gradely.tables import Table, fill, plain_line, to_text
from gradely_papers import PAPERS, check_data, experiment, experiments, misprints, results
from gradely_papers.documents import document
from gradely_papers.experiment import CLAIM, FOLDER, THEOREM, Assessment, Experiment, Library
from gradely_papers.index import find_places, read_place, select_place
from gradely_papers.progress import Report, ignore
from gradely_papers.results import Found, by_claim, count, of_kind, read_record, to_csv
from gradely_papers.verdicts import MARKS

ALL = "all"
WIDTH = 100
"""the width if standard output is not a terminal"""


@click.group("papers", invoke_without_command=True)
@click.pass_context
def papers(context: click.Context) -> None:
    """List the experiments of the papers that introduced the measures, with counts of verdicts on their claims.

    `papers claims` shows every claim with its recorded verdicts, and `papers run NAME` repeats an experiment.
    """
    if context.invoked_subcommand is None:
        width = terminal_width()
        counts = to_text(count(read_record())._replace(width=width))
        say(f"{listing(width)}\n{fill(RECORDED, width)}\n\n{counts}\n{fill(HINTS, width)}\n")


RECORDED = "Recorded verdicts on the papers' claims, on public data (`gradely papers run all`, seed 0):"
HINTS = """\
`gradely papers claims [PAPER]` shows each claim with its criterion, our numbers and the verdicts, and
`gradely papers claims F14 table 2` shows everything about one figure, table, section or equation.
`gradely papers run NAME --data DIR` repeats an experiment, and `gradely papers run all --data DIR` repeats all."""


def listing(width: int | None = None) -> str:
    """Return the list of papers, a line for each experiment, and the data that they need, fitted to `width`."""
    every = experiments().values()
    rows = [[entry.name, entry.part, entry.shows] for entry in every]
    data = dict.fromkeys(entry.required_data for entry in every if entry.required_data)
    needs = "".join(
        f"{line}\n"
        for needed in data
        for line in _wrap(f"{', '.join(entry.name for entry in every if entry.required_data == needed)}: {needed}", 0)
    )
    titles = "".join(f"{fill(f'{key}  {title}', width)}\n" for key, title in PAPERS.items())
    table = to_text(Table(["name", "part", "what it shows"], rows, width=width))
    return f"{titles}\n{table}\nRequired data:\n{needs}"


@papers.command("claims")
@click.argument("paper", required=False, type=click.Choice([*PAPERS], case_sensitive=False))
@click.argument("place", nargs=-1)
@click.option(
    "--format",
    "form",
    type=options.FormatType(["text", "csv", "markdown"]),
    default="text",
    show_default=True,
    help="Format of the output.",
)
def claims(paper: str | None, place: tuple[str, ...], form: str) -> None:
    """Show the claims of all papers, or of one PAPER.

    Each claim is shown with its criterion and its recorded verdicts.

    PLACE is a figure, table, section or equation of the paper, such as `table 2`. The command then shows its
    definitions, experiments with tables and figures, misprints and claims.
    """
    chosen = [paper] if paper else [*PAPERS]
    entries = [entry for entry in read_record() if entry.paper in chosen]
    if paper and place:
        if form != "text":
            raise InputError(f"one place of a paper is always shown as text: omit --format {form}")
        say(show_place(paper, " ".join(place), entries))
    elif form == "csv":
        say(to_csv(entries))
    elif form == "markdown":
        say("\n".join(document(each, entries) for each in chosen))
    else:
        say(f"{show(entries)}{''.join(map(show_misprints, chosen))}")


def show_place(paper: str, typed: str, entries: list[Assessment]) -> str:
    """Return the entries of one place of a paper, claims last."""
    places, name = find_places(paper, entries), read_place(typed)
    found = select_place(places, name)
    if not found:
        raise InputError(f"no entry for {typed!r} of {paper}; the places are {', '.join(places)}")
    others = (
        f"{paper} {place}: {thing.text}" for place, things in found.items() for thing in things if not thing.claim
    )
    head = "".join(f"{line}\n" for text in others for line in _wrap(text, 0)).replace("`", "")
    body = show(list(dict.fromkeys(entry for things in found.values() for thing in things for entry in thing.claim)))
    return "\n".join(filter(None, (head, body)))


def show(entries: list[Assessment]) -> str:
    """Return the claims, wrapped to the width of the terminal, followed by the counts."""
    lines = []
    for kind in (CLAIM, THEOREM):
        for group in by_claim(of_kind(entries, kind)):
            lines += [*_describe(group), ""]
    return "".join(f"{line}\n" for line in lines) + (to_text(count(entries)) if entries else "")


def _describe(group: list[Assessment]) -> Iterator[str]:
    first = group[0]
    kind = "theorem or construction, " if first.kind == THEOREM else ""
    yield from _wrap(f"{first.paper} {first.where} ({kind}{first.experiment}): {first.claim}", 0)
    if first.quote:
        yield from _wrap(f"“{first.quote}”", 2)
    yield from _wrap(f"the paper: {first.printed}", 2)
    yield from _wrap(f"criterion: {first.criterion}", 2)
    for entry in group:
        found = ": ".join(filter(None, (entry.data, entry.here)))
        yield from _wrap(f"{MARKS[entry.verdict]} {entry.verdict}: {found}", 2)


def show_misprints(paper: str) -> str:
    """Return the misprints of a paper, or an empty string if there are none."""
    texts = (f"{paper} {where} prints {printed}. Correct: {right}." for where, printed, right in misprints(paper))
    lines = [line for text in texts for line in _wrap(text, 0)]
    return "".join(f"{line}\n" for line in ["", f"Misprints in {paper}:", *lines]) if lines else ""


def _wrap(text: str, indent: int) -> list[str]:
    width = shutil.get_terminal_size((WIDTH, 24)).columns if sys.stdout.isatty() else WIDTH
    hanging = " " * (indent + 2)
    return wrap(
        plain_line(text),
        max(width, 60),
        initial_indent=" " * indent,
        subsequent_indent=hanging,
        break_on_hyphens=False,
    )


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
    help="The folder with the data sets, each in a folder with its name in `gradely papers`.",
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
    """Repeat experiments by NAME, or all.

    Each experiment writes a page, tables as CSV, and figures as SVG and PNG to a folder of its own. `all` reports and
    skips experiments that lack a library or readable data.
    """
    from gradely.report.page import check_installed

    library = Library(data)
    selection, absent = choose(names, library)
    check_folder(out)
    check_installed()
    if ALL in names:
        found = run_several(selection, library, seed, Path(out))
        absent |= {entry: each.failure for entry, each in found.items() if each.failure}
    else:
        found = {entry: run_one(entry, library, seed, Path(out)) for entry in selection}
    outcomes = [(entry, found[entry]) for entry in selection if not found[entry].failure]
    for entry, reason in absent.items():
        say(f"{entry.name} is skipped: {reason}\n")
    entries = [
        *(row for _, each in outcomes for row in each.entries),
        *(left for entry, reason in absent.items() for left in entry.leave_out(reason)),
    ]
    if len(outcomes) > 1:
        _write(
            Path(out),
            {"index.html": results.overview(outcomes, entries).encode(), "claims.csv": to_csv(entries).encode()},
        )
        say(f"\nall claims: {Path(out) / 'index.html'}\n{to_text(count(entries))}")
    else:
        say(show(entries))


def check_folder(path: str) -> None:
    """Raise an error before long work if a folder cannot be created or written to."""
    folder = os.path.abspath(path)
    while not os.path.exists(folder):
        folder = os.path.dirname(folder)
    if not os.path.isdir(folder):
        raise InputError(f"{path}: cannot be written: {folder} is a file; name a folder")
    if not os.access(folder, os.W_OK):
        raise InputError(f"{path}: cannot be written: no permission in {folder}")


def choose(names: tuple[str, ...], library: Library) -> tuple[list[Experiment], dict[Experiment, str]]:
    """Return the selected experiments, and the reason for each one that `all` skips."""
    if ALL not in names:
        selection = [experiment(name) for name in dict.fromkeys(names)]
        check_data(selection, library)
        return selection, {}
    every = experiments().values()
    absent = {
        entry: entry.skip_reason for entry in every if entry.missing_libraries or library.find_missing(entry.needs)
    }
    return [entry for entry in every if entry not in absent], absent


def run_one(entry: Experiment, library: Library, seed: int, out: Path) -> Found:
    """Run an experiment with a progress bar, and print what it found."""
    with Bar({entry.name: 1}) as bar:
        found = carry_out(entry, library, seed, out, partial(bar, entry.name))
    tell(entry, found, out)
    return found


def run_several(selection: list[Experiment], library: Library, seed: int, out: Path) -> dict[Experiment, Found]:
    """Run one experiment per processor at a time, and those that measure time alone at the end.

    If the data of an experiment cannot be read, the others still run.
    """
    together = [entry for entry in selection if not entry.timed] if can_fork() else []
    found: dict[Experiment, Found] = {}

    def work(number: int) -> bytes:
        return attempt(together[number], library, seed, out).to_bytes()

    def finished() -> Iterator[tuple[Experiment, Found]]:
        for number, content in in_processes(work, len(together), cores()):
            yield together[number], Found.from_bytes(content)
        for entry in selection:
            if entry not in together:
                yield entry, attempt(entry, library, seed, out)

    with Bar({entry.name: 1 for entry in selection}) as bar:
        for entry, each in finished():
            bar(entry.name, 1)
            found[entry] = each
            if not each.failure:
                tell(entry, each, out)
    return found


def attempt(entry: Experiment, library: Library, seed: int, out: Path) -> Found:
    """Run an experiment, or return the reason if it fails."""
    try:
        return carry_out(entry, library, seed, out, ignore)
    except (GradelyError, OSError) as error:
        return Found([], [], {}, str(error))
    except Exception as error:  # noqa: BLE001 - any failure of one experiment must not stop the others
        return Found([], [], {}, f"{type(error).__name__}: {error}")


def carry_out(entry: Experiment, library: Library, seed: int, out: Path, progress: Report) -> Found:
    """Run an experiment, and write its tables, figures and page to its folder."""
    outcome = entry.run(library, seed, progress)
    _write(out / entry.name, results.files(entry, outcome, seed))
    return Found.of(outcome)


def tell(entry: Experiment, found: Found, out: Path) -> None:
    """Print the path of the page, the data that was skipped, and the observations."""
    say(f"{entry.name}: {out / entry.name / 'index.html'}\n")
    say("".join(f"  {name} is skipped: {reason}\n" for name, reason in found.skipped.items()))
    say("".join(f"  {observation.question} {observation.answer}\n" for observation in found.observations))


def _write(folder: Path, content: dict[str, bytes]) -> None:
    make_folder(folder)
    for name, data in content.items():
        write_file(data, str(folder / name))
