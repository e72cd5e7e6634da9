"""What a page says about ties: how many there are in each run, and which runs change places with their order."""

from typing import NamedTuple

from gradely.comparison.leaderboard import Leaderboard
from gradely.comparison.ties import TieSensitivity
from gradely.data.tie_counts import TieCounts
from gradely.evaluation.notes import Note
from gradely.report.details import Detail

SWAPS = 50
"""so many pairs of runs that change places a page names"""


class Places(NamedTuple):
    """Two runs that change places with the order of ties, and by which measures."""

    first: str
    second: str
    measures: list[str]
    """those by which the first has the higher mean and can fall behind"""
    trec: list[str]
    """those by which it falls behind in trec_eval's order"""


class AboutTies(NamedTuple):
    """The runs with ties, most ties first; the pairs that change places; and what there is to note."""

    runs: list[tuple[str, TieCounts]]
    untied: int
    """how many runs have no tie in any precision"""
    summary: str
    swaps: list[Places]
    total: int
    notes: list[Note]


def about_ties(board: Leaderboard, details: list[Detail], names: list[str]) -> AboutTies:
    """Return what there is to say; `names` are those that the page shows."""
    runs = [detail.ties for detail in details]
    sensitivity = TieSensitivity(runs, list(board.measures), board.settings, len(board.queries))
    counts = [(name, run.tied) for name, run in zip(names, runs, strict=True)]
    tied = [(name, tied) for name, tied in counts if tied.tied or tied.single or tied.half]
    places = _places(sensitivity)
    tied.sort(key=lambda pair: -pair[1].share)
    summary = sensitivity.count_swaps() + "."
    return AboutTies(tied, len(counts) - len(tied), summary, places[:SWAPS], len(places), sensitivity.notes)


def _places(sensitivity: TieSensitivity) -> list[Places]:
    """Return one row per pair and order of means, most measures first."""
    rows: dict[tuple[str, str], Places] = {}
    for swap in sensitivity.swaps:
        row = rows.setdefault((swap.first, swap.second), Places(swap.first, swap.second, [], []))
        row.measures.append(swap.measure)
        if swap.trec:
            row.trec.append(swap.measure)
    return sorted(rows.values(), key=lambda row: (-len(row.trec), -len(row.measures)))
