"""A run the fast way: from its file to hits, piece by piece, on threads or, where it is large, in processes."""

import queue
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain, repeat
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from gradely.data.columns import Triples
from gradely.data.hits import Hits
from gradely.data.ids import Ids, decode, encode
from gradely.data.qrels import Qrels
from gradely.data.read.sources import DiskFile, Report, Source, change_error, ignore, split_report
from gradely.data.trec.match import Judgments, Observer, PieceHits, Rows, RunQueries, find_hits
from gradely.data.trec.plain import RUN
from gradely.data.trec.scattered import count_scattered
from gradely.data.trec.text import (
    LONGEST,
    PIECE,
    STRICT,
    Buffer,
    ChangedFile,
    Dialect,
    IrregularText,
    Piece,
    QueryAt,
    ScatteredQueries,
    fields,
    first_field,
    numbers,
    pieces,
)
from gradely.parallel import MOST_TASKS, WorkerFailed, can_fork, cores, in_processes, on_threads, workers
from gradely.settings import Settings

RANGE = 1 << 24
"""bytes of a range: few enough that all workers end at about the same time, and many more than a query has"""
LARGE = 1 << 28
"""bytes of a file from which on starting processes costs next to nothing"""
FEW = 4
"""with so many workers or fewer, threads do as well"""
BLOCK = 1 << 16
"""bytes that are read at a time to find where a query begins"""
DONE, ODD, SCATTERED = b"d", b"o", b"s"
"""how the work on a range ended"""


def count_processes(source: Source, threads: int) -> int:
    """Return how many processes read a file: none where it is small, packed or a pipe, or where cores are few."""
    count = min(workers(threads), cores())
    if count <= FEW or not can_fork() or source.size < LARGE:
        return 0
    with source.stream() as stream:
        return count if isinstance(stream, DiskFile) and stream.closefd else 0


