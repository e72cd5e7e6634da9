"""The promise: expected is the mean over all orderings to 1e-12, best and worst are their extremes."""

from functools import reduce
from math import fsum
from operator import add

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradely
from gradely.kernel.backend import sum_rows
from tests.cases import CASES, LABELS, Query, queries

EXACT = [case for case in CASES if case.measure.takes_expected]
OTHERS = [case for case in CASES if not case.measure.takes_expected]
INEXACT = ("G", "infAP", "xGAP")
"""their best order is not always that of labels"""
any_labels = st.sampled_from(sorted(LABELS)).flatmap(queries)


@pytest.mark.parametrize("case", EXACT, ids=str)
@settings(max_examples=20, deadline=None)
@given(query=any_labels)
def test_expected_is_the_mean_over_all_orderings(case, query):
    values = case.over_orderings(query)
    assert case.value(query) == pytest.approx(fsum(values) / len(values), abs=1e-12)


@pytest.mark.parametrize("case", OTHERS, ids=str)
def test_a_measure_without_a_closed_form_refuses_the_mean_and_names_what_works(case):
    query = Query(((2, 2), (2, 1), (1, 0)))
    with pytest.raises(gradely.MeasureError, match=f"{case.measure.name}.*no closed form.*best, worst, trec"):
        case.value(query)
    assert case.value(query, ties="trec") in [pytest.approx(value, abs=1e-12) for value in case.over_orderings(query)]


@pytest.mark.parametrize("case", [case for case in CASES if case.measure.name not in INEXACT], ids=str)
@settings(max_examples=20, deadline=None)
@given(query=any_labels)
def test_best_and_worst_are_the_extremes_over_all_orderings(case, query):
    values = case.over_orderings(query)
    assert case.value(query, ties="best") == pytest.approx(max(values), abs=1e-12)
    assert case.value(query, ties="worst") == pytest.approx(min(values), abs=1e-12)


@pytest.mark.parametrize("case", [case for case in CASES if case.measure.name in INEXACT], ids=str)
@settings(max_examples=20, deadline=None)
@given(query=any_labels)
def test_of_others_best_and_worst_are_values_of_some_ordering(case, query):
    values = case.over_orderings(query)
    for policy in ("best", "worst"):
        assert min(abs(case.value(query, ties=policy) - value) for value in values) < 1e-12


@pytest.mark.parametrize("policy", ["trec", "order", "random"])
@pytest.mark.parametrize("case", CASES[::4], ids=str)
@settings(max_examples=15, deadline=None)
@given(query=any_labels)
def test_other_policies_take_one_of_the_orderings(case, policy, query):
    values = case.over_orderings(query)
    assert min(abs(case.value(query, ties=policy) - value) for value in values) < 1e-12


@pytest.mark.parametrize("rows", [1, 2, 3, 50])
@pytest.mark.parametrize("width", [1, 2, 7, 8, 9, 15, 16, 17, 100, 127, 128, 129, 1000, 5000])
def test_rows_are_added_in_rank_order_to_the_last_digit(rows, width):
    rng = np.random.default_rng(width)
    x = rng.random((rows, width)) * 10.0 ** rng.integers(-9, 9, (rows, width))
    for some in (x, x[:, ::2], np.asfortranarray(x)):
        assert sum_rows(some).tolist() == [reduce(add, row) for row in some.tolist()]
