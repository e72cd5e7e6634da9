"""The values of runs by each judge: their mean over judges, and the pairs of runs that depend on the judge."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from gradely.comparison.intervals import Estimates
from gradely.comparison.kendall import DIGITS, correlations
from gradely.comparison.pairwise import Design, Pairwise
from gradely.comparison.tests import all_pairs
from gradely.data.ids import Bools, Floats, Ints
from gradely.measures import Measure

TOP = 10
"""the number of best runs that are also ranked separately, since machine judges fail mostly among them"""


def two_way(table: Floats) -> Estimates:
    """Return the mean of [queries, judges, columns] and its standard error, with queries and judges as random effects.

    Var = (σ²_q + σ²_qj/J)/Q + σ²_j/J, with variances from the mean squares of queries, judges and residuals; negative
    estimates are set to 0. The degrees of freedom are those of Satterthwaite (1946) over the mean squares.
    """
    queries, judges, columns = table.shape
    mean = table.mean(axis=(0, 1))
    if queries < 2:
        return Estimates(mean, np.full(columns, np.nan), np.ones(columns), np.ones(columns))
    rows, sides = table.mean(axis=1) - mean, table.mean(axis=0) - mean
    rest = table - mean - rows[:, None] - sides
    squares = np.stack(
        [
            judges * (rows**2).sum(axis=0) / (queries - 1),
            queries * (sides**2).sum(axis=0) / (judges - 1),
            (rest**2).sum(axis=(0, 1)) / ((queries - 1) * (judges - 1)),
        ]
    )
    squares = np.where(squares > 10.0 ** (-2 * DIGITS), squares, 0.0)  # smaller ones are rounding errors
    counted = (squares[:2] > squares[2]).astype(np.float64)
    weights = np.stack([*counted, 1 - counted.sum(axis=0)])
    total = (weights * squares).sum(axis=0)
    freedoms = np.array([[queries - 1], [judges - 1], [(queries - 1) * (judges - 1)]])
    each = ((weights * squares) ** 2 / freedoms).sum(axis=0)
    freedom = np.where(each > 0, total**2 / np.where(each > 0, each, 1.0), 1.0)
    error = np.where(total > 0, np.sqrt(total / (queries * judges)), np.nan)
    return Estimates(mean, error, np.maximum(freedom, 1.0), np.full(columns, queries))


class JudgedPair(NamedTuple):
    """Two runs compared by one measure and all judges; differences are the first run minus the second."""

    measure: str
    first: str
    second: str
    difference: float
    """the mean difference over judges"""
    low: float | None
    """the lower end of its interval over queries and judges, or None if there is none"""
    high: float | None
    least: float
    """the lowest difference by a single judge"""
    most: float
    """the highest difference by a single judge"""
    first_better: int
    """the number of judges by whom the first run has the higher mean"""
    second_better: int
    significant: int
    """the number of judges by whom the runs differ significantly"""
    order: bool
    """whether the judges disagree about which run is better"""
    significance: bool
    """whether they agree on the order, but the runs differ significantly by only some of them"""
    both_ways: bool
    """whether the first run is significantly better by one judge, and the second by another"""


@dataclass(eq=False)
class ByJudge:
    """The values of runs by each judge, on the queries that all judges have."""

    judges: list[str]
    measures: dict[str, Measure]
    names: list[str]
    """the names of the runs"""
    queries: list[str]
    values: Floats
    """[judges, measures, queries, runs]"""
    design: Design

    @cached_property
    def means(self) -> Floats:
        """The mean of each run by each judge, [judges, measures, runs]."""
        return np.asarray(self.values.mean(axis=2))

    @cached_property
    def aware(self) -> list[Estimates]:
        """By measure, the mean of each run over equally weighted judges (AWARE: Ferrante, Ferro, Maistro 2017)."""
        return [two_way(self.values[:, m].transpose(1, 0, 2)) for m in range(len(self.measures))]

    @cached_property
    def differences(self) -> list[Estimates]:
        """By measure, the mean difference of each pair of runs over the judges."""
        first, second = all_pairs(len(self.names))
        apart = np.round(self.values[..., first] - self.values[..., second], DIGITS)
        return [two_way(apart[:, m].transpose(1, 0, 2)) for m in range(len(self.measures))]

    def sort(self) -> "ByJudge":
        """Return the values with runs sorted by the first measure's mean over judges, best first, then by name."""
        first = np.round(self.aware[0].difference, DIGITS).tolist()
        order = sorted(range(len(self.names)), key=lambda i: (-first[i], self.names[i]))
        names = [self.names[i] for i in order]
        return ByJudge(self.judges, self.measures, names, self.queries, self.values[..., order], self.design)

    @cached_property
    def pairwise(self) -> list[Pairwise]:
        """The tests of all pairs of runs by each judge."""
        bounds = [measure.bounds for measure in self.measures.values()]
        return [
            Pairwise(values, means, self.names, list(self.measures), self.design, bounds)
            for values, means in zip(self.values, self.means, strict=True)
        ]

    @cached_property
    def signs(self) -> Ints:
        """Which run of each pair is better, [judges, measures, pairs]: 1 the first, -1 the second, 0 neither."""
        first, second = all_pairs(len(self.names))
        means = np.round(self.means, DIGITS)
        return np.sign(means[..., first] - means[..., second]).astype(np.int64)

    @cached_property
    def significant(self) -> Bools:
        """Which pairs differ significantly, [judges, measures, pairs]; none with a single query."""
        if len(self.queries) < 2:
            return np.zeros(self.signs.shape, np.bool_)
        return np.stack([pairwise.significant for pairwise in self.pairwise])

    @cached_property
    def order_depends(self) -> Bools:
        """The pairs whose first run is better by one judge and worse by another, [measures, pairs]."""
        return np.asarray((self.signs > 0).any(axis=0) & (self.signs < 0).any(axis=0))

    @cached_property
    def significance_depends(self) -> Bools:
        """The pairs whose significance depends on the judge but whose order does not, [measures, pairs]."""
        return np.asarray(~self.order_depends & self.significant.any(axis=0) & ~self.significant.all(axis=0))

    @cached_property
    def both_ways(self) -> Bools:
        """The pairs that differ significantly in both directions, by different judges, [measures, pairs]."""
        up, down = self.significant & (self.signs > 0), self.significant & (self.signs < 0)
        return np.asarray(up.any(axis=0) & down.any(axis=0))

    def rows(self) -> list[JudgedPair]:
        """Return one record per measure and pair of runs."""
        first, second = (index.tolist() for index in all_pairs(len(self.names)))
        pairs = []
        for m, (measure, one) in enumerate(self.measures.items()):
            spread, widest = self.differences[m], one.bounds[1] - one.bounds[0]
            low, high = (np.clip(end, -widest, widest) for end in spread.intervals(1 - self.design.alpha))
            every = self.means[:, m][:, first] - self.means[:, m][:, second]
            columns = [
                *(spread.difference, low, high, every.min(axis=0), every.max(axis=0)),
                *((self.signs[:, m] > 0).sum(axis=0), (self.signs[:, m] < 0).sum(axis=0)),
                *(self.significant[:, m].sum(axis=0), self.order_depends[m], self.significance_depends[m]),
                self.both_ways[m],
            ]
            for i, row in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
                numbers: Any = (None if value != value else value for value in row)  # noqa: PLR0124 - NaN
                pairs.append(JudgedPair(measure, self.names[first[i]], self.names[second[i]], *numbers))
        return pairs

    def tau(self, measure: int = 0, top: int | None = None) -> tuple[Floats, Floats]:
        """Return matrices of τ and τ_AP between the rankings of runs by each pair of judges.

        With `top`, only the runs with the highest means over all judges are ranked. For τ_AP, the column is the
        reference of the row.
        """
        best = np.argsort(-np.round(self.aware[measure].difference, DIGITS), kind="stable")[:top]
        return correlations(self.means[:, measure][:, best].T)

    def best(self) -> dict[str, int]:
        """Return the runs that are best by the first measure, alone or tied, by a judge, with the number of judges."""
        means = np.round(self.means[:, 0], DIGITS)
        counts = (means == means.max(axis=1, keepdims=True)).sum(axis=0).tolist()
        found = {name: count for name, count in zip(self.names, counts, strict=True) if count}
        return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))
