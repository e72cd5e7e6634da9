"""The gate: who passes, exit codes, limits, saved scores, the summary, and what is refused."""

import json

import numpy as np
import pytest
from scipy import stats

import gradely
from gradely.cli.main import run as cli
from gradely.comparison.gate import SavedScores, decide, digest, keep_scores, p_of_limits, read_saved
from gradely.comparison.pairwise import Design
from gradely.comparison.plan import detectable_effect, power_of
from gradely.comparison.tests import adjust
from gradely.data import read_qrels
from gradely.data.source import Source

QRELS = {f"q{i}": {"d": 1} for i in range(12)}


def at(*places):
    """Return a run that has the relevant document at these places, query by query."""
    return {f"q{i}": [f"x{k}" for k in range(place - 1)] + ["d"] for i, place in enumerate(places)}


FIRST = at(*[1] * 12)
LOWER = at(*[2] * 11, 3)
ONCE = at(*[1] * 11, 4)


@pytest.mark.parametrize(
    ("new", "options", "verdict", "passed"),
    [
        (FIRST, {}, "same", True),
        (FIRST, {"undecided": "fail", "strict": True}, "same", True),
        (LOWER, {}, "worse", False),
        (LOWER, {"max_drop": 0.6}, "not worse", True),
        (LOWER, {"max_drop": 0.6, "undecided": "fail"}, "not worse", True),
        (LOWER, {"max_drop": 0.51}, "undecided", True),
        (LOWER, {"max_drop": 0.51, "undecided": "fail"}, "undecided", False),
        (ONCE, {}, "undecided", True),
        (ONCE, {"undecided": "fail"}, "undecided", False),
        (ONCE, {"strict": True}, "undecided", False),
        (ONCE, {"strict": True, "max_drop": 0.0625}, "undecided", True),  # falls by 0.75 / 12 exactly
        (LOWER, {"alpha": 1e-20}, "undecided", True),
        (LOWER, {"test": "randomization", "alpha": 1 / 2**12}, "undecided", True),
        (LOWER, {"test": "randomization", "alpha": 2 / 2**12}, "worse", False),
    ],
)
def test_a_gate_says_one_of_three_things_against_its_limit(new, options, verdict, passed):
    made = gradely.gate(QRELS, new, FIRST, ["RR"], **options)
    assert (made.passed, bool(made), made.verdict) == (passed, passed, verdict)
    assert made.changes[0].verdict == verdict and made.changes[0].failed is not passed
    assert made.summary().startswith(
        ("Passed: " if passed else "Failed: ") + ("it is undecided" if verdict == "undecided" else "")
    )


def drops(*sizes, queries=200):
    """Return new values of RR, 1 but for these, and old ones, which are 1."""
    return np.array([*(1 - size for size in sizes), *[1.0] * (queries - len(sizes))]), np.ones(queries)


def decided(new, old, limit, measures=("RR",), **options):
    """Return the gate about values by query, the same for all measures unless they have columns."""
    values = [np.reshape(each, (len(each), -1)) * np.ones(len(measures)) for each in (new, old)]
    queries = [f"q{i}" for i in range(len(new))]
    saved = [
        SavedScores({"n": "new", "o": "old"}[name], {}, "", list(measures), queries, each)
        for name, each in zip("no", values, strict=True)
    ]
    settled = {"strict": False, "undecided": "pass"} | {
        k: options.pop(k) for k in ("strict", "undecided") if k in options
    }
    design = Design(**({"correction": "holm", "family": "all"} | options)).settle()
    return decide(*saved, dict.fromkeys(measures, limit), design, **settled)


def test_p_is_about_the_limit():
    """Nine of 200 queries fall from 1 to 1/2; the p of a drop of 0 was .003, and the gate failed."""
    made = decided(*drops(*[0.5] * 9), 0.02)
    (change,) = made.changes
    assert change.drop == pytest.approx(0.0225) and change.p == pytest.approx(0.367, abs=5e-4)
    expected = stats.ttest_1samp(drops(*[0.5] * 9)[1] - drops(*[0.5] * 9)[0], 0.02, alternative="greater").pvalue
    assert change.p == pytest.approx(expected) and change.p_not_worse == pytest.approx(1 - expected)
    assert (
        made.passed
        and made.verdict == "undecided"
        and made.summary().startswith("Passed: it is undecided whether new is worse")
    )


@pytest.mark.parametrize("test", ["t", "wilcoxon", "randomization", "bootstrap"])
def test_a_drop_at_the_limit_fails_no_more_often_than_alpha(test):
    """It failed 29, 50 and 52 % of gates with 25, 100 and 400 queries."""
    rng = np.random.default_rng(5)
    beyond = np.round(rng.normal(0.03, 0.1, (50, 1500)) - 0.03, 12)
    design = Design(test=test, resamples=199).settle()
    worse, within = p_of_limits(beyond, design)
    for p in (worse, within):
        assert np.mean(p < 0.05) == pytest.approx(0.05, abs=0.008 + 4 * np.sqrt(0.05 * 0.95 / 1500))


