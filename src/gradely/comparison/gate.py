"""gate: whether a run is worse than an older one, by more than is allowed and by more than chance."""

import os
from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any

import numpy as np

from gradely.comparison.captions import note_tests
from gradely.comparison.design import Design
from gradely.comparison.pairwise import Pairwise
from gradely.comparison.plan import POWER, plan_pairs
from gradely.comparison.resampling import RESAMPLES
from gradely.comparison.saved_scores import SavedScores, is_saved, read_saved, score_run
from gradely.comparison.verdict import Change, Gate
from gradely.data import open_run
from gradely.data.query_selection import read_selected, split_queries
from gradely.data.read.sources import Source
from gradely.errors import DataError
from gradely.evaluation.notes import SAME, Note, note_names
from gradely.evaluation.runs import DEFAULT, Progress, ignore
from gradely.evaluation.scores import means
from gradely.measures.names import MeasureLike, parse, parse_all
from gradely.settings import Precision, QueryPolicy, Settings, TiePolicy
from gradely.tables import count_of


def gate(
    qrels: Any,
    new: Any,
    baseline: Any,
    measures: MeasureLike | Iterable[MeasureLike] = DEFAULT,
    *,
    max_drop: float | Mapping[str, float] = 0.0,
    strict: bool = False,
    alpha: float = 0.05,
    test: str = "t",
    correction: str = "holm",
    resamples: int = RESAMPLES,
    ties: TiePolicy = "expected",
    queries: QueryPolicy | Iterable[Any] = "qrels",
    judged_only: bool = False,
    precision: Precision = "double",
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = ignore,
    columns: Mapping[str, str] | None = None,
    duplicates: str = "error",
    exclude: Any = None,
) -> Gate:
    """Decide whether a new run is worse than a baseline by more than `max_drop`, and significantly so.

    `baseline` is a run, or what an earlier gate saved: a path to it, or `Gate.saved`. `max_drop` says how much a mean
    may fall: a number, or {measure: number}; measures that are not named there may not fall. With `strict`, a drop
    fails where it exceeds its limit, significant or not. `correction` is over the measures. The rest is as in compare.
    """
    design = Design(test, correction, alpha, seed, resamples, family="all").settle()
    policy, only = split_queries(queries)
    settings = Settings(ties, policy, judged_only, precision, seed, threads)
    limits = check_limits(max_drop, measures)
    judgments = read_selected(qrels, settings.threads, columns, duplicates, only=only, exclude=exclude)
    source = Source(baseline) if isinstance(baseline, str | os.PathLike) else None  # held, since it may be a pipe
    earlier = baseline if isinstance(baseline, SavedScores) else None
    if source is not None and is_saved(source):
        earlier = read_saved(source)
    scores = score_run(judgments, open_run(new, columns=columns), measures, settings, progress)
    if earlier is None:
        earlier = score_run(judgments, open_run(baseline, columns=columns), measures, settings, progress)
    return decide(scores, earlier, limits, design, strict=strict)


def decide(new: SavedScores, old: SavedScores, limits: dict[str, float], design: Design, *, strict: bool) -> Gate:
    """Decide by the scores of both runs on the queries that both have."""
    old.check(new)
    at = {query: i for i, query in enumerate(old.queries)}
    rows = [i for i, query in enumerate(new.queries) if query in at]
    queries = [new.queries[i] for i in rows]
    if not queries:
        raise DataError("the two runs have no query in common")
    tables = (new.columns(list(limits))[rows], old.columns(list(limits))[[at[query] for query in queries]])
    names = [new.name, old.name] if new.name != old.name else [f"{new.name} (new)", f"{old.name} (old)"]
    values, mean = np.stack([table.T for table in tables], axis=2), np.asarray([means(table) for table in tables]).T
    pairwise = Pairwise(values, mean, names, list(limits), design)
    notes = [
        *_note_left_out(new, old, queries),
        *new.notes,
        *(Note(note.kind, note.count, note.of, f"baseline: {note}") for note in old.notes),
        *note_tests(pairwise),
        *_weak(pairwise, limits),
    ]
    return Gate(_changes(pairwise, limits, strict=strict), pairwise, queries, new, strict, notes)


def _note_left_out(new: SavedScores, old: SavedScores, queries: list[str]) -> list[Note]:
    names = sorted({*new.queries, *old.queries} - {*queries})
    text = "{are} not in both runs and {are} left out"
    return note_names("uncommon", len(names), len(names) + len(queries), "query", text, names)


def _changes(pairwise: Pairwise, limits: dict[str, float], *, strict: bool) -> list[Change]:
    """Return what became of each measure; a pair of the test is the new run minus the old one."""
    pairs = {pair.measure: pair for pair in pairwise.rows()}
    changes = []
    for (measure, limit), (new, old) in zip(limits.items(), pairwise.means.tolist(), strict=True):
        pair = pairs.get(measure)
        exceeds, significant = old - new - limit > SAME, pair is not None and pair.significant
        changes.append(
            Change(
                measure,
                old,
                new,
                drop=old - new,
                limit=limit,
                low=None if pair is None or pair.high is None else -pair.high,
                high=None if pair is None or pair.low is None else -pair.low,
                p=None if pair is None else pair.p,
                adjusted=None if pair is None else pair.adjusted,
                losses=int(old > new) if pair is None else pair.losses,
                exceeds=exceeds,
                significant=significant,
                failed=exceeds and (strict or significant),
            )
        )
    return changes


def _weak(pairwise: Pairwise, limits: dict[str, float]) -> list[Note]:
    """Say where so few queries would hardly show a drop that is not allowed."""
    rows = plan_pairs(pairwise, None, POWER, "none").rows
    weak = [row for row in rows if row.detectable is not None and row.detectable > limits[row.measure]]
    least = ", ".join(f"{row.measure} {row.detectable:.4f}" for row in weak)
    queries = count_of(pairwise.values.shape[1], "query")
    text = f"with {queries}, a drop below these sizes would be missed too often (power {POWER:g}): {least}"
    return [Note("weak", len(weak), len(limits), text)] if weak else []


def check_limits(
    max_drop: float | Mapping[str, float], measures: MeasureLike | Iterable[MeasureLike]
) -> dict[str, float]:
    """Return the limit of each measure by its name; refuse what is no limit, or of no measure at hand."""
    names = list(dict.fromkeys(str(measure) for measure in parse_all(measures).values()))
    single = {str(parse(name)): limit for name, limit in max_drop.items()} if isinstance(max_drop, Mapping) else {}
    unknown = next((name for name in single if name not in names), None)
    if unknown is not None:
        raise DataError(f"a limit is given for {unknown}, which is not measured: add it to {', '.join(names)}")
    usual = 0.0 if isinstance(max_drop, Mapping) else max_drop
    limits = {name: single.get(name, usual) for name in names}
    for name, limit in limits.items():
        if not (isinstance(limit, int | float) and limit >= 0 and isfinite(limit)):
            raise DataError(f"how much {name} may fall is a number from 0 on, like 0.01; found {limit!r}")
    return limits
