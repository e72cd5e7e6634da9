"""The charts of a comparison's page, and the figures of `plot`, in Altair.

The fields of the page's charts have fixed names, since the script of the page replaces their rows.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from gradely.comparison.charts import PALETTE, altair, categories, draw, style, tips
from gradely.comparison.compare import Comparison, compare
from gradely.comparison.correlate import correlate
from gradely.comparison.ties import TieSensitivity, tie_sensitivity
from gradely.data.column_roles import Names
from gradely.errors import DataError, did_you_mean
from gradely.evaluation.evaluate import DEFAULT, Progress, ignore
from gradely.evaluation.notes import Note
from gradely.lazy import Chart as AltairChart
from gradely.measures.names import MeasureLike
from gradely.report.data import choose_cuts, measure_curves
from gradely.report.page import Chart, chart, labels
from gradely.settings import DuplicatePolicy, EmptyPolicy, Precision, QueryPolicy, TiePolicy

Rows = list[dict[str, Any]]
GREY = PALETTE[7]
"""the colour of runs that are not selected"""


def _rows(values: Rows | None = None) -> Any:
    """Return the rows of a chart; without values, the script of the page supplies them."""
    return altair().InlineData(values=values or [], name="rows")


def _run_axis() -> Any:
    """Return the axis of the runs, with space for long names on wide screens."""
    alt = altair()
    limit = alt.ExprRef("width < 600 ? 160 : 320")
    return alt.Y("run:N", sort=None, title=None, axis=alt.Axis(labelLimit=limit))


def leaderboard(size: int) -> Chart:
    """Return a chart of the mean, the confidence interval and the tie interval of each run."""
    alt = altair()
    base = alt.Chart(_rows(), width="container", height=24 * size + 20)
    y = _run_axis()
    tip = tips(["run"], ["mean", "low", "high", "worst", "best"])
    ties = base.mark_bar(height=12, opacity=0.35, color=PALETTE[1], minBandSize=1).encode(
        x=alt.X("worst:Q", title=None, scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=8)),
        x2="best:Q",
        y=y,
        tooltip=tip,
    )
    # a mean without an interval, for example because all values are equal, gets a line of length 0: axes need numbers
    left, right = (f"isValid(datum.{end}) ? datum.{end} : datum.mean" for end in ("low", "high"))
    interval = (
        base.transform_calculate(left=left, right=right)
        .mark_rule(strokeWidth=2, color=PALETTE[0])
        .encode(x="left:Q", x2="right:Q", y=y, tooltip=tip)
    )
    mean = base.mark_point(filled=True, size=70, opacity=1, color=PALETTE[0]).encode(x="mean:Q", y=y, tooltip=tip)
    return chart(
        ties + interval + mean,
        "Mean (dot), its confidence interval (line), and its range over all orders of tied documents (bar).",
    )


def label_ranges(rows: Rows, measure: str) -> Chart:
    """Return a chart of each run's mean, tie interval, and range over the labels of unjudged documents."""
    alt = altair()
    base = alt.Chart(alt.InlineData(values=rows), width="container", height=24 * len(rows) + 20)
    y, scale = _run_axis(), alt.Scale(zero=False)
    tip = tips(["run"], ["value", "low", "high", "worst", "best"])
    line = base.mark_rule(strokeWidth=1.5).encode(
        x=alt.X("low:Q", title=measure, scale=scale), x2="high:Q", y=y, tooltip=tip
    )
    ends = [
        base.mark_tick(thickness=1.5, size=12, color="currentColor").encode(x=f"{end}:Q", y=y, tooltip=tip)
        for end in ("low", "high")
    ]
    ties = base.mark_bar(height=8, opacity=0.45, color=PALETTE[1]).encode(x="worst:Q", x2="best:Q", y=y, tooltip=tip)
    value = base.mark_point(filled=True, size=70, opacity=1, color=PALETTE[0]).encode(x="value:Q", y=y, tooltip=tip)
    return chart(
        alt.layer(ties, line, *ends, value),
        "Mean (dot), its range over all orders of tied documents (bar), and its range over all labels of unjudged "
        "documents (line with ends).",
    )


def differences() -> Chart:
    """Return a chart of the difference of two runs on each query, sorted."""
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
            tooltip=tips(["query", "text"], ["first", "second", "difference"]),
        )
    )
    return chart(bars, "The difference of the two runs, query by query. Choose a bar to see both rankings.")


