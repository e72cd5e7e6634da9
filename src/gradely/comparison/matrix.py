"""Pairs of runs as a matrix, runs × runs: what a page shows at one glance."""

from typing import Any, NamedTuple

import numpy as np

from gradely.comparison.pairwise import Pairwise
from gradely.data.types import Bools, Floats
from gradely.frames import to_frame
from gradely.tables import Table


class Matrix(NamedTuple):
    """Every run against every other by one measure, row minus column; NaN and False where a pair was not tested."""

    measure: str
    names: list[str]
    difference: Floats
    low: Floats
    high: Floats
    adjusted: Floats
    significant: Bools
    """whether row and column differ, whichever of them is better"""
    same: Bools
    """whether both have the same value on every query"""
    tost: Floats
    equivalent: Bools

    @classmethod
    def of(cls, pairwise: Pairwise, measure: int) -> "Matrix":
        """Lay out the pairs of one measure."""
        low, high = pairwise.intervals[measure] if len(pairwise.pairs) else (np.zeros(0), np.zeros(0))
        differ = pairwise.by_query(measure)
        symmetric = {
            "adjusted": pairwise.adjusted[measure],
            "significant": pairwise.significant[measure],
            "same": ~np.any(differ != 0, axis=0),
            "tost": pairwise.tost_adjusted[measure],
            "equivalent": pairwise.equivalent[measure],
        }
        apart = pairwise.differences[measure]
        return cls(
            pairwise.measures[measure],
            list(pairwise.names),
            _lay_out(pairwise, apart, -apart),
            _lay_out(pairwise, low, -high),
            _lay_out(pairwise, high, -low),
            **{key: _lay_out(pairwise, values, values) for key, values in symmetric.items()},
        )

    def table(self) -> Table:
        """Return the differences, one row per run; a star marks those that are significant."""
        rows = [
            [
                name,
                *(None if np.isnan(x) else f"{x:+.4f}{'*' if sure else ''}" for x, sure in zip(*columns, strict=True)),
            ]
            for name, *columns in zip(self.names, self.difference.tolist(), self.significant.tolist(), strict=True)
        ]
        return Table([self.measure, *self.names], rows)

    def to_frame(self, library: str = "pandas") -> Any:
        """Return a dataframe with one row per tested pair, both ways, of pandas, polars or pyarrow."""
        rows, columns = np.nonzero(~np.isnan(self.difference))
        ends = {"run": rows, "other": columns}
        numbers = {"difference": self.difference, "adjusted": self.adjusted, "significant": self.significant}
        return to_frame(
            {key: [self.names[i] for i in index.tolist()] for key, index in ends.items()}
            | {key: values[rows, columns].tolist() for key, values in numbers.items()},
            library,
        )


def _lay_out(pairwise: Pairwise, values: Any, mirror: Any) -> Any:
    """Return a matrix of what holds for each pair, and for each pair the other way round."""
    size, (first, second) = len(pairwise.names), pairwise.pairs
    flags = values.dtype == np.bool_
    out = np.zeros((size, size), np.bool_) if flags else np.full((size, size), np.nan)
    out[first, second], out[second, first] = values, mirror
    return out
