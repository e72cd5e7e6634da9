"""τ between the rankings of systems from full and from smaller pools, as F14 draws them in figures 1 and 2."""

from typing import NamedTuple

import numpy as np

from gradely.comparison.kendall import defined_or_none
from gradely.comparison.pools import RATES, Draws
from gradely.comparison.selection import Selection
from gradely.data import Report
from gradely.data.types import Floats
from gradely.measures import Measure
from gradely.measures.names import parse_all
from gradely_papers.ferrante2014.bootstrap import draw_topics, signs, tau_of_signs
from gradely_papers.ferrante2014.limits import FAMILY
from gradely_papers.ferrante2014.printed_tables import REFERENCES
from gradely_papers.ferrante2014.study import Panel, Study
from gradely_papers.verdicts import Interval, Record

REPEAT, BOOTSTRAP = 15, 200
"""how often pools are drawn, and topics drawn again"""
READINGS = {1: "at least one document per grade", 0: "grades may vanish"}
"""of each topic and grade so many documents stay judged at least; the paper does not say which it did"""
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
