"""Ranked ids and labelled ids give what the same ranking gives as a dict of dicts, in every array library."""

import array_api_strict
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradely
from gradely import DataError, evaluate, from_ids
from tests.cases import CASES
from tests.kernel.test_arrays import library

MEASURES = list(dict.fromkeys(case.measure for case in CASES))


def padded(rows, width):
    return np.array([[*row, *[-1] * (width - len(row))] for row in rows])


@st.composite
def tables(draw):
    """Some rows of ranked ids, labelled ids and labels, with padding; some ids too large to pack as they are."""
    known = st.lists(
        st.integers(0, 12) | st.sampled_from([2**62, 2**62 + 1, -(2**62)]), min_size=1, max_size=9, unique=True
    )
    ranked, labelled = draw(st.lists(known, min_size=1, max_size=4)), []
    labelled = [draw(known) for _ in ranked]
    labels = [[draw(st.sampled_from([0, 0.5, 1, 2, 3])) for _ in row] for row in labelled]
    return padded(ranked, 9), padded(labelled, 10), padded(labels, 10)


def as_dicts(ranked, labelled, labels):
    run = {f"q{i:03}": [str(x) for x in row if x != -1] for i, row in enumerate(ranked.tolist())}
    pairs = (zip(a, b, strict=True) for a, b in zip(labelled.tolist(), labels.tolist(), strict=True))
    qrels = {f"q{i:03}": {str(x): label for x, label in row if x != -1} for i, row in enumerate(pairs)}
    return qrels, run


@settings(max_examples=40, deadline=None)
@given(tables())
def test_ids_give_what_dicts_give(table):
    batch = from_ids(*table)
    expected = evaluate(*as_dicts(*table), MEASURES).per_query()
    for measure in MEASURES:
        values = [row[str(measure)] for _, row in sorted(expected.items())]
        np.testing.assert_allclose(measure(batch), values, rtol=0, atol=1e-12, err_msg=str(measure))


@pytest.mark.parametrize("name", ["array_api_strict", "torch", "jax"])
def test_every_library_agrees_with_numpy(name):
    array, rng = library(name), np.random.default_rng(5)
    ranked = np.array([rng.permutation(40)[:12] for _ in range(20)])
    labelled = np.array([rng.permutation(40)[:15] for _ in range(20)])
    labels = rng.choice([0.0, 1, 2], labelled.shape)
    ours, theirs = (from_ids(*map(make, (ranked, labelled, labels))) for make in (np.asarray, array))
    for measure in MEASURES:
        value = measure(theirs)
        assert type(value) is type(array(np.zeros(1)))
        np.testing.assert_allclose(np.from_dlpack(value), measure(ours), rtol=0, atol=1e-12, err_msg=str(measure))


def test_ids_of_any_width_meet():
    ranked, labelled = np.array([[-100, 100, 7]], np.int8), np.array([[100, 2**40]], np.int64)
    assert gradely.RR()(from_ids(ranked, labelled)).tolist() == [1 / 2]
    assert gradely.RR()(from_ids(labelled, ranked)).tolist() == [1]


def test_labels_are_1_where_none_are_given():
    assert gradely.P(k=2)(from_ids([[5, 6]], [[6, 9]])).tolist() == [1 / 2]


def test_many_rows_go_in_blocks_and_no_value_changes():
    rng = np.random.default_rng(6)
    ranked, labelled = (rng.permuted(np.tile(np.arange(30), (20_000, 1)), axis=1)[:, :n] for n in (20, 10))
    labels = rng.integers(0, 4, labelled.shape)
    batch, few = from_ids(ranked, labelled, labels), slice(9_990, 10_010)
    assert len(batch.parts) > 1
    for name in ("nDCG@10", "AP", "RR"):
        some = gradely.parse(name)(from_ids(ranked[few], labelled[few], labels[few]))
        assert gradely.parse(name)(batch)[few].tolist() == some.tolist()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (([[1, 2]], [[1], [2]]), "the same number of rows"),
        (([1, 2], [1]), "the same number of rows"),
        (([[1, 2]], [[1]], [[1, 2]]), "every labelled id needs a label"),
        (([["a"]], [[1]]), "whole numbers"),
        (([[1.0]], [[1]]), "whole numbers"),
        (([[1]], [[1]], [[float("nan")]]), "label is NaN"),
        (([[1, -1, 2]], [[1]]), "padding -1 must come after"),
        (([[1, 2], [3, 3]], [[1], [1]]), "row 1 .* duplicate id"),
        (([[1, 2]], [[4, 4]]), "row 0 .* duplicate id"),
    ],
)
def test_ids_that_make_no_sense_are_refused(arguments, says):
    with pytest.raises(DataError, match=says):
        from_ids(*arguments)


def test_lists_beside_arrays_follow_them():
    value = gradely.RR()(from_ids(array_api_strict.asarray([[4, 5]]), [[5]]))
    assert type(value) is type(array_api_strict.asarray([1.0]))
