"""Charts of runs over populations of users: lines for two levels, a triangle for three, bars for more."""

from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from gradely.comparison.charts import altair, categories, draw, style
from gradely.comparison.populations import find_best, split_users
from gradely.tables import count_of

if TYPE_CHECKING:
    from gradely.comparison.users import UserRegions

WIDTH, HEIGHT = 460, 320


def chart(regions: "UserRegions") -> Any:
    """Return the chart for a number of levels."""
    makers = {2: lines, 3: triangle}
    title = f"{regions.name}, {count_of(len(regions.queries), 'query')}"
    return style(makers.get(len(regions.levels), bars)(regions).properties(title=title))


def _channels(regions: "UserRegions") -> dict[str, Any]:
    """Return colours and dashes of the runs, those last that are best for nobody, since colours come again."""
    order = sorted(range(len(regions.runs)), key=lambda i: regions.shares[i] == 0)
    return categories("run", [regions.runs[i] for i in order], "strokeDash")


def lines(regions: "UserRegions") -> Any:
    """Return the mean of each run against the share of users content with the lower level, and the crossings."""
    alt, x = altair(), np.linspace(0, 1, 101)
    means = regions.parts.means(split_users(x))
    records = [
        {"share": float(x[i]), "mean": float(means[i, j]), "run": run}
        for j, run in enumerate(regions.runs)
        for i in range(len(x))
    ]
    title = f"share of users who are content with level {regions.levels[0]:g}"
    axis = alt.Axis(format=".0%", values=[0, 0.2, 0.4, 0.6, 0.8, 1])
    base = (
        draw(records)
        .mark_line(strokeWidth=2)
        .encode(
            x=alt.X("share:Q", title=title, axis=axis, scale=alt.Scale(domain=[0, 1])),
            y=alt.Y("mean:Q", title=f"mean {regions.name}", scale=alt.Scale(zero=False, nice=True)),
            **_channels(regions),
        )
    )
    crossings = [
        {"share": s.start, "text": f"{100 * s.start:.0f} %", "y": 10 + 14 * (i % 4)}
        for i, s in enumerate(regions.stretches[1:])
    ]
    if crossings:
        rule = draw(crossings).mark_rule(strokeDash=[4, 3], color="#555555").encode(x="share:Q")
        text = (
            draw(crossings)
            .mark_text(align="right", dx=-4, color="#333333")
            .encode(x="share:Q", y=alt.Y("y:Q", axis=None, scale=None), text="text:N")
        )
        base = (base + rule + text).resolve_scale(y="independent")
    return base.properties(width=WIDTH, height=HEIGHT)


def triangle(regions: "UserRegions") -> Any:
    """Return all populations of three levels as a triangle, coloured by the best run."""
    alt, points = altair(), regions._grid  # noqa: SLF001 - the chart is a part of it
    winners = find_best(regions.parts.means(points))
    side = round(1 / (points.shape[1] * points.min()))
    records = [
        {"x": float(g[1] + g[2] / 2), "y": float(g[2] * sqrt(3) / 2), "run": regions.runs[winner]}
        for g, winner in zip(points, winners.tolist(), strict=True)
    ]
    hidden = {"axis": None}
    square = WIDTH / side
    cells = (
        draw(records)
        .mark_point(filled=True, opacity=1, shape="circle", size=(square * 1.25) ** 2)
        .encode(
            x=alt.X("x:Q", scale=alt.Scale(domain=[-0.12, 1.12]), **hidden),
            y=alt.Y("y:Q", scale=alt.Scale(domain=[-0.12, 0.98]), **hidden),
            color=_channels(regions)["color"],
        )
    )
    names = [
        {"x": x, "y": y, "text": f"all users: level {level:g}"}
        for (x, y), level in zip(((0, -0.07), (1, -0.07), (0.5, sqrt(3) / 2 + 0.05)), regions.levels, strict=True)
    ]
    text = draw(names).mark_text(fontSize=12).encode(x="x:Q", y="y:Q", text="text:N")
    return (cells + text).properties(width=WIDTH * 1.24, height=WIDTH * 1.1, view=alt.ViewConfig(stroke=None))


def bars(regions: "UserRegions") -> Any:
    """Return the share of populations for which each run is best, with its interval over queries."""
    alt = altair()
    records = [
        {"run": run, "share": share, "low": low, "high": high}
        for run, share, (low, high) in zip(regions.runs, regions.shares, regions.ends, strict=True)
    ]
    x = alt.X("share:Q", title="share of populations for which a run is best", axis=alt.Axis(format=".0%"))
    y = alt.Y("run:N", title=None, sort=None)
    bar = draw(records).mark_bar().encode(x=x, y=y, color=_channels(regions)["color"].legend(None))
    if not regions.intervals:
        return bar.properties(width=WIDTH)
    rule = draw(records).mark_rule(strokeWidth=2).encode(x="low:Q", x2="high:Q", y=y)
    return (bar + rule).properties(width=WIDTH)
