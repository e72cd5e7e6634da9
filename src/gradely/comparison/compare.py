"""compare: several runs on the same queries, with tests, intervals and effect sizes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, Literal

from gradely.comparison.groups import Groups, SystemBoard, Systems, check_design
from gradely.comparison.influence import Influence
from gradely.comparison.judged import JudgedBoard, check_judged, judge_runs
from gradely.comparison.leaderboard import Leaderboard
from gradely.comparison.open_pairs import OpenPairs, PairHoles
from gradely.comparison.pairwise import (
    ALWAYS,
    EQUIVALENCE,
    Design,
    Matrix,
    Pair,
    Pairwise,
    Shares,
    check_margin,
    to_optional,
)
from gradely.comparison.segments import SegmentComparison
from gradely.comparison.sentences import answer, describe_power, describe_tests, note_means, note_tests, summary
from gradely.comparison.tests import RESAMPLES
from gradely.data import open_run
from gradely.data.column_roles import Names
from gradely.data.selection import read_selected, split_queries
from gradely.data.tops import describe_run, top_depth
from gradely.errors import DataError, clip
from gradely.evaluation.evaluate import DEFAULT, Progress, evaluate_all, ignore, name_runs, open_runs
from gradely.evaluation.label_bounds import bound_some
from gradely.evaluation.notes import Note
from gradely.evaluation.result import Result, Section, shorten_list
from gradely.evaluation.scores import EVERY
from gradely.measures.names import MeasureLike, need_subtopics, parse_all
from gradely.settings import (
    SAMPLES,
    Correction,
    DuplicatePolicy,
    EmptyPolicy,
    Precision,
    QueryPolicy,
    Settings,
    Slope,
    TestName,
    TiePolicy,
)
from gradely.tables import (
    Cell,
    MarkedNumber,
    PValue,
    Table,
    count_of,
    typed_frame,
)


@dataclass(eq=False, repr=False)
class Comparison(Result):
    """The comparison of several runs, as tables, dataframes or an HTML page.

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
    """the runs as they were given"""
    opened: Mapping[str, Any]
    """functions that open the runs again"""
    holes: OpenPairs | None = None
    """the pairs that the labels of unjudged documents leave open, if requested"""

    @cached_property
    def pairwise(self) -> Pairwise:
        """The pairs of runs; each test runs on first access."""
        return self.board.pairwise(self.design)

    def summary(self) -> str:
        """Return which runs are better by the first measure, as a sentence, and which other measures agree."""
        return summary(self.pairwise)

    def answers(self) -> dict[str, str]:
        """Return {measure: sentence}: which runs are better by each measure."""
        return {measure: answer(self.pairwise, m) for m, measure in enumerate(self.pairwise.measures)}

    def matrix(self, measure: str | None = None) -> Matrix:
        """Return the differences between all runs by a measure, by default the first one."""
        names = self.pairwise.measures
        if measure is not None and measure not in names:
            raise DataError(f"{clip(measure)} was not measured: use one of {', '.join(names)}")
        return replace(Matrix.of(self.pairwise, names.index(measure) if measure else 0), notes=self.notes)

    @cached_property
    def influence(self) -> Influence:
        """The influence of single queries on each verdict."""
        if isinstance(self.board, JudgedBoard):
            raise DataError(
                "the influence of single queries is not available with the labels of a judge: leave out one of the two"
            )
        return Influence(self.pairwise, self.board.queries, self.notes)

    @cached_property
    def segments(self) -> SegmentComparison | None:
        """The results for each segment of the queries; None without `by`."""
        segment_of = self.board.qrels.segments
        return None if segment_of is None else SegmentComparison(self.pairwise, self.board.queries, segment_of)

    @cached_property
    def systems(self) -> Systems | None:
        """The runs of each system; None unless some system has a list of runs."""
        return Systems(self.board, self.pairs) if isinstance(self.board, SystemBoard) else None

    def mean(self) -> dict[str, dict[str, float]]:
        """Return {run: {measure: mean}}, best run first."""
        means = self.board.means.T.tolist()
        measures = list(self.board.measures)
        return {name: dict(zip(measures, row, strict=True)) for name, row in zip(self.board.names, means, strict=True)}

    def flat(self, prefix: str = "") -> dict[str, float]:
        """Return {run/measure: mean} with names that MLflow and Weights & Biases accept, like bm25/nDCG_10."""
        return self.board.flat(prefix)

    @cached_property
    def pairs(self) -> list[Pair]:
        """All pairs by all measures: difference, interval, effect size, wins and p-values."""
        return list(self.pairwise.rows())

    def power(self) -> dict[str, float]:
        """Return the discriminative power of each measure: the share of pairs with an uncorrected p below alpha."""
        return self.pairwise.power()

    def levels(self) -> dict[str, list[float]]:
        """Return the achieved-significance-level curve of each measure: its p-values, largest first."""
        return {measure: p.tolist() for measure, p in self.pairwise.levels().items()}

    @cached_property
    def letters(self) -> dict[str, str]:
        """{run: letter} for runs that others may be better than; empty if there are more runs than letters."""
        names = [name for name in self.board.names if not self.design.baselines or name in self.design.baselines]
        letters = "abcdefghijklmnoprstuvwxyz"  # Unicode has no superscript q
        free = [letter for letter in letters if letter not in self.board.names]  # none that is the name of another
        return dict(zip(names, free, strict=False)) if len(names) <= len(free) else {}

    def table(self) -> Table:
        """Return one row per run, with the best value of each measure in bold and marks for the runs that it beats."""
        letters, names = self.letters, self.board.names
        columns = [self._column(m) for m in range(len(self.board.measures))]
        rows: list[list[Cell]] = [[name, *(column[i] for column in columns)] for i, name in enumerate(names)]
        header = [self.board.subject, *self.board.measures]
        if not letters:
            return Table(header, rows)
        return Table(["", *header], [[letters.get(name, ""), *row] for name, row in zip(names, rows, strict=True)])

    def _column(self, measure: int) -> list[MarkedNumber]:
        means, beaten = self.board.means[measure].tolist(), self.pairwise.better_than(measure)
        names, best = self.board.names, max(means)
        marks = (
            ["".join(self._mark(measure, names[i], names[j]) for j in below) for i, below in enumerate(beaten)]
            if self.letters
            else [str(len(below)) if len(below) else "" for below in beaten]
        )
        return [MarkedNumber(mean, mean == best, mark) for mean, mark in zip(means, marks, strict=True)]

    def _mark(self, measure: int, better: str, worse: str) -> str:
        """Return the letter of the worse run, followed by ? if labels of unjudged documents could reverse the pair."""
        letter = self.letters.get(worse, "")
        is_open = self.holes is not None and self.holes.is_open(list(self.board.measures)[measure], better, worse)
        return f"{letter}?" if letter and is_open else letter

    def runs_table(self) -> Table:
        """Return one row per run and measure: mean, confidence interval, range over ties, and runs that it beats."""
        board, rows = self.board, list[list[Cell]]()
        for m, measure in enumerate(board.measures):
            ends = zip(*map(to_optional, self.pairwise.mean_intervals[m]), strict=True)
            columns = zip(board.names, board.means[m].tolist(), ends, self.pairwise.better_than(m), strict=True)
            for name, mean, interval, beaten in columns:
                ties = board.span_ties(name, measure, mean) if board.knows_ties else (None, None)
                rows.append([name, measure, mean, *interval, *ties, " ".join(board.names[i] for i in beaten)])
        return Table([board.subject, "measure", "mean", "low", "high", "worst", "best", "better_than"], rows)

    def pairs_table(self) -> Table:
        """Return one row per measure and pair."""
        words, alpha = {True: "yes", False: "no"}, self.design.alpha

        def cell(field: str, value: Any) -> Cell:
            if field in ("p", "adjusted", "tost", "tost_adjusted") and value is not None:
                return PValue(value, alpha)
            return words[value] if isinstance(value, bool) else value

        return Table(self._columns, [[cell(*item) for item in self._flatten(pair).items()] for pair in self.pairs])

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of each pair, with those of equivalence tests and of systems with several runs if they apply."""
        equivalence = () if self.design.rope is None else EQUIVALENCE
        return (*ALWAYS, *equivalence, *(() if self.systems is None else ("freedom", "shares")))

    @property
    def _columns(self) -> list[str]:
        """The columns of the table of pairs, with one column per share of the variance."""
        shares = [f"share_{part}" for part in Shares._fields] if "shares" in self.fields else []
        holes = [] if self.holes is None else list(PairHoles._fields)
        return [*(field for field in self.fields if field != "shares"), *shares, *holes]

    def _flatten(self, pair: Pair) -> dict[str, Any]:
        """Return one row of the table of pairs."""
        values = [getattr(pair, field) for field in self.fields if field != "shares"]
        shares = [] if "shares" not in self.fields else pair.shares or [None] * len(Shares._fields)
        return dict(zip(self._columns, [*values, *shares, *self._holes_of(pair)], strict=True))

    def _holes_of(self, pair: Pair) -> Sequence[Any]:
        """Return the range of a difference over the labels of unjudged documents; None where a measure has no range."""
        if self.holes is None:
            return ()
        return self.holes.of(pair.measure, pair.first, pair.second) or [None] * len(PairHoles._fields)

    def data_table(self) -> Table:
        """Return runs_table, which dataframes and CSV files contain; CSV files also contain the segments."""
        return self.runs_table()

    @typed_frame
    def pairs_frame(self, library: str = "pandas") -> Any:
        """Return the pairs as a pandas, polars or pyarrow dataframe."""
        return Table(self._columns, [list(self._flatten(pair).values()) for pair in self.pairs]).to_frame(library)

    def to_html(
        self,
        title: str | None = None,
        progress: Progress = ignore,
        *,
        queries_text: Any = None,
        docs_text: Any = None,
        command: str = "",
    ) -> str:
        """Return a self-contained HTML page: leaderboard, all pairs, one or two runs by query, rankings, and ties.

        For systems with several runs, the page shows the runs and the components of the variance instead of rankings.
        `queries_text` and `docs_text` are {id: text}, files with an id, a tab and a text per line, JSON Lines or CSV.
        `command` is the command line that the page displays.
        """
        from gradely.report.comparison import page

        if isinstance(self.board, JudgedBoard):
            raise DataError("a page shows only human labels: leave out the judge")
        if self.systems is None:
            self._describe_runs(progress)
        title = title or f"Comparison of {self.board.subject}s"
        return page(self, title, queries_text=queries_text, docs_text=docs_text, command=command)

    def _describe_runs(self, progress: Progress) -> None:
        """Read the runs again for the rankings and ties that a page shows, unless compare gathered them."""
        depth = top_depth(len(self.board.qrels), len(self.runs))
        for name, evaluation in self.board.evaluations.items():
            if evaluation.details is None:
                evaluation.details = describe_run(self.board.qrels, open_run(self.opened[name]), depth)
            progress(name, 1.0)

    def caption(self, *, means: bool = True) -> str:
        """Return the settings needed to reproduce the results: test, family, correction, alpha, seed, and policies.

        `means` adds the method of the intervals of means.
        """
        board, settings = self.board, self.board.settings
        runs = "" if self.systems is None else f"{count_of(len(board.evaluations), 'run')}, "
        data = (
            f"{runs}{count_of(len(board.queries), 'query')}, ties: {settings.ties}, queries: {settings.queries}"
            f"{settings.describe(weighted=board.weights is not None)}, {settings.precision} precision"
        )
        drawn = settings.ties in ("random", "sampled")
        return f"{describe_tests(self.pairwise, means=means, random_ties=drawn)} Data: {data}.".lstrip()

    def legend(self) -> str:
        """Return the legend of the table, or an empty string if no difference is significant."""
        kind = f"{self.board.subject}s"
        if not self.pairwise.significant.any():
            return ""
        if self.letters:
            text = f"Raised letters: significantly better than the {kind} with these letters."
            hint = " A ? after a letter: labels of unjudged documents could reverse that difference."
            return text if self.holes is None else text + hint
        return f"Raised numbers: how many other {kind} each {self.board.subject} is significantly better than."

    @property
    def notes(self) -> list[Note]:
        """Notes on queries, documents and tests, each with its count."""
        unjudged = self.board.note_unjudged() if self.holes is None else self.holes.notes()
        return self.board.notes + note_tests(self.pairwise) + unjudged

    @property
    def notes_with_means(self) -> list[Note]:
        """The notes, and those on intervals of means, which pages and JSON contain."""
        return self.notes + note_means(self.pairwise)

    def notes_at(self, digits: int) -> list[Note]:
        """Return the notes, except the reason why nothing is tested, which the summary gives."""
        return self.view().notes_at(digits)

    def view(self, *, pairs: bool = False, influence: bool = False) -> "ComparisonView":
        """Return the comparison as it prints with all pairs, or with the influence of single queries."""
        return ComparisonView(self, pairs, influence)

    def sections(self, digits: int) -> list[Section]:
        """Return the summary, the table of runs, and the table of segments if there are any."""
        return self.view().sections(digits)

    def remarks(self) -> list[str]:
        """Return the legend, the test, and the discriminative power of each measure."""
        return self.view().remarks()

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data, values in full."""
        return {
            "summary": self.summary(),
            "answers": self.answers(),
            "caption": self.caption(),
            "design": self.design._asdict()
            | asdict(self.board.settings)
            | {"count": len(self.board.queries), "weighted": self.board.weights is not None},
            "runs": self.runs_table().records(),
            "pairs": [self._entry(pair) for pair in self.pairs],
            **({} if self.systems is None else self.systems.entry()),
            **({} if self.segments is None else self.segments.entry()),
            "discriminative_power": self.power(),
            "achieved_significance_levels": self.levels(),
            "notes": [note.as_dict() for note in self.notes_with_means],
        }

    def _entry(self, pair: Pair) -> dict[str, Any]:
        """Return a pair as plain data."""
        shares = {"shares": pair.shares._asdict()} if pair.shares else {}
        holes = {} if self.holes is None else dict(zip(PairHoles._fields, self._holes_of(pair), strict=True))
        return {field: getattr(pair, field) for field in self.fields} | shares | holes


