"""gradely check."""

import click

from gradely.cli import options
from gradely.cli.evaluate import System, listed
from gradely.cli.output import say
from gradely.cli.progress import Bar
from gradely.evaluation.check import Finding, check_qrels, check_run
from gradely.tables import plain_line


@click.command("check")
@click.argument("qrels")
@click.argument("runs", nargs=-1)
@options.inputs
def command(
    qrels: str,
    runs: tuple[str, ...],
    *,
    qrels_format: str | None,
    run_format: str | None,
    features: tuple[int, ...],
    ascending: bool,
) -> int:
    """Tell what is wrong or odd in the judgments QRELS and in RUNS.

    Leaves with 1 where something is wrong: lines that cannot be used, or no query in common.
    """
    systems = listed(qrels, runs, run_format, features, ascending=ascending) if runs or features else []
    findings = checked(qrels, qrels_format, systems)
    say("".join(f"{plain_line(str(finding))}\n" for finding in findings))
    return int(any(finding.kind == "wrong" for finding in findings))


def checked(qrels: str, form: str | None, systems: list[System]) -> list[Finding]:
    """Return what there is to say; on a terminal, show how far it is."""
    judgments, findings = check_qrels(qrels, form)
    with Bar(sum(system.size for system in systems)) as bar:
        for system in systems:
            bar.begin(system.name, system.size)
            findings += check_run(judgments, system.open(), bar.show)
            bar.end()
    return findings
