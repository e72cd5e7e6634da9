"""F14 §3-5: the documents that users pick under GAP, xGAP and eGAP, and the limits of the measures."""

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from gradely import AP, GAP, eGAP, evaluate, from_arrays, xGAP
from gradely.evaluation.notes import SAME
from gradely.measures.gap import UserShares
from gradely_papers.charts import PALETTE, altair, categories, draw, style
from gradely_papers.experiment import THEOREM, Experiment, Figure, Library, Outcome, Sheet, claim
from gradely_papers.progress import Report
from gradely_papers.rankings import rank_labels
from gradely_papers.verdicts import Record, Verdict, decide, listed

FAMILY: dict[str, type[UserShares]] = {"GAP": GAP, "xGAP": xGAP, "eGAP": eGAP}
POOL = {1: 10, 2: 1}
"""the number of documents of each grade in the paper's example"""
EXAMPLE = (0.1, 0.9)
"""g of the paper's example with most users who want documents of grade 2"""
PRINTED = (
    ("GAP", (0.5, 0.5), 1, Fraction(1, 12)),
    ("GAP", (0.5, 0.5), 2, Fraction(1, 6)),
    ("GAP", EXAMPLE, 2, Fraction(1, 2)),
    ("xGAP", (0.5, 0.5), 1, Fraction(1, 22)),
    ("xGAP", (0.5, 0.5), 2, Fraction(12, 22)),
    ("xGAP", EXAMPLE, 2, Fraction(100, 110)),
)
"""measure, g, grade of a document, and the paper's probability that a user picks it"""
LENGTHS = (1, 10, 100, 1_000, 10_000, 100_000)
SHARES = (0.1, 0.3, 0.5, 0.7, 0.9)
NEAR = 10 / LENGTHS[-1]
"""the tolerance for the limits, since the difference falls as 1/n"""


def pick_chance(measure: str, g: tuple[float, ...], grade: int) -> float:
    """Return the probability that a user picks one document of this grade.

    It is the value of a ranking with this document only, whose precision at rank 1 is 1 for every user who wants it.
    """
    judged = {f"{level}-{i}": level for level, count in POOL.items() for i in range(count)}
    scores = evaluate({"q": judged}, {"q": [f"{grade}-0"]}, [FAMILY[measure](g=list(g))])
    return float(scores.values[0, 0])


def probabilities() -> list[Record]:
    """Return the paper's probabilities and ours, and that of eGAP, which it does not print."""
    return [
        {
            "measure": name,
            "g": str(list(g)),
            "grade": grade,
            "the paper": str(theirs) if theirs else None,
            "here": pick_chance(name, g, grade),
        }
        for name, g, grade, theirs in (*PRINTED, ("eGAP", EXAMPLE, 2, None))
    ]


def limit(measure: str, g2: float) -> float:
    """Return the paper's limit for n documents of grade 1 followed by one of grade 2, as n → ∞."""
    return {"GAP": 1.0, "xGAP": 1 - g2**2, "eGAP": 1 - g2}[measure]


def approach() -> list[Record]:
    """Return the values of n documents of grade 1 followed by one of grade 2, for growing n."""
    batches = {n: rank_labels(np.append(np.ones(n), 2.0)) for n in LENGTHS}
    return [
        {"measure": name, "g_2": g2, "n": n, "value": float(kind(g=[1 - g2, g2])(batch)[0]), "limit": limit(name, g2)}
        for n, batch in batches.items()
        for g2 in SHARES
        for name, kind in FAMILY.items()
    ]


def corners(seed: int) -> float:
    """Return the largest difference between the three measures and AP if all users have the same threshold."""
    generator = np.random.default_rng(seed)
    batch = from_arrays(generator.integers(0, 20, (200, 30)), generator.integers(0, 4, (200, 30)))
    gaps = [
        np.abs(kind(g=[float(level == k) for level in (1, 2, 3)])(batch) - AP(rel=k)(batch)).max()
        for k in (1, 2, 3)
        for kind in FAMILY.values()
    ]
    return float(max(gaps))


RANKINGS = 200
"""the number of random rankings that check the identities"""


