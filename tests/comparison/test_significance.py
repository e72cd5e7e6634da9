"""Significance tests: against SciPy, published and hand-computed values, full enumeration, and the null hypothesis."""

from fractions import Fraction
from itertools import combinations_with_replacement, permutations, product
from math import factorial, prod

import numpy as np
import pytest
from scipy import stats

import gradely
from gradely import DataError
from gradely.cli.main import run
from gradely.comparison import tests
from gradely.comparison.pairwise import Design, Pairwise
from gradely.comparison.tests import (
    CORRECTIONS,
    DRAWN,
    TESTS,
    Pairs,
    achieved_levels,
    adjust,
    all_pairs,
    differences,
    effect_sizes,
    joint_p_values,
    lacks_spread,
    p_values,
    pair_with_baselines,
    round_off,
    wilcoxon,
)

# Student (1908), extra hours of sleep by two drugs, as in R's `sleep`: t = -4.0621, df = 9, p = 0.002833.
SLEEP = np.array(
    [
        [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0],
        [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4],
    ]
).T
# Hollander and Wolfe (1973), as in R's `?wilcox.test`: depression scale, V = 40; two-sided exact p = 0.0390625.
DEPRESSION = np.array(
    [
        [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30],
        [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29],
    ]
).T


def table(topics=30, systems=5, seed=1):
    rng = np.random.default_rng(seed)
    topic = rng.uniform(size=(topics, 1))
    return np.clip(topic + np.linspace(0, 0.15, systems) + rng.normal(0, 0.2, (topics, systems)), 0, 1)


def power(values, **design):
    """Return the discriminative power of a measure with these values [topics, systems]."""
    names = [str(i) for i in range(values.shape[1])]
    return Pairwise(values[None], values.mean(axis=0)[None], names, ["AP"], Design(**design).settle()).power()["AP"]


def test_published_values():
    assert p_values(SLEEP, "t") == pytest.approx([0.002833], abs=5e-7)
    assert p_values(DEPRESSION, "wilcoxon") == pytest.approx([0.0390625], abs=1e-9)


def test_t_is_scipys():
    values, pairs = table(), all_pairs(5)
    for i, (a, b) in enumerate(zip(*pairs, strict=True)):
        assert p_values(values, "t")[i] == pytest.approx(stats.ttest_rel(values[:, a], values[:, b]).pvalue)


def column(*differences_of_topics):
    """Return values [topics, 2] with these differences."""
    return np.column_stack([np.asarray(differences_of_topics, float), np.zeros(len(differences_of_topics))])


@pytest.mark.parametrize("test", ["t", "bootstrap"])
@pytest.mark.parametrize("topics", [2, 5, 50])
def test_a_difference_without_spread_is_tested_by_the_exact_randomization_test(test, topics):
    """t is infinite there: p = 0 on two topics, or p = 1 from draws that are all alike, would both be wrong."""
    values = column(*[0.5] * topics)
    assert p_values(values, test).tolist() == [2 / 2**topics]
    assert lacks_spread(differences(values, all_pairs(2))).tolist() == [True]


def test_a_bootstrap_draw_without_spread_is_not_extreme_by_itself():
    """Fifty of fifty queries won, 49 by .5 and one by .25: a third of the draws lack that one and have no spread."""
    values = column(*[0.5] * 49, 0.25)
    assert p_values(values, "bootstrap", resamples=2_000).tolist() == [1 / 2_001]


def enumerated_wilcoxon(differ):
    """Return the exact two-sided p-value over all signs of the ranks of what is not 0."""
    differ = differ[differ != 0]
    ranks = stats.rankdata(np.abs(differ))
    sums = np.array([np.dot(signs, ranks) for signs in product([0, 1], repeat=len(ranks))])
    observed = ranks[differ > 0].sum()
    return min(1.0, 2 * min(np.mean(sums <= observed), np.mean(sums >= observed)))


@pytest.mark.parametrize("seed", range(8))
def test_wilcoxon_with_zeros_and_ties_is_the_full_enumeration(seed):
    rng = np.random.default_rng(seed)
    differ = rng.integers(-2, 4, 12) / 10
    assert p_values(column(*differ), "wilcoxon")[0] == pytest.approx(enumerated_wilcoxon(differ), abs=1e-14)


def test_wilcoxon_of_many_zeros_is_exact():
    assert p_values(column(*[0.0] * 45, *[0.5] * 5), "wilcoxon").tolist() == [2 / 2**5]


