"""What people meet who have only the README and their own data: hints that say what to type, and no silent number."""

import copy
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import gradely
from gradely import RR, DataError, InputError, from_arrays, from_groups
from gradely.cli.main import run as cli
from gradely.errors import MissingExtra, NotFinite
from gradely.trec_eval.options import Quit

QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 1}}
RUN = {"q1": {"a": 0.9, "b": 0.3}, "q2": {"c": 0.5}}
SCORES, LABELS = np.array([[0.9, 0.4, 0.1], [0.3, 0.7, 0.2]]), np.array([[1, 0, 2], [0, 0, 1]])


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("from_arrays", lambda s, y: RR()(from_arrays(s, y))),
        ("from_groups", lambda s, y: RR()(from_groups(s.ravel(), y.ravel(), group=[3, 3]))),
        ("evaluate_arrays", lambda s, y: gradely.evaluate_arrays(s, y, ["RR"])),
        ("RR.of", lambda s, y: RR().of(s, y)),
    ],
)
def test_swapped_arrays_are_noticed(name, call):
    with pytest.warns(
        UserWarning, match=rf"the first scores are whole numbers from 0 to 2: the order is {name}\(scores, la"
    ):
        call(LABELS, SCORES)
    with pytest.warns(UserWarning, match=rf"the order is {name}\(scores, labels\)"):
        call(LABELS.astype(float), SCORES)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        call(SCORES, LABELS)