@pytest.mark.parametrize(("measures", "limit", "queries"), [(1, 0.0, 24), (4, 0.0, 50), (4, 0.03, 100), (1, 0.03, 100)])
def test_the_size_that_is_named_is_found_with_power_80_percent(measures, limit, queries):
    """Of four measures with Holm's correction it was found .63 of the time, and the limit was not thought of."""
    rng, trials = np.random.default_rng(8), 1000
    size = limit + 0.1 * detectable_effect(queries, 0.05 / measures, 0.8, one_sided=True)
    beyond = rng.normal(0, 0.1, (queries, measures, trials)) - limit
    beyond[:, 0] += size
    worse, _ = p_of_limits(beyond.reshape(queries, -1), Design().settle())
    found = np.mean([adjust(p)[0] < 0.05 for p in worse.reshape(measures, trials).T])
    assert found == pytest.approx(0.8, abs=4 * np.sqrt(0.8 * 0.2 / trials) + 0.01 * (measures > 1))
    names = ["RR", "AP", "P@5", "R@5"][:measures]
    differ = np.linspace(-1, 1, queries) * 0.1 / np.linspace(-1, 1, queries).std(ddof=1)
    (change, *_) = decided(-differ, np.zeros(queries), limit, names).changes
    assert change.detectable == pytest.approx(size)


def test_signed_ranks_that_contradict_the_mean_decide_nothing():
    """The gate failed a run that wins 19 of 20 queries."""
    wins = decided([0.511] * 19 + [0.1], [0.5] * 20, 0.0, test="wilcoxon")
    assert wins.changes[0].drop > 0 and wins.changes[0].p_not_worse < 0.05
    loses = decided([0.489] * 19 + [0.9], [0.5] * 20, 0.0, test="wilcoxon")
    assert loses.changes[0].drop < 0 and loses.changes[0].adjusted < 0.05
    for made in (wins, loses):
        assert made.verdict == "undecided" and made.passed
        assert "its signed ranks say the opposite of its mean" in made.summary()


def test_signed_ranks_that_favour_neither_side_are_not_said_to_contradict_the_mean():
    """Ranks 1 and 2 against rank 3: p is .62 on both sides."""
    made = decided([0.4, 0.38, 0.63], [0.5] * 3, 0.0, test="wilcoxon")
    (change,) = made.changes
    assert change.drop > 0 and change.p == change.p_not_worse == 0.625
    assert "opposite" not in made.summary() and "interval of the drop" in made.summary()


@pytest.mark.parametrize(
    ("new", "limit", "design", "words"),
    [
        ([0.3, 0.31, 0.29, 0.3], 0.0, {"test": "wilcoxon"}, "+.190 … +.210, but p .062; deciding takes about 5 "),
        ([0.3, 0.31, 0.29, 0.3], 0.25, {"test": "randomization"}, "+.190 … +.210, but p .062; deciding"),
        ([0.4, 0.25, 0.5, 0.25], 0.0, {"measures": ("RR", "AP")}, "+.006 … +.294, but corrected p .092; deciding"),
        ([0.4, 0.25, 0.55, 0.25], 0.0, {}, "−.031 … +.306; deciding"),
    ],
)
def test_an_undecided_drop_whose_interval_leaves_its_limit_out_has_its_p_value(new, limit, design, words):
    """The sentence called a drop undecided beside an interval by another test, or without correction."""
    made = decided(new, [0.5] * 4, limit, **design)
    assert made.verdict == "undecided" and words in made.summary()


def test_measures_that_fail_undecided_are_named_beside_those_that_are_worse():
    new = np.array([[0.3, 0.9, 0.1], [0.31, 0.1, 0.9], [0.29, 0.8, 0.2], [0.3, 0.1, 0.9], [0.32, 0.3, 0.6]])
    for measures, words in ((2, "; AP is undecided, which fails, too."), (3, "; AP and P@5 are undecided, which fa")):
        values = (new[:, :measures], np.full((5, measures), 0.5))
        names = ("RR", "AP", "P@5")[:measures]
        assert words in decided(*values, 0.0, names, undecided="fail").summary()
        assert "undecided" not in decided(*values, 0.0, names).summary()


def test_the_interval_of_a_weighted_drop_leaves_the_limit_out_where_its_p_value_is_below_alpha():
    """The test is of weighted drops minus limits, and the interval was of weighted drops."""
    rng = np.random.default_rng(4)
    queries = {f"q{i}": {"d": 1} for i in range(9)}
    for _ in range(40):
        weights = dict(zip(queries, rng.choice([1.0, 2.0, 9.0], 9).tolist(), strict=True))
        new, old = (at(*rng.integers(1, 4, 9).tolist()) for _ in range(2))
        (change,) = gradely.gate(queries, new, old, ["RR"], max_drop=0.15, weights=weights).changes
        assert (change.low > 0.15) == (change.p < 0.05) and (change.high < 0.15) == (change.p_not_worse < 0.05)
        assert (change.low + change.high) / 2 == pytest.approx(change.drop)


