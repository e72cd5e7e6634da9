"""What a comparison answers: the sentence on top, equivalence, influence, the matrix of runs."""

import json
from itertools import product

import numpy as np
import pytest
from scipy import integrate, stats

import gradely
from gradely.cli.main import run as cli
from gradely.comparison.influence import Influence, leave_one_out
from gradely.comparison.intervals import Estimates
from gradely.comparison.pairwise import Design, Pairwise
from gradely.comparison.sentences import (
    answer,
    describe_tests,
    format_signed,
    list_names,
    note_tests,
    summary,
)
from gradely.tables import format_p, plain_cell
from tests.comparison.test_significance import column, table

RUNS = {name: f"{name}.run" for name in ("popular", "dense", "lexical")}


def pairwise(values, baselines=(), **design):
    """Return values [queries, runs] or [measures, queries, runs] as tested pairs of runs a, b, c…"""
    several = np.asarray(values, float).reshape(-1, *np.shape(values)[-2:])
    measures, names = ["AP", "RR", "P@10"][: len(several)], list("abcdefgh")
    settled = Design(**design).settle(baselines, names)
    return Pairwise(several, several.mean(axis=1), names[: several.shape[2]], measures, settled)


def runs_at(*levels, queries=20, noise=0.01, seed=1):
    rng = np.random.default_rng(seed)
    return np.array(levels) + rng.normal(0, noise, (queries, len(levels)))


EVEN = np.array([[0.5, 0.25], [0.25, 0.5], [0.5, 0.75], [0.75, 0.5]])
"""two runs of the same mean, so that p is 1"""


@pytest.mark.parametrize(
    ("values", "design", "expected"),
    [
        (runs_at(0.5, 0.2), {}, "By AP, a is better than b (p < .001, 95 % interval +.29"),
        (runs_at(0.2, 0.5), {}, "By AP, b is better than a (p < .001, 95 % interval +.29"),
        (runs_at(0.5, 0.5), {}, "By AP, a and b cannot be told apart (p .97, 95 % interval −.005 … +.005)"),
        (runs_at(0.5, 0.5, 0.2), {}, "cannot be told apart (corrected p "),
        (runs_at(0.5, 0.5, 0.2), {}, "; both are better than c."),
        (runs_at(0.5, 0.5, 0.5, 0.2), {}, "; all 3 are better than d."),
        (runs_at(0.5, 0.2, 0.2), {}, "By AP, a is better than c and b (corrected p < .001)."),
        (runs_at(0.5, *[0.2] * 5), {}, "By AP, a is better than the 5 others (corrected p < .001)."),
        (runs_at(0.5, 0.2, 0.7), {"baselines": ("a",)}, "c is better than a (corrected p < .001, corrected 95 %"),
        (runs_at(0.5, 0.2, 0.7), {"baselines": ("a",)}, "; b is worse than a (corrected p < .001"),
        (runs_at(0.5, 0.5, 0.7), {"baselines": ("a",), "test": "max-t"}, "cannot be told apart (corrected p .95, corr"),
        (np.full((5, 2), 0.3), {}, "By AP, a and b have the same value on every query."),
        (np.array([[0.1, 0.2]]), {}, "By AP, b has the highest mean, but nothing is tested: there is only one query"),
        (np.array([[0.2, 0.2]]), {}, "By AP, a and b have the same mean, but nothing is tested: there is only one "),
        (np.array([[0.3, 0.2, 0.3]]), {}, "By AP, a and c have the highest mean, but nothing is tested: there is only"),
        (runs_at(0.5)[:, :1], {}, "By AP, nothing is tested: there is only one run"),
        (runs_at(0.5, 0.5), {"rope": 0.05}, "By AP, a and b are equivalent within ±.05 (TOST p < .001)."),
        (runs_at(0.51, 0.5), {"rope": 0.05}, "By AP, a is better than b, yet equivalent within ±.05 (p < .001"),
        (column(*[0.5] * 4), {}, "By AP, a and b cannot be told apart (p .12)."),
        (column(0.0, 0.2, -0.1, 0.0), {}, "By AP, a and b cannot be told apart (p "),
        (runs_at(0.5, 0.2, 0.2, 0.2), {}, "By AP, a is better than c, b and d (corrected p < .001)."),
        (runs_at(0.5, 0.5, 0.5), {}, "By AP, c cannot be told apart from a and b (corrected p at least"),
        (EVEN[:, [0, 0, 1]], {}, "a has the same value on every query as b and cannot be told apart from c (corr"),
        (EVEN[:, [0, 1, 1]], {}, "By AP, a cannot be told apart from b and c (corrected p 1.00)."),
        (EVEN[:, [0, 0, 1]], {"rope": 0.9, "alpha": 0.4}, " query as b and is equivalent within ±.9 to c (TOST"),
        (np.stack([runs_at(0.5, 0.2)] * 2), {"family": "all"}, "By AP, a is better than b (corrected p < .001"),
    ],
)  # fmt: skip
def test_the_answer_in_a_sentence(values, design, expected):
    assert expected in answer(pairwise(values, **design))


def test_pairs_of_the_same_run_are_noted():
    def notes(values, **options):
        return [str(note) for note in note_tests(pairwise(values, **options)) if note.kind == "identical"]

    assert notes(EVEN[:, [0, 1, 1]]) == ["1 of 3 pairs has the same value on every query by every measure: b and c"]
    assert notes(EVEN[:, [1, 1, 1]])[0].startswith(
        "3 of 3 pairs have the same value on every query by every measure: a"
    )
    assert notes(np.stack([EVEN[:, [0, 1, 1]], EVEN[:, [0, 0, 1]]])) == []
    assert notes(EVEN) == notes(EVEN[:, [0, 0]]) == []  # of two runs, the sentence says so


