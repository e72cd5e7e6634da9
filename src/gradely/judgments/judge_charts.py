"""Charts of judges: the agreement of each pair of judges, and the means of runs by each judge."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradely.comparison.charts import PALETTE, altair, draw, tips

if TYPE_CHECKING:
    from gradely.judgments.judges import Judges

LIGHT, DARK = "#eef3f8", "#0b4f8a"
"""the colours of no agreement and of full agreement; darker is better, also in greyscale"""


def agreement_chart(judges: "Judges", names: Sequence[str]) -> Any:
    """Return the matrix of κ of each pair of judges, labelled with these names; darker is better."""
    alt, rows = altair(), []
    for i, first in enumerate(judges.names):
        for j, second in enumerate(judges.names):
            pair = judges.by_pair.get(frozenset((first, second)))
            kappa = None if pair is None or pair.kappa is None else float(pair.kappa)
            shared = None if pair is None else pair.documents
            text = "" if i == j else "–" if kappa is None else f"{kappa:.2f}".replace("-", "−")
            rows.append({"first": names[i], "second": names[j], "kappa": kappa, "documents": shared, "text": text})
    base = draw(rows).encode(
        x=alt.X("second:N", sort=list(names), title=None, axis=alt.Axis(labelAngle=-45, labelLimit=160)),
        y=alt.Y("first:N", sort=list(names), title=None, axis=alt.Axis(labelLimit=200)),
    )
    tip = ["first:N", "second:N", alt.Tooltip("kappa:Q", title="κ", format=".3f"), "documents:Q"]
    cells = base.mark_rect().encode(
        color=alt.Color("kappa:Q", scale=alt.Scale(domain=[0, 1], range=[LIGHT, DARK], clamp=True), legend=None),
        tooltip=tip,
    )
    # up to .71, a dark number in a cell has more contrast than a white one; both have at least 4.2 : 1
    dark = "isValid(datum.kappa) && datum.kappa > 0.71"
    ink = alt.condition("isValid(datum.kappa)", alt.value("#111111"), alt.value("currentColor"))  # beside a cell
    numbers = base.transform_filter(f"!({dark})").mark_text(fontSize=11).encode(text="text:N", color=ink, tooltip=tip)
    pale = base.transform_filter(dark).mark_text(fontSize=11, color="#ffffff").encode(text="text:N", tooltip=tip)
    has_space = len(names) <= 25
    layers = alt.layer(cells, numbers, pale) if has_space else alt.layer(cells)
    return layers.properties(width="container", height=34 * len(names))


def runs_chart(judges: "Judges", judge_names: Sequence[str], run_names: Sequence[str]) -> Any:
    """Return a chart of the mean of each run by the first measure: a diamond for the first judge, rings for the others.

    A triangle with a line is the mean over all judges and its interval over queries and judges.
    """
    alt, runs = altair(), judges.runs
    assert runs is not None
    measure = next(iter(runs.measures))
    kinds = [f"by {judge_names[0]}", "by another judge", "mean, with interval"]
    low, high = judges.mean_intervals(0)
    values = [
        {"run": run, "judge": name, "value": float(runs.means[j, 0, i]), "kind": kinds[min(j, 1)]}
        for i, run in enumerate(run_names)
        for j, name in enumerate(judge_names)
    ]
    means = [
        {"run": run, "value": float(runs.aware[0].difference[i]), "low": low[i], "high": high[i], "kind": kinds[2]}
        for i, run in enumerate(run_names)
    ]
    y = alt.Y("run:N", sort=list(run_names), title=None, axis=alt.Axis(labelLimit=200))
    x = alt.X("value:Q", title=measure, scale=alt.Scale(zero=False))
    scale = alt.Scale(domain=kinds, range=[PALETTE[1], PALETTE[6], PALETTE[0]])
    shapes = alt.Scale(domain=kinds, range=["diamond", "circle", "triangle-up"])
    look = {
        "color": alt.Color("kind:N", title=None, scale=scale, legend=alt.Legend(orient="top", labelLimit=300)),
        "shape": alt.Shape("kind:N", title=None, scale=shapes, legend=alt.Legend(orient="top", labelLimit=300)),
    }
    ends = [row for row in means if row["low"] is not None]
    lines = draw(ends).mark_rule(strokeWidth=2).encode(x="low:Q", x2="high:Q", y=y, color=look["color"])
    others = draw([row for row in values if row["kind"] != kinds[0]]).mark_point(size=45, filled=False, opacity=0.8)
    first = draw([row for row in values if row["kind"] == kinds[0]]).mark_point(size=90, filled=True, opacity=1)
    dots = draw(means).mark_point(size=90, filled=True, opacity=1)
    points = [layer.encode(x=x, y=y, tooltip=tips(["run", "judge"], ["value"]), **look) for layer in (others, first)]
    centre = dots.encode(x=x, y=y, tooltip=tips(["run"], ["value"]), **look)
    return alt.layer(lines, *points, centre).properties(width="container", height=26 * len(run_names) + 10)
