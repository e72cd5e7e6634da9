"""Names and measures: what prints reads back, what is typed is understood, what is wrong is explained."""

import re
from typing import ClassVar

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradely
from gradely import MeasureError, parse
from gradely.cli.main import run
from gradely.kernel.parameters import parameter
from gradely.measures import HOMES
from tests.cases import CASES
from tests.other_libraries import LIBRARIES


@pytest.mark.parametrize(
    "measure",
    [case.measure for case in CASES] + [gradely.nDCG(relevance=gradely.Phi([(0, 0), (2.5, 0.5), (10, 1)]))],
    ids=str,
)
def test_a_measure_prints_the_name_that_reads_back(measure):
    assert parse(str(measure)) == measure
    assert hash(parse(str(measure))) == hash(measure)


shares = st.lists(st.integers(1, 9), min_size=1, max_size=5).map(lambda parts: [part / sum(parts) for part in parts])
numbers = st.floats(-1e6, 1e6) | st.integers(-5, 5)


@settings(deadline=None)
@given(
    rel=numbers,
    k=st.none() | st.integers(1, 10**6),
    g=shares,
    table=st.dictionaries(numbers, st.floats(0, 1e6), max_size=4),
)
def test_any_parameter_reads_back(rel, k, g, table):
    for measure in (
        gradely.AP(rel=rel, k=k),
        gradely.GAP(g=g, k=k),
        gradely.nDCG(gain=table, k=k),
        gradely.nDCG(relevance=table),
    ):
        assert parse(str(measure)) == measure


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("nDCG@10", gradely.nDCG(k=10)),
        (" ndcg@10 ", gradely.nDCG(k=10)),
        ("nDCG(dcg='exp-log2')@10", gradely.nDCG(k=10, gain="exp")),
        ("nDCG(gain=exp)@10", gradely.nDCG(k=10, gain="exp")),
        ("nDCG(relevance='max')", gradely.nDCG(relevance=gradely.Max())),
        ("nDCG(relevance=max(4))", gradely.nDCG(relevance=gradely.Max(4))),
        ("nDCG(relevance=phi(control='code'))", gradely.nDCG(relevance=gradely.Phi("code"))),
        ("nDCG(relevance=binary(2))", gradely.nDCG(relevance=gradely.AtLeast(2))),
        ("nDCGφ@5", gradely.nDCGphi(k=5)),
        ("µAP", gradely.muAP()),
        ("μAP", gradely.muAP()),
        ("muMAP", gradely.muAP()),
        ("MAP@100", gradely.AP(k=100)),
        ("MRR", gradely.RR()),
        ("Recall@20", gradely.R(k=20)),
        ("RBP(rel=1, p=0.5)", gradely.RBP(p=0.5)),
        ("eGAP(g=[0.2, 0.8])", gradely.eGAP(g=(0.2, 0.8))),
        ("GAP(g={1: 0.5, 3: 0.5})", gradely.GAP(g={3: 0.5, 1: 0.5})),
        ("map", gradely.AP()),
        ("map_cut_20", gradely.AP(k=20)),
        ("ndcg", gradely.nDCG()),
        ("ndcg_cut_10", gradely.nDCG(k=10)),
        ("P_5", gradely.P(k=5)),
        ("recall_100", gradely.R(k=100)),
        ("recip_rank", gradely.RR()),
        ("success_1", gradely.Success(k=1)),
        ("set_F", gradely.F1()),
        ("bpref", gradely.bpref()),
    ],
)
def test_what_people_type_is_understood(typed, meant):
    assert parse(typed) == meant


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("set_F_0.5", gradely.F(x=0.5)),
        ("iprec_at_recall_0.10", gradely.IPrec(recall=0.1)),
        ("11pt_avg", gradely.IPrec()),
        ("relative_P_5", gradely.RelativeP(k=5)),
        ("unj_20", gradely.Unjudged(k=20)),
        ("utility", gradely.Utility()),
        ("IPrec(recall=[0.2, 0.5], rounding='up')", gradely.IPrec(recall=(0.2, 0.5), rounding="up")),
    ],
)
def test_measures_of_trec_eval_have_their_names(typed, meant):
    assert parse(typed) == meant


ELSEWHERE = [
    pytest.param(name, ours, id=f"{library} {name}")
    for library, names in LIBRARIES.items()
    for name, ours in names.items()
]