def map_ranges(
    source: Source, find: Callable[[Piece], PieceHits], processes: int, report: Report, columns: int, judged: int
) -> Iterator[PieceHits]:
    """Return what is left of each range of a file, in order; hits have so many columns, so many queries are judged.

    A query that is met twice ends the work at once, in its range or where ranges come together.
    """
    with source.stream() as stream:
        first = stream.tell()
    count = min(MOST_TASKS, -(-(source.size - first) // RANGE))
    edges = np.linspace(first, source.size, count + 1).astype(np.int64).tolist()
    free: queue.SimpleQueue[Buffer] = queue.SimpleQueue()
    free.put(Buffer(PIECE))

    def work(number: int) -> bytes:
        try:
            queries, parts = RunQueries(judged), []
            for part in _map_pieces(source, free, edges, number, find):
                queries.add(part)
                parts.append(part)
            return DONE + _pack(parts)
        except IrregularText:
            return ODD
        except ScatteredQueries:
            return SCATTERED

    queries, results = RunQueries(judged), dict[int, PieceHits]()
    for number, result in in_processes(work, count, processes):
        if result == ODD:
            raise IrregularText
        if result == SCATTERED:
            raise ScatteredQueries
        results[number] = _unpack(result[1:], columns)
        queries.add(results[number])
        report(len(results) / count)
    return iter([results[number] for number in range(count)])


def _map_pieces(
    source: Source, free: "queue.SimpleQueue[Buffer]", edges: list[int], number: int, find: Callable[[Piece], PieceHits]
) -> Iterator[PieceHits]:
    """Yield what is left of the pieces of a range between two edges."""
    with source.open() as file:
        begin, end = (next_query(file, at, edges[0]) for at in edges[number : number + 2])
        file.seek(begin)
        file.limit = end
        for piece in pieces(file, free, PIECE, whole_queries=True):
            yield find(piece)
            if piece.buffer is not None:
                free.put(piece.buffer)


def next_query(file: DiskFile, at: int, start: int) -> int:
    """Return where the first query begins behind the one at a position; the start of the text and its end stay.

    It depends on the position alone, so that the end of one range is the start of the next. Where the lines of a query
    are not together, the query will be met twice.
    """
    if at in (start, file.limit):
        return at
    query, line, rest = None, at, b""
    file.seek(at)
    while block := file.read(BLOCK):
        *lines, rest = (rest + block).split(b"\n")
        for number, content in enumerate(lines):
            name = content[:512].split(None, 1)[:1]
            if name and (line > at or number):  # the first line may be the end of one
                if query is not None and name != query:
                    return line
                query = name
            line += len(content) + 1
        if line - at > LONGEST or len(rest) > LONGEST:
            raise ScatteredQueries
    return file.limit


def _pack(parts: list[PieceHits]) -> bytes:
    """Return what is left of some pieces as bytes."""
    names = "\n".join(name for part in parts for name in part.unjudged)
    counts = np.array([sum(len(part.query) for part in parts), sum(len(part.hits[0]) for part in parts)], np.int64)
    columns = [part.query for part in parts], [part.size for part in parts]
    arrays = [np.concatenate([np.zeros(0, np.int64), *column]) for column in columns]
    hits = [np.concatenate(column) for column in zip(*(part.hits for part in parts), strict=True)]
    return b"".join([counts.tobytes(), *(array.tobytes() for array in (*arrays, *hits)), encode(names)])


def _unpack(content: bytes, columns: int) -> PieceHits:
    """Return what was packed."""
    queries, hits = np.frombuffer(content, np.int64, 2).tolist()
    at = 16
    query, size = np.frombuffer(content, np.int64, 2 * queries, at).reshape(2, queries)
    at += query.nbytes + size.nbytes
    table = np.frombuffer(content, np.int32, columns * hits, at).reshape(columns, hits)
    names = decode(content[at + table.nbytes :])
    return PieceHits(query, size, names.split("\n") if names else [], tuple(table))


T = TypeVar("T")
SMALL = 1 << 23
"""bytes of a file that is read before threads would have started"""


QUERY, DOC, SCORE = 0, 2, 4
"""the fields of a run that matter"""


class RunPiece(NamedTuple):
    """A piece of a run in TREC text."""

    piece: Piece
    dialect: Dialect

    @property
    def number(self) -> int:
        """How many pieces were before it."""
        return self.piece.number

    def columns(self) -> Triples:
        """Return query, document and score of each line."""
        query, document, score = fields(self.piece, RUN, (QUERY, DOC, SCORE), self.dialect)
        text = self.piece.text
        return Triples(Ids(text, *query), Ids(text, *document), numbers(self.piece, *score, self.dialect.number))


class Pieces(Protocol):
    """Runs a function over all pieces of a run, and yields the results in order."""

    def __call__(self, work: Callable[[Rows], Any], report: Report, *, whole_queries: bool) -> Iterator[Any]:
        """Do so; with `whole_queries`, no query is cut."""


def stream_run(
    qrels: Qrels,
    source: Source,
    settings: Settings,
    threads: int,
    report: Report,
    dialect: Dialect = STRICT,
    observe: Observer | None = None,
    duplicates: Observer | None = None,
) -> Hits:
    """Return where the judged documents of a run stand; raise IrregularText where the plain reader must look."""

    def over_pieces(work: Callable[[Rows], Any], report: Report, *, whole_queries: bool) -> Iterator[Any]:
        def use(piece: Piece) -> Any:
            return work(RunPiece(piece, dialect))

        large = whole_queries and observe is None and duplicates is None and source.size >= LARGE
        if large and (processes := count_processes(source, threads)):
            with suppress(WorkerFailed):  # threads will do, or say what is wrong
                return map_ranges(source, use, processes, report, 5 if settings.breaks_ties else 4, len(qrels))
        return map_pieces(source, use, threads, report, whole_queries=whole_queries)

    return stream(qrels, source.name, over_pieces, settings, report, observe, duplicates)


def stream(
    qrels: Qrels,
    name: str,
    over_pieces: Pieces,
    settings: Settings,
    report: Report,
    observe: Observer | None = None,
    duplicates: Observer | None = None,
) -> Hits:
    """Return where the judged documents of a run stand, piece by piece, whatever the pieces are of."""
    judgments = Judgments.of(qrels)
    try:
        parts = over_pieces(
            lambda piece: find_hits(judgments, piece, settings, observe, duplicates), report, whole_queries=True
        )
        return _join_hits(qrels, parts)
    except ScatteredQueries:
        pass
    passes = chain(split_report(report), repeat(ignore))
    try:
        return count_scattered(
            name, judgments, settings, lambda work: over_pieces(work, next(passes), whole_queries=False)
        )
    except ChangedFile:
        raise change_error(name) from None


def map_pieces(
    source: Source,
    work: Callable[[Piece], T],
    threads: int,
    report: Report,
    *,
    whole_queries: bool,
    query_at: QueryAt = first_field,
    skip: int = 0,
) -> Iterator[T]:
    """Run a function over all pieces of a file, less some bytes at its start; yield the results in order."""
    free: queue.SimpleQueue[Buffer] = queue.SimpleQueue()

    def use(piece: Piece) -> T:
        try:
            return work(piece)
        finally:
            if piece.buffer is not None:
                free.put(piece.buffer)

    with source.stream() as stream:
        while skip:
            skip -= stream.readinto(bytearray(skip)) or skip
        threads = workers(threads) if source.size > SMALL else 1
        for _ in range(threads + 1 if threads > 1 else 1):
            free.put(Buffer(PIECE))
        for result in on_threads(
            use, pieces(stream, free, PIECE, whole_queries=whole_queries, query_at=query_at), threads
        ):
            report(stream.tell() / source.size)
            yield result


def _join_hits(qrels: Qrels, parts: Iterator[PieceHits]) -> Hits:
    """Return the hits of all pieces, each of which has whole queries."""
    queries, hits = RunQueries(len(qrels)), []
    for part in parts:
        queries.add(part)
        hits.append(part.hits)
    if not queries.unjudged and not queries.retrieved.any():
        raise IrregularText
    query, row, above, tied, *place = (np.concatenate(columns) for columns in zip(*hits, strict=True))
    retrieved, unjudged = queries.retrieved, tuple(queries.unjudged)
    return Hits(query, row, above, tied, place[0] if place else None, retrieved, retrieved > 0, unjudged)
