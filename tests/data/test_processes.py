"""Worker processes over ranges of a file: the same hits, however the file is cut, and nobody left behind."""

import gzip
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import gradely
from gradely.data import read_qrels
from gradely.data.read import trec_pieces as runs
from gradely.data.source import Source
from gradely.data.table import IrregularText
from gradely.parallel import WorkerFailed, can_fork, in_processes
from gradely.settings import Settings
from tests.pieces import stream_run

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
    monkeypatch.setattr(runs, "RANGE", 5000)
    monkeypatch.setattr(runs, "LARGE", 0)
    monkeypatch.setattr(runs, "cores", lambda: 5)
    monkeypatch.setattr(runs, "workers", lambda threads: threads)
    counted, original = [], runs.map_ranges

    def map_ranges(*given):
        counted.append(given[2])
        return original(*given)

    monkeypatch.setattr(runs, "map_ranges", map_ranges)
    return counted


def children():
    """Return the ids of the processes that this one has started and that still are, as zombies or alive."""
    parents = {}
    for process in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            parents[int(process)] = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    return {process for process, parent in parents.items() if parent == os.getpid()}


def same_hits(path, ties="expected"):
    one, several = (
        stream_run(read_qrels(qrels_of()), Source(path), Settings(ties), threads, lambda done: None)
        for threads in (1, 5)
    )
    for ours, theirs in zip(one, several, strict=True):
        assert ours is theirs is None or np.array_equal(ours, theirs)


@pytest.mark.skipif(sys.platform != "linux", reason="the size of a pipe is Linux's to change")
def test_tasks_that_a_small_pipe_does_not_hold_are_refused_and_not_waited_for(monkeypatch):
    import fcntl

    make = os.pipe

    def small():
        reader, writer = make()
        fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
        return reader, writer

    monkeypatch.setattr(os, "pipe", small)
    before = os.listdir("/proc/self/fd")
    with pytest.raises(WorkerFailed):
        list(in_processes(lambda _: b"", 2000, 2))
    assert os.listdir("/proc/self/fd") == before
    assert sorted(number for number, _ in in_processes(lambda _: b"", 1000, 2)) == list(range(1000))


@pytest.mark.parametrize("ties", ["expected", "trec", "random", "order"])
def test_same_hits(forced, tmp_path, ties):
    (tmp_path / "run").write_text(text_of())
    same_hits(tmp_path / "run", ties)
    assert forced == [5]


@pytest.mark.parametrize("size", [7, 100, 3000, 10**9])
def test_ranges_of_any_size(forced, tmp_path, monkeypatch, size):
    monkeypatch.setattr(runs, "RANGE", size)
    monkeypatch.setattr(runs, "BLOCK", 64)
    (tmp_path / "run").write_bytes(b"\xef\xbb\xbf" + text_of(12).rstrip("\n").encode())
    same_hits(tmp_path / "run")


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\n\n"),
        lambda text: "\n" * 7000 + text + " \n" * 7000,
        lambda text: text_of(order="shuffled"),
        lambda text: text + "q0 Q0 late 0 1 run\n",
        lambda text: "".join(f"q1 Q0 d{i} 0 {i} run\n" for i in range(4000)),
        lambda text: text.replace("q1 ", "é𝄞 "),
    ],
    ids=["crlf", "blank lines", "blank ends", "scattered", "one line scattered", "one query", "names"],
)
def test_odd_files(forced, tmp_path, change):
    (tmp_path / "run").write_text(change(text_of()), newline="")
    same_hits(tmp_path / "run")


@pytest.mark.parametrize("line", ["q7 Q0 d1 0 nan run", "q7 Q0 d1", "q49 Q0 twice 0 1 run\nq49 Q0 twice 0 2 run"])
def test_the_same_error(forced, tmp_path, line):
    before = children()
    (tmp_path / "run").write_text(text_of() + line + "\n")
    with pytest.raises(gradely.GradelyError) as several:
        gradely.evaluate(qrels_of(), tmp_path / "run", threads=5)
    assert forced == [5]
    with pytest.raises(gradely.GradelyError) as one:
        gradely.evaluate(qrels_of(), tmp_path / "run", threads=1)
    assert str(one.value) == str(several.value)
    assert children() == before


def test_packed_files_small_ones_and_few_cores_go_on_threads(forced, tmp_path, monkeypatch):
    plain, packed = tmp_path / "run", tmp_path / "run.gz"
    plain.write_text(text_of())
    packed.write_bytes(gzip.compress(text_of().encode()))
    assert runs.count_processes(Source(plain), 5) == 5
    assert runs.count_processes(Source(plain), 4) == 0
    assert runs.count_processes(Source(packed), 5) == 0
    monkeypatch.setattr(runs, "LARGE", 1 << 28)
    assert runs.count_processes(Source(plain), 5) == 0


def test_progress_ends_at_one(forced, tmp_path):
    (tmp_path / "run").write_text(text_of())
    seen = []
    stream_run(read_qrels(qrels_of()), Source(tmp_path / "run"), Settings(), 5, seen.append)
    assert seen == sorted(seen) and seen[-1] == 1 and len(seen) > 5


def test_a_worker_that_is_killed_is_replaced_by_threads(forced, tmp_path, monkeypatch):
    (tmp_path / "run").write_text(text_of())
    parent, pieces = os.getpid(), runs.pieces

    def killed(*given, **settings):
        if os.getpid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)
        return pieces(*given, **settings)

    monkeypatch.setattr(runs, "pieces", killed)
    same_hits(tmp_path / "run")


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
from gradely.settings import Settings
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


def test_odd_is_odd(forced, tmp_path):
    (tmp_path / "run").write_text("\n" * 9000)
    with pytest.raises(IrregularText):
        stream_run(read_qrels(qrels_of()), Source(tmp_path / "run"), Settings(), 5, lambda done: None)
