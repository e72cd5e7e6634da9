"""Comparing systems, in Python and on the command line."""

import csv
import io
import json

import numpy as np
import pytest
from scipy import stats

import gradely
from gradely import DataError
from gradely.cli.main import run as cli
from gradely.tables import MarkedNumber, Table, render
from tests.shared_data import DATA, needs, runs

RUNS = {name: f"{name}.run" for name in ("popular", "dense", "lexical")}
FILES = ["qrels.txt", *RUNS.values()]


@pytest.fixture
def compared(demo):
    return gradely.compare("qrels.txt", RUNS, ["nDCG@10", "AP"])


def said(capfd, *arguments, code=0):
    """Run a command; return what it printed to standard output and to standard error."""
    assert cli(list(arguments)) == code
    return capfd.readouterr()


def test_means_are_those_of_evaluate_best_first(compared):
    means = {name: gradely.evaluate("qrels.txt", path, ["nDCG@10", "AP"]).mean() for name, path in RUNS.items()}
    assert compared.mean() == means
    assert list(compared.mean()) == sorted(means, key=lambda name: -means[name]["nDCG@10"])


def test_pairs_hold_what_scipy_says(compared):
    values = {
        name: np.array([row["AP"] for row in gradely.evaluate("qrels.txt", path, ["AP"]).per_query().values()])
        for name, path in RUNS.items()
    }
    (pair,) = (each for each in compared.pairs if each[:3] == ("AP", "lexical", "dense"))
    differ = values["lexical"] - values["dense"]
    assert pair.difference == pytest.approx(differ.mean())
    assert pair.p == pytest.approx(stats.ttest_rel(values["lexical"], values["dense"]).pvalue)
    assert pair.effect == pytest.approx(differ.mean() / differ.std(ddof=1))
    assert (pair.wins, pair.ties, pair.losses) == (np.sum(differ > 0), np.sum(differ == 0), np.sum(differ < 0))
    assert pair.low < pair.difference < pair.high


def test_the_family_is_each_measure_or_all_that_is_printed(demo, compared):
    least = min(compared.pairs, key=lambda pair: pair.p)
    assert least.adjusted == pytest.approx(3 * least.p)
    assert "Holm correction over the 3 tests of each measure (all pairs)" in compared.caption()
    every = gradely.compare("qrels.txt", RUNS, ["nDCG@10", "AP"], family="all")
    assert min(every.pairs, key=lambda pair: pair.p).adjusted == pytest.approx(6 * least.p)
    assert "Holm correction over all 6 tests (all pairs: 3; measures: 2)" in every.caption()


@pytest.mark.parametrize("test", ["tukey", "max-t"])
def test_tests_that_hold_at_once_have_families_too(demo, test):
    alone, every = (gradely.compare("qrels.txt", RUNS, ["AP", "R@10"], test=test, family=f) for f in ("measure", "all"))
    assert "each measure (all pairs) at once" in alone.caption() or "all pairs of the 3 runs at once" in alone.caption()
    assert "all 6 tests" in every.caption() or "all pairs of the 3 runs and all measures at once" in every.caption()
    assert sum(pair.p for pair in every.pairs) > sum(pair.p for pair in alone.pairs)
    assert [pair.p for pair in every.pairs] == [pair.adjusted for pair in every.pairs]


def test_a_baseline_is_charged_for_its_own_pairs(demo):
    tukey = gradely.compare("qrels.txt", RUNS, ["AP"], baseline="dense", test="tukey")
    assert any("max-t corrects only for these" in str(note) for note in tukey.notes)
    against = gradely.compare("qrels.txt", RUNS, ["AP"], baseline="dense", test="max-t")
    assert "holds for the 2 tests of each measure (against dense) at once" in against.caption()
    assert not any("max-t" in str(note) for note in against.notes)


def test_the_order_of_runs_does_not_matter(demo, compared):
    other = gradely.compare("qrels.txt", dict(reversed(RUNS.items())), ["nDCG@10", "AP"])
    assert other.pairs == compared.pairs
    assert repr(other) == repr(compared)


def test_baselines(demo):
    found = gradely.compare("qrels.txt", RUNS, ["AP"], baseline="popular")
    assert [(pair.first, pair.second) for pair in found.pairs] == [("lexical", "popular"), ("dense", "popular")]
    assert found.letters == {"popular": "a"}
    two = gradely.compare("qrels.txt", RUNS, ["AP"], baseline=["popular", "dense"])
    assert len(two.pairs) == 3
    with pytest.raises(DataError, match="Did you mean popular"):
        gradely.compare("qrels.txt", RUNS, ["AP"], baseline="populer")
    with pytest.raises(DataError, match=r"no run 'zzz' to use as the baseline\. Use one of the runs: \w+, \w+"):
        gradely.compare("qrels.txt", RUNS, ["AP"], baseline="zzz")


