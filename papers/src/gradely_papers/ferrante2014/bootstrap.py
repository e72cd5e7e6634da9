"""τ between rankings of systems when topics are drawn again: many rankings at a time."""

import numpy as np

from gradely.comparison.kendall import DIGITS
from gradely.data.types import Floats

DRAWS = 500
"""how often topics are drawn again; the ends of a 95 % interval then rest on a dozen draws each"""


def draw_topics(count: int, seed: int, draws: int = DRAWS) -> Floats:
    """Return [1 + draws, topics]: the weight of each topic in a mean; first as they are, then drawn again."""
    again = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), draws)
    return np.concatenate([np.ones((1, count)), again]) / count


def signs(means: Floats) -> Floats:
    """Return for every pair of systems (the last axis) which is better: 1, 0 or -1; means that round alike tie."""
    first, second = np.triu_indices(means.shape[-1], 1)
    rounded = np.round(means, DIGITS)
    return np.sign(rounded[..., first] - rounded[..., second]).astype(np.float32)


def tau_of_signs(first: Floats, second: Floats) -> Floats:
    """Return Kendall's τ_b from the signs of all pairs; nan where all systems tie.

    >>> tau_of_signs(signs(np.array([[3.0, 2, 1], [3, 1, 2]])), signs(np.array([3.0, 2, 1]))).round(2).tolist()
    [1.0, 0.33]
    """
    agree = np.einsum("...p,...p->...", first, second).astype(np.float64)
    pairs = np.abs(first).sum(axis=-1, dtype=np.float64) * np.abs(second).sum(axis=-1, dtype=np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        out: Floats = agree / np.sqrt(pairs)
    return out
