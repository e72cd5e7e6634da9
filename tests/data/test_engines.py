"""Lazy frames: hits are found in the engine, and values are those of the same rows at hand, to the last bit."""

from decimal import Decimal
from types import SimpleNamespace

import duckdb
import narwhals.stable.v2 as narwhals
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import gradely
from gradely.data import engine
from gradely.data.column_roles import Roles
from gradely.data.engine import UPLOADS, judged_table
from gradely.data.hits import Unjudged
from tests.engines import MEASURES, collection, same_everywhere


def to_polars(table):
    return pl.from_arrow(table).lazy()


def to_duckdb(table):
    return duckdb.from_arrow(table)  # of the connection that all share, as two relations of a user's are


ENGINES = {"polars": to_polars, "duckdb": to_duckdb}
each_engine = pytest.mark.parametrize("into", ENGINES.values(), ids=ENGINES)


@each_engine
@pytest.mark.parametrize("ties", ["expected", "best", "worst", "trec", "random"])
@pytest.mark.parametrize("precision", ["double", "single"])
def test_same_values(into, ties, precision):
    same_everywhere(into, ties, precision=precision, seed=7)


@each_engine
@pytest.mark.parametrize("settings", [{"queries": "run"}, {"queries": "both"}, {"judged_only": True}], ids=str)
def test_same_values_under_other_settings(into, settings):
    same_everywhere(into, "expected", **settings)


@each_engine
def test_exclude(into):
    qrels, run = collection()
    had = run.slice(0, 300).select(["query_id", "doc_id"])
    theirs = gradely.evaluate(into(qrels), into(run), MEASURES, exclude=had, ties="trec")
    assert theirs.mean() == gradely.evaluate(qrels, run, MEASURES, exclude=had, ties="trec").mean()


def test_order_where_rows_have_one():
    same_everywhere(to_polars, "order")


def test_order_is_refused_by_name():
    qrels, run = collection()
    with pytest.raises(gradely.GradelyError, match="'order' depends on the order of rows, which duckdb does not have"):
        gradely.evaluate(qrels, to_duckdb(run), ties="order")


@each_engine
def test_nothing_but_judged_documents_comes_back(into, monkeypatch):
    qrels, run = collection()
    fetched, original = [], engine.fetch

    def fetch(frame):
        fetched.append(original(frame))
        return fetched[-1]

    monkeypatch.setattr(engine, "fetch", fetch)
    gradely.evaluate(qrels, into(run), ties="trec")
    counts, hits = fetched
    assert 0 < len(hits) <= len(qrels) < len(run)
    assert counts.column_names == ["query", "size", "odd", "no_score", "no_document"]


@each_engine
def test_several_runs_and_comparison(into):
    qrels, run = collection()
    other = run.set_column(2, "score", pa.array([-value for value in run["score"].to_pylist()]))
    runs = {"one": run, "other": other}
    lazy = {name: into(table) for name, table in runs.items()}
    assert gradely.evaluate_runs(qrels, lazy).mean() == gradely.evaluate_runs(qrels, runs).mean()
    assert str(gradely.compare(qrels, lazy).table()) == str(gradely.compare(qrels, runs).table())


@each_engine
def test_explain_fetches_one_query(into):
    qrels, run = collection()
    assert str(gradely.explain(qrels, into(run), "7", "nDCG@10")) == str(gradely.explain(qrels, run, "7", "nDCG@10"))


def rows(query, document, score):
    return pa.table({"qid": query, "docno": document, "score": pa.array(score, pa.float64())})


@each_engine
@pytest.mark.parametrize(
    ("run", "message"),
    [
        (rows(["q", "q"], ["a", "b"], [1, float("nan")]), "query 'q' has a score that is NaN or infinite"),
        (rows(["q", "x"], ["a", "b"], [1, float("inf")]), "query 'x' has a score that is NaN or infinite"),
        (rows(["q", "q"], ["a", "b"], [1, None]), "column 'score' has missing values, as in query 'q'"),
        (rows(["q", "q"], ["a", None], [1, 2]), "column 'docno' has missing values, as in query 'q'"),
        (rows(["q", None], ["a", "b"], [1, 2]), "column 'qid' has missing values"),
        (rows(["q", "q"], ["a", "a"], [1, 2]), "duplicate document 'a' of query 'q'"),
        (rows(pa.array([], pa.string()), pa.array([], pa.string()), []), "has no rows"),
        (rows(["x"], ["a"], [1]), "no query in common; the first are 'x' and 'q'"),
        (rows([1.5], ["a"], [1]), "column 'qid' holds Float64; cast ids to text or to whole numbers"),
        (pa.table({"qid": ["q"], "docno": ["a"], "score": ["1"]}), "column 'score' holds String; cast scores"),
    ],
)
def test_bad_data_is_found_in_the_engine(into, run, message):
    with pytest.raises(gradely.GradelyError, match=message):
        gradely.evaluate({"q": {"a": 1}}, into(run))


