"""gate: whether a new run is worse than an old one by more than allowed, not worse, or undecided."""

import hashlib
import json
import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gradely.comparison.intervals import Estimates, Intervals
from gradely.comparison.judged import check_judged, match
from gradely.comparison.pairwise import Design, Pairwise, to_optional
from gradely.comparison.plan import POWER, detectable_effect, queries_needed
from gradely.comparison.regression import JudgedMeans, Sample, regress
from gradely.comparison.sentences import note_tests
from gradely.comparison.student import t_upper
from gradely.comparison.tests import (
    ALONE,
    BY_SPREAD,
    CORRECTIONS,
    DRAWN,
    RESAMPLES,
    TESTS,
    least_tails,
    p_of_differences,
    round_off,
)
from gradely.comparison.verdicts import (
    Change,
    Floor,
    Verdicts,
    check_floors,
    check_limits,
    check_one_sided,
    hold_against_floors,
    judge_change,
    note_constant,
    settle_limits,
)
from gradely.data import Qrels
from gradely.data.column_roles import Names
from gradely.data.ids import Bools, Floats, Ints
from gradely.data.selection import name_queries, read_selected, split_queries
from gradely.data.source import Source
from gradely.data.texts import Texts, select_texts
from gradely.errors import DataError, InputError
from gradely.evaluation.evaluate import DEFAULT, Progress, evaluate_run, ignore, leave_out_untaken, open_as
from gradely.evaluation.label_bounds import bound_some
from gradely.evaluation.notes import SAME, Note, note_names
from gradely.evaluation.result import Result
from gradely.evaluation.scores import means, normalize_weights
from gradely.evaluation.values import fit_to
from gradely.measures.names import MeasureLike, need_subtopics, parse_all
from gradely.settings import (
    Correction,
    DuplicatePolicy,
    EmptyPolicy,
    GateTest,
    Precision,
    QueryPolicy,
    Settings,
    Slope,
    TiePolicy,
    Undecided,
    check_choice,
)
from gradely.tables import Cell, Table, count_of, format_p, render, show_number

VERSION = 1
"""the version of the file format"""
HEAD = re.compile(rb'\s*\{\s*"gradely"\s*:\s*"scores"')
BY_SIGNS = ("wilcoxon", "randomization")
"""tests of which one-sided p-values are at least 1 / 2^n"""
AGAIN = "evaluate the old run again, or save its scores again"


class JudgeScores(NamedTuple):
    """The values of the run by the labels of a judge, for more queries than people have judged."""

    name: str
    """the name of the judge's qrels"""
    judgments: str
    """the digest of the judge's qrels"""
    queries: list[str]
    values: Floats
    """[queries, measures]"""


@dataclass(frozen=True, eq=False, repr=False)
class SavedScores(Result):
    """The per-query scores of one run, with the settings and the judgments that they depend on."""

    name: str
    settings: dict[str, Any]
    """the fields of Settings, without threads; the seed only if ties are drawn at random"""
    judgments: str
    """a digest of queries, documents and labels that does not depend on their order"""
    measures: list[str]
    queries: list[str]
    values: Floats
    """[queries, measures]"""
    weights: list[float] | None = None
    """the weights of the queries; None if all count alike"""
    notes: tuple[Note, ...] = ()
    """notes on queries and documents, which are not saved"""
    path: str = "the saved scores"
    """the file that they were read from, for messages"""
    judge: JudgeScores | None = None
    """the scores by the labels of a judge, if there is one"""

    def text(self) -> str:
        """Return the content of the file, with one line per query."""
        head = {
            "gradely": "scores",
            "version": VERSION,
            "run": self.name,
            "settings": self.settings,
            "judgments": self.judgments,
            "measures": self.measures,
            **({} if self.weights is None else {"weights": self.weights}),
        }
        parts = [json.dumps(head, indent=2)[:-2], _list_values("values", self.queries, self.values)]
        if self.judge is not None:
            about = {"qrels": self.judge.name, "judgments": self.judge.judgments}
            parts += [f'  "judge": {json.dumps(about)}', _list_values("judged", self.judge.queries, self.judge.values)]
        return ",\n".join(parts) + "\n}\n"

    def table(self) -> Table:
        """Return the mean of each measure."""
        return Table(["measure", self.name], [list(row) for row in zip(self.measures, self.means(), strict=True)])

    def means(self) -> list[float]:
        """Return the mean of each measure over all queries."""
        return means(self.values, None if self.weights is None else normalize_weights(self.weights))

    def data_table(self) -> Table:
        """Return one row per query, and one column per measure."""
        rows = zip(self.queries, self.values.tolist(), strict=True)
        return Table(["query", *self.measures], [[query, *row] for query, row in rows])

    def as_dict(self) -> dict[str, Any]:
        """Return the content of the file and the notes as plain data."""
        return {**json.loads(self.text()), "notes": self._list_notes()}

    def check(self, new: "SavedScores") -> None:
        """Raise DataError unless these scores have the same settings and judgments as new ones."""
        saved = asdict(Settings()) | self.settings
        for key, value in new.settings.items():
            if saved[key] != value:
                raise DataError(f"{self.path}: saved with {key} {saved[key]!r}, not {value!r}: {AGAIN}")
        if not _agree(self.weights_by_query(), new.weights_by_query()):
            raise DataError(f"{self.path}: saved with {'different' if self.weights else 'no'} query weights: {AGAIN}")
        if self.judgments != new.judgments:
            raise DataError(f"{self.path}: saved with different judgments: {AGAIN}")
        if (self.judge is None) != (new.judge is None):
            how = "without" if self.judge is None else "with"
            what = "leave the judge out" if self.judge is None else "name the judge"
            raise DataError(f"{self.path}: saved {how} the labels of a judge: {what}, or {AGAIN}")
        if self.judge is not None and new.judge is not None and self.judge.judgments != new.judge.judgments:
            raise DataError(f"{self.path}: saved with different labels of the judge: {AGAIN}")

    def judge_columns(self, measures: list[str]) -> Floats:
        """Return the values [queries, measures] by the labels of the judge."""
        assert self.judge is not None
        values: Floats = self.judge.values[:, [self.measures.index(measure) for measure in measures]]
        return values

    def weights_by_query(self) -> dict[str, float]:
        """Return {query: weight}; empty if all queries count alike."""
        return dict(zip(self.queries, self.weights, strict=True)) if self.weights else {}

    def only(self, measures: list[str]) -> "SavedScores":
        """Return the scores by some of the measures."""
        judge = self.judge and self.judge._replace(values=self.judge_columns(measures))
        return replace(self, measures=measures, values=self.columns(measures), judge=judge)

    def columns(self, measures: list[str]) -> Floats:
        """Return the values [queries, measures] of some of the measures."""
        lacking = [measure for measure in measures if measure not in self.measures]
        if lacking:
            raise DataError(f"{self.path}: has no {lacking[0]}, only {', '.join(self.measures)}: {AGAIN}")
        values: Floats = self.values[:, [self.measures.index(measure) for measure in measures]]
        return values


