"""Scores: one value per query and measure, their means, and notes on them."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from math import exp, fsum, ldexp
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from gradely.errors import InputError
from gradely.evaluation.notes import DIGITS, Note, TieRange, UnjudgedShare, merge_notes, merge_ranges, merge_shares
from gradely.evaluation.result import Result, Section
from gradely.measures.names import MeasureLike
from gradely.settings import Settings
from gradely.tables import Cell, Table, box, bullets, count_of, grid, heading, to_frame, typed_wide_frame

if TYPE_CHECKING:
    from gradely.data.texts import Texts
    from gradely.evaluation.by_query import QueryScores

REST, EVERY = "(none)", "(all)"
"""the name of the segment of queries without one, and the name of all queries in tables"""


def segment_rows(queries: Sequence[str], segment_of: Mapping[str, str]) -> dict[str, npt.NDArray[np.int64]]:
    """Return the indices of the queries of each segment, in the order in which segments first appear."""
    rows: dict[str, list[int]] = {}
    for i, query in enumerate(queries):
        rows.setdefault(segment_of.get(query, REST), []).append(i)
    return {segment: np.array(members) for segment, members in rows.items()}


class Segments(Result, Mapping[str, dict[str, float]]):
    """{segment: {measure: mean}}, in the order in which segments first appear, with the number of queries of each."""

    notes: Sequence[Note] = ()

    def __init__(
        self,
        queries: Sequence[str],
        measures: Sequence[str],
        values: npt.NDArray[np.float64],
        segment_of: Mapping[str, str],
        weights: npt.NDArray[np.float64] | None = None,
    ) -> None:
        """Compute the means of values [queries, measures] by segment, weighted if weights of queries are given."""
        members = segment_rows(queries, segment_of)
        self.measures, self.sizes = list(measures), {segment: len(rows) for segment, rows in members.items()}
        self._means = {
            segment: means(values[rows], None if weights is None else normalize_weights(weights[rows]))
            for segment, rows in members.items()
        }

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
        """Return one row per segment: the number of its queries, and their means."""
        rows: list[list[Cell]] = [[segment, self.sizes[segment], *self._means[segment]] for segment in self]
        return Table(["segment", "n", *self.measures], rows)


LONGEST = 250
"""largest number of characters in the name of a metric in MLflow"""
LETTERS = str.maketrans({"μ": "mu", "φ": "phi"})
"""letters that Unicode normalisation does not make ASCII; every tracker accepts ASCII names"""


def flatten(values: Iterable[tuple[tuple[str, ...], float]], prefix: str = "") -> dict[str, float]:
    """Return values by plain names: the prefix and the parts of each name, joined by slashes.

    Equal names are numbered, so no value is lost.

    >>> flatten([(("nDCG@10",), 0.5), (("AP(rel=2)",), 0.25), (("AP[rel=2]",), 0.75)], "test/")
    {'test/nDCG_10': 0.5, 'test/AP_rel_2': 0.25, 'test/AP_rel_2_2': 0.75}
    """
    out: dict[str, float] = {}
    for parts, value in values:
        name = prefix + "/".join(map(plain_name, parts))
        unique, number = name[:LONGEST], 1
        while unique in out:
            number += 1
            unique = f"{name[: LONGEST - len(str(number)) - 1]}_{number}"
        out[unique] = value
    return out


def plain_name(name: str) -> str:
    """Return a name of letters, digits and _ that does not start with a digit, as Weights & Biases recommends.

    >>> [plain_name(name) for name in ("nDCG(gain='exp')@10", "µAP", "eGAP(g=[0.2, 0.8])@5", "AP(rel=-1)", "../2", "@")]
    ['nDCG_gain_exp_10', 'muAP', 'eGAP_g_0_2_0_8_5', 'AP_rel_minus1', '_2', 'unnamed']
    """
    letters = unicodedata.normalize("NFKC", name).translate(LETTERS)
    plain = re.sub(r"\W+", "_", re.sub(r"(?<=[=\[(, ])-", "minus", letters), flags=re.ASCII).strip("_") or "unnamed"
    return f"_{plain}" if plain[0].isdigit() else plain


ROWS = 1 << 14
"""number of rows that are summed at a time"""


class Scores(Result):
    """The result of an evaluation. Rows are queries, columns are measures."""

    def __init__(
        self,
        queries: Sequence[str],
        measures: Sequence[str],
        values: npt.NDArray[np.float64],
        *,
        settings: Settings,
        name: str,
        ranges: Callable[[], list[TieRange]],
        unjudged: Callable[[], UnjudgedShare | None],
        notes: Callable[[], list[Note]],
        whole: bool,
        segment_of: Mapping[str, str] | None,
        weights: npt.NDArray[np.float64] | None = None,
        errors: npt.NDArray[np.float64] | None = None,
    ) -> None:
        """Store values [queries, measures] and settings; ranges, shares and notes are computed on first access.

        If `whole` is true, queries were given as whole numbers, and dataframes contain whole numbers. `weights` of the
        queries have a mean of 1; None means equal weights. `errors` are standard errors of values from sampled orders
        of ties.
        """
        self.queries, self.measures, self.values = queries, measures, values
        self.settings, self.name = settings, name
        self._ranges, self._unjudged, self._notes, self._whole = ranges, unjudged, notes, whole
        self._segment_of, self.weights = segment_of, weights
        self.sampling_errors = errors
        """[queries, measures] standard errors of values from sampled orders of ties; None if all are exact"""

    @property
    def ties(self) -> str:
        """The tie policy."""
        return self.settings.ties

    @cached_property
    def _means(self) -> dict[str, float]:
        return dict(zip(self.measures, means(self.values, self.weights), strict=True))

    def __getitem__(self, measure: str) -> float:
        """Return the mean of a measure."""
        if measure not in self._means:
            raise KeyError(f"no measure {measure!r} here: {', '.join(self.measures)}")
        return self._means[measure]

    def keys(self) -> list[str]:
        """Return the names of the measures, so dict(scores) contains their means."""
        return list(self.measures)

    def __iter__(self) -> Iterator[str]:
        """Yield the names of the measures."""
        return iter(self.measures)

    def mean(self) -> dict[str, float]:
        """Return the mean of each measure over the queries, weighted if they have weights.

        It does not depend on the order of the queries.
        """
        return dict(self._means)

    def sampling_error(self) -> dict[str, float]:
        """Return the standard error of each mean that comes from sampled orders of ties (`ties="sampled"`).

        Measures whose values are all exact are left out.
        """
        if self.sampling_errors is None:
            return {}
        weights = np.ones(len(self.queries)) if self.weights is None else self.weights
        errors = np.sqrt(((weights[:, None] * self.sampling_errors) ** 2).sum(axis=0)) / len(self.queries)
        return {measure: error for measure, error in zip(self.measures, errors.tolist(), strict=True) if error}

    def flat(self, prefix: str = "") -> dict[str, float]:
        """Return the means by names that MLflow and Weights & Biases accept, like nDCG_10, with an optional prefix.

        If there are segments, their means follow, with names like new_users/nDCG_10.
        """
        return flatten(self.named_means(), prefix)

    def named_means(self) -> Iterator[tuple[tuple[str, ...], float]]:
        """Yield each mean with its name, (measure) or (segment, measure)."""
        yield from (((measure,), mean) for measure, mean in self._means.items())
        for segment, row in (self.segments or {}).items():
            yield from (((segment, measure), mean) for measure, mean in row.items())

    def geometric_mean(self, least: float = 0.00001) -> dict[str, float]:
        """Return the geometric mean of each measure, in which queries with low values weigh more than in the mean.

        Values below `least` count as `least`, as in gm_map of trec_eval, so a single 0 does not make the mean 0.
        """
        if not least > 0:
            raise InputError(f"least, the lowest value of a query, must be a number above 0; found {least!r}")
        logs = means(np.log(np.maximum(self.values, least)), self.weights)
        return {measure: exp(mean) for measure, mean in zip(self.measures, logs, strict=True)}

    def rows(self) -> Iterator[tuple[str, list[float]]]:
        """Yield each query with its values, one per measure."""
        return zip(self.queries, self.values.tolist(), strict=True)

    def per_query(self) -> dict[str, dict[str, float]]:
        """Return {query: {measure: value}}."""
        return {query: dict(zip(self.measures, row, strict=True)) for query, row in self.rows()}

    @cached_property
    def _index(self) -> dict[str, int]:
        return {query: i for i, query in enumerate(self.queries)}

    def query(self, query: str) -> dict[str, float]:
        """Return {measure: value} of one query."""
        if query not in self._index:
            raise KeyError(
                f"no query {query!r} here: {count_of(len(self.queries), 'query')}, the first {self.queries[0]!r}"
            )
        return dict(zip(self.measures, self.values[self._index[query]].tolist(), strict=True))

    def query_errors(self, query: str) -> dict[str, float]:
        """Return the standard errors of the values of one query that come from sampled orders of ties, by measure."""
        if self.sampling_errors is None:
            return {}
        errors = self.sampling_errors[self._index[query]].tolist()
        return {measure: error for measure, error in zip(self.measures, errors, strict=True) if error}

    def columns(self, *, wide: bool = False) -> dict[str, list[Any]]:
        """Return the values as columns: query, measure and value, or with `wide` the query and one column per measure.

        If there are segments, a column of segments follows that of queries.
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
        """Return the queries as whole numbers if the qrels have whole numbers, else as text.

        A run may contain queries that are no whole numbers; then all are text.
        """
        try:
            return [int(query) for query in self.queries] if self._whole else self.queries
        except ValueError:
            return self.queries

    @typed_wide_frame
    def to_frame(self, library: str = "pandas", *, wide: bool = False) -> Any:
        """Return a dataframe of (query, measure, value), of pandas, polars or pyarrow.

        With `wide`, it has one row per query, and one column per measure. Queries are text, or whole numbers if the
        qrels have whole numbers, so the two can be joined.
        """
        return to_frame(self.columns(wide=wide), library)

    def table(self) -> Table:
        """Return one row per measure: its mean, and the standard error if orders of ties were drawn."""
        errors = self.sampling_error()
        if not errors:
            return Table(["measure", self.name], [[measure, mean] for measure, mean in self._means.items()])
        rows: list[list[Cell]] = [[measure, mean, errors.get(measure, 0.0)] for measure, mean in self._means.items()]
        return Table(["measure", self.name, "error of sampled orders"], rows)

    @cached_property
    def segments(self) -> Segments | None:
        """The means by segment; None if evaluate was called without `by`."""
        if self._segment_of is None:
            return None
        return Segments(self.queries, self.measures, self.values, self._segment_of, self.weights)

    def segment_of(self, query: str) -> str | None:
        """Return the segment of a query, or "(none)" if it has none; None if evaluate was called without `by`."""
        return None if self._segment_of is None else self._segment_of.get(query, REST)

    @cached_property
    def tie_ranges(self) -> list[TieRange]:
        """The range of each mean over the orders of ties; measures that do not depend on the order are left out."""
        return self._ranges()

    @cached_property
    def unjudged_share(self) -> UnjudgedShare | None:
        """The share of unjudged documents above the cut-off of the first measure, or in the top 100 if it has none.

        None if the qrels contain only relevant documents, since it is then unknown which other documents were judged.
        """
        return self._unjudged()

    @cached_property
    def data_notes(self) -> list[Note]:
        """The notes that are fast to find: missing and degenerate queries, dropped documents, each with its count."""
        return self._notes()

    @cached_property
    def notes(self) -> list[Note]:
        """Notes on missing and degenerate queries, ties that matter and unjudged documents, each with its count."""
        spans = [span.note() for span in self.tie_ranges]
        return [*self.data_notes, *spans, *merge_shares({self.name: self.unjudged_share})]

    def notes_at(self, digits: int) -> list[Note]:
        """Return the notes on means with this number of decimals; on ties only if they change a printed mean."""
        return note_runs({self.name: self}, digits) + merge_shares({self.name: self.unjudged_share})

    def sections(self, digits: int) -> list[Section]:  # noqa: ARG002 - as all results have it
        """Return the table of means, or of means by segment if there are segments."""
        return [self.table() if self.segments is None else segments_table({self.name: self})]

    def data_table(self) -> Table:
        """Return the means in one row, or one row per segment, for CSV."""
        return means_table({self.name: self})

    def document(self, digits: int) -> list[Section]:  # noqa: ARG002 - as all results have it
        """Return data_table."""
        return [self.data_table()]

    def by_query(
        self,
        *,
        sort: MeasureLike | None = None,
        worst: int | None = None,
        best: int | None = None,
        queries_text: "Texts | None" = None,
    ) -> "QueryScores":
        """Return the values of each query, as `gradely evaluate -q` prints them.

        Queries are sorted by the measure `sort`, worst first, and only the `worst` or the `best` ones are shown.
        `queries_text`, {query: text} or a file of ids and texts, adds a column of texts.
        """
        from gradely.evaluation.by_query import QueryOrder, QueryScores

        return QueryScores({self.name: self}, QueryOrder(sort, worst, best), queries_text)

    def as_dict(self) -> dict[str, Any]:
        """Return the means as plain data, with the policies and the notes."""
        return {**self.policies(), "runs": [self.entry()]}

    def policies(self) -> dict[str, Any]:
        """Return how queries and documents were treated, as plain data."""
        names = ("ties", "queries", "empty", "exclude_self", "duplicates", "document_pattern")
        return {name: getattr(self.settings, name) for name in names} | {"weighted": self.weights is not None}

    def entry(self, shown: Sequence[str] = (), values: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the means, the segments and the notes as plain data, with values of queries if given.

        `shown` are the queries to list by segment.
        """
        data: dict[str, Any] = {"run": self.name, "mean": self.mean()}
        if self.sampling_errors is not None:
            data["sampling_error"] = self.sampling_error()
        if self.segments is not None:
            data["segments"] = {
                name: {"n": self.segments.sizes[name], "mean": mean} for name, mean in self.segments.items()
            }
            for name, segment in data["segments"].items() if values is not None else ():
                segment["queries"] = [query for query in shown if self.segment_of(query) == name]
        return data | ({} if values is None else {"queries": values}) | {"notes": self._list_notes()}

    def _repr_html_(self) -> str:
        """Return the means, those of segments if there are any, and the notes as HTML for notebooks."""
        kind = "mean" if self.weights is None else "weighted mean"
        title = f"{self.name}: {kind} over {count_of(len(self.queries), 'query')}, ties {self.ties}"
        segments = "" if self.segments is None else grid(self.segments.table())
        return box(heading(title), grid(self.table()), segments, bullets(self.notes))


def means_table(runs: Mapping[str, Scores]) -> Table:
    """Return one row per run, or per run and segment."""
    first = next(iter(runs.values()))
    if first.segments is not None:
        return segments_table(runs)
    return Table(["run", *first.measures], [[name, *scores.mean().values()] for name, scores in runs.items()])


def segments_table(runs: Mapping[str, Scores]) -> Table:
    """Return one row per run and segment, with its number of queries; all queries of a run come first."""
    rows: list[list[Cell]] = []
    for name, scores in runs.items():
        assert scores.segments is not None
        rows.append([name, EVERY, len(scores.queries), *scores.mean().values()])
        rows += [[name, *row] for row in scores.segments.table().rows]
    return Table(["run", "segment", "n", *next(iter(runs.values())).measures], rows)


def note_runs(runs: Mapping[str, Scores], digits: int) -> list[Note]:
    """Return the notes of runs on means with this number of decimals; notes that apply to all runs once."""
    ranges = {name: scores.tie_ranges for name, scores in runs.items()}
    return merge_notes({name: scores.data_notes for name, scores in runs.items()}) + merge_ranges(
        ranges, min(digits, DIGITS)
    )


def normalize_weights(weights: Iterable[float]) -> npt.NDArray[np.float64]:
    """Return weights scaled to mean 1, independent of their order; equal weights become exactly 1."""
    table = np.asarray(list(weights), np.float64)
    table = table / table.max()  # avoids overflow of the sum
    return np.asarray(table * (len(table) / fsum(table)))


def means(values: npt.NDArray[np.float64], weights: npt.NDArray[np.float64] | None = None) -> list[float]:
    """Return the mean of each column, independent of the order of rows to the last digit.

    Values are summed as integers, in two parts of 30 and 32 bits, whose sums are exact in any order. Weights have a
    mean of 1.
    """
    if weights is not None:
        values = values * weights[:, None]
    if len(values) == 1:
        return cast("list[float]", values[0].tolist())
    highest = np.max([np.abs(part).max(axis=1) for part in _split_columns(values)], axis=0, initial=0)
    exponent = np.maximum(np.frexp(highest)[1], -993)  # the scale is at most 2^1023, the largest power of a double
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
    """Yield the columns as rows, a block at a time: sums along rows are faster."""
    for i in range(0, len(values), ROWS):
        yield np.ascontiguousarray(values[i : i + ROWS].T)
