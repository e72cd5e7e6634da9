"""The agreement of nDCG of grades by place and nDCGφ on real lists: M16's claims and figures 3 and 4."""

import csv
from collections.abc import Iterator
from importlib import resources
from math import atanh, sqrt, tanh
from typing import Any, NamedTuple

import numpy as np

from gradely import Batch, Phi, nDCG, nDCGphi
from gradely.data.ids import Floats
from gradely_papers.charts import PALETTE, altair, draw, draw_lines, panels
from gradely_papers.experiment import Figure, Sheet, claim
from gradely_papers.verdicts import Interval, Record, Verdict, decide, group_by

FAR = 0.1
"""values that are far apart differ by more; the limit is ours"""
CELL = 0.1
"""the side of a cell of the grid of counts"""
NORMAL = 1.96
"""half the width of a 95 % interval, in standard errors"""
ALMOST = 1 - 1e-12
"""the largest correlation that Fisher's transformation accepts"""
AUTHORS = "the authors' points of September 2014"
"""the data of their public repository RankEval_ECIR2017; the paper's data is of June to December 2015"""
CUTOFFS = (5, 10, 15, 20)
Values = dict[str, dict[int, dict[str, Floats]]]
"""a value for each list, by set of lists, cut-off and measure"""


class Summary(NamedTuple):
    """nDCG@10 and nDCGφ@10 over a set of lists."""

    data: str
    lists: int
    ndcg: float
    phi: float
    positive: float
    """the share of lists with a higher nDCG"""
    negative: float
    far: float
    """the share of lists whose values are far apart"""
    correlation: float
    """Pearson's correlation of nDCG@10 and the difference"""

    @classmethod
    def of(cls, data: str, ndcg: Floats, phi: Floats) -> "Summary":
        """Summarise a set of lists."""
        difference = ndcg - phi
        varies = bool(np.ptp(ndcg) > 0 and np.ptp(difference) > 0)
        return cls(
            data,
            len(ndcg),
            float(ndcg.mean()),
            float(phi.mean()),
            float(np.mean(difference > 0)),
            float(np.mean(difference < 0)),
            float(np.mean(np.abs(difference) > FAR)),
            float(np.corrcoef(ndcg, difference)[0, 1]) if varies else 0.0,
        )

    @property
    def trend(self) -> Interval:
        """The correlation with its 95 % interval by Fisher's transformation, which needs four lists."""
        if self.lists < 4:
            return Interval(self.correlation, -1.0, 1.0)
        middle, error = atanh(max(-ALMOST, min(self.correlation, ALMOST))), NORMAL / sqrt(self.lists - 3)
        return Interval(self.correlation, tanh(middle - error), tanh(middle + error))

    def record(self) -> Record:
        """Return a row of a table."""
        return {
            "data": self.data,
            "lists": self.lists,
            "mean nDCG@10": self.ndcg,
            "mean nDCGφ@10": self.phi,
            "nDCG higher": self.positive,
            "nDCGφ higher": self.negative,
            f"more than {FAR} apart": self.far,
            "correlation of nDCG@10 and the difference": self.correlation,
        }


def measure_lists(grades: Batch, scores: Batch, control: str) -> dict[int, dict[str, Floats]]:
    """Return nDCG of grades by place and nDCGφ for each list, by cut-off; `control` selects the control points of φ."""
    plain, phi = nDCG(gain="exp"), nDCGphi(relevance=Phi(control))
    return {
        k: {"nDCG": np.asarray(plain.replace(k=k)(grades)), "nDCGφ": np.asarray(phi.replace(k=k)(scores))}
        for k in CUTOFFS
    }


def by_cutoff(values: Values) -> list[Record]:
    """Return the means over all lists, with a row for each set of lists and cut-off."""
    return [
        {"data": data, "k": k} | {name: float(np.mean(of_lists)) for name, of_lists in measured.items()}
        for data, cutoffs in values.items()
        for k, measured in cutoffs.items()
    ]


def by_list(values: Values) -> list[Record]:
    """Return both measures at 10 and their difference for every list."""
    return [
        {"data": data, "list": i, "nDCG@10": plain, "nDCGφ@10": phi, "difference": plain - phi}
        for data, cutoffs in values.items()
        for i, (plain, phi) in enumerate(zip(*(column.tolist() for column in cutoffs[10].values()), strict=True), 1)
    ]


def summarise(values: Values) -> list[Summary]:
    """Return a summary of each set of lists."""
    return [Summary.of(data, *cutoffs[10].values()) for data, cutoffs in values.items()]


