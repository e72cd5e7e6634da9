"""Progress: how much of the work is done, and which share of it a part is."""

from collections.abc import Callable
from typing import TypeAlias

Report: TypeAlias = Callable[[float], None]
"""Takes the share of the work that is done, from 0 to 1."""


def ignore(done: float) -> None:
    """Report nothing."""


def part(progress: Report, i: int, of: int) -> Report:
    """Return what takes the progress of part i, counted from 0, of equal parts.

    >>> part(print, 1, 4)(0.5)
    0.375
    """
    return lambda done: progress((i + done) / of)


def over_runs(progress: Report, runs: int) -> Callable[[str, float], None]:
    """Return what takes the progress of each run by its name, where that many runs are read at once.

    >>> step = over_runs(print, 4)
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
