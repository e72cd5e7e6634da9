"""Measures as functions of arrays: what they refuse, what may be traced, how rows are cut into blocks."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

import gradely
from gradely import DataError, as_function, evaluate_arrays, from_arrays
from gradely.kernel.batch import Levels
from gradely.measures import base, gap, searched_measure
from gradely.measures.gap import Population
from tests.cases import CASES
from tests.kernel.test_arrays import LABELS, SCORES
from tests.kernel.test_fixed import LEVELS, close


def test_random_orders_are_those_of_the_same_seed():
    found = as_function(["RR", "AP"], ties="random")(SCORES["tied"], LABELS)
    close(found, evaluate_arrays(SCORES["tied"], LABELS, ["RR", "AP"], ties="random", seed=0))


def test_labels_that_are_all_0_give_0():
    values = as_function(["NDCNG", "DCG(relevance='max')"])(np.array([[2.0, 1.0]]), np.array([[0, 0]]))
    assert [value.tolist() for value in values.values()] == [[0], [0]]


@pytest.mark.parametrize("ties", ["best", "worst"])
def test_groups_with_a_bound_stay_tied(ties, monkeypatch):
    monkeypatch.setattr(searched_measure, "STATES", 1)
    expected = gradely.xGAP()(from_arrays(SCORES["tied"], LABELS, ties=ties))
    close(as_function(["xGAP"], ties=ties)(SCORES["tied"], LABELS), {"xGAP": expected})


@pytest.mark.parametrize("traced", [np.float32, np.float64])
def test_nothing_is_checked_where_scores_or_labels_are_traced(traced, monkeypatch):
    """Scores are single here and labels double, and those of one kind are taken for traced."""
    scores, labels = np.array([[np.nan, 1]], np.float32), np.array([[1.0, 0.0]])
    with pytest.raises(DataError, match="NaN"):
        gradely.AP().of(scores, labels)
    monkeypatch.setattr("gradely.measures.function.is_traced", lambda x: x.dtype == traced)
    assert gradely.AP().of(scores, labels).shape == (1,)


def test_nobody_asks_what_is_in_batches_of_fixed_shape(monkeypatch):
    """However many levels there are: a function that is traced could not answer."""
    expected = {name: gradely.parse(name)(from_arrays(SCORES["tied"], LABELS)) for name in ("muAP", "nDCG")}
    for question in (base, "is_any"), (Population, "_add_at_once"):
        monkeypatch.setattr(*question, lambda *_: pytest.fail("asked"))
    monkeypatch.setattr(gap, "MANY", 1)
    close(as_function(["muAP", "nDCG"], levels=LEVELS)(SCORES["tied"], LABELS), expected)


PICKLED = """\
import pickle, sys
import numpy as np
scores, labels, of, function, measures, expected = pickle.load(sys.stdin.buffer)
values = [of(scores, labels), *function(scores, labels).values(), *(measure(batch) for measure in measures for batch in
          [__import__("gradely").from_arrays(scores, labels, ties="best")])]
assert all((a == b).all() for a, b in zip(values, expected, strict=True)), values
print([str(measure) for measure in measures])
"""


def test_measures_and_functions_are_pickled_to_other_processes():
    measures = [*dict.fromkeys(case.measure for case in CASES), gradely.ERR().fit(Levels(LABELS))]
    function, of = as_function(["nDCG@5", gradely.eGAP()], levels=LEVELS, check=True), gradely.nDCG(k=3, gain="exp").of
    batch = from_arrays(SCORES["tied"], LABELS, ties="best")
    values = [measure(batch) for measure in measures]
    expected = [of(SCORES["tied"], LABELS), *function(SCORES["tied"], LABELS).values(), *values]
    sent = pickle.dumps((SCORES["tied"], LABELS, of, function, measures, expected))
    done = subprocess.run([sys.executable, "-c", PICKLED], input=sent, capture_output=True, check=False)
    assert done.stdout.decode() == f"{[str(measure) for measure in measures]}\n", done.stderr.decode()


def test_what_is_read_from_a_pickle_is_the_same():
    measures = list(dict.fromkeys(case.measure for case in CASES))
    assert pickle.loads(pickle.dumps(measures)) == measures and copy.deepcopy(measures) == measures
    function = pickle.loads(pickle.dumps(as_function("AP", ties="best", levels=[2, 1])))
    assert repr(function) == "as_function(['AP'], levels=(1.0, 2.0), ties='best', check=False)"
    with pytest.raises(DataError, match="NaN"):
        pickle.loads(pickle.dumps(as_function("AP", check=True)))(np.array([[np.nan, 1]]), np.array([[1, 0]]))
