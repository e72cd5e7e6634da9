"""The plain reader of TREC text: line by line, with errors that name the line."""

import gzip
from math import isnan

import pytest

from gradely.data import source as sources
from gradely.data.read.rows import Rows
from gradely.data.read.trec_lines import QRELS, RUN, read, scan
from gradely.data.source import Source, ignore
from gradely.errors import DataError, InputError


@pytest.fixture
def file(tmp_path):
    def write(content):
        (tmp_path / "file").write_bytes(content if isinstance(content, bytes) else content.encode())
        return Source(tmp_path / "file")

    return write


def test_values_by_query_and_document(file):
    content = "q 0 a 1\r\n\nr\t0  b -2.5\n q 0 c 1e1\n"
    assert read(file(content), QRELS) == {"q": {"a": 1, "c": 10}, "r": {"b": -2.5}}
    assert read(file("q Q0 a 1 0.5 tag\nq Q0 b 2 .25 my own tag\n"), RUN) == {"q": {"a": 0.5, "b": 0.25}}


@pytest.mark.parametrize(("duplicates", "value"), [("max", 5), ("sum", 8), ("first", 3)])
def test_documents_that_are_there_twice_are_put_together_where_asked(duplicates, value):
    rows = Rows("file", duplicates)
    rows.add(1, "q", "a", 3)
    rows.add(2, "q", "b", 1)
    rows.add(3, "q", "a", 5)
    rows.add(4, "r", "a", 7)
    assert rows.values == {"q": {"a": value, "b": 1}, "r": {"a": 7}}


@pytest.mark.parametrize(
    ("layout", "line", "says"),
    [
        (QRELS, "q 0 d", "3 fields instead of 4 (query iteration document label): 'q 0 d'"),
        (QRELS, "q 0 d 1 2", "5 fields instead of 4 (query iteration document label): 'q 0 d 1 2'"),
        (RUN, "q Q0 d 1 2", "5 fields instead of 6 (query Q0 document rank score tag): 'q Q0 d 1 2'"),
        (QRELS, "q 0\rd 1", "a carriage return inside a line; end lines with LF or CR LF"),
        (QRELS, "q 0 d x", "the label 'x' is not a number"),
        (QRELS, "q 0 d 1_0", "the label '1_0' is not a number"),
        (RUN, "q Q0 d 1 x t", "the score 'x' is not a number"),
        (RUN, "q Q0 d 1 nan t", "the score is nan; it must be a finite number"),
        (RUN, "q Q0 d 1 -inf t", "the score is -inf; it must be a finite number"),
        (RUN, "a Q0 a 1 1 t", "duplicate document 'a' of query 'a', first in line 2; keep one"),
        (RUN, "a Q0 b 1 1 t", "duplicate document 'b' of query 'a', first in line 3; keep one"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(file, layout, line, says):
    good = "\na 0 a 1\na 0 b 1\n" if layout is QRELS else "\na Q0 a 1 1 t\na Q0 b 2 1 t\n"
    source = file(good + line + "\n" + good.replace("a", "z"))
    with pytest.raises((InputError, DataError)) as error:
        read(source, layout)
    assert str(error.value) == f"{source.name}:4: {says}"
    assert scan(source, layout, ignore).wrong == [str(error.value)]
    assert list(scan(source, layout, ignore).values) == ["a", "z"]


@pytest.mark.parametrize("line", ["{} 0 d 1\n", "q 0 {} 1\n"])
def test_names_have_at_most_65535_bytes(file, line):
    assert len(read(file(line.format("n" * 65_535)), QRELS)) == 1
    with pytest.raises(InputError, match=":1: a name is longer than 65,535 bytes: "):
        read(file(line.format("n" * 65_536)), QRELS)


def test_ranks_of_a_run_are_kept_beside_its_scores(file):
    source = file("q Q0 a 2 0.5 t\nr Q0 a x 0.5 t\nq Q0 b\nq Q0 c 1 0.7 t t t\n")
    ranks = scan(source, RUN, ignore).ranks
    assert ranks["q"].tolist() == [2, 1]
    assert isnan(ranks["r"][0])
    assert scan(file("q 0 a 1\n"), QRELS, ignore).ranks == {}


def test_small_files_are_not_packed(file, monkeypatch):
    monkeypatch.setattr(sources, "SMALL", 100)
    assert file(b"q 0 a 1\n").is_small
    assert file(b"\n" * 100).is_small
    assert not file(b"\n" * 101).is_small
    assert not file(gzip.compress(b"q 0 a 1\n")).is_small
