"""gradely judges."""

import os
from contextlib import suppress
from functools import partial
from typing import Any

import click

from gradely.cli import options
from gradely.cli.options import FILE, InputOptions, choose_measures, list_runs, refuse_measure
from gradely.cli.output import Bar, OutputOptions, check_output, say_beside, write, write_file, write_result
from gradely.cli.report import command_line
from gradely.comparison.tests import CORRECTIONS
from gradely.data.read.judges import judge_names, read_judges
from gradely.data.selection import read_queries
from gradely.errors import GradelyError
from gradely.judgments.judges import Judges, judges
from gradely.judgments.merge import WAYS, to_trec
from gradely.report.page import check_installed
from gradely.tables import count_of


@options.command("judges")
@click.argument("runs", nargs=-1, type=FILE)
@click.option(
    "--qrels",
    "paths",
    multiple=True,
    type=FILE,
    metavar="QRELS",
    help="The labels of one judge; repeat it for each. A single table with a column judge, or one per rater, has all.",
)
@click.option("--raters", metavar="NAME,…", help="Columns of a table that hold the labels, one per rater.")
@options.measures
@click.option(
    "--correction", type=click.Choice(list(CORRECTIONS)), default="holm", help="Correction for multiple tests."
)
@options.alpha
@click.option("--merge", "how", type=click.Choice(WAYS), help="Write one qrels of all judges to -o, in TREC format.")
@click.option("--fill", metavar="JUDGE", help="With --merge or alone: take this judge only where no other has a label.")
@click.option("--report", "page", type=FILE, metavar="FILE.html", help="Also write an HTML page.")
@options.settings("ties", "seed", "precision", "judged_only", "exclude_self", "threads")
@options.inputs
@partial(options.output, digits=3, pictures=True, others=("qrels",))
def command(
    runs: tuple[str, ...],
    *,
    paths: tuple[str, ...],
    raters: str | None,
    measures: tuple[str, ...],
    how: str | None,
    fill: str | None,
    page: str | None,
    policies: dict[str, Any],
    inputs: InputOptions,
    output: OutputOptions,
    **design: Any,
) -> None:
    """Compare judges: how far their labels agree, and what RUNS are worth by each.

    The first line says whether what is concluded about the runs survives the judge. RUNS may be left out. The first
    judge is the one that others are shown beside where there are many. -o kappa.svg draws how far each two agree.
    """
    if not paths:
        raise click.UsageError(f"name the labels of each judge, as in {_example(runs)}", click.get_current_context())
    check_output(page, beside=True)
    if page or output.picture:
        check_installed()
    for path in paths:
        refuse_measure(path)
    if runs and (how or fill) and not page:
        raise click.UsageError("--merge and --fill write one qrels, and nothing about runs: leave out one or the other")
    check_ending(output, merged=bool(how or fill))
    opened, sizes = list_runs(paths[0], runs, inputs) if runs else ({}, {})
    keywords = {"columns": inputs.columns, "exclude": inputs.exclude, **inputs.keywords, **policies}
    if inputs.only is not None:
        keywords["queries"] = read_queries(inputs.only)
    names = None if raters is None else [name.strip() for name in raters.split(",")]
    measured = choose_measures(measures, policies["ties"])
    with Bar(sizes) as bar:
        found = judges(list(paths), opened or None, measured, raters=names, progress=bar, **design, **keywords)
    if page:
        write_file(found.to_html(command=command_line()).encode(), page)
    if how or fill:
        by_path = dict(zip(paths, judge_names(paths), strict=True))
        write_merged(found, how, by_path.get(fill or "", fill), output)
    else:
        write_result(found, output)


def _example(files: tuple[str, ...]) -> str:
    """Return what to type: a table that has all judges is enough by itself, and a run is no judge."""
    ranked = [file for file in files if file.endswith(".run")]
    judged = [file for file in files if file not in ranked]
    with suppress(GradelyError):
        if judged and os.path.isfile(judged[0]) and read_judges(judged[:1]):
            return " ".join(["--qrels", *judged, *ranked])
    labels = [*judged, *("nist.qrels", "gpt4o.qrels")[len(judged) :]]
    return " ".join([*(f"--qrels {file}" for file in labels), *ranked])


def check_ending(output: OutputOptions, *, merged: bool) -> None:
    """Refuse a file whose ending says something else than what is to be written."""
    is_qrels = str(output.path).endswith(".qrels")
    if merged and output.form != "table":
        raise click.UsageError("merged qrels are written in the format of TREC: -o merged.qrels")
    if is_qrels and not merged:
        raise click.UsageError(f"{output.path}: qrels are written by --merge or --fill")


def write_merged(found: Judges, how: str | None, fill: str | None, output: OutputOptions) -> None:
    """Write the merged qrels, and what was counted to standard error."""
    merged = found.merge(how, fill)  # type: ignore[arg-type]  # click has checked it
    write(to_trec(merged), output.path)
    told = [f"{count_of(len(merged.grade), 'judgment')} of {count_of(len(merged), 'query')}", *merged.notes]
    say_beside(told)
