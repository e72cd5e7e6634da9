"""gradely evaluate."""

from functools import partial

import click

from gradely.cli import options
from gradely.cli.argument_types import FILE
from gradely.cli.inputs import Inputs, choose_measures, list_runs, read_inputs
from gradely.cli.options import InputOptions, OutputOptions
from gradely.cli.results import list_notes, to_json, write_results
from gradely.cli.segments import segments_data, segments_table, with_segments
from gradely.data import Qrels, open_run
from gradely.data.virtual_users import GradedBy, qrels_from_run
from gradely.evaluation.evaluations import Evaluations
from gradely.evaluation.notes import Note, merge_notes
from gradely.evaluation.runs import evaluate_all
from gradely.measures.names import parse_all
from gradely.settings import Settings
from gradely.tables import Cell, Table, render


@click.command("evaluate")
@click.argument("qrels", type=FILE)
@click.argument("runs", nargs=-1, type=FILE)
@options.measures
@click.option(
    "--qrels-from-run",
    "virtual",
    metavar="RUN",
    help="Take a run for the qrels of a virtual user, who would rank as it does; name only RUNS then.",
)
@click.option(
    "--qrels-feature", type=click.IntRange(min=1), help="The feature of a LETOR file that --qrels-from-run is."
)
@click.option(
    "--graded-by",
    type=click.Choice(["score", "rank"]),
    default="score",
    show_default=True,
    help="What the labels of --qrels-from-run are: scores, or ranks counted from the last.",
)
@click.option(
    "--levels",
    metavar="DEPTHS",
    help="Labels of --qrels-from-run by depth: 10,25,50 gives 3, 2 and 1 to the top 10, 25 and 50, 0 to the rest.",
)
@options.settings()
@click.option("-q", "--per-query", is_flag=True, help="Show every query, too.")
@click.option(
    "--by", metavar="COLUMN|FILE", help="Show means by segment: a column of the qrels, or a table of query and segment."
)
@options.inputs
@options.output
def command(
    qrels: str,
    runs: tuple[str, ...],
    *,
    measures: tuple[str, ...],
    per_query: bool,
    by: str | None,
    virtual: str | None,
    qrels_feature: int | None,
    graded_by: GradedBy,
    levels: str | None,
    settings: Settings,
    inputs: InputOptions,
    output: OutputOptions,
) -> None:
    """Measure RUNS against the judgments in QRELS.

    Files may be TREC text, CSV, TSV, JSON, JSON Lines, Parquet or LETOR, plain or gzip; - is standard input. A LETOR
    file that holds both qrels and runs is named once, with --feature.
    """
    named = parse_all(choose_measures(measures, settings.ties))
    if virtual is None:
        if levels is not None or graded_by != "score" or qrels_feature is not None:
            wanted = "--graded-by, --levels and --qrels-feature grade a run that is named with --qrels-from-run"
            raise click.UsageError(wanted)
        given = read_inputs(qrels, runs, inputs, settings)
    else:
        judgments = virtual_qrels(virtual, graded_by, levels, inputs, qrels_feature)
        given = Inputs(judgments, *list_runs(virtual, (qrels, *runs), inputs))
    if by is not None:
        given = given._replace(qrels=with_segments(given.qrels, by, qrels, inputs.columns))
    with given.bar() as bar:
        results = evaluate_all(given.qrels, given.runs, named, settings, bar)
        _ = results.notes  # what ties change takes a while, too
    text = show(results, output, per_query=per_query)
    write_results(text, list_notes(visible_notes(results, output.digits)), output)


def virtual_qrels(path: str, by: GradedBy, levels: str | None, inputs: InputOptions, feature: int | None) -> Qrels:
    """Return the qrels of a virtual user, from a run."""
    try:
        depths = None if levels is None else [int(depth) for depth in levels.split(",")]
    except ValueError:
        raise click.UsageError(f"--levels are depths of the ranking, like 10,25,50; found {levels}") from None
    return qrels_from_run(partial(open_run, path, format=inputs.qrels_format, feature=feature), by, levels=depths)


def show(results: Evaluations, output: OutputOptions, *, per_query: bool) -> str:
    """Return the results in a format."""
    if output.form == "json":
        return to_json(as_data(results, per_query=per_query))
    if per_query:
        table = queries_table(results, output.form)
    elif results.qrels.segments is not None:
        table = segments_table(results)
    else:
        table = means_table(results, output.form)
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
        | segments_data(scores)
        | ({"queries": scores.per_query()} if per_query else {})
        | {"notes": [note.as_dict() for note in scores.notes]}
        for name, scores in results.items()
    ]
    return {"ties": results.settings.ties, "queries": results.settings.queries, "runs": runs}
