"""The charts of a comparison's page, in Altair. Rows have fixed field names; the page's script gives them new rows."""

from typing import Any

from gradely.comparison.charts import PALETTE, altair
from gradely.report.page import Chart, chart

Rows = list[dict[str, Any]]
GREY = PALETTE[7]


def _rows(values: Rows | None = None) -> Any:
    """Return rows of a chart; without any, a chart that the page's script fills."""
    return altair().InlineData(values=values or [], name="rows")


def leaderboard(size: int) -> Chart:
    """Mean, bootstrap interval and tie interval of each run."""
    alt = altair()
    base = alt.Chart(_rows(), width="container", height=24 * size + 20)
    y = alt.Y("run:N", sort=None, title=None)
    tip = [alt.Tooltip("run:N")] + [
        alt.Tooltip(f"{name}:Q", format=".4f") for name in ("mean", "low", "high", "worst", "best")
    ]
    ties = base.mark_bar(height=12, opacity=0.35, color=PALETTE[1], minBandSize=1).encode(
        x=alt.X("worst:Q", title=None, scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=8)),
        x2="best:Q",
        y=y,
        tooltip=tip,
    )
    # A mean without an interval, as where all values are equal, has a line of no length: an axis needs numbers.
    ends = {
        end: f"isValid(datum.{name}) ? datum.{name} : datum.mean" for end, name in (("left", "low"), ("right", "high"))
    }
    interval = (
        base.transform_calculate(**ends)
        .mark_rule(strokeWidth=2, color=PALETTE[0])
        .encode(x="left:Q", x2="right:Q", y=y, tooltip=tip)
    )
    mean = base.mark_point(filled=True, size=70, opacity=1, color=PALETTE[0]).encode(x="mean:Q", y=y, tooltip=tip)
    return chart(
        ties + interval + mean,
        "Mean (dot), its bootstrap interval (line), and how far the order of tied documents can move it (bar).",
    )


def differences() -> Chart:
    """The difference of two runs on each query, sorted."""
    alt = altair()
    bars = (
        alt.Chart(_rows(), width="container", height=260)
        .mark_bar(cursor="pointer")
        .encode(
            x=alt.X(
                "query:N",
                sort=alt.EncodingSortField("place"),
                title=None,
                axis=alt.Axis(labelOverlap=True, labelAngle=-90, labelLimit=70),
            ),
            y=alt.Y("difference:Q", title="difference"),
            color=alt.condition("datum.difference > 0", alt.value(PALETTE[0]), alt.value(PALETTE[1])),
            opacity=alt.condition("datum.chosen", alt.value(1), alt.value(0.75)),
            tooltip=[
                alt.Tooltip("query:N"),
                alt.Tooltip("text:N"),
                *(alt.Tooltip(f"{name}:Q", format=".4f") for name in ("first", "second", "difference")),
            ],
        )
    )
    return chart(bars, "The difference of the two runs, query by query. Choose a bar to see both rankings.")


def precision_by_recall() -> Chart:
    """Precision against recall, one line per run."""
    return _curve(
        "recall",
        "precision",
        altair().X("recall:Q"),
        "Mean precision and recall down to each rank, the first at the left.",
    )


def gain_by_rank() -> Chart:
    """Normalised gain at each rank, one line per run."""
    alt = altair()
    x = alt.X("cut:Q", title="rank", scale=alt.Scale(type="log"))
    return _curve("cut", "nDCG", x, "Mean normalised cumulated gain (nDCG) down to each rank.")


def _curve(x_name: str, y_name: str, x: Any, words: str) -> Chart:
    """One line per run: the two that are chosen in colour, the others grey."""
    alt = altair()
    fields = dict.fromkeys((x_name, y_name))
    numbers = [alt.Tooltip(f"{name}:Q", format=".4f") for name in fields if name != "cut"]
    base = alt.Chart(_rows(), width="container", height=300).encode(
        x=x,
        y=alt.Y(f"{y_name}:Q", scale=alt.Scale(zero=False)),
        detail="run:N",
        order="cut:O",
        tooltip=["run:N", alt.Tooltip("cut:Q", title="rank"), *numbers],
    )
    # all runs are drawn in grey, the chosen ones again on top: a layer without any row would have no scale
    others = base.mark_line(color=GREY, opacity=0.6, strokeWidth=1)
    selection = base.transform_filter("datum.role != 'other'").mark_line(point=True, strokeWidth=2.5)
    scale = alt.Scale(domain=["first", "second"], range=list(PALETTE[:2]))
    return chart(others + selection.encode(color=alt.Color("role:N", scale=scale, legend=None)), words)


def correlation(rows: Rows, size: int) -> Chart:
    """Kendall's τ between the orders of runs by each two measures."""
    alt = altair()
    base = alt.Chart(_rows(rows), width="container", height=36 * size).encode(
        x=alt.X("first:N", sort=None, title=None, axis=alt.Axis(labelAngle=-45)),
        y=alt.Y("second:N", sort=None, title=None),
    )
    cells = base.mark_rect().encode(
        color=alt.Color(
            "tau:Q", scale=alt.Scale(domain=[-1, 0, 1], range=["#e9a77c", "#eeeeee", "#8ab8e6"]), title="τ"
        ),
        tooltip=["first:N", "second:N", alt.Tooltip("tau:Q", format=".3f")],
    )
    text = base.mark_text(color="#111111").encode(text=alt.Text("tau:Q", format=".2f"))
    return chart(cells + text, "Kendall’s τ between the orders in which two measures put the runs.")


def grades(rows: Rows) -> Chart:
    """How many judgments have each label."""
    alt = altair()
    bars = (
        alt.Chart(_rows(rows), width="container", height=220)
        .mark_bar(color=PALETTE[0])
        .encode(
            x=alt.X("label:N", sort=None, title="label", axis=alt.Axis(labelAngle=0, labelOverlap=True)),
            y=alt.Y("judgments:Q", title="judgments"),
            tooltip=["label:N", "judgments:Q"],
        )
    )
    return chart(bars, "How many judgments have each label.")


def levels(rows: Rows, alpha: float) -> Chart:
    """The achieved-significance-level curves."""
    alt = altair()
    lines = (
        alt.Chart(_rows(rows), width="container", height=300)
        .mark_line(interpolate="step-before")
        .encode(
            x=alt.X("share:Q", title="share of pairs", axis=alt.Axis(format="%")),
            y=alt.Y("p:Q", title="p-value"),
            strokeDash=alt.StrokeDash("measure:N", sort=None, legend=alt.Legend(title=None, orient="top", columns=3)),
            color=alt.Color("measure:N", sort=None, legend=alt.Legend(title=None, orient="top", columns=3)),
            tooltip=["measure:N", alt.Tooltip("share:Q", format=".1%"), alt.Tooltip("p:Q", format=".4f")],
        )
    )
    rule = alt.Chart(alt.InlineData(values=[{"p": alpha}])).mark_rule(strokeDash=[4, 4]).encode(y="p:Q")
    return chart(
        lines + rule, f"Achieved significance levels: the p-values of all pairs, largest first; dashed: α = {alpha:g}."
    )
