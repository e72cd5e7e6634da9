"""The section of a comparison's page about unjudged documents."""

from typing import TYPE_CHECKING, Any, NamedTuple

from gradely.errors import DataError, MeasureError
from gradely.evaluation.label_bounds import LabelRanges, bound_labels
from gradely.judgments.holes import Holes, OpenDocument, OpenPair
from gradely.report import charts
from gradely.report.page import Chart, cut

if TYPE_CHECKING:
    from gradely.comparison.compare import Comparison

RUNS, PAIRS, DOCUMENTS = 12, 8, 20
"""the most runs, pairs and documents in a page"""


class AboutHoles(NamedTuple):
    """The range of every mean and of every difference by one measure, and the documents to judge first."""

    measure: str
    summary: str
    caption: str
    rows: list[dict[str, Any]]
    """run, value, low, high, and the worst and best value over orders of tied documents"""
    runs: int
    """the number of all runs"""
    pairs: list[OpenPair]
    """the first pairs, open ones before decided ones, largest differences first"""
    all_pairs: int
    documents: list[OpenDocument]
    worth: str
    """a sentence about the worth of a document, and the number of all documents"""

    def chart(self) -> Chart:
        """Return the ranges as a chart."""
        return charts.label_ranges(self.rows, self.measure)


def about_holes(comparison: "Comparison", names: list[str]) -> AboutHoles | None:
    """Return the section by the first measure that has ranges; `names` are the names of the runs on the page.

    Return None if there is no such measure, if the settings support no ranges, or if all documents are judged.
    """
    found = _find(comparison)
    if found is None or not any(found.unjudged.values()):
        return None
    board = comparison.board
    holes = Holes(found.runs, found, [board.qrels.queries[i] for i in found.counted.tolist()])
    measure, title = holes.measures[0], dict(zip(board.names, names, strict=True))
    rows = []
    for name in board.names[:RUNS]:
        value, (low, high) = holes.values[name][measure], holes.ranges[name][measure]
        worst, best = board.span_ties(name, measure, value)
        rows.append({"run": title[name], "value": value, "low": low, "high": high, "worst": worst, "best": best})
    pairs = sorted(holes.pairs, key=lambda pair: (pair.decided, -abs(pair.difference)))
    shown = [pair._replace(a=title[pair.a], b=title[pair.b]) for pair in pairs[:PAIRS]]
    judge = holes.judge(DOCUMENTS)
    summary = cut(holes.summary(), 2000)
    return AboutHoles(
        measure, summary, holes.caption(), rows, len(title), shown, len(pairs), judge.documents, judge.remarks()[0]
    )


def _find(comparison: "Comparison") -> LabelRanges | None:
    board = comparison.board
    for name, measure in board.measures.items():
        try:
            return bound_labels(board.qrels, comparison.opened, {name: measure}, board.settings)
        except MeasureError:
            continue
        except DataError:  # these settings support no ranges
            return None
    return None
