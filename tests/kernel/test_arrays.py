"""Arrays of every library give what NumPy's give, in that library and on its device."""

import importlib.util
import re
from decimal import Decimal
from fractions import Fraction

import array_api_strict
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import gradely
from gradely import DataError, as_function, evaluate_arrays, from_arrays
from gradely.measures import PLAIN
from tests.cases import CASES

MEASURES = [
    *dict.fromkeys(case.measure for case in CASES),
    gradely.nDCG(relevance=gradely.Phi([(0, 0), (2, 1)])),
    gradely.nDCG(relevance=gradely.Phi("code")),
]
rng = np.random.default_rng(4)
SCORES = {
    "tied": rng.integers(0, 5, (6, 17)).astype(np.float64),
    "untied": rng.permuted(np.tile(np.arange(17.0), (6, 1)), axis=1),
}
LABELS = rng.choice([0, 0.5, 1, 2, 3], (6, 17))
MASK = rng.random((6, 17)) < 0.8
MASK[:, 0] = True


def library(name):
    """Return a function that makes an array of a library, where it is installed."""
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed: make test-arrays")
    if name == "torch":
        return importlib.import_module("torch").asarray
    if name == "jax":
        importlib.import_module("jax").config.update("jax_enable_x64", True)  # noqa: FBT003
        return importlib.import_module("jax.numpy").asarray
    return array_api_strict.asarray


@pytest.mark.parametrize("kind", SCORES)
@pytest.mark.parametrize("ties", ["expected", "best", "worst", "order", "random"])
@pytest.mark.parametrize("name", ["array_api_strict", "torch", "jax"])
def test_every_library_agrees_with_numpy(name, ties, kind):
    array = library(name)
    ours = from_arrays(SCORES[kind], LABELS, MASK, ties=ties)
    theirs = from_arrays(array(SCORES[kind]), array(LABELS), array(MASK), ties=ties)
    for measure in MEASURES:
        if ties == "expected" and kind == "tied" and not measure.takes_expected:
            continue
        value = measure(theirs)
        assert type(value) is type(array(np.zeros(1)))
        np.testing.assert_allclose(np.from_dlpack(value), measure(ours), rtol=0, atol=1e-12, err_msg=str(measure))


REAL = np.random.default_rng(7).random((6, 17)) * 5
"""labels of which sums in different orders differ in the last bit"""
OF_REAL = [kind(k=k) for kind in PLAIN for k in (None, 3)] + [
    gradely.nDCG(gain="exp"),
    gradely.RBP(relevance="phi"),
]


@pytest.mark.filterwarnings("ignore:.* documents with a label of 1 or more as relevant, and there are none")
@settings(max_examples=30, deadline=None)
@given(
    columns=st.lists(st.tuples(st.integers(0, 2), st.floats(-1, 5, width=32)), min_size=2, max_size=9),
    ties=st.sampled_from(["expected", "best", "worst"]),
    random=st.randoms(use_true_random=False),
)
def test_no_order_of_documents_changes_a_bit(columns, ties, random):
    """In rows, with padding, in groups and by the query of each document."""
    measures = [m for m in OF_REAL if m.takes_expected or ties != "expected"]
    mixed = random.sample(columns, len(columns))
    given, other = (np.array(pairs).T for pairs in (columns, mixed))
    expected = evaluate_arrays(given[:1], given[1:], measures, ties=ties)
    mask = [[True] * len(columns) + [False]]
    padded = [np.concatenate([row, [9.0]])[None, :] for row in other]
    for found in (
        evaluate_arrays(other[:1], other[1:], measures, ties=ties),
        evaluate_arrays(*padded, measures, mask, ties=ties),
        evaluate_arrays(*other, measures, group=[len(columns)], ties=ties),
        evaluate_arrays(*other, measures, qid=["q"] * len(columns), ties=ties),
    ):
        assert {name: value.tolist() for name, value in found.items()} == {
            name: value.tolist() for name, value in expected.items()
        }


@pytest.mark.parametrize(
    "labels", [[3, -2, 0, 1, 3, 0], [2**53, 2**53 - 2, 0, 1, 5, 0], [0.5, 2.0, 0.3, 1.0, 0.5, 3.0]]
)
def test_labels_of_tied_documents_stand_in_order(labels):
    """Whole numbers of any size, and others: the highest first, none of them changed."""
    batch = from_arrays([[2, 2, 1, 1, 1, 0]], [labels])
    head, middle, last = sorted(labels[:2], reverse=True), sorted(labels[2:5], reverse=True), labels[5:]
    assert batch.grade[0].tolist() == head + middle + last