@pytest.mark.parametrize(("name", "ours"), ELSEWHERE)
def test_names_from_elsewhere_are_read_or_refused_with_what_to_type(name, ours):
    if ours is not None:
        assert parse(name) == parse(ours) and str(parse(name)) == ours
        return
    with pytest.raises(MeasureError) as refusal:
        parse(name)
    typed = re.findall("`([^`]+)`", str(refusal.value)) or re.findall("leave (-l2) out", str(refusal.value))
    assert typed and "gradely measures" not in typed
    assert all(text.startswith(("gradely trec_eval -m ", "-l")) or parse(text) for text in typed)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("NDCG:top=10;type=Exp", "write `nDCG(gain='exp')@10`"),
        ("DCG:top=5;denominator=Position", "write `DCG(discount='zipf')@5`"),
        ("NDCG:top=10", "write `nDCG@10`"),
        ("MAP:top=10", "CatBoost divides by at most 10 relevant documents, and `AP@10` by all"),
        ("ERR:top=5", "takes labels as probabilities, and `ERR@5` derives them from grades"),
        ("ndcg@10-", "write `nDCG(gain='exp')@10`"),
        ("map@10-", "XGBoost divides by at most 10"),
        ("map-", "write `map`"),
        ("rank:ndcg", "write `nDCG(gain='exp')`"),
        ("GAUC", "weights users by their number of relevant items"),
        ("precision_at_k", "write a number, as in `precision@10`"),
        ("document_map", "divides by the relevant documents that were found"),
    ],
)
def test_a_hint_leads_to_the_quantity_that_was_meant_or_says_how_it_differs(name, says):
    with pytest.raises(MeasureError, match=re.escape(says)):
        parse(name)


def test_a_class_or_a_measure_takes_a_cut_off():
    assert gradely.nDCG @ 10 == gradely.nDCG(k=10)
    assert gradely.nDCG(gain="exp") @ 10 == gradely.nDCG(k=10, gain="exp")
    assert gradely.IPrec @ 0.1 == gradely.IPrec(recall=0.1)
    assert gradely.IPrec @ 5 == gradely.IPrec(k=5)
    with pytest.raises(MeasureError, match="nDCG@10 already has a cut-off"):
        _ = gradely.nDCG(10) @ 5
    with pytest.raises(MeasureError, match="whole number"):
        _ = gradely.nDCG @ 0.5


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("nDGC@10", "Did you mean nDCG"),
        ("recal@10", "Did you mean Recall"),
        ("accuracy@5", "`Success@5`"),
        ("accuracy_at_5", "`Success@5`"),
        ("hits_at_10", "`hits@10` if 10 is a cut-off; `Success@10`"),
        ("precison", "Did you mean"),
        ("gm_map", "geometric_mean"),
        ("P.5,10", "several measures; name each: P.5, P.10"),
        ("nDCG(k=10)@5", "already has a cut-off"),
        ("AP(real=2)", "Did you mean rel"),
        ("AP(2)", "parameters have names"),
        ("AP(**x)", "parameters have names"),
        ("AP(rel=2, **x)", "parameters have names"),
        ("P@0", "at least 1"),
        ("P@ten", "whole number"),
        ("P@1@2", "cannot read"),
        ("P@", "cannot read"),
        ("", "cannot read"),
        ("nDCG(gain=exp", "cannot read"),
        ("nDCG(gain=open('x'))", "cannot read"),
        ("nDCG(relevance=max(1, 2, 3))", "cannot read"),
        ("nDCG(judged_only=True)", "--judged-only"),
        ("a.b", "cannot read"),
        ("(" * 500, "cannot read"),
        ("P" * 20_000, "too long"),
        ("P\0", "cannot read"),
    ],
)
def test_what_cannot_be_understood_is_explained(typed, says):
    with pytest.raises(MeasureError, match=says):
        parse(typed)


@pytest.mark.parametrize(
    "typed", ["mean_precision", "rank", "ROC", "HRR", "xAP", "gain", "GMAPP@10", "novelty_score", "relevance", "MAPPE"]
)
def test_a_hint_is_a_slip_of_the_pen_or_none(typed):
    with pytest.raises(MeasureError) as refusal:
        parse(typed)
    assert "Did you mean" not in str(refusal.value)


