"""For which users is which run better: exact where the mean is linear in the shares, followed closely elsewhere."""

import json
import re
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import gradely
from gradely.cli.main import run as gradely_command
from gradely.comparison import populations, users
from gradely.comparison.charts import PALETTE, picture
from gradely.comparison.populations import Parts, draw_shares, find_best, find_leaders, grid, split_users, stretches
from gradely.comparison.users import UserRegions
from tests import reference


def collection(levels, seed, topics=9, runs=4, size=25):
    rng = np.random.default_rng(seed)
    qrels = {
        f"q{q}": {f"d{d}": int(x) for d, x in enumerate(rng.integers(0, levels + 1 - (q % 4 == 0), 12))}
        for q in range(topics)
    }
    several = {
        f"run{i}": {f"q{q}": {f"d{d}": int(rng.integers(0, 15)) for d in rng.permutation(size)} for q in range(topics)}
        for i in range(runs)
    }
    return qrels, several


@pytest.mark.parametrize("name", ["eGAP", "GAP", "xGAP", "eGAP@5", "xGAP@3"])
@pytest.mark.parametrize("levels", [2, 3, 5])
@pytest.mark.parametrize("ties", ["expected", "trec"])
def test_means_are_those_of_the_measure_for_that_population(name, levels, ties):
    qrels, runs = collection(levels, seed=levels)
    found, rng = gradely.users(qrels, runs, name, ties=ties), np.random.default_rng(1)
    for g in [*np.eye(levels), *rng.dirichlet(np.ones(levels), 4)]:
        measure = gradely.parse(name).replace(g=list(g))
        expected = {run: gradely.evaluate(qrels, data, [measure], ties=ties).mean() for run, data in runs.items()}
        means = found.means(g)
        assert means == pytest.approx({run: mean[str(measure)] for run, mean in expected.items()}, abs=1e-12)


def exact(qrels, run, level):
    """Return the mean AP at a level, as a fraction; nothing ties."""
    values = []
    for query, labels in qrels.items():
        ranking = [labels.get(doc) for doc in run[query]]
        base, hits, value = reference.recall_base(labels.values(), level), 0, Fraction(0)
        for rank, label in enumerate(ranking, 1):
            if label is not None and label >= level:
                hits += 1
                value += Fraction(hits, rank)
        values.append(value / base if base else Fraction(0))
    return sum(values, Fraction(0)) / len(values)


def untied(qrels, seed, runs=2):
    rng = np.random.default_rng(seed)
    return {f"run{i}": {q: [f"d{d}" for d in rng.permutation(14)] for q in qrels} for i in range(runs)}


@pytest.mark.parametrize("seed", range(12))
def test_the_share_at_which_two_runs_change_places_is_exact(seed):
    qrels, _ = collection(2, seed)
    runs = untied(qrels, seed)
    found = gradely.users(qrels, runs)
    low, high = ({name: exact(qrels, run, level) for name, run in runs.items()} for level in (1, 2))
    one, two_ = low["run0"] - low["run1"], high["run0"] - high["run1"]
    if one * two_ >= 0:
        assert len(found.stretches) == 1
        return
    share = -two_ / (one - two_)
    assert [s.start for s in found.stretches] == pytest.approx([0, float(share)], abs=1e-14)
    better = "run0" if one > 0 else "run1"
    assert found.runs[found.stretches[1].run] == better
    last = found.sentences()[1]
    assert last.startswith(
        f"{better} is better for populations of users of whom more than {float(100 * share):.0f} % are"
    )
    assert "content with level 1 (95 % interval over queries: " in last


@pytest.mark.parametrize("name", ["eGAP", "GAP", "xGAP"])
@pytest.mark.parametrize("seed", range(5))
def test_stretches_cover_all_shares_and_name_the_best_run(name, seed):
    qrels, _ = collection(2, seed)
    found = gradely.users(qrels, untied(qrels, seed, runs=7), name)
    assert found.stretches[0].start == 0 and found.stretches[-1].stop == 1
    assert all(a.stop == b.start and a.run != b.run for a, b in pairwise(found.stretches))
    assert sum(found.shares) == pytest.approx(1, abs=1e-12)
    for start, stop, run in found.stretches:
        for share in np.linspace(start, stop, 7)[1:-1]:
            means = found.means([share, 1 - share])
            assert means[found.runs[run]] == pytest.approx(max(means.values()), abs=1e-9)


