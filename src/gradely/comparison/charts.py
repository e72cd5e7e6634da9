"""Charts with altair: one look for all, and pictures of them without a browser."""

import io
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from gradely.lazy import altair, converter

__all__ = ["PALETTE", "altair", "categories", "draw", "picture", "squares", "style"]

PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#6b6b6b", "#8d8d8d")
"""for categories: the colours of Okabe and Ito (2008), which colour-blind people tell apart, without the yellow that is
lost on white and the black that is lost on a dark ground; greys come last, and lines have shapes or dashes, too"""


def draw(records: Sequence[Mapping[str, Any]]) -> Any:
    """Return a chart that holds these records; marks and channels are up to the caller."""
    alt = altair()
    return alt.Chart(alt.Data(values=list(records)))


def categories(column: str, order: Sequence[Any], second: str = "shape", title: str | None = None) -> dict[str, Any]:
    """Return channels that tell the values of a column apart by colour and by a second sign, with one legend for both.

    The second sign is the shape of points, or strokeDash for lines. Given by `sort`, the order would split the legend.
    """
    alt = altair()
    scale = alt.Scale(domain=list(order))
    kinds = {"color": alt.Color, "shape": alt.Shape, "strokeDash": alt.StrokeDash}
    return {name: kinds[name](f"{column}:N", title=title, scale=scale) for name in ("color", second)}


def squares(
    records: Sequence[Mapping[str, Any]], row: str, column: str, value: str, title: str, names: Sequence[str]
) -> Any:
    """Return a matrix with these rows and columns: a square per record, darker for higher values, the number in it.

    A record without a value leaves its square empty.
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
    return (cells + numbers).properties(width=46 * len(names), height=46 * len(names))


def style(chart: Any) -> Any:
    """Return a chart in the common look: a white ground, quiet lines, letters that can be read."""
    styled = (
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
    """Return a kind of chart that notebooks show as SVG: altair's own view loads its script from the network."""

    def mimebundle(chart: Any, *_: Any, **__: Any) -> dict[str, str]:
        return {"image/svg+xml": picture(chart, "svg").decode(), "text/plain": f"<gradely {kind.__name__}>"}

    return type(kind.__name__, (kind,), {"_repr_mimebundle_": mimebundle})


def picture(chart: Any, form: str) -> bytes:
    """Return a chart as a picture, svg, pdf or png; altair needs the converter for it."""
    converter()
    if form == "svg":
        text = io.StringIO()
        chart.save(text, format="svg")
        return text.getvalue().encode()
    binary = io.BytesIO()
    chart.save(binary, format=form, scale_factor=2 if form == "png" else 1)
    return binary.getvalue()
