"""Tables of every kind: frames, Parquet, CSV, records. The same content gives the same bits as TREC text."""

import csv
import gzip
import io
import json
import re
from collections import namedtuple
from dataclasses import dataclass, make_dataclass

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import gradely
from gradely import DataError, InputError
from gradely.data import ids, table
from gradely.data.columns import earliest_alike, number_ids

MEASURES = ["nDCG@10", "AP", "RR", "muAP", "ERR", "bpref", "P@2"]
TIES = ["expected", "trec", "order", "random", "best", "worst"]


def text_of(rows, layout):
    return "".join(layout.format(*row) for row in rows)


def csv_of(rows, names):
    out = io.StringIO()
    csv.writer(out).writerows([names, *rows])
    return out.getvalue()


def polars(rows, names):
    return pl.DataFrame(rows, schema=list(names), orient="row")


def pandas(rows, names):
    return pd.DataFrame(rows, columns=list(names))


def by_query(rows):
    """Return rows as {query: {document: number}}."""
    out = {}
    for query, doc, value in rows:
        out.setdefault(query, {})[doc] = value
    return out


def nested(rows, names):
    """Return rows as {query, results}, one per query."""
    return [
        {names[0]: query, "results": [{"id": doc, names[2]: value} for doc, value in docs.items()]}
        for query, docs in by_query(rows).items()
    ]


SHAPES = {
    "polars": polars,
    "polars categories": lambda rows, names: polars(rows, names).with_columns(
        pl.col(names[:2]).cast(pl.String).cast(pl.Categorical)
    ),
    "pandas": pandas,
    "pandas objects": lambda rows, names: pandas(rows, names).astype({names[0]: object, names[1]: object}),
    "pandas categories": lambda rows, names: pandas(rows, names).astype({names[1]: "category"}),
    "pyarrow": lambda rows, names: polars(rows, names).to_arrow(),
    "pyarrow dictionaries": lambda rows, names: pa.table(
        {
            name: column if i == 2 else column.dictionary_encode()
            for i, (name, column) in enumerate(columns(rows, names))
        }
    ),
    "records": lambda rows, names: [dict(zip(names, row, strict=True)) for row in rows],
    "named tuples": lambda rows, names: [namedtuple("Row", names)(*row) for row in rows],  # noqa: PYI024
    "dataclasses": lambda rows, names: [make_dataclass("Row", names)(*row) for row in rows],
    "one record per query": nested,
    "dicts": lambda rows, _: by_query(rows),
    "pandas, Arrow": lambda rows, names: polars(rows, names).to_pandas(use_pyarrow_extension_array=True),
    "lazy polars": lambda rows, names: polars(rows, names).lazy(),
    "DuckDB": lambda rows, names: duckdb.from_arrow(polars(rows, names).to_arrow()),
}
UNORDERED = "DuckDB"
"""has no order of rows for ties to follow"""
WITHOUT_REPEATS = ("dicts", "one record per query", "lines", "dict.json")
"""what is made from dicts, whose keys do not repeat"""


def columns(rows, names):
    return zip(names, (pa.array(list(column)) for column in zip(*rows, strict=True)), strict=True)


