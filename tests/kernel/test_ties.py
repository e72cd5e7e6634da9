"""The promise: expected is the mean over all orderings to 1e-12, best and worst are their extremes."""

from functools import reduce
from math import fsum
from operator import add

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gradely
from gradely.kernel.backend import sum_rows
from gradely.measures import gap, searched_measure
from gradely.measures.ap import EPSILON
from gradely.measures.gap import Population
from gradely.measures.searched_measure import SearchedMeasure
from tests.cases import CASES, LABELS, Query, measured, queries

EXACT = [case for case in CASES if case.measure.takes_expected]
OTHERS = [case for case in CASES if not case.measure.takes_expected]
any_labels = st.sampled_from(sorted(LABELS)).flatmap(queries)


def over_orderings(cases, query):
    """Return what the reference says of each order of a query, {name: values}."""
    return {str(case): case.over_orderings(query) for case in cases}


def mean(values):
    return fsum(values) / len(values)


@settings(max_examples=20, deadline=None)
@given(query=any_labels)
def test_policies_are_the_mean_the_extremes_and_one_of_all_orderings(query):
    values = over_orderings(CASES, query)
    for policy, tell in {"expected": mean, "best": max, "worst": min}.items():
        cases = EXACT if policy == "expected" else CASES
        expected = {str(case): tell(values[str(case)]) for case in cases}
        assert measured([case.measure for case in cases], query, ties=policy) == pytest.approx(expected, abs=1e-12)
    for policy in ("trec", "order", "random"):
        found = measured([case.measure for case in CASES], query, ties=policy)
        assert [name for name in values if not min(abs(found[name] - value) for value in values[name]) < 1e-12] == []


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=any_labels)
def test_all_levels_at_once_are_the_mean_over_all_orderings_too(query, monkeypatch):
    monkeypatch.setattr(gap, "MANY", 0)
    cases = [case for case in EXACT if isinstance(case.measure, Population)]
    expected = {name: mean(values) for name, values in over_orderings(cases, query).items()}
    assert measured([case.measure for case in cases], query) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("case", OTHERS, ids=str)
def test_a_measure_without_a_closed_form_refuses_the_mean_and_names_what_works(case):
    query = Query(((2, 2), (2, 1), (1, 0)))
    with pytest.raises(gradely.MeasureError, match=f"{case.measure.name}.*no closed form.*best, worst, trec"):
        case.value(query)
    assert case.value(query, ties="trec") in [pytest.approx(value, abs=1e-12) for value in case.over_orderings(query)]


@pytest.mark.parametrize("many", [gap.MANY, 0])
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=any_labels)
def test_where_orders_are_too_many_to_search_best_and_worst_contain_every_ordering(query, many, monkeypatch):
    monkeypatch.setattr(searched_measure, "STATES", 1)
    monkeypatch.setattr(gap, "MANY", many)
    cases = [case for case in CASES if isinstance(case.measure, SearchedMeasure)]
    values = over_orderings(cases, query)
    low, high = (measured([case.measure for case in cases], query, ties=ties) for ties in ("worst", "best"))
    assert [name for name in values if not low[name] - 1e-12 <= min(values[name])] == []
    assert [name for name in values if not max(values[name]) <= high[name] + 1e-12] == []


@pytest.mark.parametrize("labels", [[1, 0, -1], [0, 0, -1]])
@pytest.mark.parametrize(("k", "best", "worst"), [(None, 2, 2), (5, 1, 0), (9, 2, 1), (10, 2, 2)])
def test_bounds_of_infap_take_each_relevant_document_at_its_extreme(labels, k, best, worst, monkeypatch):
    """After four documents, the j-th of a and b stands behind u of c, d, e and behind v of f, outside the pool."""
    monkeypatch.setattr(searched_measure, "STATES", 1)
    qrels = {"q": dict(zip("xyz", labels, strict=True)) | {"a": 1, "b": 1, "c": 0, "d": 0, "e": -1}}
    run = {"q": {"x": 9.0, "y": 8.0, "z": 7.0, "w": 6.0} | dict.fromkeys("abcdef", 1.0)}

    def terms(j, others):
        share = (labels[0] + j + EPSILON) / (2 + j + others + 2 * EPSILON)
        return [(1 + share * (3 + j + u)) / (5 + j + u + v) for u in range(4) for v in range(2)]

    high, low = sum(max(terms(j, 0)) for j in range(best)), sum(min(terms(j, 2)) for j in range(worst))
    for ties, inside in {"best": high, "worst": low}.items():
        found = gradely.evaluate(qrels, run, [gradely.infAP(k=k)], ties=ties).values.item()
        assert found == pytest.approx((labels[0] + inside) / (labels[0] + 2), abs=1e-12)


