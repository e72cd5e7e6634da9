"""F14 tables 1, 2 and 3: how GAP, xGAP and eGAP agree with other measures over a grid of g."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import groupby, product
from statistics import mean
from typing import Any, NamedTuple

import numpy as np

from gradely import Measure
from gradely.comparison.kendall import DIGITS, EQUIVALENT, NOTICEABLE, defined_or_none
from gradely.data.ids import Floats
from gradely.evaluation.notes import SAME
from gradely.measures.names import parse_all
from gradely_papers.charts import altair, draw_lines, panels
from gradely_papers.experiment import THEOREM, Experiment, Figure, Library, Observation, Outcome, Sheet, claim
from gradely_papers.ferrante2014.limits import FAMILY
from gradely_papers.ferrante2014.study import (
    REFERENCES,
    SETS,
    NoTauError,
    Panel,
    Study,
    by_panel,
    choose_collections,
    draw_topics,
    name_left_out,
    printed_records,
    printed_tau,
    read_printed,
    read_study,
    select_shown,
)
from gradely_papers.judged_collections import DATA, FEWEST, NEEDS, Collection, on_each
from gradely_papers.progress import Report
from gradely_papers.run_orders import signs, tau_of_signs
from gradely_papers.verdicts import Interval, Record, UntestableError, Verdict, decide, listed

MATTERS = "nDCG(discount='jk10')"
"""nDCG as in MATTERS, the toolkit that the paper names: by default, weights 0, 5, 10, …, and discounts from rank 10"""
PARTS = {2: 10, 3: 5, 4: 4}
"""the number of steps of the grid, by the number of levels"""


class Curves(NamedTuple):
    """τ over the grid of g in one panel."""

    panel: Panel
    records: list[Record]
    """a record for each g, measure and reference"""
    leads: dict[str, Floats]
    """by reference, GAP's lead in τ over xGAP and eGAP at the smallest g_1, [1 + draws]"""

    matters: float = float("nan")
    """τ between nDCG and the default nDCG of MATTERS"""

    @property
    def all_tie(self) -> bool:
        """Whether all runs tie and there is no τ to show."""
        return not all(self.with_reference("AP").values())

    def lead(self, reference: str = "AP") -> Interval:
        """Return GAP's lead in τ over the higher of xGAP and eGAP at the smallest g_1 above 0."""
        return lead_over_draws(self.leads[reference])

    def with_reference(self, reference: str) -> dict[str, dict[float, float]]:
        """Return {measure: {g_1: τ}}, the mean of all defined τ with that g_1."""
        out: dict[str, dict[float, list[float]]] = {name: defaultdict(list) for name in FAMILY}
        for record in self.records:
            if record["reference"] == reference and not np.isnan(record["tau"]):
                out[record["measure"]][float(record["g"].split()[0])].append(record["tau"])
        return {name: {g1: mean(values) for g1, values in points.items()} for name, points in out.items()}

    def highest(self, reference: str) -> dict[str, float]:
        """Return the highest mean τ with a reference for each measure."""
        return {name: max(points.values()) for name, points in self.with_reference(reference).items() if points}

    def at_smallest(self, reference: str) -> dict[str, float]:
        """Return τ with a reference at the smallest g_1 above 0 for each measure."""
        smallest = min(g1 for g1 in (float(record["g"].split()[0]) for record in self.records) if g1 > 0)
        lines = self.with_reference(reference)
        if not all(smallest in points for points in lines.values()):
            raise NoTauError
        return {name: points[smallest] for name, points in lines.items()}


def lead_over_draws(values: Floats) -> Interval:
    """Return a lead over all topics with its interval; raise NoTauError if there is none."""
    if np.isnan(values[0]):
        raise NoTauError
    return Interval.over_draws(values)


