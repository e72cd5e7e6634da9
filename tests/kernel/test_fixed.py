"""Batches of fixed shape give what others give, and compilers take them whole."""

import numpy as np
import pytest

import gradely
from gradely import DataError, MeasureError, as_function, evaluate_arrays, from_arrays
from gradely.kernel.arrays import rank_documents
from gradely.measures import PLAIN
from tests.kernel.test_arrays import LABELS, MASK, MEASURES, SCORES, library, rng


def fixed(ties):
    return [measure for measure in MEASURES if measure.is_fixed(ties)]


FIXED = fixed("expected")
LEVELS = [0.5, 1, 2, 3]


def one_each(measures):
    """Return one of each kind, since compilers take their time: every second one with a cut-off, if it may have one."""
    chosen = {}
    for measure in measures:
        chosen.setdefault(measure.name, measure)
        number = list(chosen).index(measure.name)
        if (measure.k is None) == (number % 2 == 0):
            chosen[measure.name] = measure
    return list(chosen.values())


ONE_EACH = one_each(FIXED)
UNTIED = one_each(measure for measure in fixed("order") if not measure.is_fixed())
"""those that have a formula of fixed shape only where nothing ties"""

WITHOUT_SHAPE = [measure.name for measure in PLAIN if not measure().is_fixed()]


def close(found, expected, atol=1e-12):
    for name, value in expected.items():
        np.testing.assert_allclose(np.from_dlpack(found[name]), value, rtol=0, atol=atol, err_msg=name)


def by_batch(scores, mask, ties="expected", measures=FIXED, labels=LABELS):
    batch = from_arrays(scores, labels, mask, ties=ties)
    return {str(measure): measure(batch) for measure in measures}


@pytest.mark.parametrize("mask", [None, MASK], ids=["whole", "masked"])
@pytest.mark.parametrize("kind", SCORES)
@pytest.mark.parametrize("ties", ["expected", "best", "worst", "order"])
@pytest.mark.parametrize("name", ["numpy", "array_api_strict", "torch"])
def test_they_give_what_other_batches_give(name, ties, kind, mask):
    array = np.asarray if name == "numpy" else library(name)
    arrays = [array(x) for x in (SCORES[kind], LABELS, mask) if x is not None]
    measures = [*FIXED, *UNTIED] if ties == "order" else fixed(ties)
    if name == "array_api_strict":  # which is slow: some cut-offs whole, the others masked
        measures = [measure for measure in measures if (measure.k in (None, 2)) == (mask is None)]
    expected = by_batch(SCORES[kind], mask, ties, measures)
    close(as_function(measures, ties=ties, check=True)(*arrays), expected)
    close(as_function(measures, ties=ties, levels=LEVELS)(*arrays), expected)


@pytest.mark.parametrize("name", ["numpy", "torch"])
def test_single_precision_stays_single(name):
    array = np.asarray if name == "numpy" else library(name)
    values = as_function(FIXED)(*(array(x.astype(np.float32)) for x in (SCORES["tied"], LABELS)), array(MASK))
    assert all(np.from_dlpack(value).dtype == np.float32 for value in values.values())
    close(values, by_batch(SCORES["tied"], MASK), atol=1e-5)


def test_jax_compiles_them():
    array = library("jax")
    import jax

    function = as_function(ONE_EACH, levels=LEVELS)
    arrays = [array(x) for x in (SCORES["tied"], LABELS, MASK)]
    expected = by_batch(SCORES["tied"], MASK, measures=ONE_EACH)
    close(jax.jit(function)(*arrays), expected)
    untied = by_batch(SCORES["tied"], MASK, "order", UNTIED)
    close(jax.jit(as_function(UNTIED, levels=LEVELS, ties="order"))(*arrays), untied)
    few = ["nDCG@10", "AP", "RR"]
    values = jax.jit(jax.vmap(as_function(few)))(*arrays)
    close(values, evaluate_arrays(SCORES["tied"], LABELS, few, MASK))