@pytest.mark.parametrize("topics", [9, 14, 50, 51, 100])
def test_wilcoxon_without_ties_is_scipys_exact_one(topics):
    values = np.random.default_rng(topics).normal(0, 1, (topics, 4)) + np.linspace(0, 0.3, 4)
    expected = [stats.wilcoxon(each, method="exact").pvalue for each in differences(values, all_pairs(4)).T]
    assert p_values(values, "wilcoxon") == pytest.approx(expected, rel=1e-10)


def test_wilcoxon_of_very_many_topics_is_the_normal_approximation():
    values = np.round(table(topics=130, systems=3), 1)
    expected = [stats.wilcoxon(each, method="approx").pvalue for each in differences(values, all_pairs(3)).T]
    assert p_values(values, "wilcoxon") == pytest.approx(expected, rel=1e-10)


def test_randomization_of_few_topics_is_the_full_enumeration():
    differ = np.array([0.3, -0.1, 0.2, 0.2, 0.0, 0.4])
    sums = [abs(sum(s * d for s, d in zip(signs, differ, strict=True))) for signs in product([1, -1], repeat=6)]
    expected = sum(total >= abs(differ.sum()) - 1e-12 for total in sums) / 2**6
    assert p_values(np.column_stack([differ, np.zeros(6)]), "randomization").tolist() == [expected]


def test_randomization_agrees_with_scipy_and_with_its_own_enumeration():
    values = table(topics=12, systems=2)
    exact, drawn = (p_values(values, "randomization", resamples=n, seed=3)[0] for n in (4096, 4095))
    differ = values[:, 0] - values[:, 1]
    scipys = stats.permutation_test((differ,), np.mean, permutation_type="samples", n_resamples=4096).pvalue
    assert exact == pytest.approx(scipys)
    assert drawn == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 4095))


RANKS = [(4, 7), (3, 7), (2, 3), (1, 2), (6, 5), (1, 9), (3, 7), (5, 3)]
"""the ranks of the only relevant document in two runs, so that RR is a fraction"""


def enumerated(differ, extreme):
    """Return the share of all signs, in exact fractions, whose sum is extreme."""
    sums = [sum(s * d for s, d in zip(signs, differ, strict=True)) for signs in product([1, -1], repeat=len(differ))]
    return sum(map(extreme, sums)) / len(sums)


def test_sums_that_are_equal_as_fractions_are_as_extreme():
    """Their decimals differ in the last digit, and p was .0469: "A is better"."""
    exact = [Fraction(1, a) - Fraction(1, b) for a, b in RANKS]
    expected = enumerated(exact, lambda total: abs(total) >= abs(sum(exact)))
    values = np.array([[1 / a, 1 / b] for a, b in RANKS])
    assert expected == 14 / 2**8 == pytest.approx(0.0547, abs=5e-5)
    for test in ("randomization", "max-t"):
        for unit in (1, 100, 1 / 3, 1e6):
            assert p_values(unit * values, test).tolist() == [expected], (test, unit)


@pytest.mark.parametrize("test", list(TESTS))
def test_large_values_have_the_p_values_of_small_ones(test):
    """As DCG of counts of clicks may have. Rounding errors of 4e6 are above 1e-12."""
    values = np.array([[1 / a, 1 / b] for a, b in RANKS])
    for unit in (100, 1e6, 1e12, 1e100):
        assert p_values(unit * values, test) == pytest.approx(p_values(values, test), abs=1e-9)
    constant = np.column_stack([1e6 / np.arange(1, 9), 1e6 / np.arange(1, 9) - 0.1])
    assert p_values(constant, test) == pytest.approx(2 / 2**8, abs=0.002 if test == "tukey" else 0)


@pytest.mark.parametrize("unit", [1e151, 1e300, -1e300])
def test_values_with_squares_beyond_all_numbers_are_refused(unit):
    """p was 0 or NaN, with warnings of NumPy."""
    with pytest.raises(DataError, match=r"values up to 1e\+\d{3} cannot be tested: their squares"):
        p_values(unit * np.array([[1.0, 0.5], [0.5, 0.75]]))
    qrels = {f"q{i}": {"d": abs(unit), "e": abs(unit) * i / 9} for i in range(5)}
    runs = {"a": {query: ["d"] for query in qrels}, "b": {query: ["e"] for query in qrels}}
    assert gradely.evaluate(qrels, runs["a"], ["DCG"])["DCG"] == pytest.approx(abs(unit))
    for names in (["a"], ["a", "b"]):
        with pytest.raises(DataError, match=r"DCG: values up to 1e.*use smaller labels"):
            gradely.compare(qrels, {name: runs[name] for name in names}, ["nDCG", "DCG"]).runs_table()
    with pytest.raises(DataError, match="DCG: values up to"):
        gradely.gate(qrels, runs["b"], runs["a"], ["DCG"])


