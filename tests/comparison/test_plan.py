"""Planning: against statsmodels, numerical integration and simulation; degenerate runs; the command."""

import numpy as np
import pytest
from scipy import integrate, optimize, special, stats

import gradely
from gradely.cli.main import run as cli
from gradely.comparison.plan import detectable_effect, effect_interval, plan_pairs, power_of, queries_needed
from tests.comparison.test_answers import pairwise
from tests.comparison.test_significance import column

# statsmodels 0.14, TTestPower().solve_power(effect, None, alpha, power), rounded up
STATSMODELS = [
    (0.2, 0.05, 0.8, 199),
    (0.5, 0.05, 0.8, 34),
    (0.1, 0.01, 0.9, 1492),
    (3.0, 0.05, 0.8, 4),
    (0.01, 0.05, 0.8, 78491),
    (-0.5, 0.05, 0.5, 18),
]


@pytest.mark.parametrize(("effect", "alpha", "power", "expected"), STATSMODELS)
def test_queries_needed_are_those_of_statsmodels(effect, alpha, power, expected):
    assert queries_needed(effect, alpha, power) == expected
    assert power_of(effect, expected, alpha) >= power > power_of(effect, expected - 1, alpha)


@pytest.mark.parametrize(("effect", "alpha", "power"), [(0.05, 0.2, 0.5), (0.3, 0.4, 0.5), (0.1, 0.3, 0.31)])
def test_no_smaller_number_of_queries_is_enough_where_both_tails_matter(effect, alpha, power):
    needed = queries_needed(effect, alpha, power)
    assert integrated_power(effect, needed, alpha) >= power > integrated_power(effect, needed - 1, alpha)


def integrated_power(effect, queries, alpha):
    """Return the power from the normal and the chi distribution, without a noncentral one."""
    free, moved = queries - 1, effect * np.sqrt(queries)
    critical = stats.t.isf(alpha / 2, free)

    def density(s):
        beyond = special.ndtr(moved - critical * s) + special.ndtr(-moved - critical * s)
        return beyond * stats.chi.pdf(s * np.sqrt(free), free) * np.sqrt(free)

    return integrate.quad(density, 0, 1, limit=500)[0] + integrate.quad(density, 1, np.inf, limit=500)[0]


@pytest.mark.parametrize("queries", [2, 3, 5, 24, 1000])
def test_the_detectable_effect_has_the_power(queries):
    effect = detectable_effect(queries, 0.05, 0.8)
    assert power_of(effect, queries, 0.05) == pytest.approx(0.8, abs=1e-9)
    assert integrated_power(effect, queries, 0.05) == pytest.approx(0.8, abs=1e-6)


def test_planned_queries_find_the_difference_as_often_as_promised():
    """4,000 experiments with the number of queries that was planned: the share that is significant is the power."""
    rng, trials = np.random.default_rng(9), 4000
    error = 4 * np.sqrt(0.8 * 0.2 / trials)
    for effect in (0.3, 0.8):
        needed = queries_needed(effect, 0.05, 0.8)
        p = stats.ttest_1samp(rng.normal(effect, 1, (needed, trials)), 0).pvalue
        assert np.mean(p < 0.05) == pytest.approx(power_of(effect, needed, 0.05), abs=error)
        assert 0.8 <= power_of(effect, needed, 0.05) < 0.85
    p = stats.ttest_1samp(rng.normal(detectable_effect(24, 0.05, 0.8), 1, (24, trials)), 0).pvalue
    assert np.mean(p < 0.05) == pytest.approx(0.8, abs=error)


def test_extremes():
    assert queries_needed(0.0, 0.05, 0.8) is None
    for effect in (1e-9, 1e-160, 1e-300, 5e-324):
        assert queries_needed(effect, 0.05, 0.8) is None
    assert queries_needed(1e9, 0.05, 0.8) == 2


