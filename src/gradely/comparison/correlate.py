"""correlate and pools: rank correlations between measures, and between full and smaller pools."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, Literal, NamedTuple

import numpy as np

from gradely.comparison.charts import altair, squares, style
from gradely.comparison.kendall import (
    DIGITS,
    SCALE,
    correlate_both,
    correlations,
    defined_or_none,
    meaning,
    round_means,
    tally,
)
from gradely.data import Qrels
from gradely.data.column_roles import Names
from gradely.data.ids import Bools, Floats, Ints
from gradely.data.selection import name_queries, read_selected
from gradely.errors import DataError
from gradely.evaluation.evaluate import DEFAULT, Evaluations, Progress, evaluate_all, ignore, name_runs, open_runs
from gradely.evaluation.notes import Note
from gradely.evaluation.result import Records, Section
from gradely.evaluation.stacked import StackedRuns
from gradely.lazy import Chart
from gradely.measures.ap import AP
from gradely.measures.names import MeasureLike, fit_all, need_subtopics, parse_all
from gradely.settings import (
    DuplicatePolicy,
    EmptyPolicy,
    Precision,
    Settings,
    TiePolicy,
    check_choice,
    is_number,
    is_whole,
)
from gradely.tables import Cell, Table, count_of


def stack(results: Evaluations) -> StackedRuns:
    """Return the hits of all runs in one table."""
    if len(results) < 2:
        raise DataError("at least 2 runs are needed to compare rankings; name another one")
    hits = {name: evaluation.placed_hits for name, evaluation in results.evaluations.items()}
    policies = [note for note in results.policy_notes if note.kind != "missing"]  # of which it has a note of its own
    return StackedRuns.of(results.qrels, hits, results.settings, policies)


TOPICS = {
    "all": "every judged query",
    "few-high": "queries with few documents of the highest level k, or of --level: R(1) >= 10·R(k), R(k) ≠ 0",
}
RATIO = 10
"""few-high queries have this many times as many documents of the lowest level as of the high level"""


class Selection(NamedTuple):
    """Flags of the selected queries and runs, and notes on those left out."""

    queries: Bools
    runs: Bools
    notes: list[Note]


def select(stacked: StackedRuns, *, topics: str, level: float | None, min_quartile: bool) -> Selection:
    """Select all or few-high queries, and all runs or those at or above the first quartile of AP."""
    check_choice("topics", topics, TOPICS)
    queries = select_few_high(stacked.qrels, level) if topics == "few-high" else np.ones(len(stacked.qrels), bool)
    good, notes = select_above_quartile(stacked) if min_quartile else (np.ones(len(stacked.names), bool), [])
    if good.sum() < 2:
        raise DataError("at least 2 runs are needed to compare rankings; fewer are left")
    return Selection(queries, good, notes)


def select_few_high(qrels: Qrels, level: float | None = None) -> Bools:
    """Return which queries have documents of a level, and at least ten times as many of the lowest level."""
    levels = qrels.levels()
    top = levels[-1] if level is None else level
    if len(levels) < 2 or top not in levels[1:]:
        listing = ", ".join(f"{x:g}" for x in levels)
        raise DataError(f"{qrels.name}: few-high needs a level above the lowest; the levels are {listing}")
    query = np.repeat(np.arange(len(qrels)), np.diff(qrels.start))
    low, high = (np.bincount(query[qrels.grade == x], minlength=len(qrels)) for x in (levels[0], top))
    skewed = np.asarray((low >= RATIO * high) & (high > 0))
    if not skewed.any():
        raise DataError(f"{qrels.name}: no query has R(1) >= {RATIO}·R(k), R(k) ≠ 0 for level k = {top:g}")
    return skewed


def select_above_quartile(stacked: StackedRuns) -> tuple[Bools, list[Note]]:
    """Return which runs are at or above the first quartile of AP over all queries, with a note on the others."""
    ap = np.average(stacked.values({"AP": AP()})[:, :, 0], axis=1, weights=stacked.weights()).round(DIGITS)
    good = ap >= np.quantile(ap, 0.25)
    low = int(np.count_nonzero(~good))
    text = f"{low:,} of {len(ap):,} runs lie below the first quartile of AP and are left out"
    return good, [Note("quartile", low, len(ap), text)] if low else []


@dataclass(frozen=True, eq=False, repr=False)
class Correlation(Records):
    """Rank correlations between measures; rows are measures and columns references. τ is symmetric, τ_AP is not."""

    measures: list[str]
    tau: Floats
    tau_ap: Floats
    runs: list[str]
    queries: list[str]
    means: Floats
    """[runs, measures] the means that are ranked"""
    ties: str
    notes: list[Note]

    def summary(self) -> str:
        """Return the size of the data, and a summary of τ, in two lines."""
        about = f"{count_of(len(self.runs), 'run')}, {count_of(len(self.queries), 'query')}, ties: {self.ties}"
        pairs = self.tau[np.triu_indices(len(self.measures), 1)]
        share = tally(pairs, "pair of measures" if len(pairs) == 1 else "pairs of measures")
        return f"{about}; τ_AP compares the row with the column, its reference\n{SCALE}; {share}"

    def tables(self) -> list[Table]:
        """Return the matrices of τ and τ_AP."""
        return [
            Table(
                [name, *self.measures],
                [[measure, *map(defined_or_none, row)] for measure, row in zip(self.measures, values, strict=True)],
            )
            for name, values in (("τ", self.tau.tolist()), ("τ_AP", self.tau_ap.tolist()))
        ]

    def records(self) -> list[dict[str, Cell]]:
        """Return one record per pair of measures."""
        return [
            {
                "measure": measure,
                "reference": reference,
                "tau": defined_or_none(self.tau[i, j]),
                "tau_ap": defined_or_none(self.tau_ap[i, j]),
                "meaning": meaning(self.tau[i, j]),
            }
            for i, measure in enumerate(self.measures)
            for j, reference in enumerate(self.measures)
        ]

    def chart(self) -> Chart:
        """Return an Altair chart with a square per pair of measures, labelled with τ."""
        return style(squares(self.records(), "measure", "reference", "tau", "τ", self.measures))


def correlate(
    qrels: Any,
    runs: Mapping[str, Any] | Iterable[Any],
    measures: MeasureLike | Iterable[MeasureLike] = DEFAULT,
    *,
    topics: str = "all",
    level: float | None = None,
    min_quartile: bool = False,
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
    exclude: Any = None,
    exclude_self: bool = False,
    empty: EmptyPolicy = "zero",
    weights: Any = None,
) -> Correlation:
    """Correlate the rankings of runs by several measures.

    `runs` is {name: run} or paths. `topics` is "all", or "few-high": queries with R(1) >= 10·R(level) and R(level) ≠ 0,
    where 1 stands for the lowest level, and `level` is the highest by default. `min_quartile` drops runs below the
    first quartile of AP. `queries` are those of the qrels, or a list, since all runs need the same queries. All other
    options are those of evaluate.
    """
    only, named = name_queries(queries), parse_all(measures)
    settings = Settings(
        ties, "qrels", judged_only, precision, seed, threads, empty, exclude_self, duplicates, document_pattern
    )
    judgments = read_selected(
        qrels, settings, columns, only=only, exclude=exclude, weights=weights, subtopics=need_subtopics(named)
    )
    judgments.check_certain("correlate")
    results = evaluate_all(judgments, open_runs(name_runs(runs), columns, settings), named, settings, progress)
    stacked = stack(results)
    topics_kept, runs_kept, notes = select(stacked, topics=topics, level=level, min_quartile=min_quartile)
    values = np.stack([scores.values for scores in results.values()])
    means = np.average(values[runs_kept][:, topics_kept], axis=1, weights=stacked.weights(topics_kept))
    run_names, query_names = list(compress(results, runs_kept)), list(compress(results.qrels.queries, topics_kept))
    notes = [*stacked.notes(), *notes, *results.sampling_notes]
    return Correlation(list(named), *correlations(means), run_names, query_names, means, ties, notes)


RATES = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05)
POOLS = "smaller pools"
"""the name of this step in progress reports"""


LEAST, LEAST_NONRELEVANT = 1, 10
"""minimum numbers of documents per query that stay judged, for each grade above 0 and for documents that are not
relevant, as in Buckley and Voorhees (2004)"""


class Draw:
    """A random order of the judgments within each query and grade; smaller pools are subsets of larger ones.

    All documents that are not relevant belong to one grade.
    """

    def __init__(self, qrels: Qrels, seed: Sequence[int]) -> None:
        """Draw an order that does not depend on the order of the input."""
        query = np.repeat(np.arange(len(qrels)), np.diff(qrels.start))
        named = sorted(range(len(query)), key=lambda i: (qrels.queries[int(query[i])], qrels.docs[i]))
        chance = np.empty(len(query))
        chance[named] = np.random.default_rng(seed).random(len(query))
        grade = np.maximum(qrels.grade, 0)
        order = np.lexsort((chance, grade, query))
        new = (np.diff(query[order], prepend=-1) != 0) | (np.diff(grade[order], prepend=np.nan) != 0)
        first = np.flatnonzero(new)
        size = np.diff(first, append=len(order))
        self.place, self.size = np.empty(len(order), np.int64), np.empty(len(order), np.int64)
        self.place[order] = np.arange(len(order)) - np.repeat(first, size)
        self.size[order] = np.repeat(size, size)
        self.relevant = grade > 0

    def sample(self, rate: float, least: int = LEAST, least_nonrelevant: int = LEAST_NONRELEVANT) -> Bools:
        """Return which judgments are kept: a share of each query and grade, rounded, and at least a minimum number."""
        fewest = np.where(self.relevant, least, least_nonrelevant)
        count: Ints = np.maximum(fewest, np.floor(rate * self.size + 0.5)).astype(np.int64)
        return np.asarray(self.place < count)


@dataclass(frozen=True, eq=False, repr=False)
class Pools(Records):
    """τ and τ_AP between the rankings of runs by the full pools and by smaller ones, [draws, rates, measures]."""

    measures: list[str]
    rates: list[float]
    tau: Floats
    tau_ap: Floats
    runs: int
    queries: int
    ties: str
    notes: list[Note]
    digits = 2

    def records(self) -> list[dict[str, Cell]]:
        """Return one record per measure and rate: the mean over the draws, and the interval that contains 95 % of them.

        τ is undefined if all runs tie in any draw.
        """
        mean, ap = self.tau.mean(axis=0), self.tau_ap.mean(axis=0)
        low, high = np.percentile(self.tau, (2.5, 97.5), axis=0)
        return [
            {
                "measure": measure,
                "rate": rate,
                "tau": defined_or_none(mean[i, j]),
                "low": defined_or_none(low[i, j]),
                "high": defined_or_none(high[i, j]),
                "tau_ap": defined_or_none(ap[i, j]),
                "meaning": meaning(mean[i, j]),
            }
            for j, measure in enumerate(self.measures)
            for i, rate in enumerate(self.rates)
        ]

    def summary(self) -> str:
        """Return the size of the data, and a summary of τ, in two lines."""
        sizes = [count_of(self.runs, "run"), count_of(self.queries, "query"), count_of(len(self.tau), "draw")]
        about = f"{', '.join(sizes)}, ties: {self.ties}"
        drawn = self.tau[:, int(np.argmin(self.rates))]
        where = "" if np.array_equal(np.isnan(drawn).all(axis=0), np.isnan(drawn).any(axis=0)) else " in some draws"
        share = tally(drawn.mean(axis=0), "measure" if len(self.measures) == 1 else "measures", where)
        rate = min(self.rates)
        draws = "mean τ, and the interval that contains 95 % of the draws"
        return f"{about}; {draws}\n{SCALE}; with {rate:.4g} of the pool, {share}"

    def tables(self, digits: int = 2) -> list[Table]:
        """Return one row per measure and one column per rate, with the mean τ and the interval of the draws."""
        records = iter(self.records())
        rows: list[list[Cell]] = [
            [measure, *(_span(next(records), digits) for _ in self.rates)] for measure in self.measures
        ]
        return [Table(["τ", *(f"{rate:.4g}" for rate in self.rates)], rows)]

    def sections(self, digits: int) -> list[Section]:
        """Return the table; its cells are texts with this number of decimals."""
        return [*self.tables(digits)]

    def chart(self) -> Chart:
        """Return an Altair chart with one line per measure and the interval of its draws."""
        alt = altair()
        base = alt.Chart(alt.Data(values=self.records())).encode(
            x=alt.X("rate:Q", title="share of the pool", axis=alt.Axis(format="%"), scale=alt.Scale(reverse=True)),
            color=alt.Color("measure:N", sort=None, title=None, legend=alt.Legend(symbolOpacity=1)),
        )
        scale = alt.Scale(zero=False)
        bands = base.mark_area(opacity=0.12).encode(y=alt.Y("low:Q", scale=scale, title="τ"), y2="high:Q")
        lines = base.mark_line(point=True).encode(y=alt.Y("tau:Q", scale=scale, title="τ"))
        return style((bands + lines).properties(width=420, height=300))


def _span(record: Mapping[str, Any], digits: int) -> str | None:
    if record["tau"] is None:
        return None
    return f"{record['tau']:.{digits}f} [{record['low']:.{digits}f}, {record['high']:.{digits}f}]"


def pools(
    qrels: Any,
    runs: Mapping[str, Any] | Iterable[Any],
    measures: MeasureLike | Iterable[MeasureLike] = DEFAULT,
    *,
    rates: Sequence[float] = RATES,
    repeat: int = 10,
    least: int = LEAST,
    least_nonrelevant: int = LEAST_NONRELEVANT,
    topics: str = "all",
    level: float | None = None,
    min_quartile: bool = False,
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
    exclude: Any = None,
    exclude_self: bool = False,
    empty: EmptyPolicy = "zero",
    weights: Any = None,
) -> Pools:
    """Correlate the rankings of runs by the full pools with those by random subsets of the pools.

    The same share of the documents of each query and grade stays judged, but at least `least` of each grade above 0 and
    `least_nonrelevant` of those that are not relevant. Each rate is drawn `repeat` times. `runs` is {name: run} or
    paths. `topics`, `level`, `min_quartile` and `queries` are as in correlate. All other options are those of evaluate.
    """
    check_rates(rates, repeat, least, least_nonrelevant)
    settings = Settings(
        ties, "qrels", judged_only, precision, seed, threads, empty, exclude_self, duplicates, document_pattern
    )
    named = parse_all(measures)
    only = name_queries(queries)
    judgments = read_selected(
        qrels, settings, columns, only=only, exclude=exclude, weights=weights, subtopics=need_subtopics(named)
    )
    judgments.check_certain("pools")
    results = evaluate_all(judgments, open_runs(name_runs(runs), columns, settings), named, settings, progress)
    stacked = stack(results)
    selection = select(stacked, topics=topics, level=level, min_quartile=min_quartile)
    return Draws(stacked, selection, seed, least, least_nonrelevant).correlate(named, rates, repeat, progress)


class Draws(NamedTuple):
    """Runs, the selection of runs and queries, and the design of smaller pools."""

    stacked: StackedRuns
    selection: Selection
    seed: int
    least: int = LEAST
    least_nonrelevant: int = LEAST_NONRELEVANT

    def correlate(self, measures: Mapping[str, Any], rates: Sequence[float], repeat: int, progress: Progress) -> Pools:
        """Correlate the rankings by the full pools with those by smaller ones."""
        full = self._means(self.stacked.values(measures))
        tau, ap = np.empty((repeat, len(rates), len(measures))), np.empty((repeat, len(rates), len(measures)))
        for i, j, values in self.values(measures, rates, repeat):
            part = self._means(values)
            tau[i, j], ap[i, j] = zip(*(correlate_both(x, y) for x, y in zip(part.T, full.T, strict=True)), strict=True)
            progress(POOLS, (i * len(rates) + j + 1) / (repeat * len(rates)))
        count, queries = int(self.selection.runs.sum()), int(self.selection.queries.sum())
        notes = [*self.stacked.notes(), *self.selection.notes]
        return Pools(list(measures), [*rates], tau, ap, count, queries, self.stacked.settings.ties, notes)

    def values(
        self, measures: Mapping[str, Any], rates: Sequence[float], repeat: int
    ) -> Iterator[tuple[int, int, Floats]]:
        """Yield the index of the draw, the index of the rate, and the values [runs, queries, measures].

        Measures are fitted to the levels of the full pools, even if a smaller pool lacks some levels.
        """
        fitted = fit_all(measures, self.stacked.qrels.levels)
        full = self.stacked.values(fitted)
        for i in range(repeat):
            draw = Draw(self.stacked.qrels, (self.seed, i))
            for j, rate in enumerate(rates):
                if rate == 1:
                    yield i, j, full
                else:
                    judged = draw.sample(rate, self.least, self.least_nonrelevant)
                    yield i, j, self.stacked.with_judgments(judged).values(fitted)

    def _means(self, values: Floats) -> Floats:
        """Return the means of the selected runs over the selected queries, rounded to detect ties."""
        queries = self.selection.queries
        weights = self.stacked.weights(queries)
        return round_means(np.average(values[self.selection.runs][:, queries], axis=1, weights=weights))


MOST_DRAWS = 1_000_000
"""the most draws of pools, each of which keeps a number per rate and measure"""


def check_rates(rates: Sequence[float], repeat: int, least: int, least_nonrelevant: int) -> None:
    """Raise DataError for invalid rates, numbers of draws, and minimum numbers of documents."""
    if not rates or not all(is_number(rate) and 0 < rate <= 1 for rate in rates):
        raise DataError(f"rates must be shares of the pool, above 0 and at most 1; found {', '.join(map(str, rates))}")
    if not is_whole(repeat) or repeat < 1:
        raise DataError(f"repeat must be a whole number of at least 1; found {repeat!r}")
    if repeat > MOST_DRAWS:
        raise DataError(f"repeat must be at most {MOST_DRAWS:,}; found {repeat}")
    for name, value in (("least", least), ("least_nonrelevant", least_nonrelevant)):
        if value < 0:
            raise DataError(
                f"{name}, the number of documents to keep of each query and grade, must be at least 0; found {value}"
            )
