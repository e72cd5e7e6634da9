"""What a page shows of each run beyond its scores: the top of its rankings, curves, ties, what is judged."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from gradely.comparison.leaderboard import Leaderboard, Steps
from gradely.comparison.ties import RunTies, run_ties
from gradely.data import Qrels, Run, read_run
from gradely.evaluation.evaluate import Evaluation
from gradely.evaluation.scores import means
from gradely.measures.names import parse_all
from gradely.report.text import labels

CUTS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100)
"""the ranks at which curves are drawn, as far as rankings go"""
VALUES = 250_000
"""so many values of single queries a page holds; beyond, the queries on which runs differ most"""
ENTRIES, DEEPEST = 150_000, 20
"""so many documents of rankings a page holds, and so many of a ranking at most"""


class Detail(NamedTuple):
    """One run."""

    ties: RunTies
    precision: list[float]
    """at each of the first CUTS"""
    recall: list[float]
    gain: list[float]
    judged: float
    """the share of its documents that are judged"""
    judged_top: float
    """the share of the top 10, in the queries that it answers"""
    missing: int
    """how many judged queries it does not answer"""


@dataclass
class Rankings:
    """The tops of all rankings; documents are numbered within each query."""

    queries: list[int]
    """the topics that are kept, as indices"""
    depth: int
    documents: list[dict[str, int]] = field(default_factory=list)
    tops: list[list[Any]] = field(default_factory=list)
    """for each run and kept query, None or [documents, sizes of tie groups]; no sizes where nothing ties"""

    def add(self, names: list[str], run: Run) -> None:
        """Add the tops of a run."""
        self.tops.append([self._top(place, run.scores.get(name)) for place, name in enumerate(names)])

    def _top(self, place: int, ranking: Mapping[str, float] | None) -> list[Any] | None:
        if not ranking or not self.depth:
            return None
        shown, sizes = top(ranking, self.depth)
        known = self.documents[place]
        return [[known.setdefault(doc, len(known)) for doc in shown], sizes if max(sizes) > 1 else 0]

    def as_data(self, names: list[str], qrels: Qrels) -> dict[str, Any]:
        """Return what the script reads: documents and their labels by query, and the tops."""
        judged = [qrels.labels(name) for name in names]
        return {
            "depth": self.depth,
            "documents": [labels(known) for known in self.documents],
            "grades": [[mine.get(doc) for doc in known] for mine, known in zip(judged, self.documents, strict=True)],
            "tops": self.tops,
        }


def top(ranking: Mapping[str, float], depth: int) -> tuple[list[str], list[int]]:
    """Return the first documents, tied ones by name, and the sizes of the tie groups they belong to, whole.

    >>> top({"a": 1.0, "c": 2.0, "b": 1.0, "d": 0.5}, 2)
    (['c', 'a'], [1, 2])
    """
    docs, scores = list(map(str, ranking)), np.fromiter(ranking.values(), np.float64, len(ranking))
    least = np.partition(scores, -depth)[-depth] if len(scores) > depth else -np.inf
    best = np.flatnonzero(scores >= least).tolist()
    order = sorted(best, key=lambda i: (-scores[i], docs[i]))
    _, sizes = np.unique(-scores[order], return_counts=True)
    upto = int(np.searchsorted(np.cumsum(sizes), min(depth, len(order)))) + 1
    return [docs[i] for i in order[:depth]], sizes[:upto].tolist()


def kept_queries(board: Leaderboard) -> list[int]:
    """Return the topics that a page has room for: those on which the runs differ most by the first measure."""
    room = max(1, VALUES // board.values[:, 0].size)
    spread = np.ptp(board.values[0], axis=1)
    return sorted(np.argsort(-spread, kind="stable")[:room].tolist())


def gather(board: Leaderboard, progress: Steps) -> tuple[list[Detail], Rankings]:
    """Read every run once more, and return what there is to show of it."""
    kept = kept_queries(board)
    depth = min(DEEPEST, ENTRIES // (len(kept) * len(board.names)))
    names = [board.queries[i] for i in kept]
    rankings = Rankings(kept, depth, [{} for _ in kept])
    details = []
    longest = max(int(each.hits.retrieved.max()) for each in board.evaluations.values())
    cuts = [cut for cut in CUTS if cut <= longest]
    for name in board.names:
        given = board.runs[name]
        run = read_run(given() if callable(given) else given)
        rankings.add(names, run)
        details.append(_detail(board, name, run, cuts))
        progress(name, 1.0)
    return details, rankings


def _detail(board: Leaderboard, name: str, run: Run, cuts: list[int]) -> Detail:
    ties = run_ties(board.qrels, name, run, board.measures, board.policies, board.restricted)
    found = board.evaluations[name]
    curves = _means(board.restricted(found), [f"{kind}@{cut}" for kind in ("P", "R", "nDCG") for cut in cuts])
    precision, recall, gain = np.reshape(curves, (3, len(cuts))).round(5).tolist()
    (judged_top,) = _means(replace(found, policy="both"), ["Judged@10"])
    judged = len(found.hits.query) / max(1, found.hits.documents)
    missing = int(np.count_nonzero(~found.hits.answered))
    return Detail(ties, precision, recall, gain, judged, judged_top, missing)


def _means(evaluation: Evaluation, names: list[str]) -> list[float]:
    """Return the means of other measures on what was found already."""
    fitted = {name: measure.fit(evaluation.qrels.levels) for name, measure in parse_all(names).items()}
    return means(replace(evaluation, measures=fitted).table)
