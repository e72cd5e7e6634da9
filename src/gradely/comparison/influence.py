"""Influence: how much the verdict on a pair of runs depends on single queries."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from gradely.comparison.pairwise import Pairwise
from gradely.comparison.student import t_tail
from gradely.comparison.tests import differences
from gradely.data.ids import Bools, Floats
from gradely.errors import DataError
from gradely.evaluation.notes import Note
from gradely.evaluation.result import Result
from gradely.tables import Cell, PValue, Table

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
        shape = (len(pairwise.measures), pairwise.count)
        if queries < FEWEST or not pairwise.count:
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
        pairwise = self.pairwise
        for m, measure in enumerate(pairwise.measures):
            differ = differences(pairwise.values[m], pairwise.pairs)
            for i, query in enumerate(self.queries if len(self.adjusted) else []):
                p = self.adjusted[i, m]
                columns = (column.tolist() for column in (differ[i], p, p < pairwise.design.alpha, self.changes[i, m]))
                for pair, row in zip(pairwise.named_pairs, zip(*columns, strict=True), strict=True):
                    yield Without(measure, *pair, query, *row)

    def table(self) -> Table:
        """Return one row per measure and pair: its p-value, the range without one query, and what turns the verdict."""
        pairwise, rows = self.pairwise, list[list[Cell]]()
        for m, measure in enumerate(pairwise.measures if len(self.adjusted) else []):
            for i, pair in enumerate(pairwise.named_pairs):
                p, turning = self.adjusted[:, m, i], np.flatnonzero(self.changes[:, m, i]).tolist()
                names = " ".join(self.queries[q] for q in turning[:SHOWN]) + (" …" if len(turning) > SHOWN else "")
                numbers = (float(pairwise.adjusted[m, i]), float(p.min()), float(p.max()))
                ends = [PValue(number, pairwise.design.alpha) for number in numbers]
                rows.append([measure, *pair, *ends, len(turning), names])
        return Table(["measure", "first", "second", "adjusted", "least", "greatest", "changes", "queries"], rows)

    def data_table(self) -> Table:
        """Return one row per measure, pair and query."""
        return Table(Without._fields, [list(row) for row in self.rows()])

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
