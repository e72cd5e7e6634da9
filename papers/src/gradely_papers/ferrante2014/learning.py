"""F14's outlook: xGAP and eGAP as objectives of LambdaMART, compared with others and the libraries' own."""

import pickle  # nosec B403
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from gradely import InputError, Lambdas, eGAP, evaluate_arrays, xGAP
from gradely.comparison.intervals import t_intervals
from gradely.comparison.tests import adjust, differences, p_values, pair_with_baselines
from gradely.data.ids import Floats, Ints
from gradely.lazy import optional
from gradely.measures.names import MeasureLike
from gradely.parallel import can_fork, cores, in_processes
from gradely_papers.charts import altair, draw, panels
from gradely_papers.experiment import Experiment, Figure, Library, Observation, Outcome, Sheet
from gradely_papers.ferrante2014.study import SMALL, users
from gradely_papers.letor import OHSUMED, PARTITIONS, read_letor
from gradely_papers.moniz2016 import news
from gradely_papers.progress import Report
from gradely_papers.verdicts import LEVEL, Record

HOURS = 2
"""the hours of counts by which news are ranked"""
FOLDS = 5
AGG, EXAMPLE = "letor4-mq2007-agg", "lightgbm-lambdarank"
NEEDS = (OHSUMED, AGG, EXAMPLE, news.DATA)


class Part(NamedTuple):
    """Documents, query by query."""

    features: Floats
    labels: Floats
    sizes: Ints

    def shuffle(self, seed: int) -> "Part":
        """Return the documents of each query in a random order."""
        query = np.repeat(np.arange(len(self.sizes)), self.sizes)
        order = np.lexsort((np.random.default_rng(seed).random(len(query)), query))
        return Part(self.features[order], self.labels[order], self.sizes)


class Fold(NamedTuple):
    """Training queries, test queries, and validation queries that choose the number of trees."""

    train: Part
    test: Part
    validation: Part | None = None


def folds(name: str, library: Library) -> list[Fold]:
    """Return the folds of a set: each partition in turn is the test data of a model learned from the others.

    In LETOR's five folds, the partition before the test data is the validation data.
    """
    parts = list(_READ[name](library))
    if name == "LightGBM's example":
        return [Fold(*parts)]
    others = [[*parts[i + 1 :], *parts[:i]] for i in range(len(parts))]
    if name == "OHSUMED":
        return [Fold(_concatenate(rest[:-1]), test, rest[-1]) for rest, test in zip(others, parts, strict=True)]
    return [Fold(_concatenate(rest), test) for rest, test in zip(others, parts, strict=True)]


def _concatenate(parts: list[Part]) -> Part:
    return Part(*(np.concatenate(x) for x in zip(*parts, strict=True)))


def read_parts(folder: Path, names: Sequence[str]) -> list[Part]:
    """Read LETOR files, one part each."""
    return [Part(each.features, each.labels, each.sizes()) for each in read_letor(folder, names)]


def _news(library: Library) -> Iterator[Part]:
    """Yield lists of news in five parts, with early counts as features and the final count as the label."""
    topics = news.read_topics(library).values()
    early = np.concatenate([lists.counts[:, :, : HOURS * news.HOUR] for lists in topics])
    final = np.concatenate([lists.final for lists in topics])
    for rows in np.array_split(np.arange(len(early)), FOLDS):
        features = early[rows].reshape(-1, early.shape[2])
        yield Part(features, final[rows].reshape(-1), np.full(len(rows), news.SIZE))


_READ: dict[str, Callable[[Library], Iterable[Part]]] = {
    "OHSUMED": lambda library: read_parts(library.folder / OHSUMED, PARTITIONS),
    "MQ2007-agg": lambda library: read_parts(library.folder / AGG, ("A1.txt", "A2.txt")),
    "LightGBM's example": lambda library: read_parts(library.folder / EXAMPLE, ("rank.train.gz", "rank.test.gz")),
    "news": _news,
}
SETS = tuple(_READ)

ROUNDS = 30
RATE = 0.1
LEAVES = 15
SHARE = 0.8
"""the share of features drawn for each tree; drawing rows would depend on their order"""
TRUNCATION = 30
Model: TypeAlias = Callable[[Floats, int], Floats]
"""Takes features and a number of trees, and returns scores."""
LIGHTGBM, XGBOOST = "LightGBM's lambdarank", "XGBoost's rank:ndcg"
OWN = ("AP", "GAP", "xGAP", "eGAP", "muAP", "nDCG", "nDCGphi")
"""the measures learned with our lambdas"""
MOST = 10
"""with more levels, g_1 is a negligible share of the users"""
MEASURES = ("AP", "GAP", "xGAP", "eGAP", "muAP", "nDCG", "nDCG@10", "nDCGphi")
Kinds: TypeAlias = Mapping[str, MeasureLike]
"""The measures of a set by name."""


