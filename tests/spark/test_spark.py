"""Frames of Spark, whose hits are found in Spark, and evaluation on its executors: the values of the rows at hand."""

from types import SimpleNamespace

import pyarrow as pa
import pytest

import gradely
from gradely.adapters.spark import evaluate
from gradely.data import engine
from tests.engines import MEASURES, collection, same_everywhere

SMALL = {"q": {"a": 2, "b": 0}, "p": {"c": 1}}


def rows(**columns):
    return pa.table(columns)


@pytest.mark.parametrize("ties", ["expected", "best", "trec", "random"])
def test_same_values(spark, ties):
    same_everywhere(spark.createDataFrame, ties, seed=3)


@pytest.mark.parametrize("ties", ["expected", "worst", "trec", "random"])
def test_same_values_where_judgments_are_many(spark, monkeypatch, ties):
    monkeypatch.setattr(engine, "ROW_OBJECTS", 0)
    monkeypatch.setattr(engine, "BROADCAST", 0)
    same_everywhere(spark.createDataFrame, ties, seed=3)


@pytest.mark.parametrize(
    ("judgments", "most", "plan", "hint"),
    [
        (10, engine.BROADCAST, "LocalRelation", True),
        (100_000, engine.BROADCAST, "LogicalRDD", True),
        (100_000, 1 << 20, "LogicalRDD", False),
    ],
)
def test_many_judgments_are_no_objects_of_rows(spark, capsys, monkeypatch, judgments, most, plan, hint):
    """A million of them as Java objects filled half a heap of 1 GB, and 100 million rows ran out of it."""
    monkeypatch.setattr(engine, "BROADCAST", most)
    names = pa.array(range(judgments)).cast(pa.large_string())
    judged = rows(judged_query=names, judged=names, row=pa.array(range(judgments)))
    frame = engine.UPLOADS["pyspark"](spark.range(1), judged)
    assert frame.count() == judgments
    frame.explain("extended")
    plans = capsys.readouterr().out
    assert plan in plans
    assert ("broadcast" in plans) == hint


@pytest.mark.parametrize("before", [None, "7"])
def test_settings_of_the_session_stay(spark, before):
    name = "spark.sql.execution.arrow.localRelationThreshold"
    if before:
        spark.conf.set(name, before)
    try:
        with pytest.raises(Exception, match="SimpleNamespace"):
            engine.UPLOADS["pyspark"](spark.range(1), SimpleNamespace(nbytes=1 << 24))
        assert spark.conf.get(name, None) == before
    finally:
        spark.conf.unset(name)


def test_same_values_in_single_precision(spark):
    same_everywhere(spark.createDataFrame, "expected", precision="single")


def test_order_is_refused_by_name(spark):
    qrels, run = collection()
    with pytest.raises(gradely.GradelyError, match="'order' depends on the order of rows, which pyspark does not have"):
        gradely.evaluate(qrels, spark.createDataFrame(run), ties="order")
    with pytest.raises(gradely.GradelyError, match="'order' depends on the order of rows, which Spark does not have"):
        evaluate(spark.createDataFrame(qrels), spark.createDataFrame(run), ties="order")


@pytest.mark.parametrize(
    ("score", "message"), [(float("nan"), "query 'q' has a score that is NaN"), (None, "'score' has missing values")]
)
def test_bad_data_is_found_in_spark(spark, score, message):
    run = rows(qid=["q", "q"], docno=["a", "b"], score=pa.array([1.0, score], pa.float64()))
    with pytest.raises(gradely.GradelyError, match=message):
        gradely.evaluate(SMALL, spark.createDataFrame(run))


def test_duplicates_among_hits(spark):
    run = rows(qid=["q", "q"], docno=["a", "a"], score=[1.0, 2.0])
    with pytest.raises(gradely.GradelyError, match="duplicate document 'a' of query 'q'"):
        gradely.evaluate(SMALL, spark.createDataFrame(run))


def values_of(frame):
    """Return {(query, measure): value}."""
    return {(row["query"], row["measure"]): row["value"] for row in frame.collect()}


@pytest.mark.parametrize("ties", ["expected", "worst", "trec", "random"])
def test_executors_give_the_same_values(spark, ties):
    qrels, run = collection()
    values = values_of(evaluate(spark.createDataFrame(qrels), spark.createDataFrame(run), MEASURES, ties=ties, seed=3))
    scores = gradely.evaluate(qrels, run, MEASURES, ties=ties, seed=3)
    assert values == {
        (int(query), name): value for query in scores.queries for name, value in scores.query(query).items()
    }  # queries are whole numbers, as they were given


