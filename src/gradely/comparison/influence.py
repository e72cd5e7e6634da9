"""Influence: how much the verdict on a pair of runs depends on single queries."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from gradely.comparison.pairwise import Pairwise, to_optional
from gradely.comparison.student import t_tail
from gradely.comparison.tests import count_wins, differences, effect_sizes
from gradely.data.ids import Bools, Floats, Ints
from gradely.errors import DataError
from gradely.evaluation.notes import Note
from gradely.evaluation.result import Result
from gradely.evaluation.scores import means, normalize_weights, segment_rows
from gradely.tables import Cell, MarkedNumber, PValue, Table

FEWEST = 3
"""one query is left out, and a test takes two"""
SHOWN = 5
"""queries that are named in a row of the table"""
MOST = 2_000
"""with more queries than this, only t is tested again without each of them: it has a closed form"""
ROUNDING = 1e-12
"""of a sum of squares, what is left when all the rest is the same"""


class Without(NamedTuple):
    """A pair of runs by one measure, tested again without one query."""

    measure: str
    first: str
    second: str
    query: str
    difference: float
    """on that query, the first minus the second"""
    adjusted: float
    """the corrected p-value without it"""
    significant: bool
    changes: bool
    """whether the verdict differs without it"""


@dataclass(eq=False, repr=False)
class Influence(Result):
    """All pairs of runs, tested again without each query in turn."""

    pairwise: Pairwise
    queries: Sequence[str]
    notes: ClassVar[Sequence[Note]] = ()

    @cached_property
    def adjusted(self) -> Floats:
        """[queries, measures, pairs] the corrected p-values without each query; none where there are too few."""
        pairwise, queries = self.pairwise, len(self.queries)
        shape = (len(pairwise.measures), len(pairwise.pairs))
        if queries < FEWEST or not len(pairwise.pairs):
            return np.zeros((0, *shape))
        if pairwise.leaves_out_at_once:
            raw = np.stack([leave_one_out(pairwise.by_query(m)) for m in range(shape[0])], axis=1)
            return np.stack([pairwise.correct(p) for p in raw])
        if queries > MOST:
            raise DataError(
                f"{queries:,} queries are too many to test again without each: use the test t, or up to {MOST:,}"
            )
        return np.stack([pairwise.leave_out(i).adjusted for i in range(queries)])

    @cached_property
    def changes(self) -> Bools:
        """[queries, measures, pairs] whether the verdict differs without a query."""
        return np.asarray((self.adjusted < self.pairwise.design.alpha) != self.pairwise.significant)

    def rows(self) -> Iterator[Without]:
        """Yield every pair on every measure without each query."""
        pairwise, (first, second) = self.pairwise, self.pairwise.pairs
        for m, measure in enumerate(pairwise.measures):
            differ = differences(pairwise.values[m], pairwise.pairs)
            for i, query in enumerate(self.queries if len(self.adjusted) else []):
                columns = (
                    differ[i],
                    self.adjusted[i, m],
                    self.adjusted[i, m] < pairwise.design.alpha,
                    self.changes[i, m],
                )
                for pair, row in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
                    yield Without(measure, pairwise.names[first[pair]], pairwise.names[second[pair]], query, *row)

    def table(self) -> Table:
        """Return one row per measure and pair: its p-value, the range without one query, and what turns the verdict."""
        pairwise, rows = self.pairwise, []
        for m, measure in enumerate(pairwise.measures if len(self.adjusted) else []):
            for i, (a, b) in enumerate(zip(*pairwise.pairs, strict=True)):
                p, turning = self.adjusted[:, m, i], np.flatnonzero(self.changes[:, m, i]).tolist()
                names = " ".join(self.queries[q] for q in turning[:SHOWN]) + (" …" if len(turning) > SHOWN else "")
                numbers = (float(pairwise.adjusted[m, i]), float(p.min()), float(p.max()))
                ends = [PValue(number, pairwise.design.alpha) for number in numbers]
                rows.append([measure, pairwise.names[a], pairwise.names[b], *ends, len(turning), names])
        return Table(["measure", "first", "second", "adjusted", "least", "greatest", "changes", "queries"], rows)

    def data_table(self) -> Table:
        """Return one row per measure, pair and query."""
        return Table(Without._fields, [list(row) for row in self.rows()])

    def remarks(self) -> list[str]:
        """Return what the numbers are of."""
        return [self.caption()]

    def caption(self) -> str:
        """Return what the numbers are of."""
        if len(self.queries) < FEWEST:
            return f"no query can be left out: that takes at least {FEWEST} queries"
        kind = "corrected p-values" if self.pairwise.is_corrected else "p-values"
        return (
            f"{kind} without each query in turn: the least and the greatest, how many queries change the "
            "verdict if left out, and which"
        )


def leave_one_out(differ: Floats) -> Floats:
    """Return the p-values of t [queries, pairs] without each query in turn, from the sums over all of them.

    Without query i the mean is m - c/(n-1), c its distance from the mean m, and the sum of squares around it is less by
    c² n/(n-1). Where all that is left is the same there is no t: p is that of the exact randomization test, as always.
    """
    queries, mean = len(differ), differ.mean(axis=0)
    centred, rest = differ - mean, queries - 1
    squares = (centred**2).sum(axis=0) - centred**2 * queries / rest
    means = mean - centred / rest
    spread = squares > ROUNDING * np.maximum((centred**2).sum(axis=0), ROUNDING)
    error = np.sqrt(np.where(spread, squares, 1.0) / (rest - 1) / rest)
    p = 2 * t_tail(np.abs(means) / error, rest - 1)
    return np.where(spread, p, np.where(np.round(means, 12) == 0, 1.0, 2.0 ** (1 - rest)))


class SegmentPair(NamedTuple):
    """Two runs on one measure in one segment; the difference is the first minus the second."""

    segment: str
    n: int
    """how many queries the segment has"""
    measure: str
    first: str
    second: str
    difference: float
    low: float | None
    """the t interval of the difference, by itself; None where there is one query, or no spread"""
    high: float | None
    effect: float | None
    wins: int
    ties: int
    losses: int


class SegmentComparison(Result):
    """The runs of a comparison in each segment, in the order in which segments first appear."""

    notes: Sequence[Note] = ()

    def __init__(self, pairwise: Pairwise, queries: Sequence[str], segment_of: Mapping[str, str]) -> None:
        """Take the values of all queries, and the segment of each."""
        self._pairwise, self._rows = pairwise, segment_rows(queries, segment_of)
        self.sizes = {segment: len(rows) for segment, rows in self._rows.items()}

    @cached_property
    def means(self) -> dict[str, Floats]:
        """The means by segment, [measures, runs], the same to the last digit whatever the order of queries."""
        values = self._pairwise.values
        return {
            segment: np.asarray([means(table[rows], self._weights(rows)) for table in values])
            for segment, rows in self._rows.items()
        }

    def _weights(self, rows: Ints) -> Floats | None:
        """Return the weights of the queries of a segment, of which the mean is 1."""
        weights = self._pairwise.weights
        return None if weights is None else normalize_weights(weights[rows])

    def mean(self) -> dict[str, dict[str, dict[str, float]]]:
        """Return {segment: {run: {measure: mean}}}, the best run of all queries first."""
        names, measures = self._pairwise.names, self._pairwise.measures
        return {
            segment: {
                name: dict(zip(measures, column, strict=True))
                for name, column in zip(names, table.T.tolist(), strict=True)
            }
            for segment, table in self.means.items()
        }

    def table(self) -> Table:
        """Return one row per segment and run: how many queries there are, and the means, the best of each bold."""
        rows: list[list[Cell]] = []
        for segment, table in self.means.items():
            best = table.max(axis=1).tolist()
            for name, column in zip(self._pairwise.names, table.T.tolist(), strict=True):
                cells = [MarkedNumber(mean, mean == top) for mean, top in zip(column, best, strict=True)]
                rows.append([segment, self.sizes[segment], name, *cells])
        return Table(["segment", "n", self._pairwise.subject, *self._pairwise.measures], rows)

    def records(self) -> list[dict[str, Cell]]:
        """Return one record per segment, measure and run: the mean."""
        kind = self._pairwise.subject
        return [
            {"segment": segment, "n": self.sizes[segment], kind: run, "measure": measure, "mean": mean[measure]}
            for segment, runs in self.mean().items()
            for measure in self._pairwise.measures
            for run, mean in runs.items()
        ]

    def entry(self) -> dict[str, Any]:
        """Return means and pairs by segment, and what they are, as plain data."""
        pairs: dict[str, list[dict[str, Any]]] = {name: [] for name in self.sizes}
        for pair in self.pairs:
            pairs[pair.segment].append(dict(zip(pair._fields[2:], pair[2:], strict=True)))  # which segment, is said
        mean = self.mean()
        data = {name: {"n": size, "mean": mean[name], "pairs": pairs[name]} for name, size in self.sizes.items()}
        return {"segments": data, "segments_caption": self.caption()}

    def as_dict(self) -> dict[str, Any]:
        """Return means and pairs by segment as plain data."""
        return self.entry()

    def remarks(self) -> list[str]:
        """Return what the numbers by segment are, and what they are not."""
        return [self.caption()]

    @cached_property
    def pairs(self) -> list[SegmentPair]:
        """Every pair on every measure in each segment: difference, interval, effect size, wins; nothing is tested."""
        return [pair for segment, rows in self._rows.items() for pair in self._pairs(segment, rows)]

    def _pairs(self, segment: str, rows: Ints) -> list[SegmentPair]:
        pairwise, size = self._pairwise, len(rows)
        first, second = pairwise.pairs
        names = [(pairwise.names[i], pairwise.names[j]) for i, j in zip(first.tolist(), second.tolist(), strict=True)]
        out: list[SegmentPair] = []
        for m, measure in enumerate(pairwise.measures if names else []):
            weights, mean = self._weights(rows), self.means[segment][m]
            differ = differences(pairwise.values[m][rows], pairwise.pairs)
            differ = differ if weights is None else differ * weights[:, None]
            low, high = map(to_optional, pairwise.intervals_on(m, rows))
            effect = effect_sizes(differ).tolist() if size > 1 else [None] * len(names)
            counts = [count.tolist() for count in count_wins(differ)]
            columns = ((mean[first] - mean[second]).tolist(), low, high, effect, *counts)
            rows_of_pairs = zip(names, zip(*columns, strict=True), strict=True)
            out += [SegmentPair(segment, size, measure, *pair, *row) for pair, row in rows_of_pairs]
        return out

    def pairs_table(self) -> Table:
        """Return one row per segment, measure and pair."""
        return Table(SegmentPair._fields, [list(pair) for pair in self.pairs])

    def pairs_frame(self, library: str = "pandas") -> Any:
        """Return a dataframe of pairs, of pandas, polars or pyarrow."""
        return self.pairs_table().to_frame(library)

    def caption(self) -> str:
        """Return what the numbers by segment are, and what they are not."""
        level = f"{100 * (1 - self._pairwise.design.alpha):g} %"
        return (
            f"By segment nothing is tested, and intervals of differences are {level} t intervals, each by itself: "
            "corrected neither over pairs and measures nor over segments, of which some will look better by chance"
        )
