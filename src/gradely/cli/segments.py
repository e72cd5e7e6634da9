"""Means by segment, as `gradely evaluate --by` writes them."""

from gradely.data import Qrels
from gradely.data.selection import read_segments, select
from gradely.evaluation.runs import Evaluations
from gradely.evaluation.scores import Scores
from gradely.tables import Cell, Table


def with_segments(judgments: Qrels, by: str, qrels: str, columns: dict[str, str] | None) -> Qrels:
    """Return the qrels with the segment of each query: from a column of their file, or from a table of its own."""
    return select(judgments, segments=read_segments(by, qrels, columns))


def segments_table(results: Evaluations) -> Table:
    """Return one row per run and segment, with how many queries it has; all of them first."""
    rows: list[list[Cell]] = []
    for name, scores in results.items():
        rows.append([name, "all", len(scores.queries), *scores.mean().values()])
        rows += [[name, *row] for row in scores.segments.table().rows] if scores.segments else []
    return Table(["run", "segment", "n", *results.measures], rows)


def segments_data(scores: Scores) -> dict[str, object]:
    """Return the means of each segment, and how many queries it has, as plain data, where asked for."""
    if scores.segments is None:
        return {}
    sizes = scores.segments.sizes
    return {"segments": {name: {"n": sizes[name], "mean": mean} for name, mean in scores.segments.items()}}
