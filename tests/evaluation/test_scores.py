"""What an evaluation returns."""

import json
import re
import sys
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import gradely
from gradely import InputError, MissingExtra
from gradely.evaluation.scores import means
from gradely.install import install_extra

QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1, "b": 1}, "q3": {"a": 0}}
RUN = {"q1": {"a": 0.5, "b": 0.5}, "q2": {"b": 2.0, "a": 1.0}, "extra": {"a": 1.0}}


@pytest.fixture
def scores():
    return gradely.evaluate(QRELS, RUN, ["RR", "P@1"])


def test_means_and_values(scores):
    assert scores.per_query() == {
        "q1": {"RR": 0.75, "P@1": 0.5},
        "q2": {"RR": 1.0, "P@1": 1.0},
        "q3": {"RR": 0.0, "P@1": 0.0},
    }
    assert scores.mean() == {"RR": 1.75 / 3, "P@1": 0.5}
    table, _, notes = repr(scores).partition("\n\n")
    assert table == "measure     run\n───────  ──────\nRR       0.5833\nP@1      0.5000"
    assert notes.split("\n") == [str(note) for note in scores.notes]


def test_scores_are_a_mapping_of_means(scores):
    assert dict(scores) == scores.mean() and list(scores) == scores.measures == scores.keys()
    assert scores.measures[0] in scores and "no such measure" not in scores


def test_notes_count_everything(scores):
    assert [(note.kind, note.count, note.of) for note in scores.notes] == [
        ("missing", 1, 3),
        ("unjudged", 1, 3),
        ("degenerate", 1, 3),
        ("ties", 1, 3),
        ("ties", 1, 3),
    ]
    assert [str(note) for note in scores.notes] == [
        "1 of 3 judged queries is not in the run and counts as 0: q3",
        "1 of 3 queries of the run has no judgments and is left out: extra",
        "1 of 3 queries has no relevant document for RR, P@1 and scores 0 in every order: q3",
        "RR 0.5833, between 0.5000 and 0.6667 depending on the order of ties in 1 of 3 queries",
        "P@1 0.5000, between 0.3333 and 0.6667 depending on the order of ties in 1 of 3 queries",
    ]


@pytest.mark.parametrize("ties", ["expected", "trec", "order", "best", "worst", "random"])
def test_how_far_ties_matter_does_not_depend_on_the_policy(ties):
    (found,) = gradely.evaluate(QRELS, RUN, ["RR"], ties=ties).tie_ranges
    assert (found.low, found.high) == (pytest.approx(1.5 / 3), pytest.approx(2 / 3))


def test_there_is_nothing_to_note_where_all_is_well():
    assert gradely.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0, "x": 0.5}}, ["AP"]).notes == []


def test_tied_documents_of_the_same_worth_do_not_matter():
    assert gradely.evaluate({"q": {"a": 1, "b": 1}}, {"q": {"a": 1.0, "b": 1.0}}, ["AP", "nDCG"]).notes == []


def test_the_geometric_mean_counts_a_query_at_least_a_little(scores):
    assert scores.geometric_mean() == {
        "RR": pytest.approx((0.75 * 1 * 0.00001) ** (1 / 3)),
        "P@1": pytest.approx((0.5 * 1 * 0.00001) ** (1 / 3)),
    }
    assert scores.geometric_mean(least=0.5)["P@1"] == pytest.approx((0.5 * 1 * 0.5) ** (1 / 3))
    with pytest.raises(InputError, match="above 0"):
        scores.geometric_mean(least=0)


@pytest.mark.parametrize(
    ("library", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("pyarrow", pa.Table)]
)
def test_frames(scores, library, kind):
    frame = scores.to_frame(library)
    assert isinstance(frame, kind)
    frame = frame.to_pandas() if hasattr(frame, "to_pandas") else frame
    assert list(frame.columns) == ["query", "measure", "value"]
    assert frame["query"].tolist() == ["q1", "q1", "q2", "q2", "q3", "q3"]
    assert frame["measure"].tolist() == ["RR", "P@1"] * 3
    assert frame["value"].tolist() == [0.75, 0.5, 1.0, 1.0, 0.0, 0.0]


def test_frames_of_other_libraries_are_refused(scores):
    with pytest.raises(InputError, match="pandas or polars or pyarrow"):
        scores.to_frame("excel")


