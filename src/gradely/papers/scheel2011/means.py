"""The three means that S11 compares: µAP, mean nDCG and mean NDCNG, one value per ranking."""

from collections.abc import Callable

import numpy as np

from gradely.data.types import Floats
from gradely.kernel.batch import Batch
from gradely.measures import NDCNG, muAP, nDCG


def mu_ap(batch: Batch) -> Floats:
    """Return µAP; its mean over rankings is µMAP."""
    return np.asarray(muAP()(batch))


def mean_ndcg(batch: Batch) -> Floats:
    """Return the mean of nDCG over all cut-offs, with gain 2^g - 1, as the last column of table 2 has it."""
    return over_cutoffs(nDCG(gain="exp"), batch)


def mean_ndcng(batch: Batch) -> Floats:
    """Return the mean of NDCNG over all cut-offs."""
    return over_cutoffs(NDCNG(), batch)


def over_cutoffs(measure: nDCG, batch: Batch) -> Floats:
    """Return the mean of a measure over the cut-offs 1, 2, … up to the length of each ranking."""
    length = np.asarray(batch.retrieved)
    total: Floats = np.zeros(len(length))
    for k in range(1, int(length.max()) + 1):
        total += np.where(k <= length, measure.replace(k=k)(batch), 0.0)
    total /= length
    return total


MEANS: dict[str, Callable[[Batch], Floats]] = {"µMAP": mu_ap, "mean nDCG": mean_ndcg, "mean NDCNG": mean_ndcng}
