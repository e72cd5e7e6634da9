"""gradely evaluate."""

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

import click
import numpy as np

from gradely.cli import options
from gradely.cli.options import FILE, MEASURE, Command, InputOptions, Request, add_options, pack
from gradely.cli.output import OutputOptions, list_notes, to_json, write_results
from gradely.data import Qrels, open_run, run_name
from gradely.data.read.sources import clip
from gradely.data.selection import GradedBy, qrels_from_run
from gradely.errors import DataError, did_you_mean
from gradely.evaluation.evaluate import Evaluations, evaluate_all
from gradely.evaluation.scores import EVERY, Scores
from gradely.measures import Measure
from gradely.measures.names import parse_all
from gradely.tables import Cell, Table, render


class QueryOrder(NamedTuple):
    """Which queries of each run are shown, and in which order; all as they come where nothing is asked for."""

    sort: str | None = None
    worst: int | None = None
    best: int | None = None
    baseline: str | None = None


class QueryRow(NamedTuple):
    """A query of a run: its values, and how far it is above the baseline by the measure that sorts."""

    query: str
    values: list[float]
    difference: float | None


def query_order(command: Command) -> Command:
    """Add --sort, --worst, --best and --baseline."""
    count = click.IntRange(min=1)
    return add_options(
        pack(QueryOrder, "order", QueryOrder._fields, command),
        click.option(
            "--sort",
            type=MEASURE,
            metavar="MEASURE",
            help="With -q: sort queries by this measure, worst first.  [default: the first]",
        ),
        click.option("--worst", type=count, metavar="N", help="With -q: only the N worst queries."),
        click.option("--best", type=count, metavar="N", help="With -q: only the N best queries, best first."),
        click.option(
            "--baseline",
            metavar="RUN",
            help="With -q: sort by the difference from this one of RUNS, largest losses first.",
        ),
    )


def check_order(order: QueryOrder, measures: Mapping[str, Measure], runs: Mapping[str, object]) -> QueryOrder:
    """Return the order with the names that the results have; refuse names that they do not have."""
    if order.worst is not None and order.best is not None:
        raise click.UsageError("use --worst or --best, not both")
    sort, baseline = next(iter(measures)), order.baseline
    if order.sort is not None:
        (measure,) = parse_all([order.sort]).values()
        name = next((name for name, other in measures.items() if other == measure), None)
        if name is None:
            raise click.UsageError(f"--sort takes one of the measures that are shown: {', '.join(measures)}")
        sort = name
    if baseline is not None:
        baseline = baseline if baseline in runs else run_name(baseline)
        if baseline not in runs:
            raise DataError(f"no run {clip(baseline)} to be the baseline.{did_you_mean(baseline, runs)}")
        if len(runs) == 1:
            raise click.UsageError("give another run to compare with the baseline")
    return order._replace(sort=sort, baseline=baseline)


def order_rows(results: Evaluations, order: QueryOrder) -> dict[str, list[QueryRow]]:
    """Return the queries of each run in the order that is asked for."""
    if order.sort is None:
        return {name: [QueryRow(*row, None) for row in scores.rows()] for name, scores in results.items()}
    base = None if order.baseline is None else results[order.baseline]
    column = list(results.measures).index(order.sort)
    runs = {name: scores for name, scores in results.items() if name != order.baseline}
    return {name: _sort_queries(scores, base, column, order) for name, scores in runs.items()}


def _sort_queries(scores: Scores, base: Scores | None, column: int, order: QueryOrder) -> list[QueryRow]:
    """Return the queries of one run, by value or by difference; equal ones as they come, those without one last."""
    baseline = {} if base is None else {query: values[column] for query, values in base.rows()}
    lines = [
        QueryRow(query, values, values[column] - baseline[query] if query in baseline else None)
        for query, values in scores.rows()
    ]
    values = [line.values[column] if base is None else line.difference for line in lines]
    keys = np.round(np.asarray(values, np.float64), 12)
    places = np.argsort(-keys if order.best is not None else keys, kind="stable").tolist()
    return [lines[i] for i in places[: order.worst or order.best]]


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