def test_a_library_that_is_not_installed_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "r.parquet").write_bytes(b"PAR1")
    with pytest.raises(MissingExtra, match=f"{re.escape(install_extra('parquet'))}$"):
        gradely.read_run(tmp_path / "r.parquet")


def test_flat_names_are_plain_and_lose_no_value():
    measures = ["nDCG@10", "AP(rel=2)", "AP(rel=-2)", "nDCG(gain='exp')@10", "µAP", "eGAP(g=[0.2, 0.8])", "nDCG@100"]
    runs = {
        "bm25.run": {"q": ["a", "b"]},
        "bm25 run": {"q": ["b", "a"]},
        "../../<b>": {"q": ["b"]},
        "2020": {"q": ["a"]},
    }
    results = gradely.evaluate_runs({"q": {"a": 2, "b": 1}}, runs, measures)
    flat = results["bm25.run"].flat("test/")
    assert list(flat.values()) == list(results["bm25.run"].mean().values())
    assert list(flat)[:3] == ["test/nDCG_10", "test/AP_rel_2", "test/AP_rel_minus2"]
    every = results.flat()
    assert len(every) == len(runs) * len(measures)
    assert every["bm25_run/nDCG_10"] == results["bm25.run"]["nDCG@10"]
    assert every["bm25_run/nDCG_10_2"] == results["bm25 run"]["nDCG@10"]
    assert all(re.fullmatch(r"([A-Za-z_][A-Za-z0-9_]*/?){2}", name) for name in every)


def test_flat_names_in_json_depend_on_no_position():
    """DVC names metrics by their place in a JSON file, and a place in a list changes with the runs beside it."""
    qrels = {"q": {"a": 1}}
    runs = {"old": {"q": ["x", "a"]}, "new": {"q": ["a"]}}
    alone, both, turned = (
        json.loads(json.dumps(gradely.evaluate_runs(qrels, {name: runs[name] for name in names}, ["RR", "P@1"]).flat()))
        for names in (["new"], ["old", "new"], ["new", "old"])
    )
    assert both == turned == {"old/RR": 0.5, "old/P_1": 0.0} | alone
    assert alone == {"new/RR": 1.0, "new/P_1": 1.0}


def test_a_comparison_is_flat_too():
    runs = {"a": {"q1": ["d"], "q2": ["d"]}, "b": {"q1": ["d"], "q2": ["x", "d"]}}
    compared = gradely.compare({"q1": {"d": 1}, "q2": {"d": 1}}, runs, ["RR"])
    assert compared.flat("x/") == {"x/a/RR": 1.0, "x/b/RR": 0.75}


def test_long_flat_names_are_cut_and_stay_apart():
    runs = {"x" * 300 + end: {"q": ["a"]} for end in "ab"}
    names = list(gradely.evaluate_runs({"q": {"a": 1}}, runs, ["AP"]).flat())
    assert len(set(names)) == 2 and all(len(name) <= 250 for name in names)


@pytest.mark.parametrize(
    ("library", "command"), [("polars", "pip install polars"), ("pyarrow", install_extra("parquet"))]
)
def test_a_library_that_is_absent_is_named_with_what_brings_it(monkeypatch, library, command):
    """No extra is called polars; an extra that does not exist installs nothing."""
    scores = gradely.evaluate({"q": {"a": 1}}, {"q": ["a"]}, ["RR"])

    def absent(*_, **__):
        raise ModuleNotFoundError(f"No module named {library!r}")

    monkeypatch.setattr("narwhals.stable.v2.from_dict", absent)
    with pytest.raises(gradely.MissingExtra, match=re.escape(command)):
        scores.to_frame(library)


def test_of_many_runs_only_the_widest_range_per_measure_is_named():
    qrels = {"q1": {"a": 1, "b": 0, "c": 0}, "q2": {"a": 1}}
    runs = {
        "sure": {"q1": ["a", "b"], "q2": ["a"]},
        "pair": {"q1": {"a": 1, "b": 1}, "q2": ["a"]},
        "three": {"q1": {"a": 1, "b": 1, "c": 1}, "q2": ["a"]},
    }
    results = gradely.evaluate_runs(qrels, runs, ["RR", "P@1"])
    where = "depending on the order of ties in 1 of 2 queries; the widest range of 2 runs"
    assert [str(note) for note in results.notes] == [
        f"three: RR 0.8056, between 0.6667 and 1.0000 {where}",
        f"pair: P@1 0.7500, between 0.5000 and 1.0000 {where}",
        "`gradely ties` shows the range of every run",
    ]
    two = gradely.evaluate_runs(qrels, {name: runs[name] for name in ("pair", "three")}, ["RR"])
    assert [str(note).split(",")[0] for note in two.notes] == ["pair: RR 0.8750", "three: RR 0.8056"]