def files(rows, names, folder):
    """Yield the rows as files of every kind."""
    frame = polars(rows, names)
    frame.write_parquet(folder / "t.parquet", row_group_size=3)
    (folder / "t.csv").write_bytes(csv_of(rows, names).encode())
    (folder / "t.tsv").write_bytes(csv_of(rows, names).replace(",", "\t").encode())
    (folder / "quoted.csv").write_bytes(frame.write_csv(quote_style="always").encode())
    (folder / "t.json").write_text(json.dumps([dict(zip(names, row, strict=True)) for row in rows]))
    records = [json.dumps(dict(zip(names, row, strict=True))) for row in rows]
    (folder / "t.jsonl").write_text("\n".join(records))
    (folder / "lines").write_text("\n".join(map(json.dumps, nested(rows, names))))
    (folder / "dict.json").write_text(json.dumps(by_query(rows)))
    (folder / "t.csv.gz").write_bytes(gzip.compress(csv_of(rows, names).encode()))
    (folder / "parts").mkdir(exist_ok=True)
    for i in range(2):
        frame[i * len(frame) // 2 : (i + 1) * len(frame) // 2].write_parquet(folder / "parts" / f"{i}.parquet")
    every = [
        "t.parquet",
        "t.csv",
        "t.tsv",
        "quoted.csv",
        "t.json",
        "t.jsonl",
        "lines",
        "dict.json",
        "t.csv.gz",
        "parts",
    ]
    yield from (folder / name for name in every)


WHOLE = st.integers(-3, 12)
TEXT = st.sampled_from(["a", "b", "aa", "é", "doc0000000001", "doc0000000002", "10", "-7", "x" * 40])


def tables(ids):
    row = st.tuples(ids, ids)
    value = st.sampled_from([0, 1, 2, 0.5, -1])
    return st.dictionaries(row, value, min_size=1, max_size=25).map(
        lambda found: [(query, doc, float(value)) for (query, doc), value in found.items()]
    )


@pytest.mark.parametrize("kind", [WHOLE, TEXT], ids=["whole", "text"])
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_all_inputs_of_the_same_content_give_the_same_bits(kind, tmp_path, data):
    qrels, run = data.draw(tables(kind)), data.draw(tables(kind))
    run.append((qrels[0][0], "onlyhere" if isinstance(qrels[0][0], str) else 99, 0.25))
    (tmp_path / "q").write_text(text_of(qrels, "{0} 0 {1} {2}\n"))
    (tmp_path / "r").write_text(text_of(run, "{0} Q0 {1} 1 {2} t\n"))
    ties = data.draw(st.sampled_from(TIES))

    def values(qrels, run):
        return gradely.evaluate(qrels, run, MEASURES, ties=ties, queries="run", seed=3).per_query()

    expected = values(tmp_path / "q", tmp_path / "r")
    labels, scores = ("user_id", "item_id", "relevance"), ("user_id", "item_id", "score")
    for name, shape in SHAPES.items():
        if name != UNORDERED or ties != "order":
            assert values(shape(qrels, labels), shape(run, scores)) == expected, name
    for i, path in enumerate(files(run, scores, tmp_path)):
        assert values(tmp_path / "q", path) == expected, i
    for i, path in enumerate(files(qrels, labels, tmp_path)):
        assert values(path, tmp_path / "r") == expected, i


@pytest.mark.filterwarnings("ignore:.* documents with a label of 1 or more as relevant, and there are none")
@pytest.mark.parametrize("ties", ["expected", "best", "worst", "order"])
@settings(max_examples=40, deadline=None)
@given(rows=tables(WHOLE), seed=st.integers(0, 9))
def test_flat_arrays_give_the_values_of_rows(ties, rows, seed):
    """But for the last bit: arrays add tied documents in the order in which they come."""
    order = np.random.default_rng(seed).permutation(len(rows))
    scores = order % 4 / 4  # with ties
    query, labels = np.array([row[0] for row in rows]), np.array([row[2] for row in rows])
    run = [{"qid": query, "doc": doc, "score": score} for (query, doc, _), score in zip(rows, scores, strict=True)]
    qrels = [{"qid": query, "doc": doc, "label": label} for query, doc, label in rows]
    expected = gradely.evaluate(qrels, run, MEASURES, ties=ties)
    flat = gradely.evaluate_arrays(scores, labels, MEASURES, qid=query, ties=ties)
    together = np.argsort(query, kind="stable")
    names, sizes = np.unique(query, return_counts=True)
    grouped = gradely.evaluate_arrays(scores[together], labels[together], MEASURES, group=sizes, ties=ties)
    for measure in flat:
        by_query = dict(zip(dict.fromkeys(query.tolist()), flat[measure].tolist(), strict=True))
        by_group = dict(zip(names.tolist(), grouped[measure].tolist(), strict=True))
        for name, found in by_query.items():
            value = pytest.approx(expected.query(str(name))[measure], rel=1e-13, abs=1e-15)
            assert found == value
            assert by_group[name] == value
    batch = gradely.from_groups(scores, labels, qid=query, ties=ties)
    assert gradely.AP()(batch).tolist() == flat["AP"].tolist()


@pytest.mark.parametrize("ties", TIES)
def test_parts_are_put_together_whatever_their_size(ties, monkeypatch, tmp_path):
    rng = np.random.default_rng(1)
    rows = [(int(q), int(d), float(s)) for q in range(12) for d, s in enumerate(rng.integers(0, 4, rng.integers(1, 9)))]
    scattered = [rows[i] for i in rng.permutation(len(rows))]
    qrels = [(q, d, float((q + d) % 3)) for q, d, _ in rows[::2]]
    names, labels = ("query_id", "doc_id", "score"), ("query_id", "doc_id", "label")
    for given_rows in (rows, scattered):
        (tmp_path / "r").write_text(text_of(given_rows, "{0} Q0 {1} 1 {2} t\n"))
        expected = gradely.evaluate(polars(qrels, labels), tmp_path / "r", MEASURES, ties=ties).per_query()
        runs = polars(given_rows, names), pandas(given_rows, names), *files(given_rows, names, tmp_path)
        for size in (1, 2, 7, 1000):
            monkeypatch.setattr(table, "ROWS", size)
            monkeypatch.setattr("gradely.data.read.frames.ROWS", size)
            monkeypatch.setattr("gradely.data.read.pieces.PIECE", 16 * size)
            monkeypatch.setattr("gradely.data.spool.IN_MEMORY", size)
            judged = gradely.read_qrels(polars(qrels, labels))
            for run in runs:
                found = gradely.evaluate(judged, run, MEASURES, ties=ties, threads=2)
                assert found.per_query() == expected


@settings(max_examples=200)
@given(st.lists(st.integers(-(2**63), 2**64 - 1), min_size=1))
def test_whole_numbers_become_their_digits(values):
    for dtype in (np.int64, np.uint64, np.int8, np.uint16):
        fits = [value for value in values if np.iinfo(dtype).min <= value <= np.iinfo(dtype).max]
        column = ids.from_integers(np.array(fits, dtype))
        assert [column.name(i) for i in range(len(fits))] == list(map(str, fits))


@given(st.lists(st.text(max_size=20)))
def test_text_stays_as_it_is(values):
    for column in (ids.from_objects(values, "x"), ids.from_arrow(pa.array(values, pa.string()), "x")):
        assert list(column.tokens()) == values
    number, first = number_ids(ids.from_objects(values or ["a"], "x"))
    assert [(values or ["a"])[first[n]] for n in number] == (values or ["a"])


def test_ids_of_one_hash_are_told_apart(monkeypatch):
    monkeypatch.setattr("gradely.data.columns.hashes", lambda text, start, stop: np.zeros(len(start), np.uint64))
    column = ids.from_objects(["b", "a", "b", "c"], "x")
    number, first = number_ids(column)
    assert (number.tolist(), first.tolist()) == ([0, 1, 0, 2], [0, 1, 3])
    assert earliest_alike(np.zeros(4, np.int64), column).tolist() == [0, 1, 0, 3]


def test_integral_floats_are_whole_numbers():
    qrels = {"1": {"10": 1}}
    floats = pd.DataFrame({"user_id": [1.0, 1.0], "item_id": [10.0, 11.0], "score": [1, 2]})
    for run in (floats, floats.astype(object), pl.from_pandas(floats), {1.0: {10.0: 1, 11.0: 2}}):
        assert gradely.evaluate(qrels, run, ["RR"]).mean() == {"RR": 1 / 2}
    for odd in (float("nan"), float("inf")):
        with pytest.raises(DataError, match="an id is"):
            gradely.evaluate(qrels, pl.DataFrame({"qid": [1.0, odd], "docno": [1, 1], "score": [1, 1]}), ["RR"])


def test_half_a_user_is_a_user_of_its_own():
    run = pl.DataFrame({"qid": [1.5, 2.0], "docno": ["a", "a"], "score": [1, 1]})
    assert gradely.evaluate({"1.5": ["a"], "2": ["a"]}, run, ["RR"]).mean() == {"RR": 1.0}


@pytest.mark.parametrize("column", [pl.UInt64, pl.Int8, pl.UInt16, pl.Int64])
def test_every_type_of_whole_numbers(column):
    big = 2**64 - 1 if column == pl.UInt64 else 100
    run = pl.DataFrame({"qid": pl.Series([big, big], dtype=column), "docno": [1, 2], "score": [1, 2]})
    assert gradely.evaluate({big: {1: 1}}, run, ["RR"]).mean() == {"RR": 1 / 2}


def one_row(frame=pd.DataFrame, **cells):
    return frame({name: [cell] for name, cell in {"qid": "1", "docno": "a", "score": 1, **cells}.items()})


def invalid_text():
    offsets, text = np.array([0, 4], np.int32), b"d1\xff\xfe"
    return pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(offsets.tobytes()), pa.py_buffer(text)])


