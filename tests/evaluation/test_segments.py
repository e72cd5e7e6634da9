"""Means and differences by segment, in every output, and segments that make no sense."""

import csv
import io
import json
from fractions import Fraction

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy import stats

import gradely
from gradely import DataError, InputError
from gradely.cli.main import run as command

QRELS = {str(i): {"a": 1} for i in range(1, 7)}
PLACES = {"good": [1, 1, 2, 1, 4, 1], "bad": [2, 1, 4, 4, 2, 2]}
RUNS = {
    name: {query: [*"xyz"[: place - 1], "a"] for query, place in zip(QRELS, places, strict=True)}
    for name, places in PLACES.items()
}
KINDS = {"1": "new", "2": "new", "3": "new", "4": "old", "6": "old"}
"""old and new users, and one of neither kind"""
MEMBERS = {"new": [0, 1, 2], "old": [3, 5], "(none)": [4]}


def test_means_of_all_runs_by_segment():
    segments = gradely.compare(QRELS, RUNS, ["RR", "P@1"], by=KINDS).segments
    assert segments.sizes == {"new": 3, "old": 2, "(none)": 1}
    for segment, rows in MEMBERS.items():
        for run, places in PLACES.items():
            expected = float(sum(Fraction(1, places[i]) for i in rows) / len(rows))
            assert segments.mean()[segment][run]["RR"] == pytest.approx(expected, abs=1e-15)
    single = {name: gradely.evaluate(QRELS, run, ["RR", "P@1"], by=KINDS).segments for name, run in RUNS.items()}
    assert segments.mean() == {s: {name: single[name][s] for name in ("good", "bad")} for s in MEMBERS}
    assert "new      3  good  0.8333" in repr(segments)
    assert [[cell.best for cell in row[3:]] for row in segments.table().rows] == [
        [True, True],
        [False, False],
        [True, True],
        [False, False],
        [False, True],
        [True, True],
    ]
    assert segments.to_frame("polars").columns == ["segment", "n", "run", "RR", "P@1"]
    assert gradely.compare(QRELS, RUNS, ["RR"]).segments is None


def test_differences_by_segment_are_those_of_scipy():
    segments = gradely.compare(QRELS, RUNS, ["RR"], by=KINDS, alpha=0.1).segments
    pairs = {pair.segment: pair for pair in segments.pairs}
    values = {name: 1 / np.array(places) for name, places in PLACES.items()}
    for segment, rows in MEMBERS.items():
        differ = (values["good"] - values["bad"])[rows]
        pair = pairs[segment]
        assert (pair.first, pair.second, pair.n) == ("good", "bad", len(rows))
        assert pair.difference == pytest.approx(differ.mean())
        assert (pair.wins, pair.ties, pair.losses) == tuple(
            int(np.sum(f(differ, 0))) for f in (np.greater, np.equal, np.less)
        )
        if len(rows) > 1:
            low, high = stats.ttest_rel(values["good"][rows], values["bad"][rows]).confidence_interval(0.9)
            assert (pair.low, pair.high) == pytest.approx((max(low, -1), min(high, 1)))
    lonely = pairs["(none)"]
    assert (lonely.low, lonely.high, lonely.effect, lonely.losses) == (None, None, None, 1)
    assert "nothing is tested" in segments.caption()
    assert "90 % t intervals" in segments.caption()


def test_pairs_by_segment_follow_the_baseline():
    three = RUNS | {"same": RUNS["good"]}
    segments = gradely.compare(QRELS, three, ["RR"], baseline="bad", by=KINDS).segments
    assert {(pair.first, pair.second) for pair in segments.pairs} == {("good", "bad"), ("same", "bad")}


def test_the_order_of_queries_and_documents_changes_nothing():
    mirrored = {name: dict(reversed(run.items())) for name, run in RUNS.items()}
    one = gradely.compare(QRELS, RUNS, ["RR"], by=KINDS).segments
    other = gradely.compare(dict(reversed(QRELS.items())), mirrored, ["RR"], by=KINDS).segments
    assert one.mean() == other.mean()


def test_segments_are_in_frames_flat_names_and_notes():
    scores = gradely.evaluate(QRELS, RUNS["good"], ["RR", "P@1"], by=KINDS)
    assert scores.to_frame("polars").columns == ["query", "segment", "measure", "value"]
    assert scores.to_frame("polars", wide=True)["segment"].to_list() == ["new", "new", "new", "old", "(none)", "old"]
    assert scores.flat()["new/P_1"] == scores.segments["new"]["P@1"]
    assert "1 of 6 queries has no segment: 5" in [note.text for note in scores.notes]
    assert "old      2  1.0000  1.0000" in repr(scores)
    results = gradely.evaluate_runs(QRELS, RUNS, ["RR"], by=KINDS)
    assert results.flat()["bad/old/RR"] == results["bad"].segments["old"]["RR"]
    assert "bad   (none)   1  0.5000" in repr(results)
    assert "(none)" in results._repr_html_()
    assert "(none)" in gradely.compare(QRELS, RUNS, ["RR"], by=KINDS)._repr_html_()
    plain = gradely.evaluate(QRELS, RUNS["good"], ["RR"])
    assert plain.to_frame("polars").columns == ["query", "measure", "value"]
    assert plain.flat() == {"RR": plain["RR"]}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.csv").write_text(
        "qid,docno,label,kind\n" + "".join(f"{query},a,1,{KINDS.get(query, '')}\n" for query in QRELS)
    )
    (tmp_path / "q.trec").write_text("".join(f"{query} 0 a 1\n" for query in QRELS))
    for name, run in RUNS.items():
        lines = (f"{q} Q0 {doc} 0 {-i} t\n" for q, docs in run.items() for i, doc in enumerate(docs))
        (tmp_path / f"{name}.run").write_text("".join(lines))
    return tmp_path


