"""Text that is read line by line: the plain way to read TREC files, with errors that name the line.

Other formats that are read one line or row at a time use the same Collector.
"""

import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite, nan
from typing import NamedTuple

from gradely.data.column_roles import ROLES, normalize
from gradely.data.ids import LONGEST_NAME, encode
from gradely.data.source import Report, Source
from gradely.data.table import DUPLICATES_HINT, DuplicateDocument, FirstRow, describe_merged
from gradely.errors import DataError, GradelyError, InputError, clip, hint_number
from gradely.tables import count_of


class Layout(NamedTuple):
    """The fields of a line."""

    kind: str
    fields: str
    width: int
    """number of fields"""
    value: int
    """position of the number"""
    extra: bool
    """true if fields after the last one are ignored"""


QRELS = Layout("label", "query iteration document label", width=4, value=3, extra=False)
RUN = Layout("score", "query Q0 document rank score tag", width=6, value=4, extra=True)


class Values(dict[str, Mapping[str, float]]):
    """{query: {document: number}}, with notes about how it was read."""

    whole = False
    """true if all queries were whole numbers"""
    notes: Sequence[str] = ()
    """assumptions made when it was read"""


class Collector:
    """Collects values line by line; duplicate documents are merged or raise an error."""

    def __init__(self, name: str, duplicates: str = "error", *, nameless: bool = False) -> None:
        """Start empty; `name` is the file in error messages, `duplicates` says how to merge duplicate documents.

        With `nameless`, the name of a document may be empty.
        """
        self.name, self.duplicates, self.nameless = name, duplicates, nameless
        self.values: dict[str, dict[str, float]] = {}
        self.merged = 0
        """number of documents that were duplicates of an earlier one"""
        self._lines: dict[str, array[int]] = {}

    def add(self, line: int, query: str, doc: str, value: float) -> None:
        """Add one value."""
        if query == "" or (doc == "" and not self.nameless):
            raise DataError(f"{self.name}:{line}: the id of the {'document' if query else 'query'} is missing")
        docs = self.values.setdefault(query, {})
        if doc in docs and self.duplicates == "first":
            self.merged += 1
            return
        if doc in docs and self.duplicates != "error" and not isinstance(value, dict):  # label probabilities
            self.merged += 1
            docs[doc] = max(docs[doc], value) if self.duplicates == "max" else docs[doc] + value
            return
        if doc in docs:
            earlier = self._lines[query][list(docs).index(doc)]
            raise DuplicateDocument(
                f"{self.name}:{line}: duplicate document {clip(doc)} of query {clip(query)}, first in line {earlier}; "
                f"{DUPLICATES_HINT}"
            )
        docs[doc] = value
        self._lines.setdefault(query, array("q")).append(line)

    def with_notes(self, notes: Iterable[str] = ()) -> Values:
        """Return the values with these notes, and a note about duplicates that were merged."""
        values = Values(self.values)
        values.notes = [*notes, *(describe_merged(self.name, self.merged, self.duplicates) if self.merged else ())]
        return values


def parse_value(source: Source, kind: str, number: int, text: str) -> float:
    """Return a value; raise InputError or DataError for anything but a finite number."""
    try:
        value = float(text) if "_" not in text else None
    except ValueError:
        value = None
    if value is None:
        raise InputError(f"{source.name}:{number}: the {kind} {clip(text)} is not a number{hint_number(text)}")
    if not isfinite(value):
        raise DataError(f"{source.name}:{number}: the {kind} is {text}; it must be a finite number")
    return value


def read(source: Source, layout: Layout, duplicates: str = "error") -> Values:
    """Return {query: {document: value}} in the order of the file."""
    rows = Collector(source.name, duplicates)
    for number, line in source.lines():
        query, doc, value = parse_line(source, layout, number, line)
        try:
            rows.add(number, query, doc, value)
        except DataError as error:
            raise DataError(f"{error}{_hint_fields(source, layout, line)}") from None
    return rows.with_notes()


def _hint_fields(source: Source, layout: Layout, line: bytes) -> str:
    """Return a hint about duplicate judgments that differ in their second fields: subtopics, or ratings with times."""
    query, iteration, doc, value = line.split()[:4]
    if layout is not QRELS:
        return ""
    if abs(float(value)) >= 1e8:  # probably the seconds of a time; labels are far smaller
        names = "user_id, item_id, rating and time, with tabs between them"
        return f"; {clip(value)} looks like a time: write the names of the columns above: {names}"
    same = (words for _, other in source.lines() if (words := other.split())[0] == query and words[2] == doc)
    other = next(same)[1]
    if other == iteration:
        return ""
    numbers = f"{clip(other, 20)} and {clip(iteration, 20)}"
    return f"; if {numbers} are subtopics, as in diversity qrels, pass subtopics=True (--subtopics)"


