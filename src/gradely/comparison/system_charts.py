"""Charts of systems: the runs of each, where variance comes from, differences on several collections."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradely.comparison.charts import PALETTE, altair, categories, draw
from gradely.comparison.pairwise import Pair, Shares

if TYPE_CHECKING:
    from gradely.comparison.suite import Suite, SuitePair

ROW = 22
"""height of a row, in pixels"""
FOREST = 420
"""width of a forest figure"""
PANELS = 12
"""pairs that a forest figure shows, the first ones"""
OVERALL = "over collections"
ENDS = ("low", "high")


def runs_chart(means: dict[str, list[float]], measure: str) -> Any:
    """Return the mean of every run (ring) and of every system (dot); systems in this order."""
    alt, systems = altair(), list(means)
    rows = [{"system": name, "value": value} for name, values in means.items() for value in values]
    centres = [{"system": name, "value": sum(values) / len(values)} for name, values in means.items()]
    y = alt.Y("system:N", sort=systems, title=None)
    x = alt.X("value:Q", title=measure, scale=alt.Scale(zero=False))
    tip = [alt.Tooltip("system:N"), alt.Tooltip("value:Q", format=".4f")]
    rings = draw(rows).mark_point(size=60, color=PALETTE[1], opacity=0.9).encode(x=x, y=y, tooltip=tip)
    dots = draw(centres).mark_point(filled=True, size=90, color=PALETTE[0], opacity=1).encode(x=x, y=y, tooltip=tip)
    return (rings + dots).properties(width="container", height=ROW * len(systems) + 10)


def shares_chart(pairs: Sequence[Pair]) -> Any:
    """Return bars of where the variance of the difference of each pair comes from."""
    alt = altair()
    rows = [
        {"pair": f"{pair.first} − {pair.second}", "part": part, "share": share, "place": place}
        for pair in pairs
        if pair.shares
        for place, (part, share) in enumerate(pair.shares._asdict().items())
    ]
    kinds = {"color": categories("part", Shares._fields)["color"]}
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
            **kinds,
        )
    )
    return bars.properties(width="container", height=ROW * len({row["pair"] for row in rows}) + 10)


def forest_chart(suite: "Suite", measure: str) -> Any:
    """Return a forest figure: one panel per pair of systems, one row per collection, and the mean over them below."""
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
    tip = [alt.Tooltip("collection:N"), *(alt.Tooltip(f"{name}:Q", format=".4f") for name in ("difference", *ENDS))]
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
    return alt.layer(*layers).properties(width=FOREST, height=ROW * len(order))


def _ends(middle: float, low: float | None, high: float | None) -> dict[str, float]:
    """Return the ends of a line, which has no length where there is no interval: an axis needs numbers."""
    return {"low": middle if low is None else low, "high": middle if high is None else high}
