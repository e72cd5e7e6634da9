"""judges: agreement against definitions and other libraries, values by judge, merged qrels, and the sentence on top."""

import json
import re
from html import unescape
from itertools import combinations

import numpy as np
import pytest

import gradely
from gradely.cli.main import run
from gradely.comparison.kendall import correlations, kendall
from gradely.judgments.by_judge import two_way
from gradely.tables import Table
from tests.trec_files import write_trec

METRICS = ("ordinal", "nominal", "interval")


def labels(seed, judges=3, queries=6, missing=0.2, scale=4):
    """Return labels of judges who agree more than by chance, some of them missing."""
    rng = np.random.default_rng(seed)
    true = rng.integers(0, scale, (queries, 8))
    found = {}
    for judge in "abcdefgh"[:judges]:
        seen = np.where(rng.random(true.shape) < 0.6, true, rng.integers(0, scale, true.shape))
        kept = rng.random(true.shape) > missing
        found[judge] = {f"q{q}": {f"d{d}": int(seen[q, d]) for d in range(8) if kept[q, d]} for q in range(queries)}
    return found


def shared(first, second):
    pairs = [
        (first[query][doc], second[query][doc])
        for query in first
        for doc in first[query]
        if query in second and doc in second[query]
    ]
    return np.array(pairs).T


def kappa_by_definition(x, y, cost):
    """1 minus the mean cost of the pairs over that of all pairs of a label of one and a label of the other."""
    found = np.mean([cost(a, b) for a, b in zip(x, y, strict=True)])
    return 1 - found / np.mean([cost(a, b) for a in x for b in y])


def alpha_by_definition(judged, metric):
    """Krippendorff's words: the mean distance of labels within documents over that of all labels that are paired."""
    units = {}
    for of_judge in judged.values():
        for query, docs in of_judge.items():
            for doc, label in docs.items():
                units.setdefault((query, doc), []).append(label)
    units = [unit for unit in units.values() if len(unit) > 1]
    every = [label for unit in units for label in unit]
    counts = {label: every.count(label) for label in set(every)}

    def distance(a, b):
        if metric == "nominal":
            return float(a != b)
        if metric == "interval":
            return (a - b) ** 2
        low, high = sorted((a, b))
        return (sum(n for label, n in counts.items() if low <= label <= high) - (counts[a] + counts[b]) / 2) ** 2

    within = sum(
        distance(a, b) / (len(unit) - 1)
        for unit in units
        for i, a in enumerate(unit)
        for j, b in enumerate(unit)
        if i != j
    )
    overall = sum(distance(a, b) for i, a in enumerate(every) for j, b in enumerate(every) if i != j)
    return 1 - (within / len(every)) / (overall / (len(every) * (len(every) - 1)))


@pytest.mark.parametrize("seed", range(6))
def test_kappa_is_its_definition(seed):
    judged = labels(seed)
    found = gradely.judges(judged)
    costs = {
        None: lambda a, b: float(a != b),
        "linear": lambda a, b: abs(a - b),
        "quadratic": lambda a, b: (a - b) ** 2,
    }
    for first, second in combinations(judged, 2):
        x, y = shared(judged[first], judged[second])
        for weights, cost in costs.items():
            value = found.kappa(first, second, weights=weights)
            assert np.isclose(value, kappa_by_definition(x, y, cost))
            assert value.low <= value <= value.high and value == found.kappa(second, first, weights=weights)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("seed", range(6))
def test_alpha_is_its_definition(metric, seed):
    judged = labels(seed, judges=2 + seed % 4, missing=0.3)
    found = gradely.judges(judged)
    assert np.isclose(found.alpha(metric=metric), alpha_by_definition(judged, metric))
    for pair in found.agreements:
        two = {name: judged[name] for name in (pair.first, pair.second)}
        assert np.isclose(pair.alpha, alpha_by_definition(two, "ordinal"))


def test_alpha_of_the_example_in_krippendorffs_paper():
    """Computing Krippendorff's Alpha-Reliability (2011), C: four observers, twelve units, data missing."""
    rows = {
        "A": "1 2 3 3 2 1 4 1 2 - - -",
        "B": "1 2 3 3 2 2 4 1 2 5 - 3",
        "C": "- 3 3 3 2 3 4 2 2 5 1 -",
        "D": "1 2 3 3 2 4 4 1 2 5 1 -",
    }
    judged = {
        name: {f"q{i}": {"d": int(label)} for i, label in enumerate(row.split()) if label != "-"}
        for name, row in rows.items()
    }
    found = gradely.judges(judged)
    assert [round(found.alpha(metric=metric), 3) for metric in METRICS] == [0.815, 0.743, 0.849]


def test_labels_need_not_be_whole_and_distances_are_those_of_the_labels():
    a, b = {"q": {"x": 0.5, "y": 10, "z": 0}, "r": {"x": 1}}, {"q": {"x": 0, "y": 0.5, "z": 0}, "r": {"x": 10}}
    x, y = shared(a, b)
    value = gradely.judges({"a": a, "b": b}).kappa("a", "b", weights="linear")
    assert np.isclose(value, kappa_by_definition(x, y, lambda p, q: abs(p - q)))


