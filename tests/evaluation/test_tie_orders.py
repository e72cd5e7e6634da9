"""The orders of tied documents that explain shows: all of them, their values, and the mean that is the value."""

import json
import random
from collections import Counter
from itertools import groupby, permutations, product
from math import factorial, fsum, log2

import pytest

import gradely
from gradely.cli.main import run
from tests.cases import CASES, LABELS
from tests.measures import test_subtopics

TIED = [case.measure for case in CASES if case.measure.takes_expected]
BY_SUBTOPIC = [
    getattr(gradely, name)(**settings, k=k) for name, settings, k in (case.values for case in test_subtopics.CASES)
]


def make(seed):
    """Return a small query with ties, unjudged documents and documents that are missed, as (labels, scores)."""
    rng = random.Random(f"orders {seed}")
    kind = rng.choice([*LABELS])
    docs = [f"d{i}" for i in range(6)]
    labels = {doc: rng.choice(LABELS[kind]) for doc in docs if rng.random() < 0.7}
    return labels | {"d0": 1, "m0": rng.choice(LABELS[kind])}, {doc: rng.choice((1, 1, 2)) for doc in docs[:5]}


def check(measures, labels, scores, qrels=dict):
    """Compare orders and values with all orders of the tied documents, each measured as a run of its own."""
    ranked = sorted(scores, key=lambda doc: -scores[doc])
    groups = [list(permutations(tied)) for _, tied in groupby(ranked, key=scores.get)]
    orders = [[doc for part in parts for doc in part] for parts in product(*groups)]
    numbers = [f"{i}" for i in range(len(orders))]
    values = gradely.evaluate(
        qrels(dict.fromkeys(numbers, labels)), dict(zip(numbers, orders, strict=True)), measures
    ).values
    for measure, column in zip(measures, values.T.tolist(), strict=True):
        expected = Counter()
        for value in column:
            expected[round(value, 10)] += 1 / len(orders)
        explained = gradely.explain(qrels({"q": labels}), {"q": scores}, "q", measure, orders=120)
        entries = explained.orders.entries
        assert entries or len(expected) == 1, measure
        mean = fsum(entry.share * entry.value for entry in entries) if entries else column[0]
        assert mean == pytest.approx(explained.value, rel=1e-12, abs=1e-12), measure
        shares = Counter() if entries else Counter({round(explained.value, 10): 1.0})
        for entry in entries:
            shares[round(entry.value, 10)] += entry.share
            assert entry.orders == pytest.approx(entry.share * explained.orders.total, abs=1e-6), measure
        assert shares == pytest.approx(expected, abs=1e-9), measure
        assert len({entry.places for entry in entries}) == len(entries), measure


@pytest.mark.parametrize("seed", range(8))
def test_values_and_shares_are_those_of_all_orders(seed):
    measures = [case.measure for case in CASES if case.measure.takes_expected]
    check(measures[seed % 4 :: 4], *make(seed))


@pytest.mark.parametrize("seed", range(4))
def test_values_and_shares_by_subtopic_are_those_of_all_orders(seed):
    query = test_subtopics.Query(f"orders {seed}")
    measures = [
        getattr(gradely, name)(**settings, k=k) for name, settings, k in (case.values for case in test_subtopics.CASES)
    ]
    check(
        measures[seed % 2 :: 2], query.judged, query.scores, lambda labels: gradely.read_qrels(labels, subtopics=True)
    )


def rows(explained):
    return [(*entry.places, entry.orders, pytest.approx(entry.value)) for entry in explained.orders.entries]


def test_documents_that_are_alike_share_a_row_which_says_how_many_orders_it_stands_for():
    tied = dict.fromkeys(["a", "b", "x", "y"], 1.0)
    unjudged = gradely.explain({"q": {"a": 1}}, {"q": tied}, "q", "RR")
    expected = [
        ("a > 3 others", 6, 1),
        ("1 other > a > 2 others", 6, 1 / 2),
        ("2 others > a > 1 other", 6, 1 / 3),
        ("3 others > a", 6, 1 / 4),
    ]
    assert rows(unjudged) == expected and unjudged.orders.ranks == ("1–4",)
    assert rows(gradely.explain({"q": {"a": 1, "b": 0}}, {"q": tied}, "q", "RR")) == expected
    both = gradely.explain({"q": {"a": 1, "b": 2}}, {"q": tied}, "q", "RR")
    assert rows(both) == [
        ("a/b > …", 12, 1),
        ("1 other > a/b > …", 8, 1 / 2),
        ("2 others > a/b > a/b", 4, 1 / 3),
    ]
    many = gradely.explain({"q": dict.fromkeys("abcd", 1)}, {"q": dict.fromkeys("abcdx", 1.0)}, "q", "AP")
    assert many.orders.entries[1].places == ("3 like a > 1 other > 1 like a",)


