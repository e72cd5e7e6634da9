"""The gate: who passes, exit codes, limits, saved scores, the summary, and what is refused."""

import json

import numpy as np
import pytest

import gradely
from gradely.cli.main import run as cli
from gradely.comparison.gate import digest, keep_scores, read_saved
from gradely.data import read_qrels
from gradely.data.source import Source
from tests.cli.test_cli import demo  # noqa: F401 - a fixture

QRELS = {f"q{i}": {"d": 1} for i in range(12)}


def at(*places):
    """Return a run that has the relevant document at these places, query by query."""
    return {f"q{i}": [f"x{k}" for k in range(place - 1)] + ["d"] for i, place in enumerate(places)}


FIRST = at(*[1] * 12)
LOWER = at(*[2] * 11, 3)
ONCE = at(*[1] * 11, 4)


@pytest.mark.parametrize(
    ("new", "options", "passed"),
    [
        (FIRST, {}, True),
        (LOWER, {}, False),
        (LOWER, {"max_drop": 0.6}, True),
        (ONCE, {}, True),
        (ONCE, {"strict": True}, False),
        (ONCE, {"strict": True, "max_drop": 0.0625}, True),  # falls by 0.75 / 12 exactly
        (LOWER, {"alpha": 1e-20}, True),
        (LOWER, {"test": "randomization", "alpha": 2 / 2**12}, True),
        (LOWER, {"test": "randomization", "alpha": 3 / 2**12}, False),
    ],
)
def test_a_drop_fails_where_it_exceeds_the_limit_and_is_significant(new, options, passed):
    made = gradely.gate(QRELS, new, FIRST, ["RR"], **options)
    assert made.passed is passed
    assert made.summary().startswith("Passed" if passed else "Failed")


@pytest.mark.parametrize(("place", "losses"), [(1, 0), (2, 1)])
def test_one_query_is_lost_or_not(place, losses):
    made = gradely.gate({"q0": {"d": 1}}, at(place), at(1), ["RR"])
    assert (made.changes[0].losses, made.changes[0].p) == (losses, None)


def test_a_better_run_passes_however_significant():
    made = gradely.gate(QRELS, FIRST, LOWER, ["RR", "P@1"])
    assert made.passed and [change.significant for change in made.changes] == [True, True]
    assert made.changes[0].drop < 0 and made.table().rows[0][-1] == "not worse"
    assert made.losers("RR").rows == []


def test_numbers_are_those_of_compare(demo):  # noqa: F811
    made = gradely.gate("qrels.txt", "popular.run", "lexical.run", ["nDCG@10", "AP"], max_drop={"AP": 0.02})
    pairs = gradely.compare(
        "qrels.txt", {"new": "popular.run", "old": "lexical.run"}, ["nDCG@10", "AP"], family="all"
    ).pairs
    for change, pair in zip(made.changes, pairs, strict=True):
        assert (pair.first, pair.difference) == ("old", pytest.approx(change.drop))
        assert (change.p, change.adjusted) == (pytest.approx(pair.p), pytest.approx(pair.adjusted))
        assert (change.low, change.high, change.losses) == (
            pytest.approx(pair.low),
            pytest.approx(pair.high),
            pair.wins,
        )
    assert [change.limit for change in made.changes] == [0.0, 0.02]
    assert made.to_frame("polars")["failed"].to_list() == [True, True]


def test_the_queries_that_lost_most_come_first():
    new, old = at(1, 2, 4, 1, 2, *[1] * 7), at(1, 1, 1, 2, 1, *[1] * 7)
    made = gradely.gate(QRELS, new, old, ["RR"])
    assert made.losers("RR").rows == [["q2", 1, 0.25, 0.75], ["q1", 1, 0.5, 0.5], ["q4", 1, 0.5, 0.5]]
    assert made.losers("RR", most=1).rows == [["q2", 1, 0.25, 0.75]]


