"""ties: how much results depend on the order of tied documents."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Any, NamedTuple

from gradely.data.column_roles import Names
from gradely.data.selection import read_selected, split_queries
from gradely.data.tie_counts import TieCounts
from gradely.data.tops import RunDetails
from gradely.evaluation.evaluate import DEFAULT, Progress, evaluate_all, ignore, name_runs, open_runs
from gradely.evaluation.notes import SAME, Note
from gradely.evaluation.result import MOST, Result, Section
from gradely.evaluation.values import Evaluation
from gradely.measures.names import MeasureLike, need_subtopics, parse_all
from gradely.settings import DuplicatePolicy, EmptyPolicy, QueryPolicy, Settings
from gradely.tables import Cell, Table, count_of, typed_frame


class Orders(NamedTuple):
    """The mean of a measure under different orders of tied documents."""

    trec: float | None
    """None if the runs were ranked under another policy that orders documents"""
    worst: float
    expected: float
    best: float


class RunTies(NamedTuple):
    """The effect of ties on one run."""

    run: str
    tied: TieCounts
    orders: dict[str, Orders]
    """{measure: means}"""


class Swap(NamedTuple):
    """Two runs whose order by a measure depends on the order of tied documents; the first has the higher mean."""

    measure: str
    first: str
    second: str
    worst_to_best: bool
    """whether the runs swap between the worst and the best order of the ties of both"""
    trec: bool
    """whether trec_eval's order of ties ranks the second run first"""