@pytest.mark.parametrize(
    ("new", "old", "limit", "words"),
    [
        ([0.5], [1.0], 0.0, "RR fell by 0.5000 (limit 0; one query cannot be tested)."),
        ([1.0], [0.5], 0.0, "RR rose by 0.5000 (limit 0; one query cannot be tested)."),
        ([0.4, 0.6], [0.6, 0.4], 0.0, "RR shows no drop (limit 0; 90 % interval of the drop"),
        ([0.4, 0.6], [0.6, 0.4], 0.0, "deciding takes more queries than anybody can judge if the true drop"),
        ([0.5] * 3, [0.6] * 3, 0.0, "RR fell by 0.1000 (limit 0; 3 queries are too few)."),
        ([0.5] * 9, [0.6] * 9, 0.0, "worse than old by more than allowed: RR fell by 0.1000, more than 0 (p .002)."),
        ([0.4] * 9, [0.42003] * 9, 0.02, "RR fell by 0.02003, more than 0.02 (p .002)."),
        ([0.4] * 9, [0.41998] * 9, 0.02, "RR fell by 0.01998 (limit 0.02; p .002)."),
        ([0.5] * 9, [0.50003] * 9, 0.0, "RR fell by 0.00003, more than 0 (p .002)."),
        ([1e20] * 9, [3e20] * 9, 0.0, "RR fell by 2.0000e+20, more than 0 (p .002)."),
        ([0.6] * 9, [0.5] * 9, 0.0, "RR rose by 0.1000 (limit 0; p .002)."),
        ([0.5] * 9, [0.5] * 9, 0.0, "Passed: new and old have the same value on every query."),
        ([0.5] * 9, [0.6] * 9, 0.1, "RR fell by 0.1000 (limit 0.1; it is the limit itself on every query)."),
    ],
)  # fmt: skip
def test_sentences_of_degenerate_gates(new, old, limit, words):
    made = decided(new, old, limit)
    assert words in made.summary() and "chance explains" not in made.summary()


@pytest.mark.parametrize(
    ("queries", "options", "kinds"),
    [
        (4, {"test": "randomization"}, ["coarse"]),  # 1 / 2^4 is not below .05
        (5, {"test": "randomization"}, ["weak"]),
        (4, {"test": "wilcoxon"}, ["coarse"]),
        (4, {"test": "bootstrap"}, ["few", "weak"]),
        (4, {}, ["weak"]),
        (30, {"test": "randomization", "resamples": 9}, ["coarse"]),  # 1 / 20
        (30, {"test": "randomization", "resamples": 10}, ["weak"]),
        (30, {"test": "bootstrap", "resamples": 19}, ["coarse"]),
        (30, {"test": "bootstrap", "resamples": 20}, ["weak"]),
    ],
)
def test_a_gate_that_can_show_nothing_says_so(queries, options, kinds):
    new = np.linspace(-0.4, 0.3, queries)
    made = decided(new, np.zeros(queries), 0.0, **options)
    assert [note.kind for note in made.notes if note.kind in ("coarse", "few") or "coarse" not in kinds] == kinds
    constant = decided([0.5] * 3, [0.6] * 3, 0.0)
    assert [note.kind for note in constant.notes] == ["spreadless"]


@pytest.mark.parametrize(
    ("test", "differ", "least"), [("t", 2, 0.080), ("wilcoxon", 4, 2**-4), ("randomization", 4, 2**-4)]
)
def test_queries_on_which_runs_tie_show_no_drop_whatever_its_limit(test, differ, least):
    """With a limit above 0, ties differ from it: the note was missing, and a drop was named as detectable."""
    old = np.ones(30)
    for limit, loss in ((0.0, 0.8), (0.01, 0.8), (0.01, 100.0)):
        drop = np.where(np.arange(30) < differ, loss, 0.0)
        made = decided(old - drop, old, limit, ["DCG"], test=test)
        assert [note.kind for note in made.notes] == ["coarse"] and made.changes[0].detectable is None
        assert made.changes[0].p > least - 0.005


@pytest.mark.parametrize(
    ("queries", "names", "needed"), [(2, ["RR"], 5), (4, ["RR"], 5), (5, ["RR", "AP"], 6), (5, ["RR"] + 3 * ["AP"], 7)]
)
@pytest.mark.parametrize("test", ["wilcoxon", "randomization"])
def test_signs_of_too_few_queries_decide_nothing_and_the_sentence_says_how_many_would(test, queries, names, needed):
    """It said "deciding takes about 2 queries" of two, and named a drop that they would show."""
    names = dict(zip(["RR", "AP", "P@5", "R@5"], names, strict=False))
    new, old = 0.3 + np.arange(queries) / 1000, np.full(queries, 0.5)
    made = decided(new, old, 0.02, tuple(names), test=test)
    assert made.verdict == "undecided" and f"deciding takes about {needed} queries if" in made.summary()
    assert [note.kind for note in made.notes] == ["coarse"] and made.changes[0].detectable is None
    more = decided(0.3 + np.arange(needed) / 1000, np.full(needed, 0.5), 0.02, tuple(names), test=test)
    assert more.verdict == "worse"