@pytest.mark.parametrize(
    ("measures", "options", "words"),
    [
        (["RR"], {}, "paired t-test, α = 0.05;"),
        (["RR", "AP"], {}, "paired t-test, Holm over 2 measures, α = 0.05;"),
        (["RR"], {}, "12 queries; ties expected, queries qrels, precision double"),
        (["RR"], {"judged_only": True}, "12 queries; ties expected, queries qrels, judged_only True, precision double"),
    ],
)
def test_the_caption_says_how_it_was_decided(measures, options, words):
    caption = gradely.gate(QRELS, LOWER, FIRST, measures, **options).caption()
    assert words in caption and caption.endswith("precision double")


def test_limits_have_names_of_any_spelling(demo):  # noqa: F811
    made = gradely.gate(
        "qrels.txt", "dense.run", "lexical.run", ["ndcg_cut_10", "MAP"], max_drop={"nDCG@10": 0.5, "map": 0.1}
    )
    assert [(change.measure, change.limit) for change in made.changes] == [("nDCG@10", 0.5), ("AP", 0.1)]


@pytest.mark.parametrize("limit", [-0.1, float("nan"), float("inf"), {"RR": -1}, {"RR": "a"}])
def test_what_is_no_limit_is_refused(limit):
    with pytest.raises(gradely.DataError, match="a number from 0 on"):
        gradely.gate(QRELS, FIRST, FIRST, ["RR"], max_drop=limit)


def test_a_limit_of_something_not_measured_is_refused():
    with pytest.raises(gradely.DataError, match="AP, which is not measured"):
        gradely.gate(QRELS, FIRST, FIRST, ["RR"], max_drop={"AP": 0.1})


def test_one_query_cannot_be_significant_and_says_so():
    one = {"q": {"d": 1}}
    made = gradely.gate(one, {"q": ["x", "d"]}, {"q": ["d"]}, ["RR"])
    assert made.passed and made.changes[0].p is None and made.table().rows[0][-1] == "not tested"
    assert any("nothing is tested: there is one query" in str(note) for note in made.notes)
    assert not gradely.gate(one, {"q": ["x", "d"]}, {"q": ["d"]}, ["RR"], strict=True).passed


def test_queries_that_only_one_run_has_are_left_out_and_noted():
    new, old = at(*[1] * 10), {query: docs for query, docs in at(*[1] * 12).items() if query != "q0"}
    made = gradely.gate(QRELS, new, old, ["RR"], queries="both")
    assert len(made.queries) == 9
    assert "3 of 12 queries are not in both runs and are left out: q0, q10, q11" in [str(note) for note in made.notes]
    with pytest.raises(gradely.DataError, match="no query in common"):
        gradely.gate(QRELS, {"q0": ["d"]}, {"q1": ["d"]}, ["RR"], queries="both")


def test_too_few_queries_for_the_limit_are_noted():
    made = gradely.gate(QRELS, at(*[1, 2] * 6), at(*[2, 1] * 6), ["RR"], max_drop=0.01)
    assert any(
        "with 12 queries, a drop below these sizes would be missed too often (power 0.8): RR 0.4" in str(note)
        for note in made.notes
    )
    assert not any("power" in str(note) for note in gradely.gate(QRELS, LOWER, FIRST, ["RR"], max_drop=0.9).notes)


def test_saved_scores_say_the_same_as_the_run(demo):  # noqa: F811
    run = gradely.gate("qrels.txt", "popular.run", "lexical.run", ["nDCG@10", "AP"])
    (demo / "old.json").write_text(gradely.keep_scores("qrels.txt", "lexical.run", ["AP", "P@5", "nDCG@10"]).text())
    for baseline in ("old.json", demo / "old.json", read_saved(Source("old.json"))):
        saved = gradely.gate("qrels.txt", "popular.run", baseline, ["nDCG@10", "AP"])
        assert saved.changes == run.changes and saved.summary() == run.summary()


