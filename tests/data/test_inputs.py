"""Judgments and runs from everything people hold, with the same result."""

import gzip
import io
import json
import re

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import gradely
from gradely import DataError, InputError
from gradely.data import ids
from gradely.data.qrels import values_of
from gradely.data.read import frames
from gradely.measures import PLAIN

QRELS = {"1": {"d1": 2.0, "d2": 0.0, "d9": 1.0}, "2": {"d3": 1.5}}
RUN = {"1": {"d2": 0.5, "d1": 0.5, "x": -0.25}, "2": {"d3": 3.0, "y": 1e-3}}
MEASURES = ["nDCG@10", "AP", "RR", "muAP", "Judged@2"]


def rows(table):
    return [(query, doc, value) for query, docs in table.items() for doc, value in docs.items()]


def trec_qrels(separator=" ", end="\n"):
    return end.join(separator.join([query, "0", doc, str(label)]) for query, doc, label in rows(QRELS)) + end


def trec_run(separator=" ", end="\n"):
    return (
        end.join(separator.join([query, "Q0", doc, "7", repr(score), "tag"]) for query, doc, score in rows(RUN)) + end
    )


def frame(table, names):
    return dict(zip(names, (list(column) for column in zip(*rows(table), strict=True)), strict=True))


EXPECTED = gradely.evaluate(QRELS, RUN, MEASURES).per_query()


def check(qrels=QRELS, run=RUN):
    assert gradely.evaluate(qrels, run, MEASURES).per_query() == EXPECTED


def test_tsv_without_a_header_is_trec_text(file):
    check(file("qrels.tsv", trec_qrels("\t")), file("run.tsv", trec_run("\t")))


LETOR = """\
2 qid:1 1:0.5 3:7 #docid = d1
0 qid:1 1:0.5 3:9 # docid=d2 inc = 1
1 qid:1 1:NULL #docid = d9
1.5 qid:2 1:3 2:0 #docid = d3
"""


def test_letor(file):
    path = file("train.txt", LETOR)
    check(qrels=path)
    run = gradely.read_run(path, feature=1)
    assert run.scores == {"1": {"d1": 0.5, "d2": 0.5}, "2": {"d3": 3.0}}
    assert gradely.read_run(path, feature=3).scores == {"1": {"d1": 7, "d2": 9, "d9": 0}, "2": {"d3": 0}}
    assert gradely.read_run(path, feature=3, ascending=True).scores["1"] == {"d1": -7, "d2": -9, "d9": 0}
    with pytest.raises(InputError, match=r"train\.txt: no line has a feature 99"):
        gradely.read_run(path, feature=99)


def test_ids_of_any_type_are_compared_as_text():
    as_ints = {1: {10: 1, 20: 0}}
    as_text = {"1": {"20": 0.5, "10": 0.25}}
    numpy_ids = {np.int64(1): {np.int32(20): np.float32(0.5), np.int32(10): np.float16(0.25)}}
    for qrels in (
        as_ints,
        {"1": {b"10": 1, "20": 0}},
        pd.DataFrame({"qid": [1, 1], "docno": [10, 20], "label": [1, 0]}),
    ):
        for run in (as_text, numpy_ids):
            assert gradely.evaluate(qrels, run, ["RR"]).mean() == {"RR": 0.5}


def test_ids_of_mixed_types_are_compared_as_text():
    run = {"q": {"a": 0.9, 7: 0.8, b"c": 0.7, 2.5: 0.6, "z": 0.5}}
    for doc, rank in (("a", 1), ("7", 2), ("c", 3), ("2.5", 4), ("z", 5)):
        assert gradely.evaluate({"q": {doc: 1}}, run, ["RR"]).mean() == {"RR": 1 / rank}
        assert gradely.evaluate({"q": {doc: 1}}, run, ["RR"], ties="trec").mean() == {"RR": 1 / rank}


