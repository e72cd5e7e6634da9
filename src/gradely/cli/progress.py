"""A progress bar on a terminal, for work that takes a while; nothing anywhere else."""

import sys
import time
from collections.abc import Mapping
from threading import Lock
from typing import TYPE_CHECKING, Self

from gradely.tables import plain_line

if TYPE_CHECKING:
    from rich.progress import Progress

PATIENCE = 2.0
"""seconds before the bar appears"""


class Bar:
    """A bar over several pieces of work, of which several may be under way; it appears once they have taken a while."""

    def __init__(self, sizes: Mapping[str, float]) -> None:
        """Take how much work each piece is, by name."""
        self._sizes, self._done = dict(sizes), dict.fromkeys(sizes, 0.0)
        self._lock, self._start = Lock(), time.monotonic()
        self._bar: Progress | None = None

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """Clear the bar away."""
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, name: str, done: float) -> None:
        """Show how much of a piece of work is done, from 0 to 1; a piece without a size is as much as the rest."""
        with self._lock:
            self._sizes.setdefault(name, sum(self._sizes.values()) or 1.0)
            self._done[name] = done
            if self._bar is None and (time.monotonic() - self._start < PATIENCE or not sys.stderr.isatty()):
                return
            if self._bar is None:
                self._bar = _new_bar(self._start)
            total = sum(self._sizes.values())
            completed = sum(self._done[piece] * self._sizes[piece] for piece in self._done)
            self._bar.update(self._bar.task_ids[0], completed=completed, total=total, description=plain_line(name))


def _new_bar(start: float) -> "Progress":
    from rich import progress
    from rich.console import Console

    bar = progress.Progress(
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        progress.TaskProgressColumn(),
        progress.TimeElapsedColumn(),
        progress.TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    bar.add_task("", total=1.0)
    bar.tasks[0].start_time = start
    bar.start()
    return bar
