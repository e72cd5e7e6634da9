"""Lambdas: every pair, every order of ties and every swap written out, and laws that hold for every measure."""

import re
from itertools import combinations, groupby, permutations, product
from math import exp

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradely
from gradely import DataError, MeasureError, lambdas
from gradely.learning import lambdas as module
from gradely.learning.swaps import TAUGHT
from tests.cases import CASES, LABELS, Query

TAUGHT_CASES = [case for case in CASES if isinstance(case.measure, TAUGHT)]
EXACT = 1e-10


def documents(kind, most=6):
    """Queries of documents that all have a label, with few distinct scores."""
    pair = st.tuples(st.integers(0, 2), st.sampled_from(LABELS[kind]))
    return st.lists(pair, min_size=1, max_size=most)


def orders(scores):
    """Return every order of the documents' numbers that the scores allow."""
    ranked = sorted(range(len(scores)), key=lambda i: -scores[i])
    groups = [list(group) for _, group in groupby(ranked, key=lambda i: scores[i])]
    return [sum(parts, ()) for parts in product(*(permutations(group) for group in groups))]


def written_out(case, scores, labels, sigma, truncation):
    """Return gradient and second derivative by the definition: every pair, every order, every swap."""
    query = Query(tuple(zip(scores, labels, strict=True)))
    value = {}

    def measured(order):
        ranking = tuple(labels[i] for i in order)
        if ranking not in value:
            value[ranking] = case.reference(list(ranking), query)
        return value[ranking]

    every = orders(scores)
    gradient, hessian = [0.0] * len(scores), [0.0] * len(scores)
    for i, j in combinations(range(len(scores)), 2):
        signed, absolute = 0.0, 0.0
        for order in every:
            a, b = sorted((order.index(i), order.index(j)))
            swapped = list(order)
            swapped[a], swapped[b] = order[b], order[a]
            change = (measured(order) - measured(swapped)) * (1 if order[a] == i else -1)
            if truncation is None or a < truncation:
                signed, absolute = signed + change / len(every), absolute + abs(change) / len(every)
        change = abs(signed) if case.measure.name == "xGAP" else absolute
        better, worse = (i, j) if (labels[i] > labels[j] if case.measure.name == "xGAP" else signed > 0) else (j, i)
        rho = 1 / (1 + exp(sigma * (scores[better] - scores[worse])))
        gradient[better] -= sigma * rho * change
        gradient[worse] += sigma * rho * change
        hessian[better] += sigma**2 * rho * (1 - rho) * change
        hessian[worse] += sigma**2 * rho * (1 - rho) * change
    return gradient, hessian


@pytest.mark.parametrize("kind", LABELS)
@settings(max_examples=7, deadline=None)
@given(data=st.data())
def test_they_are_the_definition_written_out(kind, data):
    scores, labels = zip(*data.draw(documents(kind, 5)), strict=True)
    sigma, truncation = data.draw(st.sampled_from([(1, None), (0.5, 1), (2, 2), (1, 3), (1, 30)]))
    for case in TAUGHT_CASES:
        ours = lambdas(scores, labels, case.measure, group=[len(scores)], sigma=sigma, truncation=truncation)
        for found, expected in zip(ours, written_out(case, scores, labels, sigma, truncation), strict=True):
            np.testing.assert_allclose(found, expected, rtol=0, atol=EXACT, err_msg=str(case))


