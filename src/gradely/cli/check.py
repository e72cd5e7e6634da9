"""gradely check."""

from functools import partial

import click

from gradely.cli import options
from gradely.cli.options import InputOptions, list_runs
from gradely.cli.output import Bar, say
from gradely.data import Qrels
from gradely.errors import GradelyError
from gradely.evaluation.check import Finding, check_qrels, check_run
from gradely.tables import plain_line


@click.command("check")
@options.files
@partial(options.inputs, whole=True)
def command(qrels: str, runs: tuple[str, ...], *, inputs: InputOptions) -> int:
    """Say what is wrong or odd in QRELS and RUNS.

    The exit code is 1 where something is wrong: lines that cannot be used, a file that cannot be read, or no query in
    common.
    """
    findings = check_files(qrels, runs, inputs)
    say("".join(f"{plain_line(str(finding))}\n" for finding in findings))
    return int(any(finding.kind == "wrong" for finding in findings))


def check_files(qrels: str, runs: tuple[str, ...], inputs: InputOptions) -> list[Finding]:
    """Return what there is to say about all files; one that cannot be read does not end the work."""
    opened, sizes = list_runs(qrels, runs, inputs) if runs or inputs.features else ({}, {})
    judgments: Qrels | None = None
    findings: list[Finding] = []
    try:
        judgments, findings = check_qrels(qrels, inputs.qrels_format, inputs.columns, inputs.duplicates)
    except GradelyError as error:
        findings.append(_unreadable(qrels, error))
    with Bar(sizes) as bar:
        for name, open_file in opened.items():
            try:
                findings += check_run(judgments, open_file(), partial(bar, name))
            except GradelyError as error:
                findings.append(_unreadable(name, error))
    return findings


def _unreadable(name: str, error: GradelyError) -> Finding:
    text = str(error)
    about, colon, rest = text.partition(": ")
    return Finding(about, "wrong", rest) if colon else Finding(name, "wrong", text)
