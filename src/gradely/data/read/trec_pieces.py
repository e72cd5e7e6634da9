"""TREC text in pieces, with array operations: the parts of a run, and qrels as columns over the text itself.

map_text reads a run, of which the ranges of a large file are read in processes; load_qrels reads qrels. Both split
lines into fields.
"""

import pickle  # nosec B403
import queue
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from gradely.data.columns import Triples
from gradely.data.hashing import SALT, has_repetition, hashes, is_distinct, new_tokens, ranges
from gradely.data.ids import LONGEST_NAME, PAD, Bools, Bytes, Floats, Ids, Ints, Tokens, Words, are_too_long
from gradely.data.qrels import Qrels
from gradely.data.read.lines import QRELS, Layout
from gradely.data.read.pieces import (
    LONGEST,
    NEWLINE,
    PIECE,
    Buffer,
    Piece,
    check_utf8,
    close,
    map_pieces,
    numbers,
    pieces,
    split_text,
    to_finite,
)
from gradely.data.source import LONGEST_LINE, DiskFile, Report, Source, UnpackedFile
from gradely.data.table import IrregularText, Part, ScatteredQueries
from gradely.parallel import MOST_TASKS, WorkerFailed, can_fork, cores, do_all, in_processes, on_threads, workers

T = TypeVar("T")
Field: TypeAlias = tuple[Ints, Ints]
"""start and stop of one field, for every line"""
BLANK, TAB, RETURN, HASH = 32, 9, 13, 35
QUERY, SUBTOPIC, DOC, LABEL = 0, 1, 2, 3
"""positions of the fields of qrels, of which few have subtopics; the layout of a run has the position of the score"""
RANGE = 1 << 24
"""bytes of a range: few enough that all workers finish at about the same time, and many more than a query has"""
LARGE = 1 << 28
"""size of a file, in bytes, for which the cost of starting processes is negligible"""
FEW = 4
"""number of workers up to which threads are as fast as processes"""
BLOCK = 1 << 16
"""bytes that are read at a time to find the start of a query"""


class Dialect(NamedTuple):
    """The input that a reader accepts in addition to regular lines."""

    comments: bool = False
    """lines that begin with # are skipped"""
    any_bytes: bool = False
    """text need not be UTF-8, and control characters are part of names"""
    number: Callable[[bytes], float] = to_finite
    """reads a number in an unusual notation; raises IrregularText if it is not a number"""
    duplicates: bool = False
    """a document may be judged twice for a query"""


STRICT = Dialect()


def map_text(
    source: Source,
    layout: Layout,
    work: Callable[[Part], T],
    threads: int,
    report: Report,
    dialect: Dialect | None,
    *,
    whole_queries: bool,
) -> Iterator[T]:
    """Run a function over all pieces of a file; yield the results in order."""

    def use(piece: Piece) -> T:
        return work(Part(piece.number, partial(_columns, piece, layout, dialect or STRICT)))

    if whole_queries and (processes := count_processes(source, threads)):
        try:
            return iter(map_ranges(source, use, processes, report))
        except WorkerFailed:  # threads do the work, or report the error
            pass
    return map_pieces(source, use, threads, report, whole_queries=whole_queries)


def _columns(piece: Piece, layout: Layout, dialect: Dialect) -> Triples:
    """Return query, document and number of each line."""
    query, document, number = fields(piece, layout, (QUERY, DOC, layout.value), dialect)
    return Triples(Ids(piece.text, *query), Ids(piece.text, *document), numbers(piece, *number, dialect.number))


def fields(piece: Piece, layout: Layout, columns: tuple[int, ...], dialect: Dialect = STRICT) -> list[Field]:
    """Return some of the fields of all lines; raise IrregularText if a line has too few or too many fields."""
    text = piece.text[piece.start : piece.stop]
    if not dialect.any_bytes:
        check_utf8(text)
    blank = np.less_equal(text, BLANK, out=piece.scratch())
    places = None if blank[0] or (blank[1:] & blank[:-1]).any() else _split_regular(text, blank, layout.width, columns)
    if places is None:
        places = _split_any(text, _white_space(text, blank, dialect), layout, columns, comments=dialect.comments)
    return [(start + piece.start, stop + piece.start) for start, stop in places]


