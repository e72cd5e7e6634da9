"""The page of a comparison: its tables, which need no script, and the data for its script."""

import inspect
import os
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from gradely.comparison.kendall import correlations
from gradely.comparison.leaderboard import Leaderboard
from gradely.comparison.pairwise import Pair, Pairwise, to_optional
from gradely.comparison.segments import SegmentPair
from gradely.comparison.ties import TieSensitivity
from gradely.data.ids import Floats
from gradely.data.texts import Texts, length_for, select_texts
from gradely.data.tie_counts import TieCounts
from gradely.errors import DataError
from gradely.evaluation.notes import Note
from gradely.kernel.parameters import show
from gradely.measures import Measure, parameters
from gradely.report import charts
from gradely.report.data import BARS, Detail, Rankings, gather, script_data
from gradely.report.holes import about_holes
from gradely.report.page import Chart, cut, render, source, versions
from gradely.report.systems import groups_page

if TYPE_CHECKING:
    from gradely.comparison.compare import Comparison

Taus: TypeAlias = list[list[float | None]]
PARTS = (
    *("elements", "state", "pairs", "leaderboard", "matrix", "rankings"),
    *("two_runs", "one_run", "curves", "save", "start"),
)
"""the files of the script; each uses only files before it"""
ANSWER = 2000
"""the most characters of an answer"""
ROWS = 300
"""the most rows of a table about segments"""


def page(
    comparison: "Comparison",
    title: str,
    *,
    queries_text: Texts | None = None,
    docs_text: Texts | None = None,
    command: str = "",
) -> str:
    """Return the page; for systems with several runs, it shows runs and variances instead of rankings."""
    if comparison.systems is not None:
        if queries_text is not None or docs_text is not None:
            raise DataError("the page of systems with several runs shows no rankings: leave out the texts")
        return groups_page(comparison, title, command)
    board, pairwise = comparison.board, comparison.pairwise
    board.qrels.check_certain("report")
    details, rankings = gather(board)
    data = script_data(board, pairwise, details, rankings)
    data["summary"] = cut(comparison.summary(), ANSWER)
    data["answers"] = [cut(answer, ANSWER) for answer in comparison.answers().values()]
    lacking = _add_texts(data, board, rankings, queries_text, docs_text)
    holes = about_holes(comparison, data["runs"])
    taus = _correlations(board)
    return render(
        "comparison.html",
        title=title,
        charts=_charts(board, pairwise, taus) | ({} if holes is None else {"holes": holes.chart()}),
        data=data,
        script=script(),
        data_of=data,
        taus=taus,
        left_out=_left_out(board, pairwise, data) + lacking,
        ties=about_ties(board, details, data["runs"]),
        holes=holes,
        segments=about_segments(comparison, data["runs"]),
        details=details,
        depth=rankings.depth,
        rows=_query_rows(data),
        command=command,
        files={name: os.fspath(run) for name, run in comparison.runs.items() if isinstance(run, str | os.PathLike)},
        versions=versions(),
        board=board,
        names=data["runs"],
        grades=_grades(board.qrels.grade),
        queries=len(board.qrels),
        cards=[card(name, measure) for name, measure in board.measures.items()],
        caption=comparison.caption(),
        summary=comparison.summary(),
        answers=list(comparison.answers().values()),
        notes=[str(note) for note in comparison.notes_with_means],
        level=f"{100 * (1 - pairwise.design.alpha):g} %",
        pair_rows=_pair_rows(pairwise),
        pairs=len(pairwise.pairs),
        power=pairwise.power(),
        alpha=pairwise.design.alpha,
    )


def script() -> str:
    """Return the script of the page: its files, concatenated in one scope."""
    parts = "\n".join(source(f"comparison/{name}.js") for name in PARTS)
    return f'"use strict";\n(() => {{\n{parts}\n}})();\n'


def _add_texts(
    data: dict[str, Any], board: Leaderboard, rankings: Rankings, queries_text: Texts | None, docs_text: Texts | None
) -> list[str]:
    """Add the texts of queries and documents to `data`; return sentences about missing and shortened texts."""
    queries = [board.queries[i] for i in rankings.queries]
    data["query_texts"] = _texts_of(select_texts(queries_text, queries), queries)
    documents = {doc for numbers in rankings.documents for doc in numbers}
    longest = length_for(len(documents))
    texts = select_texts(docs_text, documents, longest)
    data["document_texts"] = [_texts_of(texts, numbers) for numbers in rankings.documents] if texts else None
    lines = []
    if queries_text is not None:
        lines.append(
            f"{len([text for text in data['query_texts'] or [] if text]):,} of {len(queries):,} queries have a text."
        )
    if docs_text is not None:
        cut = f", cut to {longest} characters" if texts else ""
        lines.append(f"{len(texts):,} of the {len(documents):,} documents on this page have a text{cut}.")
    return lines


