"""Table: rows of query, document and number, which can be read repeatedly, in parts. Run: a name and its scores.

A reader returns a Table; map_parts runs a function over its parts, and each part has its rows as columns. The scores of
a Run are a Table, a dict of dicts, or a frame in an engine (LazyScores); all are {query: {document: score}}.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain, repeat
from math import nan
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from gradely.data.column_roles import (
    Names,
    Roles,
    Sample,
    find_source,
    find_subtopic,
    hint_source,
    normalize,
    note_source,
    notes_on,
    pick_columns,
)
from gradely.data.columns import Triples, compact, concatenate, earliest_alike, number_ids
from gradely.data.hashing import new_tokens, ranges
from gradely.data.hits import Hits
from gradely.data.ids import Floats, Ids, Ints, as_text
from gradely.data.qrels import Qrels
from gradely.data.source import Report, ignore
from gradely.errors import DataError, clip
from gradely.parallel import cores, on_threads
from gradely.settings import Settings
from gradely.tables import count_of

T = TypeVar("T")
Scores: TypeAlias = Mapping[str, Mapping[str, float]]
"""{query: {document: number}}"""
DUPLICATES = {
    "error": "refuse them",
    "max": "take the highest number",
    "sum": "add the numbers up",
    "first": "take the first one",
}
"""the ways to merge duplicate documents of a query"""
DUPLICATES_HINT = "keep one, or pass duplicates='max', 'sum' or 'first' (--duplicates max)"
"""advice in errors about duplicates"""
MERGED = {"max": "the highest number counts", "sum": "their numbers are added up", "first": "the first one counts"}
"""how duplicates were merged, for notes"""


def describe_merged(name: str, count: int, duplicates: str) -> list[str]:
    """Return a sentence about duplicate documents that were merged, if there are any."""
    were = "was" if count == 1 else "were"
    return [f"{name}: {count_of(count, 'duplicate document')} {were} merged: {MERGED[duplicates]}"] if count else []


class DuplicateDocument(DataError):
    """A document occurs twice in a query, and the caller did not say how to merge duplicates."""


class IrregularText(Exception):
    """The text is irregular, and must be read line by line, which explains its errors."""


class ScatteredQueries(Exception):
    """The lines of a query are not contiguous, or too many to fit into a part."""


class FirstRow(NamedTuple):
    """One of the first rows, which are inspected for likely mistakes."""

    query: str
    rank: float
    """NaN if there is none"""
    score: float


def join_ranks(rows: Triples, ranks: Iterable[object]) -> list[FirstRow]:
    """Return rows with their ranks; a rank that is not a number becomes NaN."""
    numbers = (float(rank) if isinstance(rank, int | float) else nan for rank in chain(ranks, repeat(None)))
    return list(map(FirstRow, rows.query.names(), numbers, rows.value.tolist()))


class Part(NamedTuple):
    """Some rows of a table, which are converted to arrays by the thread that works on them."""

    number: int
    """number of parts before it"""
    columns: Callable[[], Triples]
    """returns the rows as arrays"""
    stop: int = 0
    """number of rows up to its end, if the table knows it"""


class Table(Mapping[str, Mapping[str, float]]):
    """Rows of query, document and number: a dataframe, a file, records.

    As a mapping, it is {query: {document: number}}: it is read on first access, and the dict of a query is made on
    access.
    """

    def __init__(self, name: str, kind: str, duplicates: str = "error") -> None:
        """Store its name for errors, the kind of its numbers (label or score), and how to merge duplicates."""
        self.name, self.kind, self.duplicates = name, kind, duplicates
        self.notes: list[str] = []
        """assumptions made when it was read"""
        self.chances: tuple[str, ...] = ()
        """columns with the probability of each label, if any; the first one is read as the number"""

    whole = False
    """true if queries are whole numbers, not text that looks like them"""
    rank: str | None = None
    """the rank column that a run has beside its scores; it is ignored"""
    unit = "row"
    """the word for a row in errors"""
    subtopic: str | None = None
    """a column that may hold subtopics; it is ignored"""
    hint = ""
    """an addition to errors about duplicates if a column may name runs or raters"""
    nameless = False
    """true if the document of a row may be empty, as in a table of segments, some of which are missing"""
    explains = False
    """true for text, whose errors `plain` explains with the number of the line"""
    is_small = False
    """true for text that is so small that reading it line by line is faster"""

    def pick_columns(self, names: Sequence[str], columns: Names | None, sample: Sample | None = None) -> Roles:
        """Return the columns to read; note if none of them holds labels, and other assumptions."""
        roles = pick_columns(names, self.kind, self.name, columns, sample)
        if self.kind == "score" and roles.sign > 0:
            self.rank = next((name for name in names if normalize(name) == "rank"), None)
        self.chances = roles.chances
        self.subtopic = find_subtopic(names)
        self.notes = notes_on(names, roles, self.kind, self.name, columns)
        source = find_source([name for name in names if name not in roles.names], self.kind)
        self.hint = hint_source(source, self.kind)
        if source is not None and self.kind == "score" and sample is not None:
            self.notes += note_source(source, sample(), self.name)
        return roles

    @abstractmethod
    def map_parts(self, work: Callable[[Part], T], threads: int, report: Report, *, whole_queries: bool) -> Iterator[T]:
        """Run a function over all parts, on threads or in processes; yield the results in order.

        With `whole_queries`, no query is split between parts.
        """

    @abstractmethod
    def first_rows(self, most: int) -> Iterable["FirstRow"]:
        """Return at most `most` of the first rows of a run whose scores are numbers."""

    def note_merged(self, count: int) -> None:
        """Set the note on the number of merged duplicates; a table may be read more than once."""
        notes = describe_merged(self.name, count, self.duplicates) if self.duplicates in MERGED else []
        self.notes = [*self.notes, *(note for note in notes if note not in self.notes)]

    def plain(self) -> Scores:
        """Return {query: {document: value}}; text is read line by line, with errors that name the line."""
        return _GroupedScores(self.triples())

    @cached_property
    def _scores(self) -> Scores:
        """{query: {document: value}}, read the fast way if possible."""
        try:
            return self.plain() if self.is_small else _GroupedScores(self.triples())
        except IrregularText:
            return self.plain()

    def __getitem__(self, query: str) -> Mapping[str, float]:
        """Return {document: value} of one query."""
        return self._scores[query]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the queries, in the order in which they first appear."""
        return iter(self._scores)

    def __len__(self) -> int:
        """Return the number of queries."""
        return len(self._scores)

    def qrels(self, threads: int | None = None) -> Qrels:
        """Return the judgments that the table holds."""
        try:
            qrels = self._read_qrels(threads)
        except DuplicateDocument as error:
            if self.subtopic is None:
                raise
            hint = f"if {clip(self.subtopic)} holds subtopics, pass subtopics=True (--subtopics)"
            raise DataError(f"{error}; {hint}") from None
        qrels.whole, qrels.notes = self.whole, self.notes
        return qrels

    def _read_qrels(self, threads: int | None) -> Qrels:
        try:
            rows = self.triples(threads)
            return Qrels(rows.query.tokens(), rows.start, rows.document.tokens(), rows.value, self.name)
        except IrregularText:
            return Qrels.of(self.plain(), self.name)

    def triples(self, threads: int | None = None) -> "RowsByQuery":
        """Return all rows, grouped by query, in the order in which queries first appear."""
        parts = list(self.map_parts(_copy_rows, threads or cores(), ignore, whole_queries=False))
        if not parts:
            raise DataError(f"{self.name}: has no rows")
        query, size, document, value = zip(*parts, strict=True)
        return _group(self, concatenate(query), np.concatenate(size), concatenate(document), np.concatenate(value))


