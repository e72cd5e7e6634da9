"""Paired significance tests of the per-query differences between runs, and corrections for multiple tests."""

from collections.abc import Callable, Iterator, Sequence
from math import erfc, sqrt
from typing import Any, NamedTuple

import numpy as np

from gradely.comparison.student import t_tail
from gradely.data.ids import Bools, Floats, Ints
from gradely.errors import DataError
from gradely.settings import check_choice

DIGITS = 12
"""differences are rounded to this many decimals, so that rounding errors decide neither wins nor tied ranks"""
LARGEST = 1e150
"""the squares of larger values, and their sums, could overflow a double"""


class Pairs(NamedTuple):
    """Pairs of runs as column indices: run first[i] against run second[i]."""

    first: Ints
    second: Ints

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.first)


def all_pairs(runs: int) -> Pairs:
    """Return all pairs of runs.

    >>> [column.tolist() for column in all_pairs(3)]
    [[0, 0, 1], [1, 2, 2]]
    """
    return Pairs(*np.triu_indices(runs, 1))


def pair_with_baselines(baselines: Sequence[int], runs: int) -> Pairs:
    """Return the pairs of each run with each baseline; two baselines are paired once.

    >>> [column.tolist() for column in pair_with_baselines([2], 3)]
    [[0, 1], [2, 2]]
    """
    pairs = {(i, base) for base in baselines for i in range(runs) if i != base}
    unique = sorted((i, base) for i, base in pairs if (base, i) not in pairs or i < base)
    return Pairs(*np.asarray(unique, np.int64).reshape(-1, 2).T)


def differences(values: Floats, pairs: Pairs) -> Floats:
    """Return the differences [queries, pairs] between the first and the second run."""
    return round_off(values[:, pairs.first] - values[:, pairs.second], values)


def round_off(differ: Floats, values: Floats) -> Floats:
    """Return differences of values without their rounding errors, which grow with values above 1.

    >>> round_off(np.array([1e6 * (0.1 + 0.2) - 1e6 * 0.3]), np.array([0.3e6])).tolist()
    [0.0]
    """
    largest = float(np.abs(values).max(initial=0.0))
    unit = 2.0 ** np.ceil(np.log2(max(1.0, largest)) - ROUNDING)  # 1 also for a value of 1 + rounding
    return np.asarray(np.round(differ / unit, DIGITS) * unit)


def lacks_spread(differ: Floats) -> Bools:
    """Return which pairs have the same difference on every query, where t is infinite or undefined."""
    return np.asarray(np.ptp(differ, axis=0) == 0)


def count_wins(differ: Floats) -> tuple[Ints, Ints, Ints]:
    """Return the numbers of queries on which the first run of each pair wins, ties and loses."""
    wins, losses = np.count_nonzero(differ > 0, axis=0), np.count_nonzero(differ < 0, axis=0)
    return wins, len(differ) - wins - losses, losses


def effect_sizes(differ: Floats) -> Floats:
    """Return Cohen's d of each pair: the mean over the standard deviation of the differences; 0 if all are 0."""
    mean, spread = differ.mean(axis=0), differ.std(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.any(differ != 0, axis=0), mean / np.where(lacks_spread(differ), 0.0, spread), 0.0)


MOST_RESAMPLES = 100_000_000
"""the most resamples: some tests keep a number of each"""
RESAMPLES = 10_000
"""resamples of a test: the standard error of a p-value of .05 is then √(.05 · .95 / 10,000) = .002"""
CELLS = 1 << 22
"""approximate number of values in memory at a time: 32 MB of doubles"""
SLACK = 1e-12
"""a variance below this share of the mean square is a rounding error"""
ROUNDING = 1e-9
"""relative tolerance for sums of differences that are equal in exact arithmetic"""


