"""gradely evaluate."""

import click

from gradely.cli import options
from gradely.cli.inputs import choose_measures, read_inputs
from gradely.cli.options import InputOptions, OutputOptions
from gradely.cli.results import list_notes, to_json, write_results
from gradely.evaluation.notes import Note, merge_notes
from gradely.evaluation.runs import Evaluations, evaluate_all
from gradely.measures.names import parse_all
from gradely.settings import Settings
from gradely.tables import Cell, Table, render


@click.command("evaluate")
@click.argument("qrels")
@click.argument("runs", nargs=-1)
@options.measures
@options.settings()
@click.option("-q", "--per-query", is_flag=True, help="Show every query, too.")
@options.inputs
@options.output
def command(
    qrels: str,
    runs: tuple[str, ...],
    *,
    measures: tuple[str, ...],
    per_query: bool,
    settings: Settings,
    inputs: InputOptions,
    output: OutputOptions,
) -> None:
    """Measure RUNS against the judgments in QRELS.

    Files may be TREC text, CSV, TSV, JSON, JSON Lines, Parquet or LETOR, plain or gzip; - is standard input. A LETOR
    file that holds both qrels and runs is named once, with --feature.
    """
    named = parse_all(choose_measures(measures, settings.ties))
    given = read_inputs(qrels, runs, inputs, settings)
    with given.bar() as bar:
        results = evaluate_all(given.qrels, given.runs, named, settings, bar)
        _ = results.notes  # what ties change takes a while, too
    text = show(results, output, per_query=per_query)
    write_results(text, list_notes(visible_notes(results, output.digits)), output)


def show(results: Evaluations, output: OutputOptions, *, per_query: bool) -> str:
    """Return the results in a format."""
    if output.form == "json":
        return to_json(as_data(results, per_query=per_query))
    table = queries_table(results, output.form) if per_query else means_table(results, output.form)
    return render(table._replace(digits=output.digits), output.form)


def means_table(results: Evaluations, form: str) -> Table:
    """Return one row per run; a table of a single run stands upright."""
    return next(iter(results.values())).table() if form == "table" and len(results) == 1 else results.table()


def queries_table(results: Evaluations, form: str) -> Table:
    """Return one row per run and query; where people read it, the mean last."""
    rows: list[list[Cell]] = []
    for name, scores in results.items():
        rows += [[name, query, *values] for query, values in scores.rows()]
        if form not in ("csv", "tsv"):
            rows.append([name, "mean", *scores.mean().values()])
    return Table(["run", "query", *results.measures], rows)


def visible_notes(results: Evaluations, digits: int) -> list[Note]:
    """Return the notes, without the ranges whose ends are the same where they are printed."""
    hidden = {
        str(span) for scores in results.values() for span in scores.tie_ranges if not span.is_visible(min(digits, 4))
    }
    return merge_notes(
        {name: [note for note in scores.notes if note.text not in hidden] for name, scores in results.items()}
    )


def as_data(results: Evaluations, *, per_query: bool) -> dict[str, object]:
    """Return everything as plain data, values in full."""
    runs = [
        {"run": name, "mean": scores.mean()}
        | ({"queries": scores.per_query()} if per_query else {})
        | {"notes": [note.as_dict() for note in scores.notes]}
        for name, scores in results.items()
    ]
    return {"ties": results.settings.ties, "queries": results.settings.queries, "runs": runs}
