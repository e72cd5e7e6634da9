"""CSV and TSV files as tables, read in pieces with array operations and never held as a whole.

Irregular text (quotes inside fields, lines of different widths, control characters) is left to the plain reader, the
csv module of Python, which also explains errors. A million lines take 0.08 s this way, 0.11 s with pyarrow, which takes
longer to import than that, and 2.1 s with the csv module.
"""

import csv
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from io import StringIO
from itertools import islice
from math import nan
from typing import Any, NamedTuple, TypeVar

import numpy as np

from gradely.data.column_roles import QUERY, SAMPLED, Cells, Names, is_quepid_case, normalize, reads_as_number
from gradely.data.columns import Triples, find_nameless
from gradely.data.ids import Bools, Bytes, Ids, Ints
from gradely.data.read.lines import Collector, Values, parse_value
from gradely.data.read.pieces import NEWLINE, Piece, check_utf8, map_pieces, numbers
from gradely.data.source import Report, Source
from gradely.data.table import DuplicateDocument, FirstRow, IrregularText, Part, Table
from gradely.errors import DataError, InputError, clip
from gradely.tables import count_of

T = TypeVar("T")
QUOTE, RETURN = 34, 13
LONGEST = 131_072
"""number of characters of the longest field, as in the csv module of Python"""

HEADER = 1 << 20
"""number of bytes of the longest header"""


class Layout(NamedTuple):
    """The columns of a file, counted from 0."""

    delimiter: bytes
    width: int
    query: int
    document: int
    value: int | None
    sign: int
    quoted: bool = True
    """true if quotes enclose fields; otherwise, they are characters like others"""


