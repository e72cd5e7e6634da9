"""JSON and JSON Lines: {query: {document: number}}, {query: [documents]}, or one record a line."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from gradely.data.read.files import Source, clip
from gradely.data.read.rows import Rows
from gradely.data.read.tables import pick
from gradely.errors import DataError, InputError

Reader = Callable[[Mapping[Any, Any], str], dict[str, Mapping[str, float]]]


def from_json(source: Source, reader: Reader) -> dict[str, Mapping[str, float]]:
    """Read one JSON object."""
    return reader(_object(source.text(), source.name), source.name)


def from_json_lines(source: Source, kind: str, reader: Reader) -> dict[str, Mapping[str, float]]:
    """Read JSON objects, one a line: {query: {document: number}} or {"query_id": …, "doc_id": …, "score": …}."""
    rows = Rows(source.name)
    for number, line in source.lines():
        name = f"{source.name}:{number}"
        for query, docs in reader(_nested(_object(line.decode(), name), kind, name), name).items():
            for doc, value in docs.items():
                rows.add(number, query, doc, value)
    return dict(rows.values)


def _nested(record: dict[str, Any], kind: str, name: str) -> dict[Any, Any]:
    """Return a record {"query_id": …, "doc_id": …, "score": …} as {query: {document: value}}; what is nested stays."""
    if any(isinstance(value, dict | list) for value in record.values()):
        return record
    query, doc, value = pick(list(record), kind, name)
    return {record[query]: {record[doc]: record[value]}}


def _object(text: str, name: str) -> dict[str, Any]:
    try:
        found = json.loads(text, object_pairs_hook=lambda pairs: _distinct(pairs, name))
    except json.JSONDecodeError as error:
        raise InputError(f"{name}: is not JSON: {error.msg} in line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise InputError(f"{name}: is nested too deeply") from None
    if not isinstance(found, dict):
        raise InputError(f"{name}: expected an object {{query: {{document: number}}}}, found {clip(text)}")
    return found


def _distinct(pairs: list[tuple[str, Any]], name: str) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise DataError(f"{name}: {clip(twice)} is there twice in one object; keep one")
    return out
