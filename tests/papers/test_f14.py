"""F14: its tables, and what it claims, on its own numbers and on public runs."""

import csv
import shutil
from functools import partial

import numpy as np
import pytest
from scipy import stats

import gradely
from gradely.cli.main import run
from gradely_papers import reproduce
from gradely_papers.experiment import Library
from gradely_papers.ferrante2014 import pools, power
from gradely_papers.ferrante2014.study import (
    Panel,
    above,
    draw_topics,
    judged_depths,
    read_printed,
    read_study,
    users,
)
from gradely_papers.ferrante2014.tau import (
    Curves,
    Evidence,
    chart,
    correlate_grid,
    describe,
    grid,
    printed_curves,
    same_numbers,
    table_1,
)
from gradely_papers.judged_collections import collections, stack_runs
from gradely_papers.progress import ignore
from gradely_papers.run_orders import signs, tau_of_signs
from tests.shared_data import DATA, needs


def one(name):
    (found,) = (each for each in collections(Library(DATA)) if each.name == name)
    return found


def test_tau_from_the_signs_of_all_pairs_is_scipys():
    x, y = np.random.default_rng(0).integers(0, 4, (2, 200, 4)).astype(float)  # some tie, and in some all do
    theirs = [stats.kendalltau(*pair).statistic for pair in zip(x, y, strict=True)]
    np.testing.assert_allclose(tau_of_signs(signs(x), signs(y)), theirs, atol=1e-12)


def test_the_grids_are_the_papers():
    for collection, levels in [("TREC 10, 2001, Web", 2), ("TREC 21, 2012, Web", 3)]:
        theirs = dict.fromkeys(row["g"] for row in read_printed("tau") if row["collection"] == collection)
        assert list(theirs) == [" ".join(map(str, g)) for g in grid(levels)]


def test_the_papers_own_tables_are_read_whole():
    curves = printed_curves()
    assert len(curves) == 7 and sum(len(each.records) for each in curves) == 1605
    web = next(each for each in curves if each.panel[:2] == ("TREC 10, 2001, Web", "few highly relevant"))
    assert web.at_smallest("AP") == {"GAP": 0.80, "xGAP": 0.48, "eGAP": 0.45}
    assert web.leads["AP"][0] == pytest.approx(0.80 - 0.48)


def test_topics_are_drawn_with_the_seed_and_the_first_is_what_there_is():
    weights = draw_topics(7, seed=3, draws=20)
    assert weights.shape == (21, 7) and weights.sum(axis=1) == pytest.approx(1)
    assert (weights[0] == 1 / 7).all() and (draw_topics(7, 3, 20) == weights).all()
    assert (draw_topics(7, 4, 20) != weights).any()


def test_judged_depth_is_where_the_first_gap_is():
    """Of a, b, x, c the first two are judged without a gap; x alone is not judged at all."""
    runs = {"one": {"q": ["a", "b", "x", "c"], "r": ["x"]}, "two": {"q": ["x", "a"], "r": ["d"]}}
    systems = stack_runs(
        gradely.read_qrels({"q": {"a": 1, "b": 0, "c": 2}, "r": {"d": 1}}), runs, gradely.Settings(), ignore
    )
    assert judged_depths(systems).tolist() == [2, 0, 0, 1]


@needs("clef-ehealth-2015")
def test_gap_is_ahead_on_clef_ehealth():
    study = read_study(one("clef-ehealth-2015"), lambda part: None)
    every, few = correlate_grid(study, seed=0)
    assert str(few.panel) == "clef-ehealth-2015, few highly relevant (9 topics, 16 runs)" and not few.panel.too_small
    assert few.lead().low > 0 and few.lead().value == pytest.approx(0.57, abs=0.005)
    assert few.lead().value > every.lead().value
    for curves in (every, few):
        lines = curves.with_reference("AP")
        assert all(points[1.0] == pytest.approx(1) for points in lines.values())
        assert len({round(points[0.0], 9) for points in lines.values()}) == 1
    assert chart([every, few]).to_dict()["spec"]["mark"]["type"] == "line"
    table = table_1([study.record()])
    assert table[0]["run length"] == 1000 and table[0]["runs above first quartile"] == 16 and len(table) == 4
    assert table[1]["pool depth, the paper"] == "100" and table[1]["run length, the paper"] == "1000"


