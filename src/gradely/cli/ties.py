"""gradely ties."""

import json
from typing import Any

import click

from gradely.cli import options
from gradely.cli.evaluate import MOST, chosen, summed_up
from gradely.cli.output import check_writable, write
from gradely.cli.several import opened, read, stepping
from gradely.comparison.ties import TieSensitivity, tie_sensitivity
from gradely.tables import Table, plain_line, render


@click.command("ties")
@click.argument("qrels")
@click.argument("runs", nargs=-1)
@options.measures
@options.queries
@options.inputs
@options.threads
@options.output
def command(
    qrels: str,
    runs: tuple[str, ...],
    *,
    measures: tuple[str, ...],
    form: str,
    digits: int,
    path: str | None,
    **settings: Any,
) -> None:
    """Show what the order of tied documents decides in RUNS, and which runs change places with it."""
    check_writable(path)
    judgments, systems = read(qrels, runs, settings)
    with stepping(systems) as step:
        found = tie_sensitivity(
            judgments, opened(systems, runs), chosen(measures, "expected"), progress=step, **settings
        )
    write(as_json(found) if form == "json" else shown(found, form, digits), path)


def shown(found: TieSensitivity, form: str, digits: int) -> str:
    """Return what was found; for programs, only what each order of ties gives."""
    orders = render(found.orders_table()._replace(digits=digits), form)
    if form in ("csv", "tsv"):
        return orders
    lines = [found.caption(), *(plain_line(str(note)) for note in found.notes)]
    return "\n".join(
        [render(found.runs_table()._replace(digits=digits), form), orders, _swaps(found, form), summed_up(lines)]
    )


def _swaps(found: TieSensitivity, form: str) -> str:
    """Return the pairs that change places; of many, the first."""
    table = found.swaps_table()
    if not table.rows:
        return "No pair of runs changes places with the order of ties.\n"
    rest = len(table.rows) - MOST
    more = f"… and {rest:,} more; --format json has them all\n" if rest > 0 else ""
    many = "1 pair of runs changes" if len(table.rows) == 1 else f"{len(table.rows):,} pairs of runs change"
    title = f"{many} places with the order of ties:\n\n"
    return title + render(Table(table.header, table.rows[:MOST]), form) + more


def as_json(found: TieSensitivity) -> str:
    """Return everything, values in full."""
    content = {
        "caption": found.caption(),
        "runs": [
            {"run": run, "ties": tied._asdict() | {"share": tied.share}}
            | {"orders": {measure: order._asdict() for measure, order in orders.items()}}
            for run, tied, orders in found.runs
        ],
        "notes": [note.as_dict() for note in found.notes],
        "swaps": [swap._asdict() for swap in found.swaps],
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
