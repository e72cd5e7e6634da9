"""F14 §3-5: which documents the users of GAP, xGAP and eGAP pick, and where the measures go in the limit."""

from fractions import Fraction
from typing import Any

import numpy as np

from gradely.comparison.charts import altair, drawn, styled
from gradely.data import Report
from gradely.evaluation.evaluate import evaluate
from gradely.evaluation.evaluation import SAME
from gradely.kernel.from_arrays import from_arrays
from gradely.measures import AP, GAP, eGAP, xGAP
from gradely.measures.gap import UserShares
from gradely.papers.library import Library
from gradely.papers.outcome import Claim, Experiment, Figure, Outcome, Sheet
from gradely.tables import Table

FAMILY: dict[str, type[UserShares]] = {"GAP": GAP, "xGAP": xGAP, "eGAP": eGAP}
POOL = {1: 10, 2: 1}
"""how many documents of each grade the paper's example has"""
PRINTED = (
    ("GAP", (0.5, 0.5), 1, Fraction(1, 12)),
    ("GAP", (0.5, 0.5), 2, Fraction(1, 6)),
    ("GAP", (0.1, 0.9), 2, Fraction(1, 2)),
    ("xGAP", (0.5, 0.5), 1, Fraction(1, 22)),
    ("xGAP", (0.5, 0.5), 2, Fraction(12, 22)),
    ("xGAP", (0.1, 0.9), 2, Fraction(100, 110)),
)
"""measure, g, grade of a document, and the paper's probability to pick that document"""
LENGTHS = (1, 10, 100, 1_000, 10_000, 100_000)
SHARES = (0.1, 0.3, 0.5, 0.7, 0.9)


def picked(measure: str, g: tuple[float, ...], grade: int) -> float:
    """Return the chance that a user picks one document of this grade.

    It is the value of a ranking that holds that document alone: what is found at rank 1 is precise for everybody.
    """
    judged = {f"{level}-{i}": level for level, count in POOL.items() for i in range(count)}
    scores = evaluate({"q": judged}, {"q": [f"{grade}-0"]}, [FAMILY[measure](g=list(g))])
    return float(scores.values[0, 0])


def probabilities() -> list[dict[str, Any]]:
    """Return the paper's probabilities beside ours."""
    return [
        {"measure": name, "g": str(list(g)), "grade": grade, "the paper": str(theirs), "here": picked(name, g, grade)}
        for name, g, grade, theirs in PRINTED
    ]


def limit(measure: str, g2: float) -> float:
    """Return where the paper says the measure goes: n documents of grade 1, then one of grade 2, n → ∞."""
    return {"GAP": 1.0, "xGAP": 1 - g2**2, "eGAP": 1 - g2}[measure]


def approach() -> list[dict[str, Any]]:
    """Return the value of n documents of grade 1, then one of grade 2, as n grows."""
    batches = {n: from_arrays(-np.arange(n + 1.0), np.append(np.ones(n), 2.0)) for n in LENGTHS}
    return [
        {"measure": name, "g_2": g2, "n": n, "value": float(kind(g=[1 - g2, g2])(batch)[0]), "limit": limit(name, g2)}
        for n, batch in batches.items()
        for g2 in SHARES
        for name, kind in FAMILY.items()
    ]


def corners(seed: int) -> float:
    """Return the largest difference between the three measures and AP where all users share a threshold."""
    draw = np.random.default_rng(seed)
    batch = from_arrays(draw.integers(0, 20, (200, 30)), draw.integers(0, 4, (200, 30)))
    gaps = [
        np.abs(kind(g=[float(level == k) for level in (1, 2, 3)])(batch) - AP(rel=k)(batch)).max()
        for k in (1, 2, 3)
        for kind in FAMILY.values()
    ]
    return float(max(gaps))


def chart(records: list[dict[str, Any]]) -> Any:
    """Return the values of the long rankings as lines, the limits as dashes."""
    alt = altair()
    base = drawn(records).encode(color=alt.Color("g_2:N", title="g₂"))
    length = alt.X(
        "n:Q",
        scale=alt.Scale(type="log"),
        axis=alt.Axis(values=list(LENGTHS), format="~s"),
        title="documents of grade 1 above the one of grade 2",
    )
    values = base.mark_line(point=True).encode(
        x=length, y=alt.Y("value:Q", title="value", scale=alt.Scale(domain=[0, 1]))
    )
    limits = base.mark_rule(strokeDash=[4, 4], opacity=0.6).encode(y=alt.Y("limit:Q", title="value"))
    return styled(
        (limits + values).properties(width=250, height=220).facet(alt.Column("measure:N", title=None, sort=[*FAMILY]))
    )


def run(library: Library, seed: int, progress: Report) -> Outcome:  # noqa: ARG001 - no data needed
    """Compute the probabilities, the limits and the corners."""
    chances, long = probabilities(), approach()
    progress(0.8)
    return Outcome(
        "We asked the measures themselves: the chance to pick a document is the value of a ranking that holds it alone."
        f" For the limits we measured rankings of up to {LENGTHS[-1]:,} documents, for several g.",
        "Though the one key document comes last, GAP tends to 1: its users hardly notice. eGAP keeps only the users who"
        " wanted nothing better, and xGAP lies between.",
        [_same_chances(chances), _same_limits(long), _same_corners(corners(seed))],
        {
            "probabilities": Sheet("The chance to pick a document", Table.of(chances, 6)),
            "limits": Sheet("Long rankings with the best document last", Table.of(long, 6)),
        },
        {"limits": Figure("The best document comes last: values by length, limits dashed.", chart(long))},
    )


def within(off: float) -> str:
    """Return how near numbers are, in words."""
    return f"to within {off:.0e}" if off else "exactly"


def _same_chances(chances: list[dict[str, Any]]) -> Claim:
    off = max(abs(float(Fraction(each["the paper"])) - each["here"]) for each in chances)
    text = "The chance to pick a document of grade 1 or 2, out of ten and one."
    theirs = ", ".join(each["the paper"] for each in chances)
    return Claim(text, theirs, f"all six, {within(off)}", off < SAME)


def _same_limits(long: list[dict[str, Any]]) -> Claim:
    off = max(abs(each["value"] - each["limit"]) for each in long if each["n"] == LENGTHS[-1])
    text = "After n documents of grade 1, one of grade 2: GAP → 1, xGAP → 1 - g₂², eGAP → g₁."
    return Claim(text, "limits", f"at n = {LENGTHS[-1]:,} all are within {off:.0e} of them", off < 10 / LENGTHS[-1])


def _same_corners(off: float) -> Claim:
    text = "Where all users have the same threshold k, GAP = xGAP = eGAP = AP(k)."
    return Claim(text, "equal", f"on 200 random rankings with ties, {within(off)}", off < SAME)


EXPERIMENTS = (
    Experiment(
        "f14-limits",
        "F14",
        "§3-5",
        "Which documents users pick, and what a late key document costs",
        "GAP can give the one highly relevant document hardly more weight than any relevant one; xGAP and eGAP do not."
        " When that document comes last, GAP tends to 1 all the same, xGAP to 1 - g₂² and eGAP to g₁.",
        (),
        run,
    ),
)