@pytest.mark.parametrize("seed", range(30))
def test_randomization_is_the_enumeration_in_fractions(seed):
    ranks = np.random.default_rng(seed).integers(1, 8, (9, 2))
    exact = [Fraction(1, int(a)) - Fraction(1, int(b)) for a, b in ranks]
    differ = np.array([[1 / a - 1 / b] for a, b in ranks])
    assert p_values(1 / ranks, "randomization").tolist() == [enumerated(exact, lambda x: abs(x) >= abs(sum(exact)))]
    above = tests.p_of_differences(differ, "randomization", 10_000, 0, one_sided=True)
    assert above.tolist() == [enumerated(exact, lambda total: total >= sum(exact))]
    assert p_values(100 / ranks, "randomization", resamples=200) == p_values(1 / ranks, "randomization", resamples=200)


def test_runs_of_equal_mean_have_p_1():
    """P@5 in tenths: 85 of 106 such pairs had less."""
    rng = np.random.default_rng(7)
    for _ in range(20):
        differ = rng.integers(-3, 4, 30) / 5
        differ = np.append(differ, [-differ.sum() / 2] * 2)
        assert p_values(column(*differ), "randomization").tolist() == [1.0]


@pytest.mark.parametrize("one_sided", [False, True])
@pytest.mark.parametrize("test", [tests.randomization, tests.bootstrap])
def test_a_pair_has_the_same_p_value_in_any_unit_and_beside_any_other(test, one_sided):
    """What counts as rounding depends on the sizes of its own differences alone."""
    differ = np.array([[1 / a - 1 / b] for a, b in RANKS])
    alone = test(differ, 500, 0, one_sided=one_sided)
    assert test(differ * 2.0 ** np.array([0, -20, 20]), 500, 0, one_sided=one_sided).tolist() == [*alone] * 3


def test_wins_ties_and_losses_by_hand():
    differ = np.array([[0.5, 0.0], [-0.5, 0.0], [0.0, 0.1], [0.0, 0.2]])
    assert [counts.tolist() for counts in tests.count_wins(differ)] == [[1, 2], [2, 2], [1, 0]]


def test_which_run_a_test_favours():
    """Wilcoxon's goes by ranks, 1 + 2 + 3 against 4, whatever the mean is; 0.1 + 0.2 - 0.3 is rounding."""
    differ = np.array([[0.1, 0.1, 0.0, 0.0], [0.2, 0.2, 0.0, 0.0], [0.3, -0.3, 0.0, 0.0], [-0.9, 0.0, 0.0, 1e-10]])
    assert tests.directions(differ, "t").tolist() == [-1.0, 0.0, 0.0, 1.0]
    assert tests.directions(differ, "wilcoxon").tolist() == [1.0, 0.0, 0.0, 1.0]


def test_the_least_p_value_by_hand():
    values = np.array([[0.5, 0.4, 0.5], [0.5, 0.3, 0.5], [0.5, 0.2, 0.5], [0.5, 0.5, 0.4], [0.1, 0.1, 0.1]])
    pairs = Pairs(np.array([0, 0, 1, 0]), np.array([1, 2, 2, 0]))  # which differ on 3, 1, 4 and 0 queries
    least = lambda test, resamples=999: tests.least_p_values(values, test, pairs, resamples).tolist()
    assert least("randomization") == least("wilcoxon") == [2 / 2**3, 2 / 2**1, 2 / 2**4, 1.0]
    assert least("randomization", 4) == [0.25, 1.0, 0.2, 1.0]  # one of 4 draws and the observed one
    assert least("tukey") == [1 / 6**3] * 3 + [1.0]  # 4 queries have 3 · 2 places for the best and the worst run
    equal = [stats.ttest_1samp([1] * k + [0] * (5 - k), 0).pvalue for k in (3, 1, 4)]  # beside zeros
    assert least("t") == pytest.approx([*equal, 1.0]) and least("bootstrap") == [0.001] * 3 + [1.0]


def test_the_least_p_value_without_spread_is_that_of_the_exact_test():
    values = np.array([[0.5, 0.4, 0.1], [0.6, 0.5, 0.5], [0.7, 0.6, 0.6]])
    once = stats.ttest_1samp([1, 0, 0], 0).pvalue  # the last two runs differ on one query
    for test in ("t", "bootstrap"):  # of three queries, t replaces the bootstrap, and nothing is drawn
        assert tests.least_p_values(values, test, all_pairs(3), 99) == pytest.approx([2 / 2**3, 0.0, once])
    values = np.vstack([values, values[1:]])
    assert tests.least_p_values(values, "bootstrap", all_pairs(3), 99).tolist() == [2 / 2**5, 0.01, 0.01]


