"""Dataframes of any library that narwhals knows, as tables: their columns become arrays, some rows at a time."""

from importlib.util import find_spec
from typing import Any

import numpy as np

from gradely.data.columns import Triples
from gradely.data.ids import from_arrow, from_buffer, from_floats, from_integers, from_objects
from gradely.data.read.column_roles import Names, Roles
from gradely.data.read.sources import clip
from gradely.data.table_parts import MemoryTable
from gradely.data.trec.tokens import Ids
from gradely.data.types import Floats
from gradely.errors import DataError, InputError


def is_frame(value: Any) -> bool:
    """True for a dataframe of any library."""
    import narwhals.stable.v2 as nw

    try:
        native: Any = nw.from_native(value, pass_through=True)
    except nw.exceptions.DuplicateError:  # a frame that has a column twice
        return True
    return isinstance(native, nw.DataFrame | nw.LazyFrame)


class FrameTable(MemoryTable):
    """A dataframe of pandas, polars, pyarrow, DuckDB or any other library that narwhals knows."""

    def __init__(
        self, native: Any, kind: str, name: str, columns: Names | None = None, duplicates: str = "error"
    ) -> None:
        """Pick the columns; refuse a frame without rows."""
        import narwhals.stable.v2 as nw

        super().__init__(name, kind, duplicates)
        frame, self.roles = self._select(native, columns)
        self._hold(frame.collect() if isinstance(frame, nw.LazyFrame) else frame)
        if not self.rows:
            raise DataError(f"{name}: has no rows")
        self.whole = self.query.dtype.is_integer()

    def _hold(self, frame: Any) -> None:
        self.frame, self.query, self.rows = frame, frame[self.roles.query], len(frame)

    def _select(self, native: Any, columns: Names | None) -> tuple[Any, Roles]:
        """Return the frame with the columns to read, and which these are."""
        import narwhals.stable.v2 as nw

        try:
            frame: Any = nw.from_native(native)
            names = [column for column in frame.collect_schema().names() if isinstance(column, str)]
            roles = self.pick_columns(names, columns)
            return frame.select(roles.names), roles
        except nw.exceptions.DuplicateError:
            names = [column for column in native.columns if isinstance(column, str)]
            twice = next(column for column in native.columns if list(native.columns).count(column) > 1)
            roles = self.pick_columns(names, columns)  # refuses a name that matters
            if twice in roles.names:
                raise InputError(f"{self.name}: column {twice!r} is there twice; rename or drop one") from None
            return nw.from_native(native[roles.names]), roles

    def drop_nameless(self) -> int:
        """Leave out rows whose document is missing or NaN; return how many rows are left."""
        frame, document = self.frame.drop_nulls(self.roles.document), self.roles.document
        self._hold(frame.filter(~frame[document].is_nan()) if frame[document].dtype.is_float() else frame)
        return self.rows

    def take(self, start: int, stop: int) -> Triples:
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
