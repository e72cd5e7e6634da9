"""Systems on several collections: random effects against other computations, what is lacking, what is refused."""

import json
from math import log, sqrt

import numpy as np
import pytest
from scipy import stats

import gradely
from gradely.cli.main import run as cli
from gradely.comparison.random_effects import combine, paule_mandel, squares
from gradely.comparison.sentences import format_signed
from tests.trec_files import write_trec


def ranked(places):
    """Return a run that has the relevant document of each query at these places."""
    return {f"q{i}": [f"x{k}" for k in range(place - 1)] + ["d"] for i, place in enumerate(places)}


def collection(seed, queries, systems, highest=6):
    """Return a collection on which each system has the relevant documents at random places."""
    rng = np.random.default_rng(seed)
    runs = {name: ranked(rng.integers(1, highest + i, queries).tolist()) for i, name in enumerate(systems)}
    return {"qrels": {f"q{i}": {"d": 1} for i in range(queries)}, "runs": runs}


SUITE = {name: collection(seed, 20 + 9 * seed, ("a", "b", "c"), 4 + seed) for seed, name in enumerate("vwxyz")}


def differences(entry, first, second):
    return [1 / len(entry["runs"][first][q]) - 1 / len(entry["runs"][second][q]) for q in entry["qrels"]]


def iterate(y, v):
    """Return τ² by the iteration of DerSimonian and Kacker (2007), mean, error and the variance that τ² gives it."""
    tau2 = 0.0
    for _ in range(500):
        w = [1 / (one + tau2) for one in v]
        mean = sum(a * b for a, b in zip(w, y, strict=True)) / sum(w)
        excess = sum(a * (b - mean) ** 2 for a, b in zip(w, y, strict=True)) - (len(y) - 1)
        if excess <= 0:
            break
        tau2 += excess / sum(a * a * (b - mean) ** 2 for a, b in zip(w, y, strict=True))
    spread = [one + tau2 for one in v]
    w = [1 / (one + float(np.median(v))) for one in spread]
    share = np.array(w) / sum(w)
    mean = float(share @ y)
    # the distances to the mean are M·y, and the estimate of each y's own variance is right for the spreads s
    matrix = np.eye(len(y)) - np.outer(np.ones(len(y)), share)
    distances = np.diag(matrix @ np.diag(spread) @ matrix.T)
    square = sum(p**2 * (b - mean) ** 2 * s / e for p, b, s, e in zip(share, y, spread, distances, strict=True))
    return tau2, mean, sqrt(square), sum(p**2 * s for p, s in zip(share, spread, strict=True))


def test_random_effects_are_what_another_iteration_finds():
    rng = np.random.default_rng(3)
    above = 0
    for _ in range(200):
        size = int(rng.integers(2, 15))
        v = rng.uniform(1e-5, 2e-3, size)
        y = rng.normal(0.01, rng.choice([0, 0.02, 0.1]), size) + rng.normal(0, 1, size) * np.sqrt(v)
        found = combine(y, v)
        made = (found.tau2, found.difference, found.error, found.variance)
        assert made == pytest.approx(iterate(y.tolist(), v.tolist()), rel=1e-7, abs=1e-10)
        assert squares(y, v, found.tau2) == pytest.approx(size - 1) or found.tau2 == 0
        above += found.tau2 > 0
    assert 100 < above < 200


def test_the_error_is_right_on_average_where_variances_are_known():
    rng = np.random.default_rng(8)
    v = np.array([1e-3, 1e-3, 2e-3, 1e-2, 4e-4, 1e-3])
    found = [combine(rng.normal(0, np.sqrt(v)), v) for _ in range(1000)]
    estimated = np.mean([one.error**2 for one in found])
    assert estimated == pytest.approx(np.var([one.difference for one in found]), rel=0.15)


def test_the_vaccine_trials_have_their_published_values():
    """Thirteen trials of BCG (Colditz and others 1994), log risk ratios: τ² .3181 by PM; with it, I² is 92.1 %."""
    trials = [
        *((4, 119, 11, 128), (6, 300, 29, 274), (3, 228, 11, 209), (62, 13536, 248, 12619), (33, 5036, 47, 5761)),
        *((180, 1361, 372, 1079), (8, 2537, 10, 619), (505, 87886, 499, 87892), (29, 7470, 45, 7232)),
        *((17, 1699, 65, 1600), (186, 50448, 141, 27197), (5, 2493, 3, 2338), (27, 16886, 29, 17825)),
    ]
    y = np.array([log(a / (a + b)) - log(c / (c + d)) for a, b, c, d in trials])
    v = np.array([1 / a - 1 / (a + b) + 1 / c - 1 / (c + d) for a, b, c, d in trials])
    found = combine(y, v)
    assert round(found.tau2, 4) == 0.3181
    # with the weights that are best for this τ², the mean is -.7150 and its error .1809
    assert abs(found.difference + 0.7150) < 0.02 and abs(found.error - 0.1809) < 0.01
    assert round(100 * found.i2, 1) == 92.1 and sum(found.weights) == pytest.approx(1)


