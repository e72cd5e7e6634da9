"""F14: its tables, and what it claims, on its own numbers and on public runs."""

import csv
import shutil
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import gradely
from gradely.cli.main import run
from gradely.papers.ferrante2014 import incomplete, power
from gradely.papers.ferrante2014.curves import by_set, curve, early, printed_records, way
from gradely.papers.ferrante2014.limits import PRINTED, SHARES, approach, corners, limit, picked
from gradely.papers.ferrante2014.tables import same_runs_claims
from gradely.papers.ferrante2014.tau import grid, tau_table
from gradely.papers.judged_collections import Collection, collections, printed
from gradely.papers.library import Library
from tests.shared_data import DATA, needs


def one(name):
    (found,) = (each for each in collections(Library(DATA)) if each.name == name)
    return found


@pytest.mark.parametrize(("measure", "g", "grade", "theirs"), PRINTED)
def test_probabilities_are_the_papers(measure, g, grade, theirs):
    assert picked(measure, g, grade) == pytest.approx(float(theirs), abs=1e-15)


def test_limits_are_the_papers():
    """n documents of grade 1, then one of grade 2: GAP → 1, xGAP → 1 - g_2², eGAP → g_1."""
    for each in approach():
        assert each["value"] == pytest.approx(each["limit"], abs=10 / each["n"])
    assert {limit(name, 0.3) for name in ("GAP", "xGAP", "eGAP")} == {1.0, 1 - 0.3**2, 0.7}
    assert len(SHARES) * 3 * 6 == len(approach())


def test_corners_are_ap():
    assert corners(seed=5) < 1e-12


def test_the_grids_are_the_papers():
    for collection, levels in [("TREC 10, 2001, Web", 2), ("TREC 21, 2012, Web", 3)]:
        theirs = dict.fromkeys(row["g"] for row in printed("tau") if row["collection"] == collection)
        assert list(theirs) == [" ".join(map(str, g)) for g in grid(levels)]


def test_the_papers_own_tables_hold_its_claim():
    """GAP is halfway to AP at the smallest g_1 in all seven tables, xGAP and eGAP in none."""
    sets = by_set(printed_records())
    assert len(sets) == 7 and all(early(curve(some)) for some in sets.values())
    web = curve(sets["TREC 10, 2001, Web", "all"])
    assert way(web["GAP"]) == pytest.approx((0.84 - 0.69) / (1 - 0.69))


@needs("clef-ehealth-2015")
def test_the_claims_hold_on_clef_ehealth():
    sets = by_set(tau_table(one("clef-ehealth-2015"), lambda part: None))
    assert sets["clef-ehealth-2015", "few highly relevant"][0] | {"tau": None} == {
        "collection": "clef-ehealth-2015",
        "runs": 16,
        "topics": "few highly relevant",
        "of them": 9,
        "g": "0.0 1.0",
        "measure": "GAP",
        "reference": "GAP",
        "tau": None,
        "the paper": None,
    }
    for some in sets.values():
        curves = curve(some)
        assert early(curves)
        assert all(points[1.0] == pytest.approx(1) for points in curves.values())
        assert len({round(points[0.0], 9) for points in curves.values()}) == 1


@needs("trec-covid-round1")
def test_where_highly_relevant_documents_are_common_gap_is_no_closer_to_ap():
    """The claim differs: TREC-COVID has more documents of grade 2 than of grade 1."""
    curves = curve(by_set(tau_table(one("trec-covid-round1"), lambda part: None))["trec-covid-round1", "all"])
    assert not early(curves)
    assert way(curves["eGAP"]) < way(curves["xGAP"]) < way(curves["GAP"]) < 0.3


@needs("trec-web-2012")
@needs("trec-robust-2005")
def test_judgments_of_the_papers_collections_are_recognised_and_have_its_topics():
    found = {each.name: each.record() for each in collections(Library(DATA)) if each.printed}
    assert found["trec-robust-2005"]["few highly relevant"] == 6
    web = found["trec-web-2012"]
    assert (web["the paper's"], web["few highly relevant"], web["few key"], web["levels"]) == (
        "TREC 21, 2012, Web",
        10,
        7,
        3,
    )