def test_a_name_may_have_an_empty_list_of_parameters_and_ten_thousand_characters():
    assert parse("AP()") == gradely.AP()
    assert parse("AP(rel=2" + " " * (10_000 - 9) + ")") == gradely.AP(rel=2)
    with pytest.raises(MeasureError, match="of 10,001 characters is too long"):
        parse("AP(rel=2" + " " * (10_001 - 9) + ")")


@pytest.mark.parametrize("name", HOMES)
def test_a_listed_name_means_what_it_means_with_an_empty_list_of_parameters(name):
    assert parse(name) == parse(f"{name}()")
    for k in ("7", "1000000000"):
        outcomes = []
        for text in (f"{name}@{k}", f"{name}()@{k}"):
            try:
                outcomes.append(parse(text))
            except MeasureError as error:
                outcomes.append(str(error))
        assert outcomes[0] == outcomes[1]
    for k in ("0", "07", "²", "٣", "", "1.5", "-1"):
        with pytest.raises(MeasureError):
            parse(f"{name}@{k}")


@pytest.mark.parametrize("given", [None, 3, b"AP", [["AP"]]])
def test_what_is_no_name_is_refused(given):
    with pytest.raises(MeasureError):
        gradely.evaluate({"q": {"a": 1}}, {"q": ["a"]}, given if given is None else [given])


def test_results_are_called_what_was_asked_for():
    scores = gradely.evaluate({"q": {"a": 1}}, {"q": ["a"]}, ["map", gradely.nDCG(k=10), gradely.RR, "µAP"])
    assert list(scores.mean()) == ["map", "nDCG@10", "RR", "µAP"]


def test_the_card_of_a_measure_says_what_it_is_and_how_it_is_set():
    for measure, value in {gradely.AP(rel=2): "all", gradely.AP(rel=2, k=5): "5"}.items():
        text = " ".join(re.sub("<[^>]*>", " ", measure._repr_html_()).split())
        assert text.startswith(f"{measure} Average precision: the mean of the precision at each relevant document.")
        assert "Ties: for r relevant" in text and "Reference: McSherry" in text and "&gt;&gt;&gt;" not in text
        assert f"rel 2 labels of at least this count as relevant k {value} cut-off: only the top k" in text
    assert "relevance None graded" in " ".join(re.sub("<[^>]*>", " ", gradely.RBP()._repr_html_()).split())


def test_every_measure_on_the_list_has_a_name_of_its_own():
    """By which it is loaded, so that it is also that of its class."""
    assert all("name" in vars(measure) for measure in gradely.ALL), "without `name`, it is a base class"
    assert [measure.name for measure in gradely.ALL] == [measure.__name__ for measure in gradely.ALL] == list(HOMES)


def test_what_is_unknown_is_called_as_it_was_typed():
    for name in ("X-measure", "X_measure"):
        with pytest.raises(gradely.MeasureError, match=f"no measure '{name}'"):
            gradely.evaluate({"q": ["a"]}, {"q": ["a"]}, [f"{name}(rel=2)@10"])
        with pytest.raises(gradely.MeasureError, match=f"no measure '{name}'"):
            gradely.parse(name)


def test_a_field_with_a_plain_default_is_refused_since_it_would_be_no_parameter():
    with pytest.raises(TypeError, match=r"Mine.beta is not a parameter yet: declare it with parameter\(default=1"):
        type("Mine", (gradely.AP,), {"__annotations__": {"beta": float}, "beta": 1})


def test_what_belongs_to_the_class_and_what_has_no_default_is_no_field():
    fields = {"beta": float, "title": ClassVar[str], "later": int}
    kind = type("Mine", (gradely.AP,), {"__annotations__": fields, "beta": parameter(default=1, doc=""), "title": "x"})
    assert list(kind.parameters) == ["k", "rel", "beta"] and kind.title == "x"


