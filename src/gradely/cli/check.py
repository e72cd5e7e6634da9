"""gradely check."""

import click

from gradely.cli.output import say
from gradely.cli.progress import Bar, size_of
from gradely.errors import InputError
from gradely.findings import Finding, check_qrels, check_run
from gradely.formats import plain_line


@click.command("check")
@click.argument("qrels")
@click.argument("runs", nargs=-1)
def command(qrels: str, runs: tuple[str, ...]) -> int:
    """Tell what is wrong or odd in the judgments QRELS and in RUNS.

    Leaves with 1 where something is wrong: lines that cannot be used, or no query in common.
    """
    findings = checked(qrels, runs)
    say("".join(f"{plain_line(str(finding))}\n" for finding in findings))
    return int(any(finding.kind == "wrong" for finding in findings))


def checked(qrels: str, runs: tuple[str, ...]) -> list[Finding]:
    """Return what there is to say; on a terminal, show how far it is."""
    if [qrels, *runs].count("-") > 1:
        raise InputError("standard input (-) can be read only once: give a file for the other")
    judgments, findings = check_qrels(qrels)
    with Bar(sum(map(size_of, runs))) as bar:
        for run in runs:
            bar.begin(run, size_of(run))
            findings += check_run(judgments, run, bar.show)
            bar.end()
    return findings
