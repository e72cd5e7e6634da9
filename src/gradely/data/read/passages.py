"""Passages as documents: the names of passages are cut, and the scores of a document's passages are combined."""

import re
from collections.abc import Callable

from gradely.data.read.lines import Collector, Values
from gradely.data.table import LazyScores, Run
from gradely.errors import DataError, InputError, clip
from gradely.tables import count_of

CHOSEN = {
    "max": "the score of its best passage",
    "sum": "the sum of its passages' scores",
    "first": "the score of its first passage",
}
"""how the score of a document is computed"""


def merge_passages(run: Run, pattern: str, duplicates: str = "error", *, some_match: bool = True) -> Run:
    """Return a run of documents from a run of passages.

    The name of the document is the match of the first group of a regular expression in the name of a passage; names
    that do not match are kept. The best passage of a document counts, unless `duplicates` says otherwise. With
    `some_match`, a pattern that matches no name at all is an error.

    >>> merge_passages(Run({"q": {"d1#0": 0.2, "d1#1": 0.9, "d2": 0.5}}), "(.*)#").scores
    {'q': {'d1': 0.9, 'd2': 0.5}}
    """
    find = compile_pattern(pattern)
    if isinstance(run.scores, LazyScores):
        raise DataError(
            f"{run.where}: document patterns do not work on lazy frames: map passages to "
            "documents in the engine (with regexp_extract) and use duplicates='max', or collect it first; "
            "gradely.adapters.spark.evaluate supports a pattern"
        )
    rows, passages, documents, names = Collector(run.name, "max" if duplicates == "error" else duplicates), 0, 0, 0
    first = None
    for query, ranking in run.scores.items():
        rows.values.setdefault(query, {})
        found = set()
        for name, score in ranking.items():
            document = find(str(name))
            first = str(name) if first is None else first
            rows.add(0, query, str(name) if document is None else document, float(score))
            if document is not None:
                found.add(document)
                passages += 1
        names, documents = names + len(ranking), documents + len(found)
    if not passages and some_match and first is not None:
        raise DataError(f"{run.where}: the document pattern {pattern!r} matches no document, such as {clip(first)}")
    size = f"{count_of(passages, 'passage')} into {count_of(documents, 'document')}"
    rest = names - passages
    keep = "does not match it and keeps its name" if rest == 1 else "do not match it and keep their names"
    others = f"; {count_of(rest, 'name')} {keep}" if rest else ""
    values = Values(rows.values)
    values.notes = [
        *run.notes,
        f"the document pattern {pattern!r} turned {size}; a document has {CHOSEN[rows.duplicates]}{others}",
    ]
    return Run(values, run.name, run.where)


def compile_pattern(pattern: str) -> Callable[[str], str | None]:
    """Return a function from the name of a passage to that of its document, or None if the pattern does not match.

    Raise InputError for a pattern that does not mark the name of the document.
    """
    try:
        expression = re.compile(pattern)
    except (re.error, TypeError) as error:
        raise InputError(f"the document pattern {pattern!r} is not a regular expression: {error}") from None
    if expression.groups != 1:
        example = "put the part that names the document, and nothing else, in parentheses, as in '^(.*)#'"
        raise InputError(f"the document pattern {pattern!r} has {count_of(expression.groups, 'group')}: {example}")

    def find(passage: str) -> str | None:
        match = expression.search(passage)
        return None if match is None else match[1]

    return find
