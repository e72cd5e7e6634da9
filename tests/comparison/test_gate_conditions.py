"""Floors, non-inferiority, JUnit, and gates on suites."""

import json
import os
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import gradely
from gradely.cli.main import run as cli
from gradely.comparison.verdicts import Case, Floor, show_against
from tests.comparison.test_suite import SUITE, differences, iterate, ranked, write

QRELS = {f"q{i}": {"d": 1} for i in range(12)}
FIRST, LOWER, ONCE = (ranked(places) for places in ([1] * 12, [2] * 11 + [3], [1] * 11 + [4]))


@pytest.mark.parametrize(
    ("floors", "below"),
    [
        ({"RR": 0.9375}, []),  # (11 + 1/4) / 12 exactly
        ({"RR": 0.93751}, ["RR"]),
        ({"RR": 0.5, "R@3": 0.95}, ["R@3"]),
        ({"mrr": 0.95, "recall_3": 0.95}, ["RR", "R@3"]),
    ],
)
def test_a_floor_is_held_against_the_mean(floors, below):
    made = gradely.gate(QRELS, ONCE, floors=floors)
    assert [floor.measure for floor in made.floors if floor.failed] == below
    assert (made.passed, bool(made), made.verdict) == (not below, not below, "untested")
    assert ("is below its floor" in made.summary()) == bool(below)
    assert json.loads(made.to_json())["floors"][0]["failed"] == made.floors[0].failed


def test_a_floor_fails_a_run_that_is_better_than_its_baseline_and_is_measured_besides():
    made = gradely.gate(QRELS, ONCE, LOWER, ["RR"], floors={"P@1": 0.95})
    assert not made and made.changes[0].verdict == "not worse" and not made.changes[0].failed
    assert [change.measure for change in made.changes] == ["RR"]  # what has a floor alone is not compared
    assert made.floors == [("P@1", 11 / 12, 0.95, True)] and made.saved.measures == ["RR"]
    text = "Failed: run (new) is shown not to be worse than run (old) by more than allowed"
    assert made.summary().startswith(text) and "below its floor: P@1 0.9167, the floor is 0.95." in made.summary()
    assert gradely.gate(QRELS, ONCE, LOWER, ["RR"], floors={"P@1": 0.9})


@pytest.mark.parametrize(
    ("new", "margin", "verdict", "passed"),
    [
        (FIRST, 0.01, "same", True),
        (LOWER, 0.6, "not worse", True),
        (LOWER, 0.51, "undecided", False),
        (LOWER, 0.1, "worse", False),
        (ONCE, 0.0625, "undecided", False),
        (ONCE, 0.3, "not worse", True),
    ],
)
def test_non_inferiority_passes_only_where_it_is_shown(new, margin, verdict, passed):
    made = gradely.gate(QRELS, new, FIRST, ["RR"], non_inferior=margin)
    other = gradely.gate(QRELS, new, FIRST, ["RR"], max_drop=margin, undecided="fail")
    assert (made.verdict, made.passed) == (other.verdict, other.passed) == (verdict, passed)
    assert made.changes == other.changes and "not shown to be within" in made.caption()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"baseline": None}, "give a baseline to compare with, or floors"),
        ({"baseline": None, "floors": {"RR": 0.5}, "max_drop": 0.1}, "without a baseline, nothing can fall"),
        ({"max_drop": 0.1, "non_inferior": 0.1}, "give max_drop or non_inferior"),
        ({"baseline": None, "floors": {"RR": 0.5}, "holes": True}, "without a baseline, nothing can fall"),
        ({"floors": {"RR": 85}}, "RR is at most 1, so a floor of 85 always fails; give 0.85 for 85 points"),
        ({"floors": {"RR": 0}}, "RR is at least 0, so a floor of 0 never fails"),
        ({"floors": {"RR": float("nan")}}, "the floor of RR must be a number, like 0.85; found nan"),
        ({"floors": {"RR": "high"}}, "the floor of RR must be a number, like 0.85; found 'high'"),
        ({"floors": {"nothing": 0.5}}, "no measure 'nothing'"),
        ({"non_inferior": {"AP": 0.1}}, "a limit is given for AP, which is not measured"),
    ],
)
def test_conditions_that_make_no_sense_are_refused(options, message):
    with pytest.raises(gradely.GradelyError) as refused:
        gradely.gate(QRELS, ONCE, **({"baseline": FIRST, "measures": ["RR"]} | options))
    assert message in str(refused.value)


