"""F14 figures 1 and 2: how rankings of systems change when fewer documents are judged."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from gradely import Measure
from gradely.comparison.correlate import RATES, Draws, Selection
from gradely.comparison.kendall import defined_or_none
from gradely.data.ids import Floats
from gradely.measures.names import parse_all
from gradely_papers.charts import altair, draw_lines, panels
from gradely_papers.experiment import Claim, Experiment, Figure, Library, Observation, Outcome, Sheet, claim
from gradely_papers.ferrante2014.limits import FAMILY
from gradely_papers.ferrante2014.study import (
    REFERENCES,
    NoTauError,
    Panel,
    Study,
    by_panel,
    choose_collections,
    draw_topics,
    name_left_out,
    read_study,
    select_shown,
    users,
)
from gradely_papers.judged_collections import DATA, NEEDS, Collection, on_each
from gradely_papers.progress import Report, part
from gradely_papers.run_orders import signs, tau_of_signs
from gradely_papers.verdicts import Interval, Record, UntestableError, Verdict, decide, listed

REPEAT, BOOTSTRAP = 15, 200
"""the numbers of draws of pools and of bootstrap samples of topics"""


class Reading(NamedTuple):
    """The fewest documents of a topic that stay judged, for each relevant degree and for those not relevant."""

    title: str
    least: int
    least_nonrelevant: int


AUTHORS = Reading("at least 1 document per relevant degree and 10 that are not relevant stay judged", 1, 10)
"""reference [1] of §6, Buckley and Voorhees (2004), degree by degree as in MATTERS, the toolkit of footnote 1"""
VANISH = Reading("grades may vanish", 0, 0)
"""our variant without a minimum"""
MEASURES = (*FAMILY, *REFERENCES)
INCOMPLETE, SHALLOW = "all rates below 100 %", "10 % and 5 % of the pool"
RANGES: dict[str, list[int]] = {
    INCOMPLETE: [i for i, rate in enumerate(RATES) if rate < 1],
    SHALLOW: [i for i, rate in enumerate(RATES) if rate <= 1 / 10],
}
"""the rates over which τ is averaged: the whole curve for incomplete judgments, its end for shallow pools"""


class Robustness(NamedTuple):
    """τ in one panel under one reading."""

    panel: Panel
    reading: Reading
    tau: Floats
    """[draws of pools, rates, measures]"""
    means: dict[str, Floats]
    """the mean τ over all draws of pools, by range of rates [1 + draws of topics, measures]"""

    @property
    def all_tie(self) -> bool:
        """Whether all runs tie by a measure in the full pool, and there is no τ with its ranking."""
        return bool(np.isnan(self.tau[:, RATES.index(1)]).any())

    def records(self) -> list[Record]:
        """Return a record for each measure and rate, with the range of 95 % of the draws of pools.

        If all runs tie in one of the draws, there is no τ.
        """
        mean, (low, high) = self.tau.mean(axis=0), np.percentile(self.tau, [2.5, 97.5], axis=0)
        about = {"collection": self.panel.collection, "topics": self.panel.topics, "of them": self.panel.topic_count}
        about |= {"runs": self.panel.run_count, "reading": self.reading.title, "panel": str(self.panel)}
        return [
            about
            | {"measure": name, "rate": rate}
            | {key: defined_or_none(x[i, j]) for key, x in (("tau", mean), ("low", low), ("high", high))}
            for j, name in enumerate(MEASURES)
            for i, rate in enumerate(RATES)
        ]

    def over_topics(self, names: Sequence[str], rates: str = INCOMPLETE) -> Floats:
        """Return the mean τ of some measures over all draws of pools and a range of rates [measures, 1 + draws]."""
        return self.means[rates].T[[MEASURES.index(name) for name in names]]

    def mean(self, name: str, rates: str = INCOMPLETE) -> float:
        """Return the mean τ of a measure over all topics, all draws of pools and a range of rates."""
        return float(self.over_topics([name], rates)[0, 0])

    def lead(self, better: Sequence[str], worse: Sequence[str], rates: str = INCOMPLETE) -> Interval:
        """Return the lowest of some measures minus the highest of others, over topics."""
        lowest, highest = self.over_topics(better, rates).min(axis=0), self.over_topics(worse, rates).max(axis=0)
        return Interval.over_draws(lowest - highest)

    def compare_distances(self, to: str, closer: Sequence[str], others: Sequence[str]) -> Interval:
        """Return the largest distance of others from a measure minus that of closer ones, over topics."""
        base = self.over_topics([to])
        near, far = (np.abs(self.over_topics(names) - base).max(axis=0) for names in (closer, others))
        return Interval.over_draws(far - near)

    def width(self, name: str) -> float:
        """Return the width of the range of 95 % of the draws of pools, averaged over shallow pools."""
        low, high = np.percentile(
            np.nan_to_num(self.tau[:, RANGES[SHALLOW], MEASURES.index(name)]), [2.5, 97.5], axis=0
        )
        return float(np.mean(high - low))


def measures(levels: Floats) -> dict[str, Measure]:
    """Return the measures of the figures, with the paper's g."""
    return {**{name: kind(g=users(levels)) for name, kind in FAMILY.items()}, **parse_all(REFERENCES)}


