"""Measures whose best order is searched, G, xGAP and infAP: what the search is told, and the bounds by hand."""

from collections import Counter
from dataclasses import replace
from itertools import permutations
from math import log2
from operator import mul

import numpy as np
import pytest

import gradely
from gradely import G, from_arrays, from_ids, infAP, xGAP
from gradely.kernel.backend import ignore_overflow
from gradely.kernel.compositions import tied_queries
from gradely.measures import gap, searched_measure

USERS = {1: 0.5, 2: 0.2, 3: 0.3}
ABOVE, TIED, UNJUDGED = (0, 1), (2, 3, 4), 9


def ranked(order, labels):
    """Return the batch of one query: two documents, one without a judgment between them, then the others."""
    return from_ids([[ABOVE[0], UNJUDGED, ABOVE[1], *order]], [[*range(len(labels))]], [labels])


@pytest.mark.parametrize(
    ("measure", "labels"),
    [
        (measure.replace(k=k), labels)
        for k in (None, 4)
        for measure, labels in [
            (G(), [1, 0, 3, 1, 2, 2]),
            (G(), [4, 3, 2, 2, 5]),
            (G(gain="exp"), [2, 0, 1, 4, 3]),
            (G(gain="exp"), [1030, 7, 1029, 1029, 1031]),
            (G(gain="exp"), [5000, 5000, 5000, 3, 2]),
            (xGAP(g=USERS), [1, 3, 2, 1, 3, 3]),
            (xGAP(g=USERS), [2, 0, 1, 1, 2]),
            (infAP(), [1, 0, 1, 0, -1, 1]),
            (infAP(), [-1, -1, 1, 1, 0]),
            (infAP(rel=2), [0, 3, 1, 2, -1]),
        ]
    ],
    ids=str,
)
def test_what_a_search_adds_for_a_document_is_what_it_adds_in_that_order(measure, labels):
    batch = ranked(TIED, labels)
    measure = measure.fit(batch.levels)
    with ignore_overflow():
        batch = measure.apply_relevance(batch)
        kind = dict(zip((*ABOVE, *TIED), map(int, measure.kinds(batch)[0]), strict=False))
        kinds = sorted({kind[doc] for doc in TIED})
        adds = measure.group_terms(batch)(0)(3, tuple(kinds), Counter(kind[doc] for doc in ABOVE if kind[doc]))
        for order in permutations(TIED):
            expected = measure.plain_terms(measure.apply_relevance(ranked(order, labels)))[0, 2:5]
            numbers = [kinds.index(kind[doc]) for doc in order]
            placed = [tuple(numbers[:i].count(number) for number in range(len(kinds))) for i in range(3)]
            assert list(map(adds, numbers, placed)) == pytest.approx(expected.tolist(), rel=1e-13, abs=0)


@pytest.mark.parametrize(("ties", "before"), [("best", 0), ("worst", 3)])
def test_the_places_of_a_group_begin_behind_what_is_put_first(ties, before, monkeypatch):
    """Five judged documents, three tied with two that have no judgment; those and one of kind 0 are worst first."""
    batch = from_arrays([3, 1, 1, 1, 0], [1, 2, 0, 1, 1], ties=ties)
    batch = replace(batch, tied=batch.tied + 2 * (batch.tied > 1), above=batch.above + 2 * (batch.above > 1))
    asked = []

    def terms_of_group(start, kinds, above):
        asked.append((start, len(kinds), above.total()))
        return lambda kind, placed: 0.0

    monkeypatch.setattr(G, "group_terms", lambda *_: lambda _: terms_of_group)
    G().priority(batch)
    assert asked == [(1 + before, 2, 1)]


def test_tie_groups_of_a_query_with_kinds():
    """The same query behind one without ties; documents without a kind or without a judgment are the rest."""
    batch = from_arrays([[5, 4, 3, 2, 1], [3, 1, 1, 1, 0]], [[1, 0, 0, 0, 0], [1, 2, 0, 1, 1]])
    batch = replace(batch, tied=batch.tied + 2 * (batch.tied > 1), above=batch.above + 2 * (batch.above > 3))
    (query,) = tied_queries(batch, np.array([[1, 0, 0, 0, 0], [1, 2, 0, 1, 1]]))
    assert query.row == 1 and query.kinds == [1, 2, 0, 1, 1]
    assert query.groups == [
        (range(1), 0, 1, (1,), (1,)),
        (range(1, 4), 1, 5, (1, 2), (1, 1)),
        (range(4, 5), 6, 1, (1,), (1,)),
    ]
    assert [group.rest for group in query.groups] == [0, 3, 0] and query.groups[1].by_kind == {1: 1, 2: 1}