def _list_values(name: str, queries: list[str], values: Floats) -> str:
    """Return an entry of the file, with one line per query."""
    rows = zip(queries, values.tolist(), strict=True)
    lines = ",\n".join(f"    {json.dumps(query)}: {json.dumps(row)}" for query, row in rows)
    return f'  "{name}": {{\n{lines}\n  }}'


def keep_scores(
    qrels: Any,
    run: Any,
    measures: MeasureLike | Iterable[MeasureLike] = DEFAULT,
    *,
    ties: TiePolicy = "expected",
    queries: QueryPolicy | Iterable[Any] = "qrels",
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
    judge: Any = None,
) -> SavedScores:
    """Evaluate a run as `evaluate` does, and return scores that can be saved: `text()` is the content of the file.

    With `judge`, the scores by the judge's labels are added, for a gate with the same judge.

    >>> kept = keep_scores({"q1": {"d1": 1}}, {"q1": ["d2", "d1"]}, ["RR"])
    >>> kept.measures, kept.values.tolist()
    (['RR'], [[0.5]])
    """
    policy, only = split_queries(queries)
    settings = Settings(
        ties, policy, judged_only, precision, seed, threads, empty, exclude_self, duplicates, document_pattern
    )
    named = parse_all(measures)
    how = {"columns": columns, "exclude": exclude, "weights": weights, "subtopics": need_subtopics(named)}
    judgments, labels, notes = read_labels(qrels, judge, queries, only, settings, **how)
    scores = score_run(judgments, open_as(run, columns, settings), named, settings, progress, labels)
    return replace(scores, notes=(*notes, *scores.notes))


def read_labels(
    qrels: Any,
    judge: Any,
    queries: Any,
    only: Iterable[Any] | None,
    settings: Settings,
    *,
    columns: Names | None,
    exclude: Any,
    weights: Any,
    subtopics: bool,
) -> tuple[Qrels, Qrels | None, list[Note]]:
    """Return the qrels, the judge's qrels if there are any, and notes on queries that the judge lacks."""
    if judge is None:
        read = {"only": only, "exclude": exclude, "weights": weights, "subtopics": subtopics}
        return read_selected(qrels, settings, columns, **read), None, []
    name_queries(queries)
    labels = read_selected(judge, settings, columns, only=only, exclude=exclude)
    human = read_selected(qrels, settings, columns, exclude=exclude)
    judgments, notes = match(human, labels, selected=labels.selected)
    return judgments, labels, notes