@pytest.mark.parametrize(("value", "floor"), [(0.8499999, 0.85), (0.85 - 1e-9, 0.85), (0.3, 0.85), (0.9, 0.85)])
def test_what_is_printed_is_on_the_same_side_of_the_floor(value, floor):
    text = show_against(Floor("AP", value, floor, failed=value < floor))
    assert (float(text.split(",")[0].removeprefix("AP ")) < floor) == (value < floor)


def test_junit_has_a_case_for_each_measure_and_floor(demo, capsys):
    arguments = ["-m", "nDCG@10,AP", "--max-drop", "0.01", "--min", "R@10=0.9", "--min", "nDCG@10=0.2"]
    new = ["gate", "qrels.txt", "popular.run", "--baseline", "lexical.run"]
    assert cli([*new, *arguments, "--junit", "gate.xml"]) == 1
    capsys.readouterr()
    root = ET.parse("gate.xml").getroot()
    (suite,) = root
    assert root.tag == "testsuites" and suite.tag == "testsuite"
    counts = [suite.get(name) for name in ("tests", "failures", "errors", "skipped")]
    assert counts == ["4", "3", "0", "0"]
    assert [case.get("name") for case in suite] == [
        "nDCG@10 falls by at most 0.01",
        "AP falls by at most 0.01",
        "R@10 is at least 0.9",
        "nDCG@10 is at least 0.2",
    ]
    assert {case.get("classname") for case in suite} == {"gradely.gate"}
    kinds = [[(part.tag, part.get("type")) for part in case] for case in suite]
    assert kinds == [[("failure", "worse")], [("failure", "worse")], [("failure", "below")], [("system-out", None)]]
    assert all(part.get("message") == part.text for part in suite.iter("failure"))
    assert suite[3][0].text.startswith("not below: nDCG@10 0.2914")
    assert cli(["gate", "qrels.txt", "lexical.run", "--min", "AP=0.1", "--junit", "passed.xml"]) == 0
    assert ET.parse("passed.xml").getroot().get("failures") == "0"


def test_junit_of_hostile_names_is_well_formed(monkeypatch):
    made = gradely.gate(QRELS, ONCE, floors={"RR": 0.95})
    hostile = '"/><failure>]]>\x00\ud800&lt;'
    monkeypatch.setattr(type(made), "cases", lambda _: [Case(hostile, hostile, hostile, failed) for failed in (0, 1)])
    passed, failed = ET.fromstring(made.junit().encode())[0]
    assert passed.get("name") == failed.get("name") == hostile.replace("\x00", "�").replace("\ud800", "�")
    assert [part.tag for part in (*passed, *failed)] == ["system-out", "failure"]


