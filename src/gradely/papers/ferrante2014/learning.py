"""F14's outlook: xGAP and eGAP as objectives of LambdaMART, against others and against the libraries' own."""

from typing import Any, NamedTuple

import numpy as np

from gradely.comparison.charts import altair, drawn, panels
from gradely.comparison.intervals import t_intervals
from gradely.comparison.pairs import Pairs, differences
from gradely.comparison.significance import adjusted, p_values
from gradely.data import Report
from gradely.data.types import Floats
from gradely.evaluation.arrays import evaluate_arrays
from gradely.papers.ferrante2014.learning_data import NEEDS, SETS, Fold, Part, folds
from gradely.papers.ferrante2014.learning_models import LIGHTGBM, OWN, ROUNDS, XGBOOST, learned
from gradely.papers.library import Library
from gradely.papers.outcome import Experiment, Figure, Observation, Outcome, Sheet
from gradely.tables import Table
from gradely.threads import cores, on_threads

MEASURED = ("AP", "GAP", "xGAP", "eGAP", "muAP", "nDCG", "nDCG@10", "nDCGphi")
ORDERS = 3
"""so many orders of rows are learned from"""
LEVEL = 0.95
REAL = "news"
"""the set of real-valued labels, which the libraries' own objectives refuse"""
Record = dict[str, Any]
DONE = (
    f"LambdaMART of {ROUNDS} trees was learned by each measure, and by the libraries' own objectives, from the"
    f" documents of each query in {ORDERS} orders; the queries left out were measured. OHSUMED: each of five"
    " partitions was left out in turn; MQ2007-agg: each of two; LightGBM's example: its own test queries; news: each"
    " fifth of the lists, ranked by the counts of the first two hours, with the final count, a real number, as the"
    " label."
)


class Trial(NamedTuple):
    """What models learned in one way are worth on the test queries of a set."""

    name: str
    trained: str
    values: Floats
    """[orders, queries, measures]"""
    moved: float
    """how far predictions moved between orders of rows, at most"""

    @property
    def means(self) -> Floats:
        """[measures] the means over orders and queries."""
        return np.asarray(self.values.mean(axis=(0, 1)))

    @property
    def spread(self) -> Floats:
        """[measures] from the lowest to the highest mean of an order."""
        return np.asarray(np.ptp(self.values.mean(axis=1), axis=0))


def measured(part: Part, scores: Floats) -> Floats:
    """Return [queries, measures] of scores."""
    width = int(part.sizes.max())
    real = np.arange(width) < part.sizes[:, None]
    table = np.zeros((2, *real.shape))
    table[0][real], table[1][real] = scores, part.labels
    return np.stack(list(evaluate_arrays(table[0], table[1], MEASURED, real).values()), axis=1)


def trial(name: str, trained: str, split: list[Fold], seed: int) -> Trial:
    """Learn from each fold in several orders of rows, and measure the queries left out."""
    values, moved = [], 0.0
    for fold in split:
        models = [learned(trained, fold.train.shuffled(seed + order), seed) for order in range(ORDERS)]
        scores = np.stack([model(fold.test.features) for model in models])
        values.append(np.stack([measured(fold.test, row) for row in scores]))
        moved = max(moved, float(np.ptp(scores, axis=0).max()))
    return Trial(name, trained, np.concatenate(values, axis=1), moved)


def trials(library: Library, seed: int, progress: Report) -> list[Trial]:
    """Return all trials, set by set."""
    plan = [(name, trained) for name in SETS for trained in (*OWN, LIGHTGBM, XGBOOST)]
    plan = [(name, trained) for name, trained in plan if name != REAL or trained in OWN]
    out, split = [], {name: folds(name, library) for name in SETS}

    def work(way: tuple[str, str]) -> Trial:
        return trial(way[0], way[1], split[way[0]], seed)

    for found in on_threads(work, plan, cores()):
        out.append(found)
        progress(len(out) / len(plan))
    return out


def tests(found: list[Trial]) -> list[Record]:
    """Return each way of learning against the baseline of its set, by each measure; p corrected over a set (Holm)."""
    records = []
    for name in dict.fromkeys(each.name for each in found):
        several = [each for each in found if each.name == name]
        base = next((i for i, each in enumerate(several) if each.trained == LIGHTGBM), 0)
        others = [i for i in range(len(several)) if i != base]
        pairs = Pairs(np.array(others), np.full(len(others), base))
        by_measure = [np.stack([t.values[:, :, m].mean(axis=0) for t in several], 1) for m in range(len(MEASURED))]
        p = adjusted(np.concatenate([p_values(values, "t", pairs) for values in by_measure]))
        for m, values in enumerate(by_measure):
            differ = differences(values, pairs)
            low, high = t_intervals(differ, LEVEL)
            records += [
                {
                    "set": name,
                    "trained by": several[i].trained,
                    "against": several[base].trained,
                    "measured by": MEASURED[m],
                    "difference": float(differ[:, j].mean()),
                    "low": float(low[j]),
                    "high": float(high[j]),
                    "p": float(p[m * len(others) + j]),
                }
                for j, i in enumerate(others)
            ]
    return records