def test_no_number_of_queries_is_named_that_is_there_already():
    """By t these 20 queries would do; Wilcoxon's test finds nothing in them."""
    new, old = np.array([0.1] * 9 + [0.52] * 11), np.full(20, 0.5)
    made = decided(new, old, 0.0, test="wilcoxon")
    assert made.changes[0].queries_needed <= 20 and made.verdict == "undecided"
    assert "deciding takes" not in made.summary()


@pytest.mark.parametrize("test", ["wilcoxon", "randomization"])
def test_runs_that_are_the_same_are_not_said_to_be_tested_too_coarsely(test):
    values = np.linspace(0, 1, 9)
    assert decided(values, values, 0.0, test=test).notes == []


def test_a_constant_drop_of_large_values_has_no_spread():
    """The rounding errors of values near 1e6 are above 1e-12."""
    old = 1e6 / np.arange(1, 7)
    (change,) = decided(old - 0.1, old, 0.0, ["DCG"]).changes
    assert change.p == 0.5**6 and change.low is None


def test_no_test_is_too_coarse_where_none_is_made():
    assert [note.kind for note in decided([0.5], [0.6], 0.0, test="wilcoxon").notes] == ["untested"]


def test_each_measure_has_its_own_least_p_value():
    made = decided(np.linspace(-0.4, 0.3, 4), np.zeros(4), 0.0, ("RR", "AP"), test="wilcoxon", correction="none")
    says = "by 2 of 2 measures no drop could be shown to exceed its limit, however large: the smallest possible p is"
    assert [str(note) for note in made.notes if note.kind == "coarse"] == [f"{says} .062"]


def test_p_values_in_the_table_know_the_level_that_they_are_shown_by():
    table = decided([0.5] * 8 + [0.4], [0.6] * 9, 0.0, alpha=0.01).table()
    row = dict(zip(table.header, table.rows[0], strict=True))
    assert [row[name].alpha for name in ("p worse", "p not worse")] == [0.01, 0.01]


@pytest.mark.parametrize(("names", "size"), [(("RR",), 0.02), (("RR", "AP"), 0.03), (("RR", "AP"), -0.02)])
def test_the_number_of_queries_that_would_decide_does(names, size):
    """What is worse is corrected over the measures, and what is not worse is not."""
    differ = np.random.default_rng(4).normal(0, 0.1, 40)
    differ += size - differ.mean()
    change, *_ = decided(-differ, np.zeros(40), 0.01, names).changes
    effect, level = (size - 0.01) / differ.std(ddof=1), 0.05 / (len(names) if size > 0.01 else 1)
    needed = change.queries_needed
    power = [power_of(abs(effect), queries, level, one_sided=True) for queries in (needed - 1, needed)]
    assert power[0] < 0.8 <= power[1]
    rng = np.random.default_rng(1)
    p = stats.ttest_1samp(rng.normal(abs(effect), 1, (needed, 2000)), 0, alternative="greater").pvalue
    assert np.mean(p < level) == pytest.approx(0.8, abs=4 * np.sqrt(0.8 * 0.2 / 2000) + 0.01)


def test_worse_is_corrected_over_the_measures_and_not_worse_is_not():
    rng = np.random.default_rng(3)
    new = np.column_stack([rng.normal(-0.04, 0.1, 30), rng.normal(0.1, 0.1, 30)])
    made = decided(new, np.zeros(30), 0.0, ("RR", "AP"))
    assert made.changes[0].adjusted == pytest.approx(2 * made.changes[0].p)
    assert "‘p worse’ is Holm-corrected over 2 measures; ‘p not worse’ needs no correction" in made.caption()
    assert "corrected p" not in decided(new[:, :1], np.zeros(30), 0.0).summary()
    weak = [
        note.text
        for note in decided(new - new.mean(axis=0), np.zeros(30), 0.01, ("RR", "AP")).notes
        if note.kind == "weak"
    ]
    assert "power 0.8 (t-test, Holm): RR " in weak[0]


@pytest.mark.parametrize(("place", "losses"), [(1, 0), (2, 1)])
def test_one_query_is_lost_or_not(place, losses):
    made = gradely.gate({"q0": {"d": 1}}, at(place), at(1), ["RR"])
    assert (made.changes[0].losses, made.changes[0].p) == (losses, None)


def test_a_better_run_passes_however_significant():
    made = gradely.gate(QRELS, FIRST, LOWER, ["RR", "P@1"])
    assert made.passed and [change.verdict for change in made.changes] == ["not worse", "not worse"]
    assert made.changes[0].drop < 0 and made.table().rows[0][-1] == "not worse"
    assert made.losers("RR").rows == []


def test_numbers_are_those_of_compare(demo):
    made = gradely.gate("qrels.txt", "popular.run", "lexical.run", ["nDCG@10", "AP"], max_drop={"AP": 0.02})
    pairs = gradely.compare(
        "qrels.txt", {"new": "popular.run", "old": "lexical.run"}, ["nDCG@10", "AP"], family="all"
    ).pairs
    for change, pair in zip(made.changes, pairs, strict=True):
        assert (pair.first, pair.difference, pair.wins) == ("old", pytest.approx(change.drop), change.losses)
        t = stats.t(23)
        error = (pair.high - pair.low) / 2 / t.isf(0.025)
        assert change.p == pytest.approx(t.sf((change.drop - change.limit) / error))
        ends = (change.drop - t.isf(0.05) * error, change.drop + t.isf(0.05) * error)
        assert (change.low, change.high) == pytest.approx(ends)
    assert [change.limit for change in made.changes] == [0.0, 0.02]
    assert made.to_frame("polars")["failed"].to_list() == [True, True]