def test_swapped_arrays_of_real_labels_are_noticed():
    labels, scores = np.linspace(0, 1, 60).reshape(3, 20) // 0.25 / 4, np.random.default_rng(0).random((3, 20))
    with pytest.warns(UserWarning, match="60 distinct positive labels, and most of the first scores tie, of which 5"):
        gradely.evaluate_arrays(labels, scores, ["nDCG"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gradely.evaluate_arrays(scores, labels, ["nDCG"])
        gradely.evaluate_arrays(np.zeros_like(scores), scores, ["nDCG"])  # a constant scorer is none


def test_labels_of_arrays_below_the_threshold_are_noticed():
    says = (
        r"RR, AP count documents with a label of 1 or more as relevant, and there are none: the highest label is 0\.9"
    )
    with pytest.warns(UserWarning, match=says):
        gradely.evaluate_arrays(SCORES, [[0.5, 0.2, 0.1], [0.1, 0.9, 0.3]], ["RR", "AP", "nDCG"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gradely.evaluate_arrays(SCORES, [[0.5, 0.2, 0.1], [0.1, 0.9, 0.3]], ["nDCG", "AP(rel=0.5)"])
        gradely.evaluate_arrays(SCORES, LABELS.astype(float), ["RR"])
        padded = np.where(np.eye(3) > 0, 0.5, 1.0)[:2]
        gradely.evaluate_arrays(SCORES, padded, ["RR"], mask=padded == 1)
    with pytest.warns(UserWarning, match=r"1 of 3 positive labels is lower; RR\(rel=0.5\)"):
        gradely.evaluate_arrays(SCORES, [[2.0, 0.5, 0.0], [0.0, 1.0, 0.0]], ["RR"])


def test_distances_beside_ranks_are_noticed_in_tables(tmp_path):
    frame = pd.DataFrame(
        {
            "query": ["q1", "q1", "q2", "q2"],
            "document": list("abcd"),
            "score": [0.1, 0.9, 0.2, 0.8],
            "rank": [1, 2, 1, 2],
        }
    )
    frame.to_csv(tmp_path / "d.csv", index=False)
    frame.to_parquet(tmp_path / "d.parquet")
    for run in (frame, pl.from_pandas(frame), frame.to_dict("records"), *sorted(tmp_path.iterdir())):
        (note,) = [note for note in map(str, gradely.evaluate(QRELS, run, ["RR"]).notes) if "rank column" in note]
        assert "low scores rank first, but high scores are best; if these are distances, negate them" in note
    frame["score"] = 1 - frame["score"]
    frame.to_csv(tmp_path / "d.csv", index=False)
    frame.to_parquet(tmp_path / "d.parquet")
    for run in (frame, pl.from_pandas(frame), frame.to_dict("records"), *sorted(tmp_path.iterdir())):
        assert [note.kind for note in gradely.evaluate(QRELS, run, ["RR"]).notes] == ["holes"]


def test_tables_with_semicolons(tmp_path):
    for name in ("run.csv", "run.txt"):
        (tmp_path / name).write_text("query;document;score\nq1;b;0.9\nq1;a,1;0.5\nq1;a;0.1\nq2;c;1\n")
        assert gradely.evaluate(QRELS, tmp_path / name, ["RR"]).per_query() == {"q1": {"RR": 1 / 3}, "q2": {"RR": 1.0}}


def test_tables_without_a_header(tmp_path, capfd):
    (tmp_path / "r.csv").write_text("q1,a,0.9\nq1,b,0.1\n")
    with pytest.raises(
        InputError, match=r"r\.csv:1: the first line names the columns, and '0\.9' is a number: put a lin"
    ):
        gradely.evaluate(QRELS, tmp_path / "r.csv")
    (tmp_path / "r.csv").write_text("query,document,score,2024\nq1,a,0.9,7\n")
    assert gradely.evaluate(QRELS, tmp_path / "r.csv", ["RR"])["RR"] == 0.5
    (tmp_path / "r.tsv").write_text("q1\ta\t0.9\nq1\tb\t0.1\n")
    says = "a table has tabs or commas, and its first line names query, document and"
    with pytest.raises(InputError, match=f"{says} score"):
        gradely.evaluate(QRELS, tmp_path / "r.tsv")
    with pytest.raises(InputError, match=f"{says} label"):
        gradely.evaluate(tmp_path / "r.tsv", RUN)


@pytest.mark.parametrize(
    ("command", "function"), [("report", r"compare\(…\)\.to_html\(\)"), ("ties", "tie_sensitivity")]
)
def test_a_command_with_another_name_in_python_says_which(command, function, monkeypatch):
    monkeypatch.delattr(gradely, command, raising=False)  # the package gradely.report, if another test imported it
    with pytest.raises(AttributeError, match=f"no attribute '{command}'; use {function}"):
        getattr(gradely, command)


def test_a_header_between_blanks_is_no_table(tmp_path):
    """The error told people to write the line that they had written."""
    (tmp_path / "q.txt").write_text("query document label\nq1 a 1\nq2 c 1\n")
    with pytest.raises(InputError, match="a table has tabs or commas, and its first line names query"):
        gradely.evaluate(tmp_path / "q.txt", RUN)
    (tmp_path / "q.txt").write_text((tmp_path / "q.txt").read_text().replace(" ", "\t"))
    assert gradely.evaluate(tmp_path / "q.txt", RUN, ["RR"])["RR"] == 1


def test_several_runs_in_place_of_one_and_one_in_place_of_several():
    for runs in ({"bm25": RUN, "dense": RUN}, {"bm25": "bm25.run"}, {"bm25": {"q1": ["a", "b"]}}):
        with pytest.raises(
            DataError, match=r"run: looks like several runs by name, 'bm25'.* evaluate_runs\(qrels, runs\)"
        ):
            gradely.evaluate(QRELS, runs, ["RR"])
    for name in ("score", "predicted_rating", "rank"):
        with pytest.raises(
            DataError, match=rf"run: query 'q1', document 'a': expected a number, .*{{query: {{document: {name}}}}}$"
        ):
            gradely.evaluate(QRELS, {"q1": {"a": {"text": "some words", name: 0.5}}}, ["RR"])
    frame = pl.DataFrame({"query": ["q1"], "document": ["a"], "score": [1.0]})
    for run, says in (
        (RUN, "this looks like one run"),
        (frame, "this is one run"),
        (gradely.read_run(RUN), "this is one"),
    ):
        for work in (gradely.compare, gradely.evaluate_runs, gradely.plan):
            with pytest.raises(DataError, match=f"{says}.*: give the runs by name"):
                work(QRELS, run, ["RR"])


def test_plain_tuples_are_refused_with_what_to_give():
    rows = [("q1", "a", 0.9), ("q1", "b", 0.1)]
    for given in (rows, iter(rows), [list(row) for row in rows]):
        with pytest.raises(DataError, match=r"run: is a list of (tuple|list)s, whose values have no names: give dicts"):
            gradely.evaluate(QRELS, given, ["RR"])


def test_queries_that_differ_by_case_are_named():
    upper = {query.upper(): docs for query, docs in QRELS.items()}
    with pytest.raises(
        DataError, match=r"no query in common: 'q1' and 'Q1' look alike; possible reason: upper and lower case"
    ):
        gradely.evaluate(upper, RUN, ["RR"])
    some = gradely.evaluate({"Q1": {"a": 1}, "q2": {"c": 1}}, RUN, ["RR"])
    assert "query 'q1' of the run and 'Q1' of the qrels look alike; possible reason: upper and lower case" in map(
        str, some.notes
    )
    others = gradely.evaluate({"topic-1": {"a": 1}, "q2": {"c": 1}}, RUN | {"topic-2": {"a": 1}}, ["RR"])
    assert not [note for note in others.notes if note.kind == "apart"]
    with pytest.raises(DataError, match="no query in common; the first are 'topic-9' and 'q1'"):
        gradely.evaluate(QRELS, {"topic-9": {"a": 1}}, ["RR"])


def test_hits_say_that_they_are_a_count():
    scores = gradely.evaluate(QRELS, RUN, ["Hits@10", "Success@10"])
    said = [str(note) for note in scores.notes if note.kind == "hits"]
    assert said == ["Hits@10 counts the relevant documents; Success@10 is the share of queries with one"]


def test_a_measure_of_several_names_is_printed_once(tmp_path, capfd):
    (tmp_path / "q").write_text("q1 0 a 1\n")
    (tmp_path / "r").write_text("q1 Q0 a 1 1 t\n")
    assert cli(["evaluate", str(tmp_path / "q"), str(tmp_path / "r"), "-m", "AP,MAP,map", "--format", "csv"]) == 0
    out, err = capfd.readouterr()
    assert out == "run,AP\nr,1.0\n"
    assert err == "MAP is AP, and is shown once\nmap is AP, and is shown once\n"
    assert cli(["evaluate", str(tmp_path / "q"), str(tmp_path / "none"), "-m", "AP,MAP"]) == 2
    assert capfd.readouterr().err.count("\n") == 1


def test_missing_ratings_of_frames_say_what_to_do():
    frame = pd.DataFrame({"query": ["q1", "q1"], "document": ["a", "b"], "rating": [1.0, float("nan")]})
    with pytest.raises(DataError, match=r"row 2; drop them, as in frame\.dropna\(subset=\['rating'\]\)"):
        gradely.evaluate(frame, RUN, ["RR"])
    with pytest.raises(DataError, match=r"row 2; drop them, as in frame\.drop_nulls\('rating'\)"):
        gradely.evaluate(pl.from_pandas(frame), RUN, ["RR"])


def test_letters_of_a_table_are_not_names_of_runs():
    qrels = {f"q{i}": {"d": 1} for i in range(12)}
    good, bad = ({q: ["d"] if i % 5 else ["x", "d"] for i, q in enumerate(qrels)}, {q: ["x", "y", "d"] for q in qrels})
    compared = gradely.compare(qrels, {"b": good, "a": bad}, ["RR"])
    assert compared.letters == {"b": "c", "a": "d"}
    assert "ᵈ" in str(compared.table())


def test_swapped_lines_of_json_say_so(tmp_path):
    (tmp_path / "q.jsonl").write_text('{"query_id": "q1", "doc_id": "a", "label": 1}\n')
    (tmp_path / "r.jsonl").write_text('{"query_id": "q1", "doc_id": "a", "score": 0.7}\n')
    with pytest.raises(InputError, match="'label' is a label, as in qrels, which come first, before the runs"):
        gradely.evaluate(tmp_path / "r.jsonl", tmp_path / "q.jsonl", ["RR"])


@pytest.mark.parametrize(
    "error",
    [
        NotFinite("DCG", 0, 1e308, "q"),
        MissingExtra("Altair", "report"),
        gradely.InputError("x" * 1000),
        Quit(4, "no run"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_of_other_processes_arrive_as_they_were(error):
    """A process pool broke by an error that was made from other arguments than its message."""
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))
