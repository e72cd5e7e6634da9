"""estimate: means of runs from human labels of some queries, drawn at random, and a judge's labels of all queries."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal, NamedTuple

import numpy as np

from gradely.comparison.intervals import keep_within
from gradely.comparison.judged import JudgedRuns, judge_runs
from gradely.comparison.pairwise import check_alpha, to_optional
from gradely.comparison.regression import (
    COMPLETE,
    CONSTANT,
    LEAST_SQUARES,
    PERFECT,
    TARGETS,
    USED,
    JudgedMeans,
    Sample,
    check_choices,
    combine,
)
from gradely.comparison.sentences import format_signed
from gradely.comparison.tests import DIGITS, all_pairs
from gradely.data.column_roles import Names
from gradely.evaluation.evaluate import DEFAULT, Progress, ignore
from gradely.evaluation.notes import Note
from gradely.evaluation.result import Result, Section
from gradely.evaluation.scores import EVERY
from gradely.measures.names import MeasureLike
from gradely.settings import DuplicatePolicy, Precision, Settings, Slope, TiePolicy
from gradely.tables import Cell, Table, count_of, typed_frame

Target = Literal["like", "these"]
SHOWN = 30
"""the most pairs to print; JSON and `pairs` have all"""


class Estimated(NamedTuple):
    """The mean of a run by a measure, estimated from human labels and a judge's; undefined numbers are None."""

    mean: float
    low: float | None
    """the lower end of the interval of the mean, or None if nothing varies"""
    high: float | None
    human_only: float
    """the mean by human labels alone; human_low and human_high are the ends of its interval"""
    human_low: float | None
    human_high: float | None
    slope: float | None
    """how closely the mean follows the judge; None if segments have slopes of their own"""
    correlation: float | None
    """the correlation of human and machine values over the human-labelled queries"""
    worth: float | None
    """how many more queries people alone would need for the same precision, at most N - n; negative if the judge makes
    the estimate less precise"""


class EstimatedPair(NamedTuple):
    """The difference of two runs by a measure, the first minus the second; the other fields are those of Estimated."""

    measure: str
    first: str
    second: str
    difference: float
    low: float | None
    high: float | None
    human_only: float
    human_low: float | None
    human_high: float | None
    slope: float | None
    correlation: float | None
    worth: float | None


SHORT = ("low", "high", "human only", "r", "worth")
"""the columns of printed tables after the estimate"""


def _shorten(row: tuple[Any, ...]) -> list[Cell]:
    """Return the fields of Estimated that tables show."""
    mean, low, high, human_only, _, _, _, correlation, worth = row
    return [mean, low, high, human_only, correlation, None if worth is None else round(worth)]


SLOPES_IN_WORDS = {
    "auto": "a slope from human labels, shrunk towards 1/2 (PPI++)",
    LEAST_SQUARES: "the least-squares slope (PPI++)",
    1: "the slope 1 (PPI)",
}
REASONS = {
    COMPLETE: "people judged every query that the judge labelled",
    CONSTANT: "the judge's values do not vary over the human-labelled queries",
    PERFECT: "the judge agrees with people on every human-labelled query, so its error rate cannot be estimated",
}


