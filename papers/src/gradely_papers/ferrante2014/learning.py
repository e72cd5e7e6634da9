"""F14's outlook: xGAP and eGAP as objectives of LambdaMART, against others and against the libraries' own."""

from typing import Any

import numpy as np

from gradely.comparison.charts import altair, draw, panels
from gradely.comparison.intervals import t_intervals
from gradely.comparison.pairs import differences, pair_with_baselines
from gradely.comparison.significance import adjust, p_values
from gradely.data import Report
from gradely.optional import optional
from gradely.tables import Table
from gradely_papers.ferrante2014.learning_data import NEEDS, SETS
from gradely_papers.ferrante2014.learning_models import LIGHTGBM, OWN, ROUNDS, SHARE, XGBOOST
from gradely_papers.ferrante2014.learning_trials import MEASURES, ORDERS, SEEDS, Trial, try_all
from gradely_papers.library import Library
from gradely_papers.outcome import Experiment, Figure, Observation, Outcome, Sheet
from gradely_papers.verdicts import Record

LEVEL = 0.95
DONE = (
    f"LambdaMART of up to {ROUNDS} trees was learned by each measure, and by the libraries' own objectives with the"
    f" gains of nDCG, from the documents of each query in {ORDERS} orders, each with {SEEDS} seeds, by which"
    f" {SHARE:.0%} of the features were drawn for each tree; the queries left out were measured. OHSUMED: each of five"
    " partitions was left out in turn, three were learned from, and one chose the number of trees, by the measure"
    " learned. MQ2007-agg: each of two was left out. LightGBM's example: its own test queries. News: each fifth of the"
    " lists, ranked by the counts of the first two hours, with the final count, a real number, as the label, which"
    " LightGBM's own objective does not take."
)


def select_set(trials: list[Trial], name: str) -> list[Trial]:
    """Return the trials on one set."""
    return [trial for trial in trials if trial.name == name]


def baseline(trials: list[Trial]) -> int:
    """Return which trial of a set the others are held against: LightGBM's own objective, else XGBoost's."""
    objectives = [trial.objective for trial in trials]
    return objectives.index(LIGHTGBM if LIGHTGBM in objectives else XGBOOST)


def tests(trials: list[Trial]) -> list[Record]:
    """Return each objective against the baseline of its set, by each measure; p corrected over a set (Holm)."""
    return [record for name in SETS for record in _tests_of_set(select_set(trials, name))]


def _tests_of_set(trials: list[Trial]) -> list[Record]:
    base = baseline(trials)
    pairs = pair_with_baselines([base], len(trials))
    values = [np.stack([trial.by_query[:, m] for trial in trials], axis=1) for m in range(len(MEASURES))]
    p = adjust(np.concatenate([p_values(table, "t", pairs) for table in values])).reshape(len(MEASURES), -1)
    records = []
    for m, table in enumerate(values):
        differ = differences(table, pairs)
        low, high = t_intervals(differ, LEVEL)
        records += [
            {
                "set": trials[base].name,
                "trained by": trials[i].objective,
                "against": trials[base].objective,
                "measured by": MEASURES[m],
                "difference": float(differ[:, j].mean()),
                "low": float(low[j]),
                "high": float(high[j]),
                "p": float(p[m, j]),
            }
            for j, i in enumerate(pairs.first)
        ]
    return records


def matrix(trials: list[Trial]) -> list[Record]:
    """Return the means, trained by × measured by."""
    return [_row(trial) | _by_measure(trial.means) for trial in trials]


def spread(trials: list[Trial]) -> list[Record]:
    """Return how much orders of rows, and seeds, change: predictions at most, and the mean of each measure."""
    return [
        _row(trial) | {"over": over, "predictions": shift} | _by_measure(values)
        for trial in trials
        for over, shift, values in (("orders", trial.shift, trial.spread(1)), ("seeds", None, trial.spread(0)))
    ]


def _row(trial: Trial) -> Record:
    return {"set": trial.name, "trained by": trial.objective}


def _by_measure(values: Any) -> Record:
    return dict(zip(MEASURES, map(float, values), strict=True))


def heat(rows: list[Record]) -> Any:
    """Return the matrix as a picture: how far each value is below the best of its column, in hundredths."""
    alt, records = altair(), []
    for row in rows:
        for measure in MEASURES:
            best = max(other[measure] for other in rows if other["set"] == row["set"])
            below = 100 * (best - row[measure])
            records.append(
                {name: row[name] for name in ("set", "trained by")}
                | {"measured by": measure, "value": round(row[measure], 4), "below": round(below, 3)}
            )
    base = draw(records).encode(
        x=alt.X("measured by:N", sort=list(MEASURES), title="measured by", axis=alt.Axis(labelAngle=-45)),
        y=alt.Y("trained by:N", sort=[*OWN, LIGHTGBM, XGBOOST], title="trained by"),
    )
    scale = alt.Scale(range=["#2b6cb0", "#f3f6fa"], domain=[0, 2], clamp=True)
    cells = base.mark_rect().encode(color=alt.Color("below:Q", scale=scale, title="below the best, ×100"))
    text = base.mark_text(fontSize=10).encode(
        text=alt.Text("value:Q", format=".3f"),
        color=alt.condition("datum.below < 0.4", alt.value("white"), alt.value("#222222")),
    )
    return panels((cells + text).properties(width=330, height=230), "set", 2)


