"""Ranges of a file: cut where queries begin, wherever the edges fall, and put together again.

The work of the processes is done in this one, where a debugger or a counter of lines sees it.
"""

import gzip

import numpy as np
import pytest

import gradely
from gradely.data.locate import scattered
from gradely.data.qrels import Qrels
from gradely.data.read import trec_pieces as runs
from gradely.data.read.trec_pieces import next_query
from gradely.data.source import DiskFile, Source, ignore
from gradely.data.table import IrregularText, ScatteredQueries
from gradely.settings import Settings
from tests.pieces import stream_run

BOM = b"\xef\xbb\xbf"
QUERIES = [("a", 3), ("bb", 1), ("c", 5), ("long-name", 2), ("d", 4), ("a-b", 1)]
LABELS = {query: {f"{query}{i}": i % 3 for i in range(0, 5, 2)} for query, _ in QUERIES if query != "c"}


def content_of(queries=QUERIES):
    return "".join(f"{query} Q0 {query}{i} 0 {-(i // 2)} t\n" for query, size in queries for i in range(size)).encode()


@pytest.fixture
def here(monkeypatch):
    """Do what processes do in this one; return how many tasks there were."""
    tasks = []

    def in_turn(work, count, workers):
        tasks.append((count, workers))
        return ((number, work(number)) for number in reversed(range(count)))

    monkeypatch.setattr(runs, "in_processes", in_turn)
    monkeypatch.setattr(runs, "PIECE", 60)
    for module in (runs, runs):
        monkeypatch.setattr(module, "LARGE", 0)
    monkeypatch.setattr(runs, "cores", lambda: 8)
    monkeypatch.setattr(runs, "workers", lambda threads: threads)
    monkeypatch.setattr(scattered, "count_scattered", None)
    return tasks


def starts(content, at):
    """Return where the first query begins behind the one whose line begins first behind a position."""
    lines, place = [], len(BOM)
    for line in content[len(BOM) :].split(b"\n")[:-1]:
        lines.append((place, line.split()[:1]))
        place += len(line) + 1
    names = [(place, name) for place, name in lines if place > at and name]
    return next((place for place, name in names if name != names[0][1]), len(content))


@pytest.mark.parametrize("block", [1, 7, 50, 1 << 16])
def test_the_next_query_from_any_position(tmp_path, monkeypatch, block):
    monkeypatch.setattr(runs, "BLOCK", block)
    content = BOM + content_of().replace(b"c Q0 c2", b"\n  \nc Q0 c2")
    (tmp_path / "run").write_bytes(content)
    with DiskFile(str(tmp_path / "run"), "run") as file:
        assert next_query(file, len(BOM), len(BOM)) == len(BOM)
        assert next_query(file, len(content), len(BOM)) == len(content)
        for at in range(len(BOM) + 1, len(content)):
            assert next_query(file, at, len(BOM)) == starts(content, at), at


@pytest.mark.parametrize("content", [b"a 12345 7\n" * 7, b"a 12345 7\n" + b"a" * 80])
def test_a_query_that_is_too_long_is_scattered(tmp_path, monkeypatch, content):
    monkeypatch.setattr(runs, "LONGEST", 50)
    monkeypatch.setattr(runs, "BLOCK", 10)
    (tmp_path / "run").write_bytes(b"a 12345 7\n" + content)
    with DiskFile(str(tmp_path / "run"), "run") as file, pytest.raises(ScatteredQueries):
        next_query(file, 10, 0)
    (tmp_path / "run").write_bytes(b"a 12345 7\n" * 6 + b"b 12345 7\n")
    with DiskFile(str(tmp_path / "run"), "run") as file:
        assert next_query(file, 10, 0) == 60


def hits_of(path, ties, threads):
    qrels = Qrels.of(LABELS)
    hits = stream_run(qrels, Source(path), Settings(ties, seed=1), threads, ignore)
    order = np.lexsort((hits.row, hits.query))
    columns = [hits.query, hits.row, hits.above, hits.tied, *([] if hits.place is None else [hits.place])]
    return [column[order].tolist() for column in columns], hits.retrieved.tolist(), hits.unjudged