def test_the_caption_says_which_intervals_are_corrected():
    one, several = (describe_tests(pairwise(runs_at(*[0.5] * size))) for size in (2, 3))
    assert "Intervals: 95 %; those of differences are uncorrected t intervals; those of means are by the stud" in one
    corrected = "those of differences are corrected in sentences, as p is, and uncorrected t intervals in tables"
    means = "those of means are by the studentised bootstrap (10,000 draws), uncorrected."
    assert f"Intervals: 95 %; {corrected}; {means}" in several
    assert "in sentences" not in describe_tests(pairwise(runs_at(*[0.5] * 3), correction="none"))


def test_the_caption_says_by_which_method_the_intervals_of_means_are():
    """They are by t where draws of the bootstrap lack spread, and there are none where nothing varies."""
    many, few = np.random.default_rng(1).normal(0.5, 0.1, (20, 3)), np.eye(20)[:, [0, 0, 0]]
    values = np.stack([many, np.hstack([few[:, :2], many[:, :1]]), few])
    found = pairwise(values)
    low, high = stats.t.interval(0.95, 19, few[:, 0].mean(), few[:, 0].std(ddof=1) / np.sqrt(20))
    assert [float(end[0]) for end in found.mean_intervals[2]] == pytest.approx([low, high])
    bootstrap, by_t = "by the studentised bootstrap (10,000 draws)", ", and by t for {}, uncorrected."
    assert f"of means are {bootstrap}{by_t.format('RR (2 of 3 runs), P@10')}" in describe_tests(found)
    assert f"of means are {bootstrap}, uncorrected." in describe_tests(pairwise(values[0]))
    assert "of means are by t, uncorrected." in describe_tests(pairwise(values[2]))
    assert "of means" not in describe_tests(pairwise(np.ones((20, 3))))
    assert "of means" not in describe_tests(found, means=False) and "seed" not in describe_tests(found, means=False)
    assert "Random seed: 0." in describe_tests(pairwise(values[0], test="randomization"), means=False)
    assert "Random seed: 0." in describe_tests(found, means=False, random_ties=True)
    alone = "Intervals: 95 %; those of means are by the studentised bootstrap "
    assert describe_tests(pairwise(many[:, :1])) == f"{alone}(10,000 draws), uncorrected. Random seed: 0."
    assert describe_tests(pairwise(many[:, :1]), means=False) == ""


def test_csv_says_how_its_intervals_of_means_came_about():
    qrels = {f"q{i}": {"d": 1} for i in range(20)}
    runs = {"a": {q: ["d"] if q == "q1" else ["x"] for q in qrels}, "b": {q: ["x", "d"] for q in qrels}}
    view = gradely.compare(qrels, runs, ["RR"]).view()
    assert "of means are by t" in "\n".join(view.lines_beside("csv")) and "of means" not in str(view)
    assert "of means" not in "\n".join(gradely.compare(qrels, runs, ["RR"]).view(pairs=True).lines_beside("csv"))


def test_one_query_has_no_pairs_whatever_the_baseline():
    assert len(pairwise([[0.1, 0.2]], baselines=("b",)).pairs) == 0


def test_intervals_that_hold_at_once_for_each_measure_or_for_all():
    values = np.stack([runs_at(0.5, 0.4, 0.3), table(20, 3)])
    apart, together = (pairwise(values, simultaneous=True, family=family).reaches for family in ("measure", "all"))
    assert apart[0] != apart[1] and together[0] == together[1] >= max(apart)


def test_verdicts_are_strict_about_alpha():
    same = pairwise(np.zeros((5, 2)), rope=0.1, alpha=0.5**5)
    assert same.tost_adjusted[0, 0] == 0.5**5 and not same.equivalent.any()
    for margin in (0.1, 0.3):  # means of equal differences may lie below them by a rounding error
        at_margin = (pairwise(column(*[margin] * queries), rope=margin) for queries in range(6, 12))
        assert not any(tested.equivalent.any() for tested in at_margin)
    edge = pairwise(column(0.1, 0.2, 0.3), test="randomization", alpha=2 / 2**3)
    assert edge.power() == {"AP": 0.0}
    assert pairwise(runs_at(0.5, 0.4)).power() == {"AP": 1.0}
    without = list(Influence(pairwise(column(0.1, 0.2, 0.3, 0.4), test="randomization", alpha=2 / 2**3), "wxyz").rows())
    assert [(row.adjusted, row.significant) for row in without] == [(2 / 2**3, False)] * 4


def test_only_tests_that_divide_by_the_spread_are_replaced():
    assert [pairwise(column(*[0.5] * 7), test=test).count_replaced for test in ("t", "wilcoxon")] == [1, 0]


def test_one_draw_is_enough_to_ask_for():
    assert pairwise(runs_at(0.5, 0.4), test="randomization", resamples=1).p[0, 0] in (0.5, 1.0)


LARGE_GAIN = (*[-0.011] * 19, 0.9)
"""a loses 19 of 20 queries by little and wins one by much, so that its mean is higher"""


@pytest.mark.parametrize(
    ("differ", "better", "means"),
    [
        (LARGE_GAIN, "b", ", though its mean is lower by .0345"),
        ([-d for d in LARGE_GAIN], "a", ", though its mean is lower by .0345"),
        ((*[0.125] * 16, -2.0), "a", ", though their means are equal"),
        ((*[-0.125] * 16, 2.0), "b", ", though their means are equal"),
    ],
)
@pytest.mark.parametrize("baselines", [(), ("a",), ("b",)])
def test_signed_ranks_decide_and_the_means_are_said_where_they_disagree(differ, better, means, baselines):
    tested = pairwise(column(*differ), test="wilcoxon", baselines=baselines)
    assert tested.significant.all() and tested.contradicts.all()
    other = "b" if better == "a" else "a"
    assert tested.better_than(0)["ab".index(better)].tolist() == ["ab".index(other)]
    how = "worse" if baselines == (better,) else "better"
    first, second = (other, better) if how == "worse" else (better, other)
    text = answer(tested)
    assert text.startswith(f"By AP, {first} is {how} than {second} by signed ranks (p ")
    assert text.endswith((means.replace("lower", "higher") if how == "worse" else means) + ".")
    (note,) = [note for note in note_tests(tested) if note.kind == "contradiction"]
    assert (note.count, note.of) == (1, 1)


