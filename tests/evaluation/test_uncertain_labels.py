"""Labels as probabilities in evaluate, compare, gate, explain and check, and what refuses them."""

import json

import numpy as np
import pytest

import gradely
from gradely.cli.main import run as cli

QRELS = {
    "q1": {"a": {0: 0.2, 1: 0.5, 2: 0.3}, "b": 2, "m": {0: 0.4, 1: 0.6}},
    "q2": {"a": {0: 0.5, 1: 0.5}, "b": 0},
    "q3": {"a": 1, "b": {0: 0.9, 2: 0.1}},
}
FIRST = {"q1": {"a": 2, "b": 1, "x": 0}, "q2": {"a": 2, "b": 1}, "q3": {"a": 2, "b": 1}}
TIED = {"q1": {"a": 1, "b": 1, "x": 0}, "q2": {"a": 1, "b": 2}, "q3": {"a": 1, "b": 2}}


def test_nothing_is_silent():
    notes = [str(note) for note in gradely.evaluate(QRELS, TIED).notes]
    unknown = "how much their order changes values is not known if labels are probabilities"
    independent = "are probabilities, assumed to be independent; values are means over all possible labels"
    assert notes == [
        "muAP is left out of the default measures: its exact mean over labels that are probabilities is not known",
        f"the labels of 4 documents {independent}",
        f"1 of 3 queries has tied documents; {unknown}: q1",
    ]
    assert "tied" not in str(gradely.evaluate(QRELS, FIRST, ["AP"]).notes)


def test_a_comparison_is_one_of_the_values_by_query():
    comparison = gradely.compare(QRELS, {"first": FIRST, "tied": TIED}, ["nDCG@2", "AP"])
    for name, run in (("first", FIRST), ("tied", TIED)):
        assert comparison.mean()[name] == gradely.evaluate(QRELS, run, ["nDCG@2", "AP"]).mean()
    assert len(comparison.pairs) == 2 and comparison.pairs[0].difference > 0
    assert any("the labels of 4 documents are probabilities" in str(note) for note in comparison.notes)


def test_a_gate_decides_and_keeps_its_scores(tmp_path):
    gate = gradely.gate(QRELS, TIED, FIRST, strict=True)
    assert not gate.passed and [change.measure for change in gate.changes] == ["nDCG@10", "AP", "RR", "P@10", "R@100"]
    kept = gradely.keep_scores(QRELS, FIRST, ["AP"])
    (tmp_path / "kept.json").write_text(kept.text())
    assert gradely.gate(QRELS, FIRST, tmp_path / "kept.json").passed
    other = {**QRELS, "q2": {"a": {0: 0.4, 1: 0.6}, "b": 0}}
    with pytest.raises(gradely.DataError, match="judgments"):
        gradely.gate(other, FIRST, tmp_path / "kept.json")


def test_an_evaluator_takes_one_run_after_another():
    evaluator = gradely.Evaluator(QRELS)
    assert list(evaluator(FIRST).mean()) == ["nDCG@10", "AP", "RR", "P@10", "R@100"]
    assert evaluator(TIED).mean() == gradely.evaluate(QRELS, TIED).mean()


@pytest.mark.parametrize("measure", ["nDCG@2", "DCG", "AP", "R@2", "Utility", "Unjudged@3", "P@2", "ERR"])
@pytest.mark.parametrize("ties", ["expected", "trec"])
def test_an_explanation_adds_up_to_the_value(measure, ties):
    explained = gradely.explain(QRELS, TIED, "q1", measure, ties=ties)
    value = gradely.evaluate(QRELS, TIED, [measure], ties=ties).query("q1")[measure]
    assert explained.value == pytest.approx(value, abs=1e-15)
    assert explained.start + sum(line.adds for line in explained.lines) == pytest.approx(explained.total, abs=1e-15)
    assert {line.document: line.chances for line in explained.lines} == {
        "a": {0: 0.2, 1: 0.5, 2: 0.3},
        "b": {2: 1.0},
        "x": None,
    }


def test_an_explanation_shows_distributions_and_expected_gains():
    explained = gradely.explain(QRELS, TIED, "q1", "DCG@3")
    text = explained.text()
    assert explained.table().header == ["rank", "document", "score", "label", "expected gain", "adds"]
    assert [row[3:5] for row in explained.table().rows] == [
        ["0: 0.2, 1: 0.5, 2: 0.3", pytest.approx(1.1)],
        ["2: 1", 2.0],
        [None, None],
    ]
    assert "the labels of 2 documents are probabilities, assumed to be independent: the value is a mean" in text
    assert "judged but not retrieved: 1 document, with its expected label: m (0.6)" in text
    assert "the ranking of all judged documents of the query by expected gain has sum" in text
    assert [line.document for line in explained.ideal] == ["b", "a", "m"]
    entry = json.loads(explained.to_json())
    assert entry["uncertain"] == 2 and entry["lines"][0]["chances"] == {"0.0": 0.2, "1.0": 0.5, "2.0": 0.3}
    plain = json.loads(gradely.explain({"q": {"a": 1}}, {"q": ["a"]}, "q", "AP").to_json())
    assert "uncertain" not in plain and "chances" not in plain["lines"][0]


