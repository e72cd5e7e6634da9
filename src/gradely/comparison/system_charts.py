"""Charts of systems: the runs of each, where the variance of differences comes from."""

from collections.abc import Sequence
from typing import Any

from gradely.comparison.charts import PALETTE, altair, categories, draw
from gradely.comparison.pairwise import Pair, Shares

ROW = 22
"""height of a row, in pixels"""


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
