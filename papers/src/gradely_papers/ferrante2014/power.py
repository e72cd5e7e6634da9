"""F14's outlook: the discriminative power of GAP, xGAP, eGAP, AP and nDCG."""

from functools import partial
from typing import Any

import numpy as np

from gradely.comparison.tests import achieved_levels, p_values
from gradely.measures.names import parse_all
from gradely.tables import count_of
from gradely_papers.charts import altair, categories, draw, panels
from gradely_papers.experiment import Experiment, Figure, Library, Observation, Outcome, Sheet
from gradely_papers.judged_collections import DATA, NEEDS, Collection, collections, has_enough, on_each
from gradely_papers.progress import Report

MEASURES = ("GAP", "xGAP", "eGAP", "AP", "nDCG")
TESTS = ("t", "tukey")
ALPHA = 0.05
RESAMPLES = 2_000
POINTS = 200
"""how many points of a curve are drawn"""


def compute_p_values(collection: Collection, progress: Report, seed: int) -> dict[tuple[str, str], Any]:
    """Return the p-values of all pairs of runs by measure and test."""
    systems = collection.systems(lambda part: progress(part / 2))
    values, by_test = systems.values(parse_all(MEASURES)), {}
    for i, name in enumerate(MEASURES):
        for test in TESTS:
            by_test[name, test] = p_values(values[:, :, i].T, test, resamples=RESAMPLES, seed=seed)
        progress(1 / 2 + (i + 1) / len(MEASURES) / 2)
    return by_test


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


def _title(collection: Collection) -> str:
    return f"{collection.name} ({count_of(len(collection.qrels), 'topic')}, {count_of(len(collection.runs), 'run')})"


def run(library: Library, seed: int, progress: Report) -> Outcome:
    """Test all pairs of runs of every collection in the library."""
    used = [collection for collection in collections(library) if has_enough(collection)]
    tested = on_each(library, used, partial(compute_p_values, seed=seed), progress)
    titles = {collection.name: _title(collection) for collection in used}
    table = [row for name, p_by_test in tested.items() for row in power(name, p_by_test)]
    curves = [row for name, p_by_test in tested.items() for row in levels(titles[name], p_by_test)]
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
    " GAP, xGAP and eGAP are spread evenly over the levels."
)
EXPERIMENT = Experiment(
    "f14-power",
    "outlook",
    "How many pairs of runs GAP, xGAP, eGAP, AP and nDCG tell apart",
    "The paper leaves discriminative power to future work, so there is nothing to hold or to differ.",
    run,
    needs=NEEDS,
    data=DATA,
)