class Scan(NamedTuple):
    """The valid lines of a file, and the errors in others."""

    values: dict[str, dict[str, float]]
    ranks: "dict[str, array[float]]"
    """the rank column of a run, in the order of the values; NaN if it is not a number"""
    wrong: list[str]
    """the error of each invalid line"""


def scan(source: Source, layout: Layout, report: Report) -> Scan:
    """Return the values of valid lines, and the errors of the others."""
    rows, wrong = Collector(source.name), list[str]()
    ranks: dict[str, array[float]] = {}
    for number, line in source.lines(report):
        try:
            query, doc, value = parse_line(source, layout, number, line)
            rows.add(number, query, doc, value)
        except GradelyError as error:
            wrong.append(str(error))
            continue
        if layout is RUN:
            ranks.setdefault(query, array("d")).append(to_rank(line.split(None, 4)[3]))
    return Scan(rows.values, ranks, wrong)


def first_rows(head: bytes, most: int) -> Iterator[FirstRow]:
    """Yield the first lines of a run, as far as the head of its file contains them."""
    for line in head.split(b"\n", most)[:most]:
        words = line.split()
        if len(words) != RUN.width:  # cut off, or malformed
            return
        yield FirstRow(words[0].decode(errors="replace"), to_rank(words[3]), to_rank(words[4]))


def to_rank(text: bytes) -> float:
    """Return a rank, or NaN if it is not a number; evaluation does not use ranks."""
    try:
        return float(text)
    except ValueError:
        return nan


def parse_line(source: Source, layout: Layout, number: int, line: bytes) -> tuple[str, str, float]:
    """Return query, document and value of a line."""
    words = line.split()
    if len(words) < layout.width or (len(words) > layout.width and not layout.extra):
        found = count_of(len(words), "field")
        raise InputError(
            f"{source.name}:{number}: {found} instead of {layout.width} ({layout.fields}): {clip(line)}"
            f"{_hint(layout, words)}"
        )
    if b"\r" in line.rstrip(b"\r"):
        raise InputError(f"{source.name}:{number}: a carriage return inside a line; end lines with LF or CR LF")
    if max(len(words[0]), len(words[2])) > LONGEST_NAME:
        raise InputError(f"{source.name}:{number}: an id is longer than {LONGEST_NAME:,} bytes: {clip(line)}")
    text = words[layout.value].decode()
    try:
        value = parse_value(source, layout.kind, number, text)
    except InputError:
        if number > 1 or normalize(text) not in map(normalize, (*ROLES[layout.kind], layout.kind)):
            raise
        problem = "looks like a header, which TREC text does not have; delete it"
        raise InputError(f"{source.name}:1: {clip(line)} {problem}") from None
    return words[0].decode(), words[2].decode(), value


def _hint(layout: Layout, words: list[bytes]) -> str:
    """Return a hint for a line with another number of fields, or ''."""
    width = len(words)
    if b"::" in words[0]:
        return "; replace :: with tabs, and write the names of the columns above, such as user_id, item_id, rating"
    if layout is RUN and width == 1:
        return "; scores alone do not name documents: in Python, use evaluate_arrays(scores, labels, qid=…)"
    if layout is QRELS and width >= RUN.width:
        return "; this looks like a run, and qrels come first: gradely evaluate QRELS RUN"
    if layout is RUN and width == QRELS.width and re.fullmatch(rb"[Qq]?\d+", words[1]):  # else no iteration
        return "; these look like qrels, which come first: gradely evaluate QRELS RUN"
    table = f"; a table has tabs or commas, and its first line names query, document and {layout.kind}"
    if layout is RUN and width == 3:
        return f"{table}; if these are ranks of MS MARCO, between tabs: --run-format msmarco"
    if width == 3 or (layout is RUN and width == QRELS.width):
        return table
    return ""


BLANK = rb"[ \t\r\f\v]"


def read_query(source: Source, query: str, duplicates: str = "error") -> dict[str, float]:
    """Return {document: score} of one query, empty if the run does not contain it."""
    rows = Collector(source.name, duplicates)
    for number, line in _lines_of(source, encode(query)):
        source.check_text(line, number)
        rows.add(number, *parse_line(source, RUN, number, line))
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
