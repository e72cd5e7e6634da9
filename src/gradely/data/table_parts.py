"""Tables that are taken apart by the numbers of their rows."""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple, TypeVar

from gradely.data.columns import Triples
from gradely.data.ids import as_text
from gradely.data.read.sources import Report
from gradely.data.table import Table
from gradely.data.trec.chunks import ScatteredQueries
from gradely.threads import on_threads

T = TypeVar("T")
ROWS = 1 << 16
"""rows that are worked on in one go: few enough for the cache, and enough that threads seldom wait for one another"""
LONGEST = 1 << 22
"""rows of the longest part; a query that is longer is treated as scattered"""


class Part(NamedTuple):
    """Some rows of a table; what they hold is taken out of it where they are worked on."""

    number: int
    """how many parts were before it"""
    columns: Callable[[], Triples]
    """returns the rows as arrays"""
    stop: int
    """how many rows are done after it"""


class PartedTable(Table):
    """A table that is taken apart by the numbers of its rows."""

    rows: int
    """how many there are"""

    @abstractmethod
    def parts(self, *, whole_queries: bool) -> Iterator[Part]:
        """Yield all rows in parts; with `whole_queries`, no query is cut."""

    def map_parts(self, work: Callable[[Part], T], threads: int, report: Report, *, whole_queries: bool) -> Iterator[T]:
        """Run a function over all parts."""
        parts = self.parts(whole_queries=whole_queries)
        for stop, result in on_threads(lambda part: (part.stop, work(part)), parts, threads):
            report(stop / self.rows)
            yield result


class MemoryTable(PartedTable):
    """A table whose rows are in memory, so that any of them can be looked at."""

    query: Any
    """the query of each row"""

    @abstractmethod
    def take(self, start: int, stop: int) -> Triples:
        """Return some rows as arrays."""

    def parts(self, *, whole_queries: bool) -> Iterator[Part]:
        """Yield stretches of rows."""

        def same_query(one: int, other: int) -> bool:
            return as_text(self.query[one], self.name) == as_text(self.query[other], self.name)

        edges = cuts(self.rows, same_query, whole_queries=whole_queries)
        return (Part(number, partial(self.take, *edge), edge[1]) for number, edge in enumerate(edges))


def cuts(length: int, same_query: Callable[[int, int], bool], *, whole_queries: bool) -> Iterator[tuple[int, int]]:
    """Yield where parts begin and end; with `whole_queries`, between queries, found by bisection."""
    start = 0
    while start < length:
        stop = min(start + ROWS, length)
        while whole_queries and stop < length and (cut := last_query(start, stop, same_query)) == start:
            if stop - start >= LONGEST:
                raise ScatteredQueries
            stop = min(2 * stop - start, length)
        stop = cut if whole_queries and stop < length else stop
        yield start, stop
        start = stop


def last_query(start: int, stop: int, same_query: Callable[[int, int], bool]) -> int:
    """Return the first of the rows start … stop - 1 from which on all are of the last one's query, as far as told."""
    low, high = start, stop - 1
    while low < high:
        middle = (low + high) // 2
        if same_query(middle, stop - 1):
            high = middle
        else:
            low = middle + 1
    return low
