"""Figures for papers: what they hold, in which formats, and what is refused."""

import sys
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import gradely
from gradely.cli.main import run as cli
from gradely.report.charts import KINDS
from tests.hostile import HOSTILE

RUNS = ["dense.run", "lexical.run", "popular.run"]
MAGIC = {"svg": b"<svg", "pdf": b"%PDF", "png": b"\x89PNG"}


pytestmark = pytest.mark.usefixtures("demo")


def rows_of(chart):
    """Return the rows of all data in a chart."""
    spec = chart.to_dict()
    parts = [spec, *spec.get("hconcat", []), *spec.get("layer", []), spec.get("spec", {})]
    return [row for part in parts for row in part.get("data", {}).get("values", [])]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", list(MAGIC))
def test_every_figure_in_every_format(demo, capfd, kind, form):
    path = demo / f"figure.{form}"
    assert cli(["plot", kind, "qrels.txt", *RUNS, "-m", "AP", "-m", "RR", "-o", str(path)]) == 0
    assert path.read_bytes().startswith(MAGIC[form])
    assert capfd.readouterr().out == f"{path}: {kind} of 3 runs\n"


@pytest.mark.parametrize("kind", KINDS)
def test_the_command_says_what_was_assumed_about_its_inputs(demo, capfd, kind):
    """A figure has no room for notes, and the command said nothing."""
    (demo / "relevant.csv").write_text("query,document\nq01,d001\nq02,d002\n")
    assert cli(["plot", kind, "relevant.csv", *RUNS[:2], "-m", "AP,RR", "-o", "figure.svg"]) == 0
    assert "relevant.csv has no label column: every row counts as relevant" in capfd.readouterr().err


def test_the_leaderboard_has_means_and_intervals():
    compared = gradely.compare("qrels.txt", RUNS, ["AP", "RR"])
    expected = {(row[0], row[1]): row[2:7] for row in compared.runs_table().rows}
    rows = rows_of(gradely.plot("leaderboard", "qrels.txt", RUNS, ["AP", "RR"]))
    assert len(rows) == 6
    for row in rows:
        numbers = [row[key] for key in ("mean", "low", "high", "worst", "best")]
        assert numbers == pytest.approx(expected[row["run"], row["measure"]])


def test_two_runs_have_differences_and_three_have_values():
    dense, lexical = (gradely.evaluate("qrels.txt", run, ["AP"]).per_query() for run in RUNS[:2])
    rows = rows_of(gradely.plot("queries", "qrels.txt", RUNS[:2], "AP"))
    differ = [lexical[row["query"]]["AP"] - dense[row["query"]]["AP"] for row in rows]
    assert [row["difference"] for row in rows] == pytest.approx(differ)
    assert differ == sorted(differ, reverse=True)
    assert all(
        row["better"] == ("lexical" if d > 0 else "dense") + " is better" for row, d in zip(rows, differ, strict=True)
    )
    rows = rows_of(gradely.plot("queries", "qrels.txt", RUNS, "AP"))
    assert {row["query"]: row["value"] for row in rows if row["run"] == "dense"} == {
        query: pytest.approx(row["AP"]) for query, row in dense.items()
    }


def test_curves_are_means_at_each_rank():
    rows = rows_of(gradely.plot("curves", "qrels.txt", RUNS, "AP"))
    row = next(row for row in rows if row["run"] == "dense" and row["rank"] == 5)
    means = gradely.evaluate("qrels.txt", "dense.run", ["P@5", "R@5", "nDCG@5"]).mean()
    assert [row["precision"], row["recall"], row["nDCG"]] == pytest.approx(list(means.values()))


def test_ties_have_all_orders():
    expected = gradely.tie_sensitivity("qrels.txt", RUNS, ["AP"])
    rows = rows_of(gradely.plot("ties", "qrels.txt", RUNS, ["AP"]))
    assert {row["run"]: [row[key] for key in ("trec", "worst", "expected", "best")] for row in rows} == {
        run.run: list(run.orders["AP"]) for run in expected.runs
    }


def test_many_runs_and_one_run():
    rng = np.random.default_rng(2)
    qrels = {f"q{i}": {f"d{j}": int(j < 3) for j in range(8)} for i in range(5)}
    runs = {f"r{s}": {q: {f"d{j}": float(rng.normal()) for j in range(8)} for q in qrels} for s in range(30)}
    for kind in KINDS:
        assert gradely.plot(kind, qrels, runs, ["AP", "RR"]).to_dict()
    for kind in KINDS[:4]:
        assert gradely.plot(kind, qrels, {"only": runs["r0"]}, ["AP"]).to_dict()


def test_hostile_names_stay_text(demo):
    qrels = {"q": {"a": 1}, "r": {"a": 1}}
    runs = {name: {"q": ["a", "b"][:: 1 - 2 * (i % 2)], "r": ["a"]} for i, name in enumerate(HOSTILE)}
    from gradely.comparison.charts import picture

    for kind in ("leaderboard", "queries", "curves", "ties"):
        root = ET.fromstring(picture(gradely.plot(kind, qrels, runs, ["AP"]), "svg"))
        assert not [node for node in root.iter() if node.tag.endswith(("script", "img", "iframe"))]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ties", "-o", "x.gif"], "x.gif: a figure must be an .svg, .pdf or .png file"),
        (["ties", "-o", "x.svg", "--ties", "trec"], "leave out --ties and --precision"),
        (["tau", "-o", "x.svg", "--queries", "both"], "leave out --queries"),
    ],
)
def test_what_makes_no_sense_is_refused(demo, fails, arguments, message):
    kind, *rest = arguments
    fails("plot", kind, "qrels.txt", *RUNS, *rest, says=message)


def test_an_unknown_figure_and_a_missing_library_are_named(monkeypatch):
    with pytest.raises(gradely.DataError, match=r"no figure 'curve': use one of .* Did you mean curves\?"):
        gradely.plot("curve", "qrels.txt", RUNS)
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(gradely.MissingExtra, match="Altair"):
        gradely.plot("queries", "qrels.txt", RUNS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_notebook_shows_a_figure_without_the_network(kind):
    bundle = gradely.plot(kind, "qrels.txt", RUNS, ["AP", "RR"])._repr_mimebundle_()
    assert set(bundle) == {"image/svg+xml", "text/plain"}
    assert ET.fromstring(bundle["image/svg+xml"]).tag.endswith("svg") and "http" not in bundle["text/plain"]