@dataclass(eq=False, repr=False)
class Estimation(Result, Mapping[str, dict[str, Estimated]]):
    """The estimates of each run, {run: {measure: Estimated}}, best run first.

    >>> from gradely import estimate
    >>> queries = [f"q{i}" for i in range(40)]
    >>> llm = {query: {"a": 1, "b": i % 3} for i, query in enumerate(queries)}
    >>> human = {query: {"a": 1, "b": i % 2} for i, query in enumerate(queries[:12])}
    >>> found = estimate(human, {"run": {query: ["b", "a"] for query in queries}}, ["nDCG"], judge=llm)
    >>> found["run"]["nDCG"].low < found["run"]["nDCG"].mean < found["run"]["nDCG"].high
    True
    """

    runs: JudgedRuns
    """the runs, best first by the first measure"""
    target: str
    slope: Slope
    alpha: float

    @cached_property
    def segments(self) -> "dict[str, Estimation]":
        """The estimates in each segment of the queries, by name; empty without segments."""
        parts = self.runs.split()
        return {name: Estimation(part, self.target, self.slope, self.alpha) for name, part in parts.items()}

    def _estimate(self, take: Callable[[JudgedRuns], Sample]) -> JudgedMeans:
        """Return the estimates from samples of the runs, combined over segments if there are any."""
        parts = [part.runs for part in self.segments.values()] or [self.runs]
        return combine([take(part) for part in parts], self.target, self.slope)

    @cached_property
    def means(self) -> list[JudgedMeans]:
        """The estimates of the runs by measure."""
        return [self._estimate(partial(JudgedRuns.sample, measure=m)) for m in range(len(self.runs.measures))]

    @cached_property
    def differences(self) -> list[JudgedMeans]:
        """The estimates of the pairs by measure."""
        size = len(self.runs.measures) if len(self.runs.names) > 1 else 0
        return [self._estimate(partial(JudgedRuns.differences, measure=m)) for m in range(size)]

    def _rows(self, found: JudgedMeans, bounds: tuple[float, float]) -> list[tuple[Any, ...]]:
        """Return the fields of Estimated, one row per run or pair; intervals are cut at the bounds of the measure."""
        level = 1 - self.alpha
        interval = keep_within(found.together.intervals(level), bounds, found.mean)
        human = keep_within(found.alone.intervals(level), bounds, found.alone.difference)
        about = (found.slope, found.correlation, found.worth())
        columns = (found.mean, *interval, found.alone.difference, *human, *about)
        return list(zip(*map(to_optional, columns), strict=True))

    @cached_property
    def _by_run(self) -> dict[str, dict[str, Estimated]]:
        measures = self.runs.measures.items()
        rows = {name: self._rows(found, one.bounds) for (name, one), found in zip(measures, self.means, strict=True)}
        return {
            name: {measure: Estimated(*of[i]) for measure, of in rows.items()} for i, name in enumerate(self.runs.names)
        }

    def __getitem__(self, run: str) -> dict[str, Estimated]:
        """Return the estimates of a run by measure."""
        return self._by_run[run]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the runs, best first."""
        return iter(self.runs.names)

    def __len__(self) -> int:
        """Return the number of runs."""
        return len(self.runs.names)

    @cached_property
    def pairs(self) -> list[EstimatedPair]:
        """The difference of every pair of runs by every measure, each with an estimate of its own."""
        first, second = (index.tolist() for index in all_pairs(len(self)))
        names = self.runs.names
        return [
            EstimatedPair(measure, names[first[i]], names[second[i]], *row)
            for (measure, one), found in zip(self.runs.measures.items(), self.differences, strict=False)
            for i, row in enumerate(self._rows(found, (one.bounds[0] - one.bounds[1], one.bounds[1] - one.bounds[0])))
        ]

    def table(self) -> Table:
        """Return one row per run and measure."""
        rows = [[run, measure, *_shorten(found)] for run, by in self.items() for measure, found in by.items()]
        return Table(["run", "measure", "mean", *SHORT], rows)

    def pairs_table(self) -> Table:
        """Return one row per measure and pair."""
        rows = [[*pair[:3], *_shorten(pair[3:])] for pair in self.pairs]
        return Table(["measure", "first", "second", "difference", *SHORT], rows).cut(SHOWN, "pair")

    def segments_table(self) -> Table:
        """Return one row per segment, run and measure, with the number of human-labelled queries."""
        rows = [
            [name, len(part.runs.queries), *row] for name, part in self.segments.items() for row in part.table().rows
        ]
        return Table(["segment", "n", "run", "measure", "mean", *SHORT], rows)

    def data_table(self) -> Table:
        """Return one row per run and measure with all fields, also for each segment if there are any."""
        header = ["run", "measure", *Estimated._fields]
        rows: list[list[Cell]] = [[run, measure, *found] for run, by in self.items() for measure, found in by.items()]
        if not self.segments:
            return Table(header, rows)
        parts = {EVERY: rows} | {name: part.data_table().rows for name, part in self.segments.items()}
        return Table(["segment", *header], [[name, *row] for name, of in parts.items() for row in of])

    @typed_frame
    def pairs_frame(self, library: str = "pandas") -> Any:
        """Return the pairs as a dataframe of pandas, polars or pyarrow."""
        return Table(EstimatedPair._fields, [list(pair) for pair in self.pairs]).to_frame(library)

    def summary(self) -> str:
        """Return sentences with the estimates by the first measure, and the worth of the judge's labels."""
        measure, best = next(iter(self.runs.measures)), self.runs.names[0]
        found = self[best][measure]
        told = [
            f"for {TARGETS[self.target]}, {measure} of {best} is {found.mean:.4f}{self._show(found.low, found.high)}"
        ]
        if len(self) > 1:
            pair = self.pairs[0]
            apart = format_signed(pair.difference)
            told.append(f"its difference from {pair.second} is {apart}{self._show(pair.low, pair.high, signed=True)}")
        alone = f"{found.human_only:.4f}{self._show(found.human_low, found.human_high)}"
        told.append(f"{count_of(len(self.runs.queries), 'human-labelled query')} alone give {best} {alone}")
        text = "; ".join(told)
        return f"{text[0].upper()}{text[1:]}. {self._say_worth(found.worth, int(self.means[0].use[0]))}"

    def _show(self, low: float | None, high: float | None, *, signed: bool = False) -> str:
        """Return an interval in brackets."""
        if low is None or high is None:
            return " (no interval: nothing varies)"
        ends = [format_signed(end) if signed else f"{end:.4f}" for end in (low, high)]
        return f" ({100 * (1 - self.alpha):g} % interval {' … '.join(ends)})"

    def _say_worth(self, worth: float | None, use: int) -> str:
        """Return a sentence about the worth of the judge's labels for the mean of the best run."""
        if use != USED:
            return f"The judge's labels add nothing: {REASONS[use]}."
        if worth is None:
            return "Human labels alone give no interval, since they give every query the same value."
        count = round(worth)
        if count == 0:
            return "For this mean, the judge's labels are worth no human-labelled query."
        if count > 0:
            return f"For this mean, the judge's labels are worth {count_of(count, 'more human-labelled query')}."
        return f"For this mean, the judge's labels reduce precision, as if people had judged {-count:,} fewer."

    def sections(self, digits: int) -> list[Section]:  # noqa: ARG002 - the signature of all results
        """Return the answer, the means, the differences, and the segments if there are any."""
        sections: list[Section] = [self.summary(), self.table()]
        if self.pairs:
            sections.append(self.pairs_table())
        return [*sections, *([self.segments_table()] if self.segments else [])]

    def remarks(self) -> list[str]:
        """Return the method of estimation, and the meaning of the columns."""
        n, total = len(self.runs.queries), len(self.runs.every)
        level, settings = f"Intervals: {100 * (1 - self.alpha):g} % t intervals", self.runs.settings
        policies = f"for {TARGETS[self.target]}. Ties: {settings.ties}, {settings.precision} precision."
        if n == total:
            return [f"People judged all {count_of(n, 'query')} of the judge. {level}, uncorrected, {policies}"]
        every = [*self.means, *self.differences]
        if not any((found.use == USED).any() for found in every):
            some = f"People judged {n:,} of the {count_of(total, 'query')} that the judge labelled."
            return [f"{some} {level} from human labels alone, uncorrected, {policies}"]
        how = SLOPES_IN_WORDS[self.slope]
        freedom = f"{n - (2 if self.slope == LEAST_SQUARES else 1):,} degrees of freedom"
        freedom = "the degrees of freedom of Satterthwaite over segments" if self.segments else freedom
        factor = " and standard errors calibrated on the judge's values" if self.slope == "auto" else ""
        about = (
            f"People judged {n:,} of the {count_of(total, 'query')} that the judge labelled; these {n:,} are assumed "
            f"to be a random sample. Estimator: regression with {how}. {level} with {freedom}{factor}, uncorrected, "
            f"{policies}"
        )
        legend = (
            "r: correlation of human and machine values over the human-labelled queries; worth: how many more queries "
            "people would have to judge for the same precision without the judge"
        )
        if self.pairs and self.slope != 1:
            legend += "; each difference has a slope of its own, so it may not equal the difference of the two means"
        return [about, legend]

    @cached_property
    def notes(self) -> list[Note]:
        """Notes on queries and documents, and on estimates that do not use the judge."""
        uses = np.concatenate([found.use for found in [*self.means, *self.differences]])
        of = f"{len(uses):,} means and differences" if self.differences else count_of(len(uses), "mean")
        notes = [
            Note("unused", count, len(uses), f"{count:,} of {of} {verb} on human labels alone: {reason}")
            for use, reason in REASONS.items()
            if (count := int(np.count_nonzero(uses == use)))
            for verb in ["rests" if count == 1 else "rest"]
        ]
        return [*notes, *self.runs.notes]

    def as_dict(self) -> dict[str, Any]:
        """Return the result as plain data with all digits."""
        return {
            "summary": self.summary(),
            "target": self.target,
            "human": self.runs.queries,
            "queries": len(self.runs.every),
            "runs": self.data_table().records(),
            "pairs": [pair._asdict() for pair in self.pairs],
            "notes": self._list_notes(),
        }


