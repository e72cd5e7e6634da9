"""A run the fast way: from its file to hits, piece by piece, on threads."""

import queue
from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np

from gradely.data.hits import Hits
from gradely.data.qrels import Qrels
from gradely.data.read.files import Report, Source, halves
from gradely.data.rule import Rule
from gradely.data.trec.chunks import PIECE, Buffer, Odd, Piece, Scattered, pieces
from gradely.data.trec.match import UNKNOWN, Judgments
from gradely.data.trec.place import Landed, land
from gradely.data.trec.scattered import scattered
from gradely.data.trec.tokens import distinct
from gradely.threads import at_most, on_threads

T = TypeVar("T")
SMALL = 1 << 23
"""bytes of a file that is read before threads would have started"""


def stream_run(qrels: Qrels, source: Source, rule: Rule, threads: int, report: Report) -> Hits:
    """Return where the judged documents of a run landed; raise Odd where the plain reader must look."""
    judgments = Judgments.of(qrels)

    def landed(piece: Piece) -> Landed:
        return land(judgments, piece, rule)

    try:
        return _together(qrels, list(each_piece(source, landed, threads, report, whole_queries=True)))
    except Scattered:
        passes = iter(halves(report))
        return scattered(
            judgments, rule, lambda work: each_piece(source, work, threads, next(passes), whole_queries=False)
        )


def each_piece(
    source: Source, work: Callable[[Piece], T], threads: int, report: Report, *, whole_queries: bool
) -> Iterator[T]:
    """Run a function over all pieces of a file; yield the results in order."""
    free: queue.SimpleQueue[Buffer] = queue.SimpleQueue()

    def use(piece: Piece) -> T:
        try:
            return work(piece)
        finally:
            if piece.buffer is not None:
                free.put(piece.buffer)

    with source.stream() as stream:
        threads = at_most(threads) if source.size > SMALL else 1
        for _ in range(threads + 1 if threads > 1 else 1):
            free.put(Buffer(PIECE))
        for result in on_threads(use, pieces(stream, free, PIECE, whole_queries=whole_queries), threads):
            report(stream.tell() / source.size)
            yield result


def _together(qrels: Qrels, parts: list[Landed]) -> Hits:
    """Return the hits of all pieces; a query that is in two of them is scattered."""
    if not parts:
        raise Odd
    if not distinct(np.concatenate([part.salt for part in parts])):
        raise Scattered
    retrieved = np.zeros(len(qrels), np.int64)
    for part in parts:
        known = part.query != UNKNOWN
        retrieved[part.query[known]] = part.size[known]
    query, row, above, tied, *place = (
        np.concatenate(each) for each in zip(*(part.hits for part in parts), strict=True)
    )
    unjudged = tuple(name for part in parts for name in part.unjudged)
    return Hits(query, row, above, tied, place[0] if place else None, retrieved, retrieved > 0, unjudged)
