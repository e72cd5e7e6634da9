"""gradely evaluate."""

from functools import partial
from typing import Any

import click

from gradely.cli import options
from gradely.cli.options import FILE, MEASURE, Command, InputOptions, Request, add_options, pack
from gradely.cli.output import OutputOptions, write_result
from gradely.data import Qrels, open_run
from gradely.data.selection import GradedBy, qrels_from_run
from gradely.evaluation.evaluate import evaluate_all
from gradely.measures.names import parse_all


def query_order(command: Command) -> Command:
    """Add --sort, --worst, --best and --baseline."""
    count = click.IntRange(min=1)
    return add_options(
        pack(dict, "order", ("sort", "worst", "best", "baseline"), command),
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
@options.queries_text
@options.by_segment
@options.request
@options.output
def command(
    request: Request,
    *,
    per_query: bool,
    order: dict[str, Any],
    queries_text: str | None,
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
    by_query = per_query or any(order.values())
    if queries_text is not None and not by_query:
        raise click.UsageError("--queries-text is for queries that are shown: add -q, --worst or --best")
    if by_query:
        from gradely.evaluation.by_query import QueryOrder

        QueryOrder(**order).settle(named, data.runs)  # refuses a wrong name before the runs are read
    with data.bar() as bar:
        results = evaluate_all(data.qrels, data.runs, named, data.settings, bar)
        results.notes_at(output.digits)  # what ties change takes a while, too
    write_result(results.by_query(**order, queries_text=queries_text) if by_query else results, output)


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
