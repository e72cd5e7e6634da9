"""gradely gate."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import click

from gradely.cli import options
from gradely.cli.options import FILE, InputOptions, Request, choose_measures, show_progress
from gradely.cli.output import OutputOptions, check_output, say, say_beside, write_file, write_result
from gradely.cli.suite import files_of, open_suite, sizes_of
from gradely.comparison.gate import Gate, find_saved, gate, keep_scores
from gradely.comparison.suite import read_suite, suite
from gradely.comparison.suite_gate import SuiteGate
from gradely.comparison.tests import ALONE, CORRECTIONS, RESAMPLES
from gradely.comparison.verdicts import UNDECIDED, Verdicts, check_floors, check_limits
from gradely.errors import InputError
from gradely.evaluation.result import shorten_list
from gradely.measures.names import parse
from gradely.settings import Correction, Undecided
from gradely.tables import plain_line


@options.command("gate", context_settings={"allow_extra_args": True})
@click.argument("qrels", type=FILE, required=False, metavar="QRELS")
@click.argument("new", type=FILE, required=False, metavar="NEW")
@click.option("--baseline", type=FILE, metavar="OLD", help="The old run, or its scores as written by --save.")
@click.option(
    "--suite",
    "collections",
    type=FILE,
    metavar="FILE",
    help="Compare systems on the collections that FILE lists, as in `gradely suite`. NEW and OLD are then systems; "
    "omit QRELS.",
)
@options.measures
@click.option(
    "--max-drop",
    "drops",
    multiple=True,
    metavar="[MEASURE=]DROP",
    help="Allowed drop of every mean, like 0.01, or of one measure, like AP=0.02. Repeatable. [default: 0]",
)
@click.option(
    "--non-inferior",
    "margins",
    multiple=True,
    metavar="[MEASURE=]DROP",
    help="Instead of --max-drop: pass only if every mean is shown to fall by less than this.",
)
@click.option(
    "--min",
    "minimum",
    multiple=True,
    metavar="MEASURE=FLOOR",
    help="Fail if the mean of NEW is below this, like R@10=0.85, regardless of OLD. Repeatable.",
)
@click.option("--strict", is_flag=True, help="Fail if a drop exceeds its limit, significantly or not.")
@options.choice("--undecided", UNDECIDED, "pass", "Result if the tests leave open whether NEW is worse.")
@options.alpha
@options.choice("--test", ALONE, "t", "Significance test.")
@options.choice("--correction", CORRECTIONS, "holm", "Correction for multiple measures.")
@options.count("--resamples", RESAMPLES, "Resamples of the randomization and bootstrap tests.")
@click.option(
    "--summary", type=FILE, metavar="FILE.md", help="Write a summary in Markdown, with the queries that lost the most."
)
@click.option(
    "--junit", type=FILE, metavar="FILE.xml", help="Write JUnit XML: one test case per measure and per --min."
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
    help="Also fail if labels of unjudged documents decide whether a drop exceeds its limit.",
)
@options.settings()
@options.weights
@options.inputs
@options.output
def command(
    qrels: str | None,
    new: str | None,
    *,
    baseline: str | None,
    collections: str | None,
    summary: str | None,
    junit: str | None,
    save: str | None,
    queries_text: str | None,
    policies: dict[str, Any],
    output: OutputOptions,
    **options_of_runs: Any,
) -> int:
    """Fail with exit code 1 if the run NEW is shown to be worse than OLD by more than allowed.

    Exit code 0 means that the gate passed: NEW is shown not to be worse, or the result is undecided, as the first line
    says. Exit code 2 means an error, such as a file that could not be read. Without --baseline, nothing is compared:
    --min sets floors for NEW, and --save writes its scores for the next time. Without -m, the measures are those of the
    saved scores. For several collections, use: gradely gate --suite FILE NEW --baseline OLD.
    """
    context = click.get_current_context()
    files = Files(summary, junit, save, queries_text)
    if collections is not None:
        if qrels is None:
            raise click.UsageError(f"name the new system: gradely gate --suite {collections} NEW", context)
        arguments = (context, files, collections, qrels, new, baseline, policies, output)
        verdict: Verdicts | None = gate_on_suite(*arguments, **options_of_runs)
    elif qrels is None or new is None:
        raise click.UsageError("name the new run after the qrels: gradely gate QRELS NEW --baseline OLD", context)
    else:
        verdict = gate_on_runs(context, files, qrels, new, baseline, policies, **options_of_runs)
    if verdict is None:
        return 0
    files.write(verdict)
    write_result(verdict, output)
    return 0 if verdict.passed else 1


class Files(NamedTuple):
    """The files that are written in addition to the verdict, and the texts for them."""

    summary: str | None
    junit: str | None
    save: str | None
    queries_text: str | None

    def check(self, context: click.Context, replaces: str | None = None, inputs: Iterable[str] = ()) -> None:
        """Raise an error now, before long work, if a file cannot be written."""
        if self.queries_text is not None and self.summary is None:
            raise click.UsageError("--queries-text has an effect only with --summary: add it", context)
        for path in (self.summary, self.junit):
            check_output(path, beside=True, inputs=inputs)
        check_output(self.save, replaces=replaces, beside=True)

    def write(self, verdict: Verdicts) -> None:
        """Write the summary, the test cases, and the scores of a run that passed, to the files that are named."""
        if self.summary:
            write_file(verdict.markdown(self.queries_text).encode(), self.summary)
        if self.junit:
            write_file(verdict.junit().encode(), self.junit)
        if self.save and verdict.passed and isinstance(verdict, Gate):
            write_file(verdict.saved.text().encode(), self.save)


def gate_on_runs(
    context: click.Context,
    files: Files,
    qrels: str,
    new: str,
    baseline: str | None,
    policies: dict[str, Any],
    *,
    measures: tuple[str, ...],
    drops: tuple[str, ...],
    margins: tuple[str, ...],
    minimum: tuple[str, ...],
    inputs: InputOptions,
    judge: str | None,
    **design: Any,
) -> Gate | None:
    """Compare two runs, or one run with its floors; without either, save the scores of the run, and return None."""
    if context.args:
        hint = f"; did you mean --baseline {context.args[0]}?" if baseline is None and len(context.args) == 1 else ""
        raise click.UsageError(f"a gate takes only one run, NEW; also found {' '.join(context.args)}{hint}", context)
    _source, earlier = find_saved(baseline)  # the source is held, since it may be a pipe
    files.check(context, baseline if earlier else None)
    floors = read_floors(minimum)
    if baseline is None and files.save is None and not floors:
        raise click.UsageError("name a --baseline to compare with, a floor with --min, or a file to --save", context)
    if baseline is None and (drops or margins):
        raise click.UsageError(f"--{'max-drop' if drops else 'non-inferior'} needs a --baseline", context)
    measures = measures or tuple(earlier.measures if earlier else ())
    names = choose_measures(measures, policies["ties"])
    limits = read_drops(drops, margins, names) if baseline is not None else {}
    paths = (new,) if baseline is None or earlier else (new, baseline)
    request = Request(qrels, paths, policies, inputs, measures)
    human, data = request.read_both(judge) if judge else (None, request.read())
    labels = data.qrels if judge else None
    data = data._replace(qrels=human or data.qrels)
    if len(data.runs) != len(paths):
        raise InputError("give one --feature: a gate is about one run")
    run, *older = data.runs.values()
    if baseline is None and not floors:
        path = str(files.save)
        with data.bar() as bar:
            scores = keep_scores(data.qrels, run, data.measures, progress=bar, judge=labels, **request.keywords)
        write_file(scores.text().encode(), path)
        say(f"{plain_line(path)}: the scores of {plain_line(scores.name)}; nothing was compared\n")
        say_beside(shorten_list([*map(str, scores.notes)]))
        return None
    kept = names if measures or baseline is not None or files.save else None
    with data.bar() as bar:
        old = older[0] if older else earlier
        keywords = limits | design | request.keywords
        return gate(data.qrels, run, old, kept, floors=floors, progress=bar, judge=labels, **keywords)


SUITED = {
    *("qrels", "new", "baseline", "collections", "measures", "drops", "margins", "minimum", "strict", "undecided"),
    *("alpha", "correction", "summary", "junit", "form", "digits", "path", "safe_csv", *options.SETTINGS),
    *("weights", "exclude", "columns", "duplicates", "document_pattern", "qrels_format", "run_format", "features"),
    *("ascending", "split"),
}
"""the options that a gate on a suite supports; the others are about single files, or about queries"""


def gate_on_suite(
    context: click.Context,
    files: Files,
    listed: str,
    new: str,
    more: str | None,
    baseline: str | None,
    policies: dict[str, Any],
    output: OutputOptions,
    *,
    measures: tuple[str, ...],
    drops: tuple[str, ...],
    margins: tuple[str, ...],
    minimum: tuple[str, ...],
    strict: bool,
    undecided: Undecided,
    alpha: float,
    correction: Correction,
    inputs: InputOptions,
    **_: Any,
) -> SuiteGate:
    """Compare two systems over the collections of a suite."""
    for parameter in context.command.params:
        given = context.get_parameter_source(str(parameter.name)) == click.core.ParameterSource.COMMANDLINE
        if given and parameter.name not in SUITED:
            instead = ": keep the runs of a system that passed, and list them in FILE as the baseline"
            hint = instead if parameter.name == "save" else ""
            raise click.UsageError(f"{parameter.opts[0]} does not apply to a --suite{hint}", context)
    if more is not None:
        told = f"; the qrels are those of {listed}, so give NEW alone"
        raise click.UsageError(f"with --suite, a gate takes only one system, NEW; also found {more}{told}", context)
    file = read_suite(listed)
    files.check(context, inputs=files_of(file))
    check_output(output.path, inputs=files_of(file))
    old = baseline if baseline is not None else next(iter(file.baselines), None)
    floors = read_floors(minimum)
    if old is None and not floors:
        raise click.UsageError(f"name a --baseline, here or in {listed}, or a floor with --min", context)
    names = choose_measures(measures or tuple(file.measures or ()), policies["ties"])
    limits = read_drops(drops, margins, names)
    with show_progress(sizes_of(file)) as bar:
        every = names | {name: parse(name) for name in floors}
        opened = open_suite(file, inputs.for_measures(every), policies["threads"])
        keywords = policies | inputs.keywords
        found = suite(opened, names, alpha=alpha, correction=correction, progress=bar, **keywords)
    return found.gate(new, old, floors=floors, strict=strict, undecided=undecided, **limits)


def read_drops(drops: tuple[str, ...], margins: tuple[str, ...], names: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keyword max_drop or non_inferior of a gate from the options."""
    if drops and margins:
        raise InputError("give --max-drop or --non-inferior: both say how much a mean may fall")
    if margins:
        return {"non_inferior": check_limits(read_limits(margins, names, "--non-inferior"), list(names.values()))}
    return {"max_drop": check_limits(read_limits(drops, names, "--max-drop"), list(names.values()))}