def grid(levels: int) -> list[tuple[float, ...]]:
    """Return the paper's grid of g, from users who want only the best documents to users who accept all.

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
    return {**parse_all([*REFERENCES, MATTERS]), **own}


def correlate_grid(study: Study, seed: int) -> list[Curves]:
    """Return τ over the runs above the first quartile of AP, for each set of topics."""
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
        ahead = {reference: leads(better, points, reference) for reference in TARGETS}
        alike = float(tau_of_signs(better["nDCG"][0], better[MATTERS][0]))
        out.append(Curves(study.panel(topics), records, ahead, alike))
    return out


def _records(better: dict[Any, Floats], points: list[tuple[float, ...]]) -> list[Record]:
    """Return τ over all topics for each g, measure and reference; one reference is GAP with the same g."""
    return [
        {
            "g": " ".join(map(str, g)),
            "measure": name,
            "reference": reference,
            "tau": float(tau_of_signs(better[name, g][0], better[("GAP", g) if reference == "GAP" else reference][0])),
        }
        for g, name, reference in product(points, FAMILY, ("GAP", *REFERENCES))
    ]


TARGETS = ("AP", "nDCG")
"""the references of the claims on GAP's lead"""


def leads(better: dict[Any, Floats], points: list[tuple[float, ...]], reference: str) -> Floats:
    """Return GAP's lead at the smallest g_1 above 0, for every draw of topics."""
    smallest = sorted({g[0] for g in points})[1]
    row = [g for g in points if g[0] == smallest]
    near = {
        name: np.mean([tau_of_signs(better[name, g], better[reference]) for g in row], axis=0, dtype=np.float64)
        for name in FAMILY
    }
    out: Floats = near["GAP"] - np.maximum(near["xGAP"], near["eGAP"])
    return out


def printed_curves() -> list[Curves]:
    """Return the paper's own tables, which have no topics to resample."""
    key = lambda record: (record["collection"], record["topics"])  # noqa: E731
    by_collection = {row["collection"]: row for row in read_printed("collections")}
    out = []
    for (name, topics), group in groupby(sorted(printed_records(), key=key), key=key):
        count = by_collection[name]["topics" if topics == "all" else topics]
        panel = Panel(name, topics, int(count), int(by_collection[name]["runs above first quartile"]), name)
        curves = Curves(panel, list(group), {})
        near = {reference: curves.at_smallest(reference) for reference in TARGETS}
        ahead = {name: np.array([tau["GAP"] - max(tau["xGAP"], tau["eGAP"])]) for name, tau in near.items()}
        out.append(curves._replace(leads=ahead))
    return out


CLOSE = 0.02
"""the largest mean difference from the paper's τ with its own runs"""


class Evidence(NamedTuple):
    """Table 1, and τ over the grid of g in every panel."""

    table_1: list[Record]
    curves: list[Curves]


def everywhere(evidence: Evidence) -> Iterable[tuple[str, Any]]:
    """Yield the curves of each panel."""
    return by_panel(evidence.curves)


def where_rare(evidence: Evidence) -> Iterable[tuple[str, Any]]:
    """Yield the curves over the topics with few highly relevant or key documents, for each such set."""
    return by_panel([curves for curves in evidence.curves if curves.panel.topics != "all"])


@claim(
    "§6, tables 2 and 3",
    printed="TREC 10, few highly relevant, g_1 = 0.1: GAP 0.80, xGAP 0.48, eGAP 0.45",
    criterion="at the smallest g_1 above 0, τ with AP is higher for GAP than for xGAP and eGAP; 95 % over topics",
    split=everywhere,
)
def is_gap_nearest(curves: Curves) -> Verdict:
    """Even at small g_1, GAP ranks systems nearly as AP does; xGAP and eGAP do not."""
    lead = curves.lead()
    return Verdict(lead.word, f"τ with AP: {listed(curves.at_smallest('AP'))}; GAP ahead by {lead}")


def judge_trend(points: dict[str, dict[float, float]]) -> Verdict:
    """Return whether τ rises with g_1 for every measure."""
    if not all(points.values()):
        raise NoTauError
    trend = {name: goodman_kruskal(line) for name, line in points.items()}
    here = f"γ of g_1 and τ: {listed(trend)}"
    return decide(min(trend.values()) >= NOTICEABLE, here)


@claim(
    "§6, tables 2 and 3",
    printed="in all seven tables",
    criterion=f"for each of the three measures, γ of g_1 and τ with AP is {NOTICEABLE} or more, as in the paper's"
    " tables",
    split=everywhere,
)
def rises(curves: Curves) -> Verdict:
    """τ with AP rises with g_1."""
    return judge_trend(curves.with_reference("AP"))


