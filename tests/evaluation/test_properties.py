"""What measures see and hold, and the families they are of."""

import json

import pytest

import gradely
from gradely.cli.main import run
from gradely.evaluation.properties import FAMILIES, Properties, measures_of, worlds

ALL = {entry.measure.name: entry for entry in Properties().properties}


def test_every_measure_is_of_one_family():
    named = [name for _, names in FAMILIES.values() for name in names.split()]
    assert sorted(named) == sorted(measure.name for measure in gradely.ALL)
    assert [measure.name for measure in measures_of("first")] == ["RR", "Success"]


@pytest.mark.parametrize(
    ("field", "holds", "lacks"),
    [
        ("grades", ["nDCG", "ERR", "Q", "OPA", "GAP"], ["P", "AP", "RR", "AUC", "bpref", "RBP"]),
        ("top_heavy", ["nDCG", "AP", "RR", "ERR", "BPM"], ["P", "R", "AUC", "OPA", "Judged", "nDCGphi"]),
        ("normalised", ["nDCG", "AP", "nERR", "Q", "Pplus", "Compat"], ["DCG", "ERR", "RBP", "P", "INST", "SDCG"]),
        ("non_relevant", ["bpref", "infAP", "Judged", "Unjudged", "RBPresidual"], ["AP", "nDCG", "AUC", "Q"]),
        ("subtopics", ["alpha_nDCG", "StRecall"], ["nDCG"]),
        ("swap", ["AP", "nDCG", "ERR", "GAP", "OPA"], ["Q", "Pplus", "G", "BPM", "RBPresidual"]),
        ("replace", ["AP", "nDCG", "ERR", "Q"], ["AUC", "OPA", "Pplus", "BPM"]),
    ],
)
def test_what_is_known_of_measures_is_found(field, holds, lacks):
    found = {name for name in (*holds, *lacks) if getattr(ALL[name], field)}
    assert found == set(holds)


def test_q_falls_where_a_relevant_document_is_moved_up_past_a_better_one():
    """Behind two others, 3 and 1 at ranks 3 and 4 against 1 and 3 at ranks 2 and 3; the pool has a 2 and a 3 more."""
    ideal = [3, 6, 8, 9]
    later = ((1 + 3) / (3 + ideal[2]) + (2 + 4) / (4 + ideal[3])) / 4
    earlier = ((1 + 1) / (2 + ideal[1]) + (2 + 4) / (3 + ideal[2])) / 4
    qrels = {"q": {"a": 3, "b": 1, "c": 2, "d": 3}}
    values = [
        gradely.evaluate(qrels, {"q": ranking}, ["Q"]).values.item()
        for ranking in (["x", "y", "a", "b"], ["x", "b", "a", "y"])
    ]
    assert values == pytest.approx([later, earlier]) and earlier < later


def test_rankings_that_are_tried_have_the_labels_of_their_pool():
    judged = [[label for label in world.ranking if label is not None] for world in worlds()]
    pools = {tuple(sorted([*labels, *world.missed])) for labels, world in zip(judged, worlds(), strict=True)}
    assert pools == {(0, 0, 1, 1, 2, 2), (0, 1, 2, 3, 3)}


def test_ways_to_take_ties():
    assert {entry.ties for entry in ALL.values()} == {"exact", "exact or sampled", "sampled"}
    assert {name for name, entry in ALL.items() if entry.ties == "sampled"} == {
        measure.name for measure in gradely.ALL if not measure.takes_expected
    }


def test_the_command_lists_a_family_and_compares(capfd):
    assert run(["measures", "--family", "First"]) == 0
    out = capfd.readouterr().out
    assert "RR" in out and "Success" in out and "nDCG" not in out
    assert run(["measures", "--compare", "--family", "agreement", "--format", "json"]) == 0
    (entry,) = json.loads(capfd.readouterr().out)["rows"]
    assert entry["measure"] == "Compat" and entry["top-heavy"] == "yes"
    assert run(["measures", "--family", "gains"]) == 2
    assert "no family 'gains': use one of sets, first" in capfd.readouterr().err
    assert run(["measures", "nDCG", "--compare"]) == 2
    assert "not both" in capfd.readouterr().err
