"""The regression estimator against its definition, term by term, and its coverage by simulation."""

import numpy as np
import pytest
from benchmarks.error_rates import NULLS
from scipy import stats

from gradely.comparison.regression import (
    COMPLETE,
    CONSTANT,
    PERFECT,
    USED,
    WRONG,
    Sample,
    combine,
    find_factor,
    regress,
)


def draw(seed=0, n=12, total=40, columns=3, agree=0.6):
    rng = np.random.default_rng(seed)
    y = rng.beta(0.6, 1.4, (total, columns))
    f = np.where(rng.random(y.shape) < agree, y, rng.beta(0.6, 1.4, y.shape)) + 0.03
    rows = rng.permutation(total)[:n]
    return Sample(y[rows], f, rows), y


def shrunk_slope(y, f):
    """Return the least-squares slope after 25 more queries on which it is 1/2."""
    return (len(y) * np.polyfit(f, y, 1)[0] + 25 / 2) / (len(y) + 25)


def by_definition(y, f, every, target):
    """Return slope, mean and standard error of one column, before it is calibrated, and the last for these queries."""
    n, total = len(y), len(every)
    slope = shrunk_slope(y, f)
    rest = y - slope * f
    mean = rest.mean() + slope * every.mean()
    these = rest.var(ddof=1) * (1 / n - 1 / total)
    spread = rest.var(ddof=1) + 2 * slope * np.cov(f, rest)[0, 1] + slope**2 * every.var(ddof=1)
    return slope, mean, these, spread / total if target == "like" else 0.0


@pytest.mark.parametrize("target", ["like", "these"])
def test_the_estimate_is_its_definition_term_by_term(target):
    sample, _ = draw()
    found = regress(sample, target)
    for c in range(3):
        y, every = sample.human[:, c], sample.judged[:, c]
        slope, mean, these, like = by_definition(y, every[sample.rows], every, target)
        correlation = np.corrcoef(y, every[sample.rows])[0, 1]
        factor = find_factor(every[:, None], 12, np.array([correlation]))[0]
        error = np.sqrt(factor**2 * these + like)
        assert np.allclose([found.slope[c], found.mean[c], found.together.error[c]], [slope, mean, error], rtol=1e-10)
        assert np.isclose(found.error[c] ** 2, these + like) and np.isclose(found.correlation[c], correlation)
        low, high = (end[c] for end in found.together.intervals(0.9))
        assert np.allclose([low, high], stats.t.interval(0.9, 11, mean, error))
    assert (found.use == USED).all() and found.together.freedom.tolist() == [11] * 3


@pytest.mark.parametrize(("n", "total", "share"), [(5, 30, 0.0), (10, 60, 0.4), (25, 60, 0.9)])
def test_the_factor_is_that_of_samples_drawn_one_by_one(n, total, share):
    """By other draws, so that both agree as well as 2,000 draws can."""
    rng = np.random.default_rng(1)
    f = rng.gamma(0.8, 1, total)
    ratios = []
    for _ in range(60):
        y = np.where(rng.random(total) < share, f, rng.permutation(f))
        for _ in range(50):
            at = rng.permutation(total)[:n]
            slope = shrunk_slope(y[at], f[at])
            rest = y[at] - slope * f[at]
            error = np.sqrt(rest.var(ddof=1) * (1 / n - 1 / total))
            ratios.append(abs(rest.mean() + slope * f.mean() - y.mean()) / error)
    found = find_factor(f[:, None], n, np.array([share]))[0] * stats.t.ppf(0.975, n - 1)
    low, high = np.quantile(ratios, [0.925, 0.97])
    assert low < found < high