@dataclass(eq=False, repr=False)
class TieSensitivity(Result):
    """The effect of ties on several runs and on their ranking."""

    runs: list[RunTies]
    measures: list[str]
    settings: Settings
    queries: int
    """the number of judged queries"""
    policies: Sequence[Note] = ()
    """notes on policies, and on means of sampled orders"""
    weighted: bool = False
    """whether means are weighted"""

    @cached_property
    def swaps(self) -> list[Swap]:
        """The pairs of runs that can swap: one in its best order of ties, and the other in its worst."""
        return [
            swap for measure in self.measures for a, b in combinations(self.runs, 2) for swap in _swap(measure, a, b)
        ]

    def count_swaps(self) -> str:
        """Return the number of pairs that can swap by any measure, as a sentence."""
        pairs = len({frozenset((swap.first, swap.second)) for swap in self.swaps})
        of_runs = f"{pairs:,} of {count_of(comb(len(self.runs), 2), 'pair')} of runs"
        orders = "the first in its worst order, the second in its best"
        return f"{of_runs} can change places, depending on the order of ties ({orders})"

    @property
    def notes(self) -> list[Note]:
        """Notes on policies, and on ties that may be due to the precision of stored scores."""
        return [*self.policies, *(note for run in self.runs for note in _note_precision(run.run, run.tied))]

    def runs_table(self) -> Table:
        """Return one row per run: the number of tied documents, and the precision of its scores."""
        header = ["run", "documents", "tied", "share", "groups", "largest", "scores fit", "more in single", "in half"]
        rows: list[list[Cell]] = [
            [run, t.documents, t.tied, t.share, t.groups, t.largest, t.stored, t.single, t.half]
            for run, t, _ in self.runs
        ]
        return Table(header, rows)

    def table(self) -> Table:
        """Return orders_table: one row per measure and run."""
        return self.orders_table()

    def orders_table(self) -> Table:
        """Return one row per measure and run: the mean under each order of ties."""
        rows: list[list[Cell]] = [
            [measure, run.run, *run.orders[measure], run.orders[measure].best - run.orders[measure].worst]
            for measure in self.measures
            for run in self.runs
        ]
        return Table(["measure", "run", *Orders._fields, "best - worst"], rows)

    def swaps_table(self) -> Table:
        """Return one row per measure and pair of runs that can swap."""
        rows: list[list[Cell]] = [
            [swap.measure, swap.first, swap.second, *("yes" if flag else "no" for flag in swap[3:])]
            for swap in self.swaps
        ]
        return Table(["measure", "first", "second", "from worst to best", "in trec order"], rows)

    @typed_frame
    def to_frame(self, library: str = "pandas") -> Any:
        """Return a pandas, polars or pyarrow dataframe of (measure, run, trec, worst, expected, best)."""
        rows = [[measure, run.run, *run.orders[measure]] for measure in self.measures for run in self.runs]
        return Table(["measure", "run", *Orders._fields], rows).to_frame(library)

    def caption(self) -> str:
        """Return the queries and the policies."""
        policy = self.settings.queries
        queries = count_of(self.queries, "query") if policy == "qrels" else "the queries of each run"
        judged = self.settings.describe(weighted=self.weighted)
        return f"Data: means over {queries}, queries: {policy}{judged}, {self.settings.precision} precision."

    def remarks(self) -> list[str]:
        """Return the meaning of the columns, and the caption."""
        formats = (
            "scores fit: the coarsest format that holds all scores; more in single, in half: documents that would also "
            "tie if scores were rounded to that precision"
        )
        swaps = (
            "; from worst to best: whether the runs change places if both go from their worst order to their best; in "
            "trec order: whether trec_eval's order of ties swaps them"
        )
        return [formats + (swaps if self.swaps else ""), self.caption()]

    def sections(self, digits: int) -> list[Section]:  # noqa: ARG002 - as all results have it
        """Return the tables of tied documents, of means under each order of ties, and of runs that can swap."""
        above: list[Section] = [self.runs_table(), self.orders_table()]
        swaps = self.swaps_table()
        if not swaps.rows:
            return [*above, "No pair of runs can change places, whatever the order of ties."]
        rest = len(swaps.rows) - MOST
        more = f"… and {rest:,} more; the JSON output has them all" if rest > 0 else ""
        return [*above, f"{self.count_swaps()}:", swaps._replace(rows=swaps.rows[:MOST], more=more)]

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data, values in full."""
        return {
            "caption": self.caption(),
            "runs": [
                {"run": run, "ties": tied._asdict() | {"share": tied.share}}
                | {"orders": {measure: order._asdict() for measure, order in orders.items()}}
                for run, tied, orders in self.runs
            ],
            "notes": self._list_notes(),
            "swaps": [swap._asdict() for swap in self.swaps],
        }


def tie_sensitivity(
    qrels: Any,
    runs: Mapping[str, Any] | Iterable[Any],
    measures: MeasureLike | Iterable[MeasureLike] = DEFAULT,
    *,
    queries: QueryPolicy | Iterable[Any] = "qrels",
    judged_only: bool = False,
    threads: int | None = None,
    progress: Progress = ignore,
    columns: Names | None = None,
    duplicates: DuplicatePolicy = "error",
    document_pattern: str | None = None,
    exclude: Any = None,
    exclude_self: bool = False,
    empty: EmptyPolicy = "zero",
    weights: Any = None,
) -> TieSensitivity:
    """Show how the order of tied documents affects the means of runs, {name: run} or paths, and their ranking.

    All options are those of evaluate. If no exact mean over all orders is known, the expected value is the mean of
    sampled orders, as with ties="sampled", and a note gives its sampling error.

    >>> ties = tie_sensitivity({"q": {"a": 1, "b": 0}}, {"tied": {"q": {"a": 1.0, "b": 1.0}}}, ["RR"])
    >>> ties.runs[0].orders["RR"]
    Orders(trec=0.5, worst=0.5, expected=0.75, best=1.0)
    """
    policy, only = split_queries(queries)
    named = parse_all(measures)
    settings = Settings(
        "sampled",
        policy,
        judged_only,
        threads=threads,
        empty=empty,
        exclude_self=exclude_self,
        duplicates=duplicates,
        document_pattern=document_pattern,
    )
    judgments = read_selected(
        qrels, settings, columns, only=only, exclude=exclude, weights=weights, subtopics=need_subtopics(named)
    )
    judgments.check_certain("ties")
    opened = open_runs(name_runs(runs), columns, settings)
    results = evaluate_all(judgments, opened, named, settings, progress, places="trec", depth=0)
    sensitivities = [run_ties(evaluation, evaluation.details) for evaluation in results.evaluations.values()]
    weighted = results.qrels.weights is not None
    return TieSensitivity(sensitivities, list(named), settings, len(results.qrels), results.data_notes, weighted)


def run_ties(evaluation: Evaluation, details: RunDetails | None) -> RunTies:
    """Return the effect of ties on one run, which was evaluated with details."""
    assert details is not None
    expected = evaluation.with_ties("sampled").scores()
    trec = evaluation.with_ties("trec").scores().mean() if evaluation.placed == "trec" else {}
    moved = {span.measure: span for span in expected.tie_ranges}
    orders = {}
    for measure, mean in expected.mean().items():
        ends = (moved[measure].low, moved[measure].high) if measure in moved else (mean, mean)
        orders[measure] = Orders(trec.get(measure), ends[0], mean, ends[1])
    return RunTies(evaluation.name, details.ties, orders)


def _note_precision(run: str, tied: TieCounts) -> Iterator[Note]:
    if tied.tied and tied.stored in ("half precision", "bfloat16"):
        text = f"documents are tied, perhaps only because of how scores were stored: all fit {tied.stored}"
        yield Note("stored", tied.tied, tied.documents, f"{run}: {tied.tied:,} of {tied.documents:,} {text}")
    if tied.single:
        more = count_of(tied.single, "more document")
        text = f"{run}: {more} would tie in single precision, as in trec_eval 9 and older"
        yield Note("single", tied.single, tied.documents, text)


def _swap(measure: str, a: RunTies, b: RunTies) -> Iterator[Swap]:
    """Yield a swap if the worst mean of the higher run is below the best mean of the lower run."""
    high, low = (a, b) if a.orders[measure].expected >= b.orders[measure].expected - SAME else (b, a)
    x, y = high.orders[measure], low.orders[measure]
    if y.best - x.worst > SAME:  # and so at least one of them has ties
        ahead = (x.worst - y.worst, x.best - y.best)
        crossed = min(ahead) < -SAME and max(ahead) > SAME
        trec = x.trec is not None and y.trec is not None and y.trec - x.trec > SAME
        yield Swap(measure, high.run, low.run, crossed, trec)
