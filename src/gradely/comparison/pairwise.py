"""All pairs of runs by all measures: difference, interval, test, effect size and wins."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from gradely.comparison import tests
from gradely.comparison.intervals import (
    DRAWS,
    Estimates,
    Intervals,
    bootstrap_intervals,
    keep_within,
    simultaneous_reach,
    t_intervals,
    t_quantile,
)
from gradely.comparison.tests import (
    BY_SPREAD,
    CELLS,
    CORRECTIONS,
    SIMULTANEOUS,
    TESTS,
    Pairs,
    achieved_levels,
    adjust,
    all_pairs,
    check_values,
    count_wins,
    differences,
    directions,
    effect_sizes,
    joint_p_values,
    least_p_values,
    multiply,
    pair_with_baselines,
    replace_test,
)
from gradely.data.ids import Bools, Floats, Ints
from gradely.errors import DataError
from gradely.evaluation.by_query import check_baseline
from gradely.evaluation.notes import Note
from gradely.evaluation.result import Result
from gradely.evaluation.scores import normalize_weights
from gradely.measures.names import MeasureLike, parse_all
from gradely.settings import check_choice, is_number, is_whole
from gradely.tables import Table

FAMILIES = {"measure": "the pairs of each measure", "all": "every pair on every measure"}


class Design(NamedTuple):
    """The statistical design of a comparison."""

    test: str = "t"
    correction: str | None = None
    """None stands for Holm, or for no correction with tukey and max-t, which account for their family themselves"""
    alpha: float = 0.05
    seed: int = 0
    resamples: int = tests.RESAMPLES
    baselines: tuple[str, ...] = ()
    family: str = "measure"
    simultaneous: bool = False
    """whether the intervals of differences hold for the whole family at once"""
    rope: float | None = None
    """the equivalence margin: smaller differences have no practical relevance"""

    def settle(self, baselines: str | Iterable[str] = (), runs: Iterable[str] = ()) -> "Design":
        """Return the design with its default correction and its baselines; raise DataError if it is invalid."""
        check_choice("test", self.test, TESTS)
        correction = self.correction or ("none" if self.test in SIMULTANEOUS else "holm")
        check_choice("correction", correction, CORRECTIONS)
        check_choice("family", self.family, FAMILIES)
        if self.test in SIMULTANEOUS and correction != "none":
            raise DataError(f"{self.test} holds for its whole family at once: use it with correction 'none'")
        check_alpha(self.alpha)
        if not is_whole(self.resamples) or self.resamples < 1:
            raise DataError(f"the number of resamples must be a whole number of at least 1; found {self.resamples!r}")
        if self.resamples > tests.MOST_RESAMPLES:
            raise DataError(f"the number of resamples must be at most {tests.MOST_RESAMPLES:,}; found {self.resamples}")
        if self.rope is not None and not (is_number(self.rope) and self.rope > 0):
            raise DataError(f"rope is the equivalence margin, a number above 0 like 0.01; found {self.rope!r}")
        return self._replace(correction=correction, baselines=_check_baselines(baselines, list(runs)))


LEAST_ALPHA = 1e-50
"""the smallest significance level: quantiles of t at much smaller ones are too large to compute"""


def check_alpha(alpha: float) -> None:
    """Raise DataError unless this is a significance level."""
    if not is_number(alpha) or not 0 < alpha < 1:
        raise DataError(f"alpha must be a number between 0 and 1, like 0.05; found {alpha!r}")
    if alpha < LEAST_ALPHA:
        raise DataError(f"alpha must be at least {LEAST_ALPHA:g}; found {alpha!r}")


def check_margin(margin: float | None, measures: MeasureLike | Iterable[MeasureLike]) -> None:
    """Raise DataError for an equivalence margin that no difference of a measure can exceed."""
    if margin is None:
        return
    for name, span in largest_differences(measures).items():
        if margin >= span:
            differ = f"{name} of two runs cannot differ by more than {span:g}"
            raise DataError(f"{differ}, so all runs are equivalent within ±{margin:g}; give {in_points(margin)}")


def largest_differences(measures: MeasureLike | Iterable[MeasureLike]) -> dict[str, float]:
    """Return the largest possible difference of two values, {measure: number}."""
    return {str(measure): measure.bounds[1] - measure.bounds[0] for measure in parse_all(measures).values()}


def in_points(number: float) -> str:
    """Return the number that was probably meant if a number is too large: points out of a hundred."""
    if number >= 100:
        return "a number like 0.01"
    return f"{number / 100:g} for {number:g} {'point' if number == 1 else 'points'}"


def _check_baselines(baselines: str | Iterable[str], runs: list[str]) -> tuple[str, ...]:
    """Return the names of the baselines; raise DataError if one is not a run."""
    names = (baselines,) if isinstance(baselines, str) else tuple(baselines)
    for name in names:
        check_baseline(name, runs)
    return names


class Shares(NamedTuple):
    """Components of the variance of a difference between two systems, as shares that sum to 1."""

    queries: float
    """variation of the difference between queries"""
    runs: float
    """variation between the means of runs of the same system"""
    rest: float
    """interaction of queries and runs, and error"""


class Pair(NamedTuple):
    """Two runs on one measure; the difference is the first minus the second."""

    measure: str
    first: str
    second: str
    difference: float
    low: float | None
    """the interval of the difference; None without spread"""
    high: float | None
    effect: float
    wins: int
    ties: int
    losses: int
    p: float
    adjusted: float
    significant: bool
    tost: float | None = None
    """the uncorrected p-value of the equivalence test (TOST); this and the next five are None without a margin"""
    tost_adjusted: float | None = None
    equivalent: bool | None = None
    chance_better: float | None = None
    """posterior probabilities that the first run is better, practically equivalent, or worse"""
    chance_equal: float | None = None
    chance_worse: float | None = None
    freedom: float | None = None
    """the degrees of freedom of t, for systems with several runs"""
    shares: Shares | None = None
    """components of the variance; None if nothing varies, or if both systems have one run"""


ALWAYS = Pair._fields[: Pair._fields.index("tost")]
"""the fields that every pair has"""
EQUIVALENCE = Pair._fields[len(ALWAYS) : Pair._fields.index("freedom")]
"""the fields of equivalence tests"""


@dataclass(eq=False, repr=False)
class Pairwise:
    """Pairs of runs and their tests; results are arrays [measures, pairs]."""

    values: Floats
    """[measures, queries, runs]"""
    means: Floats
    """[measures, runs]"""
    names: Sequence[str]
    measures: Sequence[str]
    design: Design
    bounds: Sequence[tuple[float, float]] = ()
    """the bounds of each measure; empty if unknown"""
    weights: Floats | None = None
    """[queries], with mean 1; None if all queries count alike"""
    _kept: dict[int, Floats] = field(default_factory=dict, init=False)
    """differences on each query, by index of the measure"""

    def __post_init__(self) -> None:
        """Refuse values of which squares, and so intervals and tests, cannot be computed."""
        for measure, table in zip(self.measures, self.values, strict=True):
            largest = float(np.nanmax(np.abs(table), initial=0.0))
            if largest > tests.LARGEST:
                problem = (
                    f"values up to {largest:.2g} cannot be compared, since their squares are too large to represent"
                )
                raise DataError(f"{measure}: {problem}; use smaller labels")

    @cached_property
    def weighed(self) -> Floats:
        """The values times the weights of their queries, so plain means equal weighted means.

        Tests use differences of these values. They keep their level for any weights, and lose power as the weights
        become more uneven.
        """
        return self.values if self.weights is None else self.values * self.weights[:, None]

    subject: ClassVar[str] = "run"
    """what is compared"""
    unit: ClassVar[str] = "query"
    """what it is compared on"""

    @cached_property
    def pairs(self) -> Pairs:
        """All pairs, or each run with each baseline; empty if there are too few queries for a test."""
        size = len(self.names) if self.values.shape[1] > 1 else 0
        baselines = [self.names.index(name) for name in self.design.baselines]
        return pair_with_baselines(baselines, size) if baselines and size else all_pairs(size)

    @cached_property
    def named_pairs(self) -> list[tuple[str, str]]:
        """The names of both runs of each pair."""
        sides = ([self.names[i] for i in side.tolist()] for side in self.pairs)
        return list(zip(*sides, strict=True))

    @cached_property
    def count(self) -> int:
        """The number of pairs."""
        return len(self.pairs)

    @cached_property
    def family_size(self) -> int:
        """The number of tests that are corrected together."""
        return self.count * (len(self.measures) if self.design.family == "all" else 1)

    @cached_property
    def p(self) -> Floats:
        """The uncorrected p-values; those of tukey and max-t account for their family themselves."""
        if not self.count:
            return np.zeros((len(self.measures), 0))
        joint = self.design.test in SIMULTANEOUS and self.design.family == "all"
        together = [self.weighed] if joint else [table[None] for table in self.weighed]
        for table in self.values:
            check_values(table)
        design = self.design
        return np.concatenate(
            [
                joint_p_values(family, design.test, self.pairs, resamples=design.resamples, seed=design.seed)
                for family in together
            ]
        )

    @cached_property
    def adjusted(self) -> Floats:
        """The p-values, corrected over their family."""
        return self.correct(self.p)

    def correct(self, p: Floats, correction: str | None = None) -> Floats:
        """Return p-values [measures, pairs] corrected over their family."""
        return self._by_family(p, adjust, correction or str(self.design.correction))

    def _by_family(self, p: Floats, correct: Callable[[Floats, str], Floats], correction: str) -> Floats:
        if self.design.family == "all":
            return correct(p.ravel(), correction).reshape(p.shape)
        return np.stack([correct(row, correction) for row in p])

    @cached_property
    def significant(self) -> Bools:
        """Where the corrected p-value is below alpha."""
        return self.adjusted < self.design.alpha

    @cached_property
    def is_corrected(self) -> bool:
        """Whether the p-values account for several tests, by a correction or by the test itself."""
        return self.family_size > 1 and (self.design.correction != "none" or self.design.test in SIMULTANEOUS)

    @cached_property
    def differing(self) -> Bools:
        """Whether two runs differ on any query."""
        return np.stack([np.any(differ != 0, axis=0) for differ in self._by_query()])

    @cached_property
    def least(self) -> Floats:
        """The smallest possible uncorrected p-values, given the number of queries on which the runs differ."""
        test, resamples = self.design.test, self.design.resamples
        return np.stack([least_p_values(table, test, self.pairs, resamples) for table in self.weighed])

    @cached_property
    def differences(self) -> Floats:
        """The differences of means."""
        return self.means[:, self.pairs.first] - self.means[:, self.pairs.second]

    @cached_property
    def directions(self) -> Floats:
        """The run that the test favours: 1 for the first, -1 for the second; Wilcoxon's may contradict the means."""
        return np.stack([directions(differ, self.design.test) for differ in self._by_query()])

    @cached_property
    def contradicts(self) -> Bools:
        """Whether a significant test favours a run whose mean is not higher."""
        if self.design.test != "wilcoxon":  # all others go by the mean
            return np.zeros_like(self.significant)
        by_mean = np.stack([directions(differ, "t") for differ in self._by_query()])
        return np.asarray(self.significant & (self.directions != by_mean))

    def by_query(self, measure: int) -> Floats:
        """Return the weighted differences on each query by one measure, [queries, pairs].

        They are cached unless they need too much memory, as for all pairs of many runs.
        """
        if measure in self._kept:
            return self._kept[measure]
        differ = differences(self.weighed[measure], self.pairs)
        if differ.size * len(self.measures) <= CELLS:
            self._kept[measure] = differ
        return differ

    def _by_query(self) -> Iterator[Floats]:
        return (self.by_query(m) for m in range(len(self.measures)))

    @cached_property
    def reaches(self) -> list[float]:
        """Half the width of the intervals of differences in standard errors, by measure; NaN without intervals."""
        if self.design.simultaneous:
            return self._simultaneous_reaches
        return [t_quantile(self.values.shape[1], 1 - self.design.alpha)] * len(self.measures)

    @cached_property
    def _simultaneous_reaches(self) -> list[float]:
        level, seed, size = 1 - self.design.alpha, self.design.seed, len(self.measures)
        if self.design.family == "measure":
            return [simultaneous_reach(differ, level, seed) for differ in self._by_query()]
        return [simultaneous_reach(np.concatenate(list(self._by_query()), axis=1), level, seed)] * size

    @cached_property
    def widest(self) -> list[float]:
        """The largest possible difference by each measure, from its bounds and the observed values."""
        bounds = self.bounds or [(-inf, inf)] * len(self.measures)
        found = zip(np.nanmin(self.values, axis=(1, 2)), np.nanmax(self.values, axis=(1, 2)), strict=True)
        return [float(max(b, d) - min(a, c)) for (a, b), (c, d) in zip(bounds, found, strict=True)]

    def cut(self, intervals: Intervals, measure: int) -> Intervals:
        """Clip intervals of differences to the largest possible difference by a measure."""
        widest = self.widest[measure]
        return Intervals(*(np.clip(end, -widest, widest) for end in intervals))

    @cached_property
    def intervals(self) -> list[Intervals]:
        """The intervals of the differences, by measure: t intervals or simultaneous ones."""
        return [self.cut(one.around(self.reaches[m]), m) for m, one in enumerate(self.estimates)]

    def corrected_interval(self, measure: int, pair: int) -> tuple[float, float]:
        """Return the interval of a difference, corrected like its p-value; NaN if there is none.

        Intervals of tukey and max-t hold for all pairs at once. For other tests, alpha is divided by the factor by
        which the correction multiplied p. A t interval therefore excludes 0 exactly if the corrected p is below alpha.
        """
        if self.design.simultaneous or not self.is_corrected:
            low, high = self.intervals[measure]
            return float(low[pair]), float(high[pair])
        one = self.estimates[measure].only(pair)
        if self.design.test == "tukey":
            reach = self._tukey_reaches[measure] * (1 + tests.ROUNDING)  # a difference of this size is not significant
            half = np.where(one.constant, np.nan, reach)
            found = Intervals(one.difference - half, one.difference + half)
        elif self.design.test == "max-t":
            found = one.around(self._simultaneous_reaches[measure])
        else:
            level = 1 - self.design.alpha * self._share_of_alpha(measure, pair)
            found = one.around(t_quantile(self.values.shape[1], level))
        low, high = self.cut(found, measure)
        return float(low[0]), float(high[0])

    def _share_of_alpha(self, measure: int, pair: int) -> float:
        """Return the share of alpha that the correction leaves to a pair: 1 by its factor, or Bonferroni's if p is 0.

        The factor counts in full where the corrected p is cut at 1: else these intervals would be hardly corrected.
        With thousands of queries, p can be smaller than any positive double.
        """
        multiplied = self._multiplied[measure, pair]
        return float(self.p[measure, pair] / multiplied) if multiplied > 0 else 1 / self.family_size

    @cached_property
    def _multiplied(self) -> Floats:
        """The p-values times the factors of the correction."""
        return self._by_family(self.p, multiply, str(self.design.correction))

    @cached_property
    def _tukey_reaches(self) -> list[float]:
        """The largest difference by each measure that is not significant under tukey."""
        design = self.design
        together = [self.weighed] if design.family == "all" else [table[None] for table in self.weighed]
        drawn = (tests.shuffled_ranges(family, design.resamples, design.seed) for family in together)
        return [float(np.quantile(ranges, 1 - design.alpha) * unit) for ranges, scale in drawn for unit in scale[:, 0]]

    @cached_property
    def mean_intervals(self) -> list[Intervals]:
        """The bootstrap intervals of the means by measure, clipped to the bounds of the measure."""
        ends = (end.reshape(self.means.shape) for end in self._drawn)
        intervals = [Intervals(*pair) for pair in zip(*ends, strict=True)]
        bounds = self.bounds or [(-inf, inf)] * len(intervals)
        return [keep_within(*each) for each in zip(intervals, bounds, self.values, strict=True)]

    @cached_property
    def _drawn(self) -> Intervals:
        """The bootstrap intervals of the means by all measures, concatenated."""
        return bootstrap_intervals(self._mean_columns(), 1 - self.design.alpha, self.design.seed)

    def _mean_columns(self) -> Floats:
        return pseudo_values(np.concatenate(self.values, axis=1), self.weights)

    @cached_property
    def means_by_t(self) -> Bools:
        """[measures, runs] whether the interval of a mean is the t interval instead of the bootstrap interval."""
        by_t = t_intervals(self._mean_columns(), 1 - self.design.alpha)
        same = (self._drawn.low == by_t.low) & (self._drawn.high == by_t.high)
        return np.asarray(same).reshape(self.means.shape)

    @cached_property
    def test(self) -> str:
        """The test that is performed: t instead of the bootstrap if there are too few queries for the bootstrap."""
        return replace_test(self.design.test, self.values.shape[1])

    @property
    def test_name(self) -> str:
        """The name of the test that is performed."""
        return TESTS[self.test]

    @property
    def means_method(self) -> str:
        """The method of the intervals of means, or an empty string if no mean has an interval."""
        known = ~np.isnan([low for low, _ in self.mean_intervals])
        by_t = self.means_by_t & known
        if not by_t.any():
            return f"by the studentised bootstrap ({DRAWS:,} draws)" if known.any() else ""
        if (by_t == known).all():
            return "by t"
        counts = zip(self.measures, by_t.sum(axis=1).tolist(), known.sum(axis=1).tolist(), strict=True)
        some = [
            measure if count == of else f"{measure} ({count:,} of {of:,} {self.subject}s)"
            for measure, count, of in counts
            if count
        ]
        return f"by the studentised bootstrap ({DRAWS:,} draws), and by t for {', '.join(some)}"

    @cached_property
    def count_replaced(self) -> int:
        """The number of t or bootstrap tests that were replaced, since the difference is the same on every query."""
        if self.design.test not in BY_SPREAD or not self.count:
            return 0
        return sum(int(np.count_nonzero(one.constant & (one.difference != 0))) for one in self.estimates)

    @cached_property
    def estimates(self) -> list[Estimates]:
        """The differences of means with their standard errors, by measure."""
        return [Estimates.of(differ) for differ in self._by_query()]

    @cached_property
    def tost(self) -> Floats:
        """The uncorrected p-values of the equivalence tests; NaN without a margin."""
        rope = self.design.rope
        if rope is None or not self.count:
            return np.full((len(self.measures), self.count), np.nan)
        return np.stack([estimates.tost(rope) for estimates in self.estimates])

    @cached_property
    def tost_adjusted(self) -> Floats:
        """The corrected p-values of the equivalence tests; by Holm if the test of differences needs no correction."""
        if self.design.rope is None:
            return self.tost
        return self.correct(self.tost, "holm" if self.design.test in SIMULTANEOUS else None)

    @cached_property
    def equivalent(self) -> Bools:
        """Whether two runs are shown to be practically equivalent."""
        return self.tost_adjusted < self.design.alpha

    def chances(self, measure: int, rope: float) -> tests.Chances:
        """Return the posterior probabilities that the first run is better, practically equivalent, or worse.

        With the flat prior p(µ, σ) ∝ 1/σ, µ is t-distributed around the mean difference. This is the Bayesian
        correlated t-test of Benavoli, Corani, Demšar and Zaffalon (2017) with correlation 0: unlike the folds of a
        cross-validation, queries share no data.
        """
        return self.estimates[measure].chances(rope)

    def _list_equivalence(self, measure: int) -> list[list[Any]]:
        """Return the columns of the fields of equivalence tests."""
        if self.design.rope is None:
            return [[None] * self.count for _ in EQUIVALENCE]
        three = self.chances(measure, self.design.rope)
        p = (self.tost[measure].tolist(), self.tost_adjusted[measure].tolist(), self.equivalent[measure].tolist())
        return [*p, *map(to_optional, three)]

    def intervals_on(self, measure: int, queries: Ints) -> Intervals:
        """Return the uncorrected t intervals of the differences on some of the queries."""
        differ = differences(self.values[measure][queries], self.pairs)
        if self.weights is not None:
            differ = differ * normalize_weights(self.weights[queries])[:, None]
        return self.cut(t_intervals(differ, 1 - self.design.alpha), measure)

    @property
    def leaves_out_at_once(self) -> bool:
        """Whether p-values without each query follow from sums over all queries, as those of t do."""
        return self.design.test == "t"

    def leave_out(self, query: int) -> Self:
        """Return the same runs without one query."""
        values = np.delete(self.values, query, axis=1)
        weights = None if self.weights is None else normalize_weights(np.delete(self.weights, query))
        return replace(self, values=values, means=np.average(values, axis=1, weights=weights), weights=weights)

    def rows(self) -> Iterator[Pair]:
        """Yield the results of each pair, measure by measure."""
        for m, measure in enumerate(self.measures if self.count else []):
            differ = self.by_query(m)
            low, high = map(to_optional, self.intervals[m])
            statistics = [self.differences[m].tolist(), low, high, effect_sizes(differ).tolist()]
            counts = (*count_wins(differ), self.p[m], self.adjusted[m], self.significant[m])
            columns = [*statistics, *(column.tolist() for column in counts), *self._list_equivalence(m)]
            for pair, row in zip(self.named_pairs, zip(*columns, strict=True), strict=True):
                yield Pair(measure, *pair, *row)

    def better_than(self, measure: int) -> list[Ints]:
        """Return, for each run, the indices of the runs that it is significantly better than."""
        sure, apart = self.significant[measure], self.directions[measure]
        up, down = sure & (apart > 0), sure & (apart < 0)
        winner = np.concatenate([self.pairs.first[up], self.pairs.second[down]])
        loser = np.concatenate([self.pairs.second[up], self.pairs.first[down]])
        return [np.sort(loser[winner == i]) for i in range(len(self.names))]

    def power(self) -> dict[str, float]:
        """Return the discriminative power of each measure: the share of pairs with an uncorrected p below alpha."""
        shares = (np.count_nonzero(self.p < self.design.alpha, axis=1) / max(1, self.count)).tolist()
        return dict(zip(self.measures, shares, strict=True))

    def levels(self) -> dict[str, Floats]:
        """Return the achieved-significance-level curve of each measure: its p-values, largest first."""
        return {measure: achieved_levels(p) for measure, p in zip(self.measures, self.p, strict=True)}


