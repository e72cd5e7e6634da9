"""Values of measures from flat arrays, one row per document, as libraries of gradient boosting have them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from gradely.errors import DataError
from gradely.evaluation.arrays import evaluate_arrays
from gradely.kernel.backend import check_unmasked
from gradely.kernel.levels import Levels
from gradely.learning.blocks import Floats, blocks_of
from gradely.measures import Measure


def mean_values(
    scores: ArrayLike,
    labels: ArrayLike,
    measures: Sequence[Measure],
    *,
    group: ArrayLike | None = None,
    qid: ArrayLike | None = None,
) -> list[float]:
    """Return the mean of each measure over the queries, ties as means over all orders.

    >>> import gradely
    >>> mean_values([0.9, 0.4, 0.4, 0.1], [0, 2, 1, 1], [gradely.RR()], group=[3, 1])
    [0.75]
    """
    check_unmasked(scores=scores, labels=labels)
    flat, truth = np.asarray(scores, dtype=np.float64).ravel(), np.asarray(labels, dtype=np.float64).ravel()
    if flat.shape != truth.shape:
        raise DataError(f"there are {len(truth)} labels and {len(flat)} scores; every row has one label and one score")
    fitted = [measure.fit(Levels(truth)) for measure in measures]
    values: list[list[Floats]] = [[] for _ in measures]
    for block in blocks_of(truth, group, qid):
        by_name = evaluate_arrays(flat[block.row], truth[block.row], fitted, block.real, threads=1)
        for parts, measure in zip(values, fitted, strict=True):
            parts.append(by_name[str(measure)])
    return [float(np.concatenate(parts).mean()) if parts else 0.0 for parts in values]
