"""What a page says about ties: how many there are in each run, and which runs change places with their order."""

from typing import NamedTuple

from gradely.comparison.leaderboard import Leaderboard
from gradely.comparison.ties import Swap, TieSensitivity
from gradely.evaluation.notes import Note
from gradely.report.details import Detail

SWAPS = 50
"""so many pairs of runs that change places a page names"""


class Swaps(NamedTuple):
    """The first pairs of runs that change places, how many there are, and what there is to note about ties."""

    first: list[Swap]
    total: int
    notes: list[Note]


def swaps(board: Leaderboard, details: list[Detail]) -> Swaps:
    """Return the pairs of runs that change places with the order of ties."""
    runs = [detail.ties for detail in details]
    found = TieSensitivity(runs, list(board.measures), board.settings, len(board.queries))
    return Swaps(found.swaps[:SWAPS], len(found.swaps), found.notes)
