"""Selection: which queries count, which documents are dropped first, and which segment each query belongs to."""

import copy
import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from gradely.data.qrels import Qrels
from gradely.data.read.dicts import text
from gradely.data.read.files import Source, clip
from gradely.data.read.inputs import read_qrels
from gradely.data.trec.match import ranges
from gradely.errors import DataError, InputError, did_you_mean

COLUMN = "segment"
"""what the column of a table of its own is called"""


def split_queries(queries: Any) -> tuple[Any, Iterable[Any] | None]:
    """Return the query policy, and the queries that count where they are named."""
    return (queries, None) if isinstance(queries, str) else ("qrels", queries)


def read_selected(
    qrels: Any,
    threads: int | None,
    columns: Mapping[str, str] | None,
    duplicates: str,
    *,
    only: Iterable[Any] | None,
    by: Any,
    exclude: Any,
) -> Qrels:
    """Read qrels, and what is to be selected."""
    judgments = read_qrels(qrels, columns=columns, duplicates=duplicates, threads=threads)
    segments = None if by is None else read_segments(by, qrels, columns)
    return select(judgments, only=only, segments=segments, exclude=exclude)


def select(
    qrels: Qrels, *, only: Iterable[Any] | None = None, segments: Mapping[str, str] | None = None, exclude: Any = None
) -> Qrels:
    """Return the qrels with what is to be selected; those that are given are not changed."""
    if only is not None:
        qrels = only_queries(qrels, only)
    if segments is None and exclude is None:
        return qrels
    qrels = copy.copy(qrels)
    qrels.segments = segments if segments is not None else qrels.segments
    qrels.excluded = qrels.excluded if exclude is None else read_qrels(exclude, duplicates="first")
    return qrels


def only_queries(qrels: Qrels, only: Iterable[Any]) -> Qrels:
    """Return the judgments of some queries, in the order of the qrels; refuse a query that has none."""
    names = {text(query, "queries") for query in only}
    unknown = next((name for name in names if name not in qrels.index), None)
    if unknown is not None or not names:
        hint = did_you_mean(unknown, qrels.queries) if unknown is not None and len(qrels) < 10_000 else ""
        raise DataError(f"queries: {clip(unknown or '')} has no judgments in {qrels.name}.{hint}")
    at = np.array(sorted(qrels.index[name] for name in names), np.int64)
    rows = ranges(qrels.start[at], qrels.start[at + 1] - qrels.start[at])
    start = np.concatenate([[0], np.cumsum(qrels.start[at + 1] - qrels.start[at])])
    docs = [qrels.docs[row] for row in rows.tolist()]
    subset = Qrels([qrels.queries[i] for i in at.tolist()], start, docs, qrels.grade[rows], qrels.name)
    subset.whole, subset.notes, subset.selected = qrels.whole, qrels.notes, True
    return subset


def read_queries(path: str) -> list[str]:
    """Return the ids of queries from a file, one per line."""
    return [line.decode().strip() for _, line in Source(path).lines()]


def read_segments(by: Any, qrels: Any, columns: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the segment of each query: from a mapping, a column of the qrels, or a table of query and segment."""
    if isinstance(by, Mapping):
        return {text(query, "by"): str(segment) for query, segment in by.items()}
    of_qrels = isinstance(by, str) and not os.path.exists(by)
    if of_qrels and (isinstance(qrels, Qrels | Mapping)):
        raise InputError(f"by={by!r}: the qrels have no columns; give {{query: segment}} or a table of both")
    roles = {"document": by if of_qrels else COLUMN}
    roles |= {"query": columns["query"]} if of_qrels and columns and "query" in columns else {}
    pairs = read_qrels(qrels if of_qrels else by, columns=roles, duplicates="first")
    for i, query in enumerate(pairs.queries):
        if pairs.start[i + 1] - pairs.start[i] > 1:
            one, other = pairs.docs[int(pairs.start[i])], pairs.docs[int(pairs.start[i]) + 1]
            raise DataError(f"by: query {clip(query)} is in two segments, {clip(one)} and {clip(other)}")
    return dict(zip(pairs.queries, pairs.docs, strict=True))
