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
from gradely_papers.progress import Report, part
from gradely_papers.verdicts import Record, group_by

MEASURES = (*FAMILY, *(f"{name}{SMALL}" for name in FAMILY), "AP", "nDCG")
TESTS = ("t", "tukey")
ALPHA = 0.05
RESAMPLES = 2_000
POINTS = 200
"""the number of points of a drawn curve"""


def measures(levels: Floats) -> dict[str, Measure]:
    """Return the measures by name, with users spread evenly over the levels, and with small g_1."""
    small = {f"{name}{SMALL}": kind(g=users(levels)) for name, kind in FAMILY.items()}
    every = parse_all((*FAMILY, "AP", "nDCG")) | small
    return {name: every[name] for name in MEASURES}


class Pairs(NamedTuple):
    """The p-values of all pairs of runs by measure and test, and the title of the panel."""

    title: str
    p_values: dict[tuple[str, str], Floats]


def compute_p_values(collection: Collection, progress: Report, seed: int) -> Pairs:
    """Test all pairs of runs above the first quartile of AP."""
    study = read_study(collection, part(progress, 0, 2))
    every = measures(study.systems.qrels.levels())
    values, by_test = study.systems.values(every)[study.good], {}
    for i, name in enumerate(MEASURES):
        for test in TESTS:
            by_test[name, test] = p_values(values[:, :, i].T, test, resamples=RESAMPLES, seed=seed)
        part(progress, 1, 2)((i + 1) / len(MEASURES))
    return Pairs(str(study.panel("all")), by_test)


def power(name: str, p_values: dict[tuple[str, str], Floats]) -> list[Record]:
    """Return the share of pairs of runs with a p-value below α, with a record for each measure."""
    return [
        {"collection": name, "pairs": len(p_values[measure, "t"]), "measure": measure}
        | {test: float(np.mean(p_values[measure, test] < ALPHA)) for test in TESTS}
        for measure in MEASURES
    ]


def levels(name: str, p_values: dict[tuple[str, str], Floats]) -> list[Record]:
    """Return the achieved significance levels of the t-test at evenly spaced pairs."""
    out: list[Record] = []
    for measure in MEASURES:
        curve = achieved_levels(p_values[measure, "t"])
        points = np.unique(np.linspace(0, len(curve) - 1, POINTS).astype(int))
        out += [
            {"collection": name, "measure": measure, "pairs": float((i + 1) / len(curve)), "p": float(curve[i])}
            for i in points
        ]
    return out


def chart(records: list[Record]) -> Any:
    """Return the achieved significance levels, with a line for each measure and a panel for each collection."""
    alt = altair()
    curves = draw(records).encode(
        x=alt.X("pairs:Q", title="pairs of runs, largest p-value first", axis=alt.Axis(format="%")),
        y=alt.Y("p:Q", title="p-value", scale=alt.Scale(domain=[-0.002, 0.1], nice=False)),
        **categories("measure", MEASURES, "strokeDash"),
    )
    return panels(curves.mark_line(clip=True).properties(width=330, height=220), by="collection", columns=2)


def run(library: Library, seed: int, progress: Report) -> Outcome:
    """Test all pairs of runs of every collection in the library."""
    used = [collection for collection in choose_collections(library)[0] if has_enough(collection)]
    tested = on_each(library, used, partial(compute_p_values, seed=seed), progress)
    table = [row for name, pairs in tested.items() for row in power(name, pairs.p_values)]
    curves = [row for pairs in tested.values() for row in levels(pairs.title, pairs.p_values)]
    figure = Figure("Achieved significance levels of the t-test; curves farther left are better.", chart(curves))
    sheet = Sheet.of("Discriminative power", table, 3)
    return Outcome(DONE, table, {"power": sheet}, {"levels": figure}, observations(table))


def observations(table: list[Record]) -> list[Observation]:
    """Return the measures in the order of their power on each collection."""
    out = []
    for name, rows in group_by("collection", table).items():
        ranked = sorted(rows, key=lambda row: -row["t"])
        shares = ", ".join(f"{row['measure']} {row['t']:.1%}" for row in ranked)
        out.append(Observation(f"{name}: which share of pairs of runs does each measure separate (t-test)?", shares))
    return out


DONE = (
    f"We tested all pairs of runs by each measure with the paired t-test, and with the randomised Tukey HSD"
    f" ({RESAMPLES:,} draws), which holds for all pairs at once. The power is the share of pairs with a p-value below"
    f" {ALPHA}. The users of GAP, xGAP and eGAP are spread evenly over the levels or, for small g_1, as in figures 1"
    " and 2. Runs below the first quartile of AP are left out, as in the paper's other experiments."
)
EXPERIMENT = Experiment(
    "f14-power",
    "outlook",
    "How many pairs of runs GAP, xGAP, eGAP, AP and nDCG separate",
    "The paper leaves discriminative power to future work and makes no claim about it.",
    run,
    (("outlook", "levels, power"),),
    needs=NEEDS,
    data=DATA,
)