def test_five_queries_are_enough_for_the_bootstrap():
    differ = np.random.default_rng(2).normal(0.3, 1, (5, 1))
    p = {(test, n): tests.p_of_differences(differ[:n], test, 999, 0)[0] for test in ("t", "bootstrap") for n in (4, 5)}
    assert p["bootstrap", 4] == p["t", 4] and p["bootstrap", 5] != p["t", 5]


def test_equal_runs_beside_others():
    values = table(12, 2)[:, [0, 0, 1]]
    p = p_values(values, "t")
    assert p[0] == 1.0 and p[1] == p[2] == p_values(values[:, 1:], "t")[0]


def test_one_sided_draws_count_both_ways_round():
    """A drawn p is near the exact one, above 0, and never both sides are small."""
    differ = table(topics=12, systems=2)
    column_ = (differ[:, 0] - differ[:, 1])[:, None]
    for sign in (1, -1):
        exact, drawn = (
            tests.p_of_differences(sign * column_, "randomization", n, 3, one_sided=True)[0] for n in (4096, 4095)
        )
        assert drawn == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 4095) + 1e-3)
    clear = tests.p_of_differences(np.linspace(0.5, 0.6, 40)[:, None], "randomization", 500, 0, one_sided=True)
    assert clear.tolist() == [1 / 1002]


@pytest.mark.parametrize("seed", range(4))
def test_one_sided_t_and_wilcoxon_are_scipys(seed):
    differ = np.random.default_rng(seed).normal(0.2, 1, (15, 5))
    for test, expected in (
        ("t", stats.ttest_1samp(differ, 0, alternative="greater").pvalue),
        ("wilcoxon", stats.wilcoxon(differ, alternative="greater", method="exact").pvalue),
    ):
        assert tests.p_of_differences(differ, test, 1, 0, one_sided=True) == pytest.approx(expected, rel=1e-12)


def enumerated_bootstrap(exact, *, one_sided=False):
    """Return the share of all n^n draws, in exact fractions, whose t is as large."""
    n, mean = len(exact), sum(exact) / len(exact)
    shifted = [d - mean for d in exact]
    share = Fraction(0)
    for draw in combinations_with_replacement(range(n), n):
        weight = Fraction(factorial(n), prod(factorial(draw.count(i)) for i in range(n)) * n**n)
        drawn = [shifted[i] for i in draw]
        centre = sum(drawn) / n
        spread, own = sum((d - centre) ** 2 for d in drawn), sum(d**2 for d in shifted)
        size, bound = (centre, mean) if one_sided else (abs(centre), abs(mean))
        signed = lambda x, by: (1 if x >= 0 else -1) * x**2 * by  # compares x·√by with its sign
        share += weight * (signed(size, own) >= signed(bound, spread) if spread else size >= bound)
    return float(share)


@pytest.mark.parametrize(
    "differ",
    [
        [Fraction(1, 2) - Fraction(1, 3), Fraction(1, 4) - Fraction(1, 3), Fraction(1, 6)],  # 15 / 27
        [Fraction(1, 2), Fraction(1, 3), Fraction(-1, 6), Fraction(1, 6), Fraction(0)],
        [Fraction(1, 5), Fraction(2, 5), Fraction(-1, 5), Fraction(-2, 5), Fraction(3, 5)],
    ],
)
def test_the_bootstrap_is_the_enumeration_in_fractions(differ):
    column_ = np.array([[float(d)] for d in differ])
    for one_sided in (False, True):
        exact = enumerated_bootstrap(differ, one_sided=one_sided)
        drawn = tests.bootstrap(column_, 20_000, 0, one_sided=one_sided)[0]
        assert drawn == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 20_000))
    assert enumerated_bootstrap([Fraction(1, 6), Fraction(-1, 12), Fraction(1, 6)]) == 15 / 27


def test_draws_of_the_same_t_are_as_extreme_in_any_unit():
    """A draw with four of the higher value has exactly the observed t; without slack, p was .0002."""
    differ = [Fraction(2, 15)] * 4 + [Fraction(7, 15)]
    for one_sided in (False, True):
        exact = enumerated_bootstrap(differ, one_sided=one_sided)
        assert exact == (5 * 4 + 1) / 5**5  # four of the higher value, or five, which has no spread
        drawn = {
            tests.bootstrap(np.array([[unit * float(d)] for d in differ]), 20_000, 0, one_sided=one_sided)[0]
            for unit in (1, 1 / 3, 7, 100)
        }
        assert len(drawn) == 1 and drawn.pop() == pytest.approx(exact, abs=4 * np.sqrt(exact / 20_000))


