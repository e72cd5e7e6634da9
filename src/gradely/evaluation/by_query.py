"""The queries of several runs side by side: all of them, or the worst, the best, or the largest losses."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from gradely.data import run_name
from gradely.data.texts import IN_A_ROW, Texts, describe_missing, select_texts, shorten
from gradely.errors import DataError, clip, did_you_mean
from gradely.evaluation.notes import DIGITS, NAMED, Note, merge_shares
from gradely.evaluation.result import Result, Section
from gradely.evaluation.scores import EVERY, Scores, note_runs, segments_table
from gradely.measures.names import MeasureLike, parse
from gradely.tables import Cell, Table


class QueryOrder(NamedTuple):
    """Which queries of each run are shown, and in which order; by default, all in their original order."""

    sort: MeasureLike | None = None
    """the measure to sort by, worst first; the first measure if only other options are given"""
    worst: int | None = None
    """number of worst queries to show"""
    best: int | None = None
    """number of best queries to show, best first"""
    baseline: str | None = None
    """the run, given by its name or file, from which queries are sorted by their difference"""

    def settle(self, measures: Iterable[str], runs: Collection[str]) -> "QueryOrder":
        """Return the order with the names that the results use; raise DataError for unknown names."""
        if self == QueryOrder():
            return self
        if self.worst is not None and self.best is not None:
            raise DataError("show the worst or the best queries, not both")
        for number in (self.worst, self.best):
            if number is not None and not number >= 1:
                raise DataError(f"the number of queries to show must be at least 1; found {number!r}")
        measures = list(measures)
        sort = measures[0] if self.sort is None else _find_measure(self.sort, measures)
        return self._replace(sort=sort, baseline=None if self.baseline is None else _find_baseline(self.baseline, runs))


class QueryRow(NamedTuple):
    """A query of a run: its values, and its difference from the baseline by the measure that sorts."""

    query: str
    values: list[float]
    difference: float | None


class QueryScores(Result):
    """One row per run and query, as `gradely evaluate --per-query` prints them."""

    def __init__(self, runs: Mapping[str, Scores], order: QueryOrder, queries_text: Texts | None = None) -> None:
        """Store the scores of runs by name, the order of queries, and the texts of queries."""
        self._runs, self._first = runs, next(iter(runs.values()))
        self.measures = self._first.measures
        order = order.settle(self.measures, runs)
        self.sort, self.baseline = None if order.sort is None else str(order.sort), order.baseline
        self._most, self._best = order.worst or order.best, order.best is not None
        self._queries_text = queries_text
        self.texts: dict[str, str] | None = None
        """the texts of the queries that are shown, if they have one; None if texts were not requested"""
        if queries_text is not None:
            self.texts = select_texts(queries_text, self._shown())

    @property
    def notes(self) -> Sequence[Note]:
        """The notes of the runs."""
        return self.notes_at(DIGITS)

    def notes_at(self, digits: int) -> Sequence[Note]:
        """Return the notes of the runs on means that are printed with this number of decimals."""
        shares = {name: scores.unjudged_share for name, scores in self._runs.items()}
        return [*note_runs(self._runs, digits), *merge_shares(shares)]

    def rows(self) -> dict[str, list[QueryRow]]:
        """Return the queries of each run in the requested order."""
        if self.sort is None:
            return {name: [QueryRow(*row, None) for row in scores.rows()] for name, scores in self._runs.items()}
        others = {name: scores for name, scores in self._runs.items() if name != self.baseline}
        return {name: self._sort_queries(scores) for name, scores in others.items()}

    def _sort_queries(self, scores: Scores) -> list[QueryRow]:
        """Return the queries of one run sorted by value or difference; queries without a difference come last."""
        column = list(self.measures).index(str(self.sort))
        base = {} if self.baseline is None else {q: values[column] for q, values in self._runs[self.baseline].rows()}
        lines = [
            QueryRow(query, values, values[column] - base[query] if query in base else None)
            for query, values in scores.rows()
        ]
        values = [line.values[column] if self.baseline is None else line.difference for line in lines]
        keys = np.round(np.asarray(values, np.float64), 12)
        places = np.argsort(-keys if self._best else keys, kind="stable").tolist()
        return [lines[i] for i in places[: self._most]]

    def remarks(self) -> list[str]:
        """Return a line if texts were requested and some queries have none."""
        return [] if self.texts is None else describe_missing(self.texts, self._shown(), "query", self._queries_text)

    def _shown(self) -> list[str]:
        """Return the queries that are shown for any run."""
        return list(dict.fromkeys(line.query for lines in self.rows().values() for line in lines))

    def table(self) -> Table:
        """Return one row per run and query, with the mean over all queries after those of each run."""
        return self._table(means=True)

    def data_table(self) -> Table:
        """Return one row per run and query."""
        return self._table(means=False)

    def _table(self, *, means: bool) -> Table:
        rows: list[list[Cell]] = []
        against = [] if self.baseline is None else [f"{self.sort} against {self.baseline}"]
        drawn = self._drawn
        for name, lines in self.rows().items():
            scores = self._runs[name]
            for line in lines:
                segment = [scores.segment_of(line.query)] if self._segmented else []
                difference = [line.difference] if against else []
                errors = [scores.query_errors(line.query).get(measure, 0.0) for measure in drawn]
                text = self._text(line, short=means)
                rows.append([name, line.query, *segment, *line.values, *errors, *difference, *text])
            if means:
                label = [name, "mean", *([EVERY] if self._segmented else [])]
                empty = [] if self.texts is None else [""]
                errors = [scores.sampling_error().get(measure, 0.0) for measure in drawn]
                rows.append([*label, *scores.mean().values(), *errors, *self._mean_difference(scores), *empty])
        errors_of = [f"error of {measure}" for measure in drawn]
        header = ["run", "query", *(["segment"] if self._segmented else []), *self.measures, *errors_of, *against]
        return Table([*header, *([] if self.texts is None else ["text"])], rows)

    @property
    def _drawn(self) -> list[str]:
        """The measures with values from sampled orders of ties."""
        known = [scores.sampling_error() for scores in self._runs.values()]
        return [measure for measure in self.measures if any(measure in errors for errors in known)]

    def _text(self, line: QueryRow, *, short: bool) -> list[str]:
        """Return a list of the text of a query, empty if texts were not requested."""
        if self.texts is None:
            return []
        text = self.texts.get(line.query, "")
        return [shorten(text, IN_A_ROW) if short else text]

    @property
    def _segmented(self) -> bool:
        return self._first.segments is not None

    def _mean_difference(self, scores: Scores) -> list[float]:
        """Return a list of the difference of the mean from that of the baseline, empty if there is no baseline."""
        return [] if self.baseline is None else [scores[str(self.sort)] - self._runs[self.baseline][str(self.sort)]]

    def sections(self, digits: int) -> list[Section]:  # noqa: ARG002 - as all results have it
        """Return the table of queries and, if there are segments, that of means by segment."""
        return [self.table(), *([segments_table(self._runs)] if self._segmented else [])]

    def as_dict(self) -> dict[str, Any]:
        """Return means, values by query and notes of each run as plain data."""
        runs = []
        for name, lines in self.rows().items():
            scores = self._runs[name]
            values = {line.query: self._values(line) | self._errors(scores, line.query) for line in lines}
            runs.append(scores.entry(list(values), values) | {"run": name})
        return {**self._first.policies(), "runs": runs}

    @staticmethod
    def _errors(scores: Scores, query: str) -> dict[str, Any]:
        """Return the standard errors of values from sampled orders of ties, or an empty dict."""
        errors = scores.query_errors(query)
        return {"sampling_error": errors} if errors else {}

    def _values(self, line: QueryRow) -> dict[str, Any]:
        values: dict[str, Any] = dict(zip(self.measures, line.values, strict=True))
        values |= {} if line.difference is None else {"difference": line.difference}
        return values if self.texts is None else values | {"text": self.texts.get(line.query)}


def _find_measure(measure: MeasureLike, measures: Sequence[str]) -> str:
    """Return the name of a measure in the results; raise DataError if they do not contain it."""
    wanted = parse(measure)
    name = next((name for name in measures if parse(name) == wanted), None)
    if name is None:
        raise DataError(f"sort queries by one of the measures that are shown: {', '.join(measures)}")
    return name


def _find_baseline(baseline: str, runs: Collection[str]) -> str:
    """Return the name of the baseline, given by its name or file."""
    name = baseline if baseline in runs else run_name(baseline)
    check_baseline(name, runs)
    if len(runs) == 1:
        raise DataError("give another run to compare with the baseline")
    return name


def check_baseline(name: str, runs: Collection[str]) -> None:
    """Raise DataError if the baseline is not one of the runs."""
    if name not in runs:
        listing = ", ".join([*islice(runs, NAMED), *(["…"] if len(runs) > NAMED else [])])
        hint = did_you_mean(name, runs) or f" Use one of the runs: {listing}."
        raise DataError(f"no run {clip(name)} to use as the baseline.{hint}")
