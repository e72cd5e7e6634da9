"""M16, table 1: the same mistake on two days, harmless on one of them."""

from collections.abc import Mapping

from gradely import nDCG, nDCGphi
from gradely.evaluation.notes import SAME
from gradely_papers.experiment import THEOREM, Experiment, Library, Outcome, Sheet, claim
from gradely_papers.progress import Report
from gradely_papers.rankings import value_of
from gradely_papers.verdicts import Record, Verdict, decide

DAYS = {"day 1": (100, 80, 90, 15, 10), "day 2": (100, 20, 90, 15, 10)}
"""true scores in the recommended order; on both days, the items at ranks 2 and 3 are swapped"""


def grade_by_place(scores: tuple[int, ...]) -> list[int]:
    """Return grades by place, from 4 for the best of five items to 0 for the last."""
    return [sum(other < score for other in scores) for score in scores]


def table_1(days: Mapping[str, tuple[int, ...]] = DAYS) -> list[Record]:
    """Return both measures on two days."""
    return [
        {
            "day": day,
            "true scores": ", ".join(map(str, scores)),
            "nDCG of grades by place": value_of(nDCG(gain="exp"), grade_by_place(scores)),
            "nDCGφ": value_of(nDCGphi(), scores),
        }
        for day, scores in days.items()
    ]


@claim("table 1, §1", printed="words", criterion="nDCGφ is below 1 on day 1, and lower on day 2")
def costs_more(table: list[Record]) -> Verdict:
    """The same swap of ranks 2 and 3 costs more on day 2, when the items differ more."""
    first, second = (row["nDCGφ"] for row in table)
    return decide(second < first < 1, f"nDCGφ {first:.4f} on day 1, {second:.4f} on day 2")


@claim("table 1, §1", printed="words", criterion=f"equal to within {SAME:g}", kind=THEOREM)
def costs_same(table: list[Record]) -> Verdict:
    """nDCG of grades by place is equal on both days."""
    first, second = (row["nDCG of grades by place"] for row in table)
    return decide(abs(first - second) < SAME, f"nDCG {first:.4f} on day 1, {second:.4f} on day 2")


def run(library: Library, seed: int, progress: Report) -> Outcome:  # noqa: ARG001 - nothing is drawn or read
    """Measure both days."""
    table = table_1()
    return Outcome(
        "We measured the recommended order of both days with grades by place, from 4 for the best item to 0 for the"
        " last, and with φ of the true scores.",
        table,
        {"table-1": Sheet.of("Table 1: two days, one mistake", table)},
        {},
    )


EXPERIMENT = Experiment(
    "m16-days",
    "table 1",
    "The same mistake on two days, one of them harmless",
    "If grades depend only on places in the true order, swapping two items costs as much when they are alike as when"
    " they differ. A measure should penalise a swap more if the items differ more.",
    run,
    (("table 1", "table-1"),),
    claims=(costs_more, costs_same),
)
