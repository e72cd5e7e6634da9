"""Parallel work, on threads or in processes."""

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
"""the most threads per processor"""
LARGE = 31 << 20
"""bytes of the block that keep_freed frees; glibc never raises its threshold to 32 MB or more"""


@cache
def cores() -> int:
    """Return how many processors this process may use; cached, since asking takes as long as computing a measure."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def workers(threads: int | None) -> int:
    """Return the number of threads to use: as requested, up to a few per processor; by default, one per processor."""
    # more threads would only wait for one another and take memory
    return min(threads or cores(), MOST * cores())


def on_threads(work: Callable[[T], R], items: Iterable[T], threads: int) -> Iterator[R]:
    """Apply a function to items on several threads, and yield the results in order.

    At most one more item than there are threads is taken from `items` in advance.
    """
    keep_freed()
    waiting = iter(items)
    first = list(islice(waiting, 2 if threads > 1 else 1))
    if len(first) < 2:  # a single item is not worth a thread
        yield from map(work, chain(first, waiting))
        return
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


def do_all(work: Callable[[T], object], items: Iterable[T], threads: int) -> None:
    """Apply a function to items on several threads, and drop the results."""
    for _ in on_threads(work, items, threads):
        pass


@cache
def keep_freed() -> None:
    """Let the C library keep freed memory, since the next array or piece of work needs as much again.

    glibc returns freed blocks above a threshold to the system, and raises the threshold to the largest block that was
    freed. So a large block is freed once; its pages are never touched, so this costs nothing. Without it, mapping new
    pages takes longer than the work on them.
    """
    import numpy as np

    np.empty(LARGE, np.uint8)


HEADER = struct.Struct("<IQ")
"""precedes each result: the number of its task and its length in bytes"""
NUMBER = struct.Struct("<I")
MOST_TASKS = 1 << 12
"""task numbers that a pipe can hold before anybody reads from it: Linux buffers 64 KB"""
BLOCK = 1 << 20
"""bytes to read from a worker at once"""


class WorkerFailed(Exception):
    """Some work was not done: a worker ran out of memory, was killed or failed, or the tasks did not fit the pipe."""


def can_fork() -> bool:
    """Return whether a process with threads can safely fork workers that only compute: on Linux."""
    return sys.platform == "linux"


def in_processes(work: Callable[[int], bytes], tasks: int, workers: int) -> Iterator[tuple[int, bytes]]:
    """Apply a function to the numbers below `tasks`, and yield numbers and results as they are computed.

    However this ends, no worker is left behind. A ProcessPoolExecutor would save 60 lines, but if the parent is killed,
    its workers wait for tasks forever.
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
    """Return a pipe that holds the numbers of all tasks; a worker takes a task by reading its number."""
    reader, writer = os.pipe()
    numbers = b"".join(map(NUMBER.pack, range(tasks)))
    os.set_blocking(writer, False)  # nobody reads yet, so a full pipe would block forever
    written = os.write(writer, numbers)
    os.close(writer)
    if written < len(numbers):
        os.close(reader)
        raise WorkerFailed  # Linux gives smaller pipes to users who have very many
    return reader


def _fork(work: Callable[[int], bytes], queue: int, writer: int, others: list[int]) -> int:
    """Start a worker, and return its process id."""
    with warnings.catch_warnings():
        # Python warns about forks of a process with threads, even if they are the idle ones of NumPy
        warnings.simplefilter("ignore", DeprecationWarning)
        worker = os.fork()
    if worker:
        return worker
    code = 1
    try:
        _serve(work, queue, writer, others)
        code = 0
    finally:
        os._exit(code)  # skip the cleanup, which belongs to the parent


def _serve(work: Callable[[int], bytes], queue: int, writer: int, others: list[int]) -> None:
    """Work until there are no more tasks, or nobody reads the results."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent is interrupted as well, and ends its workers
    for reader in others:
        os.close(reader)
    while token := os.read(queue, NUMBER.size):
        number = NUMBER.unpack(token)[0]
        result = work(number)
        message = memoryview(HEADER.pack(number, len(result)) + result)
        while message:
            message = message[os.write(writer, message) :]


def _results(readers: dict[int, int], tasks: int) -> Iterator[tuple[int, bytes]]:
    """Yield the results of all workers as they are received."""
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
    """Remove the complete results from the buffer, and yield them."""
    while len(buffer) >= HEADER.size:
        number, size = HEADER.unpack_from(buffer)
        end = HEADER.size + size
        if len(buffer) < end:
            return
        result = bytes(memoryview(buffer)[HEADER.size : end])
        del buffer[:end]
        yield number, result


def _end(worker: int) -> None:
    """Kill a worker that has not ended, and wait for it."""
    import signal

    with suppress(ProcessLookupError, ChildProcessError):
        os.kill(worker, signal.SIGKILL)
        os.waitpid(worker, 0)