def test_ranked_lists_without_scores():
    expected = {"RR": 1 / 2}
    assert gradely.evaluate({"q": {"b": 1}}, {"q": ["a", "b"]}, ["RR"]).mean() == expected
    assert gradely.evaluate({"q": {"b": 1}}, {"q": ("a", "b")}, ["RR"]).mean() == expected
    assert gradely.evaluate({"q": {"b": 1}}, {"q": np.array(["a", "b"])}, ["RR"]).mean() == expected
    assert gradely.evaluate({"q": {"b": 1}}, {"q": [("b", 0.5), ("a", 0.7)]}, ["RR"]).mean() == expected


def test_what_was_read_once_serves_many_times(file):
    qrels, run = (
        gradely.read_qrels(file("q", trec_qrels())),
        gradely.read_run(file("bm25.run.gz", gzip.compress(trec_run().encode()))),
    )
    assert (len(qrels), len(run), run.name) == (2, 2, "bm25")
    check(qrels, run)
    check(qrels, run)


def test_inputs_are_not_changed():
    qrels, run = json.loads(json.dumps(QRELS)), json.loads(json.dumps(RUN))
    table = pd.DataFrame(frame(RUN, ("qid", "docno", "score")))
    before = table.copy()
    gradely.evaluate(qrels, run, MEASURES, ties="worst", judged_only=True)
    gradely.evaluate(qrels, table, MEASURES)
    assert (qrels, run) == (QRELS, RUN)
    pd.testing.assert_frame_equal(table, before)


def test_standard_input(monkeypatch, file):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(trec_run().encode())))
    check(file("q", trec_qrels()), "-")


@pytest.mark.parametrize(
    ("qrels", "run", "says"),
    [
        ({}, RUN, "no queries"),
        ({"1": {}}, RUN, "no judgments"),
        (QRELS, {}, "no queries"),
        (QRELS, {"7": {"d1": 1.0}}, "no query in common"),
        (QRELS, {"1": {"d1": float("nan")}}, "query '1', document 'd1'.*nan"),
        (QRELS, {"1": {"d1": float("inf")}}, "finite"),
        (QRELS, {"1": {"d1": "high"}}, "'high' is not a number"),
        (QRELS, {"1": {"d1": None}}, "not a number"),
        ({"1": {"d1": float("nan")}}, RUN, "label is nan"),
        ({"1": {"d1": "good"}}, RUN, "label 'good' is not a number"),
        (QRELS, {"1": "d1"}, "list of documents"),
        (QRELS, {"1": 3}, "list of documents"),
        (QRELS, {"1": {"d1", "d2"}}, "no order"),
        (QRELS, {"1": ["d1", "d1"]}, "duplicate"),
        (QRELS, {"1": {1: 0.5, "1": 0.7}}, "duplicate"),
        (QRELS, {1: {"d1": 1}, "1": {"d1": 1}}, "duplicate"),
        (QRELS, {"1": {None: 0.5}}, "missing"),
        (QRELS, 3, "cannot be read from int"),
        (None, RUN, "cannot be read from NoneType"),
        (QRELS, pd.DataFrame({"a": ["1"], "docno": ["d1"], "score": [1]}), "no query column among 'a'"),
        (QRELS, pd.DataFrame({"qid": ["1"], "docno": [None], "score": [1]}), "missing values"),
        (QRELS, pd.DataFrame({"qid": [], "docno": [], "score": []}), "no rows"),
        (QRELS, pd.DataFrame({"qid": ["1"], "docno": ["d1"], "score": ["high"]}), "not a number"),
        (QRELS, pd.DataFrame({"qid": ["1", "1"], "docno": ["d1", "d1"], "score": [1, 2]}), "rows 1 and 2"),
        (QRELS, pd.DataFrame({"qid": ["1"], "docno": ["d1"]}), "no score column among 'qid', 'docno'; name"),
        (
            QRELS,
            pd.DataFrame({"qid": ["1"], "docno": ["d1"], "a": [1]}),
            "no score column among 'a'; if high values are best, pass columns=.'score': 'a'",
        ),
        (QRELS, pd.DataFrame({name: ["1"] for name in ("qid", "Q-Id", "q_id")}), "run: 'qid' and 'Q-Id' may both be"),
        (QRELS, pd.DataFrame({name: [1] for name in "abcdefgh"}), "'g', 'h'; name"),
        (QRELS, pd.DataFrame({name: [1] for name in "abcdefghi"}), "'g', 'h', …; name"),
        (
            QRELS,
            [RUN, RUN],
            r"run: is a list of 2 \{query: \{document: score\}\}: give one; evaluate_runs and compare take",
        ),
        ([QRELS], RUN, r"qrels: is a list of 1 \{query: \{document: label\}\}: give one$"),
        (QRELS, [("1", "d1", 0.5)], "is a list of tuples.*give dicts or named tuples"),
    ],
)
def test_what_makes_no_sense_in_memory_is_explained(qrels, run, says):
    with pytest.raises((DataError, InputError), match=says):
        gradely.evaluate(qrels, run, MEASURES)


