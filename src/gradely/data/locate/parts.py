"""Hits of one part of a table: rows are matched with the judgments by hash, sorted by score, and ranks are counted.

find_in_part does this for one part, and join_hits puts the hits of all parts together.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from gradely.data.columns import Triples, compact, has_repetition, new_tokens
from gradely.data.hashing import SALT, hashes, is_distinct, ranges
from gradely.data.hits import Hits
from gradely.data.ids import LONGEST_NAME, Bools, Bytes, Floats, Ids, Ints, Words
from gradely.data.locate.match import UNKNOWN, Judgments
from gradely.data.qrels import Qrels
from gradely.data.table import MERGED, IrregularText, Part, ScatteredQueries, Table, merge_rows
from gradely.data.tie_breaking import ORDERS, Documents
from gradely.data.unjudged import UnjudgedNames
from gradely.settings import Settings


class Lines(NamedTuple):
    """The rows of a part, with their queries matched. Those of query i are first[i] … first[i] + size[i] - 1."""

    text: Bytes
    start: Ints
    """start of the name of each document"""
    stop: Ints
    score: Floats
    key: Words
    """hash of query and document"""
    first: Ints
    size: Ints
    query: Ints
    """index of each query in the qrels, or UNKNOWN"""
    name: Ids
    """names of the queries"""

    @property
    def judged(self) -> Bools:
        """Flags of the queries with judgments."""
        flags: Bools = self.query != UNKNOWN
        return flags

    def owner(self, line: Ints) -> Ints:
        """Return the position of the query of each line in the part."""
        return np.searchsorted(self.first, line, side="right") - 1

    def unjudged(self) -> Ids:
        """Return the names of the queries that have no judgments."""
        return self.name.take(np.flatnonzero(~self.judged))

    def documents(self, settings: Settings, line: Ints, base: int = 0) -> Documents:
        """Return some lines as Documents, to break ties; `base` lines come before the part."""
        names = Ids(self.text, self.start[line], self.stop[line])
        return Documents.of(settings, names, line + base, self.name, self.owner(line))


class PartHits(NamedTuple):
    """The result of a part: its queries, and its judged documents."""

    query: Ints
    size: Ints
    unjudged: tuple[Ids, Words]
    """the queries without judgments, and their hashes"""
    hits: tuple[npt.NDArray[np.int32], ...]
    """query, row, above, tied and, if ties are broken, place of each judged document"""
    merged: int
    """number of duplicates that were merged"""
    seen: Any
    """the result of the observer for the lines, if there is one"""


class Observer(Protocol):
    """Collects something from the lines of a run while it is read, in whole queries, each in rank order."""

    def look(self, lines: Lines) -> Any:
        """Return data from some lines; called on any thread or process, so it must not change the observer."""

    def add(self, seen: Any) -> None:
        """Add a result of `look`; called in the order of the lines."""


def find_in_part(
    judgments: Judgments, settings: Settings, duplicates: str, observe: Observer | None, part: Part
) -> PartHits:
    """Return the judged documents of a part and their ranks; every query of the part must be whole."""
    rows, merged = part.columns(), 0
    if duplicates in MERGED:
        rows, merged = merge_rows(rows, duplicates)
    lines = read_lines(judgments, rows, settings)
    unjudged = lines.unjudged()
    judged, names = lines.query[lines.judged], hashes(*unjudged)
    if len(judgments.once(judged)) < len(judged):
        raise ScatteredQueries
    if not is_distinct(names) and len(set(unjudged.names())) < len(names):
        raise ScatteredQueries
    if not (duplicates == "keep" or is_distinct(lines.key)) and has_repetition(
        lines.key, np.repeat(np.arange(len(lines.size)), lines.size), lines.text, lines.start, lines.stop
    ):
        raise IrregularText
    lines = _in_order(lines)
    seen = None if observe is None else observe.look(lines)
    line, row = match_lines(judgments, lines)
    owner = lines.owner(line)
    first, last = _tie_groups(lines, line)
    above, tied = first - lines.first[owner], last - first
    hits = [lines.query[owner], row, above, tied]
    hits += [above + _places(lines, line, first, last, settings)] if settings.breaks_ties else []
    columns = tuple(column.astype(np.int32) for column in hits)
    return PartHits(lines.query, lines.size, (compact(unjudged), names), columns, merged, seen)


def read_lines(judgments: Judgments, rows: Triples, settings: Settings) -> Lines:
    """Return the rows of a part with the index of each query in the qrels and the key of each document."""
    query, document, score = rows
    first = new_tokens(*query)
    size = np.diff(first, append=len(score))
    query = query.take(first)
    if max(query.longest, document.longest) > LONGEST_NAME:
        raise IrregularText
    index, query_hash = judgments.query(*query)
    key = hashes(*document)
    key ^= np.repeat(query_hash * SALT, size)
    return Lines(*document, settings.round(score), key, first, size, index, query)


def match_lines(judgments: Judgments, lines: Lines) -> tuple[Ints, Ints]:
    """Return the lines of judged documents, and their rows in the qrels."""
    line, row = judgments.match(lines.query, lines.size, lines.key)
    query = lines.query[lines.owner(line)]
    confirmed = judgments.confirm(row, query, lines.text, lines.start[line], lines.stop[line])
    return line[confirmed], row[confirmed]


def _in_order(lines: Lines) -> Lines:
    """Sort the lines of each query by descending score; tied lines keep their order."""
    falls = lines.score[1:] <= lines.score[:-1]
    falls[lines.first[1:] - 1] = True
    if falls.all():
        return lines
    order = np.lexsort((-lines.score, np.repeat(np.arange(len(lines.first)), lines.size)))
    start, stop = lines.start[order], lines.stop[order]
    return lines._replace(start=start, stop=stop, score=lines.score[order], key=lines.key[order])


def _tie_groups(lines: Lines, line: Ints) -> tuple[Ints, Ints]:
    """Return the first line of the tie group of each line, and one past the last."""
    score, last = lines.score, len(lines.score) - 1
    alike = (score[np.maximum(line, 1) - 1] == score[line]) & (line > 0)
    alike |= (score[np.minimum(line + 1, last)] == score[line]) & (line < last)
    if not alike.any():
        return line, line + 1
    new = np.empty(len(lines.score) + 1, bool)
    np.not_equal(lines.score[1:], lines.score[:-1], out=new[1:-1])
    new[lines.first] = new[-1] = True
    group = np.flatnonzero(new)
    at = np.searchsorted(group, line, side="right")
    return group[at - 1], group[at]


def _places(lines: Lines, line: Ints, first: Ints, last: Ints, settings: Settings) -> Ints:
    """Return the number of the tied lines first … last - 1 that come before each line."""
    if ORDERS[settings.ties].by_line:
        return line - first
    out = np.zeros(len(line), np.int64)
    tied = np.flatnonzero(last - first > 1)
    if len(tied):
        line, first, last = line[tied], first[tied], last[tied]
        group = np.flatnonzero(np.diff(first, prepend=-1))
        docs = lines.documents(settings, ranges(first[group], (last - first)[group]))
        out[tied] = docs.places(line, first, last)
    return out


def join_hits(
    table: Table, qrels: Qrels, names: UnjudgedNames, parts: Iterable[PartHits], observe: Observer | None
) -> Hits:
    """Concatenate the hits of all parts of a table; raise ScatteredQueries if not all parts have whole queries.

    Queries without judgments are added to `names`, unless the reader has done so in the order of the run.
    """
    hits, seen, merged, retrieved = [], [], 0, np.zeros(len(qrels), np.int64)
    for part in parts:
        if names.together:
            names.add(*part.unjudged)
        judged = part.query != UNKNOWN
        if retrieved[part.query[judged]].any():
            raise ScatteredQueries
        retrieved[part.query[judged]] = part.size[judged]
        hits.append(part.hits)
        seen.append(part.seen)
        merged += part.merged
    if not names.added and not retrieved.any():
        raise IrregularText
    if not names.are_together:
        raise ScatteredQueries
    unjudged = names.all()
    if observe is not None:
        for one in seen:
            observe.add(one)
    table.note_merged(merged)
    query, row, above, tied, *place = map(np.concatenate, zip(*hits, strict=True))
    return Hits(query, row, above, tied, place[0] if place else None, retrieved, retrieved > 0, unjudged)