def test_documents_that_can_take_each_other_s_place_are_of_one_kind():
    """Kind 0 for those that earn nothing, though they are judged, or relevant to users that do not exist."""
    batch = from_arrays([1] * 6, [3, 0, 1, 0.5, 1, 0], ties="best")
    (none, nothing), (half, low), (one, middle), (three, high) = sorted(
        set(zip(batch.grade[0].tolist(), G().kinds(batch)[0].tolist(), strict=True))
    )
    assert (none, half, one, three) == (0, 0.5, 1, 3) and nothing == 0 < low < middle < high
    batch = from_arrays([1] * 4, [2, 1, 0, 3], ties="best")
    kinds = xGAP(g={1: 0, 2: 0.5, 3: 0.5}).kinds(batch)
    assert dict(zip(batch.grade[0].tolist(), kinds[0].tolist(), strict=True)) == {2: 2, 1: 0, 0: 0, 3: 3}


@pytest.mark.parametrize("measure", [G(), xGAP(g=[0.5, 0.5]), infAP()], ids=str)
def test_only_groups_of_several_kinds_are_bounded_and_only_where_an_order_is_asked_for(measure, monkeypatch):
    monkeypatch.setattr(searched_measure, "STATES", 1)
    one_kind, several = ([1, 1, 1], [1, 1, 2]) if measure != infAP() else ([1, 1, 1], [1, 1, 0])
    zero = from_arrays([2, 2, 2, 1], [*one_kind, 0], ties="best")
    assert not measure.is_bounded(zero).any()
    tied_with_zero = from_arrays([2, 2, 2], [1, 1, 0], ties="best")
    assert measure.is_bounded(tied_with_zero).any() == (measure == infAP())
    for ties, bounded in {"best": True, "worst": True, "expected": False}.items():
        assert measure.is_bounded(from_arrays([2, 2, 2], several, ties=ties)).tolist() == [[bounded] * 3]
    monkeypatch.setattr(searched_measure, "STATES", 6)  # none to two of the one kind, none or one of the other
    assert not measure.is_bounded(from_arrays([2, 2, 2], several, ties="best")).any()


@pytest.mark.parametrize(
    ("k", "best", "worst"), [(None, (3, 4, 5), (6, 7, 8)), (7, (3, 4, 5), (6, 7)), (4, (3, 4), ()), (2, (), ())]
)
def test_bounds_of_g_take_each_place_at_its_extreme(k, best, worst, monkeypatch):
    """After two documents, a, b and d gain in a group of six: at best at ranks 3 to 5, at worst at ranks 6 to 8."""
    monkeypatch.setattr(searched_measure, "STATES", 1)
    qrels = {"q": {"x": 1, "a": 10, "b": 9, "c": 0, "d": 3, "e": 0, "missed": 4}}
    run = {"q": {"x": 3.0, "u": 2.0} | dict.fromkeys("abcdev", 1.0)}
    cost = [0, 10, 19, 23, 26, 27, 28, 29, 30]

    def extreme(ranks, gains):
        """Return the sum of the gains, each with a credit: those of the places, after the gains so far, descending."""
        found = [1 + sum(gains[: j + 1]) for j in range(3)]
        worth = [1 / log2(2 + cost[rank] - sums) for rank, sums in zip(ranks, found, strict=False)]
        return sum(map(mul, gains, sorted([*worth, 0, 0, 0], reverse=True)))

    value = {"best": extreme(best, (10, 9, 3)), "worst": extreme(worst, (3, 9, 10))}
    for ties, inside in value.items():
        found = gradely.evaluate(qrels, run, [G(k=k)], ties=ties).values.item()
        assert found == pytest.approx((1 / log2(2 + 10 - 1) + inside) / 27, abs=1e-14)


@pytest.mark.parametrize("ties", ["best", "worst"])
def test_bounds_of_g_in_several_large_groups(ties):
    """A place is worth most after the largest gains; at worst they stand behind all that gains nothing."""
    rng = np.random.default_rng(11)
    scores, labels = np.repeat([4, 3, 2, 1], 40), rng.integers(0, 60, 160)
    cost = [0, *np.maximum(np.sort(labels)[::-1], 1).cumsum().tolist()]
    found = total = 0
    for score in (4, 3, 2, 1):
        gains = sorted(labels[(scores == score) & (labels > 0)].tolist(), reverse=ties == "best")
        start = 40 * (4 - score) + (0 if ties == "best" else 40 - len(gains))
        sums = found + np.cumsum(gains)
        worth = [1 / log2(2 + max(0, cost[start + j] - sums[j - 1])) for j in range(1, len(gains) + 1)]
        total += sum(map(mul, gains, sorted(worth, reverse=True)))
        found += sum(gains)
    assert G()(from_arrays(scores, labels, ties=ties)).item() == pytest.approx(total / found, rel=1e-13)


