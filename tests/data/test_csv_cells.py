"""CSV text: cells are found with array operations wherever the text is plain, and else by the csv module."""

import csv
import gzip
import io
import random
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradely
from gradely import InputError
from gradely.data.read.csv_files import CsvTable, Layout, find_cells
from gradely.data.source import Source
from gradely.data.table import IrregularText


def cells(text, width=3):
    """Return the cells of lines as array operations find them."""
    starts, stops = find_cells(np.frombuffer(text, np.uint8), Layout(b",", width, 0, 1, 2, 1))
    return [
        [text[start:stop].decode() for start, stop in zip(*line, strict=True)]
        for line in zip(starts.tolist(), stops.tolist(), strict=True)
    ]


PLAIN = st.sampled_from(["1", "a", "", "é", "\u2028", "c\x0bd", "a\tb", " x "])
QUOTED = st.sampled_from(['""', '"a"', '"a, b"', '"c\nd"'])
ODD = st.sampled_from(['"a', 'a"', '"a""b"', 'a"b"c', '"a"b', "a\rb", "a\r", '"c\r\nd"', "a,b"])
STARTS, ENDS = ["", "\n", "\r\n"], ["\n", "\r\n", "\n\n", "\r\n\r\n", "\n\r\n"]


def texts(cells):
    """Return texts of lines with three cells each."""
    lines = st.tuples(st.lists(cells, min_size=3, max_size=3).map(",".join), st.sampled_from(ENDS)).map("".join)
    return st.builds("{}{}".format, st.sampled_from(STARTS), st.lists(lines, min_size=1, max_size=5).map("".join))


def by_csv(text):
    return [row for row in csv.reader(io.StringIO(text, newline="")) if row]


@given(texts(PLAIN | QUOTED))
def test_plain_cells_are_those_of_the_csv_module(text):
    assert cells(text.encode()) == by_csv(text)


@given(texts(PLAIN | QUOTED | ODD))
def test_other_cells_are_those_of_the_csv_module_or_left_to_it(text):
    with suppress(IrregularText):
        assert cells(text.encode()) == by_csv(text)


@pytest.mark.parametrize(
    "lines",
    [
        *(b"1,a\n", b"1,a,2,3\n", b"1,a\n2,b,3,4\n", b"1,a,2\n1,b\n1\n"),
        *(b"1,a%bb,2\n" % byte for byte in (b"\x00", b"\x08", b"\x1f", b"\x80", b"\xe9", b"\r", b'"')),
        *(b'1,"a""b",2\n', b'1,"a"b,2\n', b'1,a",2\n1,"b,3\n', b"1,a\r,2\n1,b,3\n", b"1,a,2\r1,b,3\n"),
        b"1," + b"a" * 131_072 + b",2\n",
    ],
)
def test_odd_text_is_left_to_the_csv_module(lines):
    with pytest.raises(IrregularText):
        cells(lines)


def test_lines_of_a_query_stay_together(tmp_path):
    """The query of a line is told by its place in the line; a cut between lines of one query would cost a pass."""
    (tmp_path / "r.csv").write_text("docno,qid,score\na,7,1\nb,8,1\nc\n")
    table = CsvTable(Source(tmp_path / "r.csv"), "score", ",")
    text = memoryview(b"a,7,1\nb,8,1\nc\n")
    assert [table.query_at(text, at) for at in (0, 6, 12)] == [b"7", b"8", b""]


@pytest.mark.parametrize("content", [b"1,a\x01b,2\n", b"1,a\x80b,2\n"])
def test_what_is_no_text_is_refused(content, tmp_path):
    (tmp_path / "r.csv").write_bytes(b"qid,docno,score\n" + content)
    with pytest.raises(InputError, match=r"r\.csv:2: is not UTF-8 text"):
        gradely.read_run(tmp_path / "r.csv").scores["1"]


def test_a_column_without_a_name_is_passed_over(tmp_path):
    frame = pd.DataFrame({"qid": ["1", "1"], "docno": ["a", "b"], "score": [2, 1]})
    frame.to_csv(tmp_path / "r.csv")  # with the index
    assert dict(gradely.read_run(tmp_path / "r.csv").scores) == {"1": {"a": 2.0, "b": 1.0}}


def test_odd_text_without_labels_has_label_1(tmp_path):
    (tmp_path / "q.csv").write_text('qid,docno\n1,"a""b"\n')
    assert gradely.read_qrels(tmp_path / "q.csv").labels("1") == {'a"b': 1.0}


def wide(columns):
    """Return CSV text with columns between the document and the score, whose names cannot be packed well."""
    names = [f"{random.Random(i).getrandbits(48):x}" for i in range(columns)]
    return f"qid,docno,{','.join(names)},score\n1,a,{'0,' * columns}2\n"


def test_a_long_header_of_a_packed_file_is_read_as_a_whole(tmp_path):
    (tmp_path / "r.csv.gz").write_bytes(gzip.compress(wide(1500).encode()))
    assert dict(gradely.read_run(tmp_path / "r.csv.gz").scores) == {"1": {"a": 2.0}}


@pytest.mark.parametrize("size", [1 << 20, (1 << 20) + 1])
def test_a_header_without_end_is_refused(size, tmp_path):
    names = ",".join(["qid,docno,score", *[" " * 100_000] * 10])
    header = f"{names},{' ' * (size - len(names) - 2)}\n"
    (tmp_path / "r.csv").write_text(f"{header}1,a,2{',' * 11}\n")
    if size == 1 << 20:
        assert dict(gradely.read_run(tmp_path / "r.csv").scores) == {"1": {"a": 2.0}}
    else:
        with pytest.raises(InputError, match=r"r\.csv:1: the names of columns take more than 1,048,576 bytes"):
            gradely.read_run(tmp_path / "r.csv")