class Estimated(Pairwise):
    """Pairs tested by t from estimates that a subclass provides, such as systems with several runs."""

    @cached_property
    def differences(self) -> Floats:
        """The differences that are tested."""
        return np.stack([estimates.difference for estimates in self.estimates])

    @cached_property
    def p(self) -> Floats:
        """The uncorrected p-values."""
        return np.stack([estimates.p_values() for estimates in self.estimates])

    @cached_property
    def directions(self) -> Floats:
        """The run with the higher mean: 1 for the first, -1 for the second."""
        return np.where(np.abs(self.differences) > tests.ROUNDING, np.sign(self.differences), 0.0)

    @cached_property
    def least(self) -> Floats:
        """The smallest possible uncorrected p-values: 0 for t, unless the difference is constant."""
        return np.stack([np.where(e.constant, 2.0 ** (1 - e.units), 0.0) for e in self.estimates])

    @cached_property
    def intervals(self) -> list[Intervals]:
        """The intervals of the differences, by measure."""
        return [self.cut(one.intervals(1 - self.design.alpha), m) for m, one in enumerate(self.estimates)]

    def corrected_interval(self, measure: int, pair: int) -> tuple[float, float]:
        """Return the interval of a difference, corrected like its p-value; NaN if there is none."""
        share = self._share_of_alpha(measure, pair) if self.is_corrected else 1.0
        one = self.estimates[measure].only(pair)
        low, high = self.cut(one.intervals(1 - self.design.alpha * share), measure)
        return float(low[0]), float(high[0])


