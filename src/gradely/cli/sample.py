"""gradely sample."""

from typing import Any

import click

from gradely.cli import options
from gradely.cli.options import FILE, InputOptions, list_runs, read_judgments
from gradely.cli.output import Bar, OutputOptions, check_output, say_beside, write, write_file, write_result
from gradely.judgments.sample import DEPTH, sample
from gradely.tables import render


@options.command("sample")
@options.files
@click.option("-n", "--count", "n", required=True, type=int, metavar="N", help="Number of queries to draw.")
@options.count("--depth", DEPTH, "Number of documents of each RUN to judge, for --pool.")
@click.option(
    "--pool", type=FILE, metavar="FILE.csv", help="Write the documents to judge: a query and a document per row."
)
@options.settings("exclude_self", "seed", "threads")
@click.option(
    "--by",
    type=FILE,
    metavar="COLUMN|FILE",
    help="Draw from each segment in proportion to its size: a column of the qrels, or a table with columns query and "
    "segment.",
)
@options.inputs
@options.output
def command(
    qrels: str,
    runs: tuple[str, ...],
    *,
    n: int,
    depth: int,
    pool: str | None,
    policies: dict[str, Any],
    inputs: InputOptions,
    output: OutputOptions,
) -> None:
    """Draw a random sample of the queries in QRELS for people to judge, as `gradely estimate` needs.

    QRELS are the labels of the judge. The output lists one query per line, which --only reads; other formats show a
    table. With RUNS, --pool writes their top documents, for people to judge.
    """
    check_output(pool, beside=True)
    if pool and not runs:
        raise click.UsageError("--pool needs runs, whose documents it writes", click.get_current_context())
    opened, sizes = list_runs(qrels, runs, inputs) if runs else ({}, {})
    judged = read_judgments(qrels, inputs)
    with Bar(sizes) as bar:
        drawn = sample(judged, opened or None, n=n, depth=depth, progress=bar, **policies, **inputs.keywords)
    if pool:
        write_file(render(drawn.pool_table(), "csv").encode(), pool)
    if output.form == "table":
        write(drawn.text(), output.path)
        say_beside([drawn.summary(), *map(str, drawn.notes)])
    else:
        write_result(drawn, output)
