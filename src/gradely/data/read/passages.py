"""Passages of documents as documents: their names are cut, and of the passages of a document one score is made."""

import re
from collections.abc import Callable

from gradely.data.read.lines import Rows
from gradely.data.run import Run
from gradely.errors import InputError


def merge_passages(run: Run, pattern: str, duplicates: str = "error") -> Run:
    """Return a run of documents from one of passages.

    The document is what the first group of a regular expression matches in the name of a passage; other names stay.
    Of the passages of a document, the best counts, unless `duplicates` says otherwise.

    >>> merge_passages(Run({"q": {"d1#0": 0.2, "d1#1": 0.9, "d2": 0.5}}), "(.*)#").scores
    {'q': {'d1': 0.9, 'd2': 0.5}}
    """
    name_document = _reader(pattern)
    rows = Rows(run.name, "max" if duplicates == "error" else duplicates)
    for query, ranking in run.scores.items():
        rows.values.setdefault(query, {})
        for passage, score in ranking.items():
            rows.add(0, query, name_document(str(passage)), float(score))
    return Run(rows.values, run.name, run.where)


def _reader(pattern: str) -> Callable[[str], str]:
    """Return what finds the name of a document in that of a passage; refuse a pattern that does not say which part."""
    try:
        expression = re.compile(pattern)
    except re.error as error:
        raise InputError(f"--doc-id {pattern!r} is no regular expression: {error}") from None
    if expression.groups != 1:
        raise InputError(f"--doc-id {pattern!r}: put the part that names the document in parentheses, as in '(.*)#'")

    def find(passage: str) -> str:
        match = expression.search(passage)
        return passage if match is None or match[1] is None else match[1]

    return find
