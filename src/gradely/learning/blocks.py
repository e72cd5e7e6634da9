"""Blocks: flat arrays, one row per document, as arrays with one row per query."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradely.errors import DataError

CELLS = 1 << 17
"""about how many pairs of documents a block has: few enough for the processor's cache"""
Ints = NDArray[np.intp]
Floats = NDArray[np.float64]


class Rows(NamedTuple):
    """Where each query's documents are: `order` lists rows query by query, `start` where each query begins in it."""

    order: Ints
    start: Ints

    @property
    def sizes(self) -> Ints:
        """How many documents each query has."""
        return np.diff(self.start)


def rows_of(count: int, group: ArrayLike | None, qid: ArrayLike | None) -> Rows:
    """Return where each query's documents are, from the sizes of consecutive queries or from an id for each row."""
    if (group is None) == (qid is None):
        raise DataError("say which rows are of one query: either group=, the sizes of consecutive queries, or qid=")
    if group is not None:
        return Rows(np.arange(count), _starts(np.asarray(group), count))
    ids = np.asarray(qid)
    if ids.shape != (count,):
        raise DataError(f"qid must have one id for each of the {count} rows; found the shape {ids.shape}")
    _, inverse = np.unique(ids, return_inverse=True)
    return Rows(np.argsort(inverse, kind="stable"), np.concatenate([[0], np.cumsum(np.bincount(inverse))]))


def _starts(sizes: NDArray[Any], count: int) -> Ints:
    if sizes.ndim != 1 or not np.all(sizes == np.floor(sizes)) or np.any(sizes < 0) or int(sizes.sum()) != count:
        found = f"{sizes.sum():g}" if sizes.ndim == 1 else f"the shape {sizes.shape}"
        raise DataError(f"group lists the sizes of the queries, which must sum to the {count} rows; found {found}")
    return np.concatenate([[0], np.cumsum(sizes.astype(np.intp))])


class Block(NamedTuple):
    """Queries of similar length: for each document its row, and whether there is one; padding comes last."""

    row: Ints
    real: NDArray[np.bool_]


def blocks_of(rows: Rows, labels: Floats, truncation: int | None) -> Iterator[Block]:
    """Yield the queries in blocks, the documents of a query by label, the highest first.

    How wide a query's row is depends on its own length alone, so that no other query changes a digit of its results.
    The order by label makes them independent of the order of rows.
    """
    sizes = rows.sizes
    query = np.repeat(np.arange(len(sizes)), sizes)
    by_label = rows.order[np.lexsort((-labels[rows.order], query))]
    widths = np.array([width_for(int(size)) for size in sizes], dtype=np.intp)
    for width in np.unique(widths[sizes > 0]):
        queries = np.flatnonzero((widths == width) & (sizes > 0))
        step = max(1, CELLS // (int(width) * rows_at_a_time(int(width), truncation)))
        for i in range(0, len(queries), step):
            some = queries[i : i + step]
            real = np.arange(width) < sizes[some, None]
            at = np.where(real, rows.start[some, None] + np.arange(width), rows.start[some, None])
            yield Block(by_label[at], real)


def rows_at_a_time(width: int, truncation: int | None) -> int:
    """Return how many columns are taken as upper documents at a time, from the width of the row alone."""
    return min(width, max(8, min(truncation or width, CELLS // width)))


def width_for(size: int) -> int:
    """Return how wide the row of a query is: a multiple of 8, and of an eighth of the next lower power of two.

    >>> [width_for(size) for size in (1, 8, 9, 100, 1000)]
    [8, 8, 16, 104, 1024]
    """
    step = max(8, 1 << max(0, size.bit_length() - 4))
    return -(-size // step) * step
