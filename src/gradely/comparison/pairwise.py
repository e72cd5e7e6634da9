"""Every pair of runs on every measure: difference, interval, test, effect size, wins."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from gradely.comparison.design import Design
from gradely.comparison.equivalence import chances, tost
from gradely.comparison.intervals import Intervals, around, bootstrap_intervals, simultaneous_reach, t_quantile
from gradely.comparison.pairs import (
    Pairs,
    all_pairs,
    count_wins,
    differences,
    effect_sizes,
    lacks_spread,
    pair_with_baselines,
)
from gradely.comparison.significance import (
    BY_SPREAD,
    SIMULTANEOUS,
    achieved_levels,
    adjust,
    check_values,
    joint_p_values,
)
from gradely.data.types import Bools, Floats, Ints


class Pair(NamedTuple):
    """Two runs on one measure; the difference is the first minus the second."""

    measure: str
    first: str
    second: str
    difference: float
    low: float | None
    """the interval of the difference; None where there is no spread, and so no interval"""
    high: float | None
    effect: float
    wins: int
    ties: int
    losses: int
    p: float
    adjusted: float
    significant: bool
    tost: float | None = None
    """these are of a region of practical equivalence, and None without one: p-values of TOST, not corrected"""
    tost_adjusted: float | None = None
    equivalent: bool | None = None
    chance_better: float | None = None
    """the posterior chances that the first run is better, as good as equal, worse"""
    chance_equal: float | None = None
    chance_worse: float | None = None


ALWAYS = Pair._fields[: Pair._fields.index("tost")]
"""what is known of a pair without a region of practical equivalence"""


@dataclass(eq=False, repr=False)
class Pairwise:
    """The pairs of runs, tested; results are [measures, pairs]."""

    values: Floats
    """[measures, queries, runs]"""
    means: Floats
    """[measures, runs]"""
    names: Sequence[str]
    measures: Sequence[str]
    design: Design

    @cached_property
    def pairs(self) -> Pairs:
        """All pairs, or every run against each baseline; none where there are too few queries for any test."""
        size = len(self.names) if self.values.shape[1] > 1 else 0
        baselines = [self.names.index(name) for name in self.design.baselines]
        return pair_with_baselines(baselines, size) if baselines and size else all_pairs(size)

    @property
    def family_size(self) -> int:
        """How many tests are corrected together."""
        return len(self.pairs) * (len(self.measures) if self.design.family == "all" else 1)

    @cached_property
    def p(self) -> Floats:
        """The p-values, not corrected, except that tukey and max-t hold for their family by themselves."""
        if not len(self.pairs):
            return np.zeros((len(self.measures), 0))
        joint = self.design.test in SIMULTANEOUS and self.design.family == "all"
        together = [self.values] if joint else [table[None] for table in self.values]
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
        """The p-values, corrected over their family: the pairs of each measure, or everything."""
        return self.correct(self.p)

    def correct(self, p: Floats, correction: str | None = None) -> Floats:
        """Return p-values [measures, pairs] corrected over their family."""
        correction = correction or str(self.design.correction)
        if self.design.family == "all":
            return adjust(p.ravel(), correction).reshape(p.shape)
        return np.stack([adjust(row, correction) for row in p])

    @cached_property
    def significant(self) -> Bools:
        """Where the corrected p-value is below alpha."""
        return self.adjusted < self.design.alpha

    @cached_property
    def differences(self) -> Floats:
        """The differences of means."""
        return self.means[:, self.pairs.first] - self.means[:, self.pairs.second]

    def by_query(self, measure: int) -> Floats:
        """Return the differences on each query by one measure, [queries, pairs]."""
        return differences(self.values[measure], self.pairs)

    def _by_query(self) -> Iterator[Floats]:
        return (self.by_query(m) for m in range(len(self.measures)))

    @cached_property
    def reaches(self) -> list[float]:
        """How many standard errors the intervals of differences reach to each side, by measure; NaN for none."""
        level, seed, size = 1 - self.design.alpha, self.design.seed, len(self.measures)
        if not self.design.simultaneous:
            return [t_quantile(self.values.shape[1], level)] * size
        if self.design.family == "measure":
            return [simultaneous_reach(differ, level, seed) for differ in self._by_query()]
        return [simultaneous_reach(np.concatenate(list(self._by_query()), axis=1), level, seed)] * size

    @cached_property
    def intervals(self) -> list[Intervals]:
        """The intervals of the differences, measure by measure: t intervals, or such as hold for a family at once."""
        return [around(differ, reach) for differ, reach in zip(self._by_query(), self.reaches, strict=True)]

    @cached_property
    def mean_intervals(self) -> list[Intervals]:
        """The bootstrap intervals of the means, measure by measure."""
        columns = np.concatenate(self.values, axis=1)
        low, high = bootstrap_intervals(columns, 1 - self.design.alpha, self.design.seed)
        ends = (end.reshape(self.means.shape) for end in (low, high))
        return [Intervals(*pair) for pair in zip(*ends, strict=True)]

    @cached_property
    def count_replaced(self) -> int:
        """How many tests of t or bootstrap were replaced: the difference is the same on every query, and not 0."""
        if self.design.test not in BY_SPREAD or not len(self.pairs):
            return 0
        return sum(int(np.count_nonzero(lacks_spread(differ) & (differ[0] != 0))) for differ in self._by_query())

    @cached_property
    def tost(self) -> Floats:
        """The p-values of equivalence, not corrected; NaN where no region was given."""
        rope = self.design.rope
        if rope is None or not len(self.pairs):
            return np.full((len(self.measures), len(self.pairs)), np.nan)
        return np.stack([tost(differ, rope) for differ in self._by_query()])

    @cached_property
    def tost_adjusted(self) -> Floats:
        """The p-values of equivalence, corrected as those of difference are; by Holm where their test takes none."""
        if self.design.rope is None:
            return self.tost
        return self.correct(self.tost, "holm" if self.design.test in SIMULTANEOUS else None)

    @cached_property
    def equivalent(self) -> Bools:
        """Where two runs are surely as good as equal."""
        return self.tost_adjusted < self.design.alpha

    def _list_equivalence(self, measure: int) -> list[list[Any]]:
        """Return the last fields of Pair, as columns."""
        if self.design.rope is None:
            return [[None] * len(self.pairs) for _ in Pair._fields[len(ALWAYS) :]]
        three = chances(self.by_query(measure), self.design.rope)
        p = (self.tost[measure].tolist(), self.tost_adjusted[measure].tolist(), self.equivalent[measure].tolist())
        return [*p, *map(to_optional, three)]

    def leave_out(self, query: int) -> "Pairwise":
        """Return the same runs without one query."""
        values = np.delete(self.values, query, axis=1)
        return replace(self, values=values, means=values.mean(axis=1))

    def rows(self) -> Iterator[Pair]:
        """Yield all there is to know of each pair, measure by measure."""
        names, (first, second) = self.names, self.pairs
        for m, measure in enumerate(self.measures if len(self.pairs) else []):
            differ = self.by_query(m)
            low, high = map(to_optional, self.intervals[m])
            statistics = [self.differences[m].tolist(), low, high, effect_sizes(differ).tolist()]
            counts = (*count_wins(differ), self.p[m], self.adjusted[m], self.significant[m])
            columns = [*statistics, *(column.tolist() for column in counts), *self._list_equivalence(m)]
            for i, row in enumerate(zip(*columns, strict=True)):
                yield Pair(measure, names[first[i]], names[second[i]], *row)

    def better_than(self, measure: int) -> list[Ints]:
        """Return, for each run, those of its pairs that it is significantly better than."""
        sure, apart = self.significant[measure], self.differences[measure]
        up, down = sure & (apart > 0), sure & (apart < 0)
        winner = np.concatenate([self.pairs.first[up], self.pairs.second[down]])
        loser = np.concatenate([self.pairs.second[up], self.pairs.first[down]])
        return [np.sort(loser[winner == i]) for i in range(len(self.names))]

    def power(self) -> dict[str, float]:
        """Return the discriminative power of each measure: the share of pairs it separates, without correction."""
        shares = (np.count_nonzero(self.p < self.design.alpha, axis=1) / max(1, len(self.pairs))).tolist()
        return dict(zip(self.measures, shares, strict=True))

    def levels(self) -> dict[str, Floats]:
        """Return the achieved-significance-level curve of each measure: its p-values, largest first."""
        return {measure: achieved_levels(p) for measure, p in zip(self.measures, self.p, strict=True)}


def to_optional(values: Floats) -> list[float | None]:
    """Return numbers, and None where there is none."""
    return [None if np.isnan(value) else value for value in values.tolist()]
