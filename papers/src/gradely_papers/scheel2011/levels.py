"""S11, figures 4 and 5: how measures depend on the number of levels, on unused levels and on items per level."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np

from gradely import AP
from gradely.data.ids import Floats, Ints
from gradely.evaluation.notes import SAME
from gradely_papers.charts import altair, draw_dashes, draw_lines, style
from gradely_papers.experiment import THEOREM, Claim, Experiment, Figure, Library, Observation, Outcome, Sheet, claim
from gradely_papers.progress import Report, ignore, part
from gradely_papers.rankings import rank_labels
from gradely_papers.scheel2011.means import MEANS, SMALL
from gradely_papers.verdicts import Record, Verdict, decide, group_by, listed

ITEMS, SWAPS, RUNS = 100, 100, 100
LEVELS = (2, 10, 20, 50)


class Curves(NamedTuple):
    """The mean over all runs of each measure, [numbers of levels, swaps]."""

    values: dict[str, Floats]
    swaps: list[int]

    def records(self) -> list[Record]:
        """Return one row per measure, number of levels and number of swaps."""
        return [
            {"measure": name, "levels": levels, "swaps": swaps, "value": float(value)}
            for name, table in self.values.items()
            for levels, row in zip(LEVELS, table, strict=True)
            for swaps, value in zip(self.swaps, row, strict=True)
        ]

    def spread(self, measure: str) -> float:
        """Return the range of the values over the numbers of levels, averaged over all swaps."""
        return float(np.mean(np.ptp(self.values[measure], axis=0)))


class Evidence(NamedTuple):
    """The curves of both figures, variations at a fixed number of levels, and every single swap."""

    drawings: dict[str, Curves]
    varied: list[Record]
    """what varies, its value, levels, measure, and the mean over all swaps"""
    swaps: "Swaps"


class Swaps(NamedTuple):
    """All swaps of two items of different levels in a sorted list, with a value for each."""

    distance: Ints
    """the distance between the levels of the two items"""
    loss: dict[str, Floats]
    """the loss in each measure"""
    constant: dict[int, float]
    """by threshold, the share of the swaps that do not change average precision"""

    def mean_losses(self) -> dict[str, dict[int, float]]:
        """Return the mean loss by measure and distance."""
        return {
            name: {int(x): float(loss[self.distance == x].mean()) for x in np.unique(self.distance)}
            for name, loss in self.loss.items()
        }


def swap_pairs(rng: np.random.Generator, runs: int, swaps: int) -> Ints:
    """Return [runs, swaps, items]: the sorted items, then the items after 1, 2, … swaps of a random pair."""
    order = np.broadcast_to(np.arange(ITEMS), (runs, ITEMS)).copy()
    out = [order.copy()]
    every = np.arange(runs)
    for _ in range(swaps - 1):
        first = rng.integers(ITEMS, size=runs)
        second = (first + rng.integers(1, ITEMS, size=runs)) % ITEMS
        order[every, first], order[every, second] = order[every, second], order[every, first]
        out.append(order.copy())
    return np.stack(out, axis=1)


Draw = Callable[[np.random.Generator, int], Ints]
"""takes a random generator and a number of levels, and returns the grades of the items, best first"""


def list_in_order(levels: int = 10) -> Ints:
    """Return grades from levels - 1 down to 0, with the same number of items each."""
    return np.arange(ITEMS)[::-1] * levels // ITEMS


def draw_uniform(rng: np.random.Generator, levels: int) -> Ints:  # noqa: ARG001 - nothing is drawn
    """Return items spread evenly over the levels."""
    return list_in_order(levels)


def draw_uneven(rng: np.random.Generator, levels: int) -> Ints:
    """Return items of a random half of the levels, including the lowest and the highest, with random shares."""
    top, others = levels - 1, max(0, levels // 2 - 2)
    used = np.concatenate([[0, top], rng.permutation(np.arange(1, top))[:others]])
    share = rng.dirichlet(np.ones(len(used)))
    grades = np.concatenate([[0, top], rng.choice(used, size=ITEMS - 2, p=share)])
    return np.sort(grades)[::-1]


def draw_free(rng: np.random.Generator, levels: int) -> Ints:
    """Return items of a random half of the levels, with random shares."""
    used = rng.permutation(levels)[: max(2, levels // 2)]
    return np.sort(rng.choice(used, size=ITEMS, p=rng.dirichlet(np.ones(len(used)))))[::-1]


def number_from_one(draw: Draw) -> Draw:
    """Return lists with levels numbered 1 … L, so every item is relevant."""
    return lambda rng, levels: draw(rng, levels) + 1


def curves(
    draw: Draw, seed: int, runs: int = RUNS, swaps: int = SWAPS, step: int = 1, progress: Report = ignore
) -> Curves:
    """Return the curves of all measures at every `step` swaps, using the same swaps for every number of levels."""
    rng = np.random.default_rng(seed)
    order = swap_pairs(rng, runs, swaps)[:, ::step]
    values: dict[str, list[Floats]] = {name: [] for name in MEANS}
    for i, levels in enumerate(LEVELS):
        for name, row in measure_swaps(draw, rng, levels, order).items():
            values[name].append(row)
        progress((i + 1) / len(LEVELS))
    return Curves({name: np.stack(rows) for name, rows in values.items()}, list(range(0, swaps, step)))


def measure_swaps(draw: Draw, rng: np.random.Generator, levels: int, order: Ints) -> dict[str, Floats]:
    """Return by measure the mean over all runs for each number of swaps, given as [runs, swaps, items]."""
    grades = np.stack([draw(rng, levels) for _ in order])
    batch = rank_labels(np.take_along_axis(grades[:, None, :], order, axis=2).reshape(-1, ITEMS))
    return {name: mean(batch).reshape(len(grades), -1).mean(axis=0) for name, mean in MEANS.items()}


UNUSED, SIZES = "unused levels", "items per level"
SHARES = (0.0, 0.25, 0.5, 0.75)
"""shares of unused levels; the lowest and the highest level are always used"""


def leave_unused(rng: np.random.Generator, levels: int, share: float) -> Ints:
    """Return items spread evenly over the levels that remain if a share of them, drawn at random, is unused."""
    others = max(0, round((1 - share) * levels) - 2)
    used = np.sort(np.concatenate([[0, levels - 1], rng.permutation(np.arange(1, levels - 1))[:others]]))
    return used[list_in_order(len(used))]


def _fewer_above(rng: np.random.Generator, levels: int) -> Floats:  # noqa: ARG001 - nothing is drawn
    return np.arange(levels, 0, -1) / (levels * (levels + 1) / 2)


WEIGHTS: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "fewer, the higher": _fewer_above,
    "as many each": lambda rng, levels: np.full(levels, 1 / levels),  # noqa: ARG005 - nothing is drawn
    "at random": lambda rng, levels: rng.dirichlet(np.ones(levels)),
    "more, the higher": lambda rng, levels: _fewer_above(rng, levels)[::-1],
}
"""ways to spread items over all levels"""


def spread_items(rng: np.random.Generator, levels: int, how: str) -> Ints:
    """Return one item of each level, and the others spread by weight."""
    ends = np.round(np.cumsum(WEIGHTS[how](rng, levels)) * (ITEMS - levels)).astype(np.int64)
    return np.repeat(np.arange(levels), 1 + np.diff(ends, prepend=0))[::-1]


def vary(seed: int, runs: int = RUNS, swaps: int = SWAPS, step: int = 5, progress: Report = ignore) -> list[Record]:
    """Return the mean of each measure over all swaps, by share of unused levels and by items per level."""
    cases: list[tuple[str, str, Draw, int]] = [
        *((UNUSED, f"{x:.0%}", partial(leave_unused, share=x), levels) for x in SHARES for levels in LEVELS[1:]),
        *((SIZES, how, partial(spread_items, how=how), levels) for how in WEIGHTS for levels in LEVELS),
    ]
    order = swap_pairs(np.random.default_rng(seed), runs, swaps)[:, ::step]
    out = []
    for i, (varies, value, draw, levels) in enumerate(cases):
        for name, row in measure_swaps(draw, np.random.default_rng([seed, i]), levels, order).items():
            out.append({"varies": varies, "value": value, "levels": levels, "measure": name, "mean": float(row.mean())})
        progress((i + 1) / len(cases))
    return out


def swap_every_pair(grades: Ints) -> Swaps:
    """Swap every two items of different levels in a list, one pair at a time."""
    first, second = np.triu_indices(len(grades), 1)
    distance = np.abs(grades[first] - grades[second])
    first, second, distance = (array[distance > 0] for array in (first, second, distance))
    lists = np.tile(grades, (len(first), 1))
    every = np.arange(len(first))
    lists[every, first], lists[every, second] = grades[second], grades[first]
    batch = rank_labels(lists)
    thresholds = (int(level) for level in np.unique(grades) if level > 0)
    constant = {t: float(np.mean(np.asarray(AP(rel=t)(batch)) > 1 - SAME)) for t in thresholds}
    return Swaps(distance, {name: 1 - mean(batch) for name, mean in MEANS.items()}, constant)


STEP = 5
"""variants are measured after every fifth swap only, since they are compared and not drawn"""
FIGURES: dict[str, tuple[str, Draw]] = {
    "figure-4": ("Items spread evenly over the levels", draw_uniform),
    "figure-5": ("Items spread unevenly, half of the levels unused", draw_uneven),
}
VARIANTS: dict[str, Draw] = {
    "figure 5, with or without the lowest and the highest level": draw_free,
    "figure 4, levels numbered 1 … L": number_from_one(draw_uniform),
    "figure 5, levels numbered 1 … L": number_from_one(draw_uneven),
}
"""other readings of how the paper generates its lists"""


def chart(curve: Curves) -> Any:
    """Return the values by number of swaps, with a line for each number of levels."""
    alt = altair()
    x, scale = alt.X("swaps:Q", title="swaps of a random pair"), alt.Scale(domain=[0, 1.02], nice=False)
    y = alt.Y("value:Q", title=f"mean over {RUNS} runs of {ITEMS} items", scale=scale)
    lines = draw_dashes(curve.records(), x, y, "levels", LEVELS, "levels")
    return style(lines.properties(width=230, height=230).facet(alt.Column("measure:N", title=None, sort=[*MEANS])))


def chart_varied(records: list[Record]) -> Any:
    """Return the mean over all swaps, with a line for each number of levels and a row of panels for each variation."""
    alt = altair()
    rows = []
    for varies, varied in group_by("varies", records).items():
        own = [record | {"levels": f"{record['levels']} levels"} for record in varied]
        order = list(group_by("value", own))
        x = alt.X("value:O", title=varies, sort=order, axis=alt.Axis(labelAngle=-30))
        y = alt.Y("mean:Q", title="mean over all swaps", scale=alt.Scale(domain=[0.4, 1], nice=False))
        lines = draw_lines(own, x, y, "levels", [f"{levels} levels" for levels in LEVELS]).properties(
            width=230, height=200
        )
        rows.append(lines.facet(alt.Column("measure:N", title=None, sort=[*MEANS])))
    return style(alt.vconcat(*rows))


def falls(curve: Curves) -> Verdict:
    """Return whether mean nDCG falls as the number of levels grows."""
    means = curve.values["mean nDCG"].mean(axis=1).tolist()
    here = "mean over all swaps for 2, 10, 20, 50 levels: " + ", ".join(f"{mean:.3f}" for mean in means)
    return decide(all(more < fewer for fewer, more in pairwise(means)), here)


def is_steady(curve: Curves, measure: str) -> Verdict:
    """Return whether the number of levels changes a measure much less than nDCG."""
    spread, base = curve.spread(measure), curve.spread("mean nDCG")
    here = f"spread across levels {spread:.4f}, {ratio(curve, measure):.0%} of the spread of mean nDCG, {base:.4f}"
    return decide(spread < SMALL * base, here)


def ratio(curve: Curves, measure: str) -> float:
    """Return the spread of a measure across levels as a share of the spread of mean nDCG."""
    return curve.spread(measure) / curve.spread("mean nDCG")


def sensitivity(variants: dict[str, Curves]) -> list[Record]:
    """Return the spread of each measure under each reading."""
    return [
        {"reading": name}
        | {f"spread of {measure}": curve.spread(measure) for measure in MEANS}
        | {f"{measure}, share of nDCG": ratio(curve, measure) for measure in ("µMAP", "mean NDCNG")}
        for name, curve in variants.items()
    ]


def observations(rows: list[Record]) -> list[Observation]:
    """Say how far the verdicts depend on the generation of the lists, which the paper leaves open."""
    worst = max(rows, key=lambda row: max(row["µMAP, share of nDCG"], row["mean NDCNG, share of nDCG"]))
    shares = "; ".join(
        f"{row['reading']}: µMAP {row['µMAP, share of nDCG']:.0%}, NDCNG {row['mean NDCNG, share of nDCG']:.0%}"
        for row in rows
    )
    return [
        Observation(
            f"Do the verdicts on figures 4 and 5 depend on how the lists are generated? (The limit is {SMALL:.0%}.)",
            f"Spread across levels as a share of nDCG's: {shares}. Largest: {worst['reading']}.",
        )
    ]


def run(library: Library, seed: int, progress: Report) -> Outcome:  # noqa: ARG001 - no data needed
    """Draw the lists and measure them."""
    steps = len(FIGURES) + len(VARIANTS) + 2
    drawings = {
        name: curves(draw, seed, progress=part(progress, i, steps))
        for i, (name, (_, draw)) in enumerate(FIGURES.items())
    }
    others = {
        name: curves(draw, seed, step=STEP, progress=part(progress, i, steps))
        for i, (name, draw) in enumerate(VARIANTS.items(), len(FIGURES))
    }
    varied = vary(seed, progress=part(progress, steps - 2, steps))
    evidence = Evidence(drawings, varied, swap_every_pair(list_in_order()))
    rows = sensitivity({name.replace("-", " "): curve for name, curve in drawings.items()} | others)
    return Outcome(
        f"We sorted {ITEMS} items by grade, swapped 0 to {SWAPS - 1} random pairs, and averaged {RUNS} runs, using the"
        " same swaps for every number of levels. For uneven lists, each run uses a random half of the levels, including"
        " the lowest and the highest, with random shares of the items; how the paper spreads them is unknown."
        " Mean nDCG and mean NDCNG are means over all cut-offs, as in table 2; the gain is 2^g - 1. In addition, at a"
        " fixed number of levels, we varied the share of unused levels, with items spread evenly over the others, and"
        " the number of items of each level, with all levels in use.",
        evidence,
        {name: Sheet.of(title, drawings[name].records()) for name, (title, _) in FIGURES.items()}
        | {
            "varied": Sheet.of("Unused levels and items per level", varied),
            "sensitivity": Sheet.of("Other readings of how the lists are generated", rows),
        },
        {
            name: Figure(f"{title}: the value by the number of swaps.", chart(drawings[name]))
            for name, (title, _) in FIGURES.items()
        }
        | {"varied": Figure("Unused levels and items per level: the mean over all swaps.", chart_varied(varied))},
        observations(rows),
    )


def claim_steady(figure: str, measure: str) -> Claim:
    """Return the claim that a measure does not depend on the number of levels in a figure."""
    return Claim(
        f"{figure}-{measure}",
        figure.replace("-", " "),
        f"The value of {measure} does not depend on the number of levels.",
        "figure only",
        f"its spread across levels is less than {SMALL:.0%} of the spread of mean nDCG",
        lambda evidence: is_steady(evidence.drawings[figure], measure),
    )


def claim_figure(figure: str) -> list[Claim]:
    """Return the claims on a figure."""
    how = FIGURES[figure][0].lower()
    ndcg = Claim(
        f"{figure}-nDCG",
        figure.replace("-", " "),
        f"The value of nDCG for an unsorted list falls with the number of levels ({how}).",
        "figure only",
        "the mean over all swaps falls from each number of levels to the next higher one",
        lambda evidence: falls(evidence.drawings[figure]),
    )
    return [ndcg, *(claim_steady(figure, measure) for measure in ("µMAP", "mean NDCNG"))]


def by_levels(varies: str) -> Callable[[Evidence], Iterator[tuple[str, dict[str, float]]]]:
    """Return a function that yields, for each number of levels, how far each measure moves under a variation."""

    def split(evidence: Evidence) -> Iterator[tuple[str, dict[str, float]]]:
        for levels, records in group_by("levels", group_by("varies", evidence.varied)[varies]).items():
            by_measure = group_by("measure", records).items()
            yield f"{levels} levels", {name: float(np.ptp([r["mean"] for r in rows])) for name, rows in by_measure}

    return split


def moves_little(moves: dict[str, float]) -> Verdict:
    """Return whether µMAP and NDCNG move much less than nDCG."""
    others = max(moves["µMAP"], moves["mean NDCNG"])
    return decide(others < SMALL * moves["mean nDCG"], f"ranges: {listed(moves, 3)}")


LITTLE = f"µMAP and NDCNG move by less than {SMALL:.0%} of nDCG's move"


@claim(
    "figure 5, §4",
    printed="it asks “how unused relevance levels influence”",
    criterion=f"{LITTLE} when 0 to about 75 % of the levels are unused",
    split=by_levels(UNUSED),
)
def unused(moves: dict[str, float]) -> Verdict:
    """Unused levels change nDCG, and hardly change µMAP and NDCNG."""
    return moves_little(moves)


@claim(
    "figure 5, §4",
    printed="it asks for the “number of items per rank”",
    criterion=f"{LITTLE} over four ways to spread items over levels",
    split=by_levels(SIZES),
)
def sizes(moves: dict[str, float]) -> Verdict:
    """The numbers of items per level change nDCG, and hardly change µMAP and NDCNG."""
    return moves_little(moves)


CLOSE = 0.9
"""rank correlations of at least this are a trend"""


def by_curve(evidence: Evidence) -> Iterator[tuple[str, list[float]]]:
    """Yield the correlations of swaps and value, one for each number of levels, by figure and measure."""
    for figure, curve in evidence.drawings.items():
        for name, table in curve.values.items():
            yield f"{figure.replace('-', ' ')}, {name}", [rank_correlation(curve.swaps, row) for row in table]


@claim(
    "figures 4 and 5, §2.1",
    printed="figures only",
    criterion=f"Spearman's correlation of swaps and value is -{CLOSE} or less for every number of levels",
    split=by_curve,
)
def decreases(trends: list[float]) -> Verdict:
    """The value falls with the number of swaps."""
    return decide(max(trends) <= -CLOSE, f"correlations between {min(trends):.3f} and {max(trends):.3f}")


def rank_correlation(x: Any, y: Any) -> float:
    """Return Spearman's correlation, or 0 if one of the variables is constant."""
    return float(np.corrcoef(ranks(x), ranks(y))[0, 1]) if np.ptp(x) > 0 and np.ptp(y) > 0 else 0.0


