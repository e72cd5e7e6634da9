"""evaluate and Evaluator: from qrels and one run to scores."""

import copy
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeAlias

from gradely.data import Qrels, Run, locate, open_run, run_names
from gradely.data.column_roles import Names
from gradely.data.selection import read_selected, split_queries
from gradely.errors import DataError
from gradely.evaluation.likely_mistakes import describe_mismatch, find_mistakes
from gradely.evaluation.notes import (
    DIGITS,
    POLICIES,
    LabelRange,
    Note,
    merge_notes,
    merge_ranges,
    merge_shares,
)
from gradely.evaluation.result import Result, Section
from gradely.evaluation.scores import Scores, flatten, means_table, note_runs, segments_table
from gradely.evaluation.values import Evaluation, fit_to
from gradely.measures import Measure
from gradely.measures.names import MeasureLike, need_subtopics, parse_all
from gradely.parallel import on_threads
from gradely.settings import SAMPLES, EmptyPolicy, Precision, QueryPolicy, Settings, TiePolicy
from gradely.tables import Table, box, bullets, count_of, grid, heading, to_frame, typed_wide_frame

if TYPE_CHECKING:
    from gradely.data.texts import Texts
    from gradely.data.tie_counts import RunDetails
    from gradely.evaluation.by_query import QueryScores

DEFAULT = ("nDCG@10", "AP", "RR", "P@10", "R@100", "muAP")
"""the default measures"""

Progress: TypeAlias = Callable[[str, float], None]
"""called with the name of a step, mostly a run, and the share of it that is done, from 0 to 1"""


def ignore(name: str, done: float) -> None:
    """Ignore the progress."""


