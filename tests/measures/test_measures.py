"""Every measure against its reference, on rankings of any length, and what parameters may be."""

import inspect
import pydoc
import re
from math import log2

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradely
from gradely import MeasureError
from gradely.measures import PLAIN
from gradely.relevance import Identity
from gradely.relevance.phi import control_points
from tests import reference
from tests.cases import CASES, LABELS, SETTINGS, Query, measured, queries


def untied(query):
    return Query(tuple((-i, label) for i, (_, label) in enumerate(query.retrieved)), query.missed)


@settings(max_examples=60, deadline=None)
@given(query=st.sampled_from(sorted(LABELS)).flatmap(lambda kind: queries(kind, most=40)).map(untied))
def test_measures_agree_with_the_reference_on_rankings_without_ties(query):
    ranking = [label for _, label in query.retrieved]
    found = measured([case.measure for case in CASES], query)
    assert found == pytest.approx({str(case): case.reference(ranking, query) for case in CASES}, abs=1e-12)


@pytest.mark.parametrize("ties", ["expected", "best"])
def test_a_measure_alone_has_the_value_that_it_has_among_others(ties):
    """To the last digit: most tests measure all at once, and sums of a query are taken together where they can be."""
    cases = [case for case in CASES if case.measure.takes_expected or ties != "expected"]
    for query in (
        Query(((3, 2), (3, 1), (2, None), (1, 3), (1, 0), (0, 1)), (3, 1)),
        Query(((1, 1),)),
        Query(((1, 0),)),
    ):
        together = measured([case.measure for case in cases], query, ties=ties)
        assert together == {str(case): case.value(query, ties=ties) for case in cases}


def test_every_measure_has_a_reference():
    without = [measure.name for measure in PLAIN if measure.name not in SETTINGS]
    assert not without, "write them again, slow and plain, in tests/reference.py; give them settings in tests/cases.py"


@given(pool=st.lists(st.integers(0, 60) | st.floats(0.01, 500), min_size=1, max_size=30))
@settings(max_examples=200, deadline=None)
@pytest.mark.parametrize(("control", "expected"), [("paper", reference.phi), ("code", reference.phi_code)])
def test_phi_agrees_with_scipy(control, expected, pool):
    batch = gradely.from_arrays(range(len(pool)), pool)
    relevance = gradely.Phi(control)(batch)
    curve = expected(pool)
    for score, value in zip(batch.grade[0].tolist(), relevance.grade[0].tolist(), strict=True):
        assert value == pytest.approx(curve(score), abs=1e-9)


@pytest.mark.parametrize("scale", [0.001, 1, 1000])
@pytest.mark.parametrize(
    "pool", [[0, 0, 0, 1, 2], [1, 2, 3, 4, 7], [1, 2, 3, 4, 8], [0] * 6 + [1, 2, 30], [1, 2, 5, 6, 50]]
)
@pytest.mark.parametrize(("control", "expected"), [("paper", reference.phi), ("code", reference.phi_code)])
def test_phi_has_no_scale(control, expected, pool, scale):
    batch = gradely.from_arrays(range(len(pool)), [scale * y for y in pool])
    found = sorted(gradely.Phi(control)(batch).grade[0].tolist())
    assert found == pytest.approx(sorted(map(expected(pool), pool)), abs=1e-12)


def test_binary_relevance_begins_at_1():
    assert gradely.AtLeast() == gradely.AtLeast(1)
    values = gradely.evaluate(GRADES, {"q": ["b"]}, ["nDCG(relevance='binary')@1", "nDCG(relevance=binary(2))@1"])
    assert values.values.tolist() == [[1, 0]]


def test_phi_of_one_s_own_points():
    batch = gradely.from_arrays([4, 3, 2, 1], [0, 5, 10, 99])
    assert gradely.Phi([(0, 0), (10, 1)])(batch).grade.tolist() == [[0, 0.5, 1, 1]]
    assert gradely.Phi([(0, 0), (5, 0), (10, 1)])(batch).grade.tolist() == [[0, 0, 1, 1]]
    assert gradely.nDCG(relevance=gradely.Phi([(0, 0), (10, 1)]), k=3)(batch).item() < 1


