"""Texts of queries and documents, {id: text} or a file of them, which are shown beside their ids."""

import csv
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from gradely.data.source import Source
from gradely.errors import InputError, clip
from gradely.tables import count_of

Texts: TypeAlias = Mapping[Any, str] | str | os.PathLike[str]
"""{id: text}, or a file: id, tab and text, JSON Lines, or CSV"""
IDS = ("_id", "id", "qid", "query_id", "question_id", "number", "docid", "doc_id", "docno", "pid", "cord_uid")
TITLES = ("title",)
BODIES = ("text", "query", "question", "contents", "body", "abstract", "description", "passage")
LONGEST_TEXT = 300
"""number of characters of a text that are shown"""
IN_A_ROW = 60
"""number of characters of a text in a row of a table in the terminal"""


def select_texts(texts: Texts | None, ids: Iterable[str], longest: int = LONGEST_TEXT) -> dict[str, str]:
    """Return the texts of these ids, cut to a length; ids without a text are left out.

    >>> select_texts({"q1": "ties in  rankings", "q2": "other"}, ["q1"])
    {'q1': 'ties in rankings'}
    """
    if texts is None:
        return {}
    selection = set(ids)
    return {key: shorten(text, longest) for key, text in _pairs(texts) if key in selection}


def _pairs(texts: Texts) -> Iterable[tuple[str, str]]:
    """Return ids and texts; raise InputError for other objects than a mapping or a path."""
    if isinstance(texts, Mapping):
        return ((str(key), str(text)) for key, text in texts.items())
    if isinstance(texts, str | os.PathLike):
        return _read(Source(texts))
    to_dict = "its to_dict()" if hasattr(texts, "index") and hasattr(texts, "items") else "dict(zip(ids, texts))"
    raise InputError(f"texts must be {{id: text}} or a file; found a {type(texts).__name__}: give {to_dict}")


def describe_missing(
    selected: Mapping[str, str], ids: Sequence[str], noun: str, texts: Texts | None = None
) -> list[str]:
    """Return a sentence about ids without one of the selected texts, if there are any; `texts` are all texts.

    >>> describe_missing({"q1": "ties"}, ["q1", "q2"], "query"), describe_missing({"q1": "ties"}, ["q1"], "query")
    (['1 of 2 queries has a text'], [])
    >>> describe_missing({}, ["q1", "q2"], "query", {"1": "ties"})
    ["0 of 2 queries have a text: the first one is 'q1', and the first text is of '1'"]
    """
    if len(selected) == len(ids):
        return []
    one = next(iter(_pairs(texts)), None) if texts is not None and not selected else None
    example = f": the first one is {clip(ids[0])}, and the first text is of {clip(one[0])}" if one else ""
    has = "has" if 1 in (len(selected), len(ids)) else "have"
    return [f"{len(selected):,} of {count_of(len(ids), noun)} {has} a text{example}"]


def length_for(count: int) -> int:
    """Return the length to which texts are cut, given their number: together, they have a million characters."""
    return min(LONGEST_TEXT, 1_000_000 // max(1, count))


def shorten(text: str, longest: int) -> str:
    """Return a text on one line, cut if it is too long."""
    line = " ".join(text[: 4 * longest].split())
    return line if len(line) <= longest else line[:longest].rstrip() + "…"


def _read(source: Source) -> Iterable[tuple[str, str]]:
    """Yield ids and texts, line by line."""
    header = source.head.partition(b"\n")[0].decode(errors="replace").strip("\ufeff\r").split(",")
    if not {*IDS}.isdisjoint(header):
        yield from _rows(source)
        return
    for number, line in source.lines():
        name, text = f"{source.name}:{number}", line.decode().rstrip("\r")
        yield _record(text, name) if text.lstrip().startswith("{") else _columns(text, name)


def _rows(source: Source) -> Iterable[tuple[str, str]]:
    """Yield ids and texts of CSV with a header; a text may contain line breaks inside quotes."""
    rows = csv.DictReader(f"{line.decode()}\n" for _, line in source.lines())
    try:
        for row in rows:
            yield _pick(row, f"{source.name}:{rows.line_num}")
    except csv.Error as error:
        raise InputError(f"{source.name}:{rows.line_num}: is not CSV: {error}") from None


def _columns(line: str, name: str) -> tuple[str, str]:
    key, tab, text = line.partition("\t")
    if not tab:
        header = "CSV with a header like id,text"
        raise InputError(f"{name}: expected an id, a tab and a text, a JSON object, or {header}; found {clip(line)}")
    return key.strip(), text


def _record(line: str, name: str) -> tuple[str, str]:
    """Return id and text of a JSON object."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        raise InputError(f"{name}: this is not valid JSON: {clip(line)}") from None
    return _pick(record, name)


def _pick(record: Mapping[Any, Any], name: str) -> tuple[str, str]:
    """Return the id and the text of a record, by the usual names."""
    key = next((field for field in IDS if isinstance(record.get(field), str | int)), None)
    parts = [record[field] for field in TITLES + BODIES if isinstance(record.get(field), str) and record[field]]
    if key is None or not parts:
        fields = f"an id ({', '.join(IDS[:4])}, …) and a text ({', '.join(TITLES + BODIES[:3])}, …)"
        raise InputError(f"{name}: expected {fields}; found the fields {clip(', '.join(map(str, record)))}")
    return str(record[key]), ". ".join(parts[:2])
