"""The data for the script of a comparison's page: values, intervals, tests, rankings, curves."""

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from gradely.comparison.influence import FEWEST, Influence
from gradely.comparison.leaderboard import Leaderboard
from gradely.comparison.pairwise import Pairwise, to_optional
from gradely.comparison.tests import Pairs, count_wins, differences, effect_sizes
from gradely.comparison.ties import RunTies, run_ties
from gradely.data import Hits, Qrels
from gradely.data.ids import Floats
from gradely.data.tops import Top, top_depth
from gradely.evaluation.scores import means
from gradely.evaluation.values import Evaluation
from gradely.measures.names import parse_all
from gradely.report.page import labels
from gradely.tables import format_p

NUMBERS = 450_000
"""the most numbers about pairs in a page; if there are more, the last measures are left out"""
RANKS = 20_000
"""the most ranks of judged documents below the tops in a page; if there are more, all are left out"""
FEW, MANY = 7, 12
"""decimals of the values of queries: few make a page smaller, but may lose small differences"""


def digits_for(values: Floats, pairs: Pairs) -> int:
    """Return the decimals that the values [measures, queries, runs] need to keep the wins and the spread of pairs."""
    rounded = values.round(FEW)
    for table, short in zip(values, rounded, strict=True):
        exact, near = differences(table, pairs), differences(short, pairs)
        if not len(pairs) or not len(exact):
            continue
        spread = np.ptp(near, axis=0) > 2.5 * 10.0**-FEW
        if np.any(np.sign(exact) != np.sign(near)) or np.any(spread != (np.ptp(exact, axis=0) > 0)):
            return MANY
    return FEW


def pair_data(pairwise: Pairwise, influence: Influence, *, complete: bool) -> dict[str, Any]:
    """Return the tests of the pairs and the influence of queries; `complete` means that the page has all queries."""
    kinds = 2 + (4 if pairwise.design.rope is not None else 0) + (0 if complete else 5)
    room = NUMBERS // max(1, kinds * len(pairwise.pairs))
    shipped = range(len(pairwise.measures))[:room] if len(pairwise.pairs) else range(0)
    explicit = bool(pairwise.design.baselines)
    return {
        "tested": len(pairwise.pairs),
        "first": pairwise.pairs.first.tolist() if explicit else None,
        "second": pairwise.pairs.second.tolist() if explicit else None,
        "p": [pack_p_values(pairwise.p[m], pairwise.design.alpha) for m in shipped],
        "adjusted": [pack_p_values(pairwise.adjusted[m], pairwise.design.alpha) for m in shipped],
        "corrected": "corrected p" if pairwise.is_corrected else "p, not corrected",
        "favours": [pairwise.directions[m].tolist() for m in shipped] if pairwise.design.test == "wilcoxon" else None,
        "reach": to_optional(np.asarray(pairwise.reaches)),
        "numbers": None if complete else [_numbers(pairwise, m) for m in shipped],
        "equivalence": [_equivalence(pairwise, m) for m in shipped] if pairwise.design.rope is not None else None,
        "turning": _count_turning_queries(influence) if complete and len(shipped) == len(pairwise.measures) else None,
    }


def pack_p_values(values: Floats, alpha: float) -> str:
    """Return p-values as one text, with just enough digits for the page and without the 0 before the decimal point.

    Two digits are enough below .001, where a page only sorts by them.

    >>> pack_p_values(np.array([0.25, 1.0, 0.0499999, 1.234e-7]), 0.05)
    '.25 1 .0499999 1.2e-7'
    """
    return " ".join(_format_p(value, alpha) for value in values.tolist())


def _format_p(value: float, alpha: float) -> str:
    text = f"{value:.3g}" if value >= 0.001 else f"{value:.2g}".replace("e-0", "e-")
    same = (float(text) < alpha) == (value < alpha) and format_p(float(text), alpha) == format_p(value, alpha)
    return (text if same else repr(value)).removeprefix("0") or "0"


def _numbers(pairwise: Pairwise, m: int) -> list[list[float | None]]:
    """Return low, high, effect size, wins and losses of each pair, by one measure."""
    differ = pairwise.by_query(m)
    wins, _, losses = (count.tolist() for count in count_wins(differ))
    effect = np.clip(effect_sizes(differ), -1e300, 1e300)  # JSON has no infinity
    low, high = (to_optional(end.round(7)) for end in pairwise.intervals[m])
    return [low, high, [float(f"{value:.3g}") for value in effect.tolist()], wins, losses]