@pytest.mark.parametrize("measure", ["eGAP", "GAP", "xGAP"])
def test_lines_that_are_the_same_or_meet_at_an_end(measure):
    def parts(*lines):
        table = np.zeros((2, 2, 1, len(lines)))
        for j, (one, two_) in enumerate(lines):
            table[0, 0, 0, j], table[1, 1, 0, j] = one, two_
        return Parts(table, np.ones((2, 1)), measure)

    assert [(s.start, s.stop, s.run) for s in stretches(parts((0.5, 0.5), (0.5, 0.5)))] == [(0, 1, 0)]
    assert [(s.start, s.stop, s.run) for s in stretches(parts((0.5, 0.5), (0.7, 0.5)))] == [(0, 1, 1)]
    assert [(s.start, s.stop, s.run) for s in stretches(parts((0.5, 0.5), (0.5, 0.3)))] == [(0, 1, 0)]
    assert [(s.start, s.stop, s.run) for s in stretches(parts((0.5, 0.3), (0.5, 0.5)))] == [(0, 1, 1)]
    assert [(s.start, s.stop, s.run) for s in stretches(parts((1.0, 0.1), (0.1, 0.1 + 6e-13)))] == [(0, 1, 0)]
    three = stretches(parts((0.0, 0.8), (0.4, 0.4), (0.8, 0.0)))
    assert [(s.start, s.stop, s.run) for s in three] == [(0, 0.5, 0), (0.5, 1, 2)]


def test_a_grid_has_every_population_once_and_shares_that_sum_to_1():
    for levels in (3, 4, 6):
        points = grid(levels)
        assert len(np.unique(points, axis=0)) == len(points) <= 6000
        np.testing.assert_allclose(points.sum(axis=1), 1, atol=1e-12)
        np.testing.assert_allclose(points.mean(axis=0), 1 / levels, atol=1e-12)


def test_of_runs_that_are_the_same_the_first_is_best():
    assert find_best(np.asarray([[0.5, 0.5 + 1e-15, 0.3], [0.1, 0.2, 0.2]])).tolist() == [0, 1]
    assert split_users(0.25).tolist() == [[0.25, 0.75]]


def test_three_levels_share_all_populations():
    qrels, runs = collection(3, seed=8)
    found = gradely.users(qrels, runs)
    assert sum(found.shares) == pytest.approx(1) and found.stretches == []
    assert all(0 <= low <= high <= 1 for low, high in found.intervals)
    assert "Across all populations of users, the best run is run" in found.sentences()[0]
    assert [record["run"] for record in found.records()] == found.runs


def test_the_order_of_queries_and_runs_changes_nothing():
    qrels, runs = collection(2, seed=3)
    found = gradely.users(qrels, runs)
    turned = gradely.users(dict(reversed(qrels.items())), dict(reversed(runs.items())))
    assert turned.runs == found.runs
    assert turned.sentences() == found.sentences()
    assert turned.intervals == found.intervals


def test_queries_that_cannot_reach_1_are_noted():
    qrels = {"q": {"a": 1, "b": 2}, "r": {"a": 1, "b": 1}}
    run = {"q": ["b", "a"], "r": ["a", "b"]}
    (note,) = gradely.users(qrels, {"ideal": run}).notes
    assert (note.kind, note.count, note.of) == ("unreachable", 1, 2) and "at most 0.7500" in note.text
    assert gradely.users(qrels, {"ideal": run}, "GAP").notes == []


