"""compare: several runs on the same topics, with honest statistics."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from gradely.comparison.leaderboard import Leaderboard
from gradely.comparison.pairwise import DRAWN, Design, Pair, Pairwise
from gradely.comparison.resampling import RESAMPLES
from gradely.comparison.significance import CORRECTIONS, TESTS
from gradely.data import open_run, read_qrels
from gradely.data.details import describe_run, top_depth
from gradely.data.read.files import clip
from gradely.errors import DataError, did_you_mean
from gradely.evaluation.notes import Note, count_of
from gradely.evaluation.runs import DEFAULT, Progress, evaluate_all, ignore, name_runs
from gradely.frames import to_frame
from gradely.measures.names import MeasureLike, parse_all
from gradely.settings import Precision, QueryPolicy, Settings, TiePolicy
from gradely.tables import Cell, Marked, Table, to_text

LETTERS = "abcdefghijklmnoprstuvwxyz"
"""marks of runs; there is no raised q"""
LONGEST = 60
"""names of baselines that are longer are cut where they are told"""
COLUMNS = ("run", "measure", "mean", "low", "high", "worst", "best", "better_than")


def compare(
    qrels: Any,
    runs: Mapping[str, Any] | Iterable[Any],
    measures: MeasureLike | Iterable[MeasureLike] = DEFAULT,
    *,
    baselines: str | Iterable[str] = (),
    test: str = "t",
    correction: str | None = None,
    alpha: float = 0.05,
    resamples: int = RESAMPLES,
    seed: int = 0,
    ties: TiePolicy = "expected",
    queries: QueryPolicy = "qrels",
    judged_only: bool = False,
    precision: Precision = "double",
    threads: int | None = None,
    details: bool = False,
    progress: Progress = ignore,
) -> "Comparison":
    """Compare runs, {name: run} or paths, pair by pair or against baselines.

    `test`: t, wilcoxon, randomization, bootstrap, or tukey (randomised HSD, blocked by topic).
    `correction`: holm (the default), bonferroni, bh or none, over all pairs and measures; tukey needs none.
    `resamples` and `seed` are for tests and intervals that draw.
    `details` gathers what to_html needs while the runs are read; without it, to_html reads them again.
    The rest is as in evaluate.

    >>> qrels = {"q1": {"d": 1}, "q2": {"d": 1}, "q3": {"d": 1}}
    >>> good, bad = {q: ["d", "x"] for q in qrels}, {q: ["x", "d"] for q in qrels}
    >>> pair = compare(qrels, {"good": good, "bad": bad}, ["RR"], test="randomization").pairs[0]
    >>> (pair.difference, pair.wins, pair.p) == (1 - 1 / 2, 3, 2 / 2**3)
    True
    """
    several = (baselines,) if isinstance(baselines, str) else tuple(baselines)
    design = Design(test, correction, alpha, seed, resamples, several).settled()
    settings, named = Settings(ties, queries, judged_only, precision, seed, threads), name_runs(runs)
    unknown = next((name for name in several if name not in named), None)
    if unknown is not None:
        raise DataError(f"no run {clip(unknown)} to be the baseline.{did_you_mean(unknown, named)}")
    judgments, chosen = read_qrels(qrels, threads=threads), parse_all(measures)
    depth = top_depth(len(judgments), len(named)) if details else None
    places: TiePolicy = "trec" if details else "expected"
    results = evaluate_all(judgments, named, chosen, settings, progress, places=places, depth=depth)
    return Comparison(Leaderboard(results), design, named)


@dataclass(eq=False, repr=False)
class Comparison:
    """Runs compared: tables, frames, and a page to look at."""

    board: Leaderboard
    design: Design
    runs: Mapping[str, Any]
    """as they were given"""

    @cached_property
    def tested(self) -> Pairwise:
        """The pairs, tested when they are asked for."""
        return Pairwise(self.board, self.design)

    def mean(self) -> dict[str, dict[str, float]]:
        """Return {run: {measure: mean}}, best run first."""
        means = self.board.means.T.tolist()
        measures = list(self.board.measures)
        return {name: dict(zip(measures, row, strict=True)) for name, row in zip(self.board.names, means, strict=True)}

    @cached_property
    def pairs(self) -> list[Pair]:
        """Every pair on every measure: difference, interval, effect size, wins, p-values."""
        return list(self.tested.rows())

    def power(self) -> dict[str, float]:
        """Return the discriminative power of each measure: the share of pairs with p below alpha, not corrected."""
        return self.tested.power()

    def levels(self) -> dict[str, list[float]]:
        """Return the achieved-significance-level curve of each measure: its p-values, largest first."""
        return {measure: p.tolist() for measure, p in self.tested.levels().items()}

    @cached_property
    def marked(self) -> dict[str, str]:
        """The letters of the runs that others may be better than; none where there are too many for letters."""
        names = [name for name in self.board.names if not self.design.baselines or name in self.design.baselines]
        return dict(zip(names, LETTERS, strict=False)) if len(names) <= len(LETTERS) else {}

    def table(self) -> Table:
        """Return one row a run, the best of each measure in bold, with marks for those it is better than."""
        letters, names = self.marked, self.board.names
        columns = [self._column(m) for m in range(len(self.board.measures))]
        rows: list[list[Cell]] = [[name, *(column[i] for column in columns)] for i, name in enumerate(names)]
        header = ["run", *self.board.measures]
        if not letters:
            return Table(header, rows)
        return Table(["", *header], [[letters.get(name, ""), *row] for name, row in zip(names, rows, strict=True)])

    def _column(self, measure: int) -> list[Marked]:
        means, beaten = self.board.means[measure].tolist(), self.tested.better_than(measure)
        names, best = self.board.names, max(means)
        marks = (
            ["".join(self.marked.get(names[j], "") for j in below) for below in beaten]
            if self.marked
            else [str(len(below)) if len(below) else "" for below in beaten]
        )
        return [Marked(mean, mean == best, mark) for mean, mark in zip(means, marks, strict=True)]

    def runs_table(self) -> Table:
        """Return one row a run and measure: mean, bootstrap interval, tie interval, and the runs it is better than."""
        return Table(COLUMNS, [row for m in range(len(self.board.measures)) for row in self._runs(m)])

    def _runs(self, measure: int) -> list[list[Cell]]:
        names, label = self.board.names, list(self.board.measures)[measure]
        low, high = (end.tolist() for end in self.tested.mean_intervals(measure))
        beaten = self.tested.better_than(measure)
        rows: list[list[Cell]] = []
        for i, mean in enumerate(self.board.means[measure].tolist()):
            moved = self.board.tie_ranges[names[i]].get(label)
            worst, best = (moved.low, moved.high) if moved else (mean, mean)
            rows.append([names[i], label, mean, low[i], high[i], worst, best, " ".join(names[j] for j in beaten[i])])
        return rows

    def pairs_table(self) -> Table:
        """Return one row a measure and pair."""
        return Table(Pair._fields, [[_cell(value) for value in pair] for pair in self.pairs])

    def to_frame(self, library: str = "pandas") -> Any:
        """Return a dataframe of runs_table, of pandas, polars or pyarrow."""
        return self.runs_table().to_frame(library)

    def pairs_frame(self, library: str = "pandas") -> Any:
        """Return a dataframe of pairs, of pandas, polars or pyarrow."""
        return to_frame({name: [getattr(pair, name) for pair in self.pairs] for name in Pair._fields}, library)

    def to_html(self, title: str = "Comparison of runs", progress: Progress = ignore) -> str:
        """Return one self-contained page: leaderboard, differences by query, rankings, curves, ties, measures."""
        from gradely.report.comparison import page

        self._describe_runs(progress)
        return page(self.board, self.tested, title, self.caption(), [str(note) for note in self.notes])

    def _describe_runs(self, progress: Progress) -> None:
        """Read the runs again for what a page shows besides the scores, unless that was gathered with them."""
        depth = top_depth(len(self.board.qrels), len(self.runs))
        for name, evaluation in self.board.evaluations.items():
            if evaluation.details is None:
                evaluation.details = describe_run(self.board.qrels, open_run(self.runs[name]), depth)
            progress(name, 1.0)

    def caption(self) -> str:
        """Return what is needed to do it again: test, correction, alpha, seed, topics, tie and query policy."""
        design, board = self.design, self.board
        count, measures = len(self.tested.pairs), len(board.measures)
        named = ", ".join(name if len(name) <= LONGEST else name[:LONGEST] + "…" for name in design.baselines)
        kind = f"against {named}" if named else "all pairs"
        drawn = f", {design.resamples:,} resamples" if design.test in DRAWN else ""
        many = f" over {count_of(count * measures, 'test')} ({kind}: {count:,}; measures: {measures})"
        family = many if design.correction != "none" else f" ({kind}: {count:,}; measures: {measures})"
        judged = ", judged documents only" if board.settings.judged_only else ""
        return (
            f"{TESTS[design.test]}{drawn}, {CORRECTIONS[str(design.correction)]}{family}, α = {design.alpha:g}, "
            f"seed {design.seed}; {count_of(len(board.queries), 'query')}, ties {board.settings.ties}, "
            f"queries {board.settings.queries}{judged}, {board.settings.precision} precision"
        )

    def legend(self) -> str:
        """Return what the marks of the table mean."""
        if self.marked:
            return "Raised letters: significantly better than the runs with these letters."
        return "Raised numbers: how many runs it is significantly better than."

    @property
    def notes(self) -> list[Note]:
        """What happened to queries, documents and tests, each with its count."""
        return self.board.notes + self._untested() + self._coarse()

    def _untested(self) -> list[Note]:
        runs, topics = len(self.board.names), len(self.board.queries)
        text = f"nothing is tested: that takes at least 2 runs and 2 topics; there are {runs} and {topics}"
        return [] if len(self.tested.pairs) else [Note("untested", runs, runs, text)]

    def _coarse(self) -> list[Note]:
        """Drawn p-values have a least one; where a correction lifts it above alpha, nothing can be significant."""
        family, least = self.tested.p.size, 1 / (self.design.resamples + 1)
        if self.design.test == "randomization":
            least = max(least, 2.0 ** (1 - len(self.board.queries)))
        drawn = self.design.test in DRAWN and self.design.correction in ("holm", "bonferroni")
        if not drawn or least * family < self.design.alpha:
            return []
        text = (
            f"the least p-value there can be, {least:.2g}, is not below α once corrected over {family:,} tests: "
            "take more resamples, fewer measures, a baseline, or the test t or tukey"
        )
        return [Note("coarse", family, family, text)]

    def __repr__(self) -> str:
        """Show the table and what is needed to do it again."""
        return f"{to_text(self.table())}\n{self.legend()}\n{self.caption()}"


def _cell(value: Any) -> Cell:
    return ("yes" if value else "no") if isinstance(value, bool) else value