def test_two_queries_have_the_p_value_of_t():
    """The bootstrap said "better (p < .001)" of RR 1, 1 against 1/2, 1/3."""
    values = np.array([[1, 1 / 2], [1, 1 / 3]])
    assert p_values(values, "bootstrap") == pytest.approx(stats.ttest_rel(*values.T).pvalue)
    assert p_values(values, "bootstrap") == pytest.approx(0.0903, abs=5e-5)


@pytest.mark.parametrize("queries", [2, 3, 4])
def test_the_bootstrap_of_few_queries_keeps_its_level(queries):
    values = np.random.default_rng(queries).normal(size=(queries, 2000))
    p = tests.p_of_differences(values, "bootstrap", 199, 0)
    assert np.mean(p < 0.05) == pytest.approx(0.05, abs=4 * np.sqrt(0.05 * 0.95 / 2000))


@pytest.mark.parametrize("test", DRAWN)
def test_drawn_p_values_are_reproducible_and_never_0(test):
    values = np.column_stack([np.linspace(0.8, 0.9, 40), np.linspace(0.1, 0.2, 40) ** 2])
    p = p_values(values, test, resamples=500)
    assert p.tolist() == [1 / 501]
    noisy = table(seed=5)
    assert p_values(noisy, test, seed=1).tolist() == p_values(noisy, test, seed=1).tolist()
    assert p_values(noisy, test, seed=1).tolist() != p_values(noisy, test, seed=2).tolist()


@pytest.mark.parametrize("test", TESTS)
def test_the_order_of_topics_and_systems_does_not_matter(test):
    values = table(systems=4)
    rng = np.random.default_rng(0)
    topics, systems = rng.permutation(30), np.array([2, 0, 3, 1])
    mixed = p_values(values[topics][:, systems], test, resamples=300)
    place = {tuple(sorted(pair)): i for i, pair in enumerate(zip(*all_pairs(4), strict=True))}
    expected = p_values(values, test, resamples=300)
    found = [place[tuple(sorted((systems[a], systems[b])))] for a, b in zip(*all_pairs(4), strict=True)]
    assert mixed == pytest.approx(expected[found], abs=1e-12)


def test_tukey_is_the_share_of_shufflings_with_as_large_a_range():
    values = np.array([[0.1, 0.5, 0.3], [0.2, 0.9, 0.2], [0.0, 0.4, 0.6]])
    ranges = [np.ptp(np.mean(rows, axis=0)) for rows in product(*(list(permutations(row)) for row in values))]
    for (a, b), p in zip(zip(*all_pairs(3), strict=True), p_values(values, "tukey", resamples=20_000), strict=True):
        exact = np.mean(np.array(ranges) >= abs(values[:, a].mean() - values[:, b].mean()) - 1e-12)
        assert p == pytest.approx(exact, abs=0.015)


def test_tukey_of_two_systems_is_the_randomization_test():
    values = table(topics=10, systems=2)
    exact = p_values(values, "randomization")
    assert p_values(values, "tukey", resamples=20_000) == pytest.approx(exact, abs=0.015)


def test_max_t_is_the_share_of_signs_with_as_large_a_t():
    """Dunnett's question by full enumeration: the largest |t| of all pairs with the baseline, signs drawn by query."""
    values = table(topics=7, systems=4)
    pairs = pair_with_baselines([0], 4)
    differ = differences(values, pairs)
    drawn = [differ * np.array(signs)[:, None] for signs in product([1, -1], repeat=7)]
    largest = [np.max(np.abs(stats.ttest_1samp(each, 0).statistic)) for each in drawn]
    observed = np.abs(stats.ttest_1samp(differ, 0).statistic)
    expected = [np.mean(np.array(largest) >= t * (1 - 1e-9)) for t in observed]
    assert p_values(values, "max-t", pairs) == pytest.approx(expected, abs=1e-12)


def test_max_t_of_one_pair_is_the_randomization_test():
    for topics in (10, 40):
        values = table(topics=topics, systems=2)
        exact = p_values(values, "randomization")
        assert p_values(values, "max-t") == pytest.approx(exact, abs=1e-12 if topics == 10 else 0.02)


def test_a_baseline_is_not_charged_for_other_pairs():
    values = table(topics=25, systems=8, seed=3)
    alone, every = pair_with_baselines([0], 8), all_pairs(8)
    place = [list(zip(*every, strict=True)).index((0, i)) for i in range(1, 8)]
    assert np.all(p_values(values, "max-t", alone) <= p_values(values, "max-t", every)[place])
    assert p_values(values, "max-t", alone).mean() < 0.8 * p_values(values, "max-t", every)[place].mean()


