"""simulate_judging: how many judgments it takes to decide which of two runs is better, by worth and by rank."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gradely.comparison.tests import all_pairs
from gradely.data.column_roles import Names
from gradely.data.ids import Bools, Floats, Ints
from gradely.data.selection import name_queries, read_selected
from gradely.errors import DataError
from gradely.evaluation.evaluate import Progress, evaluate_all, ignore, name_runs, open_runs
from gradely.evaluation.label_bounds import Bounds, LabelRanges, check_settings, depth_of, find_bounds, weigh
from gradely.evaluation.label_ranges import is_decided
from gradely.evaluation.notes import Note
from gradely.evaluation.open_documents import Labels, OpenRuns, with_open_documents
from gradely.evaluation.result import Result, Section
from gradely.evaluation.stacked import StackedRuns
from gradely.judgments.holes import DEFAULT, DIGITS, worth_of
from gradely.measures.names import MeasureLike, fit_all, parse_all
from gradely.settings import DuplicatePolicy, Precision, Settings, TiePolicy
from gradely.tables import Table, count_of


class Judging(NamedTuple):
    """The numbers of pairs of runs that are decided after some judgments."""

    judgments: int
    by_worth: int
    """with the documents in the order of their worth, which is computed again after each step"""
    by_rank: int
    """with the documents in the order of their best rank in any run, as in a pool"""


@dataclass(eq=False, repr=False)
class JudgingSimulation(Result):
    """How many judgments it takes to decide pairs of runs, if documents are judged by worth or by rank.

    >>> from gradely import simulate_judging
    >>> qrels = {"q": {"a": 1, "b": 0, "c": 0}}
    >>> found = simulate_judging(qrels, {"x": {"q": ["c", "a"]}, "y": {"q": ["c", "b"]}}, "P@2")
    >>> found.steps[1]
    Judging(judgments=1, by_worth=0, by_rank=0)
    >>> found.steps[-1]
    Judging(judgments=3, by_worth=1, by_rank=1)
    """

    measure: str
    depth: int
    pairs: int
    total: int
    """the number of judged documents that can be at the top of at least one run"""
    steps: list[Judging]
    notes: tuple[Note, ...] = ()

    def needed(self, order: str) -> int:
        """Return the number of judgments after which all pairs are decided, in the order by_worth or by_rank."""
        return next(step.judgments for step in self.steps if getattr(step, order) == self.pairs)

    def table(self) -> Table:
        """Return one row per step: the number of judgments, and of decided pairs in each order."""
        header = ["judgments", "decided by worth", "decided by rank"]
        return Table(header, [list(step) for step in self.steps])

    def summary(self) -> str:
        """Return a sentence with the number of judgments after which all pairs are decided."""
        pairs = "The pair of runs is" if self.pairs == 1 else f"All {self.pairs:,} pairs of runs are"
        worth, rank = self.needed("by_worth"), self.needed("by_rank")
        return (
            f"{pairs} decided by {self.measure} after {worth:,} of {count_of(self.total, 'judgment')} in the order of "
            f"worth, and after {rank:,} by rank."
        )

    def sections(self, digits: int) -> list[Section]:  # noqa: ARG002 - the signature of all results
        """Return the sentence, and the steps at which more pairs are decided than before."""
        before = [None, *(step[1:] for step in self.steps)]
        news = [list(step) for step, last in zip(self.steps, before, strict=False) if step[1:] != last]
        return [self.summary(), self.table()._replace(rows=news)]

    def remarks(self) -> list[str]:
        """Return a description of the simulation."""
        documents = f"the {self.total:,} judged documents in the top {self.depth:,} of the runs"
        text = f"the simulation begins without judgments and reveals those of {documents}"
        return [f"{text}; other documents count as not relevant"]

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "summary": self.summary(),
            "measure": self.measure,
            "pairs": self.pairs,
            "total": self.total,
        } | super().as_dict()


def simulate_judging(
    qrels: Any,
    runs: Any,
    measure: MeasureLike | Iterable[MeasureLike] = DEFAULT,
    labels: Iterable[float] | None = None,
    depth: int | None = None,
    *,
    top: float | None = None,
    ties: TiePolicy = "expected",
    queries: str | Iterable[Any] = "qrels",
    precision: Precision = "double",
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = ignore,
    columns: Names | None = None,
    duplicates: DuplicatePolicy = "error",
    document_pattern: str | None = None,
    exclude: Any = None,
    exclude_self: bool = False,
) -> JudgingSimulation:
    """Hide all judgments, reveal them in two orders, and count the pairs of runs that are decided along the way.

    One order is by the worth of documents as in Holes.judge, computed again after each step; the other is by rank, as
    in a pool. The parameters are those of holes.
    """
    only = name_queries(queries)
    settings = Settings(
        ties,
        "qrels",
        precision=precision,
        seed=seed,
        threads=threads,
        exclude_self=exclude_self,
        duplicates=duplicates,
        document_pattern=document_pattern,
    )
    check_settings(settings)
    judgments = read_selected(qrels, settings, columns, only=only, exclude=exclude)
    judgments.check_certain("holes")
    named = parse_all(measure)
    if len(named) > 1:
        raise DataError(f"judging is simulated by a single measure; found {', '.join(named)}")
    (name, one), allowed = next(iter(named.items())), Labels.of(judgments, labels, top)
    kind, reach = find_bounds(one, judgments, allowed), depth_of(one, depth)
    opened = open_runs(name_runs(runs), columns, settings)
    if len(opened) < 2:
        raise DataError("judging is simulated to decide which of two runs is better; name another run")
    results = evaluate_all(judgments, opened, {}, settings, progress)
    hits = {run: evaluation.placed_hits for run, evaluation in results.evaluations.items()}
    stacked = StackedRuns.of(judgments, hits, settings)
    world = with_open_documents(stacked, np.ones(len(judgments.grade), bool))
    world = world.keep(world.above < reach)
    (fitted,) = fit_all(named, judgments.levels).values()
    bound = partial(_bound, kind, fitted, world, allowed, weigh(judgments, np.arange(len(judgments))))
    size = len(world.above)
    step = max(1, -(-size // 50))  # decided pairs are counted 50 times
    looks = sorted({*range(0, size, step), size})
    worth, rank = (_count_decided(bound, world, looks, by_worth=flag) for flag in (True, False))
    steps = [Judging(*row) for row in zip(looks, worth, rank, strict=True)]
    last = next(i for i, step in enumerate(steps) if step.by_worth == step.by_rank == steps[-1].by_rank)
    return JudgingSimulation(
        name, reach, len(all_pairs(len(opened))), size, steps[: last + 1], tuple(results.data_notes)
    )


def _bound(
    kind: type[Bounds], measure: Any, world: OpenRuns, labels: Labels, weights: Floats | None, judged: Bools
) -> LabelRanges:
    """Return the ranges that remain if only some documents are judged."""
    bounds = kind(measure, world._replace(is_open=~judged), labels)
    return LabelRanges({"": bounds}, {}, labels, np.arange(len(world.stacked.qrels)), weights)


def _count_decided(bound: Any, world: OpenRuns, looks: list[int], *, by_worth: bool) -> list[int]:
    """Return how many pairs are decided at each look, with documents judged by worth or by rank."""
    first, second = all_pairs(len(world.stacked.names))
    by_rank = np.argsort(world.above, kind="stable")
    judged, worth, counts = np.zeros(len(world.above), bool), np.zeros(len(world.above)), list[int]()
    for look in looks:
        judged[_choose(by_rank, judged, worth, look - int(judged.sum()))] = True
        found = bound(judged)
        low, high = (end.tolist() for end in found.differences("", first, second))
        decided = np.array([is_decided(*ends) for ends in zip(low, high, strict=True)])
        counts.append(int(decided.sum()))
        if decided.all():
            return counts + [len(decided)] * (len(looks) - len(counts))
        if by_worth:
            worth[~judged] = worth_of(found, "", first[~decided], second[~decided])
    return counts


def _choose(by_rank: Ints, judged: Bools, worth: Floats, count: int) -> Ints:
    """Return the documents to judge next: those with the highest worth and, among equals, the best rank."""
    rest = by_rank[~judged[by_rank]]
    return rest[np.argsort(-worth[rest].round(DIGITS), kind="stable")][:count]
