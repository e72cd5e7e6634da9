"""What a page shows of each run beyond its scores: the top of its rankings, curves, ties, what is judged."""

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from gradely.comparison.leaderboard import Leaderboard
from gradely.comparison.ties import RunTies, run_ties
from gradely.data import Qrels
from gradely.data.details import Top, top_depth
from gradely.data.types import Floats
from gradely.evaluation.scores import means
from gradely.evaluation.values import Evaluation
from gradely.measures.names import parse_all
from gradely.report.formatting import labels

CUTS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100)
"""the ranks at which curves are drawn, as far as rankings go"""
VALUES = 250_000
"""so many values of single queries a page holds; beyond, the queries on which runs differ most"""


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
    """the queries that are kept, as indices"""
    depth: int
    documents: list[dict[str, int]] = field(default_factory=list)
    tops: list[list[Any]] = field(default_factory=list)
    """for each run and kept query, None or [documents, sizes of tie groups]; no sizes where nothing ties"""

    def add(self, tops: list[Top | None]) -> None:
        """Add the tops of a run, one per kept query."""
        self.tops.append([self._number(numbers, top) for numbers, top in zip(self.documents, tops, strict=True)])

    def _number(self, numbers: dict[str, int], top: Top | None) -> list[Any] | None:
        if top is None:
            return None
        documents = [numbers.setdefault(doc, len(numbers)) for doc in top.documents]
        return [documents, top.sizes if max(top.sizes) > 1 else 0]

    def as_data(self, names: list[str], qrels: Qrels) -> dict[str, Any]:
        """Return what the script reads: documents and the labels of judged ones by query, and the tops."""
        judged = [qrels.labels(name) for name in names]
        return {
            "depth": self.depth,
            "documents": [labels(numbers) for numbers in self.documents],
            "grades": [
                {str(i): _format_label(mine[doc]) for doc, i in numbers.items() if doc in mine}
                for mine, numbers in zip(judged, self.documents, strict=True)
            ],
            "tops": self.tops,
        }


def _format_label(label: float) -> float | int:
    """Return a label without needless digits."""
    return int(label) if float(label).is_integer() else float(label)


def kept_queries(board: Leaderboard) -> list[int]:
    """Return the queries that a page has room for: those on which the runs differ most by the first measure."""
    room = max(1, VALUES // board.values[:, 0].size)
    spread = np.ptp(board.values[0], axis=1)
    return sorted(np.argsort(-spread, kind="stable")[:room].tolist())


def choose_cuts(board: Leaderboard) -> list[int]:
    """Return the ranks at which curves are drawn: as far as the longest ranking goes."""
    longest = max(int(evaluation.hits.retrieved.max()) for evaluation in board.evaluations.values())
    return [cut for cut in CUTS if cut <= longest]


def measure_curves(evaluation: Evaluation, cuts: list[int]) -> Floats:
    """Return mean precision, recall and nDCG, [3, cuts]."""
    names = [f"{kind}@{cut}" for kind in ("P", "R", "nDCG") for cut in cuts]
    return np.reshape(_means(evaluation, names), (3, len(cuts)))


def gather(board: Leaderboard) -> tuple[list[Detail], Rankings]:
    """Return what there is to show of each run."""
    queries = kept_queries(board)
    depth = top_depth(len(board.qrels), len(board.names))
    places = [board.qrels.index.get(board.queries[i], -1) for i in queries]
    rankings = Rankings(queries, depth, [{} for _ in queries])
    cuts, runs = choose_cuts(board), []
    for name in board.names:
        details = board.evaluations[name].details
        assert details is not None
        rankings.add([details.tops.get(place) for place in places])
        runs.append(_describe(board, name, cuts))
    return runs, rankings


def _describe(board: Leaderboard, name: str, cuts: list[int]) -> Detail:
    whole, common = board.evaluations[name], board.common.evaluations[name]
    precision, recall, gain = measure_curves(common, cuts).round(5).tolist()
    answered = replace(whole, settings=whole.settings.replace(queries="both"))
    (judged_top,) = _means(answered, ["Judged@10"])
    judged = len(whole.hits.query) / max(1, whole.hits.documents)
    missing = int(np.count_nonzero(~whole.hits.answered))
    return Detail(run_ties(common, whole.details), precision, recall, gain, judged, judged_top, missing)


def _means(evaluation: Evaluation, names: list[str]) -> list[float]:
    """Return the means of other measures on what was found already."""
    return means(evaluation.with_measures(parse_all(names)).table)
