"""Tables whose queries are not contiguous, as parts with whole queries: rows are sorted into a temporary file by query.

Merging duplicates and inspecting rankings requires whole queries. Rows of a query keep their order, so values are the
same to the last bit as if the queries were contiguous.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple, TypeVar

import numpy as np

from gradely.data.columns import Triples, compact, leave_out_repeats, number_ids
from gradely.data.hashing import hashes, new_tokens
from gradely.data.ids import Bytes, Ids, Words
from gradely.data.locate.match import UNKNOWN, Judgments
from gradely.data.locate.parts import UnjudgedNames
from gradely.data.source import Report, split_report
from gradely.data.spool import NamedRows, NameSpool
from gradely.data.table import Part, Table
from gradely.parallel import on_threads

T = TypeVar("T")


class PartRows(NamedTuple):
    """The rows of a part, and its queries without judgments, possibly with duplicates, with their hashes."""

    rows: NamedRows
    part: Bytes
    """a byte of the hash of each row's query"""
    unjudged: tuple[Ids, Words]


def _copy_rows(judgments: Judgments, part: Part) -> PartRows:
    query, document, value = part.columns()
    first = new_tokens(*query)
    names = query.take(first)
    index, key = judgments.query(*names)
    unjudged = compact(leave_out_repeats(names.take(np.flatnonzero(index == UNKNOWN))))
    owner = np.repeat(key.astype(np.uint8), np.diff(first, append=len(value)))
    return PartRows(NamedRows([compact(query), compact(document)], value), owner, (unjudged, hashes(*unjudged)))


def _by_query(rows: NamedRows) -> Triples:
    """Return rows of query, document and score, with those of each query contiguous."""
    (query, document), value = rows
    order = np.argsort(number_ids(query)[0], kind="stable")
    return Triples(query.take(order), document.take(order), value[order])


def map_queries(
    table: Table,
    judgments: Judgments,
    unjudged: UnjudgedNames,
    work: Callable[[Part], T],
    threads: int,
    report: Report,
) -> Iterator[T]:
    """Run a function over parts of a table that hold whole queries, on threads; yield the results.

    Queries without judgments are added to `unjudged` in the order of the table.
    """
    first, second = split_report(report)
    with NameSpool(table.name) as spool:
        for rows, part, names in table.map_parts(partial(_copy_rows, judgments), threads, first, whole_queries=False):
            spool.add(rows, part)
            unjudged.add(*names)
        parts = (Part(number, partial(_by_query, rows)) for number, rows in enumerate(spool.parts()))
        yield from on_threads(work, parts, threads)
        second(1.0)
