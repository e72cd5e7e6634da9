"""Which column of a table is read: the one that was said, or the only one that it can be."""

import re
import shlex

import pandas as pd
import polars as pl
import pytest

import gradely
from gradely import DataError, InputError
from gradely.cli.main import run as cli
from tests.data.test_formats import GRADED, MEASURES, QRELS, RUN, frame, lines, notes, values


def test_a_column_of_numbers_that_nobody_claims_is_an_error(file, tmp_path):
    names = ("question_id", "chunk_id", "judge_score")
    table = frame(QRELS, *names)
    table.to_csv(tmp_path / "q.csv", index=False)
    table.to_parquet(tmp_path / "q.parquet")
    records = table.to_dict("records")
    shapes = [table, pl.DataFrame(table), records, file("q.jsonl", lines(records)), file("q.json", records)]
    for qrels in (*shapes, tmp_path / "q.csv", tmp_path / "q.parquet"):
        with pytest.raises(InputError, match="no label column; 'judge_score' holds numbers: for labels, pass columns="):
            values(qrels, RUN)
        assert values(qrels, RUN, columns={"label": "judge_score"}) == GRADED
        everything = gradely.evaluate(qrels, RUN, MEASURES, columns={"label": None})
        assert everything.per_query() == values({query: list(docs) for query, docs in QRELS.items()}, RUN)
        assert not [note for note in everything.notes if note.kind == "labels"]


def test_numbers_that_are_no_labels_are_left_aside():
    qrels = frame(QRELS, "user_id", "item_id", "timestamp").assign(Date=7, fold=1, shop_id=3, index=4, price="cheap")
    assert "no label column: every row counts as relevant" in notes(qrels, RUN)
    assert gradely.evaluate(QRELS, RUN, ["RR"], exclude=frame({"q1": {"x": 1}}, "qid", "docno", "seconds")).mean()
    clicked = frame(QRELS, "user_id", "item_id", "clicked").astype({"clicked": bool})
    with pytest.raises(InputError, match="'clicked' holds numbers"):
        values(clicked, RUN)


def test_every_row_is_relevant_on_the_command_line(file, capfd):
    qrels = str(file("q.csv", "question_id,chunk_id,judge_score\nq1,d1,2\nq2,d4,0\n"))
    run = str(file("run.json", RUN))
    assert cli(["evaluate", qrels, run, "-m", "RR"]) == 2
    assert "(--columns label=judge_score)" in capfd.readouterr().err
    assert cli(["evaluate", qrels, run, "-m", "RR", "--columns", "label=", "--format", "csv"]) == 0
    assert capfd.readouterr().out.splitlines()[1] == "run,0.75"


@pytest.mark.parametrize("name", ["Judge score", "Rating (0-2)", "judge's"])
def test_what_an_error_says_to_type_can_be_typed_in_a_shell(file, capfd, name):
    qrels = str(file("q.csv", f"question_id,chunk_id,{name}\nq1,d1,2\nq2,d4,0\n"))
    run = str(file("run.json", RUN))
    assert cli(["evaluate", qrels, run, "-m", "RR"]) == 2
    typed = re.search(r"\((--columns .*?)\); if every", capfd.readouterr().err)[1]
    assert cli(["evaluate", qrels, run, "-m", "RR", *shlex.split(typed)]) == 0
    expected = gradely.evaluate({"q1": {"d1": 2}, "q2": {"d4": 0}}, RUN, ["RR"])
    assert f"{expected['RR']:.4f}" in capfd.readouterr().out


def test_a_role_that_is_not_known_is_refused_though_no_column_has_a_name(file, capfd):
    qrels, run = str(file("qrels.txt", "q1 0 d1 1\n")), str(file("a.run", "q1 Q0 d1 1 0.5 a\n"))
    assert cli(["evaluate", qrels, run, "-m", "RR", "--columns", "docid=d"]) == 2
    assert "no column role 'docid': use query, document, label" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("names", "says"),
    [
        (("doc_id", "passage_id"), "'doc_id' and 'passage_id' may both be the document column"),
        (("item_id", "product_id"), "'item_id' and 'product_id' may both be the document column"),
        (("docno", "chunk_id"), "'docno' and 'chunk_id' may both be the document column"),
    ],
)
def test_two_columns_that_may_be_the_document_are_an_error(names, says):
    run = frame(RUN, "qid", names[0], "score").assign(**{names[1]: "1"})
    with pytest.raises(InputError, match=says):
        values(QRELS, run)
    assert values(QRELS, run, columns={"document": names[0]}) == GRADED