def shrink(study: Study, seed: int, reading: Reading, progress: Report, repeat: int = REPEAT) -> list[Robustness]:
    """Return τ for every set of topics."""
    every = measures(study.systems.qrels.levels())
    full = study.systems.values(every)[study.good]
    weights = {name: draw_topics(int(topics.sum()), seed, BOOTSTRAP) for name, topics in study.sets.items()}
    full_signs = {name: _signs(full, study, name, weights) for name in study.sets}
    everything = Selection(np.ones(full.shape[1], bool), study.good, [])
    draws = Draws(study.systems, everything, seed, reading.least, reading.least_nonrelevant)
    taus = {name: np.empty((repeat, len(RATES), 1 + BOOTSTRAP, len(MEASURES))) for name in study.sets}
    for i, j, values in draws.values(every, RATES, repeat):
        for name in study.sets:
            smaller = _signs(values[study.good], study, name, weights)
            taus[name][i, j] = tau_of_signs(smaller, full_signs[name]).T
        progress((i + (j + 1) / len(RATES)) / repeat)
    return [Robustness(study.panel(name), reading, tau[:, :, 0], _means(tau)) for name, tau in taus.items()]


def _signs(values: Floats, study: Study, topics: str, weights: dict[str, Floats]) -> Floats:
    """Return [measures, draws of topics, pairs of runs]."""
    return signs(np.einsum("rtm,bt->mbr", values[:, study.sets[topics]], weights[topics], optimize=True))


def _means(tau: Floats) -> dict[str, Floats]:
    """Return the means over draws of pools and rates; an undefined τ counts 0, since nothing is ranked."""
    return {name: np.nan_to_num(tau[:, rates]).mean(axis=(0, 1)) for name, rates in RANGES.items()}


NEW, ROBUST = ("xGAP", "eGAP"), ("nDCG", "bpref")
SHOWN = ("GAP", *NEW)
OWN = "TREC 21, 2012, Web"
OVER = "95 % over topics"


class Evidence(NamedTuple):
    """τ in every panel, with smaller pools as in the paper, and if grades may vanish."""

    panels: list[Robustness]
    vanishing: list[Robustness]


def panels_where(concerns: Callable[[Panel], object] = bool) -> Callable[[Evidence], Iterator[tuple[str, Any]]]:
    """Return a function that yields the values in every panel, or in those that a claim concerns."""

    def split(evidence: Evidence) -> Iterator[tuple[str, Any]]:
        measured = [entry for entry in evidence.panels if concerns(entry.panel)]
        for name, entry in by_panel(measured):
            yield name, NoTauError() if isinstance(entry, Robustness) and entry.all_tie else entry
        if not measured:
            yield "", UntestableError(f"the judgments of {OWN}, or such topics, are not among the collections")

    return split


def is_few(panel: Panel) -> bool:
    """Return whether the topics have few highly relevant or key documents."""
    return panel.topics != "all"


def is_web_2012(panel: Panel) -> bool:
    """Return whether it shows all topics of TREC 21, which the paper discusses separately."""
    return panel.topics == "all" and panel.printed == OWN


def is_usual(panel: Panel) -> bool:
    """Return whether it is all topics of another collection."""
    return panel.topics == "all" and panel.printed != OWN


def claim_few_high(rates: str) -> Claim:
    """Return the claim that xGAP and eGAP are above GAP if good documents are few."""

    def test(entry: Robustness) -> Verdict:
        margin = entry.lead(NEW, ("GAP",), rates)
        return Verdict(margin.word, f"{list_means(entry, rates)}; the lower of xGAP and eGAP minus GAP: {margin}")

    kind, what = ("shallow", "pools are shallow") if rates == SHALLOW else ("incomplete", "judgments are incomplete")
    return Claim(
        f"few-GAP-{kind}",
        "abstract, figures 1 and 2",
        f"Over topics with few highly relevant or key documents, xGAP and eGAP are more robust than GAP if {what}.",
        "figures",
        f"both have a higher mean τ over {rates} than GAP; {OVER}",
        test,
        "robust when it comes to incomplete judgments and shallow pools",
        split=panels_where(is_few),
    )


