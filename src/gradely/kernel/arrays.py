"""Batches from arrays, in the caller's array library and on its device.

    from_arrays  scores and labels with one row per query
    from_groups  flat scores and labels of all queries, and the query of each document
    from_ids     ranked ids and labelled ids with one row per query

Tied documents are sorted by label, so the order of the input changes no digit.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gradely.errors import DataError
from gradely.kernel.backend import check_unmasked, device_of, is_any, is_array, is_numpy, namespace, take_rows, to_numpy
from gradely.kernel.batch import CELLS, Array, Batch, rows_at_a_time
from gradely.kernel.parameters import EXACT
from gradely.kernel.subtopics import Subtopics, take_documents
from gradely.kernel.swapped import warn_of_swap
from gradely.parallel import cores, do_all
from gradely.settings import ArrayTies, check_seed, check_ties

Ints = npt.NDArray[np.int64]
MANY = 1 << 24
"""cells of a block in libraries other than NumPy: enough to occupy a graphics card, few enough for its memory"""
FIELDS = ("grade", "judged", "pool", "pooled", "retrieved")
"""the fields of a Batch that do not hold places"""


def from_arrays(scores: Any, labels: Any, mask: Any = None, *, ties: ArrayTies = "expected", seed: int = 0) -> Batch:
    """Return a Batch from scores and labels, one row per query and one column per document; higher scores rank first.

    `mask` is true for real documents and false for padding. Every document counts as judged. Arrays may be NumPy,
    PyTorch, JAX, CuPy or any other of the array API standard; lists become NumPy arrays. One dimension is one query.
    `ties` is any policy but `trec`, which needs document ids. Labels may have one more dimension, for subtopics.

    >>> import gradely
    >>> batch = gradely.from_arrays([[0.9, 0.4, 0.4]], [[0, 2, 1]])
    >>> gradely.RR()(batch)
    array([0.5])
    """
    check_ties(ties, without_names=True)
    warn_of_swap(scores, labels, "from_arrays")
    if are_by_subtopic(scores, labels):
        return _rank_by_subtopic(scores, labels, mask, ties)
    return rank_documents(*align_arrays(scores, labels, mask, ties, seed), ties)


def in_order(labels: Array) -> Batch:
    """Return the Batch of one query whose documents are ranked in the order of their labels, [K]."""
    xp = namespace(labels)
    return rank_documents(xp.zeros_like(labels)[None, :], labels[None, :], None, "order")


def are_by_subtopic(scores: Any, labels: Any) -> bool:
    """True if scores have two dimensions and labels three: queries, documents, subtopics."""
    return _dimensions(labels) == 3 and _dimensions(scores) == 2


def _dimensions(values: Any) -> int:
    """Return the number of dimensions of an array or nested list."""
    depth = 0
    while isinstance(values, list | tuple) and values:
        depth, values = depth + 1, values[0]
    return depth + int(getattr(values, "ndim", 0))


def _rank_by_subtopic(scores: Any, labels: Any, mask: Any, ties: str) -> Batch:
    """Return the Batch of scores [Q, K] and labels [Q, K, S]; the label of a document is its highest by subtopic.

    Tied documents and pools are sorted by the label of the first subtopic, then of the second, and so on, so the order
    of the input changes no digit.
    """
    if ties == "random":
        raise DataError(
            "ties='random' does not support labels by subtopic: shuffle the documents, and use ties='order'"
        )
    scores, labels = as_arrays({"scores": scores, "labels": labels})
    xp, number = namespace(scores), real_type(namespace(scores))
    if 0 in labels.shape or tuple(labels.shape[:2]) != tuple(scores.shape):
        shapes = f"{tuple(scores.shape)} and {tuple(labels.shape)}"
        raise DataError(f"labels by subtopic must have the shape [queries, documents, subtopics]; found {shapes}")
    labels = xp.astype(labels, number)
    scores, highest, mask = align_arrays(scores, xp.max(labels, axis=-1), mask, ties, 0)
    check_numbers(xp, {"label": labels if mask is None else xp.where(mask[:, :, None], labels, 0.0)})
    labels = labels if mask is None else xp.where(mask[:, :, None], labels, -xp.inf)
    alone = ties == "order"
    by_label = xp.broadcast_to(xp.arange(scores.shape[1], device=device_of(scores)), scores.shape)
    for s in range(labels.shape[2] - 1, -1, -1):
        by_label = take_rows(by_label, xp.argsort(-take_rows(labels[:, :, s], by_label), axis=1, stable=True))
    keys = -xp.astype(scores, number) if mask is None else xp.where(mask, -xp.astype(scores, number), xp.inf)
    order = xp.argsort(keys, axis=1, stable=True)
    if not alone:
        order = take_rows(by_label, xp.argsort(take_rows(keys, by_label), axis=1, stable=True))
    batch = rank_documents(scores, highest, mask, ties)
    return replace(batch, subtopics=Subtopics(take_documents(labels, order), take_documents(labels, by_label)))


def align_arrays(
    scores: Any, labels: Any, mask: Any, ties: str, seed: int, *, flat: bool = True
) -> tuple[Array, Array, Array | None]:
    """Return scores, labels and mask as arrays [Q, K] of one library; documents are shuffled if ties are random.

    Arrays with one dimension are one query, or an error unless `flat`.
    """
    arrays = as_arrays({"scores": scores, "labels": labels} | ({} if mask is None else {"mask": mask}))
    xp = namespace(arrays[0])
    shapes = [tuple(x.shape) for x in arrays]
    if any(shape != shapes[0] for shape in shapes) or len(shapes[0]) not in (1, 2) or 0 in shapes[0]:
        listing = ", ".join(map(str, shapes))
        raise DataError(f"scores, labels and mask must have one shape, [queries, documents]; found {listing}")
    if len(shapes[0]) == 1 and not flat:
        raise DataError(
            f"{shapes[0][0]:,} scores without queries: pass the query of each, with group=sizes or qid=ids;"
            " for a single query, pass scores[None, :] and labels[None, :]"
        )
    arrays = [x[None, :] if x.ndim == 1 else x for x in arrays]
    arrays = _shuffle(xp, seed, arrays) if ties == "random" else arrays
    return arrays[0], arrays[1], xp.astype(arrays[2], xp.bool) if mask is not None else None


def as_arrays(values: dict[str, Any]) -> list[Array]:
    """Return values by name as arrays of numbers of one library, on one device; lists are converted to match."""
    check_unmasked(**values)
    arrays = {name: x for name, x in values.items() if is_array(x)}
    libraries = {name: type(x).__module__.split(".")[0] for name, x in arrays.items()}
    if len(set(libraries.values())) > 1:
        listing = " and ".join(f"{name} of {library}" for name, library in libraries.items())
        raise DataError(f"{listing}: give arrays of one library")
    devices = {name: str(device_of(x)) for name, x in arrays.items()}
    if len(set(devices.values())) > 1:
        listing = " and ".join(f"{name} on {device}" for name, device in devices.items())
        raise DataError(f"{listing}: give arrays on one device")
    xp = namespace(*arrays.values())
    where = device_of(next(iter(arrays.values()))) if arrays else None
    return [
        arrays[name] if name in arrays and not is_numpy(x) else xp.asarray(_numbers(name, x), device=where)
        for name, x in values.items()
    ]


def _numbers(name: str, values: Any) -> Array:
    """Return a list or NumPy array as numbers; raise DataError for text, None and rows of different lengths."""
    if values is None:
        raise DataError(f"{name} are missing (None)")
    try:
        array = np.asarray(values)
    except (TypeError, ValueError):
        raise DataError(
            f"{name}: the rows are of different lengths, or nested; pad them, or pass group=sizes"
        ) from None
    if array.dtype.kind in "OUSV":
        for x in array.ravel().tolist():
            if not isinstance(x, Real):
                dense = f"a {type(x).__name__}: give its toarray()" if hasattr(x, "toarray") else repr(x)[:60]
                raise DataError(f"{name} must be numbers; found {dense}")
        try:
            return array.astype(np.float64)
        except OverflowError:
            raise DataError(f"{name}: a number is too large") from None
    if array.dtype.kind not in "biuf":
        raise DataError(f"{name} must be numbers; found {array.dtype}")
    return array


def rank_documents(scores: Array, labels: Array, mask: Array | None, ties: str) -> Batch:
    """Return the Batch of aligned arrays, or of some of their rows; raise DataError for NaN and infinity."""
    xp = namespace(scores)
    check_numbers(xp, {"score": scores, "label": labels}, mask)
    number = real_type(xp)
    keys = -(scores if xp.isdtype(scores.dtype, "real floating") else xp.astype(scores, number))
    keys = keys if mask is None else xp.where(mask, keys, xp.inf)
    alone = ties in ("order", "random")
    order = xp.argsort(keys, axis=1, stable=alone)
    keys, labels = (take_rows(x, order) for x in (keys, labels))
    judged = xp.ones_like(keys, dtype=xp.bool) if mask is None else take_rows(mask, order)
    above, tied = _groups(xp, keys, judged, alone=alone)
    labels = xp.astype(labels, number)
    labels = labels if alone else _by_label(xp, labels, above, tied)
    return Batch(
        grade=labels if mask is None else xp.where(judged, labels, 0.0),
        judged=judged,
        above=above,
        tied=tied,
        first=above,
        last=above + tied,
        retrieved=xp.sum(xp.astype(judged, above.dtype), axis=1),
        ties=ties if ties in ("best", "worst") else "expected",
        **best_first(labels, judged),
    )


def _by_label(xp: Any, labels: Array, above: Array, tied: Array) -> Array:
    """Return the labels of each row with those of tied documents in descending order.

    Most rows have no tied documents with different labels; they are not sorted.
    """
    rises = (tied[:, 1:] > 1) & (above[:, 1:] == above[:, :-1]) & (labels[:, 1:] > labels[:, :-1])
    if not is_any(rises):
        return labels
    if is_numpy(labels):
        rows = rises.any(axis=1)
        labels[rows] = _sort_in_groups(labels[rows], above[rows])
        return labels
    order = xp.argsort(-labels, axis=1, stable=True)
    order = take_rows(order, xp.argsort(take_rows(above, order), axis=1, stable=True))
    return take_rows(labels, order)


def _sort_in_groups(labels: Array, above: Array) -> Array:
    """Return the labels of each row, sorted by `above`, and within a tie group in descending order."""
    low, high = float(labels.min()), float(labels.max())
    span = high - low + 1
    largest = span * labels.shape[1] + max(-low, high)
    if largest < EXACT and np.array_equal(labels, np.rint(labels)):  # both fit into one number, which sorts quickly
        packed = above * span - labels
        packed.sort(axis=1)
        return above * span - packed
    pairs = np.empty(labels.shape, np.complex128)  # sorted by both parts, in half the time of lexsort
    pairs.real, pairs.imag = above, -labels
    pairs.sort(axis=1)
    return -pairs.imag


def check_numbers(xp: Any, arrays: dict[str, Array], mask: Array | None = None) -> None:
    """Raise DataError for NaN and infinity outside padding."""
    for name, x in arrays.items():
        if xp.isdtype(x.dtype, "real floating"):
            odd = ~xp.isfinite(x)
            if is_any(odd if mask is None else odd & mask):
                raise DataError(f"a {name} is NaN or infinite; mask it out or replace it")


def best_first(labels: Array, mask: Array) -> dict[str, Array]:
    """Return the fields `pool` and `pooled` of a Batch: the real labels in descending order, and where there is one."""
    xp = namespace(labels)
    if bool(xp.all(mask)):
        return {"pool": -xp.sort(-labels, axis=1), "pooled": mask}
    pool = -xp.sort(xp.where(mask, -labels, xp.inf), axis=1)
    pooled = pool > -xp.inf
    return {"pool": xp.where(pooled, pool, 0.0), "pooled": pooled}


def real_type(xp: Any) -> Any:
    """Return the widest real dtype that the library is configured for: by default, JAX has no doubles."""
    known = xp.__array_namespace_info__().dtypes(kind="real floating")
    return known.get("float64", known["float32"])


def _shuffle(xp: Any, seed: int, arrays: list[Array]) -> list[Array]:
    """Return arrays with the columns of each row in a random order, which is the same in all arrays."""
    check_seed(seed)
    order = np.random.default_rng(seed).permuted(
        np.broadcast_to(np.arange(arrays[0].shape[1]), arrays[0].shape), axis=1
    )
    order = xp.asarray(order, device=device_of(arrays[0]))
    return [take_rows(x, order) for x in arrays]


def _groups(xp: Any, keys: Array, mask: Array, *, alone: bool) -> tuple[Array, Array]:
    """Return the fields `above` and `tied` of a Batch, from keys in rank order."""
    rows, width = keys.shape
    column = xp.broadcast_to(xp.arange(width, device=device_of(keys)), keys.shape)
    same = (keys[:, 1:] == keys[:, :-1]) & mask[:, 1:]
    if alone or not is_any(same):
        return column, xp.ones_like(column)
    starts = xp.concat([xp.ones_like(mask[:, :1]), ~same], axis=1)
    (at,) = xp.nonzero(xp.reshape(starts, (-1,)))
    group = xp.cumulative_sum(xp.astype(xp.reshape(starts, (-1,)), column.dtype)) - 1
    size = xp.concat([at[1:], xp.asarray([rows * width], dtype=at.dtype, device=device_of(keys))]) - at
    above = (
        xp.reshape(xp.take(at, group, axis=0), keys.shape) - xp.arange(rows, device=device_of(keys))[:, None] * width
    )
    return above, xp.reshape(xp.take(size, group, axis=0), keys.shape)


def assemble(rows: int, at_a_time: int, make: Callable[[slice], dict[str, Array]]) -> dict[str, Array]:
    """Return arrays by name, computed in blocks of rows that fit into the processor's cache."""
    one = make(slice(0, 1))
    whole = {name: np.empty((rows, *part.shape[1:]), part.dtype) for name, part in one.items()}

    def work(start: int) -> None:
        block = slice(start, min(start + at_a_time, rows))
        for name, part in make(block).items():
            whole[name][block] = part

    do_all(work, range(0, rows, at_a_time), cores())
    return whole


