"""F14 figures 1 and 2: how systems rank when fewer documents are judged."""

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple

import numpy as np

from gradely import Measure
from gradely.comparison.correlate import RATES, Draws, Selection
from gradely.comparison.kendall import defined_or_none
from gradely.data.ids import Floats
from gradely.measures.names import parse_all
from gradely_papers.charts import PALETTE, altair, categories, draw, panels
from gradely_papers.experiment import Claim, Experiment, Figure, Library, Observation, Outcome, Sheet, claim
from gradely_papers.ferrante2014.limits import FAMILY
from gradely_papers.ferrante2014.study import (
    REFERENCES,
    Panel,
    Study,
    assess_panels,
    choose_collections,
    draw_topics,
    read_study,
    signs,
    tau_of_signs,
)
from gradely_papers.judged_collections import DATA, NEEDS, Collection, on_each
from gradely_papers.progress import Report, part
from gradely_papers.verdicts import UNTESTED, Interval, Record, Verdict

REPEAT, BOOTSTRAP = 15, 200
"""how often pools are drawn, and bootstrap samples of topics"""
READINGS = {1: "at least one document per grade", 0: "grades may vanish"}
"""the least number of documents of each topic and grade that stay judged; the paper does not say which it took"""
TWO, TOP = (0.1, 0.9), 0.6
"""the paper's g for two levels; for three, (0.2, 0.2, 0.6), the highest level has 0.6 and the others share the rest"""
MEASURES = (*FAMILY, *REFERENCES)
INCOMPLETE, SHALLOW = "all rates below 100 %", "10 % and 5 % of the pool"
RANGES: dict[str, list[int]] = {
    INCOMPLETE: [i for i, rate in enumerate(RATES) if rate < 1],
    SHALLOW: [i for i, rate in enumerate(RATES) if rate <= 1 / 10],
}
"""over which rates τ is averaged: the whole curve for incomplete judgments, its end for shallow pools"""


class Robustness(NamedTuple):
    """τ in one panel under one reading."""

    panel: Panel
    least: int
    tau: Floats
    """[draws of pools, rates, measures]"""
    means: dict[str, Floats]
    """by range of rates [1 + draws of topics, measures]: the mean τ over all draws of pools and these rates"""

    @property
    def data(self) -> str:
        """On what it was measured: the panel, and what becomes of grades of which few documents are judged."""
        return f"{self.panel}, {READINGS[self.least]}"

    def records(self) -> list[Record]:
        """Return one record per measure and rate, with the range that 95 % of the draws of pools lie in.

        Where all runs tie in one of the draws there is no τ.
        """
        mean, (low, high) = self.tau.mean(axis=0), np.percentile(self.tau, [2.5, 97.5], axis=0)
        about = {"collection": self.panel.collection, "topics": self.panel.topics, "of them": self.panel.topic_count}
        about |= {"runs": self.panel.run_count, "reading": READINGS[self.least], "panel": str(self.panel)}
        return [
            about
            | {"measure": name, "rate": rate}
            | {key: defined_or_none(x[i, j]) for key, x in (("tau", mean), ("low", low), ("high", high))}
            for j, name in enumerate(MEASURES)
            for i, rate in enumerate(RATES)
        ]

    def mean(self, name: str, rates: str = INCOMPLETE) -> float:
        """Return the mean τ of a measure over all draws of pools and a range of rates."""
        return float(self.means[rates][0, MEASURES.index(name)])

    def lead(self, better: tuple[str, ...], worse: tuple[str, ...], rates: str = INCOMPLETE) -> Interval:
        """Return how far the lowest of some measures is above the highest of others, over topics."""
        low = np.min([self.means[rates][:, MEASURES.index(name)] for name in better], axis=0)
        high = np.max([self.means[rates][:, MEASURES.index(name)] for name in worse], axis=0)
        return Interval.of(float((low - high)[0]), (low - high)[1:])

    def compare_distances(self, to: str, closer: tuple[str, ...], others: tuple[str, ...]) -> Interval:
        """Return how much farther the farthest of others is from a measure than the farthest of some, over topics."""
        means = self.means[INCOMPLETE]
        base = means[:, MEASURES.index(to)]
        near, far = (
            np.max([np.abs(means[:, MEASURES.index(name)] - base) for name in names], axis=0)
            for names in (closer, others)
        )
        return Interval.of(float((far - near)[0]), (far - near)[1:])


def users(levels: Floats) -> dict[float, float]:
    """Return the paper's g for these levels.

    >>> users(np.array([1.0, 2.0, 3.0]))
    {1.0: 0.2, 2.0: 0.2, 3.0: 0.6}
    """
    lower = len(levels) - 1
    shares = TWO if lower == 1 else (*[round((1 - TOP) / lower, 9)] * lower, TOP)
    return dict(zip(levels.tolist(), shares, strict=True))


