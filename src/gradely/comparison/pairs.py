"""Pairs of runs, and the differences of their values on each query."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gradely.data.types import Bools, Floats, Ints

DIGITS = 12
"""differences that agree to so many decimals are the same: rounding must not decide who wins or which ranks tie"""


class Pairs(NamedTuple):
    """Pairs of runs, by their columns: run first[i] against run second[i]."""

    first: Ints
    second: Ints

    def __len__(self) -> int:
        """Return how many pairs there are."""
        return len(self.first)


def all_pairs(runs: int) -> Pairs:
    """Return every pair of runs once.

    >>> [column.tolist() for column in all_pairs(3)]
    [[0, 0, 1], [1, 2, 2]]
    """
    return Pairs(*np.triu_indices(runs, 1))


def pair_with_baselines(baselines: Sequence[int], runs: int) -> Pairs:
    """Return every other run against each baseline, and the baselines against each other once.

    >>> [column.tolist() for column in pair_with_baselines([2], 3)]
    [[0, 1], [2, 2]]
    """
    pairs = {(i, base) for base in baselines for i in range(runs) if i != base}
    unique = sorted((i, base) for i, base in pairs if (base, i) not in pairs or i < base)
    return Pairs(*np.asarray(unique, np.int64).reshape(-1, 2).T)


def differences(values: Floats, pairs: Pairs) -> Floats:
    """Return [queries, pairs]: the value of the first run minus that of the second."""
    return np.round(values[:, pairs.first] - values[:, pairs.second], DIGITS)


def lacks_spread(differ: Floats) -> Bools:
    """Return which pairs have the same difference on every query, so that t is infinite or undefined."""
    return np.asarray(np.ptp(differ, axis=0) == 0)


def count_wins(differ: Floats) -> tuple[Ints, Ints, Ints]:
    """Return of each pair on how many queries the first run wins, on how many they tie, and how many it loses."""
    wins, losses = np.count_nonzero(differ > 0, axis=0), np.count_nonzero(differ < 0, axis=0)
    return wins, len(differ) - wins - losses, losses


def effect_sizes(differ: Floats) -> Floats:
    """Return Cohen's d for pairs: mean over standard deviation of the differences; 0 where all of them are 0."""
    mean, spread = differ.mean(axis=0), differ.std(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.any(differ != 0, axis=0), mean / np.where(lacks_spread(differ), 0.0, spread), 0.0)
