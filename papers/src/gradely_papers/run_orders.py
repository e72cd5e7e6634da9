"""The order of runs by their means, pair by pair, for many draws at once."""

import numpy as np

from gradely.comparison.kendall import DIGITS
from gradely.data.ids import Floats


def signs(means: Floats) -> Floats:
    """Return which run of every pair (the last axis) is better: 1, 0 or -1; means with equal roundings tie."""
    first, second = np.triu_indices(means.shape[-1], 1)
    rounded = np.round(means, DIGITS)
    return np.sign(rounded[..., first] - rounded[..., second]).astype(np.float32)


def tau_of_signs(first: Floats, second: Floats) -> Floats:
    """Return Kendall's τ_b from the signs of all pairs; NaN if all runs tie.

    >>> tau_of_signs(signs(np.array([[3.0, 2, 1], [3, 1, 2]])), signs(np.array([3.0, 2, 1]))).round(2).tolist()
    [1.0, 0.33]
    """
    agree = np.einsum("...p,...p->...", first, second).astype(np.float64)
    pairs = np.abs(first).sum(axis=-1, dtype=np.float64) * np.abs(second).sum(axis=-1, dtype=np.float64)
    with np.errstate(invalid="ignore"):
        out: Floats = agree / np.sqrt(pairs)
    return out
