"""Every claim of a paper can fail: for each there is data, made for it, on which its criterion is not met."""

from functools import cache

import numpy as np
import pytest

import gradely
from gradely import GAP, eGAP, from_arrays, xGAP
from gradely_papers import experiments
from gradely_papers.ferrante2014 import limits, pools, tau
from gradely_papers.ferrante2014.tau import Evidence, correlate_grid, printed_curves
from gradely_papers.mcsherry2008 import enumeration, overhead, real_runs
from gradely_papers.mcsherry2008.overhead import Pair
from gradely_papers.moniz2016 import agreement, days, figure2, google, news, synthetic
from gradely_papers.progress import ignore
from gradely_papers.scheel2011 import levels, ohsumed, tables
from gradely_papers.scheel2011.ohsumed import FEATURES
from gradely_papers.verdicts import DIFFERS, HOLDS, UNDECIDED, UNTESTED, Interval
from tests.papers.worlds import make_study, pools_like, read

EXPERIMENTS = experiments()


def s11_tables(key):
    real = tables.gather()
    off = lambda cells: [cells[0]._replace(printed="7"), *cells[1:]]  # a paper that prints another number
    return {
        "judge_table_1": real._replace(first=off(real.first)),
        "judge_table_2": real._replace(second=off(real.second)),
        "judge_weights": real._replace(weights=off(real.weights)),
        "judge_doubling": real._replace(doubled_means=real.doubled_means | {"NDCNG": (0.3942, 0.3)}),
        "judge_shift": real._replace(shifted_values={"muAP": (0.4, 0.5, 0.6)}),
        "judge_binary": real._replace(binary={"levels 1 and 2": real.binary["levels 1 and 2, not shifted"]}),
    }[key]


@cache
def spread_unevenly():
    """What is measured where the number of items of each level varies."""
    return [row for row in levels.vary(0, runs=2, swaps=30, step=10) if row["varies"] == levels.SIZES]


def s11_levels(key):
    """Lists of many levels where there should be few, lists without an irrelevant item, or with items of one level."""
    others = {2: 50, 10: 20, 20: 10, 50: 2}
    reference = levels.number_from_one(levels.number_from_one(levels.draw_uniform))
    if key.endswith("nDCG"):
        reference = lambda rng, count: levels.draw_uniform(rng, others[count])
    if key == "decreases":
        reference = lambda rng, count: np.ones(levels.ITEMS, np.int64)
    drawing = levels.curves(reference, seed=0, runs=4, swaps=40, step=10)
    varied = [row | {"varies": levels.UNUSED if key == "unused" else levels.SIZES} for row in spread_unevenly()]
    grades = levels.list_in_order(2 if key == "constant" else 10)[::5]
    upside_down = grades if key == "constant" else grades[::-1]
    return levels.Evidence(dict.fromkeys(levels.FIGURES, drawing), varied, levels.swap_every_pair(upside_down))


@cache
def draw_features():
    """Features at random, with four levels, evenly spaced."""
    rng, shape = np.random.default_rng(7), (12, 8)
    features = {number: rng.integers(0, 4, shape).astype(float) for number in FEATURES}
    grades = rng.integers(0, 3, shape).astype(float)
    grades[:3] = np.minimum(grades[:3], 1)
    some = ohsumed.Collection([f"q{i}" for i in range(12)], 8, grades, features, np.ones(shape, bool))
    return ohsumed.gather(some, ignore)


def s11_ohsumed(key):
    evidence = draw_features()
    if key == "scores_one":  # a theorem: no ratings make it fail, so that the values are made up
        made_up = {name: [record | {"value": 0.5} for record in rows] for name, rows in evidence.values.items()}
        return evidence._replace(values=made_up)
    return evidence