def pseudo_values(values: Floats, weights: Floats | None) -> Floats:
    """Return jackknife pseudo-values [queries, columns]: their mean and its error are those of the weighted mean.

    The weighted mean m without query i is m - w_i (x_i - m) / (n - w_i). The pseudo-value of i is m + (n - 1) times the
    difference (Miller 1974); all are shifted to have the mean m. With equal weights they are the values themselves.
    """
    queries = len(values)
    if weights is None or queries < 2:
        return values
    mean = np.average(values, axis=0, weights=weights)
    moved = ((queries - 1) * weights / (queries - weights))[:, None] * (values - mean)
    return np.asarray(mean + moved - moved.mean(axis=0))


def to_optional(values: Floats) -> list[float | None]:
    """Return a list of the values, with None for NaN."""
    return [None if np.isnan(value) else value for value in values.tolist()]


@dataclass(frozen=True, eq=False, repr=False)
class Matrix(Result):
    """Differences between all runs by one measure, row minus column; NaN and False for pairs that were not tested."""

    measure: str
    names: list[str]
    difference: Floats
    low: Floats
    high: Floats
    adjusted: Floats
    significant: Bools
    """whether row and column differ significantly"""
    same: Bools
    """whether both have the same value on every query"""
    tost: Floats
    equivalent: Bools
    direction: Floats
    """1 where the test favours the row, -1 where it favours the column"""
    contradicts: Bools
    """whether a significant test favours a run whose mean is not higher, as Wilcoxon's may"""
    notes: Sequence[Note] = ()
    """the notes of the comparison"""

    @classmethod
    def of(cls, pairwise: Pairwise, measure: int) -> "Matrix":
        """Arrange the pairs of one measure as matrices."""
        low, high = pairwise.intervals[measure] if pairwise.count else (np.zeros(0), np.zeros(0))
        symmetric = {
            "adjusted": pairwise.adjusted[measure],
            "significant": pairwise.significant[measure],
            "same": ~pairwise.differing[measure],
            "tost": pairwise.tost_adjusted[measure],
            "equivalent": pairwise.equivalent[measure],
            "contradicts": pairwise.contradicts[measure],
        }
        apart = pairwise.differences[measure]
        return cls(
            pairwise.measures[measure],
            list(pairwise.names),
            _lay_out(pairwise, apart, -apart),
            _lay_out(pairwise, low, -high),
            _lay_out(pairwise, high, -low),
            **{key: _lay_out(pairwise, values, values) for key, values in symmetric.items()},
            direction=_lay_out(pairwise, pairwise.directions[measure], -pairwise.directions[measure]),
        )

    def table(self) -> Table:
        """Return the differences, one row per run; a star marks those that are significant."""
        rows = [
            [
                name,
                *(None if np.isnan(x) else f"{x:+z.4f}{'*' if sure else ''}" for x, sure in zip(*columns, strict=True)),
            ]
            for name, *columns in zip(self.names, self.difference.tolist(), self.significant.tolist(), strict=True)
        ]
        return Table([self.measure, *self.names], rows)

    def data_table(self) -> Table:
        """Return one row per tested pair, in both directions."""
        rows, columns = np.nonzero(~np.isnan(self.difference))
        ends = [[self.names[i] for i in index.tolist()] for index in (rows, columns)]
        numbers = [values[rows, columns].tolist() for values in (self.difference, self.adjusted, self.significant)]
        header = ["run", "other", "difference", "adjusted", "significant"]
        return Table(header, [list(row) for row in zip(*ends, *numbers, strict=True)])

    def as_dict(self) -> dict[str, Any]:
        """Return the tested pairs as plain data."""
        return {"measure": self.measure, "runs": self.names, "pairs": self.data_table().records()}

    def remarks(self) -> list[str]:
        """Return the meaning of the numbers."""
        return [f"{self.measure} of the row minus that of the column; * significant"]


def _lay_out(pairwise: Pairwise, values: Any, mirror: Any) -> Any:
    """Return a matrix with the value of each pair, and the value of the reversed pair at the mirrored position."""
    size, (first, second) = len(pairwise.names), pairwise.pairs
    flags = values.dtype == np.bool_
    out = np.zeros((size, size), np.bool_) if flags else np.full((size, size), np.nan)
    out[first, second], out[second, first] = values, mirror
    return out
