"""Dataframes of any library that narwhals supports, and Parquet files, as tables, read in parts."""

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from typing import Any
from urllib.parse import unquote

import numpy as np

from gradely.data.column_roles import SAMPLED, Cells, Names, Roles
from gradely.data.columns import Triples, check_finite, check_names, numbers_of_objects
from gradely.data.ids import Floats, Ids, from_arrow, from_buffer, from_floats, from_integers, from_objects
from gradely.data.source import Source, is_folder_or_pattern
from gradely.data.table import (
    LONGEST,
    ROWS,
    FirstRow,
    MemoryTable,
    Part,
    PartedTable,
    ScatteredQueries,
    join_ranks,
    last_query,
)
from gradely.errors import DataError, InputError
from gradely.lazy import optional


def is_frame(value: Any) -> bool:
    """True for a dataframe of any library."""
    import narwhals.stable.v2 as nw

    try:
        native: Any = nw.from_native(value, pass_through=True)
    except nw.exceptions.DuplicateError:  # a frame with two columns of the same name
        return True
    return isinstance(native, nw.DataFrame | nw.LazyFrame)


SAMPLE = 1000
"""number of rows whose ranks are kept, to be compared with the scores"""


class FrameTable(MemoryTable):
    """A dataframe of pandas, polars, pyarrow, DuckDB or any other library that narwhals supports."""

    def __init__(
        self, native: Any, kind: str, name: str, columns: Names | None = None, duplicates: str = "error"
    ) -> None:
        """Pick the columns; raise DataError for a frame without rows."""
        import narwhals.stable.v2 as nw

        super().__init__(name, kind, duplicates)
        frame, self.roles = self._select(with_index(native), columns)
        self._hold(frame.collect() if isinstance(frame, nw.LazyFrame) else frame)
        if not self.rows:
            raise DataError(f"{name}: has no rows")
        self.whole = self.query.dtype.is_integer()

    def _hold(self, frame: Any) -> None:
        self.frame, self.query, self.rows = frame, frame[self.roles.query], len(frame)

    def _select(self, native: Any, columns: Names | None) -> tuple[Any, Roles]:
        """Return the frame with the columns to read, and their roles."""
        import narwhals.stable.v2 as nw

        try:
            frame: Any = nw.from_native(native)
            schema = frame.collect_schema()
            names = [column for column in schema.names() if isinstance(column, str)]
            roles = self.pick_columns(names, columns, lambda: _sample(frame, names))
            if self.rank is not None and isinstance(frame, nw.DataFrame):
                self.ranks = frame[self.rank].head(SAMPLE).to_list()
            return frame.select(roles.names), roles
        except nw.exceptions.DuplicateError:
            names = [column for column in native.columns if isinstance(column, str)]
            twice = next(column for column in native.columns if list(native.columns).count(column) > 1)
            roles = self.pick_columns(names, columns)  # refuses duplicate names of columns that are read
            if twice in roles.names:
                raise InputError(f"{self.name}: duplicate column {twice!r}; rename or drop one") from None
            return nw.from_native(native[roles.names]), roles

    def drop_nameless(self) -> int:
        """Remove rows whose document is missing, NaN or empty; return the number of rows that remain."""
        import narwhals.stable.v2 as nw

        frame, document = self.frame.drop_nulls(self.roles.document), self.roles.document
        if frame[document].dtype.is_float():
            frame = frame.filter(~frame[document].is_nan())
        elif len(frame) and frame[document].dtype in (nw.String, nw.Object):
            frame = frame.filter([name != "" for name in frame[document].to_list()])
        self._hold(frame)
        return self.rows

    def take(self, start: int, stop: int) -> Triples:
        """Return some rows as arrays."""
        return triples_of(self.frame[start:stop], self.roles, self.kind, self.name, start)


def with_index(native: Any) -> Any:
    """Return a pandas frame with the named levels of its index as columns; other frames are returned unchanged."""
    names = getattr(getattr(native, "index", None), "names", None)
    if not isinstance(names, Sequence):  # a Spark frame returns a column for any name
        return native
    levels = [level for level in names if isinstance(level, str) and level not in native.columns]
    return native.reset_index(level=levels) if levels else native


def names_of(native: Any) -> list[str]:
    """Return the names of a frame's columns."""
    import narwhals.stable.v2 as nw

    try:
        return list(nw.from_native(native).collect_schema().names())
    except nw.exceptions.DuplicateError:
        return list(native.columns)


def rows_of(native: Any) -> list[dict[str, Any]]:
    """Return the rows of a frame as dicts."""
    import narwhals.stable.v2 as nw

    frame = nw.from_native(native)
    rows: list[dict[str, Any]] = (frame.collect() if isinstance(frame, nw.LazyFrame) else frame).rows(named=True)
    return rows