@claim(
    "§6, tables 2 and 3",
    printed="in five of the paper's seven tables, by our criterion",
    quote="correlation with nDCG … increases as g1 increases",
    criterion=f"for each of the three measures, γ of g_1 and τ with nDCG is {NOTICEABLE} or more",
    split=everywhere,
)
def ndcg_rises(curves: Curves) -> Verdict:
    """τ with nDCG rises with g_1."""
    return judge_trend(curves.with_reference("nDCG"))


@claim(
    "§6, tables 2 and 3",
    printed="in all seven tables",
    criterion=f"for xGAP and eGAP, γ of g_1 above 0 and τ with GAP is {NOTICEABLE} or more",
    split=everywhere,
)
def gap_rises(curves: Curves) -> Verdict:
    """τ of xGAP and eGAP with GAP rises with g_1 above 0; at g_1 = 0 it is 1 if there are two levels."""
    lines = {name: line for name, line in curves.with_reference("GAP").items() if name != "GAP"}
    return judge_trend({name: {g1: tau for g1, tau in line.items() if g1 > 0} for name, line in lines.items()})


def goodman_kruskal(points: dict[float, float]) -> float:
    """Return Goodman and Kruskal's γ of g_1 and τ, in which a τ that stays at 1 does not count as falling.

    >>> goodman_kruskal({0.0: 0.5, 0.1: 0.9, 0.2: 1.0, 0.3: 1.0})
    1.0
    """
    values = np.round([points[g1] for g1 in sorted(points)], DIGITS)
    steps = np.sign(values[None, :] - values[:, None])[np.triu_indices(len(values), 1)]
    return float(steps.sum() / max(1, np.count_nonzero(steps)))


@claim(
    "abstract, tables 2 and 3",
    quote="they actually grasp a different angle from GAP",
    printed="TREC 10, g_1 = 0.1: τ with GAP 0.86 and 0.85; few highly relevant 0.67 and 0.64",
    criterion=f"at the smallest g_1 above 0, both τ with GAP are below {EQUIVALENT}, the paper's threshold of"
    " equivalence",
    split=everywhere,
)
def another_angle(curves: Curves) -> Verdict:
    """xGAP and eGAP grasp a different angle from GAP."""
    near = {name: tau for name, tau in curves.at_smallest("GAP").items() if name != "GAP"}
    return decide(max(near.values()) < EQUIVALENT, f"τ with GAP: {listed(near, 3)}")


@claim(
    "§6, tables 2 and 3",
    printed="TREC 10, few highly relevant, g_1 = 0.1: GAP 0.74, xGAP 0.51, eGAP 0.47",
    criterion="at the smallest g_1 above 0, τ with nDCG is higher for GAP than for xGAP and eGAP; 95 % over topics",
    split=where_rare,
)
def ndcg_low(curves: Curves) -> Verdict:
    """Over topics with few highly relevant or key documents, at low g_1, GAP is nearer to nDCG than xGAP and eGAP."""
    lead = curves.lead("nDCG")
    return Verdict(lead.word, f"τ with nDCG: {listed(curves.at_smallest('nDCG'))}; GAP ahead by {lead}")


@claim(
    "tables 2 and 3",
    printed="1.00",
    criterion=f"τ of xGAP and eGAP with GAP is 1, to within {SAME:g}, at all corners of the grid",
    kind=THEOREM,
    split=everywhere,
)
def same_corners(curves: Curves) -> Verdict:
    """If all users agree, GAP, xGAP and eGAP rank systems in the same order."""
    others = [x for x in curves.records if x["reference"] == "GAP" and x["measure"] != "GAP"]
    corners = [x["tau"] for x in others if "1.0" in x["g"].split() and not np.isnan(x["tau"])]
    if not corners:
        raise NoTauError
    same = sum(abs(tau - 1) < SAME for tau in corners)
    return decide(same == len(corners), f"τ = 1 in {same} of {len(corners)} comparisons")


