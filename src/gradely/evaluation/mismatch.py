"""Low values that are mistakes of the data: documents under other names, labels that are never relevant."""

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any

import numpy as np

from gradely.data import Hits, Qrels, Run
from gradely.data.read.sources import Source, clip, ignore
from gradely.data.table import Table, TableScores
from gradely.data.trec.chunks import IrregularText
from gradely.data.trec.one_query import read_query

FEW = 0.01
"""with a smaller share of the judged documents that a ranking has room for, ids are probably of two kinds; one of less
than 100 is a larger share"""
SAMPLE = 10_000
"""so many documents of a query are compared"""


def describe_mismatch(qrels: Qrels, run: Run | Source, hits: Hits) -> str | None:
    """Return a sentence where a run has no document, or almost none, in common with the judgments of its queries."""
    matches = len(hits.row)
    if matches > FEW * len(qrels.grade):  # there is no more room than that
        return None
    room = int(np.minimum(hits.retrieved, qrels.sizes)[hits.answered].sum())
    if not room or matches > FEW * room:
        return None
    many = "no document" if not matches else f"only {matches:,} of {room:,} judged documents"
    says = f"{many} of {qrels.name} {'is' if matches < 2 else 'are'} in the rankings of {run.name}"
    query, documents = _sample(qrels, run, hits)
    judged = list(islice(qrels.labels(query), SAMPLE))
    common = {*documents} & {*judged}
    documents, judged = ([name for name in names if name not in common] for names in (documents, judged))
    if not documents or not judged:
        return says
    document, judgment, reason = compare_ids(documents, judged)
    return f"{says}: query {clip(query)} has {clip(document)} in the run and {clip(judgment)} in the qrels{reason}"


def _sample(qrels: Qrels, run: Run | Source, hits: Hits) -> tuple[str, list[str]]:
    """Return a query that both have, and documents that the run has for it; of a file, a part is read."""
    both = np.flatnonzero(hits.answered & (hits.retrieved > 0))
    query = qrels.queries[int(both[0])]
    if isinstance(run, Source):
        return query, list(islice(read_query(run, query), SAMPLE))
    if isinstance(run.scores, TableScores):
        return _first_part(qrels, run.scores.table)
    return query, [str(doc) for doc in islice(run.scores[query], SAMPLE)]


def _first_part(qrels: Qrels, table: Table) -> tuple[str, list[str]]:
    """Return the first query of a table that has judgments, and some of its documents."""

    def look(part: Any) -> tuple[str, list[str]]:
        query, document, _ = part.columns()
        names = query.tokens()
        row = next((i for i, name in enumerate(names) if name in qrels.index), None)
        if row is None:
            return "", []
        same = [i for i in range(row, min(row + SAMPLE, len(names))) if names[i] == names[row]]
        return names[row], [document.name(i) for i in same]

    parts = table.map_parts(look, 1, ignore, whole_queries=False)
    try:
        return next(((query, documents) for query, documents in parts if documents), ("", []))
    except IrregularText:  # it was read the plain way, and an example is not worth to do so again
        return "", []


def _drop_zero_fraction(name: str) -> str:
    return re.sub(r"\.0+$", "", name)


def _digits(name: str) -> str:
    return re.sub(r"^.*?(\d+)\D*$", lambda match: match[1].lstrip("0") or "0", name, flags=re.DOTALL)


REASONS: dict[str, Callable[[str], str]] = {
    "blanks around one of them": str.strip,
    "upper and lower case": str.casefold,
    "numbers written as 10.0 and as 10": _drop_zero_fraction,
    "a prefix, an ending or leading zeros": _digits,
}


def compare_ids(ours: Iterable[str], theirs: Iterable[str]) -> tuple[str, str, str]:
    """Return an id of either side, alike where any two are, and how they differ.

    >>> compare_ids(["D1.0", "x"], ["y", "d1"])
    ('D1.0', 'y', '; they do not look alike')
    >>> compare_ids(["x", "DOC7"], ["doc7"])
    ('DOC7', 'doc7', '; is it upper and lower case?')
    """
    ours, theirs = list(ours), list(theirs)
    for reason, plain in REASONS.items():
        originals = {plain(name): name for name in reversed(theirs)}
        alike = next((name for name in ours if plain(name) in originals), None)
        if alike is not None:
            return alike, originals[plain(alike)], f"; is it {reason}?"
    return ours[0], theirs[0], "; they do not look alike"


def describe_low_labels(levels: Sequence[float], names: list[str]) -> str:
    """Return a sentence about the positive labels, none of which reaches 1, and measures that ask for 1."""
    return (
        f"the highest label is {levels[-1]:g}, and for {', '.join(names)} a document is relevant from label 1 on: "
        f"none is; say from which label, as in {names[0].split('@')[0].split('(')[0]}(rel={levels[0]:g})"
    )