def _holds_numbers(dtype: Any) -> bool:
    return bool(dtype.is_numeric()) or str(dtype) == "Boolean"


def _sample(frame: Any, names: Sequence[str]) -> Cells:
    """Return the first cells of each column; missing values in a column of numbers become a number."""
    schema = frame.collect_schema()
    first = frame.select(names).head(SAMPLED).lazy().collect()
    return {name: [0] if _holds_numbers(schema[name]) else first[name].to_list() for name in names}


def triples_of(frame: Any, roles: Roles, kind: str, name: str, first: int) -> Triples:
    """Return the rows of a frame as arrays; `first` is the number of its first row, from 0."""
    for column in roles.names:
        missing = frame[column].is_null()
        if missing.any():
            row = first + int(np.argmax(missing.to_numpy())) + 1
            drop = f"drop_nulls({column!r})" if frame.implementation.is_polars() else f"dropna(subset=[{column!r}])"
            drop = f"; drop them, as in frame.{drop}" if column == roles.value else ""
            raise DataError(f"{name}: column {column!r} has missing values, the first in row {row}{drop}")
    query, document = (ids_of(frame[column], f"{name}: column {column!r}") for column in roles[:2])
    check_names(query, document, f"{name}: row", first)
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
    """Return a column of finite labels or scores; `start` is the number of its first row, from 0."""
    if _holds_numbers(series.dtype):
        return check_finite(series.to_numpy().astype(np.float64), kind, name, start, "row")
    return numbers_of_objects(series.to_list(), kind, name, start)


def _first_rows(file: Any, most: int, names: Sequence[str]) -> Any:
    """Return the first rows of an open Parquet file as a frame; None if it is empty or lacks one of the columns."""
    import narwhals.stable.v2 as nw
    import pyarrow as pa

    batch = next(file.iter_batches(most, columns=list(names)), None)
    if batch is None or set(batch.schema.names) != set(names):
        return None
    return nw.from_native(pa.table(dict(zip(batch.schema.names, batch.columns, strict=True))))


def _sample_of(file: Any) -> Cells:
    """Return the first cells of each column of an open Parquet file."""
    names = file.schema_arrow.names
    first = _first_rows(file, SAMPLED, names)
    return {} if first is None else _sample(first, names)


NO_PARTITION = "__HIVE_DEFAULT_PARTITION__"
"""what Hive, Spark and others write into the name of a folder for rows without a value"""


def parquet_files(source: Source) -> list[Source]:
    """Return the Parquet files in a folder and its subfolders, the files of a pattern, or the one file, by name.

    Names that begin with _ or . are skipped, as in Spark and other tools: _SUCCESS, .part-0.parquet.crc.
    """
    if not is_folder_or_pattern(source.path):
        return [source]
    folder = os.path.isdir(source.path)
    pattern = os.path.join(glob.escape(source.path), "**") if folder else source.path
    names = sorted(glob.glob(pattern, recursive=True))
    files = [name for name in names if os.path.isfile(name) and not os.path.basename(name).startswith(("_", "."))]
    if folder:
        files = [name for name in files if name.lower().endswith((".parquet", ".pq"))]
    if not files:
        problem = "is a directory without a Parquet file; name a file" if folder else "there is no such file"
        raise InputError(f"{source.name}: {problem}")
    if not folder and not Source(files[0]).head.startswith(b"PAR1"):
        several = "for several runs, let the shell expand it, or give a list of paths"
        raise InputError(f"{source.name}: a pattern names parts of a Parquet table, unlike {files[0]}; {several}")
    return [Source(name) for name in files]


@contextmanager
def open_parquet(source: Source) -> Iterator[Any]:
    """Open a Parquet file; raise InputError for other files."""
    pa, parquet = (optional(module, "pyarrow", "parquet") for module in ("pyarrow", "pyarrow.parquet"))
    with source.unpack() as file:
        try:
            yield parquet.ParquetFile(file, pre_buffer=False)
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:  # the last part of the name of a column
            raise InputError(f"{source.name}: is not a Parquet file: {error}") from None


def parquet_rows(source: Source) -> Iterator[dict[str, Any]]:
    """Yield the rows of Parquet files as dicts, with all columns."""
    for part in parquet_files(source):
        with open_parquet(part) as file:
            for batch in file.iter_batches(ROWS):
                yield from batch.to_pylist()


