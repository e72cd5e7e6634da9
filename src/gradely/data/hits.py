"""Hits: the judged documents that a run retrieved, with their ranks. Blocks puts them into Batches.

Unjudged: the queries of the run without judgments: their number, and the names that are needed.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gradely.data.hashing import ranges
from gradely.data.ids import Bools, Floats, Ints
from gradely.data.qrels import Qrels
from gradely.data.subtopics import NOT_JUDGED
from gradely.data.uncertain import UncertainQrels
from gradely.kernel.batch import CELLS, Batch
from gradely.kernel.subtopics import Subtopics
from gradely.kernel.uncertain import UncertainBatch
from gradely.lazy import lazy
from gradely.parallel import do_all
from gradely.settings import Settings

SHORT = 1000
"""number of hits of a single query up to which its padding arrays are cached for the next query"""
EXAMPLES = 10_000
"""number of names that are kept as examples: enough to find ids that look alike"""


class Unjudged(NamedTuple):
    """The queries of a run that have no judgments."""

    size: int = 0
    names: Sequence[str] = ()
    """all names, in the order of the run, if these queries count; otherwise the first ones"""

    @classmethod
    def of(cls, names: Iterable[str], settings: Settings, left_out: Collection[str] = ()) -> "Unjudged":
        """Return queries that are all in memory; those of the qrels that were left out are not among them."""
        kept = [name for name in names if name not in left_out]
        return cls(len(kept), tuple(kept if settings.counts_unjudged else kept[:EXAMPLES]))


class Hits(NamedTuple):
    """One entry per judged document that was retrieved, and some facts about each query of the qrels."""

    query: npt.NDArray[np.integer]
    """index of the query in the qrels"""
    row: npt.NDArray[np.integer]
    """row of the document in the qrels"""
    above: npt.NDArray[np.integer]
    """number of retrieved documents with a strictly better score"""
    tied: npt.NDArray[np.integer]
    """number of retrieved documents with the same score, itself included"""
    place: npt.NDArray[np.integer] | None
    """number of documents above it once ties are broken; None if ties are not broken"""
    retrieved: Ints
    """[queries] length of each ranking"""
    answered: npt.NDArray[np.bool_]
    """[queries] true if the run contains the query"""
    unjudged: Unjudged = Unjudged()
    """queries of the run that have no judgments"""
    excluded: int = 0
    """number of documents that were removed from the rankings first"""

    @property
    def documents(self) -> int:
        """The number of documents that the run has for the judged queries."""
        return int(self.retrieved.sum())

    @classmethod
    def empty(cls, queries: int) -> "Hits":
        """Return the hits of a run that retrieved nothing, given the number of queries."""
        empty = np.zeros(0, np.int64)
        return cls(empty, empty, empty, empty, None, np.zeros(queries, np.int64), np.zeros(queries, bool))

    @property
    def has_ties(self) -> bool:
        """True if a judged document shares its score with another document, judged or not."""
        return bool(np.count_nonzero(self.tied > 1))

    def select(self, flags: npt.NDArray[np.bool_]) -> "Hits":
        """Return the flagged hits."""
        query, row, above, tied = (column[flags] for column in (self.query, self.row, self.above, self.tied))
        place = None if self.place is None else self.place[flags]
        return self._replace(query=query, row=row, above=above, tied=tied, place=place)

    def judged_only(self) -> "Hits":
        """Return the hits as if the run contained no unjudged documents."""
        first, count = self._rank_by(self.above)
        place = None if self.place is None else self._rank_by(self.place)[0]
        return self._replace(
            above=first, tied=count, place=place, retrieved=np.bincount(self.query, minlength=len(self.retrieved))
        )

    def _rank_by(self, key: npt.NDArray[np.integer]) -> tuple[Ints, Ints]:
        """Return the number of hits of the same query with a lower key than each hit, and with the same key."""
        order = np.lexsort((key, self.query))
        query, key = self.query[order], key[order]
        new_query = np.flatnonzero(np.diff(query, prepend=-1))
        new = np.flatnonzero((np.diff(query, prepend=-1) != 0) | (np.diff(key, prepend=-1) != 0))
        size = np.diff(new, append=len(query))
        group = np.repeat(np.arange(len(new)), size)
        base = np.repeat(new_query, np.diff(new_query, append=len(query)))
        first, count = np.empty_like(key), np.empty_like(key)
        first[order], count[order] = new[group] - base, size[group]
        return first, count


class Blocks:
    """Hits in rank order, ready to be put into Batches; those of row i are start[i] … start[i+1] - 1.

    A row is a query. If the hits of several runs are stacked, row s·Q + q is query q of run s.
    """

    def __init__(self, qrels: Qrels, hits: Hits) -> None:
        """Sort the hits; if ties are broken, each hit has a rank of its own."""
        self.qrels, self.retrieved, self._hits = qrels, hits.retrieved, hits
        self._queries = len(qrels)
        self.untied = hits.place is not None or not hits.has_ties
        above = hits.above if hits.place is None else hits.place
        tied = hits.tied if hits.place is None else np.ones(len(above), np.int8)
        order = self._rank_order(above)
        columns = [column if order is None else column[order] for column in (hits.query, hits.row, above, tied)]
        query, row, self.above, self.tied = columns
        self.row = row if self.untied else self._sort_ties(query, row)
        if len(self.retrieved) == 1:
            self.start = np.array([0, len(above)])
        else:
            self.start = np.zeros(len(self.retrieved) + 1, np.int64)
            np.add.accumulate(np.bincount(query, minlength=len(self.retrieved)), out=self.start[1:])

    def _rank_order(self, above: npt.NDArray[np.integer]) -> Ints | None:
        """Return the order that sorts hits by query and rank; None if they are sorted."""
        query = self._hits.query
        if len(self.retrieved) == 1:
            return above.argsort(kind="stable")
        rises = (query[1:] > query[:-1]) | (query[1:] == query[:-1]) & (above[1:] >= above[:-1])
        return None if rises.all() else np.lexsort((above, query))

    def _sort_ties(self, query: npt.NDArray[np.integer], row: npt.NDArray[np.integer]) -> npt.NDArray[np.integer]:
        """Return the rows with tied documents sorted by label, so no digit depends on the order of the input."""
        same = np.flatnonzero(self.tied > 1)
        rows = row[same]
        sorted_row = row.copy()
        sorted_row[same] = rows[np.lexsort((*self.qrels.sort_keys(rows), self.above[same], query[same]))]
        return sorted_row

    def _subtopics(self, queries: Ints, rows: Any, cells: Bools, pooled: Bools, ties: str) -> Subtopics | None:
        """Return the labels by subtopic for a Batch: of its cells, which have these rows, and of its pools."""
        subtopics = self.qrels.subtopics
        if subtopics is None:
            return None
        count = max(1, int(subtopics.counts[queries].max()))
        judgments = ranges(self.qrels.start[queries], self.qrels.sizes[queries])
        pool = self.qrels.order_by_preference(by_name=ties == "trec")[judgments]
        labels, pools = (
            _fill_vectors(flags, subtopics.labels[at, :count], NOT_JUDGED)
            for flags, at in ((cells, rows), (pooled, pool))
        )
        return Subtopics(labels, pools, None if subtopics.weights is None else subtopics.weights[queries, :count])

    @lazy
    def tied_queries(self) -> Ints:
        """The rows in which judged documents tie, ascending."""
        return np.unique(self._hits.query[self._hits.tied > 1]).astype(np.int64) if not self.untied else np.arange(0)

    @lazy
    def width(self) -> Ints:
        """The number of columns that a row may need: the size of its pool or, if larger, of its largest tie group."""
        width = np.tile(np.maximum(self.qrels.sizes, 1), len(self.retrieved) // self._queries)
        shared = self._hits.tied > 1
        np.maximum.at(width, self._hits.query[shared], self._hits.tied[shared])
        return width

    def visit(self, work: Callable[[Ints, Batch], None], ties: str, queries: Ints, threads: int = 1) -> None:
        """Call work(indices of queries, their Batch) for blocks of queries until all are done, on several threads."""
        if len(queries) == 1:
            work(queries, self.batch_of_query(int(queries[0]), ties))
        else:
            do_all(lambda block: work(block, self.batch_of_queries(block, ties)), self.split(queries), threads)

    def split(self, queries: Ints, cells: int = CELLS) -> list[Ints]:
        """Split the queries into blocks of queries with about the same width.

        How queries are grouped changes memory and time, but no value.
        """
        if self.qrels.subtopics is not None:
            cells = max(1, cells // self.qrels.subtopics.labels.shape[1])
        hits = self.start[queries + 1] - self.start[queries]
        queries = queries[np.lexsort((hits, self.width[queries]))]
        width = self.width[queries]
        blocks, done = list[Ints](), 0
        while done < len(queries):
            most = max(1, cells // int(width[done]))
            filled = np.arange(1, most + 1)[: len(queries) - done] * width[done : done + most]
            count = max(1, int(np.searchsorted(filled, cells, side="right")))
            blocks.append(queries[done : done + count])
            done += count
        return blocks

    def batch_of_query(self, query: int, ties: str) -> Batch:
        """Return the Batch of one query, which has no padding unless there are no hits."""
        hits = slice(int(self.start[query]), int(self.start[query + 1]))
        pool, pooled, pool_memo = self.qrels.pool(query % self._queries)
        if hits.stop == hits.start:
            none = np.zeros((1, 1), np.int64)
            columns: tuple[Any, Any, Any, Any, Any, Any] = (np.zeros((1, 1)), none > 0, none, none + 1, none, none + 1)
        else:
            above = self.above[None, hits].astype(np.int64, copy=False)
            tied = self.tied[None, hits].astype(np.int64, copy=False)
            judged, *alone = _cells_of_one(above.shape[1])
            groups = alone if self.untied else self._groups(above, judged)
            columns = (self.qrels.grade[self.row[hits]][None, :], judged, above, tied, *groups)
        subtopics = self._subtopics(np.array([query % self._queries]), self.row[hits], columns[1], pooled, ties)
        pool_memo = {} if subtopics is not None and ties == "trec" else pool_memo  # an ideal by name
        batch = Batch(*columns, pool, pooled, self.retrieved[query : query + 1], _group_policy(ties), subtopics)
        facts = {"untied": True, "depth": int(batch.above[0, -1]) + 1} if self.untied else {}
        batch.set_cached(xp=np, in_numpy=True, pool_memo=pool_memo, **facts)
        return batch

    def batch_of_queries(self, queries: Ints, ties: str) -> Batch:
        """Return the Batch of some queries."""
        labels, at = self.qrels.grade, queries % self._queries
        cells, hits = _cells(self.start[queries], self.start[queries + 1])
        pooled, judgments = _cells(self.qrels.start[at], self.qrels.start[at + 1])
        pool = np.where(pooled, -np.sort(_fill(pooled, -labels[judgments], np.inf), axis=1), 0.0)
        grade = _fill(cells, labels[self.row[hits]], 0.0)
        subtopics = self._subtopics(at, self.row[hits], cells, pooled, ties)
        return self._place(queries, (cells, hits), grade, (pool, pooled), ties, subtopics)

    def _place(
        self,
        queries: Ints,
        places: tuple[Any, Ints],
        grade: Floats,
        pools: tuple[Floats, Bools],
        ties: str,
        subtopics: Subtopics | None = None,
    ) -> Batch:
        """Return the Batch of some queries, given the hits that go into its cells, their labels and the pools."""
        (cells, hits), (pool, pooled) = places, pools
        above = _fill(cells, self.above[hits].astype(np.int64, copy=False), 0)
        tied = _fill(cells, self.tied[hits].astype(np.int64, copy=False), 1)
        first, last = self._groups(above, cells)
        batch = Batch(
            grade=grade,
            judged=cells,
            above=above,
            tied=tied,
            first=first,
            last=last,
            pool=pool,
            pooled=pooled,
            retrieved=self.retrieved[queries],
            ties=_group_policy(ties),
            subtopics=subtopics,
        )
        untied = self.untied or not (tied > 1).any()
        depth = int((above + tied).max())
        batch.set_cached(xp=np, in_numpy=True, device=grade.device, untied=untied, depth=depth)
        return batch

    def visit_uncertain(
        self, qrels: UncertainQrels, work: Callable[[Ints, UncertainBatch], None], queries: Ints, threads: int
    ) -> None:
        """Call work(indices of queries, their batch) until all are done, for labels that are probabilities."""
        blocks = self.split(queries, CELLS // len(qrels.scale))
        do_all(lambda block: work(block, self.uncertain_batch(qrels, block)), blocks, threads)

    def uncertain_batch(self, qrels: UncertainQrels, queries: Ints) -> UncertainBatch:
        """Return the batch of some queries with label probabilities."""
        cells, hits = _cells(self.start[queries], self.start[queries + 1])
        nothing = np.zeros((len(queries), 1))
        places = self._place(queries, (cells, hits), np.zeros(cells.shape), (nothing, nothing > 0), "expected")
        pooled, judgments = _cells(qrels.start[queries], qrels.start[queries + 1])
        missed = np.ones(len(qrels.docs), bool)
        missed[self.row[hits]] = False
        owner = np.repeat(np.arange(len(queries)), pooled.sum(axis=1))[missed[judgments]]
        rows = judgments[missed[judgments]]
        rows = rows[np.lexsort((*qrels.sort_keys(rows), owner))]
        stop = np.cumsum(np.bincount(owner, minlength=len(queries)))
        absent, order = _cells(np.concatenate([[0], stop[:-1]]), stop)
        return UncertainBatch(
            places,
            qrels.scale,
            _fill_vectors(cells, qrels.chance[self.row[hits]]),
            _fill_vectors(absent, qrels.chance[rows[order]]),
        )

    def _groups(self, above: Ints, cells: Any) -> tuple[Ints, Ints]:
        """Return the first column of each document's tie group, and one past the last; padding is never tied."""
        column = np.broadcast_to(np.arange(above.shape[1]), above.shape)
        same = self.untied or (above[:, 1:] == above[:, :-1]) & cells[:, 1:]
        if self.untied or not np.any(same):
            return column, column + 1
        edge = np.ones((len(above), 1), bool)
        new, ends = np.hstack([edge, ~same]), np.hstack([~same, edge])
        first = np.maximum.accumulate(np.where(new, column, 0), axis=1)
        last = np.minimum.accumulate(np.where(ends, column + 1, above.shape[1])[:, ::-1], axis=1)[:, ::-1]
        return first, np.ascontiguousarray(last)


