"""LETOR: lines of a label, a query and numbered features, as in SVMlight and libraries for learning to rank."""

import os
import re
from collections.abc import Iterator, Mapping

from gradely.data.read.lines import Collector, parse_value
from gradely.data.source import Source
from gradely.errors import InputError, clip

DOCID, WORD = re.compile(rb"docid\s*=\s*(\S+)"), re.compile(rb"\s*(\S+)")
EXPECTED = "label qid:Q 1:value 2:value …"
SIZES = (".query", ".group")
"""extensions of the file of group sizes, which are appended to the name of the file or replace its extension"""


def read_labels(source: Source) -> dict[str, Mapping[str, float]]:
    """Return {query: {document: label}}; a document is named by its docid, or else by its line number.

    In a line without features, as of Quepid and the Elasticsearch plugin, it is the first word of the comment.
    """
    rows = Collector(source.name)
    for number, query, doc, fields in read_lines(source):
        rows.add(number, query, doc, parse_value(source, "label", number, fields[0].decode()))
    return rows.with_notes()


def read_feature(source: Source, feature: int, *, ascending: bool) -> dict[str, dict[str, float]]:
    """Return {query: {document: score}} with a feature as the score.

    A feature that a line does not list is 0; NULL means not retrieved. With `ascending`, low values are best, as for
    features that are ranks.
    """
    rows, prefix, present = Collector(source.name), b"%d:" % feature, False
    for number, query, doc, fields in read_lines(source):
        value = next((field[len(prefix) :] for field in fields[1:] if field.startswith(prefix)), None)
        present = present or value is not None
        rows.values.setdefault(query, {})
        if value is None or value.lower() not in (b"null", b"nan"):
            score = parse_value(source, f"feature {feature}", number, (value or b"0").decode())
            rows.add(number, query, doc, -score if ascending else score)
    if not present:
        raise InputError(f"{source.name}: no line has a feature {feature}")
    return rows.values


def read_lines(source: Source) -> Iterator[tuple[int, str, str, list[bytes]]]:
    """Yield number, query, document and the fields of each line, the label first."""
    beside: Iterator[str] | None = None
    sizes = sizes_file(source.path)
    lines = ((number, line) for number, line in source.lines() if not line.lstrip().startswith(b"#"))
    for count, (number, line) in enumerate(lines):
        content, _, comment = line.partition(b"#")
        fields = content.split()
        own = len(fields) > 1 and fields[1].startswith(b"qid:")
        if count == 0 and not own and sizes is not None:
            beside = _queries(sizes)
        if beside is None and (not own or len(fields[1]) == 4):
            raise InputError(f"{source.name}:{number}: expected {EXPECTED}, found {clip(line)}{_hint(source, line)}")
        query = fields[1][4:].decode() if beside is None else next(beside, None)
        if query is None:
            raise InputError(f"{source.name}:{number}: {sizes} has sizes for {count:,} lines only")
        named = DOCID.search(comment) or (WORD.match(comment) if own and len(fields) == 2 else None)
        yield number, query, named[1].decode() if named else str(number), fields
    if beside is not None and next(beside, None) is not None:
        raise InputError(f"{sizes}: the sizes add up to more lines than {source.name} has")


def _hint(source: Source, line: bytes) -> str:
    if b":" not in line or b"qid:" in line:
        return ""
    beside = os.path.basename(source.path) + SIZES[0]
    return f"; write the query of each line into it, or the sizes of the groups into {beside}"


def sizes_file(path: str) -> str | None:
    """Return the file of group sizes next to a file, or None."""
    stem = os.path.splitext(path)[0]
    names = [base + ending for base in (path, stem) for ending in SIZES]
    return next((name for name in names if os.path.isfile(name)), None)


def _queries(path: str) -> Iterator[str]:
    """Yield the query of each line, numbered from 1, from a file with one group size per line."""
    query = 0
    for number, line in Source(path).lines():
        for word in line.split():
            if not word.isdigit() or len(word) > 15:
                raise InputError(f"{path}:{number}: expected the size of a group, a whole number; found {clip(line)}")
            query += 1
            for _ in range(int(word)):
                yield str(query)