def ranks(values: Any) -> Any:
    """Return the rank of each value; tied values have their mean rank.

    >>> ranks([5, 1, 5]).tolist()
    [2.5, 1.0, 2.5]
    """
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(count) - (count - 1) / 2)[place]


@claim(
    "§2.1",
    printed="words",
    criterion=f"Spearman's correlation of the distance and the mean loss is {CLOSE} or more",
    split=lambda evidence: evidence.swaps.mean_losses().items(),
)
def by_distance(losses: dict[int, float]) -> Verdict:
    """The cost of a swap of two items depends on the distance of their levels."""
    (near, least), *_, (far, most) = losses.items()
    trend = rank_correlation([*losses], [*losses.values()])
    here = f"mean loss of one swap {least:.4f} at distance {near}, {most:.4f} at {far}"
    return decide(trend >= CLOSE, f"correlation {trend:.3f}; {here}")


@claim(
    "§4",
    printed="words",
    criterion="on average over all thresholds, more than half of the swaps of two items of different levels do not"
    " change average precision",
    kind=THEOREM,
)
def constant(evidence: Evidence) -> Verdict:
    """Average precision at a threshold is often equal for lists in different orders."""
    shares = evidence.swaps.constant
    mean = float(np.mean(list(shares.values())))
    here = f"{mean:.0%} on average, {min(shares.values()):.0%} to {max(shares.values()):.0%} by threshold"
    return decide(mean > 1 / 2, f"{here}; {len(shares) + 1} levels, {len(evidence.swaps.distance):,} swaps")


EXPERIMENT = Experiment(
    "s11-levels",
    "figures 4 and 5",
    "How nDCG, µMAP and NDCNG depend on the number of levels",
    "The value of nDCG for an unsorted list falls with the number of levels, so values for different scales cannot be"
    " compared. µMAP and NDCNG do not depend on the number of levels.",
    run,
    (("figure 4", "figure-4"), ("figure 5", "figure-5, varied"), ("figures 4 and 5", "sensitivity")),
    claims=(*chain.from_iterable(map(claim_figure, FIGURES)), unused, sizes, decreases, by_distance, constant),
)