def test_a_test_of_means_never_contradicts_them():
    for test in ("t", "randomization", "bootstrap", "max-t", "tukey"):
        assert not pairwise(column(*LARGE_GAIN), test=test).contradicts.any()


def test_three_runs_of_equal_mean_that_signed_ranks_tell_apart():
    """It once said that they cannot be told apart (p < .001)."""
    ups = np.array([*[0.125] * 16, -2.0])
    tested = pairwise(np.column_stack([ups, np.zeros(17), -ups]), test="wilcoxon")
    text = answer(tested)
    assert "cannot be told apart" not in text
    assert text == (
        "By AP, a is better than b and c by signed ranks (corrected p at most .007), "
        "though the means are equal or lower."
    )


def test_runs_above_the_highest_mean_by_signed_ranks():
    """a has the highest mean by one query; b and c win the 19 others."""
    rng = np.random.default_rng(3)
    b = rng.uniform(0.4, 0.5, 20)
    tested = pairwise(np.column_stack([b + LARGE_GAIN, b, b + 0.001]), test="wilcoxon")
    assert answer(tested) == (
        "By AP, c and b are better than a by signed ranks (corrected p < .001), though the means are equal or lower."
    )


def test_a_top_run_speaks_for_itself_where_its_peers_do_not_beat_the_rest():
    values = np.column_stack([runs_at(0.5), np.random.default_rng(1).normal(0.45, 0.3, 20), runs_at(0.4)])
    assert answer(pairwise(values)).endswith("; a is better than c.")


def test_a_peer_that_beats_the_rest_by_signed_ranks_alone_is_not_called_better():
    """b wins 11 of 12 queries and has a lower mean than c; it said that both are better than c."""
    rng = np.random.default_rng(0)
    c = rng.uniform(0.4, 0.5, 12)
    above = [c + rng.normal(0.1, 0.1, 12), c + np.array([*[0.05] * 11, -0.6])]
    tested = pairwise(np.column_stack([*above, c]), test="wilcoxon", correction="none")
    assert tested.significant[0].tolist() == [False, True, True] and tested.means[0, 1] < tested.means[0, 2]
    assert answer(tested).endswith("; a is better than c.")


def test_a_pair_of_two_baselines_is_named_once():
    two = answer(pairwise(runs_at(0.5, 0.2), baselines=("a", "b")))
    assert two == answer(pairwise(runs_at(0.5, 0.2), baselines=("a",)))  # "b is worse than a; a is better than b"
    three = answer(pairwise(runs_at(0.5, 0.2, 0.3), baselines=("a", "b")), 0)
    assert [part.split(" (")[0] for part in three.removesuffix(".").split("; ")] == [
        "By AP, b and c are worse than a",
        "c is better than b",
    ]


def test_the_summary_says_which_measures_agree():
    up, down = runs_at(0.5, 0.2), runs_at(0.2, 0.5)
    text = summary(pairwise(np.stack([up, 2 * up, down])))
    assert text.startswith("By AP, a is better than b (p")
    assert text.endswith(". The same holds by RR. By P@10 the verdict differs.")


def test_the_order_of_names_does_not_make_another_verdict():
    """a before b by one measure and b before a by the other, or c before d: what is said of them is the same."""
    low = runs_at(0.2)
    first = np.column_stack([runs_at(0.5, 0.5001, seed=5), low])
    turned = first[:, [1, 0, 2]]
    text = summary(pairwise(np.stack([first, turned])))
    assert text.endswith("; both are better than c. The same holds by RR.")
    nearly = np.array(
        [[0.1, 0.3, 0.2], [0.2, 0.2, 0.1], [0.3, 0.1, 0.2]]
    )  # 0.1 + 0.2 + 0.3 is more than 0.3 + 0.2 + 0.1
    assert summary(pairwise(np.stack([nearly, nearly[:, [1, 0, 2]]]))).endswith(". The same holds by RR.")
    beaten = np.column_stack([runs_at(0.5), runs_at(0.2, 0.21, seed=7)])
    assert "The same holds by RR" in summary(pairwise(np.stack([beaten, beaten[:, [0, 2, 1]]])))
    same = np.stack([np.full((20, 2), 0.3), runs_at(0.5, 0.5)])
    assert summary(pairwise(same)).endswith("By RR the verdict differs.")  # equal on every query is more than alike


@pytest.mark.parametrize("baselines", [(), ("b",)])
def test_measures_by_which_all_runs_are_equal_are_named(baselines):
    up, equal = runs_at(0.5, 0.2), np.full((20, 2), 0.3)
    text = summary(pairwise(np.stack([up, equal, up[:, ::-1]]), baselines=baselines))
    assert text.endswith(". By RR both have the same values. By P@10 the verdict differs.")
    text = summary(pairwise(np.stack([up, equal, equal]), baselines=baselines))
    assert text.endswith(". By RR and P@10 both have the same values.")
    three = np.stack([runs_at(0.5, 0.2, 0.1), np.full((20, 3), 0.3)])
    assert summary(pairwise(three, baselines=baselines)).endswith(". By RR all runs have the same values.")
    three[1, :, 2] = 0.2
    assert summary(pairwise(three, baselines=baselines)).endswith("By RR the verdict differs.")


@pytest.mark.parametrize("baselines", [(), ("b",)])
def test_other_winners_are_another_verdict(baselines):
    up, down = runs_at(0.5, 0.2), runs_at(0.2, 0.5)
    assert "RR the verdict differs" in summary(pairwise(np.stack([up, down]), baselines=baselines))
    assert "The same holds by RR" in summary(pairwise(np.stack([up, up * 0.9]), baselines=baselines))