def _texts_of(texts: dict[str, str], ids: Any) -> list[str] | None:
    """Return the text of each id, or an empty string if it has none; return None if no id has a text."""
    return [texts.get(key, "") for key in ids] if texts else None


def _pair_rows(pairwise: Pairwise) -> list[tuple[int, int, Pair]]:
    """Return the first 100 pairs by the first measure, each with the indices of its runs."""
    rows = zip(*(side.tolist() for side in pairwise.pairs), pairwise.rows(), strict=False)
    return list(islice(rows, min(100, len(pairwise.pairs))))


def _query_rows(data: dict[str, Any]) -> list[tuple[str, float, float, float]]:
    """Return the values of the first two runs on each query by the first measure, largest difference first."""
    first, second = data["start"]
    rows = zip(data["queries"], data["values"][0][first], data["values"][0][second], strict=True)
    return sorted(((query, x, y, x - y) for query, x, y in rows), key=lambda row: -row[3])


def _left_out(board: Leaderboard, pairwise: Pairwise, data: dict[str, Any]) -> list[str]:
    """Return sentences about the data that are too large for the page."""
    every, shipped = len(board.queries), len(data["queries"])
    lines = []
    if shipped < every:
        lines.append(f"Of {every:,} queries, this page shows the {shipped:,} on which runs differ most.")
    if not data["rankings"]["depth"]:
        lines.append("There are too many rankings to show them here; gradely explain shows single ones.")
    measures = len(data["pairs"]["p"])
    if len(pairwise.pairs) and measures < len(board.measures):
        lines.append(
            f"This page has the p-values of {measures} of {len(board.measures)} measures, since there are "
            f"{len(pairwise.pairs):,} pairs. All pairs were tested; gradely compare --pairs shows them."
        )
    return lines


def _correlations(board: Leaderboard) -> Taus:
    """Return Kendall's τ between the rankings of runs by each pair of measures; empty if there are too few."""
    if len(board.names) < 3 or len(board.measures) < 2:
        return []
    tau, _ = correlations(board.means.T)
    return [to_optional(row) for row in tau]


def _grades(grade: Floats) -> list[tuple[str, int]]:
    """Return the number of judgments with each label or, if there are very many labels, in each range of labels."""
    values, counts = np.unique(grade, return_counts=True)
    if len(values) <= 20:
        return [(f"{value:g}", count) for value, count in zip(values.tolist(), counts.tolist(), strict=True)]
    counts, edges = np.histogram(grade, bins=12)
    spans = zip(edges[:-1].tolist(), edges[1:].tolist(), counts.tolist(), strict=True)
    return [(f"{low:.3g} to {high:.3g}", count) for low, high, count in spans]


def _charts(board: Leaderboard, pairwise: Pairwise, taus: Taus) -> dict[str, Chart]:
    """Return the charts; some are empty until the script supplies their rows."""
    drawings = {
        "leaderboard": charts.leaderboard(min(BARS, len(board.names))),
        "precision": charts.precision_by_recall(),
        "gain": charts.gain_by_rank(),
        "grades": charts.grades([{"label": label, "judgments": count} for label, count in _grades(board.qrels.grade)]),
    }
    if len(board.names) > 1:
        drawings["differences"] = charts.differences()
    if len(pairwise.pairs) > 1:
        drawings["levels"] = charts.levels(_levels(pairwise), pairwise.design.alpha)
    if taus:
        drawings["correlation"] = charts.correlation(list(board.measures), taus)
    return drawings


def _levels(pairwise: Pairwise) -> list[dict[str, Any]]:
    """Return the achieved significance levels as steps: p-values by share of pairs, thinned to 100 points."""
    rows = []
    for measure, p in pairwise.levels().items():
        at = np.unique(np.linspace(0, len(p) - 1, min(100, len(p))).round().astype(int)).tolist()
        steps = [(0.0, p[0]), *(((i + 1) / len(p), p[i]) for i in at)]
        rows += [{"measure": measure, "share": round(share, 5), "p": float(f"{level:.4g}")} for share, level in steps]
    return rows


