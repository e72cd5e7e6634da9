"""Significance tests: against SciPy, published and hand-computed values, full enumeration, and the null hypothesis."""

from itertools import permutations, product

import numpy as np
import pytest
from scipy import stats

from gradely import DataError
from gradely.comparison import resampling
from gradely.comparison.significance import (
    CORRECTIONS,
    TESTS,
    achieved_levels,
    adjusted,
    against,
    all_pairs,
    differences,
    discriminative_power,
    effect_sizes,
    p_values,
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


def test_published_values():
    assert p_values(SLEEP, "t") == pytest.approx([0.002833], abs=5e-7)
    assert p_values(DEPRESSION, "wilcoxon") == pytest.approx([0.0390625], abs=1e-9)


def test_t_and_wilcoxon_are_scipys():
    values, pairs = table(), all_pairs(5)
    for i, (a, b) in enumerate(zip(*pairs, strict=True)):
        assert p_values(values, "t")[i] == pytest.approx(stats.ttest_rel(values[:, a], values[:, b]).pvalue)
        differ = np.round(values[:, a] - values[:, b], 12)
        assert p_values(values, "wilcoxon")[i] == pytest.approx(stats.wilcoxon(differ).pvalue)


@pytest.mark.parametrize("topics", [9, 14, 50, 51])
def test_wilcoxon_of_many_pairs_is_that_of_each(topics):
    values = np.round(table(topics=topics, systems=4), 1)
    values[:, :2] = table(topics=topics, systems=2)
    expected = [stats.wilcoxon(column).pvalue for column in differences(values, all_pairs(4)).T]
    assert p_values(values, "wilcoxon") == pytest.approx(expected, abs=1e-12)


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


@pytest.mark.parametrize("test", ["randomization", "bootstrap", "tukey"])
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


def test_tukey_keeps_the_family_wise_rate():
    rng = np.random.default_rng(12)
    wrong = [p_values(rng.normal(size=(15, 6)), "tukey", resamples=199).min() < 0.1 for _ in range(200)]
    assert np.mean(wrong) == pytest.approx(0.1, abs=5 * np.sqrt(0.1 * 0.9 / 200))


def test_corrections_by_hand():
    p = [0.01, 0.04, 0.03, 0.5]
    assert adjusted(p, "none").tolist() == p
    assert adjusted(p, "bonferroni") == pytest.approx([0.04, 0.16, 0.12, 1.0])
    assert adjusted(p, "holm") == pytest.approx([4 * 0.01, 3 * 0.03, 3 * 0.03, 0.5])
    assert adjusted(p, "bh") == pytest.approx([4 / 1 * 0.01, 4 / 3 * 0.04, 4 / 3 * 0.04, 0.5])
    assert [adjusted([], correction).tolist() for correction in CORRECTIONS] == [[], [], [], []]


def test_effect_size_by_hand():
    assert effect_sizes(np.array([[1.0, 2.0], [3.0, 2.0]])).tolist() == [2 / np.sqrt(2), np.inf]


def test_intervals_agree_with_scipy():
    values = table(topics=40, systems=3)
    low, high = resampling.intervals(values, 0.95, 0)
    for i in range(3):
        ci = stats.bootstrap((values[:, i],), np.mean, method="percentile", rng=1).confidence_interval
        assert (low[i], high[i]) == (pytest.approx(ci.low, abs=0.01), pytest.approx(ci.high, abs=0.01))


def test_intervals_cover_the_mean():
    rng = np.random.default_rng(5)
    inside = [
        low[0] <= 0 <= high[0]
        for low, high in (resampling.intervals(rng.normal(size=(40, 1)), 0.9, 0, draws=300) for _ in range(300))
    ]
    assert np.mean(inside) == pytest.approx(0.9, abs=0.07)


def test_discriminative_power_is_the_share_of_pairs_below_alpha():
    values = table(systems=6)
    p = p_values(values, "t")
    assert 0 < discriminative_power(values, "t") == np.mean(p < 0.05) < 1
    assert discriminative_power(values, "t", correction="bonferroni") == np.mean(p * len(p) < 0.05)
    assert achieved_levels(p).tolist() == sorted(p.tolist(), reverse=True)


def test_pairs_against_several_baselines():
    assert list(zip(*against([0, 2], 4), strict=True)) == [(0, 2), (1, 0), (1, 2), (3, 0), (3, 2)]
    assert len(all_pairs(143)) == 143 * 142 / 2


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        ([[1.0, 2.0]], {}, "at least 2 topics"),
        ([[1.0], [2.0]], {}, "2 systems"),
        ([[1.0, np.nan], [1.0, 2.0]], {}, "not finite"),
        ([[1.0, 2.0]] * 3, {"test": "tuckey"}, "Did you mean tukey?"),
    ],
)
def test_what_cannot_be_tested_is_refused(values, options, message):
    with pytest.raises(DataError, match=message.replace("?", r"\?")):
        p_values(values, **options)


def test_unknown_correction():
    with pytest.raises(DataError, match="no correction 'holmes'"):
        adjusted([0.1], "holmes")