def rows(text):
    """Return CSV as dicts."""
    return list(csv.DictReader(io.StringIO(text)))


def test_evaluate_shows_segments_beside_queries(folder, capfd):
    arguments = ["evaluate", "q.csv", "good.run", "bad.run", "-m", "RR", "--by", "kind", "-q"]
    assert command([*arguments, "--format", "csv"]) == 0
    table = rows(capfd.readouterr().out)
    assert [row["segment"] for row in table[:6]] == ["new", "new", "new", "old", "(none)", "old"]
    assert command([*arguments, "--worst", "1"]) == 0
    out = capfd.readouterr().out
    assert "good  5      (none)   0.2500" in out
    assert "bad   (all)    6" in out
    assert command([*arguments, "--format", "json"]) == 0
    run = json.loads(capfd.readouterr().out)["runs"][1]
    assert run["segments"]["old"] == {"n": 2, "mean": {"RR": 0.375}, "queries": ["4", "6"]}
    assert run["queries"]["4"] == {"RR": 0.25}


def test_compare_shows_segments_in_every_format(folder, capfd):
    arguments = ["compare", "q.csv", "good.run", "bad.run", "-m", "RR", "-m", "P@1", "--by", "kind"]
    assert command(arguments) == 0
    out = capfd.readouterr().out
    assert "old      2  bad   0.3750  0.0000" in out
    assert "nothing is tested" in out
    assert command([*arguments, "--format", "csv"]) == 0
    table = rows(capfd.readouterr().out)
    assert [row["segment"] for row in table[:4]] == ["(all)"] * 4
    assert {row["n"] for row in table if row["segment"] == "new"} == {"3"}
    assert len(table) == 4 * (1 + 3)
    assert command([*arguments, "--pairs", "--format", "csv"]) == 0
    table = rows(capfd.readouterr().out)
    assert [(row["segment"], row["p"] == "") for row in table if row["measure"] == "RR"] == [
        ("(all)", False),
        ("new", True),
        ("old", True),
        ("(none)", True),
    ]
    assert command([*arguments, "--format", "json"]) == 0
    segments = json.loads(capfd.readouterr().out)["segments"]
    assert segments["(none)"]["n"] == 1
    assert segments["old"]["mean"]["bad"] == {"RR": 0.375, "P@1": 0.0}
    assert segments["new"]["pairs"][0]["first"] == "good"
    for form in ("markdown", "latex", "html", "tsv"):
        assert command([*arguments, "--format", form]) == 0
        assert "(none)" in capfd.readouterr().out


def test_report_has_a_table_of_segments(folder, capfd):
    hostile = "</script><b>x"
    (folder / "kinds.csv").write_text("query,segment\n" + "".join(f"{query},{hostile}\n" for query in "123"))
    assert command(["report", "q.csv", "good.run", "bad.run", "-m", "RR", "--by", "kinds.csv", "-o", "p.html"]) == 0
    page = (folder / "p.html").read_text()
    assert 'id="segment-means"' in page
    assert 'id="segment-pairs"' in page
    assert hostile not in page
    assert "&lt;/<wbr>script&gt;&lt;b&gt;x" in page
    assert command(["report", "q.csv", "good.run", "-m", "RR", "--by", "kind", "-o", "one.html"]) == 0
    assert 'id="segment-means"' in (folder / "one.html").read_text()
    assert command(["report", "q.csv", "good.run", "-m", "RR", "-o", "none.html"]) == 0
    assert 'id="segment' not in (folder / "none.html").read_text()


def test_many_segments_are_cut_in_the_page(folder):
    qrels = {str(i): {"a": 1} for i in range(400)}
    run = {query: ["a"] for query in qrels}
    page = gradely.compare(qrels, {"one": run}, ["RR"], by={query: f"kind {query}" for query in qrels}).to_html()
    assert "The first 300 of 400 rows" in page


@pytest.mark.parametrize(
    "by",
    [
        {"1": "x", "2": None, "3": float("nan"), "4": pd.NA},
        pd.Series({"1": "x", "2": None}),
        pl.DataFrame({"query": [1, 2], "segment": ["x", None]}),
        pd.DataFrame({"query": ["1", "2"], "segment": ["x", None]}),
        pl.LazyFrame({"query": [1, 2], "segment": ["x", None]}),
    ],
    ids=["mapping", "Series", "polars", "pandas", "lazy"],
)
def test_missing_values_are_no_segment(by):
    assert gradely.evaluate(QRELS, RUNS["good"], ["RR"], by=by).segments.sizes == {"x": 1, "(none)": 5}


