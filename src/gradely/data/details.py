"""What a run holds besides its hits: how many documents tie, and the top of each ranking."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from gradely.data.qrels import Qrels
from gradely.data.read.files import Source
from gradely.data.read.inputs import Run, plain_run
from gradely.data.tie_counts import TieCounts, count_ties

ENTRIES, DEEPEST = 150_000, 20
"""so many documents of rankings are kept in all, about a megabyte of a page, and so many of one ranking"""


class Top(NamedTuple):
    """The first documents of a ranking, tied ones by name, and the sizes of the tie groups they belong to, whole."""

    documents: list[str]
    sizes: list[int]


class RunDetails(NamedTuple):
    """The ties of a run in the judged queries, and the top of each ranking by the query's index in the qrels."""

    ties: TieCounts
    tops: dict[int, Top]


def top_depth(queries: int, runs: int) -> int:
    """Return how deep the tops of rankings are kept: 0 where there are too many."""
    return min(DEEPEST, ENTRIES // max(1, queries * runs))


def describe_run(qrels: Qrels, run: Run | Source, depth: int) -> RunDetails:
    """Return the ties of a run, and the tops of its rankings to this depth."""
    whole = run if isinstance(run, Run) else plain_run(run)
    judged = [query for query in whole.scores if query in qrels.index]
    rankings = ((query, whole.scores[query]) for query in judged if depth)
    tops = {qrels.index[query]: top(ranking, depth) for query, ranking in rankings if ranking}
    return RunDetails(count_ties(whole, judged), tops)


def top(ranking: Mapping[str, float], depth: int) -> Top:
    """Return the top of a ranking.

    >>> top({"a": 1.0, "c": 2.0, "b": 1.0, "d": 0.5}, 2)
    Top(documents=['c', 'a'], sizes=[1, 2])
    """
    docs, scores = list(map(str, ranking)), np.fromiter(ranking.values(), np.float64, len(ranking))
    least = np.partition(scores, -depth)[-depth] if len(scores) > depth else -np.inf
    best = np.flatnonzero(scores >= least).tolist()
    order = sorted(best, key=lambda i: (-scores[i], docs[i]))
    _, sizes = np.unique(-scores[order], return_counts=True)
    upto = int(np.searchsorted(np.cumsum(sizes), min(depth, len(order)))) + 1
    return Top([docs[i] for i in order[:depth]], sizes[:upto].tolist())