@pytest.mark.parametrize("correction", ["holm", "bonferroni", "bh"])
def test_an_interval_in_a_sentence_leaves_out_0_where_the_corrected_p_is_below_alpha(correction):
    for seed in range(40):
        values = np.random.default_rng(seed).normal(0, 1, (12, 4)) + np.linspace(0, 1, 4)
        tested = pairwise(values, correction=correction)
        for pair in range(6):
            low, high = tested.corrected_interval(0, pair)
            assert ((low > 0) | (high < 0)) == tested.significant[0, pair]
            alone = tested.intervals[0]
            assert low <= alone.low[pair] + 1e-12 and high >= alone.high[pair] - 1e-12
    wide = stats.ttest_1samp(tested.by_query(0)[:, 0], 0).confidence_interval(1 - 0.05 / 6)
    if correction == "bonferroni" and tested.adjusted[0, 0] < 1:
        assert tested.corrected_interval(0, 0) == pytest.approx((wide.low, wide.high))


@pytest.mark.parametrize(("correction", "tests"), [("bonferroni", [6] * 6), ("holm", [6, 5, 4, 3, 2, 1])])
def test_an_interval_is_corrected_in_full_where_the_corrected_p_is_cut_at_1(correction, tests):
    """Beside a p of .9, which six tests made 1 and not 5.4, the interval was hardly wider than an uncorrected one."""
    tested = pairwise(runs_at(0.5, 0.5, 0.5, 0.5, seed=4), correction=correction)
    order = np.argsort(tested.p[0])
    factors = np.maximum.accumulate(tested.p[0][order] * tests) / tested.p[0][order]
    assert tested.adjusted[0].max() == 1 and tested.p[0].max() < 1
    for pair, factor in zip(order.tolist(), factors.tolist(), strict=True):
        wide = stats.ttest_1samp(tested.by_query(0)[:, pair], 0).confidence_interval(1 - 0.05 / factor)
        assert tested.corrected_interval(0, pair) == pytest.approx((wide.low, wide.high))


def test_p_values_that_are_too_small_for_a_double_have_an_interval():
    """With thousands of queries p is 0, and α was divided by 0 / 0: the sentence had no interval."""
    values = runs_at(0.5, 0.2, 0.35, queries=6000, noise=0.05)
    for test, correction in product(("t", "wilcoxon"), ("holm", "bonferroni", "bh")):
        tested = pairwise(values, baselines=("c",), test=test, correction=correction)
        assert tested.p[0].max() == 0
        text = answer(tested)
        assert text.count("95 %") == 2 and "nan" not in text
        wide = stats.ttest_1samp(tested.by_query(0)[:, 0], 0).confidence_interval(1 - 0.05 / 2)
        assert tested.corrected_interval(0, 0) == pytest.approx((wide.low, wide.high))


def test_an_interval_of_tukey_leaves_out_0_where_its_p_is_below_alpha():
    for seed in range(40):
        values = np.random.default_rng(seed).normal(0, 1, (10, 3)) + np.linspace(0, 1, 3)
        tested = pairwise(values, test="tukey", resamples=999)
        for pair in range(3):
            low, high = tested.corrected_interval(0, pair)
            sure = tested.significant[0, pair]
            assert ((low > 0) | (high < 0)) == sure or abs(tested.p[0, pair] - 0.05) < 0.003


@pytest.mark.parametrize("seed", [3, 10])
def test_a_difference_as_large_as_the_largest_of_tukey_is_within_its_interval(seed):
    """Of five queries p is .059, and rounding made the interval leave 0 out."""
    values = np.round(np.random.default_rng(seed).random((2, 5, 2)) * 0.3 + np.array([0, 0.3]), 2)
    tested = pairwise(values, test="tukey", family="all")
    ends = [tested.corrected_interval(m, 0) for m in range(2)]
    assert not tested.significant.any() and all(low <= 0 <= high for low, high in ends)
    assert min(abs(high) for _, high in ends) < 1e-8


def test_an_interval_of_max_t_that_contradicts_its_p_value_says_so():
    """With six queries, signs of centred differences have another distribution than those of differences."""
    values = np.round(np.random.default_rng(17).random((6, 3)) * 0.3 + np.array([0, 0.2, 0.4]), 2)
    text = answer(pairwise(values, test="max-t", baselines=("a",)))
    assert text == (
        "By AP, c is better than a (corrected p .031, corrected 95 % interval +.332 … +.665); "
        "a and b cannot be told apart "
        "(corrected p .062; the corrected 95 % interval, from centred differences, says otherwise: −.488 … −.015)."
    )


@pytest.mark.parametrize(
    ("design", "words"),
    [
        ({}, "(corrected p .71, corrected 95 % interval "),
        ({"correction": "none"}, "(p .71, 95 % interval "),
        ({"test": "tukey"}, "(corrected p 1.00, corrected 95 % interval "),
        ({"test": "max-t"}, "(corrected p .95, corrected 95 % interval "),
        ({"simultaneous": True}, "(corrected p .71, simultaneous 95 % max-t interval "),
        ({"test": "max-t", "simultaneous": True}, "(corrected p .95, simultaneous 95 % interval "),
        ({"test": "wilcoxon"}, ", corrected 95 % t interval "),
        ({"test": "bootstrap", "correction": "none"}, ", 95 % t interval "),
        ({"test": "wilcoxon", "simultaneous": True}, ", simultaneous 95 % max-t interval "),
    ],
)
def test_a_sentence_names_what_is_corrected(design, words):
    assert words in answer(pairwise(runs_at(0.5, 0.5, 0.2), **design))


@pytest.mark.parametrize("test", ["wilcoxon", "randomization", "bootstrap", "tukey", "max-t"])
def test_a_t_interval_beside_the_p_value_of_another_test_is_named(test):
    """Of five queries, p is .062 at the least, and the t interval leaves 0 out."""
    values = np.array([[0.5, 0.3], [0.7, 0.2], [0.8, 0.1], [0.6, 0.55], [0.9, 0.6]])
    text = answer(pairwise(values, test=test))
    assert text.startswith("By AP, a and b cannot be told apart (p .0")
    assert text.endswith(", 95 % t interval +.033 … +.667).")


def test_p_values_without_correction_are_not_called_corrected():
    tested = pairwise(table(topics=9, systems=3), correction="none")
    assert "corrected" not in answer(tested) and Influence(tested, list("abcdefghi")).caption().startswith("p-values")


