"""Judgments by subtopic: the labels of each judged document for each subtopic of its query."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from gradely.data.ids import Floats, Ints, encode
from gradely.errors import DataError, clip, did_you_mean

NOT_JUDGED = -np.inf
"""the label of a document for a subtopic that it was not judged for"""


class JudgedSubtopics(NamedTuple):
    """Labels by subtopic; a row is a row of the qrels, and column s is subtopic s of the row's query."""

    names: Sequence[Sequence[str]]
    """the sorted subtopics of each query"""
    labels: Floats
    """[rows, S] minus infinity if a document is not judged for a subtopic, or if a query has fewer subtopics"""
    weights: Floats | None = None
    """[queries, S] the probability that a user means each subtopic; None if it is unknown"""

    @classmethod
    def of(cls, labels: Mapping[str, Mapping[str, Mapping[str, float]]]) -> "JudgedSubtopics":
        """Create it from {query: {document: {subtopic: label}}}; rows are the documents in this order."""
        names = [
            sorted(dict.fromkeys(name for document in documents.values() for name in document), key=natural_key)
            for documents in labels.values()
        ]
        table = np.full((sum(map(len, labels.values())), max(map(len, names), default=1)), NOT_JUDGED)
        row = 0
        for subtopics, documents in zip(names, labels.values(), strict=True):
            place = {name: s for s, name in enumerate(subtopics)}
            for document in documents.values():
                for name, label in document.items():
                    table[row, place[name]] = label
                row += 1
        return cls(names, table)

    @classmethod
    def of_columns(
        cls, subtopics: Sequence[str], query: Ints, row: Ints, subtopic: Ints, label: Floats
    ) -> "JudgedSubtopics":
        """Create it from the sorted names of all subtopics, and the number of query, row and subtopic of each label."""
        cell = query * len(subtopics) + subtopic
        present = np.unique(cell)
        begin = np.searchsorted(present, np.arange(int(query.max()) + 2) * len(subtopics))
        table = np.full((int(row.max()) + 1, int(np.diff(begin).max())), NOT_JUDGED)
        table[row, np.searchsorted(present, cell) - begin[query]] = label
        named = [subtopics[i] for i in (present % len(subtopics)).tolist()]
        return cls([named[i:j] for i, j in pairwise(begin.tolist())], table)

    @property
    def counts(self) -> Ints:
        """The number of subtopics of each query."""
        return np.array([len(names) for names in self.names])

    def of_row(self, query: int, row: int) -> dict[str, float]:
        """Return {subtopic: label} of a row, which belongs to the query with this number."""
        labels = zip(self.names[query], self.labels[row].tolist(), strict=False)
        return {name: label for name, label in labels if label != NOT_JUDGED}

    def select(self, queries: Ints, rows: Ints) -> "JudgedSubtopics":
        """Return the labels of some queries and some rows."""
        weights = None if self.weights is None else self.weights[queries]
        return JudgedSubtopics([self.names[i] for i in queries.tolist()], self.labels[rows], weights)

    def with_weights(
        self, weights: Mapping[str, Mapping[str, float]], queries: Sequence[str], name: str
    ) -> "JudgedSubtopics":
        """Return it with {query: {subtopic: weight}}; every subtopic needs a weight from 0 to 1."""
        table = np.zeros((len(queries), self.labels.shape[1]))
        for q, (query, subtopics) in enumerate(zip(queries, self.names, strict=True)):
            stated = weights.get(query, {})
            for s, subtopic in enumerate(subtopics):
                if subtopic not in stated:
                    hint = did_you_mean(subtopic, stated) if stated else ""
                    raise DataError(f"{name}: no weight for subtopic {clip(subtopic)} of query {clip(query)}.{hint}")
                if not 0 <= stated[subtopic] <= 1:
                    where = f"subtopic {clip(subtopic)} of query {clip(query)}"
                    raise DataError(f"{name}: the weight of {where} is {stated[subtopic]:g}; it must be from 0 to 1")
                table[q, s] = stated[subtopic]
        return self._replace(weights=table)

    def order_rows(self, start: Ints, documents: Sequence[str], *, by_name: bool) -> Ints:
        """Return the rows of each query in the order in which the greedy ideal prefers documents of equal gain.

        They are sorted by label, that of the first subtopic first, so names do not matter; or by name, the last one
        first, as trec_eval orders ties.
        """
        query = np.repeat(np.arange(len(start) - 1), np.diff(start))
        if by_name:
            order = sorted(range(len(query)), key=lambda row: (-int(query[row]), encode(documents[row])), reverse=True)
            return np.array(order, np.int64)
        columns = [-self.labels[:, s] for s in range(self.labels.shape[1] - 1, -1, -1)]
        return np.lexsort((*columns, query))


def natural_key(name: str) -> tuple[bool, int, str]:
    """Return the sort key of a subtopic: numbers by size, before names."""
    return (False, int(name), name) if name.isdecimal() and len(name) < 19 else (True, 0, name)
