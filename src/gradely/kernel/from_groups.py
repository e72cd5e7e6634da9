"""From flat arrays and groups, as learning to rank has them, to Batches: queries of about the same length together."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gradely.errors import DataError
from gradely.kernel.assembly import assemble
from gradely.kernel.backend import check_unmasked, device_of, is_array, is_numpy, namespace, to_numpy
from gradely.kernel.batch import CELLS, Array, Batch, rows_at_a_time
from gradely.kernel.from_arrays import as_arrays, check_numbers, rank_documents
from gradely.settings import check_seed, check_ties

MANY = 1 << 24
"""cells of a block on other libraries than NumPy: enough for a graphics card, few enough for its memory"""
FIELDS = ("grade", "judged", "pool", "pooled", "retrieved")
"""what a Batch has besides the places of documents"""
Ints = npt.NDArray[np.int64]


def from_groups(
    scores: Any, labels: Any, *, group: Any = None, qid: Any = None, ties: str = "expected", seed: int = 0
) -> Batch:
    """Return a Batch from flat scores and labels, the documents of all queries in a row; one row per query.

    `group` holds how many documents each query has, as LightGBM and XGBoost want it; the documents of a query stand
    together. Instead, `qid` can name the query of each document, in any order; rows of the Batch are then in the order
    in which queries first appear. Both may be left out where scores and labels are lists with one list per query.
    Arrays may be of any library of the array API. Every row is as wide as the longest query; evaluate_arrays takes
    queries of about the same length together, and so less memory.

    >>> import gradely
    >>> batch = gradely.from_groups([0.9, 0.4, 0.1, 0.7, 0.2], [0, 2, 1, 1, 0], group=[3, 2])
    >>> gradely.RR()(batch)
    array([0.5, 1. ])
    """
    check_ties(ties, without_names=True)
    groups = group_documents(scores, labels, group, qid, ties, seed)
    return groups.full_batch(ties)


class Groups(NamedTuple):
    """Flat scores and labels; those of query i are rows start[i] … start[i] + size[i] - 1 of `order`."""

    scores: Array
    labels: Array
    order: Array | None
    """where the documents are, query by query; None where they stand so"""
    start: Ints
    size: Ints

    def blocks(self) -> Iterator[Ints]:
        """Yield queries of about the same length, few enough at a time for the processor's cache."""
        cells = CELLS if is_numpy(self.scores) else MANY
        if len(self.size) and (self.size == self.size[0]).all():
            rows = max(1, cells // max(1, int(self.size[0])))
            yield from (np.arange(i, min(i + rows, len(self.size))) for i in range(0, len(self.size), rows))
            return
        by_size = np.argsort(self.size, kind="stable")
        start = 0
        while start < len(by_size):
            width = np.maximum(self.size[by_size[start : start + cells]], 1)
            count = max(1, int(np.searchsorted(np.arange(1, len(width) + 1) * width, cells, side="right")))
            yield by_size[start : start + count]
            start += count

    def full_batch(self, ties: str) -> Batch:
        """Return the Batch of all queries, with rows as wide as the longest query; on NumPy made in blocks of them."""
        size, width = len(self.size), max(1, int(self.size.max(initial=0)))
        rows = rows_at_a_time(width)
        if not is_numpy(self.scores) or size <= rows:
            return self.batch(np.arange(size), ties)

        above, tied = np.empty((2, size, width), np.int64)  # which take memory only where they are written
        untied = np.ones(size, bool)

        def make(block: slice) -> dict[str, Array]:
            part = self.batch(np.arange(block.start, block.stop), ties, width)
            untied[block] = part.untied
            if not part.untied:
                above[block], tied[block] = part.above, part.tied
            return {name: getattr(part, name) for name in FIELDS}

        fields, column = assemble(size, rows, make), np.arange(width)
        if untied.all():
            above, tied, last = (np.broadcast_to(x, (size, width)) for x in (column, np.ones_like(column), column + 1))
        else:
            above[untied], tied[untied] = column, 1
            last = above + tied
        policy = ties if ties in ("best", "worst") else "expected"
        return Batch(**fields, above=above, tied=tied, first=above, last=last, ties=policy)

    def batch(self, queries: Ints, ties: str, width: int | None = None) -> Batch:
        """Return the Batch of some queries, with rows as wide as the longest of them, or as is said."""
        scores, labels, mask = self._pad(queries, width)
        return rank_documents(scores, labels, mask, "order" if ties == "random" else ties)

    def _pad(self, queries: Ints, width: int | None) -> tuple[Array, Array, Array | None]:
        """Return scores, labels and mask, one row per query; no mask where all are of one length."""
        size, start = self.size[queries], self.start[queries]
        width, xp = width or max(1, int(size.max(initial=0))), namespace(self.scores)
        if self.order is None and (size == width).all() and (np.diff(start) == width).all():
            rows = slice(int(start[0]), int(start[0]) + width * len(size))
            return *(xp.reshape(x[rows], (-1, width)) for x in (self.scores, self.labels)), None
        where = device_of(self.scores)
        mask = np.arange(width) < size[:, None]
        at = xp.asarray(np.where(mask, start[:, None] + np.arange(width), 0).ravel(), device=where)
        at = at if self.order is None else xp.take(self.order, at, axis=0)
        scores, labels = (xp.reshape(xp.take(x, at, axis=0), mask.shape) for x in (self.scores, self.labels))
        return scores, labels, xp.asarray(mask, device=where)


def group_documents(scores: Any, labels: Any, group: Any, qid: Any, ties: str, seed: int) -> Groups:
    """Return flat arrays in groups; refuse what does not fit together."""
    if group is not None and qid is not None:
        raise DataError("group and qid say the same: give one of them")
    check_unmasked(scores=scores, labels=labels, group=group, qid=qid)
    if is_ragged(scores):
        scores, labels, group = _flatten(scores, labels, group if qid is None else qid)
    scores, labels = as_arrays({"scores": scores, "labels": labels})
    if scores.ndim != 1 or scores.shape != labels.shape:
        shapes = f"{tuple(scores.shape)} and {tuple(labels.shape)}"
        raise DataError(f"with groups, scores and labels are flat and of the same length; found the shapes {shapes}")
    if group is None and qid is None:
        raise DataError(
            f"{scores.shape[0]:,} scores in a row: say which query each belongs to, with group=sizes or qid=ids"
        )
    if not scores.shape[0]:
        raise DataError("there are no scores and labels: give at least one document")
    check_numbers(namespace(scores), {"score": scores, "label": labels})
    size = _sizes(group, int(scores.shape[0])) if qid is None else None
    if ties == "random":  # shuffled once and as a whole, so that blocks do not matter
        check_seed(seed)
        code = np.repeat(np.arange(len(size)), size) if size is not None else to_numpy(_codes(qid, scores))
        shuffle = np.random.default_rng(seed).permutation(len(code))
        order, start, count = _by_first_row(np, code[shuffle], code)
        where = namespace(scores).asarray(shuffle[order], device=device_of(scores))
        start, count = (start, count) if size is None else (np.cumsum(size) - size, size)
        return Groups(scores, labels, where, start, count)
    if size is not None:
        return Groups(scores, labels, None, np.cumsum(size) - size, size)
    return _by_query(scores, labels, _codes(qid, scores))


def _by_query(scores: Array, labels: Array, code: Array) -> Groups:
    """Return groups by the query of each document."""
    xp = namespace(code)
    order, start, size = _by_first_row(xp, code, code)
    together = bool(xp.all(order == xp.arange(order.shape[0], dtype=order.dtype, device=device_of(order))))
    return Groups(scores, labels, None if together else order, start, size)


def _by_first_row(xp: Any, code: Array, appearance: Array) -> tuple[Array, Ints, Ints]:
    """Return the rows query by query, and where each query begins and how long it is.

    Queries come in the order in which they first appear in `appearance`, which holds the same codes.
    """
    order, start, size = _runs(xp, code)
    if appearance is code:
        first = to_numpy(order)[start]
    else:
        again, begins, _ = _runs(xp, appearance)
        first = to_numpy(again)[begins]
    rank = np.argsort(first)
    if (np.diff(rank) == 1).all():
        return order, start, size
    rows = np.repeat(start[rank] - (np.cumsum(size[rank]) - size[rank]), size[rank]) + np.arange(int(size.sum()))
    order = xp.take(order, xp.asarray(rows, device=device_of(order)), axis=0)
    return order, np.cumsum(size[rank]) - size[rank], size[rank]


def _runs(xp: Any, code: Array) -> tuple[Array, Ints, Ints]:
    """Return the rows sorted by code, stably, and where each code begins and how often it is there."""
    order = xp.argsort(code, stable=True)
    in_order = xp.take(code, order, axis=0)
    new = to_numpy(in_order[1:] != in_order[:-1])
    start = np.concatenate([[0], np.flatnonzero(new) + 1])
    return order, start, np.diff(start, append=code.shape[0])


def _codes(qid: Any, scores: Array) -> Array:
    """Return the query of each document as numbers, where the scores are; text is numbered."""
    xp = namespace(scores)
    ids = qid if is_array(qid) else np.asarray(qid)
    if isinstance(ids, np.ndarray) and ids.dtype.kind not in "iu":
        missing = ids.dtype.kind == "f" and np.isnan(ids).any()
        if missing or (ids.dtype.kind == "O" and None in ids.tolist()):
            raise DataError("a qid is missing (NaN or None); say which query each document belongs to")
        ids = np.unique(ids.astype(str) if ids.dtype.kind == "O" else ids, return_inverse=True)[1]
    if tuple(ids.shape) != tuple(scores.shape):
        raise DataError(
            f"every score needs a qid: found {scores.shape[0]:,} scores and qid of shape {tuple(ids.shape)}"
        )
    if isinstance(ids, np.ndarray):
        ids = ids if is_numpy(scores) else xp.asarray(ids.astype(np.int64), device=device_of(scores))
    return ids


def _sizes(group: Any, length: int) -> Ints:
    """Return the sizes of the groups; refuse what does not add up to the length of the arrays."""
    sizes = to_numpy(group) if is_array(group) else np.asarray(group)
    integers = sizes.astype(np.int64) if sizes.dtype.kind in "iuf" and sizes.ndim == 1 else None
    if integers is None or not len(integers) or (integers != sizes).any() or (integers < 0).any():
        raise DataError("group holds how many documents each query has: whole numbers, one per query")
    if int(integers.sum()) != length:
        hint = "; if it holds the query of each document, call it qid" if len(integers) == length else ""
        raise DataError(f"the sizes in group add up to {int(integers.sum()):,}, but there are {length:,} scores{hint}")
    return integers


def is_ragged(scores: Any) -> bool:
    """True for a list with one list or array per query, of different lengths."""
    if not isinstance(scores, list | tuple) or not scores:
        return False
    return all(_is_row(row) for row in scores) and len({len(row) for row in scores}) > 1


def _is_row(row: Any) -> bool:
    return isinstance(row, list | tuple) or (is_array(row) and row.ndim == 1)


def _flatten(scores: Any, labels: Any, group: Any) -> tuple[Any, Any, list[int]]:
    """Return lists of lists as flat ones, and their lengths."""
    if group is not None:
        raise DataError("scores come with one list per query: leave group and qid out")
    if not isinstance(labels, list | tuple) or len(labels) != len(scores) or not all(map(_is_row, labels)):
        raise DataError("scores come with one list per query: labels must, too")
    size = [len(row) for row in scores]
    odd = next((i for i, row in enumerate(labels) if len(row) != size[i]), None)
    if odd is not None:
        raise DataError(f"query {odd} (from 0) has {size[odd]:,} scores and {len(labels[odd]):,} labels")
    return _join(scores), _join(labels), size


def _join(rows: Sequence[Any]) -> Any:
    """Return one list or array of several."""
    if all(is_array(row) for row in rows):
        return namespace(*rows).concat(list(rows))
    return list(chain.from_iterable(rows))
