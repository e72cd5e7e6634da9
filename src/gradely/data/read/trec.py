"""TREC files: qrels `query iteration document label` and runs `query Q0 document rank score tag`.

There are two ways to read them, with the same results. The plain way (lines) reads line by line and explains each error
with the number of its line; small files are read this way. The fast way (trec_pieces) works on pieces of a few
megabytes with array operations, and leaves irregular text (fields, numbers, characters, duplicates) to the plain way.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from gradely.data.qrels import Qrels
from gradely.data.read.lines import QRELS, RUN, Values, first_rows, read, read_query
from gradely.data.source import Report, Source
from gradely.data.table import FirstRow, IrregularText, Part, Table
from gradely.parallel import cores

if TYPE_CHECKING:
    from gradely.data.read.trec_pieces import Dialect

T = TypeVar("T")


class TrecTable(Table):
    """A TREC file, of judgments or of a run."""

    explains = True

    def __init__(self, source: Source, kind: str, duplicates: str = "error", dialect: "Dialect | None" = None) -> None:
        """Store the file; nothing is read yet. With a dialect, the fast way accepts more than regular lines."""
        super().__init__(source.name, kind, duplicates)
        self.dialect = dialect
        self.source, self.layout = source, QRELS if kind == "label" else RUN

    @property
    def is_small(self) -> bool:  # type: ignore[override]
        """True if the file is so small that reading it line by line is faster."""
        return self.source.is_small

    def plain(self) -> "Values":
        """Read the file line by line, with errors that name the line."""
        values = read(self.source, self.layout, self.duplicates)
        self.notes = list(values.notes)
        return values

    def first_rows(self, most: int) -> Iterator[FirstRow]:
        """Return the first lines, as far as the head of the file contains them."""
        return first_rows(self.source.head, most)

    def scores_of(self, query: str) -> Mapping[str, float] | None:
        """Return {document: score} of one query of a run, or None if it has none; other lines are not parsed."""
        return read_query(self.source, query, self.duplicates) or None

    def map_parts(self, work: Callable[[Part], T], threads: int, report: Report, *, whole_queries: bool) -> Iterator[T]:
        """Run a function over pieces of the file."""
        from gradely.data.read.trec_pieces import map_text

        return map_text(self.source, self.layout, work, threads, report, self.dialect, whole_queries=whole_queries)

    def qrels(self, threads: int | None = None) -> Qrels:
        """Return the judgments, read the fast way unless the file is small or irregular."""
        if not self.is_small:
            from gradely.data.read.trec_pieces import load_qrels

            with suppress(IrregularText):
                return load_qrels(self.source, threads or cores())
        qrels = Qrels.of(self.plain(), self.name)
        qrels.notes = self.notes
        return qrels
