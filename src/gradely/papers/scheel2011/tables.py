"""S11, tables 1 and 2: average precision at every level, and three kinds of cumulated gain, of one ranking."""

from math import log10
from typing import NamedTuple

import numpy as np

from gradely.data import Report
from gradely.evaluation.evaluation import SAME
from gradely.kernel.from_arrays import from_arrays
from gradely.measures import AP, DCG, NDCNG, Measure, muAP, nDCG
from gradely.papers.library import Library
from gradely.papers.outcome import Claim, Experiment, Outcome, Sheet
from gradely.papers.printed import agrees
from gradely.tables import Table

RANKING = (1, 0, 3, 3, 2, 0, 1, 4)
"""the grades of the ranking, from rank 1 down; no other document is judged"""
LEVELS = {5: "0", 4: "0.125", 3: "0.403", 2: "0.483", 1: "0.780", 0: "1.000"}
"""table 1: average precision with each level as the threshold"""
GRADED = "0.448"
"""table 1: µAP"""


class Printed(NamedTuple):
    """What table 2 prints for one gain: values at ranks 1 … 8, and the mean nDCG over them."""

    factor: float
    """what grades are multiplied by before the gain"""
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
    """A number of a table: which one, as the paper prints it, and ours."""

    what: str
    printed: str
    ours: float

    @property
    def agrees(self) -> bool:
        """True where ours is what the paper prints."""
        return agrees(self.ours, self.printed)

    def record(self) -> dict[str, str | float]:
        """Return it as a row of a table."""
        verdict = "agrees" if self.agrees else "differs"
        return {"number": self.what, "the paper": self.printed, "here": self.ours, "verdict": verdict}


def of(measure: Measure, labels: list[float]) -> float:
    """Return the value of a ranking without ties."""
    return float(measure(from_arrays(-np.arange(len(labels)), labels))[0])


def table_1() -> list[Cell]:
    """Return average precision with each level as the threshold, and µAP."""
    labels = [float(grade) for grade in RANKING]
    cells = [Cell(f"AP at level {level}", printed, of(AP(rel=level), labels)) for level, printed in LEVELS.items()]
    return [*cells, Cell("µAP", GRADED, of(muAP(), labels))]


def table_2() -> list[Cell]:
    """Return the columns of all three gains."""
    return [cell for name, printed in GAINS.items() for cell in _gain(name, printed)]


def _gain(name: str, printed: Printed) -> list[Cell]:
    """The paper's logarithm is of base 10; the base cancels in nDCG."""
    labels = [printed.factor * grade for grade in RANKING]
    best = sorted(labels, reverse=True)
    dcg, ideal = ([of(DCG(gain="exp").replace(k=k), each) / log10(2) for k in RANKS] for each in (labels, best))
    ndcg = [of(nDCG(gain="exp").replace(k=k), labels) for k in RANKS]
    columns = (("DCG", printed.dcg, dcg), ("ideal DCG", printed.ideal, ideal), ("nDCG", printed.ndcg, ndcg))
    cells = [
        Cell(f"{what} of gain {name} at rank {rank}", shown, value)
        for what, column, values in columns
        for rank, shown, value in zip(RANKS, column.split(), values, strict=True)
    ]
    return [*cells, Cell(f"mean nDCG of gain {name}", printed.mean, float(np.mean(ndcg)))]


def doubled() -> dict[str, tuple[float, float]]:
    """Return the mean over all ranks of nDCG and NDCNG, of the grades and of the grades doubled."""
    grades = [float(grade) for grade in RANKING]
    twice = [2 * grade for grade in grades]
    return {
        measure.name: (mean_over_ranks(measure, grades), mean_over_ranks(measure, twice))
        for measure in (nDCG(gain="exp"), NDCNG())
    }


def mean_over_ranks(measure: nDCG, labels: list[float]) -> float:
    """Return the mean over all cut-offs, which the paper calls mean nDCG."""
    return float(np.mean([of(measure.replace(k=k), labels) for k in RANKS]))


def run(library: Library, seed: int, progress: Report) -> Outcome:  # noqa: ARG001 - nothing is drawn or read
    """Compute both tables."""
    first, second = table_1(), table_2()
    return Outcome(
        "We computed both tables with the measures of this library. A printed number agrees where ours, rounded or cut"
        " off to its decimals, is the same: the paper cuts its large numbers off.",
        f"{_agreeing([*first, *second])} numbers agree. Doubling every grade changes nDCG, and NDCNG not.",
        [
            _claim("Table 1: average precision at every level, and µAP.", first),
            _claim("Table 2: DCG, ideal DCG and nDCG for three gains.", second),
            _same_when_doubled(doubled()),
        ],
        {
            "table-1": Sheet("Table 1: average precision at every level", Table.of([cell.record() for cell in first])),
            "table-2": Sheet("Table 2: cumulated gain at every rank", Table.of([cell.record() for cell in second])),
        },
        {},
    )


def _claim(text: str, cells: list[Cell]) -> Claim:
    theirs, ours = f"{cells[-1].what} {cells[-1].printed}", f"{cells[-1].what} {cells[-1].ours:.4f}"
    return Claim(text, theirs, f"{ours}; {_agreeing(cells)} numbers agree", all(cell.agrees for cell in cells))


def _agreeing(cells: list[Cell]) -> str:
    return f"{sum(cell.agrees for cell in cells)} of {len(cells)}"


def _same_when_doubled(means: dict[str, tuple[float, float]]) -> Claim:
    (plain, twice), (normed, normed_twice) = means["nDCG"], means["NDCNG"]
    return Claim(
        "Doubling all grades lowers mean nDCG and leaves mean NDCNG as it is.",
        "nDCG 0.28 → 0.17, NDCNG 0.39",
        f"nDCG {plain:.4f} → {twice:.4f}, NDCNG {normed:.4f} → {normed_twice:.4f}",
        agrees(plain, "0.28")
        and agrees(twice, "0.17")
        and agrees(normed, "0.39")
        and abs(normed - normed_twice) < SAME,
    )


EXPERIMENTS = (
    Experiment(
        "s11-tables",
        "S11",
        "tables 1 and 2",
        "µAP and NDCNG of one ranking, number by number",
        "µAP averages average precision over all levels of relevance, weighted by their distance. NDCNG is nDCG with"
        " grades over the highest one, so that it does not depend on how grades are numbered, as nDCG does.",
        (),
        run,
    ),
)
