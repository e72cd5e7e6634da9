"""Qrels and runs that look swapped, and labels that a binary measure overlooks, are noticed."""

import json
import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import gradely
from gradely import InputError
from gradely.cli.main import run as cli
from tests.data.test_formats import PREDICTIONS, QRELS, RUN, frame, values
from tests.shared_data import DATA, needs, runs


def swapped(qrels, run):
    return [note.text for note in gradely.evaluate(qrels, run, ["nDCG"]).notes if "qrels come first" in note.text]


def test_swapped_frames_and_dicts_are_noticed(tmp_path):
    rating, score = frame(QRELS, "user_id", "item_id", "rating"), frame(RUN, "user_id", "item_id", "score")
    rating.to_csv(tmp_path / "rating.csv", index=False)
    score.to_csv(tmp_path / "score.csv", index=False)
    pairs = [(rating, score), (pl.DataFrame(rating), pl.DataFrame(score)), (QRELS, RUN)]
    pairs += [(rating.to_dict("records"), score.to_dict("records")), (tmp_path / "rating.csv", tmp_path / "score.csv")]
    for qrels, run in pairs:
        assert swapped(qrels, run) == []
        (note,) = swapped(run, qrels)
        assert "most labels are not whole numbers, and the first scores are whole numbers from 0 to 2" in note


def test_scores_of_0_and_1_are_noticed():
    clicks, ranks = {"q": {"a": 1, "b": 0, "c": 0}}, {"q": {"a": 3, "b": 2, "c": 1}}
    assert "the first scores are 0 or 1" in swapped(ranks, clicks)[0]
    later = clicks | {"r": {"a": 7.5, "b": 3.25}}  # not all scores are, as the note once said
    assert "the first scores are 0 or 1" in swapped(ranks | {"r": {"a": 1}}, later)[0]
    assert swapped(clicks, ranks) == swapped(clicks, {"q": ["a", "b"]}) == []


def whole_numbers():
    """Return labels from 0 to 3, most of them tied, and scores that are whole numbers and hardly tie."""
    labels = {f"q{q}": {f"d{d}": d * (q + 1) % 4 for d in range(8)} for q in range(4)}
    return labels, {f"q{q}": {f"d{d}": 7 * d + q for d in range(8)} for q in range(4)}


def test_swapped_whole_numbers_are_noticed(tmp_path):
    labels, scores = whole_numbers()
    rows = [tmp_path / f"{name}.csv" for name in ("labels", "scores")]
    frame(labels, "user_id", "item_id", "rating").to_csv(rows[0], index=False)
    frame(scores, "user_id", "item_id", "score").to_csv(rows[1], index=False)
    for qrels, run in ((labels, scores), rows):
        assert swapped(qrels, run) == []
        (note,) = swapped(run, qrels)
        assert (
            "there are 31 distinct positive labels, and most of the first scores tie, whole numbers from 0 to 3;"
            in note
        )
    assert any("qrels come first" in note.text for note in gradely.compare(scores, {"a": labels, "b": labels}).notes)
    assert any("qrels come first" in note.text for note in gradely.gate(scores, labels, labels).notes)
    assert any("qrels come first" in finding.text for finding in gradely.check(scores, labels))


def test_swapped_labels_that_are_not_whole_numbers_are_noticed():
    labels, scores = whole_numbers()
    labels = {query: {doc: label / 4 for doc, label in docs.items()} for query, docs in labels.items()}
    scores = {query: {doc: score / 31 for doc, score in docs.items()} for query, docs in scores.items()}
    assert swapped(labels, scores) == []
    (note,) = swapped(scores, labels)
    assert "there are 31 distinct positive labels, and most of the first scores tie, of which 4 differ;" in note
    constant = {query: dict.fromkeys(docs, 1.0) for query, docs in scores.items()}
    assert swapped(scores, constant) == []
    stars = {query: {doc: label / 2 + 0.5 for doc, label in docs.items()} for query, docs in whole_numbers()[0].items()}
    (note,) = swapped(scores, stars)
    assert "most labels are not whole numbers, and the first scores are half and whole numbers from 0.5 to 2;" in note
    assert swapped(stars, scores) == swapped(stars, stars | {"new": {"d": 3.5}}) == []


RELEVANT = {"q1": {"d1": 1, "d2": 1}, "q2": {"d4": 1}}
REAL = {"q1": {"d3": 12.93, "d1": 11.81, "d2": 4.4}, "q2": {"d4": 7.7, "d1": 2.2}}


