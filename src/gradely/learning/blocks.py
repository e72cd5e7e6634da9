"""Blocks: flat arrays, one row per document, as arrays with one row per query."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradely.kernel.from_groups import group_documents

CELLS = 1 << 17
"""about how many pairs of documents a block has: few enough for the processor's cache"""
Ints = NDArray[np.intp]
Floats = NDArray[np.float64]


class Block(NamedTuple):
    """Queries of similar length: for each document its row, and whether there is one; padding comes last."""

    row: Ints
    real: NDArray[np.bool_]


def blocks_of(
    labels: Floats, group: ArrayLike | None, qid: ArrayLike | None, truncation: int | None = None
) -> Iterator[Block]:
    """Yield the queries in blocks, the documents of a query by label, the highest first.

    `group` and `qid` say which rows are of one query, as in from_groups; both may be empty, too. How wide a query's row
    is depends on its own length alone, so that no other query changes a digit of its results. The order by label makes
    them independent of the order of rows.
    """
    queries = qid if group is None else group
    if not len(labels) and queries is not None and not np.size(queries):
        return
    _, _, order, starts, sizes = group_documents(labels, labels, group, qid, "expected", 0)
    order = np.arange(len(labels)) if order is None else order
    by_label = order[np.lexsort((-labels[order], np.repeat(np.arange(len(sizes)), sizes)))]
    widths = np.array([width_for(int(size)) for size in sizes], dtype=np.intp)
    for width in np.unique(widths[sizes > 0]):
        fitting = np.flatnonzero((widths == width) & (sizes > 0))
        step = max(1, CELLS // (int(width) * rows_at_a_time(int(width), truncation)))
        for i in range(0, len(fitting), step):
            rows = fitting[i : i + step, None]
            real = np.arange(width) < sizes[rows]
            at = starts[rows] + np.where(real, np.arange(width), 0)
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