def test_the_table_marks_the_best_and_those_it_beats(compared):
    table = compared.table()
    assert table.header == ["", "run", "nDCG@10", "AP"]
    assert table.rows[0][:2] == ["a", "lexical"]
    assert (table.rows[0][3].best, table.rows[0][3].marks) == (True, "c")
    assert (table.rows[2][3].best, table.rows[2][3].marks) == (False, "")


def test_many_runs_are_marked_with_numbers():
    qrels = {f"q{i}": {"d": 1} for i in range(12)}
    place = lambda n, i: {f"x{k}": 9.0 - k for k in range(n + (i % 2))} | {"d": 0.0}
    several = {f"r{n:02d}": {f"q{i}": place(n, i) for i in range(12)} for n in range(30)}
    found = gradely.compare(qrels, several, ["RR"])
    assert found.letters == {}
    assert found.table().rows[0][1].marks == "29"
    assert "how many other runs" in found.legend()


def test_formats_of_marked_numbers():
    table = Table(
        ["run", "AP"], [["a_1", MarkedNumber(0.5, best=True, marks="bc")], ["b", MarkedNumber(0.25)]], digits=2
    )
    assert render(table, "table").splitlines()[2:] == ["a_1  0.50ᵇᶜ", "b    0.25"]
    assert "\x1b[1m0.50ᵇᶜ\x1b[0m" in render(table._replace(bold=True), "table")
    assert "| a_1 | **0.50**<sup>bc</sup> |" in render(table, "markdown")
    assert r"a\_1 & \textbf{0.50}$^{bc}$ \\" in render(table, "latex")
    assert render(table, "csv") == "run,AP\na_1,0.5\nb,0.25\n"


def test_progress_tells_each_run_once_that_it_is_done(demo):
    told = []
    found = gradely.compare("qrels.txt", RUNS, ["AP"], progress=lambda name, done: told.append((name, done)))
    assert sorted(name for name, done in told if done == 1) == sorted(RUNS)
    assert all(0 <= done <= 1 for _, done in told)
    told.clear()
    found.to_html(progress=lambda name, done: told.append((name, done)))
    assert sorted(told) == sorted((name, 1.0) for name in RUNS)


def test_frames(compared):
    frame = compared.to_frame("polars")
    assert frame.columns == ["run", "measure", "mean", "low", "high", "worst", "best", "better_than"]
    assert len(frame) == 6 and (frame["low"] < frame["mean"]).all() and (frame["mean"] < frame["high"]).all()
    pairs = compared.pairs_frame("pandas")
    assert len(pairs) == 6 and pairs["significant"].dtype == bool


def test_power_and_levels(compared):
    assert compared.power() == {"nDCG@10": 2 / 3, "AP": 2 / 3}
    assert compared.levels()["AP"] == sorted((pair.p for pair in compared.pairs if pair.measure == "AP"), reverse=True)


@pytest.mark.parametrize("queries", ["both", "run"])
def test_queries_that_do_not_count_for_all_are_left_out_and_noted(demo, queries):
    found = gradely.compare("qrels.txt", RUNS, ["AP"], queries=queries)
    assert len(found.board.queries) == 22
    mean = lambda ties: np.mean(
        [
            gradely.evaluate("qrels.txt", "lexical.run", ["AP"], ties=ties).per_query()[q]["AP"]
            for q in found.board.queries
        ]
    )
    (row,) = (row for row in found.runs_table().rows if row[0] == "lexical")
    assert row[2] == pytest.approx(mean("expected"))
    assert row[5:7] == [pytest.approx(mean("worst")), pytest.approx(mean("best"))]
    assert f"{mean('worst'):.4f} to {mean('best'):.4f}" in found.to_html()
    assert "2 of 24 queries do not count for every run and are left out: q23, q24" in [str(n) for n in found.notes]


def test_too_few_draws_for_so_many_tests_are_noted(demo):
    found = gradely.compare("qrels.txt", RUNS, ["AP"], test="randomization", resamples=50)
    assert any("once corrected over 3 tests" in str(note) for note in found.notes)
    assert not any(pair.significant for pair in found.pairs)
    enough = gradely.compare("qrels.txt", RUNS, ["AP"], test="randomization")
    assert not any("corrected" in str(note) for note in enough.notes)


def test_runs_without_a_query_in_common():
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    with pytest.raises(DataError, match="no query in common"):
        gradely.compare(qrels, {"x": {"q1": ["a"]}, "y": {"q2": ["a"]}}, ["AP"], queries="both").mean()


