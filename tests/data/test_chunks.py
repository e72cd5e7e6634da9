"""Pieces of a stream: whole lines, whole queries, cut in the same places, in memory that is used again."""

import io
import queue

import pytest

from gradely.data.ids import PAD
from gradely.data.read import text
from gradely.data.read.text import Buffer, close, last_cut, pieces
from gradely.data.table import IrregularText, ScatteredQueries
from tests.pieces import piece_of

LINES = [f"q{q} Q0 doc{d} 1 1 t\n".encode() for q in range(9) for d in range(1 + q % 4)]


def cut_up(content, size, *, whole_queries=True, room=None):
    """Return the texts of the pieces of a stream, and the one buffer in which all of them were."""
    free, buffer = queue.SimpleQueue(), Buffer(room or size)
    free.put(buffer)
    texts = []
    for number, piece in enumerate(pieces(io.BytesIO(content), free, size, whole_queries=whole_queries)):
        assert (piece.number, piece.buffer) == (number, buffer)
        assert piece.text[: piece.start].tobytes() == b"\n" * PAD
        assert piece.text[piece.stop : piece.stop + PAD - 1].tobytes() == b"\n" * (PAD - 1)
        texts.append(piece.text[piece.start : piece.stop].tobytes())
        free.put(buffer)
    assert free.qsize() == 1
    return texts, buffer


@pytest.mark.parametrize("size", [1, 20, 25, 26, 27, 60, 100, 1000])
@pytest.mark.parametrize("whole_queries", [True, False])
def test_pieces_end_with_lines_or_queries(size, whole_queries):
    content = b"".join(LINES)
    texts, _ = cut_up(content, size, whole_queries=whole_queries)
    assert b"".join(texts) == content
    assert all(text.endswith(b"\n") for text in texts)
    queries = [{line.split()[0] for line in text.splitlines()} for text in texts]
    if whole_queries:
        assert sum(map(len, queries)) == 9
    if size >= len(content):
        assert texts == [content]


@pytest.mark.parametrize("end", [b"", b"\n", b"\n\n"])
def test_the_last_line_has_one_end(end):
    content = b"".join(LINES).rstrip() + end
    texts, _ = cut_up(content, 1000)
    assert texts == [content if end else content + b"\n"]


def test_blank_pieces_are_passed_over():
    texts, _ = cut_up(b" \n" * 100 + b"".join(LINES) + b"\n" * 300, 40)
    assert b"".join(texts).split() == b"".join(LINES).split()
    assert all(text.strip() for text in texts)


def test_one_buffer_is_used_again_and_grows_only_where_a_piece_needs_it():
    free, buffer = queue.SimpleQueue(), Buffer(100)
    free.put(buffer)
    before = buffer.bytes
    for piece in pieces(io.BytesIO(b"".join(LINES)), free, 100, whole_queries=True):
        assert piece.text is before
        free.put(piece.buffer)
    assert buffer.bytes is before
    long = [b"q Q0 doc%d 1 1 t\n" % d for d in range(20)]
    texts, larger = cut_up(b"".join(long) + LINES[0], 100)
    assert texts == [b"".join(long) + LINES[0]]
    assert larger.room == 400


def test_what_is_in_a_buffer_stays_where_it_grows():
    buffer = Buffer(10)
    buffer.bytes[PAD : PAD + 10] = range(10)
    buffer.grow(20)
    assert buffer.bytes[: PAD + 10].tobytes() == b"\n" * PAD + bytes(range(10))
    assert (buffer.room, len(buffer.view), len(buffer.blank)) == (20, 20 + 2 * PAD, 20 + 2 * PAD)


@pytest.mark.parametrize(("longest", "fails"), [(128, True), (256, False)])
def test_no_piece_is_longer_than_the_longest(monkeypatch, longest, fails):
    monkeypatch.setattr(text, "LONGEST", longest)
    line = b"x" * 200 + b" Q0 d 1 1 t\n"
    query = b"q Q0 d 1 1 t\n" * 16
    for content, whole_queries, error in ((line, False, IrregularText), (query, True, ScatteredQueries)):
        if fails:
            with pytest.raises(error):
                cut_up(content, 128, whole_queries=whole_queries)
        else:
            assert cut_up(content, 128, whole_queries=whole_queries)[0] == [content]


def test_close():
    piece = piece_of(b"a line and more")
    assert close(piece.text, PAD + 6) == PAD + 7
    assert piece.text[PAD : PAD + 8].tobytes() == b"a line\n\n"
    assert close(piece.text, PAD + 7) == PAD + 7


@pytest.mark.parametrize("length", [1, 300, 1100, 3000, 20_000])
def test_lines_of_any_length_are_found(length):
    """Lines are looked for in steps that grow, from the end and from the middle."""
    lines = [b"%s Q0 %s\n" % (query, b"d" * length) for query in (b"a", b"b", b"c", b"c", b"c")]
    text = b"\n" + b"".join(lines) + b"c Q0 " + b"d" * length
    view = memoryview(text)
    assert last_cut(view, 1, len(text), whole_queries=False) == 1 + sum(map(len, lines))
    assert last_cut(view, 1, len(text), whole_queries=True) == 1 + sum(map(len, lines[:2]))
    assert last_cut(view, 0, 1 + len(lines[0]) // 2, whole_queries=False) == 1
    assert last_cut(view, 1, 1 + len(lines[0]) // 2, whole_queries=False) == 1


@pytest.mark.parametrize("sizes", [(1, 1), (1, 9), (9, 1), (3, 4, 5), (2, 2, 2, 2), (7,), (40, 3), (3, 40)])
def test_the_last_cut_is_where_the_last_query_begins(sizes):
    lines = [b"%d Q0 %s 1 1 t\n" % (q, b"x" * (i % 5)) for q, size in enumerate(sizes) for i in range(size)]
    text = b"\n" + b"".join(lines)
    assert last_cut(memoryview(text), 1, len(text), whole_queries=True) == len(text) - sum(
        map(len, lines[-sizes[-1] :])
    )