def observations(trials: list[Trial], records: list[Record]) -> list[Observation]:
    """Return what the outlook hopes for, and what bears on it."""
    return [
        *(_against_ap(trials, target) for target in ("xGAP", "eGAP")),
        _by_itself(trials),
        _over_orders(trials),
        _against_baseline(records),
    ]


def _against_ap(trials: list[Trial], target: str) -> Observation:
    values = {(trial.name, trial.objective): trial.by_query[:, MEASURES.index(target)] for trial in trials}
    parts = []
    for name in SETS:
        differ = values[name, target] - values[name, "AP"]
        low, high = t_intervals(differ[:, None], LEVEL)
        parts.append(f"{name}: {differ.mean():+.4f} [{low[0]:+.4f}, {high[0]:+.4f}]")
    question = f"By how much does learning by {target} give a better {target} on new queries than learning by AP?"
    return Observation(question, f"{'; '.join(parts)}; in brackets, {LEVEL:.0%} intervals over queries.")


def find_best(trials: list[Trial]) -> dict[str, dict[str, str]]:
    """Return by set and measure the objective that was highest."""
    best = {}
    for name in SETS:
        own = select_set(trials, name)
        winners = np.stack([trial.means for trial in own]).argmax(axis=0)
        best[name] = {measure: own[i].objective for measure, i in zip(MEASURES, winners, strict=True)}
    return best


def _by_itself(trials: list[Trial]) -> Observation:
    counts = "; ".join(
        f"{name}: {sum(objective == measure for measure, objective in best.items())}"
        for name, best in find_best(trials).items()
    )
    answer = f"Of {len(OWN)} measures that were learned, so many: {counts}."
    return Observation("How many measures come out highest where the measure itself was learned?", answer)


def _over_orders(trials: list[Trial]) -> Observation:
    ours = max(trial.shift for trial in trials if trial.objective in OWN)
    theirs = [
        f"with {objective} by {min(shifts):.2f} to {max(shifts):.2f}"
        for objective in (LIGHTGBM, XGBOOST)
        if (shifts := [trial.shift for trial in trials if trial.objective == objective])
    ]
    answer = f"Predictions move by {ours:.1g} at most with the lambdas here, {' and '.join(theirs)}, set by set."
    return Observation("Does the order of rows within queries change what is learned?", answer)


def _against_baseline(records: list[Record]) -> Observation:
    compared = [record for record in records if record["trained by"] in OWN]
    clear = [record for record in compared if record["p"] < 1 - LEVEL]
    better = sum(record["difference"] > 0 for record in clear)
    answer = (
        f"Of {len(compared)} comparisons {better} are significantly better and {len(clear) - better} significantly"
        f" worse than {LIGHTGBM}, or on news {XGBOOST}."
    )
    return Observation("Does some objective here beat the libraries' own?", answer)


def run(library: Library, seed: int, progress: Report) -> Outcome:
    """Learn in every way from every set."""
    optional("lightgbm", "LightGBM", "lightgbm")
    optional("xgboost", "XGBoost", "xgboost")
    trials = try_all(library, seed, progress)
    rows, records = matrix(trials), tests(trials)
    sheets = {
        "matrix": Sheet("Quality on test queries: trained by × measured by", Table.of(rows)),
        "tests": Sheet("Differences with intervals and p of the paired t-test, Holm", Table.of(records)),
        "spread": Sheet("From the lowest to the highest mean of an order of rows, or a seed", Table.of(spread(trials))),
    }
    figures = {"matrix": Figure("Trained by × measured by; dark cells are near the best of their column", heat(rows))}
    return Outcome(DONE, _story(trials), trials, sheets, figures, observations(trials, records))


def _story(trials: list[Trial]) -> str:
    """Return what came out, in sentences."""
    winners = {
        name: ", ".join(f"{measure} by {objective}" for measure, objective in best.items())
        for name, best in find_best(trials).items()
    }
    return " ".join(f"{name}: the best {words}." for name, words in winners.items())


EXPERIMENT = Experiment(
    "f14-learning",
    "outlook",
    "Learning to rank by xGAP and eGAP, against other measures and the libraries' own objectives",
    "The paper leaves learning to rank by xGAP and eGAP to future work: there is nothing to hold or to differ.",
    run,
    needs=NEEDS,
    libraries=("lightgbm", "xgboost"),
)