@pytest.mark.parametrize("relevance", ["{0: 0, 1: 1, 2: 2, 3: 2}", "shift(-1, {0: 0, 1: 0, 2: 1, 3: 2, 4: 2})"])
def test_levels_may_be_merged(relevance):
    """F14 takes level 4 of TREC 21 for 3: with a relevance function, as if the labels were written so."""
    qrels, runs = collection(3, seed=8)
    merged = {query: {doc: min(label, 2) for doc, label in labels.items()} for query, labels in qrels.items()}
    found, expected = gradely.users(qrels, runs, f"eGAP(relevance={relevance})"), gradely.users(merged, runs)
    assert found.levels == [1, 2] and found.runs == expected.runs
    assert (found.stretches, found.shares) == (expected.stretches, expected.shares)
    assert found.means([0.3, 0.7]) == expected.means([0.3, 0.7])


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"measure": "AP"}, "eGAP, GAP or xGAP"),
        ({"measure": "eGAP(g=[0.5, 0.5])"}, "without g"),
        ({"measure": "eGAP(relevance='max')"}, "levels that all queries share"),
        ({"ties": "best"}, "a different order"),
    ],
)
def test_what_makes_no_sense_is_refused(given, text):
    with pytest.raises(gradely.GradelyError, match=text):
        gradely.users({"q": {"a": 1, "b": 2}}, {"run": {"q": ["a", "b"]}}, **given)
    with pytest.raises(gradely.DataError, match="2 to 8 levels above 0; found 1"):
        gradely.users({"q": {"a": 1}}, {"run": {"q": ["a"]}})
    with pytest.raises(gradely.DataError, match=r"found 9; merge some, as in eGAP\(relevance="):
        gradely.users({"q": {f"d{i}": i for i in range(10)}}, {"run": {"q": ["d1"]}})
    with pytest.raises(gradely.DataError, match="a share for each of the levels 1, 2"):
        gradely.users({"q": {"a": 1, "b": 2}}, {"run": {"q": ["a", "b"]}}).means([0.5, 0.4])


@pytest.mark.parametrize(("levels", "forms"), [(2, ["svg", "png"]), (3, ["svg"]), (4, ["svg"])])
def test_the_command_writes_text_data_and_pictures(levels, forms, tmp_path, capfdbinary):
    qrels, runs = collection(levels, seed=4)
    (tmp_path / "qrels.json").write_text(json.dumps(qrels))
    paths = [tmp_path / f"{name}.json" for name in runs]
    for path, data in zip(paths, runs.values(), strict=True):
        path.write_text(json.dumps(data))
    command = ["users", str(tmp_path / "qrels.json"), *map(str, paths)]
    assert gradely_command([*command, "--format", "json"]) == 0
    data = json.loads(capfdbinary.readouterr().out)
    assert data["levels"] == list(range(1, levels + 1)) and data["sentences"]
    for form in forms:
        picture = tmp_path / f"users.{form}"
        assert gradely_command([*command, "-o", str(picture)]) == 0
        assert picture.read_bytes()[:5] in (b"<svg ", b"\x89PNG\r")
    assert b"best for" in capfdbinary.readouterr().out


@pytest.mark.parametrize("measure", ["eGAP", "GAP", "xGAP"])
@pytest.mark.parametrize("top", [2, 3])
def test_queries_that_are_all_alike_give_an_interval_of_no_length_at_the_share(measure, top):
    labels = {"a": top, "b": 0, "c": 1, "d": top - 1}
    qrels = {f"q{i}": labels for i in range(5)}
    runs = {name: {query: list(order) for query in qrels} for name, order in (("x", "abcd"), ("y", "cdba"))}
    regions = gradely.users(qrels, runs, measure)
    for share, (low, high) in zip(regions.shares, regions.intervals, strict=True):
        assert 0 < share < 1
        assert low == pytest.approx(high, abs=1e-12)
        assert share == pytest.approx(low, abs=1e-4 if measure != "eGAP" and top == 2 else 1e-12)


