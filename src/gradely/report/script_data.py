"""The data that the script of a comparison's page reads: values, intervals, pairs, rankings, curves."""

from typing import Any

import numpy as np

from gradely.comparison.leaderboard import Leaderboard
from gradely.comparison.pairs import effect_sizes
from gradely.comparison.pairwise import Pairwise, or_none
from gradely.data.types import Floats
from gradely.report.details import CUTS, Detail, Rankings
from gradely.report.text import labels

BARS = 30
"""so many runs the chart of the leaderboard shows"""
GREYS = 20
"""so many of the best runs have a curve besides the two that are chosen"""
NUMBERS = 450_000
"""so many numbers about pairs a page holds; beyond, only the first measures have them"""


def script_data(board: Leaderboard, tested: Pairwise, details: list[Detail], rankings: Rankings) -> dict[str, Any]:
    """Return what the script reads."""
    queries = [board.queries[i] for i in rankings.queries]
    orders = [[detail.ties.orders[measure] for detail in details] for measure in board.measures]
    ends = [tested.mean_intervals(m) for m in range(len(board.measures))]
    return {
        "runs": labels(board.names),
        "measures": list(board.measures),
        "queries": labels(queries),
        "values": board.values[:, rankings.queries].transpose(0, 2, 1).round(7).tolist(),
        "mean": board.means.tolist(),
        "low": [or_none(low.round(6)) for low, _ in ends],
        "high": [or_none(high.round(6)) for _, high in ends],
        "worst": [[round(order.worst, 6) for order in several] for several in orders],
        "best": [[round(order.best, 6) for order in several] for several in orders],
        "pairs": _pairs(board, tested),
        "rankings": rankings.as_data(queries, board.qrels),
        "cuts": CUTS[: len(details[0].precision)],
        "curves": [[detail.precision, detail.recall, detail.gain] for detail in details],
        "start": _start(board, tested),
        "alpha": tested.design.alpha,
        "bars": BARS,
        "greys": GREYS,
        "topics": len(board.queries),
    }


def _start(board: Leaderboard, tested: Pairwise) -> list[int]:
    """Return the two runs that are shown first: the best, and a baseline or the next."""
    if len(board.names) < 2:
        return [0, 0]
    second = board.names.index(tested.design.baselines[0]) if tested.design.baselines else 1
    return [0, second or 1]


def _pairs(board: Leaderboard, tested: Pairwise) -> dict[str, Any]:
    """Return the numbers of each pair, measure by measure, as far as there is room for them."""
    room = NUMBERS // max(1, 7 * len(tested.pairs))
    several = [_about_pairs(tested, m) for m in range(len(board.measures))[:room]]
    return {"first": tested.pairs.first.tolist(), "second": tested.pairs.second.tolist(), "numbers": several}


def _about_pairs(tested: Pairwise, m: int) -> list[list[float | None]]:
    """Return low, high, effect size, wins, losses, p and corrected p of each pair, by one measure."""
    differ = tested.by_query(m)
    if not len(tested.pairs):
        return [[] for _ in range(7)]
    wins, losses = (np.count_nonzero(side, axis=0).tolist() for side in (differ > 0, differ < 0))
    low, high = tested.intervals(m)
    return [
        *(or_none(end.round(5)) for end in (low, high)),
        _short(effect_sizes(differ)),
        wins,
        losses,
        _short(tested.p[m]),
        _short(tested.adjusted[m]),
    ]


def _short(values: Floats) -> list[float]:
    """Return numbers with three digits."""
    return [float(f"{value:.3g}") for value in values.tolist()]
