"""What a page says about segments: the means of each run there, and the differences of pairs by the first measure."""

from typing import TYPE_CHECKING, NamedTuple

from gradely.comparison.segment_comparison import SegmentPair
from gradely.data.types import Floats

if TYPE_CHECKING:
    from gradely.comparison.comparison import Comparison

ROWS = 300
"""so many rows a table of segments has"""


class SegmentRow(NamedTuple):
    """A run in a segment."""

    segment: str
    n: int
    run: str
    means: list[tuple[float, bool]]
    """of each measure, and whether it is the best of the segment"""


class AboutSegments(NamedTuple):
    """The first rows of both tables, and how many there are in all."""

    rows: list[SegmentRow]
    total: int
    pairs: list[SegmentPair]
    all_pairs: int
    caption: str


def about_segments(comparison: "Comparison", names: list[str]) -> AboutSegments | None:
    """Return what there is to say, where segments were asked for; `names` are those that the page shows."""
    segments = comparison.segments
    if segments is None:
        return None
    rows = [
        SegmentRow(segment, segments.sizes[segment], name, means)
        for segment, table in segments.means.items()
        for name, means in zip(names, _mark_best(table), strict=True)
    ]
    first = next(iter(comparison.board.measures))
    title = dict(zip(comparison.board.names, names, strict=True))
    pairs = [
        pair._replace(first=title[pair.first], second=title[pair.second])
        for pair in segments.pairs
        if pair.measure == first
    ]
    return AboutSegments(rows[:ROWS], len(rows), pairs[:ROWS], len(pairs), segments.caption())


def _mark_best(table: Floats) -> list[list[tuple[float, bool]]]:
    """Return the means of each run, [measures, runs], with whether they are the best."""
    best = table == table.max(axis=1, keepdims=True)
    return [
        list(zip(column.tolist(), flags.tolist(), strict=True)) for column, flags in zip(table.T, best.T, strict=True)
    ]