def test_torch_compiles_them_without_a_break():
    """With the compiler's own back end of plain operations: the one that writes C++ would take minutes."""
    array = library("torch")
    import torch

    arrays = [array(x) for x in (SCORES["tied"], LABELS, MASK)]
    compiled = torch.compile(as_function(ONE_EACH, levels=LEVELS), fullgraph=True, backend="aot_eager")
    close(compiled(*arrays), by_batch(SCORES["tied"], MASK, measures=ONE_EACH))
    compiled = torch.compile(as_function(UNTIED, levels=LEVELS, ties="order"), fullgraph=True, backend="aot_eager")
    close(compiled(*arrays), by_batch(SCORES["tied"], MASK, "order", UNTIED))
    compiled = torch.compile(gradely.nDCG(k=5).of, fullgraph=True, backend="aot_eager")
    np.testing.assert_allclose(compiled(*arrays), gradely.nDCG(k=5)(from_arrays(SCORES["tied"], LABELS, MASK)))


def test_torch_compiles_for_other_shapes_too():
    """The last batch of an epoch is shorter, and the compiler then tries numbers that stand for any shape."""
    array = library("torch")
    import torch

    compiled = torch.compile(as_function(["nDCG@5", "eGAP"], levels=LEVELS), fullgraph=True, backend="aot_eager")
    for rows, columns in ((6, 17), (3, 17), (5, 9), (4, 8)):
        arrays = [x[:rows, :columns] for x in (SCORES["tied"], LABELS, MASK)]
        close(compiled(*map(array, arrays)), as_function(["nDCG@5", "eGAP"], levels=LEVELS)(*arrays))


HUGE = np.array([[3000.0, 2000.0, 1.0, 0.0], [3.0, 2.0, 1.0, 0.0]])
"""labels whose exponential gains leave the range of numbers"""


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", ["array_api_strict", "torch", "jax"])
def test_huge_labels_give_what_numpy_gives_or_are_refused(name, dtype):
    array, scores = library(name), np.array([[1, 2, 2, 3], [1, 2, 2, 3]], dtype)
    names = ["nDCG(gain='exp')", "nDCG(gain='exp')@2", "NDCNG(gain='exp')", "nDCGphi"]
    given = [array(x) for x in (scores, HUGE.astype(dtype))]
    close(evaluate_arrays(*given, names), evaluate_arrays(scores, HUGE, names), atol=1e-6)
    close(as_function(names[:3])(*given), evaluate_arrays(scores, HUGE, names[:3]), atol=1e-6)
    with pytest.raises(DataError, match="too large"):
        evaluate_arrays(*given, ["DCG(gain='exp')"])


@pytest.mark.parametrize(("dtype", "unit"), [(np.float64, 2.0**700), (np.float64, 2.0**-700), (np.float32, 2.0**90)])
def test_the_curve_of_phi_is_the_same_for_labels_of_extreme_size(dtype, unit):
    labels = np.exp(rng.random((4, 12)) * 5)
    scores = rng.random(labels.shape).astype(dtype)
    given = scores, (labels * unit).astype(dtype)
    expected = evaluate_arrays(scores, labels, ["nDCGphi", "nDCGphi@5"])
    close(as_function(list(expected))(*given), expected, atol=1e-12 if dtype is np.float64 else 1e-5)


@pytest.mark.filterwarnings("ignore:overflow encountered in cast")  # NumPy's, below array_api_strict
@pytest.mark.parametrize("name", ["array_api_strict", "torch", "jax"])
def test_labels_beyond_the_precision_of_scores_are_taken_in_double(name):
    array, scores, labels = library(name), np.array([[1, 2, 3]], np.float32), np.array([[1e300, 1e299, 0.0]])
    close(evaluate_arrays(array(scores), array(labels), ["nDCG"]), evaluate_arrays(scores, labels, ["nDCG"]))