def kinds_of(split: list[Fold]) -> Kinds:
    """Return the measures of a set, including xGAP and eGAP with small g_1 if it has 2 to MOST levels."""
    labels = np.unique(np.concatenate([fold.test.labels for fold in split]))
    levels = labels[labels > 0]
    small = (xGAP, eGAP) if 2 <= len(levels) <= MOST else ()
    return {name: name for name in MEASURES} | {f"{kind.name}{SMALL}": kind(g=users(levels)) for kind in small}


def learn(name: str, kinds: Kinds, part: Part, seed: int) -> Model:
    """Return a model learned from documents."""
    if name == XGBOOST:
        return _by_xgboost(part, seed)
    lambdas = None if name == LIGHTGBM else Lambdas(part.labels, kinds[name], group=part.sizes, truncation=TRUNCATION)
    return _by_lightgbm(part, seed, lambdas)


def _by_lightgbm(part: Part, seed: int, lambdas: Lambdas | None) -> Model:
    """Learn with lambdas, or with LightGBM's own objective, whose gains are the grades."""
    lightgbm = optional("lightgbm", "LightGBM", "lightgbm")
    own: Any = "lambdarank" if lambdas is None else lambda scores, _: lambdas(scores)
    options = {
        "objective": own,
        "learning_rate": RATE,
        "num_leaves": LEAVES,
        "feature_fraction": SHARE,
        "lambdarank_truncation_level": TRUNCATION,
        "verbosity": -1,
        "seed": seed,
        "deterministic": True,
        "force_col_wise": True,
        "metric": "None",
        "num_threads": 1,
    }
    if lambdas is None:
        options["label_gain"] = list(range(int(part.labels.max()) + 1))
    data = lightgbm.Dataset(part.features, part.labels, group=part.sizes)
    try:
        model = lightgbm.train(options, data, ROUNDS)
    except lightgbm.basic.LightGBMError as error:
        raise InputError(f"LightGBM does not learn from {len(part.labels):,} documents: {error}") from None
    return lambda features, trees: np.asarray(model.predict(features, num_iteration=trees, num_threads=1))


def _by_xgboost(part: Part, seed: int) -> Model:
    xgboost = optional("xgboost", "XGBoost", "xgboost")
    query = np.repeat(np.arange(len(part.sizes)), part.sizes)
    options = {
        "objective": "rank:ndcg",
        "ndcg_exp_gain": False,
        "eta": RATE,
        "max_leaves": LEAVES,
        "grow_policy": "lossguide",
        "colsample_bytree": SHARE,
        "lambdarank_num_pair_per_sample": TRUNCATION,
        "min_child_weight": 1e-3,
        "seed": seed,
        "nthread": 1,
    }
    model = xgboost.train(options, xgboost.DMatrix(part.features, part.labels, qid=query, nthread=1), ROUNDS)

    def predict(features: Floats, trees: int) -> Floats:
        table = xgboost.DMatrix(features, nthread=1)
        return np.asarray(model.predict(table, iteration_range=(0, trees)), np.float64)

    return predict


SEEDS = 2
"""the number of seeds, each of which draws different features for each tree"""
ORDERS = 2
"""the number of orders of rows for each seed"""
STEP = 5
"""the step between numbers of trees that are tried on the validation queries"""
COLUMNS = (*MEASURES, f"xGAP{SMALL}", f"eGAP{SMALL}")
REAL = "news"
"""the set with real-valued labels, which LightGBM's own objective refuses"""


