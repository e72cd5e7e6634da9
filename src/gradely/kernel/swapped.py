"""Scores and labels that look swapped: arrays have no names that would tell."""

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

SAMPLE = 1000
"""how many numbers are looked at"""
HIGHEST = 10
"""the highest label of common scales"""


def scale_of(scores: npt.NDArray[np.float64]) -> tuple[int, int] | None:
    """Return the lowest and the highest of scores that are whole numbers of a scale of labels; None for others.

    >>> scale_of(np.array([3.0, 0.0, 1.0])), scale_of(np.array([3.5, 0.0])), scale_of(np.array([12.0]))
    ((0, 3), None, None)
    """
    if not len(scores) or not are_whole(scores).all():
        return None
    low, high = int(scores.min()), int(scores.max())
    return (low, high) if low >= 0 and high <= HIGHEST else None


def are_whole(numbers: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Return which numbers are whole."""
    whole: npt.NDArray[np.bool_] = numbers == np.floor(numbers)
    return whole


def look_swapped(labels: npt.NDArray[np.float64], scores: npt.NDArray[np.float64]) -> str | None:
    """Return how labels look like scores, and scores like labels; None where they do not.

    >>> look_swapped(np.array([0.91, 0.4, 0.13]), np.array([3.0, 0.0, 1.0]))
    'most labels are not whole numbers, and the scores are whole numbers from 0 to 3'
    >>> look_swapped(np.array([2.0, 1.0, 0.0]), np.array([1.0, 0.0, 0.0]))
    'the scores are 0 and 1 and nothing else'
    >>> look_swapped(np.array([2.0, 1.0, 0.0]), np.array([0.91, 0.4, 0.13]))
    """
    scale = scale_of(scores)
    if scale is None or scale[0] == scale[1] or not len(labels):  # equal scores say nothing
        return None
    if np.count_nonzero(are_whole(labels)) * 2 < len(labels):
        return f"most labels are not whole numbers, and the scores are whole numbers from {scale[0]} to {scale[1]}"
    return "the scores are 0 and 1 and nothing else" if scale == (0, 1) and len(scores) > 2 else None


def look_like_ranking(labels: npt.NDArray[np.float64], levels: int, scores: npt.NDArray[np.float64]) -> str | None:
    """Return how numbers look swapped: labels of a query that hardly tie, scores of a few values that mostly do.

    `levels` is the number of distinct positive labels in all queries.

    >>> look_like_ranking(np.array([30.0, 17.0, 12.0, 5.0]), 25, np.array([2.0, 0.0, 0.0, 0.0, 2.0]))
    'there are 25 distinct positive labels, and most documents share their scores, whole numbers from 0 to 2'
    >>> look_like_ranking(np.array([0.91, 0.42, 0.41, 0.13]), 25, np.array([0.5, 0.0, 0.0, 0.0, 0.5]))
    'there are 25 distinct positive labels, and most documents share their scores, of which 2 differ'
    >>> look_like_ranking(np.array([30.0, 1.0, 1.0, 1.0]), 25, np.array([2.0, 0.0, 0.0, 0.0, 2.0]))
    >>> look_like_ranking(np.array([25.0, 12.0, 9.0, 3.0]), 4, np.array([0.0, 2.0, 1.0, 0.0]))
    'the first labels all differ and go up to 25, and documents share their scores, whole numbers from 0 to 2'
    """
    distinct = len(np.unique(scores))
    if not 1 < distinct <= HIGHEST + 1 or distinct == len(scores):
        return None
    scale = scale_of(scores)
    values = f"whole numbers from {scale[0]} to {scale[1]}" if scale else f"of which {distinct} differ"
    if levels > HIGHEST and _share_tied(scores) > 0.5 and _share_tied(labels) < 0.5:
        return f"there are {levels:,} distinct positive labels, and most documents share their scores, {values}"
    beyond = describe_beyond(labels)
    return f"{beyond}, and documents share their scores, {values}" if beyond and scale else None


def describe_beyond(labels: npt.NDArray[np.float64]) -> str | None:
    """Return how the labels of a query go beyond common scales and never tie, as scores do; None where not."""
    if len(labels) < 2 or not labels.max() > HIGHEST or _share_tied(labels):
        return None
    return f"the first labels all differ and go up to {labels.max():g}"


def _share_tied(numbers: npt.NDArray[np.float64]) -> float:
    """Return the share of numbers that are equal to another one."""
    counts = np.unique(numbers, return_counts=True)[1]
    return float(counts[counts > 1].sum()) / max(len(numbers), 1)


def warn_of_swap(scores: Any, labels: Any, call: str, stacklevel: int = 3) -> bool:
    """Warn where scores look like labels, and labels like scores: scikit-learn has labels first.

    Arrays of other libraries are not looked at: one would have to wait for their device. Return whether it warned.
    """
    if not isinstance(scores, (list, np.ndarray)):  # nor would torch.compile go through what follows
        return False
    first_scores, first_labels = _first_numbers(scores), _first_numbers(labels)
    real_scores, real_labels = (numbers.dtype.kind == "f" for numbers in (first_scores, first_labels))
    if first_scores.dtype.kind not in "iubf" or first_labels.dtype.kind not in "iuf" or (real_scores > real_labels):
        return False  # labels are mostly whole by type, and scores are not
    if real_scores and _share_tied(first_scores) <= 0.5:  # as in [3.0, 2.0, 1.0]
        return False
    first_scores = first_scores.astype(np.float64)
    levels = np.unique(first_labels[first_labels > 0])
    how = look_swapped(first_labels, first_scores) if real_labels else None
    how = how or look_like_ranking(first_labels, len(levels), first_scores)
    if how is not None:
        warnings.warn(f"{how}: the order is {call}(scores, labels)", stacklevel=stacklevel)
    return how is not None


def _first_numbers(values: Any) -> npt.NDArray[Any]:
    """Return the first numbers of a NumPy array or of lists, as they are; none of anything else."""
    if isinstance(values, np.ndarray):
        return values.flat[:SAMPLE]
    while isinstance(values, list) and values and isinstance(values[0], (list, np.ndarray)):
        values = values[0]
    try:
        return np.asarray(values[:SAMPLE] if isinstance(values, (list, np.ndarray)) else []).ravel()
    except ValueError:
        return np.zeros(0)