def test_the_command_knows_floors_and_margins(demo, capsys):
    assert cli(["gate", "qrels.txt", "dense.run", "--min", "R@10=0.3", "--min", "recip_rank=0.5"]) == 0
    out = capsys.readouterr().out
    assert out.rstrip() == str(gradely.gate("qrels.txt", "dense.run", floors={"R@10": 0.3, "RR": 0.5}))
    assert out.startswith("Passed: dense is not below any of its floors.\n")
    both = ["gate", "qrels.txt", "dense.run", "--baseline", "lexical.run", "-m", "nDCG@10"]
    assert cli([*both, "--max-drop", "0.02"]) == 0 and cli([*both, "--non-inferior", "0.02"]) == 1
    assert cli([*both, "--non-inferior", "nDCG@10=0.2"]) == 0
    capsys.readouterr()
    # scores are saved only where no floor fails
    assert cli(["gate", "qrels.txt", "dense.run", "-m", "AP", "--min", "AP=0.9", "--save", "s.json"]) == 1
    assert not os.path.exists("s.json")
    assert cli(["gate", "qrels.txt", "dense.run", "-m", "AP", "--min", "R@10=0.1", "--save", "s.json"]) == 0
    assert json.loads(Path("s.json").read_text())["measures"] == ["AP"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--min", "R@10"], "--min 'R@10': give a measure and its floor, like R@10=0.85"),
        (["--min", "R@10=high"], "--min 'R@10=high': give a measure"),
        (["--min", "=0.5"], "--min '=0.5': give a measure"),
        (["--min", "R@10=0.3", "--min", "recall_10=0.4"], "--min 'recall_10=0.4': R@10 already has a floor, 0.3"),
        (["--min", "R@10=85"], "R@10 is at most 1, so a floor of 85 always fails; give 0.85 for 85 points"),
        (["--min", "R@10=0.3", "--max-drop", "0.1"], "--max-drop needs a --baseline"),
        (["--min", "R@10=0.3", "--non-inferior", "0.1"], "--non-inferior needs a --baseline"),
        (["--baseline", "lexical.run", "--max-drop", "0.1", "--non-inferior", "0.1"], "give --max-drop or"),
        (["--baseline", "lexical.run", "--non-inferior", "x"], "--non-inferior 'x': give a number like 0.01"),
        (["--baseline", "lexical.run", "--junit", "-"], "-: the result is written to standard output"),
        (["--baseline", "lexical.run", "--junit", "qrels.txt"], "qrels.txt: cannot be written"),
    ],
)
def test_wrong_conditions_end_with_one_line_and_code_2(demo, arguments, message, fails):
    fails("gate", "qrels.txt", "dense.run", *arguments, says=f"gradely: {message}")


def test_a_gate_on_a_suite_is_what_its_collections_say():
    found = gradely.suite(SUITE, ["RR", "P@1"], alpha=0.1)
    made = found.gate("b", "a", max_drop=0.05, floors={"R@2": 0.9})
    columns = [differences(entry, "a", "b") for entry in SUITE.values()]
    _, drop, error, _ = iterate([np.mean(one) for one in columns], [np.var(one, ddof=1) / len(one) for one in columns])
    first = made.changes[0]
    assert (first.drop, first.limit) == (pytest.approx(drop, abs=1e-9), 0.05)
    assert first.p == pytest.approx(stats.t.sf((drop - 0.05) / error, 4), rel=1e-6)
    assert first.p_not_worse == pytest.approx(stats.t.cdf((drop - 0.05) / error, 4), rel=1e-6)
    reach = stats.t.isf(0.1, 4) * error
    assert (first.low, first.high) == pytest.approx((drop - reach, drop + reach), abs=1e-7)
    expected = gradely.comparison.tests.adjust([change.p for change in made.changes], "holm")
    assert [change.adjusted for change in made.changes] == pytest.approx(expected.tolist())
    assert first.losses == sum(np.mean(one) > 0 for one in columns)
    plain = [np.mean([found.mean()[name][system]["RR"] for name in SUITE]) for system in "ab"]
    assert (first.old, first.new) == pytest.approx(plain)
    assert made.is_corrected and "holes low" not in made.table().header
    means = [gradely.evaluate(one["qrels"], one["runs"]["b"], ["R@2"])["R@2"] for one in SUITE.values()]
    assert made.floors[0].value == pytest.approx(sum(means) / len(means)) and made.floors[0].failed
    assert len(made.effects_table().rows) == 10 and " over 5 collections by more" in made.summary()


def shifted(drop, seed=0, queries=40):
    """Return a collection on which b is lower than a by about so much of RR."""
    rng = np.random.default_rng(seed)
    places = np.where(rng.random(queries) < 2 * drop, 2, 1).tolist()
    runs = {"a": ranked([1] * queries), "b": ranked(places)}
    return {"qrels": {f"q{i}": {"d": 1} for i in range(queries)}, "runs": runs}