class Trial(NamedTuple):
    """The values of models with one objective on the test queries of a set."""

    name: str
    objective: str
    columns: list[str]
    """the names of the measures"""
    values: Floats
    """[seeds, orders, queries, measures]"""
    shift: float
    """the largest difference of predictions between orders of rows with the same seed"""

    @property
    def means(self) -> Floats:
        """The means over seeds, orders and queries [measures]."""
        return np.asarray(self.values.mean(axis=(0, 1, 2)))

    @property
    def by_query(self) -> Floats:
        """The means over seeds and orders [queries, measures]."""
        return np.asarray(self.values.mean(axis=(0, 1)))

    def column(self, measure: str) -> Floats:
        """Return the values by one measure [queries]."""
        return self.by_query[:, self.columns.index(measure)]

    def spread(self, axis: int) -> Floats:
        """Return the largest range of means over seeds (axis 0) or orders of rows (axis 1) [measures]."""
        return np.asarray(np.ptp(self.values.mean(axis=2), axis=axis).max(axis=0))


def measure(part: Part, scores: Floats, measures: Iterable[MeasureLike]) -> Floats:
    """Return the values of scores [queries, measures]."""
    values = evaluate_arrays(scores, part.labels, list(measures), group=part.sizes, threads=1)
    return np.stack(list(values.values()), axis=1)


def choose_trees(model: Model, objective: str, kinds: Kinds, validation: Part | None) -> int:
    """Return the number of trees that is best on the validation queries by the learned measure."""
    if validation is None:
        return ROUNDS
    target = [kinds.get(objective, "nDCG")]
    trees = range(min(STEP, ROUNDS), ROUNDS + 1, STEP)
    means = [measure(validation, model(validation.features, count), target).mean() for count in trees]
    return trees[int(np.argmax(means))]


def predict(objective: str, kinds: Kinds, fold: Fold, seed: int, order: int) -> Floats:
    """Learn from the rows in an order, and return the scores of the test documents."""
    model = learn(objective, kinds, fold.train.shuffle(order), seed)
    return model(fold.test.features, choose_trees(model, objective, kinds, fold.validation))


def try_objective(name: str, objective: str, split: list[Fold], seed: int) -> Trial:
    """Learn from each fold with several seeds and orders of rows, and measure the test queries."""
    kinds, values, shift = kinds_of(split), [], 0.0
    for fold in split:
        scores = np.stack(
            [[predict(objective, kinds, fold, seed + i, order) for order in range(ORDERS)] for i in range(SEEDS)]
        )
        values.append(np.stack([[measure(fold.test, row, kinds.values()) for row in rows] for rows in scores]))
        shift = max(shift, float(np.ptp(scores, axis=1).max()))
    return Trial(name, objective, list(kinds), np.concatenate(values, axis=2), shift)


def try_all(library: Library, seed: int, progress: Report) -> list[Trial]:
    """Return all trials, set by set."""
    split = {name: folds(name, library) for name in SETS}
    plan = [
        (name, objective)
        for name in SETS
        for objective in (*OWN, *(kind for kind in kinds_of(split[name]) if kind.endswith(SMALL)), LIGHTGBM, XGBOOST)
        if name != REAL or objective != LIGHTGBM
    ]

    def work(number: int) -> bytes:
        name, objective = plan[number]
        try:
            return pickle.dumps(try_objective(name, objective, split[name], seed))
        except InputError as error:
            return pickle.dumps(InputError(f"{name}: {error}"))

    # each model learns on one thread, since threads would wait for the many short steps of lambdas in Python
    numbered = in_processes(work, len(plan), cores()) if can_fork() else ((i, work(i)) for i in range(len(plan)))
    trials: dict[int, Trial] = {}
    for number, content in numbered:
        # written by our own process; nothing is unpickled from a file
        trial = pickle.loads(content)  # noqa: S301 # nosec B301
        if isinstance(trial, InputError):
            raise trial
        trials[number] = trial
        progress(len(trials) / len(plan))
    return [trials[number] for number in sorted(trials)]


DONE = (
    f"We trained LambdaMART models of up to {ROUNDS} trees with each measure as the objective, and with the libraries'"
    f" own objectives, whose gains are the grades. The documents of each query were in {ORDERS} orders, each with"
    f" {SEEDS} seeds that drew {SHARE:.0%} of the features for each tree. The values are those of test queries."
    " OHSUMED: each of five partitions in turn, with three for training and one that chose the number of trees by the"
    " learned measure. MQ2007-agg: each of two parts. LightGBM's example: its own test queries. News: each fifth of the"
    " lists, ranked by the counts of the first two hours; the label is the final count, which LightGBM's own objective"
    " does not accept. g is uniform or, for small g_1, that of figures 1 and 2: the highest level has a share of 0.9 if"
    " there are two levels, and of 0.6 otherwise. News have no such levels."
)


