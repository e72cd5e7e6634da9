"""Rankings without ties, given by their labels in rank order."""

import numpy as np
from numpy.typing import ArrayLike

from gradely import Batch, Measure, from_arrays


def rank_labels(labels: ArrayLike) -> Batch:
    """Return one ranking per row of labels, or a single ranking."""
    table = np.asarray(labels)
    return from_arrays(np.broadcast_to(-np.arange(table.shape[-1]), table.shape), table)


def value_of(measure: Measure, labels: ArrayLike) -> float:
    """Return the value of a single ranking."""
    return float(measure(rank_labels(labels))[0])