def test_groups_below_the_cut_off_and_groups_that_change_nothing_have_no_column():
    scores = {"a": 9, "x": 9, "b": 5, "y": 5, "c": 1, "z": 1}
    labels = {"q": {"a": 1, "b": 1, "c": 1}}
    assert gradely.explain(labels, {"q": scores}, "q", "P@3").orders.ranks == ("3–4",)
    assert gradely.explain(labels, {"q": scores}, "q", "P@4").orders.entries == ()
    assert gradely.explain(labels, {"q": scores}, "q", "nDCG@3").orders.ranks == ("1–2", "3–4")
    assert gradely.explain(labels, {"q": scores}, "q", "RR").orders.ranks == ("1–2",)


def test_of_long_groups_rows_have_shares_and_a_large_run_is_no_harder():
    scores = dict.fromkeys([f"d{i:05}" for i in range(20_000)], 0.5)
    explained = gradely.explain({"q": {"d00000": 1}}, {"q": scores}, "q", "nDCG@2")
    assert [(entry.orders, entry.share) for entry in explained.orders.entries] == [
        (None, pytest.approx(1 / 20_000)),
        (None, pytest.approx(1 / 20_000)),
        (None, pytest.approx(19_998 / 20_000)),
    ]
    assert explained.orders_table().header == ["ranks 1–20000", "share of orders", "nDCG@2"]
    assert explained.orders.entries[0].places == ("d00000 > 19999 others",)
    assert explained.orders.entries[1].value == pytest.approx(1 / log2(3))


def test_more_orders_than_fit_are_left_out_and_that_is_said_only_where_they_were_asked_for():
    labels, scores = {"q": {"a": 3, "b": 2, "c": 1}}, {"q": dict.fromkeys("abcx", 1.0)}
    assert gradely.explain(labels, scores, "q", "nDCG").orders is None
    assert "orders" not in gradely.explain(labels, scores, "q", "nDCG").text()
    refused = gradely.explain(labels, scores, "q", "nDCG", orders=23)
    assert refused.remarks() == ["tied documents have more than 23 orders that matter to nDCG"]
    assert refused.remarks()[0] in refused.text() and refused.remarks()[0] in refused._repr_html_()
    shown = gradely.explain(labels, scores, "q", "nDCG", orders=24)
    assert len(shown.orders.entries) == shown.orders.total == factorial(4) and not shown.remarks()
    assert gradely.explain(labels, scores, "q", "nDCG", orders=0).orders is None


def test_no_order_that_matters_is_said_where_orders_were_asked_for():
    untied = {"q": ["a", "b"]}
    assert gradely.explain({"q": {"a": 1}}, untied, "q", "AP").remarks() == []
    explained = gradely.explain({"q": {"a": 1}}, untied, "q", "AP", orders=6)
    assert explained.remarks() == ["no order of tied documents changes AP"] and "orders" not in explained.text()


@pytest.mark.parametrize("orders", [-1, 121, True, 2.0])
def test_a_number_of_orders_that_cannot_be_shown_is_refused(orders):
    with pytest.raises(gradely.InputError, match="whole number from 0 to 120"):
        gradely.explain({"q": {"a": 1}}, {"q": ["a"]}, "q", "AP", orders=orders)


def test_policies_that_take_one_order_and_probabilities_have_no_orders():
    tied = {"q": dict.fromkeys("ax", 1.0)}
    assert gradely.explain({"q": {"a": 1}}, tied, "q", "AP", ties="best").orders is None
    with pytest.raises(gradely.InputError, match="only with the tie policy expected, not best"):
        gradely.explain({"q": {"a": 1}}, tied, "q", "AP", ties="best", orders=2)
    likely = {"q": {"a": {0: 0.5, 1: 0.5}}}
    assert gradely.explain(likely, tied, "q", "AP").orders is None
    with pytest.raises(gradely.InputError, match="labels are probabilities"):
        gradely.explain(likely, tied, "q", "AP", orders=2)


def test_terminal_notebook_and_json_show_the_orders(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text("q 0 a 3\nq 0 b 1\n")
    (tmp_path / "run").write_text("q Q0 a 1 1 t\nq Q0 b 2 1 t\nq Q0 x 3 1 t\n")
    assert run(["explain", "qrels", "run", "q", "-m", "nDCG@1"]) == 0
    out = capfd.readouterr().out
    assert "nDCG@1 in each of the 6 orders of the tied documents; the mean is 0.4444; …: any order of the rest:" in out
    table = ["ranks 1–3    orders  nDCG@1", "───────────  ──────  ──────", "a > …             2  1.0000"]
    assert "\n".join(table) in out and "b > …             2  0.3333\n1 other > …       2  0.0000\n" in out
    html = gradely.explain("qrels", "run", "q", "nDCG@1")._repr_html_()
    assert "the mean is 0.4444" in html and "a &gt; …" in html
    assert run(["explain", "qrels", "run", "q", "-m", "nDCG@1", "--format", "json"]) == 0
    entries = json.loads(capfd.readouterr().out)["orders"]
    places = [{"ranks": "1–3", "documents": "a > …"}]
    assert entries[0] == {"places": places, "share": pytest.approx(1 / 3), "orders": 2, "value": 1.0}
    assert run(["explain", "qrels", "run", "q", "-m", "nDCG@1", "--orders", "2"]) == 0
    assert "more than 2 orders" in capfd.readouterr().out
    assert run(["explain", "qrels", "run", "q", "-m", "nDCG@1", "--orders", "999"]) == 2
