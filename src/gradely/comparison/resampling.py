"""Tests that draw again: the signs of differences, the queries, the runs within each query.

SciPy's permutation_test and bootstrap copy the data for every draw; here a draw is a row of a matrix, and one product
serves all pairs of hundreds of runs. Draws are made and used in blocks, so that memory stays bounded; what is drawn
does not depend on the size of the blocks. The tests compare the results with SciPy's.
"""

from collections.abc import Iterator

import numpy as np

from gradely.data.types import Floats, Ints

RESAMPLES = 10_000
"""draws of a test: the standard error of a p-value of .05 is then √(.05 · .95 / 10,000) = .002"""
CELLS = 1 << 22
"""about how many numbers are held at a time: 32 MB of doubles"""
SLACK = 1e-12
"""statistics that differ by less, of the size of the observed one, are as extreme as it"""
ROUNDING = 1e-9
"""the same for sums over all queries of values that were rounded to 12 decimals"""


def randomization(differ: Floats, resamples: int, seed: int) -> Floats:
    """Return p-values from swapping the runs of a pair in random queries: all 2^n ways where they are few enough.

    The observed assignment counts as one of the draws, so that p is never 0 (Phipson and Smyth 2010).
    """
    size, observed = np.sort(np.abs(differ), axis=0), np.abs(differ.sum(axis=0))
    extreme = np.zeros(differ.shape[1])
    for signs in draw_signs(len(differ), resamples, seed):
        for block in blocks(differ.shape[1], len(signs)):
            sums = np.abs(signs @ size[:, block])
            extreme[block] += np.count_nonzero(sums >= observed[block] * (1 - SLACK), axis=0)
    return _share(extreme, len(differ), resamples)


def max_t(differ: Floats, resamples: int, seed: int) -> Floats:
    """Return p-values that hold for all columns at once: how often the largest |t| of all is as large by chance.

    The signs of whole queries are drawn, the same for every column, so that pairs with a run in common and measures of
    the same rankings stay as correlated as they are (Westfall and Young 1993). Each column has its own spread. As signs
    leave the sum of squares as it is, |t| grows with |Σ differences| / √Σ squares, which is what is compared.
    """
    shares = differ / np.sqrt((differ**2).sum(axis=0))
    observed = np.abs(shares.sum(axis=0))
    largest = largest_sums(sort_canonically(shares), resamples, seed)
    extreme = len(largest) - np.searchsorted(np.sort(largest), observed - ROUNDING, side="left")
    return _share(extreme.astype(np.float64), len(differ), resamples)


def largest_sums(columns: Floats, resamples: int, seed: int) -> Floats:
    """Return for each draw of signs the largest absolute sum over all columns."""
    out = []
    for signs in draw_signs(len(columns), resamples, seed):
        largest = np.zeros(len(signs))
        for block in blocks(columns.shape[1], len(signs)):
            np.maximum(largest, np.abs(signs @ columns[:, block]).max(axis=1), out=largest)
        out.append(largest)
    return np.concatenate(out)


def sort_canonically(columns: Floats) -> Floats:
    """Return rows and columns in an order that depends neither on that of queries nor on that of pairs and their runs.

    A column is turned so that the first of its sorted values outweighs the last; then columns are sorted by their
    sorted values, and rows by the columns. Rounding must not decide.
    """
    columns = np.round(columns, 12)
    ordered = np.sort(columns, axis=0)
    skew = ordered + ordered[::-1]
    first = np.argmax(skew != 0, axis=0)
    turned = np.where(skew[first, np.arange(skew.shape[1])] < 0, -columns, columns)
    turned = turned[:, np.lexsort(np.sort(turned, axis=0))]
    return turned[np.lexsort(turned.T)]


def bootstrap(differ: Floats, resamples: int, seed: int) -> Floats:
    """Return p-values from t of differences that are shifted to mean 0 and drawn again (Efron and Tibshirani 1993).

    A draw in which all differences are the same has no t. Only its mean is compared there: it is extreme where its mean
    is as large as the observed one.
    """
    queries = len(differ)
    differ = np.sort(np.where(differ.mean(axis=0) < 0, -differ, differ), axis=0)
    observed, spread = differ.mean(axis=0), differ.std(axis=0, ddof=1) / np.sqrt(queries)
    shifted, extreme = differ - observed, np.zeros(differ.shape[1])
    for counts in draw_counts(queries, resamples, seed):
        for block in blocks(differ.shape[1], len(counts)):
            mean, error = moments(counts, shifted[:, block])
            larger = np.abs(mean) * spread[block] >= observed[block] * error
            extreme[block] += np.count_nonzero(np.where(error > 0, larger, np.abs(mean) >= observed[block]), axis=0)
    return (extreme + 1) / (resamples + 1)