def test_intervals_come_from_queries_and_from_the_seed_alone():
    judged = labels(3, queries=12)
    one = gradely.judges(judged, seed=1)
    turned = {name: dict(reversed(of.items())) for name, of in judged.items()}
    other = gradely.judges(turned, seed=1)
    assert (one.alpha().low, one.alpha().high) == (other.alpha().low, other.alpha().high)
    assert gradely.judges(judged, seed=2).alpha().low != one.alpha().low
    copies = {
        name: {f"{query}{i}": docs for query, docs in of.items() for i in range(4)} for name, of in judged.items()
    }
    wide, narrow = ((found.high - found.low) for found in (one.alpha(), gradely.judges(copies, seed=1).alpha()))
    assert 0.35 < narrow / wide < 0.7  # four times as many queries halve it
    single = {name: {"q0": of["q0"]} for name, of in judged.items()}
    assert gradely.judges(single).alpha().low is None


def test_the_confusion_table_counts_the_shared_documents():
    judged = labels(4, judges=2)
    table = gradely.judges(judged).confusion("a", "b")
    x, y = shared(judged["a"], judged["b"])
    for row in table.rows:
        assert row[1:] == [int(np.sum((x == float(row[0])) & (y == label))) for label in range(4)]


QUERIES = [f"q{i:02d}" for i in range(20)]


def collection(seed=0, judges=3, noise=0.3):
    """Return judges and three runs, of which the first is best by what the judges see."""
    rng = np.random.default_rng(seed)
    true = rng.integers(0, 4, (len(QUERIES), 10))
    judged = {}
    for judge in "abcdefgh"[:judges]:
        seen = np.where(rng.random(true.shape) < noise, rng.integers(0, 4, true.shape), true)
        judged[judge] = {query: {f"d{d}": int(seen[q, d]) for d in range(10)} for q, query in enumerate(QUERIES)}
    runs = {
        name: {
            query: {f"d{d}": float(np.round(weight * true[q, d] + rng.normal(), 1)) for d in range(10)}
            for q, query in enumerate(QUERIES)
        }
        for name, weight in (("good", 2.0), ("fair", 0.7), ("poor", 0.0))
    }
    return judged, runs


def test_values_are_those_of_each_judge_and_aware_is_their_mean_with_ties():
    judged, runs = collection()
    tied = {"tied": {query: {f"d{d}": float(d % 2) for d in range(10)} for query in QUERIES}}
    found = gradely.judges(judged, runs | tied, ["nDCG@5", "AP", "muAP"])
    by_judge = {
        name: gradely.evaluate_runs(qrels, runs | tied, ["nDCG@5", "AP", "muAP"]) for name, qrels in judged.items()
    }
    for row in found.data_table().records():
        assert np.isclose(row["mean"], by_judge[row["judge"]][row["run"]][row["measure"]], rtol=1e-12)
    for name, means in found.mean().items():
        for measure, mean in means.items():
            assert np.isclose(mean, np.mean([by[name][measure] for by in by_judge.values()]))
    assert next(iter(found.mean())) == "good"


def test_the_interval_over_queries_and_judges_comes_from_the_two_way_table():
    rng = np.random.default_rng(1)
    q, j = 7, 4
    table = rng.normal(0, 1, (q, 1)) + rng.normal(0, 1, (1, j)) + rng.normal(0, 0.3, (q, j))
    found = two_way(table[:, :, None])
    rows, columns = table.mean(axis=1), table.mean(axis=0)
    rest = table - rows[:, None] - columns + table.mean()
    error = (rest**2).sum() / ((q - 1) * (j - 1))
    of_queries, of_judges = (j * rows.var(ddof=1) - error) / j, (q * columns.var(ddof=1) - error) / q
    assert of_queries > 0 and of_judges > 0
    assert np.isclose(found.error[0] ** 2, (of_queries + error / j) / q + of_judges / j)
    squares, freedoms = np.array([j * rows.var(ddof=1), q * columns.var(ddof=1), -error]), np.array([6, 3, 18])
    assert np.isclose(found.freedom[0], squares.sum() ** 2 / (squares**2 / freedoms).sum())


def test_the_interval_covers_the_mean_for_other_queries_and_other_judges():
    rng = np.random.default_rng(2)
    shape = (20, 5, 400)
    table = rng.normal(0, 0.2, (20, 1, 400)) + rng.normal(0, 0.1, (1, 5, 400)) + rng.normal(0, 0.2, shape)
    low, high = two_way(table).intervals(0.95)
    assert 0.92 < np.mean((low <= 0) & (high >= 0)) < 0.98


def test_intervals_end_where_the_measure_and_its_differences_do():
    """By t with one degree of freedom, that of the difference would reach from -2.9 to 3.4."""
    judged = {"x": {"q1": {"a": 1}, "q2": {"b": 1}}, "y": {"q1": {"a": 1}, "q2": {"a": 1}}}
    runs = {name: {"q1": list(name), "q2": list(name)} for name in ("ab", "ba")}
    found = gradely.judges(judged, runs, ["RR"])
    assert [(pair.low, pair.high) for pair in found.pairs] == [(-1, 1)]
    assert found.mean_intervals() == ([0, 0], [1, 1])