@pytest.mark.parametrize(
    ("drops", "options", "verdict", "passed"),
    [
        ([0.3, 0.32, 0.28, 0.31], {}, "worse", False),
        ([0.3, 0.32, 0.28, 0.31], {"max_drop": 0.45}, "not worse", True),
        ([0.3, 0.05, 0.2, 0.01], {"max_drop": 0.1}, "undecided", True),
        ([0.3, 0.05, 0.2, 0.01], {"non_inferior": 0.1}, "undecided", False),
        ([0.3, 0.05, 0.2, 0.01], {"max_drop": 0.1, "strict": True}, "undecided", False),
        ([0, 0, 0], {"non_inferior": 0.1}, "same", True),
        ([0.3], {}, "worse", False),
        ([0.3, 0.3], {"max_drop": 0.1}, "undecided", True),
    ],
)
def test_a_gate_on_a_suite_says_one_of_three_things(drops, options, verdict, passed):
    made = gradely.suite({f"c{i}": shifted(drop, i) for i, drop in enumerate(drops)}, ["RR"]).gate("b", "a", **options)
    assert (made.verdict, made.passed, bool(made)) == (verdict, passed, passed)
    assert made.summary().startswith("Passed" if passed else "Failed")
    assert any(note.kind == "few" for note in made.notes) == (len(drops) < 3)
    assert len(ET.fromstring(made.junit())[0]) == 1
    assert (made.cases()[0].told == "the same value on every query") == (verdict == "same")
    assert ("90 % interval of the drop" in made.summary()) == (verdict == "undecided")
    assert ("not shown to be within" in made.caption()) == ("non_inferior" in options)
    assert not made.is_corrected  # since there is one measure


def test_one_collection_is_decided_as_two_runs_are():
    entry = shifted(0.2)
    made = gradely.suite({"c": entry}, ["RR"]).gate("b", "a", max_drop=0.1)
    plain = gradely.gate(entry["qrels"], entry["runs"]["b"], entry["runs"]["a"], ["RR"], max_drop=0.1)
    assert made.changes[0][:9] == pytest.approx(plain.changes[0][:9])


def test_the_interval_and_the_error_of_a_drop_agree():
    """The one-sided tests and the interval of level 1 - 2α say the same."""
    for limit in np.linspace(0.0, 0.4, 9).tolist():
        (change,) = gradely.suite(SUITE, ["RR"]).gate("c", "a", max_drop=limit).changes
        assert (change.p < 0.05) == (change.low > limit) and (change.p_not_worse < 0.05) == (change.high < limit)


def test_collections_that_lack_a_system_are_named_by_the_gate():
    lacking = SUITE | {"w": SUITE["w"] | {"runs": {"a": SUITE["w"]["runs"]["a"], "c": SUITE["w"]["runs"]["c"]}}}
    found = gradely.suite(lacking, ["RR"])
    made = found.gate("b", "a")
    assert made.notes[0].text == "w has no run of b, and is left out" and made.collections == ["v", "x", "y", "z"]
    assert found.gate("c", "a").collections == list("vwxyz")  # b does not matter


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("d", "a"), "no system 'd' in this suite"),
        (("a", "a"), "a is both the new system and the baseline"),
        (("a",), "give a baseline to compare with, or floors"),
    ],
)
def test_systems_that_are_not_there_are_refused(arguments, message):
    with pytest.raises(gradely.DataError, match=message):
        gradely.suite(SUITE, ["RR"]).gate(*arguments)


def test_what_a_gate_on_a_suite_cannot_take_is_refused():
    with pytest.raises(gradely.DataError, match="maybe"):
        gradely.suite(SUITE, ["RR"]).gate("b", "a", undecided="maybe")
    with pytest.raises(gradely.DataError, match="alpha of a gate must be below"):
        gradely.suite(SUITE, ["RR"], alpha=0.5).gate("b", "a")
    runs = {"v": SUITE["v"]["runs"]["a"], "w": SUITE["w"]["runs"]["c"]}
    apart = {name: {"qrels": SUITE[name]["qrels"], "runs": {"ac"[name == "w"]: run}} for name, run in runs.items()}
    with pytest.raises(gradely.DataError, match="c and a have no collection of more than one query in common"):
        gradely.suite(apart, ["RR"]).gate("c", "a")