def measures(levels: Floats) -> dict[str, Measure]:
    """Return the measures of the figures, the graded ones with the paper's g."""
    return {**{name: kind(g=users(levels)) for name, kind in FAMILY.items()}, **parse_all(REFERENCES)}


def shrink(study: Study, seed: int, progress: Report, repeat: int = REPEAT) -> list[Robustness]:
    """Return τ for every set of topics under both readings."""
    every = measures(study.systems.qrels.levels())
    full = study.systems.values(every)[study.good]
    weights = {name: draw_topics(int(topics.sum()), seed, BOOTSTRAP) for name, topics in study.sets.items()}
    full_signs = {name: _signs(full, study, name, weights) for name in study.sets}
    everything = Selection(np.ones(full.shape[1], bool), study.good, [])
    out = []
    for k, least in enumerate(READINGS):
        taus = {name: np.empty((repeat, len(RATES), 1 + BOOTSTRAP, len(MEASURES))) for name in study.sets}
        for i, j, values in Draws(study.systems, everything, seed, least).values(every, RATES, repeat):
            for name in study.sets:
                smaller = _signs(values[study.good], study, name, weights)
                taus[name][i, j] = tau_of_signs(smaller, full_signs[name]).T
            progress((k + (i + (j + 1) / len(RATES)) / repeat) / len(READINGS))
        out += [Robustness(study.panel(name), least, tau[:, :, 0], _means(tau)) for name, tau in taus.items()]
    return out


def _signs(values: Floats, study: Study, topics: str, weights: dict[str, Floats]) -> Floats:
    """Return [measures, draws of topics, pairs of runs]."""
    return signs(np.einsum("rtm,bt->mbr", values[:, study.sets[topics]], weights[topics], optimize=True))


def _means(tau: Floats) -> dict[str, Floats]:
    """Return the means over draws of pools and rates; a τ that does not exist counts 0: nothing is ranked."""
    return {name: np.nan_to_num(tau[:, rates]).mean(axis=(0, 1)) for name, rates in RANGES.items()}


NEW, ROBUST = ("xGAP", "eGAP"), ("nDCG", "bpref")
SHOWN = ("GAP", *NEW)
OWN = "TREC 21, 2012, Web"
OVER = "95 % over topics"


def in_panels(concerns: Callable[[Panel], object]) -> Callable[[Callable[[Robustness], Verdict]], Any]:
    """Return a decorator that applies a test to every panel that a claim concerns, under both readings."""
    return lambda test: wraps(test)(
        lambda evidence: assess_panels([entry for entry in evidence if concerns(entry.panel)], test)
    )


def claim_few_high(old: str, rates: str) -> Claim:
    """Return the claim that xGAP and eGAP are above an older measure where good documents are few."""

    @in_panels(lambda panel: panel.topics != "all")
    def test(entry: Robustness) -> Verdict:
        margin = entry.lead(NEW, (old,), rates)
        return Verdict(margin.word, f"{list_means(entry, rates)}; the lower of xGAP and eGAP less {old}: {margin}")

    kind, what = ("shallow", "pools are shallow") if rates == SHALLOW else ("incomplete", "judgments are incomplete")
    return Claim(
        f"few-{old}-{kind}",
        "abstract, figures 1 and 2",
        f"Over topics with few highly relevant or key documents xGAP and eGAP are more robust than {old} when {what}.",
        "figures only",
        f"both are above {old}, by the mean τ over {rates}; {OVER}",
        test,
    )


@claim(
    "all",
    "figures 1 and 2",
    printed="figures only",
    criterion=f"the mean τ of both is nearer to AP's than that of the farther of nDCG and bpref is; {OVER}",
)
@in_panels(lambda panel: panel.topics == "all" and panel.printed != OWN)
def are_alike(entry: Robustness) -> Verdict:
    """Over all topics xGAP and eGAP behave as AP and GAP do (TREC 21, where GAP is better, apart)."""
    nearer = entry.compare_distances("AP", NEW, ROBUST)
    return Verdict(nearer.word, f"{list_means(entry)}; nearer to AP by {nearer}")


@claim(
    "GAP",
    "figure 2, TREC 21, all topics",
    printed="figure only",
    criterion=f"it is above both, by the mean τ over {INCOMPLETE}; {OVER}",
)
def gap_better(evidence: list[Robustness]) -> list[Verdict]:
    """On TREC 21, over all topics, GAP is more robust than xGAP and eGAP."""

    def test(entry: Robustness) -> Verdict:
        margin = entry.lead(("GAP",), NEW)
        return Verdict(margin.word, f"{list_means(entry)}; GAP less the higher of xGAP and eGAP: {margin}")

    own = [entry for entry in evidence if entry.panel.topics == "all" and entry.panel.printed == OWN]
    absent = Verdict(UNTESTED, f"the judgments of {OWN} are not among the collections")
    return assess_panels(own, test) if own else [absent]


