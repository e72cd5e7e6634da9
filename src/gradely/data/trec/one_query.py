"""One query of a TREC run, found in its file; the other lines are passed over and never held."""

import re
from collections.abc import Iterator

from gradely.data.read.sources import Source
from gradely.data.trec import plain as trec
from gradely.data.trec.plain import Rows
from gradely.data.trec.tokens import encode

BLANK = rb"[ \t\r\f\v]"


def read_query(source: Source, query: str) -> dict[str, float]:
    """Return {document: score} of one query, empty where the run does not answer it."""
    rows = Rows(source.name)
    for number, line in _lines_of(source, encode(query)):
        source.check_text(line, number)
        rows.add(number, *trec.fields(source, trec.RUN, number, line))
    return rows.values.get(query, {})


def _lines_of(source: Source, query: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a query with their numbers."""
    pattern = re.compile(rb"^" + BLANK + rb"*" + re.escape(query) + BLANK + rb"[^\n]*", re.MULTILINE)
    for first, block in source.blocks():
        looked, passed = 0, first
        for match in pattern.finditer(block):
            passed += block.count(b"\n", looked, match.start())
            looked = match.start()
            yield passed, match[0]
