"""gradely explain."""

import click

from gradely.cli import options
from gradely.cli.argument_types import FILE, MEASURE
from gradely.cli.options import InputOptions, OutputOptions
from gradely.cli.output import write
from gradely.cli.results import to_json
from gradely.data import open_run, read_qrels
from gradely.evaluation.explain import Explanation, explain
from gradely.measures.names import parse
from gradely.settings import Settings
from gradely.tables import Table, plain_line, render


@click.command("explain")
@click.argument("qrels", type=FILE)
@click.argument("run", type=FILE)
@click.argument("query")
@click.option("-m", "--measure", required=True, type=MEASURE, metavar="MEASURE", help="The measure, like nDCG@10.")
@options.settings("ties", "seed", "precision")
@click.option("--depth", type=click.IntRange(min=1), help="Show only the first documents.")
@options.inputs
@options.output
def command(
    qrels: str,
    run: str,
    query: str,
    *,
    measure: str,
    depth: int | None,
    settings: Settings,
    inputs: InputOptions,
    output: OutputOptions,
) -> None:
    """Show the value of a measure on one QUERY, rank by rank: document, label, tie group, what it adds."""
    if len(inputs.features) > 1:
        raise click.UsageError("one --feature is explained at a time", click.get_current_context())
    feature = inputs.features[0] if inputs.features else None
    ranking = open_run(run, format=inputs.run_format, feature=feature, ascending=inputs.ascending)
    explanation = explain(
        read_qrels(qrels, format=inputs.qrels_format),
        ranking,
        query,
        measure,
        ties=settings.ties,
        precision=settings.precision,
        seed=settings.seed,
    )
    write(show(explanation, output.form, output.digits, depth), output.path)


def show(explained: Explanation, form: str, digits: int, depth: int | None) -> str:
    """Return the explanation in a format; in a table, with the sum below."""
    if form == "json":
        return to_json(explained._asdict() | {"lines": [line._asdict() for line in explained.lines]})
    graded = any(line.relevance is not None and line.relevance != line.label for line in explained.lines)
    header = ["rank", "document", "score", "label", *(["relevance"] if graded else []), "adds"]
    rows = [
        [
            line.rank,
            line.document,
            f"{line.score:g}",
            None if line.label is None else f"{line.label:g}",
            *([line.relevance] if graded else []),
            line.adds,
        ]
        for line in explained.lines[:depth]
    ]
    text = render(Table(header, rows, digits), form)
    return text + "\n" + summary(explained, digits, depth) if form == "table" else text


def summary(explained: Explanation, digits: int, depth: int | None) -> str:
    """Return what comes below the table: the rest, the sum, the norm, the value."""
    number = f".{digits}f"
    hidden = explained.lines[depth:] if depth else []
    lines = []
    if hidden:
        adds = sum(line.adds for line in hidden)
        lines.append(f"… and {len(hidden):,} more documents, which add {adds:{number}}")
    if explained.missed:
        some = ", ".join(f"{plain_line(doc)} ({label:g})" for doc, label in explained.missed[:5])
        more = ", …" if len(explained.missed) > 5 else ""
        lines.append(f"judged but not retrieved: {len(explained.missed):,} documents, with their labels: {some}{more}")
    if explained.start:
        lines.append(f"the sum begins with {explained.start:{number}}, before any judged document")
    total, norm, value = (f"{each:{number}}" for each in (explained.total, explained.norm, explained.value))
    lines += [
        f"ties: {explained.ties}",
        f"sum {total} / norm {norm} = {explained.measure} {value}",
        f"`gradely measures {parse(explained.measure).name}` has the formula",
    ]
    return "\n".join(lines) + "\n"