def test_the_queries_that_lost_most_come_first():
    new, old = at(1, 2, 4, 1, 2, *[1] * 7), at(1, 1, 1, 2, 1, *[1] * 7)
    made = gradely.gate(QRELS, new, old, ["RR"])
    assert made.losers("RR").rows == [["q2", 1, 0.25, 0.75], ["q1", 1, 0.5, 0.5], ["q4", 1, 0.5, 0.5]]
    assert made.losers("RR", most=1).rows == [["q2", 1, 0.25, 0.75]]


@pytest.mark.parametrize(
    ("measures", "options", "words"),
    [
        (
            ["RR"],
            {},
            "one-sided paired t-test against the limit, α = 0.05. Intervals: 90 % t intervals of the drop, uncorr",
        ),
        (
            ["RR", "AP"],
            {},
            "‘p worse’ is Holm-corrected over 2 measures; ‘p not worse’ needs no correction, because every measure",
        ),
        (["RR", "AP"], {"correction": "none"}, "; neither ‘p worse’ nor ‘p not worse’ is corrected. Int"),
        (["RR"], {"strict": True}, "The gate fails if a drop exceeds its limit, significantly or not. "),
        (["RR"], {"undecided": "fail"}, "is shown to exceed its limit, or is not shown to be within it. "),
        (["RR"], {}, "Data: 12 queries, ties: expected, queries: qrels, double precision"),
        (["RR"], {"judged_only": True}, " ties: expected, queries: qrels, judged_only: True, double precision"),
    ],
)
def test_the_caption_says_how_it_was_decided(measures, options, words):
    caption = gradely.gate(QRELS, LOWER, FIRST, measures, **options).caption()
    assert words in caption and caption.endswith("double precision.")


def test_limits_have_names_of_any_spelling(demo):
    made = gradely.gate(
        "qrels.txt", "dense.run", "lexical.run", ["ndcg_cut_10", "MAP"], max_drop={"nDCG@10": 0.5, "map": 0.1}
    )
    assert [(change.measure, change.limit) for change in made.changes] == [("nDCG@10", 0.5), ("AP", 0.1)]


@pytest.mark.parametrize("limit", [-0.1, float("nan"), float("inf"), {"RR": -1}, {"RR": "a"}])
def test_what_is_no_limit_is_refused(limit):
    with pytest.raises(gradely.DataError, match="a number of at least 0"):
        gradely.gate(QRELS, FIRST, FIRST, ["RR"], max_drop=limit)


def test_a_limit_of_something_not_measured_is_refused():
    with pytest.raises(gradely.DataError, match="AP, which is not measured"):
        gradely.gate(QRELS, FIRST, FIRST, ["RR"], max_drop={"AP": 0.1})


def test_one_query_cannot_be_significant_and_says_so():
    one = {"q": {"d": 1}}
    made = gradely.gate(one, {"q": ["x", "d"]}, {"q": ["d"]}, ["RR"])
    assert made.passed and made.changes[0].p is None and made.table().rows[0][-1] == "undecided"
    assert any("nothing is tested: there is only one query" in str(note) for note in made.notes)
    assert not gradely.gate(one, {"q": ["x", "d"]}, {"q": ["d"]}, ["RR"], strict=True).passed


def test_queries_that_only_one_run_has_are_left_out_and_noted():
    new, old = at(*[1] * 10), {query: docs for query, docs in at(*[1] * 12).items() if query != "q0"}
    made = gradely.gate(QRELS, new, old, ["RR"], queries="both")
    assert len(made.queries) == 9
    assert "3 of 12 queries are not in both runs and are left out: q0, q10, q11" in [str(note) for note in made.notes]
    with pytest.raises(gradely.DataError, match="no query in common"):
        gradely.gate(QRELS, {"q0": ["d"]}, {"q1": ["d"]}, ["RR"], queries="both")


def test_too_few_queries_for_the_limit_are_noted():
    made = gradely.gate(QRELS, at(*[1, 2] * 6), at(*[2, 1] * 6), ["RR"], max_drop=0.01)
    size = 0.01 + np.std([0.5, -0.5] * 6, ddof=1) * detectable_effect(12, 0.05, 0.8, one_sided=True)
    text = "the smallest drops that 12 queries can show to exceed the limit, with power 0.8 (t-test): RR "
    assert f"{text}{size:.4f}" in [str(note) for note in made.notes]
    assert not any("power" in str(note) for note in gradely.gate(QRELS, LOWER, FIRST, ["RR"], max_drop=0.9).notes)
    two = gradely.gate(dict(list(QRELS.items())[:2]), at(1, 9), at(9, 8), ["RR"])  # by t, RR would have to fall by 2.8
    assert two.changes[0].detectable is None and "t-test): RR more than is possible" in str(two.notes[-1])