@pytest.mark.parametrize("levels", [2, 3])
@pytest.mark.parametrize("measure", ["eGAP", "GAP", "xGAP"])
def test_runs_that_are_alike_have_the_same_share_whatever_their_names(levels, measure):
    qrels, runs = collection(levels, seed=5, runs=2)
    names = ("alpha", "omega")
    alone = gradely.users(qrels, {"middle": runs["run0"], "one": runs["run1"]}, measure)
    for twins in (names, names[::-1]):
        found = gradely.users(qrels, {"middle": runs["run0"]} | dict.fromkeys(twins, runs["run1"]), measure)
        share = dict(zip(found.runs, zip(found.shares, found.intervals, strict=True), strict=True))
        assert share["alpha"] == share["omega"] != (0.0, (0.0, 0.0))
        assert sorted(set(share.values())) == sorted(zip(alone.shares, alone.intervals, strict=True))
        text = " ".join(found.sentences())
        assert "alpha and omega" in text and text.replace("alpha and omega are", "one is").replace(
            "alpha and omega", "one"
        ) == " ".join(alone.sentences())
    same = gradely.users(qrels, dict.fromkeys(names, runs["run0"]), measure)
    assert same.shares == [1, 1] and same.intervals == [(1, 1), (1, 1)]


@pytest.mark.parametrize("levels", [2, 3, 4])
def test_one_query_has_no_interval(levels):
    qrels, runs = collection(levels, seed=6, topics=2)
    del qrels["q0"]
    found = gradely.users(qrels, runs)
    assert found.intervals == [] and "no intervals, which need at least two queries" in found.summary()
    assert all(record["best_for_low"] is None and record["best_for_high"] is None for record in found.records())
    assert "low" not in found.tables()[0].header and found.chart().to_dict()


@pytest.mark.parametrize(("b", "c"), [(0.7, 1.3), (2.1, 0.4)])
def test_the_share_of_populations_is_near_the_area(b, c):
    """The first run is ahead where g_1 > b·g_2 + c·g_3, a triangle. A grid up to the border is off by 0.002."""
    table = np.zeros((3, 3, 1, 2))
    table[[0, 1, 2], [0, 1, 2], 0, 0] = 1.0, 0.0, 0.0
    table[[0, 1, 2], [0, 1, 2], 0, 1] = 0.0, b, c
    winners = find_best(Parts(table, np.ones((3, 1)), "eGAP").means(grid(3)))
    assert (winners == 0).mean() == pytest.approx(1 / ((1 + b) * (1 + c)), abs=0.002)


def test_more_runs_than_colours_are_told_apart_by_dashes():
    """As they are drawn: no two lines have both the colour and the dashes in common."""
    qrels, runs = collection(2, seed=7, runs=11)
    svg = picture(gradely.users(qrels, runs).chart(), "svg").decode()
    lines = re.findall(r'"line mark"[^>]* stroke="(#\w+)"[^>]* stroke-dasharray="([\d,]+)"', svg)
    assert len(lines) == len(set(lines)) == 11 > len(PALETTE)


def test_runs_stand_in_the_order_of_their_means_with_all_levels_alike():
    """Those who ask for level 2 alone would have a first, and those who are content with level 1 would have it last."""
    qrels = {"q": {"one": 1, "two": 2, "other": 1}}
    orders = {"c": ["x", "two", "one"], "a": ["two", "x", "y"], "b": ["x", "two", "one"], "z": ["one", "two", "other"]}
    found = gradely.users(qrels, {name: {"q": order} for name, order in orders.items()})
    assert found.runs == ["z", "a", "b", "c"]
    populations = {"level_1": [1, 0], "level_2": [0, 1], "all_alike": [0.5, 0.5]}
    for name, g in populations.items():
        assert {record["run"]: record[name] for record in found.records()} == found.means(g)
    assert found.means([0.5, 0.5]) == pytest.approx({"z": 3 / 4, "a": 2 / 3, "b": 4 / 9, "c": 4 / 9})


@pytest.mark.parametrize("queries", ["both", "run"])
def test_one_run_is_measured_on_its_own_queries(queries):
    qrels, run = {"q": {"a": 1, "b": 2}, "missing": {"a": 1}}, {"q": ["a", "b"], "other": ["a"]}
    found = gradely.users(qrels, {"run": run}, queries=queries)
    assert found.queries == ["q", "other"][: 1 + (queries == "run")]


