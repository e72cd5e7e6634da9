"""Altair charts: a common style, export without a browser, and the charts of users and systems."""

import io
from collections.abc import Mapping, Sequence
from functools import cache
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from gradely.comparison.populations import find_best, split_users
from gradely.lazy import Chart, altair, converter
from gradely.tables import count_of

if TYPE_CHECKING:
    from gradely.comparison.pairwise import Pair
    from gradely.comparison.suite import Suite, SuitePair
    from gradely.comparison.users import UserRegions

__all__ = [
    "PALETTE",
    "altair",
    "categories",
    "draw",
    "forest_chart",
    "picture",
    "runs_chart",
    "shares_chart",
    "squares",
    "style",
    "tips",
    "users_chart",
]

PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#6b6b6b", "#8d8d8d")
"""colours for categories: those of Okabe and Ito (2008), which are safe for colour-blind readers, without yellow, which
is hard to see on white, and black, which is hard to see on dark backgrounds; lines also differ by shape or dashes"""


def draw(records: Sequence[Mapping[str, Any]]) -> Any:
    """Return a chart with these records; the caller adds marks and channels."""
    alt = altair()
    return alt.Chart(alt.Data(values=list(records)))


def tips(names: Sequence[str], numbers: Sequence[str]) -> list[Any]:
    """Return what is shown beside the pointer: names, and numbers with four decimals."""
    tip = altair().Tooltip
    return [*(tip(f"{name}:N") for name in names), *(tip(f"{name}:Q", format=".4f") for name in numbers)]


def categories(column: str, order: Sequence[Any], second: str = "shape", title: str | None = None) -> dict[str, Any]:
    """Return channels that distinguish the values of a column by colour and by a second channel, with one legend.

    The second channel is the shape of points, or strokeDash for lines. An order given by `sort` would split the legend.
    """
    alt = altair()
    scale = alt.Scale(domain=list(order))
    kinds = {"color": alt.Color, "shape": alt.Shape, "strokeDash": alt.StrokeDash}
    return {name: kinds[name](f"{column}:N", title=title, scale=scale) for name in ("color", second)}


def squares(
    records: Sequence[Mapping[str, Any]], row: str, column: str, value: str, title: str, names: Sequence[str]
) -> Chart:
    """Return a heat map with a square per record, darker for higher values and labelled with the number.

    Records without a value have no square.
    """
    alt = altair()
    order = alt.Scale(domain=list(names))
    base = draw([record for record in records if record[value] is not None]).encode(
        x=alt.X(f"{column}:N", scale=order, title=None, axis=alt.Axis(labelAngle=-40)),
        y=alt.Y(f"{row}:N", scale=order, title=None),
    )
    scale = alt.Scale(scheme="blues", domain=[0, 1], clamp=True)
    cells = base.mark_rect().encode(color=alt.Color(f"{value}:Q", title=title, scale=scale))
    dark = alt.condition(f"datum.{value} > 0.6", alt.value("white"), alt.value("black"))
    numbers = base.mark_text().encode(text=alt.Text(f"{value}:Q", format=".2f"), color=dark)
    chart: Chart = (cells + numbers).properties(width=46 * len(names), height=46 * len(names))
    return chart


def style(chart: Any) -> Chart:
    """Return a chart in the common style."""
    styled: Chart = (
        chart.configure(background="white", font="sans-serif")
        .configure_axis(
            labelFontSize=12, titleFontSize=12, gridColor="#e4e4e4", titleFontWeight="normal", labelLimit=400
        )
        .configure_legend(labelFontSize=12, titleFontSize=12, titleFontWeight="normal", labelLimit=400)
        .configure_header(labelFontSize=13, titleFontSize=13)
        .configure_title(fontSize=14, anchor="start")
        .configure_range(category=list(PALETTE))
        .configure_view(stroke="#d0d0d0")
    )
    kind: Any = type(styled)
    object.__setattr__(styled, "__class__", _shown_as_picture(kind))  # altair takes plain attributes as parts
    return styled


@cache
def _shown_as_picture(kind: Any) -> Any:
    """Return a subclass of a chart that notebooks show as SVG: Altair's own view loads a script from the network."""

    def mimebundle(chart: Any, *_: Any, **__: Any) -> dict[str, str]:
        return {"image/svg+xml": picture(chart, "svg").decode(), "text/plain": f"<gradely {kind.__name__}>"}

    return type(kind.__name__, (kind,), {"_repr_mimebundle_": mimebundle})


def picture(chart: Any, form: str) -> bytes:
    """Return a chart as an SVG, PDF or PNG image."""
    converter()
    if form == "svg":
        text = io.StringIO()
        chart.save(text, format="svg")
        return text.getvalue().encode()
    binary = io.BytesIO()
    chart.save(binary, format=form, scale_factor=2 if form == "png" else 1)
    return binary.getvalue()


WIDTH, HEIGHT = 460, 320
"""size of charts of users, in pixels"""


def users_chart(regions: "UserRegions") -> Chart:
    """Return a chart of runs over populations of users: lines for two levels, a triangle for three, bars for more."""
    makers = {2: lines, 3: triangle}
    title = f"{regions.name}, {count_of(len(regions.queries), 'query')}"
    return style(makers.get(len(regions.levels), bars)(regions).properties(title=title))