def precision_by_recall() -> Chart:
    """Return a chart of precision by recall, with one line per run."""
    words = "Mean precision and recall at each rank, with rank 1 on the left."
    return _curve(altair().X("recall:Q"), "precision", ["recall", "precision"], words)


def gain_by_rank() -> Chart:
    """Return a chart of nDCG by rank, with one line per run."""
    alt = altair()
    x = alt.X("cut:Q", title="rank", scale=alt.Scale(type="log"))
    return _curve(x, "nDCG", ["nDCG"], "Mean normalised discounted cumulative gain (nDCG) at each rank.")


def _curve(x: Any, y: str, numbers: list[str], words: str) -> Chart:
    """Return a chart with one line per run: the two selected runs in colour, the others in grey."""
    alt = altair()
    base = alt.Chart(_rows(), width="container", height=300).encode(
        x=x,
        y=alt.Y(f"{y}:Q", scale=alt.Scale(zero=False)),
        detail="run:N",
        order="cut:O",
        tooltip=["run:N", alt.Tooltip("cut:Q", title="rank"), *tips([], numbers)],
    )
    # all runs are drawn in grey and the selected ones again on top, since a layer without rows would have no scale
    others = base.mark_line(color=GREY, opacity=0.6, strokeWidth=1)
    selection = base.transform_filter("datum.role != 'other'").mark_line(point=True, strokeWidth=2.5)
    scale = alt.Scale(domain=["first", "second"], range=list(PALETTE[:2]))
    return chart(others + selection.encode(color=alt.Color("role:N", scale=scale, legend=None)), words)