def test_the_factor_is_1_for_normal_values_and_follows_skewed_and_sparse_ones():
    rng = np.random.default_rng(3)
    values = np.stack(
        [rng.normal(0, 1, 400), rng.gamma(0.3, 1, 400), np.where(rng.random(400) < 0.8, 0.0, rng.choice([-1, 1], 400))],
        axis=1,
    )
    normal, skewed, sparse = find_factor(values, 10, np.full(3, 0.8))
    assert abs(normal - 1) < 0.08 and skewed > 1.5 and sparse < 0.9
    assert np.array_equal(find_factor(values[::-1], 10, np.full(3, 0.8)), find_factor(values, 10, np.full(3, 0.8)))
    assert find_factor(np.full((20, 1), 0.3), 10, np.zeros(1)).tolist() == [1]


def test_many_columns_have_the_factors_that_each_has_by_itself():
    values = np.random.default_rng(5).beta(0.6, 1.4, (20, 2_500))
    shares = np.linspace(0, 1, 2_500)
    every = find_factor(values, 6, shares)
    for c in (0, 1_000, 2_499):
        assert np.isclose(find_factor(values[:, [c]], 6, shares[[c]])[0], every[c], rtol=1e-10)


@pytest.mark.parametrize("target", ["like", "these"])
def test_with_the_slope_1_what_the_judge_is_wrong_by_is_added(target):
    sample, _ = draw(1)
    found, (n, total) = regress(sample, target, 1), (12, 40)
    wrong = sample.human - sample.judged[sample.rows]
    assert np.allclose(found.mean, sample.judged.mean(axis=0) + wrong.mean(axis=0))
    spread = [
        np.var(every, ddof=1) + 2 * np.cov(every[sample.rows], e)[0, 1] + np.var(e, ddof=1)
        for every, e in zip(sample.judged.T, wrong.T, strict=True)
    ]
    like = np.array(spread) / total if target == "like" else 0.0
    by_chance = np.array(spread) + sample.judged.var(axis=0, ddof=1)
    rest = ((n - 1) * wrong.var(axis=0, ddof=1) + WRONG * by_chance) / (n - 1 + WRONG)
    assert np.allclose(found.together.error**2, rest * (1 / n - 1 / total) + like)
    assert found.together.freedom.tolist() == [n - 1] * 3


@pytest.mark.parametrize("target", ["like", "these"])
def test_least_squares_is_the_regression_estimator_of_the_textbook(target):
    """Cochran (1977): its interval is that of a predicted mean, for a finite number of queries."""
    sample, _ = draw(8)
    found, (n, total) = regress(sample, target, "least-squares"), (12, 40)
    low, high = found.together.intervals(0.95)
    for c in range(3):
        y, f, every = sample.human[:, c], sample.judged[sample.rows, c], sample.judged[:, c]
        line = stats.linregress(f, y)
        mean = y.mean() + line.slope * (every.mean() - f.mean())
        residual = np.sum((y - line.intercept - line.slope * f) ** 2) / (n - 2)
        these = residual * ((1 - n / total) / n + (every.mean() - f.mean()) ** 2 / np.sum((f - f.mean()) ** 2))
        error = np.sqrt(these + (y.var(ddof=1) / total if target == "like" else 0.0))
        assert np.allclose([found.slope[c], found.mean[c]], [line.slope, mean])
        assert np.allclose([low[c], high[c]], stats.t.interval(0.95, n - 2, mean, error))
    assert (found.use == USED).all() and found.together.freedom.tolist() == [n - 2] * 3


def test_least_squares_needs_a_judge_who_varies_and_errs():
    sample, _ = draw(9)
    judged = sample.judged.copy()
    judged[:, 0] = 0.5
    human = sample.human.copy()
    human[:, 1] = 0.3 * judged[sample.rows, 1] + 0.1
    found = regress(Sample(human, judged, sample.rows), slope="least-squares")
    assert found.use.tolist() == [CONSTANT, PERFECT, USED] and found.slope[:2].tolist() == [0, 0]
    assert found.together.freedom.tolist() == [11, 11, 10]
    assert np.allclose(found.mean[:2], human[:, :2].mean(axis=0))


