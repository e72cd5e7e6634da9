"""S11, tables 1 and 2: average precision at every level, and cumulated gain with three gains, of one ranking."""

from math import log10
from typing import NamedTuple

import numpy as np

from gradely import AP, DCG, NDCNG, Shift, muAP, nDCG
from gradely.evaluation.notes import SAME
from gradely_papers.experiment import THEOREM, Experiment, Library, Outcome, Sheet, claim
from gradely_papers.progress import Report
from gradely_papers.rankings import rank_labels, value_of
from gradely_papers.scheel2011.means import over_cutoffs
from gradely_papers.verdicts import Verdict, agrees, decide

RANKING = (1, 0, 3, 3, 2, 0, 1, 4)
"""the grades in rank order; no other document is judged"""
LEVELS = {5: "0", 4: "0.125", 3: "0.403", 2: "0.483", 1: "0.780", 0: "1.000"}
"""table 1: average precision with each level as the threshold"""
MEAN, GRADED = "0.465", "0.448"
"""table 1: the mean over all levels, and µAP"""
SCALE, WEIGHTS = (0.3, 1.0), ("0.3", "0.7")
"""the paper's example of uneven levels above 0, and the weights of their thresholds"""


class Printed(NamedTuple):
    """The numbers of table 2 for one gain: values at ranks 1 to 8, and mean nDCG."""

    factor: float
    """the factor of the grades"""
    dcg: str
    ideal: str
    ndcg: str
    mean: str


GAINS = {
    "r": Printed(
        1,
        "3.32 3.32 14.95 24.96 28.82 28.82 29.93 45.65",
        "49.83 64.50 76.13 80.42 81.70 82.89 82.89 82.89",
        ".07 .05 .20 .31 .35 .35 .36 .55",
        "0.28",
    ),
    "2r": Printed(
        2,
        "9.97 9.97 114 204 224 224 227 494",
        "847 979 1083 1105 1109 1112 1112 1112",
        ".01 .01 .11 .19 .20 .20 .20 .44",
        "0.17",
    ),
    "r/4": Printed(
        1 / 4,
        ".63 .63 1.76 2.74 3.27 3.27 3.48 4.53",
        "3.32 4.75 5.88 6.48 6.72 6.94 6.94 6.94",
        ".19 .13 .30 .42 .49 .47 .50 .65",
        "0.39",
    ),
}
RANKS = range(1, len(RANKING) + 1)


class Cell(NamedTuple):
    """A number of a table: its name, the printed number and ours."""

    title: str
    printed: str
    ours: float

    @property
    def agrees(self) -> bool:
        """Whether our number agrees with the printed one."""
        return agrees(self.ours, self.printed)

    def record(self) -> dict[str, str | float]:
        """Return a row of a table."""
        verdict = "agrees" if self.agrees else "differs"
        return {"number": self.title, "the paper": self.printed, "here": self.ours, "verdict": verdict}


def table_1() -> list[Cell]:
    """Return average precision with each level as the threshold, and µAP."""
    labels = [float(grade) for grade in RANKING]
    cells = [
        Cell(f"AP at level {level}", printed, value_of(AP(rel=level), labels)) for level, printed in LEVELS.items()
    ]
    mean = float(np.mean([cell.ours for cell in cells]))
    return [*cells, Cell("mean over the levels", MEAN, mean), Cell("µAP", GRADED, value_of(muAP(), labels))]


def table_2() -> list[Cell]:
    """Return the numbers of all three gains."""
    return [cell for name, printed in GAINS.items() for cell in _gain(name, printed)]


