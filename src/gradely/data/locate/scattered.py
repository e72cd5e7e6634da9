"""Tables whose queries are not contiguous: they are counted in two passes, or sorted by query in a temporary file.

count_scattered needs little memory. Its first pass finds the judged documents and their scores. The second finds, for
every line, the judged documents of its query that it is above or tied with. Of the lines themselves, only hashes are
kept, to detect duplicates; beyond a million, they are kept in a temporary file.

Merging duplicates and inspecting rankings requires whole queries, so map_queries sorts the rows by query. Rows of a
query keep their order, so values are the same to the last bit as if the queries were contiguous.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np

from gradely.data.columns import Triples, compact, leave_out_repeats, number_ids
from gradely.data.hashing import end_of_better, find_repeated, hashes, is_among, is_distinct, new_tokens
from gradely.data.hits import Hits, Unjudged
from gradely.data.ids import Bytes, Floats, Ids, Ints, Tokens, Words
from gradely.data.locate.parts import UNKNOWN, HashedQrels, PartLines, UnjudgedNames, match_documents, match_queries
from gradely.data.source import Report, change_error, ignore, split_report
from gradely.data.spool import NamedRows, NameSpool, Spool
from gradely.data.table import IrregularText, Part, Table
from gradely.data.tie_breaking import Documents
from gradely.parallel import on_threads
from gradely.settings import Settings

T = TypeVar("T")
CHANCE = 1000
"""largest number of keys that lines may share by accident; a billion lines share 0.03 on average"""


class FirstLook(NamedTuple):
    """The data that the first pass keeps of a part."""

    key: Words
    query: Ints
    """its judged queries, by index, possibly with duplicates"""
    size: Ints
    """number of lines of each"""
    unjudged: tuple[Ids, Words]
    """the queries without judgments, possibly with duplicates, and their hashes"""
    hits: tuple[Ints, Ints, Floats, Ints]
    """query, row, score and line of the judged documents"""


class FirstPass(NamedTuple):
    """The results of the first pass over all parts."""

    base: list[int]
    """number of lines before each part, and in total"""
    repeats: Words
    """keys of more than one line"""
    retrieved: Ints
    unjudged: Unjudged
    hits: list[Any]
    """query, row, score and line, as columns"""


class Judged(NamedTuple):
    """The judged documents of a run by query, best first; those of query i are start[i] … start[i+1] - 1."""

    start: Ints
    query: Ints
    row: Ints
    score: Floats
    docs: Documents | None
    """the same documents as Documents, if ties are broken"""


class SecondLook(NamedTuple):
    """The number of lines of a part, and slots among the judged documents of their queries, one per line."""

    lines: int
    lower: Ints
    """from here on, documents are lower than the line"""
    tied: Ints
    """the first document that ties with the line, for lines with such documents"""
    tied_stop: Ints
    """one past the last of these"""
    after: Ints
    """the first of these that comes after the line, if ties are broken"""


def count_scattered(table: Table, judgments: HashedQrels, settings: Settings, threads: int, report: Report) -> Hits:
    """Return the hits of a table in which the lines of a query may be anywhere."""

    def over_parts(work: Callable[[Part], T], report: Report) -> Iterator[T]:
        return table.map_parts(work, threads, report, whole_queries=False)

    earlier, later = split_report(report)
    looks = over_parts(partial(_first_look, judgments, settings), earlier)
    first = _join_looks(table.name, judgments, settings, looks)
    if len(first.repeats):
        check_distinct(over_parts(partial(_find_lines, judgments, settings, first.repeats), ignore))
    judged = _rank(judgments, settings, *first.hits)
    slots = len(judged.row) + len(judged.start)  # a query has one more than documents: for lines below all of these
    above, tied, ahead = (np.zeros(slots, np.int64) for _ in range(3))
    done = 0
    look_again = partial(_second_look, table.name, judgments, settings, judged, first.base)
    for look in over_parts(look_again, later):
        done += look.lines
        np.add.at(above, look.lower, 1)
        np.add.at(tied, look.tied, 1)
        np.subtract.at(tied, look.tied_stop, 1)
        if settings.breaks_ties:
            np.add.at(ahead, look.after, 1)
            np.subtract.at(ahead, look.tied_stop, 1)
    if done != first.base[-1]:
        raise change_error(table.name)
    above, tied, ahead = (_running(judged, count) for count in (above, tied, ahead))
    place = above + ahead if settings.breaks_ties else None
    return Hits(judged.query, judged.row, above, tied, place, first.retrieved, first.retrieved > 0, first.unjudged)


def _first_look(judgments: HashedQrels, settings: Settings, part: Part) -> FirstLook:
    """Find the judged documents of a part."""
    lines = match_queries(judgments, part.columns(), settings)
    line, row = match_documents(judgments, lines)
    judged = lines.judged
    unjudged = leave_out_repeats(lines.unjudged())
    hits = lines.query[lines.owner(line)], row, lines.score[line], line
    return FirstLook(lines.key, lines.query[judged], lines.size[judged], (compact(unjudged), hashes(*unjudged)), hits)


def _join_looks(name: str, judgments: HashedQrels, settings: Settings, looks: Iterable[FirstLook]) -> FirstPass:
    """Return the judged documents of all parts; nothing as long as the qrels is kept for a part."""
    base, hits, in_run = [0], list[Any](), np.zeros(len(judgments.key), bool)
    retrieved, left_out = np.zeros(len(judgments.qrels), np.int64), judgments.qrels.names_left_out
    with Spool(name, np.uint64) as keys, UnjudgedNames(name, settings, left_out, together=False) as unjudged:
        for look in looks:
            np.add.at(retrieved, look.query, look.size)
            unjudged.add(*look.unjudged)
            query, row, score, line = look.hits
            if in_run[row].any():
                raise IrregularText
            in_run[row] = True
            hits.append((query, row, score, line + base[-1]))
            keys.add(look.key, look.key.astype(np.uint8))
            base.append(base[-1] + len(look.key))
        repeats, names = find_repeats(keys), unjudged.all()
    if base[-1] == 0:
        raise IrregularText
    columns = [np.concatenate(parts) for parts in zip(*hits, strict=True)]
    return FirstPass(base, repeats, retrieved, names, columns)


def find_repeats(keys: Spool) -> Words:
    """Return the keys of more than one line; raise IrregularText if there are too many to be accidents."""
    repeats = np.zeros(0, np.uint64)
    for part in keys.parts():
        if not is_distinct(part):
            repeats = np.concatenate([repeats, find_repeated(part)])
        if len(repeats) > CHANCE:
            raise IrregularText
    return np.sort(repeats)


def _find_lines(judgments: HashedQrels, settings: Settings, keys: Words, part: Part) -> list[tuple[bytes, bytes]]:
    """Return query and document of the lines of a part that have one of these keys."""
    lines = match_queries(judgments, part.columns(), settings)
    line = np.flatnonzero(is_among(lines.key, keys))
    docs = Ids(lines.text, lines.start, lines.stop)
    return [
        (lines.name.bytes_at(owner), docs.bytes_at(i))
        for owner, i in zip(lines.owner(line).tolist(), line.tolist(), strict=True)
    ]


def check_distinct(parts: Iterable[list[tuple[bytes, bytes]]]) -> None:
    """Raise IrregularText if lines with the same key also have the same query and document."""
    names: set[tuple[bytes, bytes]] = set()
    for part in parts:
        before = len(names)
        names.update(part)
        if len(names) < before + len(part):
            raise IrregularText


def _rank(judgments: HashedQrels, settings: Settings, query: Ints, row: Ints, score: Floats, line: Ints) -> Judged:
    """Return the judged documents in rank order, tied ones as the policy orders them."""
    order = np.lexsort((-score, query))
    query, row, score, line = query[order], row[order], score[order], line[order]
    start = np.searchsorted(query, np.arange(len(judgments.qrels) + 1))
    if not settings.breaks_ties:
        return Judged(start, query, row, score, None)
    new = (np.diff(query, prepend=-1) != 0) | np.append(True, score[1:] != score[:-1])[: len(score)]
    docs = _documents(judgments, settings, query, row, line)
    order = docs.sort(np.cumsum(new))
    return Judged(start, query, row[order], score, docs.at(order))


def _documents(judgments: HashedQrels, settings: Settings, query: Ints, row: Ints, line: Ints) -> Documents:
    """Return judged documents as Documents, to break ties."""
    docs = judgments.docs
    names = Ids.of(Tokens(docs.text, docs.start[row], docs.size[row]))
    return Documents.of(settings, names, line, Ids.of(judgments.queries), query)


def _second_look(
    name: str, judgments: HashedQrels, settings: Settings, judged: Judged, base: list[int], part: Part
) -> SecondLook:
    """Find the judged documents that the lines of a part are above or tied with."""
    lines = match_queries(judgments, part.columns(), settings)
    if part.number >= len(base) - 1:
        raise change_error(name)
    query = np.repeat(lines.query, lines.size)
    line = np.flatnonzero(query != UNKNOWN)
    query, score = query[line], lines.score[line]
    bounds = judged.start[query], judged.start[query + 1]
    high = end_of_better(*bounds, lambda at: judged.score[at] > score)
    low = end_of_better(high, bounds[1], lambda at: judged.score[at] >= score)
    tied = np.flatnonzero(low > high)
    before = _behind(settings, judged, lines, (line[tied], high[tied], low[tied]), base[part.number])
    shift = query[tied]
    return SecondLook(len(lines.key), low + query, high[tied] + shift, low[tied] + shift, before + shift[: len(before)])


def _behind(settings: Settings, judged: Judged, lines: PartLines, tied: tuple[Ints, Ints, Ints], base: int) -> Ints:
    """Return the first judged document that comes after each tied line, among those that tie with it."""
    line, high, low = tied
    if judged.docs is None or not len(line):
        return high[:0]
    docs, mine = judged.docs, lines.documents(settings, line, base)
    return end_of_better(high, low, lambda at: ~mine.comes_before(docs.at(at)))


def _running(judged: Judged, count: Ints) -> Ints:
    """Return cumulative counts from the first slot of each document's query to its own; a query has a spare one."""
    sums: Ints = np.concatenate([[0], np.cumsum(count)])
    slot = np.arange(len(judged.row)) + judged.query
    out: Ints = sums[slot + 1] - sums[judged.start[judged.query] + judged.query]
    return out


