"""JSON and JSON Lines: {query: {document: number}}, {query: [documents]}, or records, in an array or one per line."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from gradely.data.read.files import Source, clip
from gradely.data.read.records import are_records, flatten, holds_results
from gradely.data.read.rows import Rows
from gradely.data.read.tables import VALUE, Names, Picked, column, pick_columns
from gradely.errors import DataError, InputError

Reader = Callable[[Mapping[Any, Any], str], dict[str, Mapping[str, float]]]


def from_json(source: Source, reader: Reader) -> dict[str, Mapping[str, float]] | list[Any]:
    """Read one JSON object {query: …}; records, in an array or one by itself, are returned as they are."""
    found = _parsed(source.text(), source.name)
    if isinstance(found, dict) and holds_results(found):
        return [found]
    if isinstance(found, list) and are_records(found):
        return found
    return reader(_object(found, source.name), source.name)


def from_json_lines(
    source: Source, kind: str, reader: Reader, columns: Names | None, duplicates: str
) -> dict[str, Mapping[str, float]]:
    """Read JSON objects, one per line: {query: {document: number}} or {"query_id": …, "doc_id": …, "score": …}."""
    rows = Rows(source.name, duplicates)
    for number, line in source.lines():
        name = f"{source.name}:{number}"
        found = _object(_parsed(line.decode(), name), name)
        for record in flatten(found, name):
            for query, docs in reader(_nested(record, kind, name, columns), name).items():
                for doc, value in docs.items():
                    rows.add(number, query, doc, value)
    return dict(rows.values)


def _nested(record: Mapping[str, Any], kind: str, name: str, columns: Names | None) -> Mapping[Any, Any]:
    """Return a record {"query_id": …, "doc_id": …, "score": …} as {query: {document: value}}; what is nested stays."""
    picked = _picked(record, kind, name, columns)
    if picked is None:
        return record
    if picked.value is None:
        rest = [each for each in record if each not in picked[:2]]
        picked = picked._replace(value=column(rest, VALUE[kind], kind, name))
    value = record[picked.value or ""]
    number = isinstance(value, int | float)
    return {record[picked.query]: {record[picked.document]: picked.sign * value if number else value}}


def _picked(record: Mapping[str, Any], kind: str, name: str, columns: Names | None) -> Picked | None:
    """Return the columns of a record; None where it is {query: {document: number}}."""
    nested = any(isinstance(value, dict | list) for value in record.values())
    try:
        picked = pick_columns(list(record), kind, name, columns)
    except InputError:
        if nested:
            return None
        raise
    return None if isinstance(record[picked.query], dict | list) else picked


def _object(found: Any, name: str) -> dict[str, Any]:
    if not isinstance(found, dict):
        text = json.dumps(found)
        raise InputError(f"{name}: expected an object {{query: {{document: number}}}}, found {clip(text)}")
    return found


def _parsed(text: str, name: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=lambda pairs: _distinct(pairs, name))
    except json.JSONDecodeError as error:
        raise InputError(f"{name}: is not JSON: {error.msg} in line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise InputError(f"{name}: is nested too deeply") from None


def _distinct(pairs: list[tuple[str, Any]], name: str) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise DataError(f"{name}: {clip(twice)} is there twice in one object; keep one")
    return out