def test_a_case_by_hand():
    """Differences .1 and .5 with variances .02: (.2² + .2²)/(.02 + τ²) = 1, so that τ² is .06."""
    found = combine(np.array([0.1, 0.5]), np.array([0.02, 0.02]))
    assert (found.difference, found.tau2, found.error) == pytest.approx((0.3, 0.06, sqrt(0.08 / 2)))
    assert found.i2 == pytest.approx(1 - 1 / (0.08 / 0.02)) and found.prediction(0.95) is None
    three = combine(np.array([0.1, 0.3, 0.5]), np.array([0.01] * 3))  # .08/(.01 + τ²) = 2
    reach = stats.t.isf(0.025, 1) * sqrt(0.03 + 0.04 / 3)
    assert three.tau2 == pytest.approx(0.03)
    assert three.prediction(0.95) == pytest.approx((0.3 - reach, 0.3 + reach))


@pytest.mark.parametrize(
    ("y", "v", "expected"),
    [
        ([0.1, 0.1, 0.1], [0.0, 0.01, 0.01], (0.0, 0.0)),
        ([0.0, 0.0], [0.0, 0.0], None),  # nothing to weight by
        ([0.1, 0.1], [0.01, 0.02], (0.0, 0.0)),
        ([0.1, 0.12, 0.11], [0.0, 0.01, 0.01], (0.0, 0.0)),
        ([0.0, 0.2], [0.0, 0.0], (0.02, 1.0)),  # differences without error: their own variance, and no chance in it
    ],
)
def test_variances_of_0(y, v, expected):
    found = combine(np.array(y), np.array(v))
    assert (None if found is None else (found.tau2, found.i2)) == pytest.approx(expected)
    assert found is None or 0 < found.error < 1


def test_where_all_differences_are_the_same_their_errors_make_that_of_the_mean():
    found = combine(np.array([0.1, 0.1]), np.array([0.01, 0.02]))
    first, second = 1 / (0.01 + 0.015), 1 / (0.02 + 0.015)
    assert found.error**2 == pytest.approx((first**2 * 0.01 + second**2 * 0.02) / (first + second) ** 2)


def test_a_sure_difference_among_unsure_ones_has_weight_but_is_not_all():
    y, v = np.array([0.0, 0.3, -0.2, 0.25]), np.array([0.0, 1e-3, 1e-3, 2e-3])
    tau2 = paule_mandel(y, v)
    assert squares(y, v, tau2) == pytest.approx(3) and max(combine(y, v).weights) < 0.3
    around = sum((one - y[0]) ** 2 / error for one, error in zip(y[1:], v[1:], strict=True))  # the sure one is the mean
    assert combine(y, v).i2 == pytest.approx(1 - 3 / around)


def test_pairs_are_what_the_collections_say():
    made = gradely.suite(SUITE, ["RR"], correction="bonferroni", alpha=0.1)
    assert [(pair.first, pair.second) for pair in made.pairs] == [
        (made.systems[i], made.systems[j]) for i, j in ((0, 1), (0, 2), (1, 2))
    ]
    for pair in made.pairs:
        columns = [differences(entry, pair.first, pair.second) for entry in SUITE.values()]
        y, v = [np.mean(one) for one in columns], [np.var(one, ddof=1) / len(one) for one in columns]
        tau2, mean, error, variance = iterate(y, v)
        reach, predicted = stats.t.isf(0.05, 4) * error, stats.t.isf(0.05, 3) * sqrt(tau2 + variance)
        assert pair.difference == pytest.approx(mean, abs=1e-9)
        assert (pair.low, pair.high) == pytest.approx((mean - reach, mean + reach), abs=1e-8)
        assert pair.p == pytest.approx(2 * stats.t.sf(abs(mean) / error, 4), rel=1e-6)
        assert pair.adjusted == pytest.approx(min(1, 3 * pair.p))
        assert pair.tau2 == pytest.approx(tau2, abs=1e-9)
        assert pair.prediction == pytest.approx((mean - predicted, mean + predicted), abs=1e-7)
        plain = stats.ttest_1samp(y, 0)
        ends = plain.confidence_interval(0.9)
        assert (pair.macro_difference, pair.macro_p) == pytest.approx((np.mean(y), plain.pvalue))
        assert (pair.macro_low, pair.macro_high) == pytest.approx((ends.low, ends.high))
        assert (pair.collections, pair.higher) == (5, sum(one > 0 for one in y))
        squared = squares(np.array(y), np.array(v), 0.0)
        assert pair.i2 == pytest.approx(max(0.0, 1 - 4 / squared))
        for effect, column in zip(made.effects(pair.first, pair.second), columns, strict=True):
            ends = stats.ttest_1samp(column, 0).confidence_interval(0.9)
            assert (effect.low, effect.high) == pytest.approx((ends.low, ends.high))
            assert effect.queries == len(column)
    top = made.pairs[0]
    low, high = map(format_signed, top.prediction)
    new = f"On a new collection, {top.first} − {top.second} is expected to lie between {low} and {high}"
    assert made.summary().endswith(
        f" {new} (90 % prediction interval, uncorrected); it is above 0 on {top.higher} of 5."
    )


