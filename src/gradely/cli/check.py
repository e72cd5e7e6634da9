"""gradely check."""

from functools import partial

import click

from gradely.cli import options
from gradely.cli.options import InputOptions, list_runs
from gradely.cli.output import Bar, OutputOptions, write_result
from gradely.data import Qrels
from gradely.errors import GradelyError
from gradely.evaluation.check import Finding, Findings, check_qrels, check_run


@click.command("check")
@options.files
@partial(options.inputs, whole=True)
@options.output
def command(qrels: str, runs: tuple[str, ...], *, inputs: InputOptions, output: OutputOptions) -> int:
    """Say what is wrong or odd in QRELS and RUNS.

    The exit code is 1 where something is wrong: lines that cannot be used, a file that cannot be read, or no query in
    common.
    """
    findings = check_files(qrels, runs, inputs)
    write_result(findings, output)
    return int(bool(findings.wrong))


def check_files(qrels: str, runs: tuple[str, ...], inputs: InputOptions) -> Findings:
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
    return Findings(findings)


def _unreadable(name: str, error: GradelyError) -> Finding:
    text = str(error)
    about, colon, rest = text.partition(": ")
    return Finding(about, "wrong", rest) if colon else Finding(name, "wrong", text)
