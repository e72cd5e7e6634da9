"""Segments: a comparison on parts of the queries, such as short and long ones."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from gradely.comparison.pairwise import Pairwise, to_optional
from gradely.comparison.tests import count_wins, differences, effect_sizes
from gradely.data.ids import Floats, Ints
from gradely.evaluation.notes import Note
from gradely.evaluation.result import Result
from gradely.evaluation.scores import means, normalize_weights, segment_rows
from gradely.tables import Cell, MarkedNumber, Table, typed_frame


class SegmentPair(NamedTuple):
    """Two runs by one measure in one segment; the difference is the first minus the second."""

    segment: str
    n: int
    """the number of queries of the segment"""
    measure: str
    first: str
    second: str
    difference: float
    low: float | None
    """the uncorrected t interval of the difference; None for one query, or without spread"""
    high: float | None
    effect: float | None
    wins: int
    ties: int
    losses: int


class SegmentComparison(Result):
    """The runs of a comparison in each segment, in order of first appearance."""

    notes: Sequence[Note] = ()

    def __init__(self, pairwise: Pairwise, queries: Sequence[str], segment_of: Mapping[str, str]) -> None:
        """Group the queries by segment."""
        self._pairwise, self._rows = pairwise, segment_rows(queries, segment_of)
        self.sizes = {segment: len(rows) for segment, rows in self._rows.items()}

    @cached_property
    def means(self) -> dict[str, Floats]:
        """{segment: means [measures, runs]}, independent of the order of queries to the last digit."""
        values = self._pairwise.values
        return {
            segment: np.asarray([means(table[rows], self._weights(rows)) for table in values])
            for segment, rows in self._rows.items()
        }

    def _weights(self, rows: Ints) -> Floats | None:
        """Return the weights of the queries of a segment, normalised to mean 1."""
        weights = self._pairwise.weights
        return None if weights is None else normalize_weights(weights[rows])

    def mean(self) -> dict[str, dict[str, dict[str, float]]]:
        """Return {segment: {run: {measure: mean}}}, with the best run over all queries first."""
        names, measures = self._pairwise.names, self._pairwise.measures
        return {
            segment: {
                name: dict(zip(measures, column, strict=True))
                for name, column in zip(names, table.T.tolist(), strict=True)
            }
            for segment, table in self.means.items()
        }

    def table(self) -> Table:
        """Return one row per segment and run: the number of queries and the means, with the best in bold."""
        rows: list[list[Cell]] = []
        for segment, table in self.means.items():
            best = table.max(axis=1).tolist()
            for name, column in zip(self._pairwise.names, table.T.tolist(), strict=True):
                cells = [MarkedNumber(mean, mean == top) for mean, top in zip(column, best, strict=True)]
                rows.append([segment, self.sizes[segment], name, *cells])
        return Table(["segment", "n", self._pairwise.subject, *self._pairwise.measures], rows)

    def records(self) -> list[dict[str, Cell]]:
        """Return the mean of each segment, measure and run as records."""
        kind = self._pairwise.subject
        return [
            {"segment": segment, "n": self.sizes[segment], kind: run, "measure": measure, "mean": mean[measure]}
            for segment, runs in self.mean().items()
            for measure in self._pairwise.measures
            for run, mean in runs.items()
        ]

    def entry(self) -> dict[str, Any]:
        """Return means and pairs by segment, and the caption, as plain data."""
        pairs: dict[str, list[dict[str, Any]]] = {name: [] for name in self.sizes}
        for pair in self.pairs:
            pairs[pair.segment].append(dict(zip(pair._fields[2:], pair[2:], strict=True)))  # which segment, is said
        mean = self.mean()
        data = {name: {"n": size, "mean": mean[name], "pairs": pairs[name]} for name, size in self.sizes.items()}
        return {"segments": data, "segments_caption": self.caption()}

    def as_dict(self) -> dict[str, Any]:
        """Return means and pairs by segment as plain data."""
        return self.entry()

    @cached_property
    def pairs(self) -> list[SegmentPair]:
        """All pairs by all measures in each segment: difference, interval, effect size and wins, without tests."""
        return [pair for segment, rows in self._rows.items() for pair in self._pairs(segment, rows)]

    def _pairs(self, segment: str, rows: Ints) -> list[SegmentPair]:
        pairwise, size = self._pairwise, len(rows)
        first, second = pairwise.pairs
        names = pairwise.named_pairs
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

    @typed_frame
    def pairs_frame(self, library: str = "pandas") -> Any:
        """Return the pairs as a pandas, polars or pyarrow dataframe."""
        return self.pairs_table().to_frame(library)

    def caption(self) -> str:
        """Return how to read the numbers by segment."""
        level = f"{100 * (1 - self._pairwise.design.alpha):g} %"
        return (
            f"By segment, nothing is tested. Intervals of differences are {level} t intervals without any correction; "
            "among many segments, some look better by chance"
        )