def test_the_macro_mean_is_the_plain_mean_of_the_means():
    made = gradely.suite(SUITE, ["RR", "P@1"])
    for system, by_measure in made.macro_mean().items():
        for measure, value in by_measure.items():
            means = [gradely.evaluate(one["qrels"], one["runs"][system], [measure])[measure] for one in SUITE.values()]
            assert value == pytest.approx(sum(means) / len(means), abs=1e-15)
    best = max(made.macro_mean(), key=lambda name: made.macro_mean()[name]["RR"])
    assert made.systems[0] == best and [row[0] for row in made.table().rows] == [*"vwxyz", "macro mean"]
    assert [table.header[0] for table in made.tables()] == ["RR", "P@1"]
    for row in made.table().rows:
        values = [cell.value for cell in row[2:]]
        assert [cell.best for cell in row[2:]] == [value == max(values) for value in values]


def test_the_order_of_collections_and_systems_does_not_matter():
    turned = {
        name: {"qrels": entry["qrels"], "runs": dict(reversed(entry["runs"].items()))}
        for name, entry in reversed(SUITE.items())
    }
    one, other = gradely.suite(SUITE, ["RR"]), gradely.suite(turned, ["RR"])
    for x, y in zip(one.pairs, other.pairs, strict=True):
        assert x[:5] == y[:5] and x[5:11] == pytest.approx(y[5:11])


def test_a_collection_that_lacks_a_system_is_named_and_never_filled():
    lacking = {name: entry | {"runs": dict(entry["runs"])} for name, entry in SUITE.items()}
    del lacking["w"]["runs"]["c"]
    made = gradely.suite(lacking, ["RR"])
    assert made.lacking == {"w": ["c"]} and made.shared == ["v", "x", "y", "z"]
    over = "the macro means are over the 4 of 5 collections that have every system"
    both = "two systems are compared on the collections that have both"
    assert [note.text for note in made.notes][:2] == ["w has no run of c", f"{over}; {both}"]
    assert {(pair.first, pair.second): pair.collections for pair in made.pairs} == {
        (a, b): 4 if "c" in (a, b) else 5 for a, b in ((p.first, p.second) for p in made.pairs)
    }
    assert made.summary().startswith("Over 4 to 5 collections, depending on the pair, by RR, ")
    column = made.table().header.index("c")
    assert [row[column] is None for row in made.table().rows] == [False, True, False, False, False, False]
    four = {name: entry for name, entry in SUITE.items() if name != "w"}
    assert made.macro_mean() == gradely.suite(four, ["RR"]).macro_mean()
    assert json.loads(made.to_json())["collections"][1]["lacking"] == ["c"]


def test_no_macro_mean_is_made_up_where_no_collection_has_every_system():
    parts = {
        "v": {"qrels": SUITE["v"]["qrels"], "runs": {k: SUITE["v"]["runs"][k] for k in "ab"}},
        "w": {"qrels": SUITE["w"]["qrels"], "runs": {k: SUITE["w"]["runs"][k] for k in "bc"}},
    }
    made = gradely.suite(parts, ["RR"])
    assert made.macro_mean() == {} and "macro mean" not in str(made.table())
    assert {frozenset((pair.first, pair.second)) for pair in made.pairs} == {frozenset("ab"), frozenset("bc")}
    texts = [note.text for note in made.notes]
    assert "no collection has every system, so there are no macro means; two systems are compared on the" in texts[2]
    assert any(text.startswith("2 of 2 pairs of systems have one collection in common") for text in texts)
    alone = {
        name: entry | {"runs": {system: entry["runs"][system]}}
        for name, entry, system in (("v", SUITE["v"], "a"), ("w", SUITE["w"], "b"))
    }
    none = gradely.suite(alone, ["RR"])
    assert none.pairs == [] and "no two systems have a collection" in none.caption() and str(none)
    single = gradely.suite({"v": alone["v"]}, ["RR"])
    assert single.pairs == single.notes == [] and "Nothing is tested: there is only one system." in single.caption()


