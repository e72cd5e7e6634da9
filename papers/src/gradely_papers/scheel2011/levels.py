"""S11, figures 4 and 5: what the number of levels does to each measure."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from gradely.data.ids import Floats, Ints
from gradely_papers.charts import altair, draw_dashes, style
from gradely_papers.experiment import Claim, Experiment, Figure, Library, Observation, Outcome, Sheet
from gradely_papers.progress import Report, ignore, part
from gradely_papers.rankings import rank_labels
from gradely_papers.scheel2011.means import MEANS
from gradely_papers.verdicts import Record, Verdict, decide

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
        """Return how far apart the numbers of levels are, the mean over all swaps."""
        return float(np.mean(np.ptp(self.values[measure], axis=0)))


def swap_pairs(rng: np.random.Generator, runs: int, swaps: int) -> Ints:
    """Return [runs, swaps, items]: the items in order, then after 1, 2, … swaps of a random pair."""
    order = np.broadcast_to(np.arange(ITEMS), (runs, ITEMS)).copy()
    out = [order.copy()]
    every = np.arange(runs)
    for _ in range(swaps - 1):
        first = rng.integers(ITEMS, size=runs)
        second = (first + rng.integers(1, ITEMS, size=runs)) % ITEMS
        order[every, first], order[every, second] = order[every, second], order[every, first]
        out.append(order.copy())
    return np.stack(out, axis=1)


def draw_uniform(rng: np.random.Generator, runs: int, levels: int) -> Ints:  # noqa: ARG001 - nothing is drawn
    """Return [runs, items]: grades 0 … levels - 1, the same number of items each, best first."""
    return np.broadcast_to(np.arange(ITEMS)[::-1] * levels // ITEMS, (runs, ITEMS))


def draw_uneven(rng: np.random.Generator, runs: int, levels: int) -> Ints:
    """Return [runs, items]: grades best first; in each run a random half of the levels, of random sizes.

    The lowest and the highest level are always there.
    """
    return np.stack([_draw_uneven(rng, levels) for _ in range(runs)])


def _draw_uneven(rng: np.random.Generator, levels: int) -> Ints:
    top, others = levels - 1, max(0, levels // 2 - 2)
    used = np.concatenate([[0, top], rng.permutation(np.arange(1, top))[:others]])
    share = rng.dirichlet(np.ones(len(used)))
    grades = np.concatenate([[0, top], rng.choice(used, size=ITEMS - 2, p=share)])
    return np.sort(grades)[::-1]


def draw_free(rng: np.random.Generator, runs: int, levels: int) -> Ints:
    """Return [runs, items]: as uneven, but neither the lowest nor the highest level must be there."""
    return np.stack([_draw_free(rng, levels) for _ in range(runs)])


def _draw_free(rng: np.random.Generator, levels: int) -> Ints:
    used = rng.permutation(levels)[: max(2, levels // 2)]
    return np.sort(rng.choice(used, size=ITEMS, p=rng.dirichlet(np.ones(len(used)))))[::-1]


def number_from_one(reference: "Reference") -> "Reference":
    """Return the same lists with the levels numbered 1 … L in place of 0 … L - 1, so that every item is relevant."""
    return lambda rng, runs, levels: reference(rng, runs, levels) + 1


Reference = Callable[[np.random.Generator, int, int], Ints]


def curves(
    reference: Reference, seed: int, runs: int = RUNS, swaps: int = SWAPS, step: int = 1, progress: Report = ignore
) -> Curves:
    """Return the curves of all measures at every `step` swaps; the same swaps serve every number of levels."""
    rng = np.random.default_rng(seed)
    order = swap_pairs(rng, runs, swaps)[:, ::step]
    values: dict[str, list[Floats]] = {name: [] for name in MEANS}
    for i, levels in enumerate(LEVELS):
        grades = np.take_along_axis(reference(rng, runs, levels)[:, None, :], order, axis=2)
        batch = rank_labels(grades.reshape(-1, ITEMS))
        for name, mean in MEANS.items():
            values[name].append(mean(batch).reshape(runs, -1).mean(axis=0))
        progress((i + 1) / len(LEVELS))
    return Curves({name: np.stack(rows) for name, rows in values.items()}, list(range(0, swaps, step)))


SMALL = 1 / 4
"""a spread is small against another where it is less than this share of it"""
STEP = 5
"""the variants are measured only after every fifth swap: they are compared, not drawn"""
FIGURES: dict[str, tuple[str, Reference]] = {
    "figure-4": ("Items spread evenly over the levels", draw_uniform),
    "figure-5": ("Items spread unevenly, half of the levels unused", draw_uneven),
}
VARIANTS: dict[str, Reference] = {
    "figure 5, the lowest and the highest level not forced into each list": draw_free,
    "figure 4, levels numbered 1 … L": number_from_one(draw_uniform),
    "figure 5, levels numbered 1 … L": number_from_one(draw_uneven),
}
"""other readings of how the paper made its lists"""


def chart(curve: Curves) -> Any:
    """Return the values by number of swaps, one line for each number of levels."""
    alt = altair()
    x, scale = alt.X("swaps:Q", title="swaps of a random pair"), alt.Scale(domain=[0, 1.02], nice=False)
    y = alt.Y("value:Q", title=f"mean over {RUNS} runs of {ITEMS} items", scale=scale)
    lines = draw_dashes(curve.records(), x, y, "levels", LEVELS, "levels")
    return style(lines.properties(width=230, height=230).facet(alt.Column("measure:N", title=None, sort=[*MEANS])))


def falls(curve: Curves) -> list[Verdict]:
    """Return whether mean nDCG falls as the number of levels grows."""
    means = curve.values["mean nDCG"].mean(axis=1).tolist()
    here = "mean over all swaps for 2, 10, 20, 50 levels: " + ", ".join(f"{mean:.3f}" for mean in means)
    return [decide(all(more < fewer for fewer, more in pairwise(means)), here)]


def is_steady(curve: Curves, measure: str) -> list[Verdict]:
    """Return whether the number of levels changes a measure little, compared with nDCG."""
    spread, base = curve.spread(measure), curve.spread("mean nDCG")
    here = f"spread across levels {spread:.4f}, {ratio(curve, measure):.0%} of that of mean nDCG, {base:.4f}"
    return [decide(spread < SMALL * base, here)]


def ratio(curve: Curves, measure: str) -> float:
    """Return the spread of a measure across levels, as a share of that of mean nDCG."""
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
    """Say how far the verdicts depend on how the lists are made, which the paper leaves open."""
    worst = max(rows, key=lambda row: max(row["µMAP, share of nDCG"], row["mean NDCNG, share of nDCG"]))
    shares = "; ".join(
        f"{row['reading']}: µMAP {row['µMAP, share of nDCG']:.0%}, NDCNG {row['mean NDCNG, share of nDCG']:.0%}"
        for row in rows
    )
    return [
        Observation(
            f"Do the verdicts on figures 4 and 5 depend on how the lists are made? (The limit is {SMALL:.0%}.)",
            f"Spread across levels as a share of nDCG's: {shares}. The largest is that of: {worst['reading']}.",
        )
    ]


def run(library: Library, seed: int, progress: Report) -> Outcome:  # noqa: ARG001 - no data needed
    """Draw the lists and measure them."""
    steps = len(FIGURES) + len(VARIANTS)
    drawings = {
        name: curves(reference, seed, progress=part(progress, i, steps))
        for i, (name, (_, reference)) in enumerate(FIGURES.items())
    }
    others = {
        name: curves(reference, seed, step=STEP, progress=part(progress, i, steps))
        for i, (name, reference) in enumerate(VARIANTS.items(), len(FIGURES))
    }
    rows = sensitivity({name.replace("-", " "): curve for name, curve in drawings.items()} | others)
    return Outcome(
        f"We ordered {ITEMS} items by grade, swapped 0 to {SWAPS - 1} random pairs, and took the mean of {RUNS} runs;"
        " the same swaps serve every number of levels. Unevenly means: each run uses a random half of the levels, among"
        " them the lowest and the highest, with random shares of the items (how the paper spread them we do not know)."
        " Mean nDCG and mean NDCNG are means over all cut-offs, as in table 2; the gain is 2^g - 1.",
        drawings,
        {name: Sheet.of(title, drawings[name].records()) for name, (title, _) in FIGURES.items()}
        | {"sensitivity": Sheet.of("Other readings of how the lists are made", rows)},
        {
            name: Figure(f"{title}: the more swaps, the lower.", chart(drawings[name]))
            for name, (title, _) in FIGURES.items()
        },
        observations(rows),
    )


def _claims(name: str) -> list[Claim]:
    where, how = name.replace("-", " "), FIGURES[name][0].lower()
    return [
        Claim(
            f"{name}-nDCG",
            where,
            f"The value of nDCG for a list that is out of order falls with the number of levels ({how}).",
            "figure only",
            "the mean over all swaps falls from each number of levels to the next",
            lambda drawings: falls(drawings[name]),
        ),
        *(_steady(name, where, measure) for measure in ("µMAP", "mean NDCNG")),
    ]


def _steady(name: str, where: str, measure: str) -> Claim:
    return Claim(
        f"{name}-{measure}",
        where,
        f"The value of {measure} does not depend on the number of levels.",
        "figure only",
        f"its spread across levels is less than {SMALL:.0%} of that of mean nDCG",
        lambda drawings: is_steady(drawings[name], measure),
    )


EXPERIMENT = Experiment(
    "s11-levels",
    "figures 4 and 5",
    "What the number of levels does to nDCG, and not to µMAP and NDCNG",
    "The value of nDCG for a list that is out of order falls with the number of levels, so that values for"
    " different scales cannot be compared. µMAP and NDCNG do not depend on the number of levels.",
    run,
    claims=tuple(claim for name in FIGURES for claim in _claims(name)),
)
