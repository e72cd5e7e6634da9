"""gradely evaluate."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import click

from gradely.cli import options
from gradely.cli.output import check_writable, write
from gradely.cli.progress import Bar, size_of
from gradely.data import Qrels, Run, open_run, read_qrels, run_names
from gradely.data.read.files import Source
from gradely.errors import InputError
from gradely.evaluation.evaluate import DEFAULT, evaluate
from gradely.evaluation.scores import Scores
from gradely.measures import ALL, EXPECTED
from gradely.measures.names import parse_all
from gradely.tables import Cell, Table, plain_line, render
from gradely.threads import cores, on_threads

MOST = 20
"""below a table, more notes than this are summed up"""


class System(NamedTuple):
    """A run that is to be read: what it is called, how large its file is, and how to read it."""

    name: str
    size: int
    open: Callable[[], Run | Source]


@click.command("evaluate")
@click.argument("qrels")
@click.argument("runs", nargs=-1)
@options.measures
@options.ties
@options.queries
@click.option("-q", "--per-query", is_flag=True, help="Show every query, too.")
@options.inputs
@options.threads
@options.output
def command(
    qrels: str,
    runs: tuple[str, ...],
    *,
    measures: tuple[str, ...],
    per_query: bool,
    qrels_format: str | None,
    run_format: str | None,
    features: tuple[int, ...],
    ascending: bool,
    form: str,
    digits: int,
    path: str | None,
    **policies: Any,
) -> None:
    """Measure RUNS against the judgments QRELS.

    Files may be TREC text, CSV, TSV, JSON, JSON Lines, Parquet or LETOR, plain or gzip; - is standard input. A LETOR
    file that holds both is named once, with --feature.
    """
    check_writable(path)
    names = chosen(measures, policies["ties"])
    parse_all(names)
    systems = listed(qrels, runs, run_format, features, ascending=ascending)
    judgments = read_qrels(qrels, format=qrels_format, threads=policies["threads"])
    results = measured(judgments, systems, names, policies)
    write(shown(results, form, digits, per_query=per_query), path)
    if form not in ("table", "json") or path not in (None, "-"):
        click.echo(notes(results), err=True, nl=False)


def chosen(measures: tuple[str, ...], ties: str) -> list[str]:
    """Return the measures asked for: the usual ones where none is named, all that the tie policy allows for `all`."""
    if "all" in measures:
        return [measure.name for measure in (EXPECTED if ties == "expected" else ALL)]
    return list(measures or DEFAULT)


def measured(judgments: Qrels, systems: list[System], names: list[str], policies: dict[str, Any]) -> dict[str, Scores]:
    """Evaluate all runs: one on all threads, or several at a time on a thread each."""
    threads = policies["threads"] or cores()
    alone = policies if len(systems) == 1 else policies | {"threads": 1}
    sizes: dict[str, float] = {system.name: system.size for system in systems}

    def work(system: System) -> Scores:
        scores = evaluate(judgments, system.open(), names, progress=partial(bar.reach, sizes, system.name), **alone)
        _ = scores.notes  # they are shown in any case
        return scores

    with Bar(sum(sizes.values())) as bar:
        return dict(zip(sizes, on_threads(work, systems, threads), strict=True))


def listed(
    qrels: str, runs: tuple[str, ...], form: str | None, features: tuple[int, ...], *, ascending: bool
) -> list[System]:
    """Return the runs to read, under names that differ; each feature of a LETOR file is a run."""
    if not runs and not features:
        raise click.UsageError("name a run to evaluate (or, of a LETOR file, a --feature)", click.get_current_context())
    paths = list(runs) or [qrels]
    if [qrels, *runs].count("-") > 1:
        raise InputError("standard input (-) can be read only once: give a file for the other")
    titles = run_names(paths)
    opened = partial(open_run, format=form, ascending=ascending)
    if not features:
        return [System(title, size_of(path), partial(opened, path)) for title, path in zip(titles, paths, strict=True)]
    each = [(title, path, feature) for title, path in zip(titles, paths, strict=True) for feature in features]
    return [
        System(f"{title}:{feature}", size_of(path), partial(opened, path, feature=feature))
        for title, path, feature in each
    ]


def shown(results: dict[str, Scores], form: str, digits: int, *, per_query: bool) -> str:
    """Return the results in a format; below a table, the notes."""
    if form == "json":
        return as_json(results, per_query=per_query)
    table = queries_table(results, form) if per_query else means_table(results, form)
    text = render(Table(table.header, table.rows, digits), form)
    return text + ("\n" + notes(results) if form == "table" and notes(results) else "")


def means_table(results: dict[str, Scores], form: str) -> Table:
    """Return one row a run; a table of a single run stands upright."""
    if form == "table" and len(results) == 1:
        ((name, scores),) = results.items()
        return Table(["measure", name], list(scores.mean().items()))
    measures = list(next(iter(results.values())).measures)
    return Table(["run", *measures], [[name, *scores.mean().values()] for name, scores in results.items()])


def queries_table(results: dict[str, Scores], form: str) -> Table:
    """Return one row a run and query; where people read it, the mean last."""
    rows: list[list[Cell]] = []
    for name, scores in results.items():
        rows += [[name, query, *values.values()] for query, values in scores.per_query().items()]
        if form not in ("csv", "tsv"):
            rows.append([name, "mean", *scores.mean().values()])
    return Table(["run", "query", *next(iter(results.values())).measures], rows)


def notes(results: dict[str, Scores]) -> str:
    """Return what there is to note, a line each, with the name of the run where there are several."""
    several = len(results) > 1
    lines = [f"{name}: {note}" if several else str(note) for name, scores in results.items() for note in scores.notes]
    return summed_up(lines)


def summed_up(lines: list[str]) -> str:
    """Return lines, and of very many only the first."""
    if len(lines) > MOST:
        rest = len(lines) - MOST
        lines = [*lines[:MOST], f"… and {rest:,} more notes; --format json has them all"]
    return "".join(f"{plain_line(line)}\n" for line in lines)


def as_json(results: dict[str, Scores], *, per_query: bool) -> str:
    """Return everything, values in full."""
    import json

    first = next(iter(results.values()))
    runs = [
        {"run": name, "mean": scores.mean()}
        | ({"queries": scores.per_query()} if per_query else {})
        | {"notes": [note.as_dict() for note in scores.notes]}
        for name, scores in results.items()
    ]
    return json.dumps({"ties": first.ties, "queries": first.policy, "runs": runs}, indent=2, ensure_ascii=False) + "\n"
