"""gradely.adapters.pytrec_eval against pytrec_eval itself, on all its measures."""

import gzip
import subprocess
import sys
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradely
import gradely.adapters.pytrec_eval as ours
from gradely import DataError, InputError, MeasureError
from tests.shared_data import DATA, needs
from tests.tools.tool import tool

theirs = tool("pytrec_eval")

ids = st.integers(0, 25).map("d{}".format)
labels = st.dictionaries(ids, st.integers(-1, 3), min_size=1, max_size=12).map(lambda docs: docs | {"d0": 0})
"""a query with none but negative labels makes pytrec_eval hang, and an empty ranking can end the process"""
scores = st.dictionaries(ids, st.sampled_from([0.1, 0.1 + 1e-12, 1, 2, 3]) | st.floats(0, 4), max_size=20).map(
    lambda docs: docs | {"d0": 0.5}
)
QUERIES = ["q1", "q2", "q3"]
EVERY = {*theirs.supported_measures, "P_7", "ndcg_cut.3,17", "success_2", "recall_1", "iprec_at_recall_0.15"}


def test_names_are_theirs():
    assert set(ours.supported_measures) == set(theirs.supported_measures)
    assert all(names == theirs.supported_nicknames[nick] for nick, names in ours.supported_nicknames.items())


@settings(max_examples=150, deadline=None)
@given(
    qrels=st.fixed_dictionaries(dict.fromkeys(QUERIES, labels)),
    run=st.dictionaries(st.sampled_from([*QUERIES, "q4"]), scores),
    level=st.sampled_from([1, 2]),
    judged_only=st.booleans(),
)
def test_every_measure_has_their_value(qrels, run, level, judged_only):
    mine, other = (m.RelevanceEvaluator(qrels, EVERY, level, judged_only).evaluate(run) for m in (ours, theirs))
    assert list(mine) == list(other)
    for query, values in other.items():
        assert list(mine[query]) == list(values)
        for name, value in values.items():
            assert mine[query][name] == pytest.approx(value, abs=1e-12), (query, name)


@pytest.mark.parametrize("nick", ["official", "set", "all_trec"])
def test_nicknames_stand_for_the_same(nick):
    qrels, run = {"q": {"a": 1, "b": 2}}, {"q": {"b": 0.5, "a": 0.5, "c": 1}}
    mine, other = (module.RelevanceEvaluator(qrels, {nick}).evaluate(run) for module in (ours, theirs))
    assert mine["q"].keys() == other["q"].keys() and mine["q"] == pytest.approx(other["q"], abs=1e-12)


def test_expected_ties_are_those_of_evaluate():
    qrels, run = {"q": {"a": 1, "b": 2.5, "z": 1}}, {"q": {"b": 0.5, "a": 0.5, "c": 0.5, "z": 0.1, "y": 0.1}}
    names = ["map", "ndcg", "ndcg_cut_2", "recip_rank", "P_1", "recall_2", "success_1", "Rprec", "bpref", "binG"]
    values = ours.RelevanceEvaluator(qrels, names, ties="expected").evaluate(run)["q"]
    assert values == pytest.approx(gradely.evaluate(qrels, run, names).mean(), abs=1e-12)
    assert values != ours.RelevanceEvaluator(qrels, names).evaluate(run)["q"]


@pytest.mark.parametrize("name", ["infAP", "11pt_avg", "G", "iprec_at_recall", "ndcg_rel", "Rndcg"])
def test_what_has_no_expectation_is_refused_by_name(name):
    with pytest.raises(MeasureError, match=f"{name}.*ties='trec'"):
        ours.RelevanceEvaluator({"q": {"a": 1}}, [name], ties="expected")