class CsvTable(Table):
    """A text table with a header line."""

    explains = True

    def __init__(
        self, source: Source, kind: str, delimiter: str, columns: Names | None = None, duplicates: str = "error"
    ) -> None:
        """Read the header and pick the columns."""
        super().__init__(source.name, kind, duplicates)
        self.source = source
        header, self.skip = _header(source, delimiter)
        self.header = header
        try:
            roles = self.pick_columns(header, columns, lambda: self._sample(header, delimiter))
        except InputError:
            self._check_header(header, delimiter)
            raise
        self.is_quepid = is_quepid_case(header)
        query, document = header.index(roles.query), header.index(roles.document)
        value = None if roles.value is None else header.index(roles.value)
        self.layout = Layout(delimiter.encode(), len(header), query, document, value, roles.sign)

    def _check_header(self, header: list[str], delimiter: str) -> None:
        """Raise InputError for a first line that is no header, since it contains numbers, and for columns of ragas."""
        from gradely.data.read.exports import ROWS, is_ragas

        if header[0].startswith("sep="):
            text = clip(delimiter.join(header))
            raise InputError(f"{self.name}:1: {text} is for spreadsheets; delete this line, so the header comes first")
        if is_ragas(header):
            raise InputError(
                f"{self.name}: has the columns of ragas, which hold lists, but CSV cells cannot hold lists; {ROWS}"
            )
        if any(normalize(name) in map(normalize, QUERY) for name in header):
            return
        number = next((cell for cell in header if reads_as_number(cell)), None)
        if number is not None:
            names = delimiter.join(("query", "document", self.kind))
            raise InputError(
                f"{self.name}:1: the first line names the columns, and {clip(number)} is a number: put a line like "
                f"{names!r} above it"
            )

    def _sample(self, header: list[str], delimiter: str) -> Cells:
        """Return the first cells of each column."""
        rows = [row for _, row in islice(_records(self.source, delimiter), SAMPLED) if len(row) == len(header)]
        return dict(zip(header, zip(*rows, strict=True), strict=False))

    def map_parts(self, work: Callable[[Part], T], threads: int, report: Report, *, whole_queries: bool) -> Iterator[T]:
        """Run a function over pieces of the file."""

        def use(piece: Piece) -> T:
            return work(Part(piece.number, partial(_columns, piece, self.layout, nameless=self.nameless)))

        query_at, skip = self.query_at, self.skip
        return map_pieces(self.source, use, threads, report, whole_queries=whole_queries, query_at=query_at, skip=skip)

    def query_at(self, text: memoryview, at: int) -> bytes:
        """Return the query of the line at a position, as far as its first 4,096 bytes contain it."""
        fields = bytes(text[at : at + 4096]).partition(b"\n")[0].split(self.layout.delimiter)
        return fields[self.layout.query] if self.layout.query < len(fields) else b""

    def plain(self) -> Values:
        """Read the file line by line, with errors that name the line."""
        rows, layout, count, unrated = Collector(self.name, self.duplicates, nameless=self.nameless), self.layout, 0, 0
        for line, row in self.records():
            count += 1
            if self._is_unrated(row):
                unrated += 1
                continue
            if len(row) != layout.width:
                text, found = layout.delimiter.decode().join(row), count_of(len(row), "field")
                problem = f"{found} instead of {layout.width}: {clip(text)}"
                raise InputError(f"{self.name}:{line}: {problem}")
            value = 1.0 if layout.value is None else parse_value(self.source, self.kind, line, row[layout.value])
            try:
                rows.add(line, row[layout.query], row[layout.document], layout.sign * value)
            except DuplicateDocument as error:
                raise DuplicateDocument(f"{error}{self.hint}") from None
        if not rows.values:
            raise DataError(f"{self.name}: has no rows {'with a rating ' if unrated else ''}below its header")
        if unrated:
            have, s, are = ("has", "s", "is") if unrated == 1 else ("have", "", "are")
            label = self.kind == "label"
            rest = f"{have} no rating and count{s} as unjudged" if label else f"{have} no document and {are} left out"
            self.notes.append(f"{self.name}: {unrated:,} of {count_of(count, 'row')} {rest}")
        values = rows.with_notes(self.notes)
        values.notes = self.notes = list(dict.fromkeys(values.notes))  # the file may be read more than once
        return values

    def first_rows(self, most: int) -> Iterable[FirstRow]:
        """Yield the first rows that are well-formed."""
        at, width = self.layout.value, self.layout.width
        rank = None if self.rank is None else self.header.index(self.rank)
        for _, row in islice(self.records(), most):
            if at is None or len(row) != width or not reads_as_number(row[at]):
                return
            place = nan if rank is None or not reads_as_number(row[rank]) else float(row[rank])
            yield FirstRow(row[self.layout.query], place, self.layout.sign * float(row[at]))

    def _is_unrated(self, row: list[str]) -> bool:
        """True for a row of Quepid that ends with a query, without documents, or has no rating beside its document."""
        at = self.layout.value
        if not self.is_quepid or (at is None and not self.nameless):
            return False
        empty = at is not None and self.kind == "label" and len(row) > at and not row[at].strip()
        return empty or len(row) == self.layout.query + 1

    def records(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the rows that are not blank, with the number of the line on which each ends."""
        return _records(self.source, self.layout.delimiter.decode())


class RankTable(CsvTable):
    """A run of MS MARCO: query, document and rank, between tabs, without a header."""

    def __init__(self, source: Source, duplicates: str) -> None:
        """Set the columns; nothing is read yet."""
        Table.__init__(self, source.name, "score", duplicates)
        self.source, self.skip, self.is_quepid = source, 0, False
        self.layout = Layout(b"\t", width=3, query=0, document=1, value=2, sign=-1, quoted=False)

    def records(self) -> Iterator[tuple[int, list[str]]]:
        """Yield all rows; the first one is not a header."""
        return _records(self.source, "\t", header=False, quoted=False)


def _header(source: Source, delimiter: str) -> tuple[list[str], int]:
    """Return the names of the columns, and the size of the header in bytes."""
    lines = StringIO(source.start(HEADER + 1).decode(errors="surrogateescape"), newline="")
    try:
        first = next(csv.reader(iter(lines.readline, ""), delimiter=delimiter), [])
    except csv.Error as error:
        raise InputError(f"{source.name}:1: {error}") from None
    if not any(first):
        _ = source.text()  # refuses an empty file
        raise InputError(f"{source.name}:1: expected the names of columns, found a blank line")
    skip = len(lines.getvalue()[: lines.tell()].encode(errors="surrogateescape"))
    if skip > HEADER:
        raise InputError(f"{source.name}:1: the names of columns take more than {HEADER:,} bytes")
    return [name.strip() for name in first], skip


def _records(
    source: Source, delimiter: str, *, header: bool = True, quoted: bool = True
) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows below the header that are not blank, with the number of the line on which each ends."""
    held: list[str] = []
    """the lines of the row that is being read"""

    def hold() -> Iterator[str]:
        for line in _text_lines(source):
            held.append(line)
            yield line

    lines = csv.reader(hold(), delimiter=delimiter, quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE)
    try:
        for row in lines:
            if len(held) > 1:
                _check_closed(held, delimiter, f"{source.name}:{lines.line_num - len(held) + 1}")
            held.clear()
            if row and not header:
                yield lines.line_num, row
            header = False
    except csv.Error as error:
        form = "TSV" if delimiter == "\t" else "CSV"
        raise InputError(f"{source.name}:{lines.line_num}: is not {form}: {error}") from None


def _check_closed(lines: list[str], delimiter: str, name: str) -> None:
    """Raise InputError for a row of several lines that begins with a quote which does not end its field."""
    try:
        next(csv.reader(lines, delimiter=delimiter, strict=True))
    except csv.Error:
        problem = (
            f"a field begins with a quote, which no quote at its end closes, so that {len(lines):,} lines are one row"
        )
        raise InputError(f"{name}: {problem}; put such a field in quotes, and write its own quotes twice") from None


def csv_records(source: Source, delimiter: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows below the header as dicts, with the number of the line on which each ends."""
    header, _ = _header(source, delimiter)
    for line, row in _records(source, delimiter):
        if len(row) != len(header):
            problem = f"{count_of(len(row), 'field')} instead of {len(header)}: {clip(delimiter.join(row))}"
            raise InputError(f"{source.name}:{line}: {problem}")
        yield line, dict(zip(header, row, strict=True))


def _text_lines(source: Source) -> Iterator[str]:
    """Yield lines with their LF, CR LF or CR; line breaks inside quotes stay in the field."""
    for first, block in source.blocks():
        source.check_text(block, first)
        yield from StringIO(block.decode(), newline="")


def _columns(piece: Piece, layout: Layout, *, nameless: bool) -> Triples:
    """Return query, document and value of each line. With `nameless`, the document of a line may be empty."""
    start, stop = find_cells(piece.text[piece.start : piece.stop], layout)

    def column(at: int) -> tuple[Ints, Ints]:
        return start[:, at] + piece.start, stop[:, at] + piece.start

    query, document = (Ids(piece.text, *column(at)) for at in (layout.query, layout.document))
    if not nameless and find_nameless(query, document) is not None:
        raise IrregularText
    if layout.value is None:
        return Triples(query, document, np.ones(len(start)))
    value = numbers(piece, *column(layout.value))
    return Triples(query, document, -value if layout.sign < 0 else value)


def find_cells(text: Bytes, layout: Layout) -> tuple[Ints, Ints]:
    """Return the start and end of the fields of all lines, [lines, fields], without the quotes around a field."""
    if (text < 9).any() or ((text > RETURN) & (text < 32)).any():
        raise IrregularText  # control characters
    check_utf8(text)
    quote = text == QUOTE
    quotes = int(np.count_nonzero(quote)) if layout.quoted else 0
    if quotes % 2:
        raise IrregularText  # a quote that is never closed would swallow the lines after it
    edge = (text == ord(layout.delimiter)) | (text == NEWLINE)
    if quotes:
        edge &= (np.cumsum(quote, dtype=np.uint8) & 1) == 0
    stop: Any = np.flatnonzero(edge)
    start, stop, returns = _drop_blank_lines(text, np.concatenate([[-1], stop[:-1]]) + 1, stop, layout.width)
    start, stop = start.reshape(-1, layout.width), stop.reshape(-1, layout.width)
    if (stop[:, -1] - start[:, 0]).max() > LONGEST:
        raise IrregularText
    ends = text[stop[:, -1] - 1] == RETURN
    if np.count_nonzero(text == RETURN) != np.count_nonzero(ends) + returns:
        raise IrregularText  # a line that ends with a carriage return only
    stop[:, -1] -= ends
    return _unquote(text, quotes, start, stop) if quotes else (start, stop)


def _drop_blank_lines(text: Bytes, start: Any, stop: Any, width: int) -> tuple[Any, Any, int]:
    """Return the fields of lines that are not blank, and the number of carriage returns in the blank ones."""
    newline = text[stop] == NEWLINE
    if _ends_lines(newline, width):
        return start, stop, 0
    alone = (stop - start == 1) & (text[start] == RETURN)
    blank = np.concatenate([[True], newline[:-1]]) & newline & ((stop == start) | alone)
    if not _ends_lines(newline[~blank], width):
        raise IrregularText
    return start[~blank], stop[~blank], int(np.count_nonzero(blank & alone))


def _ends_lines(newline: Bools, width: int) -> bool:
    """True if a line ends after every `width` fields, and nowhere else."""
    lines, rest = divmod(len(newline), width)
    return not rest and bool(newline[width - 1 :: width].all()) and int(np.count_nonzero(newline)) == lines


def _unquote(text: Bytes, quotes: int, start: Ints, stop: Ints) -> tuple[Ints, Ints]:
    """Return the fields without the quotes around them; any other quote is irregular."""
    opened = text[start] == QUOTE
    closed = (text[stop - 1] == QUOTE) & (stop - start > 1)
    if (opened != closed).any() or 2 * np.count_nonzero(opened) != quotes:
        raise IrregularText
    return start + opened, stop - opened