def test_swapped_relevant_documents_that_all_have_label_1_are_noticed(tmp_path):
    frames = [frame(table, "query_id", "doc_id", "score") for table in (RELEVANT, REAL)]
    files = [tmp_path / "relevant.json", tmp_path / "real.json"]
    for path, table in zip(files, (RELEVANT, REAL), strict=True):
        path.write_text(json.dumps(table))
    says = "all documents of a query have the same score, 1 in the first query, most labels are not whole numbers"
    for qrels, run in ((RELEVANT, REAL), frames, files):
        assert swapped(qrels, run) == []
        (note,) = swapped(run, qrels)
        assert f"{says}, and the run has 3 documents where 5 are judged; if the two are swapped" in note
    found = gradely.compare(REAL, {"a": RELEVANT, "b": RELEVANT}, ["nDCG"]).notes
    assert any("where 5 are judged" in note.text for note in found)
    assert any("where 5 are judged" in finding.text for finding in gradely.check(REAL, RELEVANT))
    one = {"q1": {"d1": 1}, "q2": {"d4": 1}}  # one relevant document in each query
    assert "the run has 2 documents where 5 are judged" in swapped(REAL, one)[0]
    whole = {query: {doc: score // 1 for doc, score in docs.items()} for query, docs in REAL.items()}
    assert "the first labels all differ and go up to 12, and the run has 2 documents" in swapped(whole, one)[0]


@pytest.mark.parametrize(
    ("qrels", "run"),
    [
        ({"q1": {"d1": 2, "d2": 1, "d3": 0}, "q2": {"d4": 1, "d1": 0}}, RELEVANT),  # labels that look like labels
        (REAL, {query: dict.fromkeys(docs, 1) for query, docs in REAL.items()}),  # as many documents as are judged
        (REAL, {"q1": {"d1": 1, "d2": 1}, "q2": {"d4": 0.5, "d1": 0.7}}),  # other scores in the second query
        (REAL, {"q1": {"d1": 2, "d2": 2}, "q2": {"d4": 2}}),  # the same score, but not 1
        ({"q1": {"d1": 30, "d2": 30, "d3": 2}}, {"q1": {"d1": 1, "d2": 1}}),  # counts that tie
        ({"q1": {"d1": 10, "d2": 9, "d3": 2}}, {"q1": {"d1": 1, "d2": 1}}),  # a scale up to 10
    ],
)
def test_a_run_with_one_score_is_no_mistake_by_itself(qrels, run):
    assert swapped(qrels, run) == []


def test_a_few_large_labels_against_scores_of_a_scale_are_noticed():
    large, scale = {"q": {"a": 12, "b": 11, "c": 4, "d": 1}}, {"q": {"a": 0, "b": 2, "c": 1, "d": 0}}
    (note,) = swapped(large, scale)
    assert "the first labels all differ and go up to 12, and some of the first scores tie, whole numbers from 0" in note
    assert swapped(scale, large) == []
    assert swapped(large, {"q": {"a": 3, "b": 2, "c": 1, "d": 0}}) == []  # ranks, counted from the last
    (note,) = swapped({"q": {"a": 12, "b": 11, "c": 4}}, {"q": {"a": 2, "b": 1, "c": 0}})
    assert (
        "the first labels all differ and go up to 12, and the first scores are whole numbers from 0 to 2; if the"
        in note
    )
    with pytest.warns(
        UserWarning, match=r"go up to 25, .* from 0 to 2: the order is evaluate_arrays\(scores, labels\)"
    ):
        gradely.evaluate_arrays([[0, 2, 1, 0]], [[25, 12, 9, 3]], ["nDCG@10"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gradely.evaluate_arrays([[25, 12, 9, 3]], [[0, 2, 1, 0]], ["nDCG@10"])
        gradely.evaluate_arrays([[0, 1, 1, 0]], [[3, 2, 1, 0]], ["nDCG@10"])
        gradely.evaluate_arrays([[0.0, 2.0, 1.0, 0.0]], [[25, 12, 9, 3]], ["nDCG@10"])  # real scores, whole labels


def test_swapped_negative_scores_and_labels_are_noticed():
    labels, logs = {"q": {"a": -2, "b": 1, "c": 0}}, {"q": {"a": -0.003, "b": -0.02, "c": -1.5}}
    (note,) = swapped(logs, labels)
    assert (
        "most labels are not whole numbers, and the first scores are whole numbers from -2 to 1; if the two are" in note
    )
    assert swapped(labels, logs) == swapped({"q": {"a": 0, "b": 0}}, logs) == []


def test_scores_that_are_ranks_are_no_labels():
    """Four documents or more that all have another score are ranked, also by whole numbers, against real labels."""
    real = {"q": {"a": 0.9, "b": 0.4, "c": 0.35, "d": 0.1}}
    for scores in ((4, 3, 2, 1), (3, 2, 1, 0)):
        assert swapped(real, {"q": dict(zip("abcd", scores, strict=True))}) == []
    for ranked in ([{"query": "q", "results": ["b", "a"]}], frame({"q": {"b": 1, "a": 2}}, "qid", "docno", "rank")):
        assert swapped(real, ranked) == []  # the scores are -1 and -2
    assert len(swapped(real, {"q": dict(zip("abcd", (3, 2, 0, 0), strict=True))})) == 1
    labels = np.random.default_rng(0).random((3, 5))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for ranks in (np.arange(5, 0, -1), -np.arange(5), 1 / np.arange(1, 6)):
            scores = np.stack([ranks] * 3)
            gradely.evaluate_arrays(scores, labels, ["nDCG"])
            gradely.evaluate_arrays(scores.ravel(), labels.ravel(), ["nDCG"], group=[5, 5, 5])
            gradely.from_groups(scores.ravel(), labels.ravel(), qid=np.repeat(["a", "b", "c"], 5))


def test_swapped_arrays_of_relevant_documents_that_all_have_label_1_are_noticed():
    scores, ones = np.array([[0.9, 0.4, 0.1], [0.3, 0.7, 0.2]]), np.ones((2, 3))
    for call in (
        lambda s, y: gradely.evaluate_arrays(s, y, ["nDCG"]),
        gradely.from_arrays,
        lambda s, y: gradely.from_groups(s.ravel(), y.ravel(), group=[3, 3]),
        gradely.nDCG().of,
    ):
        with pytest.warns(
            UserWarning, match=r"the first scores are 1, and most labels are not whole numbers: the order is"
        ):
            call(ones.astype(int), scores)
        with pytest.warns(UserWarning, match="the first scores are 1"):
            call(ones, 31.3 * scores)  # labels that go beyond scales, and never tie
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            call(scores, ones.astype(int))
            call(ones, scores)  # a scorer that tells nothing apart, and real labels
            call(ones.astype(int), 10 * scores // 1)


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_swapped_lazy_frames_are_noticed(engine):
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()

    def lazy(table):
        rows = pl.DataFrame(frame(table, "query_id", "doc_id", "score"))
        return rows.lazy() if engine == "polars" else connection.from_arrow(rows.to_arrow())

    labels, scores = whole_numbers()
    scores = {query: {doc: score + 0.5 for doc, score in docs.items()} for query, docs in scores.items()}
    for ours, theirs, says in (
        (QRELS, RUN, "the first scores are whole numbers from 0 to 2"),
        (RELEVANT, REAL, "all documents of a query have the same score, 1 in the first"),
        (labels, scores, "most labels are not whole numbers"),
    ):
        assert swapped(ours, lazy(theirs)) == []
        (note,) = swapped(theirs, lazy(ours))
        assert says in note


def test_lazy_frames_say_which_of_two_columns_is_read():
    run = pl.DataFrame(frame(RUN, "qid", "docno", "score")).with_columns(docid=pl.lit(7)).lazy()
    assert any(
        "'docno' is read as the document, and not 'docid'" in note.text for note in gradely.evaluate(QRELS, run).notes
    )


def same(qrels, run):
    return [note.text for note in gradely.evaluate(qrels, run, ["nDCG"]).notes if "the same" in note.text]


def test_the_same_file_as_qrels_and_run_is_noticed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame(REAL, "query-id", "corpus-id", "score").to_csv("beir.tsv", sep="\t", index=False)
    Path("real.json").write_text(json.dumps(REAL))
    Path("other.json").write_text(json.dumps(REAL))
    Path("real").write_text(json.dumps(REAL))
    for name, paths in (("beir", ("beir.tsv", "./beir.tsv")), ("real", ("real.json", Path("real.json")))):
        for path in paths:
            says = [f"{name}: the run is the same file as the qrels, so its scores are the labels"]
            assert same(paths[0], path) == says
            found = gradely.compare(paths[0], {"a": path, "b": "other.json"}, ["nDCG"]).notes
            assert [note.text for note in found if "the same" in note.text] == [f"a: {says[0]}"]
            assert any(says[0].partition(": ")[2] == finding.text for finding in gradely.check(paths[0], path))
    assert len(same("real", "real")) == 1
    assert same("real.json", "other.json") == same(REAL, json.loads(json.dumps(REAL))) == same("real", REAL) == []
    assert same(REAL, REAL) == ["run: the run is the same object as the qrels, so its scores are the labels"]


def test_a_file_that_holds_labels_and_scores_is_qrels_and_run(tmp_path):
    both = frame(REAL, "query_id", "doc_id", "score").assign(label=[1, 0, 2, 1, 0])
    both.to_csv(tmp_path / "both.csv", index=False)
    ragas = [{"user_input": "q", "reference_context_ids": ["a"], "retrieved_context_ids": ["b", "a"]}]
    (tmp_path / "ragas.json").write_text(json.dumps(ragas))
    for one in (both, tmp_path / "both.csv", ragas, tmp_path / "ragas.json"):
        assert same(one, one) == []


def test_labels_that_are_counts_and_scores_that_hardly_tie_are_no_mistake():
    labels, scores = whole_numbers()
    plays = {query: {doc: max(1, score - 25) for doc, score in docs.items()} for query, docs in scores.items()}
    assert swapped(plays, labels) == []  # most of the first query were played once
    few = {query: {doc: i for i, doc in enumerate(docs)} for query, docs in scores.items()}
    assert swapped(scores, few) == []  # from 0 to 7, and no tie
    assert swapped(scores, {query: dict.fromkeys(docs, 1) for query, docs in scores.items()}) == []  # a set, no scale


def test_real_labels_and_runs_that_fit_them_are_no_mistake():
    real = {"q": {"a": 0.5, "b": 0.25}}
    assert swapped(real, {"q": {"a": 0.7, "b": 2}}) == []
    assert swapped(real, {"q": {"a": 20, "b": 11}}) == []


def test_swapped_files_are_named(file):
    qrels, run = file("q", "q1 0 d1 1\n"), file("r", "q1 Q0 d1 1 0.5 t\n")
    with pytest.raises(InputError, match=r"r:1: 6 fields instead of 4.*looks like a run, and qrels come first"):
        values(run, qrels)
    with pytest.raises(InputError, match=r"q:1: 4 fields instead of 6.*look like qrels, which come first"):
        values(QRELS, qrels)
    with pytest.raises(InputError, match="a rank beside a score looks like a run, and qrels come first"):
        values(file("r.csv", "qid,docno,rank,score\nq1,d1,1,0.5\n"), RUN)
    with pytest.raises(
        InputError, match=r"no score column among 'relevance'; 'relevance' is a label, as in qrels, which come first"
    ):
        values(QRELS, file("q.csv", "qid,docno,relevance\nq1,d1,1\n"))


def test_runs_without_scores_are_no_qrels(file):
    says = r"a rank without a label looks like a run, and qrels come first; if every row is relevant, .*label="
    ranks = {"q1": {"d1": 1, "d2": 2}}
    ranked = file("r.csv", "qid,docno,rank\nq1,d1,1\nq1,d2,2\n")
    line = file("r.jsonl", '{"qid": "q1", "docno": "d1", "rank": 1}\n')
    for run in (ranked, line, frame(ranks, "qid", "docno", "rank"), [{"qid": "q1", "docno": "d1", "rank": 1}]):
        with pytest.raises(InputError, match=says):
            values(run, RUN)
        assert values(QRELS, run)
    assert gradely.read_qrels(ranked, columns={"label": None}).labels("q1") == {"d1": 1, "d2": 1}
    assert values(QRELS, file("one.jsonl", '{"qid": "q1", "docno": "d1", "rank": 1, "score": 0.5}'))


def test_results_without_scores_are_relevant_documents_and_the_note_names_no_rank(file):
    results = [{"query_id": "q1", "results": ["d1", "d2"]}, {"query_id": "q2", "results": ["d4"]}]
    lines = "".join(f"{json.dumps(one)}\n" for one in results)
    for qrels in (file("n.json", json.dumps(results)), file("n.jsonl", lines), results):
        (note,) = gradely.read_qrels(qrels).notes
        assert note.endswith(" has no label column: every row counts as relevant, with label 1")
        assert list(gradely.read_run(qrels).scores["q1"].values()) == [-1, -2]


def test_predictions_of_mteb_are_no_qrels(file):
    says = "holds predictions of MTEB, which are a run; give qrels, with the documents that are relevant"
    for predictions in (PREDICTIONS, file("p.json", json.dumps(PREDICTIONS))):
        with pytest.raises(InputError, match=says):
            values(predictions, RUN)


def test_swapped_arrays_are_noticed():
    labels, scores = np.array([[1, 0, 0, 1]]), np.array([[0.2, 0.9, 0.3, 0.1]])
    assert gradely.evaluate_arrays(scores, labels, ["RR"])["RR"].tolist() == [1 / 3]
    for given in ((labels, scores), (labels.tolist(), scores.tolist())):
        with pytest.warns(UserWarning, match=r"evaluate_arrays\(scores, labels\)"):
            gradely.evaluate_arrays(*given, ["nDCG"])
    with pytest.warns(UserWarning, match=r"evaluate_arrays\(scores, labels\)"):
        gradely.evaluate_arrays(labels[0], scores[0], ["nDCG"], group=[2, 2])


SCALES = {
    "whole": [0, 1, 2, 3],
    "0 and 1": [0, 1, 1, 0],
    "all 1": [1],
    "quarters": [0.0, 0.25, 0.5, 0.75, 1.0],
    "below 1": [0.1, 0.2, 0.5, 0.9],
    "fine": np.random.default_rng(1).random(97).tolist(),
}
"""labels by the scale that they are on; scores are real numbers from 0 to 1"""
SILENT = {"fine"}
"""labels that cannot be told from scores: nothing is said in either order"""


def on_scale(scale):
    """Return labels on a scale and scores that hardly tie, of the same and of other documents."""
    random = np.random.default_rng(5)
    judged = range(12)
    labels = {f"q{q}": {f"d{d}": SCALES[scale][(d + q) % len(SCALES[scale])] for d in judged} for q in range(12)}
    return labels, {query: {f"d{d}": random.random() for d in range(4, 24)} for query in labels}


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("form", ["dict", "json", "records", "frame"])
def test_labels_of_every_scale_are_noticed_where_they_are_scores(tmp_path, scale, form):
    labels, scores = on_scale(scale)
    if form == "json":
        for name, content in (("labels", labels), ("scores", scores)):
            (tmp_path / f"{name}.json").write_text(json.dumps(content))
        labels, scores = tmp_path / "labels.json", tmp_path / "scores.json"
    elif form != "dict":
        frames = [frame(table, "user_id", "item_id", "rating") for table in (labels, scores)]
        labels, scores = frames if form == "frame" else [each.to_dict("records") for each in frames]
    assert swapped(labels, scores) == []
    assert len(swapped(scores, labels)) == (scale not in SILENT)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("function", ["evaluate_arrays", "from_arrays", "of"])
def test_arrays_of_every_scale_are_noticed_where_they_are_scores(scale, function):
    calls = {
        "evaluate_arrays": lambda *arrays: gradely.evaluate_arrays(*arrays, ["nDCG"]),
        "from_arrays": gradely.from_arrays,
        "of": gradely.nDCG().of,
    }
    labels = np.array([list(ranking.values()) for ranking in on_scale(scale)[0].values()])
    scores = np.random.default_rng(2).random(labels.shape)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        calls[function](scores, labels)
    if scale not in SILENT:
        with pytest.warns(UserWarning, match=r"the order is .*\(scores, labels\)"):
            calls[function](labels, scores)


def threshold(labels, *measures):
    run = {"q": {doc: i for i, doc in enumerate(labels)}}
    found = gradely.evaluate({"q": labels}, run, list(measures)).notes
    return [note.text for note in found if note.kind == "labels"]


def test_binary_measures_say_from_which_label_on_a_document_counts():
    (note,) = threshold({"a": 1, "b": 0.9, "c": 0.2, "d": 0}, "RR", "AP", "nDCG")
    assert "RR, AP count documents with a label of 1 or more as relevant: 2 of 3 positive labels are lower" in note
    assert "RR(rel=0.5) counts those with 0.5 or more" in note
    (note,) = threshold({"a": 0.5, "b": 1, "c": 5}, "P@10")
    assert "1 of 3 positive labels is lower" in note and "P(rel=2.5) counts those with 2.5 or more" in note
    for labels in ({"a": 1.5, "b": 2.5}, {"a": 1, "b": 0}, {"a": 1, "b": -0.5}):  # whatever is above 0 counts
        assert threshold(labels, "AP") == []
    assert threshold({"a": 1.5, "b": 0.5}, "nDCG", "AP(rel=0.5)") == []
    (note,) = threshold({"a": 0.5, "b": 0.2}, "AP")
    assert "there are none: the highest label is 0.5; AP(rel=0.25) counts those with 0.25 or more" in note


def distances(path, *rows):
    path.write_text("".join(f"{query} Q0 {doc} {rank} {score} t\n" for query, doc, rank, score in rows))
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    return [note.text for note in gradely.evaluate(qrels, path, ["RR"]).notes if "distances" in note.text]


def test_low_scores_at_the_first_ranks_are_probably_distances(tmp_path):
    one = [("q1", "a", 1, 0.1), ("q1", "b", 2, 0.4)]
    (note,) = distances(tmp_path / "r", *one)
    assert "r: the rank column contradicts the scores in the first query: low scores rank first, but" in note
    (note,) = distances(tmp_path / "r", *one, ("q2", "a", 2, 0.4), ("q2", "b", 1, 0.3), ("q2", "c", 3, 0.4))
    assert "in each of the first 2 queries" in note


@pytest.mark.parametrize("far", [0.4, 0.05])
@pytest.mark.parametrize(
    "shape",
    [
        lambda pairs: {"q": pairs},
        lambda pairs: {"q": [{"id": name, "score": score} for name, score in pairs]},
        lambda pairs: [{"query": "q", "results": [{"id": name, "score": score} for name, score in pairs]}],
    ],
)
def test_lists_of_results_with_the_lowest_score_first_are_probably_distances(shape, far):
    run = shape([("a", 0.1), ("b", far)])
    found = [note.text for note in gradely.evaluate({"q": {"a": 1}}, run, ["RR"]).notes if "distances" in note.text]
    says = "run: the order of the results contradicts the scores in the first query: low scores rank first, but high "
    assert [text.startswith(says) for text in found] == [True] * (far > 0.1)


@pytest.mark.parametrize("other", ["x", None, 10**400], ids=["word", "none", "large"])
def test_scores_that_are_text_are_compared_as_numbers_and_of_other_queries_not_at_all(other):
    scores = gradely.evaluate({"q": {"a": 1}}, {"q": [("a", "9"), ("b", "10")], "z": [("a", other)]}, ["RR"])
    assert scores["RR"] == 0.5 and any("if these are distances" in note.text for note in scores.notes)
    assert gradely.evaluate({"q": {"a": 1}}, {"z": [("a", other)], "q": [("a", "9"), ("b", "1")]}, ["RR"])["RR"] == 1.0


@pytest.mark.parametrize("start", [0, 1])
def test_scores_that_count_up_in_the_given_order_are_probably_ranks(tmp_path, start):
    """{doc: rank for rank, doc in enumerate(ranking, 1)} ranked everything upside down, without a note."""
    run = {query: {doc: rank for rank, doc in enumerate("abcd", start)} for query in ("q1", "q2", "q3")}

    def found(run):
        return [note.text for note in gradely.evaluate({"q1": {"a": 1}}, run, ["RR"]).notes if "ranks" in note.text]

    says = f"are {start}, {start + 1}, {start + 2}, … in the given order, like ranks, but high scores are best; if"
    table = frame(run, "query_id", "doc_id", "score")
    table.to_csv(tmp_path / "run.csv", index=False)
    for given in (run, table, tmp_path / "run.csv"):
        (note,) = found(given)
        assert says in note
    for other in ({"q1": run["q1"]}, run | {"q3": {"a": 1, "b": 3}}, {query: [*"abcd"] for query in run}):
        assert found(other) == []


@pytest.mark.parametrize(
    "second",
    [
        [("q2", "a", 1, 0.5), ("q2", "b", 2, 0.4)],  # one query that is as it should be
        [("q2", "a", 1, 0.4), ("q2", "b", 1, 0.5)],  # ranks that say nothing
        [("q2", "a", "x", 0.4), ("q2", "b", "y", 0.5)],
    ],
)
def test_ranks_that_fit_the_scores_anywhere_are_no_distances(tmp_path, second):
    assert distances(tmp_path / "r", ("q1", "a", 1, 0.1), ("q1", "b", 2, 0.4), *second) == []
    assert distances(tmp_path / "r", ("q1", "a", 1, 0.4), ("q2", "a", 1, 0.9)) == []  # nothing to compare


COLLECTIONS = {
    "clef-ehealth-2015": "runs",
    "codec-entity": "runs",
    "table-retrieval-wikitables": "runs",
    "trec-covid-round1": "runs-top100",
    "trec-dl-2019-passage": "runs",
    "trec-robust-2005": "runs",
    "trec-web-2012": "runs",
}


@pytest.mark.parametrize("folder", [pytest.param(folder, marks=needs(folder)) for folder in COLLECTIONS])
def test_real_runs_are_noticed_where_they_are_swapped_and_nowhere_else(folder):
    """The first runs of each collection, as dicts, since TREC text has its own way to tell."""
    judged = gradely.read_qrels(next((DATA / folder).rglob("*qrels*.gz")))
    qrels = {query: judged.labels(query) for query in judged.queries}
    for path in list(runs(f"{folder}/{COLLECTIONS[folder]}").values())[:4]:
        run = {query: dict(ranking) for query, ranking in gradely.read_run(path).scores.items()}
        assert swapped(qrels, run) == [], path.name
        assert len(swapped(run, qrels)) == 1, path.name


UNLABELLED = [{"qid": f"q{i}", "docno": doc} for i in range(6) for doc in ("d1", "d2")]
TERRIER = [
    {"qid": f"q{i}", "docid": place, "docno": doc, "score": 3.0 - place}
    for i in range(6)
    for place, doc in enumerate(("d1", "x", "d2"))
]
TURNED = [row | {"score": -row["score"]} for row in TERRIER]
LABELS = {f"q{i}": {"d1": 1, "d2": i % 2} for i in range(6)}
BY_NAME = {"one": TERRIER, "two": TURNED, "three": TERRIER}
ASSUMED = {
    "evaluate": lambda: gradely.evaluate(UNLABELLED, TERRIER, ["AP"]),
    "evaluate_runs": lambda: gradely.evaluate_runs(UNLABELLED, BY_NAME, ["AP"]),
    "by_query": lambda: gradely.evaluate_runs(UNLABELLED, BY_NAME, ["AP"]).by_query(),
    "Evaluator": lambda: gradely.Evaluator(UNLABELLED, ["AP"])(TERRIER),
    "explain": lambda: gradely.explain(UNLABELLED, TERRIER, "q1", "AP"),
    "compare": lambda: gradely.compare(UNLABELLED, BY_NAME, ["AP"]),
    "matrix": lambda: gradely.compare(UNLABELLED, BY_NAME, ["AP"]).matrix(),
    "influence": lambda: gradely.compare(UNLABELLED, BY_NAME, ["AP"]).influence,
    "suite": lambda: gradely.suite({"one": {"qrels": UNLABELLED, "runs": BY_NAME}}, ["AP"]),
    "gate": lambda: gradely.gate(UNLABELLED, TERRIER, TURNED, ["AP"]),
    "plan": lambda: gradely.plan(UNLABELLED, BY_NAME, ["AP"]),
    "tie_sensitivity": lambda: gradely.tie_sensitivity(UNLABELLED, BY_NAME, ["AP"]),
    "correlate": lambda: gradely.correlate(UNLABELLED, BY_NAME, ["AP", "RR"]),
    "pools": lambda: gradely.pools(UNLABELLED, BY_NAME, ["AP"], rates=[1.0], repeat=1),
    "holes": lambda: gradely.holes(UNLABELLED, BY_NAME, ["AP"]),
    "judge": lambda: gradely.holes(UNLABELLED, BY_NAME, ["AP"]).judge(3),
    "simulate_judging": lambda: gradely.simulate_judging(UNLABELLED, {"one": TERRIER, "two": TURNED}, "P@2"),
    "estimate": lambda: gradely.estimate(UNLABELLED, BY_NAME, ["AP"], judge=LABELS),
    "judges": lambda: gradely.judges({"a": UNLABELLED, "b": LABELS}, BY_NAME, ["AP"]),
    "judges without runs": lambda: gradely.judges({"a": UNLABELLED, "b": LABELS}),
    "phi": lambda: gradely.phi(UNLABELLED),
    "users": lambda: gradely.users({"q0": {"d1": 2, "d2": 1}}, BY_NAME),
    "overlap": lambda: gradely.overlap(BY_NAME),
    "sample": lambda: gradely.sample(LABELS, BY_NAME, n=5),
    "check": lambda: gradely.check(UNLABELLED, TERRIER),
}
WITHOUT_LABELS, WITHOUT_RUNS = {"users", "overlap", "sample"}, {"judges without runs", "phi"}


@pytest.mark.parametrize("name", ASSUMED)
def test_what_was_assumed_about_the_inputs_is_said_beside_every_result(name):
    """Also by explain, phi, lists of what to judge and the agreement of judges, which once said nothing."""
    text = str(ASSUMED[name]())
    assert text.count("no label column: every row counts as relevant") == (name not in WITHOUT_LABELS)
    assert ("'docno' is read as the document" in text) == (name not in WITHOUT_RUNS)


@pytest.mark.parametrize("name", ["evaluate", "compare", "explain", "holes", "gate", "tie_sensitivity"])
def test_labels_below_the_threshold_are_said_beside_every_result(name):
    labels, runs = {"q": {"a": 1.0, "b": 0.9, "c": 0.2}}, {"one": {"q": ["b", "a"]}, "two": {"q": ["a", "c"]}}
    arguments = {
        "explain": [runs["one"], "q", "P@2"],
        "evaluate": [runs["one"], "P@2"],
        "gate": [*runs.values(), "P@2"],
    }
    text = str(getattr(gradely, name)(labels, *arguments.get(name, [runs, "P@2"])))
    assert text.count("2 of 3 positive labels are lower; P(rel=0.5) counts those with 0.5 or more") == 1


def test_explanations_name_likely_swaps_and_one_file_for_both(tmp_path):
    scores = {"q1": {"a": 0.31, "b": 0.27, "c": 0.11, "d": 0.05, "e": 0.93, "f": 0.44}}
    labels = {"q1": {"a": 2, "b": 0, "c": 1, "d": 0, "e": 2, "f": 0}}
    swapped = gradely.explain(scores, labels, "q1", "nDCG@10")
    assert "if the two are swapped, qrels come first" in str(swapped) and swapped.as_dict()["notes"]
    assert gradely.explain(labels, scores, "q1", "nDCG@10").notes == []
    path = tmp_path / "both.csv"
    path.write_text("query,document,score\nq1,a,2\nq1,b,1\n")
    assert "the run is the same file as the qrels" in str(gradely.explain(path, path, "q1", "AP"))


AS_SCORES = {f"q{i}": {f"d{j}": (7 * i + 3 * j) % 11 / 11 + 0.01 * j for j in range(8)} for i in range(5)}
AS_LABELS = {f"q{i}": {f"d{j}": (i + j) % 4 for j in range(8)} for i in range(5)}
SWAPPED = {
    "judges": lambda: gradely.judges({"a": AS_SCORES, "b": AS_SCORES}, {"run": AS_LABELS}, ["nDCG"]),
    "estimate": lambda: gradely.estimate(AS_SCORES, {"run": AS_LABELS}, ["nDCG"], judge=AS_SCORES),
    "compare": lambda: gradely.compare(AS_SCORES, {"one": AS_LABELS, "two": AS_LABELS}, ["nDCG"], judge=AS_SCORES),
    "gate": lambda: gradely.gate(AS_SCORES, AS_LABELS, AS_LABELS, ["nDCG"], judge=AS_SCORES),
}


@pytest.mark.parametrize("name", SWAPPED)
def test_swapped_inputs_are_noticed_where_there_are_several_qrels(name):
    """Documents of all judges were joined without their labels, so that nothing looked like scores."""
    assert "if the two are swapped, qrels come first" in str(SWAPPED[name]())


def test_stars_that_are_all_relevant_are_noted():
    """Ratings from 1 to 5 have no 0, and binary measures count every rated item."""
    stars = {"ann": {"a": 1, "b": 2, "c": 3}, "bob": {"a": 4, "b": 5, "d": 1}}
    run = {"ann": ["a", "b"], "bob": ["d", "b"]}

    def said(qrels, measures):
        return [note.text for note in gradely.evaluate(qrels, run, measures).notes if note.kind == "labels"]

    text = "no label is below 1, so AP, P@5 count all 6 judged documents as relevant; AP(rel=4) counts those with 4 or"
    assert said(stars, ["AP", "nDCG", "P@5"]) == [f"{text} more"]
    assert said(stars, ["nDCG", "AP(rel=4)", "muAP"]) == []
    graded = {**stars, "bob": {"a": 4, "b": 5, "d": 0}}
    few = {"ann": {"a": 1, "b": 2, "c": 3}, "bob": {"a": 2}}
    assert said(graded, ["AP"]) == said(few, ["AP"]) == []


def test_what_is_written_for_people_and_judges_says_what_was_assumed(tmp_path, capfd):
    """Queries to judge, and merged qrels, are not tables: their notes stand beside them."""
    for name, content in (("a.json", UNLABELLED), ("b.json", LABELS), ("run.json", TERRIER)):
        (tmp_path / name).write_text(json.dumps(content))
    unlabelled, labels, scores = (str(tmp_path / name) for name in ("a.json", "b.json", "run.json"))
    assert cli(["judges", "--qrels", unlabelled, "--qrels", labels, "--merge", "mean"]) == 0
    out, err = capfd.readouterr()
    assert out.startswith("q0 0 d1 1\nq0 0 d2 0.5\n") and "no label column: every row counts as relevant" in err
    assert (
        gradely.judges({"a": UNLABELLED, "b": LABELS}).merge("mean").notes[-1].startswith("qrels has no label column")
    )
    assert cli(["sample", labels, scores, "-n", "5", "--pool", str(tmp_path / "pool.csv")]) == 0
    out, err = capfd.readouterr()
    assert len(out.split()) == 5 and "'docno' is read as the document, and not 'docid'" in err
