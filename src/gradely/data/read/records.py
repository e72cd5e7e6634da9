"""Records: lists of dicts, dataclasses or named tuples, as tables."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from gradely.data.column_roles import (
    DOC,
    QUERY,
    ROLES,
    SAMPLED,
    Cells,
    Names,
    find_numbers,
    normalize,
    pick_columns,
)
from gradely.data.columns import Triples, numbers_of_objects
from gradely.data.ids import from_objects
from gradely.data.table import MemoryTable
from gradely.errors import DataError, InputError, clip

Record = Mapping[str, Any]
SCORES = frozenset(map(normalize, ROLES["score"]))
SAMPLE = 1000
"""records whose ranks are kept, to be held against the scores"""
NESTED_ID = ("id", "_id")
"""what the document of a result is called, where it has none of the names of a document"""


def sample_records(records: Sequence[Record]) -> Cells:
    """Return the values of records by their keys."""
    keys = dict.fromkeys(key for record in records for key in record if isinstance(key, str))
    return {key: [record.get(key) for record in records] for key in keys}


def are_records(value: Any) -> bool:
    """True for a list of dicts, dataclasses or named tuples."""
    return isinstance(value, Sequence) and bool(value) and _record(value[0]) is not None


def _record(value: Any) -> Record | None:
    """Return a dict, a dataclass or a named tuple as {name: value}; None where it is none of them."""
    if isinstance(value, Mapping):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return dict(zip(value._fields, value, strict=True))
    return None


def holds_results(record: Record) -> bool:
    """True for {"query": …, "results": […]}: a query, no document beside it, and one list."""
    names = {normalize(name) for name in record if isinstance(name, str)}
    lists = [value for value in record.values() if isinstance(value, list | tuple)]
    return (
        len(lists) == 1
        and any(normalize(name) in names for name in QUERY)
        and not any(normalize(name) in names for name in DOC if name in record and not isinstance(record[name], list))
    )


def as_nested(content: Mapping[Any, Any]) -> list[Record] | None:
    """Return {query: [results]} as records {"query_id": …, "results": […]}; None where the lists hold no results."""
    results = all(isinstance(entries, list | tuple) for entries in content.values()) and any(
        isinstance(entry, Mapping) for entries in content.values() for entry in entries[:1]
    )
    return [{"query_id": query, "results": entries} for query, entries in content.items()] if results else None


def flatten(record: Record, name: str, *, ranked: bool) -> Iterator[Record]:
    """Yield a record, or each result of one that holds several.

    With `ranked`, as for a run, results without a number have the ranks in which they stand.
    """
    if not holds_results(record):
        yield record
        return
    inside = next(key for key, value in record.items() if isinstance(value, list | tuple))
    outside = {key: value for key, value in record.items() if key != inside}
    for rank, entry in enumerate(record[inside], 1):
        result = _record(entry)
        if result is None:
            yield {**outside, "doc_id": entry} | ({"rank": rank} if ranked else {})
            continue
        scored = any(normalize(key) in SCORES for key in (*result, *outside))
        if ranked and not scored and not find_numbers(_numbers(result)):
            result = {**result, "rank": rank}
        has_document = any(normalize(key) == normalize(usual) for key in result for usual in DOC)
        own = "" if has_document else next((key for key in NESTED_ID if key in result), "")
        if not has_document and not own:
            raise InputError(f"{name}: a result has no document among {', '.join(map(clip, result))}; name it id")
        yield {**outside, **result} if has_document else {**outside, "doc_id": result[own], **result}


def _numbers(record: Record) -> Cells:
    """Return the numbers of a record; text that looks like one, such as the title of a book, may be a text."""
    return {
        key: [value] for key, value in record.items() if isinstance(value, int | float) and not isinstance(value, bool)
    }


def flat_records(records: Sequence[Any], name: str, *, ranked: bool = False) -> list[Record]:
    """Return records as dicts, one per result, as `flatten` gives them; refuse what is none."""
    flat: list[Record] = []
    for number, entry in enumerate(records, 1):
        record = _record(entry)
        if record is None:
            raise InputError(f"{name}: record {number} is {clip(repr(entry))}; expected a dict, as the first is")
        flat += flatten(record, f"{name}: record {number}", ranked=ranked)
    return flat


class RecordTable(MemoryTable):
    """Records in memory."""

    unit = "record"

    def __init__(
        self, records: Sequence[Any], kind: str, name: str, columns: Names | None = None, duplicates: str = "error"
    ) -> None:
        """Take the values out of the records."""
        super().__init__(name, kind, duplicates)
        flat = flat_records(records, name, ranked=kind == "score")
        if not flat:
            raise DataError(f"{name}: has no rows")
        names = [key for key in flat[0] if isinstance(key, str)]
        roles = self.pick_columns(names, columns, lambda: sample_records(flat[:SAMPLED]))
        self.rows = len(flat)
        self.query, self.document = (self._column(flat, key) for key in (roles.query, roles.document))
        values = None if roles.value is None else self._column(flat, roles.value)
        self.value = np.ones(len(flat)) if values is None else numbers_of_objects(values, kind, name, 0, "record")
        self.value = -self.value if roles.sign < 0 else self.value
        self.whole = all(type(query) is int for query in self.query)
        if roles.value is None:
            self._check_unlabelled(flat, columns)
        self.ranks = [] if self.rank is None else [record.get(self.rank) for record in flat[:SAMPLE]]

    def ranked_rows(self, most: int) -> Iterable[tuple[str, float, float]]:
        """Yield query, rank and score of the first records, where they have ranks."""
        for query, rank, score in zip(self.query[:most], self.ranks[:most], self.value[:most].tolist(), strict=False):
            if not isinstance(rank, int | float):
                return
            yield str(query), float(rank), score

    def _check_unlabelled(self, records: list[Record], columns: Names | None) -> None:
        """Refuse a record with a label where the first one has none."""
        for number, record in enumerate(records, 1):
            if record.keys() != records[0].keys():
                names = [key for key in record if isinstance(key, str)]
                value = pick_columns(names, self.kind, f"{self.name}: record {number}", columns).value
                if value is not None:
                    problem = f"record {number} has a {self.kind}, {value!r}, which the first one has not"
                    raise InputError(f"{self.name}: {problem}; give every record one, or none")

    def _column(self, records: list[Record], column: str) -> list[Any]:
        try:
            return [record[column] for record in records]
        except KeyError:
            number = next(i for i, record in enumerate(records, 1) if column not in record)
            raise InputError(f"{self.name}: record {number} has no {column!r}, which the first one has") from None

    def take(self, start: int, stop: int) -> Triples:
        """Return some records as arrays."""
        query, document = (from_objects(ids[start:stop], self.name) for ids in (self.query, self.document))
        return Triples(query, document, self.value[start:stop])
