"""Texts of queries and documents beside their ids: in tables of queries, explanations and summaries of gates."""

import json
import re

import pandas as pd
import pytest

import gradely
from gradely import InputError
from gradely.cli.main import run as cli

QRELS = {"q1": {"d1": 2, "d2": 1}, "q2": {"d3": 1}, "q3": {"d3": 1}}
RUN = {"q1": ["d2", "x", "d1"], "q2": ["x", "d3"], "q3": ["d3"]}
QUERIES = {"q1": "ties in rankings", "q2": "how long is a " + "very " * 30 + "long query", "q9": "nobody asks for it"}
DOCUMENTS = {"d1": "all about ties", "d2": "something\n  else", "x": "off topic", "far": "away"}


@pytest.fixture
def files(tmp_path):
    """Return the arguments of a command about qrels and a run, and files of texts, one of each format."""
    qrels = "".join(f"{query} 0 {doc} {label}\n" for query, docs in QRELS.items() for doc, label in docs.items())
    run = "".join(f"{query} Q0 {doc} {i} {-i} t\n" for query, docs in RUN.items() for i, doc in enumerate(docs))
    (tmp_path / "qrels.txt").write_text(qrels)
    (tmp_path / "bm25.run").write_text(run)
    (tmp_path / "queries.tsv").write_text("".join(f"{query}\t{text}\n" for query, text in QUERIES.items()))
    (tmp_path / "docs.jsonl").write_text(
        "".join(f"{json.dumps({'_id': doc, 'text': text})}\n" for doc, text in DOCUMENTS.items())
    )
    return tmp_path


def paths(folder, *names):
    return [str(folder / name) for name in names]


def test_the_worst_queries_have_their_texts(files, capfd):
    arguments = [*paths(files, "qrels.txt", "bm25.run"), "-m", "RR", "--queries-text", *paths(files, "queries.tsv")]
    assert cli(["evaluate", *arguments, "--worst", "2", "--format", "json"]) == 0
    shown = json.loads(capfd.readouterr().out)["runs"][0]["queries"]
    assert shown == {"q2": {"RR": 0.5, "text": QUERIES["q2"]}, "q1": {"RR": 1.0, "text": QUERIES["q1"]}}
    assert cli(["evaluate", *arguments, "--best", "1", "--format", "csv"]) == 0
    assert capfd.readouterr().out.splitlines() == ["run,query,RR,text", "bm25,q1,1.0,ties in rankings"]
    assert cli(["evaluate", *arguments, "-q"]) == 0
    out = capfd.readouterr().out
    assert "ties in rankings" in out and "2 of 3 queries have a text" in out
    assert QUERIES["q2"][:60].rstrip() + "…" in out and QUERIES["q2"] not in out
    assert cli(["evaluate", *arguments]) == 2
    assert "add -q, --worst or --best" in capfd.readouterr().err


def test_texts_of_queries_from_python():
    results = gradely.evaluate_runs(QRELS, {"a": RUN, "b": {"q1": ["d1"]}}, ["RR"])
    shown = results.by_query(worst=1, queries_text=QUERIES)
    assert shown.data_table().rows == [["a", "q2", 0.5, QUERIES["q2"]], ["b", "q2", 0.0, QUERIES["q2"]]]
    assert shown.table().header[-1] == "text" and [row[-1] for row in shown.table().rows[1::2]] == ["", ""]
    assert shown.remarks() == [] and "have a text" not in str(shown)
    nothing = results.by_query(queries_text={})
    assert nothing.remarks() == ["0 of 3 queries have a text"]
    other = gradely.evaluate(QRELS, {"q1": RUN["q1"]}, ["RR"], queries="both").by_query(queries_text={1: "ties"})
    assert other.remarks() == ["0 of 1 query has a text: the first one is 'q1', and the first text is of '1'"]
    for given, advice in ((pd.Series(QUERIES), "its to_dict()"), ([*QUERIES.values()], "dict(zip(ids, texts))")):
        with pytest.raises(InputError, match=f"texts must be .* or a file; found .*: give {re.escape(advice)}"):
            results.by_query(queries_text=given)
    assert results.by_query(worst=1).data_table().header == ["run", "query", "RR"]


