"""From arrays of scores and labels to a Batch, in the caller's array library and on its device."""

from typing import Any

import numpy as np

from gradely.batch import Array, Batch
from gradely.errors import DataError
from gradely.namespaces import device_of, is_array, namespace
from gradely.policies import check_ties


def from_arrays(scores: Any, labels: Any, mask: Any = None, *, ties: str = "expected", seed: int = 0) -> Batch:
    """Return a Batch from scores and labels, one row a query, one column a document; higher scores rank first.

    `mask` is true for real documents and false for padding. Every document counts as judged. Arrays may be NumPy,
    PyTorch, JAX, CuPy or any other of the array API standard; lists become NumPy arrays. One dimension is one query.
    `ties` is any policy but `trec`, which needs document names.

    >>> import gradely
    >>> batch = gradely.from_arrays([[0.9, 0.4, 0.4]], [[0, 2, 1]])
    >>> gradely.RR()(batch)
    array([0.5])
    """
    check_ties(ties, without_names=True)
    xp, scores, labels, mask = _same_shape(scores, labels, mask)
    number = _real(xp)
    if ties == "random":
        scores, labels, mask = _shuffled(xp, seed, scores, labels, mask)
    order = xp.argsort(xp.where(mask, -scores, xp.inf), axis=1, stable=ties in ("order", "random"))
    scores, labels, judged = (xp.take_along_axis(x, order, axis=1) for x in (scores, xp.astype(labels, number), mask))
    above, tied = _groups(xp, scores, judged, alone=ties in ("order", "random"))
    pool = -xp.sort(xp.where(judged, -labels, xp.inf), axis=1)
    pooled = pool > -xp.inf
    return Batch(
        grade=xp.where(judged, labels, 0.0),
        judged=judged,
        above=above,
        tied=tied,
        first=above,
        last=above + tied,
        pool=xp.where(pooled, pool, 0.0),
        pooled=pooled,
        retrieved=xp.sum(xp.astype(judged, above.dtype), axis=1),
        ties=ties if ties in ("best", "worst") else "expected",
    )


def _same_shape(scores: Any, labels: Any, mask: Any) -> tuple[Any, Array, Array, Array]:
    """Return the namespace and the three as arrays [Q, K]; refuse what does not fit or is not finite."""
    given = [x for x in (scores, labels, mask) if is_array(x)]
    xp = namespace(*given)
    where = device_of(given[0]) if given else None
    scores, labels = (x if is_array(x) else xp.asarray(np.asarray(x), device=where) for x in (scores, labels))
    mask = xp.ones(scores.shape, dtype=xp.bool, device=where) if mask is None else mask
    mask = mask if is_array(mask) else xp.asarray(np.asarray(mask), device=where)
    if scores.shape != labels.shape or scores.shape != mask.shape or scores.ndim not in (1, 2) or 0 in scores.shape:
        raise DataError(
            f"scores, labels and mask must have one shape, [queries, documents]; found {_shapes(scores, labels, mask)}"
        )
    scores, labels, mask = (x[None, :] if x.ndim == 1 else x for x in (scores, labels, mask))
    mask = xp.astype(mask, xp.bool)
    for name, x in (("score", scores), ("label", labels)):
        if xp.isdtype(x.dtype, "real floating") and bool(xp.any(mask & ~xp.isfinite(x))):
            raise DataError(f"a {name} is NaN or infinite; mask it out or replace it")
    return xp, scores if xp.isdtype(scores.dtype, "real floating") else xp.astype(scores, _real(xp)), labels, mask


def _shapes(*arrays: Array) -> str:
    return ", ".join(str(tuple(x.shape)) for x in arrays)


def _real(xp: Any) -> Any:
    """Return the widest real dtype that the library is set up for: JAX has no doubles unless asked."""
    known = xp.__array_namespace_info__().dtypes(kind="real floating")
    return known.get("float64", known["float32"])


def _shuffled(xp: Any, seed: int, *arrays: Array) -> tuple[Array, ...]:
    """Return the columns of each row in a random order, the same in all arrays."""
    order = np.random.default_rng(seed).permuted(
        np.broadcast_to(np.arange(arrays[0].shape[1]), arrays[0].shape), axis=1
    )
    order = xp.asarray(order, device=device_of(arrays[0]))
    return tuple(xp.take_along_axis(x, order, axis=1) for x in arrays)


def _groups(xp: Any, scores: Array, real: Array, *, alone: bool) -> tuple[Array, Array]:
    """Return how many documents are above each one and how many share its score, from scores in rank order."""
    rows, width = scores.shape
    column = xp.broadcast_to(xp.arange(width, device=device_of(scores)), scores.shape)
    same = (scores[:, 1:] == scores[:, :-1]) & real[:, 1:]
    if alone or not bool(xp.any(same)):
        return column, xp.ones_like(column)
    starts = xp.concat([xp.ones_like(real[:, :1]), ~same], axis=1)
    (at,) = xp.nonzero(xp.reshape(starts, (-1,)))
    group = xp.cumulative_sum(xp.astype(xp.reshape(starts, (-1,)), column.dtype)) - 1
    size = xp.concat([at[1:], xp.asarray([rows * width], dtype=at.dtype, device=device_of(scores))]) - at
    above = (
        xp.reshape(xp.take(at, group, axis=0), scores.shape)
        - xp.arange(rows, device=device_of(scores))[:, None] * width
    )
    return above, xp.reshape(xp.take(size, group, axis=0), scores.shape)
