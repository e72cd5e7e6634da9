"""gradely ties."""

from functools import partial

import click

from gradely.cli import options
from gradely.cli.options import MEASURE, Request
from gradely.cli.output import MOST, OutputOptions, list_notes, to_json, write_results
from gradely.comparison.ties import TieSensitivity, tie_sensitivity
from gradely.tables import render


@click.command("ties")
@partial(options.measures, kind=MEASURE, more="")
@options.settings("queries", "judged_only", "threads")
@options.request
@options.output
def command(request: Request, *, output: OutputOptions) -> None:
    """Show what the order of tied documents decides in RUNS, and which runs change places with it."""
    data, settings = request.read(), request.settings
    with data.bar() as bar:
        ties = tie_sensitivity(
            data.qrels,
            data.runs,
            data.measures,
            queries=settings.queries,
            judged_only=settings.judged_only,
            threads=settings.threads,
            progress=bar,
        )
    write_results(show(ties, output), list_notes([ties.caption(), *ties.notes]), output)


def show(ties: TieSensitivity, output: OutputOptions) -> str:
    """Return what was found; for programs, only what each order of ties gives."""
    form, digits = output.form, output.digits
    if form == "json":
        return to_json(as_data(ties))
    orders = render(ties.orders_table()._replace(digits=digits), form)
    if form in ("csv", "tsv"):
        return orders
    return "\n".join([render(ties.runs_table()._replace(digits=digits), form), orders, show_swaps(ties, form)])


def show_swaps(ties: TieSensitivity, form: str) -> str:
    """Return the pairs of runs that change places; of many, the first."""
    table = ties.swaps_table()
    if not table.rows:
        return "No pair of runs changes places with the order of ties.\n"
    rest = len(table.rows) - MOST
    more = f"… and {rest:,} more; --format json has them all\n" if rest > 0 else ""
    return f"{ties.count_swaps()}:\n\n" + render(table._replace(rows=table.rows[:MOST]), form) + more


def as_data(ties: TieSensitivity) -> dict[str, object]:
    """Return everything as plain data, values in full."""
    return {
        "caption": ties.caption(),
        "runs": [
            {"run": run, "ties": tied._asdict() | {"share": tied.share}}
            | {"orders": {measure: order._asdict() for measure, order in orders.items()}}
            for run, tied, orders in ties.runs
        ],
        "notes": [note.as_dict() for note in ties.notes],
        "swaps": [swap._asdict() for swap in ties.swaps],
    }
