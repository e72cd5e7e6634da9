"""compare: several runs on the same queries, with honest statistics."""

from collections.abc import Iterable, Mapping
from typing import Any

from gradely.comparison.comparison import Comparison
from gradely.comparison.design import Design
from gradely.comparison.leaderboard import Leaderboard
from gradely.comparison.resampling import RESAMPLES
from gradely.data.details import top_depth
from gradely.data.qrels import Qrels
from gradely.data.query_selection import read_selected, split_queries
from gradely.evaluation.runs import DEFAULT, Progress, evaluate_all, ignore, name_runs, open_runs
from gradely.measures.names import MeasureLike, parse_all
from gradely.settings import Precision, QueryPolicy, Settings, TiePolicy


def compare(
    qrels: Any,
    runs: Mapping[str, Any] | Iterable[Any],
    measures: MeasureLike | Iterable[MeasureLike] = DEFAULT,
    *,
    baselines: str | Iterable[str] = (),
    test: str = "t",
    correction: str | None = None,
    family: str = "measure",
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
    columns: Mapping[str, str] | None = None,
    duplicates: str = "error",
    by: Any = None,
    exclude: Any = None,
) -> Comparison:
    """Compare runs, {name: run} or paths, pair by pair or against baselines.

    `test` is t, wilcoxon, randomization, bootstrap, tukey (randomised HSD, all pairs) or max-t (the pairs at hand).
    `correction` is holm (the default), bonferroni, bh or none; tukey and max-t need none. `family` says what is
    corrected together: the pairs of each `measure`, or `all` pairs and measures. `simultaneous` intervals hold for the
    family at once. `rope` is the largest difference that does not matter, for a test of equivalence. `resamples` and
    `seed` are for tests that draw at random. With `details`, what to_html needs is gathered at once, so that it need
    not read the runs again. The rest is as in evaluate; `by` gives Comparison.segments, means and differences.
    """
    policy, only = split_queries(queries)
    settings, named = Settings(ties, policy, judged_only, precision, seed, threads), name_runs(runs)
    design = Design(test, correction, alpha, seed, resamples, (), family, simultaneous, rope).settle(baselines, named)
    judgments = read_selected(qrels, settings.threads, columns, duplicates, only=only, by=by, exclude=exclude)
    return _compare(judgments, named, columns, measures, settings, design, progress, details=details)


def _compare(
    qrels: Qrels,
    runs: Mapping[str, Any],
    columns: Mapping[str, str] | None,
    measures: MeasureLike | Iterable[MeasureLike],
    settings: Settings,
    design: Design,
    progress: Progress,
    *,
    details: bool,
) -> Comparison:
    """Return the comparison of runs by name, with the details that a page shows."""
    opened = open_runs(runs, columns)
    places: TiePolicy = "trec" if details else "expected"
    depth = top_depth(len(qrels), len(runs)) if details else None
    results = evaluate_all(qrels, opened, parse_all(measures), settings, progress, places=places, depth=depth)
    return Comparison(Leaderboard(results), design, runs, opened)
