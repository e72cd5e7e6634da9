"""gradely gate."""

import json
from typing import Any

import click

from gradely.cli import options
from gradely.cli.evaluate import chosen, listed, summed_up
from gradely.cli.output import check_writable, say, write, write_file
from gradely.cli.several import stepping
from gradely.comparison.gate import check_limits, gate
from gradely.comparison.resampling import RESAMPLES
from gradely.comparison.saved_scores import is_saved, keep_scores
from gradely.comparison.significance import CORRECTIONS, SIMULTANEOUS, TESTS
from gradely.comparison.verdict import Gate
from gradely.data import read_qrels
from gradely.errors import InputError
from gradely.measures.names import parse
from gradely.tables import plain_line, render

ALONE = [test for test in TESTS if test not in SIMULTANEOUS]
"""tests of one pair of runs"""
POLICIES = ("ties", "queries", "judged_only", "precision", "seed", "threads")


@click.command("gate")
@click.argument("qrels")
@click.argument("new")
@click.option("--baseline", metavar="OLD", help="The run to be as good as, or scores that --save wrote.")
@options.measures
@click.option(
    "--max-drop",
    "drops",
    multiple=True,
    metavar="[MEASURE=]DROP",
    help="How much a mean may fall, like 0.01; for one measure, like AP=0.02. Repeatable. [default: 0]",
)
@click.option("--strict", is_flag=True, help="Fail where a drop exceeds its limit, significant or not.")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="The level of significance.")
@click.option("--test", type=click.Choice(ALONE), default="t", show_default=True, help="The significance test.")
@click.option(
    "--correction", type=click.Choice(list(CORRECTIONS)), default="holm", show_default=True, help="Over the measures."
)
@click.option(
    "--resamples", type=click.IntRange(min=1), default=RESAMPLES, show_default=True, help="How often a test draws."
)
@click.option("--summary", metavar="FILE.md", help="Write a summary in Markdown, with the queries that lost most.")
@click.option(
    "--save", metavar="FILE.json", help="Write the scores of NEW, for --baseline next time; only if it passes."
)
@options.ties
@options.queries
@options.inputs
@options.threads
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
    qrels_format: str | None,
    run_format: str | None,
    features: tuple[int, ...],
    ascending: bool,
    form: str,
    digits: int,
    path: str | None,
    **settings: Any,
) -> int:
    """Fail, with exit code 1, where the run NEW is worse than OLD by more than is allowed, and significantly so.

    Exit code 0 says that it passed, 2 that something could not be read. Without --baseline, --save keeps the scores of
    NEW as the first ones to be compared with.
    """
    for file in (path, summary, save):
        check_writable(file)
    if baseline is None and save is None:
        raise click.UsageError("name a --baseline to compare with, or a file to --save", click.get_current_context())
    names = chosen(measures, settings["ties"])
    limits = check_limits(read_limits(drops, names), names)
    paths = (new,) if baseline is None or is_saved(baseline) else (new, baseline)
    systems = listed(qrels, paths, run_format, features, ascending=ascending)
    if len(systems) != len(paths):
        raise InputError("give one --feature: a gate is about one run")
    judgments = read_qrels(qrels, format=qrels_format, threads=settings["threads"])
    run, *older = [system.open() for system in systems]
    if baseline is None:
        policies = {key: settings[key] for key in POLICIES}
        write_file(keep_scores(judgments, run, names, **policies).text().encode(), str(save))
        say(f"{plain_line(str(save))}: the scores of {plain_line(systems[0].name)}; nothing was compared\n")
        return 0
    with stepping(systems) as step:
        titles = dict(zip(("new", "baseline"), (system.name for system in systems), strict=False))
        made = gate(
            judgments,
            run,
            older[0] if older else baseline,
            names,
            max_drop=limits,
            progress=lambda key, done: step(titles[key], done),
            **settings,
        )
    return _finish(made, form, digits, path, summary=summary, save=save)


def _finish(made: Gate, form: str, digits: int, path: str | None, *, summary: str | None, save: str | None) -> int:
    """Write what was asked for; return the exit code."""
    if summary:
        write_file(markdown(made).encode(), summary)
    if save and made.passed:
        write_file(made.saved.text().encode(), save)
    write(as_json(made) if form == "json" else _render(made, form, digits), path)
    if form in ("csv", "tsv", "latex") or path not in (None, "-"):
        click.echo(f"{plain_line(made.summary())}\n{_below(made)}", err=True, nl=False)
    return 0 if made.passed else 1


def read_limits(drops: tuple[str, ...], names: list[str]) -> dict[str, float]:
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


def _render(made: Gate, form: str, digits: int) -> str:
    text = render(made.table()._replace(digits=digits), form)
    return f"{plain_line(made.summary())}\n\n{text}\n{_below(made)}" if form in ("table", "markdown") else text


def _below(made: Gate) -> str:
    return summed_up([plain_line(line) for line in (made.caption(), *map(str, made.notes))])


def markdown(made: Gate) -> str:
    """Return the summary: the verdict, the table, and by each measure that fell the queries that lost most."""
    safe = plain_line(made.summary()).replace("<", "&lt;")
    parts = [f"## {'✅' if made.passed else '❌'} {safe}", render(made.table(), "markdown")]
    for change in made.changes:
        losers = made.losers(change.measure)
        if change.drop > 0 and losers.rows:
            lost = f"{change.measure}: {change.losses:,} of {len(made.queries):,} queries lost"
            title = f"{lost}; the {len(losers.rows)} that lost most"
            parts.append(f"<details><summary>{title}</summary>\n\n{render(losers, 'markdown')}\n</details>\n")
    lines = [made.caption(), *(str(note) for note in made.notes)]
    parts.append("\n".join(f"- {plain_line(line).replace('<', '&lt;')}" for line in lines) + "\n")
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def as_json(made: Gate) -> str:
    """Return everything, values in full."""
    content = {
        "passed": made.passed,
        "summary": made.summary(),
        "caption": made.caption(),
        "measures": [change._asdict() for change in made.changes],
        "losers": {
            change.measure: [dict(zip(table.header, row, strict=True)) for row in table.rows]
            for change in made.changes
            for table in [made.losers(change.measure)]
        },
        "notes": [note.as_dict() for note in made.notes],
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