def _split_regular(text: Bytes, blank: Bools, width: int, columns: tuple[int, ...]) -> list[Field] | None:
    """Return the fields of lines with exactly one blank or tab between fields; None if a line differs."""
    stop = np.flatnonzero(blank)
    kind = text[stop]
    spaces = np.count_nonzero(kind == BLANK) + np.count_nonzero(kind == TAB)
    newlines = np.count_nonzero(kind == NEWLINE)
    aligned = width * newlines == len(kind) == spaces + newlines and (kind[width - 1 :: width] == NEWLINE).all()
    if not aligned:
        return None
    first = np.concatenate([[-1], stop[width - 1 : -1 : width]])
    return [((stop[i - 1 :: width] if i else first) + 1, stop[i::width]) for i in columns]


def _white_space(text: Bytes, blank: Bools, dialect: Dialect) -> Bools:
    """Return flags of the bytes between fields; raise IrregularText for other control characters."""
    if dialect.any_bytes:
        return blank & ~((text < TAB) | (text - np.uint8(14) < 18))
    if text.min() < TAB or (text - np.uint8(14) < 18).any():
        raise IrregularText
    behind = np.flatnonzero(text == RETURN) + 1  # the last byte is a newline
    if not np.isin(text[behind], (RETURN, NEWLINE)).all():
        raise IrregularText
    return blank


def _split_any(text: Bytes, blank: Bools, layout: Layout, columns: tuple[int, ...], *, comments: bool) -> list[Field]:
    """Return the fields of lines with any white space between them; blank lines are skipped."""
    edge = np.flatnonzero(blank[1:] != blank[:-1]) + 1
    edge = edge if blank[0] else np.concatenate([[0], edge])
    start, stop = edge[::2], edge[1::2]
    newline, width = np.flatnonzero(text == NEWLINE), layout.width
    if len(start) == width * len(newline) and not comments:  # mostly every line has exactly its fields
        inside = (start[width::width] > newline[:-1]) & (stop[width - 1 : -1 : width] <= newline[:-1])
        if inside.all():
            return [(start[i::width], stop[i::width]) for i in columns]
    line = np.concatenate([[0], np.searchsorted(start, newline)])
    first, count = line[:-1], np.diff(line)
    used = count > 0
    if comments:
        used[used] = text[start[first[used]]] != HASH
    first, count = first[used], count[used]
    if (count < width).any() or (not layout.extra and (count > width).any()):
        raise IrregularText
    return [(start[first + i], stop[first + i]) for i in columns]


def count_processes(source: Source, threads: int) -> int:
    """Return the number of processes to read a file: 0 if it is small, compressed or a pipe, or if cores are few."""
    if source.size < LARGE or not can_fork():
        return 0
    count = min(workers(threads), cores())
    if count <= FEW:
        return 0
    with source.stream() as stream:
        return count if isinstance(stream, DiskFile) and stream.closefd else 0


