"""compare and gate with a judge: the same estimates as estimate has, tested; a record that keeps the judge."""

import json

import numpy as np
import pytest
from scipy import stats

import gradely
from gradely.cli.main import run
from gradely.comparison.plan import detectable_effect
from gradely.comparison.regression import Sample, regress
from tests.judgments.test_estimate import HUMAN, LLM, MEASURES, QUERIES, RUNS, files, sample_of  # noqa: F401 - a fixture

THREE = RUNS | {"c": {query: [f"d{k}" for k in range(12)] for query in QUERIES}}


@pytest.mark.parametrize("slope", ["auto", 1])
def test_pairs_are_those_of_estimate_tested_and_corrected(slope):
    compared = gradely.compare(HUMAN, THREE, MEASURES, judge=LLM, slope=slope)
    estimated = gradely.estimate(HUMAN, THREE, MEASURES, judge=LLM, slope=slope)
    assert list(compared.mean()) == list(estimated)
    for name, by in estimated.items():
        assert np.allclose([by[measure].mean for measure in MEASURES], list(compared.mean()[name].values()))
    freedom = len(HUMAN) - 1
    for pair, other in zip(compared.pairs, estimated.pairs, strict=True):
        assert pair[:3] == other[:3]
        assert np.allclose([pair.difference, pair.low, pair.high], [other.difference, other.low, other.high])
        error = (pair.high - pair.difference) / stats.t.ppf(0.975, freedom)
        assert np.isclose(pair.p, 2 * stats.t.sf(abs(pair.difference) / error, freedom))
    first = [pair.p for pair in compared.pairs[:3]]
    assert np.allclose(
        sorted(pair.adjusted for pair in compared.pairs[:3]),
        np.maximum.accumulate(np.minimum(np.sort(first) * [3, 2, 1], 1)),
    )
    plain = gradely.compare(HUMAN, THREE, MEASURES)
    wins = {frozenset((pair.first, pair.second)): {pair.wins, pair.losses} for pair in plain.pairs[:3]}
    assert all({pair.wins, pair.losses} == wins[frozenset((pair.first, pair.second))] for pair in compared.pairs[:3])


def test_a_comparison_says_that_a_judge_was_asked():
    compared = gradely.compare(HUMAN, THREE, MEASURES, judge=LLM)
    assert "from human labels of 14 queries and a judge's of 40" in str(compared)
    assert "t-test of the regression estimator" in compared.caption() and "bootstrap" not in compared.caption()
    rows = compared.runs_table().records()
    assert rows[0]["worst"] is None and rows[0]["low"] <= rows[0]["mean"] <= rows[0]["high"]
    assert compared.flat()[f"{rows[0]['run']}/AP"] == compared.mean()[rows[0]["run"]]["AP"]
    json.loads(compared.to_json())


def test_runs_that_only_the_judge_tells_apart_are_not_the_same():
    other = {query: docs if query in HUMAN else dict.fromkeys(docs, 1.0) for query, docs in RUNS["a"].items()}
    compared = gradely.compare(HUMAN, {"a": RUNS["a"], "b": other}, ["AP"], judge=LLM)
    assert "have the same value on every query" not in compared.summary() and compared.pairs[0].p == 1
    gate = gradely.gate(HUMAN, other, RUNS["a"], ["AP"], judge=LLM)
    assert gate.changes[0].old != gate.changes[0].new and gate.verdict == "undecided"
    assert "the same value on every query" not in str(gate)
    same = gradely.compare(HUMAN, {"a": RUNS["a"], "b": RUNS["a"]}, ["AP"], judge=LLM)
    assert "have the same value on every query" in same.summary()


def refusal(function, *args, **keywords):
    with pytest.raises(gradely.GradelyError) as error:
        function(*args, **keywords)
    return str(error.value)


def test_what_is_not_derived_for_a_judge_is_refused():
    compared = gradely.compare(HUMAN, RUNS, ["AP"], judge=LLM)
    assert "a page shows only human labels" in refusal(compared.to_html)
    assert "the influence of single queries" in refusal(lambda: compared.influence)
    keywords = {"judge": LLM}
    assert "the test wilcoxon" in refusal(gradely.compare, HUMAN, RUNS, ["AP"], test="wilcoxon", **keywords)
    assert "simultaneous" in refusal(gradely.compare, HUMAN, RUNS, ["AP"], simultaneous=True, **keywords)
    kinds = dict.fromkeys(QUERIES, "x")
    assert "segments cannot be compared" in refusal(gradely.compare, HUMAN, RUNS, ["AP"], by=kinds, **keywords)
    groups = {"a": [RUNS["a"], RUNS["b"]], "b": [RUNS["b"]]}
    assert "several runs" in refusal(gradely.compare, HUMAN, groups, ["AP"], **keywords)
    assert "use 'qrels'" in refusal(gradely.compare, HUMAN, RUNS, ["AP"], queries="both", **keywords)
    assert "the slope must be" in refusal(gradely.compare, HUMAN, RUNS, ["AP"], slope=0, **keywords)
    gate = [gradely.gate, HUMAN, RUNS["a"], RUNS["b"], ["AP"]]
    assert "use 'qrels'" in refusal(*gate, queries="both", **keywords)
    assert "weights" in refusal(*gate, weights=dict.fromkeys(QUERIES, 1), **keywords)
    assert "the test bootstrap" in refusal(
        gradely.gate, HUMAN, RUNS["a"], RUNS["b"], ["AP"], test="bootstrap", **keywords
    )


