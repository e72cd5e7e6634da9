"""One query of a TREC run, found in its file; the other lines are passed over and never held."""

import re
from collections.abc import Iterator

from gradely.data.read.files import CONTROL, Source
from gradely.data.read.rows import Rows
from gradely.data.trec import plain as trec

BLOCK = 1 << 22
"""bytes that are looked at in one go"""
BLANK = rb"[ \t\r\f\v]"


def read_query(source: Source, query: str) -> dict[str, float]:
    """Return {document: score} of one query, empty where the run does not answer it."""
    rows = Rows(source.name)
    for number, line in _lines_of(source, query.encode()):
        if CONTROL.search(line) or not _is_text(line):
            return trec.read(source, trec.RUN).get(query, {})  # the plain reader explains
        rows.add(number, *trec.fields(source, trec.RUN, number, line))
    return rows.values.get(query, {})


def _is_text(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _lines_of(source: Source, query: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a query with their numbers."""
    pattern = re.compile(rb"\n" + BLANK + rb"*" + re.escape(query) + BLANK + rb"[^\n]*")
    passed = 0
    for block in _blocks(source):
        looked = 0
        for match in pattern.finditer(block):
            passed += block.count(b"\n", looked, match.start() + 1)
            looked = match.start() + 1
            yield passed, match[0][1:]
        passed += block.count(b"\n", looked)


def _blocks(source: Source) -> Iterator[bytes]:
    """Yield whole lines, each with the newline before it; the last one's own newline begins the next block."""
    buffer, rest = bytearray(BLOCK), b"\n"
    with source.stream() as stream:
        while got := stream.readinto(buffer):
            block = rest + buffer[:got]
            cut = block.rfind(b"\n")
            rest = block[cut:]
            yield block[:cut]
    yield rest