def test_phi_is_zero_where_no_score_stands_out():
    equal = gradely.evaluate(
        {"q": {"a": 5, "b": 5}, "r": {"a": 5, "b": 7}}, {"q": ["a", "b"], "r": ["b", "a"]}, ["nDCGphi"]
    )
    assert equal.per_query() == {"q": {"nDCGphi": 0.0}, "r": {"nDCGphi": 1.0}}
    assert [(note.kind, note.count) for note in equal.notes] == [("degenerate", 1)]


def test_phi_of_the_code_looks_at_positive_scores_only():
    pool = [0] * 20 + [1, 2, 3, 4, 100]
    batch = gradely.from_arrays(range(len(pool)), pool)
    paper, code = (gradely.Phi(control)(batch).grade[0] for control in ("paper", "code"))
    assert paper[1] > 0.03  # 4, well above the median 0 of all
    assert code[1] > 0 and code[2] == 0  # 3 is the median of the positive ones


def test_control_points_of_each_query():
    """The median of the first query is its maximum, where φ is a step; the second one has no score above 0."""
    batch = gradely.from_arrays([[3, 2, 1], [3, 2, 1]], [[1, 5, 5], [-2, -1, 0]])
    assert control_points(batch, "paper") == [((1, 0), (5, 0), (5, 1)), ((-2, 0), (-1, 0), (0, 1))]
    assert control_points(batch, "code") == [((0, 0), (5, 0), (5, 1)), ()]
    assert control_points(batch, ((0, 0), (10, 1))) == [((0, 0), (10, 1))] * 2
    assert gradely.Phi()(batch).grade.tolist() == [[0, 1, 1], [0, 0, 1]]
    assert gradely.Phi("code")(batch).grade.tolist() == [[0, 1, 1], [0, 0, 0]]
    assert gradely.Phi("code")(gradely.from_arrays([2, 1], [5, 5])).grade.tolist() == [[0, 0]]


def test_control_points_of_scores_whose_distance_is_no_number():
    """The fence of 4, 3, 2 and 1 between the two extremes is 3.75 + 1.5·2.5, in the middle of a scale of 3.4e308."""
    batch = gradely.from_arrays(range(6), [1.7e308, 4, 3, 2, 1, -1.7e308])
    assert control_points(batch, "paper") == [((-1.7e308, 0), (2.5, 0), (7.5, 0.5), (1.7e308, 1))]