def randomization(differ: Floats, resamples: int, seed: int, *, one_sided: bool = False) -> Floats:
    """Return p-values of the randomization test, which swaps the runs of a pair on random queries.

    If there are few queries, all 2^n assignments are enumerated. Otherwise the observed assignment counts as one of the
    draws, so p is never 0 (Phipson and Smyth 2010). Many assignments have equal sums in exact arithmetic; the tolerance
    ROUNDING treats them as equal. A one-sided p is the share of sums that are at least as large; each draw counts
    together with its negative, which is equally likely.
    """
    size, total = np.sort(np.abs(differ), axis=0), differ.sum(axis=0)
    reached = (total if one_sided else np.abs(total)) - ROUNDING * size.sum(axis=0)
    extreme = np.zeros(differ.shape[1])
    for signs in draw_signs(len(differ), resamples, seed):
        for block in blocks(differ.shape[1], len(signs)):
            sums = signs @ size[:, block]
            extreme[block] += np.count_nonzero((sums if one_sided else np.abs(sums)) >= reached[block], axis=0)
            if one_sided:
                extreme[block] += np.count_nonzero(-sums >= reached[block], axis=0)
    if not one_sided:
        return _share(extreme, len(differ), resamples)
    itself = 0 if _enumerate(len(differ), resamples) else np.where(-total >= reached, 0.5, 0.0) - 0.5
    return _share(extreme / 2 + itself, len(differ), resamples)


def max_t(differ: Floats, resamples: int, seed: int) -> Floats:
    """Return simultaneous p-values: how often the largest |t| over all columns is at least as large by chance.

    Signs are drawn per query and shared by all columns, which preserves the correlations between pairs and between
    measures (Westfall and Young 1993). Each column has its own spread. Signs do not change the sum of squares, so |t|
    increases with |Σ differences| / √Σ squares, and the test compares this ratio.
    """
    shares = differ / np.sqrt((differ**2).sum(axis=0))
    observed = np.abs(shares.sum(axis=0))
    largest = largest_sums(sort_canonically(shares), resamples, seed)
    extreme = len(largest) - np.searchsorted(np.sort(largest), observed - ROUNDING)
    return _share(extreme.astype(np.float64), len(differ), resamples)


def largest_sums(columns: Floats, resamples: int, seed: int) -> Floats:
    """Return the largest absolute sum over all columns for each draw of signs."""
    out = []
    for signs in draw_signs(len(columns), resamples, seed):
        largest = np.zeros(len(signs))
        for block in blocks(columns.shape[1], len(signs)):
            np.maximum(largest, np.abs(signs @ columns[:, block]).max(axis=1), out=largest)
        out.append(largest)
    return np.concatenate(out)


def sort_canonically(columns: Floats) -> Floats:
    """Return rows and columns in a canonical order that is independent of the order of queries, pairs and runs.

    Values are rounded, and the sign of each column is chosen so that its largest absolute value is positive. Columns
    are then sorted by their sorted values, and rows by the columns.
    """
    columns = np.round(columns, 12)
    ordered = np.sort(columns, axis=0)
    skew = ordered + ordered[::-1]
    first = np.argmax(skew != 0, axis=0)
    turned = np.where(skew[first, np.arange(skew.shape[1])] < 0, -columns, columns)
    turned = turned[:, np.lexsort(np.sort(turned, axis=0))]
    return turned[np.lexsort(turned.T)]


def bootstrap(differ: Floats, resamples: int, seed: int, *, one_sided: bool = False) -> Floats:
    """Return p-values of the studentised bootstrap of differences shifted to mean 0 (Efron and Tibshirani 1993).

    A draw with equal differences has no t; it counts as extreme if its mean is at least as large as the observed one.
    """
    queries = len(differ)
    if not one_sided:
        differ = np.where(differ.mean(axis=0) < 0, -differ, differ)
    differ = np.sort(differ, axis=0)
    observed, deviation = differ.mean(axis=0), differ.std(axis=0, ddof=1)
    spread, slack = deviation / np.sqrt(queries), ROUNDING * deviation
    shifted, extreme = differ - observed, np.zeros(differ.shape[1])
    for counts in draw_counts(queries, resamples, seed):
        for block in blocks(differ.shape[1], len(counts)):
            mean, error = moments(counts, shifted[:, block])
            mean = mean if one_sided else np.abs(mean)
            larger = mean * spread[block] >= observed[block] * error - slack[block] * spread[block]
            extreme[block] += np.count_nonzero(
                np.where(error > 0, larger, mean >= observed[block] - slack[block]), axis=0
            )
    return (extreme + 1) / (resamples + 1)


