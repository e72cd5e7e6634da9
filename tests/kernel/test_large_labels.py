"""Labels so large that a gain of 2^label is beyond the range of numbers: values stay right, or are refused by name."""

import re
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import permutations
from math import log2

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import gradely
from gradely.errors import NotFinite
from gradely.kernel import batch
from gradely.measures import PLAIN
from tests.kernel.test_arrays import library

LARGE = [0, 1, 3, 511, 512.5, 513, 1000, 1022.25, 1023, 1024, 1030, 5000, 1e5]


def by_decimals(ranking, pool, k=None):
    """Return nDCG with gain exp, computed with 60 digits and exponents of any size."""
    with localcontext() as context:
        context.prec, context.Emax, context.Emin = 60, 10**9, -(10**9)
        gain = lambda label: Decimal(2) ** Decimal(label) - 1
        dcg = lambda labels: sum(gain(g) / Decimal(log2(i + 2)) for i, g in enumerate(labels[:k]))
        ideal = dcg(sorted(pool, reverse=True))
        return float(dcg(ranking) / ideal) if ideal else 0.0


def measured(measure, labels, missed=(), **options):
    qrels = {"q": {f"d{i}": g for i, g in enumerate(labels)} | {f"m{i}": g for i, g in enumerate(missed)}}
    run = {"q": [f"d{i}" for i in range(len(labels))]}
    return gradely.evaluate(qrels, run, [measure], **options).values.item()


@settings(max_examples=150, deadline=None)
@given(
    labels=st.lists(st.sampled_from(LARGE), min_size=1, max_size=6),
    missed=st.lists(st.sampled_from(LARGE), max_size=2),
    k=st.sampled_from([None, 1, 3]),
)
def test_ndcg_of_exponential_gains_is_right_whatever_the_labels(labels, missed, k):
    value = measured(gradely.nDCG(gain="exp", k=k), labels, missed)
    assert value == pytest.approx(by_decimals(labels, [*labels, *missed], k), rel=1e-13, abs=1e-300)


def test_the_audit_s_example():
    value = measured("nDCG(gain='exp')", [0, 1000, 1030])
    assert value == pytest.approx(by_decimals([0, 1000, 1030], [1030, 1000, 0]), rel=1e-14)
    assert 0 < value < 1


@pytest.mark.parametrize("top", [600, 1030, 2000, 2e4])
def test_err_of_large_labels(top):
    p = [1 - Fraction(1, 2) ** int(top), (2 ** Fraction(7) - 1) / Fraction(2) ** int(top)]
    value = p[1] + (1 - p[1]) * p[0] / 2
    assert measured("ERR", [7, top]) == pytest.approx(float(value), rel=1e-14)


def exact_g(labels, pool):
    """G with exponential gains by its definition, in fractions."""
    gains, ideal = ([2 ** Fraction(label) - 1 for label in some] for some in (labels, sorted(pool, reverse=True)))
    ideal += [Fraction(0)] * len(gains)
    reached = [sum(max(gain, 1) for gain in ideal[: i + 1]) for i in range(len(gains))]
    missed = [reached[i] - sum(gains[: i + 1]) for i in range(len(gains))]
    total = sum(ideal) or 1
    return sum(float(gain / total) / log2(2 + over) for gain, over in zip(gains, missed, strict=True))


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from([0, 0, 1, 2, 30, 52, 53, 60, 63]), min_size=1, max_size=5), st.integers(0, 63))
@example([0, 60], 0)  # one place was missed, beside a gain of 2^60
def test_g_tells_a_place_from_a_large_gain(labels, missed):
    pool = [*labels, missed]
    assert measured("G(gain='exp')", labels, [missed]) == pytest.approx(exact_g(labels, pool), rel=1e-12)
    for ties, extreme in (("best", max), ("worst", min)):
        qrels = {"q": dict(enumerate(pool))}
        tied = {"q": dict.fromkeys(range(len(labels)), 1.0)}
        value = gradely.evaluate(qrels, tied, ["G(gain='exp')"], ties=ties).values.item()
        assert value == pytest.approx(extreme(exact_g(order, pool) for order in permutations(labels)), rel=1e-12)


@pytest.mark.parametrize("measure", [m for m in PLAIN if m is not gradely.DCG], ids=lambda m: m.name)
@pytest.mark.parametrize("ties", ["expected", "best", "worst"])
def test_every_value_is_finite(measure, ties):
    settings = [measure()] + ([measure(gain="exp")] if "gain" in measure.parameters else [])
    for labels in ([1e308, 1.5e308, 0, 3], [-1e308, 1e308, 5, 5], [2000, 1990, 1, 0], [1e-300, 1e-308, 0, 5e-324]):
        for k, one in ((k, one) for k in (None, 2) for one in settings):
            tied = {"q": dict.fromkeys("abc", 1.0) | {"d": 0.5}}
            if ties == "expected" and not measure.takes_expected:
                tied = {"q": list("abcd")}
            qrels = {"q": dict(zip("abcd", labels, strict=True))}
            try:
                value = gradely.evaluate(qrels, tied, [one.replace(k=k)], ties=ties).values.item()
            except NotFinite:
                pytest.fail("a measure that is normalised sums gains in units: see exponents in kernel/gains.py")
            assert (np.isfinite(value) and -1e-15 <= value <= 1 + 1e-12) or measure is gradely.Utility


