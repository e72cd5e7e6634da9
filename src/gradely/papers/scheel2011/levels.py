"""S11, figures 4 and 5: artificial lists with more and more levels of relevance, more and more out of order."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from gradely.comparison.charts import altair, drawn, styled
from gradely.data import Report
from gradely.data.read.files import ignore
from gradely.data.types import Floats, Ints
from gradely.kernel.batch import Batch
from gradely.kernel.from_arrays import from_arrays
from gradely.papers.library import Library
from gradely.papers.outcome import Claim, Experiment, Figure, Outcome, Sheet
from gradely.papers.parts import part
from gradely.papers.scheel2011.means import MEANS
from gradely.tables import Table

ITEMS, SWAPS, RUNS = 100, 100, 100
LEVELS = (2, 10, 20, 50)
SMALL = 1 / 4
"""a spread is small against another where it is less than this share of it"""


class Curves(NamedTuple):
    """The mean over all runs of each measure, [numbers of levels, swaps]."""

    values: dict[str, Floats]

    def records(self) -> list[dict[str, Any]]:
        """Return one row a measure, number of levels and number of swaps."""
        return [
            {"measure": name, "levels": levels, "swaps": swaps, "value": float(value)}
            for name, table in self.values.items()
            for levels, row in zip(LEVELS, table, strict=True)
            for swaps, value in enumerate(row)
        ]

    def spread(self, measure: str) -> float:
        """Return how far apart the numbers of levels are, the mean over all swaps."""
        return float(np.mean(np.ptp(self.values[measure], axis=0)))

    def level_means(self, measure: str) -> list[float]:
        """Return the mean over all swaps for each number of levels."""
        return [float(value) for value in np.mean(self.values[measure], axis=1)]


def swapped(rng: np.random.Generator, runs: int, swaps: int = SWAPS, items: int = ITEMS) -> Ints:
    """Return [runs, swaps, items]: the items in order, then after 1, 2, … swaps of a random pair."""
    order = np.broadcast_to(np.arange(items), (runs, items)).copy()
    out = [order.copy()]
    every = np.arange(runs)
    for _ in range(swaps - 1):
        one = rng.integers(items, size=runs)
        other = (one + rng.integers(1, items, size=runs)) % items
        order[every, one], order[every, other] = order[every, other], order[every, one]
        out.append(order.copy())
    return np.stack(out, axis=1)


def uniform(rng: np.random.Generator, runs: int, levels: int) -> Ints:  # noqa: ARG001 - nothing is drawn
    """Return [runs, items]: grades 0 … levels - 1, the same number of items each, best first."""
    return np.broadcast_to(np.arange(ITEMS)[::-1] * levels // ITEMS, (runs, ITEMS))


def uneven(rng: np.random.Generator, runs: int, levels: int) -> Ints:
    """Return [runs, items]: grades best first; in each run a random half of the levels, of random sizes.

    The lowest and the highest level are always there.
    """
    return np.stack([_uneven(rng, levels) for _ in range(runs)])


def _uneven(rng: np.random.Generator, levels: int) -> Ints:
    top, others = levels - 1, max(0, levels // 2 - 2)
    used = np.concatenate([[0, top], rng.permutation(np.arange(1, top))[:others]])
    share = rng.dirichlet(np.ones(len(used)))
    grades = np.concatenate([[0, top], rng.choice(used, size=ITEMS - 2, p=share)])
    return np.sort(grades)[::-1]


Reference = Callable[[np.random.Generator, int, int], Ints]


def curves(reference: Reference, seed: int, runs: int = RUNS, swaps: int = SWAPS, progress: Report = ignore) -> Curves:
    """Return the curves of all measures; the same swaps serve every number of levels."""
    rng = np.random.default_rng(seed)
    order = swapped(rng, runs, swaps)
    found: dict[str, list[Floats]] = {name: [] for name in MEANS}
    for i, levels in enumerate(LEVELS):
        batch = _batch(reference(rng, runs, levels), order)
        for name, mean in MEANS.items():
            found[name].append(mean(batch).reshape(runs, swaps).mean(axis=0))
        progress((i + 1) / len(LEVELS))
    return Curves({name: np.stack(values) for name, values in found.items()})


def _batch(grades: Ints, order: Ints) -> Batch:
    """Return one ranking a run and number of swaps."""
    labels = np.take_along_axis(grades[:, None, :], order, axis=2).reshape(-1, ITEMS)
    return from_arrays(np.broadcast_to(-np.arange(ITEMS), labels.shape), labels)


def chart(found: Curves) -> Any:
    """Return the values by number of swaps, a line for each number of levels."""
    alt = altair()
    lines = (
        drawn(found.records())
        .mark_line(strokeWidth=2)
        .encode(
            x=alt.X("swaps:Q", title="swaps of a random pair"),
            y=alt.Y("value:Q", title="mean over the runs", scale=alt.Scale(domain=[0, 1])),
            color=alt.Color("levels:N", title="levels", sort=[*LEVELS]),
            strokeDash=alt.StrokeDash("levels:N", sort=[*LEVELS], legend=None),
        )
    )
    return styled(lines.properties(width=230, height=230).facet(alt.Column("measure:N", title=None, sort=[*MEANS])))


def claims(found: Curves, where: str) -> list[Claim]:
    """Check that nDCG falls with the number of levels, and that the other two hardly move."""
    falling, base = found.level_means("mean nDCG"), found.spread("mean nDCG")
    return [
        Claim(
            f"{where}: nDCG falls with the number of levels.",
            "",
            "mean over all swaps for 2, 10, 20, 50 levels: " + ", ".join(f"{value:.3f}" for value in falling),
            all(more < fewer for fewer, more in pairwise(falling)),
        ),
        *(
            Claim(
                f"{where}: {name} hardly depends on the number of levels.",
                "",
                f"spread across levels {found.spread(name):.4f}, of mean nDCG {base:.4f}",
                found.spread(name) < SMALL * base,
            )
            for name in ("µMAP", "mean NDCNG")
        ),
    ]


FIGURES: dict[str, tuple[str, Reference]] = {
    "figure-4": ("Items spread evenly over the levels", uniform),
    "figure-5": ("Items spread unevenly, half of the levels unused", uneven),
}


def run(library: Library, seed: int, progress: Report) -> Outcome:  # noqa: ARG001 - no data needed
    """Draw the lists and measure them."""
    found: dict[str, Curves] = {}
    for i, (name, (_, reference)) in enumerate(FIGURES.items()):
        found[name] = curves(reference, seed, progress=part(progress, i, len(FIGURES)))
    return Outcome(
        f"We ordered {ITEMS} items by grade, swapped 0 to {SWAPS - 1} random pairs, and took the mean of {RUNS} runs;"
        " the same swaps serve every number of levels. Unevenly means: each run uses a random half of the levels, among"
        " them the lowest and the highest, with random shares of the items (how the paper spread them we do not know)."
        " Mean nDCG and mean NDCNG are means over all cut-offs, as in table 2; the gain is 2^g - 1.",
        "With more levels the few best items decide nDCG, so that the same disorder costs more. µMAP and NDCNG say the"
        " same of the same disorder, whatever the number of levels.",
        [claim for name, (title, _) in FIGURES.items() for claim in claims(found[name], title)],
        {name: Sheet(title, Table.of(found[name].records())) for name, (title, _) in FIGURES.items()},
        {
            name: Figure(f"{title}: the more swaps, the lower.", chart(found[name]))
            for name, (title, _) in FIGURES.items()
        },
    )


EXPERIMENTS = (
    Experiment(
        "s11-levels",
        "S11",
        "figures 4 and 5",
        "What the number of levels does to nDCG, and not to µMAP and NDCNG",
        "The value of nDCG for a list that is out of order falls with the number of levels, so that values for"
        " different scales cannot be compared. µMAP and NDCNG do not depend on the number of levels.",
        (),
        run,
    ),
)