@pytest.mark.parametrize("ties", ["expected", "best", "worst"])
@pytest.mark.parametrize("name", ["numpy", "array_api_strict", "torch", "jax"])
def test_no_order_of_columns_changes_a_bit_in_any_library(name, ties):
    array, order = np.asarray if name == "numpy" else library(name), np.random.default_rng(1).permutation(17)
    given, other = ([array(x[:, at]) for x in (SCORES["tied"], REAL, MASK)] for at in (slice(None), order))
    fixed = as_function([m for m in OF_REAL if m.is_fixed(ties)], ties=ties)
    pairs = [(fixed(*given), fixed(*other))]
    pairs += [
        ({"": m(from_arrays(*given, ties=ties))}, {"": m(from_arrays(*other, ties=ties))})
        for m in (gradely.nDCG(), gradely.AP(rel=2), gradely.muAP(k=3))
    ]
    for ours, theirs in pairs:
        for measure, values in ours.items():
            assert np.from_dlpack(values).tolist() == np.from_dlpack(theirs[measure]).tolist(), measure


@pytest.mark.parametrize("name", ["array_api_strict", "torch", "jax"])
def test_integers_and_single_precision_are_welcome(name):
    array = library(name)
    batch = from_arrays(array(SCORES["tied"].astype(np.float32)), array(LABELS.astype(np.int32)))
    expected = gradely.nDCG()(from_arrays(SCORES["tied"], LABELS.astype(np.int32)))
    np.testing.assert_allclose(np.from_dlpack(gradely.nDCG()(batch)), expected, atol=1e-12)


def test_jax_without_double_precision():
    library("jax")
    import jax

    with jax.enable_x64(False):  # noqa: FBT003
        value = gradely.nDCG()(from_arrays(jax.numpy.asarray(SCORES["tied"]), jax.numpy.asarray(LABELS)))
        assert value.dtype == np.float32
        np.testing.assert_allclose(np.asarray(value), gradely.nDCG()(from_arrays(SCORES["tied"], LABELS)), atol=1e-5)


def test_lists_and_one_dimension_are_one_query():
    assert gradely.RR()(from_arrays([0.1, 0.9], [1, 0])).tolist() == [1 / 2]
    assert gradely.RR()(from_arrays([[0.1, 0.9], [3, 2]], [[1, 0], [1, 0]])).tolist() == [1 / 2, 1]


def test_lists_beside_arrays_follow_them():
    value = gradely.RR()(from_arrays(array_api_strict.asarray([0.1, 0.9]), [1, 0]))
    assert type(value) is type(array_api_strict.asarray([1.0]))


def test_padding_is_no_document():
    batch = from_arrays([[3, 2, 9]], [[0, 1, 1]], [[True, True, False]])
    assert gradely.RR()(batch).tolist() == [1 / 2]
    assert gradely.R()(batch).tolist() == [1]
    assert gradely.P()(batch).tolist() == [1 / 2]


def test_a_row_of_padding_alone_scores_0():
    """But for the residual of RBP: where nothing was retrieved, everything is open."""
    batch = from_arrays([[1, 2], [1, 2]], [[1, 1], [1, 1]], [[True, True], [False, False]])
    for measure in PLAIN:
        assert measure()(batch)[1] == (1 if measure is gradely.RBPresidual else 0), measure


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (([1, 2], [1]), "one shape"),
        (([[1, 2]], [1, 2]), "one shape"),
        (([1], [1], [True, False]), "one shape"),
        (([], []), "one shape"),
        (([[[1]]], [[[1]]]), "one shape"),
        (([float("nan"), 1], [1, 0]), "score is NaN"),
        (([float("inf"), 1], [1, 0]), "score is NaN or infinite"),
        (([1, 2], [float("nan"), 0]), "label is NaN"),
    ],
)
def test_arrays_that_make_no_sense_are_refused(arguments, says):
    with pytest.raises(DataError, match=says):
        from_arrays(*arguments)


