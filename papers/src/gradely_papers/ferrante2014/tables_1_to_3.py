"""F14 tables 1, 2 and 3: the figure of τ, and the experiment."""

from typing import Any

from gradely.comparison.charts import altair, draw_lines, panels
from gradely.data import Report
from gradely.tables import Table
from gradely_papers.ferrante2014.limits import FAMILY
from gradely_papers.ferrante2014.printed_tables import read_printed
from gradely_papers.ferrante2014.study import choose_collections, read_study
from gradely_papers.ferrante2014.tau import Curves, correlate_grid, printed_curves
from gradely_papers.ferrante2014.tau_claims import CLAIMS, Evidence
from gradely_papers.judged_collections import DATA, FEWEST, NEEDS, Collection, collections
from gradely_papers.library import Library
from gradely_papers.outcome import Experiment, Figure, Observation, Outcome, Sheet, part
from gradely_papers.verdicts import Record


def gather(selection: list[Collection], seed: int, progress: Report) -> Evidence:
    """Correlate the measures on every collection."""
    out = Evidence([], [])
    for i, collection in enumerate(selection):
        study = read_study(collection, part(progress, i, len(selection)))
        out.table_1.append(study.record())
        out.curves.extend(correlate_grid(study, seed))
    return out


def chart(curves: list[Curves]) -> Any:
    """Return τ with AP by g_1, one line per measure, one panel per collection and set of topics."""
    alt = altair()
    points = [
        {"panel": str(curve.panel)} | {"measure": measure, "g_1": g1, "tau": tau}
        for curve in curves
        for measure, line in curve.with_reference("AP").items()
        for g1, tau in line.items()
    ]
    x = alt.X("g_1:Q", title="g_1", scale=alt.Scale(domain=[-0.03, 1.03], nice=False))
    y = alt.Y("tau:Q", title="τ with AP", scale=alt.Scale(domainMax=1.03, nice=False, padding=5))
    lines = draw_lines(points, x, y, "measure", [*FAMILY], size=35)
    return panels(lines.properties(width=250, height=160), by="panel", columns=3)


def as_printed(curves: list[Curves]) -> list[Record]:
    """Return one record per collection, set of topics, g and measure, as in the paper: τ with each reference."""
    rows: dict[tuple[Any, ...], Record] = {}
    for curve in curves:
        panel = curve.panel
        for record in curve.records:
            about = {"collection": panel.collection, "runs": panel.run_count, "topics": panel.topics}
            about |= {"of them": panel.topic_count, "g": record["g"], "measure": record["measure"]}
            row = rows.setdefault(tuple(about.values()), about)
            row |= {record["reference"]: record["tau"], f"{record['reference']}, the paper": record["the paper"]}
    return list(rows.values())


def table_1(rows: list[Record]) -> list[Record]:
    """Return table 1 whole: our collections, the paper's numbers beside them, and those of it that are not here."""
    printed_names = {row["the paper's"] for row in rows}
    absent = [
        dict.fromkeys(rows[0])
        | {"the paper's": theirs["collection"]}
        | {f"{name}, the paper": value for name, value in theirs.items() if f"{name}, the paper" in rows[0]}
        for theirs in read_printed("collections")
        if theirs["collection"] not in printed_names
    ]
    return [*rows, *absent]


def observations(curves: list[Curves]) -> list[Observation]:
    """Say what the rarity of highly relevant documents does to the lead of GAP."""
    leads = sorted(curves, key=lambda curve: curve.lead.value)
    lines = "; ".join(f"{curve.panel}: {curve.lead}" for curve in leads if not curve.panel.lacks)
    return [
        Observation("How far is GAP ahead of xGAP and eGAP on the way to AP, at the smallest g_1 (τ, 95 %)?", lines)
    ]


def run(library: Library, seed: int, progress: Report) -> Outcome:
    """Correlate the measures on every collection in the library."""
    selection = choose_collections(library)
    evidence = gather(selection, seed, progress)
    left_out = [
        collection for collection in collections(library) if collection.name not in {other.name for other in selection}
    ]
    return Outcome(
        describe(selection, left_out),
        "How soon GAP ranks systems as AP does depends on how rare highly relevant documents are.",
        evidence,
        {
            "tau": Sheet("Tables 2 and 3: τ for the grid of g", Table.of(as_printed(evidence.curves), 2)),
            "collections": Sheet("Table 1: the collections", Table.of(table_1(evidence.table_1), 2)),
        },
        {
            "tau": Figure(
                "τ with AP by g_1, the share of users who take any relevant document.", chart(evidence.curves)
            ),
            "tau-paper": Figure("The same, as the paper prints it.", chart(printed_curves())),
        },
        observations(evidence.curves),
    )


def describe(selection: list[Collection], left_out: list[Collection]) -> str:
    """Return what was done, and what was left out."""
    names = ", ".join(map(str, selection))
    few = ", ".join(f"{collection.name} ({len(collection.runs)})" for collection in left_out)
    return DONE.format(names) + (f" Left out, for fewer than {FEWEST} runs or too many levels: {few}." if few else "")


DONE = (
    "On {} we ranked the runs above the first quartile of AP by GAP, xGAP and eGAP for every g of the paper's grid, and"
    " correlated these rankings with those by GAP with the same g, AP, nDCG (linear gain), RBP (p = 0.8) and bpref:"
    " Kendall's τ, ties within runs in expectation, relevant from level 1 on. Intervals come from topics drawn again."
    " Of several folders of runs the one with the longest runs is taken, full runs before cut ones. Where the judgments"
    " are those of one of the paper's collections, its numbers stand beside ours, though the runs are the public ones."
    " In table 1, our pool depth is the median, over runs and topics, of how far down a run is judged without a gap."
)
SUMMARY = (
    "GAP's ranking of systems is close to AP's as soon as a small share of users takes any relevant document, so it is"
    " hardly graded. xGAP's and eGAP's come close to it only as g_1 grows, most of all over topics with few highly"
    " relevant documents. Where all users agree the three are the same."
)
EXPERIMENT = Experiment(
    "f14-tau",
    "tables 1, 2 and 3",
    "How soon GAP, xGAP and eGAP rank systems as AP does",
    SUMMARY,
    run,
    claims=CLAIMS,
    needs=NEEDS,
    data=DATA,
)
