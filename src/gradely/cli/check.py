"""gradely check."""

from functools import partial

from gradely.cli import options
from gradely.cli.options import InputOptions, list_runs, refuse_measure
from gradely.cli.output import Bar, OutputOptions, write_result
from gradely.data import open_run
from gradely.evaluation.check import check_files


@options.command("check")
@options.files
@partial(options.inputs, whole=True)
@options.output
def command(qrels: str, runs: tuple[str, ...], *, inputs: InputOptions, output: OutputOptions) -> int:
    """Find errors and likely mistakes in QRELS and RUNS.

    The exit code is 1 if there are errors: lines that cannot be used, a file that cannot be read, or no query in
    common.
    """
    refuse_measure(qrels)
    opened, sizes = list_runs(qrels, runs, inputs) if runs or inputs.features else ({}, {})
    with Bar(sizes) as bar:
        runs_by_name = [(name, partial(open_run, run, **inputs.keywords)) for name, run in opened.items()]
        findings = check_files(
            qrels, runs_by_name, inputs.qrels_format, inputs.columns, inputs.duplicates, progress=bar
        )
    write_result(findings, output)
    return int(bool(findings.errors))