@claim(
    "§6, figures 1 and 2",
    printed="figures",
    quote="behave similarly to GAP for TREC 10 and 14",
    criterion=f"over {INCOMPLETE}, the mean τ of both is nearer to GAP's than that of nDCG or of bpref, whichever is"
    f" farther; {OVER}",
    split=panels_where(is_usual),
)
def are_alike(entry: Robustness) -> Verdict:
    """Over all topics, xGAP and eGAP behave as GAP does, except on TREC 21."""
    nearer = entry.compare_distances("GAP", NEW, ROBUST)
    return Verdict(nearer.word, f"{list_means(entry)}; nearer to GAP by {nearer}")


@claim(
    "§6, figures 1 and 2",
    printed="figures",
    quote="improve for quite shallow pools (10% and 5%)",
    criterion=f"both have a higher mean τ over {SHALLOW} than GAP; {OVER}",
    split=panels_where(is_usual),
)
def improve(entry: Robustness) -> Verdict:
    """Over all topics, xGAP and eGAP are better than GAP in quite shallow pools, except on TREC 21."""
    margin = entry.lead(NEW, ("GAP",), SHALLOW)
    here = f"{list_means(entry, SHALLOW)}; the lower of xGAP and eGAP minus GAP: {margin}"
    return Verdict(margin.word, here)


@claim(
    "§6, figure 2",
    printed="figure",
    criterion=f"it has a higher mean τ over {INCOMPLETE} than both; {OVER}",
    split=panels_where(is_web_2012),
)
def gap_better(entry: Robustness) -> Verdict:
    """On TREC 21, over all topics, GAP is more robust than xGAP and eGAP."""
    margin = entry.lead(("GAP",), NEW)
    return Verdict(margin.word, f"{list_means(entry)}; GAP minus the higher of xGAP and eGAP: {margin}")


@claim(
    "§6, figure 2",
    printed="figure",
    quote="almost follows the behaviour of AP",
    criterion="the mean distance of GAP's curve from AP's, over all rates, is smaller than those of xGAP and eGAP",
    split=panels_where(is_web_2012),
)
def gap_follows(entry: Robustness) -> Verdict:
    """On TREC 21, over all topics, GAP almost follows AP."""
    curves = np.nan_to_num(entry.tau).mean(axis=0)
    apart = {name: np.abs(curves[:, MEASURES.index(name)] - curves[:, MEASURES.index("AP")]) for name in ("GAP", *NEW)}
    mean = {name: float(distance.mean()) for name, distance in apart.items()}
    return decide(
        mean["GAP"] < min(mean[name] for name in NEW),
        f"mean distance from AP: {listed(mean, 3)}; GAP is at most {apart['GAP'].max():.2f} away",
    )


@claim(
    "§6, figure 2",
    printed="figure",
    quote="unstable",
    criterion=f"the range of 95 % of the draws of pools, averaged over {SHALLOW}, is wider for GAP than for xGAP"
    " and for eGAP",
    split=panels_where(lambda panel: panel.topics == "few key"),
)
def gap_unstable(entry: Robustness) -> Verdict:
    """Over topics with few key documents, GAP is unstable in quite shallow pools."""
    widths = {name: entry.width(name) for name in SHOWN}
    return decide(widths["GAP"] > max(widths[name] for name in NEW), f"width of the range: {listed(widths)}")


@claim(
    "§6, figures 1 and 2",
    printed="figures",
    criterion=f"both have a higher mean τ over {INCOMPLETE} than all others; {OVER}",
    split=panels_where(),
)
def are_most_robust(entry: Robustness) -> Verdict:
    """nDCG and bpref are the most robust measures."""
    margin = entry.lead(ROBUST, tuple(name for name in MEASURES if name not in ROBUST))
    return Verdict(margin.word, f"{list_means(entry)}; the lower of the two minus the highest of the others: {margin}")


def list_means(entry: Robustness, rates: str = INCOMPLETE) -> str:
    """Return the mean τ of each measure, as text."""
    return f"mean τ {listed({name: entry.mean(name, rates) for name in MEASURES})}"


def chart(records: list[Record]) -> Any:
    """Return τ by the share of the pool, with a line for each measure and a panel for each set of topics."""
    alt = altair()
    x = alt.X(
        "rate:Q",
        title="share of the pool",
        axis=alt.Axis(format="%"),
        scale=alt.Scale(reverse=True, domain=[0, 1.03], nice=False),
    )
    scale = alt.Scale(zero=False, domainMax=1.03, nice=False, padding=8)
    y = alt.Y("tau:Q", scale=scale, title="τ with the ranking by the full pool")
    lines = draw_lines(records, x, y, "measure", MEASURES, size=35).properties(width=290, height=230)
    return panels(lines, by="panel", columns=3)


