"""Charts that several experiments draw: lines by category, and panels side by side."""

from collections.abc import Mapping, Sequence
from typing import Any

from gradely.comparison.charts import PALETTE, altair, categories, draw, picture, style

__all__ = ["PALETTE", "altair", "categories", "draw", "draw_dashes", "draw_lines", "panels", "picture", "style"]


def draw_lines(
    records: Sequence[Mapping[str, Any]],
    x: Any,
    y: Any,
    column: str,
    order: Sequence[Any],
    *,
    size: int = 50,
    title: str | None = None,
) -> Any:
    """Return lines with points of this size, one for each value of a column."""
    points = altair().OverlayMarkDef(size=size)
    return draw(records).mark_line(point=points).encode(x=x, y=y, **categories(column, order, title=title))


def draw_dashes(
    records: Sequence[Mapping[str, Any]], x: Any, y: Any, column: str, order: Sequence[Any], title: str | None = None
) -> Any:
    """Return lines without points, one for each value of a column, told apart by colour and dashes."""
    return draw(records).mark_line(strokeWidth=2).encode(x=x, y=y, **categories(column, order, "strokeDash", title))


def panels(chart: Any, by: str, columns: int, *, order: Sequence[str] | None = None) -> Any:
    """Return a panel for each value of a column, with axes of its own and the same scale."""
    sort = {} if order is None else {"sort": list(order)}
    facets = chart.facet(altair().Facet(f"{by}:N", title=None, **sort), columns=columns)
    return style(facets.resolve_axis(x="independent", y="independent"))
