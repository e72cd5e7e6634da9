"""Runs whose queries are not together: the same bits as where they are, and nothing left of their temporary files."""

import errno
import os
import signal
import subprocess
import sys
import tempfile

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gradely
from gradely.data import hashing, open_run, table
from gradely.data import survey as surveys
from gradely.data.columns import leave_out_repeats
from gradely.data.ids import Ids, Tokens
from gradely.data.locate import find_hits, scattered
from gradely.data.locate.memory import align
from gradely.data.locate.scattered import PARTS, Spool
from gradely.data.read import frames, text
from gradely.data.read import text as runs
from gradely.data.source import Source, ignore
from gradely.data.survey import _count_piece, survey
from gradely.data.table import IrregularText
from gradely.errors import DataError, InputError
from gradely.settings import Settings
from tests.pieces import plain_run, stream_run

POLICIES = ["expected", "best", "worst", "trec", "order", "random"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder to work in, a folder for temporary files, and little room in memory."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.setattr(scattered, "IN_MEMORY", 64)
    monkeypatch.setattr(runs, "PIECE", 900)
    for module in (table, frames):
        monkeypatch.setattr(module, "ROWS", 50)
    return tmp_path


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


def bits(hits):
    """Return all that hits hold, in an order of their own."""
    order = np.lexsort((hits.row, hits.query))
    columns = (hits.query, hits.row, hits.above, hits.tied, hits.place)
    ranked = [None if column is None else column[order].tolist() for column in columns]
    return ranked, hits.retrieved.tolist(), hits.answered.tolist(), sorted(hits.unjudged)


# The same bits


@pytest.mark.parametrize("ties", POLICIES)
@pytest.mark.parametrize("form", ["text", "gzip", "csv", "parquet", "frame"])
def test_the_bits_are_those_of_queries_that_are_together(folder, ties, form):
    rows = rank_by_rank()
    write_judgments(rows)
    together = sorted(rows, key=lambda row: row[0])
    answers = []
    for number, some in enumerate((together, rows)):
        frame = pd.DataFrame(some, columns=["query", "document", "score"])
        write_lines(f"{number}.run", some)
        frame.to_csv(f"{number}.csv", index=False)
        frame.to_parquet(f"{number}.parquet")
        subprocess.run(["gzip", "-k", f"{number}.run"], check=True)
        given = {"text": ".run", "gzip": ".run.gz", "csv": ".csv", "parquet": ".parquet"}
        run = frame if form == "frame" else f"{number}{given[form]}"
        scores = gradely.evaluate("qrels", run, ["nDCG", "AP", "ERR", "RR"], ties=ties, queries="run", threads=2)
        answers.append((scores.per_query(), sorted(note.text for note in scores.notes)))
    assert answers[0] == answers[1]
    assert len(answers[0][0]) == 20


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data(), policy=st.sampled_from(POLICIES), room=st.integers(1, 40), size=st.integers(30, 400))
def test_any_interleaving_in_any_little_memory(folder, monkeypatch, data, policy, room, size):
    """Queries are dealt out in any order, the lines of each in their own; ties by order depend on the latter alone."""
    monkeypatch.setattr(scattered, "IN_MEMORY", room)
    monkeypatch.setattr(runs, "PIECE", size)
    names = ["a", "b", "query-with-a-long-name", "d"]
    turns = data.draw(st.lists(st.sampled_from(names), min_size=1, max_size=120))
    rows = [(query, f"d{i}", data.draw(st.integers(0, 3))) for i, query in enumerate(turns)]
    write_lines("interleaved", rows)
    write_lines("together", sorted(rows, key=lambda row: row[0]))
    with open("qrels", "w") as file:
        file.writelines(f"{query} 0 {doc} 1\n" for query, doc, _ in rows[::3] if query != "d")
        file.write("z 0 d 1\n")
    qrels, how = gradely.read_qrels("qrels"), Settings(policy, seed=5)
    assert bits(find_hits(qrels, open_run("interleaved"), how)) == bits(find_hits(qrels, open_run("together"), how))