UNREADABLE = {
    "lists": (one_row(pl.DataFrame, docno=["a"]), "it must be text or a number"),
    "structs": (one_row(pl.DataFrame, docno={"a": 1}), "it must be text or a number"),
    "lists in objects": (one_row(qid=["a"]), "an id is \"['a']\""),
    "dicts in objects": (one_row(docno={"a": 1}), "an id is \"{'a': 1}"),
    "bytes": (one_row(pa.table, docno=b"\xff\xfe"), "is not UTF-8 text"),
    "bytes in objects": (one_row(docno=b"\xff\xfe"), "is not UTF-8 text"),
    "text": (one_row(pa.table).set_column(1, "docno", invalid_text()), "is not UTF-8 text"),
    "alike": (one_row(Score=2), "'score' and 'Score'"),
    "numbers": (pd.DataFrame([["1", "a", 3]]), "no query column among the columns whose names are text"),
}


@pytest.mark.parametrize("case", UNREADABLE)
def test_what_is_no_id_or_column_is_refused(case, tmp_path):
    frame, says = UNREADABLE[case]
    runs = [frame]
    if not isinstance(frame, pd.DataFrame):
        runs += [tmp_path / "r.parquet"]
        parquet.write_table(frame.to_arrow() if isinstance(frame, pl.DataFrame) else frame, runs[1])
    for run in runs:
        with pytest.raises((DataError, InputError), match=re.escape(says)):
            gradely.evaluate({"1": ["a"]}, run, ["RR"])


