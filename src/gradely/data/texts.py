"""Texts of queries and documents, {id: text} or a file of them, which are shown beside their ids."""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from gradely.data.source import Source
from gradely.errors import InputError, clip
from gradely.tables import count_of

Texts: TypeAlias = Mapping[Any, str] | str | os.PathLike[str]
"""{id: text}, or a file: id, tab and text, or JSON Lines"""
IDS = ("_id", "id", "qid", "query_id", "number", "docid", "doc_id", "docno", "pid", "cord_uid")
TITLES = ("title",)
BODIES = ("text", "query", "contents", "body", "abstract", "description", "passage")
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
    if isinstance(texts, Mapping):
        pairs: Iterable[tuple[str, str]] = ((str(key), str(text)) for key, text in texts.items())
    else:
        pairs = _read(Source(texts))
    return {key: shorten(text, longest) for key, text in pairs if key in selection}


def describe_missing(texts: Mapping[str, str], ids: Sequence[str], noun: str) -> list[str]:
    """Return a sentence about ids without a text, if there are any.

    >>> describe_missing({"q1": "ties"}, ["q1", "q2"], "query"), describe_missing({"q1": "ties"}, ["q1"], "query")
    (['1 of 2 queries has a text'], [])
    """
    if len(texts) == len(ids):
        return []
    return [f"{len(texts):,} of {count_of(len(ids), noun)} {'has' if len(texts) == 1 else 'have'} a text"]


def length_for(count: int) -> int:
    """Return the length to which texts are cut, given their number: together, they have a million characters."""
    return min(LONGEST_TEXT, 1_000_000 // max(1, count))


def shorten(text: str, longest: int) -> str:
    """Return a text on one line, cut if it is too long."""
    line = " ".join(text[: 4 * longest].split())
    return line if len(line) <= longest else line[:longest].rstrip() + "…"


def _read(source: Source) -> Iterable[tuple[str, str]]:
    """Yield ids and texts, line by line."""
    for number, line in source.lines():
        name, text = f"{source.name}:{number}", line.decode().rstrip("\r")
        yield _record(text, name) if text.lstrip().startswith("{") else _columns(text, name)


def _columns(line: str, name: str) -> tuple[str, str]:
    key, tab, text = line.partition("\t")
    if not tab:
        raise InputError(f"{name}: expected an id, a tab and a text, or a JSON object; found {clip(line)}")
    return key.strip(), text


def _record(line: str, name: str) -> tuple[str, str]:
    """Return id and text of a JSON object."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        raise InputError(f"{name}: this is not valid JSON: {clip(line)}") from None
    key = next((field for field in IDS if isinstance(record.get(field), str | int)), None)
    parts = [record[field] for field in TITLES + BODIES if isinstance(record.get(field), str) and record[field]]
    if key is None or not parts:
        fields = f"an id ({', '.join(IDS[:4])}, …) and a text ({', '.join(TITLES + BODIES[:3])}, …)"
        raise InputError(f"{name}: expected {fields}; found the fields {clip(', '.join(record))}")
    return str(record[key]), ". ".join(parts[:2])