@needs("trec-covid-round1")
def test_full_runs_are_preferred_to_cut_ones():
    (covid,) = (each for each in collections(Library(DATA)) if each.name == "trec-covid-round1")
    assert (covid.folder, len(covid.runs)) == ("runs-full", 23)
    assert "trec-covid-round1 (23 runs of runs-full)" in describe([covid], [])


@needs("trec-web-2012")
@needs("trec-robust-2005")
def test_judgments_of_the_papers_collections_are_recognised_and_have_its_topics():
    robust, web = (read_study(one(name), lambda part: None).record() for name in ("trec-robust-2005", "trec-web-2012"))
    assert robust["few highly relevant"] == 6 and robust["the paper's"] == "TREC 14, 2005, Robust"
    assert [web[x] for x in ("the paper's", "few highly relevant", "few key", "degrees")] == [
        "TREC 21, 2012, Web",
        10,
        7,
        4,
    ]


@needs("trec-web-2012")
def test_a_folder_of_ones_own_is_a_collection_and_the_papers_numbers_stand_beside(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(pools, "shrink", partial(pools.shrink, repeat=1))
    monkeypatch.setattr(power, "RESAMPLES", 50)
    own, out = tmp_path / "mine", tmp_path / "out"
    shutil.copytree(DATA / "trec-web-2012", own)
    assert run(["papers", "run", "f14-tau", "f14-pools", "f14-power", "--data", str(own), "--out", str(out)]) == 0
    row = next(csv.DictReader((out / "f14-tau" / "tau.csv").read_text().splitlines()))
    assert [row[x] for x in ("collection", "GAP", "GAP, the paper", "AP, the paper")] == ["mine", "1.0", "1.0", "0.41"]
    assert {path.name for path in (out / "f14-pools").iterdir()} == {
        *("index.html", "claims.csv", "observations.csv", "pools.csv"),
        *(f"{name}.{form}" for name in ("pools", "vanishing") for form in ("svg", "png")),
    }
    assert "f14-power: " in capfd.readouterr().out
    assert "f14-power/index.html" in (out / "index.html").read_text()


def test_without_a_collection_the_error_says_what_to_put_where(tmp_path):
    (tmp_path / "runs").mkdir()
    with pytest.raises(gradely.InputError, match=r"collections \(qrels\* .*, and at least 8 runs in runs\*/\)"):
        reproduce("f14-tau", tmp_path)
    (tmp_path / "qrels").write_text("q 0 d 1\n")
    (tmp_path / "runs" / "one").write_text("q Q0 d 1 1 one\n")
    with pytest.raises(gradely.InputError, match=f"{tmp_path.name} has 1 run and 1 level"):
        reproduce("f14-tau", tmp_path)


@needs("clef-ehealth-2015")
def test_smaller_pools_as_the_paper_draws_them(monkeypatch):
    """With its g, GAP loses its order of systems where highly relevant documents are few; readings matter."""
    monkeypatch.setattr(pools, "BOOTSTRAP", 10)
    study = read_study(one("clef-ehealth-2015"), lambda part: None)
    _, few = pools.shrink(study, 0, pools.AUTHORS, lambda part: None, repeat=2)
    _, free = pools.shrink(study, 0, pools.VANISH, lambda part: None, repeat=2)
    assert few.panel == free.panel and few.panel.topics == "few highly relevant"
    assert few.mean("GAP", pools.SHALLOW) + 0.2 < few.mean("xGAP", pools.SHALLOW)
    assert free.mean("xGAP", pools.SHALLOW) < few.mean("xGAP", pools.SHALLOW)
    full = [record for record in few.records() if record["rate"] == 1]
    assert all(record["tau"] == pytest.approx(1) for record in full) and len(full) == 7
    drawing = pools.chart(few.records()).to_dict()
    assert drawing["spec"]["mark"]["type"] == "line" and "y" not in drawing["resolve"].get("scale", {})
    theirs = gradely.pools(
        study.systems.qrels,
        study.collection.runs,
        {"GAP": "GAP(g=[0.1, 0.9])"}.values(),
        rates=[0.1],
        repeat=2,
        topics="few-high",
        min_quartile=True,
    )
    ours = few.tau[:, pools.RATES.index(0.1), pools.MEASURES.index("GAP")]
    assert theirs.tau[:, 0, 0] == pytest.approx(ours)


@pytest.mark.parametrize(("levels", "g"), [((1, 2), (0.1, 0.9)), ((1, 2, 3), (0.2, 0.2, 0.6))])
def test_g_is_the_papers(levels, g):
    assert users(np.array(levels, float)) == dict(zip(levels, g, strict=True))


@needs("clef-ehealth-2015")
def test_power_is_the_share_of_pairs_that_a_test_separates(monkeypatch):
    monkeypatch.setattr(power, "RESAMPLES", 100)
    clef = one("clef-ehealth-2015")
    title, found = power.compute_p_values(clef, lambda part: None, seed=0)
    assert title == "clef-ehealth-2015, all (66 topics, 16 runs)" and len(found["AP", "t"]) == 16 * 15 // 2
    study = read_study(clef, lambda part: None)
    first, second = study.systems.values({"AP": gradely.AP()})[study.good][:2, :, 0]
    assert found["AP", "t"][0] == pytest.approx(stats.ttest_rel(first, second).pvalue)
    table = {each["measure"]: each for each in power.power("clef", found)}
    assert list(table) == list(power.MEASURES) and table["xGAP"]["t"] != table["xGAP, small g_1"]["t"]
    assert table["AP"]["t"] == np.mean(found["AP", "t"] < 0.05) > table["AP"]["tukey"] > 0
    curve = [each["p"] for each in power.levels("clef", found) if each["measure"] == "AP"]
    assert curve == sorted(curve, reverse=True) and curve[-1] == found["AP", "t"].min()


@pytest.mark.parametrize(("off", "word"), [(0.01, "holds"), (0.05, "differs")])
def test_with_as_many_runs_as_the_paper_has_its_table_is_compared_number_by_number(off, word):
    rows = [{"the paper's": "TREC 10, 2001, Web", "collection": "mine", "runs": runs} for runs in (95, 94)]
    records = [{"tau": 0.7 + off, "the paper": 0.7}] * 3
    curves = [Curves(Panel("mine", "all", 50, 71), records, {})]
    same, fewer = (same_numbers.test(Evidence([row], curves))[0] for row in rows)
    assert same.word == word and f"{off:.3f} away on average" in same.here
    assert fewer.word == "cannot be tested" and "94 runs are here" in fewer.here


def test_where_all_runs_tie_in_a_smaller_pool_the_table_has_no_number():
    tau = np.full((2, len(pools.RATES), len(pools.MEASURES)), 0.5)
    tau[1, -1, 0] = np.nan
    panel = Panel("here", "all", 9, 7)
    records = pools.Robustness(panel, pools.AUTHORS, tau, {}).records()
    assert [(r["tau"], r["low"], r["high"]) for r in records].count((None, None, None)) == 1
    assert sum(r["tau"] == 0.5 for r in records) == len(records) - 1


@pytest.mark.parametrize(("runs", "left"), [(95, 71), (74, 55), (27, 20)])
def test_as_many_runs_lie_above_the_first_quartile_as_table_1_has(runs, left):
    assert above(runs) == left