def test_human_labels_alone_have_the_t_interval():
    sample, _ = draw(2)
    found = regress(sample)
    low, high = found.alone.intervals(0.95)
    for c in range(3):
        y = sample.human[:, c]
        assert np.allclose([low[c], high[c]], stats.t.interval(0.95, 11, y.mean(), stats.sem(y)))
    finite = regress(sample, "these").alone.error
    assert np.allclose(finite, found.alone.error * np.sqrt(1 - 12 / 40))


def test_where_people_judged_everything_the_judge_is_not_asked():
    sample, y = draw(3, n=12, total=12)
    like, these = regress(sample, "like"), regress(sample, "these")
    assert np.allclose(like.mean, y.mean(axis=0)) and np.allclose(
        like.together.error, y.std(axis=0, ddof=1) / np.sqrt(12)
    )
    assert (like.use == COMPLETE).all() and np.allclose(like.worth(), 0)
    low, high = these.together.intervals(0.95)  # and the mean of these queries is known
    assert np.allclose(low, y.mean(axis=0)) and np.allclose(high, y.mean(axis=0))


def test_a_judge_who_says_nothing_leaves_it_to_people():
    sample, _ = draw(4, columns=4)
    judged = sample.judged.copy()
    judged[:, 0] = 0.5  # the same everywhere
    judged[sample.rows, 1] = 0.5
    judged[sample.rows, 2] = sample.human[:, 2] + 0.1  # wrong by the same everywhere
    found = regress(Sample(sample.human, judged, sample.rows))
    assert found.use.tolist() == [CONSTANT, CONSTANT, USED, USED]
    assert np.array_equal(found.mean[:2], found.alone.difference[:2]) and np.array_equal(
        found.together.error[:2], found.alone.error[:2]
    )
    assert np.isnan(found.correlation[0]) and found.slope[:2].tolist() == [0] * 2
    assert np.allclose(found.worth()[:2], 0)
    one = regress(Sample(sample.human, judged, sample.rows), slope=1)
    assert one.use.tolist() == [USED, USED, PERFECT, USED] and one.mean[2] == one.alone.difference[2]


@pytest.mark.parametrize("target", ["like", "these"])
@pytest.mark.parametrize("total", [6, 20])
def test_where_nothing_varies_there_is_no_interval(target, total):
    judged = np.concatenate([np.full((6, 1), 0.5), np.random.default_rng(0).random((total - 6, 1))])
    found = regress(Sample(np.full((6, 1), 0.25), judged, np.arange(6)), target)
    known = target == "these" and total == 6  # all of these queries were judged, so that their mean is known
    assert found.mean[0] == 0.25 and np.isnan(found.together.error[0]) == (not known)
    assert np.isnan(found.together.intervals(0.95).low[0]) == (not known) and np.isnan(found.worth()[0])


def test_where_people_give_every_query_the_same_value_the_judge_gives_the_interval():
    found = regress(Sample(np.full((6, 1), 0.25), np.random.default_rng(0).random((20, 1)), np.arange(6)))
    assert found.use.tolist() == [USED] and np.isclose(found.slope[0], 12.5 / 31) and found.together.error[0] > 0
    assert np.isnan(found.alone.error[0]) and np.isnan(found.worth()[0]) and np.isnan(found.correlation[0])


def test_p_values_belong_to_the_intervals():
    found = regress(draw(5)[0])
    low, high = found.together.intervals(0.9)
    assert np.allclose(found.together.p_above(low), 0.05) and np.allclose(found.together.p_above(high), 0.95)


def test_worth_is_the_number_of_queries_with_which_people_would_be_as_precise():
    sample, _ = draw(6, n=20, total=400, agree=0.8)
    for target in ("like", "these"):
        found = regress(sample, target)
        spread, more = sample.human.var(axis=0, ddof=1), 20 + found.worth()
        assert np.allclose(spread / more - (spread / 400 if target == "these" else 0), found.error**2)
        assert (found.use == USED).all() and (more > 25).all() and (more <= 400).all()