def test_explanations_have_the_texts_of_query_and_documents(files, capfd):
    arguments = [*paths(files, "qrels.txt", "bm25.run"), "q1", "-m", "nDCG"]
    texts = ["--queries-text", *paths(files, "queries.tsv"), "--docs-text", *paths(files, "docs.jsonl")]
    assert cli(["explain", *arguments, *texts]) == 0
    out = capfd.readouterr().out
    assert out.startswith("q1: ties in rankings\n")
    assert out.count("all about ties") == out.count("something else") == 2 and out.count("off topic") == 1
    assert "have a text" not in out and "away" not in out
    assert cli(["explain", *arguments, *texts, "--format", "csv"]) == 0
    header, first, *_ = capfd.readouterr().out.splitlines()
    assert header.endswith(",adds,text") and first.endswith(",something else")
    assert cli(["explain", *arguments, *texts, "--format", "json"]) == 0
    shown = json.loads(capfd.readouterr().out)
    assert shown["query_text"] == "ties in rankings" and shown["texts"]["d1"] == "all about ties"
    assert cli(["explain", *arguments, "--format", "json"]) == 0
    assert not {"query_text", "texts"} & {*json.loads(capfd.readouterr().out)}


def test_explanations_say_how_many_documents_have_a_text():
    explained = gradely.explain(QRELS, RUN, "q2", "RR", queries_text={"q1": "another"}, docs_text=DOCUMENTS)
    assert explained.query_text is None and explained.texts == {"x": "off topic"}
    assert explained.remarks() == ["1 of 2 documents has a text"]
    plain = gradely.explain(QRELS, RUN, "q2", "RR")
    assert "text" not in plain.table().header and plain.remarks() == []


def test_summaries_of_gates_have_the_texts_of_queries(files, capfd):
    worse = "".join(f"{query} Q0 x 1 2 t\n{query} Q0 {next(iter(docs))} 2 1 t\n" for query, docs in QRELS.items())
    (files / "new.run").write_text(worse)
    arguments = [*paths(files, "qrels.txt", "new.run"), "--baseline", *paths(files, "bm25.run"), "-m", "RR"]
    texts = ["--queries-text", *paths(files, "queries.tsv")]
    assert cli(["gate", *arguments, *texts, "--summary", *paths(files, "summary.md"), "--strict"]) == 1
    assert "| ties in rankings |" in (files / "summary.md").read_text()
    assert cli(["gate", *arguments, *texts]) == 2
    assert "--queries-text has an effect only with --summary: add it" in capfd.readouterr().err
    gate = gradely.gate(QRELS, {"q1": ["x", "d1"]}, {"q1": ["d1"]}, ["RR"], queries="both")
    assert gate.losers("RR", queries_text=QUERIES).rows == [["q1", 1.0, 0.5, 0.5, "ties in rankings"]]


def test_a_broken_file_of_texts_is_named_and_not_overwritten(files, capfd):
    (files / "asked.jsonl").write_text('{"qid": "q1", "question": "ties?"}\n')
    assert gradely.explain(QRELS, RUN, "q1", "RR", queries_text=files / "asked.jsonl").query_text == "ties?"
    (files / "asked.csv").write_text('qid,question\r\nq0,one\r\nq1,"ties,\r\nor ""not""?"\r\n')
    assert gradely.explain(QRELS, RUN, "q1", "RR", queries_text=files / "asked.csv").query_text == 'ties, or "not"?'
    for rows, says in (
        ("id,note\nq1,x\n", "found the fields 'id, note'"),
        (f"id,text\nq1,{'x' * 200_000}\n", "is not CSV"),
    ):
        (files / "asked.csv").write_text(rows)
        with pytest.raises(InputError, match=f"asked.csv:[12]: .*{says}"):
            gradely.explain(QRELS, RUN, "q1", "RR", queries_text=files / "asked.csv")
    (files / "broken").write_text("q1 without a tab\n")
    with pytest.raises(InputError, match="broken:1: expected an id, a tab and a text"):
        gradely.explain(QRELS, RUN, "q1", "RR", queries_text=files / "broken")
    qrels, run, texts = paths(files, "qrels.txt", "bm25.run", "queries.tsv")
    before = (files / "queries.tsv").read_text()
    assert cli(["evaluate", qrels, run, "-m", "RR", "-q", "--queries-text", texts, "-o", texts]) == 2
    assert (files / "queries.tsv").read_text() == before
