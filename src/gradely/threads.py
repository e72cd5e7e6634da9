"""Work on several things at a time."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import chain, islice
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")
MOST = 4
"""threads for each processor, at most"""
LARGE = 31 << 20
"""bytes; glibc takes things of 32 MB and more for exceptions"""


@cache
def cores() -> int:
    """Return how many processors this process may use; asked once, since the answer takes as long as a measure."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def workers(threads: int | None) -> int:
    """Return how many threads work: as many as there are processors, or as asked, up to a few for each.

    More would only wait for one another and take memory.
    """
    return min(threads or cores(), MOST * cores())


def on_threads(work: Callable[[T], R], things: Iterable[T], threads: int) -> Iterator[R]:
    """Work on several things at a time, or on the spot where there is only one; yield the results in order.

    No more things are taken than threads can work on, and one.
    """
    waiting = iter(things)
    first = list(islice(waiting, 2 if threads > 1 else 1))
    if len(first) < 2:
        yield from map(work, first)
        for thing in waiting:
            keep_freed()
            yield work(thing)
        return
    keep_freed()
    from concurrent.futures import Future, ThreadPoolExecutor

    threads = workers(threads)
    pool = ThreadPoolExecutor(threads)
    pending: deque[Future[R]] = deque()
    try:
        for thing in chain(first, waiting):
            pending.append(pool.submit(work, thing))
            if len(pending) > threads:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


@cache
def keep_freed() -> None:
    """Let the C library keep what is freed, since work on the next thing needs as much again.

    glibc gives memory back above a bound, which it raises to the largest thing that was freed. So something large is
    freed once; it is never touched and costs nothing. Otherwise new pages take longer than the work on them.
    """
    import numpy as np

    np.empty(LARGE, np.uint8)