def select_set(trials: list[Trial], name: str) -> list[Trial]:
    """Return the trials on one set."""
    return [trial for trial in trials if trial.name == name]


def baseline(trials: list[Trial]) -> int:
    """Return the index of the baseline of a set: LightGBM's own objective, or XGBoost's."""
    objectives = [trial.objective for trial in trials]
    return objectives.index(LIGHTGBM if LIGHTGBM in objectives else XGBOOST)


def tests(trials: list[Trial]) -> list[Record]:
    """Compare each objective with the baseline of its set by each measure; p is corrected over a set (Holm)."""
    return [record for name in SETS for record in _tests_of_set(select_set(trials, name))]


def _tests_of_set(trials: list[Trial]) -> list[Record]:
    base, columns = baseline(trials), trials[0].columns
    pairs = pair_with_baselines([base], len(trials))
    values = [np.stack([trial.column(measure) for trial in trials], axis=1) for measure in columns]
    p = adjust(np.concatenate([p_values(table, "t", pairs) for table in values])).reshape(len(columns), -1)
    records = []
    for m, table in enumerate(values):
        differ = differences(table, pairs)
        low, high = t_intervals(differ, LEVEL)
        records += [
            {
                "set": trials[base].name,
                "trained by": trials[i].objective,
                "against": trials[base].objective,
                "measured by": columns[m],
                "difference": float(differ[:, j].mean()),
                "low": float(low[j]),
                "high": float(high[j]),
                "p": float(p[m, j]),
            }
            for j, i in enumerate(pairs.first)
        ]
    return records


def matrix(trials: list[Trial]) -> list[Record]:
    """Return the mean of each measure for each objective."""
    return [_row(trial) | _by_measure(trial, trial.means) for trial in trials]


def spread(trials: list[Trial]) -> list[Record]:
    """Return how far orders of rows and seeds change the predictions and the mean of each measure."""
    return [
        _row(trial) | {"over": over, "predictions": shift} | _by_measure(trial, values)
        for trial in trials
        for over, shift, values in (("orders", trial.shift, trial.spread(1)), ("seeds", None, trial.spread(0)))
    ]


def _row(trial: Trial) -> Record:
    return {"set": trial.name, "trained by": trial.objective}


def _by_measure(trial: Trial, values: Any) -> Record:
    """Return values by measure, or None for measures that the set does not have."""
    return dict.fromkeys(COLUMNS) | dict(zip(trial.columns, map(float, values), strict=True))


def heat(rows: list[Record], queries: Mapping[str, int]) -> Any:
    """Return the matrix as a chart, coloured by how far each value is below the best of its column.

    `queries` has the number of test queries of each set.
    """
    alt, records = altair(), []
    titles = {name: f"{name} ({count:,} queries)" for name, count in queries.items()}
    for row in rows:
        for measure in (name for name in COLUMNS if row[name] is not None):
            best = max(other[measure] for other in rows if other["set"] == row["set"])
            below = 100 * (best - row[measure])
            records.append(
                {"panel": titles[row["set"]], "trained by": row["trained by"]}
                | {"measured by": measure, "value": round(row[measure], 4), "below": round(below, 3)}
            )
    base = draw(records).encode(
        x=alt.X("measured by:N", sort=list(COLUMNS), title="measured by", axis=alt.Axis(labelAngle=-45)),
        y=alt.Y("trained by:N", sort=[*OWN, *COLUMNS[-2:], LIGHTGBM, XGBOOST], title="trained by"),
    )
    scale = alt.Scale(range=["#2b6cb0", "#f3f6fa"], domain=[0, 2], clamp=True)
    cells = base.mark_rect().encode(color=alt.Color("below:Q", scale=scale, title="below the best, ×100"))
    text = base.mark_text(fontSize=10).encode(
        text=alt.Text("value:Q", format=".3f"),
        color=alt.condition("datum.below < 0.4", alt.value("white"), alt.value("#222222")),
    )
    return panels((cells + text).properties(width=330, height=230), "panel", 2, order=[*titles.values()])


def observations(trials: list[Trial], records: list[Record]) -> list[Observation]:
    """Compare objectives with each other, with the libraries' own, and over orders of rows."""
    return [
        *(
            _against(trials, target, others)
            for others in (("AP",), (LIGHTGBM, XGBOOST))
            for target in ("xGAP", "eGAP", *COLUMNS[-2:])
        ),
        _best_objectives(trials),
        _by_itself(trials),
        _over_orders(trials),
        _against_baseline(records),
    ]