def score_run(
    qrels: Qrels,
    run: Any,
    measures: MeasureLike | Iterable[MeasureLike],
    settings: Settings,
    progress: Progress,
    labels: Qrels | None,
) -> SavedScores:
    """Evaluate a run, and return its scores under the canonical names of the measures.

    With `labels`, those of a judge, the run is also evaluated by these.
    """
    by_name = {str(measure): measure for measure in parse_all(measures).values()}
    counted, fitted = fit_to(qrels, by_name, settings)
    scores = evaluate_run(counted, run, fitted, settings, progress).scores()
    progress(scores.name, 1.0)
    policies = {name: value for name, value in asdict(settings).items() if name not in ("seed", "threads")}
    policies |= {"seed": settings.seed} if settings.ties in ("random", "sampled") else {}
    weights = None if qrels.weights is None else [qrels.weights[query] for query in scores.queries]
    columns = (list(scores.measures), list(scores.queries), scores.values, weights)
    if labels is None:
        return SavedScores(scores.name, policies, digest(qrels), *columns, tuple(scores.notes))
    judged = evaluate_run(labels, run, fit_to(labels, by_name, settings)[1], settings).scores()
    by_judge = JudgeScores(labels.name, digest(labels), list(judged.queries), judged.values)
    notes = [  # queries without human labels are those of the judge
        Note(note.kind, note.count, note.of, f"by human labels alone: {note}")
        if note.kind in ("ties", "holes")
        else note
        for note in scores.notes
        if note.kind != "unjudged"
    ]
    return SavedScores(scores.name, policies, digest(qrels), *columns, tuple(notes), judge=by_judge)


def digest(qrels: Qrels) -> str:
    """Return a digest of judgments that does not depend on their order."""
    digested = hashlib.sha256()
    every = [qrels] if qrels.excluded is None else [qrels, qrels.excluded]  # which makes other scores, too
    for judged in every:
        for query in sorted(judged.queries):
            digested.update(json.dumps([query, sorted(judged.judgments(query).items())]).encode())
            by_subtopic = judged.subtopic_labels(query)
            if by_subtopic:
                digested.update(json.dumps(by_subtopic, sort_keys=True).encode())
        if judged.subtopics is not None and judged.subtopics.weights is not None:
            digested.update(judged.subtopics.weights[np.argsort(judged.queries)].tobytes())
    return digested.hexdigest()


def is_saved(source: Source) -> bool:
    """Return whether a file begins like saved scores."""
    try:
        return HEAD.match(source.start(200)) is not None
    except InputError:
        return False  # whoever reads it as a run says what is wrong


