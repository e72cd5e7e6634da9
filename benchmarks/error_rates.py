"""How often each test finds a difference that does not exist, and how often intervals cover the true value.

    python -m benchmarks.error_rates [TRIALS]
    python -m benchmarks.error_rates gate|judge|systems [TRIALS]

Prints the tables of docs/inside/error-rates.md, or those about gates (docs/guides/gate.md), about human labels combined
with machine labels (docs/guides/estimate.md) or about systems (docs/guides/systems.md). Seeds are fixed. A null is a
distribution of differences with mean 0: the tests are about the mean, so a skewed distribution may be a null as well.
"""

import sys
from collections.abc import Callable, Sequence
from functools import partial
from math import erfc, sqrt
from typing import Any, TypeAlias

import numpy as np

from gradely.comparison import tests
from gradely.comparison.gate import p_of_limits
from gradely.comparison.groups import estimate
from gradely.comparison.intervals import Estimates, bootstrap_intervals, simultaneous_reach, t_intervals
from gradely.comparison.pairwise import Design
from gradely.comparison.random_effects import combine
from gradely.comparison.regression import Sample, regress
from gradely.comparison.student import t_tail
from gradely.comparison.tests import Pairs, all_pairs, differences, p_values
from gradely.tables import Table, to_markdown

ALPHA, TRIALS, RESAMPLES = 0.05, 4_000, 1_999
SIZES = (10, 25, 50)
FEW = (2, 3, 4, 5)
TESTS = ("t", "wilcoxon", "randomization", "bootstrap")
Draw: TypeAlias = Callable[[np.random.Generator, tuple[int, ...]], Any]