@pytest.mark.parametrize("test", ["tukey", "max-t"])
def test_the_largest_of_several_measures_counts_where_they_are_one_family(test):
    values, same = np.stack([table(seed=1), 100 * table(seed=1)]), all_pairs(5)
    together = joint_p_values(values, test, same, resamples=500, seed=0)
    assert together[0] == pytest.approx(together[1], abs=1e-12)  # units do not matter
    assert together[0] == pytest.approx(p_values(values[0], test, resamples=500), abs=0.03)  # nor does saying it twice
    other = np.stack([table(seed=1), table(seed=9)])
    assert np.all(joint_p_values(other, test, same, resamples=500, seed=0)[0] >= together[0] - 0.05)
    assert joint_p_values(other, test, same, resamples=500, seed=0)[0].sum() > together[0].sum()


@pytest.mark.parametrize("test", ["randomization", "bootstrap", "tukey", "max-t"])
def test_draws_do_not_depend_on_how_much_is_held_at_a_time(test, monkeypatch):
    values = table(topics=37, systems=4)
    expected = p_values(values, test, resamples=300)
    monkeypatch.setattr(tests, "CELLS", 1000)
    assert p_values(values, test, resamples=300).tolist() == expected.tolist()


@pytest.mark.parametrize("test", TESTS)
def test_equal_systems_are_not_told_apart(test):
    values = np.repeat(np.linspace(0, 1, 8)[:, None], 3, axis=1)
    assert p_values(values, test).tolist() == [1.0, 1.0, 1.0]
    assert effect_sizes(differences(values, all_pairs(3))).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("test", TESTS)
def test_false_positives_come_as_often_as_alpha(test):
    """400 experiments under the null: their number is binomial, and five standard deviations are allowed."""
    rng = np.random.default_rng(11)
    resamples, trials = 199, 400
    p = [p_values(rng.normal(size=(20, 2)), test, resamples=resamples)[0] for _ in range(trials)]
    assert np.mean(np.array(p) < 0.1) == pytest.approx(0.1, abs=5 * np.sqrt(0.1 * 0.9 / trials))


@pytest.mark.parametrize("test", ["tukey", "max-t"])
def test_tests_of_many_pairs_keep_the_family_wise_rate(test):
    rng = np.random.default_rng(12)
    wrong = [p_values(rng.normal(size=(15, 6)), test, resamples=199).min() < 0.1 for _ in range(200)]
    assert np.mean(wrong) == pytest.approx(0.1, abs=5 * np.sqrt(0.1 * 0.9 / 200))


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_what_is_corrected_stays_as_it_was(correction):
    p = np.array([0.04, 0.01, 0.02])
    adjust(p, correction)
    assert p.tolist() == [0.04, 0.01, 0.02]


def test_corrections_by_hand():
    p = [0.01, 0.04, 0.03, 0.5]
    assert adjust(p, "none").tolist() == p
    assert adjust(p, "bonferroni") == pytest.approx([0.04, 0.16, 0.12, 1.0])
    assert adjust(p, "holm") == pytest.approx([4 * 0.01, 3 * 0.03, 3 * 0.03, 0.5])
    assert adjust(p, "bh") == pytest.approx([4 / 1 * 0.01, 4 / 3 * 0.04, 4 / 3 * 0.04, 0.5])
    assert [adjust([], correction).tolist() for correction in CORRECTIONS] == [[], [], [], []]


def test_effect_size_by_hand():
    assert effect_sizes(np.array([[1.0, 2.0], [3.0, 2.0]])).tolist() == [2 / np.sqrt(2), np.inf]


def test_discriminative_power_is_the_share_of_pairs_below_alpha():
    values = table(systems=6)
    p = p_values(values, "t")
    assert 0 < power(values) == np.mean(p < 0.05) == power(values, correction="bonferroni") < 1
    assert achieved_levels(p).tolist() == sorted(p.tolist(), reverse=True)


def test_pairs_against_several_baselines():
    assert list(zip(*pair_with_baselines([0, 2], 4), strict=True)) == [(0, 2), (1, 0), (1, 2), (3, 0), (3, 2)]
    assert len(all_pairs(143)) == 143 * 142 / 2


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        ([[1.0, 2.0]], {}, "at least 2 queries"),
        ([[1.0], [2.0]], {}, "2 runs"),
        ([[1.0, np.nan], [1.0, 2.0]], {}, "not finite"),
        ([[1.0, 2.0]] * 3, {"test": "tuckey"}, "Did you mean tukey?"),
    ],
)
def test_what_cannot_be_tested_is_refused(values, options, message):
    with pytest.raises(DataError, match=message.replace("?", r"\?")):
        p_values(values, **options)


