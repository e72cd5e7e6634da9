"""Folders of Parquet files and patterns of names: all of their files are one table."""

import re
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import gradely
from tests.engines import MEASURES, collection


@pytest.fixture
def folder(tmp_path):
    """Write a run as Spark does: parts, whose edges cut queries, and files that are no part."""
    qrels, run = collection()
    run = run.sort_by("query_id")
    (tmp_path / "run").mkdir()
    for i, start in enumerate(range(0, len(run), 333)):
        pq.write_table(run.slice(start, 333), tmp_path / "run" / f"part-{i:05}.snappy.parquet")
    pq.write_table(run.slice(0, 0), tmp_path / "run" / "part-99999.parquet")
    (tmp_path / "run" / "_SUCCESS").write_text("")
    (tmp_path / "run" / ".part-00000.crc").write_bytes(b"\0")
    pq.write_table(qrels, tmp_path / "qrels.parquet")
    return tmp_path


def expected():
    qrels, run = collection()
    return gradely.evaluate(qrels, run, MEASURES, ties="trec").mean()


@pytest.mark.parametrize("name", ["run", "run/", "run/*", "run/part-*.parquet"])
def test_same_values(folder, name):
    assert gradely.evaluate(folder / "qrels.parquet", f"{folder}/{name}", MEASURES, ties="trec").mean() == expected()


def test_folders_within_folders(folder):
    for day, part in enumerate(sorted((folder / "run").glob("part*"))):
        (folder / "run" / f"day={day % 2}").mkdir(exist_ok=True)
        part.rename(folder / "run" / f"day={day % 2}" / part.name)
    assert gradely.evaluate(folder / "qrels.parquet", folder / "run", MEASURES, ties="trec").mean() == expected()


def test_judgments(folder):
    (folder / "judged").mkdir()
    (folder / "qrels.parquet").rename(folder / "judged" / "part-0.parquet")
    assert gradely.evaluate(folder / "judged", folder / "run", MEASURES, ties="trec").mean() == expected()


def test_a_gate_takes_a_folder_for_its_baseline(folder):
    run = str(folder / "run")
    assert gradely.gate(folder / "qrels.parquet", run, run, ["RR"]).verdict == "same"


def test_command_line(folder):
    command = [sys.executable, "-m", "gradely", "evaluate", "qrels.parquet", "run", "run/part*", "-m", "RR"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    values = re.findall(r"0\.\d{4}", done.stdout)
    assert values[0] == values[1]  # a run each


def test_types_may_differ_where_they_can_be_turned(folder):
    part = folder / "run" / "part-00001.snappy.parquet"
    types = pa.schema({"query_id": "int32", "doc_id": "large_string", "score": "double"})
    pq.write_table(pq.read_table(part).cast(types), part)
    assert gradely.evaluate(folder / "qrels.parquet", folder / "run", MEASURES, ties="trec").mean() == expected()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"query_id": [1], "doc_id": ["a"]}, "part-5.parquet: has no column 'score', which"),
        (
            {"query_id": ["one"], "doc_id": ["a"], "score": [1.0]},
            r"part-5\.parquet: has columns of other types than [^:]*part-00000\.snappy\.parquet: ",
        ),
        (None, "part-5.parquet: is not a Parquet file"),
    ],
)
def test_a_part_that_does_not_fit(folder, content, message):
    part = folder / "run" / "part-5.parquet"
    part.write_text("text") if content is None else pq.write_table(pa.table(content), part)
    with pytest.raises(gradely.GradelyError, match=message):
        gradely.evaluate(folder / "qrels.parquet", folder / "run")


def test_a_pattern_of_other_files_is_no_table(folder):
    (folder / "bm25.run").write_text("q1 Q0 a 1 0.5 t\n")
    with pytest.raises(gradely.InputError, match=r"a pattern names parts of a Parquet table, unlike .*bm25\.run; for"):
        gradely.evaluate(folder / "qrels.parquet", f"{folder}/*.run")


def test_nothing_there(folder):
    (folder / "empty").mkdir()
    for name, message in {"empty": "without a Parquet file", "run/nothing-*": "no such file"}.items():
        with pytest.raises(gradely.GradelyError, match=message):
            gradely.evaluate(folder / "qrels.parquet", f"{folder}/{name}")