def mostly_ties(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """80 % of the queries tie, the others change by a step of RR, up or down."""
    steps = rng.choice([0.5, 2 / 3, 0.75], shape) * rng.choice([-1.0, 1.0], shape)
    return np.where(rng.random(shape) < 0.8, 0.0, steps)


def mostly_zero(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """80 % of the values are 0, the others like AP: 0.06 on average."""
    return np.where(rng.random(shape) < 0.8, 0.0, rng.beta(0.6, 1.4, shape))


NULLS: dict[str, Draw] = {
    "normal": lambda rng, shape: rng.normal(0, 0.1, shape),
    "like AP: difference of two beta(0.6, 1.4)": lambda rng, shape: (
        rng.beta(0.6, 1.4, shape) - rng.beta(0.6, 1.4, shape)
    ),
    "skewed: exponential, many small losses and few large wins": lambda rng, shape: rng.exponential(1, shape) - 1,
    "very skewed: gamma(0.3)": lambda rng, shape: rng.gamma(0.3, 1, shape) - 0.3,
    "like RR: 80 % ties, symmetric": mostly_ties,
    "zero-inflated: two runs with 80 % zeros": lambda rng, shape: mostly_zero(rng, shape) - mostly_zero(rng, shape),
    "unequal: 80 % zeros against a fifth of beta(0.6, 1.4)": lambda rng, shape: (
        mostly_zero(rng, shape) - rng.beta(0.6, 1.4, shape) / 5
    ),
}
VALUES: dict[str, tuple[Draw, float]] = {
    "like AP: beta(0.6, 1.4)": (lambda rng, shape: rng.beta(0.6, 1.4, shape), 0.3),
    "like RR: 1 / geometric(0.5)": (lambda rng, shape: 1 / rng.geometric(0.5, shape), float(np.log(2))),
    "like Success: 0 or 1, 0.7 on average": (lambda rng, shape: (rng.random(shape) < 0.7).astype(float), 0.7),
    "zero-inflated: 80 % zeros, else beta(0.6, 1.4)": (mostly_zero, 0.06),
}
NOISY = np.array([0.05] * 5 + [0.25])
FAMILIES: dict[str, Draw] = {
    "equal: beta(0.6, 1.4)": lambda rng, shape: rng.beta(0.6, 1.4, shape),
    "one noisy run: normal, five times the deviation": lambda rng, shape: 0.5 + rng.normal(0, 1, shape) * NOISY,
    "zero-inflated: 80 % zeros": mostly_zero,
}


def type_one_errors(trials: int) -> Table:
    """Return the share of nulls with p below 0.05, by distribution, number of queries and test."""
    return _errors(NULLS, SIZES, trials, "null")


def errors_of_few(trials: int) -> Table:
    """Return the same for very few queries, on which most tests cannot find any difference."""
    return _errors({name: NULLS[name] for name in list(NULLS)[:3]}, FEW, trials, "null, few queries")


def _errors(nulls: dict[str, Draw], sizes: tuple[int, ...], trials: int, title: str) -> Table:
    rows: list[list[Any]] = []
    for name, draw in nulls.items():
        for queries in sizes:
            differ = np.round(draw(np.random.default_rng(queries), (queries, trials)), 12)
            rates = [float(np.mean(pairs_of_one(differ, test) < ALPHA)) for test in TESTS]
            rows.append([name, queries, *rates])
    return Table([title, "queries", *TESTS], rows, 3)


def pairs_of_one(differ: Any, test: str) -> Any:
    """Return p-values of columns of differences, as those of runs paired with a run of zeros."""
    values = np.concatenate([np.zeros((len(differ), 1)), differ], axis=1)
    pairs = all_pairs(values.shape[1])
    first = type(pairs)(pairs.first[: differ.shape[1]], pairs.second[: differ.shape[1]])
    return p_values(values, test, first, resamples=RESAMPLES)


def family_errors(trials: int) -> Table:
    """Return the share of null families, six runs on 25 queries, with any p below 0.05."""
    rows: list[list[Any]] = []
    for name, draw in FAMILIES.items():
        rng = np.random.default_rng(6)
        errors: dict[str, list[bool]] = {"t, not corrected": [], "t, Holm": [], "tukey": [], "max-t": []}
        for _ in range(trials):
            values = draw(rng, (25, 6))
            p = p_values(values, "t")
            errors["t, not corrected"].append(p.min() < ALPHA)
            errors["t, Holm"].append(p.min() * len(p) < ALPHA)
            for test in ("tukey", "max-t"):
                errors[test].append(p_values(values, test, resamples=399).min() < ALPHA)
        rows.append([name, *(float(np.mean(hits)) for hits in errors.values())])
    return Table(["six runs", *errors], rows, 3)


def percentile(values: Any, level: float, draws: int) -> tuple[Any, Any]:
    """Return the percentile interval, as an example of common practice."""
    means = np.concatenate([counts @ np.sort(values, axis=0) for counts in tests.draw_counts(len(values), draws, 0)])
    return tuple(np.quantile(means / len(values), [(1 - level) / 2, (1 + level) / 2], axis=0))


def coverage(trials: int) -> Table:
    """Return how often the interval of a mean covers it, by distribution and number of queries."""
    rows: list[list[Any]] = []
    for name, (draw, mean) in VALUES.items():
        for queries in (5, *SIZES):
            values = draw(np.random.default_rng(queries), (queries, trials))
            samples = (
                percentile(values, 0.95, RESAMPLES),
                t_intervals(values, 0.95),
                bootstrap_intervals(values, 0.95, 0, RESAMPLES),
            )
            # where nothing varies there is no interval, and nothing is said that could be wrong
            inside = [np.mean(~((low > mean) | (high < mean))) for low, high in samples]
            rows.append([name, queries, *map(float, inside)])
    return Table(["values", "queries", "percentile", "t", "studentised"], rows, 3)


def simultaneous_coverage(trials: int) -> Table:
    """Return how often all pairs of six runs are covered at once."""
    rng, pairs, rows = np.random.default_rng(8), all_pairs(6), []
    for queries in SIZES:
        inside = {"t": 0, "simultaneous": 0}
        for _ in range(trials):
            differ = differences(rng.beta(0.6, 1.4, (queries, 6)), pairs)
            for kind, (low, high) in {
                "t": t_intervals(differ, 0.95),
                "simultaneous": Estimates.of(differ).around(simultaneous_reach(differ, 0.95, 0, 999)),
            }.items():
                inside[kind] += bool(np.all((low <= 0) & (high >= 0)))
        rows.append([queries, *(count / trials for count in inside.values())])
    return Table(["queries", "t", "simultaneous"], rows, 3)


REPEATS = {50: ((2, 2), (3, 3), (5, 5)), 500: ((2, 2), (3, 3), (5, 5), (10, 10), (3, 10), (3, 1))}
"""numbers of queries, and of runs of two systems"""
UNEVEN = (((2, 2), (0.02, 0.005)), ((3, 3), (0.02, 0.005)), ((5, 5), (0.02, 0.005)), ((2, 1), (0.02, 0.0)))
"""numbers of runs of two systems, and how much their means vary from seed to seed"""
SEEDS = 0.01
"""how much the mean of a system varies from seed to seed where nothing else is said"""


def draw_systems(
    rng: np.random.Generator, trials: int, queries: int, counts: Sequence[int], deviations: Sequence[float]
) -> list[list[Any]]:
    """Return the values [queries, runs] of two systems that are equally good, trial by trial.

    Their difference varies by .1 over queries, a system's mean by its deviation over seeds, and each value by another
    .05. A single run represents only itself, and has no deviation.
    """
    differs = rng.normal(0, 0.1, (queries, trials))
    seeds = [deviation if runs > 1 else 0.0 for runs, deviation in zip(counts, deviations, strict=True)]
    return [
        [
            side * differs[:, [i]] / 2 + rng.normal(0, seed, runs) + rng.normal(0, 0.05, (queries, runs))
            for i in range(trials)
        ]
        for side, runs, seed in zip((1, -1), counts, seeds, strict=True)
    ]


def compare_systems(first: list[Any], second: list[Any]) -> tuple[Any, Any]:
    """Return the differences of means over runs [queries, trials], and the p-values of compare --group."""
    means = np.stack([a.mean(axis=1) - b.mean(axis=1) for a, b in zip(first, second, strict=True)], axis=1)
    ends = np.arange(len(first))
    estimates, _ = estimate(means, [*first, *second], Pairs(ends, len(first) + ends))
    return means, estimates.p_values()


def seed_errors(trials: int) -> Table:
    """Return the share of nulls with p below 0.05 if systems have several runs, for four ways to test them."""
    rows: list[list[Any]] = []
    for queries, counts in ((queries, counts) for queries, listed in REPEATS.items() for counts in listed):
        rng = np.random.default_rng(queries + sum(counts))
        first, second = draw_systems(rng, trials, queries, counts, (SEEDS, SEEDS))
        least = min(counts)
        single = np.stack([a[:, 0] - b[:, 0] for a, b in zip(first, second, strict=True)], axis=1)
        pooled = np.stack([(a[:, :least] - b[:, :least]).ravel() for a, b in zip(first, second, strict=True)], axis=1)
        means, grouped = compare_systems(first, second)
        p = [*map(tests.t_test, (single, means, pooled)), grouped]
        rows.append([queries, " and ".join(map(str, counts)), *(float(np.mean(one < ALPHA)) for one in p)])
    header = ["queries", "runs", "one run of each", "means over runs, t", "runs pooled as queries", "compare --group"]
    return Table(header, rows, 3)


def uneven_seed_errors(trials: int) -> Table:
    """Return the share of nulls with p below 0.05 if one system varies more from seed to seed than the other."""
    rows: list[list[Any]] = []
    for counts, deviations in UNEVEN:
        first, second = draw_systems(np.random.default_rng(sum(counts)), trials, 500, counts, deviations)
        means, grouped = compare_systems(first, second)
        p = [float(np.mean(one < ALPHA)) for one in (tests.t_test(means), grouped)]
        rows.append([" and ".join(map(str, counts)), " and ".join(f"{one:g}" for one in deviations), *p])
    return Table(["runs", "seeds vary by", "means over runs, t", "compare --group"], rows, 3)


SPREADS = {5: (0.0, 0.03, 0.1), 13: (0.0, 0.01, 0.03, 0.1)}
"""numbers of collections, and how much the true differences between them vary"""


def collection_errors(trials: int) -> Table:
    """Return the share of nulls with p below 0.05 if systems are compared on several collections, for four ways.

    The mean difference over all collections is 0. A collection has 50, 100, 300 or 1,000 queries, on which the
    difference varies by .1 to .25.
    """
    rows: list[list[Any]] = []
    for count, tau in ((count, tau) for count, listed in SPREADS.items() for tau in listed):
        rng = np.random.default_rng(count)
        errors = np.zeros(4)
        for _ in range(trials):
            queries, deviations = rng.choice([50, 100, 300, 1000], count), rng.uniform(0.1, 0.25, count)
            differ = [rng.normal(rng.normal(0, tau), d, n) for d, n in zip(deviations, queries, strict=True)]
            y, v = np.array([one.mean() for one in differ]), np.array([one.var(ddof=1) / len(one) for one in differ])
            found, weights = combine(y, v), 1 / v
            assert found is not None
            fixed = float((weights * y).sum() / np.sqrt(weights.sum()))
            p = [
                float(tests.t_test(np.concatenate(differ)[:, None])[0]),
                erfc(abs(fixed) / sqrt(2)),
                float(tests.t_test(y[:, None])[0]),
                float(2 * t_tail(np.array([abs(found.difference) / found.error]), count - 1)[0]),
            ]
            errors += np.array(p) < ALPHA
        rows.append([count, f"{tau:g}", *(errors / trials).tolist()])
    header = ["collections", "τ", "queries pooled", "fixed effect", "macro mean, t", "gradely suite"]
    return Table(header, rows, 3)


LIMIT = 0.03
DROPS: dict[str, Callable[[np.random.Generator, tuple[int, ...], float], Any]] = {
    "normal": lambda rng, shape, drop: rng.normal(drop, 0.1, shape),
    "like RR": lambda rng, shape, drop: 0.5 * (rng.random(shape) < 2 * drop),
}


def gate_verdicts(trials: int) -> Table:
    """Return how often a gate says worse, undecided and not worse, by the true drop."""
    rows: list[list[Any]] = []
    for name, draw in DROPS.items():
        for queries in (25, 100, 400):
            for drop in (0.0, LIMIT, 2 * LIMIT):
                differ = draw(np.random.default_rng(queries), (queries, trials), drop)
                beyond = np.round(differ - LIMIT, 12)
                above, below = p_of_limits(beyond, Design().settle())
                same = ~np.any(differ, axis=0)
                worse, within = np.mean((above < ALPHA) & ~same), np.mean((below < ALPHA) | same)
                rows.append([name, queries, f"{drop:g}", float(worse), float(1 - worse - within), float(within)])
    return Table(["drops", "queries", "true drop", "worse", "undecided", "not worse"], rows, 3)


JUDGED = ((10, 200), (25, 200), (50, 500))
"""human-labelled queries, and all that the judge labelled"""
BIAS = 0.03
"""how far the judge is wrong on every query"""


def judge_coverage(trials: int) -> Table:
    """Return how often the interval of a mean difference covers it if a judge labelled more queries than people.

    On a share of the queries, the judge has the human value; on the others, that of another query of the same kind.
    """
    judges = {f"{share:g}": partial(_right_or_by_chance, share=share) for share in (0.3, 0.8)}
    return _judge_coverage(trials, judges, "judge right")


def noisy_judge_coverage(trials: int) -> Table:
    """Return the same for a judge that adds normal noise to the human value of every query."""
    return _judge_coverage(trials, {f"{r:g}": partial(_with_noise, correlation=r) for r in (0.5, 0.8)}, "correlation")


def _right_or_by_chance(rng: np.random.Generator, human: Any, other: Any, share: float) -> Any:
    return np.where(rng.random(human.shape) < share, human, other)


def _with_noise(rng: np.random.Generator, human: Any, other: Any, correlation: float) -> Any:
    return human + rng.normal(0, other.std() * sqrt(correlation**-2 - 1), human.shape)


def _judge_coverage(trials: int, judges: dict[str, Callable[..., Any]], title: str) -> Table:
    rows: list[list[Any]] = []
    for name, draw in NULLS.items():
        for kind, judge in judges.items():
            for queries, total in JUDGED:
                rng = np.random.default_rng(queries)
                human, other = (np.round(draw(rng, (total, trials)), 12) for _ in range(2))
                judged = judge(rng, human, other) + BIAS
                sample = Sample(human[:queries], judged, np.arange(queries))
                found = {(t, s): regress(sample, t, s) for t in ("like", "these") for s in ("auto", 1)}
                alone = found["like", 1].alone.intervals(1 - ALPHA)
                every = [
                    _covers(estimates.together.intervals(1 - ALPHA), 0.0 if target == "like" else human.mean(axis=0))
                    for (target, _), estimates in found.items()
                ]
                rows.append([name, kind, f"{queries} of {total}", _covers(alone, 0.0), *every])
    header = ["human alone", "like, auto", "like, slope 1", "these, auto", "these, slope 1"]
    return Table(["null", title, "queries", *header], rows, 3)


def _covers(intervals: Any, mean: Any) -> float:
    """Return the share of intervals that contain the mean; a missing interval contains everything."""
    low, high = intervals
    return float(np.mean(~((low > mean) | (high < mean))))


TOPICS = {
    "gate": (gate_verdicts,),
    "judge": (judge_coverage, noisy_judge_coverage),
    "systems": (seed_errors, uneven_seed_errors, collection_errors),
}
"""tables that are printed by themselves"""


def main() -> None:
    """Print all tables."""
    topic = sys.argv[1] if sys.argv[1:] and sys.argv[1] in TOPICS else ""
    numbers = sys.argv[2:] if topic else sys.argv[1:]
    trials = int(numbers[0]) if numbers else TRIALS
    if topic:
        for table in TOPICS[topic]:
            print(to_markdown(table(trials)))
        return
    for title, table in (
        ("Type I errors", type_one_errors(trials)),
        ("Type I errors with very few queries", errors_of_few(trials)),
        ("Family-wise errors", family_errors(trials // 2)),
        ("Coverage of intervals of means", coverage(trials)),
        ("Coverage of all intervals of differences at once", simultaneous_coverage(trials // 2)),
    ):
        print(f"{title}\n\n{to_markdown(table)}")


if __name__ == "__main__":
    main()