def test_an_explanation_shows_relevance_where_it_is_not_the_label():
    explained = gradely.explain(QRELS, TIED, "q1", "nDCG(relevance=shift(1))@2")
    assert explained.table().header[3:5] == ["label", "relevance"]
    assert {line.document: line.relevance for line in explained.lines} == {"a": pytest.approx(0.3), "b": 1.0, "x": None}


def test_an_explanation_of_a_query_without_results():
    explained = gradely.explain(QRELS, {"q2": FIRST["q2"]}, "q1", "nDCG@2")
    assert (explained.value, explained.answered, explained.lines) == (0, False, [])


def test_the_labels_of_a_judge_may_be_probabilities():
    random = np.random.default_rng(1)
    queries = [f"q{i}" for i in range(20)]
    labels = {query: {f"d{i}": int(random.integers(0, 3)) for i in range(8)} for query in queries}
    runs = {name: {query: random.permutation([*labels[query]]).tolist() for query in queries} for name in "ab"}
    human = {query: labels[query] for query in queries[:8]}
    sure = {query: {doc: {label: 1.0} for doc, label in docs.items()} for query, docs in labels.items()}
    unsure = {
        query: {doc: {label: 0.8, (label + 1) % 3: 0.2} for doc, label in docs.items()}
        for query, docs in labels.items()
    }
    plain, same, other = (gradely.estimate(human, runs, ["nDCG@5"], judge=judge) for judge in (labels, sure, unsure))
    assert same["a"]["nDCG@5"].mean == pytest.approx(plain["a"]["nDCG@5"].mean, abs=1e-12)
    assert other["a"]["nDCG@5"].mean != pytest.approx(plain["a"]["nDCG@5"].mean, abs=1e-6)
    assert any("judge: the labels of" in str(note) for note in other.notes)


@pytest.mark.parametrize("empty", ["skip", "one"])
def test_other_policies_for_empty_queries_are_refused(empty):
    with pytest.raises(gradely.DataError, match=f"empty='{empty}': labels are probabilities"):
        gradely.evaluate(QRELS, FIRST, ["AP"], empty=empty)


def test_weights_of_queries():
    scores = gradely.evaluate(QRELS, FIRST, ["AP"], weights={"q1": 1, "q2": 3, "q3": 0})
    assert scores["AP"] == pytest.approx((scores.query("q1")["AP"] + 3 * scores.query("q2")["AP"]) / 4, abs=1e-15)


def test_check_describes_the_labels():
    findings = [str(finding) for finding in gradely.check(QRELS, FIRST)]
    assert findings[0] == "qrels: 3 queries, 7 judgments; labels are probabilities, on average 0: 3, 1: 2.6, 2: 1.4"
    assert not any("wrong" in finding for finding in findings)


REFUSED = {
    "ties": lambda: gradely.tie_sensitivity(QRELS, {"a": FIRST}),
    "users": lambda: gradely.users(QRELS, {"a": FIRST, "b": TIED}),
    "phi": lambda: gradely.phi(QRELS),
    "correlate": lambda: gradely.correlate(QRELS, {"a": FIRST, "b": TIED}),
    "pools": lambda: gradely.pools(QRELS, {"a": FIRST, "b": TIED}),
    "holes": lambda: gradely.holes(QRELS, {"a": FIRST}),
    "report": lambda: gradely.compare(QRELS, {"a": FIRST, "b": TIED}).to_html(),
}
TAKEN = "labels are probabilities, which only evaluate, compare, gate, plan, estimate and explain support"


@pytest.mark.parametrize("name", REFUSED)
def test_what_needs_one_label_for_each_document_says_so(name):
    with pytest.raises(gradely.DataError) as error:
        REFUSED[name]()
    assert str(error.value) == f"qrels: {TAKEN}; {name} needs one label for each document"


@pytest.mark.parametrize(
    "work",
    [
        lambda: gradely.judges({"a": QRELS, "b": QRELS}),
        lambda: gradely.read_qrels(QRELS).labels("q1"),
        lambda: gradely.read_qrels(QRELS).grade,
    ],
)
def test_whoever_asks_for_labels_is_refused(work):
    """So that no function takes something else for labels, whether it knows of probabilities or not."""
    with pytest.raises(gradely.DataError, match=f"{TAKEN}; this needs one label for each document"):
        work()


def test_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.csv").write_text("query_id,doc_id,p0,p1\nq,a,0.25,0.75\nq,b,1,0\n")
    (tmp_path / "a.run").write_text("q Q0 b 1 2 a\nq Q0 a 2 1 a\n")
    assert cli(["evaluate", "qrels.csv", "a.run", "-m", "RR,nDCG@10", "--format", "csv"]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("a,0.375,0.473")
    assert cli(["explain", "qrels.csv", "a.run", "q", "-m", "RR"]) == 0
    assert "0: 0.25, 1: 0.75" in capsys.readouterr().out
    assert cli(["report", "qrels.csv", "a.run", "-o", "page.html"]) == 2
    assert capsys.readouterr().err.count("\n") == 1 and not (tmp_path / "page.html").exists()