@pytest.mark.parametrize("label", [1000, 1023])
def test_dcg_is_right_as_long_as_it_is_a_number(label):
    assert measured("DCG(gain='exp')", [3, label]) == pytest.approx(2.0**label / log2(3), rel=1e-14)
    tied = gradely.evaluate({"q": {"a": label}}, {"q": {"a": 1, "b": 1}}, ["DCG(gain='exp')"]).values.item()
    assert tied == pytest.approx(2.0**label * ((1 + 1 / log2(3)) / 2), rel=1e-14)


def test_dcg_looks_only_at_documents_that_count():
    assert measured("DCG(gain='exp')@1", [3, 2000]) == 7
    assert measured("DCG(gain='exp')", [3], missed=[2000]) == 7
    tied = {"q": {"a": 2, "b": 1, "c": 1, "x": 1}}
    assert gradely.evaluate({"q": {"a": 3, "b": 2000}}, tied, ["DCG(gain='exp')@1"]).values.item() == 7


def test_dcg_takes_no_units_from_documents_behind_the_cut_off():
    found = gradely.evaluate({"q": {"a": 2000, "b": 3}}, {"q": ["b", "x", "a"]}, ["DCG(gain='exp')@2"])
    assert found.values.item() == 7


def test_g_of_large_labels():
    """Where nothing is missed a gain is divided by log2(2) = 1; behind two others, with 2^1030 missed, by 1030."""
    measure = gradely.G(gain="exp")
    assert measured(measure, [1030]) == measured(measure, [5000]) == measured(measure, [5000, 4999]) == 1
    found = gradely.evaluate({"q": {"a": 1029, "missed": 1030}}, {"q": ["u", "v", "a"]}, [measure]).values.item()
    assert found == pytest.approx(1 / 3 / 1030, rel=1e-12)
    assert gradely.explain({"q": {"a": 5000}}, {"q": ["a"]}, "q", measure).value == 1


@pytest.mark.parametrize("ties", ["expected", "best", "trec"])
def test_a_value_beyond_all_numbers_is_an_error_that_names_measure_query_and_label(ties):
    qrels = {"fine": {"a": 1}, "large": {"a": 2000, "b": 1}}
    with pytest.raises(
        gradely.DataError, match=r"DCG\(gain='exp'\) of query 'large' is too large .* label there is 2000"
    ):
        gradely.evaluate(qrels, {"fine": ["a"], "large": ["b", "a"]}, ["AP", "DCG(gain='exp')"], ties=ties)
    with pytest.raises(gradely.DataError, match=r"query 'large'"):
        gradely.explain(qrels, {"large": ["b", "a"]}, "large", "DCG(gain='exp')", ties=ties)


@pytest.mark.parametrize("rows", [1, 2, 3, 5])
def test_a_row_is_named_by_its_number_in_whatever_block_it_is(rows, monkeypatch):
    monkeypatch.setattr(batch, "CELLS", 6)  # two rows at a time
    labels = [[i + 1, 0, 0] for i in range(rows)]
    assert gradely.DCG()(gradely.from_arrays([[3, 2, 1]] * rows, labels)).tolist() == [*range(1, rows + 1)]
    labels[-1][0] = 2000
    with pytest.raises(gradely.DataError, match=f"of row {rows - 1} is too large"):
        gradely.DCG(gain="exp")(gradely.from_arrays([[3, 2, 1]] * rows, labels))


@pytest.mark.parametrize("name", ["numpy", "array_api_strict", "torch", "jax"])
def test_arrays_of_every_library(name):
    array = np.asarray if name == "numpy" else library(name)
    scores, labels = array(np.asarray([[1.0, 2, 3], [3, 2, 1]])), array(np.asarray([[2.0, 1, 0], [1030, 1000, 0]]))
    values = gradely.evaluate_arrays(scores, labels, ["nDCG(gain='exp')", "ERR", "G(gain='exp')"])
    np.testing.assert_allclose(
        np.from_dlpack(values["nDCG(gain='exp')"]), [by_decimals([0, 1, 2], [2, 1, 0]), 1], rtol=1e-14
    )
    assert all(np.isfinite(np.from_dlpack(value)).all() for value in values.values())
    for call in (
        lambda: gradely.evaluate_arrays(scores, labels * 2, ["DCG(gain='exp')"]),
        lambda: gradely.DCG(gain="exp")(gradely.from_arrays(scores, labels * 2)),
    ):
        with pytest.raises(gradely.DataError, match=r"of row 1 is too large .* label there is 2060"):
            call()


