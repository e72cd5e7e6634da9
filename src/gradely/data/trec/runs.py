"""A run the fast way: from its file to hits, piece by piece, on threads or, where it is large, in processes."""

import queue
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain, repeat
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from gradely.data.columns import Triples
from gradely.data.hits import Hits
from gradely.data.qrels import Qrels
from gradely.data.read.sources import Report, Source, change_error, ignore, split_report
from gradely.data.trec.chunks import (
    PIECE,
    Buffer,
    ChangedFile,
    IrregularText,
    Piece,
    QueryAt,
    ScatteredQueries,
    first_field,
    pieces,
)
from gradely.data.trec.decimals import numbers
from gradely.data.trec.fields import STRICT, Dialect, fields
from gradely.data.trec.file_ranges import LARGE, count_processes, map_ranges
from gradely.data.trec.match import Judgments
from gradely.data.trec.place import Observer, PieceHits, Rows, RunQueries, find_hits
from gradely.data.trec.plain import RUN
from gradely.data.trec.scattered import count_scattered
from gradely.data.trec.tokens import Ids
from gradely.processes import WorkerFailed
from gradely.settings import Settings
from gradely.threads import on_threads, workers

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
) -> Hits:
    """Return where the judged documents of a run stand; raise IrregularText where the plain reader must look."""

    def over_pieces(work: Callable[[Rows], Any], report: Report, *, whole_queries: bool) -> Iterator[Any]:
        def use(piece: Piece) -> Any:
            return work(RunPiece(piece, dialect))

        large = whole_queries and observe is None and source.size >= LARGE
        if large and (processes := count_processes(source, threads)):
            with suppress(WorkerFailed):  # threads will do, or say what is wrong
                return map_ranges(source, use, processes, report, 5 if settings.breaks_ties else 4, len(qrels))
        return map_pieces(source, use, threads, report, whole_queries=whole_queries)

    return stream(qrels, source.name, over_pieces, settings, report, observe)


def stream(
    qrels: Qrels, name: str, over_pieces: Pieces, settings: Settings, report: Report, observe: Observer | None = None
) -> Hits:
    """Return where the judged documents of a run stand, piece by piece, whatever the pieces are of."""
    judgments = Judgments.of(qrels)
    try:
        parts = over_pieces(lambda piece: find_hits(judgments, piece, settings, observe), report, whole_queries=True)
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
