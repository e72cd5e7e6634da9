"""F14 figures 1 and 2: how systems rank when fewer documents are judged."""

from statistics import mean
from typing import Any

from gradely.comparison.charts import altair, drawn, panels
from gradely.comparison.pools import RATES, draw_pools
from gradely.data import Report
from gradely.measures.names import parse_all
from gradely.papers.judged_collections import DATA, NEEDS, Collection, collections, enough
from gradely.papers.library import Library
from gradely.papers.outcome import Claim, Experiment, Figure, Outcome, Sheet
from gradely.papers.parts import part
from gradely.tables import Table

MEASURES = ("GAP", "xGAP", "eGAP", "AP", "nDCG", "RBP", "bpref")
DRAWS = 10
CLOSE = 0.03
"""a measure whose mean τ is at most so far below AP's stands up to smaller pools as well as AP"""


def shrunk(collection: Collection, seed: int, progress: Report) -> list[dict[str, Any]]:
    """Return τ between full and smaller pools, a record a measure and rate."""
    systems = collection.systems(lambda part: progress(part / 4))
    found = draw_pools(
        systems, parse_all(MEASURES), RATES, DRAWS, seed, progress=lambda _, part: progress(1 / 4 + part * 3 / 4)
    )
    return [{"collection": collection.name, "runs": len(collection.runs)} | record for record in found.records()]


def averages(records: list[dict[str, Any]], name: str) -> dict[str, float]:
    """Return the mean τ of each measure over all rates below 1 in a collection."""
    some = [each for each in records if each["collection"] == name and each["rate"] < 1]
    return {measure: mean(each["tau"] for each in some if each["measure"] == measure) for measure in MEASURES}


def robust(records: list[dict[str, Any]], name: str) -> Claim:
    """Return the claim for a collection: xGAP and eGAP stand up to smaller pools as AP does."""
    average = averages(records, name)
    ours = ", ".join(f"{measure} {tau:.2f}" for measure, tau in average.items())
    holds = all(average[measure] >= average["AP"] - CLOSE for measure in ("xGAP", "eGAP"))
    text = f"xGAP and eGAP are robust to incomplete judgments and shallow pools: {name}."
    return Claim(text, "figures only", f"mean τ over all rates below 100 %: {ours}", holds)


def chart(records: list[dict[str, Any]]) -> Any:
    """Return τ by the share of the pool, a line a measure, a panel a collection."""
    alt = altair()
    lines = drawn(records).encode(
        x=alt.X("rate:Q", title="share of the pool", axis=alt.Axis(format="%"), scale=alt.Scale(reverse=True)),
        y=alt.Y("tau:Q", title="τ with the ranking by the full pool", scale=alt.Scale(zero=False)),
        color=alt.Color("measure:N", title=None, sort=[*MEASURES]),
    )
    return panels(lines.mark_line(point=True).properties(width=330, height=240), by="collection", columns=2)


def run(library: Library, seed: int, progress: Report) -> Outcome:
    """Shrink the pools of every collection in the library."""
    used = [each for each in collections(library) if enough(each)]
    records = []
    for i, each in enumerate(used):
        records += shrunk(each, seed, part(progress, i, len(used)))
    claims = [robust(records, each.name) for each in used]
    best = [max(MEASURES, key=averages(records, each.name).__getitem__) for each in used]
    return Outcome(
        DONE.format(", ".join(f"{each.name} ({len(each.runs)} runs)" for each in used)),
        f"In {sum(claim.holds for claim in claims)} of {len(claims)} collections neither xGAP nor eGAP falls more than"
        f" {CLOSE} below AP, on average over the rates; the most robust measures are {', '.join(dict.fromkeys(best))}.",
        claims,
        {"pools": Sheet("τ between full and smaller pools, and 95 % of the draws", Table.of(records, 3))},
        {"pools": Figure("τ between the rankings of systems by full and by smaller pools.", chart(records))},
    )


DONE = (
    "On {} we kept a random share of the judged documents of each topic and grade, at least one, took the others for"
    f" unjudged, and correlated the ranking of all runs with that from the full pools; {DRAWS} times. The users of GAP,"
    " xGAP and eGAP are spread evenly over the levels."
)
EXPERIMENTS = (
    Experiment(
        "f14-pools",
        "F14",
        "figures 1 and 2",
        "How systems rank when fewer documents are judged",
        "xGAP and eGAP are robust when it comes to incomplete judgments and shallow pools.",
        NEEDS,
        run,
        DATA,
    ),
)
