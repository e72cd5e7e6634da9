"""Work in forks of this process, which has imported everything: a fork starts in no time and spoils nothing."""

import os
import signal
from contextlib import suppress
from itertools import islice
from multiprocessing import Pipe
from multiprocessing.connection import wait
from pathlib import Path
from resource import RLIMIT_DATA, getpagesize, setrlimit

MEMORY = 4 << 30
"""bytes that a fork may ask for beyond what it has; a change can make a loop that fills the memory"""
PATIENCE = 20
"""times its limit of processor time that a fork may take by the clock: the machine may be busy"""


def in_forks(tasks, work, jobs):
    """Yield each task and what work on it returns, as they are done; None where the fork died."""
    tasks, running = iter(tasks), {}
    while True:
        for task in islice(tasks, jobs - len(running)):
            reader, writer = Pipe(duplex=False)
            running[reader] = task, fork(work, task, writer)
            writer.close()
        if not running:
            return
        for reader in wait(list(running)):
            task, process = running.pop(reader)
            try:
                answer = reader.recv()
            except EOFError:
                answer = None
            reader.close()
            end(process)
            yield task, answer


def fork(work, task, writer):
    """Start a fork; return its id."""
    process = os.fork()
    if process:
        return process
    try:
        os.setpgid(0, 0)
        most = MEMORY + int(Path("/proc/self/statm").read_text().split()[5]) * getpagesize()
        setrlimit(RLIMIT_DATA, (most, most))
        quiet = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(quiet, stream)
        writer.send(work(task))
    finally:
        os._exit(0)


def end(process):
    """End a fork and whatever it has started."""
    os.waitpid(process, 0)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process, signal.SIGKILL)


def limit(seconds):
    """End this process after some time of its processor, or where it waits for long; the clocks start anew."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE * seconds)