WILD = np.random.default_rng(4).normal(0.47, 0.5, 20)


@pytest.mark.parametrize(
    ("values", "rope", "words"),
    [
        (runs_at(0.5, 0.5, 0.5), 0.05, "By AP, c is equivalent within ±.05 to a and b (TOST corrected p < .001)."),
        (runs_at(0.5, 0.5, 0.5, 0.2), 0.05, " within ±.05 to b and a (TOST corrected p < .001); all 3 are better"),
        (np.column_stack([runs_at(0.5, 0.5), WILD]), 0.05, "a is equivalent within ±.05 to b (TOST corrected p < .001"),
        (np.column_stack([runs_at(0.5, 0.5), WILD]), 0.05, ") and cannot be told apart from c (corrected p 1.00, corr"),
        (np.full((6, 3), 0.3), 0.05, "By AP, a, b and c have the same value on every query."),
    ],
)  # fmt: skip
def test_several_runs_may_be_equivalent(values, rope, words):
    assert words in answer(pairwise(values, rope=rope))


def test_numbers_do_not_hide_on_which_side_of_alpha_they_are():
    values = column(*np.random.default_rng(5).normal(0.47, 1, 20))
    p = pairwise(values).p[0, 0]
    alpha = round(p, 3)
    assert p != alpha
    (shown,) = (word for word in answer(pairwise(values, alpha=alpha)).split() if word.startswith(".") and "," in word)
    assert (float(shown.strip(",")) < alpha) == (p < alpha)


@pytest.mark.parametrize(
    ("p", "alpha", "text"),
    [
        (0.001, 0.05, ".001"),
        (0.0009, 0.05, "< .001"),
        (0.095, 0.05, ".10"),
        (0.05, 0.05, ".050"),
        (0.05 - 1e-15, 0.05, ".050000000000"),  # the sides cannot be told apart in print: some digits are enough
    ],
)
def test_p_values_in_print(p, alpha, text):
    assert format_p(p, alpha) == text


@pytest.mark.parametrize(
    ("p", "alpha", "words", "text"),
    [
        (0.507, 0.05, "at least", "at least .50"),
        (0.51, 0.05, "at least", "at least .51"),
        (0.0312, 0.05, "at most", "at most .032"),
        (0.0499, 0.05, "at most", "at most .0499"),
        (0.0501, 0.05, "at least", "at least .050"),
        (0.0003, 0.001, "", ".0003"),
        (0.00003, 0.001, "", "< .0001"),
        (0.0004, 0.0005, "", ".0004"),
        (0.0001, 0.05, "at most", "< .001"),
    ],
)
def test_bounds_are_rounded_so_that_they_hold_and_no_p_value_is_printed_as_0(p, alpha, words, text):
    assert format_p(p, alpha, words) == text


def test_names_and_signs_in_print():
    assert list_names(list("abcd")) == "a, b, c and d"
    assert list_names(list("abcde")) == "a, b, c and 2 more"
    assert format_signed(0.0) == "+.000"


@pytest.mark.parametrize(
    ("values", "design", "words"),
    [
        (np.stack([runs_at(0.5, 0.4, 0.3)] * 2), {"baselines": ("a",), "family": "all"}, "correction over all 4 tests"),
        (runs_at(0.5, 0.4), {"family": "all"}, "one pair per measure, so no correction is needed."),
        (runs_at(0.5, 0.4), {}, "studentised bootstrap (10,000 draws), uncorrected. Random seed: 0."),
        (runs_at(0.5, 0.4), {"test": "randomization"}, "paired randomization test, 10,000 resamples, "),
        (runs_at(0.5, 0.4), {"simultaneous": True}, "all pairs of each measure at once"),
        (runs_at(0.5, 0.4), {"simultaneous": True, "family": "all"}, "all pairs and measures at once"),
    ],
)
def test_the_caption_says_over_what_is_corrected(values, design, words):
    assert words in describe_tests(pairwise(values, **design))


@pytest.mark.parametrize(("length", "shown"), [(60, 60 * "x" + ")"), (61, 60 * "x" + "…)")])
def test_long_names_of_baselines_are_cut(length, shown):
    tested = pairwise(runs_at(0.5, 0.4), baselines=("a",))
    tested.names = [length * "x", "b"]
    tested.design = tested.design._replace(baselines=(length * "x",))
    assert f"(against {shown}" in describe_tests(tested)


@pytest.mark.parametrize(
    ("values", "design", "least", "over"),
    [
        (runs_at(0.5, 0.4), {"test": "randomization", "resamples": 19}, ".050", ""),  # 1 / 20 is not below .05
        (runs_at(0.5, 0.4), {"test": "randomization", "resamples": 20}, None, ""),
        (runs_at(0.5, 0.4), {"test": "bootstrap", "resamples": 19}, ".050", ""),
        (runs_at(0.5, 0.4), {"test": "bootstrap", "resamples": 20}, None, ""),
        (runs_at(0.5, 0.4), {"test": "max-t", "resamples": 19}, ".050", ""),
        (runs_at(0.5, 0.4), {"test": "tukey", "resamples": 19}, ".050", ""),
        (runs_at(0.5, 0.4, queries=5), {"test": "wilcoxon"}, ".062", ""),  # 2 / 2^5
        (runs_at(0.5, 0.4, queries=6), {"test": "wilcoxon"}, None, ""),
        (runs_at(0.5, 0.4, queries=6), {"test": "t"}, None, ""),
        (runs_at(0.5, 0.4, 0.3), {"test": "randomization", "resamples": 59}, ".017", " once corrected over 3 tests"),
        (runs_at(0.5, 0.4, 0.3), {"test": "randomization", "resamples": 60}, None, ""),
        (runs_at(0.5, 0.4, 0.3), {"test": "randomization", "resamples": 59, "correction": "bh"}, None, ""),
        (runs_at(0.5, 0.4, 0.3, queries=6), {"test": "randomization", "correction": "bh"}, None, ""),  # 2 / 2^6
        (runs_at(0.5, 0.4, 0.3, queries=6), {"test": "max-t"}, None, ""),
        (np.stack([runs_at(0.5, 0.4)] * 2), {"test": "randomization", "resamples": 30}, None, ""),
        (
            np.stack([runs_at(0.5, 0.4)] * 2),
            {"test": "randomization", "resamples": 30, "family": "all"},
            ".032",
            " once corrected over 2 tests",
        ),
    ],
)
def test_a_test_that_cannot_be_significant_is_noted(values, design, least, over):
    notes = [note for note in note_tests(pairwise(values, **design)) if note.kind == "coarse"]
    expected = [f"the smallest possible p-value, {least}, is not below α{over}: "] if least else []
    assert [note.text[: len(text)] for note, text in zip(notes, expected, strict=True)] == expected