SMALL = ({"q1": {"a": 1}, "q2": {"a": 1}}, {"one": {"q1": ["a"]}, "two": {"q2": ["a"]}})


@pytest.mark.parametrize(
    ("function", "option", "values"),
    [
        ("compare", "alpha", [0, 1, -0.05, 1e-300, float("nan"), "0.05", True, None]),
        ("compare", "rope", [0, -0.1, float("nan"), float("inf"), "0.1", True]),
        ("compare", "resamples", [0, -1, 1.5, "99", True, None, 10**20]),
        ("compare", "seed", [-1, 1.5, "1", True, None]),
        ("plan", "alpha", [0, 1, 1e-300, float("nan"), "0.05"]),
        ("plan", "power", [0, 1, float("nan"), "0.8", True, None]),
        ("plan", "difference", [0, -0.1, float("nan"), float("inf"), "0.1", True]),
        ("gate", "alpha", [0, 1, 1e-300, float("nan"), "0.05"]),
        ("gate", "max_drop", [-0.1, float("nan"), "0.1"]),
        ("pools", "rates", [[], [0], [2], ["0.5"], [float("nan")]]),
        ("pools", "repeat", [0, -1, 1.5, "2", True, None, 10**20]),
        ("sample", "n", [0, -1, 1.5, "5", True, None]),
    ],
)
def test_numbers_that_are_none_and_levels_without_a_quantile_are_refused_by_name(function, option, values):
    """plan and gate ended in an OverflowError at α = 1e-300, and text in a TypeError of Python."""
    qrels, runs = SMALL
    given = [*runs.values()] if function == "gate" else [runs]
    for value in values:
        with pytest.raises(DataError) as refused:
            getattr(gradely, function)(qrels, *given, **{option: value})
        assert "found" in str(refused.value) or "number" in str(refused.value)


@pytest.mark.parametrize("command", ["plan", "gate", "compare"])
def test_the_smallest_level_has_numbers(command, tmp_path, capfd):
    (tmp_path / "q").write_text("".join(f"q{i} 0 a 1\n" for i in range(9)))
    for name, lost in (("one", 3), ("two", 5)):
        ranked = "".join(f"q{i} Q0 {'x' if i % lost == 0 else 'a'} 1 1 t\n" for i in range(9))
        (tmp_path / name).write_text(ranked)
    files = [str(tmp_path / name) for name in ("q", "one", "two")]
    files[2:2] = ["--baseline"] if command == "gate" else []
    assert run([command, *files, "-m", "RR", "--alpha", "1e-50"]) == 0
    assert run([command, *files, "-m", "RR", "--alpha", "1e-51"]) == 2
    assert capfd.readouterr().err.splitlines()[-1] == "gradely: alpha must be at least 1e-50; found 1e-51"


def test_unknown_correction():
    with pytest.raises(DataError, match="no correction 'holmes'"):
        adjust([0.1], "holmes")


def test_standard_errors_of_draws_are_those_of_the_drawn_values():
    """In any unit; a draw of one value only has none."""
    centred = np.random.default_rng(1).normal(size=(5, 2)) * [1, 1e-5]
    counts = np.array([[1.0, 1, 1, 1, 1], [2, 0, 1, 0, 2], [0, 5, 0, 0, 0]])
    mean, error = tests.moments(counts, centred)
    for row, weights in enumerate(counts.astype(int)):
        drawn = np.repeat(centred, weights, axis=0)
        assert mean[row] == pytest.approx(drawn.mean(axis=0), rel=1e-12)
        assert error[row] == pytest.approx(drawn.std(axis=0, ddof=1) / np.sqrt(5) if row < 2 else 0.0, rel=1e-12)


def test_the_bootstrap_counts_draws_whose_t_is_as_large():
    differ = np.array([0.3, -0.1, 0.2, 0.4])
    observed, shifted = abs(differ.mean()) / (differ.std(ddof=1) / 2), differ - differ.mean()
    extreme = 0
    for counts in np.concatenate(list(tests.draw_counts(4, 500, 3))).astype(int):
        drawn = np.repeat(np.sort(shifted), counts)
        error = drawn.std(ddof=1) / 2 if len(set(drawn)) > 1 else 0.0
        extreme += abs(drawn.mean()) / error >= observed if error else abs(drawn.mean()) >= differ.mean()
    assert tests.bootstrap(differ[:, None], 500, 3) == pytest.approx([(extreme + 1) / 501])