def test_differences_over_judges_are_those_of_the_runs():
    judged, runs = collection(seed=4, judges=3)
    found = gradely.judges(judged, runs, ["RR", "AP"])
    names = list(found.mean())
    wanted = [(measure, *pair) for measure in ("RR", "AP") for pair in combinations(names, 2)]
    for (measure, first, second), pair in zip(wanted, found.pairs, strict=True):
        by = np.array(
            [
                [gradely.evaluate(qrels, runs[run], [measure]).values[:, 0] for run in (first, second)]
                for qrels in judged.values()
            ]
        )
        apart = by[:, 0] - by[:, 1]  # [judges, queries]
        spread = two_way(apart.T[:, :, None])
        assert (pair.measure, pair.first, pair.second) == (measure, first, second)
        assert pair.difference == pytest.approx(apart.mean())
        assert (pair.low, pair.high) == pytest.approx([end.item() for end in spread.intervals(0.95)])
        assert (pair.least, pair.most) == pytest.approx((apart.mean(axis=1).min(), apart.mean(axis=1).max()))


def test_rounding_is_no_variance_and_there_is_at_least_one_degree_of_freedom():
    assert np.isnan(two_way(np.full((5, 3, 1), 1 / 3)).error).all()
    judges_alone = two_way(np.array([[[0.0], [1.0]]] * 4))
    assert judges_alone.freedom.tolist() == [1] and judges_alone.error == pytest.approx(0.5)


def test_labels_may_be_very_large_and_are_at_most_a_hundred():
    large = [{"q": dict(zip("abcd", labels, strict=True))} for labels in ([0, 1e200, 1e200, 0], [0, 1e200, 0, 0])]
    found = gradely.judges(dict(zip("xy", large, strict=True)))
    assert found.kappa("x", "y", weights="quadratic") == pytest.approx(found.kappa("x", "y")) == pytest.approx(0.5)
    assert found.alpha("interval") == pytest.approx(found.alpha("nominal"))
    scale = {"q": {f"d{i}": i for i in range(100)}}
    assert gradely.judges({"x": scale, "y": scale}).kappa("x", "y") == 1
    scale["q"]["d100"] = 100
    with pytest.raises(
        gradely.DataError, match="there are 101 different labels; agreement needs a scale of at most 100"
    ):
        gradely.judges({"x": scale, "y": scale})


def test_judges_who_agree_leave_only_the_queries():
    values = np.random.default_rng(3).random((9, 1, 1))
    found = two_way(np.repeat(values, 3, axis=1))
    assert np.isclose(found.error[0], values.std(ddof=1) / 3) and np.isclose(found.freedom[0], 8)


def test_order_and_significance_are_counted_by_judge():
    judged, runs = collection(seed=5, noise=0.2)
    found = gradely.judges(judged, runs, ["nDCG@5", "AP"])
    compared = {name: gradely.compare(qrels, runs, ["nDCG@5", "AP"]) for name, qrels in judged.items()}
    for pair in found.pairs:
        verdicts = []
        for one in compared.values():
            row = next(
                p for p in one.pairs if p.measure == pair.measure and {p.first, p.second} == {pair.first, pair.second}
            )
            sign = 1 if row.first == pair.first else -1
            verdicts.append((sign * row.difference, row.significant))
        assert pair.first_better == sum(apart > 0 for apart, _ in verdicts)
        assert pair.second_better == sum(apart < 0 for apart, _ in verdicts)
        assert pair.significant == sum(sure for _, sure in verdicts)
        assert np.isclose(pair.least, min(verdicts)[0]) and np.isclose(pair.most, max(verdicts)[0])
        assert pair.order == (pair.first_better > 0 and pair.second_better > 0)
        assert pair.significance == (not pair.order and 0 < pair.significant < len(judged))
    assert found.dependent_pairs("AP") == [p for p in found.pairs if p.measure == "AP" and (p.order or p.significance)]


def test_tau_of_all_runs_and_of_the_best_ten():
    judged, _ = collection()
    rng = np.random.default_rng(0)
    runs = {f"r{i:02d}": {q: {f"d{d}": float(rng.random()) for d in range(10)} for q in QUERIES} for i in range(13)}
    found = gradely.judges(judged, runs, ["nDCG@5"])
    table = found.order_table()
    assert table.header == ["judge", "and", "τ", "τ_AP", "τ top 10", "τ_AP top 10"]
    means = {name: gradely.evaluate_runs(qrels, runs, ["nDCG@5"]).mean() for name, qrels in judged.items()}
    best = list(found.mean())[:10]
    from scipy.stats import kendalltau

    for row in table.records():
        for key, names in (("τ", list(runs)), ("τ top 10", best)):
            x, y = ([means[row[judge]][name]["nDCG@5"] for name in names] for judge in ("judge", "and"))
            assert np.isclose(row[key], kendalltau(x, y).statistic)


GOOD = {query: ["a", "b", "c"] for query in QUERIES}
BAD = {query: ["c", "b", "a"] for query in QUERIES}
LIKES_A = {query: {"a": 1, "b": 0, "c": 0} for query in QUERIES}
LIKES_C = {query: {"a": 0, "b": 0, "c": 1} for query in QUERIES}
SOME = {query: {"a": int(i < 3), "b": int(i >= 3), "c": 0} for i, query in enumerate(QUERIES)}


