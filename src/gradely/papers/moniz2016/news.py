"""M16, figures 3 and 4: nDCG and nDCGφ of news as ranked early by how often they were shared."""

import numpy as np

from gradely.data import Report
from gradely.data.types import Floats
from gradely.measures import Measure, nDCG, nDCGphi
from gradely.papers.library import Library
from gradely.papers.moniz2016.agreement import Evidence, Summary, claims, read_published
from gradely.papers.moniz2016.lists import DATA, SIZE, Lists, read
from gradely.papers.moniz2016.real_charts import figure_3, figure_4, scatter
from gradely.papers.outcome import Experiment, Figure, Observation, Outcome, Sheet
from gradely.papers.verdicts import Record
from gradely.tables import Table

HOURS = (1, 2, 4, 8, 24)
CUTOFFS = (5, 10, 15, 20)


def name_of(hours: int) -> str:
    """Return the name of the lists as ranked after some hours."""
    return f"Facebook, after {hours} hour{'s' if hours > 1 else ''}"


TOPIC = "palestine"
"""the topic of these news, which is one of the authors', too"""
NAMES = [name_of(hours) for hours in HOURS]


def values(lists: Lists, hours: int, k: int) -> dict[str, Floats]:
    """Return nDCG@k of grades by place and nDCGφ@k, one value per list."""
    plain: Measure = nDCG(gain="exp").replace(k=k)
    return {
        "nDCG": np.asarray(plain(lists.with_grades(hours))),
        "nDCGφ": np.asarray(nDCGphi().replace(k=k)(lists.with_popularity(hours))),
    }


def by_cutoff(lists: Lists) -> list[Record]:
    """Return the means over all lists, one row per number of hours and cut-off."""
    return [
        {"data": name_of(hours), "k": k} | {name: float(np.mean(of_lists)) for name, of_lists in measured.items()}
        for hours in HOURS
        for k in CUTOFFS
        for measured in [values(lists, hours, k)]
    ]


def by_list(lists: Lists) -> list[Record]:
    """Return both measures at 10 of every list, and the difference."""
    out: list[Record] = []
    for hours in HOURS:
        pair = values(lists, hours, 10)
        for i, (plain, phi) in enumerate(zip(pair["nDCG"].tolist(), pair["nDCGφ"].tolist(), strict=True), 1):
            about = {"data": name_of(hours), "list": i}
            out.append(about | {"nDCG@10": plain, "nDCGφ@10": phi, "difference": plain - phi})
    return out


def summarise(rows: list[Record], names: list[str]) -> list[Summary]:
    """Return a summary of each set of lists."""
    columns = {
        name: np.array([(row["nDCG@10"], row["nDCGφ@10"]) for row in rows if row["data"] == name]) for name in names
    }
    return [Summary.of(name, *pairs.T) for name, pairs in columns.items()]


def observations(ours: list[Summary]) -> list[Observation]:
    """Say how the difference changes as rankings get better."""
    line = "; ".join(f"{entry.data}: nDCG {entry.ndcg:.3f}, nDCGφ {entry.phi:.3f}" for entry in ours)
    return [Observation("What happens as the ranking is made later, and better?", f"{line}.")]


def run(library: Library, seed: int, progress: Report) -> Outcome:  # noqa: ARG001 - nothing is drawn
    """Read the items and measure the early rankings."""
    lists = read(library.path(DATA))
    means = by_cutoff(lists)
    progress(0.6)
    rows = by_list(lists)
    ours = summarise(rows, NAMES)
    every = [*read_published(), *ours]
    return Outcome(
        "The lists of the paper are not public with their popularity; what the authors' published figure shows of them"
        f" stands beside ours. We took {len(lists.counts)} lists of {SIZE} news items that appeared one after the"
        f" other, ranked each by how often its items had been shared after {', '.join(map(str, HOURS[:-1]))} and"
        f" {HOURS[-1]} hours, and measured against the count after two days. {lists.unknown} items without a final"
        f" count and the last {lists.left_out}, which fill no list, were left out. Items not seen by then come last;"
        " equal counts tie, and values are means over all orders of ties. Grades by place are 3, 2, 1, 0 for the top"
        " 10, 25, 50 and the rest.",
        "A few items are shared far more than all others: grades by place reward any of the top ten, φ asks for the few"
        " that stand out, and early counts often miss them. After a day the few are known, and nDCGφ is often the"
        " higher one.",
        Evidence(every, means),
        {
            "figure-3": Sheet("Means over all lists", Table.of(means)),
            "figure-4": Sheet("Every list at 10", Table.of(rows)),
            "agreement": Sheet("The authors' lists and ours", Table.of([entry.record() for entry in every])),
        },
        {
            "figure-3": Figure(f"nDCG@k and nDCGφ@k by cut-off; {len(lists.counts)} lists.", figure_3(means, rows)),
            "figure-4": Figure(
                f"nDCG@10 - nDCGφ@10 of {len(lists.counts)} lists, in the order of nDCG@10.", figure_4(rows)
            ),
            "points": Figure(
                f"Ours as dots on the authors' lists on {TOPIC} as counts; dashed: equal.",
                scatter(rows, dict.fromkeys(NAMES, TOPIC)),
            ),
        },
        observations(ours),
    )


EXPERIMENT = Experiment(
    "m16-news",
    "M16",
    "figures 3 and 4",
    "nDCG and nDCGφ of real news, ranked early by popularity, beside the authors' points",
    "On real rankings of news, nDCG with grades by place and nDCGφ say different things; how different depends on"
    " the ranking.",
    run,
    claims=claims(),
    needs=(DATA,),
)