def with_all_topics(evidence: Evidence) -> Iterator[tuple[str, Any]]:
    """Yield GAP's lead in τ with AP over each set of few topics, and over all topics of the same collection."""
    every = {curves.panel.collection: curves.leads["AP"] for curves in evidence.curves if curves.panel.topics == "all"}
    for name, part in where_rare(evidence):
        yield name, (part.leads["AP"], every[part.panel.collection]) if isinstance(part, Curves) else part


@claim(
    "§6, tables 2 and 3",
    printed="TREC 14, g_1 = 0.1: GAP ahead by 0.11 over all topics, by 0.37 over the few",
    criterion="GAP's lead in τ with AP at the smallest g_1 above 0 is larger over these topics than over all; 95 % over"
    " topics",
    split=with_all_topics,
)
def most_where_rare(leads: tuple[Floats, Floats]) -> Verdict:
    """GAP's lead over xGAP and eGAP is larger over topics with few highly relevant or key documents."""
    few, every = leads
    grows = lead_over_draws(few - every)
    return Verdict(grows.word, f"GAP's lead is larger by {grows}")


class Printed(NamedTuple):
    """The paper's numbers for one of its collections, and ours."""

    theirs: dict[str, str]
    ours: Record | None
    """our row of table 1; None if the judgments are not in the data folder"""
    curves: list[Curves]


def by_printed(evidence: Evidence) -> Iterator[tuple[str, Printed]]:
    """Yield each collection of the paper."""
    rows = {row["the paper's"]: row for row in evidence.table_1}
    for theirs in read_printed("collections"):
        ours = rows.get(theirs["collection"])
        own = [curves for curves in evidence.curves if ours and curves.panel.collection == ours["collection"]]
        yield theirs["collection"], Printed(theirs, ours, own)


@claim("table 1", printed="17; 6; 10 and 7", criterion="the numbers are equal", split=by_printed)
def topic_counts(collection: Printed) -> Verdict:
    """The numbers of topics with few highly relevant or few key documents: R(1) >= 10·R(k), R(k) ≠ 0."""
    if collection.ours is None:
        raise UntestableError("its judgments are not in the data folder")
    pairs = {name: (collection.ours[name], int(n)) for name in SETS if (n := collection.theirs[name])}
    here = ", ".join(f"{topics}: {ours} (printed {printed})" for topics, (ours, printed) in pairs.items())
    return decide(all(ours == printed for ours, printed in pairs.values()), here)


@claim(
    "tables 2 and 3",
    printed="as printed",
    criterion=f"with the paper's judgments and as many runs, they differ by less than {CLOSE} on average",
    split=by_printed,
)
def same_numbers(collection: Printed) -> Verdict:
    """The 1,605 values of τ for the grid of g."""
    runs, printed = collection.ours["runs"] if collection.ours else 0, collection.theirs["runs"]
    if runs != int(printed):
        raise UntestableError(f"its {printed} runs are not public; {runs} runs are here")
    off = [abs(record["tau"] - record["the paper"]) for curves in collection.curves for record in curves.records]
    return decide(mean(off) < CLOSE, f"{mean(off):.3f} away on average, {max(off):.2f} at most")


def chart(curves: list[Curves]) -> Any:
    """Return τ with AP by g_1, with a line for each measure and a panel for each collection and set of topics."""
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


def draw_figures(curves: list[Curves]) -> dict[str, Figure]:
    """Return the figure of the panels that test claims, with a title that names the others."""
    shown = select_shown(curves)
    title = "τ with AP by g_1, the share of users who accept any relevant document."
    return {"tau": Figure(f"{title}{name_left_out(curves)}", chart(shown))} if shown else {}


def as_printed(curves: list[Curves]) -> list[Record]:
    """Return τ with each reference, with a record for each collection, set of topics, g and measure."""
    rows: dict[tuple[Any, ...], Record] = {}
    for curve in curves:
        panel = curve.panel
        for record in curve.records:
            about = {"collection": panel.collection, "runs": panel.run_count, "topics": panel.topics}
            about |= {"of them": panel.topic_count, "g": record["g"], "measure": record["measure"]}
            row = rows.setdefault(tuple(about.values()), about)
            reference = record["reference"]
            row |= {reference: defined_or_none(record["tau"]), f"{reference}, the paper": record["the paper"]}
    return list(rows.values())


