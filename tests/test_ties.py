"""The promise: expected is the mean over all orderings to 1e-12, best and worst are their extremes."""

from math import fsum

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import CASES, LABELS, queries

any_labels = st.sampled_from(sorted(LABELS)).flatmap(queries)


@pytest.mark.parametrize("case", CASES, ids=str)
@settings(max_examples=20, deadline=None)
@given(query=any_labels)
def test_expected_is_the_mean_over_all_orderings(case, query):
    values = case.over_orderings(query)
    assert case.value(query) == pytest.approx(fsum(values) / len(values), abs=1e-12)


@pytest.mark.parametrize("case", [case for case in CASES if case.measure.name != "xGAP"], ids=str)
@settings(max_examples=20, deadline=None)
@given(query=any_labels)
def test_best_and_worst_are_the_extremes_over_all_orderings(case, query):
    values = case.over_orderings(query)
    assert case.value(query, ties="best") == pytest.approx(max(values), abs=1e-12)
    assert case.value(query, ties="worst") == pytest.approx(min(values), abs=1e-12)


@pytest.mark.parametrize("case", [case for case in CASES if case.measure.name == "xGAP"], ids=str)
@settings(max_examples=20, deadline=None)
@given(query=any_labels)
def test_of_xgap_best_and_worst_are_values_of_some_ordering(case, query):
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