class Evidence(NamedTuple):
    """Summaries of sets of lists, the authors' first, and means by cut-off."""

    summaries: list[Summary]
    means: list[Record]
    """data, k, and the mean of each measure"""


def read_published() -> list[Summary]:
    """Return summaries of the authors' figure: nDCG@10 and nDCGφ@10 of lists of Google News, by topic."""
    rows = list(csv.reader(_read("google_news.csv")))[1:]
    return [Summary(f"{AUTHORS}, {topic}", int(lists), *map(float, numbers)) for topic, lists, *numbers in rows]


def read_published_grid() -> list[Record]:
    """Return the number of the authors' points in each cell of a coarse grid, by the corner of the cell."""
    rows = csv.DictReader(_read("google_news_grid.csv"))
    return [
        {"topic": row["topic"], "x": float(row["nDCG@10"]), "y": float(row["nDCGφ@10"]), "lists": int(row["lists"])}
        for row in rows
    ]


def _read(name: str) -> list[str]:
    return (resources.files("gradely_papers.moniz2016") / name).read_text("utf-8").splitlines()


def by_lists(evidence: Evidence) -> Iterator[tuple[str, Summary]]:
    """Yield the summary of each set of lists."""
    for summary in evidence.summaries:
        yield f"{summary.data} ({summary.lists:,} lists)", summary


def cutoffs_by_lists(evidence: Evidence) -> Iterator[tuple[str, list[Record]]]:
    """Yield the means at each known cut-off of each set of lists."""
    means = group_by("data", evidence.means)
    for name, summary in by_lists(evidence):
        yield name, means.get(summary.data, [{"k": 10, "nDCG": summary.ndcg, "nDCGφ": summary.phi}])


@claim(
    "figure 3, §4.2",
    printed="figure only",
    criterion="mean nDCG is higher at every known cut-off",
    split=cutoffs_by_lists,
)
def means_higher(rows: list[Record]) -> Verdict:
    """Mean nDCG@k is above mean nDCGφ@k for k = 5, 10, 15 and 20."""
    here = ", ".join(f"@{row['k']} {row['nDCG']:.3f} and {row['nDCGφ']:.3f}" for row in rows)
    return decide(all(row["nDCG"] > row["nDCGφ"] for row in rows), here)


@claim(
    "figure 4, §5",
    printed="figure only",
    criterion="it is positive for more than half of the lists",
    split=by_lists,
)
def mostly_positive(summary: Summary) -> Verdict:
    """The difference of nDCG@10 and nDCGφ@10 is mostly positive."""
    return decide(summary.positive > 1 / 2, f"for {summary.positive:.0%} of the lists")


@claim(
    "figure 4, §5",
    printed="figure only",
    criterion="Pearson's correlation of nDCG@10 and the difference is above 0; 95 %, treating lists as independent",
    split=by_lists,
)
def grows(summary: Summary) -> Verdict:
    """The difference grows with nDCG@10."""
    return Verdict(summary.trend.word, f"Pearson's correlation {summary.trend}")


@claim(
    "abstract, §5",
    printed="words",
    criterion=f"nDCG@10 and nDCGφ@10 differ by more than {FAR} for more than half of the lists, and both signs occur",
    quote="frequently under- or over-estimates its evaluation scores in light of the divergence of items' scores",
    split=by_lists,
)
def misestimates(summary: Summary) -> Verdict:
    """nDCG frequently under- or overestimates, given the divergence of items' scores."""
    higher, lower = summary.positive, summary.negative
    here = (
        f"more than {FAR} apart for {summary.far:.0%} of the lists; nDCG higher for {higher:.0%}, lower for {lower:.0%}"
    )
    return decide(summary.far > 1 / 2 and min(higher, lower) > 0, here)


CLAIMS = (means_higher, mostly_positive, grows, misestimates)
"""the claims on real rankings"""


def sheets(values: Values) -> dict[str, Sheet]:
    """Return the numbers of both figures, and summaries of the authors' lists and ours."""
    every = [*read_published(), *summarise(values)]
    return {
        "figure-3": Sheet.of("Means over all lists", by_cutoff(values)),
        "figure-4": Sheet.of("Every list at 10", by_list(values)),
        "agreement": Sheet.of("The authors' lists and ours", [entry.record() for entry in every]),
    }