MASKED = np.ma.array([[3.0, 2.0, 1.0]], mask=[[True, False, False]])
ROW, LABELS_OF_ROW = MASKED[0], [0, 1, 0]


@pytest.mark.parametrize(
    "call",
    [
        lambda: evaluate_arrays(MASKED, [LABELS_OF_ROW], ["RR"]),
        lambda: evaluate_arrays([[3, 2, 1]], np.ma.array([LABELS_OF_ROW], mask=[[0, 0, 1]]), ["RR"]),
        lambda: evaluate_arrays([[3, 2, 1]], [LABELS_OF_ROW], ["RR"], np.ma.array([[1, 1, 1]], mask=[[0, 0, 1]])),
        lambda: evaluate_arrays([ROW, ROW], [LABELS_OF_ROW, LABELS_OF_ROW], ["RR"]),
        lambda: evaluate_arrays([ROW, [2, 1]], [LABELS_OF_ROW, [0, 1]], ["RR"]),
        lambda: evaluate_arrays(ROW, LABELS_OF_ROW, ["RR"], group=[3]),
        lambda: evaluate_arrays([3, 2, 1], LABELS_OF_ROW, ["RR"], qid=np.ma.array([1, 1, 1], mask=[1, 0, 0])),
        lambda: from_arrays(ROW, LABELS_OF_ROW),
        lambda: gradely.from_groups(ROW, LABELS_OF_ROW, group=[3]),
        lambda: gradely.from_ids([[1, 2]], np.ma.array([[1, 2]], mask=[[1, 0]])),
        lambda: gradely.lambdas("nDCG", ROW, LABELS_OF_ROW, group=[3]),
        lambda: gradely.as_function("RR")(MASKED, [LABELS_OF_ROW]),
    ],
)
def test_a_masked_array_is_refused_and_never_read_without_its_mask(call):
    with pytest.raises(DataError, match="a masked array would lose its mask; pass a plain array"):
        call()


HIDDEN = np.ma.array([LABELS_OF_ROW], mask=[[True, False, False]])
REST = ~np.ma.getmaskarray(HIDDEN)
BOTH = "~numpy.ma.getmaskarray(scores) & ~numpy.ma.getmaskarray(labels)"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (([[3, 2, 1]], HIDDEN), "labels.filled(0) and mask=~numpy.ma.getmaskarray(labels)"),
        ((MASKED, [LABELS_OF_ROW]), "scores.filled(0) and mask=~numpy.ma.getmaskarray(scores)"),
        ((MASKED, HIDDEN), f"scores.filled(0) and labels.filled(0) and mask={BOTH}"),
        (([[3, 2, 1]], HIDDEN, REST), "labels.filled(0) and mask=mask & ~numpy.ma.getmaskarray(labels)"),
        (([[3, 2, 1]], [LABELS_OF_ROW], np.ma.array(REST, mask=~REST)), "mask=mask.filled(False)"),
    ],
)
def test_what_is_said_of_a_masked_array_can_be_typed(given, says):
    with pytest.raises(DataError) as error:
        from_arrays(*given)
    assert str(error.value).endswith(f"without the masked values, or, with one row per query, {says}")
    names = dict(zip(("scores", "labels", "mask"), given, strict=False))
    filled = {name: x.filled(0) if isinstance(x, np.ma.MaskedArray) else x for name, x in names.items()}
    mask = eval(says.rpartition("mask=")[2], {"numpy": np}, names)
    assert evaluate_arrays(filled["scores"], filled["labels"], ["RR"], mask)["RR"].tolist() == [1.0]


@pytest.mark.parametrize(
    "call",
    [
        lambda: evaluate_arrays([ROW, ROW], [LABELS_OF_ROW, LABELS_OF_ROW], ["RR"]),  # rows, not an array
        lambda: evaluate_arrays([3, 2, 1], LABELS_OF_ROW, ["RR"], qid=np.ma.array([1, 1, 1], mask=[1, 0, 0])),
        lambda: gradely.from_ids([[1, 2]], np.ma.array([[1, 2]], mask=[[1, 0]])),
    ],
)
def test_what_cannot_be_masked_has_no_advice_on_masks(call):
    with pytest.raises(DataError, match=r"without the masked values$"):
        call()