@each_engine
def test_ranks_are_scores_of_which_the_least_is_best(into):
    run = pa.table({"qid": ["q"] * 3, "docno": ["a", "b", "c"], "rank": [3, 1, 2]})
    assert gradely.evaluate({"q": {"c": 1}}, into(run), ["RR"]).mean() == {"RR": 1 / 2}


@each_engine
def test_single_precision_overflows_as_at_hand(into):
    run = rows(["q"] * 4, list("abcd"), [1e300, 2e300, -1e300, 1.0])
    values = [
        gradely.evaluate({"q": {"b": 1, "d": 1}}, one, ["RR", "AP"], precision="single").mean()
        for one in (run, into(run))
    ]
    assert values[0] == values[1] and values[0]["RR"] < 1


@each_engine
def test_duplicates(into):
    run = rows(["q"] * 3, ["a", "b", "a"], [1, 2, 3])
    assert gradely.evaluate({"q": {"a": 1}}, gradely.read_run(into(run), duplicates="max"), ["RR"])["RR"] == 1
    with pytest.raises(gradely.GradelyError, match="duplicates='sum' depends on the order of rows"):
        gradely.read_run(into(run), duplicates="sum")


@each_engine
def test_all_tied_at_random_is_refused_where_it_is_too_much(into, monkeypatch):
    run = rows(["q"] * 3, list("abc"), [1, 1, 1])
    monkeypatch.setattr(engine, "MOST_TIED", 2)
    with pytest.raises(gradely.GradelyError, match="3 documents tie with judged ones"):
        gradely.evaluate({"q": {"a": 1}}, into(run), ties="random")


@each_engine
def test_what_needs_all_rows_says_so(into):
    run = gradely.read_run(into(rows(["q", "q", "p"], ["a", "b", "a"], [1, 2, 3])))
    assert len(run) == 2 and run.scores["q"] == {"a": 1.0, "b": 2.0} and "nobody" not in run.scores
    with pytest.raises(gradely.GradelyError, match="is a lazy frame, and this needs all of its rows; collect it first"):
        list(run.scores)


@each_engine
def test_judgments_of_names_that_no_engine_holds_match_nothing(into):
    judgments = gradely.read_qrels({"q": {"\udcff": 1, "a": 1}})
    assert gradely.evaluate(judgments, into(rows(["q"], ["a"], [1])), ["R@5"])["R@5"] == 1 / 2


def test_two_duckdb_connections():
    qrels, run = collection()
    one, other = duckdb.connect(), duckdb.connect()
    lazy = gradely.evaluate(one.from_arrow(qrels), other.from_arrow(run), MEASURES)
    assert lazy.mean() == gradely.evaluate(qrels, run, MEASURES).mean()


def test_a_note_where_documents_have_other_names():
    run = to_duckdb(rows(["q"], ["D1"], [1]))
    assert "upper and lower case" in str(gradely.evaluate({"q": {"d1": 1}}, run).notes)


def test_dask_is_refused_by_name(monkeypatch):
    monkeypatch.delitem(engine.UPLOADS, "polars")
    with pytest.raises(gradely.GradelyError, match="rankings cannot be computed in polars; collect it"):
        gradely.evaluate({"q": {"a": 1}}, to_polars(rows(["q"], ["a"], [1])))


@each_engine
def test_decimals_are_numbers(into):
    scores = [Decimal("0.30"), Decimal("0.10"), Decimal("0.30"), Decimal("0.20")]
    run = pa.table({"query_id": [1, 1, 1, 1], "doc_id": ["a", "b", "c", "d"], "score": scores})
    qrels = pa.table({"query_id": [1, 1], "doc_id": ["c", "d"], "label": [Decimal("1.5"), Decimal(2)]})
    expected = {"1": {"RR": 0.75, "nDCG": gradely.evaluate(qrels, run, ["nDCG"])["nDCG"]}}
    assert gradely.evaluate(into(qrels), into(run), ["RR", "nDCG"]).per_query() == expected