def correlation(names: list[str], taus: list[list[float | None]]) -> Chart:
    """Return a chart of Kendall's τ between the rankings of runs by each pair of measures."""
    alt = altair()
    rows = [
        {"first": first, "second": second, "tau": tau}
        for second, row in zip(names, taus, strict=True)
        for first, tau in zip(names, row, strict=True)
    ]
    base = alt.Chart(_rows(rows), width="container", height=36 * len(names)).encode(
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
    return chart(cells + text, "Kendall’s τ between the rankings of the runs by two measures.")


def grades(rows: Rows) -> Chart:
    """Return a chart of the number of judgments with each label."""
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
    return chart(bars, "The number of judgments with each label.")


def levels(rows: Rows, alpha: float) -> Chart:
    """Return a chart of the achieved significance levels: the p-values of all pairs in descending order."""
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


COLOURED = 6
"""the number of best runs that have their own colour; all others are grey"""
BAR = 15
"""the height of a run's row in pixels"""
Figure: TypeAlias = Literal["leaderboard", "queries", "curves", "ties", "tau"]


def plot(
    kind: Figure,
    qrels: Any,
    runs: Mapping[str, Any] | Iterable[Any],
    measures: MeasureLike | Iterable[MeasureLike] = DEFAULT,
    *,
    ties: TiePolicy = "expected",
    queries: QueryPolicy | Iterable[Any] = "qrels",
    judged_only: bool = False,
    precision: Precision = "double",
    seed: int = 0,
    threads: int | None = None,
    progress: Progress = ignore,
    columns: Names | None = None,
    duplicates: DuplicatePolicy = "error",
    document_pattern: str | None = None,
    exclude: Any = None,
    exclude_self: bool = False,
    empty: EmptyPolicy = "zero",
    weights: Any = None,
) -> AltairChart:
    """Draw a figure for a paper, as an Altair chart: leaderboard, queries, curves, ties or tau.

    `leaderboard`: means with their intervals, one panel per measure. `queries`: the values of all runs on each query,
    or the difference of two runs, by the first measure. `curves`: nDCG by rank, and precision by recall. `ties`: how
    much the order of tied documents changes each mean. `tau`: how similarly the measures rank the runs. The other
    parameters are those of evaluate_runs. The method `save("figure.svg")` of the chart writes it to a file.
    """
    common: dict[str, Any] = {"queries": queries, "judged_only": judged_only, "threads": threads, "progress": progress}
    common |= {"columns": columns, "duplicates": duplicates, "document_pattern": document_pattern}
    common |= {"exclude": exclude, "exclude_self": exclude_self, "empty": empty, "weights": weights}
    chart, _ = figure(kind, qrels, runs, measures, ties=ties, precision=precision, seed=seed, **common)
    return chart


def figure(kind: Figure, qrels: Any, runs: Any, measures: Any, **options: Any) -> tuple[AltairChart, Sequence[Note]]:
    """Return a figure with the notes of the result that it shows."""
    if kind not in KINDS:
        raise DataError(f"no figure {kind!r}: use one of {', '.join(KINDS)}.{did_you_mean(kind, KINDS)}")
    if kind == "ties":  # whose policies are all of them, in double precision
        common = {name: value for name, value in options.items() if name not in ("ties", "precision", "seed")}
        sensitivity = tie_sensitivity(qrels, runs, measures, **common)
        return ties_chart(sensitivity), sensitivity.notes
    if kind == "tau":
        correlation = correlate(qrels, runs, measures, **options)
        return correlation.chart(), correlation.notes
    comparison = compare(qrels, runs, measures, **options)
    return COMPARED[kind](comparison), comparison.notes


def leaderboard_chart(comparison: Comparison) -> Any:
    """Return a figure of the means of all runs with their confidence and tie intervals, one panel per measure."""
    alt, board, pairwise = altair(), comparison.board, comparison.pairwise
    names, rows = labels(board.names), []
    for m, measure in enumerate(board.measures):
        low, high = pairwise.mean_intervals[m]
        for s, name in enumerate(board.names):
            mean = float(board.means[m, s])
            worst, best = board.span_ties(name, measure, mean)
            ends = {"low": _number(low[s], mean), "high": _number(high[s], mean), "worst": worst, "best": best}
            rows.append({"run": names[s], "measure": measure, "mean": mean, **ends})
    base = draw(rows).properties(width=200, height=BAR * len(names))
    y = alt.Y("run:N", sort=names, title=None)
    scale = alt.Scale(zero=False)
    bar = base.mark_bar(height=7, color=PALETTE[1], opacity=0.4).encode(
        x=alt.X("worst:Q", title=None, scale=scale), x2="best:Q", y=y
    )
    line = base.mark_rule(color=PALETTE[0], strokeWidth=1.5).encode(x=alt.X("low:Q", scale=scale), x2="high:Q", y=y)
    dot = base.mark_point(filled=True, size=35, opacity=1, color=PALETTE[0]).encode(x="mean:Q", y=y)
    return _panels(bar + line + dot, list(board.measures))


def queries_chart(comparison: Comparison) -> Any:
    """Return a figure of the values of all runs on each query or, for two runs, of their differences."""
    board = comparison.board
    return _differences(comparison) if len(board.names) == 2 else _values(comparison)


def curves_chart(comparison: Comparison) -> Any:
    """Return a figure of nDCG by rank and of precision by recall, with one line per run."""
    alt, board = altair(), comparison.board
    names, cuts, rows = labels(board.names), choose_cuts(board), []
    for name, label in zip(board.names, names, strict=True):
        columns = measure_curves(board.common.evaluations[name], cuts).T.tolist()
        rows += [
            {"run": label, "rank": cut, "precision": p, "recall": r, "nDCG": gain}
            for cut, (p, r, gain) in zip(cuts, columns, strict=True)
        ]
    best, rest = names[:COLOURED], set(names[COLOURED:])

    def lines(x: Any, y: Any) -> Any:
        base = {"x": x, "y": y, "order": "rank:Q"}
        front = draw([row for row in rows if row["run"] not in rest]).mark_line(point=True, strokeWidth=2)
        front = front.encode(**base, **categories("run", best, "strokeDash"))
        if not rest:
            return front.properties(width=280, height=240)
        back = draw([row for row in rows if row["run"] in rest]).mark_line(color=GREY, opacity=0.5, strokeWidth=1)
        return (back.encode(**base, detail="run:N") + front).properties(width=280, height=240)

    gain = lines(alt.X("rank:Q", scale=alt.Scale(type="log")), alt.Y("nDCG:Q", scale=alt.Scale(zero=False)))
    return style(gain | lines(alt.X("recall:Q"), alt.Y("precision:Q", scale=alt.Scale(zero=False))))


def ties_chart(sensitivity: TieSensitivity) -> Any:
    """Return a figure of how far ties can move each mean: the range, the expected mean, and trec_eval's order."""
    alt = altair()
    names, rows = labels(run.run for run in sensitivity.runs), []
    for name, run in zip(names, sensitivity.runs, strict=True):
        rows += [{"run": name, "measure": measure, **orders._asdict()} for measure, orders in run.orders.items()]
    first = sensitivity.measures[0]
    order = sorted(names, key=lambda name: -sensitivity.runs[names.index(name)].orders[first].expected)
    base = draw(rows).properties(width=200, height=BAR * len(names))
    y = alt.Y("run:N", sort=order, title=None)
    scale = alt.Scale(zero=False)
    bar = base.mark_bar(height=7, color=PALETTE[1], opacity=0.5, minBandSize=1).encode(
        x=alt.X("worst:Q", title=None, scale=scale), x2="best:Q", y=y
    )
    dot = base.mark_point(filled=True, size=30, opacity=1, color=PALETTE[0]).encode(x="expected:Q", y=y)
    tick = base.mark_tick(thickness=2, size=11, color="black").encode(x="trec:Q", y=y)
    words = "bar: from the worst to the best order of ties; dot: the mean over all orders; tick: trec_eval's order"
    return _panels(bar + dot + tick, sensitivity.measures).properties(
        title=alt.TitleParams(words, fontSize=11, fontWeight="normal")
    )


def _differences(comparison: Comparison) -> Any:
    alt, board = altair(), comparison.board
    (first, second), measure = labels(board.names), next(iter(board.measures))
    differ = comparison.board.values[0, :, 0] - comparison.board.values[0, :, 1]
    order = np.argsort(-differ, kind="stable").tolist()
    queries = labels(board.queries)
    better = {True: f"{first} is better", False: f"{second} is better"}
    rows = [{"query": queries[i], "difference": float(differ[i]), "better": better[bool(differ[i] > 0)]} for i in order]
    colour = alt.Color("better:N", title=None, scale=alt.Scale(domain=list(better.values()), range=list(PALETTE[:2])))
    x = alt.X("query:N", sort=[queries[i] for i in order], title="query", axis=_query_axis(len(rows)))
    y = alt.Y("difference:Q", title=f"difference of {measure}")
    legend = colour.legend(orient="top")
    return style(draw(rows).mark_bar().encode(x=x, y=y, color=legend).properties(width=_width(len(rows)), height=240))


def _values(comparison: Comparison) -> Any:
    """Return a figure of the values of all runs on each query, hardest first, as points or, for many runs, boxes."""
    alt, board = altair(), comparison.board
    names, queries, values = labels(board.names), labels(board.queries), comparison.board.values[0]
    order = [queries[i] for i in np.argsort(np.median(values, axis=1), kind="stable").tolist()]
    table = values.tolist()
    rows = [
        {"query": query, "run": name, "value": value}
        for query, line in zip(queries, table, strict=True)
        for name, value in zip(names, line, strict=True)
    ]
    channels = {
        "x": alt.X("query:N", sort=order, title="query", axis=_query_axis(len(order))),
        "y": alt.Y("value:Q", title=next(iter(board.measures))),
    }
    if len(names) > 8:  # too many for points
        chart = draw(rows).mark_boxplot(size=6, color=PALETTE[0], extent="min-max").encode(**channels)
    else:
        chart = draw(rows).mark_point(size=30, filled=True, opacity=0.9).encode(**channels, **categories("run", names))
    return style(chart.properties(width=_width(len(order)), height=260))


def _panels(chart: Any, order: list[str]) -> Any:
    """Return one panel per measure, each with its own scale."""
    facet = chart.facet(altair().Facet("measure:N", title=None, sort=order), columns=3)
    return style(facet.resolve_scale(x="independent"))


def _width(queries: int) -> int:
    return min(900, max(240, 14 * queries))


def _query_axis(queries: int) -> Any:
    """Return an axis with the names of queries, or without names if there is no space for them."""
    alt = altair()
    return (
        alt.Axis(labelAngle=-90, labelLimit=90)
        if 9 * queries <= _width(queries)
        else alt.Axis(labels=False, ticks=False)
    )


def _number(value: float, instead: float) -> float:
    return instead if np.isnan(value) else float(value)


COMPARED: dict[str, Callable[[Comparison], Any]] = {
    "leaderboard": leaderboard_chart,
    "queries": queries_chart,
    "curves": curves_chart,
}
KINDS = (*COMPARED, "ties", "tau")
