"""What a notebook shows of a Batch."""

from gradely.kernel.backend import to_lists
from gradely.kernel.batch import Batch
from gradely.notebook import box, grid, heading, sentence
from gradely.tables import Table, count_of

ROWS = 10
"""how many queries are shown"""


def card(batch: Batch) -> str:
    """Return the first queries as HTML: how much was retrieved and judged, and how much of it ties."""
    part = batch.rows(slice(0, ROWS))
    counts = [
        part.retrieved,
        part.xp.sum(part.number(part.judged), axis=1),
        part.xp.sum(part.number(part.judged & (part.tied > 1)), axis=1),
        part.xp.sum(part.number(part.pooled), axis=1),
    ]
    columns = [[int(count) for count in to_lists(part.number(counted))] for counted in counts]
    highest = [f"{label:g}" for label in to_lists(part.pool[:, 0])] if part.pool.shape[1] else ["-"] * len(columns[0])
    rows = [list(row) for row in zip(range(len(highest)), *columns, highest, strict=True)]
    header = ["row", "retrieved", "judged of these", "tied of these", "judged in all", "highest label"]
    more = f"… and {count_of(len(batch.grade) - ROWS, 'more query')}" if len(batch.grade) > ROWS else ""
    return box(heading(repr(batch)), grid(Table(header, rows)), sentence(more))
