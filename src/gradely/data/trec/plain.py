"""TREC text, plainly: qrels `query iteration document label` and runs `query Q0 document rank score tag`.

This is the reader that explains errors. Fields are separated by any blanks or tabs.
"""

from array import array
from math import isfinite, nan
from typing import NamedTuple

from gradely.data.read.files import Report, Source, clip
from gradely.data.read.rows import Rows
from gradely.errors import DataError, GradelyError, InputError


class Layout(NamedTuple):
    """The fields of a line."""

    what: str
    fields: str
    value: int
    extra: bool
    """True where fields after the last one are left aside."""

    @property
    def width(self) -> int:
        """The number of fields."""
        return len(self.fields.split())


LONGEST_NAME = (1 << 16) - 1
"""bytes of the longest name of a query or document"""

QRELS = Layout("label", "query iteration document label", value=3, extra=False)
RUN = Layout("score", "query Q0 document rank score tag", value=4, extra=True)


def read(source: Source, layout: Layout, duplicates: str = "error") -> dict[str, dict[str, float]]:
    """Return {query: {document: value}} in the order of the file."""
    rows = Rows(source.name, duplicates)
    for number, line in source.lines():
        rows.add(number, *fields(source, layout, number, line))
    return rows.values


class Scanned(NamedTuple):
    """What can be read of a file, and what cannot."""

    values: dict[str, dict[str, float]]
    ranks: "dict[str, array[float]]"
    """of a run: the rank column, in the order of the values; NaN where it is not a number"""
    wrong: list[str]
    """for each line that cannot be used, what is wrong with it"""


def scan(source: Source, layout: Layout, report: Report) -> Scanned:
    """Return what can be read and, for each line that cannot, what is wrong with it."""
    rows, wrong = Rows(source.name), list[str]()
    ranks: dict[str, array[float]] = {}
    for number, line in source.lines(report):
        try:
            query, doc, value = fields(source, layout, number, line)
            rows.add(number, query, doc, value)
        except GradelyError as error:
            wrong.append(str(error))
            continue
        if layout is RUN:
            ranks.setdefault(query, array("d")).append(_rank(line))
    return Scanned(rows.values, ranks, wrong)


def _rank(line: bytes) -> float:
    try:
        return float(line.split(None, 4)[3])
    except ValueError:
        return nan


def fields(source: Source, layout: Layout, number: int, line: bytes) -> tuple[str, str, float]:
    """Return query, document and value of a line."""
    words = line.split()
    if len(words) < layout.width or (len(words) > layout.width and not layout.extra):
        raise InputError(
            f"{source.name}:{number}: {len(words)} fields instead of {layout.width} ({layout.fields}): {clip(line)}"
        )
    if b"\r" in line.rstrip(b"\r"):
        raise InputError(f"{source.name}:{number}: a carriage return inside a line; end lines with LF or CR LF")
    if max(len(words[0]), len(words[2])) > LONGEST_NAME:
        raise InputError(f"{source.name}:{number}: a name is longer than {LONGEST_NAME:,} bytes: {clip(line)}")
    return words[0].decode(), words[2].decode(), to_number(source, layout.what, number, words[layout.value].decode())


def to_number(source: Source, what: str, number: int, text: str) -> float:
    """Return a value; refuse what is not a finite number."""
    try:
        value = float(text) if "_" not in text else None
    except ValueError:
        value = None
    if value is None:
        raise InputError(f"{source.name}:{number}: the {what} {clip(text)} is not a number")
    if not isfinite(value):
        raise DataError(f"{source.name}:{number}: the {what} is {text}; it must be a finite number")
    return value