@pytest.mark.parametrize(
    ("values", "design", "advice"),
    [
        (runs_at(0.5, 0.4, queries=2), {"test": "wilcoxon"}, "queries"),
        (runs_at(0.5, 0.4, queries=2), {"test": "randomization"}, "queries"),
        (runs_at(0.5, 0.4), {"test": "randomization", "resamples": 19}, "resamples"),
        (runs_at(0.5, 0.4, 0.3), {"test": "bootstrap", "resamples": 59}, "resamples, fewer runs or measures, or a bas"),
        (runs_at(0.5, 0.4, 0.3, queries=6), {"test": "wilcoxon"}, "queries, fewer runs or measures, or a baseline"),
    ],
)
def test_the_note_on_a_coarse_test_advises_only_what_helps(values, design, advice):
    (note,) = [note for note in note_tests(pairwise(values, **design)) if note.kind == "coarse"]
    end = note.text.partition("use more ")[2]
    assert end.startswith(advice) and (len(advice) > 12 or end == advice)


def test_the_least_p_value_of_tukey_is_drawn_and_said_to_be_about_so_large():
    """It said that .062 is the least p there can be, beside a p of .059."""
    values = np.array([[0.5, 0.3], [0.7, 0.2], [0.8, 0.1], [0.6, 0.55], [0.9, 0.6]])
    tested = pairwise(values, test="tukey")
    assert tested.p[0, 0] < tested.least[0, 0]
    (note,) = note_tests(tested)
    assert note.text == "the smallest possible p-value, about .062, is not below α: use more queries"


RARELY = np.zeros((30, 2))
RARELY[:4, 0] = [0.5, 0.3, 0.2, 0.4]


@pytest.mark.parametrize("test", ["randomization", "wilcoxon", "max-t", "tukey"])
def test_runs_that_differ_on_too_few_queries_cannot_be_told_apart(test):
    """26 of 30 queries tie: 2 / 2^4 is the least p there can be, and here it is reached."""
    tested = pairwise(RARELY, test=test)
    assert tested.p[0, 0] == pytest.approx(2 / 2**4, abs=0.02) and tested.least[0, 0] == 2 / 2**4
    (note,) = note_tests(tested)
    about = "about " if test == "tukey" else ""
    assert note.text.startswith(f"the smallest possible p-value, {about}.12, is not below α: ")
    assert note_tests(pairwise(RARELY)) == []  # the least p-value of t is .044


@pytest.mark.parametrize(("differ", "least"), [(1, 0.343), (2, 0.168), (3, 0.081), (4, 0.037)])
def test_t_cannot_tell_runs_apart_that_tie_on_nearly_all_queries(differ, least):
    """With equal differences beside zeros t is largest; it said nothing, however few queries differed."""
    values = np.zeros((10, 2))
    values[:differ, 0] = [0.5, 0.3, 0.4, 0.2][:differ]
    tested = pairwise(values)
    largest = np.where(np.arange(10) < differ, 0.5, 0.0)
    assert tested.least[0, 0] == pytest.approx(stats.ttest_1samp(largest, 0).pvalue)
    assert tested.least[0, 0] == pytest.approx(least, abs=0.001) and tested.least[0, 0] < tested.p[0, 0] + 1e-12
    assert [note.kind for note in note_tests(tested)] == ["coarse"] * (differ < 4)
    gate = gradely.gate({f"q{i}": {"d": 1} for i in range(10)}, *_lose(differ), ["RR"], max_drop=0)
    assert ("coarse" in [note.kind for note in gate.notes]) == (differ < 3)  # one-sided


def _lose(count):
    """Return a new run that loses by half on some of ten queries, and the old one."""
    return {f"q{i}": ["x", "d"] if i < count else ["d"] for i in range(10)}, {f"q{i}": ["d"] for i in range(10)}


def test_weights_make_equal_differences_unequal_and_t_defined():
    """It said that p cannot get below α beside one that was, and gave the draws of a test that is not performed."""
    weights = np.array([1.5, 1.0, 0.5, 1.0, 1.0])
    values = np.tile([0.5, 0.4], (5, 1))
    tested = Pairwise(values[None], values.mean(axis=0)[None], ["a", "b"], ["AP"], Design().settle(), weights=weights)
    assert tested.significant.all() and note_tests(tested) == []
    few = pairwise(runs_at(0.5, 0.4, queries=4), test="bootstrap", resamples=19)
    assert [note.kind for note in note_tests(few)] == ["few"] and few.significant.all()


def test_some_pairs_differ_on_too_few_queries():
    values = np.column_stack([RARELY, runs_at(0.9, queries=30), RARELY[:, 1]])
    same, note = note_tests(pairwise(values, test="wilcoxon"))
    assert same.kind == "identical"
    assert note.text.startswith("in 2 of 5 tests p cannot get below α, however clear the difference")
    assert (note.count, note.of) == (2, 5)  # equal runs are not counted: nothing differs there


@pytest.mark.parametrize(("queries", "runs", "noted"), [(2, 3, True), (2, 5, True), (2, 6, False), (3, 3, False)])
def test_tukey_of_very_few_queries_cannot_be_significant(queries, runs, noted):
    """The best and the worst run of a query have r(r - 1) places: p is at least as many to the power of 1 - n."""
    values = np.tile(np.arange(runs) / 10, (queries, 1)) + np.arange(queries)[:, None] / 100
    tested = pairwise(values, test="tukey", resamples=20_000)
    least = (runs * (runs - 1.0)) ** (1 - queries)
    assert tested.least[0].min() == least and tested.p[0].min() == pytest.approx(least, abs=0.01)
    assert ["coarse" in note.kind for note in note_tests(tested)] == [True] * noted


