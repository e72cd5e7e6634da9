"""A progress bar on a terminal, for work that takes a while; nothing anywhere else."""

import os
import sys
import time
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING, Self

from gradely.tables import plain_line

if TYPE_CHECKING:
    from rich.progress import Progress

PATIENCE = 2.0
"""seconds before the bar appears"""


class Bar:
    """A bar over several pieces of work, each of a known size; it appears once the work has taken a while."""

    def __init__(self, total: float) -> None:
        """Start with how much work there is in all."""
        self.total, self.done, self.size, self.name = total, 0.0, 0.0, ""
        self._parts: dict[str, float] = {}
        self._lock = Lock()
        self._started = time.monotonic()
        self._bar: Progress | None = None

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Clear the bar away."""
        if self._bar is not None:
            self._bar.stop()

    def begin(self, name: str, size: float) -> None:
        """Say what is being worked on, and how much work it is."""
        self.name, self.size = name, size
        self.show(0)

    def end(self) -> None:
        """Say that it is done."""
        self.done, self.size = self.done + self.size, 0.0
        self.show(0)

    def step(self, sizes: dict[str, float], name: str, part: float) -> None:
        """Show how much of a named piece of work is done; a new name begins it, a whole one ends it."""
        if name != self.name or not self.size:
            self.begin(name, sizes[name])
        self.show(part)
        if part >= 1:
            self.end()

    def reach(self, sizes: dict[str, float], name: str, part: float) -> None:
        """Show how much of a named piece of work is done, where several are worked on at a time."""
        with self._lock:
            self._parts[name] = part * sizes[name]
            self.name, self.done = name, sum(self._parts.values())
            self.show(0)

    def show(self, part: float) -> None:
        """Show how much of it is done, from 0 to 1."""
        if self._bar is None and (time.monotonic() - self._started < PATIENCE or not sys.stderr.isatty()):
            return
        if self._bar is None:
            self._bar = _new_bar(self.total, self._started)
        self._bar.update(
            self._bar.task_ids[0], completed=self.done + part * self.size, description=plain_line(self.name)
        )


def size_of(path: str) -> int:
    """Return how much work a file is, in bytes; 1 where that cannot be told."""
    return os.path.getsize(path) if os.path.isfile(path) else 1


def _new_bar(total: float, started: float) -> "Progress":
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    text = TextColumn("{task.description}", markup=False)
    bar = Progress(
        text,
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    bar.add_task("", total=total)
    bar.tasks[0].start_time = started
    bar.start()
    return bar
