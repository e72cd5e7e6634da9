"""The three means that S11 compares, one value per ranking: µAP, mean nDCG and mean NDCNG."""

from collections.abc import Callable
from functools import partial

import numpy as np

from gradely import NDCNG, Batch, muAP, nDCG
from gradely.data.ids import Floats

SMALL = 1 / 4
"""a change is small compared with another if it is less than this share of it; the limit is ours"""


def over_cutoffs(measure: nDCG, batch: Batch) -> Floats:
    """Return the mean of a measure over the cut-offs 1, 2, … up to the length of each ranking."""
    length = np.asarray(batch.retrieved)
    total: Floats = np.zeros(len(length))
    for k in range(1, int(length.max()) + 1):
        total += np.where(k <= length, measure.replace(k=k)(batch), 0.0)
    total /= length
    return total


MEANS: dict[str, Callable[[Batch], Floats]] = {
    "µMAP": lambda batch: np.asarray(muAP()(batch)),
    "mean nDCG": partial(over_cutoffs, nDCG(gain="exp")),
    "mean NDCNG": partial(over_cutoffs, NDCNG()),
}
"""µAP, whose mean over rankings is µMAP, and two means with the gain 2^g - 1, as in the last column of table 2"""
