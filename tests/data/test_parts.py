"""Tables in parts: no query is cut, every row is in one part, and it is told how far the work has come."""

import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from gradely.data import table
from gradely.data.read import frames as parquet_tables
from gradely.data.read.frames import FrameTable, ParquetTable
from gradely.data.read.records import RecordTable
from gradely.data.source import Source
from gradely.data.table import ScatteredQueries

SIZES = [3, 1, 5, 2, 2, 4, 1]
"""rows of each query"""


def columns(sizes):
    queries = [f"q{i}" for i, size in enumerate(sizes) for _ in range(size)]
    documents = [f"d{i}" for i in range(len(queries))]
    return {"qid": queries, "docno": documents, "score": [float(i) for i in range(len(queries))]}


def frame(sizes, folder):
    return FrameTable(pd.DataFrame(columns(sizes)), "score", "run")


def records(sizes, folder):
    return RecordTable(pd.DataFrame(columns(sizes)).to_dict("records"), "score", "run")


def parquet_file(sizes, folder):
    parquet.write_table(pa.table(columns(sizes)), folder / "r.parquet")
    return ParquetTable(Source(folder / "r.parquet"), "score")


@pytest.fixture
def few_rows(monkeypatch):
    for module in (table, parquet_tables):
        monkeypatch.setattr(module, "ROWS", 4)
        monkeypatch.setattr(module, "LONGEST", 8)


@pytest.mark.parametrize("shape", [frame, records, parquet_file])
def test_no_query_is_cut(shape, tmp_path, few_rows):
    def look(part):
        rows = part.columns()
        return part.number, part.stop, rows.query.names(), rows.document.names(), rows.value.tolist()

    told = []
    number, stop, query, document, value = zip(
        *shape(SIZES, tmp_path).map_parts(look, 1, told.append, whole_queries=True), strict=True
    )
    assert list(number) == list(range(len(number))) and len(number) > 2
    assert stop == tuple(sum(map(len, query[: i + 1])) for i in range(len(query)))
    assert len({name for part in query for name in part}) == sum(len(set(part)) for part in query)
    expected = columns(SIZES)
    for column, parts in zip(("qid", "docno", "score"), (query, document, value), strict=True):
        assert [cell for part in parts for cell in part] == expected[column]
    assert told == [end / sum(SIZES) for end in stop]


@pytest.mark.parametrize("shape", [frame, records, parquet_file])
def test_a_query_longer_than_the_longest_part_is_scattered(shape, tmp_path, few_rows):
    parts = shape([7, 3, 5], tmp_path).map_parts(lambda part: part.number, 1, lambda _: None, whole_queries=True)
    assert list(parts) == [0, 1, 2]
    parts = shape([8, 3, 5], tmp_path).map_parts(lambda part: part.number, 1, lambda _: None, whole_queries=True)
    with pytest.raises(ScatteredQueries):
        list(parts)
