"""Judgments by subtopic, from TREC diversity qrels, tables, records and dicts.

TREC text is read with array operations: the 44,000 lines of a TREC collection take 0.02 s this way, and 0.1 s row by
row. Other input, and text with errors, is read row by row: these collections are small, and their rows have one more id
than others.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from gradely.data.column_roles import Names, notes_on, pick_columns, pick_subtopic
from gradely.data.columns import earliest_alike, number_ids, to_number
from gradely.data.hashing import is_distinct, new_tokens
from gradely.data.ids import Ids, Ints, as_text
from gradely.data.qrels import Qrels
from gradely.data.read.dicts import MAPPING
from gradely.data.read.formats import ReadOptions, format_of
from gradely.data.read.lines import QRELS, Collector, parse_line, parse_value
from gradely.data.source import Source
from gradely.data.subtopics import JudgedSubtopics, natural_key
from gradely.data.table import DUPLICATES_HINT, IrregularText, describe_merged
from gradely.errors import DataError, InputError, clip
from gradely.parallel import cores
from gradely.tables import count_of

Labels = dict[str, dict[str, dict[str, float]]]
"""{query: {document: {subtopic: label}}}"""
WHY = "; measures of diversity, like alpha_nDCG and StRecall, need judgments by subtopic"
"""why judgments without subtopics are an error, for a reader who only named a measure"""


class Row(NamedTuple):
    """A judgment of a document for a subtopic, and its position for error messages."""

    where: str
    query: str
    document: str
    subtopic: str
    label: float


def read_by_subtopic(qrels: Any, form: str | None, options: ReadOptions) -> Qrels:
    """Read judgments by subtopic; the label of a document is its highest label for any subtopic."""
    source = qrels if isinstance(qrels, Source) else None
    name = "qrels" if source is None else source.name
    notes: list[str] = []
    if source is None:
        rows = _rows_of_object(qrels, name, options, notes)
    else:
        form = form or format_of(source)
        if form == "trec":
            with suppress(IrregularText):
                return _read_lines(source)
        rows = _rows_of_file(source, form, options, notes)
    labels, merged = _collect(rows, options.duplicates)
    if not labels:
        raise DataError(f"{name}: no judgments")
    highest = {
        query: {document: max(of_document.values()) for document, of_document in documents.items()}
        for query, documents in labels.items()
    }
    judgments = Qrels.of(highest, name)
    judgments.subtopics = JudgedSubtopics.of(labels)
    judgments.notes = [*notes, *(describe_merged(name, merged, options.duplicates) if merged else [])]
    return judgments


def _read_lines(source: Source) -> Qrels:
    """Return TREC judgments from columns; raise IrregularText if rows must be read one by one."""
    from gradely.data.read.trec_pieces import load_by_subtopic

    query, subtopic, document, label = load_by_subtopic(source, cores())
    first = new_tokens(*query)
    number, opens = number_ids(query.take(first))
    owner = np.repeat(number, np.diff(first, append=len(label)))
    if (np.diff(number) < 0).any():  # the lines of a query are not contiguous
        order = np.argsort(owner, kind="stable")
        owner, subtopic, document, label = owner[order], subtopic.take(order), document.take(order), label[order]
    alike = earliest_alike(owner, document)
    alike = np.arange(len(label)) if alike is None else alike
    judged = np.flatnonzero(alike == np.arange(len(label)))
    row = np.searchsorted(judged, alike)
    subtopics, which = _place_subtopics(subtopic)
    if len(subtopics) == 1 or not is_distinct((row * len(subtopics) + which).astype(np.uint64)):
        raise IrregularText
    start = np.searchsorted(owner[judged], np.arange(len(opens) + 1))
    judgments = JudgedSubtopics.of_columns(subtopics, owner, row, which, label)
    queries, docs = query.take(first[opens]).tokens(), document.take(judged).tokens()
    qrels = Qrels(queries, start, docs, judgments.labels.max(axis=1), source.name)
    qrels.subtopics = judgments
    return qrels


def _place_subtopics(ids: Ids) -> tuple[list[str], Ints]:
    """Return the sorted names of all subtopics, and the position of each row's subtopic among them."""
    number, first = number_ids(ids)
    names = ids.take(first).names()
    order = sorted(range(len(names)), key=lambda i: natural_key(names[i]))
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return [names[i] for i in order], place[number]


def _rows_of_file(source: Source, form: str, options: ReadOptions, notes: list[str]) -> Iterator[Row]:
    """Yield the judgments of a file; assumptions are appended to `notes`."""
    if form == "trec":
        return _rows_of_trec(source)
    if form not in ("csv", "tsv", "json", "jsonl", "parquet"):
        raise InputError(f"{source.name}: a file of the format {form} has no subtopics")
    if form == "json":
        from gradely.data.read.json_files import parse_json

        content = parse_json(source.text(), source.name)
        return _rows_of_object(content, source.name, options, notes)
    return _rows_of_records(_records_of_file(source, form), source.name, options.columns, notes)


