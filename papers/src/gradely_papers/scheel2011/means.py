"""The three means that S11 compares: µAP, mean nDCG and mean NDCNG, one value per ranking; when one moves little."""

from collections.abc import Callable
from functools import partial

import numpy as np

from gradely import NDCNG, Batch, muAP, nDCG
from gradely.data.ids import Floats

SMALL = 1 / 4
"""a change of a measure is small against another where it is less than this share of it; the limit is ours"""


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
"""µAP, whose mean over rankings is µMAP; the others have the gain 2^g - 1, as the last column of table 2 has it"""
