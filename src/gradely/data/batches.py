"""From hits to Batches: blocks of queries that are about as wide."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from gradely.data.hits import Hits
from gradely.data.qrels import Pools, Qrels
from gradely.data.types import Ints
from gradely.kernel.batch import CELLS, Batch
from gradely.lazy import lazy


class Blocks:
    """Hits in rank order, ready to be put into Batches; those of row i are start[i] … start[i+1] - 1.

    A row is a query. Where the hits are of several runs stacked, row s·Q + q is query q of run s.
    """

    def __init__(self, qrels: Qrels, hits: Hits) -> None:
        """Put the hits in order; where ties are broken, each one is alone at its place."""
        self.qrels, self.retrieved, self._hits = qrels, hits.retrieved, hits
        self.untied = hits.place is not None or not hits.has_ties
        order, rows = self._rank_order(), len(hits.retrieved)
        self.row = hits.row[order]
        self.above = (hits.above if hits.place is None else hits.place)[order]
        self.tied = hits.tied[order] if hits.place is None else np.ones(len(order), np.int8)
        self.grade = qrels.grade[self.row]
        self.start = np.zeros(rows + 1, np.int64)
        np.bincount(hits.query, minlength=rows).cumsum(out=self.start[1:])

    def _rank_order(self) -> Ints:
        """Return the order that puts hits query by query, ranked.

        Tied ones go by label, so that no digit depends on the order of the input.
        """
        hits = self._hits
        query, above = hits.query, hits.above if hits.place is None else hits.place
        if len(hits.retrieved) == 1:
            order = above.argsort(kind="stable")
        else:
            rises = (query[1:] > query[:-1]) | (query[1:] == query[:-1]) & (above[1:] >= above[:-1])
            order = np.arange(len(query)) if rises.all() else np.lexsort((above, query))
        if not self.untied:
            same = np.flatnonzero(hits.tied[order] > 1)
            at = order[same]
            order[same] = at[np.lexsort((-self.qrels.grade[hits.row[at]], above[at], query[at]))]
        return order

    @lazy
    def width(self) -> Ints:
        """How many columns a row may take: the pool has as many, and no tie group has more."""
        width = np.tile(np.maximum(self.qrels.sizes, 1), len(self.retrieved) // len(self.qrels))
        shared = self._hits.tied > 1
        np.maximum.at(width, self._hits.query[shared], self._hits.tied[shared])
        return width

    def batches(self, ties: str, queries: Ints, cells: int = CELLS) -> Iterator[tuple[Ints, Batch]]:
        """Yield (indices of queries, Batch) until all these queries are done, those of about the same width together.

        How queries are put together changes memory and time, but no value.
        """
        if len(queries) == 1:
            yield queries, self._batch(queries, ties)
            return
        hits = self.start[queries + 1] - self.start[queries]
        queries = queries[np.lexsort((hits, self.width[queries]))]
        width = self.width[queries]
        done = 0
        while done < len(queries):
            most = max(1, cells // int(width[done]))
            filled = np.arange(1, most + 1)[: len(queries) - done] * width[done : done + most]
            count = max(1, int(np.searchsorted(filled, cells, side="right")))
            block = queries[done : done + count]
            yield block, self._batch(block, ties)
            done += count

    def _batch(self, queries: Ints, ties: str) -> Batch:
        """Return the Batch of some queries."""
        cells, hits = _cells(self.start[queries], self.start[queries + 1])
        pool, pooled, kept = self._pools(queries % len(self.qrels))
        above = _filled(cells, self.above[hits].astype(np.int64, copy=False), 0)
        first, last = _alone(above) if self.untied else _columns(above, cells)
        batch = Batch(
            grade=_filled(cells, self.grade[hits], 0.0),
            judged=cells,
            above=above,
            tied=_filled(cells, self.tied[hits].astype(np.int64, copy=False), 1),
            first=first,
            last=last,
            pool=pool,
            pooled=pooled,
            retrieved=self.retrieved[queries],
            ties=ties if ties in ("best", "worst") else "expected",
        )
        batch.know(xp=np, kept=kept, **({"untied": True} if self.untied else {}))
        return batch

    def _pools(self, queries: Ints) -> Pools:
        """Return the pools of some queries, and what is known of them."""
        if len(queries) == 1:
            return self.qrels.pool(int(queries[0]))
        pooled, judgments = _cells(self.qrels.start[queries], self.qrels.start[queries + 1])
        pool = -np.sort(_filled(pooled, -self.qrels.grade[judgments], np.inf), axis=1)
        return np.where(pooled, pool, 0.0), pooled, {}


def _cells(start: Ints, stop: Ints) -> tuple[Any, Any]:
    """Return which cells of a padded table hold an entry, and the entries start … stop - 1 of all rows in a row."""
    if len(start) == 1 and stop[0] > start[0]:  # no padding
        return np.ones((1, stop[0] - start[0]), bool), slice(start[0], stop[0])
    size = stop - start
    cells = np.arange(max(1, int(size.max(initial=0))))[None, :] < size[:, None]
    skipped = start - (np.cumsum(size) - size)
    return cells, np.repeat(skipped, size) + np.arange(int(size.sum()))


def _filled(cells: Any, values: Any, rest: float) -> Any:
    """Return the values in their cells, something else in padding."""
    if len(values) == cells.size:
        return values.reshape(cells.shape)
    out = np.full(cells.shape, rest, values.dtype)
    out[cells] = values
    return out


def _alone(above: Ints) -> tuple[Ints, Ints]:
    """Return the first column of each document's tie group, and one past the last, where each one is alone."""
    column = np.arange(above.shape[1])[None, :]
    column = column if len(above) == 1 else np.broadcast_to(column, above.shape)
    return column, column + 1


def _columns(above: Ints, cells: Any) -> tuple[Ints, Ints]:
    """Return the first column of each document's tie group, and one past the last; padding is alone."""
    same = (above[:, 1:] == above[:, :-1]) & cells[:, 1:]
    if not same.any():
        return _alone(above)
    column = np.arange(above.shape[1])[None, :]
    edge = np.ones((len(above), 1), bool)
    new, ends = np.hstack([edge, ~same]), np.hstack([~same, edge])
    first = np.maximum.accumulate(np.where(new, column, 0), axis=1)
    last = np.minimum.accumulate(np.where(ends, column + 1, above.shape[1])[:, ::-1], axis=1)[:, ::-1]
    return first, np.ascontiguousarray(last)