@pytest.mark.parametrize(
    ("judged", "runs", "says"),
    [
        (
            {"x": LIKES_A, "y": LIKES_A},
            {"good": GOOD, "bad": BAD},
            (
                "The conclusion does not depend on the judge: by RR, good is better than bad according to both judges, "
                "and significantly so for all of them. x and y give the same label to all 60 shared documents."
            ),
        ),
        (
            {"x": LIKES_A, "y": LIKES_C},
            {"good": GOOD, "bad": BAD},
            (
                "The conclusion depends on the judge: by RR, bad is better than good according to 1 judge "
                "(significantly for 1), and worse according to 1 judge (significantly for 1)."
            ),
        ),
        (
            {"x": LIKES_A, "y": SOME},
            {"good": GOOD, "bad": BAD},
            (
                "The order does not depend on the judge, but its significance does: by RR, good is better than bad "
                "according to both judges, significantly for 1 of them."
            ),
        ),
        (
            {"x": LIKES_A, "y": LIKES_C},
            {"good": GOOD},
            "RR of good is between 0.3333 (by y) and 1.0000 (by x), and 0.6667 on average over 2 judges.",
        ),
        ({"x": LIKES_A, "y": LIKES_A}, {"good": GOOD}, "RR of good is 1.0000 according to both judges."),
        (
            {"x": LIKES_A, "y": LIKES_C},
            {"one": GOOD, "two": GOOD, "three": GOOD},
            "By RR, all runs have the same mean according to both judges.",
        ),
        (
            {"x": LIKES_A, "y": LIKES_C},
            {"good": GOOD, "bad": BAD, "same": GOOD},
            (
                "The conclusion depends on the judge: by RR, the best run is bad according to 1 judge, good "
                "according to 1 judge and same according to 1 judge (tied runs all count); 2 of 3 pairs of runs change "
                "their order from judge to judge, 2 of them significantly in both directions."
            ),
        ),
        (
            {"x": LIKES_A, "y": LIKES_A},
            {"good": GOOD, "bad": BAD, "same": GOOD},
            (
                "The conclusion does not depend on the judge: by RR, the best run is good according to 2 judges and "
                "same according to 2 judges (tied runs all count), and 2 of 3 pairs of runs differ significantly "
                "according to every judge"
            ),
        ),
        (
            {"x": LIKES_A, "y": LIKES_A, "z": LIKES_A},
            {"good": GOOD, "bad": BAD, "mid": {query: ["b", "a", "c"] for query in QUERIES}},
            (
                "The conclusion does not depend on the judge: by RR, good is best according to all 3 judges, and 3 of "
                "3 pairs of runs differ significantly according to every judge, in the same direction."
            ),
        ),
        (
            {"x": LIKES_A, "y": SOME, "z": SOME},
            {"good": GOOD, "bad": BAD, "mid": {query: ["b", "a", "c"] for query in QUERIES}},
            (
                "The conclusion depends on the judge: by RR, the best run is mid according to 2 judges and good "
                "according to 1 judge; 1 of 3 pairs of runs changes its order from judge to judge, 1 of them "
                "significantly in both directions; 1 more differs significantly according to only some judges."
            ),
        ),
        (
            {"x": {"q00": {"a": 1, "b": 0, "c": 0}}, "y": {"q00": {"a": 1, "b": 0, "c": 0}}},
            {"good": GOOD, "bad": BAD},
            (
                "The conclusion does not depend on the judge: by RR, good is better than bad according to both judges, "
                "and significantly so for none of them."
            ),
        ),
    ],
)
def test_the_sentence_says_whether_the_conclusion_survives(judged, runs, says):
    found = gradely.judges(judged, runs, ["RR"])
    assert found.summary().startswith(says)
    turned = gradely.judges(judged, dict(reversed(runs.items())), ["RR"])
    assert turned.summary() == found.summary()
    assert str(found).startswith(found.summary())


def test_a_judge_who_finds_nothing_relevant_has_runs_equal():
    nothing = {query: dict.fromkeys("abc", 0) for query in QUERIES}
    some = {"q00": LIKES_A["q00"], "q01": LIKES_C["q01"], "q02": LIKES_A["q02"]}
    none = {query: nothing[query] for query in some}
    found = gradely.judges({"x": some, "y": none}, {"good": GOOD, "bad": BAD}, ["RR"]).summary()
    assert (
        "good is better than bad according to 1 of 2 judges, the other finding them equal, and significantly so for "
        "none" in found
    )


def test_remarks_are_about_what_is_there():
    judged = {"x": LIKES_A, "y": SOME}
    assert "τ" not in gradely.judges(judged, {"good": GOOD}, ["RR"]).remarks()[0]
    several = gradely.judges(judged, {"good": GOOD, "bad": BAD}, ["RR"]).remarks()[0]
    assert "with 95 % intervals for other queries and other judges. By RR: τ" in several and "Test: t-test" in several
    one = {judge: {"q00": labels["q00"]} for judge, labels in judged.items()}
    found = gradely.judges(one, {"good": GOOD, "bad": BAD}, ["RR"]).remarks()[0]
    assert "without intervals" in found and "Test: none." in found and "t-test" not in found


def test_a_correlation_of_0_is_not_below_0():
    means = np.array([[0.567, 0.471], [0.441, 0.535], [0.476, 0.381], [0.308, 0.348]])
    orders = correlations(means)[1]
    assert orders[1, 0] == 0 and not np.signbit(orders[1, 0])


def test_where_all_labels_are_the_same_nothing_is_defined():
    same = {query: {"a": 1, "b": 1} for query in QUERIES}
    two = gradely.judges({"x": same, "y": same})
    assert two.kappa("x", "y") is None and two.alpha() is None and two.agreements[0].same == 1
    assert two.summary() == (
        "x and y give the same label to all 40 shared documents, and it is the same for all documents, so κ is "
        "undefined."
    )
    three = gradely.judges({"x": same, "y": same, "z": same})
    assert three.summary() == (
        "All labels of the 3 judges on 40 shared documents are the same, so neither κ nor α is defined."
    )
    assert json.loads(three.to_json())["alpha"]["ordinal"] is None and "-" in str(three)


