"""Every pair of systems on every measure: difference, interval, test, effect size, wins."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from gradely.comparison import resampling
from gradely.comparison.leaderboard import Leaderboard
from gradely.comparison.significance import (
    CORRECTIONS,
    TESTS,
    Pairs,
    achieved_levels,
    adjusted,
    against,
    all_pairs,
    checked,
    differences,
    effect_sizes,
    p_values,
)
from gradely.data.types import Floats, Ints
from gradely.errors import DataError, check_choice

DRAWN = ("randomization", "bootstrap", "tukey")
"""tests whose p-values come from draws"""


class Design(NamedTuple):
    """How systems are compared."""

    test: str = "t"
    correction: str | None = None
    """None: Holm, and nothing for tukey, which holds for all pairs by itself"""
    alpha: float = 0.05
    seed: int = 0
    resamples: int = resampling.RESAMPLES
    baselines: tuple[str, ...] = ()

    def settled(self) -> "Design":
        """Return the design with its correction settled; refuse what makes no sense."""
        check_choice("test", self.test, TESTS)
        correction = self.correction or ("none" if self.test == "tukey" else "holm")
        check_choice("correction", correction, CORRECTIONS)
        if self.test == "tukey" and correction != "none":
            raise DataError("tukey holds for all pairs of systems at once: use it with correction 'none'")
        if not 0 < self.alpha < 1:
            raise DataError(f"alpha is a number between 0 and 1, like 0.05; found {self.alpha!r}")
        if self.resamples < 1:
            raise DataError(f"the number of resamples is at least 1; found {self.resamples!r}")
        return self._replace(correction=correction)


class Pair(NamedTuple):
    """Two systems on one measure; the difference is the first minus the second."""

    measure: str
    first: str
    second: str
    difference: float
    low: float
    high: float
    effect: float
    wins: int
    ties: int
    losses: int
    p: float
    adjusted: float
    significant: bool


@dataclass(eq=False, repr=False)
class Pairwise:
    """The pairs of systems, tested; arrays are [measures, pairs]."""

    board: Leaderboard
    design: Design

    @cached_property
    def pairs(self) -> Pairs:
        """All pairs, or every system against each baseline; none where there are too few topics for any test."""
        size = len(self.board.names) if len(self.board.queries) > 1 else 0
        baselines = [self.board.names.index(name) for name in self.design.baselines]
        return against(baselines, size) if baselines and size else all_pairs(size)

    @cached_property
    def p(self) -> Floats:
        """The p-values, not corrected."""
        _, _, _, seed, resamples, _ = self.design
        if not len(self.pairs):
            return np.zeros((len(self.board.measures), 0))
        tested = [
            p_values(checked(values), self.design.test, self.pairs, resamples=resamples, seed=seed)
            for values in self.board.values
        ]
        return np.stack(tested)

    @cached_property
    def adjusted(self) -> Floats:
        """The p-values, corrected over all of them: every measure and pair."""
        return adjusted(self.p.ravel(), str(self.design.correction)).reshape(self.p.shape)

    @cached_property
    def significant(self) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        """Where the corrected p-value is below alpha."""
        return self.adjusted < self.design.alpha

    @cached_property
    def differences(self) -> Floats:
        """The differences of means."""
        return self.board.means[:, self.pairs.first] - self.board.means[:, self.pairs.second]

    def intervals(self, measure: int) -> tuple[Floats, Floats]:
        """Return the bootstrap intervals of the differences by one measure, [pairs]."""
        differ = differences(self.board.values[measure], self.pairs)
        return resampling.intervals(differ, 1 - self.design.alpha, self.design.seed)

    def mean_intervals(self, measure: int) -> tuple[Floats, Floats]:
        """Return the bootstrap intervals of the means by one measure, [systems]."""
        values = self.board.values[measure]
        return resampling.intervals(values, 1 - self.design.alpha, self.design.seed)

    def rows(self) -> Iterator[Pair]:
        """Yield all there is to know of each pair, measure by measure."""
        names, (first, second) = self.board.names, self.pairs
        for m, measure in enumerate(self.board.measures):
            differ = differences(self.board.values[m], self.pairs)
            wins, losses = np.count_nonzero(differ > 0, axis=0), np.count_nonzero(differ < 0, axis=0)
            known = (self.differences[m], *self.intervals(m), effect_sizes(differ))
            counts = (wins, len(differ) - wins - losses, losses)
            columns = (*known, *counts, self.p[m], self.adjusted[m], self.significant[m])
            for i, row in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
                yield Pair(measure, names[first[i]], names[second[i]], *row)

    def better_than(self, measure: int) -> list[Ints]:
        """Return, for each system, those of its pairs that it is significantly better than."""
        sure, apart = self.significant[measure], self.differences[measure]
        up, down = sure & (apart > 0), sure & (apart < 0)
        winner = np.concatenate([self.pairs.first[up], self.pairs.second[down]])
        loser = np.concatenate([self.pairs.second[up], self.pairs.first[down]])
        return [np.sort(loser[winner == i]) for i in range(len(self.board.names))]

    def power(self) -> dict[str, float]:
        """Return the discriminative power of each measure: the share of pairs it separates, without correction."""
        shares = (np.count_nonzero(self.p < self.design.alpha, axis=1) / max(1, len(self.pairs))).tolist()
        return dict(zip(self.board.measures, shares, strict=True))

    def levels(self) -> dict[str, Floats]:
        """Return the achieved-significance-level curve of each measure: its p-values, largest first."""
        return {measure: achieved_levels(p) for measure, p in zip(self.board.measures, self.p, strict=True)}
