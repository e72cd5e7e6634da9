"""gradely papers."""

from functools import partial
from pathlib import Path

import click

from gradely.cli.output import check_folder, say, write_file
from gradely.cli.progress import Bar
from gradely.errors import InputError
from gradely.papers import PAPERS, check_data, experiment, experiments
from gradely.papers.library import FOLDER, Library
from gradely.papers.outcome import Experiment, Outcome
from gradely.tables import Table, to_text

ALL = "all"


@click.group("papers", invoke_without_command=True)
@click.pass_context
def command(context: click.Context) -> None:
    """List the experiments of the papers that the measures come from; `papers run NAME` runs one again."""
    if context.invoked_subcommand is None:
        say(listing())


def listing() -> str:
    """Return one line an experiment, and the papers."""
    rows = [[each.name, f"{each.paper}, {each.part}", each.shows, each.wants or "-"] for each in experiments().values()]
    papers = "".join(f"{key}  {title}\n" for key, title in PAPERS.items())
    table = to_text(Table(["name", "paper", "what it shows", "data it needs"], rows))
    return f"{table}\n{papers}\n`gradely papers run NAME` runs one, `gradely papers run all` all of them.\n"


@command.command("run")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option(
    "--data",
    default=FOLDER,
    show_default=True,
    metavar="DIR",
    help="The folder with the data sets, a folder each, that `gradely papers` names.",
)
@click.option(
    "--out", default="gradely-papers", show_default=True, metavar="DIR", help="Where to leave what comes out."
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of what is drawn at random."
)
def run(names: tuple[str, ...], data: str, out: str, seed: int) -> None:
    """Run experiments by NAME, or all: numbers as CSV, figures as SVG and PNG, and a page, in a folder each."""
    from gradely.optional import stats
    from gradely.papers.pages import files, overview
    from gradely.report.page import check_installed

    chosen = list(experiments().values()) if ALL in names else [experiment(name) for name in dict.fromkeys(names)]
    library = Library(data)
    check_data(chosen, library)
    check_folder(out)
    check_installed()
    stats()
    outcomes: list[tuple[Experiment, Outcome]] = []
    for each in chosen:
        with Bar({each.name: 1}) as bar:
            outcome = each.run(library, seed, partial(bar, each.name))
            content = files(each, outcome, seed)
        _write(Path(out) / each.name, content)
        outcomes.append((each, outcome))
        say(verdicts(each, outcome, Path(out)))
    if len(outcomes) > 1:
        _write(Path(out), {"index.html": overview(outcomes).encode()})


def verdicts(each: Experiment, outcome: Outcome, out: Path) -> str:
    """Return where the page is, and each claim with its verdict, or what was found where the paper claims nothing."""
    lines = "".join(f"  {claim.verdict:<7}  {claim.text} Here: {claim.ours}\n" for claim in outcome.claims)
    return f"{each.name}: {out / each.name / 'index.html'}\n{lines or f'  {outcome.found}'}\n"


def _write(folder: Path, content: dict[str, bytes]) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made: {error.strerror}") from None
    for name, data in content.items():
        write_file(data, str(folder / name))
