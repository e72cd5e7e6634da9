"""Intervals: by hand, against SciPy, and how often they hold what they should, by simulation with fixed seeds."""

import itertools
import tracemalloc

import numpy as np
import pytest
from scipy import stats

import gradely
from gradely.comparison import tests
from gradely.comparison.intervals import (
    DRAWS,
    Estimates,
    Intervals,
    _quantile,
    bootstrap_intervals,
    keep_within,
    simultaneous_reach,
    t_intervals,
    t_quantile,
)
from gradely.comparison.tests import all_pairs, differences
from tests.comparison.test_significance import table
from tests.shared_data import DATA, needs


def within(rate, expected, trials, errors=4):
    """Return whether a simulated rate is what is expected, within Monte-Carlo error."""
    return abs(rate - expected) <= errors * np.sqrt(expected * (1 - expected) / trials)


def simultaneous_intervals(values, level, seed, resamples=DRAWS):
    """Return intervals that hold for all columns at once, as a comparison makes them."""
    return Estimates.of(values).around(simultaneous_reach(values, level, seed, resamples))


def test_t_intervals_are_scipys():
    values = table(topics=12, systems=3)
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.9)
    low, high = t_intervals(values, 0.9)
    assert low == pytest.approx(expected.low) and high == pytest.approx(expected.high)


def test_two_queries_are_enough_for_t():
    assert t_quantile(2, 0.95) == pytest.approx(12.7062, abs=1e-4)
    assert np.isnan(t_quantile(1, 0.95))
    low, high = t_intervals(np.array([[0.0], [1.0]]), 0.95)
    assert (low[0], high[0]) == pytest.approx((0.5 - 12.7062 / 2, 0.5 + 12.7062 / 2), abs=1e-4)


def test_values_that_differ_by_rounding_have_no_spread():
    assert np.isnan(t_intervals(np.array([[0.3], [0.3 + 2e-13]]), 0.95).low).all()


@pytest.mark.parametrize("share", [0.025, 0.3, 0.5, 0.975])
def test_quantiles_are_numpys_of_the_numbers_that_count(share):
    numbers = np.random.default_rng(3).normal(size=(8, 5))
    counted = np.array([8, 7, 3, 2, 1])
    for column, count in enumerate(counted):
        numbers[count:, column] = np.nan
    numbers.sort(axis=0)
    expected = [np.quantile(numbers[:count, column], share) for column, count in enumerate(counted)]
    assert _quantile(numbers, counted, share) == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("level", [0.5, 0.9])
def test_the_reach_at_once_is_that_of_the_largest_t_over_all_signs(level):
    """Every choice of signs of the centred queries, t by its definition, the largest of the columns."""
    values = np.random.default_rng(4).normal(0, 1, (8, 3))
    signs = np.array(list(itertools.product([-1, 1], repeat=8)))
    turned = signs[:, :, None] * (values - values.mean(axis=0))
    t = np.abs(turned.mean(axis=1)) / (turned.std(axis=1, ddof=1) / np.sqrt(8))
    largest = np.quantile(t.max(axis=1), level, method="higher")
    assert largest > t_quantile(8, level)
    assert simultaneous_reach(values, level, 0, 2**8) == pytest.approx(largest)


def test_columns_without_spread_and_two_queries_at_once():
    values = np.random.default_rng(4).normal(0, 1, (8, 2))
    beside = np.column_stack([values, np.full(8, 0.5)])
    assert simultaneous_reach(beside, 0.9, 0) == simultaneous_reach(values, 0.9, 0)
    assert simultaneous_reach(values[:2], 0.3, 0) == t_quantile(2, 0.3)  # half of the signs make the sum 0


def test_fewer_than_five_queries_have_t_intervals():
    values = np.random.default_rng(5).normal(0, 1, (5, 1))
    assert bootstrap_intervals(values[:4], 0.95, 0) == t_intervals(values[:4], 0.95)
    drawn, by_t = bootstrap_intervals(values, 0.95, 0), t_intervals(values, 0.95)
    assert drawn.low != by_t.low and drawn.high != by_t.high