def test_the_digest_is_of_the_judgments_and_not_of_their_order():
    one, same = {"q": {"a": 1, "b": 0}, "r": {"c": 2}}, {"r": {"c": 2.0}, "q": {"b": 0, "a": 1}}
    assert digest(read_qrels(one)) == digest(read_qrels(same))
    for other in (
        {"q": {"a": 1, "b": 0}},
        {"q": {"a": 1, "b": 1}, "r": {"c": 2}},
        {"q": {"a": 1}, "r": {"b": 0, "c": 2}},
    ):
        assert digest(read_qrels(one)) != digest(read_qrels(other))


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (None, {"ties": "trec"}, "saved with ties 'expected', not 'trec'"),
        (None, {"queries": "both"}, "saved with queries 'qrels', not 'both'"),
        (None, {"measures": ["AP"]}, "has no AP, only RR"),
        (None, {"qrels": {"q0": {"d": 1}}}, "saved with other judgments"),
        (('"version": 1', '"version": 2'), {}, "version 2; this reads version 1"),
        (("1.0", "NaN"), {}, "nan is no value of a measure"),
        (("[1.0]", "[1.0, 2.0]"), {}, "broken saved scores"),
        (('"judgments"', '"judgements"'), {}, "broken saved scores"),
        (("}", ""), {}, "cannot be read as saved scores"),
    ],
)
def test_saved_scores_that_do_not_fit_are_refused(tmp_path, change, options, message):
    text = gradely.keep_scores(QRELS, FIRST, ["RR"]).text()
    (tmp_path / "old.json").write_text(text.replace(*change) if change else text)
    call = {"qrels": QRELS, "new": FIRST, "baseline": tmp_path / "old.json", "measures": ["RR"]} | options
    with pytest.raises(gradely.GradelyError, match=message) as caught:
        gradely.gate(**call)
    assert "old.json" in str(caught.value)


def call(*arguments):
    return cli(["gate", "qrels.txt", *arguments])


def test_exit_codes_of_the_command(demo, capfd):  # noqa: F811
    assert call("dense.run", "--baseline", "lexical.run", "-m", "AP", "--max-drop", "0.01") == 0
    assert capfd.readouterr().out.startswith("Passed: dense is not worse than lexical")
    assert call("dense.run", "--baseline", "lexical.run", "-m", "AP", "--max-drop", "0.01", "--strict") == 1
    assert call("popular.run", "--baseline", "lexical.run", "-m", "AP", "--max-drop", "0.01") == 1
    out = capfd.readouterr().out
    assert "Failed: popular is worse than lexical: AP fell by 0.3060, more than 0.01 (p < .001)." in out
    assert call("none.run", "--baseline", "lexical.run") == 2


def test_limits_on_the_command_line(demo, capfd):  # noqa: F811
    limits = ["--max-drop", "0.5", "--max-drop", "AP(rel=2)=0.25"]
    assert (
        call("popular.run", "--baseline", "lexical.run", "-m", "P@5", "-m", "AP(rel=2)", *limits, "--format", "json")
        == 1
    )
    found = json.loads(capfd.readouterr().out)
    assert [(row["measure"], row["limit"]) for row in found["measures"]] == [("P@5", 0.5), ("AP(rel=2)", 0.25)]
    assert found["passed"] is False and len(found["losers"]["P@5"]) == 10


def test_scores_are_saved_where_the_gate_passes_and_only_there(demo, capfd):  # noqa: F811
    assert call("lexical.run", "--save", "old.json", "-m", "AP") == 0
    assert capfd.readouterr().out == "old.json: the scores of lexical; nothing was compared\n"
    first = (demo / "old.json").read_text()
    assert call("popular.run", "--baseline", "old.json", "-m", "AP", "--save", "old.json") == 1
    assert (demo / "old.json").read_text() == first
    assert call("dense.run", "--baseline", "old.json", "-m", "AP", "--save", "old.json") == 0
    kept = read_saved(Source("old.json"))
    assert kept.name == "dense"
    assert kept.values[:, 0].tolist() == gradely.evaluate("qrels.txt", "dense.run", ["AP"]).values[:, 0].tolist()