def test_the_measures_are_those_of_the_saved_scores(demo, capfd):
    assert call("lexical.run", "--save", "old.json", "-m", "P@5", "-m", "AP") == 0
    assert call("dense.run", "--baseline", "old.json", "--format", "json") == 0
    found = json.loads(capfd.readouterr().out.split("compared\n")[1])
    assert [row["measure"] for row in found["measures"]] == ["P@5", "AP"]
    assert [change.measure for change in gradely.gate("qrels.txt", "dense.run", "old.json").changes] == ["P@5", "AP"]
    assert call("dense.run", "--baseline", "old.json", "--max-drop", "AP=0.5", "--undecided", "fail") == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"undecided": "maybe"}, "maybe"),
        ({"alpha": 0.5}, "below 0.5"),
        *(
            (
                {"test": test, "correction": correction},
                f"no test of a gate '{test}': use one of t, wilcoxon, randomization, bootstrap.",
            )
            for test in ("tukey", "max-t")
            for correction in ("holm", "none")
        ),
    ],
)
def test_what_a_gate_cannot_take_is_refused(options, words):
    with pytest.raises(gradely.DataError, match=words):
        gradely.gate(QRELS, FIRST, FIRST, ["RR"], **options)


def test_saved_scores_say_the_same_as_the_run(demo):
    run = gradely.gate("qrels.txt", "popular.run", "lexical.run", ["nDCG@10", "AP"])
    (demo / "old.json").write_text(gradely.keep_scores("qrels.txt", "lexical.run", ["AP", "P@5", "nDCG@10"]).text())
    for baseline in ("old.json", demo / "old.json", read_saved(Source("old.json"))):
        saved = gradely.gate("qrels.txt", "popular.run", baseline, ["nDCG@10", "AP"])
        assert saved.changes == run.changes and saved.summary() == run.summary()


def test_the_digest_is_of_the_judgments_and_not_of_their_order():
    one, same = {"q": {"a": 1, "b": 0}, "r": {"c": 2}}, {"r": {"c": 2.0}, "q": {"b": 0, "a": 1}}
    assert digest(read_qrels(one)) == digest(read_qrels(same))
    parts = {"q": {"a": {"1": 1}, "b": {"2": 1}}}
    weighted = [digest(read_qrels(parts, subtopics={"q": {"1": low, "2": 1 - low}})) for low in (0.5, 0.4)]
    other = digest(read_qrels({"q": {"a": {"2": 1}, "b": {"1": 1}}}, subtopics=True))
    assert len({digest(read_qrels(parts, subtopics=True)), other, *weighted}) == 4
    labels, loads = {"1": 1, "2": 0}, {"1": 0.3, "2": 0.7}
    two, weights = (
        {"q": {"a": labels, "c": labels}, "r": {"b": {"1": 1, "2": 1}}},
        {"q": loads, "r": {"1": 0.5, "2": 0.5}},
    )
    turned = {"r": two["r"], "q": {name: dict(reversed(labels.items())) for name in "ca"}}
    assert digest(read_qrels(two, subtopics=weights)) == digest(read_qrels(turned, subtopics=weights))
    for other in (
        {"q": {"a": 1, "b": 0}},
        {"q": {"a": 1, "b": 1}, "r": {"c": 2}},
        {"q": {"a": 1}, "r": {"b": 0, "c": 2}},
    ):
        assert digest(read_qrels(one)) != digest(read_qrels(other))


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (None, {"ties": "trec"}, "saved with ties 'expected', not 'trec'"),
        (None, {"queries": "both"}, "saved with queries 'qrels', not 'both'"),
        (None, {"measures": ["AP"]}, "has no AP, only RR"),
        (None, {"qrels": {"q0": {"d": 1}}}, "saved with different judgments"),
        (('"version": 1', '"version": 2'), {}, "version 2; this reads version 1"),
        (("1.0", "NaN"), {}, "nan is not a value of a measure"),
        (("[1.0]", "[1.0, 2.0]"), {}, "the saved scores are corrupt"),
        (('"judgments"', '"judgements"'), {}, "the saved scores are corrupt"),
        (("}", ""), {}, "cannot be read as saved scores"),
        (('"measures"', '"weights": [1], "measures"'), {}, "weights are numbers above 0, one for each query"),
        (('"measures"', f'"weights": {[0] * 12}, "measures"'), {}, "weights are numbers above 0, one for each query"),
        (
            ('"measures"', f'"weights": [{", ".join(["true"] * 12)}], "measures"'),
            {},
            "True is not a value of a measure",
        ),
    ],
)
def test_saved_scores_that_do_not_fit_are_refused(tmp_path, change, options, message):
    text = gradely.keep_scores(QRELS, FIRST, ["RR"]).text()
    (tmp_path / "old.json").write_text(text.replace(*change) if change else text)
    call = {"qrels": QRELS, "new": FIRST, "baseline": tmp_path / "old.json", "measures": ["RR"]} | options
    with pytest.raises(gradely.GradelyError, match=message) as caught:
        gradely.gate(**call)
    assert "old.json" in str(caught.value)


