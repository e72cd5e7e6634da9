"""S11, figures 4 and 5: what the number of levels does to each measure."""

from itertools import pairwise
from typing import Any

from gradely.comparison.charts import altair, draw_dashes, style
from gradely.data import Report
from gradely.tables import Table
from gradely_papers.library import Library
from gradely_papers.outcome import Claim, Experiment, Figure, Observation, Outcome, Sheet, part
from gradely_papers.scheel2011 import artificial
from gradely_papers.scheel2011.artificial import ITEMS, LEVELS, RUNS, SWAPS, Curves, Reference
from gradely_papers.scheel2011.means import MEANS
from gradely_papers.verdicts import Record, Verdict, decide

SMALL = 1 / 4
"""a spread is small against another where it is less than this share of it"""
STEP = 5
"""the variants are measured at every so many swaps: they are compared, not drawn"""
FIGURES: dict[str, tuple[str, Reference]] = {
    "figure-4": ("Items spread evenly over the levels", artificial.draw_uniform),
    "figure-5": ("Items spread unevenly, half of the levels unused", artificial.draw_uneven),
}
VARIANTS: dict[str, Reference] = {
    "figure 5, the lowest and the highest level not forced into each list": artificial.draw_free,
    "figure 4, levels numbered 1 … L": artificial.number_from_one(artificial.draw_uniform),
    "figure 5, levels numbered 1 … L": artificial.number_from_one(artificial.draw_uneven),
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
    """Return whether mean nDCG is the lower, the more levels there are."""
    means = curve.values["mean nDCG"].mean(axis=1).tolist()
    here = "mean over all swaps for 2, 10, 20, 50 levels: " + ", ".join(f"{mean:.3f}" for mean in means)
    return [decide(all(more < fewer for fewer, more in pairwise(means)), here)]


def is_steady(curve: Curves, measure: str) -> list[Verdict]:
    """Return whether the number of levels moves a measure little, against nDCG."""
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
        name: artificial.curves(reference, seed, progress=part(progress, i, steps))
        for i, (name, (_, reference)) in enumerate(FIGURES.items())
    }
    others = {
        name: artificial.curves(reference, seed, step=STEP, progress=part(progress, i, steps))
        for i, (name, reference) in enumerate(VARIANTS.items(), len(FIGURES))
    }
    rows = sensitivity({name.replace("-", " "): curve for name, curve in drawings.items()} | others)
    return Outcome(
        f"We ordered {ITEMS} items by grade, swapped 0 to {SWAPS - 1} random pairs, and took the mean of {RUNS} runs;"
        " the same swaps serve every number of levels. Unevenly means: each run uses a random half of the levels, among"
        " them the lowest and the highest, with random shares of the items (how the paper spread them we do not know)."
        " Mean nDCG and mean NDCNG are means over all cut-offs, as in table 2; the gain is 2^g - 1.",
        "With more levels the few best items decide nDCG, so that the same disorder costs more. µMAP and NDCNG say"
        " nearly the same of the same disorder, whatever the number of levels, as long as the lowest level is 0.",
        drawings,
        {name: Sheet(title, Table.of(drawings[name].records())) for name, (title, _) in FIGURES.items()}
        | {"sensitivity": Sheet("Other readings of how the lists are made", Table.of(rows))},
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