@pytest.mark.parametrize("ties", ["expected", "trec", "order", "random"])
@pytest.mark.parametrize("size", [1, 20, 100, 10_000])
@pytest.mark.parametrize("start", [b"", BOM])
def test_ranges_of_any_size_give_the_same_hits_in_order(here, tmp_path, monkeypatch, ties, size, start):
    monkeypatch.setattr(runs, "RANGE", size)
    (tmp_path / "run").write_bytes(start + content_of())
    assert hits_of(tmp_path / "run", ties, 5) == hits_of(tmp_path / "run", ties, 1)
    assert here == [(-(-len(content_of()) // size), 5)]


def test_the_number_of_ranges_is_bounded(here, tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "RANGE", 1)
    monkeypatch.setattr(runs, "MOST_TASKS", 9)
    (tmp_path / "run").write_bytes(content_of())
    assert hits_of(tmp_path / "run", "trec", 5) == hits_of(tmp_path / "run", "trec", 1)
    assert here == [(9, 5)]


def test_unjudged_names_come_back(here, tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "RANGE", 30)
    (tmp_path / "run").write_bytes(content_of([("é", 2), ("a", 2), ("文書", 1), ("z", 3)]))
    assert hits_of(tmp_path / "run", "expected", 5)[2] == ("é", "文書", "z")


def test_progress_is_told_by_range(here, tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "RANGE", 100)
    (tmp_path / "run").write_bytes(content_of())
    told = []
    stream_run(Qrels.of(LABELS), Source(tmp_path / "run"), Settings(), 5, told.append)
    assert told == [(i + 1) / len(told) for i in range(here[0][0])]


def test_what_is_odd_in_a_range_is_odd(here, tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "RANGE", 100)
    (tmp_path / "run").write_bytes(content_of() + b"z Q0 d 1 x t\n")
    with pytest.raises(IrregularText):
        hits_of(tmp_path / "run", "expected", 5)


@pytest.mark.parametrize("size", [20, 10_000])
def test_a_query_that_comes_again_is_scattered_in_a_range_or_between_them(here, tmp_path, monkeypatch, size):
    monkeypatch.setattr(runs, "RANGE", size)
    monkeypatch.setattr(scattered, "count_scattered", lambda *given: "counted in two passes")
    (tmp_path / "run").write_bytes(content_of([*QUERIES, *QUERIES[:1]]))
    qrels = gradely.read_qrels(LABELS)
    assert stream_run(qrels, Source(tmp_path / "run"), Settings(), 5, ignore) == "counted in two passes"
    assert here[0][1] == 5


class Scores:
    """Gathers the scores of all lines."""

    def __init__(self):
        """Begin with none."""
        self.seen = []

    def look(self, lines):
        """Return the scores of some lines."""
        return lines.score.tolist()

    def add(self, seen):
        """Keep them."""
        self.seen += seen


def test_what_an_observer_sees_in_other_processes_comes_back_in_order(here, tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "RANGE", 50)
    (tmp_path / "run").write_bytes(content_of())
    observer = Scores()
    stream_run(Qrels.of(LABELS), Source(tmp_path / "run"), Settings(), 5, ignore, observer)
    assert here[0][1] == 5
    assert observer.seen == [float(line.split()[4]) for line in content_of().splitlines()]


def test_processes_are_used_for_large_files_on_disk_where_cores_are_many(here, tmp_path, monkeypatch):
    (tmp_path / "run").write_bytes(content_of())
    source = Source(tmp_path / "run")
    assert runs.count_processes(source, 5) == 5
    assert runs.count_processes(source, 20) == 8
    assert runs.count_processes(source, 4) == 0
    (tmp_path / "packed").write_bytes(gzip.compress(content_of()))
    assert runs.count_processes(Source(tmp_path / "packed"), 5) == 0
    monkeypatch.setattr(runs, "LARGE", source.size)
    assert runs.count_processes(source, 5) == 5
    monkeypatch.setattr(runs, "LARGE", source.size + 1)
    assert runs.count_processes(source, 5) == 0