@pytest.mark.parametrize("queries", [20, 400])
def test_checks_count_the_same(folder, queries):
    """Queries are met twice in a piece or only in several; the ranks of some contradict their scores."""
    rows = rank_by_rank(queries, depth=9)
    write_judgments(rows)
    for name, some in (("together", sorted(rows, key=lambda row: row[0])), ("scattered", rows)):
        with open(name, "w") as file:
            file.writelines(f"{q} Q0 {d} {-s if int(q[1:]) % 3 else s} {s}.{s}5 t\n" for q, d, s in some)
    counts, right = (survey(Source(name), 1, ignore) for name in ("scattered", "together"))
    assert counts[:4] == right[:4] == (len(rows), right.tied, right.groups, 0)
    assert right.tied > len(rows) / 2
    assert counts.against == [f"q{q}" for q in range(0, queries, 3)]
    assert sorted(right.against) == sorted(counts.against)


def test_checks_read_on_only_where_queries_are_together(folder, monkeypatch):
    """A piece that has a query twice ends the first pass at once."""
    rows, numbers = rank_by_rank(), []
    write_lines("together", sorted(rows, key=lambda row: row[0]))
    write_lines("scattered", rows)
    monkeypatch.setattr(surveys, "_count_piece", lambda piece: numbers.append(piece.number) or _count_piece(piece))
    survey(Source("scattered"), 1, ignore)
    assert numbers == [0]
    numbers.clear()
    monkeypatch.setattr(surveys, "_keep_scores", None)
    survey(Source("together"), 1, ignore)
    assert numbers == list(range(len(numbers)))
    assert len(numbers) > 5


def test_checks_count_a_query_that_is_too_long_for_a_piece(folder, monkeypatch):
    monkeypatch.setattr(text, "LONGEST", 2000)
    write_lines("run", [("q", f"d{i}", i // 2) for i in range(400)] + [("r", "d", 1)])
    assert survey(Source("run"), 1, ignore)[:3] == (401, 400, 200)


@pytest.mark.parametrize("apart", [1, 2, 500])
@pytest.mark.parametrize("judged", [True, False])
def test_a_line_that_is_there_twice_is_found_however_far_apart(folder, apart, judged):
    rows = rank_by_rank()
    write_judgments(rows, step=1 if judged else 50)
    again = rows[20]
    write_lines("run", [*rows[: 20 + apart], again, *rows[20 + apart :]])
    with pytest.raises(DataError, match=rf"run:{21 + apart}: duplicate document 'd11' of query 'q0', first in line 21"):
        gradely.evaluate("qrels", "run", ["RR"])


def test_many_lines_that_are_there_twice(folder, monkeypatch):
    """Above what may be chance nothing more is looked for; the plain reader says which is first."""
    monkeypatch.setattr(scattered, "CHANCE", 5)
    rows = rank_by_rank()
    write_judgments(rows, step=50)
    write_lines("run", rows + rows)
    with pytest.raises(DataError, match=rf"run:{len(rows) + 1}: document 'd0' of query 'q0' .* in line 1;"):
        gradely.evaluate("qrels", "run", ["RR"])


def test_hashes_that_collide_are_settled_by_names(folder, monkeypatch):
    """Of weak hashes, all lines share their key with others, within pieces and across them, and nothing is repeated."""
    rows = rank_by_rank()
    write_judgments(rows)
    write_lines("run", rows)
    right = bits(align(gradely.read_qrels("qrels"), plain_run(Source("run")), Settings("trec")))
    monkeypatch.setattr(hashing, "SECOND_FACTOR", np.uint64(1 << 61))
    qrels = gradely.read_qrels("qrels")
    assert bits(stream_run(qrels, Source("run"), Settings("trec"), 1, ignore)) == right
    monkeypatch.setattr(scattered, "CHANCE", 0)
    with pytest.raises(IrregularText):
        stream_run(qrels, Source("run"), Settings("trec"), 1, ignore)


@given(st.lists(st.sampled_from([b"a", b"b", b"", b"query", b"a name of more than a word", b"\xc3\xa9"]), max_size=60))
def test_repeated_names_are_left_out_where_they_were_before(names):
    tokens = Tokens.of(names)
    start = tokens.start.astype(np.int64)
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
    if count < scattered.IN_MEMORY:
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
from gradely.data.locate import scattered as spool
from gradely.data.read import text as runs
spool.IN_MEMORY, runs.PIECE = 64, 900

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
from gradely.data.locate import scattered as spool
from gradely.data.read import text as runs
from gradely.cli.main import run
spool.IN_MEMORY, runs.PIECE = 64, 900
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
        "set TMPDIR to a folder with room\n"
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
