"""gradely gate."""

from collections.abc import Iterable
from typing import Any

import click

from gradely.cli import options
from gradely.cli.options import FILE, InputOptions, Inputs, Request, choose_measures
from gradely.cli.output import OutputOptions, check_output, say, write_file, write_result
from gradely.comparison.gate import UNDECIDED, Gate, check_limits, gate, is_saved, keep_scores, read_saved
from gradely.comparison.tests import CORRECTIONS, RESAMPLES, SIMULTANEOUS, TESTS
from gradely.data import Qrels
from gradely.data.source import Source
from gradely.errors import InputError
from gradely.measures.names import parse
from gradely.tables import count_of, escape_markdown, plain_line, render

ALONE = [test for test in TESTS if test not in SIMULTANEOUS]
"""tests of one pair of runs"""


@options.command("gate", context_settings={"allow_extra_args": True})
@click.argument("qrels", type=FILE)
@click.argument("new", type=FILE)
@click.option("--baseline", type=FILE, metavar="OLD", help="The old run, or its scores as written by --save.")
@options.measures
@click.option(
    "--max-drop",
    "drops",
    multiple=True,
    metavar="[MEASURE=]DROP",
    help="How much a mean may fall, like 0.01; for one measure, like AP=0.02. Repeatable. [default: 0]",
)
@click.option("--strict", is_flag=True, help="Fail where a drop exceeds its limit, shown or not.")
@options.choice("--undecided", UNDECIDED, "pass", "What to do where neither is shown.")
@options.alpha
@options.choice("--test", ALONE, "t", "Significance test.")
@options.choice("--correction", CORRECTIONS, "holm", "Correction for multiple measures.")
@options.count("--resamples", RESAMPLES, "Resamples of the randomization and bootstrap tests.")
@click.option(
    "--summary", type=FILE, metavar="FILE.md", help="Write a summary in Markdown, with the queries that lost most."
)
@click.option(
    "--save",
    type=FILE,
    metavar="FILE.json",
    help="Write the scores of NEW if it passes, for --baseline the next time.",
)
@options.judge
@options.slope
@options.queries_text
@click.option(
    "--holes",
    is_flag=True,
    help="Fail as well where labels of unjudged documents decide whether a drop exceeds its limit.",
)
@options.settings()
@options.weights
@options.inputs
@options.output
def command(
    qrels: str,
    new: str,
    *,
    baseline: str | None,
    measures: tuple[str, ...],
    drops: tuple[str, ...],
    summary: str | None,
    save: str | None,
    judge: str | None,
    queries_text: str | None,
    policies: dict[str, Any],
    inputs: InputOptions,
    output: OutputOptions,
    **design: Any,
) -> int:
    """Fail, with exit code 1, where the run NEW is shown to be worse than OLD by more than is allowed.

    Exit code 0 says that it passed: NEW is shown not to be worse, or that is undecided, as the first line says. Exit
    code 2 says that something could not be read. Without --baseline, nothing is compared, and --save keeps the scores
    of NEW for the next time. Without -m, the measures are those of the scores that --save wrote.
    """
    context = click.get_current_context()
    if context.args:
        hint = f"; did you mean --baseline {context.args[0]}?" if baseline is None and len(context.args) == 1 else ""
        raise click.UsageError(f"a gate takes one run, NEW, and not also {' '.join(context.args)}{hint}", context)
    source = None if baseline is None else Source(baseline)  # held, since it may be a pipe
    earlier = read_saved(source) if source is not None and is_saved(source) else None
    if queries_text is not None and summary is None:
        raise click.UsageError("--queries-text is for the queries of a --summary", context)
    check_output(summary, beside=True)
    check_output(save, replaces=baseline if earlier else None, beside=True)
    if baseline is None and save is None:
        raise click.UsageError("name a --baseline to compare with, or a file to --save", context)
    measures = measures or tuple(earlier.measures if earlier else ())
    names = choose_measures(measures, policies["ties"])
    limits = check_limits(read_limits(drops, names), names)
    paths = (new,) if baseline is None or earlier else (new, baseline)
    request = Request(qrels, paths, policies, inputs, measures)
    human, data = request.read_both(judge) if judge else (None, request.read())
    labels = data.qrels if judge else None
    data = data._replace(qrels=human or data.qrels)
    if len(data.runs) != len(paths):
        raise InputError("give one --feature: a gate is about one run")
    if baseline is None:
        return save_first(request, data, labels, str(save))
    run, *older = data.runs.values()
    with data.bar() as bar:
        old = older[0] if older else earlier
        keywords = design | request.keywords
        verdict = gate(data.qrels, run, old, names, max_drop=limits, progress=bar, judge=labels, **keywords)
    write_files(verdict, summary, save, queries_text)
    write_result(verdict, output)
    return 0 if verdict.passed else 1


def write_files(verdict: Gate, summary: str | None, save: str | None, queries_text: str | None) -> None:
    """Write the summary, and the scores of a run that passed, where files for them are named."""
    if summary:
        write_file(summarize(verdict, queries_text).encode(), summary)
    if save and verdict.passed:
        write_file(verdict.saved.text().encode(), save)


def save_first(request: Request, data: Inputs, labels: Qrels | None, path: str) -> int:
    """Write the scores of the only run, as the first ones to be compared with; return the exit code."""
    (run,) = data.runs.values()
    with data.bar() as bar:
        scores = keep_scores(data.qrels, run, data.measures, progress=bar, judge=labels, **request.keywords)
    write_file(scores.text().encode(), path)
    say(f"{plain_line(path)}: the scores of {plain_line(scores.name)}; nothing was compared\n")
    return 0


def read_limits(drops: tuple[str, ...], names: Iterable[str]) -> dict[str, float]:
    """Return the limit of each measure from what was typed: DROP for all of them, MEASURE=DROP for one."""
    usual, limits = 0.0, {}
    for text in drops:
        measure, _, number = text.rpartition("=")
        try:
            limit = float(number)
        except ValueError:
            raise InputError(
                f"--max-drop {text!r}: give a number like 0.01, or one for a measure like AP=0.02"
            ) from None
        if measure:
            limits[str(parse(measure))] = limit
        else:
            usual = limit
    return dict.fromkeys((str(parse(name)) for name in names), usual) | limits


def summarize(verdict: Gate, queries_text: str | None = None) -> str:
    """Return a summary in Markdown: the verdict, the table, and by measure the queries that lost most."""
    parts = [
        f"## {'✅' if verdict.passed else '❌'} {escape_markdown(verdict.summary())}",
        render(verdict.table(), "markdown"),
    ]
    for change in verdict.changes:
        losers = verdict.losers(change.measure, queries_text=queries_text)
        if change.drop > 0 and losers.rows:
            lost = f"{change.measure}: {change.losses:,} of {count_of(len(verdict.queries), 'query')} lost"
            title = f"{lost}; the {len(losers.rows)} that lost most"
            parts.append(f"<details><summary>{title}</summary>\n\n{render(losers, 'markdown')}\n</details>\n")
    parts.append("\n".join(f"- {escape_markdown(str(line))}" for line in (verdict.caption(), *verdict.notes)))
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"
