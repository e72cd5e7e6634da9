"""Comparison: runs compared, as tables, frames and a page."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from gradely.comparison.answers import answer, summary
from gradely.comparison.captions import describe_tests, note_tests
from gradely.comparison.design import Design
from gradely.comparison.influence import Influence
from gradely.comparison.leaderboard import Leaderboard
from gradely.comparison.matrix import Matrix
from gradely.comparison.pairwise import ALWAYS, Pair, Pairwise, to_optional
from gradely.comparison.segment_comparison import SegmentComparison
from gradely.data import open_run
from gradely.data.details import describe_run, top_depth
from gradely.data.read.sources import clip
from gradely.errors import DataError
from gradely.evaluation.notes import Note
from gradely.evaluation.runs import Progress, ignore
from gradely.frames import to_frame
from gradely.notebook import box, bullets, grid, heading
from gradely.tables import Cell, MarkedNumber, Table, count_of, plain_line, to_text

LETTERS = "abcdefghijklmnoprstuvwxyz"
"""marks of runs; there is no raised q"""
COLUMNS = ("run", "measure", "mean", "low", "high", "worst", "best", "better_than")


@dataclass(eq=False, repr=False)
class Comparison:
    """Runs compared: tables, frames, and a page to look at.

    >>> from gradely import compare
    >>> qrels = {"q1": {"d": 1}, "q2": {"d": 1}, "q3": {"d": 1}}
    >>> good, bad = {q: ["d", "x"] for q in qrels}, {q: ["x", "d"] for q in qrels}
    >>> pair = compare(qrels, {"good": good, "bad": bad}, ["RR"], test="randomization").pairs[0]
    >>> (pair.difference, pair.wins, pair.p) == (1 - 1 / 2, 3, 2 / 2**3)
    True
    """

    board: Leaderboard
    design: Design
    runs: Mapping[str, Any]
    """as they were given"""
    opened: Mapping[str, Any]
    """how to open each of them again"""

    @cached_property
    def pairwise(self) -> Pairwise:
        """The pairs, tested when they are asked for."""
        return self.board.pairwise(self.design)

    def summary(self) -> str:
        """Return the answer in a sentence: who is better than whom by the first measure; and which measures agree."""
        return summary(self.pairwise)

    def answers(self) -> dict[str, str]:
        """Return such a sentence for each measure."""
        return {measure: answer(self.pairwise, m) for m, measure in enumerate(self.pairwise.measures)}

    def matrix(self, measure: str | None = None) -> Matrix:
        """Return every run against every other by a measure, the first by default."""
        names = self.pairwise.measures
        if measure is not None and measure not in names:
            raise DataError(f"{clip(measure)} was not measured: use one of {', '.join(names)}")
        return Matrix.of(self.pairwise, names.index(measure) if measure else 0)

    @cached_property
    def influence(self) -> Influence:
        """How much each verdict depends on single queries."""
        return Influence(self.pairwise, self.board.queries)

    @cached_property
    def segments(self) -> SegmentComparison | None:
        """The runs in each segment of the queries, where compare was asked for them with `by`."""
        segment_of = self.board.qrels.segments
        return None if segment_of is None else SegmentComparison(self.pairwise, self.board.queries, segment_of)

    def mean(self) -> dict[str, dict[str, float]]:
        """Return {run: {measure: mean}}, best run first."""
        means = self.board.means.T.tolist()
        measures = list(self.board.measures)
        return {name: dict(zip(measures, row, strict=True)) for name, row in zip(self.board.names, means, strict=True)}

    def flat(self, prefix: str = "") -> dict[str, float]:
        """Return {run/measure: mean} with names that MLflow and Weights & Biases take, like bm25/nDCG_10."""
        return self.board.common.flat(prefix)

    @cached_property
    def pairs(self) -> list[Pair]:
        """Every pair on every measure: difference, interval, effect size, wins, p-values."""
        return list(self.pairwise.rows())

    def power(self) -> dict[str, float]:
        """Return the discriminative power of each measure: the share of pairs with p below alpha, not corrected."""
        return self.pairwise.power()

    def levels(self) -> dict[str, list[float]]:
        """Return the achieved-significance-level curve of each measure: its p-values, largest first."""
        return {measure: p.tolist() for measure, p in self.pairwise.levels().items()}

    @cached_property
    def letters(self) -> dict[str, str]:
        """The letters of the runs that others may be better than; none where there are too many for letters."""
        names = [name for name in self.board.names if not self.design.baselines or name in self.design.baselines]
        return dict(zip(names, LETTERS, strict=False)) if len(names) <= len(LETTERS) else {}

    def table(self) -> Table:
        """Return one row per run, the best of each measure in bold, with marks for those it is better than."""
        letters, names = self.letters, self.board.names
        columns = [self._column(m) for m in range(len(self.board.measures))]
        rows: list[list[Cell]] = [[name, *(column[i] for column in columns)] for i, name in enumerate(names)]
        header = ["run", *self.board.measures]
        if not letters:
            return Table(header, rows)
        return Table(["", *header], [[letters.get(name, ""), *row] for name, row in zip(names, rows, strict=True)])

    def _column(self, measure: int) -> list[MarkedNumber]:
        means, beaten = self.board.means[measure].tolist(), self.pairwise.better_than(measure)
        names, best = self.board.names, max(means)
        marks = (
            ["".join(self.letters.get(names[j], "") for j in below) for below in beaten]
            if self.letters
            else [str(len(below)) if len(below) else "" for below in beaten]
        )
        return [MarkedNumber(mean, mean == best, mark) for mean, mark in zip(means, marks, strict=True)]

    def runs_table(self) -> Table:
        """Return one row per run and measure: mean, bootstrap interval, tie interval, what it is better than."""
        return Table(COLUMNS, [row for m in range(len(self.board.measures)) for row in self._runs(m)])

    def _runs(self, measure: int) -> list[list[Cell]]:
        names, label = self.board.names, list(self.board.measures)[measure]
        low, high = (to_optional(end) for end in self.pairwise.mean_intervals[measure])
        beaten = self.pairwise.better_than(measure)
        rows: list[list[Cell]] = []
        for i, mean in enumerate(self.board.means[measure].tolist()):
            moved = self.board.tie_ranges[names[i]].get(label)
            worst, best = (moved.low, moved.high) if moved else (mean, mean)
            rows.append([names[i], label, mean, low[i], high[i], worst, best, " ".join(names[j] for j in beaten[i])])
        return rows

    def pairs_table(self) -> Table:
        """Return one row per measure and pair."""
        words = {True: "yes", False: "no"}
        rows = [[words[value] if isinstance(value, bool) else value for value in pair] for pair in self.pairs]
        return Table(self.fields, [row[: len(self.fields)] for row in rows])

    @property
    def fields(self) -> tuple[str, ...]:
        """What is known of each pair: more, where there is a region of practical equivalence."""
        return ALWAYS if self.design.rope is None else Pair._fields

    def to_frame(self, library: str = "pandas") -> Any:
        """Return a dataframe of runs_table, of pandas, polars or pyarrow."""
        return self.runs_table().to_frame(library)

    def pairs_frame(self, library: str = "pandas") -> Any:
        """Return a dataframe of pairs, of pandas, polars or pyarrow."""
        return to_frame({name: [getattr(pair, name) for pair in self.pairs] for name in self.fields}, library)

    def to_html(
        self,
        title: str = "Comparison of runs",
        progress: Progress = ignore,
        *,
        queries_text: Any = None,
        docs_text: Any = None,
        command: str = "",
    ) -> str:
        """Return one self-contained page: leaderboard, every pair, one or two runs by query, rankings, ties.

        `queries_text` and `docs_text` are {id: text}, or files with an id, a tab and a text per line, or JSON Lines; of
        documents, only those that are shown are kept. `command` is what the page says it was made by.
        """
        from gradely.report.comparison import page

        self._describe_runs(progress)
        return page(self, title, queries_text=queries_text, docs_text=docs_text, command=command)

    def _describe_runs(self, progress: Progress) -> None:
        """Read the runs again for what a page shows besides the scores, unless that was gathered with them."""
        depth = top_depth(len(self.board.qrels), len(self.runs))
        for name, evaluation in self.board.evaluations.items():
            if evaluation.details is None:
                evaluation.details = describe_run(self.board.qrels, open_run(self.opened[name]), depth)
            progress(name, 1.0)

    def caption(self) -> str:
        """Return what is needed to do it again: test, family, correction, alpha, seed, queries, policies."""
        board, settings = self.board, self.board.settings
        judged = ", judged documents only" if settings.judged_only else ""
        return (
            f"{describe_tests(self.pairwise)}; {count_of(len(board.queries), 'query')}, ties {settings.ties}, "
            f"queries {settings.queries}{judged}, {settings.precision} precision"
        )

    def legend(self) -> str:
        """Return what the marks of the table mean."""
        if self.letters:
            return "Raised letters: significantly better than the runs with these letters."
        return "Raised numbers: how many runs it is significantly better than."

    @property
    def notes(self) -> list[Note]:
        """What happened to queries, documents and tests, each with its count."""
        return self.board.notes + note_tests(self.pairwise)

    def __repr__(self) -> str:
        """Show the table and what is needed to do it again."""
        text = f"{plain_line(self.summary())}\n\n{to_text(self.table())}\n{self.legend()}\n{plain_line(self.caption())}"
        return text if self.segments is None else f"{text}\n\n{self.segments}"

    def _repr_html_(self) -> str:
        """Show the same in a notebook; to_html is the whole page."""
        below = (self.legend(), self.caption(), *self.notes)
        segments = "" if self.segments is None else grid(self.segments.table())
        return box(heading(self.summary()), grid(self.table()), segments, bullets(below))
