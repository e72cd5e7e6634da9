"""The data that the script of a comparison's page reads: values, intervals, tests, rankings, curves."""

from typing import Any

import numpy as np

from gradely.comparison.influence import Influence
from gradely.comparison.leaderboard import Leaderboard
from gradely.comparison.pairwise import Pairwise, to_optional
from gradely.report.details import CUTS, Detail, Rankings
from gradely.report.formatting import labels
from gradely.report.pair_data import digits_for, pair_data

BARS = 30
"""so many runs the chart of the leaderboard shows"""
GREYS = 20
"""so many of the best runs have a curve besides the two that are chosen"""
CELLS = 25
"""with more runs than this, the matrix is a picture without numbers"""


def script_data(board: Leaderboard, pairwise: Pairwise, details: list[Detail], rankings: Rankings) -> dict[str, Any]:
    """Return what the script reads."""
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
        "mean": board.means.round(12).tolist(),
        "low": [to_optional(low.round(6)) for low, _ in ends],
        "high": [to_optional(high.round(6)) for _, high in ends],
        "worst": [[round(order.worst, 6) for order in of_run] for of_run in orders],
        "best": [[round(order.best, 6) for order in of_run] for of_run in orders],
        "beaten": [[len(below) for below in pairwise.better_than(m)] for m in range(len(board.measures))],
        "pairs": pair_data(pairwise, Influence(pairwise, board.queries), complete=len(queries) == len(board.queries)),
        "rankings": rankings.as_data(queries, board.qrels),
        "cuts": CUTS[: len(details[0].precision)],
        "curves": [[detail.precision, detail.recall, detail.gain] for detail in details],
        "start": _choose_pair(board, pairwise),
        "alpha": pairwise.design.alpha,
        "rope": pairwise.design.rope,
        "bars": BARS,
        "greys": GREYS,
        "cells": CELLS,
        "count": len(board.queries),
        "spread": _spread(board, rankings),
    }


def _choose_pair(board: Leaderboard, pairwise: Pairwise) -> list[int]:
    """Return the two runs that are shown first: the best, and a baseline or the next."""
    if len(board.names) < 2:
        return [0, 0]
    second = board.names.index(pairwise.design.baselines[0]) if pairwise.design.baselines else 1
    return [0, second or 1]


def _spread(board: Leaderboard, rankings: Rankings) -> list[list[list[float]]]:
    """Return the median and the best value of all runs on each query, by measure: what one run is held against."""
    values = board.values[:, rankings.queries]
    ends = np.stack([np.median(values, axis=2), values.max(axis=2)], axis=1)
    rows: list[list[list[float]]] = ends.round(6).tolist()
    return rows
