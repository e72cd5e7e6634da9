"""Parquet files and folders of them as tables: read batch by batch, and never held as a whole."""

import glob
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from gradely.data.columns import Triples
from gradely.data.read.column_roles import Names
from gradely.data.read.frames import triples_of
from gradely.data.read.sources import Source
from gradely.data.table_parts import LONGEST, ROWS, Part, PartedTable, last_query
from gradely.data.trec.chunks import ScatteredQueries
from gradely.errors import DataError, InputError
from gradely.optional import optional


def is_folder_or_pattern(path: str) -> bool:
    """True for a folder, and for a pattern of names unless a file has that very name."""
    return os.path.isdir(path) or (glob.has_magic(path) and not os.path.exists(path))


def parquet_files(source: Source) -> list[Source]:
    """Return the Parquet files of a folder and of those within it, the files of a pattern, by name, or the one file.

    Names that begin with _ or . are left out, as Spark and others do: _SUCCESS, .part-0.parquet.crc.
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
    return [Source(name) for name in files]


class ParquetTable(PartedTable):
    """A Parquet file, or all files of a folder or of a pattern, in the order of their names."""

    def __init__(self, source: Source, kind: str, columns: Names | None = None, duplicates: str = "error") -> None:
        """Pick the columns by the schema; nothing else is read yet."""
        super().__init__(source.name, kind, duplicates)
        self.sources, self.rows = parquet_files(source), 0
        for i, part in enumerate(self.sources):
            with self._open(part) as file:
                self.rows += file.metadata.num_rows
                if i == 0:
                    self.types = file.schema_arrow
                    self.roles = self.pick_columns(self.types.names, columns)
        if not self.rows:
            raise DataError(f"{self.name}: has no rows")
        import pyarrow as pa

        self.whole = pa.types.is_integer(self.types.field(self.roles.query).type)

    @contextmanager
    def _open(self, source: Source) -> Iterator[Any]:
        pa, parquet = (optional(module, "pyarrow", "parquet") for module in ("pyarrow", "pyarrow.parquet"))
        with source.unpack() as file:
            try:
                yield parquet.ParquetFile(file, pre_buffer=False)
            except (pa.ArrowException, OSError, UnicodeDecodeError) as error:  # the last of a column's name
                raise InputError(f"{source.name}: is not a Parquet file: {error}") from None

    def read(self) -> Any:
        """Return all rows of the columns that are picked, as an Arrow table."""
        import pyarrow as pa

        return pa.concat_tables(self._tables())

    def _tables(self) -> Iterator[Any]:
        """Yield batches of all files as tables, with the types of the first file."""
        import pyarrow as pa

        types = pa.schema([self.types.field(name) for name in self.roles.names])
        for source in self.sources:
            with self._open(source) as file:
                absent = set(self.roles.names) - set(file.schema_arrow.names)
                if absent:
                    raise InputError(f"{source.name}: has no column {min(absent)!r}, which {self.sources[0].name} has")
                for batch in file.iter_batches(ROWS, columns=self.roles.names):
                    table = pa.Table.from_batches([batch]).select(self.roles.names)
                    yield table if table.schema.types == types.types else self._cast(table, types, source)

    def _cast(self, table: Any, types: Any, source: Source) -> Any:
        import pyarrow as pa

        try:
            return table.cast(types)
        except pa.ArrowException as error:
            other = self.sources[0].name
            raise InputError(f"{source.name}: has columns of other types than {other}: {error}") from None

    def parts(self, *, whole_queries: bool) -> Iterator[Part]:
        """Yield batches; with `whole_queries`, the last query of each goes on in the next."""
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
