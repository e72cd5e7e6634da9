"""gradely evaluate."""

from functools import partial
from typing import Any

import click

from gradely.cli import options
from gradely.cli.options import FILE, MEASURE, Command, InputOptions, Request, add_options, pack
from gradely.cli.output import OutputOptions, write_result
from gradely.data import Qrels, open_run
from gradely.data.selection import GradedBy, qrels_from_run
from gradely.evaluation.evaluate import evaluate_runs


def _order(sort: str | None, worst: int | None, best: int | None, against: str | None) -> dict[str, Any]:
    """Return the options as keywords of Evaluations.by_query."""
    return {"sort": sort, "worst": worst, "best": best, "baseline": against}


def query_order(command: Command) -> Command:
    """Add --sort, --worst, --best and --baseline."""
    count = click.IntRange(min=1)
    return add_options(
        pack(_order, "order", ("sort", "worst", "best", "against"), command),
        click.option(
            "--sort",
            type=MEASURE,
            metavar="MEASURE",
            help="Sort queries by this measure, worst first; implies -q.  [default: the first measure]",
        ),
        click.option("--worst", type=count, metavar="N", help="Show only the N worst queries; implies -q."),
        click.option("--best", type=count, metavar="N", help="Show only the N best queries, best first; implies -q."),
        click.option(
            "--baseline",
            "against",
            metavar="RUN",
            help="Sort queries by the difference from this run, largest losses first; implies -q.",
        ),
    )


@options.command("evaluate")
@options.measures
@click.option(
    "--qrels-from-run",
    "virtual",
    type=FILE,
    metavar="RUN",
    help="Use this run as the qrels of a virtual user who agrees with its ranking; omit QRELS.",
)
@click.option(
    "--qrels-feature",
    type=click.IntRange(min=1),
    metavar="N",
    help="Feature to use if --qrels-from-run is a LETOR file.",
)
@click.option(
    "--graded-by",
    type=click.Choice(["score", "rank"]),
    help="Labels of --qrels-from-run: its scores, or its ranks counted from the bottom.  [default: score]",
)
@click.option(
    "--levels",
    metavar="DEPTHS",
    help="Labels of --qrels-from-run by depth: 10,25,50 gives the top 10 label 3, the top 25 label 2, the top 50 "
    "label 1, and the rest 0.",
)
@options.samples
@options.settings()
@options.holes
@click.option("-q", "--per-query", is_flag=True, help="Show the values of every query.")
@query_order
@options.queries_text
@options.by_segment
@options.weights
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
    holes: bool,
    output: OutputOptions,
) -> None:
    """Evaluate RUNS against QRELS.

    Files may be TREC text, CSV, TSV, JSON, JSON Lines, Parquet or LETOR, plain or compressed; - is standard input. A
    LETOR file that holds both qrels and runs is named once, with --feature.
    """
    judgments = None
    if virtual is not None:
        judgments = virtual_qrels(virtual, graded_by, levels, request.inputs, qrels_feature)
        request = request._replace(qrels=virtual, runs=(request.qrels, *request.runs))
    elif levels is not None or graded_by is not None or qrels_feature is not None:
        raise click.UsageError(
            "--graded-by, --levels and --qrels-feature need a run to grade: name it with --qrels-from-run"
        )
    data = request.read(judgments)
    by_query = per_query or any(order.values())
    if queries_text is not None and not by_query:
        raise click.UsageError("--queries-text needs queries to show: add -q, --worst or --best")
    if by_query and holes:
        raise click.UsageError("--holes shows ranges of means; `gradely holes --format json` has those of every query")
    if by_query:
        from gradely.evaluation.by_query import QueryOrder

        QueryOrder(**order).settle(data.measures, data.runs)  # refuses a wrong name before the runs are read
    with data.bar() as bar:
        results = evaluate_runs(data.qrels, data.runs, data.measures, holes=holes, progress=bar, **request.keywords)
        results.notes_at(output.digits)  # slow to compute, so it belongs below the progress bar
    write_result(results.by_query(**order, queries_text=queries_text) if by_query else results, output)


def virtual_qrels(
    path: str, by: GradedBy | None, levels: str | None, inputs: InputOptions, feature: int | None
) -> Qrels:
    """Return the qrels of a virtual user who agrees with a run."""
    if by is not None and levels is not None:
        raise click.UsageError("--levels grades by depth, not by score or rank: leave out --graded-by")
    try:
        depths = None if levels is None else [int(depth) for depth in levels.split(",")]
    except ValueError:
        raise click.UsageError(f"--levels must be depths of the ranking, like 10,25,50; found {levels}") from None
    return qrels_from_run(partial(open_run, path, format=inputs.qrels_format, feature=feature), by, levels=depths)
