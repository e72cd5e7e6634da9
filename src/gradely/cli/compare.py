"""gradely compare."""

from dataclasses import asdict
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


@click.command("compare")
@options.measures
@click.option("--baseline", "baselines", multiple=True, metavar="RUN", help="Compare with this run only; repeatable.")
@options.choice("--test", TESTS, "t", "The significance test.")
@click.option(
    "--correction",
    type=click.Choice(list(CORRECTIONS)),
    help="How p-values are corrected for many tests; holm by default, and tukey and max-t take none.",
)
@options.choice(
    "--family",
    FAMILIES,
    "measure",
    "Which tests are corrected together: the pairs of each measure, or all pairs on all measures.",
)
@options.alpha
@options.count("--resamples", RESAMPLES, "How many draws a randomization, bootstrap, Tukey or max-t test takes.")
@click.option("--simultaneous", is_flag=True, help="Give differences intervals that hold for the whole family at once.")
@click.option(
    "--rope",
    type=float,
    metavar="DIFFERENCE",
    help="The largest difference that does not matter. Tests whether runs are equivalent, too.",
)
@click.option("--influence", is_flag=True, help="Show how much each verdict depends on single queries, too.")
@click.option("--pairs", is_flag=True, help="Show every pair: difference, interval, effect size, wins, p-values.")
@click.option("--report", "page", type=FILE, metavar="FILE.html", help="Write an HTML page, too.")
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
    """Compare RUNS on QRELS, each pair of them or each with a baseline."""
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
            **asdict(data.settings),
        )
        html = comparison.to_html(**texts._asdict(), command=texts.command) if page else ""
    if page:
        write_file(html.encode(), page)
    write_result(comparison.view(pairs=pairs, influence=influence), output)
