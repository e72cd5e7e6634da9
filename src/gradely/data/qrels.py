"""Qrels: the judged documents, one flat table for all queries."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from gradely.data.columns import flat
from gradely.data.ids import Bools, Floats, Ints, Words
from gradely.data.subtopics import JudgedSubtopics
from gradely.errors import DataError, clip, did_you_mean
from gradely.kernel.batch import Levels
from gradely.lazy import lazy
from gradely.tables import count_of

Pools: TypeAlias = tuple[Floats, Bools, dict[object, Any]]
"""the labels of pools, best first; where they hold one; what was computed from them"""
SMALL = 100
"""judgments of a pool that is shared with all qrels that have the same, and things that are kept of it"""


def _pool(ascending: Floats) -> Pools:
    """Return the pool of a query with these labels, and nothing that is known of it; without any, it is padding."""
    has_labels = len(ascending) > 0
    labels = ascending[::-1].copy() if has_labels else np.zeros(1)
    return labels[None, :], np.full((1, len(labels)), has_labels), {}


@lru_cache(maxsize=256)
def _remembered_pool(ascending: bytes) -> Pools:
    return _pool(np.frombuffer(ascending))


def _shared_pool(ascending: bytes) -> Pools:
    """Return the pool with these labels; those of the same few labels are the same, and so is what is known of them.

    Where one query after another is evaluated by itself, labels recur: the first two of ten are relevant, or three.
    """
    pool = _remembered_pool(ascending)
    if len(pool[2]) > SMALL:  # by a thousand measures in turn, so that it does not grow for ever
        pool[2].clear()
    return pool


class Qrels:
    """Labels by query and document. Rows start[i] … start[i+1] - 1 are the judgments of query i."""

    def __init__(
        self, queries: Sequence[str], start: Ints, docs: Sequence[str], grade: Floats, name: str = "qrels"
    ) -> None:
        """Hold the columns; nothing is copied."""
        self.queries, self.start, self.docs, self._grade, self.name = queries, start, docs, grade, name
        self.hashes: tuple[Words, Words] | None = None
        """hashes of the queries, and of query and document together, where the reader made them"""
        self.hashed: object = None
        """what matching makes of it, once"""
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
        self.weights: Mapping[str, float] | None = None
        """the weight of each query, above 0, where means are weighted"""
        self.left_out: dict[str, list[str]] = {}
        """queries that were judged and do not count, by the reason: `weight` or `empty`"""
        self.subtopics: JudgedSubtopics | None = None
        """the labels by subtopic, where they were read; a document's own label is then the highest of them"""
        self.degenerate: dict[object, Bools] = {}
        """by measure, the queries for which every ranking scores 0, once they were looked for"""
        self._pools: dict[int, Pools] = {}
        self._preferred: dict[bool, Ints] = {}

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

    @property
    def grade(self) -> Floats:
        """The label of each judgment."""
        return self._grade

    @lazy
    def index(self) -> dict[str, int]:
        """Where each query is in `queries`."""
        return {query: i for i, query in enumerate(self.queries)}

    @lazy
    def levels(self) -> Levels:
        """The labels; called, the distinct positive ones, ascending."""
        return Levels(self.grade, by_subtopic=self.subtopics is not None)

    @lazy
    def sizes(self) -> Ints:
        """How many judgments each query has."""
        return self.start[1:] - self.start[:-1]

    @lazy
    def has_irrelevant(self) -> bool:
        """True where documents were judged not relevant, so that a document without a judgment is unjudged.

        In qrels of relevant documents alone, such a document may as well have been judged not relevant.
        """
        return bool((self._grade <= 0).any())

    def pool(self, i: int) -> Pools:
        """Return the pool of one query as a Batch has it, and what measures keep of it; made once.

        So rewards, which measure one ranking after another, work on nothing twice that depends on the qrels alone.
        """
        if i not in self._pools:
            labels = self.grade[self.start[i] : self.start[i + 1]].copy()
            labels.sort()
            shared = len(labels) <= SMALL and self.subtopics is None
            self._pools[i] = _shared_pool(labels.tobytes()) if shared else _pool(labels)
        return self._pools[i]

    def order_by_preference(self, *, by_name: bool) -> Ints:
        """Return the rows, query by query, as the greedy ideal prefers documents of the same gain; made once."""
        assert self.subtopics is not None
        if by_name not in self._preferred:
            self._preferred[by_name] = self.subtopics.order_rows(self.start, self.docs, by_name=by_name)
        return self._preferred[by_name]

    def documents(self, query: str) -> Sequence[str]:
        """Return the judged documents of one query; none where it has none."""
        at = self.index.get(query)
        return () if at is None else self.docs[int(self.start[at]) : int(self.start[at + 1])]

    def judgments(self, query: str) -> Mapping[str, Any]:
        """Return {document: what it is judged as} of one query: its label, or how probable each label is."""
        return self.labels(query)

    def sort_keys(self, rows: npt.NDArray[np.integer]) -> list[Floats]:
        """Return columns by which documents of the same score are sorted, so that no digit depends on their order."""
        labels = [] if self.subtopics is None else [-column for column in self.subtopics.labels[rows].T[::-1]]
        return [*labels, -self.grade[rows]]

    def subset(self, queries: Sequence[str], start: Ints, docs: Sequence[str], rows: Ints) -> "Qrels":
        """Return some rows as the judgments of some queries."""
        return Qrels(queries, start, docs, self.grade[rows], self.name)

    def labels(self, query: str) -> dict[str, float]:
        """Return {document: label} of one query; empty where it has none."""
        at = self.index.get(query)
        if at is None:
            return {}
        rows = slice(int(self.start[at]), int(self.start[at + 1]))
        return dict(zip(self.docs[rows], self.grade[rows].tolist(), strict=True))

    def subtopic_labels(self, query: str) -> dict[str, dict[str, float]]:
        """Return {document: {subtopic: label}} of one query; empty where subtopics were not read."""
        at = self.index.get(query)
        if at is None or self.subtopics is None:
            return {}
        rows = range(int(self.start[at]), int(self.start[at + 1]))
        return {self.docs[row]: self.subtopics.of_row(at, row) for row in rows}

    def check_query(self, query: str) -> None:
        """Refuse a query that has no judgments."""
        if query not in self.index:
            raise DataError(f"{self.name}: no query {query!r}.{did_you_mean(query, self.queries)}")

    def check_certain(self, function: str) -> None:
        """Refuse labels that are probabilities, for a function that does not take them."""

    def keep_documents(self, query: str, ranking: Mapping[str, float]) -> Mapping[str, float]:
        """Return the ranking of a query without the documents that are dropped first."""
        excluded = self.excluded.labels(query) if self.excluded is not None else {}
        return {doc: score for doc, score in ranking.items() if str(doc) not in excluded} if excluded else ranking

    def __len__(self) -> int:
        """Return the number of queries."""
        return len(self.start) - 1

    def __repr__(self) -> str:
        """Say what it holds."""
        return f"Qrels({self.name}: {count_of(len(self), 'query')}, {count_of(len(self.docs), 'judgment')})"
