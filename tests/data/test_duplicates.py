"""Duplicate documents of a query, in qrels and runs."""

import numpy as np
import pandas as pd
import pytest

import gradely
from gradely import DataError
from gradely.cli.main import run as cli


@pytest.mark.parametrize(("duplicates", "rr"), [("max", 1.0), ("sum", 1.0), ("first", 0.5)])
def test_duplicates_of_runs(file, tmp_path, duplicates, rr, capfd):
    passages = [("q1", "d1", 0.1), ("q1", "x", 0.5), ("q1", "d1", 0.9)]
    table = pd.DataFrame(passages, columns=["qid", "docno", "score"])
    table.to_csv(tmp_path / "run.csv", index=False)
    trec = file("run.txt", "".join(f"{query} Q0 {doc} 1 {score} t\n" for query, doc, score in passages))
    pairs = {"q1": [("d1", 0.1), ("x", 0.5), ("d1", 0.9)]}
    qrels = {"q1": {"d1": 1}}
    for run in (table, tmp_path / "run.csv", trec, pairs, table.to_dict("records")):
        with pytest.raises(DataError, match=r"duplicates='max', 'sum' or 'first' \(--duplicates max\)"):
            gradely.evaluate(qrels, run, ["RR"])
        assert gradely.evaluate(qrels, run, ["RR"], duplicates=duplicates)["RR"] == rr
        assert gradely.Evaluator(qrels, ["RR"], duplicates=duplicates)(run)["RR"] == rr
        runs = gradely.evaluate_runs(qrels, {"a": run}, ["RR"], duplicates=duplicates)
        assert runs["a"]["RR"] == rr
        assert gradely.explain(qrels, run, "q1", "RR", duplicates=duplicates).value == rr
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\n")
    for run in (trec, tmp_path / "run.csv"):
        arguments = [str(tmp_path / "qrels.txt"), str(run), "-m", "RR", "--format", "csv"]
        assert cli(["evaluate", *arguments]) == 2
        assert cli(["evaluate", *arguments, "--duplicates", duplicates]) == 0
        assert capfd.readouterr().out.splitlines()[1] == f"run,{rr}"


def test_duplicates_of_ranked_lists_keep_the_best_place():
    run = {"q": ["d1", "x", "d1", "y"]}
    with pytest.raises(DataError, match="duplicate document 'd1'; keep one"):
        gradely.evaluate({"q": {"x": 1}}, run)
    for duplicates in ("max", "first"):
        assert gradely.read_run(run, duplicates=duplicates).scores["q"] == {"d1": 4, "x": 3, "y": 1}


@pytest.mark.parametrize(("together", "in_memory"), [(True, 1000), (False, 1000), (False, 40)])
@pytest.mark.parametrize("duplicates", ["max", "sum", "first"])
def test_duplicates_are_merged_in_pieces_as_they_are_as_a_whole(tmp_path, monkeypatch, duplicates, together, in_memory):
    """Rows of scattered queries are sorted by query, in memory or in a temporary file."""
    monkeypatch.setattr("gradely.data.spool.NAMES_IN_MEMORY", in_memory)
    rng = np.random.default_rng(3)
    rows = [(f"q{q}", f"d{d}", float(s)) for q in range(40) for d, s in rng.integers(0, 9, (rng.integers(1, 20), 2))]
    rows = rows if together else [rows[i] for i in rng.permutation(len(rows))]
    qrels = {f"q{q}": {f"d{d}": int(label) for d, label in enumerate(rng.integers(0, 3, 6))} for q in range(0, 40, 3)}
    table = pd.DataFrame(rows, columns=["qid", "docno", "score"])
    table.to_csv(tmp_path / "run.csv", index=False)
    table.to_parquet(tmp_path / "run.parquet")
    (tmp_path / "run.txt").write_text("".join(f"{query} Q0 {doc} 1 {score} t\n" for query, doc, score in rows))
    merged = {}
    for query, doc, score in rows:
        docs = merged.setdefault(query, {})
        best = {
            "max": max(docs.get(doc, score), score),
            "sum": docs.get(doc, 0.0) + score,
            "first": docs.get(doc, score),
        }
        docs[doc] = best[duplicates]
    count = len(rows) - sum(map(len, merged.values()))
    monkeypatch.setattr("gradely.data.source.SMALL", -1)
    monkeypatch.setattr("gradely.data.read.pieces.PIECE", 300)
    for module in ("table", "read.frames"):
        monkeypatch.setattr(f"gradely.data.{module}.ROWS", 25)
    for ties in ("expected", "trec", "order", "random"):
        expected = gradely.evaluate(qrels, merged, ["nDCG", "RR", "P@5"], ties=ties)
        for run in (table, *sorted(tmp_path.iterdir())):
            scores = gradely.evaluate(qrels, run, ["nDCG", "RR", "P@5"], ties=ties, duplicates=duplicates)
            assert scores.per_query() == expected.per_query(), (ties, run)
            assert [f"{count:,} duplicate documents were merged" in note.text for note in scores.notes].count(True) == 1
