"""Grades by hand, as M16 sets them against φ: by an item's place in the true order alone."""

import numpy as np

from gradely.data.types import Floats

TOP = ((10, 3.0), (25, 2.0), (50, 1.0))
"""places up to these have these grades; the rest has 0"""


def adhoc(scores: Floats) -> Floats:
    """Return the grade of each item of each row: 3 for the top 10, 2 for the top 25, 1 for the top 50, else 0.

    Items with equal scores have one grade, that of the last of their places, so that items that nobody shared have 0.
    """
    at_least = np.sum(scores[:, None, :] >= scores[:, :, None], axis=2)
    return np.select([at_least <= last for last, _ in TOP], [grade for _, grade in TOP], 0.0)