@each_engine
def test_progress_is_told_in_two_halves(into):
    told = []
    gradely.data.locate(
        gradely.read_qrels({"q": {"a": 1}}),
        gradely.read_run(into(rows(["q"], ["a"], [1]))),
        gradely.settings.Settings(),
        report=told.append,
    )
    assert told == [0.5, 1.0]


@each_engine
def test_a_run_that_changes_between_two_looks_is_an_error(into, monkeypatch):
    monkeypatch.setattr(engine, "_count_retrieved", lambda *_: (np.array([2]), Unjudged()))
    with pytest.raises(gradely.GradelyError, match="run: changed while it was read"):
        gradely.evaluate({"q": {"c": 1}}, into(rows(["q"] * 3, list("abc"), [3, 2, 1])))


@each_engine
def test_a_document_there_twice_is_named_with_its_query(into):
    run = rows(["p", "q", "r", "r"], ["a", "a", "a", "a"], [1, 1, 1, 2])
    with pytest.raises(gradely.GradelyError, match="duplicate document 'a' of query 'r'"):
        gradely.evaluate({"p": {"a": 1}, "q": {"a": 1}, "r": {"a": 1}}, into(run))


@each_engine
@pytest.mark.parametrize("seed", range(4))
def test_pairs_at_random(into, seed):
    """Each judged document ties with one that is not judged."""
    run = rows(["q"] * 6, ["a", "x", "b", "y", "c", "z"], [3, 3, 2, 2, 1, 1])
    qrels = {"q": {"a": 1, "b": 1, "c": 0}}
    lazy, held = (gradely.evaluate(qrels, one, ["AP", "RR"], ties="random", seed=seed) for one in (into(run), run))
    assert lazy.mean() == held.mean()


@each_engine
def test_a_score_halfway_beyond_single_precision_is_infinite(into):
    run = rows(["q"] * 3, list("abc"), [engine.SINGLE_OVERFLOW, 1e300, 1.0])
    assert gradely.evaluate({"q": {"a": 1}}, into(run), ["RR"], precision="single").mean() == {"RR": 0.75}


def test_only_names_that_are_text_go_into_an_engine():
    judged = judged_table(gradely.read_qrels({"q": {"\udcff": 1, "é": 1}, "\udcfe": {"b": 1}, "r": {"b": 0}}))
    assert judged.to_pylist() == [
        {"judged_query": "q", "judged": "é", "row": 1},
        {"judged_query": "r", "judged": "b", "row": 3},
    ]


class Session:
    """As much of a session of Spark as judgments need."""

    def __init__(self, **settings):
        self.settings, self.conf, self.sparkSession, self.threshold, self.hints = settings, self, self, None, []

    def get(self, name, default):
        return self.settings.get(name.rpartition(".")[2], default)

    def set(self, name, value):
        self.settings[name.rpartition(".")[2]] = value

    def unset(self, name):
        del self.settings[name.rpartition(".")[2]]

    def createDataFrame(self, judged):  # noqa: ARG002 - as Spark has it
        self.threshold = self.settings.get("localRelationThreshold")
        return self

    def hint(self, name):
        self.hints.append(name)
        return self


@pytest.mark.parametrize("before", [{}, {"localRelationThreshold": "48"}])
@pytest.mark.parametrize(
    ("size", "batches", "hints"),
    [
        (1 << 20, False, ["broadcast"]),
        ((1 << 20) + 1, True, ["broadcast"]),
        (1 << 26, True, ["broadcast"]),
        ((1 << 26) + 1, True, []),
    ],
)
def test_judgments_of_spark_are_held_by_their_size(before, size, batches, hints):
    session = Session(**before)
    UPLOADS["pyspark"](session, SimpleNamespace(nbytes=size))
    assert session.threshold == ("0" if batches else before.get("localRelationThreshold"))
    assert (session.settings, session.hints) == (before, hints)


def test_judgments_without_labels_have_label_1_in_an_engine():
    judged = narwhals.from_native(pl.LazyFrame({"user": [7], "item": ["a"]}))
    renamed = engine.rename(judged, Roles("user", "item", None), "label").to_native().collect()
    assert renamed.to_dicts() == [{"query": "7", "document": "a", "label": 1.0}]
