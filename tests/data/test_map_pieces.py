"""A function over the pieces of a file: in order, in as many buffers as threads need, told how far it is."""

import io
from contextlib import contextmanager
from itertools import pairwise

import pytest

from gradely.data.read import text as runs
from gradely.data.read.text import map_pieces
from gradely.data.source import Source, ignore

LINES = [f"q{q} Q0 doc{d} 1 1 t\n".encode() for q in range(9) for d in range(1 + q % 4)]
CONTENT = b"".join(LINES)


class Slow(io.BytesIO):
    """A stream that gives three bytes at a time at most."""

    def readinto(self, view):
        return super().readinto(memoryview(view)[:3])


class SlowSource:
    """A file that is read slowly."""

    size = len(CONTENT)

    @contextmanager
    def stream(self):
        yield Slow(CONTENT)


def text_of(piece):
    return piece.text[piece.start : piece.stop].tobytes()


def texts(source, threads=1, report=ignore, **given):
    return list(map_pieces(source, text_of, threads, report, **{"whole_queries": True, **given}))


@pytest.fixture
def source(tmp_path, monkeypatch):
    (tmp_path / "run").write_bytes(CONTENT)
    monkeypatch.setattr(runs, "PIECE", 60)
    return Source(tmp_path / "run")


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("whole_queries", [True, False])
def test_pieces_come_in_order(source, threads, whole_queries, monkeypatch):
    monkeypatch.setattr(runs, "SMALL", 0)
    parts = texts(source, threads, whole_queries=whole_queries)
    assert b"".join(parts) == CONTENT
    assert len(parts) > 4
    queries = [{line.split()[0] for line in part.splitlines()} for part in parts]
    assert all(one.isdisjoint(other) for one, other in pairwise(queries)) is whole_queries


@pytest.mark.parametrize("skip", [0, 2, 3, 7, 100, len(CONTENT), len(CONTENT) + 5])
@pytest.mark.parametrize("slow", [False, True])
def test_some_bytes_at_the_start_are_passed_over(source, skip, slow):
    assert b"".join(texts(SlowSource() if slow else source, skip=skip)) == CONTENT[skip:]


def test_progress_is_the_share_of_the_file_that_was_read(source):
    told = []
    parts = texts(source, report=told.append)
    assert len(told) == len(parts)
    assert told == sorted(told)
    assert told[-1] == 1
    assert 0 < told[0] <= 60 / len(CONTENT)


@pytest.mark.parametrize(
    ("small", "threads", "used", "buffers"),
    [(len(CONTENT), 3, 1, 1), (len(CONTENT) - 1, 3, 3, 4), (0, 1, 1, 1), (0, 2, 2, 3)],
)
def test_threads_work_on_large_files_with_a_buffer_each_and_one_to_fill(
    source, small, threads, used, buffers, monkeypatch
):
    monkeypatch.setattr(runs, "SMALL", small)
    monkeypatch.setattr(runs, "workers", lambda threads: threads)
    counts, sizes = [], []

    def on_threads(work, pieces, threads):
        counts.append(threads)
        return map(work, pieces)

    class Buffer(runs.Buffer):
        def __init__(self, size):
            sizes.append(size)
            super().__init__(size)

    monkeypatch.setattr(runs, "on_threads", on_threads)
    monkeypatch.setattr(runs, "Buffer", Buffer)
    assert b"".join(texts(source, threads)) == CONTENT
    assert counts == [used]
    assert sizes == [60] * buffers