def test_one_query_gives_one_number():
    assert gradely.RR().of(np.array([0.9, 0.4, 0.4]), np.array([0, 2, 1])).shape == ()
    assert gradely.RR().of([[0.9, 0.4, 0.4]], [[0, 2, 1]]).tolist() == [0.5]


def test_what_is_not_a_number_is_refused_unless_nobody_looks():
    scores = np.array([[1.0, np.nan]])
    with pytest.raises(DataError, match="score is NaN"):
        gradely.AP().of(scores, [[1, 0]])
    assert gradely.AP().of(scores, [[1, 0]], check=False).shape == (1,)


@pytest.mark.parametrize("name", WITHOUT_SHAPE)
def test_measures_without_a_fixed_shape_are_refused_by_name(name):
    assert evaluate_arrays(SCORES["untied"], LABELS, [name])[name].shape == (6,)
    with pytest.raises(MeasureError, match=f"{name}: there is no formula of fixed shape.*evaluate_arrays"):
        as_function([name])


def test_only_one_plain_measure_has_no_formula_of_fixed_shape_without_ties():
    assert [measure.name for measure in PLAIN if not measure().is_fixed("order")] == ["OPA"]
    with pytest.raises(MeasureError, match="fixed shape, which compilers need, for ties='order'; use evaluate_arrays"):
        as_function(["OPA"], ties="order")
    with pytest.raises(MeasureError, match="for ties='expected'; ties='order' has one, and evaluate_arrays takes it"):
        as_function(["AUC@3"])


def test_a_traced_function_cannot_look_up_levels():
    array = library("jax")
    import jax

    for name in ("GAP", "muAP", "RBP(relevance='identity')"):
        with pytest.raises(MeasureError, match="pass them, as in levels="):
            jax.jit(as_function([name]))(array(SCORES["tied"]), array(LABELS))


def test_arrays_of_other_libraries_take_this_path_where_they_can(monkeypatch):
    array = library("torch")
    names = ["nDCG@5", "ERR", "muAP", "IPrec"]
    asked = []
    monkeypatch.setattr("gradely.evaluation.arrays.rank_documents", lambda *a: asked.append(1) or rank_documents(*a))
    untied = [array(x) for x in (SCORES["untied"], LABELS, MASK)]
    close(evaluate_arrays(*untied[:2], names, untied[2]), evaluate_arrays(SCORES["untied"], LABELS, names, MASK))
    assert len(asked) == 1 + 1
    evaluate_arrays(*untied[:2], ["nDCG@5", "muAP"], untied[2])
    assert len(asked) == 1 + 1
    labels = np.arange(200.0).reshape(2, 100)
    scores = rng.random((2, 100))
    close(evaluate_arrays(array(scores), array(labels), ["muAP"]), evaluate_arrays(scores, labels, ["muAP"]))
    assert len(asked) == 1 + 1 + 2


@pytest.mark.parametrize("label", [2000, 1e30])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", ["numpy", "array_api_strict", "torch", "jax"])
def test_a_value_that_is_too_large_is_an_error_where_checks_are_on(name, dtype, label):
    array = np.asarray if name == "numpy" else library(name)
    measure = gradely.DCG(gain="exp", k=3)
    scores, labels = np.array([[1, 2, 3], [1, 2, 3]], dtype), np.array([[3, 2, 1], [1, 2, label]], dtype)
    message = r"DCG\(gain='exp'\)@3 of row 1 is too large to represent: the highest label there is (2000|1e.30)"
    for function in (measure.of, as_function(["nDCG", measure], check=True)):
        with pytest.raises(DataError, match=message):
            function(array(scores), array(labels))
    unchecked = as_function([measure])(array(scores), array(labels))[str(measure)]
    assert np.isinf(np.from_dlpack(measure.of(array(scores), array(labels), check=False)))[1]
    assert np.isinf(np.from_dlpack(unchecked)).tolist() == [False, True]
    masked = array(np.array([[True, True, True], [True, True, False]]))
    assert np.isfinite(np.from_dlpack(measure.of(array(scores), array(labels), masked))).all()


