"""evaluate, evaluate_runs and Evaluator: scores from qrels and runs."""

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
from gradely.settings import SAMPLES, DuplicatePolicy, EmptyPolicy, Precision, QueryPolicy, Settings, TiePolicy
from gradely.tables import Table, box, bullets, count_of, grid, heading, to_frame, typed_wide_frame

if TYPE_CHECKING:
    from gradely.data.texts import Texts
    from gradely.evaluation.by_query import QueryScores

DEFAULT = ("nDCG@10", "AP", "RR", "P@10", "R@100", "muAP")
"""the default measures"""

Progress: TypeAlias = Callable[[str, float], None]
"""a function that is called with the name of a step, usually a run, and the share of it that is done, from 0 to 1"""


def ignore(name: str, done: float) -> None:
    """Do nothing; the default progress function."""


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
    duplicates: DuplicatePolicy = "error",
    document_pattern: str | None = None,
    by: Any = None,
    exclude: Any = None,
    exclude_self: bool = False,
    empty: EmptyPolicy = "zero",
    weights: Any = None,
    samples: int = SAMPLES,
) -> Scores:
    """Evaluate a run against qrels.

    `qrels` and `run` can each be a path, a dataframe or a dict of dicts, or be Qrels and a Run; `columns` names the
    columns of tables. `measures` are names like "nDCG@10", or objects like nDCG(k=10).

    `ties` is "expected" (the default), "trec", "order", "best", "worst", "random" (with `seed`) or "sampled", which is
    the exact mean if it is known, else the mean of `samples` random orders, with its standard error.
    `precision="single"` rounds scores before they are compared, as trec_eval 9 does.

    `queries` selects those to average over: "qrels" (the default) means all judged queries, where those missing from
    the run count as 0; "both" means the judged queries in the run, and "run" all queries of the run; or pass a list of
    queries. Queries without relevant documents count as 0 with `empty="zero"` (the default) and as 1 with "one"; "skip"
    leaves them out. `weights` weights queries in means, and `by` sets Scores.segments: each is a dict by query, a
    column of the qrels, or a table.

    `judged_only` drops unjudged documents before evaluation. `exclude` is a table or dict of documents to drop, and
    `exclude_self` drops documents whose id is that of their query. `duplicates` says what to do with duplicate
    documents of a query, as in read_qrels, and `document_pattern` turns passages of a run into documents, as in
    read_run.

    `threads` is the number of threads, by default one per processor, which does not affect results. `progress` is
    called with the name of the run and the share of the work that is done.

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
    """Qrels and measures that are prepared once for many runs, for example to compute rewards in a training loop.

    The parameters, and the result of a call, are those of evaluate. Data that depend only on the qrels are kept between
    calls; they grow with the judgments, not with the calls. Several threads may call it at the same time.

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
        duplicates: DuplicatePolicy = "error",
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
        """Return the scores of a run, which may have any type that evaluate accepts."""
        ranking = open_as(run, self.columns, self.settings)
        return evaluate_run(self.qrels, ranking, self.measures, self.settings).scores()

    def __repr__(self) -> str:
        """Return the qrels, the measures and the tie policy."""
        return f"Evaluator({self.qrels!r}: {', '.join(self.measures)}; ties {self.settings.ties})"


