"""evaluate_arrays: values from arrays of scores and labels, computed in blocks of queries."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar, overload

import numpy as np
import numpy.typing as npt

from gradely.data.ids import Floats
from gradely.errors import DataError, NotFinite
from gradely.evaluation.evaluate import DEFAULT
from gradely.evaluation.likely_mistakes import describe_threshold
from gradely.kernel.arrays import (
    GroupedArrays,
    Ints,
    align_arrays,
    are_by_subtopic,
    check_numbers,
    from_arrays,
    group_documents,
    is_ragged,
    rank_documents,
)
from gradely.kernel.backend import device_of, is_array, is_numpy, namespace
from gradely.kernel.batch import Array, Batch, Levels, rows_at_a_time
from gradely.kernel.swapped import warn_of_swap
from gradely.measures import Measure
from gradely.measures.function import MANY, all_finite, values_of
from gradely.measures.gap import Population
from gradely.measures.names import MeasureLike, fit_all, parse_all
from gradely.parallel import cores, on_threads
from gradely.settings import ArrayTies, check_ties

A = TypeVar("A")


@overload
def evaluate_arrays(
    scores: npt.NDArray[Any] | Sequence[Any],
    labels: Any,
    measures: MeasureLike | Iterable[MeasureLike] = ...,
    mask: Any = ...,
    *,
    group: Any = ...,
    qid: Any = ...,
    ties: ArrayTies = ...,
    seed: int = ...,
    threads: int | None = ...,
) -> dict[str, Floats]: ...
@overload
def evaluate_arrays(
    scores: A,
    labels: Any,
    measures: MeasureLike | Iterable[MeasureLike] = ...,
    mask: Any = ...,
    *,
    group: Any = ...,
    qid: Any = ...,
    ties: ArrayTies = ...,
    seed: int = ...,
    threads: int | None = ...,
) -> dict[str, A]: ...
def evaluate_arrays(
    scores: Any,
    labels: Any,
    measures: MeasureLike | Iterable[MeasureLike] = DEFAULT,
    mask: Any = None,
    *,
    group: Any = None,
    qid: Any = None,
    ties: ArrayTies = "expected",
    seed: int = 0,
    threads: int | None = None,
) -> dict[str, Array]:
    """Return the values of each measure, one per query, from arrays of scores and labels.

    Arrays have one row per query, and `mask` is true for real documents. Alternatively, arrays are flat, and `group`
    holds the number of documents of each query, or `qid` the query of each document; or they are lists with one list
    per query. With `qid`, values are in the order in which queries first appear. Labels by subtopic have one more
    dimension.

    The values are the same as those of measures called on from_arrays or from_groups. However, NumPy arrays are
    processed in blocks of queries, on all processors and without a copy of the whole, in a fraction of the time.
    Queries of similar length share a block, so a long one does not slow down the others.

    >>> evaluate_arrays([[0.9, 0.4, 0.4], [0.1, 0.7, 0.2]], [[0, 2, 1], [1, 0, 3]], ["RR", "P@1"])
    {'RR': array([0.5, 0.5]), 'P@1': array([0., 0.])}
    >>> evaluate_arrays([0.9, 0.4, 0.1, 0.7, 0.2], [0, 2, 1, 1, 0], ["RR"], group=[3, 2])
    {'RR': array([0.5, 1. ])}
    """
    check_ties(ties, without_names=True)
    named = parse_all(measures)
    if not warn_of_swap(scores, labels, "evaluate_arrays", group, qid):
        _warn_of_labels(labels, mask, named)
    if are_by_subtopic(scores, labels):
        if group is not None or qid is not None:
            raise DataError(
                "labels by subtopic must have the shape [queries, documents, subtopics]: leave out group and qid"
            )
        batch = from_arrays(scores, labels, mask, ties=ties, seed=seed)
        return {name: measure(batch) for name, measure in named.items()}
    if group is not None or qid is not None or is_ragged(scores):
        if mask is not None:
            raise DataError("with groups there is nothing to mask: leave mask out")
        return _in_groups(group_documents(scores, labels, group, qid, ties, seed), named, ties, threads)
    if any(is_array(x) and not is_numpy(x) for x in (scores, labels, mask)):
        return _on_device(scores, labels, named, mask, ties, seed)
    return _in_rows(*align_arrays(scores, labels, mask, ties, seed, flat=False), named, ties, threads)


def _warn_of_labels(labels: Any, mask: Any, measures: dict[str, Measure]) -> None:
    """Warn if labels from 1 are relevant to binary measures, but some positive labels are fractions below 1."""
    by_one = [name for name, measure in measures.items() if getattr(measure, "rel", None) == 1]
    if not by_one or not isinstance(labels, np.ndarray | list) or is_ragged(labels):
        return
    numbers = np.asarray(labels)
    if numbers.dtype.kind != "f":
        return
    if isinstance(mask, np.ndarray | list) and np.shape(mask) == numbers.shape:
        numbers = numbers[np.asarray(mask, dtype=bool)]
    low = numbers.min(where=numbers > 0, initial=1)
    if low < 1:
        text = describe_threshold(numbers, [float(low), float(numbers.max())], by_one)
        warnings.warn(str(text), stacklevel=3)


def _in_rows(
    scores: Array, labels: Array, mask: Array | None, measures: dict[str, Measure], ties: str, threads: int | None
) -> dict[str, Array]:
    """Return the values of each measure, one per row, in blocks of rows that fit into the processor's cache."""
    fitted = fit_all(measures, Levels(labels, mask))

    def work(rows: slice) -> list[Array]:
        batch = rank_documents(scores[rows, ...], labels[rows, ...], None if mask is None else mask[rows, ...], ties)
        return _compute(fitted, batch, lambda row: rows.start + row)

    queries, width = scores.shape
    rows = rows_at_a_time(width)
    blocks = (slice(i, i + rows) for i in range(0, queries, rows))
    columns = zip(*on_threads(work, blocks, threads or cores()), strict=True)
    return {name: np.concatenate(values) for name, values in zip(fitted, columns, strict=True)}