@pytest.mark.parametrize(
    ("k", "best", "worst"),
    [
        (None, {"a": 3 / 4, "b": 3 / 4}, {"a": 1 / 6, "b": 1 / 6}),
        (6, {"a": 3 / 4, "b": 3 / 4}, {"a": 1 / 6, "b": 1 / 6}),
        (5, {"a": 3 / 4, "b": 3 / 4}, {}),
        (3, {"a": 2 / 3}, {}),
        (2, {}, {}),
    ],
)
def test_bounds_of_xgap_with_very_many_levels_by_hand(k, best, worst, monkeypatch):
    """After a relevant document and an unjudged one, a and b fill the first of four places, or stand at the last."""
    monkeypatch.setattr(searched_measure, "STATES", 1)
    monkeypatch.setattr(gap, "MANY", 0)
    qrels = {"q": {"x": 2, "a": 2, "b": 1, "c": 0}}
    run = {"q": {"x": 3.0, "u": 2.0} | dict.fromkeys("abcv", 1.0)}
    users_times_weight = {"a": 0.5 / 3 + 0.5 / 2, "b": 0.5 / 3}  # of three documents for half of them, of two for all
    for ties, precisions in {"best": best, "worst": worst}.items():
        inside = sum(users_times_weight[name] * precision for name, precision in precisions.items())
        found = gradely.evaluate(qrels, run, [gradely.xGAP(g=[0.5, 0.5], k=k)], ties=ties).values.item()
        assert found == pytest.approx(0.5 / 3 + 0.5 / 2 + inside, abs=1e-12)


def test_bounds_of_xgap_take_each_threshold_at_its_extreme(monkeypatch):
    """For half of the users a and b are relevant, for half a alone; at best first, at worst last, the heavier one a."""
    monkeypatch.setattr(searched_measure, "STATES", 1)
    qrels = {"q": {"x": 2, "a": 2, "b": 1, "c": 0}}
    run = {"q": {"x": 3.0, "u": 2.0} | dict.fromkeys("abcv", 1.0)}
    heavy, light = 0.5 / 3 + 0.5 / 2, 1 / 3
    best = heavy * (0.5 * 3 / 4 + 0.5 * 2 / 3) + light * 0.5 * 2 / 3
    worst = heavy * (0.5 * 2 / 5 + 0.5 * 2 / 6) + light * 0.5 * 3 / 6
    for ties, inside in {"best": best, "worst": worst}.items():
        found = gradely.evaluate(qrels, run, [gradely.xGAP(g=[0.5, 0.5])], ties=ties).values.item()
        assert found == pytest.approx(heavy + inside, abs=1e-12)


def test_ties_of_xgap_whose_best_order_is_not_that_of_labels():
    """Rank 3 and 4 for labels 1 and 2: w(1) = .9/2 / .9, w(2) = .9/2 + .1."""
    qrels, run = {"q": {"a": 0, "b": 0, "c": 1, "d": 2}}, {"q": {"a": 3, "b": 2, "c": 1, "d": 1}}
    rising, falling = 0.5 * 0.9 / 3 + 0.55 * 1.9 / 4, 0.55 / 3 + 0.5 * 1.8 / 4
    assert rising > falling
    scores = gradely.evaluate(qrels, run, [gradely.xGAP(g=[0.9, 0.1])])
    (found,) = scores.tie_ranges
    assert (found.low, found.high) == pytest.approx((falling, rising), abs=1e-15)
    assert found.value == pytest.approx((rising + falling) / 2, abs=1e-15)
    assert found.bounded == 0 and "bounds" not in str(found)


@pytest.mark.parametrize("measure", [gradely.xGAP(), gradely.xGAP(k=50), gradely.G(), gradely.infAP(), gradely.G(k=50)])
def test_bounds_of_large_tie_groups_are_said_to_be_bounds(measure):
    rng = np.random.default_rng(5)
    labels = rng.integers(-1, 6, 120).tolist()
    qrels = {"q": {f"d{i}": label for i, label in enumerate(labels)}, "small": {"a": 1, "b": 2}}
    run = {"q": {f"d{i}": 1.0 for i in range(200)} | {"d0": 3.0, "d1": 2.0}, "small": {"a": 1.0, "b": 1.0}}
    low, high = (gradely.evaluate(qrels, run, [measure], ties=ties) for ties in ("worst", "best"))
    drawn = [gradely.evaluate(qrels, run, [measure], ties="random", seed=seed).values[0, 0] for seed in range(20)]
    assert low.values[0, 0] < min(drawn) and max(drawn) < high.values[0, 0]
    notes = [(note.count, note.of) for note in high.notes if note.kind == "bounds"]
    assert notes == [(1, 2)] and f"{measure} is only a bound" in str(high.notes)
    explained = gradely.explain(qrels, run, "q", measure, ties="best")
    assert explained.value == pytest.approx(high.values[0, 0], abs=1e-12)
    assert len(explained.lines) == 200 and [line.rank for line in explained.lines[:3]] == ["1", "2", "3–200"]


@pytest.mark.parametrize("rows", [1, 2, 3, 50])
@pytest.mark.parametrize("width", [1, 2, 7, 8, 9, 15, 16, 17, 100, 127, 128, 129, 1000, 5000])
def test_rows_are_added_in_rank_order_to_the_last_digit(rows, width):
    rng = np.random.default_rng(width)
    x = rng.random((rows, width)) * 10.0 ** rng.integers(-9, 9, (rows, width))
    for some in (x, x[:, ::2], np.asfortranarray(x)):
        assert sum_rows(some).tolist() == [reduce(add, row) for row in some.tolist()]