def figures(values: Values, topics: dict[str, str]) -> dict[str, Figure]:
    """Return both figures, and all lists over the authors'; `topics` has the topic of each set of lists."""
    rows = by_list(values)
    return {
        "figure-3": Figure("nDCG@k and nDCGφ@k by cut-off.", figure_3(by_cutoff(values), rows)),
        "figure-4": Figure("nDCG@10 - nDCGφ@10 of each list, in the order of nDCG@10.", figure_4(rows)),
        "points": Figure(
            "Our lists (dots), the authors' of September 2014 on the same topic (counts), and equal values (dashed).",
            scatter(rows, topics),
        ),
    }


def figure_3(means: list[Record], lists: list[Record]) -> Any:
    """Return the means by cut-off, with a panel for each set of lists."""
    alt, titles = altair(), _titles(lists)
    rows = [
        {"panel": titles[row["data"]], "k": row["k"], "measure": name, "mean": row[name]}
        for row in means
        for name in ("nDCG", "nDCGφ")
    ]
    x = alt.X("k:O", title="cut-off k", axis=alt.Axis(labelAngle=0))
    y = alt.Y("mean:Q", title="mean over the lists", scale=alt.Scale(domain=[0, 1.05], nice=False))
    lines = draw_lines(rows, x, y, "measure", ["nDCG", "nDCGφ"])
    return panels(lines.properties(width=190, height=190), by="panel", columns=3, order=[*titles.values()])


def figure_4(lists: list[Record]) -> Any:
    """Return the difference of every list in the order of nDCG@10, with a panel for each set of lists."""
    alt, titles = altair(), _titles(lists)
    rows = []
    for name, own in group_by("data", lists).items():
        differences = [row["difference"] for row in sorted(own, key=lambda row: row["nDCG@10"])]
        rows += [{"panel": titles[name], "rank": i, "difference": x} for i, x in enumerate(differences, 1)]
    bars = (
        draw(rows)
        .mark_bar(clip=True)
        .encode(
            x=alt.X("rank:Q", title="lists in the order of nDCG@10, lowest first", scale=alt.Scale(nice=False)),
            y=alt.Y("difference:Q", title="nDCG − nDCGφ"),
            color=alt.condition("datum.difference > 0", alt.value(PALETTE[0]), alt.value(PALETTE[1])),
        )
    )
    return panels(bars.properties(width=640, height=90), by="panel", columns=1, order=[*titles.values()])


def scatter(lists: list[Record], topics: dict[str, str]) -> Any:
    """Return nDCGφ@10 against nDCG@10 as dots over a grid of counts of the authors' points.

    `topics` has the authors' topic for each set of lists.
    """
    alt = altair()
    scale = alt.Scale(domain=[-0.02, 1.02], nice=False)

    def x(name: str) -> Any:
        return alt.X(f"{name}:Q", title="nDCG@10", scale=scale)

    def y(name: str) -> Any:
        return alt.Y(f"{name}:Q", title="nDCGφ@10", scale=scale)

    titles = _titles(lists)
    ends = [{"panel": titles[data], "line": end} for data in topics for end in (0, 1)]
    dots = [{"panel": titles[row["data"]], "x": row["nDCG@10"], "y": row["nDCGφ@10"]} for row in lists]
    base = draw([*_cells({titles[data]: topic for data, topic in topics.items()}), *dots, *ends])
    grid = base.transform_filter("isValid(datum.lists)").mark_rect()
    color = alt.Color(
        "lists:Q", title="the authors' lists, Sept 2014", scale=alt.Scale(scheme="greys", domain=[0, 200])
    )
    cells = grid.encode(x=x("x"), x2="x2:Q", y=y("y"), y2="y2:Q", color=color)
    same = base.transform_filter("isValid(datum.line)").mark_line(color=PALETTE[1], strokeDash=[4, 4])
    ours = base.transform_filter("!isValid(datum.lists) && isValid(datum.x)").mark_circle(size=26, color=PALETTE[0])
    layers = cells + same.encode(x=x("line"), y=y("line")) + ours.encode(x=x("x"), y=y("y"))
    return panels(layers.properties(width=210, height=210), by="panel", columns=3, order=[*titles.values()])


def _titles(lists: list[Record]) -> dict[str, str]:
    """Return the title of each set of lists, its name and size."""
    return {data: f"{data} (n = {len(rows):,})" for data, rows in group_by("data", lists).items()}


def _cells(topics: dict[str, str]) -> list[Record]:
    """Return the grid of counts of each panel's topic."""
    return [
        {"panel": panel, "x": cell["x"], "x2": cell["x"] + CELL, "y": cell["y"], "y2": cell["y"] + CELL}
        | {"lists": cell["lists"]}
        for panel, topic in topics.items()
        for cell in read_published_grid()
        if cell["topic"] == topic
    ]