def estimate(
    human: Any,
    runs: Mapping[str, Any] | Iterable[Any],
    measures: MeasureLike | Iterable[MeasureLike] = DEFAULT,
    *,
    judge: Any,
    target: Target = "like",
    slope: Slope = "auto",
    alpha: float = 0.05,
    ties: TiePolicy = "expected",
    queries: Literal["qrels"] | Iterable[Any] = "qrels",
    judged_only: bool = False,
    precision: Precision = "double",
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = ignore,
    columns: Names | None = None,
    duplicates: DuplicatePolicy = "error",
    document_pattern: str | None = None,
    by: Any = None,
    exclude: Any = None,
    exclude_self: bool = False,
) -> Estimation:
    """Estimate the means of runs from human labels of some queries and a judge's labels of all queries.

    `human` and `judge` are qrels. People should have judged a random sample of the queries of `judge`, as `sample`
    draws it. `target` is the population of the means: queries "like" these, or "these" queries of the judge. `slope` is
    how closely the means follow the judge: "auto" estimates it, with calibrated intervals; "least-squares" estimates it
    as in textbooks; 1 is PPI. `by` estimates each segment separately, which needs five human-labelled queries in each:
    it is {query: segment} for every query of the judge, a column of its qrels, or a table of both. `queries` may be a
    list of the judge's queries that count. The other parameters are those of evaluate.
    """
    check_choices(target, slope)
    check_alpha(alpha)
    settings = Settings(
        ties, "qrels", judged_only, precision, seed, threads, "zero", exclude_self, duplicates, document_pattern
    )
    how = {"queries": queries, "columns": columns, "by": by, "exclude": exclude}
    judged = judge_runs(human, judge, runs, measures, settings, progress, **how)
    estimation = Estimation(judged, target, slope, alpha)
    first = np.round(estimation.means[0].mean, DIGITS).tolist()
    best = sorted(zip(first, judged.names, strict=True), key=lambda pair: (-pair[0], pair[1]))
    return Estimation(judged.order([name for _, name in best]), target, slope, alpha)
