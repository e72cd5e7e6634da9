"""Duplicate documents of a query, in qrels and runs."""

import pandas as pd
import pytest

import gradely
from gradely import DataError
from gradely.cli.main import run as cli
from tests.data.test_formats import file  # noqa: F401 - a fixture


@pytest.mark.parametrize(("duplicates", "rr"), [("max", 1.0), ("sum", 1.0), ("first", 0.5)])
def test_duplicates_of_runs(file, tmp_path, duplicates, rr, capfd):  # noqa: F811
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
