"""M16, figures 3 and 4: nDCG and nDCGφ of news as ranked early by how often they were shared."""

from typing import Any

import numpy as np

from gradely.comparison.charts import PALETTE, altair, drawn, styled
from gradely.data import Report
from gradely.data.types import Floats
from gradely.measures import nDCG, nDCGphi
from gradely.papers.library import Library
from gradely.papers.moniz2016.lists import DATA, SIZE, Lists, read
from gradely.papers.outcome import Claim, Experiment, Figure, Outcome, Sheet
from gradely.tables import Table

Record = dict[str, Any]

HOURS = (1, 2, 4, 8, 24)
CUTOFFS = (5, 10, 15, 20)
FAR = 0.1
"""values that differ by more are far apart"""


def values(lists: Lists, hours: int, k: int) -> dict[str, Floats]:
    """Return nDCG@k of grades by place and nDCGφ@k, a value each list."""
    return {
        "nDCG": np.asarray(nDCG(gain="exp").replace(k=k)(lists.graded(hours))),
        "nDCGφ": np.asarray(nDCGphi().replace(k=k)(lists.popular(hours))),
    }


def by_cutoff(lists: Lists) -> list[Record]:
    """Return the means over all lists."""
    return [
        {"hours": hours, "k": k, "measure": name, "mean": float(np.mean(found))}
        for hours in HOURS
        for k in CUTOFFS
        for name, found in values(lists, hours, k).items()
    ]


def by_list(lists: Lists) -> list[Record]:
    """Return both measures at 10 of every list, and the difference."""
    out: list[Record] = []
    for hours in HOURS:
        found = values(lists, hours, 10)
        for i, (plain, phi) in enumerate(zip(found["nDCG"].tolist(), found["nDCGφ"].tolist(), strict=True), 1):
            out.append({"hours": hours, "list": i, "nDCG@10": plain, "nDCGφ@10": phi, "difference": plain - phi})
    return out


def figure_3(records: list[Record]) -> Any:
    """Return the means by cut-off, a panel a number of hours."""
    alt = altair()
    lines = (
        drawn(_timed(records))
        .mark_line(point=alt.OverlayMarkDef(size=50))
        .encode(
            x=alt.X("k:O", title="cut-off k", axis=alt.Axis(labelAngle=0)),
            y=alt.Y("mean:Q", title="mean over the lists", scale=alt.Scale(domain=[0, 1.05], nice=False)),
            color=alt.Color("measure:N", title=None),
            shape=alt.Shape("measure:N", legend=None),
        )
    )
    return styled(lines.properties(width=125, height=220).facet(alt.Column("after:N", title=None, sort=_times())))


def figure_4(records: list[Record]) -> Any:
    """Return the difference between both measures for every list, in the order of time, a panel a number of hours."""
    alt = altair()
    bars = (
        drawn(_timed(records))
        .mark_bar()
        .encode(
            x=alt.X("list:Q", title="list, in the order of time", scale=alt.Scale(nice=False)),
            y=alt.Y("difference:Q", title="difference"),
            color=alt.condition("datum.difference > 0", alt.value(PALETTE[0]), alt.value(PALETTE[1])),
        )
    )
    return styled(bars.properties(width=640, height=90).facet(row=alt.Row("after:N", title=None, sort=_times())))


def _times() -> list[str]:
    return [_time(hours) for hours in HOURS]


def _time(hours: int) -> str:
    return f"after {hours} hour{'s' if hours > 1 else ''}"


def _timed(records: list[Record]) -> list[Record]:
    return [record | {"after": _time(record["hours"])} for record in records]


def claims(each: list[Record]) -> list[Claim]:
    """Check that the two measures say different things of the same ranking."""
    far = {hours: [abs(record["difference"]) > FAR for record in each if record["hours"] == hours] for hours in HOURS}
    found = [record["difference"] for record in each]
    count = ", ".join(f"{sum(some)} of {len(some)} {_time(hours)}" for hours, some in far.items())
    return [
        Claim(
            "On real rankings of news, nDCG@10 and nDCGφ@10 differ, for most of them clearly.",
            "",
            f"by more than {FAR} for {count}; from {min(found):+.3f} to {max(found):+.3f}",
            sum(map(sum, far.values())) > len(found) / 2,
        )
    ]


def story(means: list[Record]) -> str:
    """Say what came out, with the means at 10."""
    value = {(record["hours"], record["measure"]): record["mean"] for record in means if record["k"] == 10}
    early, late = HOURS[0], HOURS[-1]
    return (
        f"nDCG@10 is {value[early, 'nDCG']:.3f} {_time(early)} and {value[late, 'nDCG']:.3f} {_time(late)}; nDCGφ@10 is"
        f" {value[early, 'nDCGφ']:.3f} and {value[late, 'nDCGφ']:.3f}. A few items are shared far more than all others:"
        " grades by place reward any of the top ten, φ asks for the few that stand out, and early counts often miss"
        " them. The cut-off hardly matters to nDCGφ, since little relevance is left below the first places."
    )


def run(library: Library, seed: int, progress: Report) -> Outcome:  # noqa: ARG001 - nothing is drawn
    """Read the items and measure the early rankings."""
    lists = read(library.path(DATA))
    means = by_cutoff(lists)
    progress(0.6)
    each = by_list(lists)
    return Outcome(
        f"The lists of the paper are not public with their popularity. We took {len(lists.counts)} lists of {SIZE} news"
        " items that appeared one after the other, ranked each by how often its items had been shared after"
        f" {', '.join(map(str, HOURS[:-1]))} and {HOURS[-1]} hours, and measured against the count after two days."
        f" {lists.unknown} items without a final count and the last {lists.left}, which fill no list, were left out."
        " Items not seen by then come last; equal counts tie, and values are means over all orders of ties. Grades by"
        " place are 3, 2, 1, 0 for the top 10, 25, 50 and the rest.",
        story(means),
        claims(each),
        {
            "figure-3": Sheet("Means over all lists", Table.of(means)),
            "figure-4": Sheet("Every list at 10", Table.of(each)),
        },
        {
            "figure-3": Figure("nDCG@k and nDCGφ@k by cut-off.", figure_3(means)),
            "figure-4": Figure("nDCG@10 - nDCGφ@10, list by list.", figure_4(each)),
        },
    )


EXPERIMENTS = (
    Experiment(
        "m16-news",
        "M16",
        "figures 3 and 4",
        "nDCG and nDCGφ of real news, ranked early by popularity",
        "On real rankings of news, nDCG with grades by place and nDCGφ say different things; how different depends on"
        " the ranking.",
        (DATA,),
        run,
    ),
)
