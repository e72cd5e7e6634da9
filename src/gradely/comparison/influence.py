"""The influence of single queries on the verdict about a pair of runs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from gradely.comparison.pairwise import Pairwise
from gradely.comparison.student import t_tail
from gradely.comparison.tests import FEWEST_DRAWN, TESTS, differences, replace_test
from gradely.data.ids import Bools, Floats
from gradely.errors import DataError
from gradely.evaluation.notes import Note
from gradely.evaluation.result import Result
from gradely.tables import Cell, PValue, Table

FEWEST = 3
"""leaving out one query must leave two for a test"""
SHOWN = 5
"""number of queries named in a row of the table"""
MOST = 2_000
"""maximum number of queries for tests other than t, which has a closed form without each query"""
ROUNDING = 1e-12
"""relative tolerance below which a remaining sum of squares is 0"""


class Without(NamedTuple):
    """A pair of runs by one measure, tested without one query."""

    measure: str
    first: str
    second: str
    query: str
    difference: float
    """the first run minus the second, on this query"""
    adjusted: float
    """the corrected p-value without this query"""
    significant: bool
    changes: bool
    """whether the verdict changes without this query"""


@dataclass(eq=False, repr=False)
class Influence(Result):
    """All pairs of runs, tested without each query in turn."""

    pairwise: Pairwise
    queries: Sequence[str]
    notes: Sequence[Note] = ()
    """the notes of the comparison"""

    @cached_property
    def adjusted(self) -> Floats:
        """[queries, measures, pairs] corrected p-values without each query; empty if there are too few queries."""
        pairwise, queries = self.pairwise, len(self.queries)
        shape = (len(pairwise.measures), pairwise.count)
        if queries < FEWEST or not pairwise.count:
            return np.zeros((0, *shape))
        if pairwise.leaves_out_at_once:
            raw = np.stack([leave_one_out(pairwise.by_query(m)) for m in range(shape[0])], axis=1)
            return np.stack([pairwise.correct(p) for p in raw])
        if queries > MOST:
            raise DataError(
                f"{queries:,} queries are too many to repeat the test without each of them: use the test t, or "
                f"at most {MOST:,} queries"
            )
        return np.stack([pairwise.leave_out(i).adjusted for i in range(queries)])

    @cached_property
    def changes(self) -> Bools:
        """[queries, measures, pairs] whether the verdict changes without a query."""
        return np.asarray((self.adjusted < self.pairwise.design.alpha) != self.pairwise.significant)

    def rows(self) -> Iterator[Without]:
        """Yield the result of each measure, query and pair without that query."""
        pairwise = self.pairwise
        for m, measure in enumerate(pairwise.measures):
            differ = differences(pairwise.values[m], pairwise.pairs)
            for i, query in enumerate(self.queries if len(self.adjusted) else []):
                p = self.adjusted[i, m]
                columns = (column.tolist() for column in (differ[i], p, p < pairwise.design.alpha, self.changes[i, m]))
                for pair, row in zip(pairwise.named_pairs, zip(*columns, strict=True), strict=True):
                    yield Without(measure, *pair, query, *row)

    def table(self) -> Table:
        """Return one row per measure and pair: p, its range without one query, and queries that change the verdict."""
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
        """Return the meaning of the columns."""
        if len(self.queries) < FEWEST:
            return f"no query can be left out: that needs at least {FEWEST} queries"
        kind = "corrected p-values" if self.pairwise.is_corrected else "p-values"
        test = replace_test(self.pairwise.test, len(self.queries) - 1)
        by = "" if test == self.pairwise.test else f", by the {TESTS[test]}, since the bootstrap needs {FEWEST_DRAWN}"
        return (
            f"{kind} without each query in turn{by}: the smallest and the largest, how many queries change the "
            "verdict if left out, and which"
        )


def leave_one_out(differ: Floats) -> Floats:
    """Return the p-values [queries, pairs] of t without each query in turn, computed from sums over all queries.

    Without query i, the mean is m - c/(n-1), where c is the distance of i from the mean m, and the sum of squares is
    smaller by c² n/(n-1). If the remaining differences are equal, p is that of the exact randomization test.
    """
    queries, mean = len(differ), differ.mean(axis=0)
    centred, rest = differ - mean, queries - 1
    squares = (centred**2).sum(axis=0) - centred**2 * queries / rest
    means = mean - centred / rest
    spread = squares > ROUNDING * np.maximum((centred**2).sum(axis=0), ROUNDING)
    error = np.sqrt(np.where(spread, squares, 1.0) / (rest - 1) / rest)
    p = 2 * t_tail(np.abs(means) / error, rest - 1)
    return np.where(spread, p, np.where(np.round(means, 12) == 0, 1.0, 2.0 ** (1 - rest)))
