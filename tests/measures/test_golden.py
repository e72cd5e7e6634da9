"""Every number that the four papers print for the measures, and known values of peers."""

from math import log2, log10

import numpy as np
import pytest

import gradely
from gradely import DCG, GAP, NDCNG, eGAP, from_arrays, muAP, nDCG, xGAP

S11 = [1, 0, 3, 3, 2, 0, 1, 4]
"""the ranking of Scheel, Lommatzsch, Albayrak, tables 1 and 2"""


def ranked(labels):
    """Return a batch of one ranking without ties, the pool the same documents."""
    return from_arrays(range(len(labels), 0, -1), labels)


def value(measure, labels):
    return measure(ranked(labels)).item()


@pytest.mark.parametrize(
    ("threshold", "expected"), [(4, 0.125), (3, 0.403), (2, 0.483), (1, 0.780), (0, 1.000), (5, 0)]
)
def test_s11_table_1_average_precision_at_each_level(threshold, expected):
    assert value(gradely.AP(rel=threshold), S11) == pytest.approx(expected, abs=5e-4)


def test_s11_table_1_graded():
    assert value(muAP(), S11) == pytest.approx(0.448, abs=5e-4)
    assert value(muAP(), S11) == pytest.approx(sum(value(gradely.AP(rel=t), S11) for t in (1, 2, 3, 4)) / 4, abs=1e-15)


def test_s11_weights_are_the_distances_between_levels():
    labels = [0.3, 0, 1.0, 0]
    by_hand = 0.3 * (1 + 2 / 3) / 2 + 0.7 * (1 / 3)
    assert value(muAP(), labels) == pytest.approx(by_hand, abs=1e-15)
    assert value(eGAP(g={0.3: 0.3, 1.0: 0.7}), labels) == pytest.approx(by_hand, abs=1e-15)


S11_TABLE_2 = {
    1: (
        [3.32, 3.32, 14.95, 24.96, 28.82, 28.82, 29.93, 45.65],
        [49.83, 64.50, 76.13, 80.42, 81.70, 82.89, 82.89, 82.89],
        [0.07, 0.05, 0.20, 0.31, 0.35, 0.35, 0.36, 0.55],
        0.28,
    ),
    2: (
        [9.97, 9.97, 114, 204, 224, 224, 227, 494],
        [847, 979, 1083, 1105, 1109, 1112, 1112, 1112],
        [0.01, 0.01, 0.11, 0.19, 0.20, 0.20, 0.20, 0.44],
        0.17,
    ),
    1 / 4: (
        [0.63, 0.63, 1.76, 2.74, 3.27, 3.27, 3.48, 4.53],
        [3.32, 4.75, 5.88, 6.48, 6.72, 6.94, 6.94, 6.94],
        [0.19, 0.13, 0.30, 0.42, 0.49, 0.47, 0.50, 0.65],
        0.39,
    ),
}


def printed(number):
    """How far a printed number may be off: the paper rounds small ones to two decimals and cuts large ones off."""
    return 1 if number >= 100 else 0.005 + 1e-4


@pytest.mark.parametrize("factor", S11_TABLE_2)
def test_s11_table_2(factor):
    dcg, ideal, ndcg, mean = S11_TABLE_2[factor]
    labels = [factor * label for label in S11]
    best = sorted(labels, reverse=True)
    for k in range(1, 9):
        assert value(DCG(gain="exp", k=k), labels) / log10(2) == pytest.approx(dcg[k - 1], abs=printed(dcg[k - 1]))
        assert value(DCG(gain="exp", k=k), best) / log10(2) == pytest.approx(ideal[k - 1], abs=printed(ideal[k - 1]))
        assert value(nDCG(gain="exp", k=k), labels) == pytest.approx(ndcg[k - 1], abs=printed(ndcg[k - 1]))
    assert np.mean([value(nDCG(gain="exp", k=k), labels) for k in range(1, 9)]) == pytest.approx(mean, abs=0.0051)


def test_s11_ndcng_does_not_depend_on_the_scale():
    for k in range(1, 9):
        assert value(NDCNG(k=k), S11) == pytest.approx(
            value(nDCG(gain="exp", k=k), [label / 4 for label in S11]), abs=1e-15
        )
        assert value(NDCNG(k=k), S11) == pytest.approx(value(NDCNG(k=k), [2 * label for label in S11]), abs=1e-15)


F14_POOL = {f"one{i}": 1 for i in range(10)} | {"two": 2}


