"""Tables whose queries are not contiguous, as parts with whole queries: rows are sorted into a temporary file by query.

Duplicates can be merged, and rankings looked at, only in whole queries. Rows of a query keep their order, so values are
the same to the last bit as if the queries were contiguous.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gradely.data.columns import Triples, compact, number_ids
from gradely.data.hashing import hashes
from gradely.data.ids import Bytes
from gradely.data.locate.parts import TablePart
from gradely.data.source import Report, split_report
from gradely.data.spool import NamedRows, NameSpool
from gradely.data.table import Table
from gradely.parallel import on_threads


class WholeQueries:
    """The rows of some queries."""

    def __init__(self, number: int, rows: NamedRows) -> None:
        """Take the number of parts before it, and the rows: query, document and score."""
        self.number, self._rows = number, rows

    def columns(self) -> Triples:
        """Return the rows, those of a query together."""
        (query, document), value = self._rows
        order = np.argsort(number_ids(query)[0], kind="stable")
        return Triples(query.take(order), document.take(order), value[order])


def _copy_rows(part: TablePart) -> tuple[NamedRows, Bytes]:
    """Copy the rows of a part, and return with them a byte of the hash of each query."""
    query, document, value = part.columns()
    return NamedRows([compact(query), compact(document)], value), hashes(*query).astype(np.uint8)


def map_queries(table: Table, work: Callable[[WholeQueries], Any], threads: int, report: Report) -> Iterator[Any]:
    """Run a function over parts of a table that hold whole queries, on threads; yield the results."""
    first, second = split_report(report)
    with NameSpool(table.name) as spool:
        for rows, part in table.map_parts(_copy_rows, threads, first, whole_queries=False):
            spool.add(rows, part)
        parts = (WholeQueries(number, rows) for number, rows in enumerate(spool.parts()))
        yield from on_threads(work, parts, threads)
        second(1.0)