@dataclass(eq=False, repr=False)
class ComparisonView(Result):
    """A comparison as it prints with all pairs, or with the influence of single queries."""

    comparison: Comparison
    pairs: bool
    influence: bool

    @property
    def notes(self) -> list[Note]:
        """The notes of the comparison."""
        return self.comparison.notes

    def notes_at(self, digits: int) -> list[Note]:  # noqa: ARG002 - as all results have it
        """Return the notes, except the reason why nothing is tested, which the summary gives."""
        return [note for note in self.notes if note.kind != "untested"]

    def table(self) -> Table:
        """Return one row per run, or per pair."""
        return self.comparison.pairs_table() if self.pairs else self.comparison.table()

    def sections(self, digits: int) -> list[Section]:
        """Return the summary and the tables."""
        comparison, segments = self.comparison, self.comparison.segments
        sections: list[Section] = [comparison.summary(), self.table()]
        if comparison.systems is not None:
            sections += comparison.systems.sections(digits)[: 1 if self.pairs else None]
        if segments is not None:
            sections.append(segments.pairs_table() if self.pairs else segments.table())
        if self.influence:
            table = comparison.influence.table()
            sections += [*([table] if table.rows else []), comparison.influence.caption()]
        return sections

    def remarks(self) -> list[str]:
        """Return the legend, the test, and the discriminative power of each measure."""
        return self._remarks(means=False)

    def lines_beside(self, form: str, digits: int | None = None) -> list[str]:
        """Return the lines that a format omits: for CSV and TSV, all notes and the method of the intervals of means.

        CSV and TSV name the beaten runs, so they need no legend for letters.
        """
        if form not in ("csv", "tsv"):
            return super().lines_beside(form, digits)
        notes = self.notes if self.pairs else self.comparison.notes_with_means
        remarks = [line for line in self._remarks(means=not self.pairs) if line != self.comparison.legend()]
        return shorten_list([*remarks, *map(str, notes)])

    def _remarks(self, *, means: bool) -> list[str]:
        comparison = self.comparison
        tested, legend = comparison.pairwise.count > 0, comparison.legend()
        return [
            *([legend] if legend and not self.pairs else []),
            *([] if comparison.systems is None else comparison.systems.remarks()),
            comparison.caption(means=means),
            *([] if comparison.segments is None else [comparison.segments.caption()]),
            *([describe_power(comparison.pairwise)] if tested else []),
        ]

    def data_table(self) -> Table:
        """Return one row per run and measure, or per pair and measure, followed by the rows of each segment."""
        comparison, segments = self.comparison, self.comparison.segments
        table = comparison.pairs_table() if self.pairs else comparison.runs_table()
        if segments is None:
            return table
        records = segments.pairs_table().records() if self.pairs else segments.records()
        header = ["segment", "n", *table.header]
        rows = [[EVERY, len(comparison.board.queries), *row] for row in table.rows]
        return Table(header, [*rows, *([record.get(name) for name in header] for record in records)])

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data, values in full."""
        rows = [row._asdict() for row in self.comparison.influence.rows()] if self.influence else []
        return self.comparison.as_dict() | ({"influence": rows} if self.influence else {})


def compare(
    qrels: Any,
    runs: Mapping[str, Any] | Iterable[Any],
    measures: MeasureLike | Iterable[MeasureLike] = DEFAULT,
    *,
    baseline: str | Iterable[str] = (),
    test: TestName = "t",
    correction: Correction | None = None,
    family: Literal["measure", "all"] = "measure",
    alpha: float = 0.05,
    simultaneous: bool = False,
    rope: float | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
    ties: TiePolicy = "expected",
    queries: QueryPolicy | Iterable[Any] = "qrels",
    judged_only: bool = False,
    precision: Precision = "double",
    threads: int | None = None,
    details: bool = False,
    progress: Progress = ignore,
    columns: Names | None = None,
    duplicates: DuplicatePolicy = "error",
    document_pattern: str | None = None,
    by: Any = None,
    exclude: Any = None,
    exclude_self: bool = False,
    empty: EmptyPolicy = "zero",
    weights: Any = None,
    judge: Any = None,
    slope: Slope = "auto",
    holes: bool = False,
    samples: int = SAMPLES,
) -> Comparison:
    """Compare runs, {name: run} or paths, or systems, {name: [run, run, …]}, pair by pair or against a baseline.

    With `baseline`, the name of one or more runs, only pairs with a baseline are compared. `test` is "t" (the default),
    "wilcoxon", "randomization", "bootstrap", "tukey" (randomised HSD for all pairs) or "max-t" (for the pairs that are
    compared). `correction` is "holm" (the default), "bonferroni", "bh" or "none"; tukey and max-t need none. `family`
    is the set of tests that are corrected together: the pairs of each "measure", or "all" pairs on all measures.
    `simultaneous` intervals hold for the whole family at once. `rope` is the equivalence margin of a test of practical
    equivalence. `resamples` and `seed` apply to tests that draw random samples.

    With `holes`, the comparison marks pairs that the labels of unjudged documents could reverse, and reads the runs a
    second time. `by` adds means and differences by segment, in Comparison.segments. With `details`, the data that
    to_html needs are gathered now, so to_html does not read the runs again. All other options are those of evaluate.

    If a system has a list of runs, such as several seeds, the query remains the unit of analysis, and standard errors
    include the variance between runs. Pair.shares has the components of the variance, and Comparison.systems the runs.

    With `judge`, the labels of a judge for more queries than people have judged, means and differences are estimated
    from both sets of labels, as in estimate, with its `slope`.
    """
    policy, only = split_queries(queries)
    settings = Settings(
        ties, policy, judged_only, precision, seed, threads, empty, exclude_self, duplicates, document_pattern, samples
    )
    groups = Groups.of(runs)
    named = name_runs(runs) if groups is None else groups.runs
    design = Design(test, correction, alpha, seed, resamples, (), family, simultaneous, rope)
    design = design.settle(baseline, named if groups is None else groups.members)
    check_margin(rope, measures)
    if groups is not None:
        check_design(design)
    if holes and (groups is not None or judge is not None):
        raise DataError(
            "holes needs single runs and the labels of one set of qrels: leave out holes, or groups and judge"
        )
    if judge is not None:
        check_judged(design, settings, slope, weights=weights, groups=groups)
        how = {"queries": queries, "columns": columns, "by": by, "exclude": exclude}
        judged = judge_runs(qrels, judge, named, measures, settings, progress, **how)
        return Comparison(JudgedBoard(judged, slope), design, named, {})
    wanted = parse_all(measures)
    judgments = read_selected(
        qrels, settings, columns, only=only, by=by, exclude=exclude, weights=weights, subtopics=need_subtopics(wanted)
    )
    opened = open_runs(named, columns, settings)
    details = details and groups is None  # the page of systems shows no rankings
    places: TiePolicy = "trec" if details else "expected"
    depth = top_depth(len(judgments), len(named)) if details else None
    results = evaluate_all(judgments, opened, wanted, settings, progress, places=places, depth=depth)
    board = Leaderboard(results) if groups is None else SystemBoard(results, groups.members)
    comparison = Comparison(board, design, named, opened)
    if holes:
        found, unbounded = bound_some(judgments, opened, wanted, settings, progress)
        comparison.holes = OpenPairs(comparison.pairwise, found, unbounded)
    return comparison