def test_bytes_that_are_text_are_ids():
    run = pa.table({"qid": ["1"], "docno": pa.array(["é".encode()]), "score": [1]})
    assert gradely.evaluate({"1": ["é"]}, run, ["RR"]).mean() == {"RR": 1.0}


def test_columns_there_twice_or_without_a_name():
    frame = pd.DataFrame([["1", "a", 1, 5]], columns=["qid", "docno", "score", "score"])
    with pytest.raises(InputError, match="duplicate column 'score'; rename or drop one"):
        gradely.evaluate({"1": ["a"]}, frame, ["RR"])
    frame.columns = ["qid", "docno", "score", 7]
    assert gradely.evaluate({"1": ["a"]}, frame, ["RR"]).mean() == {"RR": 1.0}
    frame = pd.DataFrame([["1", "a", 1, 5, 6]], columns=["qid", "docno", "score", "x", "x"])
    assert gradely.evaluate({"1": ["a"]}, frame, ["RR"]).mean() == {"RR": 1.0}


@pytest.mark.parametrize("name", ["rank", "rank_", "#Rank", "rank ", "RANK"])
def test_ranks_are_turned_around_however_they_are_spelt(name, tmp_path):
    frame = pd.DataFrame({"qid": ["1", "1"], "docno": ["a", "b"], name: [1, 2]})
    frame.to_csv(tmp_path / "r.csv", index=False)
    frame.to_parquet(tmp_path / "r.parquet")
    (tmp_path / "r.jsonl").write_text("\n".join(json.dumps(record) for record in frame.to_dict("records")))
    for run in (frame, frame.to_dict("records"), *(tmp_path / f"r.{end}" for end in ("csv", "parquet", "jsonl"))):
        assert gradely.evaluate({"1": {"b": 1}}, run, ["RR"]).mean() == {"RR": 1 / 2}


