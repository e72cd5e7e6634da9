"""What the commands on several runs share: the runs to read, and a bar while they are read."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from gradely.cli.evaluate import System, listed
from gradely.cli.progress import Bar
from gradely.comparison.leaderboard import Steps
from gradely.data import Qrels, read_qrels, read_run


def read(qrels: str, runs: tuple[str, ...], settings: dict[str, Any]) -> tuple[Qrels, list[System]]:
    """Take the options about inputs out of the settings; return the judgments, and the runs that are to be read."""
    form, features, ascending = (settings.pop(key) for key in ("run_format", "features", "ascending"))
    systems = listed(qrels, runs, form, features, ascending=ascending)
    return read_qrels(qrels, format=settings.pop("qrels_format"), threads=settings["threads"]), systems


def opened(systems: list[System], paths: tuple[str, ...]) -> dict[str, Callable[[], Any]]:
    """Return how to open each run, by name; standard input is held, since it can be read only once."""
    if "-" not in paths:
        return {system.name: system.open for system in systems}
    held = {system.name: read_run(system.open()) for system in systems}
    return {name: partial(_same, run) for name, run in held.items()}


def _same(run: Any) -> Any:
    return run


@contextmanager
def stepping(systems: list[System], rounds: int = 1) -> Iterator[Steps]:
    """Show a bar while runs are read, so many times each."""
    sizes = {system.name: float(system.size) for system in systems}
    with Bar(rounds * sum(sizes.values())) as bar:
        yield partial(bar.step, sizes)
