"""Every claim of a paper can fail: for each there is data, made for it, on which its criterion is not met."""

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
from gradely_papers.moniz2016 import agreement, days, figure2, synthetic
from gradely_papers.scheel2011 import levels, ohsumed, tables
from gradely_papers.scheel2011.means import MEANS
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
    )
    off = lambda cells: [cells[0]._replace(ours=cells[0].ours + 1), *cells[1:]]
    return {
        "table-1": real._replace(first=off(real.first)),
        "table-2": real._replace(second=off(real.second)),
        "weights": real._replace(weights=off(real.weights)),
        "doubling": real._replace(doubled_means=real.doubled_means | {"NDCNG": (0.3942, 0.3)}),
        "shift": real._replace(shifted_values={"muAP": (0.4, 0.5, 0.6)}),
    }[key]


def s11_levels(key):
    """The measure in the key does what it should not: nDCG rises with the levels, the others spread as nDCG does."""
    falling, rising = np.array([[0.9], [0.8], [0.7], [0.6]]), np.array([[0.6], [0.7], [0.8], [0.9]])
    values = dict.fromkeys(MEANS, falling) | ({"mean nDCG": rising} if key.endswith("nDCG") else {})
    return {key[:8]: levels.Curves(values, [0])}


def s11_ohsumed(key):
    """Every system scores the same, less than 1, by every measure; MAP is something else; no level is as printed."""
    names = [*MEANS, "MAP at 1", "MAP at 2"]
    values = {
        figure: [
            {"system": system, "ties": ties, "measure": name, "value": 0.5 if name in MEANS else 0.1}
            for system in FEATURES.values()
            for ties in ohsumed.TIES
            for name in names
        ]
        for figure in ohsumed.USERS
    }
    letor = [{"LETOR 2.0": 0.4, "here": 0.5}]
    return ohsumed.Evidence(values, dict.fromkeys(ohsumed.VIRTUAL, 3), 0.5, 5, letor)


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
    """Day 2 costs less, and nDCG tells the days apart."""
    return [{"nDCG of grades by place": 0.9, "nDCGφ": 0.8}, {"nDCG of grades by place": 0.8, "nDCGφ": 0.9}]


def m16_curves(key):
    """Scores of which most are equal to the maximum, so that the median is it; and as many stand out in both."""
    flat = np.tile([2.0] * 60 + [1.0] * 40, (3, 1))
    return {"balanced": flat, "imbalanced": flat}


def m16_synthetic(key):
    """Both measures vary alike, nDCGφ has the lower values, and imbalanced scores cost less."""
    values = {"balanced": np.linspace(0.4, 0.6, 9), "imbalanced": np.linspace(0.8, 1.0, 9)}
    cases = {
        (name, scenario): {figure2.PLAIN: some + 0.2, figure2.PHI: some}
        for name, some in values.items()
        for scenario in synthetic.SCENARIOS
    }
    return dict.fromkeys(figure2.SOURCES, cases)


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
    "m16-google": m16_news,
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
