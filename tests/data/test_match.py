"""Which judgment a line is about: found by hash, confirmed by bytes, whatever the keys are."""

import numpy as np
import pytest

from gradely.data import hashing
from gradely.data.columns import has_repetition, new_tokens
from gradely.data.hashing import LONG, ranges
from gradely.data.ids import Ids
from gradely.data.locate import match
from gradely.data.locate.match import UNKNOWN, Judgments
from gradely.data.qrels import Qrels
from tests.pieces import ids_of, piece_of, words_in

# Where one name ends and another begins

LONG_NAME = "n" * (LONG + 40)


@pytest.mark.parametrize(
    "names",
    [
        [],
        ["a"],
        ["a", "a", "a"],
        ["a", "b", "b", "a"],
        ["a", "aa", "aa", "a"],
        ["12345678", "12345678", "12345679", "x12345679"],
        ["name-of-a-query-1", "name-of-a-query-1", "name-of-a-query-2", "Name-of-a-query-2"],
        ["x" + "y" * 15, "y" * 16, "y" * 16, "z" + "y" * 15],
        ["q" * LONG, "q" * LONG, "p" + "q" * (LONG - 1)],
        [LONG_NAME, LONG_NAME, LONG_NAME[:-1] + "m", "m" + LONG_NAME[1:], "a", "a"],
        ["a", LONG_NAME, LONG_NAME, "a", "b"],
        [LONG_NAME, "m" + LONG_NAME[1:], "m" + LONG_NAME[1:]],
    ],
)
@pytest.mark.parametrize("between", ["", "x", "other-words-that-differ"])
def test_new_tokens(names, between):
    """What stands between the tokens, alike or not, makes no difference."""
    filler = [f"{between}{i}" if between else "-" for i in range(len(names))]
    ids = ids_of([word for pair in zip(filler, names, strict=True) for word in pair])
    expected = [i for i, name in enumerate(names) if not i or name != names[i - 1]]
    assert new_tokens(ids.text, ids.start[1::2], ids.stop[1::2]).tolist() == expected


def test_tokens_of_other_sizes_are_new_though_all_before_their_ends_is_alike():
    piece = piece_of(b"ba\n\n\n\n\n\n\n\nba")
    start, stop = words_in(piece)
    assert new_tokens(piece.text, start, stop).tolist() == [0]
    assert new_tokens(piece.text, start + np.array([0, 1]), stop).tolist() == [0, 1]


def test_ranges():
    assert ranges(np.array([5, 2, 9]), np.array([2, 0, 3])).tolist() == [5, 6, 9, 10, 11]
    assert ranges(np.zeros(0, np.int64), np.zeros(0, np.int64)).tolist() == []


# Queries

LABELS = {f"query-{i}": {f"d{j}": j for j in range(i % 4 + 1)} for i in range(9)}


@pytest.fixture(params=["as they are", "weak"])
def judgments(request, monkeypatch):
    """Judgments whose hashes are as they are, or take eight values only, so that queries share them."""
    if request.param == "weak":
        monkeypatch.setattr(hashing, "SECOND_FACTOR", np.uint64(1 << 61))
    return Judgments.of(Qrels.of(LABELS))


@pytest.mark.parametrize(
    "names",
    [
        [],
        ["query-3"],
        ["query-0", "query-1", "query-2"],
        ["query-7", "query-8", "query-0"],
        ["query-8", "query-9"],
        ["query-5", "other", "query-4", "query-5", "query-55", "query-", "uery-4"],
        list(LABELS),
        [*LABELS, "more"],
        [f"other-{i}" for i in range(30)],
    ],
)
def test_queries_are_found_by_name(judgments, names):
    index, hashed = judgments.query(*ids_of(names))
    known = {query: i for i, query in enumerate(LABELS)}
    assert index.tolist() == [known.get(name, UNKNOWN) for name in names]
    assert hashed.tolist() == hashing.hashes(*ids_of(names)).tolist()


def test_queries_in_the_order_of_the_judgments_are_not_searched_for(monkeypatch):
    judgments, searched = Judgments.of(Qrels.of(LABELS)), []
    search = np.searchsorted
    monkeypatch.setattr(np, "searchsorted", lambda keys, key: searched.append(np.size(key)) or search(keys, key))
    for names, sizes in (
        (list(LABELS)[2:], [1]),
        (list(LABELS), [1]),
        *(([name], [1]) for name in LABELS),
        (["query-8", "query-2"], [1, 2]),
    ):
        searched.clear()
        index, _ = judgments.query(*ids_of(names))
        assert index.tolist() == [int(name[-1]) for name in names]
        assert searched == sizes


def test_a_query_whose_hash_is_greater_than_all_is_unknown():
    judgments = judgments_with(keys_of("any", 5), [2, 3])
    index, hashed = judgments.query(*ids_of(["other", "another"]))
    assert index.tolist() == [UNKNOWN, UNKNOWN]
    assert (hashed > judgments.hash.max()).all()


def test_hashes_are_made_once():
    qrels = Qrels.of(LABELS)
    assert Judgments.of(qrels) is Judgments.of(qrels)


