"""Records: lists of dicts, dataclasses or named tuples, as tables."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from typing import Any

import numpy as np

from gradely.data.column_roles import (
    ROLES,
    SAMPLED,
    Cells,
    Names,
    find_numbers,
    normalize,
    pick_columns,
)
from gradely.data.columns import Triples, check_names, numbers_of_objects
from gradely.data.ids import from_objects
from gradely.data.read.responses import JUDGED, PLAIN, as_record, describe_failure, is_partial, results_of
from gradely.data.table import MemoryTable
from gradely.errors import DataError, InputError, clip
from gradely.tables import count_of

Record = Mapping[str, Any]
QUERIES, DOCUMENTS, SCORES = (frozenset(map(normalize, ROLES[role])) for role in ("query", "document", "score"))
SAMPLE = 1000
"""number of records whose ranks are kept, to be compared with the scores"""


def sample_records(records: Sequence[Record]) -> Cells:
    """Return the values of records by their keys."""
    keys = dict.fromkeys(key for record in records for key in record if isinstance(key, str))
    return {key: [record.get(key) for record in records] for key in keys}


def are_records(value: Any) -> bool:
    """True for a list of dicts, dataclasses or named tuples."""
    return isinstance(value, Sequence) and bool(value) and _is_record(value[0])


def _is_record(value: Any) -> bool:
    """True for a dict, a dataclass or a named tuple."""
    return isinstance(value, Mapping) or is_dataclass(value) or (isinstance(value, tuple) and hasattr(value, "_fields"))


def holds_results(record: Record) -> bool:
    """True for {"query": …, "results": […]}: a query without a document, and one list or response."""
    inside = _results_in(record)
    outside = {normalize(name) for name in record if name not in inside}
    return len(inside) == 1 and not outside.isdisjoint(QUERIES) and outside.isdisjoint(DOCUMENTS)


def _results_in(record: Record) -> dict[str, Any]:
    """Return the lists and responses of a record, by key; a record that is itself a response has only itself."""
    if results_of(record) is not None:
        return {"": record}
    return {
        key: value for key, value in record.items() if isinstance(value, list | tuple) or results_of(value) is not None
    }


def as_nested(content: Mapping[Any, Any]) -> list[Record] | None:
    """Return {query: [results]} as records {"query_id": …, "results": […]}; None if the lists hold no results.

    A value may also be the response of a search engine.
    """
    first = next(iter(content.values()), None)
    responses = results_of(first) is not None or describe_failure(first) is not None
    if not responses and not (
        all(isinstance(entries, list | tuple) for entries in content.values())
        and any(_is_result(entry) for entries in content.values() for entry in entries[:1])
    ):
        return None
    return [{"query_id": query, "results": entries} for query, entries in content.items()]


def _is_result(entry: Any) -> bool:
    """True for a result that is more than an id or a pair of id and score."""
    return not isinstance(entry, PLAIN) and not _is_pair(entry) and as_record(entry) is not None


def _is_pair(entry: Any) -> bool:
    """True for an id with its score."""
    return isinstance(entry, tuple | list) and len(entry) == 2 and isinstance(entry[0], PLAIN)


def flatten(record: Record, name: str, *, ranked: bool) -> Iterator[Record]:
    """Yield a record, or each result of a record that holds several.

    With `ranked`, as for a run, results without a number get ranks in their order.
    """
    if not holds_results(record):
        _refuse_failure(record, name)
        yield record
        return
    ((inside, results),) = _results_in(record).items()
    outside = {key: value for key, value in record.items() if (key != inside if inside else normalize(key) in QUERIES)}
    if not isinstance(results, list | tuple):
        if not ranked:
            raise InputError(f"{name}: is a response to a search, which has no labels; {JUDGED}")
        results = results_of(results) or []
    for rank, entry in enumerate(results, 1):
        result = as_record(entry)
        if result is None and ranked and _is_pair(entry):
            result = {"id": entry[0], "score": entry[1]}
        if result is None:
            yield {**outside, "doc_id": entry} | ({"rank": rank} if ranked else {})
            continue
        result = {key: value for key, value in result.items() if value is not None or normalize(key) not in SCORES}
        scored = any(normalize(key) in SCORES for key in (*result, *outside))
        if ranked and not scored and not find_numbers(_numbers(result)):
            result = {**result, "rank": rank}
        has_document = any(normalize(key) in DOCUMENTS for key in result)
        own = "" if has_document else next((key for key in ("id", "_id") if key in result), "")
        if not has_document and not own:
            raise InputError(f"{name}: a result has no document id among {', '.join(map(clip, result))}; call it id")
        yield {**outside, **result} if has_document else {**outside, "doc_id": result[own], **result}


def _refuse_failure(record: Record, name: str) -> None:
    """Raise InputError for the response to a search that failed."""
    responses = [value for value in record.values() if isinstance(value, dict)]  # mostly none, and fast
    said = next(filter(None, map(describe_failure, [record, *responses])), None) if responses else None
    if said is not None and DOCUMENTS.isdisjoint(map(normalize, record)):
        query = next((f" of query {clip(str(record[key]))}" for key in record if normalize(key) in QUERIES), "")
        raise InputError(f"{name}: the search{query} failed: {said}; repeat it, or leave the query out")


def holds_partial(record: Record) -> bool:
    """True for a record that is, or holds, an incomplete response of a search engine."""
    return is_partial(record) or (isinstance(record, Mapping) and any(map(is_partial, record.values())))


def note_partial(count: int, name: str) -> list[str]:
    """Return a note if responses of a search engine are incomplete."""
    what = f"{count_of(count, 'response')} {'is' if count == 1 else 'are'} incomplete"
    return [f"{name}: {what}: the search timed out or failed in part of the index"] if count else []


def _numbers(record: Record) -> Cells:
    """Return the numbers of a record; text is not converted, since a title may look like a number."""
    return {
        key: [value] for key, value in record.items() if isinstance(value, int | float) and not isinstance(value, bool)
    }


def flat_records(records: Sequence[Any], name: str, *, ranked: bool = False) -> list[Record]:
    """Return records as dicts, one per result, as `flatten` returns them; raise InputError for other objects."""
    flat: list[Record] = []
    for number, entry in enumerate(records, 1):
        record = as_record(entry) if _is_record(entry) else None
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
        """Extract the values from the records."""
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
        nested = holds_results(as_record(records[0]) or {})
        if nested:
            self.notes += note_partial(sum(map(holds_partial, records)), name)
        if roles.value is None:
            self._check_unlabelled(flat, columns)
        self.ranks = [] if self.rank is None else [record.get(self.rank) for record in flat[:SAMPLE]]
        if self.rank is None and nested and roles.sign > 0:
            self.ranks = range(SAMPLE)

    def _check_unlabelled(self, records: list[Record], columns: Names | None) -> None:
        """Raise InputError for a record with a label if the first one has none."""
        for number, record in enumerate(records, 1):
            if record.keys() != records[0].keys():
                names = [key for key in record if isinstance(key, str)]
                value = pick_columns(names, self.kind, f"{self.name}: record {number}", columns).value
                if value is not None:
                    problem = f"record {number} has a {self.kind}, {value!r}, but the first record has none"
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
        if not self.nameless:
            check_names(query, document, f"{self.name}: record", start)
        return Triples(query, document, self.value[start:stop])
