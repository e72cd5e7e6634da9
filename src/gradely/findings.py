"""check: what is wrong or odd in judgments and runs, before anyone trusts a number."""

import os
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from gradely.data import Qrels, Run, read_qrels, read_run, trec
from gradely.data.read import format_of
from gradely.data.source import Source
from gradely.data.tied import tied_documents
from gradely.errors import DataError

SHOWN = 5
"""how many of many are named"""


class Finding(NamedTuple):
    """Something about the data: a plain fact, something odd, or something wrong."""

    about: str
    kind: str
    """fact, odd or wrong"""
    text: str

    def __str__(self) -> str:
        """Return the finding as a line."""
        return f"{self.about}: {self.text}" if self.kind == "fact" else f"{self.about}: {self.kind}: {self.text}"


def check(qrels: Any, *runs: Any) -> list[Finding]:
    """Return what there is to say about judgments and runs; all lines that cannot be used, not only the first.

    >>> for finding in check({"q": {"a": 1, "b": 0}}, {"q": {"a": 0.5, "x": 0.5}}):
    ...     print(finding)
    qrels: 1 query, 2 judgments; labels 0: 1, 1: 1
    run: 1 query, 2 documents
    run: 50.0 % of the documents are unjudged, 50.0 % of the top 10
    run: 100.0 % of the documents share their score with another, in 1 tie group
    """
    judgments, findings = _read_qrels(qrels)
    findings += _qrels(judgments)
    for each in runs:
        run, found = _read_run(each)
        findings += [*found, *_run(judgments, run)]
    return findings


def _scanned(given: Any, layout: trec.Layout) -> tuple[Source, dict[str, dict[str, float]], list[Finding]] | None:
    """Return all that can be read of a TREC file, and what is wrong with the rest; None for anything else."""
    if not isinstance(given, str | os.PathLike):
        return None
    source = Source(given)
    if format_of(source) != "trec":
        return None
    values, wrong = trec.scan(source, layout)
    if not values:
        raise DataError(f"{wrong[0]}; no line can be read")
    findings = [Finding(source.name, "wrong", text.removeprefix(f"{source.name}:")) for text in wrong[:SHOWN]]
    if len(wrong) > SHOWN:
        findings.append(Finding(source.name, "wrong", f"{len(wrong):,} lines in all cannot be used"))
    return source, values, findings


def _read_qrels(given: Any) -> tuple[Qrels, list[Finding]]:
    scanned = _scanned(given, trec.QRELS)
    return (Qrels.of(scanned[1], scanned[0].name), scanned[2]) if scanned else (read_qrels(given), [])


def _read_run(given: Any) -> tuple[Run, list[Finding]]:
    scanned = _scanned(given, trec.RUN)
    if not scanned:
        return read_run(given), []
    source, values, findings = scanned
    against = trec.ranks_against_scores(source)
    if against:
        findings.append(
            Finding(source.name, "odd", f"the rank column contradicts the scores in {_queries(against)}; scores count")
        )
    return Run(values, source.name), findings


def _qrels(qrels: Qrels) -> Iterator[Finding]:
    def fact(text: str, kind: str = "fact") -> Finding:
        return Finding(qrels.name, kind, text)

    labels, counts = np.unique(qrels.grade, return_counts=True)
    told = ", ".join(f"{label:g}: {count:,}" for label, count in zip(labels, counts, strict=True))
    told = (
        f"labels {told}" if len(labels) <= 12 else f"{len(labels):,} distinct labels, {labels[0]:g} to {labels[-1]:g}"
    )
    yield fact(f"{count_of(len(qrels), 'query')}, {count_of(len(qrels.grade), 'judgment')}; {told}")
    if labels[0] < 0:
        yield fact(f"{int(counts[labels < 0].sum()):,} labels are negative: judged, not relevant, no gain", "odd")
    best = np.maximum.reduceat(qrels.grade, qrels.start[:-1])
    barren = [qrels.queries[i] for i in np.flatnonzero(best <= 0).tolist()]
    if barren:
        yield fact(f"no relevant document in {_queries(barren)}; they score 0", "odd")


def _run(qrels: Qrels, run: Run) -> Iterator[Finding]:
    def fact(text: str, kind: str = "fact") -> Finding:
        return Finding(run.name, kind, text)

    shared = [query for query in run.scores if query in qrels.index]
    documents = sum(len(run.scores[query]) for query in run.scores)
    yield fact(f"{count_of(len(run.scores), 'query')}, {count_of(documents, 'document')}")
    if not shared:
        yield fact(f"no query in common with {qrels.name}", "wrong")
        return
    missing = [query for query in qrels.queries if query not in run.scores]
    if missing:
        yield fact(f"no results for {_queries(missing)} of the judgments", "odd")
    if len(shared) < len(run.scores):
        yield fact(
            f"no judgments for {_queries([query for query in run.scores if query not in qrels.index])} of the run",
            "odd",
        )
    yield fact(_unjudged(qrels, run, shared))
    yield from _ties(run, shared)


def _unjudged(qrels: Qrels, run: Run, shared: list[str]) -> str:
    """Return the share of documents without a label, in all and in the top 10."""
    judged = documents = top_judged = top = 0
    for query in shared:
        labels, scores = qrels.labels(query), run.scores[query]
        best = sorted(scores, key=lambda doc: (-scores[doc], doc))[:10]
        judged, documents = judged + sum(doc in labels for doc in scores), documents + len(scores)
        top_judged, top = top_judged + sum(doc in labels for doc in best), top + len(best)
    rest, top_rest = _share(documents - judged, documents), _share(top - top_judged, top)
    return f"{rest} of the documents are unjudged, {top_rest} of the top 10"


def _ties(run: Run, shared: list[str]) -> Iterator[Finding]:
    """Yield how many documents are tied, and how many only if scores are cut to single precision."""
    found = tied_documents(run, shared)
    if found.tied:
        yield Finding(
            run.name,
            "fact",
            f"{_share(found.tied, found.documents)} of the documents share their score with another, "
            f"in {count_of(found.groups, 'tie group')}",
        )
    if found.single:
        yield Finding(
            run.name,
            "odd",
            f"{count_of(found.single, 'more document')} tie in single precision only, "
            "where trec_eval 9 and older break ties by name",
        )


def _share(part: int, whole: int) -> str:
    return f"{100 * part / max(whole, 1):.1f} %"


def count_of(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural where there are several.

    >>> count_of(1, "query"), count_of(2, "query"), count_of(0, "tie group")
    ('1 query', '2 queries', '0 tie groups')
    """
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{number:,} {noun if number == 1 else plural}"


def _queries(names: list[str]) -> str:
    return f"{count_of(len(names), 'query')} ({', '.join(names[:SHOWN])}{', …' if len(names) > SHOWN else ''})"