def test_a_draw_without_spread_is_as_extreme_as_its_mean():
    """Of two differences 0 and 1, the draws (0, 0) and (1, 1) lie as far from 1/2 as 1/2 from 0: half of all draws."""
    assert tests.bootstrap(np.array([[0.0], [1.0]]), 999, 0)[0] == pytest.approx(0.5, abs=0.06)


def test_canonical_order_depends_on_neither_order_nor_signs_nor_rounding():
    rng = np.random.default_rng(2)
    columns = np.round(rng.normal(0, 0.1, (7, 5)), 2)
    columns[:3, 0] = [-0.5, 0.5, 0.1]  # the extremes cancel, so that others decide
    expected = tests.sort_canonically(columns)
    for _ in range(20):
        other = (columns * rng.choice([-1, 1], 5))[rng.permutation(7)][:, rng.permutation(5)]
        assert (tests.sort_canonically(other + rng.choice([-2e-13, 2e-13], other.shape)) == expected).all()


def test_differences_that_cancel_are_not_extreme():
    assert p_values([[0.5, 0.4], [0.4, 0.5]], "randomization").tolist() == [1.0]


def test_tukey_minds_neither_hard_queries_nor_units_nor_order():
    values = np.round(np.stack([table(12, 4), table(12, 4, seed=2)]), 1)
    pairs = all_pairs(4)
    expected = joint_p_values(values, "tukey", pairs, resamples=300, seed=0)
    hard = values + [[[0.0]], [[1.0]]] * np.random.default_rng(5).integers(0, 3, (12, 1))
    drawn = [joint_p_values(given, "tukey", pairs, resamples=3000, seed=0) for given in (values, hard)]
    assert drawn[1] == pytest.approx(drawn[0], abs=0.05)
    assert (joint_p_values(values * [[[1.0]], [[0.125]]], "tukey", pairs, resamples=300, seed=0) == expected).all()
    turned = joint_p_values(values[:, ::-1, ::-1], "tukey", pairs, resamples=300, seed=0)
    assert (turned[:, [5, 4, 2, 3, 1, 0]] == expected).all()  # the pairs of runs 3 - i and 3 - j
    assert (p_values(1e6 * values[0], "tukey", resamples=300) == p_values(values[0], "tukey", resamples=300)).all()


def test_a_measure_without_spread_beside_another():
    values = np.stack([table(12, 3), np.full((12, 3), 0.5)])
    assert (joint_p_values(values, "tukey", all_pairs(3), resamples=100, seed=0)[1] == 1).all()


@pytest.mark.parametrize("queries", [31, 32, 33, 64, 65])
def test_signs_of_any_number_of_queries(queries):
    (signs,) = tests.draw_signs(queries, 10, 0)
    assert signs.shape == (10, queries) and set(signs.ravel()) == {-1.0, 1.0}


def test_defaults_of_tests():
    values = table(20, 2)
    assert p_values(values, "randomization", resamples=50) == p_values(values, "randomization", resamples=50, seed=0)
    drawn = power(values, test="randomization", resamples=50, alpha=0.3, seed=0)
    assert power(values, test="randomization", resamples=50, alpha=0.3) == drawn


def test_a_p_value_of_alpha_separates_nothing():
    assert power(column(0.1, 0.2, 0.3), test="randomization", alpha=2 / 2**3) == 0


def test_signed_ranks_are_exact_up_to_a_hundred_differences():
    differ = np.random.default_rng(6).normal(0.1, 1, (101, 1))
    for queries, method in ((100, "exact"), (101, "approx")):
        expected = stats.wilcoxon(differ[:queries, 0], method=method).pvalue
        assert wilcoxon(differ[:queries])[0] == pytest.approx(expected, rel=1e-9)
    assert wilcoxon(np.zeros((3, 1))).tolist() == [1.0]


def test_rounding_makes_no_difference_and_some_equal_queries_leave_an_effect():
    assert differences(np.array([[0.1 + 4e-13, 0.1]]), all_pairs(2)).tolist() == [[0.0]]
    assert effect_sizes(np.array([[0.0], [1.0]])).tolist() == pytest.approx([0.5 / np.sqrt(0.5)])


def test_a_value_of_1_with_a_rounding_error_is_rounded_like_1():
    differ = np.random.default_rng(0).random(50)
    assert (round_off(differ, np.array([1 + 2.0**-52])) == round_off(differ, np.array([1.0]))).all()
    assert (round_off(differ, np.array([1.01])) != round_off(differ, np.array([1.0]))).any()