@pytest.mark.parametrize(
    ("first", "second", "says"),
    [
        ([1, 0, 1, 0], [0, 1, 1, 0], "50 % of 4 shared documents; κ is .00, quadratic .00."),
        ([1, 0], [0, 1], "0 % of 2 shared documents; κ is −1.00, quadratic −1.00."),
        (
            [2, 0, 1, 0],
            [0, 0, 1, 1],
            "50 % of 4 shared documents; κ is .20, quadratic −.25; the labels of x are higher by 0.25 on average.",
        ),
        (
            [0, 0],
            [1, 0],
            "50 % of 2 shared documents; κ is .00, quadratic .00; the labels of y are higher by 0.50 on average.",
        ),
        (
            [0] * 4 + [1] * 96,
            [0] * 3 + [1] * 97,
            "99 % of 100 shared documents; κ is .85, quadratic .85; the labels of y are higher by 0.01 on average.",
        ),
        (
            [0] * 4 + [1] * 97,
            [0] * 3 + [1] * 98,
            (
                "more than 99 % of 101 shared documents; κ is .85, quadratic .85; the labels of y are higher by 0.01 "
                "on average."
            ),
        ),
        (
            [0] * 201 + [1] * 100,
            [1] * 200 + [0] * 101,
            (
                "less than 1 % of 301 shared documents; κ is −.80, quadratic −.80; the labels of y are higher by 0.33 "
                "on average."
            ),
        ),
        ([0] * 4 + [1] * 300, [0] * 3 + [1] * 301, "more than 99 % of 304 shared documents; κ is .86, quadratic .86."),
    ],
)
def test_what_is_said_of_two_judges(first, second, says):
    judged = {
        name: {"q": {f"d{i}": label for i, label in enumerate(of)}}
        for name, of in zip("xy", (first, second), strict=True)
    }
    assert gradely.judges(judged).summary() == f"x and y give the same label to {says}"


def test_what_is_said_of_three_judges():
    judged = {"x": {"a": 1, "b": 0}, "y": {"a": 1, "b": 1}, "z": {"c": 0}}
    of_three = lambda: gradely.judges({name: {"q": of} for name, of in judged.items()}).summary()
    assert of_three() == "Krippendorff's α of the 3 judges on 2 shared documents is .00."
    judged["z"] = {"a": 1, "b": 0, "c": 0}
    assert of_three().endswith("; κ of two judges ranges from .00 (x and y) to 1.00 (x and z).")
    judged["z"] = {"a": 0, "b": 0}
    assert of_three().endswith("; κ of two judges is .00 for every pair.")
    judged["w"] = {"a": 0, "b": 0}  # with z: one label alone, so κ is undefined
    assert of_three().endswith("; κ of two judges is .00 for 5 of 6 pairs.")


@pytest.mark.parametrize("judges", [2, 3, 4, 5])
def test_tables_show_what_is_known_of_all_judges(judges):
    """Of more than four, the pairs with the first, and the lowest and highest value of a run."""
    judged, runs = collection(seed=4, judges=judges)
    names, measures = list(judged), ["RR", "AP"]
    found = gradely.judges(judged, runs, measures)
    pairs = list(combinations(names, 2))
    for pair, row in zip(pairs, found.agreements, strict=True):
        both = [
            (judged[pair[0]][query][doc], judged[pair[1]][query][doc])
            for query in judged[pair[0]]
            for doc in judged[pair[0]][query]
            if doc in judged[pair[1]].get(query, {})
        ]
        assert (row.first, row.second, row.documents) == (*pair, len(both))
        assert row.same == pytest.approx(np.mean([x == y for x, y in both]))
        assert row.difference == pytest.approx(np.mean([x - y for x, y in both]))
    shown, table = pairs if judges < 5 else pairs[: judges - 1], found.agreement_table()
    assert [row[-7:-4] for row in table.rows] == [list(row[2:5]) for row in found.agreements[: len(shown)]]
    assert [tuple(row[:-7]) for row in table.rows] == (shown if judges < 5 else [(name,) for name in names[1:]])
    assert table.more == ("" if judges < 5 else "… and 6 more pairs of judges; --format json shows all")
    known = {frozenset(pair): float(row.kappa) for pair, row in zip(pairs, found.agreements, strict=True)}
    for first, row in zip(names, found.kappa_table().rows, strict=True):
        assert row == [first, *(known.get(frozenset((first, second))) for second in names)]
    values = {(run, name): gradely.evaluate(judged[name], runs[run], measures).mean() for run in runs for name in names}
    for row in found.runs_table().records():
        by = [values[row["run"], name][row["measure"]] for name in names]
        ends = [row[name] for name in names] if judges < 5 else [row["lowest"], row["highest"]]
        assert ends == pytest.approx(by if judges < 5 else [min(by), max(by)]) and row["mean"] == pytest.approx(
            np.mean(by)
        )
    for m, measure in enumerate(measures):
        rows = found.leaderboard(m).rows
        columns = list(zip(*[[cell.value for cell in [row[1], *row[4:]]] for row in rows], strict=True))
        marks = list(zip(*[[cell.best for cell in [row[1], *row[4:]]] for row in rows], strict=True))
        assert marks == [tuple(value == max(column) for value in column) for column in columns]
        assert columns[1] == pytest.approx([values[row[0], names[0]][measure] for row in rows])
        assert [row[2:4] for row in rows] == [list(ends) for ends in zip(*found.mean_intervals(m), strict=True)]
    assert [row[0] for row in gradely.judges(judged, runs, ["RR"]).runs_table().rows] == found.runs.names
    every = found.order_table(every=True)
    assert [tuple(row[:2]) for row in every.rows] == pairs
    tau = [kendall(*(np.array([values[run, name]["RR"] for run in runs]) for name in pair)) for pair in pairs]
    assert [row[2] for row in every.rows] == pytest.approx(tau)
    assert len(found.order_table().rows) == len(shown)
    entry = found.as_dict()
    assert [row["confusion"] for row in entry["agreement"]] == [
        [row[1:] for row in found.confusion(*pair).rows] for pair in pairs
    ]
    assert entry["order"]["AP"]["tau"] == found.runs.tau(1)[0].tolist() and len(entry["pairs"]) == len(found.pairs)
    kinds = ["table" if isinstance(part, Table) else "text" for part in found.sections(4)]
    dependent = bool(found.dependent_pairs("RR"))
    assert kinds == ["text", *["table"] * (3 + dependent + (judges == 2))]
    one = gradely.judges(judged, {"a": next(iter(runs.values()))}, ["RR"])
    assert one.as_dict()["order"] == {} and len(one.sections(4)) == 3 + (judges == 2)
    assert gradely.judges(judged).table().header == table.header and found.table().header[0] == "run"