def test_a_pair_without_spread_or_difference_has_no_plan():
    constant = plan_pairs(pairwise(column(0.1, 0.1, 0.1)), 0.02, 0.8, "none").rows[0]
    assert (constant.deviation, constant.detectable, constant.queries_needed) == (0.0, None, None)
    level = plan_pairs(pairwise(column(0.1, -0.1, 0.2, -0.2)), None, 0.8, "none")
    assert (
        level.rows[0].queries_needed is None
        and "takes more queries than anybody can judge (95 % interval 11 or more)." in level.summary()
    )
    for scale, says in (
        (1e20, "is 5.0655e+19; detecting their observed difference, +5.0000e+18,"),
        (1e-4, "+0.000005,"),
    ):
        assert says in plan_pairs(pairwise(scale * column(0.3, -0.1, 0.2, -0.2)), None, 0.8, "none").summary()
    alone = plan_pairs(pairwise(column(0.1)), None, 0.8, "none")
    assert alone.rows == [] and "at least 2 runs and 2 queries" in alone.summary()
    assert len(alone.to_frame("polars")) == 0 and "detectable" not in str(alone)


def test_many_pairs_are_planned_for_with_bonferroni(demo):
    runs = {name: f"{name}.run" for name in ("popular", "dense", "lexical")}
    every, alone = (gradely.plan("qrels.txt", runs, ["AP"], correction=kind) for kind in ("bonferroni", "none"))
    for one, other in zip(every.rows, alone.rows, strict=True):
        assert one.queries_needed > other.queries_needed and one.detectable > other.detectable
        effect = abs(one.difference) / one.deviation
        assert one.queries_needed == queries_needed(effect, 0.05 / 3, 0.8)
        assert one.detectable == pytest.approx(one.deviation * detectable_effect(24, 0.05 / 3, 0.8))
    assert "α = 0.05 / 3 pairs (Bonferroni)" in every.caption()
    against = gradely.plan("qrels.txt", runs, ["AP"], baseline="popular")
    assert [(row.first, row.second) for row in against.rows] == [("lexical", "popular"), ("dense", "popular")]
    assert against.to_frame("polars").columns[-4:] == ["queries_for", "for_low", "for_high", "power_for"]


def test_the_command(demo, capfd):
    files = ["plan", "qrels.txt", "dense.run", "lexical.run", "-m", "AP"]
    assert cli([*files, "--difference", "0.02"]) == 0
    text = capfd.readouterr().out
    assert text.startswith("By AP, the smallest difference between lexical and dense that 24 queries can detect with")
    assert "queries for 0.02" in text and "two-sided paired t-test, power 0.8, α = 0.05." in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--power", "1"], "power must be a number between 0 and 1"),
        (["--alpha", "0"], "alpha must be a number"),
        (["--difference", "0"], "above 0"),
        (["--difference", "nan"], "above 0"),
        (["--baseline", "bm25"], "no run 'bm25'"),
    ],
)
def test_wrong_plans(demo, fails, options, message):
    fails("plan", "qrels.txt", "dense.run", "lexical.run", *options, says=message)


SPREAD = np.array([[0.5, 0.3, 0.4], [0.6, 0.5, 0.4], [0.7, 0.4, 0.6], [0.4, 0.4, 0.3]])


def test_a_difference_to_plan_for_counts_in_deviations():
    (row,) = plan_pairs(pairwise(SPREAD[:, :2]), 0.05, 0.8, "none").rows
    assert row.queries_for == queries_needed(0.05 / row.deviation, 0.05, 0.8)
    (flat,) = plan_pairs(pairwise(column(0.1, 0.1, 0.1)), 0.05, 0.8, "none").rows
    assert (flat.detectable, flat.queries_needed, flat.queries_for) == (None, None, None)


def test_the_column_of_a_difference_is_there_where_one_was_asked_for():
    fields = ["measure", "first", "second", "difference", "deviation", "detectable"]
    fields += ["queries needed", "needed low", "needed high"]
    assert plan_pairs(pairwise(SPREAD), None, 0.8, "none").table().header == fields
    assert plan_pairs(pairwise(SPREAD), 0.05, 0.8, "none").table().header == [
        *fields,
        "queries for 0.05",
        "for 0.05 low",
        "for 0.05 high",
        "power for 0.05",
    ]


def test_two_pairs_share_alpha():
    assert (
        "α = 0.05 / 2 pairs (Bonferroni)"
        in plan_pairs(pairwise(SPREAD, baselines=("a",)), None, 0.8, "bonferroni").caption()
    )