def call(*arguments):
    return cli(["gate", "qrels.txt", *arguments])


def test_exit_codes_of_the_command(demo, capfd):
    assert call("dense.run", "--baseline", "lexical.run", "-m", "AP", "--max-drop", "0.01") == 0
    assert capfd.readouterr().out.startswith("Passed: it is undecided whether dense is worse than lexical")
    assert call("dense.run", "--baseline", "lexical.run", "-m", "AP", "--max-drop", "0.01", "--undecided", "fail") == 1
    assert capfd.readouterr().out.startswith("Failed: it is undecided whether dense is worse than lexical")
    assert (
        call("lexical.run", "--baseline", "popular.run", "-m", "AP", "--max-drop", "0.01", "--undecided", "fail") == 0
    )
    assert capfd.readouterr().out.startswith("Passed: lexical is shown not to be worse than popular")
    assert call("dense.run", "--baseline", "lexical.run", "-m", "AP", "--max-drop", "0.01", "--strict") == 1
    assert call("popular.run", "--baseline", "lexical.run", "-m", "AP", "--max-drop", "0.01") == 1
    out = capfd.readouterr().out
    assert (
        "Failed: popular is worse than lexical by more than allowed: AP fell by 0.3060, more than 0.01 (p < .001)."
        in out
    )
    assert call("none.run", "--baseline", "lexical.run") == 2


def test_limits_on_the_command_line(demo, capfd):
    limits = ["--max-drop", "0.5", "--max-drop", "AP(rel=2)=0.05"]
    assert (
        call("popular.run", "--baseline", "lexical.run", "-m", "P@5", "-m", "AP(rel=2)", *limits, "--format", "json")
        == 1
    )
    found = json.loads(capfd.readouterr().out)
    assert [(row["measure"], row["limit"]) for row in found["measures"]] == [("P@5", 0.5), ("AP(rel=2)", 0.05)]
    assert found["passed"] is False and len(found["losers"]["P@5"]) == 10


def test_the_first_scores_are_saved_with_notes_on_their_inputs(demo, capfd):
    """They say what is compared later, and notes are not saved."""
    (demo / "relevant.csv").write_text("query,document\nq01,d001\nq99,d002\n")
    assert cli(["gate", "relevant.csv", "popular.run", "--save", "old.json", "-m", "AP"]) == 0
    err = capfd.readouterr().err
    assert "relevant.csv has no label column: every row counts as relevant" in err and "q99" in err


def test_scores_are_saved_where_the_gate_passes_and_only_there(demo, capfd):
    assert call("lexical.run", "--save", "old.json", "-m", "AP") == 0
    assert capfd.readouterr().out == "old.json: the scores of lexical; nothing was compared\n"
    first = (demo / "old.json").read_text()
    assert call("popular.run", "--baseline", "old.json", "-m", "AP", "--save", "old.json") == 1
    assert (demo / "old.json").read_text() == first
    assert call("dense.run", "--baseline", "old.json", "-m", "AP", "--save", "old.json") == 0
    kept = read_saved(Source("old.json"))
    assert kept.name == "dense"
    assert kept.values[:, 0].tolist() == gradely.evaluate("qrels.txt", "dense.run", ["AP"]).values[:, 0].tolist()


def test_the_summary_lists_the_queries_that_lost_most(demo, capfd):
    assert call("popular.run", "--baseline", "lexical.run", "-m", "AP", "--summary", "gate.md") == 1
    text = (demo / "gate.md").read_text()
    assert text.startswith("## ❌ Failed: popular is worse than lexical by more than allowed: AP fell by 0.3060, more")
    assert "AP: 23 of 24 queries lost; the 10 that lost the most" in text
    old, new = (gradely.evaluate("qrels.txt", f"{run}.run", ["AP"]).values[:, 0] for run in ("lexical", "popular"))
    worst = int(np.argmax(old - new))
    assert f"| q{worst + 1:02d} | {old[worst]:.4f} | {new[worst]:.4f} | {old[worst] - new[worst]:.4f} |" in text


