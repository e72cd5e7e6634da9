"""Detects scores and labels that look swapped, since arrays have no names."""

import warnings
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

SAMPLE = 1000
"""number of values that are examined"""
HIGHEST = 10
"""the highest label of common scales"""
LOWEST = -2
"""the lowest label, which TREC uses for spam"""
RANKED = 4
"""from this number of documents on, scores without ties are taken for scores"""
BINARY = "the first scores are 0 or 1"


def look_swapped(
    labels: npt.NDArray[np.float64], levels: npt.NDArray[np.float64], scores: npt.NDArray[np.float64]
) -> str | None:
    """Return in what way labels look like scores, and scores like labels; None if they do not.

    `labels` and `scores` are those of one query or more, `levels` the distinct positive labels of all queries.

    >>> real, whole = np.array([0.91, 0.4, 0.13]), np.array([2.0, 1.0, 0.0])
    >>> look_swapped(real, real, np.array([3.0, 0.0, 1.0]))
    'most labels are not whole numbers, and the first scores are whole numbers from 0 to 3'
    >>> look_swapped(real, real, np.array([4.5, 2.0, 4.5]))
    'most labels are not whole numbers, and the first scores are half and whole numbers from 2 to 4.5'
    >>> look_swapped(whole, whole[:2], np.array([1.0, 0.0, 0.0]))
    'the first scores are 0 or 1'
    >>> look_swapped(np.array([30.0, 17.0, 12.0, 5.0]), np.arange(1.0, 26.0), np.array([2.0, 0.0, 0.0, 0.0, 2.0]))
    'there are 25 distinct positive labels, and most of the first scores tie, whole numbers from 0 to 2'
    >>> look_swapped(np.array([12.0, 11.0, 4.0]), np.array([4.0, 11.0, 12.0]), whole)
    'the first labels all differ and go up to 12, and the first scores are whole numbers from 0 to 2'
    >>> look_swapped(whole, whole[:2], real), look_swapped(real, real, np.array([4.0, 3.0, 2.0, 1.0]))
    (None, None)
    """
    distinct = len(set(scores.tolist()))  # np.unique would import numpy.ma, which takes 6 ms
    if not 1 < distinct <= HIGHEST + 1 or distinct == len(scores) >= RANKED:
        return None
    scale = _scale_of(scores)
    values = scale.text if scale else f"of which {distinct} differ"
    if scale and are_real(levels, scale.step):
        return f"most labels are not whole numbers, and the first scores are {values}"
    if len(levels) > HIGHEST and _share_tied(scores) > 0.5 > _share_tied(labels):
        return f"there are {len(levels):,} distinct positive labels, and most of the first scores tie, {values}"
    beyond = describe_beyond(labels)
    if scale and beyond:
        share = "the first scores are" if distinct == len(scores) else "some of the first scores tie,"
        return f"{beyond}, and {share} {values}"
    return BINARY if scale == Scale(0, 1, 1) and len(scores) > 2 else None


class Scale(NamedTuple):
    """A scale of labels: whole numbers, or half stars."""

    low: float
    high: float
    step: float

    @property
    def text(self) -> str:
        """Say which numbers these are."""
        kind = "whole numbers" if self.step == 1 else "half and whole numbers"
        return f"{kind} from {self.low:g} to {self.high:g}"


def _scale_of(scores: npt.NDArray[np.float64]) -> Scale | None:
    """Return the scale of labels that all scores are on, if it is a common one, else None.

    Ranks are read as the scores -1, -2, …, and no scale of labels is below 0.
    """
    low, high = float(scores.min()), float(scores.max())
    if low < LOWEST or not 0 <= high <= HIGHEST:
        return None
    return next((Scale(low, high, step) for step in (1.0, 0.5) if not (scores % step).any()), None)


def are_real(levels: npt.NDArray[np.float64], step: float = 1.0) -> bool:
    """True if most labels are not whole numbers, or not on a scale with another step."""
    return 2 * int(np.count_nonzero(levels % step)) > len(levels)


def describe_beyond(labels: npt.NDArray[np.float64]) -> str | None:
    """Return a description if the labels of a query exceed common scales and never tie, as scores do, else None."""
    if len(labels) < 2 or not labels.max() > HIGHEST or _share_tied(labels):
        return None
    return f"the first labels all differ and go up to {labels.max():g}"


def _share_tied(numbers: npt.NDArray[np.float64]) -> float:
    """Return the share of numbers that equal another number."""
    counts = np.unique(numbers, return_counts=True)[1]
    return float(counts[counts > 1].sum()) / max(len(numbers), 1)


def warn_of_swap(scores: Any, labels: Any, call: str, group: Any = None, qid: Any = None) -> bool:
    """Warn if scores look like labels and labels like scores, since scikit-learn takes labels first.

    Return True if it warned. Arrays of other libraries than NumPy are not examined, since this would wait for their
    device.
    """
    if not isinstance(scores, (list, np.ndarray)):  # torch.compile does not support the checks below
        return False
    first_scores, first_labels = _first_numbers(scores), _first_numbers(labels)
    kinds = first_scores.dtype.kind, first_labels.dtype.kind
    if kinds[0] not in "iubf" or kinds[1] not in "iuf" or (kinds[0] == "f" and kinds[1] != "f"):
        return False  # labels are usually integers, and scores are not
    if len(first_scores) == len(first_labels) and _rank(_first_query(scores, first_scores, group, qid)):
        return False
    how = _look_swapped_by_type(first_scores, first_labels)
    if how is not None:
        warnings.warn(f"{how}: the order is {call}(scores, labels)", stacklevel=3)
    return how is not None


def _look_swapped_by_type(scores: npt.NDArray[Any], labels: npt.NDArray[Any]) -> str | None:
    """Return in what way arrays look swapped, also judging by their dtypes."""
    levels = np.unique(labels[labels > 0])
    of_reals = scores.dtype.kind == "f"
    if len(scores) and (scores == 1).all():
        swapped = are_real(levels) and (not of_reals or describe_beyond(labels) is not None)
        return "the first scores are 1, and most labels are not whole numbers" if swapped else None
    if of_reals and _share_tied(scores) <= 0.5:
        return None
    how = look_swapped(labels, levels, scores.astype(np.float64))
    return how if how != BINARY or labels.dtype.kind == "f" else None


def _rank(scores: npt.NDArray[Any]) -> bool:
    """True if the scores of a query all differ and are enough to tell."""
    return len(set(scores.tolist())) == len(scores) >= RANKED


def _first_query(values: Any, first: npt.NDArray[Any], group: Any, qid: Any) -> npt.NDArray[Any]:
    """Return the numbers of the first query, if the arguments tell which these are, else all of `first`."""
    if isinstance(group, (list, np.ndarray)) and len(group):
        return first[: int(group[0])]
    if isinstance(qid, (list, np.ndarray)) and len(qid):
        queries = np.asarray(qid[: len(first)])
        return np.extract(queries == queries[0], first)
    return first[: values.shape[-1]] if isinstance(values, np.ndarray) and values.ndim else first


def _first_numbers(values: Any) -> npt.NDArray[Any]:
    """Return the first numbers of a NumPy array or of nested lists; none for other types."""
    if isinstance(values, np.ndarray):
        return values.flat[:SAMPLE]
    while isinstance(values, list) and values and isinstance(values[0], (list, np.ndarray)):
        values = values[0]
    try:
        return np.asarray(values[:SAMPLE] if isinstance(values, (list, np.ndarray)) else []).ravel()
    except ValueError:
        return np.zeros(0)
