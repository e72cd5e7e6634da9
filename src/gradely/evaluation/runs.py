"""evaluate_runs: several runs against the same qrels, each read once. Every command and comparison stands on it."""

import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, TypeAlias

from gradely.data import Qrels, Run, locate_selected, open_run, read_qrels, run_name, run_names
from gradely.data.details import DetailsObserver, describe_run
from gradely.data.selection import read_segments, select
from gradely.errors import DataError
from gradely.evaluation.evaluation import Evaluation
from gradely.evaluation.evaluations import Evaluations
from gradely.evaluation.mismatch import documents_apart
from gradely.measures import Measure
from gradely.measures.names import MeasureLike, parse_all
from gradely.settings import Precision, QueryPolicy, Settings, TiePolicy
from gradely.threads import on_threads

DEFAULT = ("nDCG@10", "AP", "RR", "P@10", "R@100", "muAP")
"""the measures where none is named"""

Progress: TypeAlias = Callable[[str, float], None]
"""is called with the name of a piece of work, mostly a run, and how much of it is done, from 0 to 1"""


def ignore(name: str, done: float) -> None:
    """Take no notice of progress."""


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
    columns: Mapping[str, str] | None = None,
    duplicates: str = "error",
    by: Any = None,
    exclude: Any = None,
) -> Evaluations:
    """Evaluate several runs against the same qrels, several at a time.

    `runs` is {name: run}, or a list of paths, which are named by their files. The rest is as in evaluate.

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
    settings = Settings(ties, policy, judged_only, precision, seed, threads)
    judgments = read_selected(qrels, settings, columns, duplicates, only=only, by=by, exclude=exclude)
    return evaluate_all(judgments, open_runs(name_runs(runs), columns), parse_all(measures), settings, progress)


def open_runs(runs: Mapping[str, Any], columns: Mapping[str, str] | None) -> Mapping[str, Any]:
    """Return runs by name, as functions that open them where columns have names of their own."""
    return runs if not columns else {name: partial(open_run, run, columns=columns) for name, run in runs.items()}


def split_queries(queries: Any) -> tuple[Any, Iterable[Any] | None]:
    """Return the query policy, and the queries that count where they are named."""
    return (queries, None) if isinstance(queries, str) else ("qrels", queries)


def read_selected(
    qrels: Any,
    settings: Settings,
    columns: Mapping[str, str] | None = None,
    duplicates: str = "error",
    *,
    only: Iterable[Any] | None = None,
    by: Any = None,
    exclude: Any = None,
) -> Qrels:
    """Read qrels, and what is to be selected."""
    judgments = read_qrels(qrels, columns=columns, duplicates=duplicates, threads=settings.threads)
    segments = None if by is None else read_segments(by, qrels, columns)
    return select(judgments, only=only, segments=segments, exclude=exclude)


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

    A run may be a function that opens it. `places` is a tie policy to place documents by where the settings need none,
    so that Evaluation.under can take it. `depth` asks for RunDetails, with the tops of rankings to this depth.
    """
    workers = settings.workers if len(runs) == 1 else 1

    def work(item: tuple[str, Any]) -> Evaluation:
        name, run = item
        evaluation = evaluate_run(
            qrels, run, measures, settings, progress, name=name, places=places, depth=depth, workers=workers
        )
        _ = evaluation.table  # measured here, on this thread
        progress(name, 1.0)
        return evaluation

    results = on_threads(work, runs.items(), settings.workers)
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
) -> Evaluation:
    """Find where the judged documents of one run stand, ready to be measured."""
    ranking = open_run(run)
    title = name or (ranking.name if isinstance(ranking, Run) else run_name(ranking.path))
    fitted = {label: measure.fit(qrels.levels) for label, measure in measures.items()}
    placed = settings.ties if settings.breaks_ties else places
    ranked_by = settings if placed == settings.ties else settings.replace(ties=placed)
    workers = workers or settings.workers

    def report(done: float) -> None:
        if done < 1:  # the end comes once, when the run is measured
            progress(title, done)

    observer = None if depth is None else DetailsObserver(depth)
    hits = locate_selected(qrels, ranking, ranked_by, workers, report, observer)
    details = None
    if observer is not None:
        details = observer.details(hits) or describe_run(qrels, ranking, observer.depth)
    apart = documents_apart(qrels, ranking, hits)
    return Evaluation(qrels, hits, fitted, settings, title, placed, workers, details, apart)


def name_runs(runs: Any) -> dict[str, Any]:
    """Return runs by name: as they are named, or paths by the names of their files."""
    if isinstance(runs, Mapping) and runs:
        return {str(name): run for name, run in runs.items()}
    paths = [] if isinstance(runs, str | os.PathLike | Mapping) else list(runs)
    if not paths or not all(isinstance(path, str | os.PathLike) for path in paths):
        example = "{'bm25': 'bm25.run', 'dense': {'q1': {'d1': 0.9}}}"
        raise DataError(f"give the runs by name, {example}, or as a list of paths")
    paths = [os.fspath(path) for path in paths]
    return dict(zip(run_names(paths), paths, strict=True))
