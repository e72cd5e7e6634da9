"""What executors do, without Spark: batches of rows sorted by query, cut anywhere, give the same values."""

import pyarrow as pa
import pytest

import gradely
from gradely.adapters.spark import measure_partition, whole_queries
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