def read_saved(source: Source) -> SavedScores:
    """Read saved scores; raise InputError if they are broken."""
    path = source.name
    try:
        content = json.loads(source.text())
    except ValueError as error:
        raise InputError(f"{path}: cannot be read as saved scores: {error}") from None
    if content.get("version") != VERSION:
        raise InputError(f"{path}: saved scores of version {content.get('version')!r}; this reads version {VERSION}")
    try:
        rows, measures = content["values"], content["measures"]
        values, judge = _read_values(rows, measures), None
        if "judge" in content:
            about, judged = content["judge"], content["judged"]
            judge = JudgeScores(about["qrels"], about["judgments"], list(judged), _read_values(judged, measures))
        return SavedScores(
            content["run"],
            content["settings"],
            content["judgments"],
            measures,
            list(rows),
            values,
            _read_weights(content, len(rows)),
            path=path,
            judge=judge,
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(
            f"{path}: the saved scores are corrupt ({type(error).__name__}: {error}): save them again"
        ) from None


def _agree(one: dict[str, float], other: dict[str, float]) -> bool:
    """Return whether both or neither have weights, and whether the queries that both have weigh the same."""
    return bool(one) == bool(other) and all(one[query] == other[query] for query in one.keys() & other.keys())


def _read_weights(content: dict[str, Any], queries: int) -> list[float] | None:
    """Return the weights of saved scores; None if they have none."""
    if "weights" not in content:
        return None
    weights = [_finite(weight) for weight in content["weights"]]
    if len(weights) != queries or not all(weight > 0 for weight in weights):
        raise ValueError("weights are numbers above 0, one for each query")
    return weights


def _read_values(rows: dict[str, list[Any]], measures: list[str]) -> Floats:
    values = np.asarray([[_finite(value) for value in row] for row in rows.values()], np.float64)
    return values.reshape(len(rows), len(measures))


def _finite(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{value!r} is not a value of a measure")
    return value


@dataclass(eq=False, repr=False)
class Gate(Verdicts):
    """Whether a new run may replace an old one; true if it may.

    >>> from gradely import gate
    >>> qrels = {f"q{i}": {"d": 1} for i in range(9)}
    >>> old, new = {q: ["d", "x"] for q in qrels}, {q: ["x", "d"] for q in qrels}
    >>> bool(gate(qrels, new, old, ["RR"], max_drop=0.01)), bool(gate(qrels, new, old, ["RR"], max_drop=0.6))
    (False, True)
    """

    changes: list[Change]
    pairwise: Pairwise | None
    """the new run and the old one; None without a baseline"""
    queries: list[str]
    saved: SavedScores
    """the scores of the new run, to be saved"""
    strict: bool
    undecided: str
    """pass or fail: the result for an undecided run"""
    notes: list[Note]
    judged: JudgedMeans | None = None
    """the drops by human labels and a judge's; None without a judge"""
    holes: bool = False
    """whether the gate fails if a verdict depends on the labels of unjudged documents"""
    floors: list[Floor] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        """The new run, and the old one if there is one."""
        return [self.saved.name] if self.pairwise is None else list(self.pairwise.names)

    @property
    def alpha(self) -> float:
        """The significance level of the tests."""
        return Design().alpha if self.pairwise is None else self.pairwise.design.alpha

    @property
    def is_corrected(self) -> bool:
        """Whether the p-values of ‘worse’ are corrected over several measures."""
        return self.pairwise is not None and self.pairwise.is_corrected

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data, values in full."""
        losers = {change.measure: self.losers(change.measure).records() for change in self.changes}
        return super().as_dict() | {"losers": losers}

    def summary(self) -> str:
        """Return the verdict in a sentence, and the measures that depend on the labels of unjudged documents."""
        told = [
            f"the drop of {change.measure} is between {change.holes_low:+z.4f} and {change.holes_high:+z.4f}, "
            f"the limit is {change.limit:g}"
            for change in self.changes
            if change.open
        ]
        left = f" The labels of unjudged documents leave that open: {'; '.join(told)}." if told else ""
        return f"{super().summary()}{left}"

    def _say_what_it_takes(self, change: Change) -> str:
        """Return what is needed to decide an undecided measure."""
        assert self.pairwise is not None
        if change.p is None or change.p_not_worse is None:
            return "one query cannot be tested"
        beyond = change.drop - change.limit
        at_limit, against = abs(beyond) <= SAME, (change.p - change.p_not_worse) * beyond > 0
        if self.pairwise.design.test == "wilcoxon" and against and not at_limit:
            return "its signed ranks say the opposite of its mean"
        if at_limit and change.low is None:
            return "it is the limit itself on every query"
        if change.low is None or change.high is None:
            return f"{count_of(len(self.queries), 'query')} are too few"
        needed = change.queries_needed
        if needed is not None and needed <= len(self.queries):  # by t, while another test decides
            return self.say_interval(change)
        count = "more queries than anybody can judge" if needed is None else f"about {count_of(needed, 'query')}"
        return f"{self.say_interval(change)}; deciding takes {count} if the true drop is as observed"

    def losers(self, measure: str, most: int = 10, queries_text: Texts | None = None) -> Table:
        """Return the queries with the largest losses by a measure, with their texts if these are given."""
        if self.pairwise is None:
            raise DataError("nothing was compared: there is no baseline")
        at = list(self.pairwise.measures).index(measure)
        new, old = self.pairwise.values[at].T
        order = np.lexsort([np.asarray(self.queries), -(old - new)])[:most].tolist()
        rows: list[list[Cell]] = [
            [self.queries[i], float(old[i]), float(new[i]), float(old[i] - new[i])]
            for i in order
            if old[i] - new[i] > SAME
        ]
        header = ["query", "old", "new", "drop"]
        if queries_text is None:
            return Table(header, rows)
        texts = select_texts(queries_text, [str(row[0]) for row in rows])
        return Table([*header, "text"], [[*row, texts.get(str(row[0]), "")] for row in rows])

    def _fold_details(self, queries_text: Texts | None) -> list[str]:
        """Return the queries with the largest losses by each measure, as tables that readers unfold."""
        parts = []
        for change in self.changes:
            losers = self.losers(change.measure, queries_text=queries_text)
            if change.drop > 0 and losers.rows:
                lost = f"{change.measure}: {change.losses:,} of {count_of(len(self.queries), 'query')} lost"
                title = f"{lost}; the {len(losers.rows)} that lost the most"
                table = render(losers, "markdown")
                parts.append(f"<details><summary>{title}</summary>\n\n{table}\n</details>\n")
        return parts

    def caption(self) -> str:
        """Return the conditions, tests and policies of the gate."""
        queries = count_of(len(self.queries), "query")
        floors = ["The gate fails if a mean is below its floor, without a significance test."] if self.floors else []
        if self.pairwise is None:
            return " ".join([*floors, f"Data: {queries}, {self._describe_policies()}."])
        design, count, test = self.pairwise.design, len(self.changes), self.pairwise.test
        draws = f", {design.resamples:,} resamples, seed {design.seed}" if test in DRAWN else ""
        corrected = f"; {_describe_correction(str(design.correction), count)}" if count > 1 else ""
        kind = TESTS[test]
        if self.judged is not None:
            kind = "t-test of the regression estimator from human labels and a judge's"
            queries = f"human labels of {queries}, a judge's labels of {self.judged.sizes[1]:,}"
        return " ".join(
            [
                self._say_conditions(),
                f"Test: one-sided {kind}{draws} against the limit, α = {design.alpha:g}{corrected}.",
                f"Intervals: {self.level} t intervals of the drop, uncorrected.",
                *floors,
                f"Data: {queries}, {self._describe_policies()}.",
            ]
        )

    def _describe_policies(self) -> str:
        """Return the policies that are always shown, and those that differ from the default."""
        usual = asdict(Settings())
        always = {key: value for key, value in self.saved.settings.items() if key in ("ties", "queries", "precision")}
        unusual = {key: value for key, value in self.saved.settings.items() if value != usual[key]} | always
        policies = ", ".join(
            f"{value} precision" if key == "precision" else f"{key}: {value}"
            for key, value in self.saved.settings.items()
            if key in unusual
        )
        return policies + ("" if self.saved.weights is None else ", weighted means")


def _describe_correction(correction: str, measures: int) -> str:
    """Return which p-values are corrected over several measures."""
    if correction == "none":
        return "neither ‘p worse’ nor ‘p not worse’ is corrected"
    worse = f"‘p worse’ is {CORRECTIONS[correction]}-corrected over {measures} measures"
    return f"{worse}; ‘p not worse’ needs no correction, because every measure must pass"


def gate(
    qrels: Any,
    new: Any,
    baseline: Any = None,
    measures: MeasureLike | Iterable[MeasureLike] | None = None,
    *,
    max_drop: float | Mapping[str, float] = 0.0,
    non_inferior: float | Mapping[str, float] | None = None,
    floors: Mapping[str, float] | None = None,
    strict: bool = False,
    undecided: Undecided = "pass",
    alpha: float = 0.05,
    test: GateTest = "t",
    correction: Correction = "holm",
    resamples: int = RESAMPLES,
    ties: TiePolicy = "expected",
    queries: QueryPolicy | Iterable[Any] = "qrels",
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
    judge: Any = None,
    slope: Slope = "auto",
    holes: bool = False,
) -> Gate:
    """Decide whether a new run is worse than a baseline by more than `max_drop`: worse, not worse, or undecided.

    `baseline` is a run, or the scores that an earlier gate saved: the path of the file, or `Gate.saved`. Saved scores
    also provide the default for `measures`. `max_drop` is how much a mean may fall: a number, or {measure: number},
    where measures that are not listed may not fall. The gate fails if a drop is shown to exceed its limit; with
    `undecided="fail"`, also if it is not shown to stay within it; with `strict`, if it exceeds the limit, significantly
    or not. With `non_inferior` instead of `max_drop`, it passes only if every measure is shown to fall by less than
    that. `floors`, {measure: number}, fail a run with a lower mean, and need no baseline. With `holes`, the gate fails
    if the labels of unjudged documents decide whether a drop exceeds its limit. `correction` is over the measures. With
    `judge`, drops are estimated from human labels and those of a judge for more queries. All other options are those of
    compare.
    """
    max_drop, undecided = settle_limits(max_drop, non_inferior, undecided)
    least = check_floors(floors)
    _check_conditions(
        least, compared=baseline is not None, drops=max_drop != 0.0, judged=judge is not None, holes=holes
    )
    check_choice("test of a gate", test, ALONE)
    design = Design(test, correction, alpha, seed, resamples, family="all").settle()
    check_one_sided(undecided, alpha)
    policy, only = split_queries(queries)
    settings = Settings(
        ties, policy, judged_only, precision, seed, threads, empty, exclude_self, duplicates, document_pattern
    )
    _source, earlier = find_saved(baseline)  # the source is held, since it may be a pipe
    if earlier is not None and holes:
        raise DataError(f"{earlier.path}: holes needs the old run itself, since its scores do not name its documents")
    usual = list(least) if baseline is None else DEFAULT
    named = parse_all(measures if measures is not None else earlier.measures if earlier else usual)
    limits, extra = check_limits(max_drop, named.values()), parse_all(list(least)) if least else {}
    if judge is not None:
        check_judged(design, settings, slope, weights=weights)
    how = {"columns": columns, "exclude": exclude, "weights": weights, "subtopics": need_subtopics(named | extra)}
    judgments, labels, notes = read_labels(qrels, judge, queries, only, settings, **how)
    judgments, taken = leave_out_untaken(judgments, named)
    kept = {str(measure): measure for measure in taken.values()}
    every = (extra | kept).values()
    scores = score_run(judgments, open_as(new, columns, settings), every, settings, progress, labels)
    saved = scores.only(list(kept))
    held = hold_against_floors(dict(zip(scores.measures, scores.means(), strict=True)), least)
    if baseline is None:
        return Gate([], None, scores.queries, saved, strict, undecided, [*notes, *scores.notes], floors=held)
    if earlier is None:
        older = open_as(baseline, columns, settings)
        earlier = score_run(judgments, older, kept.values(), settings, progress, labels)
    limits = {name: limits[name] for name in kept}
    bounds = [measure.bounds for measure in kept.values()]
    verdict = decide(scores, earlier, limits, design, strict=strict, undecided=undecided, slope=slope, bounds=bounds)
    verdict = replace(verdict, floors=held, saved=saved, notes=[*notes, *verdict.notes])
    return look_for_holes(verdict, judgments, (new, baseline), columns, settings, progress) if holes else verdict


def _check_conditions(floors: Mapping[str, float], *, compared: bool, drops: bool, judged: bool, holes: bool) -> None:
    """Raise DataError if conditions cannot be combined."""
    if not compared and not floors:
        raise DataError("give a baseline to compare with, or floors")
    if not compared and (drops or holes):
        raise DataError("without a baseline, nothing can fall: give a baseline, or only floors")
    if judged and floors:
        raise DataError("floors apply to means by human labels: leave out the judge or the floors")
    if judged and holes:
        raise DataError("holes needs the labels of one set of qrels: leave out holes or judge")


def find_saved(baseline: Any) -> tuple[Source | None, SavedScores | None]:
    """Return the source of a baseline that is a file, and its saved scores if it has any."""
    if not isinstance(baseline, str | os.PathLike):
        return None, baseline if isinstance(baseline, SavedScores) else None
    source = Source(baseline)
    return source, read_saved(source) if is_saved(source) else None


def look_for_holes(
    verdict: Gate, qrels: Qrels, runs: tuple[Any, Any], columns: Names | None, settings: Settings, progress: Progress
) -> Gate:
    """Return the verdict with the range of each drop over the labels of unjudged documents; it fails if a drop is open.

    A drop is open if it exceeds its limit for some labels and not for others. The ranges replace the notes on the
    shares of unjudged documents.
    """
    new, old = (partial(open_as, run, columns, settings) for run in runs)
    measures = parse_all([change.measure for change in verdict.changes])
    found, notes = bound_some(qrels, {"new": new, "old": old}, measures, settings, progress)
    changes = []
    for change in verdict.changes:
        if found is None or change.measure not in found.bounds:
            changes.append(change)
            continue
        low, high = (float(end[0]) for end in found.differences(change.measure, np.array([1]), np.array([0])))
        is_open = low - change.limit <= SAME < high - change.limit
        failed = change.failed or is_open
        changes.append(change._replace(holes_low=low, holes_high=high, open=is_open, failed=failed))
    others = [note for note in verdict.notes if note.kind != "holes"]
    return replace(verdict, changes=changes, notes=[*others, *notes], holes=True)


def decide(
    new: SavedScores,
    old: SavedScores,
    limits: dict[str, float],
    design: Design,
    *,
    strict: bool,
    undecided: str,
    slope: object = "auto",
    bounds: Sequence[tuple[float, float]] = (),
) -> Gate:
    """Return the verdict from the scores of both runs on their common queries."""
    old.check(new)
    at = {query: i for i, query in enumerate(old.queries)}
    rows = [i for i, query in enumerate(new.queries) if query in at]
    queries = [new.queries[i] for i in rows]
    if not queries:
        raise DataError("the two runs have no query in common")
    tables = (new.columns(list(limits))[rows], old.columns(list(limits))[[at[query] for query in queries]])
    names = [new.name, old.name] if new.name != old.name else [f"{new.name} (new)", f"{old.name} (old)"]
    weights = None if new.weights is None else normalize_weights([new.weights[i] for i in rows])
    weights = None if weights is None or (weights == 1).all() else weights
    values = np.stack([table.T for table in tables], axis=2)
    mean, judged = np.asarray([means(table, weights) for table in tables]).T, None
    if new.judge is not None:
        newer, older, fallen = _sample(new, old, list(limits), queries, values)
        mean = np.stack([regress(one, "like", slope).mean for one in (newer, older)], axis=1)
        judged = regress(fallen, "like", slope)
    pairwise = Pairwise(values, mean, names, list(limits), design, bounds, weights)
    with_judge, drops = judged is not None, _drops(pairwise, limits, judged)
    least, coarse = _find_coarse(pairwise, limits, judged=with_judge)
    changes = _changes(pairwise, limits, drops, coarse, strict=strict, undecided=undecided)
    notes = [
        *_note_left_out(new, old, queries),
        *new.notes,
        *(Note(note.kind, note.count, note.of, f"baseline: {note}") for note in old.notes if _is_news(note, new)),
        *_note_tests(pairwise, changes, least, coarse),
        *_note_power(changes, len(queries), pairwise, coarse),
    ]
    return Gate(changes, pairwise, queries, new, strict, undecided, notes, judged)


def _sample(
    new: SavedScores, old: SavedScores, measures: list[str], queries: list[str], values: Floats
) -> tuple[Sample, Sample, Sample]:
    """Return the values of the new run and of the old run, and the drops, by people and by the judge."""
    assert new.judge is not None
    assert old.judge is not None
    at = {query: i for i, query in enumerate(old.judge.queries)}
    every = [query for query in new.judge.queries if query in at]
    mine = {query: i for i, query in enumerate(new.judge.queries)}
    judged_new = new.judge_columns(measures)[[mine[query] for query in every]]
    judged_old = old.judge_columns(measures)[[at[query] for query in every]]
    place = {query: i for i, query in enumerate(every)}
    rows = np.array([place[query] for query in queries], np.int64)
    newer, older = (values[:, :, i].T for i in range(2))
    return (
        Sample(newer, judged_new, rows),
        Sample(older, judged_old, rows),
        Sample(older - newer, judged_old - judged_new, rows),
    )


def _is_news(note: Note, new: SavedScores) -> bool:
    """Return whether a note on the baseline is not one that the new run has, too, such as one on the judgments."""
    return note.kind not in ("labels", "holes") or str(note) not in map(str, new.notes)


def _note_left_out(new: SavedScores, old: SavedScores, queries: list[str]) -> list[Note]:
    names = sorted({*new.queries, *old.queries} - {*queries})
    text = "{are} not in both runs and {are} left out"
    return note_names("uncommon", len(names), len(names) + len(queries), "query", text, names)


class Drops(NamedTuple):
    """The drop of each measure, [measures], with intervals and tests."""

    size: Floats
    low: Floats
    high: Floats
    worse: Floats
    """p-values of drops above their limits"""
    within: Floats
    """p-values of drops below their limits"""
    moves: Bools
    """whether the two runs differ on any query"""
    losses: Ints
    """the number of queries on which the new run is worse"""
    deviation: Floats
    """the standard deviation over queries; 0 if nothing varies"""


def _drops(pairwise: Pairwise, limits: dict[str, float], judged: JudgedMeans | None) -> Drops:
    """Return the drops by human labels, combined with a judge's if there is one."""
    design, queries = pairwise.design, pairwise.values.shape[1]
    by_query = np.stack([round_off(table[:, 1] - table[:, 0], table) for table in pairwise.weighed], axis=1)
    beyond, losses = _beyond(pairwise, limits), np.count_nonzero(by_query > 0, axis=0)
    if judged is not None:
        allowed, found = np.array([*limits.values()]), judged.together
        ends = _cut(pairwise, found.intervals(1 - 2 * design.alpha))
        deviation = np.nan_to_num(found.error) * np.sqrt(queries)
        apart = np.abs(pairwise.means[:, 1] - pairwise.means[:, 0]) > SAME  # perhaps by the judge's labels alone
        moves = np.asarray(by_query.any(axis=0) | (np.abs(found.difference) > SAME) | apart)
        return Drops(found.difference, *ends, found.p_above(allowed), found.p_below(allowed), moves, losses, deviation)
    tested = queries > 1
    worse, within = p_of_limits(beyond, design) if tested else (np.ones(len(limits)), np.ones(len(limits)))
    reach = t_upper(design.alpha, queries - 1) if tested else np.nan
    # weights make the spread depend on the limit; the interval then leaves the limit out where t does
    low, high = Estimates.of(by_query if pairwise.weights is None else beyond).around(reach)
    moved = 0.0 if pairwise.weights is None else np.array([*limits.values()])
    ends = _cut(pairwise, Intervals(low + moved, high + moved))
    deviation = np.where(np.ptp(beyond, axis=0) > 0, beyond.std(axis=0, ddof=1) if tested else 0.0, 0.0)
    size = pairwise.means[:, 1] - pairwise.means[:, 0]
    return Drops(size, *ends, worse, within, np.asarray(by_query.any(axis=0)), losses, deviation)


def _cut(pairwise: Pairwise, ends: Intervals) -> Intervals:
    """Clip the intervals of drops [measures] to the largest possible difference by each measure."""
    return Intervals(*(np.clip(end, -np.array(pairwise.widest), pairwise.widest) for end in ends))


def _changes(
    pairwise: Pairwise, limits: dict[str, float], drops: Drops, coarse: Bools, *, strict: bool, undecided: str
) -> list[Change]:
    """Return the change and the verdict of each measure; `coarse` says by which no drop could be shown."""
    design, queries = pairwise.design, pairwise.values.shape[1]
    adjusted = pairwise.correct(drops.worse[:, None])[:, 0]
    p_values = [drops.worse.tolist(), adjusted.tolist(), drops.within.tolist()]
    p_values = p_values if queries > 1 else [[None] * len(limits)] * 3
    columns = zip(to_optional(drops.low), to_optional(drops.high), *p_values, drops.losses.tolist(), strict=True)
    changes = []
    for m, ((measure, limit), numbers) in enumerate(zip(limits.items(), columns, strict=True)):
        new, old = pairwise.means[m].tolist()
        drop, deviation = float(drops.size[m]), float(drops.deviation[m])
        detectable, needed = _what_it_takes(drop, deviation, limit, queries, design, len(limits))
        possible = detectable is not None and detectable <= pairwise.widest[m]
        change = Change(measure, old, new, drop, limit, *numbers)
        change = change._replace(detectable=detectable if possible and not coarse[m] else None, queries_needed=needed)
        differs = bool(drops.moves[m])
        changes.append(judge_change(change, design.alpha, differs=differs, strict=strict, undecided=undecided))
    return changes


def p_of_limits(beyond: Floats, design: Design) -> tuple[Floats, Floats]:
    """Return p-values [measures] of drops above and below their limits, from drops minus limits by query."""
    above, below = (
        p_of_differences(side, design.test, design.resamples, design.seed, one_sided=True) for side in (beyond, -beyond)
    )
    return above, below


def _what_it_takes(
    drop: float, deviation: float, limit: float, queries: int, design: Design, measures: int
) -> tuple[float | None, int | None]:
    """Return the smallest drop that is detected with a power of 0.8, and the number of queries that would decide.

    With several measures, the level is that of the first step of the correction. The power is that of the t-test, which
    approximates randomization and bootstrap; tests by signs need enough queries for 1 / 2^n to be below the level. With
    a judge, queries are human ones, and the judge's other queries stay.
    """
    if queries < 2 or deviation == 0:
        return None, None
    level = design.alpha / (1 if design.correction == "none" else measures)
    effect = (drop - limit) / deviation
    decisive = level if effect > 0 else design.alpha
    needed, least = queries_needed(effect, decisive, POWER, one_sided=True), 2
    if design.test in BY_SIGNS:
        least = math.floor(-math.log2(decisive)) + 1  # the first n of which 1 / 2^n is below the level
    detectable = limit + deviation * detectable_effect(queries, level, POWER, one_sided=True)
    return detectable, needed and max(needed, least)


def _note_tests(pairwise: Pairwise, changes: list[Change], least: Floats, coarse: Bools) -> list[Note]:
    """Return notes on tests that are not performed, are replaced, or, with these least p-values, show no drop."""
    notes = [note for note in note_tests(pairwise) if note.kind in ("untested", "few")]
    if pairwise.values.shape[1] < 2:
        return notes
    notes += note_constant(changes) if pairwise.test in BY_SPREAD else []
    count = int(np.count_nonzero(coarse))
    p = format_p(least[coarse].min(initial=1.0), pairwise.design.alpha)
    before = " before correction" if pairwise.is_corrected else ""
    text = (
        f"by {count:,} of {count_of(len(changes), 'measure')} no drop could be shown to exceed its limit, however "
        f"large: the smallest possible p is {p}{before}"
    )
    return [*notes, Note("coarse", count, len(changes), text)] if count else notes


def _find_coarse(pairwise: Pairwise, limits: dict[str, float], *, judged: bool) -> tuple[Floats, Bools]:
    """Return the smallest possible p-values [measures], and which are not below alpha once they are corrected.

    Only queries on which the runs differ can show a drop, whatever its limit: the others stay below it. A measure by
    which both runs are the same is not among these, since nothing is to be shown there. With a judge, whose labels move
    drops on all queries, t has no smallest p-value.
    """
    design = pairwise.design
    by_query = np.stack([round_off(table[:, 1] - table[:, 0], table) for table in pairwise.values], axis=1)
    drawn = {"randomization": 1 / (2 * design.resamples + 2), "bootstrap": 1 / (design.resamples + 1)}
    exact = 0.5 ** np.count_nonzero(by_query, axis=0) if pairwise.test in BY_SIGNS else 0.0
    exact = least_tails(by_query) if pairwise.test == "t" and not judged and len(by_query) > 1 else exact
    least = np.maximum(exact, drawn.get(pairwise.test, 0.0)) * np.ones(len(limits))
    coarse = pairwise.correct(least[:, None])[:, 0] >= design.alpha
    return least, np.asarray(by_query.any(axis=0) & coarse)


def _beyond(pairwise: Pairwise, limits: dict[str, float]) -> Floats:
    """Return the weighted drops minus limits [queries, measures]."""
    columns = []
    for table, limit in zip(pairwise.values, limits.values(), strict=True):
        beyond = round_off(table[:, 1] - table[:, 0], table) - limit
        columns.append(round_off(beyond if pairwise.weights is None else beyond * pairwise.weights, table))
    return np.stack(columns, axis=1)


def _note_power(changes: list[Change], queries: int, pairwise: Pairwise, coarse: Bools) -> list[Note]:
    """Note the smallest detectable drops of undecided measures, except those that no test could show."""
    sizes = [
        f"{c.measure} {'more than is possible' if c.detectable is None else show_number(c.detectable)}"
        for c, shows_none in zip(changes, coarse.tolist(), strict=True)
        if c.verdict == "undecided" and c.low is not None and not shows_none
    ]
    level = f", {CORRECTIONS[str(pairwise.design.correction)]}" if len(changes) > 1 else ""
    text = (
        f"the smallest drops that {count_of(queries, 'query')} can show to exceed the limit, with power {POWER:g} "
        f"(t-test{level}): {', '.join(sizes)}"
    )
    return [Note("weak", len(sizes), len(changes), text)] if sizes else []
