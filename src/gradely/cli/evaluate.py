"""gradely evaluate."""

from functools import partial

import click

from gradely.cli import options
from gradely.cli.argument_types import FILE
from gradely.cli.inputs import InputOptions, Request
from gradely.cli.output import OutputOptions, list_notes, to_json, write_results
from gradely.cli.query_order import QueryOrder, QueryRow, check_order, order_rows, query_order
from gradely.data import Qrels, open_run
from gradely.data.virtual_users import GradedBy, qrels_from_run
from gradely.evaluation.runs import Evaluations, evaluate_all
from gradely.evaluation.scores import Scores
from gradely.evaluation.segments import EVERY
from gradely.measures.names import parse_all
from gradely.tables import Cell, Table, render


@click.command("evaluate")
@options.measures
@click.option(
    "--qrels-from-run",
    "virtual",
    type=FILE,
    metavar="RUN",
    help="Take this run for the qrels of a virtual user, who would rank as it does. Then name RUNS only.",
)
@click.option(
    "--qrels-feature", type=click.IntRange(min=1), help="The feature to take from --qrels-from-run, a LETOR file."
)
@click.option(
    "--graded-by",
    type=click.Choice(["score", "rank"]),
    help="What the labels of --qrels-from-run are: scores (the default), or ranks counted from the last.",
)
@click.option(
    "--levels",
    metavar="DEPTHS",
    help="Labels of --qrels-from-run by depth: 10,25,50 gives 3, 2 and 1 to the top 10, 25 and 50, 0 to the rest.",
)
@options.settings()
@click.option("-q", "--per-query", is_flag=True, help="Show every query, too.")
@query_order
@options.by_segment
@options.request
@options.output
def command(
    request: Request,
    *,
    per_query: bool,
    order: QueryOrder,
    virtual: str | None,
    qrels_feature: int | None,
    graded_by: GradedBy | None,
    levels: str | None,
    output: OutputOptions,
) -> None:
    """Measure RUNS against QRELS.

    Files may be TREC text, CSV, TSV, JSON, JSON Lines, Parquet or LETOR, plain or packed; - is standard input. A LETOR
    file that holds both qrels and runs is named once, with --feature.
    """
    judgments = None
    if virtual is not None:
        judgments = virtual_qrels(virtual, graded_by, levels, request.inputs, qrels_feature)
        request = request._replace(qrels=virtual, runs=(request.qrels, *request.runs))
    elif levels is not None or graded_by is not None or qrels_feature is not None:
        raise click.UsageError(
            "--graded-by, --levels and --qrels-feature grade a run that is named with --qrels-from-run"
        )
    data = request.read(judgments)
    named = parse_all(data.measures)
    if order != QueryOrder():
        order = check_order(order, named, data.runs)
    with data.bar() as bar:
        results = evaluate_all(data.qrels, data.runs, named, data.settings, bar)
        notes = results.notes_at(output.digits)  # what ties change takes a while, too
    text = show(results, output, order, per_query=per_query or order.sort is not None)
    write_results(text, list_notes(notes), output)


def virtual_qrels(
    path: str, by: GradedBy | None, levels: str | None, inputs: InputOptions, feature: int | None
) -> Qrels:
    """Return the qrels of a virtual user, from a run."""
    if by is not None and levels is not None:
        raise click.UsageError("--levels grades by depth instead of by score or rank: leave out --graded-by")
    try:
        depths = None if levels is None else [int(depth) for depth in levels.split(",")]
    except ValueError:
        raise click.UsageError(f"--levels are depths of the ranking, like 10,25,50; found {levels}") from None
    return qrels_from_run(partial(open_run, path, format=inputs.qrels_format, feature=feature), by, levels=depths)


def show(results: Evaluations, output: OutputOptions, order: QueryOrder, *, per_query: bool) -> str:
    """Return the results in a format."""
    if output.form == "json":
        return to_json(as_data(results, order, per_query=per_query))
    segments = results.segments_table()
    tables = [segments or means_table(results, output.form)]
    if per_query:
        below = [segments] if segments and output.form not in ("csv", "tsv") else []
        tables = [queries_table(results, output.form, order), *below]
    return "\n".join(render(table._replace(digits=output.digits), output.form) for table in tables)


def means_table(results: Evaluations, form: str) -> Table:
    """Return one row per run; a table of a single run stands upright."""
    return next(iter(results.values())).table() if form == "table" and len(results) == 1 else results.table()


def queries_table(results: Evaluations, form: str, order: QueryOrder) -> Table:
    """Return one row per run and query; where people read it, the mean over all queries last."""
    rows: list[list[Cell]] = []
    segments = results.qrels.segments is not None
    against = [] if order.baseline is None else [f"{order.sort} against {order.baseline}"]
    for name, lines in order_rows(results, order).items():
        for line in lines:
            segment = [results[name].segment_of(line.query)] if segments else []
            rows.append([name, line.query, *segment, *line.values, *([line.difference] if against else [])])
        if form not in ("csv", "tsv"):
            label = [name, "mean", *([EVERY] if segments else [])]
            rows.append([*label, *results[name].mean().values(), *_mean_difference(results, name, order)])
    return Table(["run", "query", *(["segment"] if segments else []), *results.measures, *against], rows)


def _mean_difference(results: Evaluations, name: str, order: QueryOrder) -> list[float]:
    """Return the difference of means from the baseline, where there is one."""
    if order.baseline is None:
        return []
    return [results[name][str(order.sort)] - results[order.baseline][str(order.sort)]]


def as_data(results: Evaluations, order: QueryOrder, *, per_query: bool) -> dict[str, object]:
    """Return everything as plain data, values in full."""
    rows = order_rows(results, order) if per_query else {name: list[QueryRow]() for name in results}
    runs = [
        {"run": name, "mean": results[name].mean()}
        | _segments(results[name], lines, per_query=per_query)
        | ({"queries": {line.query: _values(results, line) for line in lines}} if per_query else {})
        | {"notes": [note.as_dict() for note in results[name].notes]}
        for name, lines in rows.items()
    ]
    return {"ties": results.settings.ties, "queries": results.settings.queries, "runs": runs}


def _segments(scores: Scores, lines: list[QueryRow], *, per_query: bool) -> dict[str, object]:
    """Return the means of each segment, how many queries it has, and which are shown, as plain data."""
    if scores.segments is None:
        return {}
    data: dict[str, dict[str, object]] = {
        name: {"n": scores.segments.sizes[name], "mean": mean} for name, mean in scores.segments.items()
    }
    for name in data if per_query else ():
        data[name]["queries"] = [line.query for line in lines if scores.segment_of(line.query) == name]
    return {"segments": data}


def _values(results: Evaluations, line: QueryRow) -> dict[str, float]:
    values = dict(zip(results.measures, line.values, strict=True))
    return values if line.difference is None else values | {"difference": line.difference}
