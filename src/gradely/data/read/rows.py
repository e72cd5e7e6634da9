"""Rows as they are read: {query: {document: value}} that knows the line each value came from."""

from array import array

from gradely.data.read.files import clip
from gradely.errors import DataError


class Rows:
    """Collects values line by line and refuses a document that comes twice."""

    def __init__(self, name: str, duplicates: str = "error") -> None:
        """Start empty; `name` is the file that errors speak of, `duplicates` what to do with a document there twice."""
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
                f"{self.name}:{line}: document {clip(doc)} of query {clip(query)} "
                f"is there already, in line {earlier}; keep one"
            )
        docs[doc] = value
        self._lines.setdefault(query, array("q")).append(line)
