"""How far the work has come: whom to tell, and how to tell it of a part."""

from collections.abc import Callable
from typing import TypeAlias

Report: TypeAlias = Callable[[float], None]
"""is told how much of the work is done, from 0 to 1"""


def ignore(done: float) -> None:
    """Tell nobody."""


def part(progress: Report, i: int, of: int) -> Report:
    """Return whom to tell how much of part i is done, the first being 0.

    >>> part(print, 1, 4)(0.5)
    0.375
    """
    return lambda done: progress((i + done) / of)


def runs_part(progress: Report, runs: int) -> Callable[[str, float], None]:
    """Return whom to tell how much of a run is done, by name, where there are so many runs.

    >>> step = runs_part(print, 4)
    >>> step("a", 1.0), step("b", 0.5)
    0.25
    0.375
    (None, None)
    """
    done: dict[str, float] = {}

    def step(name: str, share: float) -> None:
        done[name] = share
        progress(sum(done.values()) / runs)

    return step