def test_a_gate_tests_the_estimated_drop_against_its_limit():
    found = gradely.gate(HUMAN, RUNS["a"], RUNS["b"], MEASURES, max_drop=0.02, judge=LLM, correction="none")
    for change in found.changes:
        drop = regress(sample_of(change.measure, "b", "a"))
        error, freedom = drop.together.error[0], len(HUMAN) - 1
        low, high = stats.t.interval(0.9, freedom, drop.mean[0], error)
        assert np.allclose([change.drop, change.low, change.high], [drop.mean[0], low, high])
        assert np.isclose(change.p, stats.t.sf((drop.mean[0] - 0.02) / error, freedom))
        assert np.isclose(change.p_not_worse, stats.t.cdf((drop.mean[0] - 0.02) / error, freedom))
        assert np.isclose(change.new, regress(sample_of(change.measure, "a")).mean[0])
    assert "human labels of 14 queries, a judge's labels of 40" in found.caption()
    some = gradely.gate(HUMAN, RUNS["a"], RUNS["b"], ["AP", "R@12"], judge=LLM, queries=QUERIES[:30])
    assert [change.verdict for change in some.changes] == ["undecided", "same"]
    assert "unlabelled" not in [note.kind for note in some.notes]  # who selects queries is not told of the others


def shifted(by):
    """Return a run that is the ideal one on most queries, and the reverse of it on as many as asked for."""
    best = {query: sorted(docs, key=docs.get, reverse=True) for query, docs in LLM.items()}
    return {query: docs[::-1] if i % 10 < by else docs for i, (query, docs) in enumerate(best.items())}


@pytest.mark.parametrize(
    ("new", "limit", "verdict"), [(9, 0.01, "worse"), (1, 0.5, "not worse"), (1, 0.05, "undecided"), (0, 0.01, "same")]
)
def test_a_gate_has_the_same_outcomes_as_without_a_judge(new, limit, verdict):
    people = {query: LLM[query] | {"d0": 3 - LLM[query]["d0"]} for query in QUERIES[::3]}
    found = gradely.gate(people, shifted(new), shifted(0), ["nDCG@5"], max_drop=limit, judge=LLM)
    assert found.verdict == verdict and found.passed == (verdict != "worse")


@pytest.mark.parametrize(("judge", "kinds"), [({"x": 1}, []), ({}, ["spreadless"])])
def test_a_gate_says_what_is_tested_where_only_human_labels_do_not_vary(judge, kinds):
    """Six people's queries fall by 1/2 each. With a judge who finds other drops, t is defined, and p comes from it."""
    labels = {f"q{i}": {"d": 1} | (judge if i % 3 == 0 else {}) for i in range(20)}
    old, new = (dict.fromkeys(labels, docs) for docs in (["d", "x"], ["x", "d"]))
    made = gradely.gate({query: {"d": 1} for query in list(labels)[:6]}, new, old, ["RR"], judge=labels)
    assert made.verdict == "worse" and [note.kind for note in made.notes] == kinds


def test_the_record_keeps_the_judge(tmp_path):
    kept = gradely.keep_scores(HUMAN, RUNS["b"], MEASURES, judge=LLM)
    (tmp_path / "old.json").write_text(kept.text())
    direct = gradely.gate(HUMAN, RUNS["a"], RUNS["b"], MEASURES, max_drop=0.01, judge=LLM)
    again = gradely.gate(HUMAN, RUNS["a"], tmp_path / "old.json", max_drop=0.01, judge=LLM)
    assert again.changes == direct.changes and again.caption() == direct.caption()
    assert gradely.gate(HUMAN, RUNS["a"], direct.saved, max_drop=0.01, judge=LLM).verdict == "same"
    says = refusal(gradely.gate, HUMAN, RUNS["a"], tmp_path / "old.json")
    assert "saved with the labels of a judge: name the judge, or evaluate the old run again" in says
    changed = LLM | {"q00": {"d0": 1}}
    assert "saved with different labels of the judge" in refusal(
        gradely.gate, HUMAN, RUNS["a"], tmp_path / "old.json", judge=changed
    )
    (tmp_path / "plain.json").write_text(gradely.keep_scores(HUMAN, RUNS["b"], MEASURES).text())
    assert "saved without the labels of a judge" in refusal(
        gradely.gate, HUMAN, RUNS["a"], tmp_path / "plain.json", judge=LLM
    )