def _gain(name: str, printed: Printed) -> list[Cell]:
    """Return the numbers of one gain. The paper uses logarithms to base 10, which cancel in nDCG."""
    labels = [printed.factor * grade for grade in RANKING]
    best = sorted(labels, reverse=True)
    dcg, ideal = (
        [value_of(DCG(gain="exp").replace(k=k), ranking) / log10(2) for k in RANKS] for ranking in (labels, best)
    )
    ndcg = [value_of(nDCG(gain="exp").replace(k=k), labels) for k in RANKS]
    columns = (("DCG", printed.dcg, dcg), ("ideal DCG", printed.ideal, ideal), ("nDCG", printed.ndcg, ndcg))
    cells = [
        Cell(f"{title} of gain {name} at rank {rank}", as_printed, value)
        for title, column, values in columns
        for rank, as_printed, value in zip(RANKS, column.split(), values, strict=True)
    ]
    return [*cells, Cell(f"mean nDCG of gain {name}", printed.mean, float(np.mean(ndcg)))]


def weights() -> list[Cell]:
    """Return the weights of two thresholds, computed from µAP.

    If a document of the lower level is ranked above one of the higher level, average precision is 1 at the lower
    threshold and 1/2 at the higher one, and µAP is 1 minus half the weight of the higher one.
    """
    high = 2 * (1 - value_of(muAP(), [*SCALE]))
    return [
        Cell(f"weight of level {level:g}", printed, value)
        for level, printed, value in zip(SCALE, WEIGHTS, (1 - high, high), strict=True)
    ]


def double_grades() -> dict[str, tuple[float, ...]]:
    """Return mean nDCG and mean NDCNG over all ranks, for the grades and for the doubled grades."""
    both = rank_labels(np.outer((1.0, 2.0), RANKING))
    return {measure.name: tuple(over_cutoffs(measure, both).tolist()) for measure in (nDCG(gain="exp"), NDCNG())}


def shift_grades() -> dict[str, tuple[float, float, float]]:
    """Return each measure for the grades, for the grades plus 1 with shift(1), and for the grades plus 1."""
    grades = [float(grade) for grade in RANKING]
    higher = [grade + 1 for grade in grades]
    return {
        measure.name: (
            value_of(measure, grades),
            value_of(measure.replace(relevance=Shift(1)), higher),
            value_of(measure, higher),
        )
        for measure in (muAP(), nDCG(gain="exp"), NDCNG())
    }


TWO_LEVELS = {
    "levels 0 and 1": (0, None),
    "levels 1 and 2, not shifted": (1, None),
    "levels 1 and 2, shifted": (1, Shift(1)),
}
"""the number that is added to binary labels, and the relevance function"""


def two_levels() -> dict[str, tuple[float, float]]:
    """Return µAP of the ranking with two levels, and AP of the documents of the higher level."""
    binary = [float(grade > 0) for grade in RANKING]
    plain = value_of(AP(), binary)
    return {
        name: (value_of(muAP(relevance=function or "identity"), [label + more for label in binary]), plain)
        for name, (more, function) in TWO_LEVELS.items()
    }


class Evidence(NamedTuple):
    """The numbers of both tables, and the effect of doubling and shifting the grades."""

    first: list[Cell]
    second: list[Cell]
    weights: list[Cell]
    doubled_means: dict[str, tuple[float, ...]]
    shifted_values: dict[str, tuple[float, float, float]]
    binary: dict[str, tuple[float, float]]
    """µAP of two levels, and AP of the higher level"""


def gather() -> Evidence:
    """Compute both tables, and the effects of other scales."""
    return Evidence(table_1(), table_2(), weights(), double_grades(), shift_grades(), two_levels())


def run(library: Library, seed: int, progress: Report) -> Outcome:  # noqa: ARG001 - nothing is drawn or read
    """Compute both tables."""
    evidence = gather()
    first = [cell.record() for cell in (*evidence.first, *evidence.weights)]
    second = [cell.record() for cell in evidence.second]
    return Outcome(
        "We computed both tables with the measures of gradely. A printed number agrees with ours if ours equals it when"
        " rounded or truncated to as many decimals, since the paper truncates its large numbers.",
        evidence,
        {
            "table-1": Sheet.of("Table 1: average precision at every level", first),
            "table-2": Sheet.of("Table 2: cumulated gain at every rank", second),
        },
        {},
    )


