"""M08 again: closed forms against every order, what ties cost, and what breaking them does to real runs."""

import numpy as np
import pytest

import gradely
from gradely.measures import EXPECTED
from gradely_papers.mcsherry2008 import enumeration, overhead, real_runs
from gradely_papers.mcsherry2008.enumeration import Ranking
from gradely_papers.mcsherry2008.overhead import Pair
from tests.cases import SETTINGS, Case, Query
from tests.shared_data import DATA, needs


@pytest.mark.parametrize("measure", enumeration.measures(), ids=str)
def test_closed_forms_and_enumeration_are_the_mean_of_the_reference_over_all_orders(measure):
    """The reference is written apart from the library, so a wrong sign or norm shows here."""
    case = Case(measure, next((theirs for ours, theirs in SETTINGS[measure.name] if not ours), {}))
    for ranking in enumeration.rankings(seed=3, count=4):
        values = case.over_orderings(Query(tuple(zip(ranking.scores, ranking.labels, strict=True))))
        expected = pytest.approx(np.mean(values), abs=1e-12)
        assert enumeration.evaluate_closed_form(measure, ranking) == expected
        assert enumeration.enumerate_mean(measure, ranking) == expected


def test_every_order_is_written_out():
    ranking = Ranking((1, 0, 1, 0, 2), (10, 20, 30, 40, 50))
    assert ranking.groups() == [[4], [0, 2], [1, 3]] and ranking.size() == 4
    assert sorted(ranking.orders().tolist()) == [
        [50, 10, 30, 20, 40],
        [50, 10, 30, 40, 20],
        [50, 30, 10, 20, 40],
        [50, 30, 10, 40, 20],
    ]


def test_rankings_tie_and_follow_the_seed():
    one, same, other = (enumeration.rankings(seed, 5) for seed in (1, 1, 2))
    assert one == same != other and all(1 < ranking.size() <= enumeration.MOST for ranking in one)


def test_reciprocal_rank_is_misprinted():
    """One of two tied documents is relevant: 1 or 1/2, so 3/4; the printed sum is 1/2 · 1 + 0 · 1/2."""
    ranking = Ranking((1, 1), (0, 1))
    assert (
        enumeration.enumerate_mean(gradely.RR(), ranking)
        == enumeration.evaluate_closed_form(gradely.RR(), ranking)
        == 3 / 4
    )
    assert enumeration.printed_rr(ranking) == 1 / 2
    below = Ranking((2, 1, 1, 1), (0, 0, 1, 0))
    assert enumeration.printed_rr(below) == pytest.approx((2 / 3) / 2 + (1 / 3) / 3)
    assert enumeration.printed_rr(Ranking((1, 1), (0, 0))) == 0


def test_times_are_taken_of_every_measure_and_from_files_of_those_of_the_paper():
    alone, from_file = overhead.time_alone(1, queries=30, repeats=1), overhead.time_from_file(1, queries=2, repeats=1)
    assert list(alone) == [measure.name for measure in EXPECTED] and set(from_file) == set(enumeration.PRINTED)
    for pairs in (alone, from_file):
        assert all(pair.aware > 0 and pair.oblivious > 0 for pair in pairs.values())


def test_the_shortest_time_counts(monkeypatch):
    ticks = iter([0, 5, 5, 7, 10, 13, 20, 24])
    monkeypatch.setattr(overhead, "process_time", lambda: next(ticks))
    done = []
    pair = overhead.time_both(lambda: done.append("first"), lambda: done.append("second"), repeats=2)
    assert pair == Pair(3, 2) and pair.ratio == 1.5 and done == ["first", "second"] * 2


def test_both_timed_batches_hold_the_same_rankings():
    aware, oblivious = overhead.batches(4, queries=200)
    assert (aware.tied > 1).any() and (oblivious.tied == 1).all()
    assert (np.sort(aware.grade, axis=1) == np.sort(oblivious.grade, axis=1)).all()
    assert gradely.P(k=18)(aware) == pytest.approx(gradely.P(k=18)(oblivious))


def test_the_timed_run_can_be_evaluated_and_ties(tmp_path):
    qrels, path = overhead.write_run(2, 3, str(tmp_path))
    scores = gradely.evaluate(qrels, path, ["AP"])
    assert len(scores.queries) == 3 and scores.tie_ranges and not [n for n in scores.notes if n.kind == "missing"]


