"""M16's outlook: contributions of items to the difference of nDCG and nDCGφ, by their place in the true order."""

from typing import Any

import numpy as np

from gradely import DCG, Phi, from_arrays
from gradely.data.ids import Floats
from gradely.tables import count_of
from gradely_papers.charts import altair, draw_lines, style
from gradely_papers.experiment import Experiment, Figure, Library, Observation, Outcome, Sheet
from gradely_papers.moniz2016.grades import adhoc, places
from gradely_papers.moniz2016.news import DATA, END, HOURS, Lists, join, read_topics
from gradely_papers.progress import Report
from gradely_papers.rankings import rank_labels
from gradely_papers.verdicts import Record, group_by

GRADES, PHI, DIFFERENCE = "nDCG@10", "nDCGφ@10", "difference"
PLACES = {"1": (1, 1), "2 and 3": (2, 3), "4 to 10": (4, 10), "11 to 25": (11, 25), "26 and below": (26, 100)}
"""groups of items: their first and last place in the true order"""


def gains(final: Floats) -> dict[str, Floats]:
    """Return the gain of each item by each measure, before the discount [lists, items]."""
    relevance = {GRADES: adhoc(final), PHI: np.asarray(Phi()(rank_labels(final)).grade)}
    return {name: 2**value - 1 for name, value in relevance.items()}


def split(lists: Lists, hours: int) -> list[Record]:
    """Return the contribution of each group of items to the mean of each measure, for rankings after some hours.

    DCG is a sum over items with a common divisor, the best DCG. The contributions therefore add up to the measure.
    """
    final, early, place = lists.final, lists.after(hours), places(lists.final)
    out: list[Record] = []
    for group, (first, last) in PLACES.items():
        within = (first <= place) & (place <= last)
        row: Record = {"hours": hours, "true place": group}
        for name, gain in gains(final).items():
            own, best = (
                np.asarray(DCG(k=10)(from_arrays(*lists)))
                for lists in ((early, np.where(within, gain, 0.0)), (final, gain))
            )
            row[name] = float(np.mean(own / np.where(best > 0, best, 1.0)))
        out.append(row | {DIFFERENCE: row[GRADES] - row[PHI]})
    return out


def observations(records: list[Record]) -> list[Observation]:
    """Return the contributions of each group of items, for the best ranking and for each early one."""
    out = []
    for hours, own in sorted(group_by("hours", records).items(), key=lambda item: (item[0] != END, item[0])):
        parts = ", ".join(
            f"{record['true place']} {record[GRADES]:.3f} - {record[PHI]:.3f} = {record[DIFFERENCE]:+.3f}"
            for record in own
        )
        ndcg, phi, difference = (round(sum(record[name] for record in own), 3) for name in (GRADES, PHI, DIFFERENCE))
        ranking = "of the best ranking" if hours == END else f"after {count_of(hours, 'hour')}"
        out.append(
            Observation(
                f"How much do items contribute to {GRADES} - {PHI} {ranking}, by their true place?",
                f"{parts}; in total {ndcg:.3f} - {phi:.3f} = {difference + 0.0:+.3f}.",
            )
        )
    return out


def chart(records: list[Record]) -> Any:
    """Return the contributions of each group of items to both measures and their difference, by hours."""
    alt = altair()
    rows = [
        {"hours": record["hours"], "true place": record["true place"], "of": name, "contribution": record[name]}
        for record in records
        for name in (GRADES, PHI, DIFFERENCE)
    ]
    x = alt.X("hours:O", title="hours after which items are ranked", axis=alt.Axis(labelAngle=0))
    y = alt.Y("contribution:Q", title="contribution to the mean", scale=alt.Scale(nice=False, padding=8))
    lines = draw_lines(rows, x, y, "true place", [*PLACES], title="true place").properties(width=230, height=240)
    return style(lines.facet(alt.Column("of:N", title=None, sort=[GRADES, PHI, DIFFERENCE])))


def run(library: Library, seed: int, progress: Report) -> Outcome:  # noqa: ARG001 - nothing is drawn, and it is quick
    """Split both measures of early rankings of news by item."""
    lists = join(read_topics(library))
    records = [record for hours in (*HOURS, END) for record in split(lists, hours)]
    return Outcome(
        f"For the {len(lists.counts):,} lists of m16-news, we split nDCG@10 and nDCGφ@10 exactly. Both are sums over"
        " items, each of which contributes its gain divided by the discount of its rank and by the best DCG. Items are"
        f" grouped by their place in the true order, after {END} hours; equal counts have the last of their places.",
        records,
        {"difference": Sheet.of("Contributions of items to the means, by their true place", records)},
        {
            "difference": Figure(
                f"Contributions of items to the means over {len(lists.counts):,} lists, by their true place; after"
                f" {END} hours, the ranking is the best one.",
                chart(records),
            )
        },
        observations(records),
    )


EXPERIMENT = Experiment(
    "m16-difference",
    "outlook",
    "Contributions of items to the difference of nDCG and nDCGφ",
    "The paper leaves a detailed explanation of the difference to future work.",
    run,
    (("outlook", "difference"),),
    needs=(DATA,),
)
