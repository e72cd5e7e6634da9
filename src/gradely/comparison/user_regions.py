"""UserRegions: which run is best for which populations of users, as numbers, sentences, tables and charts."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from math import fsum
from typing import Any

import numpy as np

from gradely.comparison import populations
from gradely.comparison.populations import Parts, Stretch, find_best, split_users
from gradely.comparison.user_charts import chart
from gradely.data.types import Floats
from gradely.errors import DataError
from gradely.evaluation.notes import Note
from gradely.tables import Cell, Table, count_of

DRAWS = 1_000
"""of queries, for intervals"""
LEAST = 0.005
"""a run that is best for a smaller share of populations is not named in a sentence"""
LEVEL = 0.95
"""of intervals"""
MOST_MEANS = 1 << 27
"""means that are taken for intervals of shares, at most: about a second; beyond, only every n-th population counts"""


@dataclass(frozen=True, eq=False, repr=False)
class UserRegions:
    """Which run is best for which populations of users."""

    runs: list[str]
    levels: list[float]
    """the levels, ascending; a population has a share of users for each, who are content with that level or more"""
    queries: list[str]
    parts: Parts
    """with queries in an order of its own"""
    name: str
    """of the measure"""
    seed: int
    notes: list[Note]

    def means(self, g: Iterable[float]) -> dict[str, float]:
        """Return the mean of each run for a population, the shares of users by level, ascending."""
        shares = np.asarray(list(g), np.float64)
        if shares.shape != (len(self.levels),) or (shares < 0).any() or abs(shares.sum() - 1) > 1e-6:
            levels = ", ".join(f"{level:g}" for level in self.levels)
            raise DataError(f"a population has a share for each of the levels {levels}, which sum to 1; found {g!r}")
        return dict(zip(self.runs, self.parts.means(shares[None, :])[0].tolist(), strict=True))

    @cached_property
    def stretches(self) -> list[Stretch]:
        """Of two levels: from which to which share of users with the lower one a run is best; else nothing."""
        return populations.stretches(self.parts) if len(self.levels) == 2 else []

    @cached_property
    def _counts(self) -> Floats:
        """[draws, queries] how often each query is drawn."""
        queries = len(self.queries)
        counts = np.random.default_rng(self.seed).multinomial(queries, np.full(queries, 1 / queries), DRAWS)
        return counts.astype(np.float64)

    @cached_property
    def shares(self) -> list[float]:
        """The share of all populations for which each run is best; runs that are alike have the same."""
        first = np.asarray(self.leaders)
        if self.stretches:
            return [fsum(s.stop - s.start for s in self.stretches if first[s.run] == i) for i in self.leaders]
        winners = np.bincount(first[find_best(self.parts.means(self._grid))], minlength=len(self.runs))
        return [float(share) for share in winners[first] / len(self._grid)]

    @cached_property
    def _grid(self) -> Floats:
        return split_users(np.linspace(0, 1, 201)) if len(self.levels) == 2 else populations.grid(len(self.levels))

    @cached_property
    def leaders(self) -> list[int]:
        """For each run the first, by number, that has the same mean for every population: mostly itself."""
        return populations.find_leaders(self.parts.means(self._grid))

    @cached_property
    def intervals(self) -> list[tuple[float, float]]:
        """The interval over queries of each share, by bootstrap; of one query there is none."""
        if len(self.queries) == 1:
            return []
        points = self._grid[:: -(-len(self._grid) * DRAWS * len(self.runs) // MOST_MEANS)]
        shares = populations.draw_shares(self.parts, points, self._counts)
        table = self.parts.table
        for run, leader in enumerate(self.leaders):
            if np.array_equal(table[..., run], table[..., leader]):
                shares[:, run] = shares[:, leader]
        low, high = np.quantile(shares, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
        return list(zip(low.tolist(), high.tolist(), strict=True))

    @property
    def ends(self) -> list[tuple[float | None, float | None]]:
        """The ends of each interval; None where there are no intervals."""
        ends: list[tuple[float | None, float | None]] = [*self.intervals]
        return ends or [(None, None)] * len(self.runs)

    def sentences(self) -> list[str]:
        """Return what was found, as sentences."""
        if len(self.levels) != 2:
            return [self._name_leaders()]
        if len(self.stretches) == 1:
            names, verb = self._name_peers(self.stretches[0].run)
            return [f"{names} {verb} best for every population of users."]
        return [self._sentence(i) for i in range(len(self.stretches))]

    def _name_peers(self, run: int) -> tuple[str, str]:
        """Return the names of a run and of those that are alike, and the verb."""
        names = [name for i, name in enumerate(self.runs) if self.leaders[i] == self.leaders[run]]
        return " and ".join(names), "is" if len(names) == 1 else "are"

    def _name_leaders(self) -> str:
        leaders = [run for run in set(self.leaders) if self.shares[run] >= LEAST]
        leaders.sort(key=lambda run: (-self.shares[run], run))
        parts = [f"{self._name_peers(run)[0]} for {_percent(self.shares[run])}" for run in leaders]
        return f"Of all populations of users, the best run is {', '.join(parts)}."

    def _sentence(self, i: int) -> str:
        """Return for which users a run is best, of two levels, with the interval of where it changes places."""
        start, stop, run = self.stretches[i]
        low, high = _percent(start), _percent(stop)
        whom = (
            f"less than {high}"
            if i == 0
            else f"more than {low}"
            if i == len(self.stretches) - 1
            else f"between {low} and {high}"
        )
        names, verb = self._name_peers(run)
        text = f"{names} {verb} better for populations of users of whom {whom} are content with level"
        return f"{text} {self.levels[0]:g}{'' if i == 0 else self._crossing_interval(i)}."

    def _crossing_interval(self, i: int) -> str:
        """Return the interval over queries of the share at which two runs change places, where they do."""
        crossing = self.crossings[i - 1]
        if not len(crossing) or len(self.queries) == 1:
            return ""
        low, high = np.quantile(crossing, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]).tolist()
        absent = 1 - len(crossing) / DRAWS
        missing = f"; in {_percent(absent)} of the draws they do not change places" if absent > 0 else ""
        return f" ({_percent(LEVEL)} interval over queries: {_percent(low)} to {_percent(high)}{missing})"

    @cached_property
    def crossings(self) -> list[Floats]:
        """Of two levels, for each change of places, the shares at which those two runs change in queries drawn again.

        Draws in which they do not change places, or do so the other way round, are left out.
        """
        out = []
        points = split_users([0.0, 1.0]) if self.parts.measure == "eGAP" else split_users(np.linspace(0, 1, 201))
        drawn = self.parts.means(points, self._counts) if len(self.stretches) > 1 else np.empty((0, 0, 0))
        for before, after in zip(self.stretches, self.stretches[1:], strict=False):
            ahead = drawn[:, :, before.run] - drawn[:, :, after.run]
            out.append(find_zeros(ahead, points[:, 0]))
        return out

    def summary(self) -> str:
        """Return what the numbers are of."""
        draws = f"{_percent(LEVEL)} intervals from {DRAWS:,} draws of queries"
        intervals = draws if self.intervals else "no intervals, which take at least two queries"
        return (
            f"{self.name}, means over {count_of(len(self.queries), 'query')}; {intervals};"
            " a user is content with documents of their level or more"
        )

    def tables(self, digits: int) -> list[Table]:
        """Return one row per run, and for two levels one row per stretch of shares."""
        names = [f"only level {level:g}" for level in self.levels]
        header = ["run", *names, "all alike", "best for", *(["low", "high"] if self.intervals else [])]
        means = self.parts.means(populations.corners(len(self.levels))).T
        rows: list[list[Cell]] = [
            [run, *(round(float(x), digits) for x in (*mean, share, *ends) if x is not None)]
            for run, mean, share, ends in zip(self.runs, means, self.shares, self.ends, strict=True)
        ]
        tables = [Table(header, rows)]
        if self.stretches:
            level = f"{self.levels[0]:g}"
            parts: list[list[Cell]] = [
                [self._name_peers(stretch.run)[0], round(stretch.start, digits), round(stretch.stop, digits)]
                for stretch in self.stretches
            ]
            tables.append(Table(["best run", f"from a share of level {level}", "to"], parts))
        return tables

    def records(self) -> list[dict[str, Cell]]:
        """Return one record per run: means for users of one level alone and all alike, and its share of populations."""
        means = self.parts.means(populations.corners(len(self.levels))).T.tolist()
        names = [*(f"level_{level:g}" for level in self.levels), "all_alike"]
        return [
            {"run": run}
            | dict(zip(names, mean, strict=True))
            | {"best_for": share, "best_for_low": low, "best_for_high": high}
            for run, mean, share, (low, high) in zip(self.runs, means, self.shares, self.ends, strict=True)
        ]

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "about": self.summary(),
            "measure": self.name,
            "levels": self.levels,
            "values": self.records(),
            "stretches": [{"run": self.runs[s.run], "from": s.start, "to": s.stop} for s in self.stretches],
            "sentences": self.sentences(),
            "notes": [note.as_dict() for note in self.notes],
        }

    def to_frame(self, library: str = "pandas") -> Any:
        """Return a dataframe with one row per run, of pandas, polars or pyarrow."""
        return Table.of(self.records()).to_frame(library)

    def chart(self) -> Any:
        """Return an altair chart: for two levels lines, for three a triangle, for more bars of shares."""
        return chart(self)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def find_zeros(ahead: Floats, at: Floats) -> Floats:
    """Return where each row first falls from above 0 to 0 or below, on the line between two points; none: left out."""
    falls = (ahead[:, :-1] > 0) & (ahead[:, 1:] <= 0)
    rows = np.flatnonzero(falls.any(axis=1))
    first = falls[rows].argmax(axis=1)
    left, right = ahead[rows, first], ahead[rows, first + 1]
    return np.asarray(at[first] + (at[first + 1] - at[first]) * left / (left - right))
