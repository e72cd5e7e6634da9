"""Segments: the means of groups of queries, as of new and old users or of short and long questions."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gradely.tables import Cell, Table

REST, EVERY = "(none)", "(all)"
"""the segment of queries that have none, and what tables call all queries together"""


def segment_rows(queries: Sequence[str], segment_of: Mapping[str, str]) -> dict[str, npt.NDArray[np.int64]]:
    """Return which of the queries belong to each segment, in the order in which segments first appear."""
    rows: dict[str, list[int]] = {}
    for i, query in enumerate(queries):
        rows.setdefault(segment_of.get(query, REST), []).append(i)
    return {segment: np.array(members) for segment, members in rows.items()}


class Segments(Mapping[str, dict[str, float]]):
    """{segment: {measure: mean}}, in the order in which segments first appear, and how many queries each has."""

    def __init__(
        self,
        queries: Sequence[str],
        measures: Sequence[str],
        values: npt.NDArray[np.float64],
        segment_of: Mapping[str, str],
    ) -> None:
        """Take values [queries, measures], and the segment of each query."""
        from gradely.evaluation.scores import means

        members = segment_rows(queries, segment_of)
        self.measures, self.sizes = list(measures), {segment: len(rows) for segment, rows in members.items()}
        self._means = {segment: means(values[rows]) for segment, rows in members.items()}

    def __getitem__(self, segment: str) -> dict[str, float]:
        """Return the means of a segment."""
        return dict(zip(self.measures, self._means[segment], strict=True))

    def __iter__(self) -> Iterator[str]:
        """Iterate over the segments."""
        return iter(self._means)

    def __len__(self) -> int:
        """Return the number of segments."""
        return len(self._means)

    def table(self) -> Table:
        """Return one row per segment: how many queries it has, and their means."""
        rows: list[list[Cell]] = [[segment, self.sizes[segment], *self._means[segment]] for segment in self]
        return Table(["segment", "n", *self.measures], rows)

    def to_frame(self, library: str = "pandas") -> Any:
        """Return a dataframe of (segment, n, one column per measure), of pandas, polars or pyarrow."""
        return self.table().to_frame(library)

    def __repr__(self) -> str:
        """Show the means by segment."""
        return str(self.table())
