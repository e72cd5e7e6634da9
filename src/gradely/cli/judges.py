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
from gradely.judgments.merge import WAYS, to_table, to_trec
from gradely.report.page import check_installed
from gradely.tables import count_of, to_delimited

DELIMITERS = {"csv": ",", "tsv": "\t"}


@options.command("judges")
@click.argument("runs", nargs=-1, type=FILE)
@click.option(
    "--qrels",
    "paths",
    multiple=True,
    type=FILE,
    metavar="QRELS",
    help="Labels of one judge; repeatable. A single table may hold the labels of all judges, in a column judge or in "
    "one column per rater.",
)
@click.option("--raters", metavar="NAME,…", help="The columns of a table that hold labels, one per rater.")
@options.measures
@options.choice("--correction", CORRECTIONS, "holm", "Correction for multiple tests.")
@options.alpha
@click.option(
    "--merge",
    "how",
    type=click.Choice(WAYS),
    help="Merge the labels of all judges, and write qrels to -o: merged.qrels in TREC format, or merged.csv.",
)
@click.option(
    "--fill",
    metavar="JUDGE",
    help="Use this judge only for documents that no other judge labelled, with or without --merge.",
)
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
    """Compare judges: how far their labels agree, and how they score RUNS, which are optional.

    The first line says whether the conclusion about the runs depends on the judge. If there are many judges, the tables
    compare the first one with each of the others. -o kappa.svg draws the agreement of each pair of judges.
    """
    if not paths:
        raise click.UsageError(f"name the labels of each judge, as in {_example(runs)}", click.get_current_context())
    check_output(page, beside=True)
    if page or output.picture:
        check_installed()
    for path in paths:
        refuse_measure(path)
    if runs and (how or fill) and not page:
        raise click.UsageError("--merge and --fill only write qrels: leave them out, or leave out the runs")
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
    """Return example arguments with these files; a single table may have all judges, and runs are not judges."""
    ranked = [file for file in files if file.endswith(".run")]
    judged = [file for file in files if file not in ranked]
    with suppress(GradelyError):
        if judged and os.path.isfile(judged[0]) and read_judges(judged[:1]):
            return " ".join(["--qrels", *judged, *ranked])
    labels = [*judged, *("nist.qrels", "gpt4o.qrels")[len(judged) :]]
    return " ".join([*(f"--qrels {file}" for file in labels), *ranked])


def check_ending(output: OutputOptions, *, merged: bool) -> None:
    """Refuse a file whose extension does not fit its content."""
    is_qrels = str(output.path).endswith(".qrels")
    if merged and output.form not in ("table", *DELIMITERS):
        raise click.UsageError("merged qrels are written in TREC format or as CSV: -o merged.qrels or -o merged.csv")
    if is_qrels and not merged:
        raise click.UsageError(f"{output.path}: use --merge or --fill to write qrels")


def write_merged(found: Judges, how: str | None, fill: str | None, output: OutputOptions) -> None:
    """Write the merged qrels, and their notes to standard error."""
    merged = found.merge(how, fill)  # type: ignore[arg-type]  # click has checked it
    delimiter = DELIMITERS.get(output.form)
    write(to_trec(merged) if delimiter is None else to_delimited(to_table(merged), delimiter), output.path)
    told = [f"{count_of(len(merged.grade), 'judgment')} of {count_of(len(merged), 'query')}", *merged.notes]
    say_beside(told)
