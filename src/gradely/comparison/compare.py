"""compare: several runs on the same queries, with honest statistics."""

from collections.abc import Iterable, Mapping
from typing import Any

from gradely.comparison.comparison import Comparison
from gradely.comparison.design import Design
from gradely.comparison.leaderboard import Leaderboard
from gradely.comparison.resampling import RESAMPLES
from gradely.data.details import top_depth
from gradely.data.query_selection import read_selected, split_queries
from gradely.data.read.files import clip
from gradely.errors import DataError, did_you_mean
from gradely.evaluation.runs import (
    DEFAULT,
    Progress,
    evaluate_all,
    ignore,
    name_runs,
    open_runs,
)
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

    `test`: t, wilcoxon, randomization, bootstrap, tukey (randomised HSD, all pairs) or max-t (the pairs at hand).
    `correction`: holm (the default), bonferroni, bh or none; tukey and max-t need none.
    `family`: what is corrected together: the pairs of each `measure`, or `all` pairs and measures.
    `simultaneous`: whether the intervals of differences hold for the whole family at once.
    `rope`: the largest difference that does not matter; then equivalence is tested, too.
    `resamples` and `seed` are for tests and intervals that draw.
    `details` gathers what to_html needs while the runs are read; without it, to_html reads them again.
    The rest is as in evaluate; with `by`, Comparison.segments has means and differences by segment.
    """
    policy, only = split_queries(queries)
    settings, named = Settings(ties, policy, judged_only, precision, seed, threads), name_runs(runs)
    references = check_baselines(baselines, named)
    design = Design(test, correction, alpha, seed, resamples, references, family, simultaneous, rope).settle()
    judgments = read_selected(qrels, settings.threads, columns, duplicates, only=only, by=by, exclude=exclude)
    depth = top_depth(len(judgments), len(named)) if details else None
    places: TiePolicy = "trec" if details else "expected"
    opened = open_runs(named, columns)
    results = evaluate_all(judgments, opened, parse_all(measures), settings, progress, places=places, depth=depth)
    return Comparison(Leaderboard(results), design, named, opened)


def check_baselines(baselines: str | Iterable[str], runs: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the baselines; refuse one that is not among the runs."""
    names, references = list(runs), (baselines,) if isinstance(baselines, str) else tuple(baselines)
    unknown = next((name for name in references if name not in names), None)
    if unknown is not None:
        raise DataError(f"no run {clip(unknown)} to be the baseline.{did_you_mean(unknown, names)}")
    return references