class SwappedPair(NamedTuple):
    """Two runs that swap places with the order of tied documents, and the measures by which they do."""

    first: str
    second: str
    measures: list[str]
    """the measures by which the first run has the higher mean and can fall behind"""
    trec: list[str]
    """the measures by which it falls behind in trec_eval's order"""


class AboutTies(NamedTuple):
    """The content of the section about ties."""

    runs: list[tuple[str, TieCounts]]
    """the runs with ties, most ties first"""
    untied: int
    """the number of runs without a tie in any precision"""
    summary: str
    swaps: list[SwappedPair]
    total: int
    notes: list[Note]


def about_ties(board: Leaderboard, details: list[Detail], names: list[str]) -> AboutTies:
    """Return the content of the section about ties; `names` are the names of the runs on the page."""
    runs = [detail.ties for detail in details]
    sensitivity = TieSensitivity(runs, list(board.measures), board.settings, len(board.queries))
    counts = [(name, run.tied) for name, run in zip(names, runs, strict=True)]
    tied = [(name, tied) for name, tied in counts if tied.tied or tied.single or tied.half]
    swapped = _swapped_pairs(sensitivity)
    tied.sort(key=lambda pair: -pair[1].share)
    summary = sensitivity.count_swaps() + "."
    return AboutTies(tied, len(counts) - len(tied), summary, swapped[:50], len(swapped), sensitivity.notes)


def _swapped_pairs(sensitivity: TieSensitivity) -> list[SwappedPair]:
    """Return the pairs of runs that swap places, those with most measures first."""
    rows: dict[tuple[str, str], SwappedPair] = {}
    for swap in sensitivity.swaps:
        row = rows.setdefault((swap.first, swap.second), SwappedPair(swap.first, swap.second, [], []))
        row.measures.append(swap.measure)
        if swap.trec:
            row.trec.append(swap.measure)
    return sorted(rows.values(), key=lambda row: (-len(row.trec), -len(row.measures)))


class AboutSegments(NamedTuple):
    """The first rows of both tables about segments, and the number of all rows."""

    rows: list[list[Any]]
    """segment, n, run, and the mean by each measure, marked if it is the best of the segment"""
    total: int
    pairs: list[SegmentPair]
    all_pairs: int
    caption: str


def about_segments(comparison: "Comparison", names: list[str]) -> AboutSegments | None:
    """Return the content of the section about segments, or None without segments; `names` are those on the page."""
    segments = comparison.segments
    if segments is None:
        return None
    title = dict(zip(comparison.board.names, names, strict=True))
    rows = [[segment, n, title[str(run)], *means] for segment, n, run, *means in segments.table().rows]
    first = next(iter(comparison.board.measures))
    pairs = [
        pair._replace(first=title[pair.first], second=title[pair.second])
        for pair in segments.pairs
        if pair.measure == first
    ]
    return AboutSegments(rows[:ROWS], len(rows), pairs[:ROWS], len(pairs), segments.caption())


class Card(NamedTuple):
    """The documentation of a measure with its parameters in this comparison."""

    name: str
    summary: str
    formula: str
    text: str
    """the meaning of the symbols in the formula, and other prose; may be empty"""
    ties: str
    reference: str
    parameters: list[tuple[str, str, str]]
    """name, value, meaning"""


def card(name: str, measure: Measure) -> Card:
    """Return the card of a measure.

    >>> from gradely import RR
    >>> card("RR@10", RR(k=10)).parameters[-1][:2]
    ('k', '10')
    """
    summary, *paragraphs = (inspect.getdoc(measure) or "").split("\n\n")
    formula = [inspect.cleandoc(part) for part in paragraphs if part.startswith(" ")]
    prose = [part for part in paragraphs if not part.startswith((" ", ">>>", "Ties:"))]
    labelled = _split_labels(next(part for part in paragraphs if part.startswith("Ties:")))
    used = [
        (key, "all" if key == "k" and measure.k is None else show(getattr(measure, key)), declared.doc)
        for key, declared in parameters(type(measure)).items()
    ]
    text = " ".join(" ".join(prose).split())
    return Card(name, summary, "\n".join(formula), text, labelled["Ties"], labelled["Reference"], used)


def _split_labels(paragraph: str) -> dict[str, str]:
    """Return the texts after the labels Ties and Reference; each text extends to the next label."""
    parts: dict[str, list[str]] = {"Ties": [], "Reference": []}
    now = "Ties"
    for line in paragraph.split("\n"):
        head, colon, rest = line.partition(": ")
        now, text = (head, rest) if colon and head in parts else (now, line)
        parts[now].append(text)
    return {label: " ".join(lines) for label, lines in parts.items()}