def test_the_commands_take_a_judge(files, capfd):  # noqa: F811
    arguments = ["compare", "human.qrels", "a.run", "b.run", "--judge", "llm.qrels", "-m", "nDCG@5,AP"]
    assert run(arguments) == 0
    assert capfd.readouterr().out.rstrip("\n") == str(gradely.compare(HUMAN, RUNS, MEASURES, judge=LLM))
    assert run([*arguments, "--report", "page.html"]) == 2
    assert "--report uses human labels only" in capfd.readouterr().err and not (files / "page.html").exists()
    gate = ["gate", "human.qrels", "a.run", "--judge", "llm.qrels", "-m", "AP"]
    assert run([*gate, "--save", "old.json"]) == 0
    assert json.loads((files / "old.json").read_text())["judge"]["qrels"] == "llm.qrels"
    assert run([*gate, "--baseline", "old.json"]) == 0
    assert "have the same value on every query" in capfd.readouterr().out
    assert run([*gate, "--baseline", "b.run", "--max-drop", "0.3"]) == 0
    expected = gradely.gate(HUMAN, RUNS["a"], RUNS["b"], ["AP"], max_drop=0.3, judge=LLM)
    assert capfd.readouterr().out.splitlines()[0].endswith(expected.summary().partition("is allowed: ")[2])


def test_the_estimates_of_a_gate_do_not_depend_on_the_order_of_queries():
    turned = dict(reversed(LLM.items()))
    one = gradely.gate(HUMAN, RUNS["a"], RUNS["b"], ["AP"], judge=LLM).changes[0]
    other = gradely.gate(dict(reversed(HUMAN.items())), RUNS["a"], RUNS["b"], ["AP"], judge=turned).changes[0]
    assert np.isclose(one.drop, other.drop, rtol=1e-12) and np.isclose(one.p, other.p, rtol=1e-9)
    assert isinstance(sample_of("AP", "a"), Sample)


def test_a_gate_with_a_judge_excludes_documents_and_selects_queries_by_both():
    runs = ({q: {d: x for d, x in docs.items() if d != "d0"} for q, docs in RUNS[name].items()} for name in "ab")
    out = {query: ["d0"] for query in QUERIES}
    (excluded,) = gradely.gate(HUMAN, RUNS["a"], RUNS["b"], ["AP"], judge=LLM, exclude=out).changes
    assert excluded == gradely.gate(HUMAN, *runs, ["AP"], judge=LLM).changes[0]
    some = QUERIES[5:]
    (selected,) = gradely.gate(HUMAN, RUNS["a"], RUNS["b"], ["AP"], judge=LLM, queries=some).changes
    human, judge = ({query: docs for query, docs in by.items() if query in some} for by in (HUMAN, LLM))
    (expected,) = gradely.gate(human, RUNS["a"], RUNS["b"], ["AP"], judge=judge).changes
    assert selected == expected


def test_notes_of_scores_with_a_judge_say_whose_labels_they_are_about():
    tied = {query: dict.fromkeys(docs, 1.0) for query, docs in RUNS["a"].items()}
    notes = gradely.keep_scores(HUMAN, tied, ["AP"], judge=LLM).notes
    assert [str(note).startswith("by human labels alone: ") for note in notes if note.kind == "ties"] == [True]
    assert not any(note.kind == "unjudged" for note in notes)


def test_what_a_gate_with_a_judge_detects_rests_on_the_error_of_its_estimate():
    (change,) = gradely.gate(HUMAN, RUNS["a"], RUNS["b"], ["AP"], max_drop=0.02, judge=LLM).changes
    deviation = regress(sample_of("AP", "b", "a")).together.error[0] * np.sqrt(len(HUMAN))
    expected = 0.02 + deviation * detectable_effect(len(HUMAN), 0.05, 0.8, one_sided=True)
    assert np.isclose(change.detectable, expected)


def test_scores_with_a_judge_keep_what_the_judge_lacks():
    kept = gradely.keep_scores(HUMAN | {"other": {"d0": 1}}, RUNS["a"], ["AP"], judge=LLM)
    assert any("other" in str(note) for note in kept.notes)
