"""Tests and intervals that draw again: signs, topics, systems within a topic.

SciPy's permutation_test and bootstrap copy the data for every draw; here a draw is a row of a matrix, and one product
serves all pairs of hundreds of systems. The tests compare both.
"""

from collections.abc import Iterator

import numpy as np

from gradely.data.types import Bools, Floats

RESAMPLES = 10_000
DRAWS = 2_000
"""for intervals, whose ends are no farther out than one in forty"""
CELLS = 1 << 22
"""about how many numbers are held at a time"""
SLACK = 1e-12
"""statistics that differ by less, of the size of the observed one, are as extreme as it"""


def randomization(differ: Floats, resamples: int, seed: int) -> Floats:
    """Return p-values from swapping the systems of a pair in random topics: all 2^n ways where they are few enough.

    The observed assignment counts as one of the draws, so that p is never 0 (Phipson and Smyth 2010).
    """
    size = np.sort(np.abs(differ), axis=0)
    observed = np.abs(differ.sum(axis=0))
    exact = 2 ** len(differ) <= resamples
    signs = _all_signs(len(differ)) if exact else _draw(seed).choice([-1.0, 1.0], (resamples, len(differ)))
    out = np.empty(differ.shape[1])
    for block in _blocks(differ.shape[1], len(signs)):
        out[block] = _share(np.abs(signs @ size[:, block]) >= observed[block] * (1 - SLACK), exact=exact)
    return out


def bootstrap(differ: Floats, resamples: int, seed: int) -> Floats:
    """Return p-values from t of differences that are shifted to mean 0 and drawn again (Efron and Tibshirani 1993)."""
    topics = len(differ)
    differ = np.sort(np.where(differ.mean(axis=0) < 0, -differ, differ), axis=0)
    shifted = differ - differ.mean(axis=0)
    spread = differ.std(axis=0, ddof=1) / np.sqrt(topics)
    counts = _counts(topics, resamples, seed)
    out = np.empty(differ.shape[1])
    for block in _blocks(differ.shape[1], resamples):
        mean = counts @ shifted[:, block] / topics
        square = counts @ shifted[:, block] ** 2 / topics - mean**2
        drawn = np.sqrt(np.maximum(square, 0.0) / (topics - 1))
        out[block] = _share(np.abs(mean) * spread[block] >= differ[:, block].mean(axis=0) * drawn, exact=False)
    return out


def tukey(values: Floats, apart: Floats, resamples: int, seed: int) -> Floats:
    """Return p-values of means that are so far apart: how often the largest range is as large by chance.

    The systems' values are shuffled within each topic (Carterette 2012). Rows and columns are sorted first, so that the
    order of topics and systems does not matter.
    """
    table = np.sort(values, axis=1)
    table = table[np.lexsort(table.T)]
    rng, ranges = _draw(seed), np.empty(resamples)
    for block in _blocks(resamples, table.size):
        several = np.broadcast_to(table, (block.stop - block.start, *table.shape))
        means = rng.permuted(several, axis=2).mean(axis=1)
        ranges[block] = np.ptp(means, axis=1)
    ranges.sort()
    below = np.searchsorted(ranges, apart * (1 - SLACK) - SLACK, side="left")
    return (resamples - below + 1) / (resamples + 1)


def intervals(values: Floats, level: float, seed: int, draws: int = DRAWS) -> tuple[Floats, Floats]:
    """Return the bootstrap percentile interval of the mean of each column."""
    topics = len(values)
    table, counts = np.sort(values, axis=0).T, _counts(topics, draws, seed).T
    low, high = np.empty(len(table)), np.empty(len(table))
    for block in _blocks(len(table), draws):
        means = table[block] @ counts / topics
        low[block], high[block] = np.quantile(means, [(1 - level) / 2, (1 + level) / 2], axis=1)
    return low, high


def _draw(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def _counts(topics: int, resamples: int, seed: int) -> Floats:
    """Return [resamples, topics]: how often each topic is drawn."""
    return _draw(seed).multinomial(topics, np.full(topics, 1 / topics), resamples).astype(np.float64)


def _all_signs(topics: int) -> Floats:
    """Return [2^n, n]: every way to choose signs."""
    return np.where((np.arange(2**topics)[:, None] >> np.arange(topics)) & 1, -1.0, 1.0)


def _share(extreme: Bools, *, exact: bool) -> Floats:
    """Return the share of draws that are as extreme as what was observed, which is itself one of them."""
    hits: Floats = np.count_nonzero(extreme, axis=0).astype(np.float64)
    return hits / len(extreme) if exact else (hits + 1) / (len(extreme) + 1)


def _blocks(size: int, width: int) -> Iterator[slice]:
    """Yield ranges that hold about CELLS numbers, each item `width` of them."""
    step = max(1, CELLS // max(1, width))
    return (slice(i, min(i + step, size)) for i in range(0, size, step))