ODD_CSV = {
    "newline in a field": ('qid,docno,score\n1,"a\nb",2\n1,c,1\n', "a\nb"),
    "returns in a field": ('qid,docno,score\n1,"a\r\nb",2\n1,c,1\n', "a\r\nb"),
    "line separator": ("qid,docno,score\n1,a\u2028b,2\n1,c,1\n", "a\u2028b"),
    "next line": ("qid,docno,score\n1,a\u0085b,2\n1,c,1\n", "a\u0085b"),
    "form feed": ("qid,docno,score\n1,a\x0cb,2\n1,c,1\n", "a\x0cb"),
    "doubled quotes": ('qid,docno,score\n1,"a""b",2\n1,c,1\n', 'a"b'),
    "quotes inside": ('qid,docno,score\n1,a"b,2\n1,c,1\n', 'a"b'),
    "comma in quotes": ('qid,docno,score\n1,"a,b",2\n1,c,1\n', "a,b"),
    "blank lines": ("qid,docno,score\n\n1,a,2\n\n1,c,1\n\n", "a"),
    "returns": ('qid,docno,score\r\n1,a,2\r\n\r\n"1","c",1\r\n', "a"),
    "returns alone": ("qid,docno,score\r1,a,2\r1,c,1\r", "a"),
    "no last newline": ("qid,docno,score\n1,a,2\n1,c,1", "a"),
    "long field": ("qid,docno,score\n1," + "a" * 131_072 + ",2\n1,c,1\n", "a" * 131_072),
    "blanks": ("qid,docno,score\n1, a ,  2 \n1,c,1\n", " a "),
}


@pytest.mark.parametrize("case", ODD_CSV)
def test_csv_is_read_as_the_csv_module_reads_it(case, tmp_path):
    content, document = ODD_CSV[case]
    (tmp_path / "r.csv").write_bytes(content.encode())
    run = gradely.read_run(tmp_path / "r.csv")
    assert {query: dict(docs) for query, docs in run.scores.items()} == {"1": {document: 2.0, "c": 1.0}}
    assert gradely.evaluate({"1": {document: 1, "c": 0}}, tmp_path / "r.csv", ["RR"]).mean() == {"RR": 1.0}


def test_a_csv_field_that_is_too_long_is_refused_with_its_line(tmp_path):
    (tmp_path / "r.csv").write_text("qid,docno,score\n1,a,2\n1," + "a" * 131_073 + ",1\n")
    with pytest.raises(InputError, match=r"r\.csv:3: is not CSV: field larger than field limit \(131072\)"):
        gradely.evaluate({"1": ["a"]}, tmp_path / "r.csv", ["RR"])


