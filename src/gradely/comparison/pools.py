"""pools: whether systems would be ranked alike, had fewer documents been judged."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gradely.comparison.kendall import DIGITS, kendall, shown, tau_ap
from gradely.comparison.stacked import StackedRuns, stack
from gradely.data import Qrels, read_qrels
from gradely.data.types import Bools, Floats, Ints
from gradely.errors import DataError
from gradely.evaluation.notes import Note, count_of
from gradely.evaluation.runs import DEFAULT, Progress, evaluate_all, ignore, name_runs
from gradely.measures.names import MeasureLike, parse_all
from gradely.optional import altair
from gradely.settings import Precision, Settings, TiePolicy
from gradely.tables import Cell, Table

RATES = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05)
POOLS = "smaller pools"
"""what progress calls the work after the runs are read"""
INTERVAL = (2.5, 97.5)
"""percentiles of the draws"""


class Draw:
    """A random order of the judgments within each topic and grade; smaller pools are parts of larger ones."""

    def __init__(self, qrels: Qrels, seed: Sequence[int]) -> None:
        """Draw an order; it does not depend on the order of the input."""
        topic = np.repeat(np.arange(len(qrels)), np.diff(qrels.start))
        named = sorted(range(len(topic)), key=lambda i: (qrels.queries[int(topic[i])], qrels.docs[i]))
        chance = np.empty(len(topic))
        chance[named] = np.random.default_rng(seed).random(len(topic))
        order = np.lexsort((chance, qrels.grade, topic))
        new = (np.diff(topic[order], prepend=-1) != 0) | (np.diff(qrels.grade[order], prepend=np.nan) != 0)
        first = np.flatnonzero(new)
        size = np.diff(first, append=len(order))
        self.place, self.size = np.empty(len(order), np.int64), np.empty(len(order), np.int64)
        self.place[order] = np.arange(len(order)) - np.repeat(first, size)
        self.size[order] = np.repeat(size, size)

    def kept(self, rate: float) -> Bools:
        """Return which judgments are kept: of each topic and grade this share, rounded, and at least one."""
        count: Ints = np.maximum(1, np.floor(rate * self.size + 0.5)).astype(np.int64)
        return np.asarray(self.place < count)


class Pools(NamedTuple):
    """τ and τ_AP between the rankings of systems from the full and from smaller pools, [draws, rates, measures]."""

    measures: list[str]
    rates: list[float]
    tau: Floats
    tau_ap: Floats
    systems: int
    topics: int
    ties: str
    notes: list[Note]

    def records(self) -> list[dict[str, Cell]]:
        """Return one record a measure and rate: the mean over the draws and the interval that holds 95 % of them.

        There is no τ where all systems tie.
        """
        mean, ap = self.tau.mean(axis=0), self.tau_ap.mean(axis=0)
        low, high = np.percentile(self.tau, INTERVAL, axis=0)
        return [
            {
                "measure": measure,
                "rate": rate,
                "tau": shown(mean[i, j]),
                "low": shown(low[i, j]),
                "high": shown(high[i, j]),
                "tau_ap": shown(ap[i, j]),
            }
            for j, measure in enumerate(self.measures)
            for i, rate in enumerate(self.rates)
        ]

    def summary(self) -> str:
        """Return what it is about, in a line."""
        sizes = [count_of(self.systems, "run"), count_of(self.topics, "query"), count_of(len(self.tau), "draw")]
        about = f"{', '.join(sizes)}, ties {self.ties}"
        return f"{about}; mean τ and 95 % of the draws"

    def tables(self, digits: int = 2) -> list[Table]:
        """Return one row a measure, one column a rate: the mean τ and the interval of the draws."""
        records = iter(self.records())
        rows: list[list[Cell]] = [
            [measure, *(_span(next(records), digits) for _ in self.rates)] for measure in self.measures
        ]
        return [Table(["τ", *(f"{rate:.4g}" for rate in self.rates)], rows)]

    def to_frame(self, library: str = "pandas") -> Any:
        """Return a dataframe of (measure, rate, tau, low, high, tau_ap), of pandas, polars or pyarrow."""
        return Table.of(self.records()).to_frame(library)

    def chart(self) -> Any:
        """Return an altair chart: a line a measure, with the interval of its draws."""
        alt = altair()
        base = alt.Chart(alt.Data(values=self.records())).encode(
            x=alt.X("rate:Q", title="share of the pool", axis=alt.Axis(format="%"), scale=alt.Scale(reverse=True)),
            color=alt.Color("measure:N", sort=None, title=None, legend=alt.Legend(symbolOpacity=1)),
        )
        scale = alt.Scale(zero=False)
        bands = base.mark_area(opacity=0.12).encode(y=alt.Y("low:Q", scale=scale, title="τ"), y2="high:Q")
        return (bands + base.mark_line(point=True).encode(y=alt.Y("tau:Q", scale=scale, title="τ"))).properties(
            width=420, height=300
        )


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
    ties: TiePolicy = "expected",
    judged_only: bool = False,
    precision: Precision = "double",
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = ignore,
) -> Pools:
    """Correlate the rankings of systems from the full pools with those from random parts of them.

    Of each topic and grade the same share of documents stays judged, at least one; this is drawn `repeat` times. `runs`
    is {name: run} or paths. The other options are those of evaluate: ties, judged_only, precision, threads.
    """
    check_rates(rates, repeat)
    settings, named = Settings(ties, "qrels", judged_only, precision, seed, threads), parse_all(measures)
    results = evaluate_all(read_qrels(qrels, threads=threads), name_runs(runs), named, settings, progress)
    return draw_pools(stack(results), named, rates, repeat, seed, progress)


def draw_pools(
    systems: StackedRuns,
    measures: Mapping[str, Any],
    rates: Sequence[float],
    repeat: int,
    seed: int,
    progress: Progress,
) -> Pools:
    """Correlate the rankings of runs that have been read."""
    full = _means(systems, measures)
    tau, ap = np.empty((repeat, len(rates), len(measures))), np.empty((repeat, len(rates), len(measures)))
    for i in range(repeat):
        draw = Draw(systems.qrels, (seed, i))
        for j, rate in enumerate(rates):
            part = full if rate == 1 else _means(systems.with_judgments(draw.kept(rate)), measures)
            tau[i, j] = [kendall(x, y) for x, y in zip(part.T, full.T, strict=True)]
            ap[i, j] = [tau_ap(x, y) for x, y in zip(part.T, full.T, strict=True)]
            progress(POOLS, (i * len(rates) + j + 1) / (repeat * len(rates)))
    size, queries = len(systems.names), len(systems.qrels)
    return Pools(list(measures), [*rates], tau, ap, size, queries, systems.settings.ties, systems.notes())


def _means(systems: StackedRuns, measures: Mapping[str, Any]) -> Floats:
    means: Floats = systems.values(measures).mean(axis=1)
    return np.round(means, DIGITS)


def check_rates(rates: Sequence[float], repeat: int) -> None:
    """Refuse rates that are no shares, and no draws."""
    if not rates or not all(0 < rate <= 1 for rate in rates):
        raise DataError(f"rates are shares of the pool, above 0 and up to 1; found {', '.join(map(str, rates))}")
    if repeat < 1:
        raise DataError(f"pools are drawn at least once; found repeat={repeat}")
