"""Qrels: the judged documents of all queries, in one flat table."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from gradely.data.columns import to_number
from gradely.data.ids import Bools, Floats, Ints, Words
from gradely.data.subtopics import JudgedSubtopics
from gradely.errors import DataError, clip, did_you_mean
from gradely.kernel.batch import Levels
from gradely.tables import count_of

Pools: TypeAlias = tuple[Floats, Bools, dict[object, Any]]
"""the labels of pools, best first; flags of the cells that hold one; and a cache of values computed from them"""
SMALL = 100
"""number of judgments up to which a pool is shared by all qrels with the same labels, and of results cached for it"""


def _pool(ascending: Floats) -> Pools:
    """Return the pool of a query with these labels and an empty cache; without labels, it is padding."""
    has_labels = len(ascending) > 0
    labels = ascending[::-1].copy() if has_labels else np.zeros(1)
    return labels[None, :], np.full((1, len(labels)), has_labels), {}


@lru_cache(maxsize=256)
def _remembered_pool(ascending: bytes) -> Pools:
    return _pool(np.frombuffer(ascending))


def _shared_pool(ascending: bytes) -> Pools:
    """Return the pool with these labels; pools with the same few labels are the same object and share a cache.

    If queries are evaluated one at a time, labels recur, such as two relevant documents among ten.
    """
    pool = _remembered_pool(ascending)
    if len(pool[2]) > SMALL:  # a bound, since very many measures may use it
        pool[2].clear()
    return pool


class Qrels:
    """Labels by query and document. Rows start[i] … start[i+1] - 1 are the judgments of query i."""

    def __init__(
        self, queries: Sequence[str], start: Ints, docs: Sequence[str], grade: Floats, name: str = "qrels"
    ) -> None:
        """Store the columns without copying them."""
        self.queries, self.start, self.docs, self._grade, self.name = queries, start, docs, grade, name
        self.hashes: tuple[Words, Words] | None = None
        """hashes of the queries, and of query and document together, if the reader computed them"""
        self.hashed: object = None
        """the hash table that locate builds from it, once"""
        self.whole = False
        """true if queries were given as whole numbers, not as text that looks like them"""
        self.notes: list[str] = []
        """assumptions made when it was read"""
        self.selected = False
        """true if only these queries were selected, and others do not matter"""
        self.excluded: Qrels | None = None
        """documents that are removed from rankings first"""
        self.segments: Mapping[str, str] | None = None
        """the segment of each query, if means by segment are requested"""
        self.weights: Mapping[str, float] | None = None
        """the weight of each query, above 0, if means are weighted"""
        self.left_out: dict[str, list[str]] = {}
        """judged queries that do not count, by the reason: `weight` or `empty`"""
        self.subtopics: JudgedSubtopics | None = None
        """the labels by subtopic, if they were read; the label of a document is then the highest of them"""
        self.degenerate: dict[object, Bools] = {}
        """by measure, the queries for which every ranking scores 0, once they are known"""
        self._pools: dict[int, Pools] = {}
        self._preferred: dict[bool, Ints] = {}

    @classmethod
    def of(cls, labels: Mapping[str, Mapping[str, float]], name: str = "qrels") -> "Qrels":
        """Create qrels from {query: {document: label}}, with ids as text."""
        queries, tables = list(labels), list(labels.values())
        start = np.zeros(len(tables) + 1, np.int64)
        np.cumsum([len(table) for table in tables], out=start[1:])
        if not start[-1]:
            raise DataError(f"{name}: no judgments")
        grade = values_of(tables, lambda i, doc: f"{name}: query {clip(queries[i])}, document {clip(doc)}: the label")
        return cls(queries, start, list(chain.from_iterable(tables)), grade, name)

    @property
    def grade(self) -> Floats:
        """The label of each judgment."""
        return self._grade

    @cached_property
    def index(self) -> dict[str, int]:
        """The position of each query in `queries`."""
        return {query: i for i, query in enumerate(self.queries)}

    @cached_property
    def levels(self) -> Levels:
        """The labels; calling it returns the distinct positive ones, ascending."""
        return Levels(self.grade, by_subtopic=self.subtopics is not None)

    @cached_property
    def sizes(self) -> Ints:
        """The number of judgments of each query."""
        return self.start[1:] - self.start[:-1]

    @cached_property
    def has_irrelevant(self) -> bool:
        """True if some documents were judged not relevant; documents without a judgment are then unjudged.

        In qrels that list only relevant documents, other documents may have been judged not relevant.
        """
        return bool((self._grade <= 0).any())

    def pool(self, i: int) -> Pools:
        """Return the pool of one query in the form of a Batch, with the cache that measures use; computed once.

        Values that depend only on the qrels are therefore computed once for rewards, which evaluate many rankings.
        """
        if i not in self._pools:
            labels = self.grade[self.start[i] : self.start[i + 1]].copy()
            labels.sort()
            shared = len(labels) <= SMALL and self.subtopics is None
            self._pools[i] = _shared_pool(labels.tobytes()) if shared else _pool(labels)
        return self._pools[i]

    def order_by_preference(self, *, by_name: bool) -> Ints:
        """Return the rows of each query in the order in which the greedy ideal prefers documents of equal gain."""
        assert self.subtopics is not None
        if by_name not in self._preferred:
            self._preferred[by_name] = self.subtopics.order_rows(self.start, self.docs, by_name=by_name)
        return self._preferred[by_name]

    def documents(self, query: str) -> Sequence[str]:
        """Return the judged documents of one query; none if it has no judgments."""
        at = self.index.get(query)
        return () if at is None else self.docs[int(self.start[at]) : int(self.start[at + 1])]

    def judgments(self, query: str) -> Mapping[str, Any]:
        """Return {document: judgment} of one query: its label, or the probability of each label."""
        return self.labels(query)

    def sort_keys(self, rows: npt.NDArray[np.integer]) -> list[Floats]:
        """Return columns that sort documents of the same score, so no digit depends on the order of the input."""
        labels = [] if self.subtopics is None else [-column for column in self.subtopics.labels[rows].T[::-1]]
        return [*labels, -self.grade[rows]]

    def subset(self, queries: Sequence[str], start: Ints, docs: Sequence[str], rows: Ints) -> "Qrels":
        """Return some rows as the judgments of some queries."""
        return Qrels(queries, start, docs, self.grade[rows], self.name)

    def labels(self, query: str) -> dict[str, float]:
        """Return {document: label} of one query; empty if it has no judgments."""
        at = self.index.get(query)
        if at is None:
            return {}
        rows = slice(int(self.start[at]), int(self.start[at + 1]))
        return dict(zip(self.docs[rows], self.grade[rows].tolist(), strict=True))

    def subtopic_labels(self, query: str) -> dict[str, dict[str, float]]:
        """Return {document: {subtopic: label}} of one query; empty if subtopics were not read."""
        at = self.index.get(query)
        if at is None or self.subtopics is None:
            return {}
        rows = range(int(self.start[at]), int(self.start[at + 1]))
        return {self.docs[row]: self.subtopics.of_row(at, row) for row in rows}

    def check_query(self, query: str) -> None:
        """Raise DataError for a query without judgments."""
        if query not in self.index:
            raise DataError(f"{self.name}: no query {query!r}.{did_you_mean(query, self.queries)}")

    def check_certain(self, function: str) -> None:
        """Raise DataError if labels are probabilities, for a function that does not support them."""

    def keep_documents(self, query: str, ranking: Mapping[str, float]) -> Mapping[str, float]:
        """Return the ranking of a query without its excluded documents."""
        excluded = self.excluded.labels(query) if self.excluded is not None else {}
        return {doc: score for doc, score in ranking.items() if str(doc) not in excluded} if excluded else ranking

    @property
    def names_left_out(self) -> set[str]:
        """The judged queries that do not count."""
        return {query for queries in self.left_out.values() for query in queries}

    def __len__(self) -> int:
        """Return the number of queries."""
        return len(self.start) - 1

    def __repr__(self) -> str:
        """Return a summary."""
        return f"Qrels({self.name}: {count_of(len(self), 'query')}, {count_of(len(self.docs), 'judgment')})"


def values_of(dicts: Sequence[Mapping[str, float]], where: Callable[[int, str], str]) -> Floats:
    """Concatenate the numbers of several {document: number}; `where(i, document)` names one of dict i in errors."""
    size = sum(map(len, dicts))
    try:
        columns = [numbers.values() for numbers in dicts]
        values = np.fromiter(columns[0] if len(columns) == 1 else chain.from_iterable(columns), np.float64, size)
        if np.count_nonzero(np.isfinite(values)) == size:  # faster than .all()
            return values
    except (TypeError, ValueError, OverflowError):
        pass
    checked = [to_number(value, where(i, doc)) for i, numbers in enumerate(dicts) for doc, value in numbers.items()]
    return np.array(checked, np.float64)