AGREE = "every printed number is ours, rounded or truncated to as many decimals"


def compare(cells: list[Cell]) -> Verdict:
    """Return the verdict that all printed numbers agree."""
    count = sum(cell.agrees for cell in cells)
    numbers = ", ".join(f"{cell.title} {cell.ours:.4f}" for cell in cells[-2:])
    return decide(count == len(cells), f"{count} of {len(cells)} numbers agree; {numbers}")


@claim(
    "table 1",
    printed="0, 0.125, 0.403, 0.483, 0.780, 1.000; mean 0.465; µAP 0.448",
    criterion=AGREE,
)
def judge_table_1(evidence: Evidence) -> Verdict:
    """Average precision of one ranking at the levels 5 to 0, their mean, and µAP."""
    return compare(evidence.first)


@claim("§3.1", printed="0.3, 0.7", criterion=AGREE, kind=THEOREM)
def judge_weights(evidence: Evidence) -> Verdict:
    """With levels 0, 0.3 and 1.0, the weights of the thresholds are the distances of the levels, 0.3 and 0.7."""
    return compare(evidence.weights)


@claim("table 2", printed="75 numbers; mean nDCG 0.28, 0.17, 0.39", criterion=AGREE)
def judge_table_2(evidence: Evidence) -> Verdict:
    """DCG, ideal DCG and nDCG at ranks 1 to 8 for the gains of r, 2r and r/4, and mean nDCG."""
    return compare(evidence.second)


@claim(
    "table 2",
    printed="nDCG 0.28 → 0.17, NDCNG 0.39",
    criterion=f"the means agree with the printed ones, and mean NDCNG changes by less than {SAME:g}",
    kind=THEOREM,
)
def judge_doubling(evidence: Evidence) -> Verdict:
    """Doubling all grades lowers mean nDCG and does not change mean NDCNG."""
    (plain, twice), (normed, normed_twice) = evidence.doubled_means["nDCG"], evidence.doubled_means["NDCNG"]
    here = f"nDCG {plain:.4f} → {twice:.4f}, NDCNG {normed:.4f} → {normed_twice:.4f}"
    printed = agrees(plain, "0.28") and agrees(twice, "0.17") and agrees(normed, "0.39")
    return decide(printed and abs(normed - normed_twice) < SAME, here)


@claim(
    "§3.2",
    printed="rule",
    criterion=f"µAP, nDCG and NDCNG of the grades plus 1 with shift(1) equal those of the grades, to within {SAME:g}",
    kind=THEOREM,
)
def judge_shift(evidence: Evidence) -> Verdict:
    """A scale with an irrelevant level other than 0 is shifted to 0, and nothing else changes."""
    values = evidence.shifted_values
    here = "; ".join(
        f"{name} {plain:.4f}, with shift(1) {moved:.4f}, without {higher:.4f}"
        for name, (plain, moved, higher) in values.items()
    )
    return decide(all(abs(plain - moved) < SAME for plain, moved, _ in values.values()), here)


@claim(
    "§5",
    printed="words",
    criterion=f"µAP is AP of the documents of the higher level, to within {SAME:g}",
    kind=THEOREM,
    split=lambda evidence: evidence.binary.items(),
)
def judge_binary(values: tuple[float, float]) -> Verdict:
    """If there are only two levels, µAP is AP."""
    graded, plain = values
    return decide(abs(graded - plain) < SAME, f"µAP {graded:.4f}, AP {plain:.4f}")


EXPERIMENT = Experiment(
    "s11-tables",
    "tables 1 and 2",
    "The numbers of µAP, nDCG and NDCNG of one ranking",
    "µAP averages average precision over all levels of relevance, weighted by their distances. NDCNG is nDCG with"
    " grades divided by the highest one. Unlike nDCG, it does not depend on how the levels are numbered.",
    run,
    (("table 1", "table-1"), ("table 2", "table-2")),
    claims=(judge_table_1, judge_weights, judge_table_2, judge_doubling, judge_shift, judge_binary),
)
