"""Threads and worker processes: the same values, nobody left behind, and no more than make sense."""

import gzip
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import gradely
from gradely.data.read import trec_pieces
from gradely.data.source import Source
from gradely.parallel import MOST, WorkerFailed, can_fork, cores, in_processes, on_threads
from tests import ways

pytestmark = pytest.mark.skipif(not can_fork(), reason="processes are used on Linux alone")


def text_of(queries=50, documents=40, seed=0, order=None):
    rng = np.random.default_rng(seed)
    lines = [
        f"q{q} Q0 d{d} 0 {rng.integers(0, 30) / 8} run\n"
        for q in range(queries)
        for d in rng.permutation(3 * documents)[:documents]
    ]
    return "".join(lines if order is None else [lines[i] for i in rng.permutation(len(lines))])


def qrels_of(queries=48, documents=40):
    return {f"q{q}": {f"d{d}": d % 4 for d in range(q % 7, documents, 3)} for q in range(queries)}


@pytest.fixture
def forced(monkeypatch):
    """Use five processes over ranges of 5,000 bytes, whatever the file and the machine."""
    with ways.fast(explained=True, range=5000, processes=5):
        monkeypatch.setattr(trec_pieces, "in_processes", in_processes)
        yield


def children():
    """Return the ids of the processes that this one has started and that still are, as zombies or alive."""
    parents = {}
    for process in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            parents[int(process)] = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    return {process for process, parent in parents.items() if parent == os.getpid()}


def same_values(path, ties="expected"):
    scores = [gradely.evaluate(qrels_of(), run, ties=ties) for run in (path, gradely.read_run(path))]
    assert scores[0].per_query() == scores[1].per_query()


@pytest.mark.parametrize("ties", ["expected", "trec", "random", "order"])
@pytest.mark.parametrize("order", [None, "shuffled"])
def test_workers_give_the_values_of_the_plain_reader(forced, tmp_path, ties, order):
    (tmp_path / "run").write_text(text_of(order=order))
    before = children()
    same_values(tmp_path / "run", ties)
    assert children() == before


@pytest.mark.parametrize("line", ["q7 Q0 d1 0 nan run", "q7 Q0 d1", "q49 Q0 twice 0 1 run\nq49 Q0 twice 0 2 run"])
def test_the_same_error(forced, tmp_path, line):
    before = children()
    (tmp_path / "run").write_text(text_of() + line + "\n")
    with pytest.raises(gradely.GradelyError) as several:
        gradely.evaluate(qrels_of(), tmp_path / "run", threads=5)
    with pytest.raises(gradely.GradelyError) as one:
        gradely.read_run(tmp_path / "run")
    assert str(one.value) == str(several.value)
    assert children() == before


def test_packed_files_small_ones_and_few_cores_go_on_threads(forced, tmp_path, monkeypatch):
    plain, packed = tmp_path / "run", tmp_path / "run.gz"
    plain.write_text(text_of())
    packed.write_bytes(gzip.compress(text_of().encode()))
    monkeypatch.setattr(trec_pieces, "workers", lambda threads: threads)
    assert trec_pieces.count_processes(Source(plain), 5) == 5
    assert trec_pieces.count_processes(Source(plain), 4) == 0
    assert trec_pieces.count_processes(Source(plain), 20) == 5
    assert trec_pieces.count_processes(Source(packed), 5) == 0
    for large, processes in ((Source(plain).size, 5), (Source(plain).size + 1, 0)):
        monkeypatch.setattr(trec_pieces, "LARGE", large)
        assert trec_pieces.count_processes(Source(plain), 5) == processes


def test_a_worker_that_is_killed_is_replaced_by_threads(forced, tmp_path, monkeypatch):
    (tmp_path / "run").write_text(text_of())
    parent, pieces = os.getpid(), trec_pieces.pieces

    def killed(*given, **settings):
        if os.getpid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)
        return pieces(*given, **settings)

    monkeypatch.setattr(trec_pieces, "pieces", killed)
    same_values(tmp_path / "run")


def test_results_of_any_size_come_back_once():
    before = children()
    results = dict(in_processes(lambda number: bytes([number]) * number * 40_000, 60, 3))
    assert results == {number: bytes([number]) * number * 40_000 for number in range(60)}
    assert children() == before


def test_a_failing_worker_is_told():
    with pytest.raises(WorkerFailed):
        list(in_processes(lambda number: bytes(1 // (number - 3)) and b"", 9, 2))


def test_nobody_is_left_when_the_work_is_dropped():
    before = children()
    results = in_processes(lambda number: time.sleep(number) or b"", 100, 4)
    assert next(results) == (0, b"")
    results.close()
    assert children() == before


SLOW = """
import os, sys, time
from gradely.parallel import in_processes
def work(number):
    sys.stdout.write(f"{os.getpid()}\\n"); sys.stdout.flush()
    time.sleep(0.3)
    return b"x" * 100_000
for result in in_processes(work, 1000, 3):
    pass
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nobody_is_left_when_the_parent_is_ended(how):
    parent = subprocess.Popen([sys.executable, "-c", SLOW], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    workers = {int(parent.stdout.readline()) for _ in range(6)}
    parent.send_signal(how)
    parent.wait(20)
    deadline = time.monotonic() + 20
    while any(os.path.exists(f"/proc/{worker}") for worker in workers) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [worker for worker in workers if os.path.exists(f"/proc/{worker}")]
    parent.communicate()


def test_very_many_threads_are_not_started():
    busy, most, lock = 0, 0, threading.Lock()

    def work(thing):
        nonlocal busy, most
        with lock:
            busy += 1
            most = max(most, busy)
        time.sleep(0.002)
        with lock:
            busy -= 1
        return thing * thing

    things = range(40 * cores())
    assert list(on_threads(work, things, 5000)) == [thing * thing for thing in things]
    assert 1 < most <= MOST * cores()


def test_one_thread_takes_one_thing_at_a_time():
    """A reader with one buffer waits for it: to ask for a second piece before the first is used would be for ever."""
    taken = []

    def things():
        for i in range(3):
            assert len(taken) == i
            yield i

    assert list(on_threads(lambda i: taken.append(i) or i, things(), 1)) == [0, 1, 2]
