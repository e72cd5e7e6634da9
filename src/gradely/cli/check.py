"""gradely check."""

import click

from gradely.cli.output import say
from gradely.findings import check
from gradely.formats import plain_line


@click.command("check")
@click.argument("qrels")
@click.argument("runs", nargs=-1)
def command(qrels: str, runs: tuple[str, ...]) -> int:
    """Tell what is wrong or odd in the judgments QRELS and in RUNS.

    Leaves with 1 where something is wrong: lines that cannot be used, or no query in common.
    """
    findings = check(qrels, *runs)
    say("".join(f"{plain_line(str(finding))}\n" for finding in findings))
    return int(any(finding.kind == "wrong" for finding in findings))