def test_what_is_empty_gives_nothing():
    assert ours.RelevanceEvaluator({"q": {}}, ["map"]).evaluate({"q": {"a": 1}}) == {}
    assert ours.RelevanceEvaluator({"q": {"a": 1}}, ["map"]).evaluate({}) == {}
    assert ours.RelevanceEvaluator({"q": {"a": 1}}, ["map"]).evaluate({"other": {"a": 1}}) == {}
    assert ours.RelevanceEvaluator({"q": {"a": 1}}, ["map"]).evaluate({"q": {}}) == {"q": {"map": 0.0}}
    assert ours.RelevanceEvaluator({"q": {"a": -1}}, ["map", "ndcg"]).evaluate({"q": {"a": 1}}) == {
        "q": {"map": 0.0, "ndcg": 0.0}
    }


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: ours.RelevanceEvaluator({"q": {"a": 1}}, ["mapp"]), MeasureError, "unsupported measure mapp.*map"),
        (lambda: ours.RelevanceEvaluator({"q": {"a": 1}}, ["map"], ties="mean"), DataError, "tie policy"),
        (lambda: ours.RelevanceEvaluator({"q": {"a": "x"}}, ["map"]), DataError, "not a number"),
        *(
            (
                partial(ours.RelevanceEvaluator, {"q": {"a": 1}}, ["map"], relevance_level=level),
                MeasureError,
                f"relevance_level must be above 0, since unjudged documents are not relevant; found {level}",
            )
            for level in (0, -1, -0.5)
        ),
        (
            lambda: ours.RelevanceEvaluator({"q": {"a": 1}}, ["map"]).evaluate({"q": {"a": float("nan")}}),
            DataError,
            "finite",
        ),
        (lambda: ours.parse_run(["q Q0 a 1 high tag"]), InputError, "line 1.*score"),
        (
            lambda: ours.parse_qrel(["q 0 a 1", "q 0 a 1"]),
            DataError,
            "line 2: duplicate document a of query q; keep one",
        ),
        (lambda: ours.compute_aggregated_measure("map", []), DataError, "no values"),
    ],
)
def test_what_cannot_be_used_is_explained(call, error, says):
    with pytest.raises(error, match=says):
        call()


@pytest.mark.parametrize("name", ["map", "num_rel", "gm_map"])
def test_aggregates_are_theirs(name):
    values = [-0.5, -1.25, -3.0]
    both = [module.compute_aggregated_measure(name, values) for module in (ours, theirs)]
    assert both[0] == pytest.approx(both[1], abs=1e-12)


def test_files_are_read_as_they_do():
    run, qrels = ["q1 Q0 a 1 0.5 x\n", "q1 Q0 b 2 0.25 x\n"], ["q1 0 a 2\n", "q2 0 b 0\n"]
    assert ours.parse_run(run) == theirs.parse_run(run) and ours.parse_qrel(qrels) == theirs.parse_qrel(qrels)


@needs("trec-dl-2019-passage")
def test_real_runs_have_their_values_and_with_expected_ties_those_of_evaluate():
    folder = DATA / "trec-dl-2019-passage"
    with gzip.open(folder / "qrels.dl19-passage.txt.gz", "rt") as file:
        qrels = theirs.parse_qrel(file)
    with gzip.open(min((folder / "runs").glob("*.gz")), "rt") as file:
        run = theirs.parse_run(file)
    mine, other = (module.RelevanceEvaluator(qrels, EVERY).evaluate(run) for module in (ours, theirs))
    assert mine.keys() == other.keys() and len(mine) > 10
    assert all(mine[query] == pytest.approx(other[query], abs=1e-12) for query in other)
    expected = ours.RelevanceEvaluator(qrels, ["ndcg_cut_10", "map"], ties="expected").evaluate(run)
    scores = gradely.evaluate(qrels, run, ["ndcg_cut_10", "map"], queries="both", precision="single").per_query()
    assert all(expected[query] == pytest.approx(scores[query], abs=1e-12) for query in scores)


@pytest.mark.parametrize(("ties", "value"), [("trec", 0.5), ("expected", 0.75)])
def test_installed_it_is_what_others_import(ties, value):
    code = (
        f"import gradely.adapters.pytrec_eval as ours; ours.install(ties={ties!r}); import pytrec_eval;"
        "evaluator = pytrec_eval.RelevanceEvaluator({'q': {'a': 1}}, {'recip_rank'});"
        "print(isinstance(evaluator, ours.RelevanceEvaluator), evaluator.evaluate({'q': {'a': 1, 'b': 1}}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"True {{'q': {{'recip_rank': {value}}}}}\n"


@pytest.mark.parametrize("name", ours.PUBLIC)
def test_their_names_are_here(name):
    assert hasattr(theirs, name) and hasattr(ours, name)
