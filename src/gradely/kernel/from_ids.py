"""from_ids: recommender arrays, ranked ids and labelled ids, to a Batch."""

from typing import Any

import numpy as np

from gradely.errors import DataError
from gradely.kernel.assembly import assemble
from gradely.kernel.backend import check_unmasked, device_of, is_any, is_array, is_numpy, namespace, take_rows
from gradely.kernel.batch import Array, Batch, rows_at_a_time
from gradely.kernel.from_arrays import best_first, real_type


def from_ids(ranked: Any, labelled: Any, labels: Any = None, *, padding: int = -1) -> Batch:
    """Return a Batch from ranked ids and labelled ids, whole numbers, one row per user or query.

    `ranked` [Q, K] holds ids, best first. `labelled` [Q, L] holds the ids that have a label, in any order, and `labels`
    [Q, L] the labels, all 1 by default. The id `padding` stands for no document. Arrays may be of any library of the
    array API.

    >>> import gradely
    >>> batch = gradely.from_ids([[7, 5, 3], [1, 2, 3]], [[3, 7], [4, -1]], [[1, 2], [3, 0]])
    >>> gradely.AP()(batch)
    array([0.83333333, 0.        ])
    """
    ranked, labelled, labels = _align(ranked, labelled, labels)
    _check_padding(ranked, padding)
    xp = namespace(ranked)
    fields = (_fields_in_blocks if is_numpy(ranked) else _fields)(ranked, labelled, labels, padding)
    place = fields["above"]
    column = xp.arange(place.shape[1], dtype=place.dtype, device=device_of(place))
    first, last, ones = (xp.broadcast_to(x, place.shape) for x in (column, column + 1, xp.ones_like(column)))
    return Batch(tied=ones, first=first, last=last, **fields)


def _fields_in_blocks(ranked: Array, labelled: Array, labels: Array, padding: int) -> dict[str, Array]:
    """Return fields of the Batch, made in blocks of rows."""

    def make(block: slice) -> dict[str, Array]:
        return _fields(ranked[block], labelled[block], labels[block], padding, block.start)

    return assemble(len(ranked), rows_at_a_time(ranked.shape[1] + labelled.shape[1]), make)


def _fields(ranked: Array, labelled: Array, labels: Array, padding: int, row: int = 0) -> dict[str, Array]:
    """Return fields of the Batch of some rows, the first of which is number `row`."""
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
    """Return the three as arrays of one library, one row per query; refuse what does not fit."""
    check_unmasked(ranked=ranked, labelled=labelled, labels=labels)
    arrays = [x for x in (ranked, labelled, labels) if is_array(x)]
    xp = namespace(*arrays)
    where = device_of(arrays[0]) if arrays else None
    ranked, labelled = (x if is_array(x) else xp.asarray(np.asarray(x), device=where) for x in (ranked, labelled))
    labels = xp.ones_like(labelled) if labels is None else labels
    labels = labels if is_array(labels) else xp.asarray(np.asarray(labels), device=where)
    shapes = [tuple(x.shape) for x in (ranked, labelled, labels)]
    if any(len(shape) != 2 or 0 in shape for shape in shapes) or len({shape[0] for shape in shapes}) > 1:
        raise DataError(
            f"ranked, labelled and labels need the same number of rows, one per query; found the shapes {shapes}"
        )
    if shapes[1] != shapes[2]:
        raise DataError(f"every labelled id needs a label; found {shapes[1]} ids and {shapes[2]} labels")
    for name, x in (("ranked", ranked), ("labelled", labelled)):
        if not xp.isdtype(x.dtype, "integral"):
            raise DataError(f"{name} ids are whole numbers; found {x.dtype}: number them first")
    if not xp.isdtype(labels.dtype, ("bool", "integral", "real floating")):
        raise DataError(f"labels must be numbers; found {labels.dtype}, as of None or text")
    if xp.isdtype(labels.dtype, "real floating") and not bool(xp.all(xp.isfinite(labels))):
        raise DataError("a label is NaN or infinite; give its id the padding and it is left out")
    return ranked, labelled, labels


def _check_padding(ranked: Array, padding: int) -> None:
    """Refuse a gap in a ranking, after which ranks would be unclear."""
    real_id = ranked != padding
    if is_any(~real_id[:, :-1] & real_id[:, 1:]):
        raise DataError(f"the padding {padding} must come after the last ranked id of a row")


def _match(ranked: Array, labelled: Array, padding: int, row: int) -> tuple[Array, Array]:
    """Return [Q, L], ranked ones first: the place of each labelled id, K where it is not ranked, and its column.

    Ids and columns are packed into one number: one sort of each row brings equal ids together, the labelled one first,
    and a second one puts the labelled ones in rank order, those that are not ranked last.
    """
    xp, depth, width = namespace(ranked), ranked.shape[1], labelled.shape[1]
    bits = (depth + width).bit_length()
    packed, none = _pack(xp, _join(xp, labelled, ranked), padding, bits)
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
    """Return ids, counted from 0, and columns in one number, and what the padding has become."""
    low, high = int(xp.min(ids)), int(xp.max(ids))
    if (high - low + 1) << bits >= 1 << 62:
        unique = xp.unique_inverse(xp.concat([xp.full_like(ids[:1, :1], padding), xp.reshape(ids, (1, -1))], axis=1))
        numbers = xp.reshape(unique.inverse_indices, (-1,))
        ids, padding = xp.reshape(numbers[1:], ids.shape), int(numbers[0])
        low, high = 0, int(xp.max(numbers))
    dtype = xp.int32 if (high - low + 1) << bits < 1 << 31 else xp.int64
    column = xp.arange(ids.shape[1], dtype=dtype, device=device_of(ids))
    return xp.astype(xp.astype(ids, xp.int64) - low, dtype) << bits | column, padding - low


def _join(xp: Any, labelled: Array, ranked: Array) -> Array:
    """Return all ids of a row, the labelled ones first."""
    wide = [x if labelled.dtype == ranked.dtype else xp.astype(x, xp.int64) for x in (labelled, ranked)]
    return xp.concat(wide, axis=1)


def _check_twice(xp: Any, twice: Array, row: int) -> None:
    """Refuse an id that stands twice in a row."""
    if is_any(twice):
        first = int(xp.argmax(xp.astype(xp.any(twice, axis=1), xp.int8)))
        raise DataError(f"row {row + first} (from 0) has an id twice among the ranked or the labelled ones; keep one")