class ParquetTable(PartedTable):
    """A Parquet file, or all files of a folder or a pattern, in the order of their names."""

    def __init__(self, source: Source, kind: str, columns: Names | None = None, duplicates: str = "error") -> None:
        """Pick the columns by the schema; nothing else is read yet."""
        super().__init__(source.name, kind, duplicates)
        self.folder = source.path if os.path.isdir(source.path) else None
        self.partitioned = is_folder_or_pattern(source.path)
        self.sources, self.rows = parquet_files(source), 0
        for i, part in enumerate(self.sources):
            with open_parquet(part) as file:
                self.rows += file.metadata.num_rows
                if i == 0:
                    self._pick_by_schema(file, columns)
        if not self.rows:
            raise DataError(f"{self.name}: has no rows")
        import pyarrow as pa

        self.whole = pa.types.is_integer(self.types.field(self.roles.query).type)

    def _pick_by_schema(self, file: Any, columns: Names | None) -> None:
        """Pick the columns by the first file, including those in the names of its folders."""
        import pyarrow as pa

        schema = file.schema_arrow
        for name in self._in_path(self.sources[0]):
            schema = schema if name in schema.names else schema.append(pa.field(name, pa.string()))
        self.types, self.roles = schema, self.pick_columns(schema.names, columns, lambda: _sample_of(file))
        beside = [] if self.rank is None else [self.rank]
        self.first = _first_rows(file, SAMPLE, [*self.roles.names, *beside]) if self.kind == "score" else None

    def first_rows(self, most: int) -> Iterable[FirstRow]:
        """Return the first rows of the first file, which has all columns unless some are in the names of folders."""
        if self.first is None:
            return ()
        first = self.first.head(most)
        ranks = () if self.rank is None else first[self.rank].to_list()
        return join_ranks(triples_of(first, self.roles, self.kind, self.name, 0), ranks)

    def _in_path(self, source: Source) -> dict[str, str]:
        """Return the columns that are in the names of folders, as Hive, Spark and others write them: query_id=7."""
        if not self.partitioned:
            return {}
        folders = os.path.relpath(os.path.dirname(source.path) or os.curdir, self.folder).split(os.sep)
        pairs = [folder.partition("=") for folder in folders]
        return {unquote(name): unquote(value) for name, equals, value in pairs if equals and name}

    def read(self) -> Any:
        """Return all rows of the picked columns, as an Arrow table."""
        import pyarrow as pa

        return pa.concat_tables(self._tables())

    def _tables(self) -> Iterator[Any]:
        """Yield batches of all files as tables, with the types of the first file."""
        import pyarrow as pa

        types = pa.schema([self.types.field(name) for name in self.roles.names])
        for source in self.sources:
            in_path = self._in_path(source)
            with open_parquet(source) as file:
                absent = set(self.roles.names) - set(file.schema_arrow.names)
                if absent - set(in_path):
                    lacking = min(absent - set(in_path))
                    raise InputError(f"{source.name}: has no column {lacking!r}, which {self.sources[0].name} has")
                for batch in file.iter_batches(ROWS, columns=[name for name in self.roles.names if name not in absent]):
                    table = pa.Table.from_batches([batch])
                    for name in sorted(absent):
                        if in_path[name] == NO_PARTITION:
                            raise InputError(f"{source.name}: the {name} of its rows is missing; leave this file out")
                        table = table.append_column(name, pa.repeat(in_path[name], len(batch)))
                    table = table.select(self.roles.names)
                    yield table if table.schema.types == types.types else self._cast(table, types, source)

    def _cast(self, table: Any, types: Any, source: Source) -> Any:
        import pyarrow as pa

        try:
            return table.cast(types)
        except pa.ArrowException as error:
            other = self.sources[0].name
            raise InputError(f"{source.name}: has columns of other types than {other}: {error}") from None

    def parts(self, *, whole_queries: bool) -> Iterator[Part]:
        """Yield batches; with `whole_queries`, the last query of each batch is moved to the next one."""
        import pyarrow as pa

        rest, number, done = None, 0, 0
        for batch in self._tables():
            table = batch if rest is None else pa.concat_tables([rest, batch])
            cut = self._find_cut(table) if whole_queries and done + len(table) < self.rows else len(table)
            if cut == 0 and len(table) >= LONGEST:
                raise ScatteredQueries
            rest = table.slice(cut)
            if cut:
                yield Part(number, partial(self._take, table.slice(0, cut), done), done + cut)
                number, done = number + 1, done + cut

    def _find_cut(self, table: Any) -> int:
        query = table.column(self.roles.query)
        return last_query(0, len(table), lambda one, other: query[one] == query[other])

    def _take(self, table: Any, start: int) -> Triples:
        """Return a batch as arrays."""
        import narwhals.stable.v2 as nw

        return triples_of(nw.from_native(table), self.roles, self.kind, self.name, start)
