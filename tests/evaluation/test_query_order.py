"""gradely evaluate -q with --sort, --worst, --best and --baseline."""

import csv
import io
import json

import pytest

import gradely
from gradely.cli.main import run as cli

MEASURES = ["-m", "nDCG@10", "-m", "AP"]


FILES = ["qrels.txt", "dense.run", "lexical.run"]


def rows_of(capfd, *arguments):
    assert cli(["evaluate", *arguments, "--format", "csv"]) == 0
    return list(csv.DictReader(io.StringIO(capfd.readouterr().out)))


def values(run, measure):
    return {q: row[measure] for q, row in gradely.evaluate("qrels.txt", f"{run}.run", [measure]).per_query().items()}


@pytest.mark.parametrize(("option", "sign"), [("--worst", 1), ("--best", -1)])
@pytest.mark.parametrize("measure", ["nDCG@10", "AP"])
def test_the_worst_and_the_best_queries(demo, capfd, option, sign, measure):
    rows = rows_of(capfd, *FILES, *MEASURES, "-q", "--sort", measure, option, "5")
    for run in ("dense", "lexical"):
        known = values(run, measure)
        expected = sorted(known, key=lambda query: (sign * known[query], query))[:5]
        assert [row["query"] for row in rows if row["run"] == run] == expected


def test_the_notes_are_those_of_the_means(demo):
    """A table of queries said nothing about unjudged documents."""
    scores = gradely.evaluate_runs("qrels.txt", ["dense.run", "lexical.run"], ["nDCG@10"])
    for result in (scores, scores["dense"]):
        assert [str(note) for note in result.by_query(worst=1).notes] == [str(note) for note in result.notes]
        assert "unjudged" in str(result.by_query(worst=1).notes[-1])


def test_without_a_number_all_queries_are_sorted_by_the_first_measure(demo, capfd):
    rows = rows_of(capfd, *FILES[:2], *MEASURES, "--sort", "ndcg_cut_10")
    known = values("dense", "nDCG@10")
    assert [row["query"] for row in rows] == sorted(known, key=lambda query: (known[query], query))


def test_the_largest_losses_against_a_baseline(demo, capfd):
    rows = rows_of(capfd, *FILES, *MEASURES, "--baseline", "lexical.run", "--worst", "4")
    dense, lexical = values("dense", "nDCG@10"), values("lexical", "nDCG@10")
    losses = {query: dense[query] - lexical[query] for query in dense}
    expected = sorted(losses, key=lambda query: (losses[query], query))[:4]
    assert [(row["run"], row["query"]) for row in rows] == [("dense", query) for query in expected]
    assert [float(row["nDCG@10 against lexical"]) for row in rows] == [losses[query] for query in expected]
    assert cli(["evaluate", *FILES, *MEASURES, "--baseline", "lexical", "--best", "1", "--format", "json"]) == 0
    (run,) = json.loads(capfd.readouterr().out)["runs"]
    best = max(losses, key=lambda query: losses[query])
    assert {query: row["difference"] for query, row in run["queries"].items()} == {best: losses[best]}


def test_a_query_that_the_baseline_lacks_comes_last(tmp_path, capfd):
    (tmp_path / "qrels").write_text("a 0 d 1\nb 0 d 1\n")
    (tmp_path / "one.run").write_text("a Q0 d 1 1 x\nb Q0 d 1 1 x\n")
    (tmp_path / "two.run").write_text("b Q0 d 1 1 x\n")
    names = [str(tmp_path / name) for name in ("qrels", "one.run", "two.run")]
    rows = rows_of(capfd, *names, "-m", "AP", "--queries", "both", "--baseline", "two")
    assert [(row["query"], row["AP against two"]) for row in rows] == [("b", "0.0"), ("a", "")]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--worst", "2", "--best", "2"], "show the worst or the best queries, not both"),
        (["--sort", "RR"], "sort queries by one of the measures that are shown: nDCG@10, AP"),
        (["--baseline", "lexica"], "no run 'lexica' to use as the baseline. Did you mean lexical?"),
        (["--baseline", "c.run"], "no run 'c' to use as the baseline. Use one of the runs: dense, lexical"),
        (["--worst", "0"], "0 is not in the range x>=1"),
    ],
)
def test_what_makes_no_sense_is_refused(demo, capfd, arguments, message):
    assert cli(["evaluate", *FILES, *MEASURES, *arguments]) == 2
    error = capfd.readouterr().err
    assert message in error and error.count("\n") == 1


@pytest.mark.parametrize("number", [{"worst": 0}, {"worst": -1}, {"best": -1}])
def test_fewer_queries_than_one_are_refused(number):
    """The best query was missing with worst=-1."""
    with pytest.raises(gradely.DataError, match=r"the number of queries to show must be at least 1; found (0|-1)"):
        gradely.evaluate({"q": {"a": 1}}, {"q": ["a"]}, ["RR"]).by_query(**number)


def test_one_run_cannot_be_its_own_baseline(demo, capfd):
    assert cli(["evaluate", *FILES[:2], "--baseline", "dense"]) == 2
    assert "give another run" in capfd.readouterr().err


def test_means_alone_make_no_row_per_query(demo, capfd, monkeypatch):
    """Rows of a million queries, which nobody had asked for, took 300 MB and a third of the time."""
    monkeypatch.setattr(gradely.Scores, "rows", lambda _: pytest.fail("rows were made"))
    for form in ("json", "csv", "table", "markdown"):
        assert cli(["evaluate", *FILES, *MEASURES, "--format", form]) == 0
    assert "dense" in capfd.readouterr().out
