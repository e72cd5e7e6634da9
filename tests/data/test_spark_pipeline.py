"""What executors do, without Spark: batches of rows sorted by query, cut anywhere, give the same values."""

import pyarrow as pa
import pytest

import gradely
from gradely.adapters.spark import check_policies, measure_partition, whole_queries
from gradely.measures.names import parse_all
from gradely.settings import Settings
from tests.engines import MEASURES, collection


def sorted_rows():
    """Return judgments and run as rows of one table, sorted by query."""
    qrels, run = collection()
    parts = [
        pa.table(
            {
                "query": [str(query) for query in table["query_id"].to_pylist()],
                "document": table["doc_id"],
                "value": table[value].cast(pa.float64()),
                "judged": [value == "label"] * len(table),
            }
        )
        for table, value in ((qrels, "label"), (run, "score"))
    ]
    return qrels, run, pa.concat_tables(parts).sort_by("query").combine_chunks()


@pytest.mark.parametrize("size", [1, 7, 50, 1000, 10**6])
@pytest.mark.parametrize("least", [1, 100, 10**6])
def test_no_query_is_cut(size, least):
    *_, rows = sorted_rows()
    tables = list(whole_queries(rows.to_batches(max_chunksize=size), least))
    assert pa.concat_tables(tables).combine_chunks() == rows
    queries = [set(table["query"].to_pylist()) for table in tables]
    assert sum(map(len, queries)) == len(set.union(*queries))
    assert all(len(table) >= least for table in tables[:-1])


@pytest.mark.parametrize("size", [13, 700])
def test_values(size, monkeypatch):
    qrels, run, rows = sorted_rows()
    levels = gradely.read_qrels(qrels).levels
    fitted = {name: measure.fit(levels) for name, measure in parse_all(MEASURES).items()}
    batches = measure_partition(rows.to_batches(max_chunksize=size), fitted, Settings(), None)
    values = {(row["query"], row["measure"]): row["value"] for batch in batches for row in batch.to_pylist()}
    scores = gradely.evaluate(qrels, run, MEASURES)
    assert values == {(query, name): value for query in scores.queries for name, value in scores.query(query).items()}


def test_nothing_gives_nothing():
    assert list(whole_queries([])) == []


def test_segments_are_those_of_evaluate():
    qrels = pa.table(
        {"query": ["a", "a", "b", "c"], "document": ["x", "y", "x", "x"], "kind": [None, "new", "", "old"]}
    )
    rows = qrels.rename_columns(["query", "document", "segment"])
    rows = rows.append_column("value", pa.array([1.0, 0.0, 1.0, 1.0])).append_column("judged", pa.array([True] * 4))
    (batch,) = measure_partition(rows.to_batches(), parse_all(["RR"]), Settings(), "kind")
    found = {row["query"]: row["segment"] for row in batch.to_pylist()}
    ours = gradely.evaluate(qrels, {"a": ["x"]}, ["RR"], by="kind")
    assert found == {query: ours.segment_of(query) for query in ours.queries} == {"a": "new", "b": "(none)", "c": "old"}


LABELS = {"q1": {"q1": 1, "a": 2, "b": 1}, "q2": {"c": 0}, "q3": {"d": 1}}
PASSAGES = {"q1": {"q1#0": 9.0, "a#0": 1.0, "a#1": 5.0, "x#0": 4.0, "b#2": 2.0}, "q2": {"c#0": 1.0}}


def policy_rows():
    """Return judgments and passages of documents as rows of one table, sorted by query; q3 has no ranking."""
    rows = [
        (query, doc, float(number), judged)
        for judged, values in ((True, LABELS), (False, PASSAGES))
        for query, docs in values.items()
        for doc, number in docs.items()
    ]
    columns = zip(*sorted(rows), strict=True)
    return pa.table(dict(zip(("query", "document", "value", "judged"), map(list, columns), strict=True)))


@pytest.mark.parametrize("empty", ["zero", "one"])
def test_policies_are_those_of_evaluate(empty):
    options = {"exclude_self": True, "document_pattern": "^(.*)#", "duplicates": "max", "empty": empty}
    fitted = {
        name: measure.fit(gradely.read_qrels(LABELS).levels) for name, measure in parse_all(["RR", "nDCG"]).items()
    }
    for size in (1, 100):
        batches = measure_partition(policy_rows().to_batches(max_chunksize=size), fitted, Settings(**options), None)
        found = {(row["query"], row["measure"]): row["value"] for batch in batches for row in batch.to_pylist()}
        expected = gradely.evaluate(LABELS, PASSAGES, ["RR", "nDCG"], **options).per_query()
        assert found == {(query, name): value for query, row in expected.items() for name, value in row.items()}


def test_a_query_has_no_row_for_a_measure_by_which_it_is_empty():
    measures = parse_all(["RR", "AP(rel=2)", "Judged"])
    fitted = {name: measure.fit(gradely.read_qrels(LABELS).levels) for name, measure in measures.items()}
    batches = measure_partition(policy_rows().to_batches(), fitted, Settings(empty="skip"), None)
    found = {(row["query"], row["measure"]) for batch in batches for row in batch.to_pylist()}
    judged = {(query, "Judged") for query in LABELS}
    assert found == {("q1", "RR"), ("q1", "AP(rel=2)"), ("q3", "RR")} | judged


@pytest.mark.parametrize(
    ("options", "weights", "says"),
    [
        ({}, {"q1": 1}, r"weights are not supported on Spark executors; .* take sum\(weight \* value\)"),
        ({"duplicates": "first"}, None, "duplicates='first' depends on the order of rows, which Spark does not have"),
        ({"duplicates": "most"}, None, "no way to treat duplicates 'most'"),
        ({"document_pattern": "d"}, None, "the document pattern 'd' has 0 groups"),
    ],
)
def test_policies_that_executors_cannot_follow_are_refused(options, weights, says):
    with pytest.raises(gradely.GradelyError, match=says):
        check_policies(Settings(**options), weights)
