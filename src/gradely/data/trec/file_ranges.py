"""A large run on all cores: worker processes take ranges of its file, each cut where a query begins.

Threads wait for one another, since every piece takes some hundred steps of Python: sixteen gain little over four.
Processes do not. They share the judgments as they are, and send back what is left of a range: its queries and its
judged documents.
"""

import queue
from collections.abc import Callable, Iterator

import numpy as np

from gradely.data.read.sources import DiskFile, Report, Source
from gradely.data.trec.chunks import LONGEST, PIECE, Buffer, IrregularText, Piece, ScatteredQueries, pieces
from gradely.data.trec.place import PieceHits, RunQueries
from gradely.data.trec.tokens import decode, encode
from gradely.processes import MOST_TASKS, can_fork, in_processes
from gradely.threads import cores, workers

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