def test_pairs_that_depend_on_the_judge_are_listed_up_to_a_number():
    judged, runs = collection(seed=4, judges=3)
    found = gradely.judges(judged, runs, ["RR"])
    count = len(found.dependent_pairs("RR"))
    assert count > 1 and len(found.pairs_table(None).rows) == len(found.pairs_table().rows) == count
    assert found.pairs_table(count).more == found.pairs_table(None).more == ""
    less = found.pairs_table(count - 1)
    assert less.more == "… and 1 more pair; --format json shows all" and len(less.rows) == count - 1


def test_without_runs_there_is_agreement_alone():
    found = gradely.judges(labels(0))
    assert found.pairs == [] and found.mean() == {} and found.summary().startswith("Krippendorff's α of the 3 judges")
    assert found.data_table().header[:3] == ("first", "second", "documents")
    with pytest.raises(gradely.DataError, match="there are no runs"):
        found.runs_table()
    with pytest.raises(gradely.DataError, match=r"no judge 'A'\. Did you mean a"):
        found.kappa("A", "b")
    with pytest.raises(gradely.DataError, match="no weights 'cubic'"):
        found.kappa("a", "b", weights="cubic")
    with pytest.raises(gradely.DataError, match="no metric 'ratio'"):
        found.alpha(metric="ratio")


def refusal(*args, **keywords):
    with pytest.raises(gradely.GradelyError) as error:
        gradely.judges(*args, **keywords)
    return str(error.value)


def test_what_cannot_be_compared_is_refused_in_one_line():
    assert refusal({"x": LIKES_A}) == (
        "agreement needs at least two judges: there is only 'x'; give the qrels of another one"
    )
    assert refusal(LIKES_A).startswith("give the judges by name, {'nist': qrels, 'gpt4o': qrels}")
    apart = {"x": {"q1": {"d1": 1}}, "y": {"q2": {"d1": 1}}}
    assert refusal(apart) == (
        "no document was judged by two judges: x has query 'q1' with document 'd1', y 'q2' with 'd1'"
    )
    half = {"x": {"q1": {"d1": 1}}, "y": {"q1": {"d1": 1}}, "z": {"q2": {"d1": 1}}}
    assert "the judges have no query in common" in refusal(half, {"r": {"q1": ["d1"]}}, ["RR"])
    found = gradely.judges(half)
    assert found.kappa("x", "z") is None and found.agreements[1].same is None
    many = {judge: {"q": {f"d{i}": i / 7 for i in range(150)}} for judge in "xy"}
    assert refusal(many).startswith("there are 150 different labels; agreement needs a scale of at most 100")
    assert "cannot be int" in refusal(3)
    assert "has judged none of them" in refusal({"x": LIKES_A, "y": LIKES_C}, queries=["other"])


def test_notes_count_what_not_all_judges_have():
    some = {query: dict(list(docs.items())[:2]) for query, docs in list(LIKES_C.items())[:15]}
    notes = [str(note) for note in gradely.judges({"x": LIKES_A, "y": some}, {"good": GOOD}, ["RR"]).notes]
    assert "30 of 60 documents were not judged by every judge; 30 of them by a single judge" in notes
    assert any(
        note.startswith("5 of 20 queries are not judged by every judge and are left out when runs are evaluated")
        for note in notes
    )


def test_labels_beyond_those_of_all_others_are_counted():
    odd = {query: docs | ({"a": 10} if query == "q03" else {}) for query, docs in LIKES_A.items()}
    notes = [str(note) for note in gradely.judges({"x": LIKES_A, "y": LIKES_C, "z": odd}).notes]
    assert notes == ["z: 1 of 60 labels lies outside the range of all other judges: 10"]
    assert not gradely.judges({"x": LIKES_A, "y": LIKES_C}).notes


