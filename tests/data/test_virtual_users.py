"""Virtual users: a run taken for the judgments, graded by score, by rank or by levels of one's own."""

import json

import pytest

import gradely
from gradely.cli.main import run as gradely_command

RUN = {"q": {"a": 9.0, "b": 5.0, "c": 5.0, "d": 0.0}, "r": {"a": 1.0, "b": 2.0}}


@pytest.mark.parametrize(
    ("options", "labels"),
    [
        ({}, {"a": 9, "b": 5, "c": 5, "d": 0}),
        ({"by": "rank"}, {"a": 4, "b": 2, "c": 2, "d": 1}),
        ({"levels": [1, 3]}, {"a": 2, "b": 1, "c": 1, "d": 0}),
        ({"levels": [2]}, {"a": 1, "b": 0, "c": 0, "d": 0}),
    ],
)
def test_labels_are_scores_ranks_or_levels(options, labels):
    assert gradely.qrels_from_run(RUN, **options).labels("q") == labels


@pytest.mark.parametrize("options", [{}, {"by": "rank"}, {"levels": [1, 2]}])
def test_the_run_itself_scores_1(options):
    """S11: the feature that is taken for the user's ratings must score 1 itself."""
    qrels = gradely.qrels_from_run(RUN, **options)
    measures = ["muAP", "NDCNG", "nDCG"]
    assert gradely.evaluate(qrels, RUN, measures).mean() == pytest.approx(dict.fromkeys(measures, 1.0), abs=1e-12)


def test_scores_below_0_are_shifted_and_a_note_says_so():
    """By the lowest score of the whole run, as S11 has it: distances between documents stay as they are."""
    logits = {"q": {"a": 2.0, "b": -0.5, "c": -1.5}, "r": {"a": 1.0}}
    qrels = gradely.qrels_from_run(logits)
    assert (qrels.labels("q"), qrels.labels("r")) == ({"a": 3.5, "b": 1.0, "c": 0.0}, {"a": 2.5})
    scores = gradely.evaluate(qrels, logits, ["muAP", "NDCNG"])
    assert scores.mean() == pytest.approx({"muAP": 1, "NDCNG": 1}, abs=1e-12)
    assert "labels are scores plus 1.5, so the lowest is 0" in "\n".join(map(str, scores.notes))
    assert not gradely.qrels_from_run(RUN).notes and not gradely.qrels_from_run(logits, "rank").notes


def test_lists_are_ranked_and_have_no_ties():
    assert gradely.qrels_from_run({"q": ["x", "y", "z"]}, "rank").labels("q") == {"x": 3, "y": 2, "z": 1}


@pytest.mark.parametrize(
    ("run", "options", "text"),
    [
        (RUN, {"by": "name"}, "by score or rank"),
        (RUN, {"levels": [5, 2]}, "ascending depths"),
        (RUN, {"levels": []}, "ascending depths"),
        (RUN, {"levels": [0]}, "ascending depths"),
        (RUN, {"by": "rank", "levels": [2]}, "by rank or by levels of your choice, not by both: leave out one"),
    ],
)
def test_what_is_no_grading_is_refused(run, options, text):
    with pytest.raises(gradely.DataError, match=text):
        gradely.qrels_from_run(run, **options)


def test_a_feature_as_the_user(tmp_path, capfdbinary):
    letor = tmp_path / "set.letor"
    letor.write_text("1 qid:1 1:0.5 2:3 # a\n0 qid:1 1:0.9 2:1 # b\n2 qid:1 1:0.1 2:0 # c\n")
    command = ["evaluate", str(letor), "--qrels-from-run", str(letor), "--qrels-feature", "2", "-m", "nDCG"]
    assert gradely_command([*command, "--feature", "2", "--feature", "1", "--format", "json"]) == 0
    runs = json.loads(capfdbinary.readouterr().out)["runs"]
    assert runs[0]["mean"]["nDCG"] == 1 and runs[1]["mean"]["nDCG"] < 1


def test_the_command(tmp_path, capfdbinary):
    user, other = tmp_path / "user.json", tmp_path / "other.json"
    user.write_text(json.dumps(RUN))
    other.write_text(json.dumps({"q": ["d", "a", "b"], "r": ["b", "a"]}))
    command = ["evaluate", "--qrels-from-run", str(user), "-m", "nDCG", "--format", "json"]
    assert gradely_command([*command, str(user), str(other)]) == 0
    runs = json.loads(capfdbinary.readouterr().out)["runs"]
    expected = gradely.evaluate(gradely.qrels_from_run(RUN), json.loads(other.read_text()), ["nDCG"]).mean()
    assert [run["mean"]["nDCG"] for run in runs] == pytest.approx([1, expected["nDCG"]], abs=1e-12)
    assert gradely_command([*command, "--levels", "1,2", str(other)]) == 0
    levels = json.loads(capfdbinary.readouterr().out)["runs"][0]["mean"]
    assert (
        levels
        == gradely.evaluate(gradely.qrels_from_run(RUN, levels=[1, 2]), json.loads(other.read_text()), ["nDCG"]).mean()
    )
    assert gradely_command([*command, "--levels", "x", str(other)]) == 2
    for by in ("score", "rank"):
        assert gradely_command([*command, "--levels", "1,2", "--graded-by", by, str(other)]) == 2
        assert b"--levels grades by depth, not by score or rank: leave out" in capfdbinary.readouterr().err
    assert gradely_command(["evaluate", str(user), str(other), "--graded-by", "rank"]) == 2
    assert b"--qrels-from-run" in capfdbinary.readouterr().err
