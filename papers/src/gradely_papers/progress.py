"""Callbacks that report progress, as a whole and by part."""

from collections.abc import Callable
from typing import TypeAlias

Report: TypeAlias = Callable[[float], None]
"""Called with the share of the work that is done, from 0 to 1."""


def ignore(done: float) -> None:
    """Report nothing."""


def part(progress: Report, i: int, of: int) -> Report:
    """Return the callback of part i of several equal parts, counted from 0.

    >>> part(print, 1, 4)(0.5)
    0.375
    """
    return lambda done: progress((i + done) / of)


def over_runs(progress: Report, runs: int) -> Callable[[str, float], None]:
    """Return a callback that takes the name of a run and its progress, for runs that are read at the same time.

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
