"""How far the order of ties moves each measure on real runs, and whether it reorders systems."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from gradely.comparison.kendall import DIGITS, kendall
from gradely.comparison.stacked_runs import stack_runs
from gradely.data import Qrels, Report
from gradely.data.read.sources import ignore
from gradely.data.types import Floats
from gradely.measures.names import parse_all
from gradely.settings import TiePolicy
from gradely_papers.outcome import part, runs_part
from gradely_papers.verdicts import Record

MEASURES = ("P@10", "R@100", "F1@10", "AP", "RR", "nDCG@10", "RBP", "ERR@10", "muAP", "bpref")
POLICIES: tuple[TiePolicy, ...] = ("expected", "trec", "order", "best", "worst")
SEEDS = 10
"""how many times ties are broken at random"""


class Means(NamedTuple):
    """Means over all topics, [systems, measures], by how ties are broken, and for each of some random orders."""

    systems: list[str]
    measures: list[str]
    by_policy: dict[TiePolicy, Floats]
    at_random: Floats
    """[seeds, systems, measures]"""

    def column(self, measure: str) -> int:
        """Return where a measure is."""
        return self.measures.index(measure)


def read(
    qrels: Qrels, runs: Mapping[str, Any] | Sequence[Any], seed: int, seeds: int = SEEDS, progress: Report = ignore
) -> Means:
    """Evaluate all runs under all policies; random orders are drawn with seeds that follow from one."""
    measures = parse_all(MEASURES)
    draws = np.random.default_rng(seed).integers(0, 2**31, seeds).tolist()
    cases: list[tuple[TiePolicy, int]] = [*((policy, 0) for policy in POLICIES), *(("random", draw) for draw in draws)]
    tables: list[Floats] = []
    names: list[str] = []
    for i, (ties, draw) in enumerate(cases):
        tell = runs_part(part(progress, i, len(cases)), len(runs))
        systems = stack_runs(qrels, runs, ties=ties, seed=draw, progress=tell)
        names = systems.names
        tables.append(np.round(systems.values(measures).mean(axis=1), DIGITS))
    policies = dict(zip(POLICIES, tables, strict=False))
    return Means(names, list(measures), policies, np.stack(tables[len(POLICIES) :]))


def moves(means: Means) -> list[Record]:
    """Return for each measure how far breaking ties moves a system, at most and on average."""
    expected, best, worst = (means.by_policy[policy] for policy in ("expected", "best", "worst"))
    by_name = np.abs(means.by_policy["trec"] - expected)
    by_chance = np.abs(means.at_random - expected).max(axis=0)
    return [
        {
            "measure": name,
            "by name, mean": float(by_name[:, i].mean()),
            "by name, most": float(by_name[:, i].max()),
            "at random, most": float(by_chance[:, i].max()),
            "worst to best order, most": float((best - worst)[:, i].max()),
            "system": means.systems[int((best - worst)[:, i].argmax())],
        }
        for i, name in enumerate(means.measures)
    ]


def reorderings(means: Means) -> list[Record]:
    """Return for each measure how alike the systems are ranked with ties broken and with their mean over all orders."""
    return [{"measure": name} | _compare_orders(means, i) for i, name in enumerate(means.measures)]


def _compare_orders(means: Means, i: int) -> Record:
    expected, names, input_order, best, worst = (means.by_policy[policy][:, i] for policy in POLICIES)
    taus = [kendall(expected, values) for values in means.at_random[:, :, i]]
    return {
        "τ by name": kendall(expected, names),
        "τ file order": kendall(expected, input_order),
        "τ at random, mean": float(np.mean(taus)),
        "τ at random, least": float(np.min(taus)),
        "pairs": len(expected) * (len(expected) - 1) // 2,
        "swapped by name": count_swaps(expected, names),
        "swapped in file order": count_swaps(expected, input_order),
        "swapped at random": max(count_swaps(expected, values) for values in means.at_random[:, :, i]),
        "in either order": count_undecided(worst, best),
    }


def count_swaps(first: Floats, second: Floats) -> int:
    """Return how many pairs of systems are in opposite orders.

    >>> count_swaps(np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0]))
    1
    """
    pairs = combinations(range(len(first)), 2)
    return sum(bool((first[i] - first[j]) * (second[i] - second[j]) < 0) for i, j in pairs)


def count_undecided(worst: Floats, best: Floats) -> int:
    """Return how many pairs of systems come in either order, as ties are broken for one and against the other.

    >>> count_undecided(np.array([0.1, 0.2, 0.6]), np.array([0.3, 0.4, 0.6]))
    1
    """
    pairs = combinations(range(len(best)), 2)
    return sum(bool(worst[i] < best[j] and worst[j] < best[i]) for i, j in pairs)
