"""Mistakes of the data that only look like bad rankings."""

import pandas as pd
import pytest

import gradely
from gradely.data.alike import compare_ids

PAIRS = {
    "case": ("DOC1", "doc1", "upper and lower case"),
    "blanks": (" d1", "d1", "blanks around"),
    "unicode": ("cafe\u0301", "caf\u00e9", "two Unicode forms"),  # they look the same, and were said not to look alike
    "floats": ("10.0", "10", "10.0 and as 10"),
    "unseen": ("d\u200b1", "d1", "invisible characters"),
    "prefix": ("doc-17", "17", "a prefix"),
    "zeros": ("17", "clueweb-0017", "a prefix"),
    "passages": ("d1_12", "d1", "passages of documents (document_pattern='^(.*)_', --document-pattern '^(.*)_')"),
    "judged passages": ("d1", "d1::3", "passages of documents in the qrels"),
    "folder": ("docs/faq.md", "faq", "a folder, a file extension"),
    "address": ("https://a.org/faq/", "http://a.org/faq", "the start of a URL"),
    "nothing": ("abc", "xyz", "do not look alike"),
    "other passages": ("doc_1", "doc_2", "do not look alike"),
    "uuid": ("9c6e76d8-932f-4268-a79b-cd1c00a473b1", "d1", "do not look alike"),
}


def runs_of(query, document, folder):
    """Yield a run as everything that is read in another way."""
    frame = pd.DataFrame({"qid": [query] * 2, "docno": ["q" * 9, document], "score": [2.0, 1.0]})
    frame.to_csv(folder / "r.csv", index=False)
    frame.to_parquet(folder / "r.parquet")
    yield from ({query: {"q" * 9: 2.0, document: 1.0}}, frame, folder / "r.csv", folder / "r.parquet")
    if " " not in document:
        (folder / "r").write_text(f"{query} Q0 qqqqqqqqq 1 2.0 t\n{query} Q0 {document} 1 1.0 t\n")
        yield folder / "r"


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_documents_under_other_names_are_noted_with_the_likely_reason(pair, tmp_path):
    ours, theirs, reason = pair
    for run in runs_of("1", ours, tmp_path):
        (note,) = [
            note.text for note in gradely.evaluate({"1": {theirs: 1}}, run, ["RR"]).notes if note.kind == "apart"
        ]
        assert "no document of qrels is in the rankings" in note and reason in note and repr(theirs) in note
        assert reason == "do not look alike" or repr(ours) in note
        wrong = [str(finding) for finding in gradely.check({"1": {theirs: 1}}, run) if finding.kind == "error"]
        assert len(wrong) == 1 and reason in wrong[0]


def test_one_document_in_common_of_few_is_nothing_odd():
    kinds = {note.kind for note in gradely.evaluate({"1": {"a": 1, "b": 1}}, {"1": ["a", "c"]}, ["RR"]).notes}
    assert "apart" not in kinds


@pytest.mark.parametrize(("matches", "verb"), [(1, "is"), (2, "are")])
def test_hardly_any_of_many_is_odd(matches, verb):
    qrels = {"1": {f"d{i}": 1 for i in range(500)}}
    run = {"1": [f"{'d' if i < matches else 'D'}{i}" for i in range(500)]}
    (note,) = [note for note in gradely.evaluate(qrels, run, ["RR"]).notes if note.kind == "apart"]
    assert f"only {matches} of 500 judged documents of qrels {verb} in the rankings" in note.text
    assert "upper and lower case" in note.text


def test_a_run_without_any_document_is_not_compared():
    notes = gradely.evaluate({"1": {"a": 1}, "2": {"b": 1}}, {"1": ["a"], "2": []}, ["RR"]).notes
    assert "apart" not in {note.kind for note in notes}


def test_labels_below_one_say_which_rel_to_use():
    qrels, run = {"1": {"a": 0.8, "b": 0.25, "c": 0}}, {"1": ["a", "b"]}
    (note,) = [
        note.text for note in gradely.evaluate(qrels, run, ["nDCG", "P@10", "AP"]).notes if note.kind == "labels"
    ]
    assert "the highest label is 0.8" in note and "P@10, AP count documents" in note and "P(rel=0.4)" in note
    for measures in (["nDCG"], ["AP(rel=0.25)"]):
        assert not [note for note in gradely.evaluate(qrels, run, measures).notes if note.kind == "labels"]
    assert gradely.evaluate(qrels, run, ["P(rel=0.25)@2"]).mean() == {"P(rel=0.25)@2": 1.0}


def test_the_nearest_reason_wins():
    assert compare_ids(["A", " b"], ["b", "a"]) == (" b", "b", "; possible reason: blanks around one of them")


@pytest.mark.parametrize(("documents", "odd"), [(99, False), (100, True)])
def test_one_of_a_hundred_is_odd(documents, odd):
    qrels = {"1": {f"d{i}": 1 for i in range(documents)}}
    run = {"1": ["d0", *(f"D{i}" for i in range(1, documents))]}
    assert ("apart" in {note.kind for note in gradely.evaluate(qrels, run, ["RR"]).notes}) == odd


def test_a_short_ranking_has_no_room_for_many_judged_documents():
    qrels = {"1": {f"d{i}": 1 for i in range(1000)}}
    notes = gradely.evaluate(qrels, {"1": ["d0", *(f"D{i}" for i in range(1, 10))]}, ["RR"]).notes
    assert "apart" not in {note.kind for note in notes}


def test_the_example_is_of_a_query_that_has_documents():
    qrels = {"1": {"d1": 1}, "2": {"d2": 1}}
    (note,) = [note for note in gradely.evaluate(qrels, {"1": [], "2": ["D2"]}, ["RR"]).notes if note.kind == "apart"]
    assert "query '2' has 'D2' in the run and 'd2' in the qrels; possible reason: upper and lower case" in note.text


@pytest.mark.parametrize("first", [{"a": 1}, {"a": 1, "b": 0}])
def test_there_is_no_example_where_the_first_query_has_only_documents_in_common(first):
    qrels = {"1": first, "2": {f"d{i}": 1 for i in range(200)}}
    run = {"1": ["a"], "2": [f"D{i}" for i in range(200)]}
    (note,) = [note for note in gradely.evaluate(qrels, run, ["RR"]).notes if note.kind == "apart"]
    assert note.text == "only 1 of 201 judged documents of qrels is in the rankings of run"