# Flat scores and labels


def from_groups(
    scores: Any, labels: Any, *, group: Any = None, qid: Any = None, ties: ArrayTies = "expected", seed: int = 0
) -> Batch:
    """Return a Batch, with one row per query, from the flat scores and labels of all queries.

    `group` holds the number of documents of each query, as in LightGBM and XGBoost; the documents of a query must be
    contiguous. Alternatively, `qid` holds the query of each document, in any order; the rows of the Batch are then in
    the order in which queries first appear. Both may be omitted if scores and labels are lists with one list per query.
    Arrays may be of any library of the array API. Every row is as wide as the longest query; evaluate_arrays needs less
    memory, because it groups queries of similar length.

    >>> import gradely
    >>> batch = gradely.from_groups([0.9, 0.4, 0.1, 0.7, 0.2], [0, 2, 1, 1, 0], group=[3, 2])
    >>> gradely.RR()(batch)
    array([0.5, 1. ])
    """
    check_ties(ties, without_names=True)
    warn_of_swap(scores, labels, "from_groups", group, qid)
    groups = group_documents(scores, labels, group, qid, ties, seed)
    return groups.full_batch(ties)


class GroupedArrays(NamedTuple):
    """Flat scores and labels; those of query i are at order[start[i]], …, order[start[i] + size[i] - 1]."""

    scores: Array
    labels: Array
    order: Array | None
    """the positions of the documents, query by query; None if the arrays are in this order"""
    start: Ints
    size: Ints

    def blocks(self) -> Iterator[Ints]:
        """Yield blocks of queries of similar length, few enough for the processor's cache."""
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
        """Return the Batch of all queries, with rows as wide as the longest query.

        NumPy computes it in blocks, which takes two thirds of the time and of the memory for six million documents.
        """
        size, width = len(self.size), max(1, int(self.size.max(initial=0)))
        rows = rows_at_a_time(width)
        if not is_numpy(self.scores) or size <= rows:
            return self.batch(np.arange(size), ties)

        above, tied = np.empty((2, size, width), np.int64)  # take memory only once they are written to
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
        """Return the Batch of some queries, with rows of the given width, or as wide as the longest of them."""
        scores, labels, mask = self._pad(queries, width)
        return rank_documents(scores, labels, mask, "order" if ties == "random" else ties)

    def _pad(self, queries: Ints, width: int | None) -> tuple[Array, Array, Array | None]:
        """Return scores, labels and mask with one row per query; the mask is None if all queries have one length."""
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


