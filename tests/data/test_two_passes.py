"""Runs whose queries are not together: the same bits as where they are, and nothing left of their temporary files."""

import errno
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradely
from gradely.data import spool, table
from gradely.data.columns import leave_out_repeats
from gradely.data.ids import Ids, Tokens
from gradely.data.read import frames
from gradely.data.spool import PARTS, Spool
from gradely.errors import DataError, InputError
from tests import ways


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder to work in, a folder for temporary files, and little room in memory."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    for module in (table, frames):
        monkeypatch.setattr(module, "ROWS", 50)
    with ways.fast(explained=True, in_memory=64, piece=900):
        yield tmp_path


def write_lines(name, rows):
    with open(name, "w") as file:
        file.writelines(f"{query} Q0 {doc} 1 {score} t\n" for query, doc, score in rows)


def rank_by_rank(queries=20, depth=30):
    """Return rows of queries that take turns, tied in threes, with rankings of different lengths."""
    return [
        (f"q{q}", f"d{(7 * q + 11 * r) % 97}", (depth - r) // 3)
        for r in range(depth)
        for q in range(queries)
        if r < depth - q % 5
    ]


def write_judgments(rows, step=7):
    with open("qrels", "w") as file:
        file.writelines(f"{query} 0 {doc} {len(doc) % 3}\n" for query, doc, _ in rows[::step] if query != "q3")


@given(st.lists(st.sampled_from([b"a", b"b", b"", b"query", b"a name of more than a word", b"\xc3\xa9"]), max_size=60))
def test_repeated_names_are_left_out_where_they_were_before(names):
    tokens = Tokens.of(names)
    start = tokens.start.astype(np.int64)
    for hashes in (nullcontext, ways.weak_hashes):
        with hashes():
            few = leave_out_repeats(Ids(tokens.text, start, start + tokens.size)).names()
        assert list(dict.fromkeys(few)) == [name.decode() for name in dict.fromkeys(names)]


def test_nearly_all_repeated_names_are_left_out():
    """Hashes differ from process to process; of two names that share a slot, one stays, 100 times."""
    names = Tokens.of([b"query%d" % (i % 50) for i in range(5000)])
    start = names.start.astype(np.int64)
    assert len(leave_out_repeats(Ids(names.text, start, start + names.size)).start) < 1000


# What is kept on the disk


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 128, 1000])
@pytest.mark.parametrize("kind", ["u8", "i4,f8,f8"])
def test_rows_come_back_part_by_part_in_the_order_given(folder, count, kind):
    rng = np.random.default_rng(count)
    part = rng.integers(0, PARTS, count).astype(np.uint8)
    rows = rng.integers(0, 256, (count, np.dtype(kind).itemsize)).astype(np.uint8).view(kind)[:, 0]
    with Spool("run", kind) as rows_on_disk:
        for start, stop in ((0, 3), (3, 3), (3, 70), (70, 700), (700, 1000)):
            rows_on_disk.add(rows[start:stop], part[start:stop])
        parts = list(rows_on_disk.parts())
    if count < spool.IN_MEMORY:
        assert [some.tobytes() for some in parts] == [rows.tobytes()]
    else:
        assert [some.tobytes() for some in parts] == [rows[part == i].tobytes() for i in range(PARTS)]


@pytest.mark.skipif(sys.platform != "linux", reason="open files are counted in /proc")
@pytest.mark.parametrize("fate", ["done", "repeated", "interrupted"])
def test_temporary_files_have_no_name_and_are_closed(folder, fate):
    rows = rank_by_rank()
    write_judgments(rows)
    write_lines("run", rows + rows[:1] * (fate == "repeated"))
    most, before = [], set(os.listdir("/proc/self/fd"))

    def watch(name, done):
        most.append(sum("/temporary/" in os.path.realpath(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd")))
        assert os.listdir("temporary") == []
        if fate == "interrupted" and most[-1]:
            raise KeyboardInterrupt

    try:
        gradely.evaluate("qrels", "run", ["RR"], threads=1, progress=watch)
    except (DataError, KeyboardInterrupt):
        assert fate != "done"
    assert max(most) == 1
    assert set(os.listdir("/proc/self/fd")) == before
    assert os.listdir("temporary") == []


KILLED = """
import os, signal, gradely
from gradely.data import source
from gradely.data import spool
from gradely.data.read import pieces
source.SMALL, spool.IN_MEMORY, pieces.PIECE = -1, 64, 900

def die(name, done):
    if done > 0.4:
        assert any("/temporary/" in os.path.realpath(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd"))
        os.kill(os.getpid(), signal.SIGKILL)

gradely.evaluate("qrels", "run", ["RR"], threads=1, progress=die)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="open files are looked for in /proc")
def test_a_process_that_is_killed_leaves_nothing(folder):
    rows = rank_by_rank()
    write_judgments(rows)
    write_lines("run", rows)
    done = subprocess.run([sys.executable, "-c", KILLED], env={**os.environ, "TMPDIR": "temporary"}, check=False)
    assert done.returncode == -signal.SIGKILL
    assert os.listdir("temporary") == []


FULL = """
import resource, sys
from gradely.data import source
from gradely.data import spool
from gradely.data.read import pieces
from gradely.cli.main import run
source.SMALL, spool.IN_MEMORY, pieces.PIECE = -1, 64, 900
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
sys.exit(run(["evaluate", "qrels", "run", "-m", "RR"]))
"""


def test_a_disk_that_is_full_is_one_line(folder):
    rows = rank_by_rank()
    write_judgments(rows)
    write_lines("run", rows)
    done = subprocess.run([sys.executable, "-c", FULL], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "gradely: run: has too many lines to count in memory, and a temporary file cannot be used: File too large; "
        "set TMPDIR to a folder with enough space\n"
    )


def test_no_folder_for_temporary_files(folder, monkeypatch):
    def fail(**_):
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found")

    rows = rank_by_rank()
    write_judgments(rows)
    write_lines("run", rows)
    monkeypatch.setattr(tempfile, "TemporaryFile", fail)
    with pytest.raises(InputError, match="cannot be used: No usable temporary directory found; set TMPDIR"):
        gradely.evaluate("qrels", "run", ["RR"])