def test_names_of_any_type_are_text(demo):
    found = gradely.compare("qrels.txt", {1: "dense.run", 2: "lexical.run"}, ["AP"], baseline="2")
    assert found.pairs[0][1:3] == ("1", "2")
    assert "<bdi>1</bdi>" in found.to_html()


def test_one_run_or_one_topic_is_not_tested(demo):
    alone = gradely.compare("qrels.txt", {"dense": "dense.run"}, ["AP"])
    assert alone.pairs == [] and alone.power() == {"AP": 0.0}
    assert any("nothing is tested" in str(note) for note in alone.notes)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"test": "z"}, "no test 'z'"),
        ({"correction": "holmes"}, "Did you mean holm"),
        ({"test": "tukey", "correction": "holm"}, "tukey holds for its whole family"),
        ({"test": "max-t", "correction": "bh"}, "max-t holds for its whole family"),
        ({"family": "measures"}, "Did you mean measure"),
        ({"rope": 0.0}, "equivalence margin"),
        ({"rope": float("nan")}, "equivalence margin"),
        (
            {"rope": 5},
            r"AP of two runs cannot differ by more than 1, so all runs are equivalent .* give 0.05 for 5 points",
        ),
        ({"alpha": 1.5}, "between 0 and 1"),
        ({"resamples": 0}, "at least 1"),
        ({"ties": "never"}, "no tie policy"),
    ],
)
def test_wrong_designs(demo, options, message):
    with pytest.raises(DataError, match=message):
        gradely.compare("qrels.txt", RUNS, ["AP"], **options)


@pytest.mark.parametrize("given", [[], {}, "runs", [{"q": ["d"]}]])
def test_runs_need_names(given):
    with pytest.raises(DataError, match="give the runs by name"):
        gradely.compare({"q": {"d": 1}}, given)


def test_the_command_prints_table_marks_and_what_is_needed_to_do_it_again(demo, capfd):
    text = said(capfd, "compare", *FILES, "-m", "AP", "--test", "tukey", "--seed", "4").out
    assert "a  lexical  0.5275ᶜ" in text and "\x1b" not in text
    assert text.startswith("By AP, lexical and dense cannot be told apart (corrected p .87, corrected 95 % interval ")
    assert "Test: randomised Tukey HSD, blocked by query, 10,000 resamples, α = 0.05; it holds for all pairs" in text
    assert "Random seed: 4. Data: 24 queries, ties: expected, queries: qrels, double precision." in text
    assert "popular: 2 of 24 judged queries are not in the run and count as 0: q23, q24" in text


@pytest.mark.parametrize("form", ["markdown", "latex"])
def test_formats_for_papers_say_how_it_was_tested(demo, capfd, form):
    text = said(capfd, "compare", *FILES, "-m", "AP", "--format", form, "--baseline", "popular.run").out
    assert "Holm correction over the 2 tests of each measure (against popular)" in text
    assert {"markdown": "**0.5275**<sup>a</sup>", "latex": r"\textbf{0.5275}$^{a}$"}[form] in text