class Evaluations(Result, Mapping[str, Scores]):
    """The results of several runs, {name: Scores}, in the order in which the runs were given."""

    def __init__(
        self, qrels: Qrels, measures: Mapping[str, Measure], settings: Settings, evaluations: dict[str, Evaluation]
    ) -> None:
        """Store the evaluation of each run, with its hits; nothing is copied."""
        self.qrels, self.measures, self.settings, self.evaluations = qrels, measures, settings, evaluations
        self.label_ranges: dict[str, list[LabelRange]] = {}
        """for each run, the ranges of means over the labels of unjudged documents, if requested"""
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
        """Return {run/measure: mean} with names that MLflow and Weights & Biases accept, like bm25/nDCG_10."""
        named = (((run, *name), mean) for run, scores in self.items() for name, mean in scores.named_means())
        return flatten(named, prefix)

    def table(self) -> Table:
        """Return the means, with one row per run and one column per measure."""
        return Table(["run", *self.measures], [[name, *mean.values()] for name, mean in self.mean().items()])

    def segments_table(self) -> Table | None:
        """Return the means by run and segment, with the number of queries; None without `by`."""
        return None if self.qrels.segments is None else segments_table(self)

    def data_table(self) -> Table:
        """Return the means for CSV, with one row per run, or per run and segment."""
        return means_table(self)

    def document(self, digits: int) -> list[Section]:  # noqa: ARG002 - as all results have it
        """Return data_table."""
        return [self.data_table()]

    def sections(self, digits: int) -> list[Section]:
        """Return data_table; for a single run, a table with one row per measure."""
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

        Queries are sorted by the measure `sort`, worst first, or by their difference from the run `baseline`. `worst`
        or `best` limits the number of queries that are shown of each run. `queries_text`, {query: text} or a file of
        ids and texts, adds a column of texts.
        """
        from gradely.evaluation.by_query import QueryOrder, QueryScores

        return QueryScores(self, QueryOrder(sort, worst, best, baseline), queries_text)

    @property
    def notes(self) -> list[Note]:
        """Notes on queries, documents and ties; notes that apply to all runs appear once."""
        return self.notes_at(DIGITS)

    @property
    def data_notes(self) -> list[Note]:
        """The notes except those on ties, which take longer to find than all others."""
        return merge_notes({name: scores.data_notes for name, scores in self.items()})

    @property
    def policy_notes(self) -> list[Note]:
        """Notes on how queries and documents were treated, and on how qrels and runs were read."""
        return [note for note in self.data_notes if note.kind in POLICIES]

    @property
    def sampling_notes(self) -> list[Note]:
        """Notes on means from sampled orders of tied documents, with their standard errors."""
        return [note for note in self.data_notes if note.kind == "sampled"]

    def notes_at(self, digits: int) -> list[Note]:
        """Return the notes on means with this number of decimals; on ties and labels only if a printed mean changes."""
        if digits not in self._notes:
            if self.label_ranges:
                holes = merge_ranges(self.label_ranges, min(digits, DIGITS))
            else:
                holes = merge_shares({name: scores.unjudged_share for name, scores in self._scores.items()})
            self._notes[digits] = [*note_runs(self._scores, digits), *holes, *self.unbounded]
        return self._notes[digits]

    def as_dict(self) -> dict[str, Any]:
        """Return the means of each run as plain data, with the policies and the notes."""
        runs = [scores.entry() | {"run": name} for name, scores in self.items()]
        for entry in runs if self.label_ranges else ():
            entry["holes"] = [span._asdict() for span in self.label_ranges[entry["run"]]]
        return {**next(iter(self.values())).policies(), "runs": runs}

    def _repr_html_(self) -> str:
        """Return the table of means and the notes as HTML for notebooks."""
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
    duplicates: DuplicatePolicy = "error",
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

    `runs` is {name: run}, or a list of paths, which are named after their files. With `holes`, notes give the range of
    each mean over the labels of unjudged documents, for which runs are read again. Other parameters are as in evaluate.

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

    A run may be a function that opens it. `places` is a tie policy that orders documents if that of the settings does
    not; Evaluation.with_ties can then use it. `depth` requests RunDetails, with the tops of rankings to this depth.
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
        _ = evaluation.table  # computed here, on this thread
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
    """Locate the judged documents of one run, and return its evaluation by measures that are fitted to the qrels.

    `same` is true if qrels and run were given as the same object.
    """
    ranking = open_run(run)
    title = name or ranking.name
    placed = settings.ties if settings.breaks_ties else places
    ranked_by = settings if placed == settings.ties else settings.replace(ties=placed)
    workers = workers or settings.workers

    def report(done: float) -> None:
        if done < 1:  # the end is reported once, when the values are computed
            progress(title, done)

    observer = None
    if depth is not None:
        from gradely.data.tops import DetailsObserver, describe_run

        observer = DetailsObserver(depth)
    hits = locate(qrels, ranking, ranked_by, workers, report, observer)
    details = None if observer is None else observer.details(hits) or describe_run(qrels, ranking, observer.depth)
    apart = describe_mismatch(qrels, ranking, hits)
    about_run = [*ranking.notes, *find_mistakes(qrels, ranking, hits, same=same)]
    return Evaluation(qrels, hits, measures, settings, title, placed, workers, details, apart, about_run)


def leave_out_untaken(qrels: Qrels, measures: Mapping[str, Measure]) -> tuple[Qrels, Mapping[str, Measure]]:
    """Return qrels and measures; if labels are probabilities, only the default measures that support them.

    A note of the qrels names the measures that are left out. Measures that the user named are kept; they raise an error
    later.
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
    """Open a run with the options of the settings."""
    return open_run(run, columns=columns, duplicates=settings.duplicates, document_pattern=settings.document_pattern)


def name_runs(runs: Any) -> dict[str, Any]:
    """Return runs by name; paths are named after their files."""
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