def test_in_memory_sorting_is_timed_for_every_length_of_list(monkeypatch):
    shapes = {name: [] for name in ("measure_aware", "measure_oblivious", "find_first")}
    for name, seen in shapes.items():
        real = getattr(overhead, name)
        monkeypatch.setattr(
            overhead, name, lambda scores, *rest, seen=seen, real=real: seen.append(scores.shape) or real(scores, *rest)
        )
    times = overhead.time_in_memory(1, sizes=(17, 40), queries=20, repeats=1)
    names = {*enumeration.PRINTED, overhead.RR_SORTED}
    assert list(times) == [17, 40] and [set(pairs) for pairs in times.values()] == [names] * 2
    assert all(set(seen) == {(20, 17), (8, 40)} for seen in shapes.values())
    assert [len(seen) for seen in shapes.values()] == [2 * 7, 2 * 6, 2]  # RR alone has a baseline that does not sort


@pytest.mark.parametrize("size", [17, 40])
def test_where_nothing_ties_all_ways_to_measure_lists_agree(size):
    scores, labels = overhead.draw_lists(3, size, queries=50)
    assert ((labels > 0).sum(axis=1) <= 17).all() and scores.shape[1] == size
    scores = scores + np.random.default_rng(0).random(scores.shape) / 2
    for kind in (kind for kind in EXPECTED if kind.name in enumeration.PRINTED):
        aware, plain = (way(scores, labels, kind()) for way in (overhead.measure_aware, overhead.measure_oblivious))
        assert aware == pytest.approx(plain)
    assert overhead.find_first(scores, labels) == pytest.approx(overhead.measure_aware(scores, labels, gradely.RR()))


@pytest.mark.parametrize(
    ("others", "rr", "sorted_rr", "words"),
    [
        (1.0, 1.25, 1.0, ["holds", "holds", "holds"]),
        (1.25, 1.3, 1.1, ["holds", "holds", "holds"]),
        (1.3, 1.25, 1.0, ["differs", "differs", "holds"]),  # RR is not the only one
        (0.7, 0.8, 0.7, ["differs", "differs", "differs"]),  # taking care of ties cannot be cheaper
        (1.0, 2.0, 1.9, ["holds", "differs", "differs"]),
    ],
)
def test_criteria_on_ratios_have_two_sides(others, rr, sorted_rr, words):
    pairs = dict.fromkeys(enumeration.PRINTED, Pair(others, 1)) | {
        "RR": Pair(rr, 1),
        overhead.RR_SORTED: Pair(sorted_rr, 1),
    }
    times = overhead.Times({17: pairs}, pairs, pairs)
    assert [found.word for claim in overhead.EXPERIMENT.claims for found in claim.test(times)] == words
    assert times.records()[0]["ratio"] == others


def test_times_are_drawn_and_told():
    alone = {measure.name: Pair(i + 1.0, 1) for i, measure in enumerate(EXPECTED)}
    times = overhead.Times({18: alone}, alone, alone)
    assert f"at most {len(EXPECTED)}.00, {EXPECTED[-1].name}" in overhead.observations(times)[0].answer
    drawing = overhead.chart(times.records()).to_dict()
    assert [layer["mark"]["type"] for layer in drawing["spec"]["layer"]] == ["rule", "line"]
    assert all("data" not in layer for layer in drawing["spec"]["layer"])  # else every panel would show all measures