def moments(counts: Floats, centred: Floats) -> tuple[Floats, Floats]:
    """Return [draws, columns]: the mean of each draw and its standard error, exactly 0 where a draw has no spread."""
    queries = counts.shape[1]
    mean, square = counts @ centred / queries, counts @ centred**2 / queries
    variance = square - mean**2
    return mean, np.sqrt(np.where(variance > SLACK * square, variance, 0.0) / (queries - 1))


def tukey(values: Floats, pairs: tuple[Ints, Ints], resamples: int, seed: int) -> Floats:
    """Return p-values [measures, pairs] of values [measures, queries, runs]: how often the largest range is as large.

    The runs are shuffled within each query, alike for all measures (Carterette 2012). Where there are several measures,
    a range counts in units of the spread within queries, which shuffling leaves as it is. Rows and columns are sorted
    first, so that the order of queries and runs does not matter.
    """
    scale = np.sqrt(((values - values.mean(axis=2, keepdims=True)) ** 2).sum(axis=(1, 2)))
    scale = np.where((len(values) > 1) & (scale > 0), scale, 1.0)[:, None]
    means = values.mean(axis=1)
    apart = np.abs(np.round((means[:, pairs[0]] - means[:, pairs[1]]) / scale, 12))
    ranges = np.sort(_ranges(_sort_within(values) / scale[:, :, None], resamples, seed))
    below = np.searchsorted(ranges, apart * (1 - SLACK) - SLACK, side="left")
    return np.asarray((resamples - below + 1) / (resamples + 1))


def _sort_within(values: Floats) -> Floats:
    """Return the runs of each query in ascending order, by the first measure first, and the queries in order, too."""
    order = np.lexsort(values[::-1], axis=1)
    table = np.take_along_axis(values, order[None], axis=2)
    return table[:, np.lexsort(np.concatenate(table, axis=1).T)]


def _ranges(table: Floats, resamples: int, seed: int) -> Floats:
    """Return for each draw the largest range of means of all measures."""
    rng, _, queries, runs = np.random.default_rng(seed), *table.shape
    out = np.empty(resamples)
    for block in blocks(resamples, table.size):
        shape = (block.stop - block.start, queries, runs)
        order = rng.permuted(np.broadcast_to(np.arange(runs), shape), axis=2)
        resampled = [np.take_along_axis(np.broadcast_to(column, shape), order, axis=2).mean(axis=1) for column in table]
        out[block] = np.max([np.ptp(means, axis=1) for means in resampled], axis=0)
    return out


def draw_signs(queries: int, resamples: int, seed: int) -> Iterator[Floats]:
    """Yield blocks [draws, queries] of -1 and 1: every way to choose signs where there are no more than `resamples`."""
    if _enumerate(queries, resamples):
        yield np.where((np.arange(2**queries)[:, None] >> np.arange(queries)) & 1, -1.0, 1.0)
        return
    rng = np.random.default_rng(seed)
    width = 4 * -(-queries // 32)  # whole words of 4 bytes, which is how the generator hands them out
    for block in blocks(resamples, queries):
        rows = block.stop - block.start
        words = np.frombuffer(rng.bytes(rows * width), np.uint8).reshape(rows, width)
        yield 2.0 * np.unpackbits(words, axis=1)[:, :queries].astype(np.float64) - 1.0


def draw_counts(queries: int, resamples: int, seed: int) -> Iterator[Floats]:
    """Yield blocks [draws, queries]: how often each query is drawn."""
    rng = np.random.default_rng(seed)
    for block in blocks(resamples, queries):
        counts = np.empty((block.stop - block.start, queries))
        for row in counts:  # one by one stays in the cache, and is twice as fast where queries are many
            row[:] = np.bincount(rng.integers(0, queries, queries), minlength=queries)
        yield counts


def blocks(size: int, width: int) -> Iterator[slice]:
    """Yield ranges that hold about CELLS numbers, each item `width` of them."""
    step = max(1, CELLS // max(1, width))
    return (slice(i, min(i + step, size)) for i in range(0, size, step))


def _enumerate(queries: int, resamples: int) -> bool:
    return queries < 63 and 2**queries <= resamples


def _share(extreme: Floats, queries: int, resamples: int) -> Floats:
    """Return the share of draws that are as extreme as what was observed, which is itself one of them."""
    return extreme / 2**queries if _enumerate(queries, resamples) else (extreme + 1) / (resamples + 1)
