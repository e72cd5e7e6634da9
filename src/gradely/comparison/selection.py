"""Which queries and which runs a comparison of many runs is about."""

from typing import NamedTuple

import numpy as np

from gradely.comparison.kendall import DIGITS
from gradely.comparison.stacked_runs import StackedRuns
from gradely.data import Qrels
from gradely.data.types import Bools
from gradely.errors import DataError
from gradely.evaluation.notes import Note
from gradely.measures import AP
from gradely.settings import check_choice

TOPICS = {
    "all": "every judged query",
    "few-high": "queries with few documents of the highest level k, or of --level: R(1) >= 10·R(k), R(k) ≠ 0",
}
RATIO = 10
"""how many times as many documents of the lowest level there are where those of a level are few, as F14 has it"""


class Selection(NamedTuple):
    """The queries and runs that count, as flags, and what was left out."""

    queries: Bools
    runs: Bools
    notes: list[Note]


def select(stacked: StackedRuns, *, topics: str, level: float | None, min_quartile: bool) -> Selection:
    """Choose queries, all or few-high, and runs, all or those that are not below the first quartile of AP."""
    check_choice("topics", topics, TOPICS)
    queries = select_few_high(stacked.qrels, level) if topics == "few-high" else np.ones(len(stacked.qrels), bool)
    good, notes = select_above_quartile(stacked) if min_quartile else (np.ones(len(stacked.names), bool), [])
    if good.sum() < 2:
        raise DataError("at least 2 runs are needed to compare rankings; fewer are left")
    return Selection(queries, good, notes)


def select_few_high(qrels: Qrels, level: float | None = None) -> Bools:
    """Return which queries have documents of a level, but ten times as many of the lowest level."""
    levels = qrels.levels()
    top = levels[-1] if level is None else level
    if len(levels) < 2 or top not in levels[1:]:
        listing = ", ".join(f"{x:g}" for x in levels)
        raise DataError(f"{qrels.name}: few-high needs a level above the lowest; the levels are {listing}")
    query = np.repeat(np.arange(len(qrels)), np.diff(qrels.start))
    low, high = (np.bincount(query[qrels.grade == x], minlength=len(qrels)) for x in (levels[0], top))
    skewed = np.asarray((low >= RATIO * high) & (high > 0))
    if not skewed.any():
        raise DataError(f"{qrels.name}: no query has R(1) >= {RATIO}·R(k), R(k) ≠ 0 for level k = {top:g}")
    return skewed


def select_above_quartile(stacked: StackedRuns) -> tuple[Bools, list[Note]]:
    """Return which runs are not below the first quartile of AP over all queries, and how many are."""
    ap = np.round(stacked.values({"AP": AP()})[:, :, 0].mean(axis=1), DIGITS)
    good = ap >= np.quantile(ap, 0.25)
    low = int(np.count_nonzero(~good))
    text = f"{low:,} of {len(ap):,} runs lie below the first quartile of AP and are left out"
    return good, [Note("quartile", low, len(ap), text)] if low else []