def test_one_collection_is_compared_as_compare_does_and_says_so():
    made = gradely.suite({"v": SUITE["v"]}, ["RR"])
    plain = gradely.compare(SUITE["v"]["qrels"], SUITE["v"]["runs"], ["RR"])
    for pair, expected in zip(made.pairs, plain.pairs, strict=True):
        assert (pair.difference, pair.low, pair.high, pair.p, pair.adjusted) == pytest.approx(
            (expected.difference, expected.low, expected.high, expected.p, expected.adjusted)
        )
        assert (pair.tau2, pair.i2, pair.prediction, pair.macro_p) == (None,) * 4
    assert "the verdict is about its queries, and says nothing about other collections" in made.notes[0].text
    for row in made.spread_table().records():
        assert [row[name] for name in ("τ", "I²", "new low", "new high", "macro p")] == [None] * 5
    pair = {"v": SUITE["v"] | {"runs": {name: SUITE["v"]["runs"][name] for name in "ab"}}}
    assert gradely.suite(pair, ["RR"]).notes[0].text.startswith("a and b have one collection in common: ")


def test_two_collections_have_one_degree_of_freedom_and_no_prediction():
    made = gradely.suite({name: SUITE[name] for name in "vw"}, ["RR"])
    assert all(pair.prediction is None and pair.tau2 is not None for pair in made.pairs)
    assert "two collections in common, so t has one degree of freedom" in made.notes[0].text
    assert "On a new collection" not in made.summary()
    for pair in made.pairs:
        columns = [differences(SUITE[name], pair.first, pair.second) for name in "vw"]
        y, v = [np.mean(one) for one in columns], [np.var(one, ddof=1) / len(one) for one in columns]
        tau2, mean, error, _ = iterate(y, v)
        assert (pair.difference, pair.tau2) == pytest.approx((mean, tau2), abs=1e-9)
        assert pair.p == pytest.approx(2 * stats.t.sf(abs(mean) / error, 1), rel=1e-6)
    for row, pair in zip(made.pairs_frame("polars").rows(named=True), made.pairs, strict=True):
        assert (row["prediction_low"], row["prediction_high"]) == (None, None)
        assert (row["tau2"], row["i2"]) == (pair.tau2, pair.i2)


def test_no_interval_reaches_beyond_what_a_difference_can_be():
    made = gradely.suite({name: SUITE[name] for name in "vwx"}, ["RR"], alpha=0.001)
    assert {pair.prediction for pair in made.pairs} == {(-1.0, 1.0)} and all(
        pair.macro_high <= 1 for pair in made.pairs
    )


def test_identical_systems_are_the_same():
    same = {name: entry | {"runs": {"a": entry["runs"]["a"], "b": entry["runs"]["a"]}} for name, entry in SUITE.items()}
    (pair,) = (made := gradely.suite(same, ["RR"])).pairs
    assert (pair.difference, pair.p, pair.low, pair.high, pair.significant) == (0, 1, None, None, False)
    assert "a and b have the same value on every query" in made.summary() and pair.higher == 0
    assert made.plot().to_dict()["vconcat"]
    worse = {name: entry | {"runs": {"a": ranked([2] * 9), "b": ranked([1] * 9)}} for name, entry in same.items()}
    turned = gradely.suite(
        {name: worse[name] | {"qrels": {f"q{i}": {"d": 1} for i in range(9)}} for name in worse}, ["RR"], baseline="b"
    )
    assert turned.pairs[0].difference == -0.5 and "have the same value" not in turned.summary()
    assert turned.systems == ["b", "a"]
    numbered = {name: entry | {"runs": dict(enumerate(entry["runs"].values()))} for name, entry in same.items()}
    assert gradely.suite(numbered, ["RR"]).systems == ["0", "1"]


def test_a_collection_on_which_nothing_varies_is_weighted_like_others():
    """On one collection both differ by the same on every query; on the others by the same on average."""
    first = {"qrels": {f"q{i}": {"d": 1} for i in range(6)}, "runs": {"a": ranked([1] * 6), "b": ranked([2] * 6)}}
    other = first | {"runs": {"a": ranked([1] * 6), "b": ranked([1, 1, 2, 2, 4, 4])}}
    made = gradely.suite({"x": first, "y": other, "z": other}, ["RR"])
    (pair,) = made.pairs
    # variances 0, v and v have the median v, so that the weights are 1/2, 1/4 and 1/4, and all distances are e = 1/24;
    # those of the last two have the variance v/2 + v/8, and count (1/16)·e²·v/(5v/8) each
    mean, error = 0.5 / 2 + 2.5 / 6 / 2, sqrt(2 / 10) / 24
    assert (pair.difference, pair.tau2, pair.i2) == pytest.approx((mean, 0, 0))
    (note,) = made.notes  # v is .021, and e² far less
    assert note.text.startswith("in 1 of 1 test the differences on the collections are closer together than their st")
    assert [one.kind for one in made.gate("b", "a").notes] == ["alike"]
    assert pair.p == pytest.approx(2 * stats.t.sf(mean / error, 2))