@pytest.mark.parametrize("intervals", [t_intervals, bootstrap_intervals, simultaneous_intervals])
def test_without_spread_or_with_one_query_there_is_no_interval(intervals):
    seed = () if intervals is t_intervals else (0,)
    for values in (np.ones((1, 2)), np.full((24, 2), 0.3), np.zeros((2, 1))):
        assert np.isnan(intervals(values, 0.95, *seed)).all()


def test_an_interval_of_absurd_length_gives_way_to_that_of_t():
    """nDCG@30 of one relevant document at ranks 22, 1, 20, 21, 24: it reached from .123 to 22.3."""
    values = 1 / np.log2(1 + np.array([[22.0], [1], [20], [21], [24]]))
    assert np.array(bootstrap_intervals(values, 0.95, 0)) == pytest.approx(np.array(t_intervals(values, 0.95)))
    ordinary = np.random.default_rng(1).beta(0.6, 1.4, (25, 1))
    assert np.array(bootstrap_intervals(ordinary, 0.95, 0)) != pytest.approx(np.array(t_intervals(ordinary, 0.95)))


@pytest.mark.parametrize("queries", [5, 8, 25])
@pytest.mark.parametrize("zeros", [0.0, 0.8])
def test_no_bootstrap_interval_reaches_three_times_as_far_as_that_of_t(queries, zeros):
    rng = np.random.default_rng(queries)
    values = np.where(rng.random((queries, 300)) < zeros, 0.0, 1 / rng.geometric(0.3, (queries, 300)))
    (low, high), (left, right) = bootstrap_intervals(values, 0.95, 0, 999), t_intervals(values, 0.95)
    some, mean = ~np.isnan(left), values.mean(axis=0)
    assert np.all((mean - low)[some] <= 3 * (mean - left)[some] + 1e-12)
    assert np.all((high - mean)[some] <= 3 * (right - mean)[some] + 1e-12)


QRELS = {f"q{i}": {"d": 1} for i in range(5)}


def at(*ranks):
    return {f"q{i}": [f"x{k}" for k in range(rank - 1)] + ["d"] for i, rank in enumerate(ranks)}


def test_intervals_of_means_stay_within_the_range_of_the_measure():
    runs = {"low": at(22, 1, 20, 21, 24), "high": at(1, 1, 1, 2, 1), "none": {q: ["x"] for q in QRELS}}
    rows = gradely.compare(QRELS, runs, ["nDCG@30", "RR", "DCG", "Utility"]).runs_table().rows
    ends = {(run, measure): (low, high) for run, measure, _, low, high, *_ in rows}
    for (run, measure), (low, high) in ends.items():
        if run == "none" and measure != "Utility":
            assert (low, high) == (None, None)
        elif measure in ("nDCG@30", "RR"):
            assert 0 <= low < high <= 1
    assert ends["low", "RR"][0] == 0 and ends["high", "RR"][1] == 1
    assert ends["high", "DCG"][1] > 1 and ends["low", "DCG"][0] == 0  # which has no upper bound
    assert ends["low", "Utility"][0] < 0


@needs("trec-covid-round1")
def test_the_interval_of_a_real_mean_that_one_query_decides():
    """RR of a run of TREC-COVID: it reached from .007 to .46; the percentiles of the bootstrap are .010 and .119."""
    folder = DATA / "trec-covid-round1"
    run = folder / "runs-top100" / "lda400s2000.gz"
    (row,) = gradely.compare(folder / "qrels.covid-round1.txt.gz", {"lda": run}, ["RR"]).runs_table().rows
    mean, low, high = row[2:5]
    assert (low, mean, high) == pytest.approx((0, 0.0488, 0.1165), abs=5e-4)