@pytest.mark.parametrize(
    ("measure", "g", "document", "expected"),
    [
        ("GAP", [1 / 2, 1 / 2], "one0", 1 / 12),
        ("GAP", [1 / 2, 1 / 2], "two", 1 / 6),
        ("GAP", [1 / 10, 9 / 10], "two", 1 / 2),
        ("xGAP", [1 / 2, 1 / 2], "one0", 1 / 22),
        ("xGAP", [1 / 2, 1 / 2], "two", 12 / 22),
        ("xGAP", [1 / 10, 9 / 10], "two", 100 / 110),
    ],
)
def test_f14_selection_probabilities(measure, g, document, expected):
    """The chance to pick a document is what it adds, alone at the top."""
    name = f"{measure}(g={g})"
    assert gradely.evaluate({"q": F14_POOL}, {"q": [document]}, [name]).mean()[name] == pytest.approx(
        expected, abs=1e-15
    )


@pytest.mark.parametrize("g", [(0.3, 0.7), (0.8, 0.2)])
def test_f14_limits_of_many_documents_below_the_threshold_above_one_that_reaches_it(g):
    labels = [1] * 200_000 + [2]
    assert value(GAP(g=g), labels) == pytest.approx(1, abs=1e-4)
    assert value(xGAP(g=g), labels) == pytest.approx(1 - g[1] ** 2, abs=1e-4)
    assert value(eGAP(g=g), labels) == pytest.approx(g[0], abs=1e-4)


@pytest.mark.parametrize("level", [1, 2, 3, 4])
@pytest.mark.parametrize("measure", [GAP, xGAP, eGAP])
def test_f14_one_kind_of_user_makes_it_average_precision(measure, level):
    g = [float(i == level) for i in (1, 2, 3, 4)]
    assert value(measure(g=g), S11) == pytest.approx(value(gradely.AP(rel=level), S11), abs=1e-15)


def test_xgap_is_not_monotone():
    pool = {"a": 2, "b": 3, "c": 0, "d": 0, "e": 0, "f": 0}
    name = "xGAP(g=[0.7, 0.2, 0.1])"
    score = lambda *ranking: gradely.evaluate({"q": pool}, {"q": ranking}, [name]).mean()[name]
    assert score("c", "d", "a", "b", "e") == pytest.approx(0.41125, abs=5e-6)
    assert score("c", "d", "b", "a", "e") == pytest.approx(0.40833, abs=5e-6)


def test_m16_table_1_a_swap_costs_more_where_the_swapped_items_differ_more():
    def loss(*scores):
        swapped = [scores[0], scores[2], scores[1], *scores[3:]]
        return value(gradely.nDCGphi(), swapped) - value(gradely.nDCGphi(), scores)

    assert value(gradely.nDCGphi(), [100, 90, 80, 15, 10]) == 1
    assert 0 < loss(100, 80, 90, 15, 10) < loss(100, 20, 90, 15, 10)


def test_average_precision_where_peers_disagree_about_ties():
    """scikit-learn's average precision says 0.4167 here; the mean over all orders is 5/9."""
    expected = ((1 / 1 + 2 / 4) / 2 + (1 / 2 + 2 / 4) / 2 + (1 / 3 + 2 / 4) / 2) / 3
    assert gradely.AP()(from_arrays([1, 1, 1, 0.5], [1, 0, 0, 1])).item() == pytest.approx(expected, abs=1e-15)
    assert expected == pytest.approx(5 / 9)


@pytest.mark.parametrize(
    ("measure", "ties", "labels", "run", "value"),
    [
        # after x, a is one of three tied documents: at place 2 with chance 1/3, and beyond the cut-off otherwise
        ("RR@2", "expected", {"a": 1}, {"x": 2.0, "a": 1.0, "b": 1.0, "c": 1.0}, 1 / 6),
        # r is at place 1, as good as can be, with chance 1/2: what it ties with was never judged
        ("bpref@1", "expected", {"r": 1, "n": 0}, {"r": 1.0, "u": 1.0}, 1 / 2),
        # a document of little relevance beside an unjudged one
        ("DCG", "best", {"a": 0.5}, {"a": 1.0, "u": 1.0}, 0.5),
        ("DCG", "worst", {"a": 0.5}, {"a": 1.0, "u": 1.0}, 0.5 / log2(3)),
        ("DCG", "expected", {"a": 0.5}, {"a": 1.0, "u": 1.0}, 0.25 + 0.25 / log2(3)),
    ],
)
def test_ties_by_hand(measure, ties, labels, run, value):
    found = gradely.evaluate({"q": labels}, {"q": run}, [measure], ties=ties).values.item()
    assert found == pytest.approx(value, abs=1e-15)


def test_levels_of_recall_by_hand():
    """Half of three relevant documents are two; a tenth of eleven is more than the one that was found."""
    assert gradely.IPrec(recall=0.5)(from_arrays([5, 4, 3, 2, 1], [1, 0, 1, 0, 1])).tolist() == [2 / 3]
    found = gradely.evaluate(
        {"q": {f"d{i}": 1 for i in range(11)}}, {"q": ["d0"]}, ["IPrec(rounding='up')"], ties="best"
    )
    assert found.values.item() == pytest.approx(1 / 11, abs=1e-15)
