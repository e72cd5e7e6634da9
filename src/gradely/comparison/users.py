"""For which users is which run better? Runs as functions of how users are spread over the levels of relevance."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from gradely.comparison.leaderboard import Leaderboard
from gradely.comparison.populations import Parts, corners
from gradely.comparison.user_regions import UserRegions
from gradely.data import Qrels
from gradely.data.query_selection import read_selected, split_queries
from gradely.errors import DataError, MeasureError
from gradely.evaluation.notes import Note
from gradely.evaluation.runs import Progress, evaluate_all, ignore, name_runs, open_runs
from gradely.measures import GAP, Measure, eGAP, xGAP
from gradely.measures.gap import PrecisionPart
from gradely.measures.names import MeasureLike, label, parse
from gradely.relevance import Identity
from gradely.settings import Precision, QueryPolicy, Settings, TiePolicy
from gradely.tables import count_of

MOST = 8
"""levels; of more, a grid over all populations is too coarse to say anything"""


def users(
    qrels: Any,
    runs: Mapping[str, Any] | Iterable[Any],
    measure: MeasureLike = "eGAP",
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
    exclude: Any = None,
) -> UserRegions:
    """Find out for which populations of users which run, of {name: run} or a list of paths, is best.

    A population has a share of users for each level of relevance, who are content with documents of that level or more.
    `measure` is eGAP, GAP or xGAP, with a cut-off if you like. For two levels the shares at which runs change places
    are exact: eGAP is linear in them. The other options are those of evaluate; ties cannot be best or worst.

    >>> qrels = {"q": {"a": 1, "b": 2, "c": 1}}
    >>> regions = users(qrels, {"one": {"q": ["a", "c", "x", "b"]}, "two": {"q": ["b", "x", "y", "a"]}})
    >>> regions.sentences()[0]
    'two is better for populations of users of whom less than 64 % are content with level 1.'
    """
    fitted, name = _measure(measure), label(measure)
    if ties in ("best", "worst"):
        raise DataError(f"ties={ties!r} takes another order for every population of users: use 'expected' or 'trec'")
    policy, only = split_queries(queries)
    settings = Settings(ties, policy, judged_only, precision, seed, threads)
    judgments = read_selected(qrels, settings.threads, columns, duplicates, only=only, exclude=exclude)
    levels = _levels(judgments)
    pairs = [PrecisionPart(rel=h, label=r).replace(k=fitted.k) for r in levels for h in levels if h <= r]
    parts_of = {str(part): part for part in pairs}
    board = Leaderboard(evaluate_all(judgments, open_runs(name_runs(runs), columns), parts_of, settings, progress))
    names, parts = _sort_runs(board.names, _parts(judgments, board, levels, fitted.name))
    return UserRegions(names, levels, board.queries, parts, name, seed, _notes(parts, name))


def _measure(measure: MeasureLike) -> Measure:
    """Return the measure; refuse what has no population that could vary."""
    parsed = parse(measure)
    if not isinstance(parsed, eGAP | GAP | xGAP) or parsed.g is not None or parsed.relevance != Identity():
        raise MeasureError(f"users takes eGAP, GAP or xGAP, with labels as they are and without g; found {parsed}")
    return parsed


def _levels(qrels: Qrels) -> list[float]:
    """Return the levels of relevance; refuse too few, or too many."""
    levels = [float(level) for level in qrels.levels()]
    if not 2 <= len(levels) <= MOST:
        problem = f"users differ where there are 2 to {MOST} levels above 0; found {len(levels):,}"
        advice = "; take some together in the qrels first" if len(levels) > MOST else ""
        raise DataError(f"{qrels.name}: {problem}{advice}")
    return levels


def _parts(qrels: Qrels, board: Leaderboard, levels: list[float], measure: str) -> Parts:
    """Return what the runs found, and the recall bases, query by query."""
    count, queries = len(levels), board.queries
    table = np.zeros((count, count, len(queries), len(board.names)))
    pairs = [(r, h) for r in range(count) for h in range(r + 1)]
    for (r, h), values in zip(pairs, board.values, strict=True):
        table[r, h] = values
    base = np.zeros((count, len(queries)))
    for j, query in enumerate(queries):
        labels = np.asarray(list(qrels.labels(query).values()), np.float64)
        base[:, j] = [(labels >= level).sum() for level in levels]
    # by their values alone, so that their order in a file changes no draw and no bit
    order = np.lexsort(np.sort(table.transpose(2, 0, 1, 3).reshape(len(queries), -1), axis=1).T)
    return Parts(table[:, :, order], base[:, order], measure)


def _sort_runs(names: list[str], parts: Parts) -> tuple[list[str], Parts]:
    """Return the runs in the order of their means for a population in which all levels are alike."""
    means = parts.means(corners(parts.levels))[-1].tolist()
    order = sorted(range(len(names)), key=lambda i: (-means[i], names[i]))
    return [names[i] for i in order], replace(parts, table=parts.table[:, :, :, order])


def _notes(parts: Parts, name: str) -> list[Note]:
    """Say how many queries cannot reach 1, since their pool lacks a level."""
    lacks = np.flatnonzero((parts.base == 0).any(axis=0))
    if parts.measure == "GAP" or not len(lacks):
        return []
    top, of = float(parts.ceiling(corners(parts.levels))[-1]), parts.base.shape[1]
    text = "cannot reach 1, since the pool lacks a level"
    mean = f"with all levels alike the mean of {name} is at most {top:.4f}"
    return [Note("unreachable", len(lacks), of, f"{len(lacks):,} of {count_of(of, 'query')} {text}; {mean}")]
