"""check: errors in qrels and runs, and likely mistakes."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gradely.data import Hits, Qrels, Report, Run, open_run, read_qrels, run_name
from gradely.data.column_roles import Names
from gradely.data.locate import find_hits
from gradely.data.read.formats import format_of
from gradely.data.read.lines import QRELS, RUN, Layout, Scan, scan
from gradely.data.read.readers import trec_table
from gradely.data.source import Source, ignore, split_report
from gradely.data.tie_counts import RunCounts, count_run
from gradely.data.uncertain import UncertainQrels
from gradely.errors import DataError, GradelyError
from gradely.evaluation.evaluate import Progress
from gradely.evaluation.evaluate import ignore as ignore_progress
from gradely.evaluation.likely_mistakes import describe_mismatch, describe_same, describe_swap
from gradely.evaluation.notes import Note
from gradely.evaluation.result import Result, Section
from gradely.parallel import cores
from gradely.settings import DuplicatePolicy, Settings
from gradely.tables import Table, count_of

SHOWN = 5
"""largest number of queries or lines that a finding lists"""
TOP = 10
"""depth for the share of unjudged documents"""


class Finding(NamedTuple):
    """A finding about the data: a fact, a warning or an error."""

    about: str
    kind: str
    """fact, warning or error"""
    text: str

    def __str__(self) -> str:
        """Return the finding as a line."""
        return f"{self.about}: {self.text}" if self.kind == "fact" else f"{self.about}: {self.kind}: {self.text}"


class Findings(Result, list[Finding]):
    """The findings about qrels and runs: a list that prints one line for each."""

    notes: Sequence[Note] = ()

    @property
    def errors(self) -> list[Finding]:
        """The errors, for which `gradely check` ends with exit code 1."""
        return [finding for finding in self if finding.kind == "error"]

    def table(self) -> Table:
        """Return one row per finding: what it is about, its kind and its text."""
        return Table(Finding._fields, [list(finding) for finding in self])

    def sections(self, digits: int) -> list[Section]:  # noqa: ARG002 - as all results have it
        """Return the findings, one per line."""
        return [[str(finding) for finding in self]]

    def document(self, digits: int) -> list[Section]:  # noqa: ARG002 - as all results have it
        """Return the findings as a table."""
        return [self.table()]

    def as_dict(self) -> dict[str, Any]:
        """Return the findings as plain data, with `wrong` true if there are errors."""
        return {"wrong": bool(self.errors), "findings": [finding._asdict() for finding in self]}


def check(
    qrels: Any,
    *runs: Any,
    columns: Names | None = None,
    duplicates: DuplicatePolicy = "error",
    document_pattern: str | None = None,
    progress: Progress = ignore_progress,
) -> Findings:
    """Find errors and likely mistakes in qrels and runs: all invalid lines, not only the first.

    Several runs may be given as a list of paths, or by name, {name: path or dataframe}. If qrels or a run cannot be
    read at all, this is a finding, and the others are still checked. `columns`, `duplicates` and `document_pattern` are
    as in read_run.

    >>> for finding in check({"q": {"a": 1, "b": 0}}, {"q": {"a": 0.5, "x": 0.5}}):
    ...     print(finding)
    qrels: 1 query, 2 judgments; labels 0: 1, 1: 1
    run: 1 query, 2 documents
    run: 50.0 % of the documents are unjudged, 50.0 % of the top 10
    run: 100.0 % of the documents share their score with another one, in 1 tie group
    """
    how = partial(open_run, columns=columns, duplicates=duplicates, document_pattern=document_pattern)
    named = [(name, partial(_open, how, run, name)) for item in runs for name, run in _spread(item)]
    return check_files(qrels, named, columns=columns, duplicates=duplicates, progress=progress)


def _spread(item: Any) -> Iterator[tuple[str, Any]]:
    """Yield runs with their names: one run, paths, or runs by name."""
    if isinstance(item, Mapping) and item and all(map(_is_whole, item.values())):
        yield from ((str(name), run) for name, run in item.items())
        return
    paths = isinstance(item, list | tuple) and all(isinstance(run, str | os.PathLike) for run in item)
    for run in item if paths else [item]:
        yield run_name(os.fspath(run)) if isinstance(run, str | os.PathLike) else "run", run


def _open(how: Callable[..., Run], run: Any, name: str) -> Run:
    """Open a run; in messages, a dataframe has the name it was given."""
    ranking = how(run)
    return Run(ranking.scores, ranking.name, name) if _is_frame(run) else ranking


def _is_whole(value: Any) -> bool:
    """Return whether a value is a run, and not the ranking of a query."""
    return isinstance(value, str | os.PathLike | Run) or _is_frame(value)


def _is_frame(value: Any) -> bool:
    if isinstance(value, str | os.PathLike | Run):  # needs no library of dataframes
        return False
    from gradely.data.read.frames import is_frame

    return is_frame(value)


def check_files(
    qrels: Any,
    runs: Iterable[tuple[str, Any]],
    form: str | None = None,
    columns: Names | None = None,
    duplicates: DuplicatePolicy = "error",
    progress: Progress = ignore_progress,
) -> Findings:
    """Check qrels, and runs with their names; the check continues if one of them cannot be read."""
    judgments: Qrels | None = None
    findings = Findings()
    try:
        judgments, found = check_qrels(qrels, form, columns, duplicates)
        findings += found
    except GradelyError as error:
        findings.append(_unreadable(str(qrels) if isinstance(qrels, str | os.PathLike) else "qrels", error))
    for name, run in runs:
        try:
            findings += check_run(judgments, run, partial(progress, name))
        except GradelyError as error:
            findings.append(_unreadable(name, error))
    return findings


def _unreadable(name: str, error: GradelyError) -> Finding:
    text = str(error)
    about, colon, rest = text.partition(": ")
    return Finding(about, "error", rest) if colon else Finding(name, "error", text)


def check_qrels(
    qrels: Any, form: str | None = None, columns: Names | None = None, duplicates: DuplicatePolicy = "error"
) -> tuple[Qrels, list[Finding]]:
    """Return the judgments that can be read, and the findings about them."""
    qrels = Source(qrels) if isinstance(qrels, str | os.PathLike) else qrels
    try:
        judgments = read_qrels(qrels, format=form, columns=columns, duplicates=duplicates)
        wrong: list[Finding] = []
    except GradelyError:
        by_subtopic = _read_by_subtopic(qrels, form, columns)
        if by_subtopic is not None:
            judgments, wrong = by_subtopic, []
        elif not isinstance(qrels, Source) or (form or format_of(qrels)) != "trec":
            raise
        else:
            scanned = _scan(qrels, QRELS)
            judgments, wrong = Qrels.of(scanned.values, qrels.name), _list_errors(qrels.name, scanned.wrong)
    warnings = [("warning", note.removeprefix(judgments.name).lstrip(": ")) for note in judgments.notes]
    return judgments, [*wrong, *(Finding(judgments.name, *line) for line in (*warnings, *_describe_qrels(judgments)))]


def _read_by_subtopic(qrels: Any, form: str | None, columns: Names | None) -> Qrels | None:
    """Return the qrels as judgments by subtopic, in which documents occur repeatedly; None if they are not."""
    try:
        return read_qrels(qrels, format=form, columns=columns, subtopics=True)
    except GradelyError:
        return None


def check_run(qrels: Qrels | None, source: Any, report: Report = ignore) -> list[Finding]:
    """Return the findings about a run; without qrels, those about the run alone."""
    run = open_run(source)
    table = trec_table(run)
    if table is not None:
        hits, counts, wrong = _check_file(qrels, run, table.source, report)
    else:
        hits = None if qrels is None else find_hits(qrels, run, Settings())
        counts, wrong = count_run(run.scores, {}), []
    if qrels is None or hits is None:
        lines = [("fact", count_of(counts.documents, "document")), *_describe_ties(counts)]
    else:
        apart = None if wrong else describe_mismatch(qrels, run, hits)
        warnings = [*run.notes, *filter(None, [describe_swap(qrels, run, hits), describe_same(qrels, run)])]
        lines = [
            *(("warning", note.removeprefix(f"{run.name}: ")) for note in warnings),
            *_describe_run(qrels, hits, counts),
        ]
        lines += [("error", apart)] if apart else []
    return [*wrong, *(Finding(run.where, *line) for line in lines)]


def _check_file(
    qrels: Qrels | None, run: Run, source: Source, report: Report
) -> tuple[Hits | None, RunCounts, list[Finding]]:
    """Return the hits, counts and errors of a TREC run.

    A valid file is read in two passes, with little memory; otherwise it is read line by line, to explain its errors.
    """
    from gradely.data.survey import survey
    from gradely.data.table import IrregularText

    try:
        first, second = split_report(report)
        counts = survey(source, cores(), first)
        return None if qrels is None else find_hits(qrels, run, Settings(), report=second), counts, []
    except (GradelyError, IrregularText):
        scanned = _scan(source, RUN, report)
        hits = None if qrels is None else find_hits(qrels, Run(scanned.values, source.name), Settings())
        return hits, count_run(scanned.values, scanned.ranks), _list_errors(source.name, scanned.wrong)


def _scan(source: Source, layout: Layout, report: Report = ignore) -> Scan:
    """Return the valid lines of a TREC file, and the errors of the others."""
    scanned = scan(source, layout, report)
    if not scanned.values:
        raise DataError(f"{scanned.wrong[0]}; no line can be read")
    return scanned


def _list_errors(name: str, texts: list[str]) -> list[Finding]:
    places = [text.removeprefix(f"{name}:").partition(": ") for text in texts[:SHOWN]]
    findings = [Finding(f"{name}:{line}", "error", text) for line, _, text in places]
    if len(texts) > SHOWN:
        findings.append(Finding(name, "error", f"{len(texts):,} lines in all cannot be used"))
    return findings


def _describe_qrels(qrels: Qrels) -> Iterator[tuple[str, str]]:
    """Yield the kind and text of each finding about qrels."""
    if isinstance(qrels, UncertainQrels):
        means = zip(qrels.scale.tolist(), qrels.chance.sum(axis=0).tolist(), strict=True)
        listing = ", ".join(f"{label:g}: {mean:.4g}" for label, mean in means)
        size = f"{count_of(len(qrels), 'query')}, {count_of(len(qrels.docs), 'judgment')}"
        yield "fact", f"{size}; labels are probabilities, on average {listing}"
        return
    if qrels.subtopics is not None:
        least, most = int(qrels.subtopics.counts.min()), int(qrels.subtopics.counts.max())
        number = count_of(most, "subtopic") if least == most else f"{least:,} to {most:,} subtopics"
        yield "fact", f"documents are judged by subtopic, {number} per query; below, the highest label of each counts"
    labels, counts = np.unique(qrels.grade, return_counts=True)
    listing = ", ".join(f"{label:g}: {count:,}" for label, count in zip(labels, counts, strict=True))
    listing = (
        f"labels {listing}"
        if len(labels) <= 12
        else f"{len(labels):,} distinct labels, {labels[0]:g} to {labels[-1]:g}"
    )
    yield "fact", f"{count_of(len(qrels), 'query')}, {count_of(len(qrels.grade), 'judgment')}; {listing}"
    if labels[0] < 0:
        below = count_of(int(counts[labels < 0].sum()), "judgment")
        text = f"a negative label in {below}: judged, but not relevant, and without gain"
        low = f"{labels[0]:g}"
        yield (
            "warning",
            f"{text}; if {low} is the lowest level of a scale, use relevance=shift({low}), and rel above it",
        )
    if labels[0] > 0 and len(labels) > 1:
        low = f"{labels[0]:g}"
        text = f"the lowest label is {low}, so every judged document counts as relevant to graded measures"
        yield "fact", f"{text}; if {low} means not relevant, use nDCG(relevance=shift({low})), and rel above it"
    best = np.maximum.reduceat(qrels.grade, qrels.start[:-1])
    empty = [qrels.queries[i] for i in np.flatnonzero(best <= 0).tolist()]
    if empty:
        yield "warning", f"no relevant document in {_queries(empty)}; their scores are 0"


def _describe_run(qrels: Qrels, hits: Hits, counts: RunCounts) -> Iterator[tuple[str, str]]:
    """Yield the kind and text of each finding about a run and qrels."""
    answered = int(hits.answered.sum())
    queries = count_of(answered + hits.unjudged.size, "query")
    yield "fact", f"{queries}, {count_of(counts.documents, 'document')}"
    if counts.against:
        yield "warning", f"the rank column contradicts the scores in {_queries(counts.against)}; scores are used"
    if not answered:
        yield "error", f"no query in common with {qrels.name}"
        return
    if answered < len(qrels):
        missing = [qrels.queries[i] for i in np.flatnonzero(~hits.answered).tolist()]
        yield "warning", f"no results for {_queries(missing)} of the qrels"
    if hits.unjudged.size:
        yield "warning", f"no judgments for {_queries(hits.unjudged.names, hits.unjudged.size)} of the run"
    yield "fact", _share_unjudged(hits)
    yield from _describe_ties(counts)


def _share_unjudged(hits: Hits) -> str:
    """Return a text with the unjudged share of all documents and of the top 10 (the mean over orders of ties)."""
    rest = _share(hits.documents - len(hits.row), hits.documents)
    top = float(np.minimum(hits.retrieved, TOP).sum())
    judged = float((np.clip(TOP - hits.above, 0, hits.tied) / hits.tied).sum())
    return f"{rest} of the documents are unjudged, {_share(top - judged, top)} of the top {TOP}"


def _describe_ties(counts: RunCounts) -> Iterator[tuple[str, str]]:
    """Yield findings on documents that are tied, and on those that are only tied in single precision."""
    if counts.tied:
        share, groups = _share(counts.tied, counts.documents), count_of(counts.groups, "tie group")
        yield "fact", f"{share} of the documents share their score with another one, in {groups}"
    if counts.single:
        more = count_of(counts.single, "more document")
        yield "warning", f"{more} would tie in single precision, where trec_eval 9 and older break ties by name"


def _share(part: float, whole: float) -> str:
    return f"{100 * part / max(whole, 1):.1f} %"


def _queries(names: Sequence[str], count: int | None = None) -> str:
    """Return the number of queries, by default that of the names, and the first names."""
    count = len(names) if count is None else count
    return f"{count_of(count, 'query')} ({', '.join(names[:SHOWN])}{', …' if count > SHOWN else ''})"
