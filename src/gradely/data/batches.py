"""From hits to Batches: blocks of queries that are about as wide."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from gradely.data.hits import Hits
from gradely.data.qrels import Qrels
from gradely.data.types import Ints
from gradely.kernel.batch import CELLS, Batch


def in_rank_order(qrels: Qrels, hits: Hits) -> Ints:
    """Return the order that puts hits query by query, ranked.

    Tied ones go by label, so that no digit depends on the order of the input.
    """
    query, above = hits.query, hits.above if hits.place is None else hits.place
    rises = (query[1:] > query[:-1]) | (query[1:] == query[:-1]) & (above[1:] >= above[:-1])
    order = np.arange(len(query)) if rises.all() else np.lexsort((above, query))
    if hits.place is not None:
        return order
    same = np.flatnonzero(hits.tied[order] > 1)
    at = order[same]
    order[same] = at[np.lexsort((-qrels.grade[hits.row[at]], above[at], query[at]))]
    return order


class Blocks:
    """Hits in rank order, ready to be put into Batches; those of row i are start[i] … start[i+1] - 1.

    A row is a query. Where the hits are of several runs stacked, row s·Q + q is query q of run s.
    """

    def __init__(self, qrels: Qrels, hits: Hits) -> None:
        """Put the hits in order; where ties are broken, each one is alone at its place."""
        rows = len(hits.retrieved)
        order = in_rank_order(qrels, hits)
        self.qrels, self.retrieved = qrels, hits.retrieved
        self.above = (hits.above if hits.place is None else hits.place)[order]
        self.tied = hits.tied[order] if hits.place is None else np.ones(len(order), np.int8)
        self.grade = qrels.grade[hits.row[order]]
        self.start = np.concatenate([[0], np.cumsum(np.bincount(hits.query, minlength=rows))])
        self.width = np.tile(np.maximum(np.diff(qrels.start), 1), rows // len(qrels))
        shared = hits.tied > 1
        np.maximum.at(self.width, hits.query[shared], hits.tied[shared])

    def batches(self, ties: str, queries: Ints, cells: int = CELLS) -> Iterator[tuple[Ints, Batch]]:
        """Yield (indices of queries, Batch) until all these queries are done, those of about the same width together.

        How queries are put together changes memory and time, but no value.
        """
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
        judged = queries % len(self.qrels)
        pooled, judgments = _cells(self.qrels.start[judged], self.qrels.start[judged + 1])
        above = _filled(cells, self.above[hits].astype(np.int64), 0)
        first, last = _columns(above, cells)
        pool = -np.sort(_filled(pooled, -self.qrels.grade[judgments], np.inf), axis=1)
        return Batch(
            grade=_filled(cells, self.grade[hits], 0.0),
            judged=cells,
            above=above,
            tied=_filled(cells, self.tied[hits].astype(np.int64), 1),
            first=first,
            last=last,
            pool=np.where(pooled, pool, 0.0),
            pooled=pooled,
            retrieved=self.retrieved[queries],
            ties=ties if ties in ("best", "worst") else "expected",
        )


def _cells(start: Ints, stop: Ints) -> tuple[Any, Ints]:
    """Return which cells of a padded table hold an entry, and the entries start … stop - 1 of all rows in a row."""
    size = stop - start
    cells = np.arange(max(1, int(size.max(initial=0))))[None, :] < size[:, None]
    skipped = start - (np.cumsum(size) - size)
    return cells, np.repeat(skipped, size) + np.arange(int(size.sum()))


def _filled(cells: Any, values: Any, rest: float) -> Any:
    """Return the values in their cells, something else in padding."""
    out = np.full(cells.shape, rest, values.dtype)
    out[cells] = values
    return out


def _columns(above: Ints, cells: Any) -> tuple[Ints, Ints]:
    """Return the first column of each document's tie group, and one past the last; padding is alone."""
    column = np.broadcast_to(np.arange(above.shape[1]), above.shape)
    same = (above[:, 1:] == above[:, :-1]) & cells[:, 1:]
    if not same.any():
        return column, column + 1
    edge = np.ones((len(above), 1), bool)
    new, ends = np.hstack([edge, ~same]), np.hstack([~same, edge])
    first = np.maximum.accumulate(np.where(new, column, 0), axis=1)
    last = np.minimum.accumulate(np.where(ends, column + 1, above.shape[1])[:, ::-1], axis=1)[:, ::-1]
    return first, np.ascontiguousarray(last)
