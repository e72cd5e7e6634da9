"""What a page says about ties: how many there are in each run, and which runs change places with their order."""

from typing import NamedTuple

from gradely.experiments.leaderboard import Leaderboard
from gradely.experiments.tie_sensitivity import Swap, TieSensitivity
from gradely.report.details import Detail

SWAPS = 50
"""so many pairs of runs that change places a page names"""


class Swaps(NamedTuple):
    """The first pairs of runs that change places, and how many there are."""

    first: list[Swap]
    total: int


def swaps(board: Leaderboard, details: list[Detail]) -> Swaps:
    """Return the pairs of runs that change places with the order of ties."""
    runs = [detail.ties for detail in details]
    found = TieSensitivity(runs, list(board.measures), board.policies, len(board.queries)).swaps
    return Swaps(found[:SWAPS], len(found))
