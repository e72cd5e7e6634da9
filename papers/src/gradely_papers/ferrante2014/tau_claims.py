"""What F14 claims of its tables 1, 2 and 3."""

from collections.abc import Callable
from statistics import mean
from typing import Any, NamedTuple

import numpy as np

from gradely.comparison.kendall import DIGITS, EQUIVALENT, NOTICEABLE
from gradely_papers.ferrante2014.printed_tables import read_printed
from gradely_papers.ferrante2014.study import SETS, assess_panels
from gradely_papers.ferrante2014.tau import Curves
from gradely_papers.outcome import Claim
from gradely_papers.verdicts import SAME, UNTESTED, Interval, Record, Verdict, decide

CLOSE = 0.02
"""how far our τ may be from the paper's, on average, with its own runs"""


class Evidence(NamedTuple):
    """Table 1, and τ over the grid of g in every panel."""

    table_1: list[Record]
    curves: list[Curves]


def in_panels(test: Callable[[Curves], Verdict]) -> Callable[[Any], list[Verdict]]:
    """Return the test of a claim in every panel."""
    return lambda evidence: assess_panels(evidence.curves, test)


def list_taus(values: dict[str, float], digits: int = 2) -> str:
    """Return τ by measure, in words."""
    return ", ".join(f"{name} {tau:.{digits}f}" for name, tau in values.items())


def is_gap_nearest(curves: Curves) -> Verdict:
    """Return whether GAP is nearer to AP than xGAP and eGAP at the smallest g_1."""
    here = f"τ with AP: {list_taus(curves.at_smallest('AP'))}; GAP ahead by {curves.lead}"
    return Verdict(curves.lead.word, here)


def rises(curves: Curves) -> Verdict:
    """Return whether τ with AP rises with g_1, for all three."""
    trend = {name: goodman_kruskal(points) for name, points in curves.with_reference("AP").items()}
    here = f"of the pairs of g_1 at which τ differs, rising less falling: {list_taus(trend)}"
    return decide(min(trend.values()) >= NOTICEABLE, here)


def goodman_kruskal(points: dict[float, float]) -> float:
    """Return Goodman and Kruskal's γ of g_1 and τ: where τ has reached 1 and stays there, it does not fall.

    >>> goodman_kruskal({0.0: 0.5, 0.1: 0.9, 0.2: 1.0, 0.3: 1.0})
    1.0
    """
    values = np.round([points[g1] for g1 in sorted(points)], DIGITS)
    steps = np.sign(values[None, :] - values[:, None])[np.triu_indices(len(values), 1)]
    return float(steps.sum() / max(1, np.count_nonzero(steps)))


def another_angle(curves: Curves) -> Verdict:
    """Return whether xGAP and eGAP rank systems otherwise than GAP does at the smallest g_1."""
    near = {name: tau for name, tau in curves.at_smallest("GAP").items() if name != "GAP"}
    return decide(max(near.values()) < EQUIVALENT, f"τ with GAP: {list_taus(near, 3)}")


def not_ndcg(curves: Curves) -> Verdict:
    """Return whether no g makes the three rank systems as nDCG does."""
    highest = {
        name: max(x["tau"] for x in curves.records if x["reference"] == "nDCG" and x["measure"] == name)
        for name in ("GAP", "xGAP", "eGAP")
    }
    return decide(max(highest.values()) < EQUIVALENT, f"highest τ with nDCG over all g: {list_taus(highest, 3)}")


def same_corners(curves: Curves) -> Verdict:
    """Return whether the three are one where all users agree."""
    corners = [x["tau"] for x in curves.records if "1.0" in x["g"].split() and x["reference"] == "GAP"]
    same = sum(abs(tau - 1) < SAME for tau in corners)
    return decide(same == len(corners), f"τ = 1 in {same} of {len(corners)} comparisons")


def most_where_rare(evidence: Evidence) -> list[Verdict]:
    """Return whether GAP's lead is larger where highly relevant documents are few than over all topics."""
    every = {curves.panel.collection: curves for curves in evidence.curves if curves.panel.topics == "all"}

    def larger(curves: Curves) -> Verdict:
        more = curves.leads - every[curves.panel.collection].leads
        grows = Interval.of(float(more[0]), more[1:])
        return Verdict(grows.word, f"GAP's lead is larger by {grows}")

    return assess_panels([curves for curves in evidence.curves if curves.panel.topics != "all"], larger)


