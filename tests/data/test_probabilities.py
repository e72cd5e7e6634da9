"""Labels as probabilities: columns p0, p1, … of every table, {label: probability}, shares of raters; bad ones."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

import gradely
from gradely.cli.main import run as cli

QRELS = {"q1": {"a": {0: 0.2, 1: 0.5, 2: 0.3}, "b": {2: 1.0}}, "q2": {"a": {0: 0.875, 1: 0.125}}}
RUN = {"q1": ["b", "x", "a"], "q2": ["x", "a"]}
ROWS = [
    {"query_id": "q1", "doc_id": "a", "p0": 0.2, "p1": 0.5, "p2": 0.3},
    {"query_id": "q1", "doc_id": "b", "p0": 0.0, "p1": 0.0, "p2": 1.0},
    {"query_id": "q2", "doc_id": "a", "p0": 0.875, "p1": 0.125, "p2": 0.0},
]
MEASURES = ["nDCG@2", "AP", "R@2"]


def written(folder, name, rows=ROWS):
    """Return the path of a file that holds rows in the format that its name says."""
    path, frame = folder / name, pd.DataFrame(rows)
    write = {
        "csv": lambda: frame.to_csv(path, index=False),
        "tsv": lambda: frame.to_csv(path, index=False, sep="\t"),
        "parquet": lambda: frame.to_parquet(path, index=False),
        "json": lambda: path.write_text(json.dumps(rows)),
        "jsonl": lambda: path.write_text("".join(json.dumps(row) + "\n" for row in rows)),
    }
    write[name.rpartition(".")[2]]()
    return path


@pytest.mark.parametrize("name", ["qrels.csv", "qrels.tsv", "qrels.parquet", "qrels.json", "qrels.jsonl"])
def test_columns_of_files_hold_the_probability_of_each_label(tmp_path, name):
    qrels = gradely.read_qrels(written(tmp_path, name))
    assert {query: qrels.judgments(query) for query in qrels.queries} == QRELS
    assert (
        gradely.evaluate(qrels, RUN, MEASURES).values.tolist() == gradely.evaluate(QRELS, RUN, MEASURES).values.tolist()
    )


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pl.LazyFrame, list])
def test_columns_of_frames_and_records_do(make):
    qrels = gradely.read_qrels(make(ROWS))
    assert {query: qrels.judgments(query) for query in qrels.queries} == QRELS
    assert repr(qrels) == "Qrels(qrels: 2 queries, 3 judgments)"


def test_columns_are_found_in_any_order_and_by_names_of_ones_own():
    rows = [{"P_1": 0.25, "who": "q", "p-0": 0.75, "what": "d"}]
    qrels = gradely.read_qrels(rows, columns={"query": "who", "document": "what"})
    assert qrels.judgments("q") == {"d": {0: 0.75, 1: 0.25}}


def test_plain_labels_beside_probabilities_are_certain():
    mixed = {"q1": {"a": {0: 0.2, 1: 0.5, 2: 0.3}, "b": 2}, "q2": QRELS["q2"]}
    assert gradely.read_qrels(mixed).judgments("q1") == QRELS["q1"]


def test_json_has_labels_as_text(tmp_path):
    path = tmp_path / "qrels.json"
    path.write_text(json.dumps(QRELS))
    assert gradely.read_qrels(path).judgments("q1") == QRELS["q1"]


def test_probabilities_that_are_rounded_are_scaled_and_that_is_said():
    qrels = gradely.read_qrels({"q": {"a": {0: 0.33, 1: 0.33, 2: 0.33}, "b": 1}})
    assert qrels.judgments("q")["a"] == pytest.approx({0: 1 / 3, 1: 1 / 3, 2: 1 / 3}, abs=1e-15)
    assert qrels.notes == [
        "qrels: the probabilities of 1 of 2 documents do not add up to exactly 1 (0.99 to 1); scaled"
    ]


def test_some_queries_and_excluded_documents():
    part = gradely.evaluate(QRELS, RUN, ["AP"], queries=["q2"])
    assert part.values.tolist() == gradely.evaluate(QRELS, RUN, ["AP"]).values[1:].tolist()
    first = gradely.evaluate(QRELS, RUN, ["P@1"], exclude={"q2": ["x"]})
    assert first.values.tolist() == [[1.0], [0.125]]


def test_shares_of_raters():
    raters = {"ann": {"q": {"a": 2, "b": 0}}, "bob": {"q": {"a": 1, "b": 0}}, "eve": {"q": {"a": 1}, "r": {"c": 1}}}
    shares = gradely.label_shares(raters)
    assert shares.judgments("q") == {"a": {1: 2 / 3, 2: 1 / 3}, "b": {0: 1.0}}
    assert shares.judgments("r") == {"c": {1: 1.0}}
    assert shares.notes == [
        "shares of 3 raters: 2 of 3 documents were not judged by every rater, and have the shares of those who did"
    ]
    means = [gradely.evaluate(labels, {"q": ["a", "b"]}, ["DCG"]).values for labels in raters.values()]
    both = gradely.label_shares(list(raters.values())[:2])
    expected = np.mean(means[:2])
    assert gradely.evaluate(both, {"q": ["a", "b"]}, ["DCG"]).values.item() == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(
    ("raters", "problem"),
    [
        ([], "shares need at least two raters; there is none"),
        ({"ann": {"q": {"a": 1}}}, "shares need at least two raters; there is one"),
        ("qrels.txt", "give the qrels of each rater by name"),
        ([{"q": {"a": 1}}, {"q": {"a": {0: 0.5, 1: 0.5}}}], "label_shares needs one label for each document"),
    ],
)
def test_raters_that_give_no_shares_are_refused(raters, problem):
    with pytest.raises(gradely.DataError, match=problem):
        gradely.label_shares(raters)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({0: 0.2, 1: 0.5}, "document 'd': the probabilities of the labels add up to 0.7; they must add up to 1"),
        ({0: 1.5, 1: -0.5}, "label 0 has the probability 1.5; it must be from 0 to 1"),
        ({0: 1.25, 1: -0.25}, "label 0 has the probability 1.25; it must be from 0 to 1"),
        ({0: -0.25, 1: 1}, "label 0 has the probability -0.25; it must be from 0 to 1"),
        ({0: float("nan"), 1: 1}, "query 'q', document 'd': the probability is nan; it must be a finite number"),
        ({0: "half", 1: 0.5}, "the probability 'half' is not a number"),
        ({float("inf"): 1.0}, "; 'inf' is not a number"),
        ({1: 1, 2: 1}, "add up to 2; they must add up to 1; names of subtopics are text"),
    ],
)  # fmt: skip
def test_what_are_no_probabilities_is_refused_in_one_line(value, problem):
    with pytest.raises(gradely.DataError) as error:
        gradely.evaluate({"q": {"d": value}}, {"q": ["d"]}, ["AP"])
    assert problem in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({"1": 0.5, "1.0": 0.5}, "duplicate label, as in"),
        ({"s1": 0.5, "1": 0.5}, "probabilities are numbers, as in {0: 0.2, 1: 0.8}; 's1' is not a number"),
        ({"1": 1, "2": 0}, "may be something else, such as subtopics"),
    ],
)
def test_text_that_is_no_label_is_refused_in_json(tmp_path, value, problem):
    path = tmp_path / "qrels.json"
    path.write_text(json.dumps({"q": {"d": value}}))
    with pytest.raises(gradely.DataError) as error:
        gradely.evaluate(path, {"q": ["d"]}, ["AP"])
    assert problem in str(error.value)


def test_text_in_dicts_names_subtopics():
    """And numbers are labels, with their probabilities."""
    assert gradely.read_qrels({"q": {"d": {"1": 1, "2": 0}}}).subtopic_labels("q") == {"d": {"1": 1, "2": 0}}
    assert gradely.read_qrels({"q": {"d": {1: 1, 2: 0}}}).judgments("q") == {"d": {1: 1}}


@pytest.mark.parametrize(
    ("header", "rows", "problem"),
    [
        ("qid,docno,p0,p2", "q,d,0.5,0.5", "no p1 among 'p0', 'p2': label probabilities need a column for each label"),
        ("qid,docno,p1,p2", "q,d,0.5,0.5", "qrels.csv: no p0 among 'p1', 'p2'"),
        ("qid,docno,p0,p1,P_1", "q,d,0.5,0.5,0", "two columns for p1 among 'p0', 'P_1', 'p1'"),
        ("qid,docno,label,p0,p1", "q,d,1,0.5,0.5", "'label' is a label, and 'p0', 'p1' look like probabilities"),
        ("qid,docno,p0,p1", "q,d,0.5,0.4", "query 'q', document 'd': the probabilities of the labels add up to 0.9"),
        ("qid,docno,p0,p1", "q,d,0.5,nan", "qrels.csv:2: p1 is nan; it must be a finite number"),
        ("qid,docno,p0,p1", "q,d,0.5,", "qrels.csv:2: p1 '' is not a number"),
        ("qid,docno,p0,p1", "q,d,1,0\nq,d,0,1", "qrels.csv:3: duplicate document 'd' of query 'q', first in line 2"),
    ],
)  # fmt: skip
def test_tables_that_hold_no_probabilities_are_refused_in_one_line(
    tmp_path, monkeypatch, capsys, header, rows, problem
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.csv").write_text(f"{header}\n{rows}\n")
    (tmp_path / "a.run").write_text("q Q0 d 1 1.0 a\n")
    assert cli(["evaluate", "qrels.csv", "a.run", "-m", "AP"]) == 2
    error = capsys.readouterr().err
    assert problem in error and error.count("\n") == 1


def test_a_label_is_read_beside_probabilities_where_it_is_named():
    rows = [{"qid": "q", "docno": "d", "label": 1, "p0": 0.5, "p1": 0.5}]
    assert gradely.read_qrels(rows, columns={"label": "label"}).labels("q") == {"d": 1}


def test_the_first_of_duplicate_documents_may_count(tmp_path):
    rows = [*ROWS, ROWS[0] | {"p0": 1.0, "p1": 0.0, "p2": 0.0}]
    for name in ("qrels.csv", "qrels.jsonl"):
        path = written(tmp_path, name, rows)
        assert gradely.read_qrels(path, duplicates="first").judgments("q1") == QRELS["q1"]
        with pytest.raises(gradely.DataError, match=r"duplicate document|it must be from 0 to 1"):
            gradely.read_qrels(path, duplicates="sum")