def _against(trials: list[Trial], target: str, others: tuple[str, ...]) -> Observation:
    """Compare learning by a measure with the first of these objectives that a set has."""
    parts = []
    for name in SETS:
        own = {trial.objective: trial for trial in select_set(trials, name)}
        if target in own:
            other = next(objective for objective in others if objective in own)
            differ = own[target].column(target) - own[other].column(target)
            low, high = t_intervals(differ[:, None], LEVEL)
            parts.append(f"{name}, {other}: {differ.mean():+.4f} [{low[0]:+.4f}, {high[0]:+.4f}]")
    other_name = "AP" if others == ("AP",) else "the libraries' own objective"
    question = f"How much higher is {target} on test queries after learning by {target} than by {other_name}?"
    return Observation(question, f"{'; '.join(parts)}; in brackets, {LEVEL:.0%} intervals over queries.")


def find_best(trials: list[Trial]) -> dict[str, dict[str, str]]:
    """Return the best objective by set and measure."""
    best = {}
    for name in SETS:
        own = select_set(trials, name)
        winners = np.stack([trial.means for trial in own]).argmax(axis=0)
        best[name] = {measure: own[i].objective for measure, i in zip(own[0].columns, winners, strict=True)}
    return best


def _best_objectives(trials: list[Trial]) -> Observation:
    winners = (
        f"{name}: " + ", ".join(f"{measure} by {objective}" for measure, objective in best.items())
        for name, best in find_best(trials).items()
    )
    return Observation("Which objective gives the highest mean of each measure?", f"{'; '.join(winners)}.")


def _by_itself(trials: list[Trial]) -> Observation:
    counts = "; ".join(
        f"{name}: {sum(objective == measure for measure, objective in best.items())} of"
        f" {sum(trial.objective in best for trial in select_set(trials, name))}"
        for name, best in find_best(trials).items()
    )
    answer = f"Of the learned measures: {counts}."
    return Observation("How many measures are highest if the measure itself is learned?", answer)


def _over_orders(trials: list[Trial]) -> Observation:
    ours = max(trial.shift for trial in trials if trial.objective in trial.columns)
    theirs = [
        f"with {objective} by {min(shifts):.2f} to {max(shifts):.2f}"
        for objective in (LIGHTGBM, XGBOOST)
        if (shifts := [trial.shift for trial in trials if trial.objective == objective])
    ]
    answer = f"Predictions move by at most {ours:.1g} with our lambdas, {' and '.join(theirs)}, depending on the set."
    return Observation("Does the order of rows within queries change what is learned?", answer)


def _against_baseline(records: list[Record]) -> Observation:
    compared = [record for record in records if record["trained by"] in COLUMNS]
    clear = [record for record in compared if record["p"] < 1 - LEVEL]
    better = sum(record["difference"] > 0 for record in clear)
    answer = (
        f"Of {len(compared)} comparisons with {LIGHTGBM}, or {XGBOOST} on news, {better} find ours significantly better"
        f" and {len(clear) - better} significantly worse."
    )
    return Observation("Does any of our objectives beat the libraries' own?", answer)


def run(library: Library, seed: int, progress: Report) -> Outcome:
    """Learn with every objective from every set."""
    optional("lightgbm", "LightGBM", "lightgbm")
    optional("xgboost", "XGBoost", "xgboost")
    trials = try_all(library, seed, progress)
    rows, records = matrix(trials), tests(trials)
    sheets = {
        "matrix": Sheet.of("Means on test queries: trained by × measured by", rows),
        "tests": Sheet.of("Differences with intervals, and p of the paired t-test with Holm's correction", records),
        "spread": Sheet.of("Ranges of the means over orders of rows and over seeds", spread(trials)),
    }
    title = "Trained by × measured by; dark cells are near the best of their column."
    figures = {"matrix": Figure(title, heat(rows, {trial.name: trial.values.shape[2] for trial in trials}))}
    return Outcome(DONE, trials, sheets, figures, observations(trials, records))


EXPERIMENT = Experiment(
    "f14-learning",
    "outlook",
    "Learning to rank by xGAP and eGAP, compared with other measures and the libraries' own objectives",
    "The paper leaves learning to rank by xGAP and eGAP to future work and makes no claim about it.",
    run,
    (("outlook", "matrix, tests, spread"),),
    needs=NEEDS,
    libraries=("lightgbm", "xgboost"),
)
