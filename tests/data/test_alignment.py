"""Where judged documents stand: hits, blocks and columns, each by itself, and which way is taken to them."""

import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import gradely
from gradely import DataError
from gradely.data import Blocks, Hits, Qrels, columns, ids, locate, open_run, table, tops
from gradely.data import source as sources
from gradely.data.columns import earliest_alike
from gradely.data.ids import PAD, Ids
from gradely.data.locate import count_above, find_in_dicts
from gradely.data.read import pieces as runs
from gradely.data.table import Run
from gradely.settings import Settings

LOCATE = sys.modules["gradely.data.locate"]
QRELS = {"a": {"d1": 1, "d2": 0, "d3": 2}, "b": {"d1": 1}, "c": {"d4": 1, "d5": 3}}
RUN = {"b": {"d1": 1.0, "x": 1.0}, "a": {"d3": 2.0, "x": 2.0, "d1": 2.0, "y": 3.0}, "c": {"d5": 0.5}, "z": {"d1": 1.0}}
TRIPLES = [(query, doc, score) for query, docs in RUN.items() for doc, score in docs.items()]
ROWS = [{"qid": query, "docno": doc, "score": score} for query, doc, score in TRIPLES]


def same_hits(one, other):
    for mine, theirs in zip(one, other, strict=True):
        assert mine == theirs if isinstance(mine, tuple) else np.array_equal(mine, theirs)


# Locate


@pytest.mark.parametrize("documents", [0, 1, 2, 4])
def test_rankings_may_be_looked_at_a_few_at_a_time(monkeypatch, documents):
    whole = find_in_dicts(gradely.read_qrels(QRELS), Run(RUN), Settings("trec"))
    monkeypatch.setattr(LOCATE, "DOCUMENTS", documents)
    same_hits(find_in_dicts(gradely.read_qrels(QRELS), Run(RUN), Settings("trec")), whole)
    assert whole.above.tolist() == [1, 1, 0, 0] and whole.place.tolist() == [3, 2, 1, 0]


def test_a_file_is_read_on_as_many_threads_as_there_are_cores_unless_said(monkeypatch, tmp_path):
    for module in (sources, runs):
        monkeypatch.setattr(module, "SMALL", 0)
    (tmp_path / "run").write_text("".join(f"{query} Q0 {doc} 1 {score} t\n" for query, doc, score in TRIPLES))
    hits = locate(gradely.read_qrels(QRELS), open_run(tmp_path / "run"), Settings())
    expected = find_in_dicts(gradely.read_qrels(QRELS), Run(RUN), Settings())
    order = np.argsort(hits.row)
    assert hits.row[order].tolist() == sorted(expected.row.tolist())
    assert hits.above[order].tolist() == expected.above[np.argsort(expected.row)].tolist()


def test_rows_are_read_on_as_many_threads_as_there_are_cores_unless_said():
    run = gradely.read_run(pd.DataFrame(ROWS))
    hits = locate(gradely.read_qrels(QRELS), run, Settings())
    assert sorted(zip(hits.row.tolist(), hits.above.tolist(), strict=True)) == [(0, 1), (2, 1), (3, 0), (5, 0)]


def test_lines_of_a_small_file_are_shown_to_whoever_observes_them(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "SMALL", 1 << 12)
    (tmp_path / "run").write_text("".join(f"{query} Q0 {doc} 1 {score} t\n" for query, doc, score in TRIPLES))
    observer = tops.DetailsObserver(2)
    hits = locate(gradely.read_qrels(QRELS), open_run(tmp_path / "run"), Settings(), observe=observer)
    assert observer.details(hits).tops == {0: (["y", "d1"], [1, 3]), 1: (["d1", "x"], [2]), 2: (["d5"], [1])}


# Hits and blocks


def test_a_run_that_retrieved_nothing_has_no_hits():
    empty = Hits.empty(3)
    assert [len(column) for column in empty[:4]] == [0] * 4
    assert (empty.retrieved.tolist(), empty.answered.tolist()) == ([0] * 3, [False] * 3)


def blocks():
    qrels = gradely.read_qrels(QRELS)
    return Blocks(qrels, find_in_dicts(qrels, Run(RUN), Settings()))