def _copy_rows(part: Part) -> tuple[Ids, Ints, Ids, Floats]:
    """Copy the rows of a part, with one entry per run of rows of the same query."""
    query, document, value = part.columns()
    first = new_tokens(*query)
    return compact(query.take(first)), np.diff(first, append=len(value)), compact(document), value


class RowsByQuery(NamedTuple):
    """All rows of a table; those of query i are start[i] … start[i+1] - 1."""

    query: Ids
    start: Ints
    document: Ids
    value: Floats


def _group(table: Table, query: Ids, size: Ints, document: Ids, value: Floats) -> RowsByQuery:
    number, first = number_ids(query)
    count = np.bincount(number, weights=size).astype(np.int64)
    code, row = np.repeat(number, size), np.arange(len(value))
    if (np.diff(number) < 0).any():
        order = np.argsort(number, kind="stable")
        row = ranges((np.cumsum(size) - size)[order], size[order])
        code, document, value = code[row], document.take(row), value[row]
    alike = earliest_alike(code, document)
    if alike is not None:
        keep, value = merge_duplicates(table, query.take(first), code, document, value, alike, row)
        code, document, value = code[keep], document.take(keep), value[keep]
        count = np.bincount(code, minlength=len(first))
    return RowsByQuery(query.take(first), np.concatenate([[0], np.cumsum(count)]), document, value)


def merge_duplicates(
    table: Table, query: Ids, code: Ints, document: Ids, value: Floats, alike: Ints, row: Ints
) -> tuple[Ints, Floats]:
    """Return the rows to keep if there are duplicates, and all values, with merged values in the rows that are kept."""
    again = np.flatnonzero(alike != np.arange(len(alike)))
    if table.duplicates == "error":
        if table.explains:
            raise IrregularText
        at = again[0]
        pair = f"{table.unit}s {row[alike[at]] + 1} and {row[at] + 1}"
        raise DuplicateDocument(
            f"{table.name}: duplicate document {clip(document.name(at))} of query "
            f"{clip(query.name(int(code[at])))}, in {pair}; {DUPLICATES_HINT}{table.hint}"
        )
    table.note_merged(len(again))
    return _merge_values(value, alike, table.duplicates)


def _merge_values(value: Floats, alike: Ints, duplicates: str) -> tuple[Ints, Floats]:
    """Return the rows to keep, and all values, with merged values in the rows that are kept."""
    rows = np.arange(len(alike))
    again = np.flatnonzero(alike != rows)
    value = value.copy()
    if duplicates == "max":
        np.maximum.at(value, alike[again], value[again])
    elif duplicates == "sum":
        np.add.at(value, alike[again], value[again])
    return np.flatnonzero(alike == rows), value