def test_the_mean_of_values_whose_sum_is_too_large():
    qrels = {query: {"a": 1.2e308} for query in "abcd"}
    assert gradely.evaluate(qrels, {query: ["a"] for query in "abcd"}, ["DCG"]).mean() == {"DCG": 1.2e308}


@pytest.mark.parametrize("scale", [1e308, 2.0**1000, 2.0**-1000, 1e-300])
@pytest.mark.filterwarnings("ignore:.*the order is from_arrays")
def test_phi_of_extreme_scores_is_that_of_the_same_scores_scaled(scale):
    scores = np.asarray([1.7, -1.6, 0.4, 0.3, 0.2, 0.25, 0.35])
    for measure in (gradely.nDCGphi(), gradely.nDCG(relevance=gradely.Phi("code"), gain="exp")):
        small, large = (measure(gradely.from_arrays(np.arange(7.0), s)).item() for s in (scores, scores * scale))
        assert small == pytest.approx(large, rel=1e-12) and 0 < small < 1
        both = measure(gradely.from_arrays([range(7)] * 2, [scores, scores * scale]))
        assert both.tolist() == pytest.approx([small, small], rel=1e-12)


def test_a_user_who_surely_stops_at_a_tied_document():
    """The chance to stop at a label of 60 is 1 - 2^-60, which is 1 in doubles."""
    found = gradely.evaluate({"q": {"a": 60, "b": 60}}, {"q": {"a": 1.0, "b": 1.0}}, ["ERR"]).mean()
    assert found["ERR"] == pytest.approx(1.0)


def test_a_user_who_surely_stops_at_a_tied_document_though_rounding_exceeds_1():
    """Prefix sums of 2^-3.9, 1 and 1 leave slightly more than 2 for the last two."""
    judged, run = {"q": {"x": 56.1, "a": 60, "b": 60}}, {"q": {"x": 2.0, "a": 1.0, "b": 1.0}}
    first = 2**-3.9
    assert gradely.evaluate(judged, run, ["ERR"]).mean()["ERR"] == pytest.approx(first + (1 - first) / 2, abs=1e-15)


@pytest.mark.parametrize("k", [None, 1])
@pytest.mark.parametrize("label", [1025, 4000, 1e10, 1e300, 1e308])
def test_dcg_that_no_number_can_hold_is_refused_however_large_the_label(label, k):
    """Of labels from 2^53 on, the unit of gains cannot be told from the gain."""
    message = re.escape(f"too large to represent: the highest label there is {label:g}")
    with pytest.raises(gradely.DataError, match=message):
        gradely.evaluate_arrays([[2.0, 1.0]], [[label, 1]], [gradely.DCG(gain="exp", k=k)])
    assert gradely.evaluate_arrays([[2.0, 1.0]], [[1, label]], [gradely.DCG(gain="exp", k=1)]).popitem()[1] == 1


@pytest.mark.parametrize("query", ["p", "q", "r"])
def test_the_query_that_no_number_can_hold_is_named_with_its_highest_label(query):
    labels = {name: {"a": 2000 if name == query else 3, "b": 1} for name in "pqr"}
    with pytest.raises(gradely.DataError, match=f"query '{query}'.*the highest label there is 2000"):
        gradely.evaluate(labels, {name: ["b", "a"] for name in labels}, ["DCG(gain='exp')"])


def test_explain_says_in_which_units_very_large_gains_are():
    explained = gradely.explain({"q": {"a": 2000, "b": 1990}}, {"q": ["b", "a"]}, "q", "nDCG(gain='exp')")
    assert explained.unit == 1488 and "in units of 2^1488" in explained.text()
    small = gradely.explain({"q": {"a": 2, "b": 1}}, {"q": ["b", "a"]}, "q", "nDCG(gain='exp')")
    assert small.unit == 0 and "units" not in small.text()


def test_no_lambda_is_nan():
    labels = [2000.0, 1999.0, 0.0]
    with pytest.raises(gradely.DataError, match="too large to represent: the highest label there is 2000"):
        gradely.lambdas([1.0, 2.0, 3.0], labels, "DCG(gain='exp')", group=[3])
    for first in gradely.lambdas([1.0, 2.0, 3.0], labels, "nDCG(gain='exp')", group=[3]):
        assert np.isfinite(first).all()


def test_g_misses_what_is_lost_beside_a_large_gain():
    """2^60 + 1000 is no double: at the second rank, 2^60 + 1000 - 3 - 2^60 are missed."""
    scores = gradely.evaluate({"q": {"a": 2**60, "b": 1000, "c": 3}}, {"q": ["c", "a"]}, ["G"], ties="trec")
    expected = (3 / log2(2**60 - 1) + 2**60 / log2(2 + 997)) / (2**60 + 1003)
    assert scores.values.item() == pytest.approx(expected, rel=1e-14, abs=0)
