"""The page of a comparison: what is shown, as tables for every reader and as data for the script."""

from itertools import islice
from typing import Any, TypeAlias

import numpy as np

from gradely.comparison.kendall import correlations
from gradely.comparison.leaderboard import Leaderboard
from gradely.comparison.pairwise import Pairwise
from gradely.data.types import Floats
from gradely.report import charts
from gradely.report.cards import card
from gradely.report.details import gather
from gradely.report.page import Chart, render, source
from gradely.report.script_data import BARS, GREYS, script_data
from gradely.report.ties import swaps

Taus: TypeAlias = list[list[float | None]]
PAIRS = 100
"""so many pairs the table of tests shows"""
POINTS = 200
"""so many points a curve of p-values has"""


def page(board: Leaderboard, tested: Pairwise, title: str, caption: str, notes: list[str]) -> str:
    """Return the page."""
    details, rankings = gather(board)
    data = script_data(board, tested, details, rankings)
    taus = _correlations(board)
    return render(
        "comparison.html",
        title=title,
        charts=_charts(board, tested, taus),
        data=data,
        script=source("comparison.js"),
        board=board,
        caption=caption,
        notes=notes,
        level=f"{100 * (1 - tested.design.alpha):g} %",
        names=data["runs"],
        leaders=_leaders(board, tested, data),
        pair_rows=_pair_rows(data),
        pairs=len(tested.pairs),
        rows=_query_rows(data),
        left_out=_left_out(board, data),
        power=tested.power(),
        taus=taus,
        swaps=swaps(board, details),
        grades=_grades(board.qrels.grade),
        details=details,
        queries=len(board.qrels),
        cards=[card(name, measure) for name, measure in board.measures.items()],
        depth=rankings.depth,
        alpha=tested.design.alpha,
        start=data["start"],
        cuts=data["cuts"],
        greys=GREYS,
        bars=BARS,
    )


def _leaders(board: Leaderboard, tested: Pairwise, data: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """Return the cells of the leaderboard, run by run."""
    beaten = [[len(below) for below in tested.better_than(m)] for m in range(len(board.measures))]
    keys = ("mean", "low", "high", "worst", "best")
    return [
        [
            {key: data[key][m][s] for key in keys}
            | {"top": data["mean"][m][s] == max(data["mean"][m]), "beaten": beaten[m][s]}
            for m in range(len(board.measures))
        ]
        for s in range(len(board.names))
    ]


def _pair_rows(data: dict[str, Any]) -> list[list[Any]]:
    """Return the first pairs by the first measure: runs, difference, and the numbers of the pair."""
    if not data["pairs"]["numbers"]:
        return []
    names, mean, pairs = data["runs"], data["mean"][0], data["pairs"]
    both = zip(pairs["first"], pairs["second"], *pairs["numbers"][0], strict=True)
    return [[names[a], names[b], mean[a] - mean[b], *numbers] for a, b, *numbers in islice(both, PAIRS)]


def _query_rows(data: dict[str, Any]) -> list[tuple[str, float, float, float]]:
    """Return the values of the first two runs on each query by the first measure, the largest difference first."""
    first, second = data["start"]
    both = zip(data["queries"], data["values"][0][first], data["values"][0][second], strict=True)
    return sorted(((query, x, y, x - y) for query, x, y in both), key=lambda row: -row[3])


def _left_out(board: Leaderboard, data: dict[str, Any]) -> list[str]:
    """Return what the page has no room for."""
    every, kept = len(board.queries), len(data["queries"])
    told = []
    if kept < every:
        told.append(f"Of {every:,} queries, the {kept:,} on which runs differ most are shown one by one.")
    if not data["rankings"]["depth"]:
        told.append("Rankings are left out: there are too many. gradely explain shows them one by one.")
    numbers = len(data["pairs"]["numbers"])
    if numbers < len(board.measures):
        told.append(f"Tests of pairs are shown for the first {numbers} measures; gradely compare has them all.")
    return told


def _correlations(board: Leaderboard) -> Taus:
    """Return Kendall's τ between the orders of runs by each two measures; nothing where there are too few runs."""
    if len(board.names) < 3 or len(board.measures) < 2:
        return []
    tau, _ = correlations(board.means.T)
    return [[None if np.isnan(value) else value for value in row] for row in tau.tolist()]


def _grades(grade: Floats) -> list[tuple[str, int]]:
    """Return how often each label occurs; of very many, ranges."""
    values, counts = np.unique(grade, return_counts=True)
    if len(values) <= 20:
        return [(f"{value:g}", count) for value, count in zip(values.tolist(), counts.tolist(), strict=True)]
    counts, edges = np.histogram(grade, bins=12)
    spans = zip(edges[:-1].tolist(), edges[1:].tolist(), counts.tolist(), strict=True)
    return [(f"{low:.3g} to {high:.3g}", count) for low, high, count in spans]


def _charts(board: Leaderboard, tested: Pairwise, taus: Taus) -> dict[str, Chart]:
    """Return the charts; those that the script fills begin empty."""
    made = {
        "leaderboard": charts.leaderboard(min(BARS, len(board.names))),
        "precision": charts.precision_by_recall(),
        "gain": charts.gain_by_rank(),
        "grades": charts.grades([{"label": label, "judgments": count} for label, count in _grades(board.qrels.grade)]),
    }
    if len(board.names) > 1:
        made["differences"] = charts.differences()
    if len(tested.pairs) > 1:
        made["levels"] = charts.levels(_levels(tested), tested.design.alpha)
    if taus:
        names = list(board.measures)
        made["correlation"] = charts.correlation(
            [
                {"first": names[j], "second": names[i], "tau": tau}
                for i, row in enumerate(taus)
                for j, tau in enumerate(row)
            ],
            len(names),
        )
    return made


def _levels(tested: Pairwise) -> list[dict[str, Any]]:
    """Return the achieved significance levels, thinned."""
    rows = []
    for measure, p in tested.levels().items():
        at = np.unique(np.linspace(0, len(p) - 1, min(POINTS, len(p))).round().astype(int))
        rows += [{"measure": measure, "share": (i + 1) / len(p), "p": float(f"{p[i]:.4g}")} for i in at.tolist()]
    return rows
