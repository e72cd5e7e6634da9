"""gradely suite, and helpers for suites that gradely gate also uses."""

import os
from typing import Any

import click

from gradely.cli import options
from gradely.cli.options import FILE, InputOptions, read_judgments, show_progress
from gradely.cli.output import OutputOptions, check_output, write_file, write_result
from gradely.cli.plot import form_of_figure
from gradely.cli.report import command_line
from gradely.comparison.groups import Groups
from gradely.comparison.pairwise import FAMILIES
from gradely.comparison.suite import OWN, SuiteFile, read_suite, suite
from gradely.comparison.tests import CORRECTIONS
from gradely.data.source import Source
from gradely.errors import InputError
from gradely.report.page import check_installed


@options.command("suite")
@click.argument("file", type=FILE)
@options.measures
@click.option(
    "--baseline", "baselines", multiple=True, metavar="SYSTEM", help="Compare only with this system; repeatable."
)
@options.choice("--correction", CORRECTIONS, "holm", "Correction for multiple tests.")
@options.choice(
    "--family",
    FAMILIES,
    "measure",
    "Tests that are corrected together: the pairs of each measure, or all pairs on all measures.",
)
@options.alpha
@click.option(
    "--plot", "figure", type=FILE, metavar="FILE", help="Also draw a forest plot: an .svg, .pdf or .png file."
)
@click.option("--report", "page", type=FILE, metavar="FILE.html", help="Also write an HTML page.")
@options.samples
@options.settings()
@options.weights
@options.suite_inputs
@options.output
def command(
    file: str,
    *,
    measures: tuple[str, ...],
    baselines: tuple[str, ...],
    figure: str | None,
    page: str | None,
    policies: dict[str, Any],
    inputs: InputOptions,
    output: OutputOptions,
    **design: Any,
) -> None:
    """Compare systems on several collections, which FILE lists.

    FILE is TOML or JSON: for each collection its qrels, and the runs of its systems. Paths are relative to FILE.

    \b
    measures = ["nDCG@10"]
    [covid]
    qrels = "covid/qrels.txt"
    runs.bm25 = "covid/bm25.run"
    runs.dense = ["covid/dense.1.run", "covid/dense.2.run"]
    weights = "covid/traffic.csv"

    Two keys are optional: weights, the weights of queries, and exclude, a file as for --exclude.
    """  # noqa: D301 - click keeps the lines after a backspace
    form = form_of_figure(figure) if figure else ""
    if figure or page:
        check_installed()
    listed = read_suite(file)
    for path in (figure, page):
        check_output(path, beside=True, inputs=files_of(listed))
    check_output(output.path, inputs=files_of(listed))
    names = options.choose_measures(measures or tuple(listed.measures or ()), policies["ties"])
    with show_progress(sizes_of(listed)) as bar:
        chosen = baselines or tuple(listed.baselines)
        collections = open_suite(listed, inputs.for_measures(names), policies["threads"])
        keywords = design | policies | inputs.keywords
        result = suite(collections, names, baseline=chosen, progress=bar, **keywords)
        html = result.to_html(command=command_line()) if page else ""
    if figure:
        from gradely.comparison.charts import picture

        write_file(picture(result.plot(), form), figure)
    if page:
        write_file(html.encode(), page)
    write_result(result, output)


def open_suite(file: SuiteFile, inputs: InputOptions, threads: int | None) -> dict[str, dict[str, Any]]:
    """Return the collections of a suite, with qrels read and functions that open the runs."""
    if len(inputs.features) > 1:
        raise InputError("give one --feature: in a suite, a system has one run in each file")
    feature = next(iter(inputs.features), None)
    opened = {}
    for name, entry in file.collections.items():
        own = inputs._replace(**{key: entry[key] for key in OWN if key in entry and getattr(inputs, key) is None})
        groups = Groups.of(entry["runs"])
        paths = entry["runs"] if groups is None else groups.runs
        runs = {run: own.opener(Source(path), feature) for run, path in paths.items()}
        qrels = read_judgments(entry["qrels"], own, threads)
        opened[name] = {"qrels": qrels, "runs": runs if groups is None else Groups(runs, groups.members)}
    return opened


def sizes_of(file: SuiteFile) -> dict[str, float]:
    """Return the size of each run of a suite, by its name in progress reports."""
    sizes = {}
    for name, entry in file.collections.items():
        groups = Groups.of(entry["runs"])
        for run, path in (entry["runs"] if groups is None else groups.runs).items():
            sizes[f"{name}: {run}"] = float(os.path.getsize(path)) if os.path.isfile(path) else 1.0
    return sizes


def files_of(file: SuiteFile) -> list[str]:
    """Return all files that a suite refers to."""
    runs = [run for entry in file.collections.values() for run in entry["runs"].values()]
    paths = [path for run in runs for path in (run if isinstance(run, list) else [run])]
    more = [entry[key] for entry in file.collections.values() for key in ("qrels", *OWN) if key in entry]
    return [*more, *paths]
