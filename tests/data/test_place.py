"""Where judged documents stand, by the definition of each policy: in one pass where queries are together, or in two."""

from typing import NamedTuple

import numpy as np
import pytest

from gradely.data import hashing
from gradely.data import tie_breaking as match
from gradely.data.columns import Triples
from gradely.data.hashing import shuffle_keys_of
from gradely.data.ids import LONGEST_NAME
from gradely.data.locate import scattered
from gradely.data.locate.match import UNKNOWN, Judgments
from gradely.data.locate.pieces import PieceHits, RunQueries, _in_order, _tie_groups, find_in_part, read_lines
from gradely.data.qrels import Qrels
from gradely.data.source import ignore
from gradely.data.table import IrregularText, ScatteredQueries
from gradely.data.tie_breaking import Documents
from gradely.errors import InputError
from gradely.settings import Settings
from tests.pieces import ids_of
from tests.pieces import stream as stream_pieces

POLICIES = ["expected", "trec", "order", "random"]


class Part(NamedTuple):
    """Rows of a run, as a piece of a file."""

    number: int
    rows: list

    def columns(self):
        query, document, score = zip(*self.rows, strict=True)
        return Triples(ids_of(query), ids_of(document), np.array(score, np.float64))


def rows_of(queries=7, depth=12):
    """Return rows query by query, tied in threes, with names of several lengths; queries 2 and 5 are not judged."""
    names = [f"d{i}" for i in range(6)] + [f"document-{i}" for i in range(6)] + [f"document-{i}0" for i in range(6)]
    return [
        (f"q{q}", names[(5 * q + 7 * i) % 18], (depth - i) // 3 + q % 2) for q in range(queries) for i in range(depth)
    ]


def labels_of(rows):
    labels = {}
    for query, document, _ in rows[::2]:
        labels.setdefault(query, {})[document] = 1
    return {query: {**docs, "absent": 1} for query, docs in reversed(labels.items()) if query not in ("q2", "q5")}


def rank_ties(query, documents, policy):
    """Return what puts tied documents in order, for each."""
    names = [document.encode() for document in documents]
    if policy == "trec":
        return [tuple(-byte for byte in name.ljust(40, b"\0")) for name in names]
    if policy == "random":
        return list(zip(shuffle_keys_of(3, query.encode(), names).tolist(), names, strict=True))
    return list(range(len(names)))


def expected(rows, labels, policy):
    """Return {(query, document): (above, tied, place)} by the definition."""
    stand = {}
    for query, judged in labels.items():
        documents, scores = zip(*((document, score) for name, document, score in rows if name == query), strict=True)
        ties = rank_ties(query, documents, policy)
        ranking = sorted(zip([-score for score in scores], ties, documents, strict=True))
        for rank, (score, _, document) in enumerate(ranking):
            if document in judged:
                above = sum(other > -score for other in scores)
                stand[query, document] = above, scores.count(-score), rank
    return stand


def stands(qrels, hits, policy):
    columns = [hits.query, hits.row, hits.above, hits.tied, hits.above if hits.place is None else hits.place]
    return {
        (qrels.queries[query], qrels.docs[row]): (above, tied, rank if hits.place is not None else None)
        for query, row, above, tied, rank in zip(*(column.tolist() for column in columns), strict=True)
    }


def in_pieces(rows, size):
    return [Part(i, rows[at : at + size]) for i, at in enumerate(range(0, len(rows), size))]


def stream(rows, policy, sizes=(36, 10), **settings):
    """Return the hits of rows: in pieces of the first size, or, where queries are scattered, of the second."""
    qrels = Qrels.of(labels_of(rows_of()))
    passes = []

    def over_pieces(work, report, *, whole_queries):
        passes.append(whole_queries)
        return map(work, in_pieces(rows, sizes[0 if whole_queries else 1]))

    hits = stream_pieces(qrels, "run", over_pieces, Settings(policy, seed=3, **settings), ignore)
    return qrels, hits, passes


ORDERS = {
    "together": lambda rows: rows,
    "not by score": lambda rows: [row for q in range(7) for row in rows[12 * q : 12 * q + 12][::-1]],
    "nearly by score": lambda rows: [row for i in range(0, 84, 4) for row in (rows[i], *rows[i + 3 : i : -1])],
    "rank by rank": lambda rows: [rows[12 * q + i] for i in range(12) for q in range(7)],
    "at random": lambda rows: [rows[i] for i in np.random.default_rng(0).permutation(len(rows)).tolist()],
}


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("few", [0, 4, 1000])
def test_places_are_those_of_the_definition(policy, order, few, monkeypatch):
    monkeypatch.setattr(match, "FEW", few)
    rows = ORDERS[order](rows_of())
    qrels, hits, passes = stream(rows, policy)
    right = expected(rows, labels_of(rows_of()), policy)
    if policy == "expected":
        right = {name: (*stand[:2], None) for name, stand in right.items()}
    assert stands(qrels, hits, policy) == right
    assert dict(zip(qrels.queries, hits.retrieved.tolist(), strict=True)) == dict.fromkeys(qrels.queries, 12)
    assert hits.answered.all()
    assert sorted(hits.unjudged) == ["q2", "q5"]
    assert passes == ([True, False, False] if order in ("rank by rank", "at random") else [True])


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("sizes", [(36, 1), (84, 84)])
def test_hashes_that_collide_are_settled_by_names(order, sizes, monkeypatch):
    """Of weak hashes, nearly all lines share their key with others, within pieces and across them."""
    monkeypatch.setattr(hashing, "SECOND_FACTOR", np.uint64(1 << 61))
    rows = ORDERS[order](rows_of())
    qrels, hits, _ = stream(rows, "trec", sizes)
    assert stands(qrels, hits, "trec") == expected(rows, labels_of(rows_of()), "trec")


@pytest.mark.parametrize("judged", [0, 1])
def test_one_of_two_tied_documents_is_judged(judged):
    rows = [("q", "a", 3.0), ("q", "b", 2.0), ("q", "c", 2.0), ("r", "a", 2.0), ("r", "b", 1.0)]
    part = find_in_part(
        Judgments.of(Qrels.of({"q": {"bc"[judged]: 1}, "r": {"a": 1}})), Part(0, rows), Settings("trec")
    )
    above, tied, rank = (column.tolist() for column in part.hits[2:])
    assert (above, tied, rank) == ([1, 0], [2, 1], [2 - judged, 0])


def test_lines_that_are_in_order_and_not_tied_stay_as_they_are():
    rows = [(query, document, 12 * (i // 12) - i) for i, (query, document, _) in enumerate(rows_of())]
    lines = read_lines(Judgments.of(Qrels.of(labels_of(rows))), Part(0, rows), Settings())
    assert _in_order(lines) is lines
    some = np.array([0, 5, 11, 12, 83])
    first, last = _tie_groups(lines, some)
    assert first is some
    assert last.tolist() == (some + 1).tolist()


@pytest.mark.parametrize("order", ["together", "rank by rank"])
def test_no_ties(order):
    rows = ORDERS[order]([(query, document, -i) for i, (query, document, _) in enumerate(rows_of())])
    qrels, hits, _ = stream(rows, "trec")
    assert stands(qrels, hits, "trec") == expected(rows, labels_of(rows_of()), "trec")
    assert (hits.tied == 1).all()


@pytest.mark.parametrize("order", ["together", "rank by rank"])
def test_scores_are_compared_in_single_precision_where_asked(order):
    rows = [(query, document, 1 + 1e-12 * i) for i, (query, document, _) in enumerate(rows_of())]
    assert (stream(ORDERS[order](rows), "expected")[1].tied == 1).all()
    assert (stream(ORDERS[order](rows), "expected", precision="single")[1].tied == 12).all()


@pytest.mark.parametrize("order", ["together", "rank by rank"])
@pytest.mark.parametrize("far", [1, 40])
def test_a_line_that_is_there_twice_is_odd(order, far):
    rows = ORDERS[order](rows_of())
    for document in ("absent", "other"):
        again = ("q0", document, 1.0)
        with pytest.raises(IrregularText):
            stream([again, *rows[:far], again, *rows[far:]], "expected")


@pytest.mark.parametrize("order", ["together", "rank by rank"])
@pytest.mark.parametrize("which", [0, 1])
def test_names_that_are_too_long_are_odd(order, which):
    rows = ORDERS[order](rows_of())
    for size in (LONGEST_NAME, LONGEST_NAME + 1):
        more = ["z", "d", 1.0]
        more[which] = "n" * size
        if size > LONGEST_NAME:
            with pytest.raises(IrregularText):
                stream([*rows, tuple(more)], "expected")
        else:
            stream([*rows, tuple(more)], "expected")


def test_no_rows_are_odd():
    with pytest.raises(IrregularText):
        stream([], "expected")


# Queries, piece by piece


def part_of(query, unjudged=()):
    query = np.array(query, np.int64)
    empty = np.zeros(0, np.int32)
    return PieceHits(query, np.full(len(query), 5), list(unjudged), (empty,) * 4)


def test_a_query_that_comes_again_is_scattered():
    queries = RunQueries(4)
    queries.add(part_of([2, UNKNOWN, 0], ["x"]))
    queries.add(part_of([3, UNKNOWN], ["y"]))
    assert queries.retrieved.tolist() == [5, 0, 5, 5]
    assert list(queries.unjudged) == ["x", "y"]
    for again in (part_of([1, 2]), part_of([UNKNOWN], ["x"])):
        with pytest.raises(ScatteredQueries):
            queries.add(again)


@pytest.mark.parametrize("query", ["q0", "q2"])
def test_a_query_that_is_twice_in_a_piece_is_scattered(query):
    rows = [(query, "a", 1.0), ("q1", "a", 1.0), (query, "b", 1.0)]
    judgments = Judgments.of(Qrels.of(labels_of(rows_of())))
    with pytest.raises(ScatteredQueries):
        find_in_part(judgments, Part(0, rows), Settings())
    assert find_in_part(judgments, Part(0, rows[:2]), Settings()).size.tolist() == [1, 1]


def test_an_observer_sees_lines_in_the_order_of_ranks():
    class Observer:
        def look(self, lines):
            return lines

    rows = ORDERS["not by score"](rows_of())
    found = find_in_part(Judgments.of(Qrels.of(labels_of(rows))), Part(0, rows), Settings(), Observer())
    assert found.seen.score.tolist() == [score for query, document, score in rows_of()]
    assert found.seen.owner(np.array([0, 11, 12, 83])).tolist() == [0, 0, 1, 6]


# Two passes


def test_a_judged_document_that_comes_again_ends_the_first_pass():
    """So that what is kept of a run is never more than its judgments, however often a line is there."""
    rows, read = ORDERS["rank by rank"](rows_of()), []
    query, documents = next(iter(labels_of(rows).items()))
    rows = [(query, next(iter(documents)), 1.0), *rows[:30], *[(query, next(iter(documents)), 1.0), *rows[:9]] * 9]

    def over_pieces(work, report, *, whole_queries):
        for part in in_pieces(rows, len(rows) if whole_queries else 10):
            read.append(part.number)
            yield work(part)

    with pytest.raises(IrregularText):
        stream_pieces(Qrels.of(labels_of(rows_of())), "run", over_pieces, Settings(), ignore)
    assert read[1:] == [0, 1, 2, 3]


def stream_passes(rows, passes):
    """Read a run that is, in each pass, what is given for it."""
    left = iter(passes)
    qrels = Qrels.of(labels_of(rows))
    stream_pieces(qrels, "run", lambda work, report, whole_queries: map(work, next(left)), Settings(), ignore)


def test_a_file_that_is_empty_the_second_time_is_odd():
    rows = ORDERS["rank by rank"](rows_of())
    parts = [[Part(0, rows)], []]
    with pytest.raises(IrregularText):
        stream_passes(rows, parts)


@pytest.mark.parametrize("change", ["more lines", "fewer lines", "another piece", "a piece less"])
def test_a_file_that_changes_between_the_passes_is_refused(change):
    rows = ORDERS["rank by rank"](rows_of())
    others = {
        "more lines": [*in_pieces(rows, 10)[:-1], Part(8, [*rows[80:], ("z", "z", 1.0)])],
        "fewer lines": [*in_pieces(rows, 10)[:-1], Part(8, rows[80:-1])],
        "another piece": [*in_pieces(rows, 10), Part(9, [("q0", "z", 1.0)])],
        "a piece less": in_pieces(rows, 10)[:-1],
    }
    parts = [[Part(0, rows)], in_pieces(rows, 10), others[change]]
    with pytest.raises(InputError, match="run: changed while it was read"):
        stream_passes(rows, parts)


def test_each_pass_reports_its_half():
    rows, told = ORDERS["rank by rank"](rows_of()), []

    def over_pieces(work, report, *, whole_queries):
        for part in in_pieces(rows, 84 if whole_queries else 42):
            yield work(part)
            report((part.number + 1) / 2)

    stream_pieces(Qrels.of(labels_of(rows)), "run", over_pieces, Settings(), told.append)
    assert told == [0.25, 0.5, 0.75, 1.0]


def test_keys_that_are_shared_are_settled_by_names_in_a_pass_more(monkeypatch):
    monkeypatch.setattr(scattered, "find_repeats", lambda keys: np.unique(np.concatenate(list(keys.parts()))))
    rows = ORDERS["rank by rank"](rows_of())
    qrels, hits, passes = stream(rows, "trec")
    assert stands(qrels, hits, "trec") == expected(rows, labels_of(rows_of()), "trec")
    assert passes == [True, False, False, False]


class Keys(NamedTuple):
    """Stands for a spool of keys."""

    lists: list

    def parts(self):
        return iter([np.array(part, np.uint64) for part in self.lists])


def test_repeated_keys_of_all_parts(monkeypatch):
    assert scattered.find_repeats(Keys([[9, 8, 9, 7, 7], [1, 2], [3, 3], []])).tolist() == [3, 7, 9]
    monkeypatch.setattr(scattered, "CHANCE", 3)
    assert len(scattered.find_repeats(Keys([[9, 8, 9, 7, 7], [3, 3]]))) == 3
    with pytest.raises(IrregularText):
        scattered.find_repeats(Keys([[9, 8, 9, 7, 7], [3, 3], [4, 4]]))


def test_names_that_are_there_twice():
    scattered.check_names([[(b"q", b"a"), (b"r", b"a")], [(b"q", b"b")], []])
    for pieces in ([[(b"q", b"a"), (b"q", b"a")]], [[(b"q", b"a")], [(b"r", b"b"), (b"q", b"a")]]):
        with pytest.raises(IrregularText):
            scattered.check_names(pieces)


# Ties


def documents(ties, names, keys=None):
    text, start, stop = ids_of(names)
    key = None if keys is None else np.array(keys, np.uint64)
    return Documents(match.ORDERS[ties], text, start, stop, np.arange(len(names)), key)


def test_where_random_keys_are_the_same_names_decide():
    docs = documents("random", ["b", "a", "c", "d"], [5, 5, 5, 1])
    one, other = np.indices((4, 4)).reshape(2, -1)
    right = [3, 1, 0, 2]
    before = docs.at(one).stand_before(docs.at(other)).tolist()
    assert before == [right.index(i) < right.index(j) for i, j in zip(one.tolist(), other.tolist(), strict=True)]
    assert docs.sort(np.zeros(4, np.int64)).tolist() == right
    assert docs.sort(np.array([0, 1, 0, 1])).tolist() == [0, 2, 3, 1]
    assert docs.sort(np.array([1, 0, 0, 1])).tolist() == [1, 2, 3, 0]


def test_the_greater_name_stands_first_under_trec():
    docs = documents("trec", ["b", "a", "c", "d"])
    assert docs.sort(np.zeros(4, np.int64)).tolist() == [3, 2, 0, 1]
    assert docs.sort(np.array([0, 1, 0, 1])).tolist() == [2, 0, 3, 1]
    assert documents("order", ["b", "a", "c", "d"]).sort(np.array([0, 1, 0, 1])).tolist() == [0, 2, 1, 3]


@pytest.mark.parametrize("few", [0, 1, 4, 1000])
@pytest.mark.parametrize("ties", ["trec", "random"])
def test_places_among_tied(few, ties, monkeypatch):
    """Groups of 3, 4 and 2 lines, from line 10, 20 and 30 on; some of their lines are asked for."""
    monkeypatch.setattr(match, "FEW", few)
    names = ["b", "a", "c", "z", "x", "y", "w", "k", "l"]
    keys = [4, 9, 4, 8, 1, 3, 2, 7, 7] if ties == "random" else None
    line = np.array([10, 12, 20, 21, 22, 23, 31])
    first = np.array([10, 10, 20, 20, 20, 20, 30])
    last = np.array([13, 13, 24, 24, 24, 24, 32])
    places = documents(ties, names, keys).places(line, first, last).tolist()
    assert places == ([0, 1, 3, 0, 2, 1, 1] if ties == "random" else [1, 0, 0, 2, 1, 3, 0])


@pytest.mark.parametrize(("few", "compared"), [(2, True), (1, False)])
def test_judged_documents_are_compared_with_all_others_where_they_are_few(few, compared, monkeypatch):
    monkeypatch.setattr(match, "FEW", few)
    monkeypatch.setattr(Documents, "sort" if compared else "stand_before", None)
    docs, line = documents("trec", ["b", "a", "c"]), np.array([0, 1])
    places = docs.places(line, np.zeros(2, np.int64), np.full(2, 3))
    assert places.tolist() == [1, 2]


def test_ties_are_looked_for_only_where_there_are_some(monkeypatch):
    monkeypatch.setattr(Documents, "places", None)
    rows = [(query, document, -i) for i, (query, document, _) in enumerate(rows_of())]
    assert len(stream(rows, "trec")[1].place)