def test_no_judge_is_worth_more_than_people_on_the_same_queries():
    y = np.linspace(0, 1, 15)[:, None]
    f = y + 0.01 * np.random.default_rng(0).standard_normal(y.shape)
    rows = np.array([0, 1, 2, 12, 13, 14])  # among which people differ more than all queries do
    found = regress(Sample(y[rows], f, rows), slope=1)
    assert (6 * (found.alone.error / found.error) ** 2 > 15).all() and found.worth().tolist() == [15 - 6]


def test_with_the_slope_1_no_digits_are_lost():
    sample, _ = draw(3)
    wrong = sample.human - sample.beside
    assert np.abs(regress(sample, slope=1).mean - (sample.judged.mean(axis=0) + wrong.mean(axis=0))).max() < 1e-15


def test_segments_are_weighted_by_their_queries_and_satterthwaite_counts_their_freedom():
    first, second = draw(7, n=9, total=30)[0], draw(8, n=6, total=10)[0]
    for target in ("like", "these"):
        a, b = regress(first, target), regress(second, target)
        found = combine([first, second], target, "auto")
        mean = 0.75 * a.mean + 0.25 * b.mean
        terms = np.stack([(0.75 * a.together.error) ** 2, (0.25 * b.together.error) ** 2])
        between = 0.75 * (a.mean - mean) ** 2 + 0.25 * (b.mean - mean) ** 2
        assert np.allclose(found.mean, mean)
        assert np.allclose(found.together.error**2, terms.sum(axis=0) + (between / 40 if target == "like" else 0))
        freedom = terms.sum(axis=0) ** 2 / (terms[0] ** 2 / 8 + terms[1] ** 2 / 5)
        assert np.allclose(found.together.freedom, freedom) and (freedom >= 5).all() and (freedom <= 13).all()
        assert found.sizes == (15, 40)


def test_where_few_queries_lead_the_spread_below_0_it_is_that_of_people():
    judged = np.array([[0.0], [1.0], [0.5], [0.5], [0.5], [0.5], [0.5], [0.5], [0.5], [0.5]])
    human = np.array([[0.6], [0.4], [0.5], [0.5], [0.52]])
    found = regress(Sample(human, judged, np.arange(5)), "like", 1)
    these = regress(Sample(human, judged, np.arange(5)), "these", 1)
    assert np.allclose(found.together.error**2 - these.together.error**2, human.var(axis=0, ddof=1) / 10)


def simulate(null, n, total, agree, trials=250):
    """Return how often intervals cover the mean of each target, with both slopes and without the judge."""
    rng = np.random.default_rng(n)
    y, other = (np.round(NULLS[null](rng, (total, trials)), 12) for _ in range(2))
    f = np.where(rng.random(y.shape) < agree, y, other) + 0.03
    covered = {}
    for target, mean in (("like", 0.0), ("these", y.mean(axis=0))):
        auto, one = (regress(Sample(y[:n], f, np.arange(n)), target, slope) for slope in ("auto", 1))
        every = (estimates.intervals(0.95) for estimates in (auto.together, one.together, auto.alone))
        covered[target] = [np.mean(~((low > mean) | (high < mean))) for low, high in every]
    return covered


@pytest.mark.parametrize("null", NULLS)
@pytest.mark.parametrize(
    ("n", "total", "agree"), [(10, 200, 0.3), (10, 200, 0.8), (25, 200, 0.3), (25, 200, 0.8), (50, 500, 0.8)]
)
def test_intervals_cover_what_they_should(null, n, total, agree):
    """Bounds are .93 and .97, and three standard errors of 250 draws, which only few queries with many zeros exceed."""
    zeros = n == 10 and null.startswith("zero-inflated")
    for target, (auto, one, _) in simulate(null, n, total, agree).items():
        assert min(auto, one) > 0.93 - 0.048, target
        assert auto <= (1.0 if zeros else 0.97 + 0.032), target


@pytest.mark.parametrize("null", [name for name in NULLS if name.startswith(("very skewed", "unequal"))])
def test_people_alone_cover_less_of_skewed_differences(null):
    auto, _, human = simulate(null, 25, 200, 0.3)["like"]
    assert auto > 0.91 > human
