"""Work on several things at a time: on threads, or in processes."""

import os
import struct
import sys
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
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


def do_all(work: Callable[[T], object], things: Iterable[T], threads: int) -> None:
    """Work on all things, several at a time; what the work returns is dropped."""
    for _ in on_threads(work, things, threads):
        pass


@cache
def keep_freed() -> None:
    """Let the C library keep what is freed, since work on the next thing needs as much again.

    glibc gives memory back above a bound, which it raises to the largest thing that was freed. So something large is
    freed once; it is never touched and costs nothing. Otherwise new pages take longer than the work on them.
    """
    import numpy as np

    np.empty(LARGE, np.uint8)


HEADER = struct.Struct("<IQ")
"""before each result: the number of its task, and how many bytes it has"""
NUMBER = struct.Struct("<I")
MOST_TASKS = 1 << 12
"""numbers that fit into a pipe before anybody reads from it: Linux holds 64 KB"""
BLOCK = 1 << 20
"""bytes that are read from a worker in one go"""


class WorkerFailed(Exception):
    """The work was not done: a worker ran out of memory, was killed or met something odd, or tasks had no room."""


def can_fork() -> bool:
    """True where forks of a process that has threads are safe as long as they do nothing but compute: on Linux."""
    return sys.platform == "linux"


def in_processes(work: Callable[[int], bytes], tasks: int, workers: int) -> Iterator[tuple[int, bytes]]:
    """Run a function over the numbers below `tasks`; yield numbers and results as they come.

    However this ends, no worker is left behind. A ProcessPoolExecutor would take 60 lines less, but leaves all of its
    workers behind when the parent is killed, each waiting for tasks for ever.
    """
    assert tasks <= MOST_TASKS
    keep_freed()
    readers: dict[int, int] = {}
    queue = _filled_pipe(tasks)
    try:
        for _ in range(min(workers, tasks)):
            reader, writer = os.pipe()
            readers[reader] = _fork(work, queue, writer, [reader, *readers])
            os.close(writer)
        yield from _results(readers, tasks)
    finally:
        os.close(queue)
        for reader, worker in readers.items():
            os.close(reader)
            _end(worker)


def _filled_pipe(tasks: int) -> int:
    """Return a pipe that holds the numbers of all tasks; whoever reads one from it has that task."""
    reader, writer = os.pipe()
    numbers = b"".join(map(NUMBER.pack, range(tasks)))
    os.set_blocking(writer, False)  # nobody reads yet, so that it would wait for ever
    written = os.write(writer, numbers)
    os.close(writer)
    if written < len(numbers):
        os.close(reader)
        raise WorkerFailed  # pipes are smaller for a user who has very many of them
    return reader


def _fork(work: Callable[[int], bytes], queue: int, writer: int, others: list[int]) -> int:
    """Start a worker; return its id."""
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", DeprecationWarning
        )  # Python warns where there are threads, as NumPy's idle ones
        worker = os.fork()
    if worker:
        return worker
    code = 1
    try:
        _serve(work, queue, writer, others)
        code = 0
    finally:
        os._exit(code)  # without the parent's clean-up


def _serve(work: Callable[[int], bytes], queue: int, writer: int, others: list[int]) -> None:
    """Work until there are no more tasks, or nobody who reads the results."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent is interrupted, too, and ends its workers
    for reader in others:
        os.close(reader)
    while token := os.read(queue, NUMBER.size):
        number = NUMBER.unpack(token)[0]
        result = work(number)
        message = memoryview(HEADER.pack(number, len(result)) + result)
        while message:
            message = message[os.write(writer, message) :]


def _results(readers: dict[int, int], tasks: int) -> Iterator[tuple[int, bytes]]:
    """Yield the results of all workers as they come."""
    import selectors

    waiting = {reader: bytearray() for reader in readers}
    with selectors.DefaultSelector() as selector:
        for reader in readers:
            selector.register(reader, selectors.EVENT_READ)
        while waiting:
            for ready, _ in selector.select():
                block = os.read(ready.fd, BLOCK)
                waiting[ready.fd] += block
                for result in _whole_results(waiting[ready.fd]):
                    tasks -= 1
                    yield result
                if not block:
                    selector.unregister(ready.fd)
                    del waiting[ready.fd]
    if tasks:
        raise WorkerFailed


def _whole_results(buffer: bytearray) -> Iterator[tuple[int, bytes]]:
    """Take results out of what was received, as far as they are complete."""
    while len(buffer) >= HEADER.size:
        number, size = HEADER.unpack_from(buffer)
        end = HEADER.size + size
        if len(buffer) < end:
            return
        result = bytes(memoryview(buffer)[HEADER.size : end])
        del buffer[:end]
        yield number, result


def _end(worker: int) -> None:
    """End a worker, if it has not ended, and let the system forget it."""
    import signal

    with suppress(ProcessLookupError, ChildProcessError):
        os.kill(worker, signal.SIGKILL)
        os.waitpid(worker, 0)
