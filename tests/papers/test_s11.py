"""S11 again: its tables to the printed digit, its observations on smaller runs, its figures on real data."""

from math import sqrt

import numpy as np
import pytest
from scipy import stats

from gradely import AP, from_arrays, nDCG
from gradely.data.source import ignore
from gradely_papers.letor import OHSUMED
from gradely_papers.scheel2011 import levels, means, ohsumed, ratings
from tests.shared_data import DATA, needs


def test_swaps_move_two_items_each():
    order = levels.swap_pairs(np.random.default_rng(1), 7, 20)
    assert order.shape == (7, 20, levels.ITEMS) and (order[:, 0] == np.arange(levels.ITEMS)).all()
    assert (np.count_nonzero(order[:, 1:] != order[:, :-1], axis=2) == 2).all()
    assert (np.sort(order, axis=2) == np.arange(levels.ITEMS)).all()


@pytest.mark.parametrize("count", levels.LEVELS)
def test_reference_lists(count):
    rng = np.random.default_rng(2)
    ways = (levels.draw_uniform, levels.draw_uneven, levels.draw_free)
    even, odd, free = (np.stack([draw(rng, count) for _ in range(30)]) for draw in ways)
    assert (levels.number_from_one(levels.draw_uniform)(rng, count) == even[0] + 1).all()
    assert free.min() >= 0 and free.max() < count and (np.diff(free, axis=1) <= 0).all()
    assert count == 2 or (free[:, 0] < count - 1).any()  # the highest level may be absent
    assert (np.bincount(even[0]) == levels.ITEMS // count).all() and len(np.unique(even)) == count
    assert (np.diff(even, axis=1) <= 0).all() and (np.diff(odd, axis=1) <= 0).all()
    assert (odd[:, 0] == count - 1).all() and (odd[:, -1] == 0).all()
    assert max(len(np.unique(row)) for row in odd) <= max(2, count // 2)


@pytest.mark.parametrize("reference", [levels.draw_uniform, levels.draw_uneven])
def test_the_number_of_levels_moves_ndcg_and_hardly_the_others(reference):
    found = levels.curves(reference, seed=0, runs=60, swaps=20)
    verdicts = [levels.falls(found), *(levels.is_steady(found, name) for name in ("µMAP", "mean NDCNG"))]
    assert all(verdict.word == "holds" for verdict in verdicts), verdicts
    assert levels.curves(reference, seed=0, runs=60, swaps=20, step=5).values["µMAP"] == pytest.approx(
        found.values["µMAP"][:, ::5]
    )
    (row,) = levels.sensitivity({"mine": found})
    assert row["µMAP, share of nDCG"] == pytest.approx(found.spread("µMAP") / found.spread("mean nDCG"))
    assert "mine: µMAP" in levels.observations([row])[0].answer
    assert all(values[:, 0] == pytest.approx(1) for values in found.values.values())
    assert all((values[:, -1] < 0.9).all() for values in found.values.values())
    assert found.values["mean nDCG"][0] == pytest.approx(found.values["mean NDCNG"][0])
    assert len(found.records()) == 3 * 4 * 20 and levels.chart(found).to_dict()["facet"]


def test_unused_levels_and_items_of_a_level_vary_as_they_say():
    rng = np.random.default_rng(3)
    for share, used in ((0, 20), (0.25, 15), (0.5, 10), (0.75, 5)):
        lists = np.stack([levels.leave_unused(rng, 20, share) for _ in range(7)])
        assert lists.shape == (7, levels.ITEMS) and (np.diff(lists, axis=1) <= 0).all()
        assert all(len(np.unique(row)) == used and {0, 19} <= set(row.tolist()) for row in lists)
    for how in levels.WEIGHTS:
        lists = np.stack([levels.spread_items(rng, 10, how) for _ in range(7)])
        counts = np.stack([np.bincount(row, minlength=10) for row in lists])
        assert (counts.sum(axis=1) == levels.ITEMS).all() and (counts > 0).all() and (np.diff(lists, axis=1) <= 0).all()
    few, even, _, many = (levels.spread_items(rng, 10, how) for how in levels.WEIGHTS)
    assert few.mean() < even.mean() < many.mean() and (even == levels.list_in_order(10)).all()


def test_unused_levels_move_ndcg_alone_and_items_of_a_level_move_all():
    """So it is on 100 runs, by the criterion; on 20 the two kinds of variation can be told apart, with more noise."""
    rows = levels.vary(0, runs=20, swaps=60, step=15)
    assert len(rows) == 3 * (4 * 3 + 4 * 4)
    moves = {}
    for row in rows:
        moves.setdefault((row["varies"], row["levels"]), {}).setdefault(row["measure"], []).append(row["mean"])
    for (varies, _), values in moves.items():
        graded, plain, normed = (np.ptp(values[name]) for name in means.MEANS)
        assert (max(graded, normed) < plain / 1.5) == (varies == levels.UNUSED)
    verdicts = levels.sizes.test(levels.Evidence({}, rows, None))
    assert [verdict.word for verdict in verdicts] == ["differs"] * 4
    assert len(levels.chart_varied(rows).to_dict()["vconcat"]) == 2


def test_every_swap_by_hand():
    """Of levels 2, 1, 0: three swaps, at distances 1, 2 and 1; AP at a threshold changes where it lies between them."""
    swaps = levels.swap_every_pair(np.array([2, 1, 0]))
    assert swaps.distance.tolist() == [1, 2, 1]
    assert swaps.loss["µMAP"].tolist() == pytest.approx(
        [(0 + 1 / 2) / 2, ((1 - (1 / 2 + 2 / 3) / 2) + 2 / 3) / 2, (1 - (1 + 2 / 3) / 2) / 2]
    )
    assert swaps.constant == pytest.approx({1: 1 / 3, 2: 1 / 3})


def test_curves_follow_the_seed():
    one, same, other = (levels.curves(levels.draw_uneven, seed, runs=2, swaps=5).values["µMAP"] for seed in (1, 1, 2))
    assert (one == same).all() and (one != other).any()


def test_the_mean_over_cut_offs_ends_with_the_ranking():
    batch = from_arrays([[3, 2, 1], [3, 2, 0]], [[0, 1, 1], [0, 1, 0]], [[1, 1, 1], [1, 1, 0]])
    second = 1 / np.log2(3)
    ideal = 1 + second
    by_hand = [(0 + second / ideal + (second + 1 / 2) / ideal) / 3, (0 + second) / 2]
    assert means.over_cutoffs(nDCG(), batch) == pytest.approx(by_hand)


SYSTEMS = [*ohsumed.FEATURES.values()]


@pytest.fixture(scope="module")
def documents():
    return ohsumed.read(DATA / OHSUMED)


@pytest.fixture(scope="module")
def figures(documents):
    """All three figures on every tenth query."""
    some = ohsumed.Collection(
        documents.queries[::10],
        documents.features,
        documents.grade[::10],
        {number: values[::10] for number, values in documents.feature.items()},
        documents.real[::10],
    )
    return {name: ohsumed.score_systems(some, user, ignore) for name, user in ohsumed.USERS.items()}


@needs(OHSUMED)
def test_ohsumed_is_read_whole(documents):
    assert len(documents.queries) == 106 and documents.real.sum() == 16_140
    counts = {number: documents.levels(number) for number in ohsumed.FEATURES}
    assert counts == {1: 9, 5: 106, 9: 1126, 11: 40, 15: 106, 19: 7010, 21: 11834, 22: 11834}
    assert [int((documents.grade[documents.real] == grade).sum()) for grade in (0, 1, 2)] == [11303, 2585, 2252]


@needs(OHSUMED)
def test_ohsumed_single_features_are_as_published(documents):
    letor = ohsumed.compare_published(DATA / OHSUMED, documents)
    assert len(letor) == 8
    assert all(record["here"] == pytest.approx(record["LETOR 2.0"], abs=1e-12) for record in letor)


@needs(OHSUMED)
def test_the_virtual_users_own_feature_scores_1_and_the_claims_are_marked(documents, figures):
    counts = {name: documents.levels(ohsumed.USERS[name].feature) for name in ohsumed.VIRTUAL}
    evidence = ohsumed.Evidence(
        figures,
        counts,
        documents.correlation(1, 9),
        documents.count_lacking(2),
        ohsumed.by_threshold(documents, ohsumed.USERS["figure-7"]),
        documents.uses(9),
        (len(documents.queries), documents.features),
        documents.alike(),
    )
    for name in ohsumed.VIRTUAL:
        assert evidence.own_scores(name) == pytest.approx([1] * 6, abs=1e-12)
    verdicts = [(claim.key, found.word) for claim in ohsumed.EXPERIMENT.claims for found in claim.test(evidence)]
    held = ["size", "alike", "scores_one", "scores_one", "levels", "nearest", "similar", "pearson"]
    held += ["more_levels", "rare", "distances"]
    assert sorted(key for key, word in verdicts if word == "holds") == sorted(held)
    differing = ["average", "levels", "similar", "mean_of_8", "mean_of_8"]
    assert [key for key, word in verdicts if word == "differs"] == differing and evidence.lacking == 5
    assert documents.alike() == [(5, 15), (21, 22)]
    means = [evidence.mean_of_thresholds(reading)["TF title"] for reading in (ohsumed.ZERO, ohsumed.LEFT_OUT)]
    assert means == [pytest.approx(0.454, abs=5e-4), pytest.approx(1, abs=1e-12)]


@needs(OHSUMED)
def test_map_at_each_threshold_is_that_of_the_labels_cut_there(documents):
    some = documents._replace(
        queries=documents.queries[:5],
        grade=documents.grade[:5],
        feature={number: values[:5] for number, values in documents.feature.items()},
        real=documents.real[:5],
    )
    rows = ohsumed.by_threshold(some, ohsumed.USERS["figure-7"])
    own = [row for row in rows if row["system"] == "TF title" and row["reading"] == ohsumed.ZERO]
    reached = [np.mean((some.feature[1] >= row["threshold"]).any(axis=1)) for row in own]  # the others count 0
    assert [row["MAP"] for row in own] == pytest.approx(reached) and len(rows) == 2 * 8 * len(own)
    assert all(r["MAP"] == 1 for r in rows if r["system"] == "TF title" and r["reading"] == ohsumed.LEFT_OUT)
    row, other = (row for row in rows if row["system"] == "BM25" and row["threshold"] == own[-1]["threshold"])
    cut = (some.feature[1] >= row["threshold"]).astype(float)
    value = AP()(from_arrays(some.feature[21], cut, some.real))
    has = cut.any(axis=1)
    assert row["MAP"] == pytest.approx(np.mean(value)) and other["MAP"] == pytest.approx(np.mean(value[has]))
    assert 0 < row["queries with it"] == has.sum() < 5
    assert ohsumed.thresholds(rows).to_dict()["spec"]["mark"]["type"] == "line"


@needs(OHSUMED)
def test_bm25_and_its_logarithm_rank_alike_and_file_order_flatters_constants(figures):
    value = {(each["system"], each["ties"], each["measure"]): each["value"] for each in figures["figure-6"]}
    assert all(value["BM25", ties, "µMAP"] == value["log BM25", ties, "µMAP"] for ties in ohsumed.TIES)
    assert all(value[system, "expected", "MAP at 1"] > value[system, "expected", "MAP at 2"] for system in SYSTEMS)
    assert value["IDF title", "order", "MAP at 1"] > value["IDF title", "expected", "MAP at 1"]
    assert "MAP at 1" not in {each["measure"] for each in figures["figure-7"]}
    assert len(figures["figure-6"]) == 8 * 2 * 5 and ohsumed.chart(figures["figure-6"]).to_dict()["mark"]


KNOWN = np.array([[5.0, 4.0, 0.0], [3.0, 0.0, 0.0], [0.0, 0.0, 0.0]])


def test_recommenders_by_hand():
    assert ratings.popularity(KNOWN).tolist() == [[2, 1, 0]] * 3
    mean = 12 / 3
    assert ratings.mean_rating(KNOWN)[0] == pytest.approx([(8 + 5 * mean) / 7, (4 + 5 * mean) / 6, mean])
    likeness = 5 * 4 / (sqrt(5**2 + 3**2) * 4)
    expected = [[5 + 4 * likeness, 5 * likeness + 4, 0], [3, 3 * likeness, 0], [0, 0, 0]]
    assert ratings.item_item(KNOWN) == pytest.approx(np.array(expected), abs=1e-9)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ((0.1, 0.5, 0.1), " µMAP and NDCNG move by less than 25% of nDCG's move, as in the paper's figures."),
        ((0.2, 0.5, 0.1), ""),
        ((0.6, 0.5, 0.1), " µMAP moves more than nDCG: contrary to the paper, the number of levels matters."),
        (
            (0.6, 0, 0.1),
            " µMAP and NDCNG move more than nDCG: contrary to the paper, the number of levels matters.",
        ),
        ((0.0, 0.0, 0.0), ""),
    ],
)
def test_what_is_said_of_fewer_levels_follows_from_the_changes(changes, said):
    assert ratings.compare_with_ndcg(dict(zip(["µMAP", "nDCG", "NDCNG"], changes, strict=True))) == said