def test_judged_only_drops_unjudged_documents_first():
    scores = gradely.evaluate({"q": {"b": 1}}, {"q": ["a", "b", "c"]}, ["RR", "Judged"], judged_only=True)
    assert scores.mean() == {"RR": 1.0, "Judged": 1.0}
    assert [(note.kind, note.count, note.of) for note in scores.notes] == [("dropped", 2, 3)]


@pytest.mark.parametrize("ties", ["expected", "trec", "order", "random", "best", "worst"])
def test_judged_only_is_the_same_as_a_run_without_unjudged_documents(ties):
    rng = np.random.default_rng(3)
    qrels = {f"q{i}": {f"d{j}": int(rng.integers(0, 3)) for j in rng.permutation(30)[:12]} for i in range(20)}
    run = {f"q{i}": {f"d{j}": float(rng.integers(0, 6)) for j in rng.permutation(30)[:20]} for i in range(20)}
    judged = {query: {doc: score for doc, score in docs.items() if doc in qrels[query]} for query, docs in run.items()}
    measures = [measure.name for measure in PLAIN if measure.takes_expected or ties != "expected"]
    dropped = gradely.evaluate(qrels, run, measures, ties=ties, judged_only=True).values
    np.testing.assert_array_equal(dropped, gradely.evaluate(qrels, judged, measures, ties=ties).values)


@pytest.mark.parametrize("option", [{"ties": "alphabetic"}, {"queries": "all"}, {"precision": "half"}])
def test_unknown_policies_are_explained(option):
    with pytest.raises(DataError, match="use one of"):
        gradely.evaluate(QRELS, RUN, MEASURES, **option)


def test_single_precision_makes_more_ties():
    run = {"q": {"a": 16777217.0, "b": 16777216.0}}
    assert gradely.evaluate({"q": {"b": 1}}, run, ["RR"]).mean() == {"RR": 1 / 2}
    assert gradely.evaluate({"q": {"b": 1}}, run, ["RR"], precision="single").mean() == {"RR": (1 + 1 / 2) / 2}
    assert gradely.evaluate({"q": {"b": 1}}, run, ["RR"], precision="single", ties="trec").mean() == {"RR": 1}


def test_what_cannot_be_read_says_what_to_do_instead(tmp_path):
    connection = duckdb.connect(tmp_path / "shop.db")
    connection.sql("CREATE TABLE run AS SELECT 1 AS user_id, 2 AS item_id, 0.5 AS score")
    for run, says in (
        (np.ones(3), "evaluate_arrays(scores, labels, group=sizes)"),
        (connection, "connection.table('run')"),
        ([{"user_id": 1, "sku": 2, "score": 1}], "pass columns={'document': …} (--columns document=…)"),
    ):
        with pytest.raises((DataError, InputError), match=re.escape(says)):
            gradely.evaluate({"1": {"2": 1}}, run, ["RR"])
    assert gradely.evaluate({"1": {"2": 1}}, connection.table("run"), ["RR"]).mean() == {"RR": 1.0}
    connection.close()
    with pytest.raises(InputError, match="is a DuckDB database, which holds many tables"):
        gradely.evaluate({"1": {"2": 1}}, tmp_path / "shop.db", ["RR"])


