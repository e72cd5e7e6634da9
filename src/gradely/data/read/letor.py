"""LETOR and svmlight files: `label qid:Q 1:v 2:v … # docid = D`, a feature as the score."""

import re

from gradely.data.read.files import Source, clip
from gradely.data.read.rows import Rows
from gradely.data.trec.plain import to_number
from gradely.errors import InputError

DOCID = re.compile(rb"docid\s*=\s*(\S+)")
EXPECTED = "label qid:Q 1:value 2:value …"
ABSENT = (b"null", b"nan")


def looks_like(start: bytes) -> bool:
    """True where the first line has a qid field, or numbered features without one."""
    return re.match(rb"\s*\S+\s+(qid:\S|\d+:\S+\s+\d+:)", start) is not None


def read_labels(source: Source) -> dict[str, dict[str, float]]:
    """Return {query: {document: label}}; a document is its docid, or else its line number."""
    rows = Rows(source.name)
    for number, line in source.lines():
        query, doc, fields = _parts(source, number, line)
        rows.add(number, query, doc, to_number(source, "label", number, fields[0].decode()))
    return rows.values


def read_feature(source: Source, feature: int, *, ascending: bool = False) -> dict[str, dict[str, float]]:
    """Return {query: {document: score}} with a feature as the score.

    A feature that a line does not list is 0, one that is NULL means not retrieved. With `ascending`, low values are
    best, as where features are ranks.
    """
    rows, prefix, found = Rows(source.name), b"%d:" % feature, False
    for number, line in source.lines():
        query, doc, fields = _parts(source, number, line)
        value = next((field[len(prefix) :] for field in fields[2:] if field.startswith(prefix)), None)
        found = found or value is not None
        rows.values.setdefault(query, {})
        if value is None or value.lower() not in ABSENT:
            score = to_number(source, f"feature {feature}", number, (value or b"0").decode())
            rows.add(number, query, doc, -score if ascending else score)
    if not found:
        raise InputError(f"{source.name}: no line has a feature {feature}")
    return rows.values


def _parts(source: Source, number: int, line: bytes) -> tuple[str, str, list[bytes]]:
    """Return query, document and the fields of a line."""
    content, _, comment = line.partition(b"#")
    fields = content.split()
    if len(fields) < 2 or not fields[1].startswith(b"qid:") or len(fields[1]) == 4:
        hint = "; write the query of each line into it" if b":" in line and b"qid:" not in line else ""
        raise InputError(f"{source.name}:{number}: expected {EXPECTED}, found {clip(line)}{hint}")
    named = DOCID.search(comment)
    return fields[1][4:].decode(), named[1].decode() if named else str(number), fields