def group_documents(scores: Any, labels: Any, group: Any, qid: Any, ties: str, seed: int) -> GroupedArrays:
    """Return flat arrays in groups; raise DataError if the arguments do not match."""
    if group is not None and qid is not None:
        raise DataError("pass either group or qid, not both")
    check_unmasked(scores=scores, labels=labels, group=group, qid=qid)
    if is_ragged(scores):
        scores, labels, group = _flatten(scores, labels, group if qid is None else qid)
    scores, labels = as_arrays({"scores": scores, "labels": labels})
    if scores.ndim != 1 or scores.shape != labels.shape:
        shapes = f"{tuple(scores.shape)} and {tuple(labels.shape)}"
        raise DataError(
            f"with groups, scores and labels must be flat and of the same length; found the shapes {shapes}"
        )
    if group is None and qid is None:
        raise DataError(
            f"{scores.shape[0]:,} scores without queries: pass the query of each, with group=sizes or qid=ids"
        )
    if not scores.shape[0]:
        raise DataError("there are no scores and labels: give at least one document")
    check_numbers(namespace(scores), {"score": scores, "label": labels})
    size = _sizes(group, int(scores.shape[0])) if qid is None else None
    if ties == "random":  # all documents are shuffled at once, so the division into blocks does not matter
        check_seed(seed)
        code = np.repeat(np.arange(len(size)), size) if size is not None else to_numpy(_codes(qid, scores))
        shuffle = np.random.default_rng(seed).permutation(len(code))
        order, start, count = _by_first_row(np, code[shuffle], code)
        where = namespace(scores).asarray(shuffle[order], device=device_of(scores))
        start, count = (start, count) if size is None else (np.cumsum(size) - size, size)
        return GroupedArrays(scores, labels, where, start, count)
    if size is not None:
        return GroupedArrays(scores, labels, None, np.cumsum(size) - size, size)
    return _by_query(scores, labels, _codes(qid, scores))