NAMED = [
    "nDCG", "nDCG(gain='exp')@10", "DCG@5", "NDCNG", "nDCGphi@10", "RBP", "RBP(relevance='max')", "AP", "AP(rel=2)@7",
    "GAP", "GAP(g=[0.2, 0.3, 0.5])@9", "xGAP", "xGAP(g=[0.2, 0.3, 0.5])", "eGAP", "eGAP@12", "muAP",
    "P@10", "R@10", "F1@5",
]  # fmt: skip
rng = np.random.default_rng(15)
SIZES = [1, 2, 40, 7, 0, 65, 40]
ROWS = sum(SIZES)
SCORES = rng.integers(0, 9, ROWS) / 4
GRADES = rng.choice([0.0, 1, 2, 3], ROWS, p=[0.5, 0.3, 0.15, 0.05])
QID = np.repeat(np.arange(len(SIZES)), SIZES)


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("scores", [SCORES, np.zeros(ROWS), rng.random(ROWS)], ids=["tied", "all tied", "untied"])
def test_rows_in_another_order_give_the_same_to_the_last_bit(name, scores):
    ours = lambdas(scores, GRADES, name, group=SIZES, truncation=10)
    assert np.any(ours[0] != 0)
    for _ in range(3):
        order = np.lexsort((rng.random(ROWS), QID))
        moved = lambdas(scores[order], GRADES[order], name, group=SIZES, truncation=10)
        np.testing.assert_array_equal(moved, [x[order] for x in ours])
        mixed = rng.permutation(ROWS)
        moved = lambdas(scores[mixed], GRADES[mixed], name, qid=QID[mixed], truncation=10)
        np.testing.assert_array_equal(moved, [x[mixed] for x in ours])


@pytest.mark.parametrize("name", NAMED)
def test_a_query_does_not_depend_on_the_others_nor_on_blocks(name, monkeypatch):
    measure = gradely.parse(name).fit(lambda: np.array([1.0, 2, 3]))
    ours = lambdas(SCORES, GRADES, measure, group=SIZES)
    for query in set(QID):
        at = query == QID
        alone = lambdas(SCORES[at], GRADES[at], measure, group=[at.sum()])
        np.testing.assert_array_equal(alone, [x[at] for x in ours])
    monkeypatch.setattr(module, "CELLS", 1)
    np.testing.assert_allclose(lambdas(SCORES, GRADES, measure, group=SIZES), ours, rtol=0, atol=1e-14)


@pytest.mark.parametrize("truncation", [None, 1, 30])
@pytest.mark.parametrize("name", NAMED)
def test_a_query_is_pulled_up_as_much_as_down(name, truncation):
    gradient, hessian = lambdas(SCORES, GRADES, name, group=SIZES, truncation=truncation)
    sums = np.bincount(QID, gradient)
    np.testing.assert_allclose(sums, 0, atol=1e-14 * np.abs(gradient).sum())
    assert np.all(hessian >= 0)


@pytest.mark.parametrize("name", ["nDCGphi", "muAP", "NDCNG", "eGAP", "xGAP", "GAP"])
def test_labels_are_real_numbers(name):
    labels = rng.random(300) * 100
    gradient, hessian = lambdas(np.zeros(300), labels, name, group=[100] * 3, truncation=None)
    best = [labels[i : i + 100].argmax() + i for i in (0, 100, 200)]
    assert np.all(gradient[best] < 0) and np.all(np.isfinite(hessian))


@pytest.mark.parametrize("name", ["nDCG", "eGAP", "xGAP"])
def test_scores_far_apart_overflow_nothing(name):
    with np.errstate(all="raise", under="ignore"):
        gradient, _ = lambdas([1e300, -1e300, 0, 5], [0, 2, 1, 0], name, group=[4])
    assert np.all(np.isfinite(gradient)) and gradient[1] < 0 < gradient[0]


@pytest.mark.parametrize("name", ["DCG(gain='exp')", "DCG(gain='exp')@1", "DCG(gain='exp', discount='letor')"])
@pytest.mark.parametrize("label", [1100, 2000, 1e300])
def test_a_measure_that_is_too_large_for_a_number_is_refused(name, label):
    message = f"{name} of row 4 is too large to represent: the highest label there is {label:g}"
    with pytest.raises(DataError, match=re.escape(message)):
        lambdas([0, 0, 1, 0, 1], [1, 0, 2, 0, label], name, group=[2, 3])