def list_rankings(seed: int) -> list[tuple[list[int], list[int]]]:
    """Return rankings of grades 0 to 3, each with the grades of relevant documents that it lacks."""
    rng = np.random.default_rng(seed)
    return [
        (rng.integers(0, 4, rng.integers(1, 9)).tolist(), rng.integers(1, 4, rng.integers(0, 3)).tolist())
        for _ in range(RANKINGS)
    ]


def play(ranking: list[int], lacking: list[int], g: list[float]) -> float:
    """Return the mean of Z in the experiment of §5, step by step.

    The steps draw a user with threshold k by g, a document that is relevant to the user, and, if it is retrieved, a
    rank from 1 to that of the document. Z is 1 if the document at this rank is relevant to the user.
    """
    total = 0.0
    for k, share in enumerate(g, 1):
        relevant = sum(grade >= k for grade in (*ranking, *lacking))
        for n, grade in enumerate(ranking, 1):
            if grade >= k:
                total += share / relevant * sum(above >= k for above in ranking[:n]) / n
    return total


def identities(seed: int) -> dict[str, float]:
    """Return the largest differences of E[Z] from eGAP, and of E[RB(K)·AP(K)] / E[RB(K)] from GAP."""
    rng, off = np.random.default_rng(seed), {"eGAP": 0.0, "GAP": 0.0}
    for ranking, lacking in list_rankings(seed):
        g = rng.dirichlet(np.ones(3)).tolist()
        every = [*ranking, *lacking]
        judged = {"q": {f"d{i}": grade for i, grade in enumerate(every)}}
        run = {"q": [f"d{i}" for i in range(len(ranking))]}
        egap, gap, *precisions = evaluate(judged, run, [eGAP(g=g), GAP(g=g), *(AP(rel=k) for k in (1, 2, 3))]).values[0]
        # the expected number of relevant documents, summed over documents instead of thresholds
        base = sum(sum(g[:grade]) for grade in every)
        weights = [share * sum(grade >= k for grade in every) for k, share in enumerate(g, 1)]
        mean = float(np.dot(weights, precisions)) / base if base else 0.0
        off["eGAP"] = max(off["eGAP"], abs(float(egap) - play(ranking, lacking, g)))
        off["GAP"] = max(off["GAP"], abs(float(gap) - mean))
    return off


def chart(records: list[Record]) -> Any:
    """Return the values of long rankings as lines and their limits as dashed rules."""
    alt = altair()
    base = draw(records)
    length = alt.X(
        "n:Q",
        scale=alt.Scale(type="log"),
        axis=alt.Axis(values=list(LENGTHS), format="~s"),
        title="documents of grade 1 above the one of grade 2",
    )
    values = base.mark_line(point=alt.OverlayMarkDef(size=40)).encode(
        x=length,
        y=alt.Y("value:Q", title="value", scale=alt.Scale(domain=[0, 1.02], nice=False)),
        **categories("g_2", SHARES, title="g₂"),
    )
    # one layer for each share with a fixed colour keeps the rules out of the legend
    limits = [
        base.transform_filter(f"datum.g_2 == {share}")
        .mark_rule(strokeDash=[4, 4], opacity=0.6, color=colour)
        .encode(y=alt.Y("limit:Q", title="value"))
        for share, colour in zip(SHARES, PALETTE, strict=False)
    ]
    return style(
        alt.layer(*limits, values)
        .properties(width=250, height=220)
        .facet(alt.Column("measure:N", title=None, sort=[*FAMILY]))
    )


class Evidence(NamedTuple):
    """The probabilities, the long rankings, and the differences from AP and from expectations."""

    chances: list[Record]
    long: list[Record]
    corners: float
    identities: dict[str, float]
    """the differences of eGAP and GAP from the expectations that define them"""


def run(library: Library, seed: int, progress: Report) -> Outcome:  # noqa: ARG001 - no data needed
    """Compute the probabilities, the limits and the corners."""
    chances, long = probabilities(), approach()
    progress(0.8)
    return Outcome(
        "The probability that a user picks a document is the value of a ranking with that document only. For limits,"
        f" we measured rankings of up to {LENGTHS[-1]:,} documents for several g.",
        Evidence(chances, long, corners(seed), identities(seed)),
        {
            "probabilities": Sheet.of("The probability that a user picks a document", chances, 6),
            "limits": Sheet.of("Long rankings with the best document last", long, 6),
        },
        {"limits": Figure("Rankings with the best document last: values by length, and limits (dashed).", chart(long))},
    )


