"""gradely users."""

import json
from typing import Any

import click

from gradely.cli import options
from gradely.cli.output import check_writable, write, write_file
from gradely.cli.over_runs import shown
from gradely.cli.several import opened, read, stepping
from gradely.comparison.users import UserShares, users

PICTURES = ("svg", "png")


@click.command("users")
@click.argument("qrels")
@click.argument("runs", nargs=-1)
@click.option(
    "-m",
    "--measure",
    default="eGAP",
    show_default=True,
    metavar="MEASURE",
    help="eGAP, GAP or xGAP, with a cut-off if you like.",
)
@options.ties
@options.queries
@options.inputs
@options.threads
@options.output
def command(
    qrels: str,
    runs: tuple[str, ...],
    *,
    measure: str,
    form: str,
    digits: int,
    path: str | None,
    **settings: Any,
) -> None:
    """Tell for which users which of RUNS is best.

    Users differ in the level of relevance that they are content with. A population has a share of users for each level;
    eGAP, GAP and xGAP measure a run for a population. For two levels the shares at which runs change places are exact;
    for more, the populations are those of a fine grid. With -o FILE.svg or FILE.png a chart is drawn: lines for two
    levels, a triangle for three.
    """
    check_writable(path)
    judgments, systems = read(qrels, runs, settings)
    with stepping(systems) as progress:
        found = users(judgments, opened(systems, runs), measure, progress=progress, **settings)
    kind = (path or "").rpartition(".")[2].lower()
    if kind in PICTURES:
        from gradely.comparison.charts import picture

        write_file(picture(found.chart(), kind), str(path))
        write(text_of(found, form, digits), None)
        return
    write(text_of(found, form, digits), path)


def text_of(found: UserShares, form: str, digits: int) -> str:
    """Return what was found in a format."""
    if form == "json":
        return json.dumps(found.as_dict(), indent=2, ensure_ascii=False) + "\n"
    text = shown(found, form, digits)
    return text + "".join(f"{sentence}\n" for sentence in found.sentences()) if form == "table" else text