QRELS = gradely.read_qrels({"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"a": 1, "b": 0}})
RUNS = {
    "tied": {"q1": {"b": 1, "a": 1, "c": 1}, "q2": {"b": 1, "a": 1}},
    "plain": {"q1": {"a": 3, "b": 2, "c": 1}, "q2": {"a": 2, "b": 1}},
}


def test_policies_by_hand():
    """By name, descending, c comes first; as given, b does. Of two tied documents one is relevant."""
    means = real_runs.read(QRELS, RUNS, seed=0, seeds=4)
    i = means.column("RR")
    value = {policy: table[:, i].tolist() for policy, table in means.by_policy.items()}
    assert means.systems == ["tied", "plain"]
    assert value["expected"] == pytest.approx([((1 + 1 + 1 / 2) / 3 + 3 / 4) / 2, 1])
    assert value["trec"] == [(1 + 1 / 2) / 2, 1] and value["order"] == [1 / 2, 1]
    assert value["worst"] == [1 / 2, 1] and value["best"] == [1, 1]
    assert means.at_random.shape == (4, 2, len(real_runs.MEASURES)) and (means.at_random[:, 1, i] == 1).all()
    (row,) = (row for row in real_runs.moves(means) if row["measure"] == "RR")
    assert row["by name, most"] == pytest.approx(abs(3 / 4 - (5 / 6 + 3 / 4) / 2))
    assert row["worst to best order, most"] == 1 / 2 and row["system"] == "tied"


def test_pairs_that_swap_and_pairs_that_may():
    one, other = np.array([0.1, 0.2, 0.3]), np.array([0.3, 0.2, 0.1])
    assert real_runs.count_swaps(one, one) == 0 and real_runs.count_swaps(one, other) == 3
    assert real_runs.count_swaps(one, np.array([0.2, 0.2, 0.3])) == 0
    assert real_runs.list_undecided(one, one) == []
    assert real_runs.list_undecided(np.array([0.1, 0.2]), np.array([0.2, 0.3])) == []
    assert real_runs.list_undecided(np.array([0.1, 0.2]), np.array([0.25, 0.3])) == [(0, 1)]


@needs("clef-ehealth-2015")
def test_breaking_ties_moves_and_reorders_real_systems():
    folder = DATA / "clef-ehealth-2015"
    names = ("CUNI_EN_Run.2", "KUCS_EN_Run.1", "UBML_EN_Run.6", "KUCS_EN_Run.3")
    runs = [folder / "runs" / f"{name}.dat.gz" for name in names]
    qrels = gradely.read_qrels(folder / "qrels" / "qrels.clef2015.test.graded.txt.gz")
    means = real_runs.read(qrels, runs, seed=0, seeds=1)
    expected, best, worst = (means.by_policy[policy] for policy in ("expected", "best", "worst"))
    for table in (*means.by_policy.values(), *means.at_random):
        assert (table <= best + 1e-9).all() and (table >= worst - 1e-9).all()
    assert real_runs.list_deviations(means, "nDCG@10")[0]["system"] == "KUCS_EN_Run.3.dat"
    tables = [real_runs.label({"clef": table(means)}) for table in (real_runs.moves, real_runs.reorderings)]
    (moved,) = real_runs.performs_differently.test(tables[0])
    assert moved.word == "holds" and "RR of KUCS_EN_Run.3.dat moves by 0.1050" in moved.here
    furthest, reordered = real_runs.observations(*tables)
    assert "Of 6 pairs of systems" in reordered.answer
    assert [part.split()[0] for part in furthest.answer.split(", ")][:2] == ["RR", "ERR@10"]
    assert real_runs.ranges(means, "nDCG@10").to_dict()["layer"] and real_runs.agreement(tables[1]).to_dict()["mark"]
    assert (expected[:, means.column("AP")] > 0).all()


def test_runs_that_are_all_the_same_have_no_order():
    means = real_runs.read(QRELS, dict.fromkeys("abc", RUNS["tied"]), seed=0, seeds=2)
    reordered = real_runs.label({"same": real_runs.reorderings(means)})
    assert {row["τ by name"] for row in reordered} == {None}
    (_, found) = real_runs.observations(real_runs.label({"same": real_runs.moves(means)}), reordered)
    assert "swapped at random none" in found.answer and found.answer.endswith("no τ, since all systems tie.")


def test_where_nothing_ties_nothing_moves():
    runs = {"one": RUNS["plain"], "two": {"q1": {"a": 1, "b": 2, "c": 3}, "q2": {"a": 1, "b": 2}}}
    means = real_runs.read(QRELS, runs, seed=0, seeds=2)
    tables = [real_runs.label({"plain": table(means)}) for table in (real_runs.moves, real_runs.reorderings)]
    assert [verdict.word for verdict in real_runs.performs_differently.test(tables[0])] == ["differs"]
    assert "swapped by name none" in real_runs.observations(*tables)[1].answer