def test_the_fence_of_the_code_is_that_of_hinges():
    """Of eight scores R's hinges are 2.5 and 8.5: 11 lies within 8.5 + 1.5·6, and 30 beyond."""
    ((start, median, fence, high),) = control_points(gradely.from_arrays(range(8), [1, 2, 3, 4, 5, 6, 11, 30]), "code")
    assert (start, median, fence[0], high) == ((0, 0), (4.5, 0), 11, (30, 1))
    assert fence[1] == pytest.approx(1 - (30 - 11) / (30 - 1), abs=1e-15)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: gradely.P(k=0), "at least 1"),
        (lambda: gradely.P(k=-1), "at least 1"),
        (lambda: gradely.P(k=1.5), "whole number"),
        (lambda: gradely.AP(rel="high"), "a number"),
        (lambda: gradely.AP(rel=float("nan")), "a number"),
        (lambda: gradely.AP(rel=10**400), "a number"),
        (lambda: gradely.RBP(p=0), "between 0 and 1"),
        (lambda: gradely.RBP(p=1), "between 0 and 1"),
        (lambda: gradely.RBP(p="half"), "between 0 and 1"),
        (lambda: gradely.RBP(rel=2, relevance="max"), "not both"),
        (lambda: gradely.ERR(top=0), "above 0"),
        (lambda: gradely.F(x=-1), "at least 0"),
        (lambda: gradely.Utility(a="much"), "a number"),
        (lambda: gradely.IPrec(recall=1.5), "from 0 to 1"),
        (lambda: gradely.IPrec(recall=[]), "from 0 to 1"),
        (lambda: gradely.IPrec(recall=[0.5, 1.5]), "from 0 to 1"),
        (lambda: gradely.IPrec(rounding="down"), "nearest, up"),
        (lambda: gradely.ERR(top="high"), "above 0"),
        (lambda: gradely.nDCG(gain="expo"), "Did you mean exp"),
        (lambda: gradely.nDCG(discount="log"), "log2"),
        (lambda: gradely.nDCG(gain={1: -1}), "at least 0"),
        (lambda: gradely.nDCG(relevance="fi"), "'phi'"),
        (lambda: gradely.nDCG(relevance=gradely.Max(0)), "above 0"),
        (lambda: gradely.nDCG(relevance=gradely.Phi([(0, 0)])), "at least two"),
        (lambda: gradely.nDCG(relevance=gradely.Phi([(0, 1), (1, 0)])), "not decrease"),
        (lambda: gradely.nDCG(relevance=gradely.Phi([(0, 0), (0, 1)])), "increase in score"),
        (lambda: gradely.nDCG(relevance=gradely.Phi([(0, 0), (2, 1), (1, 2)])), "increase in score"),
        (lambda: gradely.nDCG(relevance=gradely.Phi([(0, -1), (1, 1)])), "a relevance of at least 0"),
        (lambda: gradely.nDCG(relevance=gradely.Phi([(0, 0), (float("inf"), 1)])), "finite"),
        (lambda: gradely.nDCG(relevance=gradely.Phi([(0, 0), (1, float("inf"))])), "finite"),
        (lambda: gradely.nDCG(relevance=gradely.Phi([(-1.7e308, 0), (0, 0), (1.7e308, 1)])), "too far apart"),
        (lambda: gradely.nDCG(relevance=gradely.Phi("book")), "'paper', 'code'"),
        (lambda: gradely.GAP(g=[0.5, 0.6]), "sum to 1"),
        (lambda: gradely.GAP(g=[1.5, -0.5]), "negative"),
        (lambda: gradely.GAP(g={0: 0.5, 1: 0.5}), "above 0"),
        (lambda: gradely.GAP(g=["a"]), "list of shares"),
        (lambda: gradely.GAP(g=3), "list of shares"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(make, says):
    with pytest.raises(MeasureError, match=says):
        make()


def test_a_signature_names_every_parameter_with_its_type_and_default():
    signature = inspect.signature(gradely.nDCG)
    assert list(signature.parameters) == ["k", "relevance", "gain", "discount"]
    assert signature.parameters["k"].annotation == int | None and signature.parameters["discount"].annotation is str
    assert signature.parameters["gain"].default == "linear"
    assert inspect.signature(gradely.NDCNG).parameters["gain"].default == "exp"
    assert str(inspect.signature(gradely.Max)) == "(scale: float | None = None)"
    assert "nDCG(k: int | None = None, *, relevance:" in pydoc.render_doc(gradely.nDCG, renderer=pydoc.plaintext)


@pytest.mark.parametrize("measure", gradely.ALL, ids=lambda measure: measure.name)
def test_a_signature_is_kept(measure):
    bound = inspect.signature(measure).bind(3)
    assert measure(*bound.args, **bound.kwargs) == measure(k=3)
    with pytest.raises(TypeError):
        inspect.signature(measure).bind(3, 4)
    with pytest.raises(TypeError, match="only k by position"):
        measure(3, 4)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: gradely.nDCG(10, k=5), "nDCG was given k twice, 10 by position and 5 by name: give it once"),
        (lambda: gradely.nDCG(10, "exp"), "name the others: relevance=…, gain=…, discount=…"),
        (lambda: gradely.nDCG(gian="exp"), "no parameter 'gian', only k, relevance, gain, discount. Did you mean gain"),
        (lambda: gradely.Max(1, 2), "only scale by position, but was given 2"),
        (lambda: Identity(1), "no parameter by position"),
        (lambda: Identity(x=1), "has no parameter 'x', and takes none"),
    ],
)
def test_what_a_signature_forbids_is_explained(make, says):
    with pytest.raises(TypeError, match=re.escape(says)):
        make()


GRADES = {"q": {"a": 3, "b": 1}}


