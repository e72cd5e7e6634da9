"""The policies of queries and documents give the same values from files, dicts, frames, Spark and its executors."""

import pyarrow as pa
import pytest

import gradely
from gradely.adapters import spark as adapter

JUDGED = [
    *(("q1", "d1", 2), ("q1", "d2", 1), ("q1", "q1", 1), ("q2", "d1", 0), ("q2", "d3", 0), ("q3", "d4", 1)),
    *(("q3", "d5", 3), ("q4", "q4", 2), ("q4", "d2", 1), ("q5", "d1", 1)),
]
PASSAGES = [
    *(("q1", "q1#0", 9.0), ("q1", "d2#0", 8.0), ("q1", "d1#1", 7.5), ("q1", "d1#0", 6.0), ("q2", "d3#0", 2.0)),
    *(("q3", "d5#2", 1.0), ("q3", "d5#7", 4.0), ("q3", "d4#0", 3.0), ("q3", "d9", 5.0), ("q4", "q4#0", 3.0)),
    *(("q4", "d2#0", 3.0), ("q4", "d7#0", 3.0)),
]
DOCUMENTS = [(query, passage.partition("#")[0], score) for query, passage, score in PASSAGES]
WEIGHTS = {"q1": 3.0, "q2": 1.0, "q3": 0.5, "q4": 2.0, "q5": 0.25}
PATTERN = r"^(.*)#"
PLAIN = [
    {"duplicates": "max"},
    {"duplicates": "max", "exclude_self": True, "empty": "skip", "weights": WEIGHTS},
    {"duplicates": "max", "empty": "one"},
]
SUMMED = {"duplicates": "sum"}
MERGED = {"document_pattern": PATTERN, "exclude_self": True, "empty": "skip", "weights": WEIGHTS}
SMALL = {"q1": {"d1": 1}}
MEASURES = ["nDCG@3", "AP", "RR"]


def as_rows(rows, value):
    return pa.table(dict(zip(("qid", "docno", value), map(list, zip(*rows, strict=True)), strict=True)))


def as_files(folder, ranked):
    qrels, run = folder / "qrels.txt", folder / "some.run"
    qrels.write_text("".join(f"{query} 0 {document} {label}\n" for query, document, label in JUDGED))
    run.write_text("".join(f"{query} Q0 {document} 1 {score} x\n" for query, document, score in ranked))
    return str(qrels), str(run)


@pytest.mark.parametrize("policies", PLAIN, ids=range(3))
def test_frames_of_spark(spark, tmp_path, policies):
    files = gradely.evaluate(*as_files(tmp_path, DOCUMENTS), MEASURES, **policies)
    tables = as_rows(JUDGED, "label"), as_rows(DOCUMENTS, "score")
    for qrels, run in (tables, tuple(map(spark.createDataFrame, tables))):
        scores = gradely.evaluate(qrels, run, MEASURES, **policies)
        assert scores.mean() == files.mean() and scores.per_query() == files.per_query()
        assert {note.kind: note.count for note in scores.notes} == {note.kind: note.count for note in files.notes}


@pytest.mark.parametrize(
    ("ranked", "policies"),
    [*((DOCUMENTS, policies) for policies in [*PLAIN, SUMMED]), (PASSAGES, MERGED), (PASSAGES, MERGED | SUMMED)],
    ids=range(6),
)
def test_executors(spark, tmp_path, ranked, policies):
    """They do not weigh; what the refusal says to do instead gives the weighted means."""
    files = gradely.evaluate(*as_files(tmp_path, ranked), MEASURES, **policies)
    qrels, run = (spark.createDataFrame(rows) for rows in (as_rows(JUDGED, "label"), as_rows(ranked, "score")))
    if "weights" in policies:
        with pytest.raises(gradely.DataError, match=r"join the weights to the values by query, and take sum\(weight"):
            adapter.evaluate(qrels, run, MEASURES, **policies)
    values = adapter.evaluate(qrels, run, MEASURES, **{name: policies[name] for name in policies if name != "weights"})
    found = {(row["query"], row["measure"]): row["value"] for row in values.collect()}
    assert found == {(query, name): value for query, row in files.per_query().items() for name, value in row.items()}
    if "weights" in policies:
        weights = spark.createDataFrame(list(WEIGHTS.items()), ["query", "weight"])
        weighted = values.join(weights, "query").selectExpr("measure", "weight", "weight * value AS part")
        sums = weighted.groupBy("measure").sum("weight", "part").collect()
        means = {row["measure"]: row["sum(part)"] / row["sum(weight)"] for row in sums}
        assert means == pytest.approx(files.mean(), abs=1e-15)


def test_weights_from_a_frame_or_a_column_of_spark(spark, tmp_path):
    files = gradely.evaluate(*as_files(tmp_path, DOCUMENTS), MEASURES, duplicates="max", weights=WEIGHTS)
    judged, run = as_rows(JUDGED, "label"), spark.createDataFrame(as_rows(DOCUMENTS, "score"))
    table = spark.createDataFrame(list(WEIGHTS.items()), ["query", "weight"])
    scores = gradely.evaluate(spark.createDataFrame(judged), run, MEASURES, duplicates="max", weights=table)
    assert scores.mean() == files.mean()
    column = pa.array([WEIGHTS[query] for query in judged["qid"].to_pylist()])
    weighed = spark.createDataFrame(judged.append_column("traffic", column))
    scores = gradely.evaluate(weighed, run, MEASURES, duplicates="max", weights="traffic")
    assert scores.mean() == files.mean()


@pytest.mark.parametrize(
    ("policies", "says"),
    [
        (SUMMED, "duplicates='sum' depends on the order of rows"),
        ({"document_pattern": PATTERN}, "or collect it first; gradely.adapters.spark.evaluate supports a pattern"),
    ],
)
def test_what_lazy_frames_refuse_is_said_with_what_to_do_instead(spark, policies, says):
    with pytest.raises(gradely.DataError, match=says):
        gradely.evaluate(SMALL, spark.createDataFrame(as_rows(PASSAGES, "score")), MEASURES, **policies)