def test_two_columns_that_may_be_the_query_are_an_error():
    run = frame(RUN, "user_id", "item_id", "score").assign(session_id=1)
    with pytest.raises(InputError, match="'user_id' and 'session_id' may both be the query column"):
        values(QRELS, run)
    run = frame(RUN, "query_id", "item_id", "score").assign(user_id=1, query="words", item="words", rank=7)
    assert values(QRELS, run) == GRADED
    said = [note.text for note in gradely.evaluate(QRELS, run, MEASURES).notes if note.kind != "holes"]
    assert said == ["run: 'query_id' is read as the query, and not 'user_id'"]
    run = frame(RUN, "qid", "docno", "score").assign(prediction=1.0)
    with pytest.raises(InputError, match="'score' and 'prediction' may both be the score column"):
        values(QRELS, run)


def test_a_column_of_places_is_a_rank():
    for name, start in (("position", 1), ("pos", 0), ("Ranking", 1)):
        ranked = pd.DataFrame([("q", "b", start), ("q", "a", start + 1)], columns=["qid", "docno", name])
        assert gradely.evaluate({"q": {"a": 1}}, ranked, ["RR"])["RR"] == 0.5


@pytest.mark.parametrize("name", ["distance", "_distance", "cosine_distance", "vectorDistance"])
def test_of_distances_the_negative_is_the_score(name):
    run = pd.DataFrame([("q", "b", 0.1), ("q", "a", 0.4)], columns=["qid", "docno", name])
    with pytest.raises(
        InputError, match=r"low values .*pass its negative as score; if high values are best, pass columns="
    ):
        gradely.evaluate({"q": {"a": 1}}, run, ["RR"])
    assert gradely.evaluate({"q": {"a": 1}}, run.assign(score=-run[name]), ["RR"])["RR"] == 0.5


@pytest.mark.parametrize("suffix", ["csv", "parquet", "frame", "records"])
def test_several_runs_in_one_table_are_noticed(tmp_path, suffix):
    first, second = [("q", "a", 0.9, "bm25")], [("r", "b", 0.8, "dense")]
    names = ["qid", "docno", "score", "model"]
    qrels = {"q": {"a": 1}, "r": {"b": 1}}

    def give(rows):
        frame = pd.DataFrame(rows, columns=names)
        if suffix in ("csv", "parquet"):
            path = tmp_path / f"run.{suffix}"
            frame.to_csv(path, index=False) if suffix == "csv" else pl.from_pandas(frame).write_parquet(path)
            return path
        return frame if suffix == "frame" else frame.to_dict("records")

    noted = gradely.evaluate(qrels, give(first + second), ["RR"]).notes
    assert any(
        "'model' has several values, such as 'bm25' and 'dense', and all rows are read as" in str(n) for n in noted
    )
    assert not gradely.evaluate(qrels, give([*first, ("r", "b", 0.8, "bm25")]), ["RR"]).notes
    with pytest.raises(
        DataError, match=r"duplicate document .a..*if 'model' names several runs, give one run at a time"
    ):
        gradely.evaluate(qrels, give([*first, ("q", "a", 0.8, "dense")]), ["RR"])


@pytest.mark.parametrize("name", ["annotator", "worker_id"])
def test_several_raters_in_one_table_lead_to_the_command_that_merges_them(file, tmp_path, name, capfd):
    path = file("labels.csv", f"qid,docno,label,{name}\nq,a,1,ann\nq,a,0,bob\n")
    merge = "gradely judges --qrels FILE --merge mean -o merged.qrels"
    for qrels in (path, pd.read_csv(path)):
        with pytest.raises(DataError, match=f"if '{name}' names raters, merge them: {merge}$"):
            gradely.evaluate(qrels, {"q": ["a"]}, ["RR"])
    merged = str(tmp_path / "merged.qrels")
    assert cli([*merge.replace("FILE", str(path)).split()[1:-1], merged]) == 0
    assert gradely.read_qrels(merged).labels("q") == {"a": 0.5}


def test_names_that_end_like_ids_may_hold_labels():
    with pytest.raises(InputError, match="no label column; 'paid' holds numbers"):
        gradely.read_qrels([{"user_id": "u", "item_id": "i", "paid": 0}])


def test_a_column_that_is_there_twice_is_refused_without_a_role_to_say(file):
    with pytest.raises(InputError, match="duplicate column 'docno'; rename or drop one"):
        gradely.read_qrels(file("q.csv", "qid,docno,docno,label\nq,a,a,1\n"))