@pytest.mark.parametrize(
    ("measure", "says"),
    [
        ("GAP(g=[0.5, 0.5])", "grade of 3"),
        ("xGAP(g=[1])", "grade of 3"),
        ("ERR(top=2)", "top=3"),
        ("nDCG(relevance=max(2))", "max\\(3\\)"),
        ("nDCG(gain={1: 1})", "label 3"),
        ("nDCG(relevance={1: 1})", "label 3"),
    ],
)
def test_labels_that_do_not_fit_the_parameters_are_refused(measure, says):
    with pytest.raises(MeasureError, match=says):
        gradely.evaluate(GRADES, {"q": ["a", "b"]}, [measure])


@pytest.mark.parametrize(
    "measure", ["GAP(g=[0, 0, 1])", "ERR(top=3)", "nDCG(relevance=max(3))", "RBP(relevance=max(3))"]
)
def test_labels_that_just_fit_the_parameters_are_taken(measure):
    assert gradely.evaluate(GRADES, {"q": ["a", "b"]}, [measure]).values.item() > 0


@pytest.mark.parametrize(
    "measure", ["DCG(relevance='max')", "nDCG(relevance=max(0.5))", "ERR", "DCG(relevance={1: 1})"]
)
def test_a_collection_without_a_positive_label_is_worth_0(measure):
    assert gradely.evaluate({"q": {"a": 0, "b": -1}}, {"q": ["a", "b"]}, [measure]).values.item() == 0
    assert gradely.parse(measure)(gradely.from_arrays([2, 1], [0, 0])).tolist() == [0]


def test_levels_are_those_of_the_collection_not_of_the_query():
    """By default g spreads over all levels of the collection and ERR's top is its highest grade."""
    qrels = {"q": {"a": 1}, "r": {"b": 2, "c": 4}}
    run = {"q": ["a"], "r": ["b"]}
    values = gradely.evaluate(qrels, run, ["eGAP", "ERR"]).per_query()
    assert values["q"] == {"eGAP": pytest.approx(1 / 3), "ERR": (2**1 - 1) / 2**4}
    assert values["r"]["eGAP"] == pytest.approx((1 / 3) * (1 / 2) + (1 / 3) * (1 / 2))


@pytest.mark.parametrize(
    ("measure", "labels", "value"),
    [
        ("DCG(relevance=max(0.5))", {"b": 0.25, "a": 0.5}, 0.25 / 0.5 + 1 / log2(3)),  # a scale may be small
        ("eGAP(g=[0.5, 0.5])", {"b": 2, "a": 1.5}, 0.5 * 1 + 0.5 * 1),  # and grades may lie between the levels
    ],
)
def test_scales_of_any_numbers(measure, labels, value):
    assert gradely.evaluate({"q": labels}, {"q": ["b", "a"]}, [measure]).values.item() == value


def test_graded_measures_take_any_relevance_function():
    qrels, run = {"q": {"a": 1, "b": 7, "c": 2, "d": 0}}, {"q": ["c", "b", "a", "d"]}
    for measure in PLAIN:
        if "relevance" in measure.parameters:
            for relevance in ("identity", "max", gradely.Max(10), "phi", {1: 1, 2: 2, 7: 3}, "binary"):
                value = gradely.evaluate(qrels, run, [measure(relevance=relevance)]).values.item()
                assert value > 0 if measure is gradely.DCG else 0 < value <= 1


def test_measures_of_other_users_in_the_same_call_change_no_value():
    query = Query(((3, 2), (3, 1), (2, None), (1, 3), (1, 0), (0, 1)), (3, 1))
    shares = [[1, 0, 0], [0.7, 0.2, 0.1], [0, 0, 1]]
    measures = [kind(g=g, k=k) for kind in (gradely.GAP, gradely.xGAP, gradely.eGAP) for g in shares for k in (None, 4)]
    measures += [gradely.muAP(), gradely.muAP(relevance="max"), gradely.muAP(relevance={1: 5, 2: 6, 3: 9})]
    for ties in ("expected", "best", "worst", "trec"):
        together = gradely.evaluate(query.qrels(), query.run(), measures, ties=ties).mean()
        alone = {str(m): gradely.evaluate(query.qrels(), query.run(), [m], ties=ties).mean()[str(m)] for m in measures}
        assert together == alone
