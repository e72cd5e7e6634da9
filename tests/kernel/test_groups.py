"""Flat arrays with groups, as learning to rank has them, give what one query at a time gives."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradely
from gradely import DataError, evaluate_arrays, from_arrays, from_groups
from gradely.kernel import arrays as module
from gradely.kernel.batch import Levels
from tests.kernel.test_arrays import library

MEASURES = ["nDCG@3", "AP", "RR", "muAP", "ERR", "P@2", "GAP"]
TIES = ["expected", "best", "worst", "order"]
rng = np.random.default_rng(7)
SIZES = [3, 1, 0, 7, 3, 12, 1]
SCORES = rng.integers(0, 4, sum(SIZES)).astype(np.float64)
LABELS = rng.choice([0, 0.5, 1, 2], sum(SIZES))


def one_by_one(scores, labels, sizes, ties):
    """Return the values of each query alone; a query without documents has nothing relevant."""
    fitted = {name: gradely.parse(name).fit(Levels(labels)) for name in MEASURES}
    out = {name: [] for name in MEASURES}
    for stop, size in zip(np.cumsum(sizes), sizes, strict=True):
        rows = slice(stop - size, stop)
        for name, measure in fitted.items():
            batch = from_arrays(scores[rows], labels[rows], ties=ties) if size else None
            out[name].append(float(measure(batch)[0]) if size else 0.0)
    return out


def same(found, expected):
    for name in MEASURES:
        np.testing.assert_allclose(np.from_dlpack(found[name]), expected[name], rtol=0, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("name", ["numpy", "array_api_strict", "torch", "jax"])
def test_groups_of_every_library(name, ties, monkeypatch):
    array = np.asarray if name == "numpy" else library(name)
    expected = one_by_one(SCORES, LABELS, SIZES, ties)
    scores, labels = array(SCORES), array(LABELS)
    for cells in (1, 10, 1 << 20):
        monkeypatch.setattr(module, "CELLS", cells)
        monkeypatch.setattr(module, "MANY", cells)
        for group in (SIZES, array(np.array(SIZES)), np.array(SIZES, np.int32)):
            found = evaluate_arrays(scores, labels, MEASURES, group=group, ties=ties)
            same(found, expected)
            assert type(found["AP"]) is type(scores)
    batch = from_groups(scores, labels, group=SIZES, ties=ties)
    np.testing.assert_allclose(np.from_dlpack(gradely.AP()(batch)), expected["AP"], rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["numpy", "array_api_strict", "torch", "jax"])
@pytest.mark.parametrize("kind", ["integers", "text", "floats"])
def test_queries_may_stand_in_any_order(name, kind):
    array = np.asarray if name == "numpy" else library(name)
    sizes = [size for size in SIZES if size]
    code = np.repeat([50, 3, 70, 4, 90, 6], sizes)
    shuffled = rng.permutation(len(code))
    _, first = np.unique(code[shuffled], return_index=True)
    appear = code[shuffled][np.sort(first)]
    qid = {"integers": array(code[shuffled]), "text": [f"q{c}" for c in code[shuffled]], "floats": code[shuffled] / 2}
    stable = np.concatenate([np.flatnonzero(code[shuffled] == c) for c in appear])
    expected = one_by_one(
        SCORES[shuffled][stable], LABELS[shuffled][stable], [int((code == c).sum()) for c in appear], "order"
    )
    found = evaluate_arrays(array(SCORES[shuffled]), array(LABELS[shuffled]), MEASURES, qid=qid[kind], ties="order")
    same(found, expected)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=6), min_size=1, max_size=8)
)
def test_ragged_lists_are_groups(rows):
    scores, labels = ([[pair[i] for pair in row] for row in rows] for i in (0, 1))
    flat = [np.concatenate(column).astype(float) for column in (scores, labels)]
    expected = one_by_one(*flat, [len(row) for row in rows], "expected")
    same(evaluate_arrays(scores, labels, MEASURES), expected)
    arrays = ([np.array(row) for row in column] for column in (scores, labels))
    same(evaluate_arrays(*arrays, MEASURES), expected)


def test_random_ties_are_drawn_with_the_seed_whatever_the_blocks(monkeypatch):
    scores, labels = np.zeros(4000), np.tile([1.0, 0.0], 2000)
    for how in ({"group": [2] * 2000}, {"qid": np.repeat(np.arange(2000), 2)}):
        values = evaluate_arrays(scores, labels, ["RR"], **how, ties="random", seed=1)["RR"]
        assert 0.72 < values.mean() < 0.78
        monkeypatch.setattr(module, "CELLS", 3)
        np.testing.assert_array_equal(
            evaluate_arrays(scores, labels, ["RR"], **how, ties="random", seed=1)["RR"], values
        )
        assert (evaluate_arrays(scores, labels, ["RR"], **how, ties="random", seed=2)["RR"] != values).any()


def test_a_long_query_does_not_make_the_others_long():
    sizes = np.array([1] * 300 + [5000])
    groups = module.group_documents(np.zeros(sizes.sum()), np.zeros(sizes.sum()), sizes, None, "expected", 0)
    cells = [groups.batch(block, "expected").grade.size for block in groups.blocks()]
    assert sum(cells) == sizes.sum()


WRONG = {
    "no groups": (
        ((0.1, 0.2), (1, 0)),
        {},
        "2 scores without queries: pass the query of each, with group=sizes or qid=ids",
    ),
    "both": (((0.1, 0.2), (1, 0)), {"group": [2], "qid": [1, 1]}, "pass either group or qid"),
    "sum": (((0.1, 0.2), (1, 0)), {"group": [3]}, "add up to 3, but there are 2 scores"),
    "bounds": (((0.1, 0.2, 0.3), (1, 0, 1)), {"group": [0, 2, 3]}, "start of each group and the end, pass numpy.diff"),
    "qid as group": (((0.1, 0.2), (1, 0)), {"group": [7, 7]}, "call it qid"),
    "negative": (((0.1, 0.2), (1, 0)), {"group": [3, -1]}, "whole numbers"),
    "fractions": (((0.1, 0.2), (1, 0)), {"group": [0.5, 1.5]}, "whole numbers"),
    "text": (((0.1, 0.2), (1, 0)), {"group": ["a"]}, "whole numbers"),
    "empty": (((0.1, 0.2), (1, 0)), {"group": []}, "whole numbers"),
    "nothing at all": (((), ()), {"qid": []}, "at least one document"),
    "short qid": (((0.1, 0.2), (1, 0)), {"qid": [1]}, "every score needs a qid"),
    "missing qid": (((0.1, 0.2), (1, 0)), {"qid": [1, None]}, "a qid is missing"),
    "nan qid": (((0.1, 0.2), (1, 0)), {"qid": [1, float("nan")]}, "a qid is missing"),
    "lengths": (((0.1, 0.2), (1, 0, 1)), {"group": [2]}, "of the same length"),
    "tables": ((((0.1, 0.2),), ((1, 0),)), {"group": [2]}, "must be flat"),
    "ragged labels": ((([0.1, 0.2], [0.3]), ([1, 0], [1, 1])), {}, r"query 1 \(from 0\) has 1 scores and 2 labels"),
    "flat labels": ((([0.1, 0.2], [0.3]), (1, 0, 1)), {}, "labels must have the same form"),
    "ragged and group": ((([0.1, 0.2], [0.3]), ([1, 0], [1])), {"group": [2, 1]}, "leave group and qid out"),
    "ragged labels alone": ((([0.1, 0.2], [0.3, 0.4]), ([1, 0], [1])), {}, "labels: the rows are of different lengths"),
    "no labels": (((0.1, 0.2), None), {"group": [2]}, r"labels are missing \(None\)"),
    "labels None": (((0.1, 0.2), (1, None)), {"group": [2]}, "labels must be numbers; found None"),
    "labels text": (((0.1, 0.2), ("good", "bad")), {"group": [2]}, "labels must be numbers; found 'good'"),
    "dense labels None": ((((0.1, 0.2),), ((1, None),)), {}, "labels must be numbers; found None"),
    "dense labels text": ((((0.1, 0.2),), (("1", "0"),)), {}, "labels must be numbers; found '1'"),
    "scores text": ((((0.1, "x"),), ((1, 0),)), {}, "scores must be numbers"),
    "nan": (((0.1, float("nan")), (1, 0)), {"group": [2]}, "a score is NaN"),
    "dates": ((np.array(["2026-01-01"], "M8[D]"), (1,)), {"group": [1]}, "scores must be numbers; found datetime64"),
    "mask": (((0.1, 0.2), (1, 0)), {"group": [2], "mask": [True, True]}, "nothing to mask"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_does_not_fit_is_explained(case):
    (scores, labels), how, says = WRONG[case]
    with pytest.raises(DataError, match=says):
        evaluate_arrays(scores, labels, ["RR"], **how)


def test_mixed_libraries_are_named():
    array = library("array_api_strict")
    with pytest.raises(DataError, match="scores of array_api_strict and labels of numpy: give arrays of one library"):
        evaluate_arrays(array(np.zeros((1, 2))), np.zeros((1, 2)), ["RR"])
    with pytest.raises(DataError, match="give arrays of one library"):
        from_groups(np.zeros(2), array(np.zeros(2)), group=[2])
    assert float(evaluate_arrays(array(np.zeros(2)), [1, 1], ["RR"], group=np.array([2]))["RR"][0]) == 1.0
