"""Every claim of a paper can fail: for each there is data, made for it, on which its criterion is not met."""

from functools import cache

import numpy as np
import pytest

from gradely_papers import experiments
from gradely_papers.experiment import Library
from gradely_papers.ferrante2014 import limits, pools
from gradely_papers.ferrante2014.pools import MEASURES, RANGES, RATES, Robustness
from gradely_papers.ferrante2014.study import REFERENCES, Panel, read_printed
from gradely_papers.ferrante2014.tau import Curves, Evidence, grid, printed_curves
from gradely_papers.mcsherry2008 import enumeration, overhead
from gradely_papers.mcsherry2008.overhead import Pair
from gradely_papers.moniz2016 import agreement, days, figure2, google, synthetic
from gradely_papers.progress import ignore
from gradely_papers.scheel2011 import levels, ohsumed, tables
from gradely_papers.scheel2011.ohsumed import FEATURES
from gradely_papers.verdicts import DIFFERS, HOLDS, UNDECIDED, UNTESTED, Interval

EXPERIMENTS = experiments()
PANEL = Panel("mine", "few highly relevant", 20, 20)


def s11_tables(key):
    real = tables.Evidence(
        tables.table_1(),
        tables.table_2(),
        tables.weights(),
        tables.double_grades(),
        tables.shift_grades(),
        tables.two_levels(),
    )
    off = lambda cells: [cells[0]._replace(printed="7"), *cells[1:]]  # a paper that prints another number
    return {
        "table-1": real._replace(first=off(real.first)),
        "table-2": real._replace(second=off(real.second)),
        "weights": real._replace(weights=off(real.weights)),
        "doubling": real._replace(doubled_means=real.doubled_means | {"NDCNG": (0.3942, 0.3)}),
        "shift": real._replace(shifted_values={"muAP": (0.4, 0.5, 0.6)}),
        "binary": real._replace(binary={"levels 1 and 2": real.binary["levels 1 and 2, as they are"]}),
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
        reference = lambda rng, runs, count: levels.draw_uniform(rng, runs, others[count])
    if key == "decreases":
        reference = lambda rng, runs, count: np.ones((runs, levels.ITEMS), np.int64)
    drawing = levels.curves(reference, seed=0, runs=4, swaps=40, step=10)
    varied = [row | {"varies": levels.UNUSED if key == "unused" else levels.SIZES} for row in spread_unevenly()]
    grades = levels.list_in_order(2 if key == "constant" else 10)[::5]
    upside_down = grades if key == "constant" else grades[::-1]
    return levels.Evidence(dict.fromkeys(levels.FIGURES, drawing), varied, levels.swap_every_pair(upside_down))


def s11_ohsumed(key):
    """Features at random, with four levels, evenly spaced."""
    rng, shape = np.random.default_rng(7), (12, 8)
    features = {number: rng.integers(0, 4, shape).astype(float) for number in FEATURES}
    grades = rng.integers(0, 3, shape).astype(float)
    grades[:3] = np.minimum(grades[:3], 1)
    some = ohsumed.Collection([f"q{i}" for i in range(12)], 8, grades, features, np.ones(shape, bool))
    evidence = ohsumed.gather(some, ignore)
    if key == "one":  # a theorem: no ratings make it fail, so that the values are made up
        made_up = {name: [record | {"value": 0.5} for record in rows] for name, rows in evidence.values.items()}
        return evidence._replace(values=made_up)
    return evidence


def f14_limits(key):
    chances = [{"the paper": "1/12", "here": 0.5}]
    long = [{"n": limits.LENGTHS[-1], "value": 0.9, "limit": 1.0}]
    return limits.Evidence(chances, long, corners=0.1)


def f14_tau(key):
    """GAP is the last to come to AP, and more so where good documents are few; τ falls with g_1; nDCG is the same."""
    tau = {"xGAP": 0.95, "eGAP": 0.95, "GAP": 0.5}
    records = [
        {"g": " ".join(map(str, g)), "measure": name, "reference": reference, "the paper": 0.1}
        | {"tau": (tau[name] if reference != "GAP" else 0.95) - g[0] / 10 * (reference == "AP")}
        for g in grid(2)
        for name in tau
        for reference in ("GAP", *REFERENCES)
    ]
    few, every = (Curves(PANEL._replace(topics=topics), records, np.full(100, lead)) for topics, lead in SETS)
    theirs = next(row for row in read_printed("collections") if row["collection"] == "TREC 14, 2005, Robust")
    row = {"the paper's": theirs["collection"], "runs": int(theirs["runs"]), "collection": "mine"}
    return Evidence([row | {"few highly relevant": 5, "few key": None}], [few, every])


SETS = (("few highly relevant", -0.5), ("all", -0.4))


def f14_pools(key):
    """GAP's τ is the lowest but for xGAP and eGAP where these should be ahead; nDCG and bpref lose all."""
    tau = {"GAP": 0.2, "xGAP": 0.1, "eGAP": 0.1, "AP": 0.5, "nDCG": 0.5, "RBP": 0.5, "bpref": 0.4}
    tau |= {"xGAP": 0.3, "eGAP": 0.1} if key == "GAP" else {}
    means = {name: np.tile([tau[x] for x in MEASURES], (50, 1)) for name in RANGES}
    topics = {"all": "all", "GAP": "all"}.get(key, "few highly relevant")
    panel = PANEL._replace(topics=topics, printed=pools.OWN if key == "GAP" else "")
    return [Robustness(panel, 1, np.ones((3, len(RATES), len(MEASURES))), means)]


def m08_enumeration(key):
    records = [
        {"measure": f"{name}@4", "rankings": 1, "orders": 2, "largest difference": 0.1} for name in enumeration.PRINTED
    ]
    return enumeration.Evidence(records, printed_rr=0.5)


def m08_overhead(key):
    slow = {name: Pair(1.3, 1.0) for name in enumeration.PRINTED}
    return overhead.Times({18: slow}, slow, slow)


def m08_ties(key):
    return [
        {"collection": "mine", "measure": name, "system": "run", "by name, most": 0, "worst to best order, most": 0.0}
        for name in ("AP", "RR")
    ]


def m16_days(key):
    """The days the other way round; or on the second day items 2 and 4 in the wrong order, too."""
    first, second = days.DAYS.values()
    return days.table_1({"day 1": second, "day 2": first if key == "more" else (100, 15, 90, 20, 10)})


def m16_curves(key):
    """Scores of which most are the maximum, or the median, or of which one is far beyond the other extreme ones."""
    scores = {
        "ends": [2.0] * 60 + [1.0] * 40,
        "fence": [10.0] * 10 + [2.0] * 80 + [1.0] * 10,
        "extremes": [1000.0, *[150.0] * 9, *np.linspace(40, 1, 90)],
    }[key]
    return dict.fromkeys(synthetic.TEXT, np.tile(scores, (3, 1)))


def m16_synthetic(key):
    """Scores of which ten are equal and far above the others; or all samples the same; or both distributions alike."""
    equal = lambda rng, samples: np.tile([1000.0] * 10 + [*np.linspace(60, 1, 90)], (samples, 1))
    same = lambda rng, samples: np.tile(np.linspace(1000, 1, 100), (samples, 1))
    draw = {"finer": same, "varies": same, "worse": synthetic.draw_balanced}.get(key, equal)
    cases = {source: figure2.study(0, source, 9, dict.fromkeys(figure2.BOTH, draw)) for source in figure2.SOURCES}
    if key == "blind":  # a theorem: no data makes it fail, so that the values are made up
        for samples in cases.values():
            samples["balanced", figure2.SWAP][figure2.PLAIN] = np.linspace(0.4, 0.6, 9)
    return cases


def m16_google(key):
    """As m16_news, with three lists of five items."""
    return google.Evidence(*m16_news(key), [3], 5)


def m16_news(key):
    """nDCG is below nDCGφ, by little, and the less so the higher it is."""
    ndcg = np.linspace(0.1, 0.9, 50)
    phi = ndcg + 0.01 + ndcg**2 / 100
    return agreement.Evidence([agreement.Summary.of("mine", ndcg, phi)], [])


FAILING = {
    "s11-tables": s11_tables,
    "s11-levels": s11_levels,
    "s11-ohsumed": s11_ohsumed,
    "f14-limits": f14_limits,
    "f14-tau": f14_tau,
    "f14-pools": f14_pools,
    "m08-enumeration": m08_enumeration,
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


@pytest.mark.parametrize("key", ["ahead", "rises", "angle", "nDCG", "corners", "rare"])
def test_the_papers_own_tables_meet_the_criteria(key):
    """F14's printed τ, with as many topics and runs as it has; no topics can be drawn again, so only values count."""
    (claim,) = (claim for claim in EXPERIMENTS["f14-tau"].claims if claim.key == key)
    curves = [each._replace(leads=np.full(50, each.leads[0])) for each in printed_curves()]
    words = {verdict.data: verdict.word for verdict in claim.test(Evidence([], curves))}
    exceptions = {"TREC 21, 2012, Web, few highly relevant (10 topics, 20 runs)"} if key == "rare" else set()
    assert len(words) == (4 if key == "rare" else 7)
    assert {data for data, word in words.items() if word != HOLDS} == exceptions


def test_verdicts_on_smaller_pools_say_under_which_reading():
    """The two readings can have opposite verdicts; without their names two rows would contradict each other."""
    evidence = f14_pools("few-GAP-shallow")
    (claim, *_) = EXPERIMENTS["f14-pools"].claims
    data = [verdict.data for verdict in claim.test([*evidence, *(each._replace(least=0) for each in evidence)])]
    assert data == [f"{PANEL}, at least one document per grade", f"{PANEL}, grades may vanish"]


def test_too_little_data_is_said_once():
    evidence = f14_pools("few-GAP-shallow")
    small = [each._replace(panel=each.panel._replace(topic_count=4)) for each in evidence]
    (claim, *_) = EXPERIMENTS["f14-pools"].claims
    (verdict,) = claim.test([*small, *(each._replace(least=0) for each in small)])
    assert verdict.word == UNTESTED and verdict.data == str(small[0].panel) and "fewer than 5 topics" in verdict.here


@pytest.mark.parametrize(
    ("draws", "word"),
    [([0.1, 0.2, 0.3], HOLDS), ([-0.1, -0.2, -0.3], DIFFERS), ([-0.1, 0.2, 0.3], UNDECIDED), ([np.nan], UNDECIDED)],
)
def test_intervals_decide(draws, word):
    assert Interval.of(0.1, np.array(draws)).word == word


def test_days_without_data_holds():
    outcome = EXPERIMENTS["m16-days"].run(Library(), 0, lambda done: None)
    assert [tested.verdict for tested in outcome.claims] == [HOLDS, HOLDS]
    assert days.table_1() == outcome.evidence