@pytest.mark.parametrize(
    ("name", "measure", "reading"),
    [
        ("P+", "Pplus", None),
        ("D#-nDCG", "Dsharp_nDCG", None),
        ("AUROC", "AUC", None),
        ("hit@10", "Success", "hit@10 is read as Success@10"),
        ("ndcg10", "nDCG", "ndcg10 is read as nDCG@10"),
        ("CG", "DCG", "CG is read as DCG(discount='none')"),
        ("AP(rel=2)", "AP", None),
    ],
)
def test_all_about_a_measure_is_found_by_any_of_its_names(name, measure, reading, capfd):
    assert run(["measures", name]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert lines[0] == measure
    assert (reading in lines) if reading else not any("is read as" in line for line in lines)


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("P.5,10", "name each: P.5, P.10"),
        ("ndcg@1,3,5,map", "name each: ndcg@1, ndcg@3, ndcg@5"),
        ("nDCG@10;MAP", "put commas between them, as in nDCG@10,MAP"),
        ("nDCG@10 MAP", "put commas between them, as in nDCG@10,MAP"),
        ("nDGC@10 MAP", "put commas between them, as in nDGC@10,MAP"),
        ("hit rate@5", "hit rate@5: write `hit_rate@5`, without blanks"),
        ("mean  average precision", "write `mean_average_precision`, without blanks"),
    ],
)
def test_several_measures_or_words_in_one_option_say_how_to_write_them(typed, says, demo_files, capfd):
    assert run(["evaluate", *demo_files, "-m", typed]) == 2
    assert says in capfd.readouterr().err


@pytest.fixture
def demo_files(tmp_path):
    """Return the paths of small qrels and of a run."""
    (tmp_path / "q.txt").write_text("q 0 a 1\n")
    (tmp_path / "r.txt").write_text("q Q0 a 1 0.5 t\n")
    return [str(tmp_path / "q.txt"), str(tmp_path / "r.txt")]


@pytest.mark.parametrize("text", ["nDCG@10,AP(rel=2)", " nDCG@10, AP(rel=2)", "nDCG@10 AP(rel=2)"])
def test_several_measures_in_one_text_are_a_list(text):
    with pytest.raises(MeasureError, match=re.escape("give a list, as in ['nDCG@10', 'AP(rel=2)']")):
        gradely.evaluate({"q": {"a": 1}}, {"q": ["a"]}, text)
    with pytest.raises(MeasureError, match="is several measures: give a list"):
        gradely.evaluate({"q": {"a": 1}}, {"q": ["a"]}, ["RR", "nDCG@10, AP(rel=2)"])


def test_a_run_in_place_of_measures_is_refused():
    """evaluate(qrels, run, other) computed the measure Q at 1, 2 and 3, whose names are ids of queries."""
    for other in ({"q1": ["a"], "q2": ["a"], "q3": ["a"]}, pl.DataFrame({"qid": ["q1"], "docid": ["a"]})):
        with pytest.raises(MeasureError, match=r"measures are names, .* for several runs, use evaluate_runs"):
            gradely.evaluate({"q1": {"a": 1}}, {"q1": ["a"]}, other)


def test_one_measure_with_commas_and_blanks_is_one():
    measure = "nDCG(gain='exp', relevance=shift(1))"
    assert list(gradely.evaluate({"q": {"a": 2}}, {"q": ["a"]}, measure).mean()) == [measure]
    with pytest.raises(MeasureError, match="cannot read the measure 'nDCG@10,XX'"):
        gradely.evaluate({"q": {"a": 1}}, {"q": ["a"]}, "nDCG@10,XX")


@pytest.mark.parametrize("name", ["nDCG", "P", "AP", "RR", "R", "RBP", "SDCG"])
def test_cut_offs_that_no_array_can_hold_are_refused(name):
    """nDCG@99999999999999999999 ended in an OverflowError, and SDCG@1000000000 took memory for each rank."""
    largest = 10_000_000 if name == "SDCG" else 2**63 - 1
    found = gradely.evaluate({"q": {"a": 1}}, {"q": ["a", "b"]}, f"{name}@{largest}")
    assert 0 <= next(iter(found.mean().values())) <= 1
    for k in (largest + 1, 99999999999999999999):
        with pytest.raises(MeasureError, match=f"{name} .*at most {largest:,}; found {k}|at most 9,.*; found {k}"):
            gradely.parse(f"{name}@{k}")


def test_a_measure_of_another_package_is_refused_with_what_to_pass():
    measure = type("Measure", (), {"__module__": "ir_measures.measures", "__str__": lambda _: "nDCG@10"})()
    with pytest.raises(
        MeasureError, match=r"found 'nDCG@10', an object of ir_measures: pass its name, str\(measure\)$"
    ):
        gradely.evaluate({"q": {"a": 1}}, {"q": ["a"]}, [measure])
    with pytest.raises(MeasureError, match=r"found 5$"):
        parse(5)