def test_where_nothing_varies_there_is_no_t_and_it_is_said():
    first = {"qrels": {f"q{i}": {"d": 1} for i in range(6)}, "runs": {"a": ranked([1] * 6), "b": ranked([2] * 6)}}
    constant = gradely.suite({"x": first, "y": first}, ["RR"])
    (pair,) = constant.pairs
    assert (pair.difference, pair.p, pair.low, pair.tau2, pair.i2) == (0.5, 2 / 2**2, None, 0.0, 0.0)
    assert (pair.macro_low, pair.macro_high) == (None, None)
    assert [effect.low for effect in constant.effects("a", "b")] == [None, None]
    assert constant.gate("b", "a").verdict == "undecided"
    assert "2 collections are too few" in constant.gate("b", "a").summary()
    kinds = {note.kind: note.text for note in constant.notes}
    assert "the difference is the same on every query" in kinds["spreadless"]
    assert kinds["coarse"].endswith(": use more queries or collections")
    few, same = "3 queries are too few", "it is the limit itself on every query"
    for limit, queries, says in ((0.0, 3, few), (0.75, 3, few), (0.5, 6, same)):
        one = {"qrels": {f"q{i}": {"d": 1} for i in range(queries)}} | {"runs": first["runs"]}
        gate = gradely.suite({"x": one}, ["RR"]).gate("b", "a", max_drop=limit)
        assert f"(limit {limit:g}; {says})" in gate.summary() and "spreadless" in [note.kind for note in gate.notes]


def test_a_collection_of_one_query_is_left_out_of_the_tests():
    one = {"qrels": {"q0": {"d": 1}}, "runs": {"a": ranked([1]), "b": ranked([2]), "c": ranked([3])}}
    made = gradely.suite(SUITE | {"one": one}, ["RR"])
    assert {pair.collections for pair in made.pairs} == {5} and "one" in made.shared
    assert any(note.kind == "single" and note.text.endswith(": one") for note in made.notes)
    why = "othing is tested: no two systems have a collection of more than one query in common."
    alone = gradely.suite({"one": one, "two": one}, ["RR"])
    assert alone.summary() == f"Over 2 collections, by RR, a has the highest mean, but n{why}"
    assert alone.caption().startswith(f"N{why}")


def test_systems_may_have_several_runs():
    rng = np.random.default_rng(1)
    seeds = {
        name: {
            "qrels": entry["qrels"],
            "runs": {
                "a": [ranked(rng.integers(1, 5, len(entry["qrels"])).tolist()) for _ in range(3)],
                "b": entry["runs"]["b"],
            },
        }
        for name, entry in SUITE.items()
    }
    made = gradely.suite(seeds, ["RR"])
    for effect in made.effects("a", "b"):
        (pair,) = gradely.compare(seeds[effect.collection]["qrels"], seeds[effect.collection]["runs"], ["RR"]).pairs
        sign = 1 if pair.first == "a" else -1
        assert effect.difference == pytest.approx(sign * pair.difference) and effect.freedom == pytest.approx(
            pair.freedom
        )
    floor = made.gate("a", floors={"P@1": 0.5}).floors[0].value
    means = [
        gradely.evaluate(entry["qrels"], run, ["P@1"])["P@1"] for entry in seeds.values() for run in entry["runs"]["a"]
    ]
    assert floor == pytest.approx(np.mean(means))


def test_baselines_families_and_what_frames_and_json_hold():
    made = gradely.suite(SUITE, ["RR", "P@1"], baseline="b", family="all")
    assert {pair.second for pair in made.pairs} == {"b"} and len(made.pairs) == 4
    expected = gradely.comparison.tests.adjust([pair.p for pair in made.pairs], "holm")
    assert [pair.adjusted for pair in made.pairs] == pytest.approx(expected.tolist())
    content = json.loads(made.to_json())
    assert content["pairs"][0]["prediction"].keys() == {"low", "high"} and len(content["pairs"][0]["effects"]) == 5
    assert len(made.to_frame()) == 5 * 3 * 2 and len(made.pairs_frame("polars")) == 4
    for pair, row in zip(made.pairs, made.pairs_frame("polars").rows(named=True), strict=True):
        assert (row["prediction_low"], row["prediction_high"]) == pair.prediction and "prediction" not in row
    for pair, row in zip(made.pairs, made.spread_table().records(), strict=True):
        shown = [row[name] for name in ("τ", "I²", "new low", "new high", "macro p")]
        assert shown == [sqrt(pair.tau2), f"{100 * pair.i2:.0f} %", *pair.prediction, pair.macro_p]
    for entry, pair in zip(content["pairs"], made.pairs, strict=True):
        effects = made.effects(pair.first, pair.second, pair.measure)
        assert entry["effects"] == [effect._asdict() for effect in effects]
        for effect, back in zip(effects, made.effects(pair.second, pair.first, pair.measure), strict=True):
            assert (back.difference, back.low, back.high) == (-effect.difference, -effect.high, -effect.low)
    with pytest.raises(gradely.DataError, match="no measure 'AP' in this suite: use one of RR, P@1"):
        made.effects("a", "b", "AP")


