"""Rows that are read line by line: values by query and document, with errors that name the line."""

from array import array
from math import isfinite

from gradely.data.source import Source
from gradely.errors import DataError, InputError, clip


class Rows:
    """Collects values line by line, and refuses duplicate documents or merges them."""

    def __init__(self, name: str, duplicates: str = "error") -> None:
        """Start empty; `name` is the file that errors speak of, `duplicates` what to do with duplicate documents."""
        self.name, self.duplicates = name, duplicates
        self.values: dict[str, dict[str, float]] = {}
        self._lines: dict[str, array[int]] = {}

    def add(self, line: int, query: str, doc: str, value: float) -> None:
        """Add one value."""
        docs = self.values.setdefault(query, {})
        if doc in docs and self.duplicates != "error":
            docs[doc] = {"max": max(docs[doc], value), "sum": docs[doc] + value, "first": docs[doc]}[self.duplicates]
            return
        if doc in docs:
            earlier = self._lines[query][list(docs).index(doc)]
            raise DataError(
                f"{self.name}:{line}: duplicate document {clip(doc)} of query {clip(query)}, first in line {earlier}; "
                "keep one"
            )
        docs[doc] = value
        self._lines.setdefault(query, array("q")).append(line)


def to_number(source: Source, kind: str, number: int, text: str) -> float:
    """Return a value; refuse what is not a finite number."""
    try:
        value = float(text) if "_" not in text else None
    except ValueError:
        value = None
    if value is None:
        raise InputError(f"{source.name}:{number}: the {kind} {clip(text)} is not a number")
    if not isfinite(value):
        raise DataError(f"{source.name}:{number}: the {kind} is {text}; it must be a finite number")
    return value
