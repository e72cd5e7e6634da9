"""What a prompt and a notebook show of a Batch."""

from gradely.kernel.backend import to_lists
from gradely.kernel.batch import Batch
from gradely.notebook import box, grid, heading, sentence
from gradely.tables import Table, count_of

ROWS = 10
"""how many queries are shown"""


def title(batch: Batch) -> str:
    """Return how large a batch is, of which arrays, and how ties are taken."""
    size = count_of(int(batch.grade.shape[0]), "query")
    columns = count_of(int(batch.grade.shape[1]), "judged and retrieved document")
    kind = type(batch.grade).__module__.partition(".")[0]
    return f"Batch({size}, up to {columns}, {kind} arrays, ties {batch.ties})"


def card(batch: Batch) -> str:
    """Return the first queries as HTML: how much was retrieved and judged, and how much of it ties."""
    part = batch.rows(slice(0, ROWS))
    counts = [
        part.retrieved,
        part.xp.sum(part.to_real(part.judged), axis=1),
        part.xp.sum(part.to_real(part.judged & (part.tied > 1)), axis=1),
        part.xp.sum(part.to_real(part.pooled), axis=1),
    ]
    columns = [[int(count) for count in to_lists(part.to_real(counted))] for counted in counts]
    highest = [f"{label:g}" for label in to_lists(part.pool[:, 0])] if part.pool.shape[1] else ["-"] * len(columns[0])
    rows = [list(row) for row in zip(range(len(highest)), *columns, highest, strict=True)]
    header = ["row", "retrieved", "judged of these", "tied of these", "judged in all", "highest label"]
    more = f"… and {count_of(len(batch.grade) - ROWS, 'more query')}" if len(batch.grade) > ROWS else ""
    return box(heading(title(batch)), grid(Table(header, rows)), sentence(more))
