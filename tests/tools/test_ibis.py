"""Ibis on DuckDB: expressions stay there, and values are those of the same tables at hand."""

import pyarrow as pa
import pytest
from pyarrow import parquet

import gradely
from tests.engines import same_everywhere
from tests.tools.tool import tool

ibis = tool("ibis")


@pytest.fixture
def into(tmp_path):
    """Return a function that puts an Arrow table into DuckDB, by way of a file."""
    connection, number = ibis.duckdb.connect(), iter(range(99))

    def put(table):
        path = tmp_path / f"{next(number)}.parquet"
        parquet.write_table(table, path)
        return connection.read_parquet(path)

    return put


@pytest.mark.parametrize("ties", ["expected", "trec", "random", "best", "worst"])
def test_same_values(into, ties):
    same_everywhere(into, ties)


def test_expressions_are_evaluated_where_they_are(into):
    run = into(pa.table({"user_id": [1, 1, 2], "item_id": ["a", "b", "c"], "score": [0.5, 0.5, 0.1]}))
    chosen = run.filter(run.score > 0.2).mutate(score=run.score * 2)
    scores = gradely.evaluate({1: {"a": 1}, 2: {"c": 1}}, chosen, ["RR"])
    assert scores.per_query() == {"1": {"RR": 0.75}, "2": {"RR": 0.0}}


def test_order_is_refused_by_name(into):
    run = into(pa.table({"user_id": [1], "item_id": ["a"], "score": [0.5]}))
    with pytest.raises(gradely.DataError, match="order"):
        gradely.evaluate({1: {"a": 1}}, run, ["RR"], ties="order")