def moments(counts: Floats, centred: Floats) -> tuple[Floats, Floats]:
    """Return the mean and the standard error [draws, columns] of each draw; the error is exactly 0 without spread."""
    queries = counts.shape[1]
    mean, square = counts @ centred / queries, counts @ centred**2 / queries
    variance = square - mean**2
    return mean, np.sqrt(np.where(variance > SLACK * square, variance, 0.0) / (queries - 1))


def tukey(values: Floats, pairs: tuple[Ints, Ints], resamples: int, seed: int) -> Floats:
    """Return p-values [measures, pairs] of values [measures, queries, runs] by Tukey's randomised HSD test.

    p is how often the largest range of shuffled means is at least as large as the difference. Runs are shuffled within
    each query, identically for all measures (Carterette 2012). Ranges are divided by the spread within queries, which
    shuffling does not change. Rows and columns are sorted first, so the order of queries and runs does not matter.
    """
    means, (ranges, scale) = values.mean(axis=1), shuffled_ranges(values, resamples, seed)
    apart = np.abs(means[:, pairs[0]] - means[:, pairs[1]]) / scale
    slack = ROUNDING * np.ptp(values, axis=2).mean(axis=1)[:, None] / scale
    below = np.searchsorted(ranges, apart - slack)
    return np.asarray((resamples - below + 1) / (resamples + 1))


def shuffled_ranges(values: Floats, resamples: int, seed: int) -> tuple[Floats, Floats]:
    """Return the largest range of means of each draw, sorted, and the scale [measures, 1] that divides it."""
    scale = np.sqrt(((values - values.mean(axis=2, keepdims=True)) ** 2).sum(axis=(1, 2)))
    scale = np.where(scale > 0, scale, 1.0)[:, None]
    return np.sort(_ranges(_sort_within(values) / scale[:, :, None], resamples, seed)), scale


def _sort_within(values: Floats) -> Floats:
    """Return the values with the runs of each query and then the queries sorted, the first measure first."""
    order = np.lexsort(values[::-1])
    table = np.take_along_axis(values, order[None], axis=2)
    return table[:, np.lexsort(np.concatenate(table, axis=1).T)]


def _ranges(table: Floats, resamples: int, seed: int) -> Floats:
    """Return the largest range of means over all measures for each draw."""
    rng, _, queries, runs = np.random.default_rng(seed), *table.shape
    out = np.empty(resamples)
    for block in blocks(resamples, table.size):
        shape = (block.stop - block.start, queries, runs)
        order = rng.permuted(np.broadcast_to(np.arange(runs), shape), axis=2)
        resampled = [np.take_along_axis(np.broadcast_to(column, shape), order, axis=2).mean(axis=1) for column in table]
        out[block] = np.max([np.ptp(means, axis=1) for means in resampled], axis=0)
    return out


def draw_signs(queries: int, resamples: int, seed: int) -> Iterator[Floats]:
    """Yield blocks [draws, queries] of signs: all 2^n combinations if there are at most `resamples`."""
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
    """Yield blocks [draws, queries] with the number of times each query is drawn."""
    rng = np.random.default_rng(seed)
    for block in blocks(resamples, queries):
        counts = np.empty((block.stop - block.start, queries))
        for row in counts:  # one by one stays in the cache, and is twice as fast where queries are many
            row[:] = np.bincount(rng.integers(0, queries, queries), minlength=queries)
        yield counts