def test_intervals_of_means_that_are_by_t_are_named():
    runs = {"odd": at(22, 1, 20, 21, 24), "even": at(1, 2, 3, 5, 8), "none": {q: ["x"] for q in QRELS}}
    made = gradely.compare(QRELS, runs, ["nDCG@30"])
    (note,) = [note for note in made.as_dict()["notes"] if note["kind"] == "means"]
    assert (note["count"], note["of"]) == (1, 3)
    assert note["text"] == (
        "1 of 3 intervals of means is by t, since the bootstrap draws vary too little there, or its interval would "
        "reach more than 3 times as far: odd by nDCG@30"
    )
    assert note["text"] in made.to_html()
    values = made.pairwise.values[0][:, [made.pairwise.names.index("odd")]]
    assert made.pairwise.mean_intervals[0].high[made.pairwise.names.index("odd")] == t_intervals(values, 0.95).high[0]
    assert not [note for note in made.view().notes if note.kind == "means"]  # where these are not shown


def test_intervals_of_differences_end_where_differences_do():
    qrels = {query: QRELS[query] for query in list(QRELS)[:2]}
    runs = {"low": at(9, 3), "high": at(1, 1), "middle": at(2, 1)}
    for options in ({}, {"simultaneous": True}, {"test": "max-t"}, {"correction": "none"}):
        made = gradely.compare(qrels, runs, ["nDCG@30", "DCG"], **options)
        ends = [(pair.measure, pair.low, pair.high) for pair in made.pairs if pair.low is not None]
        assert all(-1 <= low < high <= 1 for measure, low, high in ends if measure == "nDCG@30")
        if not options:
            assert (-1, 1) in [(low, high) for _, low, high in ends]
            assert max(high for measure, _, high in ends if measure == "DCG") > 1  # which has no upper bound
            assert made.pairwise.corrected_interval(0, 0) == (-1, 1)
            assert made.pairs[0].p == pytest.approx(stats.ttest_1samp(made.pairwise.by_query(0)[:, 0], 0).pvalue)
    assert "95 % interval −1.000 … +1.000)" in gradely.compare(qrels, {"a": at(1, 2), "b": at(9, 1)}, ["RR"]).summary()
    (change,) = gradely.gate(qrels, runs["low"], runs["high"], ["nDCG@30"], max_drop=0.5).changes
    assert change.low < change.drop < change.high == 1
    parts = gradely.compare(qrels, runs, ["nDCG@30"], by=dict.fromkeys(qrels, "all")).segments
    assert all(-1 <= row["low"] < row["high"] <= 1 for row in parts.pairs_table().records() if row["low"] is not None)


def test_bounds_are_not_believed_where_a_value_lies_beyond():
    values = np.array([[0.2], [1.5]])
    low, high = keep_within(Intervals(np.array([-3.0]), np.array([4.0])), (0.0, 1.0), values)
    assert (low[0], high[0]) == (0.0, 1.5)


def studentised(values, level, draws=10_000):
    """Return the studentised bootstrap interval of one column, draw by draw."""
    rng, n = np.random.default_rng(8), len(values)
    t = []
    for _ in range(draws):
        drawn = rng.choice(values, n)
        t.append((drawn.mean() - values.mean()) / (drawn.std(ddof=1) / np.sqrt(n)))
    low, high = np.quantile(t, [(1 - level) / 2, (1 + level) / 2])
    error = values.std(ddof=1) / np.sqrt(n)
    return values.mean() - high * error, values.mean() - low * error


def test_bootstrap_intervals_are_those_drawn_one_by_one():
    values = np.random.default_rng(4).beta(0.6, 1.4, (30, 1))
    low, high = bootstrap_intervals(values, 0.95, 0)
    assert (low, high) == bootstrap_intervals(values, 0.95, 0, draws=10_000)
    assert (low[0], high[0]) == pytest.approx(studentised(values[:, 0], 0.95), abs=0.01)
    assert high[0] - values.mean() > 1.1 * (values.mean() - low[0])  # skewed values have a skewed interval


def test_few_or_nearly_constant_values_have_t_intervals():
    few, rare = np.array([[0.1], [0.4], [0.2]]), np.array([[1.0]] * 24 + [[0.0]])
    for values in (few, rare):
        assert np.array(bootstrap_intervals(values, 0.95, 0)) == pytest.approx(np.array(t_intervals(values, 0.95)))


