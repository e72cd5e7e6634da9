"""Tables with one judgment or one retrieved document a row: dataframes of any library, CSV, TSV, Parquet."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gradely.data.read.dicts import text
from gradely.data.read.files import Source, clip
from gradely.data.read.rows import Rows
from gradely.data.trec.plain import to_number
from gradely.data.types import Floats, Ints
from gradely.errors import DataError, InputError, MissingExtra

QUERY = ("query_id", "qid", "query", "topic", "topic_id", "user_id", "user", "session_id")
DOC = (
    "doc_id",
    "docno",
    "doc",
    "document",
    "document_id",
    "did",
    "corpus_id",
    "item_id",
    "item",
    "movie_id",
    "product_id",
    "pid",
)
VALUE = {
    "label": ("relevance", "label", "rel", "grade", "rating", "gain", "score"),
    "score": ("score", "sim", "similarity", "prediction", "rating", "rank"),
}


SHOWN = 8
"""how many columns an error names"""


class Columns(Mapping[str, dict[str, float]]):
    """{query: {document: value}} over three columns; each query's dict is made when it is asked for."""

    def __init__(self, query: Sequence[Any], doc: Sequence[Any], value: Floats, name: str) -> None:
        """Sort the rows by query, in the order in which queries first appear."""
        self.name = name
        code: dict[Any, int] = {}
        codes = np.fromiter((code.setdefault(q, len(code)) for q in query), np.int64, len(query))
        self.row: Ints = np.argsort(codes, kind="stable")
        ends = np.cumsum(np.bincount(codes, minlength=len(code)))
        keys = [text(q, name) for q in code]
        if len(set(keys)) < len(keys):
            raise DataError(f"{name}: a query is there as different types; ids are compared as text")
        self._slice = {
            key: slice(int(stop - size), int(stop))
            for key, stop, size in zip(keys, ends, np.diff(ends, prepend=0), strict=True)
        }
        self.doc, self.value = doc, value

    def __getitem__(self, query: str) -> dict[str, float]:
        """Return {document: value} of one query."""
        rows = self.row[self._slice[query]]
        docs = [text(self.doc[i], self.name) for i in rows.tolist()]
        out = dict(zip(docs, self.value[rows].tolist(), strict=True))
        if len(out) < len(docs):
            self._duplicate(query, docs, rows)
        return out

    def _duplicate(self, query: str, docs: list[str], rows: Ints) -> None:
        seen: dict[str, int] = {}
        for doc, row in zip(docs, rows.tolist(), strict=True):
            if doc in seen:
                rows_told = f"rows {seen[doc] + 1} and {row + 1}"
                raise DataError(
                    f"{self.name}: document {clip(doc)} of query {clip(query)} is there twice, in {rows_told}"
                )
            seen[doc] = row

    def __iter__(self) -> Iterator[str]:
        """Iterate over the queries, in the order in which they first appear."""
        return iter(self._slice)

    def __len__(self) -> int:
        """Return the number of queries."""
        return len(self._slice)


def column(names: Sequence[str], known: Sequence[str], what: str, name: str) -> str:
    """Return which of the table's columns holds something, by the names people use."""
    plain = {bare(each): each for each in names}
    found = next((plain[bare(each)] for each in known if bare(each) in plain), None)
    if found is None:
        some = ", ".join(map(repr, names[:SHOWN])) + (", …" if len(names) > SHOWN else "")
        raise InputError(f"{name}: no {what} column among {some}; name it {' or '.join(known[:3])}")
    return found


def bare(name: str) -> str:
    """Return a column's name as it is compared: corpus-id, CorpusId and corpus_id are the same."""
    return "".join(filter(str.isalnum, name.lower()))


def pick(names: Sequence[str], kind: str, name: str) -> tuple[str, str, str]:
    """Return the columns of query, document and value."""
    query, doc = column(names, QUERY, "query", name), column(names, DOC, "document", name)
    rest = [each for each in names if each not in (query, doc)]
    return query, doc, column(rest, VALUE[kind], kind, name)


def is_frame(given: Any) -> bool:
    """True for a dataframe of any library."""
    import narwhals.stable.v2 as nw

    native: Any = nw.from_native(given, pass_through=True)
    return isinstance(native, nw.DataFrame | nw.LazyFrame)


def from_frame(given: Any, kind: str, name: str) -> Columns:
    """Read a dataframe of pandas, polars, pyarrow, DuckDB or any other library that narwhals knows."""
    import narwhals.stable.v2 as nw

    frame: Any = nw.from_native(given)
    query, doc, value = pick(frame.collect_schema().names(), kind, name)
    frame = frame.select(query, doc, value)
    frame = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    if not len(frame):
        raise DataError(f"{name}: has no rows")
    for each in (query, doc, value):
        if frame[each].is_null().any():
            raise DataError(f"{name}: column {each!r} has missing values")
    return Columns(frame[query].to_list(), frame[doc].to_list(), _ranked(value, _floats(frame[value], name)), name)


def _floats(series: Any, name: str) -> Floats:
    try:
        return np.asarray(series.to_numpy(), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: column {series.name!r} holds something that is not a number: {error}") from None


def _ranked(column: str, values: Floats) -> Floats:
    """Turn ranks, where a table has no scores, into scores: rank 1 is best."""
    return -values if column.lower() == "rank" else values


def from_parquet(source: Source, kind: str) -> Columns:
    """Read the three columns of a Parquet file."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("pyarrow", "parquet") from None
    source.open().close()
    try:
        names = parquet.read_schema(source.path).names
        table = parquet.read_table(source.path, columns=list(pick(names, kind, source.name)))
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(f"{source.name}: is not a Parquet file: {error}") from None
    return from_frame(table, kind, source.name)


def from_csv(source: Source, kind: str, delimiter: str) -> dict[str, dict[str, float]]:
    """Read a text table with a header line."""
    import csv

    lines = csv.reader(source.text().splitlines(), delimiter=delimiter)
    header = [each.strip() for each in next(lines)]
    query, doc, value = (header.index(each) for each in pick(header, kind, source.name))
    sign = -1 if header[value].lower() == "rank" else 1
    rows = Rows(source.name)
    for row in filter(None, lines):
        if len(row) != len(header):
            found = f"{len(row)} fields instead of {len(header)}: {clip(delimiter.join(row))}"
            raise InputError(f"{source.name}:{lines.line_num}: {found}")
        rows.add(lines.line_num, row[query], row[doc], sign * to_number(source, kind, lines.line_num, row[value]))
    if not rows.values:
        raise DataError(f"{source.name}: has no rows below its header")
    return rows.values


def delimiter_of(head: bytes) -> str | None:
    """Return the delimiter of a table whose header names a query and a document column, or None."""
    header = head.split(b"\n")[0].decode(errors="replace")
    for delimiter in ",\t":
        cells = {bare(cell) for cell in header.split(delimiter)}
        if all(cells & set(map(bare, known)) for known in (QUERY, DOC)):
            return delimiter
    return None