LAYOUTS = {
    "TREC": (("query_id", "doc_id", "relevance", "x"), ("qid", "docno", "score", "rank")),
    "BEIR": (("query-id", "corpus-id", "score", "x"), ("query", "document", "sim", "x")),
    "MovieLens": (("userId", "movieId", "rating", "x"), ("userId", "movieId", "rating", "x")),
    "any case and signs": (("TOPIC", "Doc-No", "Grade", "x"), ("Query ID", "DocID", "SCORE", "x")),
    "RecTools": (("user_id", "item_id", "weight", "datetime"), ("user_id", "item_id", "score", "rank")),
    "RePlay": (("query_id", "item_id", "rating", "timestamp"), ("query_id", "item_id", "rating", "x")),
    "recommenders": (("userID", "itemID", "rating", "x"), ("userID", "itemID", "prediction", "x")),
    "LensKit": (("user_id", "item_id", "rating", "x"), ("user_id", "item_id", "score", "rank")),
    "Surprise": (("uid", "iid", "r_ui", "x"), ("uid", "iid", "est", "r_ui")),
    "passages": (("question_id", "passage_id", "target", "x"), ("question_id", "chunk_id", "pred", "x")),
    "shops": (("customer_id", "product_id", "label", "x"), ("customer_id", "article_id", "score", "x")),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", ["polars", "pandas", "csv"])
def test_columns_of_other_libraries(layout, shape, tmp_path):
    labels, scores = LAYOUTS[layout]
    truth = pd.DataFrame([(1, 10, 3.0, 7), (1, 11, 1.0, 7), (2, 10, 2.0, 7)], columns=labels)
    run = pd.DataFrame([(1, 11, 0.9, 1), (1, 10, 0.8, 2), (2, 12, 0.7, 1), (2, 10, 0.6, 2)], columns=scores)
    if shape == "polars":
        truth, run = pl.from_pandas(truth), pl.from_pandas(run)
    if shape == "csv":
        truth.to_csv(tmp_path / "truth.txt", index=False)
        run.to_csv(tmp_path / "run.csv", index=False)
        truth, run = tmp_path / "truth.txt", tmp_path / "run.csv"
    found = gradely.evaluate(truth, run, ["nDCG"]).per_query()
    expected = {"1": (1 + 3 / np.log2(3)) / (3 + 1 / np.log2(3)), "2": 1 / np.log2(3)}
    assert {query: values["nDCG"] for query, values in found.items()} == pytest.approx(expected)


def test_columns_may_be_named():
    truth = pl.DataFrame({"who": [1, 1], "what": [10, 11], "stars": [3, 0], "rating": [0, 3]})
    run = pl.DataFrame({"who": [1, 1], "what": [10, 11], "points": [2, 1]})
    said = {"query": "who", "document": "what"}
    qrels = gradely.read_qrels(truth, columns={**said, "label": "stars"})
    ranked = gradely.read_run(run, columns={**said, "score": "points"})
    assert gradely.evaluate(qrels, ranked, ["nDCG"]).mean() == {"nDCG": 1.0}
    with pytest.raises(InputError, match="no column 'nobody' among 'who', 'what'"):
        gradely.read_qrels(truth, columns={"query": "nobody"})
    usual = run.rename({"who": "user_id"})
    with pytest.raises(InputError, match=r"run: no column 'who' .* names apply to qrels and runs: rename 'user_id'"):
        gradely.evaluate(truth, usual, ["nDCG"], columns={**said, "label": "stars", "score": "points"})
    ranked = gradely.read_run(usual, columns={"document": "what", "score": "points"})
    assert gradely.evaluate(qrels, ranked, ["nDCG"]).mean() == {"nDCG": 1.0}
    with pytest.raises(InputError, match=r"no column role 'docment': .* Did you mean document"):
        gradely.read_qrels(truth, columns={"docment": "what"})


@pytest.mark.parametrize(("duplicates", "label"), [("max", 3.0), ("sum", 6.0), ("first", 1.0)])
def test_repeated_rows_are_put_together(duplicates, label, tmp_path):
    rows = [("u", "a", 1.0), ("v", "b", 1.0), ("u", "a", 3.0), ("u", "b", 5.0), ("u", "a", 2.0)]
    names = ("user_id", "item_id", "rating")
    (tmp_path / "q").write_text(text_of(rows, "{0} 0 {1} {2}\n"))
    in_memory = [shape(rows, names) for name, shape in SHAPES.items() if name not in WITHOUT_REPEATS]
    on_disk = [path for path in files(rows, names, tmp_path) if path.name not in WITHOUT_REPEATS]
    for shape in (*in_memory, *on_disk, tmp_path / "q"):
        qrels = gradely.read_qrels(shape, duplicates=duplicates)
        assert (qrels.labels("u"), qrels.labels("v")) == ({"a": label, "b": 5.0}, {"b": 1.0})
        if not isinstance(shape, pl.LazyFrame | duckdb.DuckDBPyRelation) and str(shape) != str(tmp_path / "q"):
            assert gradely.read_run(shape, duplicates=duplicates).scores["u"] == {"a": label, "b": 5.0}
        with pytest.raises(DataError, match=r"duplicate document"):
            gradely.read_qrels(shape)
    with pytest.raises(DataError, match=r"no way to treat duplicates 'maxi'.*Did you mean max"):
        gradely.read_qrels(rows, duplicates="maxi")


def test_records_of_every_kind(tmp_path):
    @dataclass
    class Judgment:
        query: str
        document: str
        label: int

    nested = [{"query": "q", "results": [{"id": "b", "score": 0.9}, {"id": "a", "score": 0.5}]}]
    bare = [{"query": "q", "results": ["b", "a"]}]
    for i, records in enumerate((nested, bare, nested[0])):
        (tmp_path / f"{i}.json").write_text(json.dumps(records))
    (tmp_path / "r.jsonl").write_text("\n".join(map(json.dumps, nested)))
    runs = (nested, bare, *(tmp_path / name for name in ("0.json", "1.json", "2.json", "r.jsonl")))
    for run in runs:
        assert gradely.evaluate([Judgment("q", "a", 1)], run, ["RR"]).mean() == {"RR": 0.5}


@pytest.mark.parametrize(
    ("records", "says"),
    [
        ([{"qid": 1, "docno": 2}], "no score column"),
        ([{"qid": 1, "docno": 2, "score": "x"}], "record 1: the score 'x' is not a number"),
        ([{"qid": 1, "docno": 2, "score": 1}, {"qid": 1, "score": 1}], "record 2 has no 'docno'"),
        ([{"qid": 1, "docno": 2, "score": 1}, 7], "record 2 is '7'"),
        ([{"qid": 1, "docno": 2, "score": float("nan")}], "record 1: the score is nan"),
        ([{"qid": 1, "docno": 2, "score": 1}] * 2, "in records 1 and 2"),
        ([{"query": "q", "results": [{"x": 1}]}], "record 1: a result has no document"),
        ([], "cannot be read from list"),
        ([1, 2], "cannot be read from list"),
    ],
)
def test_records_that_cannot_be_read(records, says):
    with pytest.raises((InputError, DataError), match=says):
        gradely.evaluate({"1": {"2": 1}}, records, ["RR"])


@pytest.mark.parametrize("value", ["high", None, float("nan"), float("inf")])
def test_numbers_that_are_none_are_named_by_row(value, tmp_path):
    frame = pl.DataFrame({"qid": [1, 1], "docno": [1, 2], "score": [1.0, value]}, strict=False)
    frame = frame.with_columns(pl.Series("score", ["1", "high"])) if value == "high" else frame
    frame.write_parquet(tmp_path / "r.parquet")
    for run in (frame, frame.to_arrow(), tmp_path / "r.parquet"):
        with pytest.raises(DataError, match="row 2"):
            gradely.evaluate({"1": {"2": 1}}, run, ["RR"])


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_users_keep_their_type_on_the_way_out(library):
    users = pd.DataFrame({"user_id": [1, 2], "item_id": [10, 10], "rating": [1, 1]})
    run = {1: [10], 2: [11]}
    for truth in (users, pl.from_pandas(users), {1: {10: 1}, 2: {10: 1}}):
        frame = gradely.evaluate(truth, run, ["RR"]).to_frame(library)
        assert pa.table({"q": list(frame["query"])}).schema.field("q").type == pa.int64() or library == "pyarrow"
    merged = gradely.evaluate(users, run, ["RR"]).to_frame().merge(users, left_on="query", right_on="user_id")
    assert merged["value"].tolist() == [1.0, 0.0]
    text = gradely.evaluate(users.astype(str), run, ["RR"]).to_frame()
    assert text["query"].tolist() == ["1", "2"]


@pytest.mark.parametrize("delimiter", [",", "\t"])
@pytest.mark.parametrize(
    "rows", ['q2,"d2,1\nq3,d3,1\n', 'q2,"d2,1\nq3,d3,1\nq4,"d4,1\n', '"q2,d2,1\nq3,d3,1\n"q4,d4,1\n']
)
def test_a_quote_that_is_never_closed_swallows_no_line_silently(rows, delimiter, tmp_path):
    for header in ("qid,docno,score\n", "query,docid,score\n", "query,docid,rating\n"):  # the last one as of Quepid
        path = tmp_path / "table.csv"
        path.write_text((header + "q1,d1,1\n" + rows).replace(",", delimiter))
        with pytest.raises(
            InputError, match=r"table\.csv:3: a field begins with a quote, .* so that [23] lines are one"
        ):
            gradely.read_qrels(path)