def _compute(measures: dict[str, Measure], batch: Batch, number: Callable[[int], int]) -> list[Array]:
    """Return the values of each measure; for errors, `number` returns the index of the query in a row of the batch."""
    try:
        return [measure.compute(batch) for measure in measures.values()]
    except NotFinite as error:
        raise NotFinite(error.measure, number(error.row), float(batch.pool[error.row, 0])) from None


def _in_groups(groups: GroupedArrays, measures: dict[str, Measure], ties: str, threads: int | None) -> dict[str, Array]:
    """Return the values of each measure, one per group."""
    fitted = fit_all(measures, Levels(groups.labels))

    def work(queries: Ints) -> list[Array]:
        return _compute(fitted, groups.batch(queries, ties), lambda row: int(queries[row]))

    blocks = list(groups.blocks())
    columns = zip(*on_threads(work, blocks, threads or cores()), strict=True)
    xp, done = namespace(groups.scores), np.concatenate(blocks)
    back = None if (np.diff(done) == 1).all() else xp.asarray(np.argsort(done), device=device_of(groups.scores))
    out = {name: xp.concat(values) for name, values in zip(fitted, columns, strict=True)}
    return out if back is None else {name: xp.take(values, back, axis=0) for name, values in out.items()}


def _on_device(
    scores: Any, labels: Any, measures: dict[str, Measure], mask: Any, ties: str, seed: int
) -> dict[str, Array]:
    """Return the values of arrays on a device.

    Measures that support it are computed on one batch of fixed shape, which does not wait for the device. The others,
    or all if a value is not finite, are computed on an ordinary batch, whose errors name the query.
    """
    scores, labels, mask = align_arrays(scores, labels, mask, ties, seed, flat=False)
    check_numbers(namespace(scores), {"score": scores, "label": labels}, mask)
    levels = Levels(labels, mask)
    ordered = "order" if ties == "random" else ties
    quick = {name: measure for name, measure in measures.items() if _is_quick(measure, levels, ordered)}
    values = values_of(list(quick.values()), scores, labels, mask, ties=ordered, check=False) if quick else []
    values_by_name = dict(zip(quick, values, strict=True)) if all_finite(values) else {}
    if len(values_by_name) < len(measures):
        batch = rank_documents(scores, labels, mask, ordered)
        values_by_name |= {name: measure(batch) for name, measure in measures.items() if name not in values_by_name}
    return {name: values_by_name[name] for name in measures}


def _is_quick(measure: Measure, levels: Levels, ties: str) -> bool:
    """True for measures that support batches of fixed shape, unless there are too many levels."""
    return measure.is_fixed(ties) and not (isinstance(measure, Population) and levels().shape[0] > MANY)