def within(off: float) -> str:
    """Return a difference as text."""
    return f"to within {off:.0e}" if off else "exactly"


@claim(
    "§3-5",
    printed=", ".join(str(theirs) for *_, theirs in PRINTED),
    criterion=f"all six are equal, to within {SAME:g}",
    kind=THEOREM,
)
def same_chances(evidence: Evidence) -> Verdict:
    """The probability that a user picks one document of grade 1 or 2, out of ten of grade 1 and one of grade 2."""
    printed = [chance for chance in evidence.chances if chance["the paper"]]
    off = max(abs(float(Fraction(chance["the paper"])) - chance["here"]) for chance in printed)
    return decide(off < SAME, f"all six, {within(off)}" if off < SAME else f"off by up to {off:.0e}")


@claim(
    "§3-5",
    printed="limits",
    criterion=f"for five g, the values at n = {LENGTHS[-1]:,} are within {NEAR:g} of the limits",
    kind=THEOREM,
)
def same_limits(evidence: Evidence) -> Verdict:
    """After n documents of grade 1, one of grade 2: GAP → 1, xGAP → 1 - g₂², eGAP → g₁."""
    off = max(abs(row["value"] - row["limit"]) for row in evidence.long if row["n"] == LENGTHS[-1])
    return decide(off < NEAR, f"at n = {LENGTHS[-1]:,} all are within {off:.0e} of them")


@claim("§5", printed="equal", criterion=f"equal to within {SAME:g} on random rankings with ties", kind=THEOREM)
def same_corners(evidence: Evidence) -> Verdict:
    """If all users have the same threshold k, GAP = xGAP = eGAP = AP(k)."""
    return decide(evidence.corners < SAME, f"on 200 random rankings with ties, {within(evidence.corners)}")


@claim(
    "abstract, §3-4",
    printed="1/2, 10/11",
    quote="more accurate than GAP in the case of a small number of highly relevant documents with high probability to"
    " be considered relevant by the users",
    criterion="with g = (0.1, 0.9), ten documents of grade 1 and one of grade 2, the probability that a user picks the"
    " latter is nearer to 0.9, the share of users who want nothing else, by xGAP and by eGAP than by GAP",
    kind=THEOREM,
)
def is_accurate(evidence: Evidence) -> Verdict:
    """If few documents are highly relevant and most users want them, xGAP and eGAP are more accurate than GAP."""
    rows = [row for row in evidence.chances if row["g"] == str(list(EXAMPLE)) and row["grade"] == 2]
    chances = {row["measure"]: row["here"] for row in rows}
    off = {name: abs(chance - EXAMPLE[1]) for name, chance in chances.items()}
    return decide(max(off["xGAP"], off["eGAP"]) < off["GAP"], listed(chances, 3))


@claim(
    "§5, (7)",
    printed="equal",
    criterion=f"equal to within {SAME:g} on {RANKINGS} random rankings and g, following the four steps",
    kind=THEOREM,
)
def is_expectation(evidence: Evidence) -> Verdict:
    """eGAP is the expected value of Z, the outcome of an experiment in four steps."""
    off = evidence.identities["eGAP"]
    return decide(off < SAME, f"largest difference {off:.0e}")


@claim(
    "§3",
    printed="equal",
    criterion=f"GAP equals E[RB(K)·AP(K)] / E[RB(K)], to within {SAME:g} on {RANKINGS} random rankings and g",
    kind=THEOREM,
)
def is_expected_base(evidence: Evidence) -> Verdict:
    """The normaliser of GAP is the expected recall base, E[RB(K)]."""
    off = evidence.identities["GAP"]
    return decide(off < SAME, f"largest difference {off:.0e}")


EXPERIMENT = Experiment(
    "f14-limits",
    "§3-5",
    "Which documents users pick, and the cost of a late key document",
    "GAP can give the only highly relevant document hardly more weight than any relevant one; xGAP and eGAP do not."
    " If that document comes last, GAP still tends to 1, xGAP to 1 - g₂² and eGAP to g₁.",
    run,
    (("§3-5", "limits, probabilities"),),
    claims=(same_chances, same_limits, same_corners, is_accurate, is_expectation, is_expected_base),
)