def test_csv_and_json_have_all_digits(demo, capfd, compared):
    out, err = said(capfd, "compare", *FILES, "-m", "nDCG@10", "-m", "AP", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert float(rows[0]["mean"]) == compared.mean()["lexical"]["nDCG@10"]
    assert "paired t-test" in err and "Raised letters" not in err
    pairs = list(
        csv.DictReader(io.StringIO(said(capfd, "compare", *FILES, "-m", "AP", "--pairs", "--format", "csv").out))
    )
    assert [row["significant"] for row in pairs] == ["no", "yes", "yes"]
    found = json.loads(said(capfd, "compare", *FILES, "-m", "nDCG@10", "-m", "AP", "--format", "json").out)
    assert [tuple(pair.values()) for pair in found["pairs"]] == [pair[:13] for pair in compared.pairs]
    assert found["discriminative_power"] == compared.power()
    assert found["design"]["test"] == "t" and found["design"]["count"] == 24
    assert found["summary"] == compared.summary() and list(found["answers"]) == ["nDCG@10", "AP"]


def test_a_difference_without_spread_is_valid_json(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q").write_text("1 0 d 1\n2 0 d 1\n")
    (tmp_path / "a").write_text("1 Q0 d 1 1 t\n2 Q0 d 1 1 t\n")
    (tmp_path / "b").write_text("1 Q0 x 1 1 t\n2 Q0 x 1 1 t\n")
    found = json.loads(said(capfd, "compare", "q", "a", "b", "-m", "RR", "--format", "json").out)
    (pair,) = found["pairs"]
    assert (pair["effect"], pair["low"], pair["high"], pair["p"]) == (None, None, None, 2 / 2**2)
    assert any("p comes from the exact randomization test" in note["text"] for note in found["notes"])


def test_one_query_is_not_tested_and_has_no_interval(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q").write_text("1 0 d 1\n")
    (tmp_path / "a").write_text("1 Q0 d 1 1 t\n")
    (tmp_path / "b").write_text("1 Q0 x 1 1 t\n")
    text = said(capfd, "compare", "q", "a", "b", "-m", "RR").out
    assert text.startswith("By RR, a has the highest mean, but nothing is tested: there is only one query")
    assert text.count("ested") == 1 and "paired t-test" not in text and "power" not in text and "Raised" not in text
    for more in ([], ["--pairs"]):  # a table for programs has no first line: there a note says it
        assert said(capfd, "compare", "q", "a", "b", "-m", "RR", "--format", "csv", *more).err.count("ested") == 1
    rows = list(csv.DictReader(io.StringIO(said(capfd, "compare", "q", "a", "b", "-m", "RR", "--format", "csv").out)))
    assert [(row["mean"], row["low"], row["high"]) for row in rows] == [("1.0", "", ""), ("0.0", "", "")]
    assert "[1.0000" not in gradely.compare("q", {"a": "a", "b": "b"}, ["RR"]).to_html()
    found = json.loads(said(capfd, "compare", "q", "a", "b", "-m", "RR", "--format", "json", "--influence").out)
    assert found["runs"][0]["low"] is None and found["pairs"] == [] == found["influence"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compare", "qrels.txt", "dense.run"], "at least two runs"),
        (["compare", *FILES, "--baseline", "bm25"], "no run 'bm25'"),
        (["compare", *FILES, "--alpha", "7"], "alpha"),
        (["compare", *FILES, "--report", "nowhere/page.html"], "there is no folder nowhere"),
        (["ties", "qrels.txt"], "name a run"),
        (["report", "qrels.txt", "dense.run"], "--output"),
        (["report", "qrels.txt", "dense.run", "-o", "-"], "a page must be written to a file"),
        (["report", "qrels.txt", "none.run", "-o", "page.html"], "none.run"),
    ],
)
def test_wrong_calls_end_with_one_line_and_write_nothing(demo, fails, arguments, message):
    fails(*arguments, says=message)


@needs("trec-covid-round1")
def test_trec_covid_143_runs():
    folder = DATA / "trec-covid-round1"
    found = gradely.compare(folder / "qrels.covid-round1.txt.gz", runs("trec-covid-round1/runs-top100"), ["nDCG@10"])
    assert len(found.pairwise.pairs) == 143 * 142 / 2
    assert 0.5 < found.power()["nDCG@10"] < 0.9
    assert found.table().rows[0][1].best


def test_details_are_gathered_only_where_asked_for(demo):
    usual, asked = (gradely.compare("qrels.txt", RUNS, ["AP"], **details) for details in ({}, {"details": True}))
    gathered = [{e.details is not None for e in found.board.evaluations.values()} for found in (usual, asked)]
    assert gathered == [{False}, {True}]


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        (["a", "u"], "0.0 % (pooled) to 50.0 % (new) of the documents in the top 10 are unjudged"),
        (["a", "b"], None),
    ],
)
def test_the_note_on_unjudged_documents_names_the_extreme_runs(others, expected):
    qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(4)}
    runs = {"new": dict.fromkeys(qrels, others), "pooled": {query: ["b", "a"] for query in qrels}}
    assert unjudged_of(gradely.compare(qrels, runs, ["nDCG@10"])) == expected
    assert unjudged_of(gradely.compare({query: ["a"] for query in qrels}, runs, ["nDCG@10"])) is None


def test_the_note_on_unjudged_documents_of_runs_with_the_same_share_names_none():
    qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(4)}
    runs = {"x": {query: ["a", "u"] for query in qrels}, "y": {query: ["v", "a"] for query in qrels}}
    compared = gradely.compare(qrels, runs, ["nDCG@10"])
    assert unjudged_of(compared) == "50.0 % of the documents in the top 10 of each run are unjudged"
    (note,) = [note for note in compared.notes if note.kind == "holes"]
    assert (note.count, note.of) == (8, 16)
    assert "of each run" not in str(gradely.compare(qrels, runs, ["nDCG@10"], holes=True))


def unjudged_of(compared):
    notes = [str(note).split(" and count")[0] for note in compared.notes if note.kind == "holes"]
    return notes[0] if notes else None