def topic_counts(evidence: Evidence) -> list[Verdict]:
    """Return whether as many topics have few highly relevant or key documents, where the judgments are the paper's."""
    rows = {row["the paper's"]: row for row in evidence.table_1}
    out = []
    for theirs in read_printed("collections"):
        name = theirs["collection"]
        if name not in rows:
            out.append(Verdict(UNTESTED, "its judgments are not among the public data", name))
            continue
        ours = {topics: rows[name][topics] for topics in SETS if theirs[topics]}
        here = ", ".join(f"{topics}: {ours[topics]} (printed {theirs[topics]})" for topics in ours)
        out.append(decide(all(ours[topics] == int(theirs[topics]) for topics in ours), here, name))
    return out


def same_numbers(evidence: Evidence) -> list[Verdict]:
    """Return how far our τ are from the paper's, where judgments and number of runs are its own."""
    rows = {row["the paper's"]: row for row in evidence.table_1}
    out = []
    for theirs in read_printed("collections"):
        name = theirs["collection"]
        runs = rows[name]["runs"] if name in rows else 0
        if runs != int(theirs["runs"]):
            out.append(Verdict(UNTESTED, f"its {theirs['runs']} runs are not public; {runs} runs are here", name))
            continue
        ours = [curves for curves in evidence.curves if curves.panel.collection == rows[name]["collection"]]
        off = [abs(x["tau"] - x["the paper"]) for curves in ours for x in curves.records]
        out.append(decide(mean(off) < CLOSE, f"{mean(off):.3f} away on average, {max(off):.2f} at most", name))
    return out


CLAIMS = (
    Claim(
        "table-1",
        "table 1",
        "How many topics have few highly relevant, or few key, documents: R(1) >= 10·R(k), R(k) ≠ 0.",
        "17; 6; 10 and 7",
        "the same numbers",
        topic_counts,
    ),
    Claim(
        "numbers",
        "tables 2 and 3",
        "1,605 values of τ for the grid of g.",
        "as printed",
        f"with the paper's judgments and as many runs, off by less than {CLOSE} on average",
        same_numbers,
    ),
    Claim(
        "ahead",
        "tables 2 and 3",
        "GAP ranks systems nearly as AP does already at small g_1; xGAP and eGAP do not.",
        "TREC 10, few highly relevant, g_1 = 0.1: GAP 0.80, xGAP 0.48, eGAP 0.45",
        "at the smallest g_1 above 0, τ of GAP with AP is above those of xGAP and eGAP; 95 % over topics",
        in_panels(is_gap_nearest),
    ),
    Claim(
        "rare",
        "tables 2 and 3",
        "The difference is larger over topics with few highly relevant or key documents.",
        "TREC 14, g_1 = 0.1: GAP ahead by 0.11 over all topics, by 0.37 over the few",
        "GAP's lead at the smallest g_1 is larger there than over all topics; 95 % over topics",
        most_where_rare,
    ),
    Claim(
        "rises",
        "tables 2 and 3",
        "τ with AP rises with g_1.",
        "in all seven tables",
        f"for each of the three, γ of g_1 and τ with AP is {NOTICEABLE} or more, as in the paper's own tables",
        in_panels(rises),
    ),
    Claim(
        "angle",
        "abstract, tables 2 and 3",
        "xGAP and eGAP grasp a different angle from GAP.",
        "TREC 10, g_1 = 0.1: τ with GAP 0.86 and 0.85; few highly relevant 0.67 and 0.64",
        f"at the smallest g_1 above 0, τ of neither with GAP is above {EQUIVALENT}, the paper's mark of equivalence",
        in_panels(another_angle),
    ),
    Claim(
        "nDCG",
        "tables 2 and 3",
        "nDCG ranks systems otherwise than GAP, xGAP and eGAP do, whatever g is.",
        "at most 0.86",
        f"no τ with nDCG is above {EQUIVALENT}, over all g",
        in_panels(not_ndcg),
    ),
    Claim(
        "corners",
        "tables 2 and 3",
        "Where all users agree, GAP, xGAP and eGAP rank systems the same.",
        "1.00",
        f"τ = 1 to within {SAME:g} at all corners of the grid",
        in_panels(same_corners),
    ),
)