def _by_query(scores: Array, labels: Array, code: Array) -> GroupedArrays:
    """Return groups from the query code of each document."""
    xp = namespace(code)
    order, start, size = _by_first_row(xp, code, code)
    together = bool(xp.all(order == xp.arange(order.shape[0], dtype=order.dtype, device=device_of(order))))
    return GroupedArrays(scores, labels, None if together else order, start, size)


def _by_first_row(xp: Any, code: Array, appearance: Array) -> tuple[Array, Ints, Ints]:
    """Return the rows sorted by query, and the start and length of each query.

    Queries are in the order in which they first appear in `appearance`, which holds the same codes.
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
    """Return the rows sorted stably by code, and the start and length of the run of each code."""
    order = xp.argsort(code, stable=True)
    in_order = xp.take(code, order, axis=0)
    new = to_numpy(in_order[1:] != in_order[:-1])
    start = np.concatenate([[0], np.flatnonzero(new) + 1])
    return order, start, np.diff(start, append=code.shape[0])


def _codes(qid: Any, scores: Array) -> Array:
    """Return the query of each document as numbers, in the library and on the device of the scores."""
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
    """Return the sizes of the groups; raise DataError if they do not add up to the length of the arrays."""
    sizes = to_numpy(group) if is_array(group) else np.asarray(group)
    integers = sizes.astype(np.int64) if sizes.dtype.kind in "iuf" and sizes.ndim == 1 else None
    if integers is None or not len(integers) or (integers != sizes).any() or (integers < 0).any():
        raise DataError("group must have the number of documents of each query, as whole numbers")
    if int(integers.sum()) != length:
        bounds = integers[0] == 0 and integers[-1] == length and not (np.diff(integers) < 0).any()
        hint = "; if it holds the query of each document, call it qid" if len(integers) == length else ""
        hint = "; if it holds the start of each group and the end, pass numpy.diff(group)" if bounds else hint
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
    """Return nested lists as flat ones, and the lengths of their rows."""
    if group is not None:
        raise DataError("scores have one list per query: leave group and qid out")
    if not isinstance(labels, list | tuple) or len(labels) != len(scores) or not all(map(_is_row, labels)):
        raise DataError("scores have one list per query: labels must have the same form")
    size = [len(row) for row in scores]
    odd = next((i for i, row in enumerate(labels) if len(row) != size[i]), None)
    if odd is not None:
        raise DataError(f"query {odd} (from 0) has {size[odd]:,} scores and {len(labels[odd]):,} labels")
    return _join(scores), _join(labels), size


def _join(rows: Sequence[Any]) -> Any:
    """Return lists or arrays joined into one."""
    if all(is_array(row) for row in rows):
        return namespace(*rows).concat(list(rows))
    return list(chain.from_iterable(rows))


# Ranked ids and labelled ids


def from_ids(ranked: Any, labelled: Any, labels: Any = None, *, padding: int = -1) -> Batch:
    """Return a Batch from ranked ids and labelled ids, which are whole numbers, with one row per user or query.

    `ranked` [Q, K] holds ids, best first. `labelled` [Q, L] holds the ids that have a label, in any order, and `labels`
    [Q, L] the labels, all 1 by default. The id `padding` means no document. Arrays may be of any library of the array
    API.

    >>> import gradely
    >>> batch = gradely.from_ids([[7, 5, 3], [1, 2, 3]], [[3, 7], [4, -1]], [[1, 2], [3, 0]])
    >>> gradely.AP()(batch)
    array([0.83333333, 0.        ])
    """
    ranked, labelled, labels = _align(ranked, labelled, labels)
    xp, real_id = namespace(ranked), ranked != padding
    if is_any(~real_id[:, :-1] & real_id[:, 1:]):  # ranks would be unclear
        raise DataError(f"the padding {padding} must come after the last ranked id of a row")
    fields = (_fields_in_blocks if is_numpy(ranked) else _fields)(ranked, labelled, labels, padding)
    place = fields["above"]
    column = xp.arange(place.shape[1], dtype=place.dtype, device=device_of(place))
    first, last, ones = (xp.broadcast_to(x, place.shape) for x in (column, column + 1, xp.ones_like(column)))
    return Batch(tied=ones, first=first, last=last, **fields)


def _fields_in_blocks(ranked: Array, labelled: Array, labels: Array, padding: int) -> dict[str, Array]:
    """Return fields of the Batch, computed in blocks of rows."""

    def make(block: slice) -> dict[str, Array]:
        return _fields(ranked[block], labelled[block], labels[block], padding, block.start)

    return assemble(len(ranked), rows_at_a_time(ranked.shape[1] + labelled.shape[1]), make)


def _fields(ranked: Array, labelled: Array, labels: Array, padding: int, row: int = 0) -> dict[str, Array]:
    """Return fields of the Batch of some rows; `row` is the index of the first row, for errors."""
    xp = namespace(ranked)
    place, column = _match(ranked, labelled, padding, row)
    retrieved, numbers = place < ranked.shape[1], xp.astype(labels, real_type(xp))
    return {
        "grade": xp.where(retrieved, take_rows(numbers, column), 0.0),
        "judged": retrieved,
        "above": xp.where(retrieved, place, 0),
        "retrieved": xp.sum(xp.astype(ranked != padding, place.dtype), axis=1),
        **best_first(numbers, labelled != padding),
    }


def _align(ranked: Any, labelled: Any, labels: Any) -> tuple[Array, Array, Array]:
    """Return the arguments as arrays of one library with one row per query; raise DataError if they do not match."""
    check_unmasked(ranked=ranked, labelled=labelled, labels=labels)
    arrays = [x for x in (ranked, labelled, labels) if is_array(x)]
    xp = namespace(*arrays)
    where = device_of(arrays[0]) if arrays else None
    ranked, labelled = (
        x if is_array(x) else xp.asarray(_rows_of_one_length(name, x), device=where)
        for name, x in (("ranked", ranked), ("labelled", labelled))
    )
    labels = xp.ones_like(labelled) if labels is None else labels
    labels = labels if is_array(labels) else xp.asarray(_rows_of_one_length("labels", labels), device=where)
    shapes = [tuple(x.shape) for x in (ranked, labelled, labels)]
    if any(len(shape) != 2 or 0 in shape for shape in shapes) or len({shape[0] for shape in shapes}) > 1:
        raise DataError(
            f"ranked, labelled and labels need the same number of rows, one per query; found the shapes {shapes}"
        )
    if shapes[1] != shapes[2]:
        raise DataError(f"every labelled id needs a label; found {shapes[1]} ids and {shapes[2]} labels")
    for name, x in (("ranked", ranked), ("labelled", labelled)):
        if not xp.isdtype(x.dtype, "integral"):
            raise DataError(f"{name} ids must be whole numbers; found {x.dtype}: number the documents first")
    if not xp.isdtype(labels.dtype, ("bool", "integral", "real floating")):
        raise DataError(f"labels must be numbers; found {labels.dtype}, the type of None and text")
    if xp.isdtype(labels.dtype, "real floating") and not bool(xp.all(xp.isfinite(labels))):
        raise DataError("a label is NaN or infinite; to leave it out, replace its id with the padding")
    return ranked, labelled, labels


def _rows_of_one_length(name: str, rows: Any) -> Array:
    """Return lists as an array; raise DataError if the rows differ in length."""
    try:
        return np.asarray(rows)
    except ValueError:
        raise DataError(
            f"{name}: the rows are of different lengths; fill them up with the padding, such as -1"
        ) from None


def _match(ranked: Array, labelled: Array, padding: int, row: int) -> tuple[Array, Array]:
    """Return the place of each labelled id, K if it is not ranked, and its column, both [Q, L] and sorted by place.

    Ids and columns are packed into one number: one sort of each row brings equal ids together, the labelled one first;
    a second sort puts the labelled ids in rank order, with unranked ones last.
    """
    xp, depth, width = namespace(ranked), ranked.shape[1], labelled.shape[1]
    bits = (depth + width).bit_length()
    joined = [x if labelled.dtype == ranked.dtype else xp.astype(x, xp.int64) for x in (labelled, ranked)]
    packed, none = _pack(xp, xp.concat(joined, axis=1), padding, bits)
    packed = xp.sort(packed, axis=1)
    column = packed & ((1 << bits) - 1)
    left, right = column[:, :-1], column[:, 1:]
    same = ((packed[:, 1:] ^ packed[:, :-1]) < 1 << bits) & (packed[:, 1:] >> bits != none)
    _check_twice(xp, same & ((left >= width) | (right < width)), row)
    place = xp.where(same, right - width, depth)
    order = xp.concat([place << bits | left, column[:, -1:] | depth << bits], axis=1)
    order = xp.astype(xp.sort(order, axis=1)[:, :width], xp.int64)
    return order >> bits, order & ((1 << bits) - 1)


def _pack(xp: Any, ids: Array, padding: int, bits: int) -> tuple[Array, int]:
    """Return ids, counted from 0, packed with their columns into one number, and the new value of the padding."""
    low, high = int(xp.min(ids)), int(xp.max(ids))
    if (high - low + 1) << bits >= 1 << 62:
        unique = xp.unique_inverse(xp.concat([xp.full_like(ids[:1, :1], padding), xp.reshape(ids, (1, -1))], axis=1))
        numbers = xp.reshape(unique.inverse_indices, (-1,))
        ids, padding = xp.reshape(numbers[1:], ids.shape), int(numbers[0])
        low, high = 0, int(xp.max(numbers))
    dtype = xp.int32 if (high - low + 1) << bits < 1 << 31 else xp.int64
    column = xp.arange(ids.shape[1], dtype=dtype, device=device_of(ids))
    return xp.astype(xp.astype(ids, xp.int64) - low, dtype) << bits | column, padding - low


def _check_twice(xp: Any, twice: Array, row: int) -> None:
    """Raise DataError for a duplicate id in a row."""
    if is_any(twice):
        first = int(xp.argmax(xp.astype(xp.any(twice, axis=1), xp.int8)))
        raise DataError(
            f"row {row + first} (from 0) has a duplicate id among the ranked or the labelled ones; keep one"
        )
