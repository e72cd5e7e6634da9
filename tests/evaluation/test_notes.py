"""Notes in words: how many are named, one or several, and what is left out."""

import pytest

import gradely
from gradely.evaluation.notes import Note, TieRange, merge_notes, merge_ranges
from gradely.measures import ALL


def texts_of(scores, kind):
    return [note.text for note in scores.notes if note.kind == kind]


def judged(queries):
    return {f"q{i}": {"a": 1} for i in range(queries)}


@pytest.mark.parametrize(("missing", "names"), [(4, "q1, q2, q3, q4"), (5, "q1, q2, q3, q4, q5")])
def test_five_queries_are_named(missing, names):
    scores = gradely.evaluate(judged(missing + 1), {"q0": ["a"]}, ["AP"])
    count = f"{missing} of {missing + 1} judged queries are not in the run and count as 0"
    assert texts_of(scores, "missing") == [f"{count}: {names}"]


def test_of_six_queries_five_are_named():
    (text,) = texts_of(gradely.evaluate(judged(7), {"q0": ["a"]}, ["AP"]), "missing")
    assert text == "6 of 7 judged queries are not in the run and count as 0: q1, q2, q3, q4, q5, …"


@pytest.mark.parametrize(("owners", "prefix"), [(1, "r0: "), (3, "r0, r1, r2: "), (4, "4 of 5 runs: "), (5, "")])
def test_three_runs_are_named_and_all_need_no_name(owners, prefix):
    note = Note("missing", 1, 2, "a query is missing")
    notes = merge_notes({f"r{i}": [note] if i < owners else [] for i in range(5)})
    assert [str(one) for one in notes] == [f"{prefix}a query is missing"]


def test_what_holds_of_all_runs_comes_first():
    own, shared = Note("ties", 1, 2, "own"), Note("missing", 1, 2, "shared")
    assert [note.text for note in merge_notes({"a": [own, shared], "b": [shared]})] == ["shared", "a: own"]


NARROW, WIDE = TieRange("AP", 0.5, 0.4, 0.6, 1, 4), TieRange("AP", 0.5, 0.35, 0.6, 2, 4)


def test_of_two_runs_both_ranges_are_shown_and_of_three_the_widest():
    assert [note.text[:2] for note in merge_ranges({"a": [NARROW], "b": [WIDE]}, 4)] == ["a:", "b:"]
    widest, where = merge_ranges({"a": [NARROW], "b": [WIDE], "c": []}, 4)
    assert (widest.text, widest.count, widest.of) == (f"b: {WIDE}; the widest range of 2 runs", 2, 4)
    assert (where.text, where.count, where.of) == ("`gradely ties` shows the range of every run", 2, 3)


def test_the_only_range_of_three_runs_is_not_the_widest():
    assert [note.text for note in merge_ranges({"a": [WIDE], "b": [], "c": []}, 4)] == [f"a: {WIDE}"]


def test_a_range_of_which_no_digit_is_printed_is_left_out():
    hidden = NARROW._replace(low=0.50001, high=0.50004)
    assert merge_ranges({"a": [hidden]}, 4) == [] and len(merge_ranges({"a": [hidden]}, 5)) == 1


@pytest.mark.parametrize(
    ("exclude", "says"),
    [
        ({"q": ["x"], "r": ["a"]}, ""),
        (
            {"Q": ["a"]},
            ": its queries, such as 'Q', are not among the judged ones, such as 'q'; possible reason: upper and",
        ),
        (
            {"r": ["a"]},
            ": its queries, such as 'r', are not among the judged ones, such as 'q'; they do not look alike",
        ),
    ],
)
def test_nothing_to_exclude_is_noted(exclude, says):
    """Items of the training data with ids of another type stayed in the rankings, without a note."""
    (text,) = texts_of(gradely.evaluate({"q": {"c": 1}}, {"q": ["a", "b", "c"]}, ["AP"], exclude=exclude), "excluded")
    assert text.startswith(f"no document of exclude is in the rankings, so nothing was excluded{says}")


@pytest.mark.parametrize(
    ("documents", "says"),
    [
        (["a"], "1 of 3 documents was excluded from the rankings"),
        (["a", "b"], "2 of 3 documents were excluded from the rankings"),
    ],
)
def test_excluded_documents_are_counted_among_all(documents, says):
    scores = gradely.evaluate({"q": {"c": 1}}, {"q": ["a", "b", "c"]}, ["AP"], exclude={"q": documents})
    assert texts_of(scores, "excluded") == [says]


@pytest.mark.parametrize(
    ("run", "says"),
    [
        (["a", "x"], ["1 of 2 documents is unjudged and was dropped"]),
        (["a", "x", "y"], ["2 of 3 documents are unjudged and were dropped"]),
        (["a"], []),
    ],
)
def test_dropped_documents_are_counted_among_all(run, says):
    assert texts_of(gradely.evaluate(judged(1), {"q0": run}, ["AP"], judged_only=True), "dropped") == says