def _channels(regions: "UserRegions") -> dict[str, Any]:
    """Return colours and dashes of the runs; runs that are never best come last, since colours repeat."""
    order = sorted(range(len(regions.runs)), key=lambda i: regions.shares[i] == 0)
    return categories("run", [regions.runs[i] for i in order], "strokeDash")


def lines(regions: "UserRegions") -> Any:
    """Return a chart of the mean of each run by the share of users content with the lower level, with the crossings."""
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
    """Return a triangle of all populations of three levels, coloured by the best run."""
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
    """Return bars of the share of populations for which each run is best, with its interval over queries."""
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


ROW = 22
"""height of a row in charts of systems, in pixels"""
PANELS = 12
"""maximum number of pairs in a forest plot"""
OVERALL = "over collections"


def runs_chart(means: dict[str, list[float]], measure: str) -> Any:
    """Return a chart of the mean of every run (ring) and of every system (dot)."""
    alt, systems = altair(), list(means)
    rows = [{"system": name, "value": value} for name, values in means.items() for value in values]
    centres = [{"system": name, "value": sum(values) / len(values)} for name, values in means.items()]
    y = alt.Y("system:N", sort=systems, title=None)
    x = alt.X("value:Q", title=measure, scale=alt.Scale(zero=False))
    tip = tips(["system"], ["value"])
    rings = draw(rows).mark_point(size=60, color=PALETTE[1], opacity=0.9).encode(x=x, y=y, tooltip=tip)
    dots = draw(centres).mark_point(filled=True, size=90, color=PALETTE[0], opacity=1).encode(x=x, y=y, tooltip=tip)
    return (rings + dots).properties(width="container", height=ROW * len(systems) + 10)


def shares_chart(pairs: Sequence["Pair"]) -> Any:
    """Return stacked bars of the components of the variance of each difference."""
    alt = altair()
    rows = [
        {"pair": f"{pair.first} − {pair.second}", "part": part, "share": share, "place": place}
        for pair in pairs
        if pair.shares
        for place, (part, share) in enumerate(pair.shares._asdict().items())
    ]
    parts = list(dict.fromkeys(row["part"] for row in rows))
    bars = (
        draw(rows)
        .mark_bar(height=12)
        .encode(
            x=alt.X(
                "share:Q", title="share of the variance", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1])
            ),
            y=alt.Y("pair:N", sort=None, title=None),
            order="place:Q",
            tooltip=["pair:N", "part:N", alt.Tooltip("share:Q", format=".1%")],
            color=categories("part", parts)["color"],
        )
    )
    return bars.properties(width="container", height=ROW * len({row["pair"] for row in rows}) + 10)


def forest_chart(suite: "Suite", measure: str) -> Any:
    """Return a forest plot: one panel per pair of systems, one row per collection, and the overall difference below."""
    alt = altair()
    pairs = [pair for pair in suite.pairs if pair.measure == measure]
    panels = [_forest(suite, pair) for pair in pairs[:PANELS]]
    return alt.vconcat(*panels)


def _forest(suite: "Suite", pair: "SuitePair") -> Any:
    alt = altair()
    effects = suite.effects(pair.first, pair.second, pair.measure)
    order = [*(effect.collection for effect in effects), OVERALL]
    rows = [
        {"collection": effect.collection, "difference": effect.difference, "queries": effect.queries}
        | _ends(effect.difference, effect.low, effect.high)
        for effect in effects
    ]
    overall = {"collection": OVERALL, "difference": pair.difference} | _ends(pair.difference, pair.low, pair.high)
    predicted = {"collection": OVERALL} | _ends(pair.difference, *(pair.prediction or (None, None)))
    y = alt.Y("collection:N", sort=order, title=None, scale=alt.Scale(domain=order))
    title = f"{pair.measure}: {pair.first} − {pair.second}"
    x = alt.X("difference:Q", title=title)
    ends = {"x": alt.X("low:Q", title=title), "x2": "high:Q", "y": y}
    tip = tips(["collection"], ["difference", "low", "high"])
    layers = [
        draw([{"zero": 0}]).mark_rule(strokeDash=[4, 3], color="#777777").encode(x=alt.X("zero:Q", title=title)),
        draw(rows).mark_rule(strokeWidth=2, color=PALETTE[0]).encode(**ends, tooltip=tip),
        draw(rows).mark_point(filled=True, size=60, opacity=1, color=PALETTE[0]).encode(x=x, y=y, tooltip=tip),
        draw([predicted]).mark_rule(strokeWidth=1, color=PALETTE[1]).encode(**ends),
        draw([overall]).mark_rule(strokeWidth=4, color=PALETTE[1]).encode(**ends, tooltip=tip),
        draw([overall])
        .mark_point(filled=True, shape="diamond", size=160, opacity=1, color=PALETTE[1])
        .encode(x=x, y=y, tooltip=tip),
    ]
    return alt.layer(*layers).properties(width=420, height=ROW * len(order))


def _ends(middle: float, low: float | None, high: float | None) -> dict[str, float]:
    """Return the ends of an interval; without one, both are the estimate, since an axis needs numbers."""
    return {"low": middle if low is None else low, "high": middle if high is None else high}