def draw_figures(evidence: Evidence) -> dict[str, Figure]:
    """Return figures of the panels that test claims, with titles that name the others."""
    titles = {"pools": "τ of full and smaller pools", "vanishing": "Our variant: τ if grades may vanish"}
    out: dict[str, Figure] = {}
    for (name, title), entries in zip(titles.items(), evidence, strict=True):
        shown = [record for entry in select_shown(entries) for record in entry.records()]
        rest = name_left_out(entries)
        out |= {name: Figure(f"{title}, the mean of {REPEAT} draws.{rest}", chart(shown))} if shown else {}
    return out


def observations(evidence: Evidence) -> list[Observation]:
    """Compare xGAP and eGAP with AP, and the paper's pools with pools in which grades may vanish."""
    few = [entry for entry in select_shown(evidence.panels) if is_few(entry.panel)]
    against_ap, vanishing = [], []
    for entry in few:
        margins = (f"{rates} {entry.lead(NEW, ('AP',), rates)}" for rates in RANGES)
        against_ap.append(f"{entry.panel}: {', '.join(margins)}")
    for entry, other in ((entry, other) for entry in few for other in evidence.vanishing if other.panel == entry.panel):
        pairs = (f"{name} {entry.mean(name, SHALLOW):.2f} and {other.mean(name, SHALLOW):.2f}" for name in SHOWN)
        vanishing.append(f"{entry.panel}: {', '.join(pairs)}")
    answers = (
        ("How far is the lower of xGAP and eGAP above AP if highly relevant or key documents are few?", against_ap),
        ("What is τ at 10 % and 5 % of the pool, as in the paper and if grades may vanish?", vanishing),
    )
    return [Observation(question, "; ".join(lines)) for question, lines in answers if lines]


def run(library: Library, seed: int, progress: Report) -> Outcome:
    """Shrink the pools of every collection, also with grades that may vanish if topics with few are tested."""
    selection, _ = choose_collections(library)

    def work(collection: Collection, progress: Report) -> Evidence:
        study = read_study(collection, part(progress, 0, 4))
        shrunk = shrink(study, seed, AUTHORS, part(progress, 1, 4))
        few = [name for name in study.sets if is_few(study.panel(name)) and not study.panel(name).too_small]
        rare = study._replace(sets={name: study.sets[name] for name in few})
        return Evidence(shrunk, shrink(rare, seed, VANISH, part(progress, 1, 2)) if few else [])

    every = on_each(library, selection, work, progress).values()
    evidence = Evidence(
        [row for each in every for row in each.panels], [row for each in every for row in each.vanishing]
    )
    records = [record for entry in (*evidence.panels, *evidence.vanishing) for record in entry.records()]
    return Outcome(
        DONE.format(", ".join(str(each) for each in selection if each.name not in library.skipped)),
        evidence,
        {"pools": Sheet.of("τ of full and smaller pools, and the range of 95 % of the draws", records, 3)},
        draw_figures(evidence),
        observations(evidence),
    )


DONE = (
    f"On {{}}, we kept {REPEAT} times a random share of the judged documents of each topic and degree, rounded, and"
    " treated the others as unjudged. τ is that of the rankings of the runs above the first quartile of AP from smaller"
    " and full pools. At least 1 document of each relevant degree and 10 that are not relevant stay judged, as in"
    " Buckley and Voorhees (2004), to whom §6 refers, and, degree by degree, in MATTERS, the toolkit that footnote 1"
    " names. g is the paper's: (0.1, 0.9) for two levels, (0.2, 0.2, 0.6) for three. If all runs tie in a smaller pool,"
    " there is no τ, and the means count 0, since nothing is ranked. Intervals are bootstrapped over topics. If a"
    " collection has several folders of runs, we used the one with the longest runs."
)
EXPERIMENT = Experiment(
    "f14-pools",
    "figures 1 and 2",
    "How rankings of systems change when fewer documents are judged",
    "xGAP and eGAP are robust to incomplete judgments and shallow pools.",
    run,
    (("figures 1 and 2", "pools, vanishing"),),
    claims=(
        *map(claim_few_high, RANGES),
        are_alike,
        improve,
        gap_better,
        gap_follows,
        gap_unstable,
        are_most_robust,
    ),
    needs=NEEDS,
    data=DATA,
)