@pytest.mark.parametrize("queries", [[], [3], [3, 4, 5], [5, 3, 5, 8], [8, 7], [0, 2, 4]])
def test_queries_once(queries):
    judgments = Judgments.of(Qrels.of(LABELS))
    assert judgments.once(np.array(queries, np.int64)).tolist() == sorted(set(queries))


# Documents


def judgments_with(keys, sizes):
    """Return judgments with keys that are given, for queries of some sizes."""
    start = np.append(0, np.cumsum(sizes))
    docs = [f"d{i}" for i in range(int(start[-1]))]
    qrels = Qrels([f"q{i}" for i in range(len(sizes))], start, docs, np.zeros(len(docs)))
    qrels.hashes = np.arange(len(sizes), dtype=np.uint64), np.asarray(keys, np.uint64)
    return Judgments(qrels)


def keys_of(kind, count):
    rng = np.random.default_rng(count)
    return {
        "any": lambda: rng.integers(0, 2**64, count, dtype=np.uint64),
        "in the last round": lambda: np.arange(count, dtype=np.uint64) << np.uint64(20),
        "in no round": lambda: np.arange(count, dtype=np.uint64),
        "shared": lambda: rng.integers(0, 2**64, count // 9 + 1, dtype=np.uint64)[np.arange(count) % (count // 9 + 1)],
        "all the same": lambda: np.full(count, 77, np.uint64),
    }[kind]()


@pytest.mark.parametrize("kind", ["any", "in the last round", "in no round", "shared", "all the same"])
@pytest.mark.parametrize("many", [0, 100], ids=["search", "table"])
@pytest.mark.parametrize("query", [(2, UNKNOWN, 4, 0, 2), (2, 3, 4, UNKNOWN, 5), (5, 4, 2, 1, 0)])
def test_lines_are_matched_with_judgments_of_the_same_key(kind, many, query, monkeypatch):
    """Both ways find all pairs of the line's own query; a table of all queries may find more, to be confirmed."""
    monkeypatch.setattr(match, "MANY", many)
    sizes = [3, 0, 20, 1, 7, 9]
    keys = keys_of(kind, sum(sizes))
    judgments = judgments_with(keys, sizes)
    query, size = np.array(query), np.array([6, 3, 5, 2, 4])
    rng = np.random.default_rng(1)
    lines = np.where(rng.random(20) < 0.8, rng.permutation(keys)[np.arange(20)], np.uint64(2**63 + 5))
    line, row = judgments.match(query, size, lines)
    assert line.tolist() == sorted(line.tolist())
    owner, start = np.repeat(query, size), judgments.qrels.start
    found = list(zip(line.tolist(), row.tolist(), strict=True))
    assert len(set(found)) == len(found)
    if many:
        rows = [row for some in {*query.tolist()} - {UNKNOWN} for row in range(start[some], start[some + 1])]
        assert set(found) == {(i, row) for i in range(20) for row in rows if lines[i] == keys[row]}
    else:
        assert set(found) == {
            (i, row)
            for i in range(20)
            if owner[i] != UNKNOWN
            for row in range(start[owner[i]], start[owner[i] + 1])
            if lines[i] == keys[row]
        }


@pytest.mark.parametrize(("lines", "searched"), [(5, True), (6, False)])
def test_lines_are_searched_for_where_judgments_are_many(lines, searched, monkeypatch):
    monkeypatch.setattr(match, "MANY", 4)
    judgments = judgments_with(keys_of("any", 30), [24, 6])
    calls = []
    monkeypatch.setattr(Judgments, "_search", lambda *given: calls.append("search"))
    monkeypatch.setattr(Judgments, "_match", lambda *given: calls.append("table"))
    judgments.match(np.array([0, UNKNOWN]), np.array([lines - 1, 1]), np.zeros(lines, np.uint64))
    assert calls == ["search" if searched else "table"]


def test_nothing_is_matched_with_nothing():
    judgments = judgments_with(keys_of("any", 5), [2, 3])
    empty = np.zeros(0, np.int64)
    for query, size in ((empty, empty), (np.array([UNKNOWN]), np.array([0]))):
        line, row = judgments.match(query, size, np.zeros(0, np.uint64))
        assert (line.tolist(), row.tolist()) == ([], [])


def test_bytes_confirm_what_keys_suggest():
    judgments = Judgments.of(Qrels.of({"q": {"a": 1, "bb": 1}, "r": {"a": 1, "longer-than-a-word": 1}}))
    docs = ["a", "a", "b", "ab", "bb", "longer-than-a-word", "longer-than-a-w0rd", "a", "a"]
    row, query = np.array([0, 2, 0, 0, 1, 3, 3, 2, 2]), np.array([0, 1, 0, 0, 0, 1, 1, 0, UNKNOWN])
    confirmed = judgments.confirm(row, query, *ids_of(docs))
    assert confirmed.tolist() == [True, True, False, False, True, True, False, False, False]


def test_a_repetition_is_of_query_and_document():
    piece = piece_of(b"a b a")
    start = np.array([64, 66, 68])
    same = np.zeros(3, np.uint64)
    place = Ids(piece.text, start, start + 1)
    assert has_repetition(same, np.array([0, 0, 0]), *place)
    assert not has_repetition(same, np.array([0, 0, 1]), *place)
    assert not has_repetition(np.arange(3, dtype=np.uint64), np.array([0, 0, 0]), *place)
