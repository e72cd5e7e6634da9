"""τ with AP by g_1: how soon the ranking of systems by a graded measure becomes that by AP."""

from collections import defaultdict
from itertools import groupby
from statistics import mean
from typing import Any

from gradely.papers.ferrante2014.limits import FAMILY
from gradely.papers.ferrante2014.tau import REFERENCES
from gradely.papers.judged_collections import printed

HALFWAY = 0.47
"""at the smallest g_1 GAP has come farther than this, xGAP and eGAP have not, in all seven tables of the paper"""


def curve(records: list[dict[str, Any]]) -> dict[str, dict[float, float]]:
    """Return {measure: {g_1: τ with AP}}, the mean over all g with that g_1."""
    found: dict[str, dict[float, list[float]]] = {name: defaultdict(list) for name in FAMILY}
    for each in records:
        if each["reference"] == "AP":
            found[each["measure"]][float(each["g"].split()[0])].append(each["tau"])
    return {name: {g1: mean(taus) for g1, taus in points.items()} for name, points in found.items()}


def way(points: dict[float, float]) -> float:
    """Return how far τ with AP has come at the smallest g_1 above 0, from where it is at g_1 = 0 (0) to 1 (1).

    >>> way({0.0: 0.5, 0.1: 0.875, 1.0: 1.0})
    0.75
    """
    none, small = sorted(points)[:2]
    return (points[small] - points[none]) / (1 - points[none]) if points[none] < 1 else 1.0


def early(curves: dict[str, dict[float, float]]) -> bool:
    """True where GAP is halfway to AP at the smallest g_1 above 0, and neither xGAP nor eGAP is."""
    return {name for name, points in curves.items() if way(points) > HALFWAY} == {"GAP"}


def told(curves: dict[str, dict[float, float]]) -> str:
    """Return τ with AP at the smallest g_1 above 0, and how far that is on the way to 1."""
    small = sorted(curves["GAP"])[1]
    each = ", ".join(f"{name} {points[small]:.2f} ({way(points):.0%} of the way)" for name, points in curves.items())
    return f"τ with AP at g_1 = {small}: {each}"


def printed_records() -> list[dict[str, Any]]:
    """Return the paper's τ, one record a pair of measures."""
    return [
        {**{x: row[x] for x in ("collection", "topics", "g", "measure")}, "reference": y, "tau": float(row[y])}
        for row in printed("tau")
        for y in ("GAP", *REFERENCES)
    ]


def by_set(records: list[dict[str, Any]]) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Return the records of each collection and set of topics."""
    groups = groupby(sorted(records, key=_set_of), key=_set_of)
    return {key: list(group) for key, group in groups}


def _set_of(record: dict[str, Any]) -> tuple[str, str]:
    return record["collection"], record["topics"]