def test_a_query_takes_as_many_columns_as_its_pool_or_its_largest_tie():
    assert blocks().width.tolist() == [3, 2, 2]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [(1, [[2], [1], [0]]), (3, [[2], [1], [0]]), (4, [[2, 1], [0]]), (9, [[2, 1, 0]]), (100, [[2, 1, 0]])],
)
def test_queries_are_measured_together_as_long_as_their_cells_are_few(cells, expected):
    found = blocks()
    found.start = np.array([0, 2, 4, 5])  # the last has fewer hits than the one before, which is as wide
    assert [queries.tolist() for queries in found.split(np.arange(3), cells)] == expected


def test_a_query_by_itself_is_as_deep_as_among_others():
    qrels = gradely.read_qrels(QRELS)
    found = Blocks(qrels, find_in_dicts(qrels, Run(RUN), Settings("trec")))
    for query in range(3):
        both = found.batch_of_query(query, "trec"), found.batch_of_queries(np.array([query]), "trec")
        assert [int(batch.depth) for batch in both] == [[4, 2, 1][query]] * 2


def test_padding_stands_at_the_top_and_is_alone():
    batch = blocks().batch_of_queries(np.array([2, 1, 0]), "expected")
    padding = ~batch.judged
    assert batch.judged.tolist() == [[True, False], [True, False], [True, True]]
    assert (batch.above[padding].tolist(), batch.tied[padding].tolist()) == ([0, 0], [1, 1])
    assert (batch.first[padding].tolist(), batch.last[padding].tolist()) == ([1, 1], [2, 2])
    assert batch.pool.tolist() == [[3.0, 1.0, 0.0], [1.0, 0.0, 0.0], [2.0, 1.0, 0.0]]


# Judgments


def test_a_query_without_judgments_may_come_first():
    qrels = Qrels.of({"a": {}, "b": {"d": 2.0}})
    assert [len(qrels.labels(query)) for query in "ab"] == [0, 1]
    for i, (labels, pooled) in enumerate([([[0.0]], [[False]]), ([[2.0]], [[True]])]):
        assert (qrels.pool(i)[0].tolist(), qrels.pool(i)[1].tolist()) == (labels, pooled)


def test_queries_of_text_are_no_whole_numbers(tmp_path):
    (tmp_path / "qrels").write_text("1 0 d1 1\n")
    (tmp_path / "q.csv").write_text("qid,docno,label\n1,d1,1\n")
    assert not any(gradely.read_qrels(tmp_path / name).whole for name in ("qrels", "q.csv"))
    assert gradely.read_qrels({1: {"d1": 1}}).whole


def test_a_query_of_many_rows_is_read_whatever_the_longest_part(monkeypatch):
    monkeypatch.setattr(table, "ROWS", 4)
    monkeypatch.setattr(table, "LONGEST", 8)
    rows = pd.DataFrame({"qid": ["q"] * 9 + ["r"], "docno": [f"d{i}" for i in range(10)], "label": range(10)})
    assert gradely.read_qrels(rows).labels("q") == {f"d{i}": float(i) for i in range(9)}


# Tops of rankings


def test_how_deep_tops_of_rankings_are_kept():
    assert [tops.top_depth(*sizes) for sizes in [(1, 1), (7500, 1), (7501, 1)]] == [20, 20, 19]
    assert [tops.top_depth(150_000, 1), tops.top_depth(150_001, 1), tops.top_depth(75_001, 2)] == [
        1,
        0,
        0,
    ]


def test_tops_do_not_hold_what_is_excluded():
    qrels = gradely.read_qrels(QRELS)
    run = Run({"a": {"d1": 3.0, "x": 2.0, "y": 2.0, "z": 1.0}})
    assert tops.describe_run(qrels, run, 2).tops == {0: (["d1", "x"], [1, 2])}
    qrels.excluded = gradely.read_qrels({"a": ["x"]})
    assert tops.describe_run(qrels, run, 2).tops == {0: (["d1", "y"], [1, 1])}


# Columns of ids


def test_long_ids_are_held_whole():
    names = ["d" * 70_000, "e"]
    run = gradely.read_run(pd.DataFrame({"qid": ["q", "q"], "docno": names, "score": [2, 1]}))
    assert run.scores["q"] == dict(zip(names, [2.0, 1.0], strict=True))
    column = ids.from_objects(names, "run")
    assert ids.are_too_long(column) and not ids.are_too_long(ids.from_objects([], "run"))


def test_ids_take_little_memory():
    tokens = ids.from_objects(["a", "bb"], "run").tokens()
    assert (tokens.start.dtype, tokens.size.dtype) == (np.uint32, np.uint16)