@pytest.mark.parametrize(
    ("queries", "draw", "mean"),
    [
        (5, lambda rng, shape: rng.beta(0.6, 1.4, shape), 0.3),
        (25, lambda rng, shape: rng.beta(0.6, 1.4, shape), 0.3),
        (25, lambda rng, shape: rng.random(shape) < 0.7, 0.7),
        (50, lambda rng, shape: 1 / rng.geometric(0.5, shape), np.log(2)),
    ],
    ids=["5 of AP", "25 of AP", "25 of Success", "50 of RR"],
)
def test_bootstrap_intervals_of_means_cover(queries, draw, mean):
    """The percentile interval covers .81 of 5 values like AP, and .92 of 25."""
    values = draw(np.random.default_rng(queries), (queries, 2000)).astype(float)
    low, high = bootstrap_intervals(values, 0.95, 0, draws=2000)
    # small samples are covered approximately, and the columns share their draws: hence .015 beside the error
    assert np.mean((low <= mean) & (mean <= high)) == pytest.approx(0.955, abs=0.015 + 4 * np.sqrt(0.05 * 0.95 / 2000))


@pytest.mark.parametrize("queries", [5, 25])
def test_t_intervals_of_differences_cover(queries):
    rng = np.random.default_rng(1)
    values = rng.beta(0.6, 1.4, (queries, 4000)) - rng.beta(0.6, 1.4, (queries, 4000))
    low, high = t_intervals(values, 0.95)
    assert within(np.mean((low <= 0) & (high >= 0)), 0.95, 4000)


@pytest.mark.parametrize(("queries", "runs"), [(8, 3), (25, 5)])
def test_simultaneous_intervals_cover_all_at_once(queries, runs):
    rng, trials = np.random.default_rng(6), 400
    pairs, inside, alone = all_pairs(runs), 0, 0
    for _ in range(trials):
        differ = differences(rng.normal(size=(queries, runs)) * np.linspace(0.3, 1, runs), pairs)
        low, high = simultaneous_intervals(differ, 0.9, 0, resamples=500)
        inside += np.all((low <= 0) & (high >= 0))
        low, high = t_intervals(differ, 0.9)
        alone += np.all((low <= 0) & (high >= 0))
    assert within(inside / trials, 0.9, trials)
    assert alone / trials < 0.85


def test_a_simultaneous_interval_of_one_pair_is_the_t_interval():
    differ = np.random.default_rng(3).normal(0.1, 1, (40, 1))
    one, many = t_intervals(differ, 0.95), simultaneous_intervals(differ, 0.95, 0)
    assert np.array(many) == pytest.approx(np.array(one), abs=0.02)


def test_intervals_do_not_depend_on_the_order_of_queries_nor_on_how_much_is_held(monkeypatch):
    values = table(topics=30, systems=4)
    mixed = values[np.random.default_rng(0).permutation(30)]
    for intervals in (bootstrap_intervals, simultaneous_intervals):
        expected = np.array(intervals(values, 0.95, 0, 500))
        assert np.array(intervals(mixed, 0.95, 0, 500)) == pytest.approx(expected, abs=1e-12)
        with monkeypatch.context() as patch:
            patch.setattr(tests, "CELLS", 1000)
            assert np.array(intervals(values, 0.95, 0, 500)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    "draw",
    [
        lambda values: bootstrap_intervals(values, 0.95, 0),
        lambda values: simultaneous_intervals(values, 0.95, 0),
        lambda values: tests.bootstrap(values, 10_000, 0),
        lambda values: tests.randomization(values, 10_000, 0),
        lambda values: tests.max_t(values, 10_000, 0),
        lambda values: tests.tukey(values[None], all_pairs(2), 10_000, 0),
    ],
)
def test_memory_is_bounded_however_many_queries_there_are(draw, monkeypatch):
    """All draws of 500 queries at once take 40 MB, those of 100,000 queries 8 GB."""
    monkeypatch.setattr(tests, "CELLS", 1 << 17)
    values = np.random.default_rng(0).random((500, 2))
    tracemalloc.start()
    draw(values)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8e6