def table_1(rows: list[Record]) -> list[Record]:
    """Return table 1: our collections with the paper's numbers, and the paper's collections that we lack."""
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
    """Return GAP's lead, the highest τ with nDCG, and the agreement of two kinds of nDCG."""
    shown = select_shown(curves)
    ahead = [(curve.lead(), curve) for curve in shown if not np.isnan(curve.leads["AP"][0])]
    leads = "; ".join(f"{curve.panel}: {lead}" for lead, curve in sorted(ahead, key=lambda pair: pair[0].value))
    highest = "; ".join(f"{curve.panel}: {listed(curve.highest('nDCG'))}" for curve in shown)
    answers = (
        ("What is GAP's lead over xGAP and eGAP in τ with AP at the smallest g_1 above 0, with 95 % intervals?", leads),
        ("What is the highest τ with nDCG at any g_1?", highest),
        (
            f"What is τ between nDCG as above and {MATTERS}, the default of MATTERS?",
            "; ".join(f"{curve.panel}: {curve.matters:.3f}" for curve in shown if not np.isnan(curve.matters)),
        ),
    )
    return [Observation(question, answer) for question, answer in answers if answer]


def run(library: Library, seed: int, progress: Report) -> Outcome:
    """Correlate the measures on every collection in the library."""
    selection, left_out = choose_collections(library)

    def work(collection: Collection, progress: Report) -> Evidence:
        study = read_study(collection, progress)
        return Evidence([study.record()], correlate_grid(study, seed))

    every = on_each(library, selection, work, progress).values()
    evidence = Evidence([row for each in every for row in each.table_1], [row for each in every for row in each.curves])
    return Outcome(
        describe([each for each in selection if each.name not in library.skipped], left_out),
        evidence,
        {
            "tau": Sheet.of("Tables 2 and 3: τ for the grid of g", as_printed(evidence.curves), 2),
            "collections": Sheet.of("Table 1: the collections", table_1(evidence.table_1), 2),
        },
        {
            **draw_figures(evidence.curves),
            "tau-paper": Figure("τ with AP by g_1, as printed in the paper.", chart(printed_curves())),
        },
        observations(evidence.curves),
    )


def describe(selection: list[Collection], left_out: list[Collection]) -> str:
    """Say what was done, and which collections were left out."""
    names = ", ".join(map(str, selection))
    few = ", ".join(f"{collection.name} ({len(collection.runs)})" for collection in left_out)
    rest = f" Left out because of fewer than {FEWEST} runs or too many levels: {few}." if few else ""
    return DONE.format(names) + rest


DONE = (
    "On {}, we ranked the runs above the first quartile of AP by GAP, xGAP and eGAP for every g of the paper's grid,"
    " and computed Kendall's τ with the rankings by GAP with the same g, AP, nDCG (linear gain), RBP (p = 0.8) and"
    " bpref, with expected ties and relevance from level 1. Intervals are bootstrapped over topics. If a collection has"
    " several folders of runs, we used the one with the longest runs. If the paper has the same judgments, its numbers"
    " are shown with ours, although the runs are the public ones. In table 1, our pool depth is the median, over runs"
    " and topics, of the depth to which a run is judged without a gap."
)
SUMMARY = (
    "GAP ranks systems nearly as AP does as soon as a small share of users accepts any relevant document, so it is"
    " hardly graded. xGAP and eGAP approach AP's ranking only as g_1 grows, especially over topics with few highly"
    " relevant documents. If all users agree, the three measures are equal."
)
EXPERIMENT = Experiment(
    "f14-tau",
    "tables 1, 2 and 3",
    "From which g_1 on GAP, xGAP and eGAP rank systems as AP does",
    SUMMARY,
    run,
    (("table 1", "collections"), ("tables 2 and 3", "tau, tau-paper")),
    claims=(
        topic_counts,
        same_numbers,
        is_gap_nearest,
        most_where_rare,
        rises,
        gap_rises,
        another_angle,
        ndcg_rises,
        ndcg_low,
        same_corners,
    ),
    needs=NEEDS,
    data=DATA,
)
