"""Qrels: the judged documents, one flat table for all queries."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import chain

import numpy as np

from gradely.data.read.files import clip
from gradely.data.types import Floats, Ints
from gradely.data.values import flat
from gradely.errors import DataError
from gradely.kernel.batch import Levels
from gradely.tables import count_of


class Qrels:
    """Labels by query and document. Rows start[i] … start[i+1] - 1 are the judgments of query i."""

    def __init__(
        self, queries: Sequence[str], start: Ints, docs: Sequence[str], grade: Floats, name: str = "qrels"
    ) -> None:
        """Hold the columns; nothing is copied."""
        self.queries, self.start, self.docs, self.grade, self.name = queries, start, docs, grade, name
        self.hashed: object = None
        """what the fast reader makes of it, once"""
        self.whole = False
        """True where queries were given as whole numbers, and not as text that looks like them"""
        self.notes: list[str] = []
        """what was taken for granted when it was read"""
        self.selected = False
        """True where they are those of some queries, and others do not matter"""
        self.excluded: Qrels | None = None
        """documents that are dropped from rankings first"""
        self.segments: Mapping[str, str] | None = None
        """the segment of each query, where means by segment are asked for"""

    @classmethod
    def of(cls, labels: Mapping[str, Mapping[str, float]], name: str = "qrels") -> "Qrels":
        """Make it from {query: {document: label}}, ids as text."""
        queries, tables = list(labels), list(labels.values())
        start = np.zeros(len(tables) + 1, np.int64)
        np.cumsum([len(table) for table in tables], out=start[1:])
        if not start[-1]:
            raise DataError(f"{name}: no judgments")
        grade = flat(tables, lambda i, doc: f"{name}: query {clip(queries[i])}, document {clip(doc)}: the label")
        return cls(queries, start, list(chain.from_iterable(tables)), grade, name)

    @cached_property
    def index(self) -> dict[str, int]:
        """Where each query is in `queries`."""
        return {query: i for i, query in enumerate(self.queries)}

    @cached_property
    def levels(self) -> Levels:
        """The labels; called, the distinct positive ones, ascending."""
        return Levels(self.grade)

    def labels(self, query: str) -> dict[str, float]:
        """Return {document: label} of one query; empty where it has none."""
        at = self.index.get(query)
        if at is None:
            return {}
        rows = slice(int(self.start[at]), int(self.start[at + 1]))
        return dict(zip(self.docs[rows], self.grade[rows].tolist(), strict=True))

    def __len__(self) -> int:
        """Return the number of queries."""
        return len(self.queries)

    def __repr__(self) -> str:
        """Say what it holds."""
        return f"Qrels({self.name}: {count_of(len(self), 'query')}, {count_of(len(self.grade), 'judgment')})"