def test_unequal_spreads_are_noted_for_tukey_alone():
    noisy = np.column_stack([runs_at(0.5, 0.5, 0.5), WILD])
    (note,) = note_tests(pairwise(noisy, test="tukey"))
    assert note.kind == "unequal" and "by 1 of 1 measure some runs vary more than 2 times as much" in str(note)
    assert note_tests(pairwise(noisy, test="max-t")) == note_tests(pairwise(noisy[:, :3], test="tukey")) == []


def test_few_queries_have_another_test_than_the_bootstrap():
    tested = pairwise(column(1 / 2, 2 / 3), test="bootstrap")
    assert answer(tested) == "By AP, a and b cannot be told apart (p .090, 95 % interval −.476 … +1.642)."
    (note,) = note_tests(tested)
    assert str(note) == "2 queries are too few for the bootstrap, which needs 5: p comes from the paired t-test"
    assert describe_tests(tested).startswith("Test: paired t-test, α = 0.05; one pair")
    assert note_tests(pairwise(table(topics=5, systems=2), test="bootstrap")) == []


def test_pairs_that_tukey_pays_for_are_counted():
    (note,) = note_tests(pairwise(runs_at(0.5, 0.4, 0.3, 0.2), test="tukey", baselines=("a",)))
    assert (note.kind, note.count, note.of) == ("charged", 3, 6)
    assert note_tests(pairwise(runs_at(0.5, 0.4, 0.3, 0.2), test="tukey")) == []


def tost(differ, rope):
    return Estimates.of(differ).tost(rope)


def chances(differ, rope):
    return Estimates.of(differ).chances(rope)


def test_tost_is_the_larger_of_two_one_sided_tests():
    differ = np.random.default_rng(2).normal(0.004, 0.02, (25, 6))
    sides = [
        stats.ttest_1samp(differ, -0.01, alternative="greater"),
        stats.ttest_1samp(differ, 0.01, alternative="less"),
    ]
    assert tost(differ, 0.01) == pytest.approx(np.maximum(sides[0].pvalue, sides[1].pvalue), abs=1e-14)
    assert tost(-differ, 0.01).tolist() == tost(differ, 0.01).tolist()


def test_equivalence_without_spread_takes_enough_queries():
    assert tost(np.zeros((2, 1)), 0.01).tolist() == [0.25]
    assert tost(np.full((8, 1), 0.005), 0.01).tolist() == [0.5**8]
    assert tost(np.full((8, 1), 0.02), 0.01).tolist() == tost(np.full((8, 1), -0.02), 0.01).tolist() == [1.0]
    assert tost(np.full((8, 1), 0.01), 0.01).tolist() == [1.0]


def test_tost_keeps_its_level_at_the_edge_of_the_region():
    differ = np.random.default_rng(3).normal(0.01, 0.02, (30, 4000))
    assert np.mean(tost(differ, 0.01) < 0.05) == pytest.approx(0.05, abs=4 * np.sqrt(0.05 * 0.95 / 4000))


def test_chances_are_the_integral_of_the_posterior():
    """µ and σ² integrated out by hand: likelihood of the differences times the prior 1/σ², on a grid of σ."""
    differ = np.random.default_rng(7).normal(0.01, 0.05, 12)

    def density(mean):
        return integrate.quad(lambda s: np.prod(stats.norm.pdf(differ, mean, s) / 8) / s, 0.015, 0.6, limit=200)[0]

    grid = np.linspace(-0.2, 0.22, 421)
    weights = np.array([density(mean) for mean in grid])
    expected = [weights[where].sum() / weights.sum() for where in (grid > 0.02, np.abs(grid) < 0.02, grid < -0.02)]
    found = chances(differ[:, None], 0.0205)
    assert [float(chance[0]) for chance in found] == pytest.approx(expected, abs=0.005)
    assert sum(float(chance[0]) for chance in found) == pytest.approx(1)


def test_chances_of_two_queries_are_those_of_cauchy():
    """t with one degree of freedom: its distribution is 1/2 + atan(x)/π."""
    better, equal, worse = (float(chance[0]) for chance in chances(np.array([[0.01], [0.05]]), 0.01))
    assert better == pytest.approx(0.5 + np.arctan((0.03 - 0.01) / 0.02) / np.pi)
    assert worse == pytest.approx(0.5 - np.arctan((0.03 + 0.01) / 0.02) / np.pi)
    assert equal == pytest.approx(1 - better - worse)


def test_equivalence_is_part_of_each_pair(demo, capfd):
    found = gradely.compare("qrels.txt", RUNS, ["nDCG@10"], rope=0.1)
    pair = next(pair for pair in found.pairs if {pair.first, pair.second} == {"lexical", "dense"})
    assert pair.equivalent and pair.tost_adjusted == pytest.approx(3 * pair.tost)
    assert pair.chance_better + pair.chance_equal + pair.chance_worse == pytest.approx(1)
    assert "lexical and dense are equivalent within ±.1 (TOST corrected p" in found.summary()
    assert "Equivalence within ±0.1: TOST, Holm" in found.caption()
    assert found.pairs_table().header == found.pairs_frame("polars").columns or found.pairs_frame("polars").width == 19
    assert cli(["compare", "qrels.txt", *RUNS.values(), "-m", "nDCG@10", "--rope", "0.1", "--format", "json"]) == 0
    assert json.loads(capfd.readouterr().out)["pairs"][0]["tost"] == found.pairs[0].tost