@claim(
    "robust",
    "figures 1 and 2",
    printed="figures only",
    criterion=f"both are above all others, by the mean τ over {INCOMPLETE}; {OVER}",
)
@in_panels(bool)
def are_most_robust(entry: Robustness) -> Verdict:
    """nDCG and bpref are the most robust measures."""
    margin = entry.lead(ROBUST, tuple(name for name in MEASURES if name not in ROBUST))
    return Verdict(margin.word, f"{list_means(entry)}; the lower of the two less the highest of the others: {margin}")


def list_means(entry: Robustness, rates: str = INCOMPLETE) -> str:
    """Return the mean τ of each measure, in words."""
    return "mean τ " + ", ".join(f"{name} {entry.mean(name, rates):.2f}" for name in MEASURES)


def chart(records: list[Record]) -> Any:
    """Return τ by the share of the pool, one line per measure with the band of its draws, one panel per set."""
    alt = altair()
    title = "τ with the ranking by the full pool"
    scale = alt.Scale(zero=False, domainMax=1.03, nice=False)
    lines = draw(records).encode(
        x=alt.X(
            "rate:Q",
            title="share of the pool",
            axis=alt.Axis(format="%"),
            scale=alt.Scale(reverse=True, domain=[0, 1.03], nice=False),
        )
    )
    # one layer for each band, with a colour and no scale, so that the bands have no part in the legend
    bands = [
        lines.transform_filter(f"datum.measure == '{name}'")
        .mark_area(opacity=0.08, color=colour)
        .encode(y=alt.Y("low:Q", scale=scale, title=title), y2="high:Q")
        for name, colour in zip(MEASURES, PALETTE, strict=False)
    ]
    means = lines.mark_line(point=alt.OverlayMarkDef(size=40)).encode(
        y=alt.Y("tau:Q", scale=scale, title=title), **categories("measure", MEASURES)
    )
    return panels(alt.layer(*bands, means).properties(width=290, height=230), by="panel", columns=3, same_scale=False)


def observations(evidence: list[Robustness]) -> list[Observation]:
    """Say what the reading of "at least one" does where good documents are few."""
    lines = []
    for entry in evidence:
        if entry.least and entry.panel.topics != "all" and not entry.panel.too_small:
            other = next(x for x in evidence if x.panel == entry.panel and not x.least)
            pairs = (f"{name} {entry.mean(name, SHALLOW):.2f} and {other.mean(name, SHALLOW):.2f}" for name in SHOWN)
            lines.append(f"{entry.panel}: {', '.join(pairs)}")
    question = "What is τ at 10 % and 5 % of the pool if one document per grade stays judged, and if grades may vanish?"
    return [Observation(question, "; ".join(lines))]


def gather(library: Library, selection: list[Collection], seed: int, progress: Report) -> list[Robustness]:
    """Shrink the pools of every collection."""

    def work(collection: Collection, progress: Report) -> list[Robustness]:
        study = read_study(collection, part(progress, 0, 4))
        return shrink(study, seed, lambda done: progress(1 / 4 + done * 3 / 4))

    return [entry for entries in on_each(library, selection, work, progress).values() for entry in entries]


def run(library: Library, seed: int, progress: Report) -> Outcome:
    """Shrink the pools of every collection in the library."""
    selection = choose_collections(library)
    evidence = gather(library, selection, seed, progress)
    records = [record for entry in evidence for record in entry.records()]
    figures = {
        f"pools-{least}": Figure(
            f"τ from full and smaller pools, {reading}; bands hold 95 % of {REPEAT} draws.",
            chart([record for record in records if record["reading"] == reading]),
        )
        for least, reading in READINGS.items()
    }
    return Outcome(
        DONE.format(", ".join(map(str, selection))),
        evidence,
        {"pools": Sheet.of("τ between full and smaller pools, and 95 % of the draws", records, 3)},
        figures,
        observations(evidence),
    )


DONE = (
    "On {} we kept a random share of the judged documents of each topic and grade, took the others for unjudged, and"
    " correlated the ranking of the runs above the first quartile of AP with that from the full pools;"
    f" {REPEAT} times. g is the paper's: (0.1, 0.9) for two levels, (0.2, 0.2, 0.6) for three. Whether at least one"
    " document of each grade stays judged the paper does not say in what we have: it favours xGAP and eGAP, so both"
    " readings are shown. Intervals are bootstrapped over topics. Of several folders of runs the one with the longest"
    " runs is taken."
)
EXPERIMENT = Experiment(
    "f14-pools",
    "figures 1 and 2",
    "How systems rank when fewer documents are judged",
    "xGAP and eGAP are robust when it comes to incomplete judgments and shallow pools.",
    run,
    claims=(
        *(claim_few_high(old, rates) for old in ("GAP", "AP") for rates in RANGES),
        are_alike,
        gap_better,
        are_most_robust,
    ),
    needs=NEEDS,
    data=DATA,
)