def test_means_by_segment(spark):
    qrels, run = collection()
    kind = pa.array([None if query % 3 == 2 else f"kind {query % 3}" for query in qrels["query_id"].to_pylist()])
    judged = qrels.append_column("kind", kind)
    rows = evaluate(spark.createDataFrame(judged), spark.createDataFrame(run), ["RR", "AP"], by="kind").collect()
    segments = {
        str(query): segment or "(none)"
        for query, segment in zip(qrels["query_id"].to_pylist(), kind.to_pylist(), strict=True)
    }
    means = gradely.evaluate(qrels, run, ["RR", "AP"], by=segments).segments
    assert {row["kind"] for row in rows} == set(means)
    for row in rows:
        assert row["value"] == pytest.approx(means[row["kind"]][row["measure"]], abs=1e-12)
        assert row["n"] == means.sizes[row["kind"]]


@pytest.mark.parametrize("kind", [[1, None, 2, None], [True, None, False, None], ["x", "", "y", None]], ids=str)
def test_segments_have_the_names_that_they_have_elsewhere(spark, kind):
    judged = rows(qid=["q", "q", "p", "r"], docno=list("abaa"), label=[1, 0, 1, 1], kind=kind)
    run = rows(qid=["q", "q", "p"], docno=list("aba"), score=[1.0, 2.0, 3.0])
    ours = gradely.evaluate(judged, run, ["RR"], by="kind").segments
    assert "(none)" in ours
    for frame in (
        evaluate(spark.createDataFrame(judged), spark.createDataFrame(run), ["RR"], by="kind"),
        evaluate(spark.createDataFrame(judged).orderBy("label"), spark.createDataFrame(run), ["RR"], by="kind"),
    ):
        assert {row["kind"]: (row["n"], row["value"]) for row in frame.collect()} == {
            segment: (ours.sizes[segment], means["RR"]) for segment, means in ours.items()
        }
    lazy = gradely.evaluate(spark.createDataFrame(judged), spark.createDataFrame(run), ["RR"], by="kind").segments
    assert dict(lazy) == dict(ours)


def test_errors_of_executors_say_what_is_wrong(spark):
    qrels = spark.createDataFrame(rows(qid=["q", "q"], docno=["a", "b"], label=[1.0, 2.0], kind=["x", "y"]))
    run = spark.createDataFrame(rows(qid=["q"], docno=["a"], score=[float("nan")]))
    with pytest.raises(Exception, match="run: query 'q', document 'a': the score is nan; it must be a finite number"):
        evaluate(qrels, run).collect()
    whole = spark.createDataFrame(rows(qid=["q"], docno=["a"], score=[1.0]))
    with pytest.raises(Exception, match="kind: query 'q' is in two segments, 'x' and 'y'"):
        evaluate(qrels, whole, by="kind").collect()


def test_what_cannot_be_is_said_before_anything_runs(spark):
    qrels = spark.createDataFrame(rows(qid=["q"], docno=["a"], label=[1.0]))
    run = spark.createDataFrame(rows(qid=["q"], docno=["a"], score=[1.0]))
    with pytest.raises(gradely.GradelyError, match="run: is not a Spark DataFrame but a dict"):
        evaluate(qrels, SMALL)
    with pytest.raises(gradely.GradelyError, match="qrels: no column 'age' to group means by; found qid, docno, label"):
        evaluate(qrels, run, by="age")
    fractions = spark.createDataFrame(rows(qid=["q"], docno=["a"], kind=[1.5]))
    with pytest.raises(gradely.GradelyError, match="column 'kind' holds Float64; cast segments to text"):
        evaluate(fractions, run, by="kind")
    with pytest.raises(gradely.GradelyError, match="qrels: has no rows"):
        evaluate(qrels.limit(0), run)
    with pytest.raises(gradely.GradelyError, match="no measure"):
        evaluate(qrels, run, "nDGC")


def test_a_run_that_answers_nothing_is_zero(spark):
    qrels = spark.createDataFrame(rows(qid=["q"], docno=["a"], label=[1.0]))
    run = spark.createDataFrame(rows(qid=["x"], docno=["a"], score=[1.0]))
    assert values_of(evaluate(qrels, run, ["RR"])) == {("q", "RR"): 0.0}


def test_ten_million_rows(spark):
    """Every query has its one relevant document at place 3, with two that share its score behind it."""
    run = spark.range(10_000_000).selectExpr("id div 1000 AS qid", "id % 1000 AS docno", "-(id % 1000) div 3 AS score")
    qrels = spark.range(10_000).selectExpr("id AS qid", "3 AS docno")
    assert gradely.evaluate(qrels, run, ["RR"]).mean()["RR"] == pytest.approx((1 / 4 + 1 / 5 + 1 / 6) / 3, abs=1e-12)