def write(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    for name, entry in SUITE.items():
        write_trec(folder, {name: entry["qrels"]}, {f"{name}.{system}": run for system, run in entry["runs"].items()})
    content = {
        name: {"qrels": f"{name}.qrels", "runs": {system: f"{name}.{system}.run" for system in "abc"}} for name in SUITE
    }
    (folder / "suite.json").write_text(json.dumps({"measures": ["RR"], "baseline": "b"} | content))
    lines = ['measures = "RR"', 'baseline = ["b"]']
    for name in SUITE:
        lines += [f"[{name}]", f'qrels = "{name}.qrels"', *(f'runs.{one} = "{name}.{one}.run"' for one in "abc")]
    (folder / "suite.toml").write_text("\n".join(lines))


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Work beside a folder with a suite, so that its paths are not relative to where one is."""
    write(tmp_path)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def passages(files, tmp_path):
    """Work beside collections of passages, with weights of queries, documents to drop and several runs of a system."""
    folder, lines, entries = tmp_path / "data", [], {}
    for name, entry in list(SUITE.items())[:3]:
        queries = list(entry["qrels"])
        weights = {query: 1 + i % 3 for i, query in enumerate(queries)}
        runs = {"a": entry["runs"]["a"], "b": [entry["runs"]["b"], entry["runs"]["c"]]}
        entries[name] = {"qrels": entry["qrels"], "runs": runs, "weights": weights, "exclude": {queries[0]: ["x0"]}}
        (folder / f"{name}.csv").write_text("query,weight\n" + "".join(f"{q},{w}\n" for q, w in weights.items()))
        (folder / f"{name}.drop").write_text(f"query,document\n{queries[0]},x0\n")
        for system in "abc":
            ranked_lines = [
                f"{query} Q0 {document}#{i} 1 {50 - k - i / 4} {system}\n"
                for query, ranking in entry["runs"][system].items()
                for k, document in enumerate(ranking)
                for i in (1, 0)
            ]
            (folder / f"{name}.{system}.passages").write_text("".join(ranked_lines))
        own = f'weights = "{name}.csv"\nexclude = "{name}.drop"'
        runs_of = f'runs.a = "{name}.a.passages"\nruns.b = ["{name}.b.passages", "{name}.c.passages"]'
        lines.append(f'[{name}]\nqrels = "{name}.qrels"\n{runs_of}\n{own}')
    (folder / "passages.toml").write_text("\n".join(['measures = ["RR"]', 'baseline = "b"', *lines]))
    return entries


def test_every_policy_is_the_same_from_files_dicts_and_the_command(passages, capsys):
    expected = gradely.suite(passages, ["RR"], baseline="b")
    made = gradely.suite("data/passages.toml", document_pattern="^(.*)#")
    assert made.pairs == expected.pairs and made.mean() == expected.mean()
    assert made.mean() != gradely.suite("data/passages.toml", document_pattern="^(.*)#", exclude={"q0": ["y"]}).mean()
    single = gradely.suite(passages, ["RR"], alpha=0.1).collections["v"]
    assert (
        single.pairs[0]
        == gradely.compare(
            *map(passages["v"].get, ("qrels", "runs")),
            ["RR"],
            alpha=0.1,
            weights=passages["v"]["weights"],
            exclude=passages["v"]["exclude"],
        ).pairs[0]
    )
    assert cli(["suite", "data/passages.toml", "--document-pattern", "^(.*)#", "--format", "json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert {entry["collection"]: entry["means"] for entry in shown["collections"]} == expected.mean()
    (pair,) = expected.pairs
    assert {key: shown["pairs"][0][key] for key in ("difference", "low", "high", "p", "tau2", "i2")} == {
        key: getattr(pair, key) for key in ("difference", "low", "high", "p", "tau2", "i2")
    }
    assert shown["design"]["weighted"] and shown["design"]["document_pattern"] == "^(.*)#"
    assert any("turned" in note["text"] and "document pattern" in note["text"] for note in shown["notes"])
    plain = ["suite", "data/passages.toml", "--weights", "weight", "--document-pattern", "^(.*)#"]
    assert cli(plain) == 2 and "weight" in capsys.readouterr().err


def test_measures_by_subtopic_read_subtopics(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q").write_text("q1 1 d1 1\nq1 2 d2 1\nq1 1 d3 1\nq2 1 d1 1\nq2 2 d3 1\n")
    runs = {"a": "d1 d3 d2", "b": "d1 d2 d3"}
    for name, documents in runs.items():
        lines = [f"{q} Q0 {d} 1 {-i} x\n" for q in ("q1", "q2") for i, d in enumerate(documents.split())]
        (tmp_path / name).write_text("".join(lines))
    entry = "qrels = 'q'\nruns = {a = 'a', b = 'b'}\n"
    (tmp_path / "s.toml").write_text(f"measures = 'alpha_nDCG@3'\n[x]\n{entry}[y]\n{entry}")
    expected = {name: gradely.evaluate("q", name, ["alpha_nDCG@3"])["alpha_nDCG@3"] for name in runs}
    assert cli(["suite", "s.toml", "--format", "json"]) == 0
    shown = json.loads(capsys.readouterr().out)["collections"][0]["means"]
    assert {name: means["alpha_nDCG@3"] for name, means in shown.items()} == expected
    floor = f"alpha_nDCG@3={min(expected.values()) + 0.001}"
    worse = min(expected, key=expected.get)
    assert cli(["gate", "--suite", "s.toml", worse, "-m", "RR", "--min", floor]) == 1


def test_a_gate_on_a_suite_reads_what_a_suite_reads(passages, capsys):
    options = ["--document-pattern", "^(.*)#", "--max-drop", "0.5", "--format", "json"]
    assert cli(["gate", "--suite", "data/passages.toml", "a", *options]) == 0
    shown = json.loads(capsys.readouterr().out)
    verdict = gradely.suite(passages, ["RR"]).gate("a", "b", max_drop=0.5)
    assert shown["measures"][0]["drop"] == verdict.changes[0].drop
    assert shown["weighted"] and shown["document_pattern"] == "^(.*)#" and "weighted means" in shown["caption"]
    assert cli(["gate", "--suite", "data/passages.toml", "a", "--save", "x.json"]) == 2
    assert "keep the runs of a system that passed, and list them in FILE as the baseline" in capsys.readouterr().err


@pytest.mark.parametrize("file", ["data/suite.toml", "data/suite.json", "data/json", "data/toml"])
def test_files_and_dicts_say_the_same(files, file, capsys, tmp_path):
    """A file without an ending is JSON where it begins so."""
    for form in ("json", "toml"):
        (tmp_path / "data" / form).write_text("\n " + (tmp_path / "data" / f"suite.{form}").read_text())
    expected = gradely.suite(SUITE, ["RR"], baseline="b")
    assert gradely.suite(file).pairs == expected.pairs
    assert cli(["suite", file]) == 0
    assert capsys.readouterr().out.rstrip() == str(expected)
    assert cli(["suite", file, "-m", "P@1", "--baseline", "c", "--format", "json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert {(pair["measure"], pair["second"]) for pair in content["pairs"]} == {("P@1", "c")}


def test_a_pattern_or_a_list_gives_several_runs(files, tmp_path):
    content = {"v": {"qrels": "v.qrels", "runs": {"all": "v.?.run", "two": ["v.a.run", "v.b.run"]}}}
    (tmp_path / "data" / "x.json").write_text(json.dumps(content))
    made = gradely.suite("data/x.json", ["RR"])
    assert {name: len(runs) for name, runs in made.collections["v"].board.members.items()} == {"all": 3, "two": 2}


def test_figure_and_page(files, tmp_path, capsys):
    assert cli(["suite", "data/suite.toml", "--plot", "forest.svg", "--report", "page.html"]) == 0
    capsys.readouterr()
    figure, page = (tmp_path / name for name in ("forest.svg", "page.html"))
    text = figure.read_text()
    assert text.startswith("<svg") and all(name in text for name in ("over collections", *SUITE))
    page = page.read_text()
    assert (
        all(f'<h2 id="{part}">' in page for part in ("means", "forest", "pairs", "origin")) and "<noscript><svg" in page
    )
    assert "gradely suite data/suite.toml --plot forest.svg" in page


BAD = {
    "an = [unclosed": "s.toml: cannot be read as TOML: Invalid value (at line 1, column 7)",
    "[v]\nqrels = 1 2": "s.toml: cannot be read as TOML: Expected newline or end of document after a statement "
    "(at line 2, column 11)",
    "": "s.toml: the file is empty",
    "measures = ['AP']": "s.toml: there is no collection: write [covid], and below it",
    "measures = ['AP', 3]": "s.toml: measures is ['AP', 3]: write it like measures",
    "measures = 3": 's.toml: measures is 3: write it like measures = ["nDCG@10", "R@100"]',
    "measure = 'AP'": 's.toml: measure is not a collection: write [covid], and below it qrels = "covid.qrels" and '
    'runs.bm25 = "covid.bm25.run". Did you mean measures?',
    "[v]\nqrels = 'q'": "s.toml: v has no runs: write",
    "[v]\nruns.a = 'q'": "s.toml: v has no qrels: write",
    "[v]\nqrels = 'q'\nruns = 'r'": "s.toml: v: runs have the names of their systems",
    "[v]\nqrels = 'q'\nruns.a = 'r'\nmeasures = ['AP']": "s.toml: v: a collection has no measures: "
    "it goes above the first collection",
    "[v]\nqrels = 'q'\nruns.a = []": "s.toml: v: a has no runs: give at least one file",
    "[v]\nqrels = 'q'\nruns.a = 5": "s.toml: v: a must be the path of a file; found 5",
    "[v]\nqrels = 'q'\nruns.a = '*.none'": "s.toml: v: a: no file matches *.none",
    "[v]\nqrels = 'v.qrels'\nruns.a = 'none.run'": "v.qrels: no such file",
}


@pytest.mark.parametrize(("text", "message"), BAD.items())
def test_a_bad_file_is_refused_in_one_line(text, message, tmp_path, monkeypatch, fails):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text(text)
    fails("suite", "s.toml", says=f"gradely: {message}")


def test_other_bad_inputs(files, fails):
    for arguments, message in (
        (["none.toml"], "none.toml: no such file"),
        (["data/suite.toml", "--baseline", "d"], "no run 'd' to use as the baseline"),
        (["data/suite.toml", "--plot", "x.txt"], "x.txt: a figure must be an .svg, .pdf or .png file"),
        (
            ["data/suite.toml", "--report", "data/v.a.run"],
            "data/v.a.run: cannot be written: it is one of the input files",
        ),
        (["data/suite.toml", "-o", "data/v.qrels", "--format", "csv"], "data/v.qrels: cannot be written: it is one of"),
        (["data/suite.toml", "--correction", "x"], "Invalid value for '--correction'"),
    ):
        fails("suite", *arguments, says=f"gradely: {message}")


@pytest.mark.parametrize(
    ("collections", "message"),
    [
        ({}, "a suite is a file, or collections by name"),
        ([1], "a suite is a file, or collections by name"),
        ({"v": 3}, "v: a collection has qrels and runs"),
        ({"v": {"qrels": {}}}, "v has no runs"),
        ({"v": {"qrels": {}, "runs": {}}}, "v: runs have the names of their systems"),
        (
            {"v": {"qrels": {}, "runs": {"a": {}}, "run": {}}},
            "maybe weights and exclude. Did you mean runs?",
        ),
    ],
)
def test_what_is_no_suite_is_refused(collections, message):
    with pytest.raises(gradely.GradelyError) as refused:
        gradely.suite(collections, ["RR"])
    assert message in str(refused.value)


def test_what_is_not_about_reading_and_measuring_is_refused():
    with pytest.raises(TypeError, match="unexpected keyword argument 'test'; it takes ties, queries"):
        gradely.suite(SUITE, ["RR"], test="wilcoxon")


def test_a_key_twice_in_json_is_refused(tmp_path):
    path = tmp_path / "s.json"
    path.write_text('{"v": {}, "v": {}}')
    with pytest.raises(gradely.InputError, match="cannot be read as JSON: the key 'v' is given twice"):
        gradely.suite(path)
    (tmp_path / "S.JSON").write_text("[1]")  # as TOML, it would have a collection
    with pytest.raises(gradely.InputError, match=r"S\.JSON: a suite has a table for each collection: write "):
        gradely.suite(tmp_path / "S.JSON")
    path.write_text('{"v": \n{"qrels" 3}}')
    with pytest.raises(gradely.InputError, match="line 2 column 10"):
        gradely.suite(path)


def test_weights_are_a_column_of_the_qrels_where_no_file_has_their_name(tmp_path):
    (tmp_path / "q.csv").write_text("query,document,label,visits\nq0,d,1,1\nq1,d,1,3\n")
    (tmp_path / "r.csv").write_text("query,document,score\nq0,d,1\nq1,x,2\nq1,d,1\n")
    (tmp_path / "s.toml").write_text("[v]\nqrels = 'q.csv'\nweights = 'visits'\nruns = {a = 'r.csv', b = 'r.csv'}\n")
    assert gradely.suite(tmp_path / "s.toml", ["RR"]).mean()["v"]["a"]["RR"] == (1 + 3 / 2) / 4


def test_a_gate_refuses_a_system_that_no_collection_has():
    with pytest.raises(gradely.DataError, match=r"no system .nobody. in this suite"):
        gradely.suite(SUITE, ["RR"]).gate("nobody")