def test_hostile_names_stay_text_in_the_summary(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    bad = "<script>|x"
    (tmp_path / "qrels.txt").write_text(f"{bad} 0 d 1\nq2 0 d 1\nq3 0 d 1\n")
    (tmp_path / "<b>.run").write_text("".join(f"{q} Q0 x 1 1 t\n" for q in (bad, "q2", "q3")))
    (tmp_path / "old.run").write_text("".join(f"{q} Q0 d 1 1 t\n" for q in (bad, "q2", "q3")))
    assert call("<b>.run", "--baseline", "old.run", "-m", "RR", "--strict", "--summary", "s.md") == 1
    text = (tmp_path / "s.md").read_text()
    assert "<b>" not in text and "<script>" not in text and "&lt;script>\\|x" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["dense.run"], "name a --baseline to compare with, a floor with --min, or a file to --save"),
        (["dense.run", "--baseline", "none.run"], "none.run"),
        (["dense.run", "--baseline", "lexical.run", "--max-drop", "much"], "give a number like 0.01"),
        (["dense.run", "--baseline", "lexical.run", "-m", "AP", "--max-drop", "RR=0.1"], "RR, which is not measured"),
        (["dense.run", "--baseline", "lexical.run", "--max-drop", "-1"], "a number of at least 0"),
        (["dense.run", "--baseline", "lexical.run", "--max-drop", "5"], "give 0.05 for 5 points"),
        (["dense.run", "--baseline", "lexical.run", "--alpha", "5"], "alpha must be a number"),
        (["dense.run", "--baseline", "lexical.run", "--summary", "no/where.md"], "there is no folder no"),
        (["dense.run", "--baseline", "lexical.run", "--save", "no/where.json"], "there is no folder no"),
        (["-", "--baseline", "-"], "read only once"),
    ],
)
def test_wrong_calls_end_with_one_line_and_code_2(demo, fails, arguments, message):
    fails("gate", "qrels.txt", *arguments, says=message)


def test_scores_of_random_ties_are_those_of_their_seed():
    run = {query: {"d": 1.0, "x": 1.0, "y": 1.0} for query in QRELS}
    seeds = ({}, {"seed": 0}, {"seed": 1})
    usual, same, other = (keep_scores(QRELS, run, ["RR"], ties="random", **seed) for seed in seeds)
    assert usual.values.tolist() == same.values.tolist() != other.values.tolist()
    assert usual.settings == same.settings and usual.settings["seed"] == 0
    assert "seed" not in keep_scores(QRELS, run, ["RR"]).settings
    means = [gradely.gate(QRELS, run, FIRST, ["RR"], ties="random", **seed).changes[0].new for seed in seeds]
    assert means[0] == means[1] != means[2]
    with pytest.raises(gradely.DataError, match="saved with seed 1, not 0"):
        gradely.gate(QRELS, run, other, ["RR"], ties="random")


def test_losers_have_the_texts_of_their_queries():
    table = gradely.gate(QRELS, ONCE, FIRST, ["RR"]).losers("RR", queries_text={"q11": "the last one"})
    assert table.rows == [["q11", 1.0, 0.25, 0.75, "the last one"]]


def test_nothing_is_lost_without_a_baseline():
    with pytest.raises(gradely.DataError, match="nothing was compared: there is no baseline"):
        gradely.gate(QRELS, FIRST, floors={"RR": 0.5}).losers("RR")


def test_equal_weights_are_no_weights():
    plain, equal = (
        gradely.gate(QRELS, ONCE, FIRST, ["RR"], weights=weights) for weights in (None, dict.fromkeys(QRELS, 3))
    )
    assert equal.changes == plain.changes and equal.pairwise.weights is None


def test_a_drop_that_no_measure_can_exceed_is_refused():
    fall = "nDCG@10 cannot fall by more than 1, so a gate that allows a drop of"
    hints = {5: "5 never fails; give 0.05 for 5 points", 1: "1 never fails; give 0.01 for 1 point"}
    hints[100] = "100 never fails; give a number like 0.01"
    for limit, says in hints.items():
        with pytest.raises(gradely.DataError, match=f"{fall} {says}$"):
            gradely.gate(QRELS, LOWER, FIRST, ["nDCG@10", "DCG"], max_drop=limit)
    assert gradely.gate(QRELS, LOWER, FIRST, ["nDCG@10", "DCG"], max_drop={"DCG": 5, "nDCG@10": 0.99}).passed


def test_a_gate_has_the_values_that_evaluate_has():
    """Also of measures that take the top of the scale, or its levels, from the collection."""
    qrels, run, measures = {"q": {"a": 1, "b": 3}}, {"q": ["a", "b"]}, ["ERR", "eGAP", "nDCG(relevance='shift')"]
    assert keep_scores(qrels, run, measures).values.tolist() == gradely.evaluate(qrels, run, measures).values.tolist()


@pytest.mark.parametrize(
    ("old", "holes", "expected"),
    [
        (["u", "a"], False, ["100.0 %", "baseline: 50.0 %"]),
        (["u", "v"], False, ["100.0 %"]),  # the same share is said once
        (["a", "b"], False, ["100.0 %"]),
        (["u", "a"], True, []),  # the ranges say more
    ],
)
def test_notes_give_the_share_of_unjudged_documents_in_both_runs(old, holes, expected):
    qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(6)}
    runs = [dict.fromkeys(qrels, ranking) for ranking in (["v", "w"], old)]
    notes = map(str, gradely.gate(qrels, *runs, ["P@2"], holes=holes).notes)
    assert [text.split(" of the documents")[0] for text in notes if "are unjudged" in text] == expected


def test_a_measure_by_which_both_runs_are_the_same_is_not_one_that_could_not_show_a_drop():
    gate = gradely.gate(QRELS, ONCE, FIRST, ["RR", "P@5"], test="randomization")  # one query differs, and only by RR
    assert [(note.count, note.of) for note in gate.notes if note.kind == "coarse"] == [(1, 2)]
