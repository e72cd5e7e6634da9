"""Work on several things at a time."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def cores() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def on_threads(work: Callable[[T], R], things: Iterable[T], threads: int) -> Iterator[R]:
    """Work on several things at a time, or on the spot where there is only one; yield the results in order.

    No more things are taken than threads can work on, and one.
    """
    waiting = iter(things)
    first = list(islice(waiting, 2 if threads > 1 else 1))
    if len(first) < 2:
        yield from map(work, chain(first, waiting))
        return
    from concurrent.futures import Future, ThreadPoolExecutor

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
