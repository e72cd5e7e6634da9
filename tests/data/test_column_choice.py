"""Which column of a table is read: the one that was said, or the only one that it can be."""

import polars as pl
import pytest

import gradely
from gradely import InputError
from gradely.cli.main import run as cli
from tests.data.test_formats import GRADED, MEASURES, QRELS, RUN, file, frame, lines, notes, values  # noqa: F401 - file is a fixture


def test_a_column_of_numbers_that_nobody_claims_is_an_error(file, tmp_path):  # noqa: F811
    names = ("question_id", "chunk_id", "judge_score")
    table = frame(QRELS, *names)
    table.to_csv(tmp_path / "q.csv", index=False)
    table.to_parquet(tmp_path / "q.parquet")
    records = table.to_dict("records")
    shapes = [table, pl.DataFrame(table), records, file("q.jsonl", lines(records)), file("q.json", records)]
    for qrels in (*shapes, tmp_path / "q.csv", tmp_path / "q.parquet"):
        with pytest.raises(
            InputError, match="no label column, but 'judge_score' holds numbers: for labels, say columns="
        ):
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


def test_every_row_is_relevant_on_the_command_line(file, capfd):  # noqa: F811
    qrels = str(file("q.csv", "question_id,chunk_id,judge_score\nq1,d1,2\nq2,d4,0\n"))
    run = str(file("run.json", RUN))
    assert cli(["evaluate", qrels, run, "-m", "RR"]) == 2
    assert "(--columns label=judge_score)" in capfd.readouterr().err
    assert cli(["evaluate", qrels, run, "-m", "RR", "--columns", "label=", "--format", "csv"]) == 0
    assert capfd.readouterr().out.splitlines()[1] == "run,0.75"


def test_a_role_that_is_not_known_is_refused_though_no_column_has_a_name(file, capfd):  # noqa: F811
    qrels, run = str(file("qrels.txt", "q1 0 d1 1\n")), str(file("a.run", "q1 Q0 d1 1 0.5 a\n"))
    assert cli(["evaluate", qrels, run, "-m", "RR", "--columns", "docid=d"]) == 2
    assert "no column 'docid' to name: use query, document, label" in capfd.readouterr().err


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