class PartRows(NamedTuple):
    """The rows of a part, and its queries without judgments, possibly with duplicates, with their hashes."""

    rows: NamedRows
    part: Bytes
    """a byte of the hash of each row's query"""
    unjudged: tuple[Ids, Words]


def map_queries(
    table: Table,
    judgments: HashedQrels,
    unjudged: UnjudgedNames,
    work: Callable[[Part], T],
    threads: int,
    report: Report,
) -> Iterator[T]:
    """Run a function over parts of a table that hold whole queries, on threads; yield the results.

    Queries without judgments are added to `unjudged` in the order of the table.
    """
    first, second = split_report(report)
    with NameSpool(table.name) as spool:
        for rows, part, names in table.map_parts(partial(_copy_rows, judgments), threads, first, whole_queries=False):
            spool.add(rows, part)
            unjudged.add(*names)
        parts = (Part(number, partial(_by_query, rows)) for number, rows in enumerate(spool.parts()))
        yield from on_threads(work, parts, threads)
        second(1.0)


def _copy_rows(judgments: HashedQrels, part: Part) -> PartRows:
    query, document, value = part.columns()
    first = new_tokens(*query)
    names = query.take(first)
    index, key = judgments.find_queries(*names)
    unjudged = compact(leave_out_repeats(names.take(np.flatnonzero(index == UNKNOWN))))
    owner = np.repeat(key.astype(np.uint8), np.diff(first, append=len(value)))
    return PartRows(NamedRows([compact(query), compact(document)], value), owner, (unjudged, hashes(*unjudged)))


def _by_query(rows: NamedRows) -> Triples:
    """Return rows of query, document and score, with those of each query contiguous."""
    (query, document), value = rows
    order = np.argsort(number_ids(query)[0], kind="stable")
    return Triples(query.take(order), document.take(order), value[order])
