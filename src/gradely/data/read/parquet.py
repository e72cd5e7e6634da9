"""Parquet files as tables: read batch by batch, and never held as a whole."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

from gradely.data.columns import Triples
from gradely.data.read.files import Report, Source
from gradely.data.read.frames import triples_of
from gradely.data.read.tables import Names, no_labels, pick_columns
from gradely.data.table import LONGEST, ROWS, Part, Table, last_query
from gradely.data.trec.chunks import Scattered
from gradely.errors import DataError, InputError, MissingExtra
from gradely.threads import on_threads

T = TypeVar("T")


class ParquetTable(Table):
    """A Parquet file."""

    def __init__(self, source: Source, kind: str, columns: Names | None = None, duplicates: str = "error") -> None:
        """Pick the columns by the schema; nothing else is read yet."""
        super().__init__(source.name, kind, duplicates)
        self.source = source
        with self._open() as file:
            names = file.schema_arrow.names
            self.picked = pick_columns(names, kind, self.name, columns)
            self.rows = file.metadata.num_rows
            types = file.schema_arrow
        if not self.rows:
            raise DataError(f"{self.name}: has no rows")
        if self.picked.value is None:
            self.notes = [no_labels(names, self.picked, self.name)]
        self.whole = _is_integer(types.field(self.picked.query).type)

    @contextmanager
    def _open(self) -> Iterator[Any]:
        try:
            import pyarrow as pa
            from pyarrow import parquet
        except ImportError:
            raise MissingExtra("pyarrow", "parquet") from None
        with self.source.unpacked() as file:
            try:
                yield parquet.ParquetFile(file, pre_buffer=False)
            except (pa.ArrowException, OSError) as error:
                raise InputError(f"{self.name}: is not a Parquet file: {error}") from None

    def map_parts(self, work: Callable[[Part], T], threads: int, report: Report, *, whole_queries: bool) -> Iterator[T]:
        """Run a function over batches of the file."""
        with self._open() as file:
            parts = self._parts(file, whole_queries=whole_queries)
            for stop, result in on_threads(lambda part: (part.stop, work(part)), parts, threads):
                report(stop / self.rows)
                yield result

    def _parts(self, file: Any, *, whole_queries: bool) -> Iterator[Part]:
        """Yield batches; with `whole_queries`, the last query of each goes on in the next."""
        import pyarrow as pa

        rest, number, done = None, 0, 0
        for batch in file.iter_batches(ROWS, columns=self.picked.names):
            table = pa.Table.from_batches([batch])
            table = table if rest is None else pa.concat_tables([rest, table])
            cut = self._cut(table) if whole_queries and done + len(table) < self.rows else len(table)
            if cut == 0 and len(table) >= LONGEST:
                raise Scattered
            rest = table.slice(cut)
            if cut:
                yield Part(number, partial(self._take, table.slice(0, cut), done), done + cut)
                number, done = number + 1, done + cut

    def _cut(self, table: Any) -> int:
        query = table.column(self.picked.query)
        return last_query(0, len(table), lambda one, other: query[one] == query[other])

    def _take(self, table: Any, start: int) -> Triples:
        """Return a batch as arrays."""
        import narwhals.stable.v2 as nw

        return triples_of(nw.from_native(table), self.picked, self.kind, self.name, start)


def _is_integer(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(kind))
