"""From hits to Batches: blocks of queries that are about as wide."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from gradely.batch import Batch
from gradely.data.hits import Hits
from gradely.data.qrels import Floats, Ints, Qrels

CELLS = 1 << 16
"""about how many cells an array of a block has: few enough for the cache"""


class Ranked(NamedTuple):
    """Hits in rank order; those of query i are start[i] … start[i+1] - 1."""

    start: Ints
    grade: Floats
    above: Ints
    tied: Ints


def in_rank_order(qrels: Qrels, hits: Hits) -> Ints:
    """Return the order that puts hits query by query, ranked.

    Tied ones go by label, so that no digit depends on the order of the input.
    """
    return np.lexsort((-qrels.grade[hits.row], hits.above if hits.place is None else hits.place, hits.query))


def ranked(qrels: Qrels, hits: Hits) -> Ranked:
    """Return the hits in rank order; where ties are broken, each one alone at its place."""
    order = in_rank_order(qrels, hits)
    above = hits.above if hits.place is None else hits.place
    tied = hits.tied if hits.place is None else np.ones_like(hits.tied)
    start = np.searchsorted(hits.query[order], np.arange(len(qrels) + 1))
    return Ranked(start, qrels.grade[hits.row[order]], above[order], tied[order])


def blocks(
    qrels: Qrels, hits: Hits, ties: str, queries: Ints | None = None, cells: int = CELLS
) -> Iterator[tuple[Ints, Batch]]:
    """Yield (indices of queries, Batch) until all queries, or those asked for, are done.

    How queries are put together changes memory and time, but no value.
    """
    found = ranked(qrels, hits)
    width = np.maximum(np.diff(qrels.start), 1)
    np.maximum.at(width, hits.query, hits.tied)
    queries = np.arange(len(qrels)) if queries is None else queries
    queries = queries[np.argsort(width[queries], kind="stable")]
    while len(queries):
        filled = np.arange(1, len(queries) + 1) * width[queries]
        count = max(1, int(np.searchsorted(filled, cells, side="right")))
        yield queries[:count], _batch(qrels, hits, found, queries[:count], ties)
        queries = queries[count:]


def _batch(qrels: Qrels, hits: Hits, found: Ranked, queries: Ints, ties: str) -> Batch:
    """Return the Batch of some queries."""
    cells, rows = _cells(found.start[queries], found.start[queries + 1])
    pooled, judgments = _cells(qrels.start[queries], qrels.start[queries + 1])
    above = _filled(cells, found.above[rows], 0)
    first, last = _columns(above, cells)
    pool = -np.sort(-_filled(pooled, qrels.grade[judgments], -np.inf), axis=1)
    return Batch(
        grade=_filled(cells, found.grade[rows], 0.0),
        judged=cells,
        above=above,
        tied=_filled(cells, found.tied[rows], 1),
        first=first,
        last=last,
        pool=np.where(pooled, pool, 0.0),
        pooled=pooled,
        retrieved=hits.retrieved[queries],
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
    edge = np.ones((len(above), 1), bool)
    new = np.hstack([edge, (above[:, 1:] != above[:, :-1]) | ~cells[:, 1:]])
    ends = np.hstack([new[:, 1:], edge])
    first = np.maximum.accumulate(np.where(new, column, 0), axis=1)
    last = np.minimum.accumulate(np.where(ends, column + 1, above.shape[1])[:, ::-1], axis=1)[:, ::-1]
    return first, np.ascontiguousarray(last)
