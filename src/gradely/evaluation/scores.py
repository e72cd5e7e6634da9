"""Scores: one value per query and measure, their means, and what there is to know about them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import exp, ldexp
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from gradely.errors import InputError
from gradely.evaluation.flat_names import flatten
from gradely.evaluation.notes import Note, TieRange
from gradely.evaluation.segments import REST, Segments
from gradely.frames import to_frame
from gradely.lazy import lazy
from gradely.notebook import box, bullets, grid, heading
from gradely.settings import Settings
from gradely.tables import Table, count_of, plain_line

ROWS = 1 << 14
"""how many rows are summed in one go"""


class Scores:
    """The result of an evaluation. Rows are queries, columns measures."""

    def __init__(
        self,
        queries: Sequence[str],
        measures: Sequence[str],
        values: npt.NDArray[np.float64],
        *,
        settings: Settings,
        name: str,
        ranges: Callable[[], list[TieRange]],
        notes: Callable[[], list[Note]],
        whole: bool,
        segment_of: Mapping[str, str] | None,
    ) -> None:
        """Hold values [queries, measures] and how they came about; ranges and notes are made when asked for.

        With `whole`, queries were given as whole numbers, and are so in dataframes.
        """
        self.queries, self.measures, self.values = queries, measures, values
        self.settings, self.name = settings, name
        self._ranges, self._notes, self._whole = ranges, notes, whole
        self._segment_of = segment_of

    @property
    def ties(self) -> str:
        """The tie policy."""
        return self.settings.ties

    @lazy
    def _means(self) -> dict[str, float]:
        return dict(zip(self.measures, means(self.values), strict=True))

    def __getitem__(self, measure: str) -> float:
        """Return the mean of a measure."""
        if measure not in self._means:
            raise KeyError(f"no measure {measure!r} here: {', '.join(self.measures)}")
        return self._means[measure]

    def keys(self) -> list[str]:
        """Return the names of the measures, so that dict(scores) has their means."""
        return list(self.measures)

    def __iter__(self) -> Iterator[str]:
        """Yield the names of the measures."""
        return iter(self.measures)

    def mean(self) -> dict[str, float]:
        """Return the mean of each measure over the queries; it does not depend on their order."""
        return dict(self._means)

    def flat(self, prefix: str = "") -> dict[str, float]:
        """Return the means by names that MLflow and Weights & Biases take, like nDCG_10, which may get a prefix.

        Where there are segments, their means follow, like new_users/nDCG_10.
        """
        return flatten(self.named_means(), prefix)

    def named_means(self) -> Iterator[tuple[tuple[str, ...], float]]:
        """Yield each mean with its name, (measure) or (segment, measure)."""
        yield from (((measure,), mean) for measure, mean in self._means.items())
        for segment, row in (self.segments or {}).items():
            yield from (((segment, measure), mean) for measure, mean in row.items())

    def geometric_mean(self, least: float = 0.00001) -> dict[str, float]:
        """Return the geometric mean of each measure: a query that fails weighs more than in the mean.

        A query counts as `least` at the least, as in gm_map of trec_eval, so that one 0 does not hide all others.
        """
        if not least > 0:
            raise InputError(f"least is what a query counts at the least, a number above 0; found {least!r}")
        logs = means(np.log(np.maximum(self.values, least)))
        return {measure: exp(mean) for measure, mean in zip(self.measures, logs, strict=True)}

    def rows(self) -> Iterator[tuple[str, list[float]]]:
        """Yield each query with its values, one per measure."""
        return zip(self.queries, self.values.tolist(), strict=True)

    def per_query(self) -> dict[str, dict[str, float]]:
        """Return {query: {measure: value}}."""
        return {query: dict(zip(self.measures, row, strict=True)) for query, row in self.rows()}

    @lazy
    def _index(self) -> dict[str, int]:
        return {query: i for i, query in enumerate(self.queries)}

    def query(self, query: str) -> dict[str, float]:
        """Return {measure: value} of one query."""
        if query not in self._index:
            raise KeyError(
                f"no query {query!r} here: {count_of(len(self.queries), 'query')}, the first {self.queries[0]!r}"
            )
        return dict(zip(self.measures, self.values[self._index[query]].tolist(), strict=True))

    def columns(self, *, wide: bool = False) -> dict[str, list[Any]]:
        """Return the values as columns: query, measure and value, or with `wide` the query and one per measure.

        Where there are segments, that of the query stands behind it.
        """
        ids: dict[str, Sequence[Any]] = {"query": self._natives()}
        if self._segment_of is not None:
            ids["segment"] = [self.segment_of(query) for query in self.queries]
        if wide:
            columns = {name: list(values) for name, values in ids.items()}
            return columns | dict(zip(self.measures, self.values.T.tolist(), strict=True))
        return {
            **{name: [value for value in values for _ in self.measures] for name, values in ids.items()},
            "measure": list(self.measures) * len(self.queries),
            "value": self.values.ravel().tolist(),
        }

    def _natives(self) -> Sequence[str] | list[int]:
        """Return the queries as they were given; all text where one is no number, as of a run that has others."""
        try:
            return [int(query) for query in self.queries] if self._whole else self.queries
        except ValueError:
            return self.queries

    def to_frame(self, library: str = "pandas", *, wide: bool = False) -> Any:
        """Return a dataframe of (query, measure, value), of pandas, polars or pyarrow.

        With `wide`, it has one row per query, and one column per measure. Queries are text, or whole numbers where the
        qrels have whole numbers, so that both can be joined.
        """
        return to_frame(self.columns(wide=wide), library)

    def table(self) -> Table:
        """Return one row per measure: its mean."""
        return Table(["measure", self.name], [[measure, mean] for measure, mean in self._means.items()])

    @lazy
    def segments(self) -> Segments | None:
        """The means by segment, where evaluate was asked for them with `by`."""
        if self._segment_of is None:
            return None
        return Segments(self.queries, self.measures, self.values, self._segment_of)

    def segment_of(self, query: str) -> str | None:
        """Return the segment of a query, (none) where it has none; None where evaluate was not asked for segments."""
        return None if self._segment_of is None else self._segment_of.get(query, REST)

    @lazy
    def tie_ranges(self) -> list[TieRange]:
        """How far each mean moves with the order of ties; measures that do not move are left out."""
        return self._ranges()

    @lazy
    def notes(self) -> list[Note]:
        """Missing queries, ties that matter, degenerate queries, dropped documents, each with its count."""
        return self._notes() + [span.note() for span in self.tie_ranges]

    def __repr__(self) -> str:
        """Show the means, and how many queries they are of."""
        width = max(map(len, self.measures))
        lines = [f"{measure:<{width}}  {value:.4f}" for measure, value in self.mean().items()]
        segments = [] if self.segments is None else ["", str(self.segments)]
        return "\n".join([self._title(), *lines, *segments])

    def _title(self) -> str:
        queries = count_of(len(self.queries), "query")
        return f"{plain_line(self.name)}: mean over {queries}, ties {self.ties}"

    def _repr_html_(self) -> str:
        """Show the means, by segment too where there are any, and the notes, in a notebook."""
        segments = "" if self.segments is None else grid(self.segments.table())
        return box(heading(self._title()), grid(self.table()), segments, bullets(self.notes))


def means(values: npt.NDArray[np.float64]) -> list[float]:
    """Return the mean of each column, the same to the last digit whatever the order of rows.

    Values are summed as integers, in two parts of 30 and 32 bits: neither loses anything, so their order cannot matter.
    """
    if len(values) == 1:
        return cast("list[float]", values[0].tolist())
    highest = np.max([np.abs(part).max(axis=1) for part in _split_columns(values)], axis=0, initial=0)
    exponent = np.maximum(np.frexp(highest)[1], -993)  # 2^1023 is the largest power that is a number
    scale, high, low = (
        np.ldexp(1.0, 30 - exponent)[:, None],
        np.zeros_like(exponent, np.int64),
        np.zeros_like(exponent, np.int64),
    )
    for part in _split_columns(values):
        scaled = part * scale
        whole = np.floor(scaled)
        high += whole.astype(np.int64).sum(axis=1)
        low += np.rint((scaled - whole) * 2.0**32).astype(np.int64).sum(axis=1)
    sums = zip(high.tolist(), low.tolist(), exponent.tolist(), strict=True)
    return [ldexp(((h << 32) + low) / (1 << 32) / len(values), power - 30) for h, low, power in sums]


def _split_columns(values: npt.NDArray[np.float64]) -> Iterator[npt.NDArray[np.float64]]:
    """Yield the columns as rows, some part of them at a time: sums along rows are faster."""
    for i in range(0, len(values), ROWS):
        yield np.ascontiguousarray(values[i : i + ROWS].T)