@pytest.mark.parametrize("test", ["t", "wilcoxon", "randomization", "max-t"])
@pytest.mark.parametrize("family", ["measure", "all"])
def test_influence_is_testing_again_without_each_query(test, family):
    values = np.stack([table(topics=9, systems=3), table(topics=9, systems=3, seed=2)])
    tested = pairwise(values, test=test, family=family, resamples=600)
    influence = Influence(tested, [f"q{i}" for i in range(9)])
    for i in range(9):
        again = pairwise(np.delete(values, i, axis=1), test=test, family=family, resamples=600)
        assert influence.adjusted[i] == pytest.approx(again.adjusted, abs=1e-12)
        assert (influence.changes[i] == (again.significant != tested.significant)).all()
    rows = list(influence.rows())
    assert len(rows) == 2 * 9 * 3 and rows[0][:4] == ("AP", "a", "b", "q0")
    assert [row.significant for row in rows] == [row.adjusted < 0.05 for row in rows]
    of_first = [row.adjusted for row in rows[: 9 * 3 : 3]]
    ends = [plain_cell(cell) for cell in influence.table().rows[0][3:6]]
    assert ends == [tested.adjusted[0, 0], min(of_first), max(of_first)]


def test_one_query_decides():
    tested = pairwise(column(*[0.1, 0.12, 0.11, 0.09, 0.1, 0.13], -0.3))
    table_ = Influence(tested, list("tuvwxyz")).table()
    assert table_.rows[0][-2:] == [1, "z"] and plain_cell(table_.rows[0][4]) < 0.05 < plain_cell(table_.rows[0][3])


def test_leaving_one_out_without_spread_or_queries():
    tested = pairwise(column(0.5, 0.5, 0.5, 0.5, 0.1))
    influence = Influence(tested, list("vwxyz"))
    assert influence.adjusted[4, 0, 0] == 2 / 2**4
    drawn = Influence(pairwise(column(0.5, 0.4, 0.2, 0.1, 0.3), test="bootstrap"), list("vwxyz"))
    assert "in turn, by the paired t-test, since the bootstrap needs 5: " in drawn.caption()
    few = Influence(pairwise(column(0.5, 0.4)), ["x", "y"])
    assert few.table().rows == [] and "at least 3 queries" in few.caption() and len(few.to_frame("polars")) == 0


def test_leaving_one_out_does_not_depend_on_the_unit_of_values():
    differ = np.random.default_rng(8).normal(0.5, 1, (6, 3))
    assert leave_one_out(1e-5 * differ) == pytest.approx(leave_one_out(differ), abs=1e-12)


def test_what_is_left_is_the_same_but_for_rounding():
    assert leave_one_out(np.array([0.1, 0.1, 0.1, 0.1, 0.7])[:, None])[4, 0] == 2 / 2**4
    assert leave_one_out(np.array([0.7, 0.7, 0.7, 0.7, 0.1])[:, None])[4, 0] == 2 / 2**4
    assert leave_one_out(np.array([0.0, 0.0, 0.0, 0.7])[:, None])[3, 0] == 1.0


def test_three_queries_are_enough_to_leave_one_out():
    influence = Influence(pairwise(column(0.5, 0.4, 0.2)), list("xyz"))
    assert influence.adjusted.shape == (3, 1, 1) and influence.caption().startswith("p-values without")


@pytest.mark.parametrize(("queries", "shown"), [(5, "a b c d e"), (6, "a b c d e …")])
def test_the_first_queries_that_turn_the_verdict_are_named(queries, shown):
    values = column(*np.linspace(0.5, 0.6, queries))
    alpha = 1.0001 * pairwise(values).p[0, 0]  # so that no query can be spared
    assert Influence(pairwise(values, alpha=alpha), list("abcdef")[:queries]).table().rows[0][-2:] == [queries, shown]


def test_as_many_queries_as_are_tested_one_by_one(monkeypatch):
    monkeypatch.setattr("gradely.comparison.influence.MOST", 5)
    assert Influence(pairwise(table(topics=5, systems=2), test="wilcoxon"), list("abcde")).adjusted.shape == (5, 1, 1)


def test_very_many_queries_are_left_out_one_by_one_only_by_t():
    many = np.random.default_rng(0).normal(0, 1, (2001, 2))
    names = [f"q{i}" for i in range(2001)]
    assert Influence(pairwise(many), names).adjusted.shape == (2001, 1, 1)
    with pytest.raises(gradely.DataError, match="2,001 queries are too many"):
        _ = Influence(pairwise(many, test="wilcoxon"), names).adjusted


def test_too_few_queries_for_simultaneous_intervals_are_noted():
    tested = pairwise(np.random.default_rng(0).normal(0, 1, (2, 4)), simultaneous=True)
    assert np.isnan(tested.intervals[0].low).all()
    assert [note.kind for note in note_tests(tested)] == ["endless"]
    enough = pairwise(np.random.default_rng(0).normal(0, 1, (9, 4)), simultaneous=True)
    assert not np.isnan(enough.intervals[0].low).any() and note_tests(enough) == []


def test_the_matrix_lays_out_the_pairs(demo):
    found = gradely.compare("qrels.txt", RUNS, ["nDCG@10", "AP"], baseline="dense")
    matrix = found.matrix("AP")
    at = {name: i for i, name in enumerate(matrix.names)}
    for pair in (pair for pair in found.pairs if pair.measure == "AP"):
        i, j = at[pair.first], at[pair.second]
        assert matrix.difference[i, j] == -matrix.difference[j, i] == pair.difference
        assert (matrix.low[i, j], matrix.high[i, j]) == (pair.low, pair.high) == (-matrix.high[j, i], -matrix.low[j, i])
        assert matrix.adjusted[i, j] == matrix.adjusted[j, i] == pair.adjusted
        assert matrix.significant[i, j] == matrix.significant[j, i] == pair.significant
    i, j = at["lexical"], at["popular"]
    assert np.isnan(matrix.difference[i, j]) and not matrix.significant[i, j]
    assert matrix.table().rows[at["dense"]][1 + at["popular"]] == "+0.2771*"
    assert len(matrix.to_frame("polars")) == 4
    assert found.matrix().measure == "nDCG@10"
    with pytest.raises(gradely.DataError, match="RR' was not measured"):
        found.matrix("RR")