def _cells_of_one(width: int) -> tuple[Bools, Ints, Ints]:
    """Return three arrays [1, width] for a single query: true in each cell, its column, and the next column."""
    return _remember_cells(width) if width <= SHORT else _make_cells(width)


def _make_cells(width: int) -> tuple[Bools, Ints, Ints]:
    column = np.arange(width)[None, :]
    return np.ones((1, width), bool), column, column + 1


_remember_cells = lru_cache(maxsize=64)(_make_cells)


def _group_policy(ties: str) -> str:
    """Return how measures treat tie groups: policies that order documents leave no groups."""
    return ties if ties in ("best", "worst") else "expected"


def _cells(start: Ints, stop: Ints) -> tuple[Any, Any]:
    """Return flags of the filled cells of a padded table, and the concatenated entries start … stop - 1 of all rows."""
    size = stop - start
    cells = np.arange(max(1, int(size.max(initial=0))))[None, :] < size[:, None]
    skipped = start - (np.cumsum(size) - size)
    return cells, np.repeat(skipped, size) + np.arange(int(size.sum()))


def _fill_vectors(cells: Bools, values: Floats, rest: float = 0.0) -> Floats:
    """Return a table with rows in their cells, and `rest` in the padding."""
    out = np.full((*cells.shape, values.shape[1]), rest)
    out[cells] = values
    return out


def _fill(cells: Any, values: Any, rest: float) -> Any:
    """Return an array with values in their cells, and `rest` in the padding."""
    if len(values) == cells.size:
        return values.reshape(cells.shape)
    out = np.full(cells.shape, rest, values.dtype)
    out[cells] = values
    return out