def test_a_table_with_a_column_judge_or_one_per_rater_has_several_judges(tmp_path):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    judged = labels(2, judges=2, missing=0.1)
    expected = gradely.judges(judged).kappa("a", "b")
    records = [
        {"query": query, "docid": doc, "label": label, "judge": judge}
        for judge, of in judged.items()
        for query, docs in of.items()
        for doc, label in docs.items()
    ]
    wide = {}
    for record in records:
        wide.setdefault((record["query"], record["docid"]), {})[record["judge"]] = record["label"]
    book = [{"query": query, "docid": doc, "a": by.get("a"), "b": by.get("b")} for (query, doc), by in wide.items()]
    pandas.DataFrame(records).to_csv(tmp_path / "long.csv", index=False)
    pandas.DataFrame(book).to_csv(tmp_path / "book.csv", index=False)
    (tmp_path / "long.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    tables = [records, pandas.DataFrame(records), polars.DataFrame(records), polars.LazyFrame(records)]
    tables += [pandas.DataFrame(book), polars.DataFrame(book), tmp_path / "long.csv", tmp_path / "book.csv"]
    tables += [tmp_path / "long.jsonl", [tmp_path / "book.csv"]]
    pytest.importorskip("pyarrow")
    polars.DataFrame(records).write_parquet(tmp_path / "long.parquet")
    for table in [*tables, tmp_path / "long.parquet"]:
        assert np.isclose(gradely.judges(table).kappa("a", "b"), expected)
    named = [{"q": r["query"], "d": r["docid"], "x": 1, **by} for r, by in zip(book, book, strict=True)]
    columns = {"query": "q", "document": "d"}
    assert np.isclose(gradely.judges(named, raters=["a", "b"], columns=columns).kappa("a", "b"), expected)
    other = [{**{k: v for k, v in r.items() if k != "judge"}, "who": r["judge"]} for r in records]
    assert np.isclose(gradely.judges(other, columns={"judge": "who"}).kappa("a", "b"), expected)


def test_tables_that_do_not_say_who_judged_are_refused(tmp_path):
    (tmp_path / "one.qrels").write_text("q1 0 d1 1\n")
    assert "one.qrels: has the labels of one judge" in refusal(tmp_path / "one.qrels")
    (tmp_path / "one.csv").write_text("query,docid,rating\nq1,d1,1\n")
    assert "is the table of one judge" in refusal(tmp_path / "one.csv")
    assert "is a list; give the judges by name, {'nist': qrels, " in refusal([{"q1": {"d1": 1}}, {"q1": {"d1": 0}}])
    (tmp_path / "book.csv").write_text("query,docid,ann,ben\nq1,d1,1,2\n")
    assert "has no column 'an' of a rater. Did you mean ann?" in refusal(tmp_path / "book.csv", raters=["an", "ben"])
    assert "has no column 'wo'" in refusal(
        [{"query": "q", "doc": "d", "label": 1, "who": "x"}], columns={"judge": "wo"}
    )
    (tmp_path / "bad.csv").write_text("query,docid,ann,ben\nq1,d1,2,x\n")
    assert "bad.csv, ben: record 1: the label 'x' is not a number" in refusal(tmp_path / "bad.csv")
    assert "a row has no judge" in refusal([{"query": "q", "doc": "d", "label": 1, "judge": ""}])


MERGED = {
    "x": {"q": {"a": 0, "b": 1, "c": 3}},
    "y": {"q": {"a": 0, "b": 2, "c": 3}},
    "z": {"q": {"a": 3, "b": 3, "d": 1}},
}


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("mean", {"a": 1.0, "b": 2.0, "c": 3.0, "d": 1.0}),
        ("median", {"a": 0.0, "b": 2.0, "c": 3.0, "d": 1.0}),
        ("majority", {"a": 0.0, "b": 1.0, "c": 3.0, "d": 1.0}),  # of three labels of b, the lowest
    ],
)
def test_merged_labels_by_hand(how, expected):
    merged = gradely.judges(MERGED).merge(how)
    assert merged.labels("q") == expected
    assert merged.notes[0] == f"the {how} of 3 judges for 4 documents, 2 of them from only some of the judges"
    told = "1 document without a majority has the lowest of the most frequent labels"
    assert (told in merged.notes) == (how == "majority")


def test_one_judge_fills_what_others_left_open():
    judged = {"people": {"q": {"a": 2}, "r": {"b": 1}}, "llm": {"q": {"a": 0, "c": 1}, "s": {"d": 3}}}
    merged = gradely.judges(judged).merge(fill="llm")
    assert {query: merged.labels(query) for query in merged.queries} == {
        "q": {"a": 2.0, "c": 1.0},
        "r": {"b": 1.0},
        "s": {"d": 3.0},
    }
    assert merged.notes == ["2 labels of people, and 2 of llm for documents that nobody else judged"]
    with pytest.raises(gradely.DataError, match="there are 2 judges to merge: choose one of mean, median, majority"):
        gradely.judges(MERGED).merge(fill="z")
    with pytest.raises(gradely.DataError, match=r"no judge 'lm'\. Did you mean llm"):
        gradely.judges(judged).merge(fill="lm")
    with pytest.raises(gradely.DataError, match="no way to merge 'mode'"):
        gradely.judges(MERGED).merge("mode")
    assert gradely.judges(MERGED).merge("median", fill="z").labels("q") == {"a": 0.0, "b": 1.5, "c": 3.0, "d": 1.0}


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    judged, runs = collection()
    write_trec(tmp_path, judged, runs)
    return judged, runs