def test_bounds_of_g_in_a_group_that_nothing_stands_above(monkeypatch):
    """Of gains 2 and 1, ideal ranks 1 and 2; at worst behind one that gains nothing: 3 - 1 and 4 - 3 are missed."""
    monkeypatch.setattr(searched_measure, "STATES", 1)
    batch = from_arrays([1, 1, 1], [1, 0, 2], ties="worst")
    assert G()(batch).item() == pytest.approx((1 / log2(3) + 2 / log2(4)) / 3, abs=1e-15)
    assert G()(replace(batch, ties="best")).item() == 1


def test_documents_alone_have_their_value_beside_groups_with_a_coarse_bound(monkeypatch):
    """x and y stand alone, y with one user in two at a precision of 1/2; a and b at best at a precision of 1."""
    monkeypatch.setattr(searched_measure, "STATES", 1)
    monkeypatch.setattr(gap, "MANY", 0)
    qrels = {"q": {"x": 1, "y": 2, "a": 2, "b": 1}}
    run = {"q": {"x": 3, "y": 2, "a": 1, "b": 1}}
    low, high = 0.5 / 4 / 0.5, 0.5 / 4 + 0.5 / 2
    value = low * 0.5 + high * (0.5 * 2 / 2 + 0.5 * 1 / 2) + high + low * 0.5
    found = gradely.evaluate(qrels, run, [xGAP(g=[0.5, 0.5])], ties="best").values.item()
    assert found == pytest.approx(value, abs=1e-15)


def test_a_group_behind_the_cut_off_adds_nothing_to_a_coarse_bound(monkeypatch):
    monkeypatch.setattr(searched_measure, "STATES", 1)
    monkeypatch.setattr(gap, "MANY", 0)
    run = {"q": {"x": 3, "u": 2.5, "v": 2, "a": 1, "b": 1}}
    found = gradely.evaluate({"q": {"x": 2, "a": 2, "b": 1}}, run, [xGAP(g=[0.5, 0.5], k=3)], ties="best")
    assert found.values.item() == pytest.approx(0.5 / 3 + 0.5 / 2, abs=1e-15)


@pytest.mark.parametrize("ties", ["best", "worst"])
def test_how_a_bound_is_found_depends_on_the_levels_of_the_query_alone(ties, monkeypatch):
    """One query has as many levels as are gone through one by one, the other one more."""
    monkeypatch.setattr(searched_measure, "STATES", 1)
    run = {"x": 9, "u": 8} | dict.fromkeys("abcdv", 1.0)
    few, many = ({"x": 1, "a": 2, "b": 1, "c": 1, "d": 0}, {"x": 1, "a": 2, "b": 1, "c": 3, "d": 0})
    alone = {}
    for most in (0, 10):
        monkeypatch.setattr(gap, "MANY", most)
        for name, labels in {"few": few, "many": many}.items():
            scores = gradely.evaluate({"q": labels}, {"q": run}, [xGAP(g=USERS)], ties=ties)
            alone[name, most] = scores.values.item()
    assert all(abs(alone[name, 0] - alone[name, 10]) > 0.001 for name in ("few", "many"))
    monkeypatch.setattr(gap, "MANY", 2)
    both = gradely.evaluate({"p": few, "q": many}, {"p": run, "q": run}, [xGAP(g=USERS)], ties=ties)
    assert both.values[:, 0].tolist() == pytest.approx([alone["few", 10], alone["many", 0]], abs=1e-15)


@pytest.mark.parametrize("labels", [(1.5, 1.25, 2.75, 0.5), (3.125, 1, 1.5), (0.75, 1.375, 1.25)])
def test_the_search_of_g_is_exact_for_gains_that_are_no_whole_numbers(labels):
    qrels = {"q": {f"d{i}": label for i, label in enumerate(labels)}}
    orders = permutations([*qrels["q"], "x"])
    values = [gradely.evaluate(qrels, {"q": list(order)}, ["G"], ties="trec").values.item() for order in orders]
    tied = {"q": dict.fromkeys([*qrels["q"], "x"], 1.0)}
    found = [gradely.evaluate(qrels, tied, ["G"], ties=ties).values.item() for ties in ("worst", "best")]
    assert found == pytest.approx([min(values), max(values)], abs=1e-15)
