"""Charts with altair: one look for all, and pictures of them without a browser."""

import io
from collections.abc import Mapping, Sequence
from typing import Any

from gradely.optional import altair, converter

__all__ = ["PALETTE", "altair", "drawn", "panels", "picture", "styled"]

PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#b0a000", "#7f7f7f")
"""for categories: those of Okabe and Ito, which the colour-blind tell apart, but for a darker yellow; grey last"""


def drawn(records: Sequence[Mapping[str, Any]]) -> Any:
    """Return a chart that holds these records; marks and channels are up to the caller."""
    alt = altair()
    return alt.Chart(alt.Data(values=list(records)))


def panels(chart: Any, by: str, columns: int) -> Any:
    """Return a chart once for each value of a column, side by side, each with its own axes."""
    each = altair().Facet(f"{by}:N", title=None)
    return styled(chart.facet(each, columns=columns).resolve_axis(x="independent", y="independent"))


def styled(chart: Any) -> Any:
    """Return a chart in the common look: a white ground, quiet lines, letters that can be read."""
    return (
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


def picture(chart: Any, form: str) -> bytes:
    """Return a chart as a picture, svg or png; altair needs the converter for it."""
    converter()
    if form == "svg":
        text = io.StringIO()
        chart.save(text, format="svg")
        return text.getvalue().encode()
    binary = io.BytesIO()
    chart.save(binary, format=form, scale_factor=2)
    return binary.getvalue()
