"""Work on several things at a time in processes of their own, where threads would wait for one another.

A worker is a fork: it has everything that its parent has, in shared memory, without a copy. It takes tasks from a pipe
until there is none left, and writes results into another, as bytes. It imports nothing, prints nothing and leaves when
its parent is gone, since nobody reads what it writes.
"""

import os
import selectors
import struct
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress

from gradely.threads import keep_freed

HEADER = struct.Struct("<IQ")
"""before each result: the number of its task, and how many bytes it has"""
NUMBER = struct.Struct("<I")
MOST_TASKS = 1 << 12
"""so many numbers fit into a pipe before anybody reads from it: Linux holds 64 KB"""
BLOCK = 1 << 20
"""bytes that are read from a worker in one go"""


class WorkerFailed(Exception):
    """A worker ended before its work was done: it ran out of memory, was killed, or met something unexpected."""


def can_fork() -> bool:
    """True where forks of a process that has threads are safe as long as they do nothing but compute: on Linux."""
    return sys.platform == "linux"


def in_processes(work: Callable[[int], bytes], tasks: int, workers: int) -> Iterator[tuple[int, bytes]]:
    """Run a function over the numbers below `tasks`; yield numbers and results as they come.

    However this ends, no worker is left behind.
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
    os.write(writer, b"".join(map(NUMBER.pack, range(tasks))))
    os.close(writer)
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