def test_the_summary_lists_the_queries_that_lost_most(demo, capfd):  # noqa: F811
    assert call("popular.run", "--baseline", "lexical.run", "-m", "AP", "--summary", "gate.md") == 1
    text = (demo / "gate.md").read_text()
    assert text.startswith("## ❌ Failed: popular is worse than lexical: AP fell by 0.3060, more than 0 (p &lt; .001).")
    assert "AP: 23 of 24 queries lost; the 10 that lost most" in text
    old, new = (gradely.evaluate("qrels.txt", f"{run}.run", ["AP"]).values[:, 0] for run in ("lexical", "popular"))
    worst = int(np.argmax(old - new))
    assert f"| q{worst + 1:02d} | {old[worst]:.4f} | {new[worst]:.4f} | {old[worst] - new[worst]:.4f} |" in text


def test_hostile_names_stay_text_in_the_summary(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    bad = "<script>|x"
    (tmp_path / "qrels.txt").write_text(f"{bad} 0 d 1\nq2 0 d 1\nq3 0 d 1\n")
    (tmp_path / "<b>.run").write_text("".join(f"{q} Q0 x 1 1 t\n" for q in (bad, "q2", "q3")))
    (tmp_path / "old.run").write_text("".join(f"{q} Q0 d 1 1 t\n" for q in (bad, "q2", "q3")))
    assert call("<b>.run", "--baseline", "old.run", "-m", "RR", "--strict", "--summary", "s.md") == 1
    text = (tmp_path / "s.md").read_text()
    assert "<b>" not in text and "<script>" not in text and "&lt;script>\\|x" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["dense.run"], "name a --baseline to compare with, or a file to --save"),
        (["dense.run", "--baseline", "none.run"], "none.run"),
        (["dense.run", "--baseline", "lexical.run", "--max-drop", "much"], "give a number like 0.01"),
        (["dense.run", "--baseline", "lexical.run", "-m", "AP", "--max-drop", "RR=0.1"], "RR, which is not measured"),
        (["dense.run", "--baseline", "lexical.run", "--max-drop", "-1"], "a number from 0 on"),
        (["dense.run", "--baseline", "lexical.run", "--alpha", "5"], "alpha is a number"),
        (["dense.run", "--baseline", "lexical.run", "--summary", "no/where.md"], "there is no folder no"),
        (["dense.run", "--baseline", "lexical.run", "--save", "no/where.json"], "there is no folder no"),
        (["-", "--baseline", "-"], "read only once"),
    ],
)
def test_wrong_calls_end_with_one_line_and_code_2(demo, capfd, arguments, message):  # noqa: F811
    assert call(*arguments) == 2
    out, err = capfd.readouterr()
    assert out == "" and err.count("\n") == 1 and message in err


def test_scores_of_random_ties_are_those_of_their_seed():
    run = {query: {"d": 1.0, "x": 1.0, "y": 1.0} for query in QRELS}
    seeds = ({}, {"seed": 0}, {"seed": 1})
    usual, same, other = (keep_scores(QRELS, run, ["RR"], ties="random", **seed) for seed in seeds)
    assert usual.values.tolist() == same.values.tolist() != other.values.tolist()
    assert usual.settings == same.settings and usual.settings["seed"] == 0
    assert "seed" not in keep_scores(QRELS, run, ["RR"]).settings
    means = [gradely.gate(QRELS, run, FIRST, ["RR"], ties="random", **seed).changes[0].new for seed in seeds]
    assert means[0] == means[1] != means[2]
    with pytest.raises(gradely.DataError, match="saved with seed 1, not 0"):
        gradely.gate(QRELS, run, other, ["RR"], ties="random")
