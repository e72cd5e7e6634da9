"""What commands share that look at many runs together: read the runs, do the work, show what was found."""

from collections.abc import Callable
from typing import Any, Protocol

import click

from gradely.cli.evaluate import chosen, listed
from gradely.cli.output import check_writable, write
from gradely.cli.progress import Bar
from gradely.data import read_qrels
from gradely.evaluation.scores import Note
from gradely.measures.names import parse_all
from gradely.tables import Cell, Table, render


class Found(Protocol):
    """What an experiment over many runs gives."""

    @property
    def notes(self) -> list[Note]:
        """What happened to runs and topics."""

    def summary(self) -> str:
        """Return what it is about, in a line."""

    def tables(self, digits: int) -> list[Table]:
        """Return tables for people."""

    def records(self) -> list[dict[str, Cell]]:
        """Return everything, for machines."""


def over_runs(
    work: Callable[..., Found],
    qrels: str,
    runs: tuple[str, ...],
    *,
    measures: tuple[str, ...],
    qrels_format: str | None,
    run_format: str | None,
    features: tuple[int, ...],
    ascending: bool,
    form: str,
    digits: int,
    path: str | None,
    **options: Any,
) -> None:
    """Read judgments and runs, work on them, and write what was found."""
    check_writable(path)
    names = chosen(measures, options["ties"])
    parse_all(names)
    systems = listed(qrels, runs, run_format, features, ascending=ascending)
    judgments = read_qrels(qrels, format=qrels_format, threads=options["threads"])
    with Bar(1) as bar:
        bar.begin(f"{len(systems)} runs", 1)
        found = work(judgments, {each.name: each.open() for each in systems}, names, progress=bar.show, **options)
    write(shown(found, form, digits), path)
    if form not in ("table", "json") or path not in (None, "-"):
        click.echo("".join(f"{note}\n" for note in found.notes), err=True, nl=False)


def shown(found: Found, form: str, digits: int) -> str:
    """Return what was found in a format."""
    if form == "json":
        return _as_json(found)
    if form in ("csv", "tsv"):
        return render(Table.of(found.records()), form)
    text = "\n".join(render(table, form) for table in found.tables(digits))
    below = "".join(f"{line}\n" for line in [found.summary(), *found.notes])
    return f"{text}\n{below}" if form == "table" else text


def _as_json(found: Found) -> str:
    import json

    content = {
        "about": found.summary(),
        "values": found.records(),
        "notes": [note.as_dict() for note in found.notes],
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