def test_what_is_noted_of_the_runs_is_noted_of_the_plan_and_the_usual_power_is_80_percent():
    qrels = {f"q{i}": {"d": 1} for i in range(4)}
    runs = {"a": {"q0": ["d"], "q1": ["x", "d"]}, "b": {query: ["d"] for query in qrels}}
    plan = gradely.plan(qrels, runs, ["RR"])
    assert plan.power == 0.8 and [note.kind for note in plan.notes] == ["missing", "beyond"]
    with pytest.raises(gradely.DataError, match="power must be a number between 0 and 1"):
        gradely.plan(qrels, runs, ["RR"], power=0)


def test_more_than_a_billion_queries_nobody_will_judge():
    beyond = lambda moved: special.ndtr(moved - 1.959964) + special.ndtr(-moved - 1.959964) - 0.8  # by both tails
    assert queries_needed(1e-4, 0.05, 0.8) == pytest.approx((optimize.brentq(beyond, 2, 4) / 1e-4) ** 2, rel=1e-6)
    assert queries_needed(7e-5, 0.05, 0.8) is None


def test_a_difference_larger_than_the_measure_can_show_is_no_answer():
    """Four queries of RR: the difference that could be detected was 1.36."""
    qrels = {f"q{i}": {"d": 1} for i in range(4)}
    runs = {"a": {"q0": ["d"], "q1": ["d"], "q2": ["x"]}, "b": {q: ["x", "d"] if q < "q2" else ["d"] for q in qrels}}
    found = gradely.plan(qrels, runs, ["RR", "DCG"])
    assert found.rows[0].detectable is None and found.rows[1].detectable > 1  # DCG has no upper bound
    assert found.summary().startswith("By RR, 4 queries cannot detect any difference between b and a with power 0.8;")
    (note,) = [note for note in found.notes if note.kind == "beyond"]
    assert (note.count, note.of) == (
        1,
        2,
    ) and "would have to differ by more than the measure can show: RR 1." in note.text


@pytest.mark.parametrize(
    ("values", "words"), [([0.0] * 4, "have the same value"), ([0.1] * 4, "differ by the same, +0.1")]
)
def test_runs_without_spread_are_equal_or_differ_by_the_same(values, words):
    assert f"By AP, a and b {words}" in plan_pairs(pairwise(column(*values)), None, 0.8, "none").summary()


@pytest.mark.parametrize(("effect", "queries"), [(0.2, 24), (-0.5, 10), (0.0, 5), (1.3, 50)])
def test_an_effect_has_the_interval_of_the_noncentral_distribution(effect, queries):
    low, high = effect_interval(effect, queries, 0.05)
    t = effect * np.sqrt(queries)
    assert stats.nct.sf(t, queries - 1, low * np.sqrt(queries)) == pytest.approx(0.025, abs=1e-6)
    assert stats.nct.sf(t, queries - 1, high * np.sqrt(queries)) == pytest.approx(0.975, abs=1e-6)


def test_intervals_of_numbers_of_queries_cover():
    """60 pilots of 24 queries with effect .3: the number that it truly takes lies within 95 % of the intervals."""
    rng, true = np.random.default_rng(2), queries_needed(0.3, 0.05, 0.8)
    asked = queries_needed(0.1 / 1.0, 0.05, 0.8)
    inside = within = 0
    for differ in rng.normal(0.3, 1, (60, 24)):
        (row,) = plan_pairs(pairwise(column(*differ)), 0.1, 0.8, "none").rows
        inside += row.needed_low <= true <= (row.needed_high or 10**9)
        within += row.for_low <= asked <= row.for_high
    assert inside / 60 == pytest.approx(0.95, abs=4 * np.sqrt(0.05 * 0.95 / 60))
    assert within / 60 == pytest.approx(0.95, abs=4 * np.sqrt(0.05 * 0.95 / 60))