def test_the_command_needs_no_runs(files, capfd):
    judged, _ = files
    assert run(["judges", *(word for name in "abc" for word in ("--qrels", f"{name}.qrels"))]) == 0
    assert capfd.readouterr().out.rstrip("\n") == str(gradely.judges(judged))


def test_texts_of_queries_are_merged_in_a_table(tmp_path, capfd):
    book = tmp_path / "book.csv"
    book.write_text('query,docid,ann,Bob B\nred shoes,d 1,2,1\n"boots, red",d2,0,\n')
    arguments = ["judges", "--qrels", str(book), "--merge", "mean", "-o"]
    assert run([*arguments, str(tmp_path / "merged.qrels")]) == 2
    assert "does not support ids with blanks: write CSV, as with -o merged.csv" in capfd.readouterr().err
    for name in ("merged.csv", "merged.tsv"):
        assert run([*arguments, str(tmp_path / name)]) == 0
        merged = gradely.read_qrels(tmp_path / name)
        assert merged.labels("red shoes") == {"d 1": 1.5} and merged.labels("boots, red") == {"d2": 0.0}


def test_the_command_merges_and_fills(files, capfd, tmp_path):
    judged, _ = files
    arguments = ["judges", "--qrels", "a.qrels", "--qrels", "b.qrels", "--qrels", "c.qrels"]
    assert run([*arguments, "--merge", "median", "-o", "merged.qrels"]) == 0
    expected = gradely.judges(judged).merge("median")
    merged = gradely.read_qrels(tmp_path / "merged.qrels")
    assert all(merged.labels(query) == expected.labels(query) for query in QUERIES)
    said = capfd.readouterr()
    assert said.out == "" and said.err == "200 judgments of 20 queries\nthe median of 3 judges for 200 documents\n"
    assert run(["judges", "--qrels", "a.qrels", "--qrels", "b.qrels", "--fill", "b.qrels"]) == 0
    said = capfd.readouterr()
    assert said.out.startswith("q00 0 d0 ") and "200 labels of a, and 0 of b" in said.err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--qrels", "a.qrels"], "a.qrels: has the labels of one judge; give those of another"),
        ([], "name the labels of each judge, as in --qrels nist.qrels --qrels gpt4o.qrels"),
        (["a.qrels", "b.qrels"], "name the labels of each judge, as in --qrels a.qrels --qrels b.qrels"),
        (["--qrels", "a.qrels", "--qrels", "a.qrels"], "a.qrels: is named twice; give the qrels of another judge"),
        (
            ["--qrels", "a.qrels", "--qrels", "b.qrels", "-o", "x.qrels"],
            "x.qrels: use --merge or --fill to write qrels",
        ),
        (["--qrels", "a.qrels", "--qrels", "b.qrels", "--merge", "mean", "-o", "x.json"], "or -o merged.csv"),
        (["--qrels", "a.qrels", "--qrels", "b.qrels", "--merge", "mean", "-o", "a.qrels"], "are the same file"),
        (["--qrels", "a.qrels", "--qrels", "none.qrels"], "none.qrels: no such file"),
        (["--qrels", "a.qrels", "--qrels", "b.qrels", "--fill", "z"], "no judge 'z'. The judges are a and b"),
        (
            ["--qrels", "a.qrels", "--qrels", "b.qrels", "--merge", "mean", "run.txt"],
            "--merge and --fill only write qrels",
        ),
    ],
)
def test_the_command_refuses_in_one_line(files, fails, arguments, says):
    fails("judges", *arguments, says=says)


@pytest.fixture
def drawing():
    for module in ("altair", "jinja2", "vl_convert"):
        pytest.importorskip(module)


def test_the_page_has_the_answer_the_runs_by_judge_and_the_agreement(files, drawing, capfd, tmp_path):
    judged, runs = files
    arguments = ["judges", *(word for name in "abc" for word in ("--qrels", f"{name}.qrels")), "good.run", "poor.run"]
    assert run([*arguments, "-m", "nDCG@5,AP", "--report", "page.html", "-o", "kappa.svg"]) == 0
    html = (tmp_path / "page.html").read_text()
    found = gradely.judges(judged, {name: runs[name] for name in ("good", "poor")}, ["nDCG@5", "AP"])
    assert capfd.readouterr().out.startswith(found.summary())
    text = re.sub(r"<[^>]+>", " ", html.partition("<main")[2].partition("</main>")[0])
    assert "".join(found.summary().split()) in "".join(unescape(text).split())
    for name, means in found.mean().items():
        assert name in text and f"{means['AP']:.4f}" in text
    picture = (tmp_path / "kappa.svg").read_text()
    for first, second in combinations("abc", 2):
        kappa = found.kappa(first, second)
        assert f"{kappa:.4f}" in text and f">{kappa:.2f}<" in picture
    ids = re.findall(r'<h2 id="([\w-]+)"', html)
    assert ids[0] == "leaderboard" and "agreement" in ids and ids[-1] == "origin" and "gradely judges" in text


def test_a_page_without_runs_keeps_hostile_names_as_text(drawing):
    html = gradely.judges({"<script>alert(1)</script>": LIKES_A, "__proto__": LIKES_C}).to_html()
    assert "<script>alert" not in html and "&lt;script&gt;" in html and 'id="leaderboard"' not in html