def forms(table, folder):
    """Yield an Arrow table in every form that a table can have; in the last one, records leave out what is missing."""
    records = table.to_pylist()
    yield from (table, table.to_pandas(), pl.from_arrow(table), pl.from_arrow(table).lazy(), duckdb.from_arrow(table))
    yield records
    (folder / "parts").mkdir()
    for name in ("t.parquet", "parts/one.parquet"):
        parquet.write_table(table, folder / name)
    yield from (folder / "t.parquet", folder / "parts")
    for name, delimiter in (("t.csv", ","), ("t.tsv", "\t")):
        pl.from_arrow(table).write_csv(folder / name, separator=delimiter)
        yield folder / name
    (folder / "t.json").write_text(json.dumps(records))
    (folder / "t.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    yield from (folder / "t.json", folder / "t.jsonl")
    brief = [{key: value for key, value in record.items() if value is not None} for record in records]
    (folder / "brief.jsonl").write_text("".join(json.dumps(record) + "\n" for record in brief))
    yield from (brief, folder / "brief.jsonl")


@pytest.mark.parametrize("kind", [["x", None, None, "y"], [1, None, None, 2], [None, 1.5, None, 2.5]], ids=str)
def test_a_row_without_a_value_says_nothing_about_its_query(tmp_path, kind):
    table = pa.table({"qid": [1, 1, 2, 3], "docno": ["a", "b", "a", "a"], "kind": kind, "label": [1, 0, 1, 1]})
    first, second = (str(value) for value in kind if value is not None)
    for qrels in forms(table, tmp_path):
        segments = gradely.evaluate(qrels, {"1": ["a"], "2": ["a"], "3": ["b"]}, ["RR"], by="kind").segments
        assert segments.sizes == {first: 1, "(none)": 1, second: 1}
        assert segments[second] == {"RR": 0.0}


def test_a_table_of_segments_may_lack_some(tmp_path):
    table = pa.table({"query": ["2", "1"], "segment": [None, "x"]})
    for by in forms(table, tmp_path):
        assert gradely.evaluate(QRELS, RUNS["good"], ["RR"], by=by).segments.sizes == {"x": 1, "(none)": 5}


def test_numbers_that_are_none_are_no_segment():
    by = pl.DataFrame({"query": [1, 2], "segment": [float("nan"), 2.0]})
    for table in (by, by.lazy(), by.to_arrow(), by.to_pandas(), by.to_dicts()):
        assert gradely.evaluate(QRELS, RUNS["good"], ["RR"], by=table).segments.sizes == {"(none)": 5, "2": 1}


def test_a_column_without_any_value_is_refused(tmp_path):
    kind = pa.array([None, None], pa.string())
    table = pa.table({"qid": [1, 2], "docno": ["a", "a"], "kind": kind, "label": [1, 1]})
    for qrels in list(forms(table, tmp_path))[:-2]:
        with pytest.raises(DataError, match=r"by: no query of .* has a segment$"):
            gradely.evaluate(qrels, {"1": ["a"]}, ["RR"], by="kind")
    with pytest.raises(InputError, match=r"brief.jsonl: no column 'kind' among 'qid', 'docno', 'label'"):
        gradely.evaluate(tmp_path / "brief.jsonl", {"1": ["a"]}, ["RR"], by="kind")


@pytest.mark.parametrize(
    ("by", "says"),
    [
        ({"Q1": "x"}, "by: no query of qrels has a segment: the first are '1' and, in by, 'Q1'"),
        ({}, "by: no query of qrels has a segment"),
        (5, "by: cannot be int; give {query: segment}, a column of the qrels, or a table"),
        (["x"], "by: cannot be list"),
        ("kind", "the qrels have no columns; give {query: segment} or a table of both"),
        (pl.DataFrame({"query": [1], "kind": ["x"]}), "by: no column 'segment' among 'query', 'kind'"),
        (pl.DataFrame({"query": [1, 1], "segment": ["x", "y"]}), "by: query '1' is in two segments, 'x' and 'y'"),
    ],
    ids=["other ids", "nothing", "int", "list", "no columns", "no segment", "two"],
)
def test_segments_that_make_no_sense(by, says):
    for work in (gradely.evaluate, gradely.compare):
        runs = RUNS["good"] if work is gradely.evaluate else RUNS
        with pytest.raises((DataError, InputError)) as caught:
            work(QRELS, runs, ["RR"], by=by)
        assert says in str(caught.value)


@pytest.mark.parametrize("name", ["q.trec", "q.json"])
def test_a_column_of_a_file_without_columns(folder, capfd, name):
    (folder / "q.json").write_text('{"1": {"a": 1}}')
    for work in ("evaluate", "compare"):
        assert command([work, name, "good.run", "bad.run", "--by", "kind"]) == 2
        assert f"by='kind': {name} has no columns, and there is no such file" in capfd.readouterr().err
