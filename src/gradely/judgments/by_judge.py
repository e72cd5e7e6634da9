"""The values of runs by each judge: their mean over judges, the order of runs, and what depends on the judge."""

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
"""how many of the best runs are also ranked by themselves: it is among these that machine judges fail"""


def two_way(table: Floats) -> Estimates:
    """Return the mean of [queries, judges, columns] and its error over queries and judges, as if both were drawn.

    Var = (σ²_q + σ²_qj/J)/Q + σ²_j/J, the three from the mean squares of queries, judges and the rest; one that comes
    out negative is 0. Degrees of freedom are those of Satterthwaite (1946) over the mean squares.
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
    squares = np.where(squares > 10.0 ** (-2 * DIGITS), squares, 0.0)  # what is left is rounding
    counted = (squares[:2] > squares[2]).astype(np.float64)
    weights = np.stack([*counted, 1 - counted.sum(axis=0)])
    total = (weights * squares).sum(axis=0)
    freedoms = np.array([[queries - 1], [judges - 1], [(queries - 1) * (judges - 1)]])
    each = ((weights * squares) ** 2 / freedoms).sum(axis=0)
    freedom = np.where(each > 0, total**2 / np.where(each > 0, each, 1.0), 1.0)
    error = np.where(total > 0, np.sqrt(total / (queries * judges)), np.nan)
    return Estimates(mean, error, np.maximum(freedom, 1.0), np.full(columns, queries))


class JudgedPair(NamedTuple):
    """Two runs by one measure; differences are the first minus the second."""

    measure: str
    first: str
    second: str
    difference: float
    """the mean over judges, and its interval over queries and judges; None where there is none"""
    low: float | None
    high: float | None
    least: float
    """the lowest and the highest difference of any judge"""
    most: float
    first_better: int
    """by how many judges the first run has the higher mean"""
    second_better: int
    significant: int
    """by how many judges the two differ significantly"""
    order: bool
    """whether the judges do not agree which is better"""
    significance: bool
    """whether they agree on that, but the two differ significantly by some judges and not by others"""
    both_ways: bool
    """whether one judge finds the first significantly better, and another the second"""


@dataclass(eq=False)
class ByJudge:
    """The values of runs by each judge, on the queries that all of them judged."""

    judges: list[str]
    measures: dict[str, Measure]
    names: list[str]
    """of the runs"""
    queries: list[str]
    values: Floats
    """[judges, measures, queries, runs]"""
    design: Design

    @cached_property
    def means(self) -> Floats:
        """[judges, measures, runs] the mean of each run by each judge."""
        return np.asarray(self.values.mean(axis=2))

    @cached_property
    def aware(self) -> list[Estimates]:
        """By measure, the mean of each run over the judges (AWARE: Ferrante, Ferro, Maistro 2017), all alike."""
        return [two_way(self.values[:, m].transpose(1, 0, 2)) for m in range(len(self.measures))]

    @cached_property
    def differences(self) -> list[Estimates]:
        """By measure, the difference of each pair of runs over the judges."""
        first, second = all_pairs(len(self.names))
        apart = np.round(self.values[..., first] - self.values[..., second], DIGITS)
        return [two_way(apart[:, m].transpose(1, 0, 2)) for m in range(len(self.measures))]

    def sort(self) -> "ByJudge":
        """Return the runs best first by the first measure, over all judges; equal ones by name."""
        first = np.round(self.aware[0].difference, DIGITS).tolist()
        order = sorted(range(len(self.names)), key=lambda i: (-first[i], self.names[i]))
        names = [self.names[i] for i in order]
        return ByJudge(self.judges, self.measures, names, self.queries, self.values[..., order], self.design)

    @cached_property
    def pairwise(self) -> list[Pairwise]:
        """The pairs of runs by each judge, tested."""
        bounds = [measure.bounds for measure in self.measures.values()]
        return [
            Pairwise(values, means, self.names, list(self.measures), self.design, bounds)
            for values, means in zip(self.values, self.means, strict=True)
        ]

    @cached_property
    def signs(self) -> Ints:
        """[judges, measures, pairs] which run of each pair is better: 1, -1, or 0 where they tie."""
        first, second = all_pairs(len(self.names))
        means = np.round(self.means, DIGITS)
        return np.sign(means[..., first] - means[..., second]).astype(np.int64)

    @cached_property
    def significant(self) -> Bools:
        """[judges, measures, pairs] which pairs differ significantly; none where there is one query."""
        if len(self.queries) < 2:
            return np.zeros(self.signs.shape, np.bool_)
        return np.stack([pairwise.significant for pairwise in self.pairwise])

    @cached_property
    def order_depends(self) -> Bools:
        """[measures, pairs] where one judge has the first run ahead and another the second."""
        return np.asarray((self.signs > 0).any(axis=0) & (self.signs < 0).any(axis=0))

    @cached_property
    def significance_depends(self) -> Bools:
        """[measures, pairs] where the order does not depend on the judge, and significance does."""
        return np.asarray(~self.order_depends & self.significant.any(axis=0) & ~self.significant.all(axis=0))

    @cached_property
    def both_ways(self) -> Bools:
        """[measures, pairs] where the pair is significant both ways round."""
        up, down = self.significant & (self.signs > 0), self.significant & (self.signs < 0)
        return np.asarray(up.any(axis=0) & down.any(axis=0))

    def rows(self) -> list[JudgedPair]:
        """Return what is known of each pair by each measure."""
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
        """Return τ and τ_AP between the orders of the runs by each two judges, as matrices; of the best runs, with top.

        The best are those with the highest mean over all judges. τ_AP is of the row against the column.
        """
        best = np.argsort(-np.round(self.aware[measure].difference, DIGITS), kind="stable")[:top]
        return correlations(self.means[:, measure][:, best].T)

    def best(self, measure: int = 0) -> dict[str, int]:
        """Return by how many judges each run is the best, alone or tied, most judges first."""
        means = np.round(self.means[:, measure], DIGITS)
        counts = (means == means.max(axis=1, keepdims=True)).sum(axis=0).tolist()
        found = {name: count for name, count in zip(self.names, counts, strict=True) if count}
        return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))