def _records_of_file(source: Source, form: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the rows of a table, each with its name for error messages."""
    if form == "parquet":
        from gradely.data.read.frames import parquet_rows

        for number, row in enumerate(parquet_rows(source), 1):
            yield f"{source.name}: row {number}", row
    elif form == "jsonl":
        from gradely.data.read.json_files import line_records

        for number, record in line_records(source):
            yield f"{source.name}:{number}", record
    else:
        from gradely.data.read.csv_files import csv_records

        for number, record in csv_records(source, "," if form == "csv" else "\t"):
            yield f"{source.name}:{number}", record


def _rows_of_trec(source: Source) -> Iterator[Row]:
    """Yield the judgments of TREC qrels; raise InputError if the second field is meaningless, as in most qrels."""
    subtopics: set[str] = set()
    for number, line in source.lines():
        query, document, label = parse_line(source, QRELS, number, line)
        subtopic = line.split()[1].decode()
        subtopics.add(subtopic)
        yield Row(f"{source.name}:{number}", query, document, subtopic, label)
    if len(subtopics) == 1:
        problem = f"the second field, where diversity qrels have them, is {clip(subtopics.pop())} in every line"
        raise InputError(f"{source.name}: has no subtopics: {problem}{WHY}")


def _rows_of_object(value: Any, name: str, options: ReadOptions, notes: list[str]) -> Iterator[Row]:
    """Yield the judgments of a dict, a dataframe or records; assumptions are appended to `notes`."""
    from gradely.data.read.frames import is_frame, rows_of, with_index
    from gradely.data.read.records import are_records, flat_records

    if isinstance(value, MAPPING):
        return _rows_of_dict(value, name)
    if is_frame(value):
        records, unit = list[Mapping[str, Any]](rows_of(with_index(value))), "row"
    elif are_records(value):
        records, unit = list(flat_records(value, name)), "record"
    else:
        raise InputError(
            f"{name}: cannot be read by subtopic; give a file, a table with a column subtopic, or "
            "{query: {document: {subtopic: label}}}"
        )
    numbered = ((f"{name}: {unit} {number}", record) for number, record in enumerate(records, 1))
    return _rows_of_records(numbered, name, options.columns, notes)


def _rows_of_dict(labels: Mapping[Any, Any], name: str) -> Iterator[Row]:
    """Yield the judgments of {query: {document: {subtopic: label}}}; subtopics are text.

    Numbers as subtopics are an error, since {0: 0.2, 1: 0.8} looks like label probabilities.
    """
    for query, documents in labels.items():
        if not isinstance(documents, MAPPING):
            raise DataError(
                f"{name}: query {clip(str(query))}: expected {{document: {{subtopic: label}}}}, found "
                f"{clip(repr(documents))}{WHY}"
            )
        for document, of_document in documents.items():
            where = f"{name}: query {clip(str(query))}, document {clip(str(document))}"
            if not isinstance(of_document, MAPPING):
                raise DataError(f"{where}: expected {{subtopic: label}}, found {clip(repr(of_document))}{WHY}")
            for subtopic, label in of_document.items():
                if not isinstance(subtopic, str):
                    raise DataError(f"{where}: the subtopic {subtopic!r} is not text; write '{subtopic}'")
                number = to_number(label, f"{where}, subtopic {clip(subtopic)}: the label")
                yield Row(where, as_text(query, name), as_text(document, name), subtopic, number)


def _rows_of_records(
    records: Iterable[tuple[str, Mapping[str, Any]]], name: str, columns: Names | None, notes: list[str]
) -> Iterator[Row]:
    """Yield the judgments of records that have a query, a subtopic, a document and mostly a label."""
    picked: dict[tuple[str, ...], tuple[str, str, str, str | None]] = {}
    for where, record in records:
        keys = tuple(key for key in record if isinstance(key, str))
        if keys not in picked:
            picked[keys] = _pick_columns(keys, record, name, columns, notes)
        query, document, subtopic = (as_text(record[key], f"{where}: column {key!r}") for key in picked[keys][:3])
        value = picked[keys][3]
        label = 1.0 if value is None else to_number(record[value], f"{where}: the label")
        yield Row(where, query, document, subtopic, label)


def _pick_columns(
    keys: Iterable[str], record: Mapping[str, Any], name: str, columns: Names | None, notes: list[str]
) -> tuple[str, str, str, str | None]:
    """Return the columns of query, document, subtopic and label; None as label if all rows are relevant."""
    subtopic = pick_subtopic(list(keys), name, columns)
    rest = [key for key in keys if key != subtopic]
    roles = pick_columns(rest, "label", name, columns, lambda: {key: [record[key]] for key in rest})
    notes += [note for note in notes_on(rest, roles, "label", name, columns) if note not in notes]
    return roles.query, roles.document, subtopic, roles.value


def _collect(rows: Iterable[Row], duplicates: str) -> tuple[Labels, int]:
    """Return all judgments and the number of merged duplicates.

    Duplicates for the same document and subtopic are merged or raise DataError.
    """
    labels: Labels = {}
    merged = 0
    for row in rows:
        of_document = labels.setdefault(row.query, {}).setdefault(row.document, {})
        if row.subtopic not in of_document:
            of_document[row.subtopic] = row.label
            continue
        if duplicates == "error":
            raise DataError(
                f"{row.where}: duplicate document {clip(row.document)} of query {clip(row.query)} and subtopic "
                f"{clip(row.subtopic)}; {DUPLICATES_HINT}"
            )
        merged += 1
        known = of_document[row.subtopic]
        of_document[row.subtopic] = {"max": max(known, row.label), "sum": known + row.label, "first": known}[duplicates]
    return labels, merged


def read_weight_lines(source: Source) -> dict[str, dict[str, float]]:
    """Return {query: {subtopic: weight}} from text with these three fields per line."""
    rows = Collector(source.name)
    for number, line in source.lines():
        words = line.decode().split()
        if len(words) != 3:
            found = count_of(len(words), "field")
            raise InputError(f"{source.name}:{number}: {found} instead of 3 (query subtopic weight): {clip(line)}")
        rows.add(number, words[0], words[1], parse_value(source, "weight", number, words[2]))
    return rows.values
