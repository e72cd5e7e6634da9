"""M08 §1: how far arbitrary orders of ties move each measure, and whether they reorder scoring functions.

The paper discusses single features, which may be discrete; full runs are added for comparison.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from gradely import Qrels, Settings, read_qrels
from gradely.comparison.kendall import DIGITS, defined_or_none, kendall
from gradely.data.ids import Floats
from gradely.measures.names import parse_all
from gradely.settings import TiePolicy
from gradely_papers.charts import altair, categories, draw, style
from gradely_papers.experiment import Experiment, Figure, Library, Observation, Outcome, Sheet, claim
from gradely_papers.judged_collections import DATA, NEEDS, collections, has_enough, on_each, skipping, stack_runs
from gradely_papers.letor import OHSUMED, PARTITIONS, read_letor
from gradely_papers.mcsherry2008.enumeration import PRINTED
from gradely_papers.progress import Report, ignore, part
from gradely_papers.run_orders import signs
from gradely_papers.verdicts import Record, Verdict, decide, group_by, listed

MEASURES = ("P@10", "R@100", "F1@10", "AP", "RR", "nDCG@10", "RBP", "ERR@10", "muAP", "bpref")
POLICIES: tuple[TiePolicy, ...] = ("expected", "trec", "order", "best", "worst")
SEEDS = 10
"""the number of random orders of ties"""


class Means(NamedTuple):
    """Means over all topics [systems, measures], by tie policy and for random orders."""

    systems: list[str]
    measures: list[str]
    by_policy: dict[TiePolicy, Floats]
    at_random: Floats
    """[seeds, systems, measures]"""

    def column(self, measure: str) -> int:
        """Return the column of a measure."""
        return self.measures.index(measure)


def read(
    qrels: Qrels, runs: Mapping[str, Any] | Sequence[Any], seed: int, seeds: int = SEEDS, progress: Report = ignore
) -> Means:
    """Evaluate all runs under all policies, with random orders derived from one seed."""
    measures = parse_all(MEASURES)
    draws = np.random.default_rng(seed).integers(0, 2**31, seeds).tolist()
    cases: list[tuple[TiePolicy, int]] = [*((policy, 0) for policy in POLICIES), *(("random", draw) for draw in draws)]
    tables: list[Floats] = []
    names: list[str] = []
    for i, (ties, drawn) in enumerate(cases):
        systems = stack_runs(qrels, runs, Settings(ties, seed=drawn), part(progress, i, len(cases)))
        names = systems.names
        tables.append(np.round(systems.values(measures).mean(axis=1), DIGITS))
    policies = dict(zip(POLICIES, tables, strict=False))
    return Means(names, list(measures), policies, np.stack(tables[len(POLICIES) :]))


def moves(means: Means) -> list[Record]:
    """Return for each measure how far breaking ties moves a system, on average and at most."""
    expected, best, worst = (means.by_policy[policy] for policy in ("expected", "best", "worst"))
    by_name = np.abs(means.by_policy["trec"] - expected)
    by_chance = np.abs(means.at_random - expected).max(axis=0)
    return [
        {
            "measure": name,
            "by name, mean": float(by_name[:, i].mean()),
            "by name, most": float(by_name[:, i].max()),
            "at random, most": float(by_chance[:, i].max()),
            "worst to best order, most": float((best - worst)[:, i].max()),
            "system": means.systems[int((best - worst)[:, i].argmax())],
            "systems": len(means.systems),
            "with an open order": len({x for pair in list_undecided(worst[:, i], best[:, i]) for x in pair}),
        }
        for i, name in enumerate(means.measures)
    ]


def reorderings(means: Means) -> list[Record]:
    """Return for each measure how breaking ties changes the ranking of the systems by means over all orders."""
    return [{"measure": name} | _compare_orders(means, i) for i, name in enumerate(means.measures)]


def _compare_orders(means: Means, i: int) -> Record:
    expected, names, input_order, best, worst = (means.by_policy[policy][:, i] for policy in POLICIES)
    taus = [kendall(expected, values) for values in means.at_random[:, :, i]]
    correlations = {
        "τ by name": kendall(expected, names),
        "τ file order": kendall(expected, input_order),
        "τ at random, mean": float(np.mean(taus)),
        "τ at random, least": float(np.min(taus)),
    }
    return {name: defined_or_none(tau) for name, tau in correlations.items()} | {
        "pairs": len(expected) * (len(expected) - 1) // 2,
        "swapped by name": count_swaps(expected, names),
        "swapped in file order": count_swaps(expected, input_order),
        "swapped at random": max(count_swaps(expected, values) for values in means.at_random[:, :, i]),
        EITHER: len(list_undecided(worst, best)),
    }


def count_swaps(first: Floats, second: Floats) -> int:
    """Return the number of pairs of systems in opposite orders.

    >>> count_swaps(np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0]))
    1
    """
    return int(np.count_nonzero(signs(first) * signs(second) < 0))


def list_undecided(worst: Floats, best: Floats) -> list[tuple[int, int]]:
    """Return the pairs of systems that can have either order, depending on how ties are broken.

    >>> list_undecided(np.array([0.1, 0.2, 0.6]), np.array([0.3, 0.4, 0.6]))
    [(0, 1)]
    """
    return [(i, j) for i, j in combinations(range(len(best)), 2) if worst[i] < best[j] and worst[j] < best[i]]


SEVERAL = 3
"""the fewest scoring functions that are “several”; the limit is ours"""


def write_features(source: Path, target: Path) -> tuple[Qrels, list[Path]]:
    """Write each feature of OHSUMED as a run file, and return the judgments and the files."""
    parts = read_letor(source, PARTITIONS)
    judged: dict[str, dict[str, float]] = {}
    for each in parts:
        for query, doc, label in zip(each.queries, each.names, each.labels.tolist(), strict=True):
            judged.setdefault(query, {})[doc] = label
    runs = [target / f"feature {number}" for number in range(1, parts[0].features.shape[1] + 1)]
    for column, run in enumerate(runs):
        rows = (row for each in parts for row in zip(each.queries, each.names, each.features[:, column], strict=True))
        run.write_text("".join(f"{query} Q0 {doc} 0 {score} feature\n" for query, doc, score in rows), "utf-8")
    return read_qrels(judged), runs


SHOWN, BY = 20, "nDCG@10"
"""the number of systems in a figure, those that ties move most, and the measure"""
VISIBLE = 0.001
"""the smallest move that shows in three decimals; the limit is ours"""
WAYS, EITHER = ("swapped by name", "swapped in file order", "swapped at random"), "in either order"


def label(tables: dict[str, list[Record]]) -> list[Record]:
    """Return the rows of all collections with the names of the collections."""
    return [{"collection": name} | row for name, rows in tables.items() for row in rows]


def by_collection(moved: list[Record]) -> Iterable[tuple[str, list[Record]]]:
    """Yield the rows of each collection."""
    return group_by("collection", moved).items()


def _range(row: Record) -> float:
    return float(row["worst to best order, most"])


@claim(
    "abstract, §1",
    printed="words",
    quote="there are multiple possible orderings of the result set, each one performing differently",
    criterion=f"at least one measure of one run moves by {VISIBLE} or more from the worst order of ties to the best",
    split=by_collection,
)
def performs_differently(rows: list[Record]) -> Verdict:
    """Tied scores allow several orders of the results with different performance."""
    return decide(max(map(_range, rows)) >= VISIBLE, _moves(rows))


@claim(
    "§1",
    printed="words",
    quote="appreciably different …, large enough to affect the relative ordering of several of the scoring functions",
    criterion=f"by at least one measure of the paper, {SEVERAL} or more scoring functions come before or after another"
    " one, depending on the order of ties",
    split=by_collection,
)
def affects_order(rows: list[Record]) -> Verdict:
    """Different sorted orders change the relative order of several scoring functions."""
    own = [row for row in rows if row["measure"].partition("@")[0] in PRINTED]
    most = max(own, key=lambda row: int(row["with an open order"]))
    counts = ", ".join(f"{row['measure']} {row['with an open order']}" for row in own)
    return decide(most["with an open order"] >= SEVERAL, f"of {most['systems']}: {counts}")


def _moves(rows: list[Record]) -> str:
    least, *_, most = sorted(rows, key=_range)
    return (
        f"from the worst order to the best, {most['measure']} of {most['system']} moves by"
        f" {_range(most):.4f}; document names move a measure by up to"
        f" {max(row['by name, most'] for row in rows):.4f}; {least['measure']} moves least, by at most"
        f" {_range(least):.4f}"
    )


def observations(moved: list[Record], reordered: list[Record]) -> list[Observation]:
    """Return how far each measure moves, and whether breaking ties reorders the systems of each collection."""
    ranges = {name: fmean(map(_range, rows)) for name, rows in group_by("measure", moved).items()}
    order = listed({name: ranges[name] for name in sorted(ranges, key=lambda name: -ranges[name])}, 4)
    return [
        Observation(
            "How far does each measure move at most from the worst order to the best, averaged over all collections?",
            order,
        ),
        *(
            Observation(f"{name}: does breaking ties reorder systems?", _reorders(rows))
            for name, rows in by_collection(reordered)
        ),
    ]


def _reorders(rows: list[Record]) -> str:
    counts = {way: max((int(row[way]), str(row["measure"])) for row in rows) for way in (*WAYS, EITHER)}
    ways = ", ".join(f"{way} {f'up to {n} ({measure})' if n else 'none'}" for way, (n, measure) in counts.items())
    taus = [row["τ at random, least"] for row in rows if row["τ at random, least"] is not None]
    lowest = f"lowest τ {min(taus):.4f}" if taus else "no τ, since all systems tie"
    return f"Of {rows[0]['pairs']:,} pairs of systems: {ways}; {lowest}."


def agreement(reordered: list[Record]) -> Any:
    """Return the lowest τ between the rankings by random orders of ties and by the mean over all orders."""
    alt = altair()
    dots = (
        draw(reordered)
        .mark_point(filled=True, size=80, opacity=1)
        .encode(
            x=alt.X(
                "τ at random, least:Q",
                title="lowest τ, ties broken at random",
                scale=alt.Scale(zero=False, padding=10, nice=False),
            ),
            y=alt.Y("measure:N", title=None, sort=[*MEASURES]),
            yOffset="collection:N",  # most are 1 and would overlap
            **categories("collection", list(group_by("collection", reordered))),
        )
    )
    return style(dots.properties(width=460, height=420))


def ranges(means: Means, measure: str) -> Any:
    """Return the deviations of other tie policies from the mean over all orders, for the systems that move most."""
    alt = altair()
    rows = list_deviations(means, measure)[:SHOWN]
    system = alt.Y("system:N", title=None, sort=[row["system"] for row in rows])
    title = f"{measure} minus its mean over all orders; bars: from the worst order to the best"
    bars = (
        draw(rows)
        .mark_bar(height=9, color="#c8c8c8")
        .encode(x=alt.X("worst:Q", title=title, scale=alt.Scale(padding=10)), x2="best:Q", y=system)
    )
    broken = [
        {"system": row["system"], "ties": ties, "value": row[policy]}
        for row in rows
        for policy, ties in (("trec", "by name"), ("order", "in file order"))
    ]
    points = (
        draw(broken)
        .mark_point(filled=True, size=70, opacity=1)
        .encode(x="value:Q", y=system, **categories("ties", ["by name", "in file order"], title="ties"))
    )
    return style((bars + points).properties(width=480))


def list_deviations(means: Means, measure: str) -> list[Record]:
    """Return the deviation of every policy from the mean over all orders, with the most moved system first."""
    i = means.column(measure)
    apart = {policy: (table - means.by_policy["expected"])[:, i].tolist() for policy, table in means.by_policy.items()}
    rows = [{"system": name} | {policy: apart[policy][j] for policy in apart} for j, name in enumerate(means.systems)]
    return sorted(rows, key=lambda row: float(row["worst"]) - float(row["best"]))


def run(library: Library, seed: int, progress: Report) -> Outcome:
    """Evaluate every collection with enough runs under every tie policy."""
    selection = [collection for collection in collections(library) if has_enough(collection)]
    means = {}
    with skipping(library, OHSUMED), TemporaryDirectory() as folder:
        features = write_features(library.path(OHSUMED), Path(folder))
        means["OHSUMED, features"] = read(*features, seed, progress=part(progress, 0, 4))
    means |= on_each(
        library,
        selection,
        lambda data, progress: read(data.qrels, data.runs, seed, progress=progress),
        lambda done: progress((1 + 3 * done) / 4),
    )
    moved, reordered = (label({name: table(runs) for name, runs in means.items()}) for table in (moves, reorderings))
    where = str(max((row for row in moved if row["measure"] == BY), key=_range)["collection"])
    sizes = ", ".join(f"{name} with {len(each.systems)}" for name, each in means.items())
    return Outcome(
        "§1 discusses individual, potentially discrete features instead of full systems. We therefore ranked the"
        " documents of OHSUMED, if it is available, by each of its features. For comparison, we added full runs:"
        f" {', '.join(str(each) for each in selection if each.name in means)}. For {len(MEASURES)} measures, we"
        " computed the mean over all orders of ties, the values with ties broken by document name, as in trec_eval, in"
        f" file order and {SEEDS} times at random, and the best and the worst order for each measure.",
        moved,
        {
            "moves": Sheet.of("How far the order of ties moves a system", moved),
            "reorderings": Sheet.of(
                "Rankings of systems, compared with the ranking by means over all orders", reordered
            ),
        },
        {
            "ranges": Figure(
                f"{where}: those of {len(means[where].systems)} scoring functions that ties move most.",
                ranges(means[where], BY),
            ),
            "agreement": Figure(
                f"The lowest τ of {SEEDS} random orders of ties with the mean over all orders: {sizes}.",
                agreement(reordered),
            ),
        },
        observations(moved, reordered),
    )


EXPERIMENT = Experiment(
    "m08-ties",
    "§1",
    "How far the order of ties moves measures and reorders systems",
    "Sorting breaks ties in an arbitrary order. Equal scores then give values that depend on names, files or the"
    " sorting algorithm. The mean over all orders does not depend on them.",
    run,
    (("§1", "ranges, agreement, moves, reorderings"),),
    claims=(performs_differently, affects_order),
    needs=NEEDS,
    data=f"{OHSUMED}, and {DATA}",
)
