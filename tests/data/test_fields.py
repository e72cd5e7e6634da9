"""Fields of lines: where they are, in the quick way where lines are regular, and nothing odd is let through."""

import pytest

from gradely.data.read import text as module
from gradely.data.read.text import Dialect, fields
from gradely.data.read.trec_lines import QRELS, RUN
from gradely.data.table import IrregularText
from tests.pieces import piece_of

REGULAR = [
    b"q! 0 d! 1\n",
    b"q1 0 d1 1\nq2 0 d2 2\nq3 0 d3 3\n",
    b"q1\t0\td1\t1\nq2 0\td2 2",
    "é 0 文書 1\n".encode(),
]


def texts(content, layout=QRELS, columns=(0, 2, 3), dialect=module.STRICT):
    piece = piece_of(content)
    return [
        [piece.text[a:b].tobytes() for a, b in zip(*place, strict=True)]
        for place in fields(piece, layout, columns, dialect)
    ]


def expected(content, columns=(0, 2, 3)):
    rows = [line.split() for line in content.splitlines() if line.strip()]
    return [[row[i] for row in rows] for i in columns]


@pytest.mark.parametrize("content", REGULAR)
def test_regular_lines_are_split_the_quick_way(content, monkeypatch):
    monkeypatch.setattr(module, "_split_any", None)
    assert texts(content) == expected(content)
    assert texts(content, columns=(1,)) == expected(content, columns=(1,))


@pytest.mark.parametrize(
    "content",
    [
        *REGULAR,
        b" q1 0 d1 1\n",
        b"\nq1 0 d1 1\n",
        b"q1  0 d1 1\nq2 0 d2 2\n",
        b"q1\t\t0 d1 1\nq2 0 d2 2\n",
        b"q1 0 d\x7f1 1\n",
        b"q1 0 d1 1 \nq2 0 d2 2\n",
        b"q1 0 d1 1\r\nq2 0 d2 2\r\n",
        b"q1 0 d1 1\r\r\nq2 0 d2 2\n",
        b"q1 0 d1 1\n\n\nq2 0 d2 2\n \n",
        b"q1 0\x0bd1 1\nq2\x0c0 d2 2\n",
        b"q1 0 d1 1\nq2 0 d2 2\r",
    ],
)
def test_lines_with_any_white_space(content):
    assert texts(content) == expected(content)


@pytest.mark.parametrize(
    "content",
    [
        b"q1 0 d1\n",
        b"q1 0 d1 1 2\n",
        b"q1 0 d1\nq2 0 d2 1 2\n",
        b"q1 0 d1\nq2 0 d2 1 2\nq3 0 d3 1\n",
        b"q1 0 d1 1 2\nq2 0 d2\nq3 0 d3 1\n",
        b"q1 0 d1 1\nq2 0 d2\nq3 0 d3 1 2\n",
        b"q1 0 d1 1\nq2 0 d2 1 2\nq3 0 d3\n",
        b"q1 0 d1 1\nx\nq2 0 d2 2\n",
        b"q1  d1 1\n",
        b" 0 d1 1\n",
        b"q1 0 d1 1\n\nq2 0 d2 1 q3 0 d3 1\n",
        b"q1 0 d1\n2 q2 0 d2 1\n",
        b"q1 0\rd1 1\n",
        b"q1 0 d1 1\n\rq2 0 d2 1\n",
        b"q1 0 d\x001 1\n",
        b"q1\x000 d1 1\n",
        b"q1\x080 d1 1\n",
        b"q1\x0e0 d1 1\n",
        b"q1\x1f0 d1 1\n",
        b"q1 0 d\x80 1\n",
        b"q1 0 d\xff 1\n",
    ],
)
def test_what_is_odd_is_refused(content):
    with pytest.raises(IrregularText):
        texts(content)


@pytest.mark.parametrize("content", [b"q Q0 d 1 5 t\n", b"q  Q0 d 1 5 t\n", b"q Q0 d 1 5 my tag\nq Q0 e 2 4 t\n"])
def test_a_run_may_have_more_fields(content):
    assert texts(content, RUN, (0, 2, 4)) == expected(content, (0, 2, 4))


def test_too_few_fields_of_a_run_are_odd():
    with pytest.raises(IrregularText):
        texts(b"q Q0 d 1 5 my tag\nq Q0 e 2 4\n", RUN, (0, 2, 4))


def test_comments_are_passed_over_where_they_may_be():
    content = b"#q 0 d 1\n\nq1 0 d1 1\n  # note\n#\nq2 0 d#2 2\n# 0 x 9\n"
    assert texts(content, dialect=Dialect(comments=True)) == [[b"q1", b"q2"], [b"d1", b"d#2"], [b"1", b"2"]]
    assert texts(b"#q  0 d 1\n") == [[b"#q"], [b"d"], [b"1"]]
    assert texts(b" #q 0 d 1\nr 0 e 1\n", dialect=Dialect(comments=True)) == [[b"r"], [b"e"], [b"1"]]


def test_control_characters_are_part_of_names_where_any_bytes_may_be():
    content = b"q\x01\t\t0  d\x1f\xff 1\nr\x08\x0e 0 \x00 2\n"
    assert texts(content, dialect=Dialect(any_bytes=True)) == [
        [b"q\x01", b"r\x08\x0e"],
        [b"d\x1f\xff", b"\x00"],
        [b"1", b"2"],
    ]