def test_a_masked_array_that_masks_nothing_is_an_array():
    assert evaluate_arrays(np.ma.array([[3.0, 2.0, 1.0]]), [LABELS_OF_ROW], ["RR"])["RR"].tolist() == [0.5]
    masked = evaluate_arrays(MASKED.data, [LABELS_OF_ROW], ["RR"], ~np.ma.getmaskarray(MASKED))
    assert masked["RR"].tolist() == [1.0]


def test_numbers_that_are_objects_are_numbers():
    scores, labels = np.array([[1, 2.5, Fraction(1, 3)]], object), np.array([LABELS_OF_ROW], object)
    assert evaluate_arrays(scores, labels, ["RR"])["RR"].tolist() == [1.0]
    for found in (None, "2", Decimal(1)):
        with pytest.raises(DataError, match=re.escape(f"scores must be numbers; found {found!r}")):
            evaluate_arrays(np.array([[1, 2.5, found]], object), labels, ["RR"])
    with pytest.raises(DataError, match="labels: a number is too large"):
        evaluate_arrays(scores, [[10**400, 1, 0]], ["RR"])
    with pytest.raises(DataError, match=r"labels must be numbers; found a csr_array: give its toarray\(\)$"):
        evaluate_arrays(scores, csr_array([LABELS_OF_ROW]), ["RR"])  # its text has two lines


@pytest.mark.parametrize("seed", [-1, 1.5, None, "1"])
def test_a_seed_is_a_whole_number(seed):
    for flat in ({}, {"group": [2]}, {"qid": [1, 1]}):
        row = (lambda x: x) if flat else (lambda x: [x])
        message = f"the seed must be a whole number of at least 0; found {seed!r}"
        with pytest.raises(DataError, match=re.escape(message)):
            evaluate_arrays(row([1, 1]), row([0, 1]), ["RR"], **flat, ties="random", seed=seed)


def test_what_is_masked_may_be_anything():
    batch = from_arrays([1, float("nan")], [1, float("nan")], [True, False])
    assert gradely.AP()(batch).tolist() == [1]


def test_arrays_are_not_changed():
    scores, labels = SCORES["tied"].copy(), LABELS.copy()
    gradely.nDCG()(from_arrays(scores, labels, ties="random"))
    np.testing.assert_array_equal(scores, SCORES["tied"])
    np.testing.assert_array_equal(labels, LABELS)


@pytest.mark.parametrize("ties", ["expected", "best", "worst", "order", "random"])
def test_many_rows_at_once_give_what_each_measure_gives(ties, monkeypatch):
    monkeypatch.setattr("gradely.kernel.batch.CELLS", 2 * 17)
    measures = [measure for measure in MEASURES if measure.takes_expected or ties != "expected"]
    values = evaluate_arrays(SCORES["tied"], LABELS, measures, MASK, ties=ties, threads=2)
    batch = from_arrays(SCORES["tied"], LABELS, MASK, ties=ties)
    assert len(batch.parts) == 3
    for measure in measures:
        np.testing.assert_array_equal(values[str(measure)], measure(batch), err_msg=str(measure))
        np.testing.assert_array_equal(values[str(measure)], measure.fit(batch.levels).compute(batch))


@pytest.mark.parametrize("name", ["array_api_strict", "torch", "jax"])
def test_many_rows_at_once_stay_in_their_library(name):
    array = library(name)
    values = evaluate_arrays(array(SCORES["tied"]), array(LABELS), ["GAP", "nDCG@5"], array(MASK))
    expected = evaluate_arrays(SCORES["tied"], LABELS, ["GAP", "nDCG@5"], MASK)
    for measure, value in values.items():
        assert type(value) is type(array(np.zeros(1)))
        np.testing.assert_allclose(np.from_dlpack(value), expected[measure], rtol=0, atol=1e-12)


def test_levels_ascend_whatever_the_library_returns():
    scores, labels = rng.random((300, 200)), rng.integers(0, 9, (300, 200))
    expected = gradely.GAP()(from_arrays(scores, labels.astype(np.float64)))
    np.testing.assert_array_equal(evaluate_arrays(scores, labels, ["GAP"])["GAP"], expected)


def test_a_score_that_is_no_number_is_refused_in_any_block():
    scores = np.zeros((300, 1000))
    scores[299, 999] = np.nan
    with pytest.raises(DataError, match="score is NaN"):
        evaluate_arrays(scores, np.zeros((300, 1000)))
