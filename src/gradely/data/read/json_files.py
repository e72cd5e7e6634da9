"""JSON and JSON Lines: {query: {document: number}}, {query: [documents]}, or records, in an array or one per line."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import chain, islice
from typing import Any

from gradely.data.column_roles import SAMPLED, Names, Roles, notes_on, pick_columns
from gradely.data.columns import to_number
from gradely.data.read.dicts import as_labels, as_scores
from gradely.data.read.exports import choose_split, find_export, is_ragas, read_export, refuse_response
from gradely.data.read.lines import Collector, Values
from gradely.data.read.records import (
    Record,
    RecordTable,
    are_records,
    as_nested,
    flatten,
    holds_partial,
    holds_results,
    note_partial,
    sample_records,
)
from gradely.data.read.responses import results_of
from gradely.data.source import HEAD, LONGEST_LINE, Source
from gradely.data.table import Scores, Table
from gradely.errors import DataError, InputError, clip


def has_json_lines(source: Source) -> bool:
    """True if a line ends with a brace and the next begins with one, as in no single object; also for one record."""
    start = source.head
    while b"\n" not in start.strip() and HEAD <= len(start) < LONGEST_LINE:
        size, start = len(start), source.start(16 * len(start))
        if len(start) == size:
            break
    first, _, rest = start.strip().partition(b"\n")
    if not rest:
        return len(first) < HEAD and _is_record(first)
    return first.rstrip().endswith(b"}") and rest.lstrip().startswith(b"{")


def _is_record(line: bytes) -> bool:
    try:
        record = _object(parse_json(line.decode(), ""), "")
        return not _is_nested(record) and bool(pick_columns(list(record), "label", "", {"label": None}))
    except (InputError, DataError, UnicodeDecodeError):
        return False


def read_json(source: Source, kind: str, columns: Names | None, duplicates: str, split: str | None) -> Scores:
    """Read one JSON object {query: …}, records in an array, a single record, or the export of another tool."""
    name = source.name
    content = choose_split(parse_json(source.text(), name), kind, name, split)
    if is_ragas(content) and find_export(content) is None:  # a single row
        content = [content]
    exported = read_export(content, kind, name, duplicates)
    if exported is not None:
        return exported
    if isinstance(content, dict) and holds_results(content):
        content = [content]
    elif isinstance(content, dict):
        content = as_nested(content) or content
    if isinstance(content, list) and are_records(content):
        return RecordTable(content, kind, name, columns, duplicates)
    return _reader(kind)(_object(content, name), name)


def _reader(kind: str) -> Callable[[Mapping[Any, Any], str], Values]:
    return as_labels if kind == "label" else as_scores


def read_json_lines(
    source: Source, kind: str, columns: Names | None, duplicates: str, split: str | None = None
) -> Table | Scores:
    """Read JSON objects, one per line: {query: {document: number}} or {"query_id": …, "doc_id": …, "score": …}.

    Judgments without a label are relevant documents with label 1, if no record has a label.
    """
    exported = _read_export(source, kind, columns, duplicates, split)
    if exported is not None:
        return exported
    rows, notes, reader = Collector(source.name, duplicates), list[str](), _reader(kind)
    first: dict[bool, int] = {}
    """the first line with a label, and the first one without"""
    picked: dict[tuple[str, ...], Roles] = {}
    incomplete: list[int] = []
    records = line_records(source, ranked=kind == "score", incomplete=incomplete)
    start = list(islice(records, SAMPLED))
    for number, record in chain(start, records):
        name, keys = f"{source.name}:{number}", tuple(record)
        nested = _is_nested(record) and not any((columns or {}).values())
        if not nested and keys not in picked:
            sample = partial(sample_records, [*(one for _, one in start if tuple(one) == keys), record])
            picked[keys] = pick_columns(keys, kind, name, columns, sample)
        roles = None if nested else picked[keys]
        if roles is not None and roles.sign != picked[next(iter(picked))].sign:
            raise InputError(f"{name}: some lines have a rank, and others a score; give every line the same")
        labelled = roles is None or roles.value is not None
        if len(first | {labelled: number}) > 1:
            article, other = ("a", first[False]) if labelled else ("no", first[True])
            raise InputError(f"{name}: has {article} {kind}, unlike line {other}; give every line one, or none")
        first.setdefault(labelled, number)
        if roles is not None and not notes:
            notes = notes_on(list(record), roles, kind, source.name, columns)
        read = reader(record if roles is None else _nest(record, roles, name), name)
        notes = notes or [note.replace(name, source.name, 1) for note in read.notes]
        for query, docs in read.items():
            for doc, value in docs.items():
                rows.add(number, query, doc, value)
    return rows.with_notes([*notes, *note_partial(len(incomplete), source.name)])


def _read_export(
    source: Source, kind: str, columns: Names | None, duplicates: str, split: str | None
) -> Table | Scores | None:
    """Return the export of another tool, in a single line or as rows of ragas, or None for other content."""
    rows = (parse_json(line.decode(), f"{source.name}:{number}") for number, line in source.lines())
    first = next(rows)
    if is_ragas(first):
        return read_export([first, *rows], kind, source.name, duplicates)
    if results_of(first) is not None or next(rows, None) is not None:
        return None
    known = find_export(first) is not None or choose_split(first, kind, source.name, split) is not first
    return read_json(source, kind, columns, duplicates, split) if known else None


def line_records(
    source: Source, *, ranked: bool = False, incomplete: list[int] | None = None
) -> Iterator[tuple[int, Record]]:
    """Yield each record of a file, as `flatten` returns it, with the number of its line.

    `incomplete` receives the numbers of the lines with incomplete responses of a search engine.
    """
    for number, line in source.lines():
        name = f"{source.name}:{number}"
        content = _object(parse_json(line.decode(), name), name)
        refuse_response(content, name)
        for part in as_nested(content) or [content]:
            if incomplete is not None and holds_partial(part):
                incomplete.append(number)
            for record in flatten(part, name, ranked=ranked):
                yield number, record


def read_records(source: Source, name: str) -> list[Record]:
    """Return the records of a JSON or JSON Lines file; none if it holds {query: …}."""
    if name == "jsonl":
        return [record for _, record in line_records(source)]
    content = parse_json(source.text(), source.name)
    return content if isinstance(content, list) else []


def _is_nested(record: Mapping[str, Any]) -> bool:
    """True for {query: {document: number}} or {query: [documents]}; a record has more keys than its query."""
    return all(isinstance(value, dict | list) for value in record.values())


def _nest(record: Mapping[str, Any], roles: Roles, name: str) -> Mapping[Any, Any]:
    """Return a record {"query_id": …, "doc_id": …, "score": …} as {query: {document: value}}."""
    number = 1.0 if roles.value is None else record[roles.value]
    if roles.chances:
        return {record[roles.query]: {record[roles.document]: {i: record[p] for i, p in enumerate(roles.chances)}}}
    if roles.sign < 0:
        number = -to_number(number, f"{name}: the {roles.value}")
    return {record[roles.query]: {record[roles.document]: number}}


def _object(content: Any, name: str) -> dict[str, Any]:
    if not isinstance(content, dict):
        raise InputError(f"{name}: expected an object {{query: {{document: number}}}}, found {clip(repr(content))}")
    return content


def parse_json(text: str, name: str) -> Any:
    """Return the content of JSON; raise InputError for invalid JSON and duplicate keys."""
    import json

    try:
        return json.loads(text, object_pairs_hook=lambda pairs: _distinct(pairs, name))
    except json.JSONDecodeError as error:
        raise InputError(
            f"{name}: is not valid JSON: {error.msg} in line {error.lineno}, column {error.colno}"
        ) from None
    except RecursionError:
        raise InputError(f"{name}: is nested too deeply") from None
    except DataError:
        raise
    except ValueError:
        raise InputError(f"{name}: a number has too many digits") from None


def _distinct(pairs: list[tuple[str, Any]], name: str) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) < len(pairs):
        distinct: set[str] = set()
        twice = next(key for key, _ in pairs if key in distinct or distinct.add(key))  # type: ignore[func-returns-value]
        raise DataError(f"{name}: duplicate key {clip(twice)} in one object; keep one")
    return out
