"""What a page says about segments: the means of each run there, and the differences of pairs by the first measure."""

from typing import TYPE_CHECKING, Any, NamedTuple

from gradely.comparison.segment_comparison import SegmentPair

if TYPE_CHECKING:
    from gradely.comparison.comparison import Comparison

ROWS = 300
"""so many rows a table of segments has"""


class AboutSegments(NamedTuple):
    """The first rows of both tables, and how many there are in all."""

    rows: list[list[Any]]
    """segment, n, run, and the mean by each measure, marked where it is the best of the segment"""
    total: int
    pairs: list[SegmentPair]
    all_pairs: int
    caption: str


def about_segments(comparison: "Comparison", names: list[str]) -> AboutSegments | None:
    """Return what there is to say, where segments were asked for; `names` are those that the page shows."""
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
