"""From arrays of scores and labels to a Batch, in the caller's array library and on its device."""

from numbers import Real
from typing import Any

import numpy as np

from gradely.errors import DataError
from gradely.kernel.backend import check_unmasked, device_of, is_any, is_array, is_numpy, namespace, take_rows
from gradely.kernel.batch import Array, Batch
from gradely.settings import check_seed, check_ties


def from_arrays(scores: Any, labels: Any, mask: Any = None, *, ties: str = "expected", seed: int = 0) -> Batch:
    """Return a Batch from scores and labels, one row per query and one column per document; higher scores rank first.

    `mask` is true for real documents and false for padding. Every document counts as judged. Arrays may be NumPy,
    PyTorch, JAX, CuPy or any other of the array API standard; lists become NumPy arrays. One dimension is one query.
    `ties` is any policy but `trec`, which needs document names.

    >>> import gradely
    >>> batch = gradely.from_arrays([[0.9, 0.4, 0.4]], [[0, 2, 1]])
    >>> gradely.RR()(batch)
    array([0.5])
    """
    check_ties(ties, without_names=True)
    return rank_documents(*align_arrays(scores, labels, mask, ties, seed), ties)


def align_arrays(
    scores: Any, labels: Any, mask: Any, ties: str, seed: int, *, flat: bool = True
) -> tuple[Array, Array, Array | None]:
    """Return scores, labels and mask as arrays [Q, K] of one library; in a random order for random ties.

    Flat arrays are one query, or refused.
    """
    arrays = as_arrays({"scores": scores, "labels": labels} | ({} if mask is None else {"mask": mask}))
    xp = namespace(arrays[0])
    shapes = [tuple(x.shape) for x in arrays]
    if any(shape != shapes[0] for shape in shapes) or len(shapes[0]) not in (1, 2) or 0 in shapes[0]:
        listing = ", ".join(map(str, shapes))
        raise DataError(f"scores, labels and mask must have one shape, [queries, documents]; found {listing}")
    if len(shapes[0]) == 1 and not flat:
        raise DataError(
            f"{shapes[0][0]:,} scores in a row: say which query each belongs to, with group=sizes or qid=ids;"
            " of one query, give scores[None, :] and labels[None, :]"
        )
    arrays = [x[None, :] if x.ndim == 1 else x for x in arrays]
    arrays = _shuffle(xp, seed, arrays) if ties == "random" else arrays
    return arrays[0], arrays[1], xp.astype(arrays[2], xp.bool) if mask is not None else None


def as_arrays(values: dict[str, Any]) -> list[Array]:
    """Return values by name as arrays of numbers, all of one library and on one device; lists follow the arrays."""
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
    """Return a list or an array of NumPy as numbers; refuse text, None, and rows of different lengths."""
    if values is None:
        raise DataError(f"{name} are missing (None)")
    try:
        array = np.asarray(values)
    except (TypeError, ValueError):
        raise DataError(f"{name}: the rows are of different lengths, or nested; pad them, or say group=sizes") from None
    if array.dtype.kind in "OUSV":
        for x in array.ravel().tolist():
            if not isinstance(x, Real):
                raise DataError(f"{name} are numbers; found {repr(x)[:60]}")
        try:
            return array.astype(np.float64)
        except OverflowError:
            raise DataError(f"{name}: a number is too large") from None
    if array.dtype.kind not in "biuf":
        raise DataError(f"{name} are numbers; found {array.dtype}")
    return array


def rank_documents(scores: Array, labels: Array, mask: Array | None, ties: str) -> Batch:
    """Return the Batch of aligned arrays, or of some of their rows; refuse what is not finite."""
    xp = namespace(scores)
    check_numbers(xp, {"score": scores, "label": labels}, mask)
    number = real_type(xp)
    keys = -(scores if xp.isdtype(scores.dtype, "real floating") else xp.astype(scores, number))
    keys = keys if mask is None else xp.where(mask, keys, xp.inf)
    order = xp.argsort(keys, axis=1, stable=ties in ("order", "random"))
    keys, labels = (take_rows(x, order) for x in (keys, labels))
    judged = xp.ones_like(keys, dtype=xp.bool) if mask is None else take_rows(mask, order)
    above, tied = _groups(xp, keys, judged, alone=ties in ("order", "random"))
    labels = xp.astype(labels, number)
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


def check_numbers(xp: Any, arrays: dict[str, Array], mask: Array | None = None) -> None:
    """Refuse NaN and infinity, except in padding."""
    for name, x in arrays.items():
        if xp.isdtype(x.dtype, "real floating"):
            odd = ~xp.isfinite(x)
            if is_any(odd if mask is None else odd & mask):
                raise DataError(f"a {name} is NaN or infinite; mask it out or replace it")


def best_first(labels: Array, mask: Array) -> dict[str, Array]:
    """Return the pool, the real ones of some labels sorted, and where it holds one, as a Batch names them."""
    xp = namespace(labels)
    if bool(xp.all(mask)):
        return {"pool": -xp.sort(-labels, axis=1), "pooled": mask}
    pool = -xp.sort(xp.where(mask, -labels, xp.inf), axis=1)
    pooled = pool > -xp.inf
    return {"pool": xp.where(pooled, pool, 0.0), "pooled": pooled}


def real_type(xp: Any) -> Any:
    """Return the widest real dtype that the library is set up for: JAX has no doubles unless asked."""
    known = xp.__array_namespace_info__().dtypes(kind="real floating")
    return known.get("float64", known["float32"])


def _shuffle(xp: Any, seed: int, arrays: list[Array]) -> list[Array]:
    """Return the columns of each row in a random order, the same in all arrays."""
    check_seed(seed)
    order = np.random.default_rng(seed).permuted(
        np.broadcast_to(np.arange(arrays[0].shape[1]), arrays[0].shape), axis=1
    )
    order = xp.asarray(order, device=device_of(arrays[0]))
    return [take_rows(x, order) for x in arrays]


def _groups(xp: Any, keys: Array, mask: Array, *, alone: bool) -> tuple[Array, Array]:
    """Return how many documents are above each one and how many share its key, from keys in rank order."""
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
