"""Scores: one value a query and measure, their means, and what there is to know about them."""

from collections.abc import Callable, Sequence
from functools import cached_property
from math import exp, ldexp
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gradely.errors import InputError
from gradely.frames import to_frame
from gradely.tables import plain_line

ROWS = 1 << 14
"""how many rows are summed in one go"""


class Note:
    """Something that happened and matters: missing queries, ties that matter, degenerate queries."""

    def __init__(self, kind: str, count: int, of: int, text: str) -> None:
        """Say what kind of thing it is, how often it happened, of how many, and all of it as a sentence."""
        self.kind, self.count, self.of, self.text = kind, count, of, text

    def __str__(self) -> str:
        """Return the note as a sentence that stays on its line, whatever the ids in it."""
        return plain_line(self.text)

    def __repr__(self) -> str:
        """Return the note as a sentence."""
        return f"Note({self.text!r})"

    def as_dict(self) -> dict[str, Any]:
        """Return the note as plain data."""
        return vars(self).copy()


class TieRange(NamedTuple):
    """How far the mean of a measure moves with the order of tied documents."""

    measure: str
    value: float
    low: float
    high: float
    queries: int
    """in how many queries the order of ties matters"""
    of: int

    def __str__(self) -> str:
        """Return the range as a sentence."""
        return (
            f"{self.measure} {self.value:.4f}, between {self.low:.4f} and {self.high:.4f}"
            f" by the order of ties in {self.queries} of {self.of} queries"
        )


class Scores:
    """The result of an evaluation. Rows are queries, columns measures."""

    def __init__(
        self,
        queries: Sequence[str],
        measures: Sequence[str],
        values: npt.NDArray[np.float64],
        *,
        ties: str,
        policy: str,
        name: str,
        ranges: Callable[[], list[TieRange]],
        notes: Callable[[], list[Note]],
    ) -> None:
        """Hold values [queries, measures] and how they came about; ranges and notes are made when asked for."""
        self.queries, self.measures, self.values = queries, measures, values
        self.ties, self.policy, self.name = ties, policy, name
        self._ranges, self._notes = ranges, notes

    def mean(self) -> dict[str, float]:
        """Return the mean of each measure over the queries; it does not depend on their order."""
        return dict(zip(self.measures, means(self.values), strict=True))

    def geometric_mean(self, least: float = 0.00001) -> dict[str, float]:
        """Return the geometric mean of each measure: a query that fails weighs more than in the mean.

        A query counts as `least` at the least, as in gm_map of trec_eval, so that one 0 does not hide all others.
        """
        if not least > 0:
            raise InputError(f"least is what a query counts at the least, a number above 0; found {least!r}")
        logs = means(np.log(np.maximum(self.values, least)))
        return {measure: exp(mean) for measure, mean in zip(self.measures, logs, strict=True)}

    def per_query(self) -> dict[str, dict[str, float]]:
        """Return {query: {measure: value}}."""
        rows = self.values.tolist()
        return {
            query: dict(zip(self.measures, row, strict=True)) for query, row in zip(self.queries, rows, strict=True)
        }

    def to_frame(self, library: str = "pandas") -> Any:
        """Return a dataframe of (query, measure, value), of pandas, polars or pyarrow."""
        columns = {
            "query": [query for query in self.queries for _ in self.measures],
            "measure": list(self.measures) * len(self.queries),
            "value": self.values.ravel().tolist(),
        }
        return to_frame(columns, library)

    @cached_property
    def tie_ranges(self) -> list[TieRange]:
        """How far each mean moves with the order of ties; measures that do not move are left out."""
        return self._ranges()

    @cached_property
    def notes(self) -> list[Note]:
        """Missing queries, ties that matter, degenerate queries, dropped documents, each with its count."""
        ties = [Note("ties", each.queries, each.of, str(each)) for each in self.tie_ranges]
        return self._notes() + ties

    def __repr__(self) -> str:
        """Show the means, and how many queries they are of."""
        width = max(map(len, self.measures))
        lines = [f"{measure:<{width}}  {value:.4f}" for measure, value in self.mean().items()]
        return "\n".join([f"{self.name}: mean over {len(self.queries):,} queries, ties {self.ties}", *lines])


def means(values: npt.NDArray[np.float64]) -> list[float]:
    """Return the mean of each column, the same to the last digit whatever the order of rows.

    Values are summed as integers, in two parts of 30 and 32 bits: neither loses anything, so their order cannot matter.
    """
    _, exponent = np.frexp(np.maximum(values.max(axis=0, initial=0), -values.min(axis=0, initial=0)))
    high = low = np.zeros(values.shape[1], np.int64)
    for i in range(0, len(values), ROWS):
        scaled = np.ldexp(values[i : i + ROWS], 30 - exponent)
        whole = np.floor(scaled)
        high = high + whole.astype(np.int64).sum(axis=0)
        low = low + np.rint((scaled - whole) * 2.0**32).astype(np.int64).sum(axis=0)
    sums = zip(high.tolist(), low.tolist(), exponent.tolist(), strict=True)
    return [ldexp(((h << 32) + low) / (1 << 32), power - 30) / len(values) for h, low, power in sums]