def f14_limits(key):
    """The program is wrong: it takes one measure for another, or the shares of g in reverse."""
    reverse = {name: lambda g, kind=kind: kind(g=g[::-1]) for name, kind in limits.FAMILY.items()}
    wrong = {
        "FAMILY": reverse if key == "same_corners" else {"GAP": xGAP, "xGAP": GAP, "eGAP": GAP},
        "GAP": eGAP,
        "eGAP": GAP,
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in wrong.items():
            patch.setattr(limits, name, value)
        return limits.Evidence(limits.probabilities(), limits.approach(), limits.corners(0), limits.identities(0))


MIXED = [(10, 1), (4, 4), (3, 6), (12, 1), (8, 2)]
"""documents of grades 1 and 2 of five topics"""
WORLDS = {
    "most_where_rare": lambda: make_study([(10, 1), *[(5, 1)] * 4], [(1, 1)], seed=25, copies=5, systems=9),
    "rises": lambda: make_study(MIXED, [(1, 1)], seed=51, systems=9),
    "gap_rises": lambda: make_study(MIXED, [(1, 1)], systems=9),
    "ndcg_rises": lambda: make_study(MIXED, [(1, 1)], systems=9),
    "ndcg_low": lambda: make_study([(10, 1)], [(1, 1)], seed=11, copies=6, systems=9),
    "same_corners": lambda: make_study(MIXED, [(1, 1)], systems=9),
    "another_angle": lambda: make_study([(10, 2)] * 6, [(8, 8)], noise=0.1, systems=9),
}
"""by claim: collections by chance, and one in which all runs differ in the same way at every grade"""


def f14_tau(key):
    return measure_world("topic_counts" if key == "same_numbers" else key)


@cache
def measure_world(key):
    """Judgments and runs that could exist, measured as any others; for a theorem, a program that is wrong."""
    if key == "topic_counts":
        study = make_study(pools_like("TREC 14, 2005, Robust", lambda size: (1,)), [(1, 1)], systems=74, others=5)
    else:
        study = (WORLDS.get(key) or opposite_topics)()
    with pytest.MonkeyPatch.context() as patch:
        if key == "same_corners":
            patch.setitem(tau.FAMILY, "xGAP", lambda g: xGAP(g=dict(zip(g, reversed(g.values()), strict=True))))
        curves = correlate_grid(study, 0)
    shown = {"ndcg_low": ["few highly relevant"], "most_where_rare": ["all", "few highly relevant"]}.get(key, ["all"])
    return Evidence([study.record()], [each for each in curves if each.panel.topics in shown])


def opposite_topics(systems=12):
    """Return runs that lose a document of grade 1 where most are of grade 1, and win one where most are of grade 2.

    The documents of grade 2 come first everywhere. GAP looks more at the first kind of topics, AP at the second.
    """
    judged, runs = {}, {f"run{s}": {} for s in range(systems)}
    for t in range(40):
        low, high = (20, 1) if t % 2 else (1, 10)
        docs = {grade: [f"{grade}-{i}" for i in range(n)] for grade, n in ((0, 60), (1, low), (2, high))}
        judged[f"t{t}"] = {doc: grade for grade, names in docs.items() for doc in names}
        for s, run in enumerate(runs.values()):
            gap = 5 * (systems - 1 - s) if t % 2 else 5 * s
            run[f"t{t}"] = [*docs[2], *docs[1][:-1], *docs[0][:gap], docs[1][-1], *docs[0][gap:]]
    return read(judged, runs)


WEB = "TREC 21, 2012, Web"
SHRUNK = {
    "few-GAP-incomplete": ([(60, 6)] * 16, (2, 0.5), {"others": 100}),
    "few-GAP-shallow": ([(60, 6)] * 16, (2, 0.5), {"others": 100}),
    "improve": ([(60, 6)] * 16, (2, 0.5), {"others": 100}),
    "are_alike": ([(60, 1)] * 12, (-1.2, 1.8), {"others": 60}),
    "gap_better": (pools_like(WEB, lambda size: (1, 1)), (-1, 2, 4), {}),
    "gap_follows": (pools_like(WEB, lambda size: (1, 1)), (-1, 0, 1), {"others": 300}),
    "gap_unstable": ([(30, 3, 3)] * 8, (3, 3, 0.3), {}),
    "are_most_robust": ([(30, 1)] * 8, (0.2, 6), {}),
}
"""by claim: pools, and by how much runs differ at each grade: more at grade 1, where GAP keeps its ranking best, or at
the highest, where xGAP and eGAP do"""


def f14_pools(key):
    """Judgments and runs that could exist, with pools drawn as any others."""
    pool, signal, options = SHRUNK[key]
    study = make_study(pool, [signal], systems=9, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pools, "BOOTSTRAP", 40)
        shrunk = pools.shrink(study, 0, pools.AUTHORS, ignore, repeat=4)
    few = key.startswith("few") or key == "gap_unstable"
    return pools.Evidence([each for each in shrunk if (each.panel.topics != "all") == few], [])


@cache
def enumerate_wrongly():
    """The program is wrong: it takes ties in the order of the input."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            enumeration,
            "evaluate_closed_form",
            lambda measure, ranking: measure(from_arrays(ranking.scores, ranking.labels, ties="order")).item(),
        )
        return enumeration.Evidence(enumeration.compare_forms(0, 8), 0.0, enumeration.find_reach(0))


def m08_overhead(key):
    """A machine on which taking care of ties takes half as long again for all measures, however RR is measured."""
    slow = dict.fromkeys([*enumeration.PRINTED, overhead.RR_SORTED], Pair(0.0015, 0.0010))
    return overhead.Times({17: slow}, slow, slow)


def m08_ties(key):
    """Runs without a tie."""
    judged = {"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"a": 1, "b": 0}}
    orders = {"one": "abc", "two": "cba", "three": "bac"}
    runs = {name: {query: list(order) for query in judged} for name, order in orders.items()}
    means = real_runs.read(gradely.read_qrels(judged), runs, seed=0, seeds=1)
    return real_runs.label({"mine": real_runs.moves(means)})


def m16_days(key):
    """The days the other way round; or on the second day items 2 and 4 in the wrong order, too."""
    first, second = days.DAYS.values()
    return days.table_1({"day 1": second, "day 2": first if key == "costs_more" else (100, 15, 90, 20, 10)})


def m16_curves(key):
    """Scores of which most are the maximum, or the median, or of which one is far beyond the other extreme ones."""
    scores = {
        "ends": [2.0] * 60 + [1.0] * 40,
        "at_fence": [10.0] * 10 + [2.0] * 80 + [1.0] * 10,
        "distinguished": [1000.0, *[150.0] * 9, *np.linspace(40, 1, 90)],
    }[key]
    return dict.fromkeys(synthetic.TEXT, np.tile(scores, (3, 1)))


def m16_synthetic(key):
    """Scores of which ten are equal and far above the others; or all samples the same; or both distributions alike."""
    equal = lambda rng, samples: np.tile([1000.0] * 10 + [*np.linspace(60, 1, 90)], (samples, 1))
    same = lambda rng, samples: np.tile(np.linspace(1000, 1, 100), (samples, 1))
    draw = {"is_finer": same, "varies": same, "is_worse": synthetic.draw_balanced}.get(key, equal)
    cases = {source: figure2.study(0, source, 9, dict.fromkeys(figure2.BOTH, draw)) for source in figure2.SOURCES}
    if key == "is_blind":  # a theorem: no data makes it fail, so that the values are made up
        for samples in cases.values():
            samples["balanced", figure2.SWAP][figure2.PLAIN] = np.linspace(0.4, 0.6, 9)
    return cases


def m16_google(key):
    """The same lists as for m16_news, of which the authors would have had three, with five items."""
    return google.Evidence(*m16_news(key), [3], 5)


def m16_news(key):
    """Items with counts that fall evenly: most lists have items 10 and 11 in the wrong order, some are upside down.

    For the first kind, nDCG is a little below nDCGφ, and for the second both are 0.
    """
    final = np.arange(100.0, 0, -1)
    swapped = final[[*range(9), 10, 9, *range(11, 100)]]
    counts = np.repeat(np.array([swapped] * 12 + [-final] * 4)[:, :, None], news.SLICES, axis=2)
    counts[:, :, -1] = final
    values = news.measure("mine", news.Lists(counts, 0, 0, 0))
    return agreement.Evidence(agreement.summarise(values), agreement.by_cutoff(values))


FAILING = {
    "s11-tables": s11_tables,
    "s11-levels": s11_levels,
    "s11-ohsumed": s11_ohsumed,
    "f14-limits": f14_limits,
    "f14-tau": f14_tau,
    "f14-pools": f14_pools,
    "m08-enumeration": lambda key: enumerate_wrongly(),
    "m08-overhead": m08_overhead,
    "m08-ties": m08_ties,
    "m16-days": m16_days,
    "m16-curves": m16_curves,
    "m16-synthetic": m16_synthetic,
    "m16-news": m16_news,
    "m16-google": m16_google,
}
CLAIMS = [
    pytest.param(name, claim, id=f"{name} {claim.key}")
    for name, experiment in EXPERIMENTS.items()
    for claim in experiment.claims
]


@pytest.mark.parametrize(("name", "claim"), CLAIMS)
def test_every_claim_can_fail(name, claim):
    verdicts = claim.test(FAILING[name](claim.key))
    assert DIFFERS in {verdict.word for verdict in verdicts}, verdicts
    assert HOLDS not in {verdict.word for verdict in verdicts}, verdicts


def test_claims_have_names_places_and_criteria():
    for experiment in EXPERIMENTS.values():
        keys = [claim.key for claim in experiment.claims]
        assert len(set(keys)) == len(keys)
        assert all(claim.where and claim.says.endswith(".") and claim.printed for claim in experiment.claims)
        assert all(claim.criterion for claim in experiment.claims)


IN_PRINT = ("is_gap_nearest", "rises", "gap_rises", "another_angle", "ndcg_rises", "ndcg_low", "same_corners")


@pytest.mark.parametrize("key", [*IN_PRINT, "most_where_rare"])
def test_the_papers_own_tables_against_the_criteria(key):
    """F14's printed τ, with as many topics and runs as it has; no topics can be drawn again, so only values count."""
    (claim,) = (claim for claim in EXPERIMENTS["f14-tau"].claims if claim.key == key)
    curves = [
        each._replace(leads={name: np.full(50, lead[0]) for name, lead in each.leads.items()})
        for each in printed_curves()
    ]
    words = {verdict.data: verdict.word for verdict in claim.test(Evidence([], curves))}
    web, tenth = "TREC 21, 2012, Web, few highly relevant (10 topics, 20 runs)", "TREC 10, 2001, Web, few"
    exceptions = {"most_where_rare": {web}, "ndcg_rises": {web, f"{tenth} highly relevant (17 topics, 71 runs)"}}
    assert len(words) == (4 if key in ("most_where_rare", "ndcg_low") else 7)
    assert {data for data, word in words.items() if word != HOLDS} == exceptions.get(key, set())


def test_claims_about_smaller_pools_are_tested_as_the_paper_draws_them_alone():
    """What happens where grades may vanish is ours, and has no verdict."""
    evidence = f14_pools("few-GAP-shallow")
    vanishing = [each._replace(reading=pools.VANISH) for each in evidence.panels]
    (claim, *_) = EXPERIMENTS["f14-pools"].claims
    both = pools.Evidence(evidence.panels, vanishing)
    assert claim.test(both) == claim.test(evidence) and len(claim.test(both)) == 1
    assert "if grades may vanish" in pools.observations(both)[-1].question


def test_runs_that_are_all_the_same_rank_no_systems():
    """There is no τ, so that no claim is tested on them, nothing is drawn, and no sentence has a number."""
    study = make_study(MIXED, [(0, 0)], noise=0, systems=9)
    curves = correlate_grid(study, 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pools, "BOOTSTRAP", 2)
        shrunk = pools.shrink(study, 0, pools.AUTHORS, ignore, repeat=1)
    every = {"f14-tau": Evidence([study.record()], curves), "f14-pools": pools.Evidence(shrunk, shrunk)}
    for name, evidence in every.items():
        verdicts = [found for claim in EXPERIMENTS[name].claims for found in claim.test(evidence)]
        assert {found.word for found in verdicts} == {UNTESTED} and not any("nan" in found.here for found in verdicts)
        assert any("all runs tie" in found.here for found in verdicts)
    assert tau.draw_figures(curves) == {} == pools.draw_figures(every["f14-pools"])
    assert tau.observations(curves) == [] == pools.observations(every["f14-pools"])
    assert f"all runs tie: {curves[0].panel}" in tau.name_left_out(curves)
    assert {row["AP"] for row in tau.as_printed(curves)} == {None}


def test_too_little_data_is_said_once_and_not_drawn():
    evidence = f14_pools("few-GAP-shallow")
    small = [each._replace(panel=each.panel._replace(topic_count=4)) for each in evidence.panels]
    (claim, *_) = EXPERIMENTS["f14-pools"].claims
    (verdict,) = claim.test(pools.Evidence([*small, *small], []))
    assert verdict.word == UNTESTED and verdict.data == "1 smaller panel" and "fewer than 5 topics" in verdict.here
    assert pools.draw_figures(pools.Evidence(small, [])) == {}
    drawn = pools.draw_figures(pools.Evidence([*small, *evidence.panels], []))["pools"]
    assert f"Too small to show: {small[0].panel}." in drawn.title
    assert {row["panel"] for row in drawn.chart.to_dict()["data"]["values"]} == {str(evidence.panels[0].panel)}


@pytest.mark.parametrize(
    ("draws", "word"),
    [([0.1, 0.2, 0.3], HOLDS), ([-0.1, -0.2, -0.3], DIFFERS), ([-0.1, 0.2, 0.3], UNDECIDED), ([np.nan], UNDECIDED)],
)
def test_intervals_decide(draws, word):
    assert Interval.of(0.1, np.array(draws)).word == word
