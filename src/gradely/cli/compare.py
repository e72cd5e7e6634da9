"""gradely compare."""

import os
import sys
from dataclasses import asdict
from typing import Any

import click

from gradely.cli import options
from gradely.cli.options import FILE, Request
from gradely.cli.output import (
    OutputOptions,
    caption_notes,
    check_output,
    frame_table,
    list_notes,
    to_json,
    write_file,
    write_results,
)
from gradely.cli.report import PageOptions, page_options
from gradely.comparison.compare import Comparison, compare
from gradely.comparison.influence import SegmentComparison
from gradely.comparison.pairwise import FAMILIES
from gradely.comparison.tests import CORRECTIONS, RESAMPLES, SIMULTANEOUS, TESTS
from gradely.evaluation.notes import Note
from gradely.evaluation.scores import EVERY
from gradely.report.page import check_installed
from gradely.tables import Table, render


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
    text = show(comparison, output, pairs=pairs, influence=influence)
    write_results(text, explain_table(comparison, output.form, pairs=pairs), output)


def show(comparison: Comparison, output: OutputOptions, *, pairs: bool, influence: bool) -> str:
    """Return the comparison in a format, with what is needed to do it again."""
    form = output.form
    if form == "json":
        more = {"influence": [row._asdict() for row in comparison.influence.rows()]} if influence else {}
        return to_json(as_data(comparison) | more)
    tidy = form in ("csv", "tsv")
    bold = not output.to_file and sys.stdout.isatty() and "NO_COLOR" not in os.environ
    tables = [comparison.pairs_table() if pairs else comparison.runs_table() if tidy else comparison.table()]
    if comparison.segments is not None:
        below = comparison.segments.pairs_table() if pairs else comparison.segments.table()
        tables = [join_segments(comparison, tables[0], pairs=pairs)] if tidy else [*tables, below]
    text = "\n".join(render(table._replace(digits=output.digits, bold=bold), form) for table in tables)
    if influence and not tidy:
        text += f"\n{show_influence(comparison, output)}"
    return frame_table(comparison, text, form)


def join_segments(comparison: Comparison, table: Table, *, pairs: bool) -> Table:
    """Return a table of all queries together with that of the segments, which leaves empty what is not known there."""
    segments, measures = comparison.segments, list(comparison.board.measures)
    assert segments is not None
    if pairs:
        records = [pair._asdict() for pair in segments.pairs]
    else:
        records = [
            {"segment": segment, "n": segments.sizes[segment], "run": run, "measure": measure, "mean": mean[measure]}
            for segment, runs in segments.mean().items()
            for measure in measures
            for run, mean in runs.items()
        ]
    rows = [[EVERY, len(comparison.board.queries), *row] for row in table.rows]
    header = ["segment", "n", *table.header]
    return Table(header, [*rows, *([record.get(name) for name in header] for record in records)])


def show_influence(comparison: Comparison, output: OutputOptions) -> str:
    """Return the table of influence with its caption."""
    table = comparison.influence.table()._replace(digits=output.digits)
    caption = comparison.influence.caption()
    return f"{render(table, output.form)}\n{caption}\n" if table.rows else f"{caption}\n"


def explain_table(comparison: Comparison, form: str, *, pairs: bool) -> str:
    """Return the lines below a table: what the marks mean, how it was tested, and what there is to note."""
    has_pairs = len(comparison.pairwise.pairs) > 0
    lines: list[Note | str] = [
        *([comparison.legend()] if form == "table" and has_pairs and not pairs else []),
        *caption_notes(comparison, form),
        *([] if comparison.segments is None else [comparison.segments.caption()]),
        *([describe_power(comparison)] if has_pairs else []),
        *comparison.notes,
    ]
    return list_notes(lines)


def describe_power(comparison: Comparison) -> str:
    """Return the discriminative power of each measure, in a line."""
    power = ", ".join(f"{measure} {100 * share:.1f} %" for measure, share in comparison.power().items())
    kind = "" if comparison.design.test in SIMULTANEOUS else " before correction"
    return f"Discriminative power, the share of pairs with p below α{kind}: {power}"


def as_data(comparison: Comparison) -> dict[str, Any]:
    """Return everything as plain data, values in full."""
    header, *rows = comparison.runs_table().header, *comparison.runs_table().rows
    board = comparison.board
    return {
        "summary": comparison.summary(),
        "answers": comparison.answers(),
        "caption": comparison.caption(),
        "design": comparison.design._asdict() | asdict(board.settings) | {"count": len(board.queries)},
        "runs": [dict(zip(header, row, strict=True)) for row in rows],
        "pairs": [dict(zip(comparison.fields, pair, strict=False)) for pair in comparison.pairs],
        **segments_data(comparison.segments),
        "discriminative_power": comparison.power(),
        "achieved_significance_levels": comparison.levels(),
        "notes": [note.as_dict() for note in comparison.notes],
    }


def segments_data(segments: SegmentComparison | None) -> dict[str, Any]:
    """Return means and pairs by segment as plain data, where asked for."""
    if segments is None:
        return {}
    pairs: dict[str, list[dict[str, Any]]] = {name: [] for name in segments.sizes}
    for pair in segments.pairs:
        pairs[pair.segment].append(dict(zip(pair._fields[2:], pair[2:], strict=True)))  # which segment, is said
    mean = segments.mean()
    data = {name: {"n": size, "mean": mean[name], "pairs": pairs[name]} for name, size in segments.sizes.items()}
    return {"segments": data, "segments_caption": segments.caption()}