@needs("trec-web-2012")
def test_a_folder_of_ones_own_is_a_collection_and_the_papers_numbers_stand_beside(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(incomplete, "DRAWS", 2)
    monkeypatch.setattr(incomplete, "RATES", (1.0, 0.5))
    monkeypatch.setattr(power, "RESAMPLES", 50)
    own, out = tmp_path / "mine", tmp_path / "out"
    shutil.copytree(DATA / "trec-web-2012", own)
    assert run(["papers", "run", "f14-tau", "f14-pools", "f14-power", "--data", str(own), "--out", str(out)]) == 0
    row = next(csv.DictReader((out / "f14-tau" / "tau.csv").read_text().splitlines()))
    assert [row[x] for x in ("collection", "GAP", "GAP, the paper", "AP, the paper")] == ["mine", "1.0", "1.0", "0.41"]
    assert {path.name for path in (out / "f14-pools").iterdir()} == {
        *("index.html", "claims.csv", "pools.csv", "pools.svg", "pools.png")
    }
    assert "f14-power: " in capfd.readouterr().out
    assert "f14-power/index.html" in (out / "index.html").read_text()


def test_without_a_collection_the_error_says_what_to_put_where(tmp_path):
    (tmp_path / "runs").mkdir()
    with pytest.raises(gradely.InputError, match=r"a folder of collections \(qrels\*, and 8 runs or more in runs\*/\)"):
        gradely.reproduce("f14-tau", tmp_path)


@needs("clef-ehealth-2015")
def test_xgap_and_egap_stand_up_to_smaller_pools_as_ap_does(monkeypatch):
    monkeypatch.setattr(incomplete, "DRAWS", 2)
    monkeypatch.setattr(incomplete, "RATES", (1.0, 0.5, 0.1))
    records = incomplete.shrunk(one("clef-ehealth-2015"), 0, lambda part: None)
    assert incomplete.robust(records, "clef-ehealth-2015").holds
    assert all(each["tau"] == pytest.approx(1) for each in records if each["rate"] == 1)
    taus = [[each["tau"] for each in records if each["rate"] == rate] for rate in (0.5, 0.1)]
    assert min(taus[0]) > 0.8 and all(few < half for half, few in zip(*taus, strict=True))
    assert incomplete.chart(records).to_dict()["spec"]["mark"]["type"] == "line"


@needs("clef-ehealth-2015")
def test_power_is_the_share_of_pairs_that_a_test_separates(monkeypatch):
    monkeypatch.setattr(power, "RESAMPLES", 100)
    clef = one("clef-ehealth-2015")
    found = power.tested(clef, 0, lambda part: None)
    first, second = (gradely.evaluate(clef.qrels, path, ["AP"]).values[:, 0] for path in clef.runs[:2])
    assert found["AP", "t"][0] == pytest.approx(stats.ttest_rel(first, second).pvalue)
    table = power.power("clef", found)
    assert [each["measure"] for each in table] == list(power.MEASURES)
    assert table[3]["t"] == np.mean(found["AP", "t"] < 0.05) > table[3]["tukey"] > 0
    curve = [each["p"] for each in power.levels("clef", found) if each["measure"] == "AP"]
    assert curve == sorted(curve, reverse=True) and curve[-1] == found["AP", "t"].min()


def test_with_as_many_runs_as_the_paper_has_its_table_is_compared_number_by_number():
    theirs = next(row for row in printed("collections") if row["collection"] == "TREC 10, 2001, Web")
    qrels = gradely.read_qrels({"q": {"d": 1}})
    full, part = (Collection("mine", qrels, [Path(f"{i}") for i in range(runs)], theirs) for runs in (95, 94))
    for off, holds in [(0.01, True), (0.05, False)]:
        records = [{"collection": "mine", "tau": 0.7 + off, "the paper": 0.7}] * 3
        (claim,) = same_runs_claims([full, part], records)
        assert claim.holds is holds and f"{off:.3f} away on average" in claim.ours
