"""Which queries `gradely evaluate -q` shows, and in which order: the worst or the best, or the largest losses."""

from collections.abc import Mapping
from typing import NamedTuple

import click
import numpy as np

from gradely.cli.argument_types import MEASURE
from gradely.cli.options import Command, add_options, pack
from gradely.data import run_name
from gradely.data.read.sources import clip
from gradely.errors import DataError, did_you_mean
from gradely.evaluation.runs import Evaluations
from gradely.evaluation.scores import Scores
from gradely.measures import Measure
from gradely.measures.names import parse_all


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