class Evaluations(Result, Mapping[str, Scores]):
    """The results of several runs, {name: Scores}, in the order in which the runs were given."""

    def __init__(
        self, qrels: Qrels, measures: Mapping[str, Measure], settings: Settings, evaluations: dict[str, Evaluation]
    ) -> None:
        """Hold the evaluation of each run, with its hits; nothing is copied."""
        self.qrels, self.measures, self.settings, self.evaluations = qrels, measures, settings, evaluations
        self.label_ranges: dict[str, list[LabelRange]] = {}
        """how far the labels of unjudged documents move each mean, by run, if requested"""
        self.unbounded: list[Note] = []
        """notes on measures that have no such range"""
        self._notes: dict[int, list[Note]] = {}

    @cached_property
    def _scores(self) -> dict[str, Scores]:
        return {name: evaluation.scores() for name, evaluation in self.evaluations.items()}

    def __getitem__(self, name: str) -> Scores:
        """Return the scores of a run."""
        return self._scores[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the runs."""
        return iter(self.evaluations)

    def __len__(self) -> int:
        """Return the number of runs."""
        return len(self.evaluations)

    def mean(self) -> dict[str, dict[str, float]]:
        """Return {run: {measure: mean}}."""
        return {name: scores.mean() for name, scores in self.items()}

    def flat(self, prefix: str = "") -> dict[str, float]:
        """Return {run/measure: mean} with names that MLflow and Weights & Biases take, like bm25/nDCG_10."""
        named = (((run, *name), mean) for run, scores in self.items() for name, mean in scores.named_means())
        return flatten(named, prefix)

    def table(self) -> Table:
        """Return one row per run and one column per measure: the means."""
        return Table(["run", *self.measures], [[name, *mean.values()] for name, mean in self.mean().items()])

    def segments_table(self) -> Table | None:
        """Return one row per run and segment, with how many queries it has, all of them first; None without `by`."""
        return None if self.qrels.segments is None else segments_table(self)

    def data_table(self) -> Table:
        """Return one row per run, or per run and segment: the means, which CSV has."""
        return means_table(self)

    def document(self, digits: int) -> list[Section]:  # noqa: ARG002 - as all results have it
        """Return the same table."""
        return [self.data_table()]

    def sections(self, digits: int) -> list[Section]:
        """Return the same table; that of a single run stands upright."""
        return next(iter(self.values())).sections(digits) if len(self) == 1 else [self.data_table()]

    @typed_wide_frame
    def to_frame(self, library: str = "pandas", *, wide: bool = False) -> Any:
        """Return a dataframe of (run, query, measure, value), of pandas, polars or pyarrow.

        With `wide`, it has one row per run and query, and one column per measure.
        """
        columns: dict[str, list[Any]] = {}
        for name, scores in self.items():
            part = scores.columns(wide=wide)
            columns.setdefault("run", []).extend([name] * len(part["query"]))
            for key, values in part.items():
                columns.setdefault(key, []).extend(values)
        return to_frame(columns, library)

    def by_query(
        self,
        *,
        sort: MeasureLike | None = None,
        worst: int | None = None,
        best: int | None = None,
        baseline: str | None = None,
        queries_text: "Texts | None" = None,
    ) -> "QueryScores":
        """Return the values of each run on each query, as `gradely evaluate -q` prints them.

        Queries are sorted by the measure `sort`, worst first, or by the difference from the run `baseline`; only the
        `worst` or the `best` ones are shown, that many of each run. `queries_text`, {query: text} or a file of ids and
        texts, gives a column of texts.
        """
        from gradely.evaluation.by_query import QueryOrder, QueryScores

        return QueryScores(self, QueryOrder(sort, worst, best, baseline), queries_text)

    @property
    def notes(self) -> list[Note]:
        """What there is to note about queries, documents and ties; what holds of all runs is said once."""
        return self.notes_at(DIGITS)

    @property
    def data_notes(self) -> list[Note]:
        """The same but for ties, which take longer to look at than all the rest."""
        return merge_notes({name: scores.data_notes for name, scores in self.items()})

    @property
    def policy_notes(self) -> list[Note]:
        """How queries and documents were treated, and qrels and runs read."""
        return [note for note in self.data_notes if note.kind in POLICIES]

    @property
    def sampling_notes(self) -> list[Note]:
        """Which means come from drawn orders of tied documents, and how far they may be off."""
        return [note for note in self.data_notes if note.kind == "sampled"]

    def notes_at(self, digits: int) -> list[Note]:
        """Return the notes on means with this number of decimals; of ties and labels, what changes what is printed."""
        if digits not in self._notes:
            ranges = merge_ranges(self.label_ranges, min(digits, DIGITS))
            shares = {} if self.label_ranges else {name: scores.unjudged_share for name, scores in self._scores.items()}
            self._notes[digits] = [*note_runs(self._scores, digits), *ranges, *merge_shares(shares), *self.unbounded]
        return self._notes[digits]

    def as_dict(self) -> dict[str, Any]:
        """Return the means of each run as plain data, with the policies and the notes."""
        runs = [scores.entry() | {"run": name} for name, scores in self.items()]
        for entry in runs if self.label_ranges else ():
            entry["holes"] = [span._asdict() for span in self.label_ranges[entry["run"]]]
        return {**next(iter(self.values())).policies(), "runs": runs}

    def _repr_html_(self) -> str:
        """Show the same in a notebook."""
        queries = count_of(len(self.qrels), "query")
        means = f"means over {queries if self.settings.queries == 'qrels' else 'the queries of each run'}"
        title = heading(f"{means}, ties {self.settings.ties}")
        return box(title, grid(self.data_table()), bullets(self.notes))


def evaluate_runs(
    qrels: Any,
    runs: Mapping[str, Any] | Iterable[Any],
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
    duplicates: str = "error",
    document_pattern: str | None = None,
    by: Any = None,
    exclude: Any = None,
    exclude_self: bool = False,
    empty: EmptyPolicy = "zero",
    weights: Any = None,
    holes: bool = False,
    samples: int = SAMPLES,
) -> Evaluations:
    """Evaluate several runs against the same qrels, several at a time.

    `runs` is {name: run}, or a list of paths, which are named by their files. With `holes`, notes say how far the
    labels of unjudged documents could move each mean; runs are read again for that. The rest is as in evaluate.

    >>> results = evaluate_runs({"q": {"a": 1}}, {"bm25": {"q": ["a", "x"]}, "dense": {"q": ["x", "a"]}}, ["RR", "P@1"])
    >>> results["dense"]["RR"]
    0.5
    >>> print(results.table())
    run        RR     P@1
    ─────  ──────  ──────
    bm25   1.0000  1.0000
    dense  0.5000  0.0000
    """
    policy, only = split_queries(queries)
    settings = Settings(
        ties, policy, judged_only, precision, seed, threads, empty, exclude_self, duplicates, document_pattern, samples
    )
    named = parse_all(measures)
    judgments = read_selected(
        qrels, settings, columns, only=only, by=by, exclude=exclude, weights=weights, subtopics=need_subtopics(named)
    )
    opened = open_runs(name_runs(runs), columns, settings)
    results = evaluate_all(judgments, opened, named, settings, progress)
    if holes:
        from gradely.evaluation.label_bounds import bound_some

        found, results.unbounded = bound_some(judgments, opened, named, settings, progress)
        results.label_ranges = {} if found is None else found.of_runs()
    return results


def leave_out_untaken(qrels: Qrels, measures: Mapping[str, Measure]) -> tuple[Qrels, Mapping[str, Measure]]:
    """Return qrels and measures; of the default measures only those that take labels that are probabilities.

    Measures that were named are refused instead. A note of the qrels says what is left out.
    """
    if not qrels.levels.uncertain or tuple(measures) != DEFAULT:
        return qrels, measures
    taken = {name: measure for name, measure in measures.items() if measure.takes_chances}
    qrels = copy.copy(qrels)
    rest = ", ".join(name for name in measures if name not in taken)
    text = f"{rest} is left out of the default measures: its exact mean over labels that are probabilities is not known"
    qrels.notes = [*qrels.notes, text]
    return qrels, taken


def open_runs(runs: Mapping[str, Any], columns: Names | None, settings: Settings) -> Mapping[str, Any]:
    """Return runs by name, as functions that open them if there are options for reading them."""
    if not columns and settings.duplicates == "error" and settings.document_pattern is None:
        return runs
    return {name: partial(open_as, run, columns, settings) for name, run in runs.items()}


def open_as(run: Any, columns: Names | None, settings: Settings) -> Run:
    """Open a run as the settings say."""
    return open_run(run, columns=columns, duplicates=settings.duplicates, document_pattern=settings.document_pattern)


def evaluate_all(
    qrels: Qrels,
    runs: Mapping[str, Any],
    measures: Mapping[str, Measure],
    settings: Settings,
    progress: Progress = ignore,
    *,
    places: TiePolicy = "expected",
    depth: int | None = None,
) -> Evaluations:
    """Evaluate runs by name: one on all threads, or several at a time on one thread each.

    A run may be a function that opens it. `places` is a tie policy by which documents are ordered if the settings need
    none, so that Evaluation.with_ties can use it. `depth` requests RunDetails, with the tops of rankings to this depth.
    """
    threads = settings.workers
    workers = threads if len(runs) == 1 else 1
    qrels, measures = leave_out_untaken(qrels, measures)
    qrels, fitted = fit_to(qrels, measures, settings)

    def work(item: tuple[str, Any]) -> Evaluation:
        name, run = item
        evaluation = evaluate_run(
            qrels, run, fitted, settings, progress, name=name, places=places, depth=depth, workers=workers
        )
        _ = evaluation.table  # measured here, on this thread
        progress(name, 1.0)
        return evaluation

    results = on_threads(work, runs.items(), threads)
    return Evaluations(qrels, measures, settings, dict(zip(runs, results, strict=True)))


def evaluate_run(
    qrels: Qrels,
    run: Any,
    measures: Mapping[str, Measure],
    settings: Settings,
    progress: Progress = ignore,
    *,
    name: str | None = None,
    places: TiePolicy = "expected",
    depth: int | None = None,
    workers: int | None = None,
    same: bool = False,
) -> Evaluation:
    """Locate the judged documents of one run, ready to be measured by measures that fit the qrels.

    `same` says that qrels and run were given as the same object.
    """
    ranking = open_run(run)
    title = name or ranking.name
    placed = settings.ties if settings.breaks_ties else places
    ranked_by = settings if placed == settings.ties else settings.replace(ties=placed)
    workers = workers or settings.workers

    def report(done: float) -> None:
        if done < 1:  # the end comes once, when the run is measured
            progress(title, done)

    observer = None
    if depth is not None:
        from gradely.data.tie_counts import DetailsObserver, describe_run

        observer = DetailsObserver(depth)
    hits = locate(qrels, ranking, ranked_by, workers, report, observer)
    details: RunDetails | None = None
    if observer is not None:
        details = observer.details(hits) or describe_run(qrels, ranking, observer.depth)
    apart = describe_mismatch(qrels, ranking, hits)
    about_run = [*ranking.notes, *find_mistakes(qrels, ranking, hits, same=same)]
    return Evaluation(qrels, hits, measures, settings, title, placed, workers, details, apart, about_run)


def name_runs(runs: Any) -> dict[str, Any]:
    """Return runs by name: as they are named, or paths by the names of their files."""
    example = "give the runs by name, {'bm25': 'bm25.run', 'dense': {'q1': {'d1': 0.9}}}, or as a list of paths"
    if isinstance(runs, Mapping) and runs:
        first = next(iter(runs.values()))
        if isinstance(first, Mapping) and isinstance(next(iter(first.values()), None), int | float):
            raise DataError(f"this looks like one run, with the rankings of its queries: {example}")
        return {str(name): run for name, run in runs.items()}
    if hasattr(runs, "columns") or isinstance(runs, Run):
        raise DataError(f"this is one run: {example}")
    paths = [] if isinstance(runs, str | os.PathLike | Mapping) else list(runs)
    if not paths or not all(isinstance(path, str | os.PathLike) for path in paths):
        raise DataError(example)
    paths = [os.fspath(path) for path in paths]
    return dict(zip(run_names(paths), paths, strict=True))


def evaluate(
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
    duplicates: str = "error",
    document_pattern: str | None = None,
    by: Any = None,
    exclude: Any = None,
    exclude_self: bool = False,
    empty: EmptyPolicy = "zero",
    weights: Any = None,
    samples: int = SAMPLES,
) -> Scores:
    """Evaluate a run against qrels.

    `qrels` and `run` are a path, a dataframe, a dict of dicts, or Qrels and a Run. `measures` are names like "nDCG@10",
    or objects like nDCG(k=10). `ties` is expected (the default), trec, order, best, worst, random (with `seed`) or
    sampled: exact where that can be had, else the mean of `samples` drawn orders, with its standard error.
    `queries` says which queries count: those of the qrels (the default; one that the run lacks counts 0), those in
    both, those of the run, or a list of queries. `judged_only` drops unjudged documents from the run first.
    `precision="single"` rounds scores as trec_eval 9 does. `threads`, by default one per processor, change no result.
    `progress` is called with the name of the run and the share that is done. `columns` says what tables call their
    columns, and `duplicates` what to do with duplicate documents of a query, as in read_qrels. `document_pattern` makes
    documents of the passages of a run, as in read_run. `by`, {query: segment}, a column of the qrels, or a table of
    both, gives Scores.segments. `exclude` is a table or dict of documents to drop first, and `exclude_self` drops
    documents that have the id of their query. `empty` says whether queries without relevant documents count 0 (zero,
    the default), do not count (skip) or count 1 (one). `weights` of queries, {query: weight}, a column of the qrels, or
    a table of both, make means weighted.

    >>> scores = evaluate({"q1": {"d1": 2, "d3": 1}}, {"q1": {"d1": 0.7, "d2": 0.7, "d3": 0.1}}, ["RR", "P@1"])
    >>> scores.mean(), scores["RR"], scores.query("q1")
    ({'RR': 0.75, 'P@1': 0.5}, 0.75, {'RR': 0.75, 'P@1': 0.5})
    """
    policy, only = split_queries(queries)
    settings = Settings(
        ties, policy, judged_only, precision, seed, threads, empty, exclude_self, duplicates, document_pattern, samples
    )
    named = parse_all(measures)
    judgments = read_selected(
        qrels, settings, columns, only=only, by=by, exclude=exclude, weights=weights, subtopics=need_subtopics(named)
    )
    judgments, fitted = fit_to(*leave_out_untaken(judgments, named), settings)
    ranking = open_as(run, columns, settings)
    same = run is qrels and not isinstance(run, str | os.PathLike)
    evaluation = evaluate_run(judgments, ranking, fitted, settings, progress, same=same)
    scores = evaluation.scores()
    progress(evaluation.name, 1.0)
    return scores


class Evaluator:
    """Qrels and measures, prepared once, and called with one run after another: for rewards and loops over queries.

    What it takes is as in evaluate, and so is what a call returns. What depends on the qrels alone is kept between
    calls, and grows with the judgments, not with the calls. Several threads may call it at the same time.

    >>> evaluator = Evaluator({"q1": {"d1": 2, "d3": 1}, "q2": {"d7": 1}}, ["RR", "P@1"], queries="both")
    >>> evaluator({"q1": ["d2", "d1"]}).mean()
    {'RR': 0.5, 'P@1': 0.0}
    >>> evaluator({"q2": {"d7": 0.9, "d8": 0.9}})["RR"]
    0.75
    """

    def __init__(
        self,
        qrels: Any,
        measures: MeasureLike | Iterable[MeasureLike] = DEFAULT,
        *,
        ties: TiePolicy = "expected",
        queries: QueryPolicy | Iterable[Any] = "qrels",
        judged_only: bool = False,
        precision: Precision = "double",
        seed: int = 0,
        threads: int | None = None,
        columns: Names | None = None,
        duplicates: str = "error",
        document_pattern: str | None = None,
        by: Any = None,
        exclude: Any = None,
        exclude_self: bool = False,
        empty: EmptyPolicy = "zero",
        weights: Any = None,
        samples: int = SAMPLES,
    ) -> None:
        """Read the qrels and fit the measures to them."""
        policy, only = split_queries(queries)
        self.settings = Settings(
            *(ties, policy, judged_only, precision, seed, threads, empty, exclude_self, duplicates, document_pattern),
            samples=samples,
        )
        self.columns = columns
        named = parse_all(measures)
        subtopics = need_subtopics(named)
        judgments = read_selected(
            qrels, self.settings, columns, only=only, by=by, exclude=exclude, weights=weights, subtopics=subtopics
        )
        self.qrels, self.measures = fit_to(*leave_out_untaken(judgments, named), self.settings)

    def __call__(self, run: Any) -> Scores:
        """Return the scores of a run, which may be whatever evaluate takes for one."""
        ranking = open_as(run, self.columns, self.settings)
        return evaluate_run(self.qrels, ranking, self.measures, self.settings).scores()

    def __repr__(self) -> str:
        """Say what it evaluates by, and against what."""
        return f"Evaluator({self.qrels!r}: {', '.join(self.measures)}; ties {self.settings.ties})"