def test_the_power_for_a_difference_is_that_of_the_queries_at_hand():
    (row,) = plan_pairs(pairwise(SPREAD[:, :2]), 0.05, 0.8, "none").rows
    assert row.power_for == pytest.approx(integrated_power(0.05 / row.deviation, 4, 0.05), abs=1e-6)
    certain = plan_pairs(pairwise(SPREAD[:, :2]), 50 * row.deviation, 0.8, "none").summary()
    assert certain.endswith(", and 4 queries detect it with power above 0.99.")  # of 1.00, none is
    assert "; detecting a difference of 0.05 takes " in plan_pairs(pairwise(SPREAD[:, :2]), 0.05, 0.8, "none").summary()


PLANNED = ({"q1": {"d": 1}, "q2": {"d": 1}}, {"a": {"q1": ["d"], "q2": ["d"]}, "b": {"q1": ["x", "d"], "q2": ["d"]}})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"difference": float("inf")}, "a number above 0, like 0.02; found inf"),
        ({"difference": float("nan")}, "a number above 0, like 0.02; found nan"),
        ({"correction": "holm"}, "correction 'holm': use one of bonferroni, none"),
        ({"difference": 5}, "RR cannot differ by more than 1: no queries show a difference of 5"),
    ],
)
def test_what_cannot_be_planned_is_refused(options, message):
    with pytest.raises(gradely.DataError) as refused:
        gradely.plan(*PLANNED, ["RR"], **options)
    assert message in str(refused.value)


def test_a_difference_that_a_measure_can_have_is_planned_for():
    assert gradely.plan(*PLANNED, ["RR"], difference=1).rows[0].power_for > 0.05
    assert gradely.plan(*PLANNED, ["DCG"], difference=5).rows[0].queries_for == 2  # which has no highest value


def test_the_ends_of_numbers_of_queries_are_those_of_effect_and_deviation():
    differ = np.random.default_rng(3).normal(0.08, 0.1, 30)
    (row,) = plan_pairs(pairwise(column(*differ)), 0.05, 0.8, "none").rows
    effect, freedom = row.difference / row.deviation, 29
    ends = sorted(map(abs, effect_interval(effect, 30, 0.05)), reverse=True)
    assert min(effect_interval(effect, 30, 0.05)) > 0
    assert row.queries_needed == queries_needed(effect, 0.05, 0.8)
    assert [row.needed_low, row.needed_high] == [queries_needed(end, 0.05, 0.8) for end in ends]
    shares = [np.sqrt(stats.chi2.ppf(share, freedom) / freedom) for share in (0.975, 0.025)]
    asked = [queries_needed(0.05 / row.deviation * share, 0.05, 0.8) for share in (1.0, *shares)]
    assert [row.queries_for, row.for_low, row.for_high] == asked
    assert row.power_for == pytest.approx(power_of(0.05 / row.deviation, 30, 0.05))


def test_bonferroni_divides_the_level_by_the_pairs():
    values = np.random.default_rng(5).normal((0.0, 0.3, 0.6), 1.0, (20, 3))
    for row in plan_pairs(pairwise(values), None, 0.8, "bonferroni").rows:
        assert row.detectable == pytest.approx(row.deviation * detectable_effect(20, 0.05 / 3, 0.8))
        assert row.queries_needed == queries_needed(row.difference / row.deviation, 0.05 / 3, 0.8)


def test_power_below_the_level_takes_two_queries():
    assert queries_needed(0.5, 0.5, 0.1) == 2


def test_a_difference_that_no_number_of_queries_shows():
    summary = gradely.plan(*PLANNED, ["RR"], difference=1e-9).summary()
    assert (
        "; detecting a difference of 1e-09 takes more queries than anybody can judge, and 2 queries detect it with "
        "power 0.05." in summary
    )


def test_a_plan_follows_weights_and_becomes_plain_data():
    qrels = {f"q{i}": {"d": 1} for i in range(6)}
    runs = {name: {q: ["x"] * (i % k) + ["d"] for i, q in enumerate(qrels)} for name, k in (("a", 1), ("b", 2))}
    weights = {query: 1.0 + i for i, query in enumerate(qrels)}
    plain, weighted = (gradely.plan(qrels, runs, ["RR"], weights=chosen) for chosen in (None, weights))
    assert plain.as_dict()["pairs"] == [row._asdict() for row in plain.rows]
    assert plain.rows[0].difference != weighted.rows[0].difference