def read_limits(drops: tuple[str, ...], names: Iterable[str], flag: str) -> dict[str, float]:
    """Return the limit of each measure from DROP, for all measures, or MEASURE=DROP, for one."""
    usual, limits = 0.0, {}
    for text in drops:
        measure, limit = split_number(text)
        if limit is None:
            raise InputError(f"{flag} {text!r}: give a number like 0.01, or one for a measure like AP=0.02")
        if measure:
            limits[str(parse(measure))] = limit
        else:
            usual = limit
    return dict.fromkeys((str(parse(name)) for name in names), usual) | limits


def read_floors(minimum: tuple[str, ...]) -> dict[str, float]:
    """Return the floor of each measure from MEASURE=FLOOR."""
    floors: dict[str, float] = {}
    for text in minimum:
        measure, floor = split_number(text)
        if not measure or floor is None:
            raise InputError(f"--min {text!r}: give a measure and its floor, like R@10=0.85")
        name = str(parse(measure))
        if name in floors:
            raise InputError(f"--min {text!r}: {name} already has a floor, {floors[name]:g}")
        floors[name] = floor
    return check_floors(floors)


def split_number(text: str) -> tuple[str, float | None]:
    """Split MEASURE=NUMBER, where the measure may be missing; the number is None if it is not a number."""
    measure, _, number = text.rpartition("=")
    try:
        return measure, float(number)
    except ValueError:
        return measure, None