@pytest.mark.parametrize("column", ["qid", "docno", "label"])
@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_a_missing_value_is_named_by_its_row(library, column):
    table = {"qid": ["1", "1", "2"], "docno": ["a", "b", "c"], "label": ["1", "0", "1"]}
    table[column][1] = None
    with pytest.raises(DataError, match=f"qrels: column '{column}' has missing values, the first in row 2"):
        gradely.read_qrels(library(table))


def test_documents_without_labels_have_label_1(file):
    for qrels in (
        {"q": ["a", "b"]},
        {"q": {"a", "b"}},
        {"q": ("a", "b")},
        file("q.json", '{"q": ["a", "b"]}'),
        file("q.jsonl", '{"query_id": "q", "doc_id": "a"}\n{"query_id": "q", "doc_id": "b"}\n'),
    ):
        assert gradely.read_qrels(qrels).labels("q") == {"a": 1.0, "b": 1.0}


def test_lists_in_json_are_rankings_of_a_run(file):
    assert gradely.read_run(file("r.json", '{"q": ["a", "b"]}')).scores == {"q": {"a": 2, "b": 1}}


def test_a_record_of_json_lines_may_hold_more(file):
    lines = '{"query_id": "q", "doc_id": "a", "score": 2, "source": {"page": 7}, "tags": ["x"], "words": ["y"]}\n'
    assert gradely.read_run(file("r.jsonl", lines)).scores == {"q": {"a": 2}}
    with pytest.raises(DataError, match=r"r\.jsonl:1: no queries"):
        gradely.read_run(file("r.jsonl", "{}\n"))


def test_results_of_a_record_are_ranked_or_have_scores_and_ids_of_their_own():
    ranked = gradely.read_run([{"query": "q", "results": ["a", "b"]}])
    assert dict(ranked.scores) == {"q": {"a": -1.0, "b": -2.0}}
    results = [{"id": 7, "doc_id": "a", "score": 0.5}, {"doc_id": "b", "score": 0.25}]
    assert dict(gradely.read_run([{"query": "q", "results": results}]).scores) == {"q": {"a": 0.5, "b": 0.25}}


def test_queries_of_records_are_whole_numbers_where_all_are():
    for queries, whole in (([1, 2], True), ([1, "2"], False), (["1", "2"], False)):
        qrels = gradely.read_qrels([{"qid": query, "docno": "a", "label": 1} for query in queries])
        assert (qrels.whole, list(qrels.queries)) == (whole, ["1", "2"])


@pytest.mark.parametrize("read", [gradely.read_qrels, gradely.read_run])
def test_unknown_formats_and_ways_to_treat_duplicates_are_refused(read):
    labels = {"q": {"a": 1}}
    for given in (labels, pd.DataFrame({"query": ["q"], "document": ["a"], "label": [1], "score": [1]}), read(labels)):
        with pytest.raises(DataError, match="no way to treat duplicates 'most': use one of error, max, sum, first"):
            read(given, duplicates="most")
        with pytest.raises(InputError, match=r"no format 'jsonlines': use one of trec, .* Did you mean jsonl"):
            read(given, format="jsonlines")


@pytest.mark.parametrize(
    ("line", "hint"), [("1 qid: 1:0.5", ""), ("1 2", ""), ("1 1:0.5", "; write the query of each line into it, or .*")]
)
def test_a_line_without_a_query_is_shown_with_what_to_do(file, line, hint):
    with pytest.raises(InputError, match=f"t:2: expected label qid:Q 1:value 2:value …, found '{line}'{hint}$"):
        gradely.read_qrels(file("t", f"1 qid:1 1:0.5\n{line}\n"))


def test_frames_are_read_without_pyarrow(monkeypatch):
    monkeypatch.setattr(frames, "find_spec", lambda name: None)
    rows = {"qid": ["é", "é", "b"], "docno": ["d1", "d", "d3"], "score": [2.0, 1.0, 3.0]}
    text = pl.DataFrame(rows)
    for frame in (text, text.cast({"qid": pl.Categorical}), pd.DataFrame(rows), pd.DataFrame(rows).astype("string")):
        assert dict(gradely.read_run(frame).scores) == {"é": {"d1": 2.0, "d": 1.0}, "b": {"d3": 3.0}}


