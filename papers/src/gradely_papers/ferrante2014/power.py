"""F14's outlook: the discriminative power of GAP, xGAP, eGAP, AP and nDCG."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gradely import Measure
from gradely.comparison.tests import achieved_levels, p_values
from gradely.data.ids import Floats
from gradely.measures.names import parse_all
from gradely_papers.charts import altair, categories, draw, panels
from gradely_papers.experiment import Experiment, Figure, Library, Observation, Outcome, Sheet
from gradely_papers.ferrante2014.limits import FAMILY
from gradely_papers.ferrante2014.study import SMALL, choose_collections, read_study, users
from gradely_papers.judged_collections import DATA, NEEDS, Collection, has_enough, on_each
from gradely_papers.progress import Report

MEASURES = (*FAMILY, *(f"{name}{SMALL}" for name in FAMILY), "AP", "nDCG")
TESTS = ("t", "tukey")
ALPHA = 0.05
RESAMPLES = 2_000
POINTS = 200
"""how many points of a curve are drawn"""


def measures(levels: Floats) -> dict[str, Measure]:
    """Return the measures by name, with users spread evenly over the levels, and with few who take any document."""
    small = {f"{name}{SMALL}": kind(g=users(levels)) for name, kind in FAMILY.items()}
    every = parse_all((*FAMILY, "AP", "nDCG")) | small
    return {name: every[name] for name in MEASURES}


class Pairs(NamedTuple):
    """The p-values of all pairs of runs by measure and test, and on how many runs and topics they rest."""

    title: str
    p_values: dict[tuple[str, str], Floats]


def compute_p_values(collection: Collection, progress: Report, seed: int) -> Pairs:
    """Test all pairs of the runs above the first quartile of AP."""
    study = read_study(collection, lambda part: progress(part / 2))
    every = measures(study.systems.qrels.levels())
    values, by_test = study.systems.values(every)[study.good], {}
    for i, name in enumerate(MEASURES):
        for test in TESTS:
            by_test[name, test] = p_values(values[:, :, i].T, test, resamples=RESAMPLES, seed=seed)
        progress(1 / 2 + (i + 1) / len(MEASURES) / 2)
    return Pairs(str(study.panel("all")), by_test)


def power(name: str, p_values: dict[tuple[str, str], Any]) -> list[dict[str, Any]]:
    """Return one record per measure: the share of pairs of runs with a p-value below α, by each test."""
    return [
        {"collection": name, "pairs": len(p_values[measure, "t"]), "measure": measure}
        | {test: float(np.mean(p_values[measure, test] < ALPHA)) for test in TESTS}
        for measure in MEASURES
    ]


def levels(name: str, p_values: dict[tuple[str, str], Any]) -> list[dict[str, Any]]:
    """Return the achieved significance levels by the t-test, at evenly spaced pairs."""
    out = []
    for measure in MEASURES:
        curve = achieved_levels(p_values[measure, "t"])
        points = np.unique(np.linspace(0, len(curve) - 1, POINTS).astype(int))
        out += [
            {"collection": name, "measure": measure, "pairs": float((i + 1) / len(curve)), "p": float(curve[i])}
            for i in points
        ]
    return out


def chart(records: list[dict[str, Any]]) -> Any:
    """Return the curves of achieved significance levels, one line per measure, one panel per collection."""
    alt = altair()
    curves = draw(records).encode(
        x=alt.X("pairs:Q", title="pairs of runs, from the largest p-value on", axis=alt.Axis(format="%")),
        y=alt.Y("p:Q", title="p-value", scale=alt.Scale(domain=[-0.002, 0.1], nice=False)),
        **categories("measure", MEASURES, "strokeDash"),
    )
    return panels(curves.mark_line(clip=True).properties(width=330, height=220), by="collection", columns=2)


def run(library: Library, seed: int, progress: Report) -> Outcome:
    """Test all pairs of runs of every collection in the library."""
    used = [collection for collection in choose_collections(library) if has_enough(collection)]
    tested = on_each(library, used, partial(compute_p_values, seed=seed), progress)
    table = [row for name, pairs in tested.items() for row in power(name, pairs.p_values)]
    curves = [row for pairs in tested.values() for row in levels(pairs.title, pairs.p_values)]
    figure = Figure("Achieved significance levels by the t-test: the further left, the better.", chart(curves))
    sheet = Sheet.of("Discriminative power", table, 3)
    return Outcome(DONE, table, {"power": sheet}, {"levels": figure}, observations(table))


def observations(table: list[dict[str, Any]]) -> list[Observation]:
    """Return the measures of each collection by power."""
    out = []
    for name in dict.fromkeys(row["collection"] for row in table):
        ranked = sorted((row for row in table if row["collection"] == name), key=lambda row: -row["t"])
        shares = ", ".join(f"{row['measure']} {row['t']:.1%}" for row in ranked)
        out.append(Observation(f"{name}: how many pairs of runs does each measure tell apart (t-test)?", shares))
    return out


DONE = (
    f"All pairs of runs were tested for each measure: paired t-test, and randomised Tukey HSD ({RESAMPLES:,} draws),"
    f" which holds for all pairs at once. The power is the share of pairs with a p-value below {ALPHA}. The users of"
    " GAP, xGAP and eGAP are spread evenly over the levels, or, where g_1 is small, as in figures 1 and 2. Runs below"
    " the first quartile of AP are left out, as in the paper's other experiments."
)
EXPERIMENT = Experiment(
    "f14-power",
    "outlook",
    "How many pairs of runs GAP, xGAP, eGAP, AP and nDCG tell apart",
    "The paper leaves discriminative power to future work, so there is nothing to hold or to differ.",
    run,
    (("outlook", "levels, power"),),
    needs=NEEDS,
    data=DATA,
)