def merge_rows(rows: Triples, duplicates: str) -> tuple[Triples, int]:
    """Return rows with their duplicates merged, and the number of these; the rows of each query must be contiguous."""
    query, document, value = rows
    first = new_tokens(*query)
    code = np.repeat(np.arange(len(first)), np.diff(first, append=len(value)))
    alike = earliest_alike(code, document)
    if alike is None:
        return rows, 0
    keep, value = _merge_values(value, alike, duplicates)
    return Triples(query.take(keep), document.take(keep), value[keep]), len(value) - len(keep)


class Run:
    """A run: scores by query and document, with ids as text, and its name."""

    def __init__(self, scores: Scores, name: str = "run", where: str = "") -> None:
        """Store the scores, the name of the run, and its name in error messages, which is that of its file."""
        self.scores, self.name, self.where = scores, name, where or name

    @property
    def notes(self) -> Sequence[str]:
        """The assumptions made when it was read."""
        return getattr(self.scores, "notes", ())

    def __len__(self) -> int:
        """Return the number of queries."""
        return len(self.scores)

    def __repr__(self) -> str:
        """Return a summary."""
        return f"Run({self.name}: {count_of(len(self), 'query')})"


class LazyScores(Mapping[str, Mapping[str, float]]):
    """Scores that stay in an engine, which finds the judged documents itself."""

    @abstractmethod
    def find_hits(self, qrels: Qrels, settings: Settings, report: Report) -> Hits:
        """Return the hits of the run."""

    @abstractmethod
    def first_scores(self, query: str, most: int) -> Floats:
        """Return at most `most` scores of a query."""

    @abstractmethod
    def find_tops(self, depth: int, settings: Settings) -> Iterable[tuple[str, str]]:
        """Return query and document of all rows that have fewer than `depth` documents of their query above them."""


class _GroupedScores(Mapping[str, dict[str, float]]):
    """Rows as {query: {document: score}}."""

    def __init__(self, rows: RowsByQuery) -> None:
        self.rows = rows
        self.index = {query: i for i, query in enumerate(rows.query.tokens())}

    def __getitem__(self, query: str) -> dict[str, float]:
        at = self.index[query]
        rows = slice(self.rows.start[at], self.rows.start[at + 1])
        document = self.rows.document
        tokens = Ids(document.text, document.start[rows], document.stop[rows]).tokens()
        return dict(zip(tokens[:], self.rows.value[rows].tolist(), strict=True))

    def __iter__(self) -> Iterator[str]:
        return iter(self.index)

    def __len__(self) -> int:
        return len(self.index)


ROWS = 1 << 16
"""number of rows that are processed at a time: few enough for the cache, and enough that threads seldom wait"""
LONGEST = 1 << 22
"""number of rows of the longest part; a longer query is treated as scattered"""


class PartedTable(Table):
    """A table that is split by row numbers."""

    rows: int
    """number of rows"""

    @abstractmethod
    def parts(self, *, whole_queries: bool) -> Iterator[Part]:
        """Yield all rows in parts; with `whole_queries`, no query is split."""

    def map_parts(self, work: Callable[[Part], T], threads: int, report: Report, *, whole_queries: bool) -> Iterator[T]:
        """Run a function over all parts, on threads."""
        parts = self.parts(whole_queries=whole_queries)
        for stop, result in on_threads(lambda part: (part.stop, work(part)), parts, threads):
            report(stop / self.rows)
            yield result


class MemoryTable(PartedTable):
    """A table whose rows are in memory, so any row can be accessed."""

    query: Any
    """the query of each row"""

    @abstractmethod
    def take(self, start: int, stop: int) -> Triples:
        """Return some rows as arrays."""

    ranks: Sequence[object] = ()
    """the ranks of the first rows, if a run has them: in a column, or as the places in lists of results"""

    def first_rows(self, most: int) -> Iterable[FirstRow]:
        """Return the first rows."""
        return join_ranks(self.take(0, min(most, self.rows)), self.ranks)

    def parts(self, *, whole_queries: bool) -> Iterator[Part]:
        """Yield ranges of rows."""

        def same_query(one: int, other: int) -> bool:
            return as_text(self.query[one], self.name) == as_text(self.query[other], self.name)

        edges = cuts(self.rows, same_query, whole_queries=whole_queries)
        return (Part(number, partial(self.take, *edge), edge[1]) for number, edge in enumerate(edges))


def cuts(length: int, same_query: Callable[[int, int], bool], *, whole_queries: bool) -> Iterator[tuple[int, int]]:
    """Yield where parts begin and end; with `whole_queries`, they end between queries, found by bisection."""
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
    """Return the first row of the last query among the rows start … stop - 1, assuming that its rows are contiguous."""
    low, high = start, stop - 1
    while low < high:
        middle = (low + high) // 2
        if same_query(middle, stop - 1):
            high = middle
        else:
            low = middle + 1
    return low