def test_floors_alone_are_held_on_a_suite():
    made = gradely.suite(SUITE, ["RR"]).gate("b", floors={"RR": 0.9})
    assert (made.verdict, made.passed, made.names, made.changes) == ("untested", False, ["b"], [])
    assert made.effects_table().rows == [] and made.as_dict()["collections"] == []
    floors = "The gate fails if the mean over collections is below its floor, without a significance test."
    assert made.caption().startswith(f"{floors} Data: 5 collections")
    assert made.summary().startswith("Failed: b is below its floor: RR ")


def test_a_rise_without_spread_is_no_standstill():
    """On every query of every collection b is better by the same."""
    entry = {"qrels": {f"q{i}": {"d": 1} for i in range(6)}, "runs": {"a": ranked([2] * 6), "b": ranked([1] * 6)}}
    found = gradely.suite({"v": entry, "w": entry, "x": entry}, ["RR"])
    assert found.gate("a", "b").verdict != "same" != found.gate("b", "a").verdict


@pytest.fixture
def files(tmp_path, monkeypatch):
    write(tmp_path)
    monkeypatch.chdir(tmp_path)


def test_a_team_gates_a_suite_with_one_command(files, capsys):
    command = ["gate", "--suite", "data/suite.toml"]
    assert cli([*command, "c", "--baseline", "a", "--max-drop", "0.3", "--min", "R@5=0.2"]) == 0
    made = gradely.suite("data/suite.toml").gate("c", "a", max_drop=0.3, floors={"R@5": 0.2})
    assert capsys.readouterr().out.rstrip() == str(made)
    # the baseline of the file; a floor that is not met; what is written beside
    assert cli([*command, "c", "--min", "R@1=0.9", "--junit", "g.xml", "--summary", "g.md"]) == 1
    assert ET.parse("g.xml").getroot().get("tests") == "2" and "## ❌ Failed" in Path("g.md").read_text()
    assert cli([*command, "c", "--baseline", "a", "-m", "P@1", "--non-inferior", "0.01", "--format", "json"]) == 1
    content = json.loads(capsys.readouterr().out.partition("\n{")[2].join(["{", ""]))
    assert [row["collection"] for row in content["collections"]] == list("vwxyz")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name the new system: gradely gate --suite data/suite.toml NEW"),
        (["x", "c"], "with --suite, a gate takes only one system, NEW; also found c"),
        (["c", "--save", "x.json"], "--save does not apply to a --suite"),
        (["c", "--test", "wilcoxon"], "--test does not apply to a --suite"),
        (["c", "--only", "x.txt"], "--only does not apply to a --suite"),
        (
            ["c", "--feature", "1", "--feature", "2"],
            "give one --feature: in a suite, a system has one run in each file",
        ),
        (["d"], "no system 'd' in this suite"),
        (["c", "--junit", "data/v.a.run"], "data/v.a.run: cannot be written: it is one of the input files"),
    ],
)
def test_wrong_gates_on_suites_end_with_one_line_and_code_2(files, arguments, message, fails):
    fails("gate", "--suite", "data/suite.toml", *arguments, says=f"gradely: {message}")


def test_floors_follow_weights_and_leave_the_judge_alone():
    weights = {query: 1.0 + i for i, query in enumerate(QRELS)}
    expected = gradely.evaluate(QRELS, ONCE, ["P@1"], weights=weights)["P@1"]
    assert gradely.gate(QRELS, ONCE, floors={"P@1": 0.5}, weights=weights).floors[0].value == pytest.approx(expected)
    collections = {name: {"qrels": QRELS, "runs": {"a": FIRST, "b": ONCE}} for name in "xy"}
    made = gradely.suite(collections, ["RR"], weights=weights).gate("b", "a", floors={"P@1": 0.5})
    assert made.floors[0].value == pytest.approx(expected)
    with pytest.raises(gradely.DataError, match="floors apply to means by human labels: leave out the judge"):
        gradely.gate(QRELS, ONCE, FIRST, ["RR"], floors={"P@1": 0.5}, judge=QRELS)