def test_numbers_of_dicts_are_taken_together_where_all_are_numbers():
    dicts = [{"a": 1.0, "b": 2}, {"c": np.float32(0.5)}]
    assert values_of(dicts, None).tolist() == [1.0, 2.0, 0.5]
    assert values_of(dicts[:1], None).tolist() == [1.0, 2.0]
    assert values_of([{"a": "1.5"}], lambda i, doc: f"{i} {doc}").tolist() == [1.5]


@pytest.mark.parametrize(
    ("docs", "missing", "disguised"),
    [
        ({"a": 1, "b": 2}, ["c"], False),
        ({"a": 1, "b": 2}, ["c", "7", "-x", "-2"], False),
        ({"a": 1, b"c": 2, "b": 3}, ["x", "c"], True),
        ({"a": 1, 7: 2, "b": 3}, ["x", "-", "7"], True),
        ({"a": 1, -7: 2, "b": 3}, ["-7"], True),
        ({"a": 1, 7: 2, "b": 3}, ["x", "7x", "-", "8"], False),
    ],
)
def test_ids_that_are_no_text_are_noticed_where_a_document_is_missing(docs, missing, disguised):
    """Otherwise all ids are made text for nothing."""
    assert ids.are_disguised(docs, missing) == disguised
    others = {f"other{i}": 0 for i in range(100)}
    assert ids.are_disguised({"first": 0, **others, **docs, "last": 0}, missing) == disguised


NAMELESS = [("q1", "", 1), ("", "d1", 1)]


@pytest.mark.parametrize("row", NAMELESS)
@pytest.mark.parametrize(
    "shape", ["csv", "quoted", "long", "jsonl", "json", "parquet", "pandas", "polars", "records", "dict"]
)
def test_a_row_without_a_name_is_refused(tmp_path, shape, row):
    """An empty cell is a missing id, as pandas writes it, and no document that nobody retrieves."""
    rows = [("q1", "d1", 2), row]
    names = ["query_id", "doc_id", "label"]
    rows = [("q1", f"x{i}", 0) for i in range(5000)] + rows if shape == "long" else rows
    frame = pd.DataFrame(rows, columns=names)
    path = tmp_path / f"qrels.{shape if shape in ('jsonl', 'json', 'parquet') else 'csv'}"
    qrels = path
    if shape in ("csv", "long", "quoted"):
        frame.to_csv(path, index=False, quoting=1 if shape == "quoted" else 0)
    elif shape in ("json", "jsonl"):
        frame.to_json(path, orient="records", lines=shape == "jsonl")
    elif shape == "parquet":
        pytest.importorskip("pyarrow")
        frame.to_parquet(path)
    else:
        records = frame.to_dict("records")
        nested = {"q1": {"d1": 2}}
        nested.setdefault(row[0], {})[row[1]] = 1
        qrels = {"pandas": frame, "polars": pl.DataFrame(records), "records": records, "dict": nested}[shape]
    with pytest.raises(DataError, match=r"the id of (a|the) (query|document) is missing"):
        gradely.evaluate(qrels, {"q1": ["d1"]}, ["RR"])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("q.json", '{"qid": "q", "docno": "a", "label": 1}\n{"qid": "q", "docno": "b", "label": 0}\n'),
        ("q.jsonl", '[{"qid": "q", "docno": "a", "label": 1}, {"qid": "q", "docno": "b", "label": 0}]'),
        ("q.jsonl", '{\n "q": {"a": 1, "b": 0}\n}'),
        ("q.csv", "qid\tdocno\tlabel\nq\ta\t1\nq\tb\t0\n"),
        ("q.inter", "user_id:token,item_id:token,label:float\nq,a,1\nq,b,0\n"),
        ("q.CSV", "qid;docno;label\r\nq;a;1\r\nq;b;0\r\n"),
    ],
)
def test_content_decides_where_the_ending_of_a_name_says_its_sibling(file, name, text):
    assert gradely.read_qrels(file(name, text)).labels("q") == {"a": 1.0, "b": 0.0}