def test_ranges_that_are_the_same_where_they_are_printed_are_not_shown():
    """One of 20,000 queries has a tie, which moves AP by 0.000025: four digits do not show it."""
    qrels = {f"q{i}": {"a": 1} for i in range(20_000)}
    run = {query: {"a": 1.0} for query in qrels} | {"q7": {"a": 1.0, "b": 1.0}}
    results = gradely.evaluate_runs(qrels, {"x": run}, ["AP"])
    (span,) = results["x"].tie_ranges
    assert span.high - span.low == pytest.approx(0.5 / 20_000)
    assert results.notes == []
    alone = gradely.evaluate_runs({"q7": qrels["q7"]}, {"x": {"q7": run["q7"]}}, ["AP"])
    assert [note.kind for note in alone.notes] == ["ties"]


@pytest.mark.parametrize("power", [-1074, -1030, -1000, -990, -3, 0, 900, 1000])
def test_means_are_exact_sums_whatever_their_size(power, monkeypatch):
    monkeypatch.setattr("gradely.evaluation.scores.ROWS", 4)
    values = np.ldexp(np.random.default_rng(1).integers(-9, 10, (10, 2)).astype(float), power)
    exact = [float(sum(map(Fraction, column)) / 10) for column in values.T.tolist()]
    assert means(values) == pytest.approx(exact, rel=1e-15, abs=5e-324)
    assert means(values[::-1]) == means(values)


def test_columns_are_long_unless_asked_for_wide(scores):
    assert scores.columns() == scores.columns(wide=False)
    assert list(scores.columns()) == ["query", "measure", "value"]
    assert scores.columns(wide=True) == {"query": ["q1", "q2", "q3"], "RR": [0.75, 1, 0], "P@1": [0.5, 1, 0]}


def test_frames_of_several_runs_name_the_run():
    results = gradely.evaluate_runs(QRELS, {"a": RUN, "b": {"q1": ["a"]}}, ["RR"])
    assert results.to_frame("pyarrow").to_pydict() == {
        "run": ["a", "a", "a", "b", "b", "b"],
        "query": ["q1", "q2", "q3"] * 2,
        "measure": ["RR"] * 6,
        "value": [0.75, 1, 0, 1, 0, 0],
    }
    assert results.to_frame("pyarrow", wide=True).column_names == ["run", "query", "RR"]


def test_notes_leave_out_ranges_that_four_digits_do_not_show():
    """A reciprocal rank of 1/200 or 1/201 is 0.0050 in either case."""
    deep = {"q": {f"x{i}": 2.0 - i / 1000 for i in range(199)} | {"a": 1.0, "b": 1.0}}
    results = gradely.evaluate_runs({"q": {"a": 1}}, {"run": deep}, ["RR"])
    assert results.notes == results.notes_at(4) == results.notes_at(9) == [] != results["run"].notes
    high = gradely.evaluate_runs({"q": {"a": 1}}, {"run": {"q": {"a": 1.0, "b": 1.0}}}, ["RR"])
    assert [note.kind for note in high.notes] == ["ties"]


@pytest.mark.parametrize(
    "evaluate",
    [
        gradely.evaluate,
        lambda qrels, run, *measures, **options: gradely.evaluate_runs(qrels, [run], *measures, **options),
    ],
)
def test_the_end_is_reported_once(tmp_path, evaluate):
    (tmp_path / "run").write_text("".join(f"q{i} Q0 d{j} 1 {-j} t\n" for i in range(50) for j in range(20)))
    told = []
    evaluate({"q1": {"d1": 1}}, tmp_path / "run", ["RR"], progress=lambda name, done: told.append((name, done)))
    assert told[-1] == ("run", 1.0) and all(0 <= done < 1 for _, done in told[:-1])