def test_a_pool_with_one_document_of_the_top_level_reaches_1():
    qrels = {"q": {"a": 1, "b": 2, "c": 2}, "r": {"a": 1, "b": 2}}
    assert gradely.users(qrels, {"run": {"q": ["a"], "r": ["b"]}}).notes == []


def test_queries_and_random_ties_are_drawn_by_seed_0():
    qrels, runs = collection(2, seed=9)
    usual, same, other = (gradely.users(qrels, runs, ties="random", **seed) for seed in ({}, {"seed": 0}, {"seed": 1}))
    assert usual.as_dict() == same.as_dict()
    assert usual.means([0.5, 0.5]) != other.means([0.5, 0.5]) and usual.intervals != other.intervals
    assert "95 % intervals from 1,000 draws of queries" in usual.summary()


def clip(polygon, side):
    """Return the part of a polygon of populations for which side · g is not below 0."""
    out = []
    for p, q in zip(polygon, polygon[1:] + polygon[:1], strict=True):
        if side @ p >= 0:
            out.append(p)
        if (side @ p) * (side @ q) < 0:
            out.append(p + (q - p) * (side @ p) / (side @ p - side @ q))
    return out


def test_shares_of_three_levels_are_near_the_exact_areas():
    """eGAP is linear in the shares: the populations for which a run is best are a polygon; docs/guides/users.md."""
    rng, points, errors = np.random.default_rng(0), grid(3), []
    for _ in range(300):
        values = rng.normal(0.5, 0.05, (rng.integers(2, 9), 1)) + rng.normal(0, 0.03, 3)
        values = values + rng.normal(0, 0.03, values.shape)
        found = np.bincount(find_best(points @ values.T), minlength=len(values)) / len(points)
        for i, own in enumerate(values):
            polygon = [*np.eye(3)]
            for j in (j for j in range(len(values)) if j != i):
                polygon = clip(polygon, own - values[j]) if polygon else []
            x, y = np.array(polygon)[:, 1:].T if len(polygon) > 2 else np.zeros((2, 1))
            errors.append(abs(abs((x * np.roll(y, -1) - y * np.roll(x, -1)).sum()) - found[i]))
    assert np.mean(np.array(errors) <= 0.002) > 0.95 and max(errors) < 0.007


def test_the_best_runs_are_named_from_the_largest_share_to_the_least():
    qrels, runs = collection(3, seed=8)
    (sentence,) = gradely.users(qrels, runs).sentences()
    shares = [int(share) for share in re.findall(r"(\d+) %", sentence)]
    assert len(shares) > 1 and shares == sorted(shares, reverse=True)