@pytest.mark.parametrize("name", ["numpy", "array_api_strict", "torch", "jax"])
def test_padding_has_no_relevance_however_low_real_labels_are(name):
    array = np.asarray if name == "numpy" else library(name)
    names = ["nDCG(relevance=shift(-3))", "nDCGphi", "nDCG(gain={0: 1, 1: 2})"]
    scores, labels = np.array([[3.0, 2, 9, 1]]), np.array([[-1.0, -3, 0, -2]])
    mask = np.array([[True, True, False, True]])
    given = [array(x) for x in (scores, labels, mask)]
    close(as_function(names)(*given), evaluate_arrays(scores[:, [0, 1, 3]], labels[:, [0, 1, 3]], names))


@pytest.mark.parametrize("name", ["numpy", "torch", "jax"])
def test_a_real_document_stands_above_padding_though_its_score_is_minus_infinity(name):
    array = np.asarray if name == "numpy" else library(name)
    scores, labels = np.array([[-np.inf, 5.0, -np.inf]]), np.array([[0.0, 0.0, 1.0]])
    mask = np.array([[False, True, True]])
    values = as_function(["RR", "AP", "nDCG"])(*(array(x) for x in (scores, labels, mask)))
    close(values, {"RR": [1 / 2], "AP": [1 / 2], "nDCG": [1 / np.log2(3)]})


@pytest.mark.parametrize("width", [1, 20, 31, 32, 129])
@pytest.mark.parametrize("name", ["numpy", "array_api_strict", "torch", "jax"])
def test_rows_of_any_width_are_sorted_and_scanned_alike(name, width):
    """Short rows have ways of their own, and so do blocks of rows."""
    array = np.asarray if name == "numpy" else library(name)
    mine = np.random.default_rng(width)
    scores = mine.choice([-2.0, -0.0, 0.0, 1e300, -1e-300], (7, width))
    scores[0], scores[1] = 1.0, np.arange(width)
    labels = mine.choice([0, 0, 0.5, 1, 2, 3], (7, width))
    labels[2], labels[3] = 0, 2
    expected = by_batch(scores, None, measures=ONE_EACH, labels=labels)
    close(as_function(ONE_EACH)(array(scores), array(labels)), expected)


@pytest.mark.parametrize("width", [20, 500])
@pytest.mark.parametrize("name", ["numpy", "torch", "jax"])
def test_both_zeros_tie_and_long_rows_overflow_nothing(name, width):
    """A compiler may drop `+ 0`, and a scan in parallel multiplies what stands behind a zero before it comes to it."""
    array = np.asarray if name == "numpy" else library(name)
    scores = np.arange(0, -width, -1, np.float32)[None, :] * np.ones((2, 1), np.float32)
    scores[1, :3] = 0.0, -0.0, 0.0
    labels = np.zeros((2, width), np.float32)
    labels[0, 0] = labels[1, 1] = 1
    function = as_function(["RR", "AP", "nDCG"])
    if name == "jax":
        import jax

        function = jax.jit(function)
    expected = evaluate_arrays(scores, labels, ["RR", "AP", "nDCG"])
    assert expected["RR"].tolist() == pytest.approx([1, (1 + 1 / 2 + 1 / 3) / 3])
    close(function(array(scores), array(labels)), expected, atol=1e-6)


@pytest.mark.parametrize("name", ["numpy", "array_api_strict", "torch"])
def test_blocks_of_rows_give_what_all_rows_give(name, monkeypatch):
    array = np.asarray if name == "numpy" else library(name)
    arrays = [array(x) for x in (SCORES["tied"], LABELS, MASK)]
    whole = {name: np.from_dlpack(value) for name, value in as_function(ONE_EACH)(*arrays).items()}
    for cells in (1, 35):
        monkeypatch.setattr("gradely.measures.function.BLOCK", cells)
        close(as_function(ONE_EACH)(*arrays), whole, atol=1e-15 if name == "torch" else 0)
