"""Labels whose lowest level is not 0: shifted, they are worth what the same labels from 0 on are worth."""

import numpy as np
import pytest

import gradely
from gradely.measures import Graded
from gradely.measures.base import BinaryOrGraded

STARS = {"q": {"a": 5, "b": 1, "c": 3, "d": 4, "e": 1}, "r": {"a": 2, "b": 2, "c": 4}}
PLAIN = {query: {doc: label - 1 for doc, label in labels.items()} for query, labels in STARS.items()}
RUN = {"q": {"b": 5, "c": 4, "x": 4, "a": 3, "d": 3}, "r": {"x": 2, "a": 1, "c": 1}}
GRADED = [measure for measure in gradely.ALL if issubclass(measure, Graded)]


@pytest.mark.parametrize("relevance", ["shift", gradely.Shift(1), gradely.Shift(level=1)])
@pytest.mark.parametrize("measure", GRADED, ids=lambda m: m.name)
def test_shifted_labels_are_worth_what_labels_from_0_on_are(measure, relevance):
    plain = measure(relevance="identity") if issubclass(measure, BinaryOrGraded) else measure()
    for ties in ("best", "worst") if not measure.takes_expected else ("expected", "best", "worst"):
        expected = gradely.evaluate(PLAIN, RUN, [plain], ties=ties).values
        found = gradely.evaluate(STARS, RUN, [measure(relevance=relevance)], ties=ties).values
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-15)
        assert (found != gradely.evaluate(STARS, RUN, [plain], ties=ties).values).any() or measure is gradely.nDCGphi


@pytest.mark.parametrize("measure", ["eGAP", "ERR"])
def test_a_shift_by_0_changes_nothing(measure):
    found = gradely.evaluate(STARS, RUN, [measure, f"{measure}(relevance=shift(0))"]).values
    assert (found[:, 0] == found[:, 1]).all()


def test_s11_by_hand():
    """Stars 2, 1, 4 are grades 1, 0, 3: AP(1) = (1 + 2/3)/2, AP(3) = 1/3, distances 1 and 2."""
    scores = gradely.evaluate({"q": {"a": 2, "b": 1, "c": 4}}, {"q": ["a", "b", "c"]}, ["muAP(relevance=shift(1))"])
    assert scores.values.item() == pytest.approx(((1 + 2 / 3) / 2 + 2 * (1 / 3)) / 3, abs=1e-15)


def test_the_lowest_label_is_that_of_the_collection():
    """Query r has no label 1: its labels are shifted by the collection's, not by its own."""
    np.testing.assert_allclose(
        gradely.evaluate(STARS, RUN, ["DCG(relevance=shift)"]).values, gradely.evaluate(PLAIN, RUN, ["DCG"]).values
    )


@pytest.mark.parametrize("relevance", ["shift", gradely.Shift(-2)])
@pytest.mark.parametrize("measure", GRADED, ids=lambda m: m.name)
def test_a_scale_below_0_is_shifted_up(measure, relevance):
    """S11, §3.2: labels -2 to 2 are worth what 0 to 4 are worth; a document that nobody judged stays at 0."""
    plain = measure(relevance="identity") if issubclass(measure, BinaryOrGraded) else measure()
    below = {query: {doc: label - 2 for doc, label in labels.items()} for query, labels in PLAIN.items()}
    expected = gradely.evaluate(PLAIN, RUN, [plain], ties="worst").values
    found = gradely.evaluate(below, RUN, [measure(relevance=relevance)], ties="worst").values
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-15)


def test_a_scale_from_0_on_stays():
    qrels, run = {"q": {"a": 0, "b": 2, "c": 1}}, {"q": ["a", "b", "c"]}
    plain, shifted = gradely.evaluate(qrels, run, ["nDCG", "nDCG(relevance='shift')"]).values[0]
    assert plain == shifted


@pytest.mark.parametrize(
    "name",
    [
        "nDCG(relevance='shift')@10",
        "nDCG(relevance=shift(1), gain='exp')",
        "NDCNG(relevance=shift(1, 'max'))",
        "NDCNG(relevance=shift(then='max'))",
        "muAP(relevance=shift(0.5, max(4)))",
    ],
)
def test_names_read_back(name):
    measure = gradely.parse(name)
    assert gradely.parse(str(measure)) == measure


def test_a_shift_stands_before_the_measure_s_own_relevance():
    assert gradely.parse("NDCNG(relevance=shift(1))") == gradely.NDCNG(relevance=gradely.Shift(1, "max"))
    assert str(gradely.NDCNG(relevance="shift")) == "NDCNG(relevance=shift(then='max'))"


def test_arrays_and_padding():
    labels, scores = np.asarray([[5.0, 1, 3, 0], [2, 4, 0, 0]]), np.asarray([[1.0, 2, 3, 9], [1, 2, 9, 9]])
    mask = labels > 0
    for name in ("nDCG(relevance='shift')", "NDCNG(relevance='shift')", "ERR(relevance='shift')"):
        measure = gradely.parse(name)
        plain = measure.replace(relevance=type(measure)().relevance)
        expected = plain(gradely.from_arrays(scores, np.maximum(labels - 1, 0), mask))
        np.testing.assert_allclose(measure(gradely.from_arrays(scores, labels, mask)), expected, atol=1e-15)
        np.testing.assert_allclose(gradely.evaluate_arrays(scores, labels, [name], mask)[name], expected, atol=1e-15)


@pytest.mark.parametrize("bad", ["shift('x')", "shift(nothing)", "shift(1, 'nothing')", "shift(1, shift(2))"])
def test_what_is_no_shift_is_refused(bad):
    with pytest.raises(gradely.MeasureError):
        gradely.parse(f"nDCG(relevance={bad})")


def test_check_notices_labels_whose_lowest_is_above_0():
    _, low = gradely.check(STARS)
    assert low.kind == "fact" and "lowest label is 1" in low.text and "relevance=shift(1)" in low.text
    assert not any("lowest label" in finding.text for finding in gradely.check(PLAIN))
    assert len(gradely.check({"q": {"a": 1, "b": 1}})) == 1  # relevant documents alone, as many collections list them
    _, below = gradely.check({"q": {"a": -2, "b": 0, "c": 2}})
    assert below.kind == "warning" and "if -2 is the lowest level of a scale, use relevance=shift(-2)" in below.text