def test_a_fifth_of_each_users_ratings_is_held_out():
    stars = np.random.default_rng(3).integers(0, 3, (20, 60)) / 2
    held = ratings.hold_out(stars, 4)
    assert (held.sum(axis=1) == np.count_nonzero(stars, axis=1) // 5).all() and not held[stars == 0].any()
    assert (ratings.hold_out(stars, 4) == held).all() and (ratings.hold_out(stars, 5) != held).any()
    assert (ratings.Ratings(stars, held).training[held] == 0).all()


def test_scales():
    stars = np.array([0, 0.5, 1, 1.5, 3.5, 4, 5])
    assert ratings.grades(stars, "half stars").tolist() == [0, 0, 1, 2, 6, 7, 9]
    assert ratings.grades(stars, "whole stars").tolist() == [0, 0, 0, 1, 3, 3, 4]
    assert ratings.grades(stars, "four stars or not").tolist() == [0, 0, 0, 0, 0, 1, 1]


@needs("ratings-ml-latest-small")
def test_film_ratings_on_a_part_of_the_users():
    every = ratings.read(DATA / ratings.DATA, seed=1)
    assert every.stars.shape == (671, 9066) and np.count_nonzero(every.stars) == 100_004
    some = every.stars[::6]
    some = some[:, np.count_nonzero(some, axis=0) > 0]
    records = ratings.score_recommenders(ratings.Ratings(some, ratings.hold_out(some, 1)), ignore)
    for task in ratings.tasks(records):
        changes = {name: ratings.change(records, task, name) for name in ratings.MEASURES}
        assert max(changes["µMAP"], changes["NDCNG"]) < changes["nDCG"] / 4
    answers = [found.answer for found in ratings.observations(records)]
    assert ["less than 25% of nDCG's" in answer for answer in answers] == [False, True, False, True, False, False]
    assert ["more than nDCG" in answer for answer in answers] == [False, False, True, False, True, False]
    assert ratings.order(records, "films they rated", "µMAP", 10)[0] == "mean rating"
    assert ratings.order(records, "all films new to them", "µMAP", 10) == ["item–item", "popularity", "mean rating"]
    shifts = ratings.by_shift(ratings.Ratings(some, ratings.hold_out(some, 1)))
    assert len(shifts) == 2 * 3 and all(
        one["µMAP"] > two["µMAP"] for one, two in zip(shifts[::2], shifts[1::2], strict=True)
    )
    assert "mean rating: µMAP" in ratings.shift(shifts).answer
    assert len(ratings.chart(records).to_dict()["vconcat"]) == 2
    assert ratings.describe_reordering(records).startswith("Only by nDCG of all films new to them")


def test_the_rank_correlation_is_scipys():
    rng = np.random.default_rng(0)
    for _ in range(20):
        x, y = rng.integers(0, 4, (2, 12))
        assert levels.rank_correlation(x, y) == pytest.approx(stats.spearmanr(x, y).statistic)
    assert levels.rank_correlation(x, np.ones(12)) == 0