def blocks(size: int, width: int) -> Iterator[slice]:
    """Yield slices of about CELLS numbers, where each item has `width` numbers."""
    step = max(1, CELLS // max(1, width))
    return (slice(i, min(i + step, size)) for i in range(0, size, step))


def _enumerate(queries: int, resamples: int) -> bool:
    return queries < 63 and 2**queries <= resamples


def _share(extreme: Floats, queries: int, resamples: int) -> Floats:
    """Return the share of draws that are at least as extreme as the observed one, which is one of them."""
    return extreme / 2**queries if _enumerate(queries, resamples) else (extreme + 1) / (resamples + 1)


TESTS = {
    "t": "paired t-test",
    "wilcoxon": "Wilcoxon signed-rank test",
    "randomization": "paired randomization test",
    "bootstrap": "paired studentised bootstrap test",
    "tukey": "randomised Tukey HSD, blocked by query",
    "max-t": "randomised max-t test",
}
SIMULTANEOUS = ("tukey", "max-t")
"""tests whose p-values hold for all pairs at once and need no correction"""
ALONE = tuple(test for test in TESTS if test not in SIMULTANEOUS)
"""tests of single pairs, which can be one-sided"""
DRAWN = ("randomization", "bootstrap", *SIMULTANEOUS)
"""tests that draw random samples"""
BY_SPREAD = ("t", "bootstrap")
"""tests that divide by the spread of the differences"""
FEWEST_DRAWN = 5
"""minimum number of queries for the bootstrap; with two or three queries, it rejects half or a seventh of all true null
hypotheses, and t is used instead"""
EXACT = 100
"""maximum number of nonzero differences for the exact distribution of Wilcoxon's test, at 0.5 ms per pair"""
CORRECTIONS = {"holm": "Holm", "bonferroni": "Bonferroni", "bh": "Benjamini–Hochberg", "none": "no correction"}


def p_values(
    values: Any, test: str = "t", pairs: Pairs | None = None, *, resamples: int = RESAMPLES, seed: int = 0
) -> Floats:
    """Return the uncorrected two-sided p-value of each pair, by default of all pairs.

    `values` is an array [queries, runs]. `test` is one of TESTS; randomization, bootstrap, tukey and max-t draw
    `resamples` times with `seed`. tukey holds for all pairs of runs at once, and max-t for all given pairs; neither
    needs a correction. If the difference is the same on every query, t and the bootstrap are undefined, and p is that
    of the exact randomization test, 2 / 2^n. With fewer than five queries, t replaces the bootstrap.

    >>> p_values([[0.5, 0.4], [0.7, 0.4], [0.9, 0.4]], "randomization").tolist() == [2 / 2**3]
    True
    """
    check_choice("test", test, TESTS)
    table = check_values(values)
    pairs = all_pairs(table.shape[1]) if pairs is None else pairs
    (p,) = joint_p_values(table[None], test, pairs, resamples=resamples, seed=seed)
    return np.asarray(p)


def joint_p_values(values: Floats, test: str, pairs: Pairs, *, resamples: int, seed: int) -> Floats:
    """Return the p-values [measures, pairs] of values [measures, queries, runs].

    p-values of tukey and max-t hold for all measures together; other tests treat each pair by each measure separately.
    """
    if test == "tukey":
        return tukey(values, pairs, resamples, seed)
    differ = np.concatenate([differences(table, pairs) for table in values], axis=1)
    return p_of_differences(differ, test, resamples, seed).reshape(len(values), len(pairs))


def p_of_differences(differ: Floats, test: str, resamples: int, seed: int, *, one_sided: bool = False) -> Floats:
    """Return the two-sided p-value of each column of differences, or the one-sided p-value that its mean is above 0.

    max-t tests all columns together and is always two-sided.
    """
    test = replace_test(test, len(differ))
    out, differing = np.ones(differ.shape[1]), np.any(differ != 0, axis=0)
    if test in BY_SPREAD:
        constant = differing & lacks_spread(differ)
        exact = np.where(differ[0] > 0, 0.5 ** len(differ), 1.0) if one_sided else 2.0 ** (1 - len(differ))
        out, differing = np.where(constant, exact, out), differing & ~constant
    if differing.any():
        columns, sides = differ[:, differing], {"one_sided": True} if one_sided else {}
        out[differing] = _TESTS[test](columns, resamples, seed, **sides)
    return out


def replace_test(test: str, queries: int) -> str:
    """Return the test that is performed: t instead of the bootstrap if there are very few queries."""
    return "t" if test == "bootstrap" and queries < FEWEST_DRAWN else test


def directions(differ: Floats, test: str) -> Floats:
    """Return the run of each pair that the test favours: 1 for the first, -1 for the second, 0 for neither.

    Wilcoxon's test uses signed ranks and may favour the run with the lower mean; all other tests use the mean.
    """
    if test != "wilcoxon":
        total, size = differ.sum(axis=0), np.abs(differ).sum(axis=0)
        return np.where(np.abs(total) > ROUNDING * size, np.sign(total), 0.0)
    sums = [_rank_sums(column[column != 0])[1:] for column in differ.T]
    return np.asarray([np.sign(positive - negative) for positive, negative in sums], np.float64)


def least_p_values(values: Floats, test: str, pairs: Pairs, resamples: int) -> Floats:
    """Return the smallest possible p-value of each pair, if all its differences had the same sign.

    Only queries on which the runs differ count. Each has two signs; for tukey, its best and worst run can be any
    ordered pair of runs. The p-values of t have a lower bound if the runs tie on some queries, and those of the
    bootstrap have that of the draws.
    """
    test = replace_test(test, len(values))
    drawn = 1 / (resamples + 1) if test in DRAWN else 0.0
    differ = differences(values, pairs)
    if test == "tukey":
        runs, spread = values.shape[1], np.count_nonzero(np.ptp(values, axis=1) > 10.0**-DIGITS)
        exact = np.full(len(pairs), float(runs * (runs - 1)) ** (1 - spread))
    elif test in BY_SPREAD:
        least = 2 * least_tails(differ) if test == "t" else 0.0
        exact = np.where(lacks_spread(differ), 2.0 ** (1 - len(values)), least)
    else:
        exact = 2.0 ** (1.0 - np.count_nonzero(differ, axis=0))
    return np.where(np.any(differ != 0, axis=0), np.clip(exact, drawn, 1.0), 1.0)


def least_tails(differ: Floats) -> Floats:
    """Return the smallest one-sided p-value of t that each column can have, given how many of its differences are 0.

    Of n differences, k equal ones beside zeros have the largest t, which is √(k (n - 1) / (n - k)).

    >>> least_tails(np.array([[0.1, 0.1], [0.0, 0.1], [0.0, 0.2]])).round(3).tolist()  # t = 1 with 2 degrees of freedom
    [0.211, 0.0]
    """
    queries, nonzero = len(differ), np.count_nonzero(differ, axis=0)
    least, some = np.zeros(len(nonzero)), nonzero < queries
    if some.any():  # a tail takes longer than the rest of a comparison of two runs
        k = nonzero[some]
        least[some] = t_tail(np.sqrt(k * (queries - 1) / (queries - k)), queries - 1)
    return least


def check_values(values: Any) -> Floats:
    """Return values [queries, runs] as an array; raise DataError if they cannot be tested."""
    table: Floats = np.asarray(values, np.float64)
    if table.ndim != 2 or table.shape[0] < 2 or table.shape[1] < 2:
        raise DataError(
            f"a paired test needs at least 2 queries and 2 runs, as an array [queries, runs]; found {table.shape}"
        )
    if not np.isfinite(table).all():
        raise DataError("values that are not finite numbers cannot be tested")
    if np.abs(table).max() > LARGEST:
        raise DataError(
            f"values up to {np.abs(table).max():.2g} cannot be tested: their squares are too large to represent"
        )
    return table


def t_test(differ: Floats, *, one_sided: bool = False) -> Floats:
    """Return the p-value of a paired t-test of each column of differences, which must not be constant."""
    t = differ.mean(axis=0) / (differ.std(axis=0, ddof=1) / np.sqrt(len(differ)))
    return t_tail(t, len(differ) - 1) if one_sided else 2 * t_tail(np.abs(t), len(differ) - 1)


def wilcoxon(differ: Floats, *, one_sided: bool = False) -> Floats:
    """Return the p-value of Wilcoxon's signed-rank test of each column; zero differences are dropped (Wilcoxon 1945).

    It is exact even with tied ranks and zero differences.

    >>> wilcoxon(np.array([[0.1], [0.1], [0.3], [0.0]])).tolist() == [2 / 2**3]
    True
    """
    columns = (_rank_sums(column[column != 0]) for column in differ.T)
    if one_sided:
        return np.asarray([_tail(ranks, negative) for ranks, _, negative in columns])
    return np.asarray([min(1.0, 2 * _tail(ranks, min(sums))) for ranks, *sums in columns])


def _rank_sums(differ: Floats) -> tuple[Ints, int, int]:
    """Return doubled ranks of nonzero differences, and their sums over positive and over negative differences."""
    ranks = _doubled_ranks(np.abs(differ))
    positive = int(ranks[differ > 0].sum())
    return ranks, positive, int(ranks.sum()) - positive


def _tail(ranks: Ints, lower: int) -> float:
    """Return the probability of a rank sum of at most `lower`."""
    return _exact_tail(ranks, lower) if len(ranks) <= EXACT else _normal_tail(ranks, lower)


def _doubled_ranks(size: Floats) -> Ints:
    """Return doubled ranks, which are integers even if ties share their mean rank."""
    _, group, count = np.unique(size, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    return (2 * last - count + 1)[group]


def _exact_tail(ranks: Ints, lower: int) -> float:
    """Return the share of the 2^n sign assignments whose sum of positive ranks is at most `lower`.

    The assignments that reach each sum are counted by convolution with 1 + x^rank for each rank. Only sums up to
    `lower` are needed. The counts are positive, so there is no cancellation.
    """
    ways = np.zeros(lower + 1)
    ways[0] = 1.0
    for rank in ranks[ranks <= lower].tolist():
        ways[rank:] += ways[:-rank].copy()
    return float(np.ldexp(ways.sum(), -len(ranks)))


def _normal_tail(ranks: Ints, lower: int) -> float:
    """Return this share by the normal approximation; the variance of the sum is Σ rank²/4, with or without ties."""
    mean, deviation = float(ranks.sum()) / 2, sqrt(float((ranks.astype(np.float64) ** 2).sum())) / 2
    return erfc((mean - lower) / deviation / sqrt(2)) / 2


_TESTS: dict[str, Callable[..., Floats]] = {
    "t": lambda differ, *_, **sides: t_test(differ, **sides),
    "wilcoxon": lambda differ, *_, **sides: wilcoxon(differ, **sides),
    "randomization": randomization,
    "bootstrap": bootstrap,
    "max-t": max_t,
}


def adjust(p: Any, correction: str = "holm") -> Floats:
    """Return p-values corrected for multiple tests.

    >>> adjust([0.01, 0.02, 0.04], "holm").tolist() == [3 * 0.01, 2 * 0.02, 0.04]
    True
    """
    return np.minimum(1.0, multiply(p, correction))


def multiply(p: Any, correction: str) -> Floats:
    """Return p-values times the factors of a correction, which may exceed 1.

    >>> multiply([0.4, 0.7], "bonferroni").tolist()
    [0.8, 1.4]
    """
    check_choice("correction", correction, CORRECTIONS)
    raw: Floats = np.asarray(p, np.float64)
    if correction == "none" or not len(raw):
        return raw
    if correction == "bonferroni":
        return raw * len(raw)
    order, steps = np.argsort(raw), np.arange(len(raw), 0, -1)
    out = np.empty_like(raw)
    if correction == "holm":
        out[order] = np.maximum.accumulate(raw[order] * steps)
    else:
        out[order[::-1]] = np.minimum.accumulate(raw[order[::-1]] * len(raw) / steps)
    return out


def achieved_levels(p: Any) -> Floats:
    """Return the achieved-significance-level curve: the p-values of all pairs in descending order."""
    return np.sort(np.asarray(p, np.float64))[::-1]


class Chances(NamedTuple):
    """Posterior probabilities that the first run is better, practically equivalent, or worse; NaN without spread."""

    better: Floats
    equal: Floats
    worse: Floats