@pytest.mark.parametrize(
    ("queries", "missing", "unjudged", "counted"),
    [
        (
            "qrels",
            "is not in the run and counts as 0",
            "has no judgments and is left out",
            {"q0": 1, "q1": 0.5, "q2": 0},
        ),
        ("both", "is not in the run and is left out", "has no judgments and is left out", {"q0": 1, "q1": 0.5}),
        (
            "run",
            "is not in the run and is left out",
            "has no judgments and counts as 0",
            {"q0": 1, "q1": 0.5, "other": 0},
        ),
    ],
)
def test_the_fate_of_queries_that_one_side_lacks(queries, missing, unjudged, counted):
    scores = gradely.evaluate(judged(3), {"q0": ["a"], "q1": ["x", "a"], "other": ["a"]}, ["AP"], queries=queries)
    assert texts_of(scores, "missing") == [f"1 of 3 judged queries {missing}: q2"]
    assert texts_of(scores, "unjudged") == [f"1 of 3 queries of the run {unjudged}: other"]
    assert {query: value["AP"] for query, value in scores.per_query().items()} == counted
    assert scores["AP"] == 1.5 / len(counted)


def test_the_highest_mean_is_that_of_the_queries_that_count():
    qrels = {"one": {"a": 1}, "both": {"a": 1, "b": 2}, "none": {"a": 0}}
    scores = gradely.evaluate(qrels, {query: ["b", "a"] for query in qrels}, ["eGAP(g=[0.25, 0.75])"])
    (text,) = texts_of(scores, "unreachable")
    assert text.startswith("1 of 3 queries cannot reach 1") and text.endswith(
        f"is at most {1.25 / 3:.4f}), since the pool lacks a level: one"
    )
    (text,) = texts_of(
        gradely.evaluate(
            {"one": qrels["one"], "x": {"b": 2}}, {"one": ["a"]}, ["eGAP(g=[0.25, 0.75])"], queries="both"
        ),
        "unreachable",
    )
    assert "is at most 0.2500)" in text and text.endswith(": one")


def test_queries_without_a_pair_to_order_are_noted():
    labels = {"d1": 1, "d2": 1, "d3": 2}
    qrels = {"only": {"d1": 1, "d2": 1}, "both": labels, "graded": labels, "last": {"d1": 1}, "lost": {"d1": 1}}
    run = {"only": ["d1", "d2"], "both": ["d1", "x"], "graded": ["d3", "d1"], "last": ["x", "d1"], "lost": ["x", "y"]}
    scores = gradely.evaluate(qrels, run, ["AUC", "OPA", "AUC@1", "AP"])
    though = "and score 0, although they have relevant documents"
    assert texts_of(scores, "degenerate") == [
        f"2 of 5 queries have no non-relevant document in the top for AUC {though}: only, graded",
        f"1 of 5 queries has no documents of different relevance in the top for OPA {though}: only".replace(
            "re 0", "res 0"
        ),
        f"3 of 5 queries have no non-relevant document in the top for AUC@1 {though}: only, both, graded",
    ]
    assert [scores.values[i, 0] for i in (0, 2, 3)] == [0, 0, 0]


@pytest.mark.parametrize(
    ("scores", "noted"), [([1, 1, 1], False), ([3, 2, 2], False), ([3, 3, 2], True), ([2, 2], True)]
)
def test_ties_that_a_cutoff_divides_may_have_a_pair(scores, noted):
    run = {"q": dict(zip(("d1", "d2", "x"), scores, strict=False))}
    found = gradely.evaluate({"q": {"d1": 1, "d2": 1}}, run, ["AUC@2"])
    assert bool(texts_of(found, "degenerate")) == noted
    assert not (noted and found["AUC@2"])


@pytest.mark.parametrize("labels", [[1], [1, 1], [2, 1], [1, 0, 0], [1, -1], [0]])
@pytest.mark.parametrize("k", [None, 1, 10])
def test_no_measure_scores_the_best_ranking_0_without_a_note(labels, k):
    pool = {f"d{i}": label for i, label in enumerate(labels)}
    kinds = [kind for kind in ALL if kind.needs_relevant and not kind.needs_subtopics]
    measures = [kind() if k is None else kind() @ k for kind in kinds]
    scores = gradely.evaluate({"q": pool}, {"q": [*pool]}, measures, ties="order")
    told = " ".join(texts_of(scores, "degenerate")).replace(",", "").split()
    silent = {name for name, value in scores.mean().items() if value == 0} - {*told}
    assert not silent


def test_measures_share_a_note_where_the_same_queries_are_degenerate():
    qrels = {"none": {"a": 0}, "low": {"a": 1}, "high": {"a": 2}}
    scores = gradely.evaluate(qrels, {query: ["a"] for query in qrels}, ["AP", "P(rel=2)@1", "RR", "RR(rel=2)"])
    assert texts_of(scores, "degenerate") == [
        "1 of 3 queries has no relevant document for AP, RR and scores 0 in every order: none",
        "2 of 3 queries have no relevant document for P(rel=2)@1, RR(rel=2) and score 0 in every order: none, low",
    ]
