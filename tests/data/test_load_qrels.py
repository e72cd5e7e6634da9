"""Judgments the fast way: the same columns as the plain reader's, however the file is cut, packed and read."""

import gzip
from itertools import pairwise

import numpy as np
import pytest

from gradely.data import hashing
from gradely.data.ids import LONGEST_NAME, PAD
from gradely.data.locate.match import Judgments
from gradely.data.qrels import Qrels
from gradely.data.read import text as text_module
from gradely.data.read import trec_pieces as module
from gradely.data.read.text import Dialect, split_text
from gradely.data.read.trec_lines import QRELS, read
from gradely.data.read.trec_pieces import _room, load_qrels
from gradely.data.source import DiskFile, Source
from gradely.data.table import IrregularText
from tests.pieces import piece_of

LINES = [f"query-{q} 0 {'document-' * (q % 2)}{d} {d % 3}\n" for q in range(12) for d in range(1 + q % 5)]
CONTENTS = {
    "together": "".join(LINES),
    "scattered": "".join(LINES[::2] + LINES[1::2]),
    "blank lines": "\n\n" + "\n".join(LINES) + "\n" * 300 + LINES[0].replace("query-0", "last"),
    "carriage returns": "".join(LINES).replace("\n", "\r\n"),
    "byte order mark": "\ufeff" + "".join(LINES).rstrip(),
    "one line": "q 0 d 1",
    "wide": "".join(LINES).replace(" ", "  ", 3),
}


@pytest.fixture
def file(tmp_path):
    def write(content, name="qrels"):
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return Source(tmp_path / name)

    return write


@pytest.mark.parametrize("content", CONTENTS)
@pytest.mark.parametrize("size", [1, 40, 100, 1 << 20])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_columns_are_those_of_the_plain_reader(file, content, size, threads, pack, monkeypatch):
    monkeypatch.setattr(text_module, "PIECE", size)
    monkeypatch.setattr(module, "READ_AT_ONCE", size + 6)
    source = file(pack(CONTENTS[content].encode()))
    plain, fast = Qrels.of(read(source, QRELS)), load_qrels(source, threads)
    assert list(fast.queries) == list(plain.queries)
    assert list(fast.docs) == list(plain.docs)
    assert fast.grade.tolist() == plain.grade.tolist()
    assert fast.start.tolist() == plain.start.tolist()
    hashed = Judgments.of(plain)
    assert fast.hashes[0].tolist() == hashed.hash.tolist()
    assert fast.hashes[1].tolist() == hashed.key.tolist()


def test_lines_that_are_together_are_left_as_they_are(file, monkeypatch):
    """Nothing is copied where no line is blank and queries are together."""
    monkeypatch.setattr(module, "_gather", None)
    monkeypatch.setattr(module.Columns, "at", None)
    assert len(load_qrels(file(CONTENTS["together"]), 1)) == 12


def test_hashes_that_collide_are_no_repetition(file, monkeypatch):
    monkeypatch.setattr(hashing, "SECOND_FACTOR", np.uint64(1 << 61))
    for content in ("together", "scattered"):
        source = file(CONTENTS[content], content)
        fast, plain = load_qrels(source, 1), Qrels.of(read(source, QRELS))
        assert (list(fast.queries), list(fast.docs)) == (list(plain.queries), list(plain.docs))
        assert fast.start.tolist() == plain.start.tolist()


def test_a_file_takes_as_much_memory_as_it_is_long(file):
    source = file("".join(LINES))
    docs = load_qrels(source, 1).docs
    assert len(docs.text) == source.size + 1 + 2 * PAD
    assert (docs.start.dtype, docs.size.dtype) == (np.uint32, np.uint16)


def test_places_in_four_gigabytes_take_eight_bytes():
    for size, kind in (((1 << 32) - 1, np.uint32), (1 << 32, np.int64)):
        assert _room(np.broadcast_to(np.uint8(0), size), 3).doc.dtype == kind


@pytest.mark.parametrize("content", ["", "\n", " \n\n", "q 0 d 1\nq 0 d 2\n", "q 0 d 1\nr 0 d 1\nq 0 d 1\n"])
def test_what_is_odd(file, content):
    with pytest.raises(IrregularText):
        load_qrels(file(content), 1)


def test_comments_alone_are_odd(file):
    assert load_qrels(file("# a\nq 0 d 1\n"), 1, Dialect(comments=True)).grade.tolist() == [1]
    with pytest.raises(IrregularText):
        load_qrels(file("# a\n# b c d\n", "comments"), 1, Dialect(comments=True))


@pytest.mark.parametrize("line", ["{} 0 d 1\n", "q 0 {} 1\n"])
def test_names_are_not_too_long(file, line):
    assert len(load_qrels(file(line.format("n" * LONGEST_NAME)), 1)) == 1
    with pytest.raises(IrregularText):
        load_qrels(file(line.format("n" * (LONGEST_NAME + 1)), "long"), 1)


def test_a_line_of_a_packed_file_is_not_too_long(file, monkeypatch):
    """A few bytes may unpack to more than there is memory for."""
    monkeypatch.setattr(module, "LONGEST_LINE", 1000)
    lines = "".join(f"query-{i} 0 d 1\n" for i in range(1000)).encode()
    assert len(load_qrels(file(gzip.compress(lines)), 1)) == 1000


def test_a_packed_line_that_never_ends_is_odd(file, monkeypatch):
    monkeypatch.setattr(module, "LONGEST_LINE", 1000)
    grown = []
    grow = module.Buffer.grow
    monkeypatch.setattr(module.Buffer, "grow", lambda buffer, size: grown.append(size) or grow(buffer, size))
    with pytest.raises(IrregularText):
        load_qrels(file(gzip.compress(b"q 0 d 1\n" + b"x" * 1_000_000)), 1)
    assert max(grown) < 10_000


@pytest.mark.parametrize("threads", [1, 2])
def test_a_file_on_disk_is_read_on_threads(file, threads, monkeypatch):
    monkeypatch.setattr(module, "READ_AT_ONCE", 300)
    filled, fill = [], DiskFile.fill
    monkeypatch.setattr(
        DiskFile, "fill", lambda stream, view, at: filled.append((at, len(view))) or fill(stream, view, at)
    )
    content = b"\xef\xbb\xbf" + "".join(LINES).encode()
    load_qrels(file(content), threads)
    edges = [*range(3, len(content), 300), len(content)]
    expected = [(start, stop - start) for start, stop in pairwise(edges)]
    assert sorted(filled) == (expected if threads > 1 else [])
    filled.clear()
    load_qrels(file(gzip.compress(content), "packed"), threads)
    assert filled == []


@pytest.mark.parametrize("size", [1, 30, 60, 1000])
def test_pieces_are_numbered_and_hold_whole_queries(size, monkeypatch):
    monkeypatch.setattr(text_module, "PIECE", size)
    piece = piece_of(b"\n" * 200 + "".join(LINES[:20]).encode() + b" \n" * 100 + "".join(LINES[20:]).encode())
    parts = list(split_text(piece.text, piece.stop))
    assert [part.number for part in parts] == list(range(len(parts)))
    texts = [part.text[part.start : part.stop].tobytes().split() for part in parts]
    assert [word for text in texts for word in text] == "".join(LINES).encode().split()
    assert all(texts)
    assert sum(len(set(text[::4])) for text in texts) == 12
