"""F14 tables 2 and 3: τ over a grid of g, which says how soon GAP, xGAP and eGAP rank systems as other measures do."""

from collections import defaultdict
from itertools import groupby, product
from statistics import mean
from typing import Any, NamedTuple

import numpy as np

from gradely.data.types import Floats
from gradely.measures import Measure
from gradely.measures.names import parse_all
from gradely_papers.ferrante2014.bootstrap import draw_topics, signs, tau_of_signs
from gradely_papers.ferrante2014.limits import FAMILY
from gradely_papers.ferrante2014.printed_tables import REFERENCES, printed_records, printed_tau, read_printed
from gradely_papers.ferrante2014.study import Panel, Study
from gradely_papers.verdicts import Interval, Record

PARTS = {2: 10, 3: 5, 4: 4}
"""into how many parts the users are divided, by the number of levels"""


class Curves(NamedTuple):
    """τ over the grid of g in one panel."""

    panel: Panel
    records: list[Record]
    """one per g, measure and reference"""
    leads: Floats
    """how far GAP is ahead of xGAP and eGAP on the way to AP at the smallest g_1, [1 + draws]: see `lead`"""

    @property
    def data(self) -> str:
        """On what it was measured."""
        return str(self.panel)

    @property
    def lead(self) -> Interval:
        """τ of GAP with AP less that of the nearer of xGAP and eGAP, at the smallest g_1 above 0, over topics."""
        return Interval.of(float(self.leads[0]), self.leads[1:])

    def with_reference(self, reference: str) -> dict[str, dict[float, float]]:
        """Return {measure: {g_1: τ}}, the mean over all g with that g_1."""
        out: dict[str, dict[float, list[float]]] = {name: defaultdict(list) for name in FAMILY}
        for record in self.records:
            if record["reference"] == reference:
                out[record["measure"]][float(record["g"].split()[0])].append(record["tau"])
        return {name: {g1: mean(values) for g1, values in points.items()} for name, points in out.items()}

    def at_smallest(self, reference: str) -> dict[str, float]:
        """Return τ with a reference at the smallest g_1 above 0, by measure."""
        return {name: points[sorted(points)[1]] for name, points in self.with_reference(reference).items()}


def grid(levels: int) -> list[tuple[float, ...]]:
    """Return all g in steps, as in the paper: from users who want only the best to those who take all.

    >>> grid(2)[:2], len(grid(3))
    ([(0.0, 1.0), (0.1, 0.9)], 21)
    """
    parts = PARTS[levels]
    return [tuple(x / parts for x in g) for g in product(range(parts + 1), repeat=levels) if sum(g) == parts]


def measures(levels: Floats) -> dict[Any, Measure]:
    """Return the references by name, and the three measures by name and g."""
    own = {
        (name, g): kind(g=dict(zip(levels.tolist(), g, strict=True)))
        for g in grid(len(levels))
        for name, kind in FAMILY.items()
    }
    return {**parse_all(REFERENCES), **own}


def correlate_grid(study: Study, seed: int) -> list[Curves]:
    """Return τ for each set of topics, over the runs above the first quartile of AP."""
    levels = study.systems.qrels.levels()
    every, points = measures(levels), grid(len(levels))
    values = study.systems.values(every)[study.good]
    theirs = printed_tau(study.printed["collection"] if study.printed else None)
    out = []
    for topics, members in study.sets.items():
        weights = draw_topics(int(members.sum()), seed)
        better = dict(zip(every, signs(np.einsum("rtm,bt->mbr", values[:, members], weights)), strict=True))
        records = [
            record | {"the paper": theirs.get((topics, *(record[x] for x in ("g", "measure", "reference"))))}
            for record in _records(better, points)
        ]
        out.append(Curves(study.panel(topics), records, leads(better, points)))
    return out


def _records(better: dict[Any, Floats], points: list[tuple[float, ...]]) -> list[Record]:
    """Return τ over the topics as they are, one record per g, measure and reference; GAP with the same g is one."""
    return [
        {
            "g": " ".join(map(str, g)),
            "measure": name,
            "reference": reference,
            "tau": float(tau_of_signs(better[name, g][0], better[("GAP", g) if reference == "GAP" else reference][0])),
        }
        for g, name, reference in product(points, FAMILY, ("GAP", *REFERENCES))
    ]


def leads(better: dict[Any, Floats], points: list[tuple[float, ...]]) -> Floats:
    """Return how far GAP is ahead at the smallest g_1 above 0, for every draw of topics."""
    smallest = sorted({g[0] for g in points})[1]
    row = [g for g in points if g[0] == smallest]
    near = {
        name: np.mean([tau_of_signs(better[name, g], better["AP"]) for g in row], axis=0, dtype=np.float64)
        for name in FAMILY
    }
    out: Floats = near["GAP"] - np.maximum(near["xGAP"], near["eGAP"])
    return out


def printed_curves() -> list[Curves]:
    """Return the paper's own tables; topics cannot be drawn again from them."""
    key = lambda record: (record["collection"], record["topics"])  # noqa: E731
    by_collection = {row["collection"]: row for row in read_printed("collections")}
    out = []
    for (name, topics), group in groupby(sorted(printed_records(), key=key), key=key):
        count = by_collection[name]["topics" if topics == "all" else topics]
        panel = Panel(name, topics, int(count), int(by_collection[name]["runs above first quartile"]), name)
        curves = Curves(panel, list(group), np.array([]))
        near = curves.at_smallest("AP")
        out.append(curves._replace(leads=np.array([near["GAP"] - max(near["xGAP"], near["eGAP"])])))
    return out