@pytest.mark.parametrize("label", [5e-324, 1e-310, 2000, 1e300])
@pytest.mark.parametrize(
    "name", ["nDCG", "NDCNG", "muAP", "eGAP", "xGAP", "GAP", "nDCGphi", "RBP(relevance='identity')"]
)
def test_labels_of_extreme_size_are_learned_like_others(name, label):
    with np.errstate(all="raise", under="ignore"):
        found = lambdas([0, 1, 1], [label, 0, 0], name, group=[3])
    np.testing.assert_allclose(found, lambdas([0, 1, 1], [1, 0, 0], name, group=[3]), rtol=1e-12)


@pytest.mark.parametrize("name", NAMED)
def test_where_no_swap_changes_anything_nothing_is_learned(name):
    equal = lambdas([0, 1, 1, 2], [2, 2, 2, 2], name, group=[4])
    alone = lambdas([3, 4], [2, 0], name, group=[1, 0, 1, 0])
    assert not np.any(equal) and not np.any(alone)


def test_every_measure_of_the_page_is_held_against_the_definition():
    """Whole and with cut-offs; of NAMED the laws are tested."""
    taught = {"nDCG", "DCG", "NDCNG", "nDCGphi", "RBP", "AP", "GAP", "xGAP", "eGAP", "muAP", "P", "R", "F1"}
    for cut in (True, False):
        assert taught <= {case.measure.name for case in TAUGHT_CASES if (case.measure.k is not None) == cut}
    assert taught <= {gradely.parse(name).name for name in NAMED}
    assert set(LABELS) == {"grades", "real", "negative"}


def test_without_a_relevant_document_nothing_is_learned():
    for name in NAMED:
        for labels in ([0, 0, 0], [-3, -3, -3] if "phi" in name else [-1, 0, -2]):
            gradient, hessian = lambdas([1, 2, 2], labels, name.replace("(g=[0.2, 0.3, 0.5])", ""), group=[3])
            assert not gradient.any() and not hessian.any(), name


@pytest.mark.parametrize("name", ["nDCG", "AP", "eGAP"])
def test_a_long_query_takes_memory_in_proportion_to_its_length(name):
    """All pairs of all documents tie; they are taken a few columns at a time."""
    labels = (np.arange(4000) % 7 == 0).astype(float)
    gradient, _ = lambdas(np.zeros(4000), labels, name, group=[4000])
    assert len(set(gradient.tolist())) == 2


@pytest.mark.parametrize("name", [m.name for m in gradely.ALL if not issubclass(m, TAUGHT)])
def test_other_measures_are_refused_by_name(name):
    with pytest.raises(MeasureError, match=f"{name}: no closed form"):
        lambdas([1, 2], [1, 0], name, group=[2])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "with group=sizes or qid=ids"),
        ({"group": [2], "qid": [1, 1]}, "not both"),
        ({"group": [3]}, "add up to 3, but there are 2"),
        ({"group": [-1, 3]}, "the number of documents of each query"),
        ({"qid": [1]}, "2 scores and qid of shape"),
        ({"group": [2], "sigma": 0}, "sigma, the slope"),
        ({"group": [2], "truncation": 0}, "truncation must be"),
        ({"group": [2], "truncation": 1.5}, "truncation must be"),
    ],
)
def test_what_makes_no_sense_is_refused(given, said):
    with pytest.raises(DataError, match=said):
        lambdas([1, 2], [1, 0], "nDCG", **given)


def test_numbers_that_are_none_are_refused():
    with pytest.raises(DataError, match="scores contain NaN"):
        lambdas([1, np.nan], [1, 0], group=[2])
    with pytest.raises(DataError, match="labels contain NaN"):
        lambdas([1, 2], [1, np.inf], group=[2])
    with pytest.raises(DataError, match="there are 2 labels"):
        lambdas([1, 2, 3], [1, 0], group=[2])
    for empty in ({"group": []}, {"qid": []}):
        assert [len(x) for x in lambdas([], [], **empty)] == [0, 0]
