"""Pages about systems with several runs each, and about systems on several collections."""

from typing import TYPE_CHECKING, NamedTuple

from gradely.comparison.charts import PANELS, forest_chart, runs_chart, shares_chart
from gradely.report.page import Chart, as_sentence, chart, cut, labels, render, versions
from gradely.tables import Table, count_of

if TYPE_CHECKING:
    from gradely.comparison.compare import Comparison
    from gradely.comparison.suite import Suite

BARS = 60
"""the most pairs in a chart"""
ROWS = 1000
"""the most rows in a table"""


class Part(NamedTuple):
    """A section of a page: a heading, a text, and tables and charts below it."""

    id: str
    title: str
    text: str = ""
    tables: dict[str, Table] = {}  # noqa: RUF012 - never changed
    """the tables by their names for screen readers"""
    charts: tuple[str, ...] = ()


class Origin(NamedTuple):
    """The settings and the command that made a page."""

    caption: str
    command: str


def page_of_parts(
    title: str,
    lead: str,
    answers: list[str],
    parts: list[Part],
    charts: dict[str, Chart],
    notes: list[str],
    origin: Origin,
) -> str:
    """Return a page with an answer at the top and sections below it."""
    shown = [part._replace(tables={name: _shorten(table) for name, table in part.tables.items()}) for part in parts]
    return render(
        "systems.html",
        title=title,
        charts=charts,
        lead=lead,
        answers=[cut(answer, 2000) for answer in answers],
        parts=shown,
        notes=notes,
        origin=origin,
        versions=versions(),
    )


def _shorten(table: Table) -> Table:
    """Return the table with shortened names, and only its first rows if there are very many."""
    rows = [[cut(cell) if isinstance(cell, str) else cell for cell in row] for row in table.rows[:ROWS]]
    rest = len(table.rows) - ROWS
    return table._replace(rows=rows, more=f"… and {rest:,} more rows" if rest > 0 else "")


def groups_page(comparison: "Comparison", title: str, command: str) -> str:
    """Return the page about systems with several runs each."""
    board, systems = comparison.board, comparison.systems
    assert systems is not None
    first, names = next(iter(board.measures)), dict(zip(board.names, labels(board.names), strict=True))
    runs = {names[name]: [board.common[run][first] for run in systems.members[name]] for name in board.names}
    charts = {
        "runs": chart(
            runs_chart(runs, first), f"The mean of each run (ring) and of each system (dot) by {first}.", still=True
        )
    }
    pairs = [
        pair._replace(first=names[pair.first], second=names[pair.second])
        for pair in comparison.pairs
        if pair.measure == first
    ]
    shares = systems.shares_table()
    if shares is not None:
        words = f"Where the variance of each difference by {first} comes from."
        charts["shares"] = chart(shares_chart(pairs[:BARS]), words, still=True)
    parts = [
        Part("leaderboard", "Leaderboard", comparison.legend(), {"Leaderboard": comparison.table()}),
        Part("runs", "Runs of each system", "", {"Runs of each system": systems.table()}, ("runs",)),
    ]
    if shares is not None:
        text = (
            "queries: the systems differ more on some queries than on others. runs: runs of the same system differ in "
            "their means. rest: a run is better than its system on some queries and worse on others."
        )
        parts.append(Part("variance", "Where the variance comes from", text, {"Shares": shares}, ("shares",)))
    if comparison.segments is not None:
        tables = {"Means by segment": comparison.segments.table()}
        tables["Differences by segment"] = comparison.segments.pairs_table()
        parts.append(Part("segments", "Segments", as_sentence(comparison.segments.caption()), tables))
    if comparison.pairs:
        parts.append(Part("tests", "Every pair", "", {"Every pair": comparison.pairs_table()}))
    lead = (
        f"{count_of(len(board.names), 'system')}, {count_of(len(board.evaluations), 'run')}, "
        f"{count_of(len(board.queries), 'query')}."
    )
    answers = list(comparison.answers().values())
    notes = [str(note) for note in comparison.notes]
    return page_of_parts(title, lead, answers, parts, charts, notes, Origin(comparison.caption(means=False), command))


def suite_page(suite: "Suite", title: str, command: str) -> str:
    """Return the page about systems on several collections."""
    tables = dict(zip(suite.measures, suite.tables(), strict=True))
    text = "One row per collection; the best value of each row is bold."
    parts = [Part("means", "Collections", text, {f"Means by {name}": table for name, table in tables.items()})]
    charts = {}
    if suite.pairs:
        words = (
            "The difference and its interval on each collection; below, the difference over all collections with its "
            "interval and, as a thin line, the prediction interval for a new collection."
        )
        for i, measure in enumerate(suite.measures):
            charts[f"forest-{i}"] = chart(forest_chart(suite, measure), f"The pairs by {measure}.", still=True)
        pairs = sum(pair.measure == suite.measures[0] for pair in suite.pairs)
        first = f" The figures show the first {PANELS} of {pairs:,} pairs." if pairs > PANELS else ""
        parts.append(Part("forest", "Forest", f"{words}{first}", {}, tuple(charts)))
        both = {"Pairs": suite.pairs_table(), "How much collections differ": suite.spread_table()}
        parts.append(Part("pairs", "Every pair", as_sentence(suite.legend()), both))
    lead = f"{count_of(len(suite.systems), 'system')}, {count_of(len(suite.collections), 'collection')}."
    notes = [str(note) for note in suite.notes]
    return page_of_parts(title, lead, [suite.summary()], parts, charts, notes, Origin(suite.caption(), command))
