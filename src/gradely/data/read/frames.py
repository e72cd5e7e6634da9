"""Dataframes of any library that narwhals knows, as tables: their columns become arrays, some rows at a time."""

from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from typing import Any, TypeVar

import numpy as np

from gradely.data.columns import Ids, Triples
from gradely.data.ids import from_arrow, from_buffer, from_floats, from_integers, from_objects
from gradely.data.read.column_roles import Names, Roles, note_no_labels, pick_columns
from gradely.data.read.dicts import text
from gradely.data.read.sources import Report, clip
from gradely.data.table import Part, Table, cuts
from gradely.data.types import Floats
from gradely.errors import DataError, InputError
from gradely.threads import on_threads

T = TypeVar("T")


def is_frame(value: Any) -> bool:
    """True for a dataframe of any library."""
    import narwhals.stable.v2 as nw

    try:
        native: Any = nw.from_native(value, pass_through=True)
    except nw.exceptions.DuplicateError:  # a frame that has a column twice
        return True
    return isinstance(native, nw.DataFrame | nw.LazyFrame)


class FrameTable(Table):
    """A dataframe of pandas, polars, pyarrow, DuckDB or any other library that narwhals knows."""

    def __init__(
        self, native: Any, kind: str, name: str, columns: Names | None = None, duplicates: str = "error"
    ) -> None:
        """Pick the columns; refuse a frame without rows."""
        import narwhals.stable.v2 as nw

        super().__init__(name, kind, duplicates)
        frame, roles, names = _select(native, kind, name, columns)
        frame = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
        if not len(frame):
            raise DataError(f"{name}: has no rows")
        if roles.value is None:
            self.notes = [note_no_labels(names, roles, name)]
        self.frame, self.roles, self.query = frame, roles, frame[roles.query]
        self.whole = self.query.dtype.is_integer()

    def drop_nameless(self) -> int:
        """Leave out rows whose document is missing or NaN; return how many rows are left."""
        import narwhals.stable.v2 as nw

        document = nw.col(self.roles.document)
        self.frame = self.frame.drop_nulls(self.roles.document)
        if self.frame[self.roles.document].dtype.is_float():
            self.frame = self.frame.filter(~document.is_nan())
        self.query = self.frame[self.roles.query]
        return len(self.frame)

    def map_parts(self, work: Callable[[Part], T], threads: int, report: Report, *, whole_queries: bool) -> Iterator[T]:
        """Run a function over parts of the frame."""

        def same_query(one: int, other: int) -> bool:
            return text(self.query[one], self.name) == text(self.query[other], self.name)

        edges = cuts(len(self.frame), same_query, whole_queries=whole_queries)
        parts = (Part(number, partial(self._take, *edge), edge[1]) for number, edge in enumerate(edges))
        for stop, result in on_threads(lambda part: (part.stop, work(part)), parts, threads):
            report(stop / len(self.frame))
            yield result

    def _take(self, start: int, stop: int) -> Triples:
        """Return some rows as arrays."""
        return triples_of(self.frame[start:stop], self.roles, self.kind, self.name, start)


def triples_of(frame: Any, roles: Roles, kind: str, name: str, first: int) -> Triples:
    """Return the rows of a frame as arrays; `first` is the number of its first row, from 0."""
    for column in roles.names:
        missing = frame[column].is_null()
        if missing.any():
            row = first + int(np.argmax(missing.to_numpy())) + 1
            raise DataError(f"{name}: column {column!r} has missing values, the first in row {row}")
    query, document = (ids_of(frame[column], f"{name}: column {column!r}") for column in roles[:2])
    if roles.value is None:
        return Triples(query, document, np.ones(len(frame)))
    values = numbers_of(frame[roles.value], kind, name, first)
    return Triples(query, document, -values if roles.sign < 0 else values)


def _select(native: Any, kind: str, name: str, columns: Names | None) -> tuple[Any, Roles, list[str]]:
    """Return the frame, the columns to read and the names of all."""
    import narwhals.stable.v2 as nw

    try:
        frame: Any = nw.from_native(native)
        names = [column for column in frame.collect_schema().names() if isinstance(column, str)]
        roles = pick_columns(names, kind, name, columns)
        return frame.select(roles.names), roles, names
    except nw.exceptions.DuplicateError:
        names = [column for column in native.columns if isinstance(column, str)]
        twice = next(column for column in native.columns if list(native.columns).count(column) > 1)
        roles = pick_columns(names, kind, name, columns)  # refuses a name that matters
        if twice in roles.names:
            raise InputError(f"{name}: column {twice!r} is there twice; rename or drop one") from None
        return nw.from_native(native[roles.names]), roles, names


def ids_of(series: Any, name: str) -> Ids:
    """Return a column of ids of any type."""
    if series.dtype.is_integer():
        values = series.to_numpy()
        return from_integers(values) if values.dtype.kind in "iu" else from_objects(series.to_list(), name)
    if series.dtype.is_float():
        return from_floats(series.to_numpy().astype(np.float64), name)
    if find_spec("pyarrow") is not None and str(series.dtype) != "Object":
        return from_arrow(series.to_arrow(), name)
    if str(series.dtype) == "String" and series.implementation.is_polars():
        native = series.to_native()
        return from_buffer(native.str.join("").item().encode(), native.str.len_bytes().to_numpy().astype(np.int64))
    return from_objects(series.to_list(), name)


def numbers_of(series: Any, kind: str, name: str, start: int) -> Floats:
    """Return a column of labels or scores, all finite; `start` is the number of its first row, from 0."""
    if series.dtype.is_numeric() or str(series.dtype) == "Boolean":
        return check_finite(series.to_numpy().astype(np.float64), kind, name, start, "row")
    return numbers_of_objects(series.to_list(), kind, name, start)


def check_finite(values: Floats, kind: str, name: str, start: int, row: str) -> Floats:
    """Return numbers; refuse NaN and infinity."""
    odd = np.flatnonzero(~np.isfinite(values))
    if len(odd):
        problem = f"{row} {start + odd[0] + 1}: the {kind} is {values[odd[0]]}"
        raise DataError(f"{name}: {problem}; it must be a finite number")
    return values


def numbers_of_objects(values: list[Any], kind: str, name: str, start: int, row: str = "row") -> Floats:
    """Return Python objects as numbers, all finite; text is read as in a CSV file."""
    out = np.empty(len(values))
    for i, value in enumerate(values):
        try:
            out[i] = float(value) if not (isinstance(value, str) and "_" in value) else None
        except (TypeError, ValueError, OverflowError):
            problem = f"{row} {start + i + 1}: the {kind} {clip(str(value))} is not a number"
            raise DataError(f"{name}: {problem}") from None
    return check_finite(out, kind, name, start, row)