def map_ranges(source: Source, work: Callable[[Piece], T], processes: int, report: Report) -> list[T]:
    """Run a function over all pieces of a file, its ranges in several processes; return the results in order."""
    with source.stream() as stream:
        first = stream.tell()
    count = min(MOST_TASKS, -(-(source.size - first) // RANGE))
    edges = np.linspace(first, source.size, count + 1).astype(np.int64).tolist()
    free: queue.SimpleQueue[Buffer] = queue.SimpleQueue()
    free.put(Buffer(PIECE))

    def work_on_range(number: int) -> bytes:
        try:
            return pickle.dumps(list(_map_range(source, free, edges, number, work)))
        except (IrregularText, ScatteredQueries) as error:
            return pickle.dumps(error)

    results: dict[int, list[T]] = {}
    for number, content in in_processes(work_on_range, count, processes):
        # a process of ours wrote this; content of a file is never unpickled
        result = pickle.loads(content)  # noqa: S301 # nosec B301
        if isinstance(result, Exception):
            raise result
        results[number] = result
        report(len(results) / count)
    return [result for number in range(count) for result in results[number]]


def _map_range(
    source: Source, free: "queue.SimpleQueue[Buffer]", edges: list[int], number: int, work: Callable[[Piece], T]
) -> Iterator[T]:
    """Yield the results of the pieces of a range between two edges."""
    with source.open() as file:
        begin, end = (next_query(file, at, edges[0]) for at in edges[number : number + 2])
        file.seek(begin)
        file.limit = end
        for piece in pieces(file, free, PIECE, whole_queries=True):
            yield work(piece)
            if piece.buffer is not None:
                free.put(piece.buffer)


def next_query(file: DiskFile, at: int, start: int) -> int:
    """Return the start of the next query after a position; the start and the end of the text are returned unchanged.

    It depends only on the position, so the end of one range is the start of the next. If the lines of a query are not
    contiguous, the query will appear in two ranges.
    """
    if at in (start, file.limit):
        return at
    query, line, rest = None, at, b""
    file.seek(at)
    while block := file.read(BLOCK):
        *lines, rest = (rest + block).split(b"\n")
        for number, content in enumerate(lines):
            name = content[:512].split(None, 1)[:1]
            if name and (line > at or number):  # the first line may be incomplete
                if query is not None and name != query:
                    return line
                query = name
            line += len(content) + 1
        if line - at > LONGEST or len(rest) > LONGEST:
            raise ScatteredQueries
    return file.limit


READ_AT_ONCE = 1 << 24
"""bytes that a thread reads at a time"""


class Columns(NamedTuple):
    """The data of every line; pieces write into their section, so nothing is stored twice."""

    doc: npt.NDArray[np.uint32] | Ints
    size: npt.NDArray[np.uint16]
    key: Words
    label: Floats

    def at(self, lines: Ints) -> "Columns":
        """Return the entries of some lines."""
        return Columns(self.doc[lines], self.size[lines], self.key[lines], self.label[lines])


class PieceQueries(NamedTuple):
    """The data of the queries of a piece."""

    lines: int
    first: Ints
    """first line of each"""
    start: Ints
    size: Ints
    hash: Words


def load_qrels(source: Source, threads: int, dialect: Dialect = STRICT) -> Qrels:
    """Return qrels as columns over the text; raise IrregularText if they must be read line by line.

    The text is held once, and pieces write into columns that have room for all lines. Concatenating the results of
    pieces, as for runs, takes a third more time and memory: for 7 million lines 1.5 s and 490 MB instead of 1.1 s and
    350 MB.
    """
    text, stop = _load(source, threads)
    pieces = list(split_text(text, stop))
    room = np.cumsum([0, *(np.count_nonzero(text[piece.start : piece.stop] == NEWLINE) for piece in pieces)])
    columns = _room(text, int(room[-1]))
    parts = list(on_threads(lambda piece: _write(piece, columns, int(room[piece.number]), dialect), pieces, threads))
    used = np.array([part.lines for part in parts], np.int64)
    if not used.sum():
        raise IrregularText
    if used.sum() < room[-1]:  # blank lines
        columns = columns.at(ranges(room[:-1], used))
    before = np.cumsum(used) - used
    first = np.concatenate([part.first + skipped for part, skipped in zip(parts, before.tolist(), strict=True)])
    start, size, hashed = (np.concatenate([part[i] for part in parts]) for i in (2, 3, 4))
    queries, first = Tokens(text, start, size), np.append(first, used.sum())
    if not is_distinct(hashed):
        queries, first, hashed, columns = _gather(queries, first, hashed, columns, dialect)
    qrels = Qrels(queries, first, Tokens(text, columns.doc, columns.size), columns.label, source.name)
    qrels.hashes = hashed, columns.key
    return qrels


class SubtopicLines(NamedTuple):
    """The lines of diversity qrels, as columns."""

    query: Ids
    subtopic: Ids
    document: Ids
    label: Floats


def load_by_subtopic(source: Source, threads: int) -> SubtopicLines:
    """Return all lines of diversity qrels; raise IrregularText if they must be read line by line."""
    text, stop = _load(source, threads)

    def take(piece: Piece) -> tuple[Any, ...]:
        *ids, label = fields(piece, QRELS, (QUERY, SUBTOPIC, DOC, LABEL))
        return *(edge for edges in ids for edge in edges), numbers(piece, *label)

    parts = list(on_threads(take, split_text(text, stop), threads))
    if not parts:
        raise IrregularText
    *edges, label = (np.concatenate(column) for column in zip(*parts, strict=True))
    query, subtopic, document = (Ids(text, *edges[i : i + 2]) for i in (0, 2, 4))
    if are_too_long(query, subtopic, document):
        raise IrregularText
    return SubtopicLines(query, subtopic, document, label)


def _gather(
    queries: Tokens, first: Ints, hashed: Words, columns: Columns, dialect: Dialect
) -> tuple[Tokens, Ints, Words, Columns]:
    """Group the lines by query, in the order in which queries first appear."""
    number: dict[bytes, int] = {}
    query = np.array([number.setdefault(queries.bytes_at(i), len(number)) for i in range(len(queries))])
    order = np.argsort(query, kind="stable")
    opens = order[np.diff(query[order], prepend=-1) != 0]
    lines = ranges(first[order], np.diff(first)[order])
    columns = columns.at(lines)
    owner = np.repeat(query[order], np.diff(first)[order])
    start = columns.doc.astype(np.int64)
    if not dialect.duplicates and has_repetition(columns.key, owner, queries.text, start, start + columns.size):
        raise IrregularText
    bounds = np.searchsorted(owner, np.arange(len(number) + 1))
    return Tokens(queries.text, queries.start[opens], queries.size[opens]), bounds, hashed[opens], columns


def _load(source: Source, threads: int) -> tuple[Bytes, int]:
    """Return the whole text with padding around it, and its end."""
    with source.stream() as stream:
        buffer = Buffer(source.size + 1)
        filled = PAD + _read_ranges(stream, buffer.view[PAD:], threads)
        while got := stream.readinto(buffer.view[filled : PAD + buffer.room]):
            filled += got
            if filled == PAD + buffer.room:
                if filled > LONGEST_LINE and not (buffer.bytes[filled - LONGEST_LINE : filled] == NEWLINE).any():
                    raise IrregularText
                buffer.grow(2 * buffer.room)
    if filled == PAD:
        raise IrregularText
    return buffer.bytes, close(buffer.bytes, filled)


def _read_ranges(stream: DiskFile | UnpackedFile, view: memoryview, threads: int) -> int:
    """Fill a buffer from a file on disk, on several threads, up to its end; return the number of bytes.

    Half of the time of reading is spent on memory pages that have not been used before.
    """
    if threads == 1 or not isinstance(stream, DiskFile):
        return 0
    first, last = stream.tell(), stream.limit
    ranges = [(start, min(start + READ_AT_ONCE, last)) for start in range(first, last, READ_AT_ONCE)]
    do_all(lambda part: stream.fill(view[part[0] - first : part[1] - first], part[0]), ranges, threads)
    stream.seek(last)
    return last - first


def _room(text: Bytes, lines: int) -> Columns:
    """Return empty columns for this many lines."""
    narrow: Any = np.uint32 if len(text) < 1 << 32 else np.int64
    return Columns(np.empty(lines, narrow), np.empty(lines, np.uint16), np.empty(lines, np.uint64), np.empty(lines))


def _write(piece: Piece, columns: Columns, offset: int, dialect: Dialect) -> PieceQueries:
    """Write the judgments of a piece into their section of the columns; return its queries."""
    text = piece.text
    (start, stop), (doc, doc_stop), label = fields(piece, QRELS, (QUERY, DOC, LABEL), dialect)
    first = new_tokens(text, start, stop)
    start, stop = start[first], stop[first]
    hashed, size = hashes(text, start, stop), doc_stop - doc
    key = hashes(text, doc, doc_stop)
    lines = np.diff(first, append=len(doc))
    key ^= np.repeat(hashed * SALT, lines)
    if max(size.max(initial=0), (stop - start).max(initial=0)) > LONGEST_NAME:
        raise IrregularText
    if not (dialect.duplicates or is_distinct(key)):
        owner = np.repeat(np.arange(len(lines)), lines)
        if has_repetition(key, owner, text, doc, doc_stop):
            raise IrregularText
    part = slice(offset, offset + len(doc))
    columns.doc[part], columns.size[part], columns.key[part] = doc, size, key
    columns.label[part] = numbers(piece, *label, dialect.number)
    return PieceQueries(len(doc), first, start, stop - start, hashed)