def _equivalence(pairwise: Pairwise, m: int) -> list[str]:
    """Return the corrected p-values of TOST and the probabilities of better, equal and worse, each as one text."""
    three = pairwise.chances(m, float(pairwise.design.rope or 0))
    alpha = pairwise.design.alpha
    return [
        pack_p_values(pairwise.tost_adjusted[m], alpha),
        *(pack_p_values(np.nan_to_num(part, nan=-1.0), 0.0) for part in three),
    ]


def _count_turning_queries(influence: Influence) -> list[dict[str, list[int]]] | None:
    """Return, by measure and pair, the number of queries that change the verdict if left out, and the first five.

    Return None for tests other than t, and for too many tests.
    """
    pairwise, queries = influence.pairwise, len(influence.queries)
    # without one query, the t statistic has a closed form; other tests would have to be repeated
    most = 5_000_000  # tests without one query, which take 20 bytes each and a second in all
    if pairwise.design.test != "t" or queries < FEWEST or queries * pairwise.p.size > most:
        return None
    rows: list[dict[str, list[int]]] = []
    for m in range(len(pairwise.measures)):
        changed = influence.changes[:, m]
        turned = np.flatnonzero(changed.any(axis=0)).tolist()
        every = {pair: np.flatnonzero(changed[:, pair]).tolist() for pair in turned}
        rows.append({str(pair): [len(queries), *queries[:5]] for pair, queries in every.items()})
    return rows


CUTS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100)
"""the ranks at which curves are drawn, if rankings are long enough"""
VALUES = 250_000
"""the most values of queries in a page; if there are more, the page keeps the queries on which runs differ most"""


class Detail(NamedTuple):
    """What a page shows about one run."""

    ties: RunTies
    precision: list[float]
    """the precision at each of the first CUTS"""
    recall: list[float]
    gain: list[float]
    judged: float
    """the share of its documents that are judged"""
    judged_top: float
    """the share of judged documents in the top 10 of the queries in the run"""
    missing: int
    """the number of judged queries that are missing from the run"""


@dataclass
class Rankings:
    """The tops of all rankings; documents are numbered within each query."""

    queries: list[int]
    """the indices of the queries in the page"""
    depth: int
    documents: list[dict[str, int]] = field(default_factory=list)
    tops: list[list[Any]] = field(default_factory=list)
    """for each run and query, None or [documents, sizes of tie groups], with 0 for the sizes if nothing ties"""
    hits: list[Hits] = field(default_factory=list)
    """the hits of each run, with the ranks of judged documents below the top"""

    def add(self, tops: list[Top | None], hits: Hits) -> None:
        """Add the tops of a run, one per query."""
        self.tops.append([self._number(numbers, top) for numbers, top in zip(self.documents, tops, strict=True)])
        self.hits.append(hits)

    def _number(self, numbers: dict[str, int], top: Top | None) -> list[Any] | None:
        if top is None:
            return None
        documents = [numbers.setdefault(doc, len(numbers)) for doc in top.documents]
        return [documents, top.sizes if max(top.sizes) > 1 else 0]

    def as_data(self, names: list[str], qrels: Qrels) -> dict[str, Any]:
        """Return the data for the script: by query, the documents and the labels of judged ones; and the tops."""
        judged = [qrels.labels(name) for name in names]
        return {
            "depth": self.depth,
            "documents": [labels(numbers) for numbers in self.documents],
            "grades": [
                {str(i): _format_label(mine[doc]) for doc, i in numbers.items() if doc in mine}
                for mine, numbers in zip(judged, self.documents, strict=True)
            ],
            "tops": self.tops,
            "below": self._below(names, qrels),
        }

    def _below(self, names: list[str], qrels: Qrels) -> list[list[dict[str, str]]] | None:
        """Return the ranks below the tops by run, or None if they are too many for a page."""
        ranks, found = [], 0
        for i in range(len(self.tops)):
            ranks.append(self._ranks_below(i, names, qrels))
            found += sum(map(len, ranks[-1]))
            if found > RANKS:
                return None
        return ranks

    def _ranks_below(self, run: int, names: list[str], qrels: Qrels) -> list[dict[str, str]]:
        """Return, for each query, the ranks of documents below this run's top that are in the top of other runs."""
        hits, kept = self.hits[run], {qrels.index[name]: i for i, name in enumerate(names) if name in qrels.index}
        ranks: list[dict[str, str]] = [{} for _ in names]
        first = (hits.above if hits.place is None else hits.place) + 1
        last = hits.above + hits.tied if hits.place is None else first
        for at in np.flatnonzero(last > self.depth).tolist():
            i = kept.get(int(hits.query[at]), -1)
            number = self.documents[i].get(qrels.docs[hits.row[at]]) if i >= 0 else None
            if number is not None:
                ranks[i][str(number)] = str(first[at]) if first[at] == last[at] else f"{first[at]}–{last[at]}"
        return ranks