@pytest.mark.parametrize("rises", [False, True])
def test_documents_above_and_tied_are_counted_in_rankings_that_fall_and_that_rise(rises):
    """Those that fall are searched together, the others one by one."""
    sizes = np.array([1, 2, 3] * 7)[:20]
    stop = np.cumsum(sizes)
    rankings = [np.arange(size, dtype=float)[:: 1 if rises else -1] + i for i, size in enumerate(sizes)]
    last = np.array([ranking[-1] for ranking in rankings])
    above, tied = count_above(np.concatenate(rankings), stop - sizes, stop, np.arange(20), last)
    assert above.tolist() == ([0] * 20 if rises else (sizes - 1).tolist()) and tied.tolist() == [1] * 20


@pytest.mark.parametrize(("names", "expected"), [("abb", [0, 1, 1]), ("abc", None), ("aba", [0, 1, 0])])
def test_rows_that_share_a_hash_are_told_apart(monkeypatch, names, expected):
    monkeypatch.setattr(columns, "hashes", lambda text, start, stop: np.zeros(len(start), np.uint64))
    alike = earliest_alike(np.zeros(3, np.int64), ids.from_objects(list(names), "run"))
    assert (None if alike is None else alike.tolist()) == expected


@pytest.mark.parametrize(
    "array",
    [
        pa.array(["a", "é", ""]),
        pa.array(["a", "é", ""], pa.large_string()),
        pa.array(["a", "é", ""], pa.string_view()),
        pa.array([b"a", "é".encode(), b""]),
        pa.array([b"a", "é".encode(), b""], pa.large_binary()),
        pa.array([b"a", "é".encode(), b""], pa.binary_view()),
        pa.array(["x", "a", "é", ""])[1:],
        pa.array(["a", "é", ""]).dictionary_encode(),
    ],
    ids=lambda array: str(array.type),
)
def test_arrow_text_of_every_type_is_read(array):
    assert ids.from_arrow(array, "run").names() == ["a", "é", ""]


def test_arrow_text_may_be_empty():
    assert ids.from_arrow(pa.array(["", ""]), "run").names() == ["", ""]


def test_numbers_of_dictionaries_are_ids():
    for values, names in (([10, 20, 10], ["10", "20", "10"]), ([1.0, 2.5, 1.0], ["1", "2.5", "1"])):
        assert ids.from_arrow(pa.array(values).dictionary_encode(), "run").names() == names


def test_a_dictionary_is_decoded_only_where_it_is_longer_than_the_rows():
    few = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0, 0]), pa.array(["a", "bb"]))
    many = pa.DictionaryArray.from_arrays(pa.array([2, 0]), pa.array(["a", "bb", "c"]))
    for array, names, size in ((few, ["a", "bb", "a", "a"], 3), (many, ["c", "a"], 2)):
        column = ids.from_arrow(array, "run")
        assert column.names() == names and len(column.text) == size + 2 * PAD


def test_what_is_no_text_is_shown_with_what_is_around_it():
    array = pa.array([b"x" * 30 + b"\xff" + b"y" * 30])
    with pytest.raises(DataError, match=rf"an id is not UTF-8 text: b'{'x' * 20}\\xff{'y' * 19}'; decode"):
        ids.from_arrow(array, "run: column 'docno'")


@pytest.mark.parametrize("kind", [np.int8, np.int64, np.uint64, np.float64])
def test_whole_numbers_are_written_in_digits(kind):
    small, large = [0, 7, 10, 99, 100], [1234, 5678, 9999, 10_000, 90_012_345, 100_000_000, 1_234_567_890_123_456]
    least = [np.iinfo(kind).min] if kind != np.float64 else [-7]
    numbers = [*small, *least, *([] if kind == np.int8 else large), *([2**64 - 1] if kind == np.uint64 else [])]
    write = ids.from_floats if kind == np.float64 else lambda values, _: ids.from_integers(values)
    assert write(np.array(numbers, kind), "run").names() == list(map(str, numbers))


def test_ids_are_stretches_of_a_text():
    text = np.frombuffer(b"\n" * PAD + b"abcd" + b"\n" * PAD, np.uint8)
    assert Ids(text, np.array([PAD, PAD + 1]), np.array([PAD + 1, PAD + 4])).names() == ["a", "bcd"]