def matrix(found: list[Trial]) -> list[Record]:
    """Return the means, trained by × measured by."""
    return [
        {"set": each.name, "trained by": each.trained} | dict(zip(MEASURED, map(float, each.means), strict=True))
        for each in found
    ]


def orders(found: list[Trial]) -> list[Record]:
    """Return how much the order of rows changes: predictions at most, and the mean of each measure."""
    return [
        {"set": each.name, "trained by": each.trained, "predictions moved": each.moved}
        | dict(zip(MEASURED, map(float, each.spread), strict=True))
        for each in found
    ]


def heat(rows: list[Record]) -> Any:
    """Return the matrix as a picture: how far each value is below the best of its column, in hundredths."""
    alt, records = altair(), []
    for row in rows:
        for measure in MEASURED:
            best = max(other[measure] for other in rows if other["set"] == row["set"])
            records.append(row | {"measured by": measure, "value": row[measure], "below": 100 * (best - row[measure])})
    base = drawn(records).encode(
        x=alt.X("measured by:N", sort=list(MEASURED), title="measured by", axis=alt.Axis(labelAngle=-45)),
        y=alt.Y("trained by:N", sort=[*OWN, LIGHTGBM, XGBOOST], title="trained by"),
    )
    scale = alt.Scale(range=["#2b6cb0", "#f3f6fa"], domain=[0, 2], clamp=True)
    cells = base.mark_rect().encode(color=alt.Color("below:Q", scale=scale, title="below the best, ×100"))
    text = base.mark_text(fontSize=10).encode(
        text=alt.Text("value:Q", format=".3f"),
        color=alt.condition("datum.below < 0.8", alt.value("white"), alt.value("#333333")),
    )
    return panels((cells + text).properties(width=330, height=230), "set", 2)


def observations(found: list[Trial], records: list[Record]) -> list[Observation]:
    """Return what the outlook hopes for, and what bears on it."""
    value = {(t.name, t.trained): dict(zip(MEASURED, map(float, t.means), strict=True)) for t in found}
    out = []
    for target in ("xGAP", "eGAP"):
        pairs = [(name, value[name, target][target], value[name, "AP"][target]) for name in SETS]
        ours = ", ".join(f"{name}: {a:.4f} to {b:.4f}" for name, a, b in pairs)
        better = sum(a > b for _, a, b in pairs)
        question = f"Does learning by {target} give a better {target} on new queries than learning by AP?"
        out.append(Observation(question, f"On {better} of {len(pairs)} sets: {ours}."))
    still = max(t.moved for t in found if t.trained in OWN)
    theirs = min(t.moved for t in found if t.trained not in OWN)
    answer = f"Predictions move by {still:.1g} at most; by the libraries' own objectives, by {theirs:.2f} or more."
    out.append(Observation("Does the order of rows change what is learned?", answer))
    compared = [record for record in records if record["against"] == LIGHTGBM]
    clear = [record for record in compared if record["p"] < 0.05]
    better = sum(record["difference"] > 0 for record in clear)
    answer = f"Of {len(compared)} comparisons {better} are significantly better and {len(clear) - better} worse."
    out.append(Observation("Does some objective here beat LightGBM's own?", answer))
    return out


def run(library: Library, seed: int, progress: Report) -> Outcome:
    """Learn in every way from every set."""
    found = trials(library, seed, progress)
    rows, records = matrix(found), tests(found)
    sheets = {
        "matrix": Sheet("Quality on test queries: trained by × measured by", _table(rows)),
        "tests": Sheet("Differences with intervals and p of the paired t-test, Holm", _table(records)),
        "orders": Sheet(f"From the lowest to the highest mean over {ORDERS} orders of rows", _table(orders(found))),
    }
    figures = {"matrix": Figure("Trained by × measured by; dark cells are near the best of their column", heat(rows))}
    return Outcome(DONE, _story(found), found, sheets, figures, observations(found, records))


def _story(found: list[Trial]) -> str:
    """Return what came out, in sentences."""
    parts = []
    for name in SETS:
        several = [each for each in found if each.name == name]
        means = np.stack([each.means for each in several])
        best = [several[i].trained for i in means.argmax(axis=0)]
        same = sum(a == b for a, b in zip(best, MEASURED, strict=True))
        winners = ", ".join(f"{measure} by {who}" for measure, who in zip(MEASURED, best, strict=True))
        parts.append(f"{name}: the best {winners}; {same} of them by learning the measure itself.")
    return " ".join(parts)


def _table(records: list[Record]) -> Table:
    return Table(list(records[0]), [list(record.values()) for record in records])


EXPERIMENTS = (
    Experiment(
        "f14-learning",
        "F14",
        "outlook",
        "Learning to rank by xGAP and eGAP, against other measures and the libraries' own objectives",
        "The paper leaves learning to rank by xGAP and eGAP to future work: there is nothing to hold or to differ.",
        (),
        NEEDS,
        run,
    ),
)