def _format_label(label: float) -> float | int:
    """Return a label as an integer if it is one."""
    return int(label) if float(label).is_integer() else float(label)


def kept_queries(board: Leaderboard) -> list[int]:
    """Return the queries that a page has space for: those on which the runs differ most by the first measure."""
    room = max(1, VALUES // board.values[:, 0].size)
    spread = np.ptp(board.values[0], axis=1)
    return sorted(np.argsort(-spread, kind="stable")[:room].tolist())


def choose_cuts(board: Leaderboard) -> list[int]:
    """Return the ranks at which curves are drawn, up to the length of the longest ranking."""
    longest = max(int(evaluation.hits.retrieved.max()) for evaluation in board.evaluations.values())
    return [cut for cut in CUTS if cut <= longest]


def measure_curves(evaluation: Evaluation, cuts: list[int]) -> Floats:
    """Return mean precision, recall and nDCG, [3, cuts]."""
    names = [f"{kind}@{cut}" for kind in ("P", "R", "nDCG") for cut in cuts]
    return np.reshape(_means(evaluation, names), (3, len(cuts)))


def gather(board: Leaderboard) -> tuple[list[Detail], Rankings]:
    """Return the details and the rankings of all runs."""
    queries = kept_queries(board)
    depth = top_depth(len(board.qrels), len(board.names))
    places = [board.qrels.index.get(board.queries[i], -1) for i in queries]
    rankings = Rankings(queries, depth, [{} for _ in queries])
    cuts, runs = choose_cuts(board), []
    for name in board.names:
        details = board.evaluations[name].details
        assert details is not None
        rankings.add([details.tops.get(place) for place in places], board.evaluations[name].hits)
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
    """Return the means of other measures on the same hits."""
    return means(evaluation.with_measures(parse_all(names)).table, evaluation.weights)


BARS = 30
"""the most runs in the chart of the leaderboard"""


def script_data(board: Leaderboard, pairwise: Pairwise, details: list[Detail], rankings: Rankings) -> dict[str, Any]:
    """Return the data for the script."""
    queries = [board.queries[i] for i in rankings.queries]
    orders = [[detail.ties.orders[measure] for detail in details] for measure in board.measures]
    ends = pairwise.mean_intervals
    digits = digits_for(board.values[:, rankings.queries], pairwise.pairs)
    return {
        "runs": labels(board.names),
        "measures": list(board.measures),
        "queries": labels(queries),
        "digits": digits,
        "values": board.values[:, rankings.queries].transpose(0, 2, 1).round(digits).tolist(),
        "mean": board.means.round(10).tolist(),
        "low": [to_optional(low.round(6)) for low, _ in ends],
        "high": [to_optional(high.round(6)) for _, high in ends],
        "worst": [[round(order.worst, 6) for order in of_run] for of_run in orders],
        "best": [[round(order.best, 6) for order in of_run] for of_run in orders],
        "beaten": [[len(below) for below in pairwise.better_than(m)] for m in range(len(board.measures))],
        "pairs": pair_data(
            pairwise,
            Influence(pairwise, board.queries),
            complete=len(queries) == len(board.queries) and board.weights is None,  # the script does not know weights
        ),
        "rankings": rankings.as_data(queries, board.qrels),
        "cuts": CUTS[: len(details[0].precision)],
        "curves": [[detail.precision, detail.recall, detail.gain] for detail in details],
        "start": _choose_pair(board, pairwise),
        "alpha": pairwise.design.alpha,
        "rope": pairwise.design.rope,
        "bars": BARS,
        "greys": 20,  # the best runs that have a curve besides the two selected ones
        "cells": 25,  # the most runs for which the matrix shows numbers
        "count": len(board.queries),
        "spread": _spread(board, rankings),
    }


def _choose_pair(board: Leaderboard, pairwise: Pairwise) -> list[int]:
    """Return the two runs to show first: the best, and the first baseline or the second best."""
    if len(board.names) < 2:
        return [0, 0]
    second = board.names.index(pairwise.design.baselines[0]) if pairwise.design.baselines else 1
    return [0, second or 1]


def _spread(board: Leaderboard, rankings: Rankings) -> list[list[list[float]]]:
    """Return the median and the best value of all runs on each query by measure, to compare a single run with."""
    values = board.values[:, rankings.queries]
    ends = np.stack([np.median(values, axis=2), values.max(axis=2)], axis=1)
    rows: list[list[list[float]]] = ends.round(6).tolist()
    return rows
