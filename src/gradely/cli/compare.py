"""gradely compare."""

import os
from typing import Any

import click

from gradely.cli import options
from gradely.cli.options import FILE, Request
from gradely.cli.output import OutputOptions, check_output, write_file, write_result
from gradely.cli.report import PageOptions, command_line, page_options
from gradely.comparison.compare import compare
from gradely.comparison.groups import Groups, match_files
from gradely.comparison.pairwise import FAMILIES
from gradely.comparison.tests import CORRECTIONS, RESAMPLES, TESTS
from gradely.data import run_names
from gradely.errors import InputError
from gradely.report.page import check_installed


@options.command("compare")
@options.measures
@click.option(
    "--group",
    "groups",
    multiple=True,
    metavar="SYSTEM=PATTERN",
    help="Runs of one system, such as different seeds: 'bm25=bm25.*.run'. Repeatable. Tests then include the variance "
    "between the runs of a system.",
)
@click.option("--baseline", "baselines", multiple=True, metavar="RUN", help="Compare only with this run; repeatable.")
@options.choice("--test", TESTS, "t", "Significance test.")
@click.option(
    "--correction",
    type=click.Choice(list(CORRECTIONS)),
    help="Correction for multiple tests.  [default: holm; none for tukey and max-t, which need none]",
)
@options.choice(
    "--family",
    FAMILIES,
    "measure",
    "Tests that are corrected together: the pairs of each measure, or all pairs on all measures.",
)
@options.alpha
@options.count("--resamples", RESAMPLES, "Resamples of the randomization, bootstrap, tukey and max-t tests.")
@click.option("--simultaneous", is_flag=True, help="Intervals of differences that hold for the whole family at once.")
@click.option(
    "--rope",
    type=float,
    metavar="MARGIN",
    help="Equivalence margin: also test whether runs differ by less than this.",
)
@click.option("--influence", is_flag=True, help="Show the influence of single queries on each verdict.")
@click.option("--pairs", is_flag=True, help="Show every pair: difference, interval, effect size, wins and p-values.")
@click.option("--report", "page", type=FILE, metavar="FILE.html", help="Also write an HTML page.")
@options.judge
@options.slope
@page_options
@options.samples
@options.settings()
@options.holes
@options.by_segment
@options.weights
@options.request
@options.output
def command(
    request: Request,
    *,
    groups: tuple[str, ...],
    baselines: tuple[str, ...],
    pairs: bool,
    influence: bool,
    page: str | None,
    judge: str | None,
    texts: PageOptions,
    output: OutputOptions,
    **design: Any,
) -> None:
    """Compare RUNS on QRELS: all pairs, or each run with a baseline.

    With --group, systems are compared by the means of their runs; a run without a group is a system of its own.
    """
    files = find_groups(groups, request.runs)
    grouped = [path for paths in files.values() for path in paths]
    check_output(page, beside=True, inputs=grouped)
    check_output(output.path, inputs=grouped)
    if page:
        check_installed()
    elif texts.queries_text or texts.docs_text:
        raise click.UsageError("--queries-text and --docs-text have an effect only on a page: add --report")
    if judge and (page or influence or groups):
        flag = "--report" if page else "--influence" if influence else "--group"
        raise click.UsageError(f"{flag} uses human labels only: leave out {flag} or --judge")
    if files and request.inputs.features:
        raise InputError("--feature and --group cannot be combined: each feature is a run by itself")
    request = request._replace(runs=tuple(path for paths in files.values() for path in paths) or request.runs)
    human, data = request.read_both(judge) if judge else (None, request.read())
    runs: Any = data.runs
    if files:
        names = iter(data.runs)
        runs = Groups(dict(data.runs), {system: [next(names) for _ in paths] for system, paths in files.items()})
    design["baseline"] = baselines if files else data.name_baselines(baselines, "compare")
    with data.bar() as bar:
        comparison = compare(
            human or data.qrels,
            runs,
            data.measures,
            details=bool(page),
            progress=bar,
            judge=data.qrels if judge else None,
            **design,
            **request.keywords,
        )
        html = comparison.to_html(**texts._asdict(), command=command_line()) if page else ""
    if page:
        write_file(html.encode(), page)
    write_result(comparison.view(pairs=pairs, influence=influence), output)


def find_groups(groups: tuple[str, ...], runs: tuple[str, ...]) -> dict[str, list[str]]:
    """Return the files of each system, {} without groups; a run without a group is a system of its own."""
    if not groups:
        return {}
    systems: dict[str, list[str]] = {}
    for text in groups:
        system, equals, pattern = text.partition("=")
        if not (system and equals and pattern):
            raise InputError(f"--group {text!r}: give the name of a system and its files, like 'bm25=bm25.*.run'")
        systems.setdefault(system, []).extend(match_files(pattern, f"--group {text!r}"))
    alone = dict(zip(run_names(runs), runs, strict=True))
    twice = next((name for name in alone if name in systems), None)
    if twice is not None:
        raise InputError(f"{alone[twice]}: there is also a group {twice}; give the group another name")
    systems |= {name: [path] for name, path in alone.items()}
    owner: dict[str, str] = {}
    for system, path in ((system, path) for system, paths in systems.items() for path in paths):
        file = os.path.realpath(path)
        if file in owner:
            where = f"both {owner[file]} and {system}" if owner[file] != system else f"{system} twice"
            raise InputError(f"{path}: belongs to {where}; name each run once, in RUNS or in a --group")
        owner[file] = system
    if len(systems) < 2:
        raise InputError(
            f"there is only one system, {next(iter(systems))}: name another --group, or a run, to compare with"
        )
    return systems