@pytest.mark.parametrize(("runs", "step"), [(3, 1), (22, 1), (23, 2)])
def test_intervals_hold_95_percent_of_1000_draws_and_of_very_many_runs_skip_populations(monkeypatch, runs, step):
    """5,995 populations of three levels in 1,000 draws: of 22 runs they have less than 2^27 means, of 23 more."""
    qrels, data = collection(3, seed=8, runs=runs)
    calls = []

    def draw(parts, points, draws):
        calls.append((len(points), draws.shape, {*draws.sum(axis=1)}))
        return np.linspace(np.zeros(runs), 1, len(draws))

    monkeypatch.setattr(populations, "draw_shares", draw)
    assert gradely.users(qrels, data).intervals == [pytest.approx((0.025, 0.975))] * runs
    assert calls == [(-(-5995 // step), (1000, len(qrels)), {len(qrels)})]


@pytest.mark.parametrize(
    ("second", "shares"),
    [
        ([0.8985, 0.9985], ["less than 0.2 %", "more than 0.2 %"]),  # it said "less than less than 1 %"
        ([0.5, 0.1004], ["less than 99.9 %", "more than 99.9 %"]),
        ([0.5, 0.5], ["less than 50 %", "more than 50 %"]),
    ],
)
def test_shares_at_which_runs_change_places_are_told_apart_from_none_and_all(second, shares):
    """eGAP is linear: the line from 0.9 to 0.1 crosses one from a to b at (0.9 - a) / (0.8 + b - a)."""
    table = np.zeros((2, 2, 1, 2))
    table[1, 1, 0], table[0, 0, 0] = zip([0.9, 0.1], second, strict=True)
    found = UserRegions(["one", "two"], [1.0, 2.0], ["q"], Parts(table, np.ones((2, 1)), "eGAP"), "eGAP", 0, [])
    for text, share in zip(found.sentences(), shares, strict=True):
        assert f"of whom {share} are content" in text


def test_the_sentence_of_each_change_of_places_has_its_interval():
    qrels, runs = collection(2, seed=3, runs=6)
    found = gradely.users(qrels, runs)
    first, *others = found.sentences()
    assert "interval" not in first and len(others) > 1
    for sentence, crossing in zip(others, found.crossings, strict=True):
        assert 0 <= crossing.min() < crossing.max() <= 1
        low, high = np.quantile(crossing, [0.025, 0.975])
        assert f" (95 % interval over queries: {100 * low:.0f} % to {100 * high:.0f} %" in sentence


def test_draws_without_a_change_and_with_the_opposite_one_are_told_apart():
    """Of 1,000 draws, those in which the runs change places the other way round were said not to change them."""
    qrels, runs = collection(2, seed=3, runs=6)
    found = gradely.users(qrels, runs)
    for i, (before, after) in enumerate(zip(found.stretches, found.stretches[1:], strict=False)):
        kinds = {"as": 0, "turned": 0, "not": 0}
        for counts in np.random.default_rng(0).multinomial(9, np.full(9, 1 / 9), 1000).astype(float):
            lead = found.parts.means(split_users([0.0, 1.0]), counts[None])[0]
            left, right = (lead[:, before.run] - lead[:, after.run]).tolist()
            kinds["as" if left > 0 >= right else "turned" if left < 0 <= right else "not"] += 1
        assert (len(found.crossings[i]), found.turned[i]) == (kinds["as"], kinds["turned"])
        sentence = found.sentences()[i + 1]
        for count, words in (
            (kinds["turned"], "change places the other way round"),
            (kinds["not"], "do not change places"),
        ):
            share = f"{count / 10:.0f} %" if count >= 5 else "less than 1 %"
            assert (f"; in {share} of the draws they {words}" in sentence) == (count > 0)


def test_edges_and_corners_are_named_where_a_run_has_next_to_no_share():
    """eGAP is linear: sharp is ahead by a hair where all want level 3, and far behind elsewhere."""
    table = np.zeros((3, 3, 1, 2))
    table[0, 0, 0], table[1, 1, 0], table[2, 2, 0] = [0.9, 0.1], [0.9, 0.1], [0.5, 0.501]
    parts = Parts(table, np.ones((3, 1)), "eGAP")
    found = UserRegions(["broad", "sharp"], [1.0, 2.0, 3.0], ["q"], parts, "eGAP", 0, [])
    assert found.means([0, 0, 1]) == {"broad": 0.5, "sharp": 0.501} and found.shares == [1.0, 0.0]
    assert found.sentences() == [
        (
            "Across all populations of users, the best run is broad for nearly all; sharp is best where all users want "
            "level 3."
        )
    ]


@pytest.mark.parametrize(
    ("measure", "late", "says"),
    [
        (
            "GAP",
            ["x", "b", "a"],
            ["low is best for nearly every population of users; high is best where all users want level 2."],
        ),
        ("GAP", ["x", "a", "b"], ["low is best for every population of users."]),
        ("eGAP", ["x", "a", "b"], ["low is best for every population of users."]),
    ],
)
def test_a_run_that_is_best_where_all_users_want_one_of_two_levels_is_named(measure, late, says):
    """GAP of q1, which has no document of level 2, is 1 for all other populations: the sentence said "every"."""
    qrels = {"q1": {"a": 1}, "q2": {"a": 1, "b": 2}}
    runs = {"low": {"q1": ["a"], "q2": ["x", "y", "b"]}, "high": {"q1": ["x"], "q2": late}}
    regions = gradely.users(qrels, runs, measure)
    best = max(regions.means([0, 1]), key=regions.means([0, 1]).get)
    assert regions.sentences() == says and best == ("high" if "high" in says[0] else "low")


def test_a_run_that_is_best_on_an_edge_alone_is_named():
    table = np.zeros((3, 3, 1, 3))
    table[0, 0, 0], table[1, 1, 0], table[2, 2, 0] = [0.5, 0.4, 0.4501], [0.4, 0.5, 0.4501], [0.9, 0.9, 0.1]
    parts = Parts(table, np.ones((3, 1)), "eGAP")
    found = UserRegions(["one", "two", "edge"], [1.0, 2.0, 3.0], ["q"], parts, "eGAP", 0, [])
    (text,) = found.sentences()
    assert found.shares[2] == 0
    assert text.endswith("; edge is best for some who all want level 1 or 2.")


@pytest.mark.parametrize("measure", ["eGAP", "GAP", "xGAP"])
def test_queries_that_are_all_alike_change_places_where_the_runs_do(measure):
    qrels = {f"q{i}": {"a": 2, "b": 0, "c": 1, "d": 1} for i in range(5)}
    runs = {name: {query: list(order) for query in qrels} for name, order in (("x", "abcd"), ("y", "cdba"))}
    found = gradely.users(qrels, runs, measure)
    (crossing,), share = found.crossings, found.stretches[0].stop
    assert len(crossing) == 1000 and crossing == pytest.approx(share, abs=1e-4) and abs(share - 0.5) > 0.01
    percent = f"{100 * share:.0f} %"
    assert found.sentences()[1].endswith(f"(95 % interval over queries: {percent} to {percent}).")
    table = found.tables()[1]
    assert table.header == ["best run", "from a share of level 1", "to"]
    assert table.rows == [["x", 0, share], ["y", share, 1]]


def test_the_first_fall_to_0_is_found_on_the_line_between_two_points():
    ahead = np.asarray([[-1.0, 1, -1], [1, -1, 2], [1, 2, 1], [2, 1, -3], [1, 0, -1], [-1, -2, -1], [0, 1, 2]])
    found = users.find_zeros(ahead, np.asarray([0.0, 0.5, 1.0]))
    assert found.tolist() == [0.75, 0.25, 0.625, 0.5]


def test_means_over_all_queries_drawn_once_or_some_twice_are_plain_means():
    table, base = np.random.default_rng(0).random((3, 3, 4, 2)), np.full((3, 4), 5.0)
    parts, points = Parts(table, base, "xGAP"), grid(3)[:50]
    once, twice = parts.means(points, np.asarray([[1.0, 1, 1, 1], [2, 0, 0, 2]]))
    np.testing.assert_allclose(once, parts.means(points), atol=1e-15)
    np.testing.assert_allclose(twice, Parts(table[:, :, [0, 3]], base[:, [0, 3]], "xGAP").means(points), atol=1e-15)


def test_runs_are_alike_only_where_they_are_so_for_every_population():
    assert find_leaders(np.asarray([[0.5, 0.5, 0.5, 0.3], [0.1, 0.2, 0.1 + 1e-15, 0.2]])) == [0, 1, 0, 3]


@pytest.mark.parametrize("cells", [1, 60, 1000])
def test_how_much_is_done_in_one_go_changes_nothing(monkeypatch, cells):
    rng = np.random.default_rng(0)
    parts, points = Parts(rng.random((3, 3, 4, 2)), np.full((3, 4), 5.0), "eGAP"), grid(3)[:50]
    counts = rng.multinomial(4, np.full(4, 0.25), 20).astype(float)
    shares, means = draw_shares(parts, points, counts), parts.means(points)
    monkeypatch.setattr(populations, "CELLS", cells)
    np.testing.assert_allclose(draw_shares(parts, points, counts), shares, atol=1e-15)
    np.testing.assert_allclose(parts.means(points), means, atol=1e-15)
