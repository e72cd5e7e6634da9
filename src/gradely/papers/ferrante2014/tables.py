"""F14 tables 1, 2 and 3, their claims and their figure."""

from statistics import mean
from typing import Any

from gradely.comparison.charts import altair, drawn, panels
from gradely.data import Report
from gradely.evaluation.evaluation import SAME
from gradely.papers.ferrante2014.curves import by_set, curve, early, printed_records, told
from gradely.papers.ferrante2014.limits import FAMILY
from gradely.papers.ferrante2014.tau import tau_table
from gradely.papers.judged_collections import (
    DATA,
    LEAST,
    NEEDS,
    SETS,
    Collection,
    collections,
    enough,
)
from gradely.papers.library import Library
from gradely.papers.outcome import Claim, Experiment, Figure, Outcome, Sheet
from gradely.papers.parts import part
from gradely.tables import Table

ENOUGH = 5
"""of fewer topics no claim is made"""
EXAMPLE = ("TREC 10, 2001, Web", "few highly relevant")
CLOSE = 0.02
"""how far our τ may be from the paper's, on average, with its own runs"""


def small_g_claims(records: list[dict[str, Any]], theirs: dict[str, str]) -> list[Claim]:
    """Return the claim about small g_1 for each collection and set of topics; theirs: collections of the paper by ours.

    Beside other collections stands an example from the paper.
    """
    printed, claims = by_set(printed_records()), []
    for (name, topics), some in by_set(records).items():
        if some[0]["of them"] >= ENOUGH:
            where = f"{name}, {topics} ({some[0]['of them']} topics, {some[0]['runs']} runs)"
            text = f"GAP's τ with AP is already high at small g_1, xGAP's and eGAP's is not: {where}."
            same = (theirs[name], topics) if name in theirs else EXAMPLE
            ours = curve(some)
            claims.append(Claim(text, f"{': '.join(same)}: {told(curve(printed[same]))}", told(ours), early(ours)))
    return claims


def corner_claim(records: list[dict[str, Any]]) -> Claim:
    """Return the claim about users who all have the same threshold."""
    off = [abs(each["tau"] - 1) for each in records if "1.0" in each["g"].split() and each["reference"] == "GAP"]
    text = "At the corners of the grid, where all users agree, GAP, xGAP and eGAP rank systems the same."
    same = sum(each < SAME for each in off)
    return Claim(text, "τ = 1.00", f"τ = 1 in {same} of {len(off)} comparisons", same == len(off))


def topic_claims(found: list[Collection]) -> list[Claim]:
    """Return how many topics have few highly relevant or key documents, where the judgments are the paper's."""
    claims = []
    for each in found:
        if each.printed is not None:
            theirs = {name: int(each.printed[name]) for name in SETS if each.printed[name]}
            ours = {name: each.record()[name] for name in theirs}
            text = f"Table 1: topics with few highly relevant or key documents in {each.printed['collection']}."
            claims.append(Claim(text, _counts(theirs), _counts(ours), ours == theirs))
    return claims


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{name}: {count}" for name, count in counts.items())


def same_runs_claims(found: list[Collection], records: list[dict[str, Any]]) -> list[Claim]:
    """Return how far our τ are from the paper's, where the runs are as many as the paper's."""
    claims = []
    for each in found:
        if each.printed is not None and len(each.runs) == int(each.printed["runs"]):
            off = [abs(x["tau"] - x["the paper"]) for x in records if x["collection"] == each.name]
            text = f"Tables 2 and 3: τ in {each.printed['collection']}."
            ours = f"{mean(off):.3f} away on average, {max(off):.2f} at most"
            claims.append(Claim(text, "as printed", ours, mean(off) < CLOSE))
    return claims


def chart(records: list[dict[str, Any]]) -> Any:
    """Return τ with AP by g_1, a line a measure, a panel a collection and set of topics."""
    alt = altair()
    points = [
        {"panel": f"{name}: {topics}", "measure": measure, "g_1": g1, "tau": tau}
        for (name, topics), some in by_set(records).items()
        for measure, taus in curve(some).items()
        for g1, tau in taus.items()
    ]
    lines = drawn(points).encode(
        x=alt.X("g_1:Q", title="g_1"),
        y=alt.Y("tau:Q", title="τ with AP"),
        color=alt.Color("measure:N", title=None, sort=[*FAMILY]),
    )
    return panels(lines.mark_line(point=True).properties(width=230, height=150), by="panel", columns=3)


def run(library: Library, seed: int, progress: Report) -> Outcome:  # noqa: ARG001 - nothing is drawn at random
    """Correlate the measures on every collection in the library."""
    found = collections(library)
    used = [each for each in found if enough(each)]
    records = []
    for i, each in enumerate(used):
        records += tau_table(each, part(progress, i, len(used)))
    small = small_g_claims(records, {each.name: each.printed["collection"] for each in used if each.printed})
    return Outcome(
        done(used, [each for each in found if not enough(each)]),
        FOUND.format(sum(claim.holds for claim in small), len(small)),
        [
            *topic_claims(found),
            *small,
            corner_claim(records),
            *same_runs_claims(used, records),
        ],
        {
            "tau": Sheet("Tables 2 and 3: τ for the grid of g", Table.of(as_printed(records), 2)),
            "collections": Sheet("Table 1: the collections", Table.of([each.record() for each in found], 2)),
        },
        {
            "tau": Figure("τ with AP by g_1, the share of users who take any relevant document: here.", chart(records)),
            "tau-paper": Figure("The same, as the paper prints it.", chart(printed_records())),
        },
    )


def as_printed(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return one record a collection, set of topics, g and measure, as in the paper: τ with each reference."""
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for each in records:
        about = {name: each[name] for name in ("collection", "runs", "topics", "of them", "g", "measure")}
        row = rows.setdefault(tuple(about.values()), about)
        row |= {each["reference"]: each["tau"], f"{each['reference']}, the paper": each["the paper"]}
    return list(rows.values())


def done(used: list[Collection], left: list[Collection]) -> str:
    """Return what was done, and what was left out."""
    names = ", ".join(f"{each.name} ({len(each.runs)} runs)" for each in used)
    few = ", ".join(f"{each.name} ({len(each.runs)})" for each in left)
    return DONE.format(names) + (f" Left out, for fewer than {LEAST} runs or too many levels: {few}." if few else "")


DONE = (
    "On {} we ranked the runs above the first quartile of AP by GAP, xGAP and eGAP for every g of the paper's grid, and"
    " correlated these rankings with those by GAP with the same g, AP, nDCG (linear gain), RBP (p = 0.8) and bpref:"
    " Kendall's τ, ties within runs in expectation, relevant from level 1 on. Where the judgments are those of one of"
    " the paper's collections, its numbers stand beside ours, though the runs are the public ones."
)
FOUND = (
    "At the smallest g_1 GAP has come halfway to AP, and the other two have not, in {} of {} sets of topics; this is"
    " what we call held, as it is so in all seven tables of the paper. It depends on how rare highly relevant documents"
    " are."
)
CLAIM = (
    "GAP's ranking of systems is close to AP's as soon as a small share of users takes any relevant document, so it is"
    " hardly graded. xGAP's and eGAP's come close to it only as g_1 grows, most of all over topics with few highly"
    " relevant documents. Where all users agree the three are the same."
)
EXPERIMENTS = (
    Experiment(
        "f14-tau",
        "F14",
        "tables 1, 2 and 3",
        "How soon GAP, xGAP and eGAP rank systems as AP does",
        CLAIM,
        NEEDS,
        run,
        DATA,
    ),
)
