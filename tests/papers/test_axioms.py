"""The table of axioms: every cell is proved or refuted, and a measure that is wrong would be found out."""

import numpy as np
import pytest

import gradely
from gradely.measures import EXPECTED
from gradely_papers import experiments
from gradely_papers.experiment import Library
from gradely_papers.ferrante2014 import axioms
from gradely_papers.ferrante2014.axioms import (
    AXIOMS,
    PROOFS,
    Search,
    World,
    cells,
    extend_ranking,
    observations,
    raise_document,
    replace_document,
    rows,
    search_axioms,
    worlds,
)
from gradely_papers.ferrante2014.limits import FAMILY, probabilities
from tests import reference

ASKED = list(dict.fromkeys(type(measures[0]) for measures in rows().values()))


@pytest.fixture(scope="module")
def found():
    search = Search(4, 1)
    return {(row, axiom.name): cell for axiom in AXIOMS for row, cell in search.answers(axiom).items()}


def test_rows_are_of_measures_that_can_be_asked():
    """A row is optional: a new measure needs none."""
    assert set(ASKED) <= {measure for measure in EXPECTED if measure is not gradely.Unjudged}


def test_every_cell_is_either_proved_or_refuted(found):
    refuted = {cell for cell, each in found.items() if each.change}
    assert not refuted & set(PROOFS)
    assert refuted | set(PROOFS) == set(found)
    assert len(cells(found)) == len(rows()) * len(AXIOMS)
    failing, falling, refuted_proofs = observations(found)
    assert failing.answer.startswith(f"{len(refuted)} of {len(found)} pairs of a measure and an axiom have")
    assert falling.answer.startswith("xGAP: ") and falling.answer.count(";") == 0 and refuted_proofs.answer == "none"


def test_xgap_falls_when_a_better_document_moves_up(found):
    """The smallest: two unjudged documents, then 1 and 2, with g = (0.9, 0.1, 0)."""
    change = found["xGAP", "up"].change
    assert (change.before, change.after) == (World((None, None, 1, 2)), World((None, None, 2, 1)))
    assert change.values == pytest.approx(
        (0.9 / (2 * 3) + (1 - 0.9 / 2) * (1 + 0.9) / 4, (1 - 0.9 / 2) / 3 + 0.9 / 4), abs=1e-15
    )
    slow = [reference.xGAP(list(world.ranking), [1, 2], g={1: 0.9, 2: 0.1}) for world in change[1:3]]
    assert change.values == pytest.approx(slow, abs=1e-12)


@pytest.mark.parametrize("n", [2, 3, 4, 9])
@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.6, 0.7, 0.9])
def test_xgap_falls_exactly_where_the_share_of_lenient_users_is_above_two_over_the_rank(n, share):
    before, after = (
        reference.xGAP([None] * (n - 1) + pair, [1, 2], g={1: share, 2: 1 - share}) for pair in ([1, 2], [2, 1])
    )
    assert (after < before - 1e-12) == (share > 2 / n + 1e-9)


def test_plain_counterexamples(found):
    assert str(found["P", "add"].change) == "P: 1 has 1, 1 - has 0.5"
    assert str(found["Judged", "add"].change) == "Judged: 0 has 1, 0 - has 0.5"
    assert str(found["AP", "names, trec"].change) == "AP: - 1 has 1, then 0.5"
    assert found["ERR", "levels"].change.values == pytest.approx(((2 - 1) / 2**3, (2 - 1) / 2**4))
    assert found["nDCG(gain='exp')", "scale"].change.values == pytest.approx(
        ((2 - 1) / (3 + 1 / np.log2(3)), (2**0.5 - 1) / (1 + (2**0.5 - 1) / np.log2(3)))
    )


def test_worlds_come_smallest_first_and_change_by_one_thing():
    every = worlds(2, 1)
    assert [world.size for world in every] == sorted(world.size for world in every)
    assert len(every) == len(set(every)) == 5 + 25 + 4 * (5 + 25) - 2  # those without a judged document are left out
    world = World((None, 0, 2), (1, 3))
    assert list(raise_document(world)) == [World((None, 2, 0), (1, 3))]
    assert World((1, 0, 2), (3,)) in replace_document(world) and World((None, 0, 3), (1, 2)) in replace_document(world)
    assert len(list(replace_document(world))) == 2 + 2 + 1
    assert list(extend_ranking(world)) == [
        World((None, 0, 2, None), (1, 3)),
        World((None, 0, 2, 1), (3,)),
        World((None, 0, 2, 3), (1,)),
    ]


@pytest.mark.parametrize("measure", ASKED, ids=lambda measure: measure.name)
def test_a_measure_with_the_wrong_sign_would_refute_a_proof(monkeypatch, measure):
    terms = measure.terms
    monkeypatch.setattr(measure, "terms", lambda self, batch: -terms(self, batch))
    search = Search(2, 1)
    refuted = {(row, axiom.name) for axiom in AXIOMS[:3] for row, cell in search.answers(axiom).items() if cell.change}
    names = {row for row, measures in rows().items() if isinstance(measures[0], measure)}
    assert {(row, axiom) for row, axiom in refuted & set(PROOFS) if row in names}


def verdicts():
    outcome = experiments()["f14-limits"].run(Library(), 0, lambda part: None)
    return [tested.verdict == "holds" for tested in outcome.claims]


@pytest.mark.parametrize(
    ("mine", "name", "other"), [("GAP", "norm", "eGAP"), ("eGAP", "weight", "GAP"), ("xGAP", "weight", "eGAP")]
)
def test_swapped_normalisers_would_be_found_out(monkeypatch, mine, name, other):
    assert all(verdicts())
    monkeypatch.setattr(FAMILY[mine], name, getattr(FAMILY[other], name))
    assert not all(verdicts())


def test_probabilities_of_a_pool_add_up():
    """Ten documents of grade 1 and one of grade 2: somebody is picked, by GAP's users always."""
    chance = {(each["measure"], each["g"], each["grade"]): each["here"] for each in probabilities()}
    assert 10 * chance["GAP", "[0.5, 0.5]", 1] + chance["GAP", "[0.5, 0.5]", 2] == pytest.approx(1)
    assert 10 * chance["xGAP", "[0.5, 0.5]", 1] + chance["xGAP", "[0.5, 0.5]", 2] == pytest.approx(1)


def test_the_experiment_reports_its_progress(monkeypatch):
    monkeypatch.setattr(axioms, "LONGEST", 3)
    told = []
    assert len(search_axioms(told.append)) == len(rows()) * len(AXIOMS)
    assert told[-1] == 1
