"""gradely compare."""

from typing import Any

import click

from gradely.cli import options
from gradely.cli.options import FILE, Request
from gradely.cli.output import OutputOptions, check_output, write_file, write_result
from gradely.cli.report import PageOptions, page_options
from gradely.comparison.compare import compare
from gradely.comparison.pairwise import FAMILIES
from gradely.comparison.tests import CORRECTIONS, RESAMPLES, TESTS
from gradely.report.page import check_installed


@options.command("compare")
@options.measures
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
    help="Equivalence margin: test as well whether runs differ by less than this.",
)
@click.option("--influence", is_flag=True, help="Show the influence of single queries on each verdict.")
@click.option("--pairs", is_flag=True, help="Show every pair: difference, interval, effect size, wins and p-values.")
@click.option("--report", "page", type=FILE, metavar="FILE.html", help="Also write an HTML page.")
@page_options
@options.settings()
@options.by_segment
@options.request
@options.output
def command(
    request: Request,
    *,
    baselines: tuple[str, ...],
    pairs: bool,
    influence: bool,
    page: str | None,
    texts: PageOptions,
    output: OutputOptions,
    **design: Any,
) -> None:
    """Compare RUNS on QRELS: all pairs, or each run with a baseline."""
    check_output(page, beside=True)
    if page:
        check_installed()
    elif texts.queries_text or texts.docs_text:
        raise click.UsageError("--queries-text and --docs-text are for the page: name it with --report")
    data = request.read()
    design["baselines"] = data.name_baselines(baselines, "compare")
    with data.bar() as bar:
        comparison = compare(
            data.qrels,
            data.runs,
            data.measures,
            details=bool(page),
            progress=bar,
            **design,
            **request.policies,
        )
        html = comparison.to_html(**texts._asdict(), command=texts.command) if page else ""
    if page:
        write_file(html.encode(), page)
    write_result(comparison.view(pairs=pairs, influence=influence), output)
