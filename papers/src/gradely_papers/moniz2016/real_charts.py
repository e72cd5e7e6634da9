"""Figures 3 and 4 of M16, and the authors' own figure: nDCG against nDCGφ over real lists."""

from collections import Counter
from typing import Any

from gradely.comparison.charts import PALETTE, altair, draw, draw_lines, panels
from gradely_papers.moniz2016.agreement import CELL, read_published_grid
from gradely_papers.verdicts import Record


def figure_3(means: list[Record], lists: list[Record]) -> Any:
    """Return the means by cut-off, one panel for each set of lists."""
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
    """Return the difference of every list, in the order of nDCG@10, one panel for each set of lists."""
    alt, titles = altair(), _titles(lists)
    rows = []
    for name, title in titles.items():
        ordered = sorted((row for row in lists if row["data"] == name), key=lambda row: row["nDCG@10"])
        rows += [{"panel": title, "rank": i, "difference": row["difference"]} for i, row in enumerate(ordered, 1)]
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
    """Return nDCGφ@10 against nDCG@10 as dots, on top of the authors' points as a grid of counts.

    `topics` says by the name of each set of lists below which topic of the authors it is drawn.
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
    color = alt.Color("lists:Q", title="the authors' lists", scale=alt.Scale(scheme="greys", domain=[0, 200]))
    cells = grid.encode(x=x("x"), x2="x2:Q", y=y("y"), y2="y2:Q", color=color)
    same = base.transform_filter("isValid(datum.line)").mark_line(color=PALETTE[1], strokeDash=[4, 4])
    ours = base.transform_filter("!isValid(datum.lists) && isValid(datum.x)").mark_circle(size=26, color=PALETTE[0])
    layers = cells + same.encode(x=x("line"), y=y("line")) + ours.encode(x=x("x"), y=y("y"))
    return panels(layers.properties(width=210, height=210), by="panel", columns=3, order=[*titles.values()])


def _titles(lists: list[Record]) -> dict[str, str]:
    """Return the title of each set of lists: its name, and how many it has."""
    counts = Counter(row["data"] for row in lists)
    return {data: f"{data} (n = {count:,})" for data, count in counts.items()}


def _cells(topics: dict[str, str]) -> list[Record]:
    """Return the grid of counts of a topic, once for each panel below which it lies."""
    return [
        {"panel": panel, "x": cell["x"], "x2": cell["x"] + CELL, "y": cell["y"], "y2": cell["y"] + CELL}
        | {"lists": cell["lists"]}
        for panel, topic in topics.items()
        for cell in read_published_grid()
        if cell["topic"] == topic
    ]
