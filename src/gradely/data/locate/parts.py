"""Hits of one part of a table: rows are matched with the judgments by hash, sorted by score, and ranks are counted.

find_in_part does this for one part, with HashedQrels, which finds the judgment of a line by hash and confirms it by the
bytes of the names. UnjudgedNames collects the queries of all parts that have no judgments, if there are any, and
join_hits puts everything together.
"""

from collections.abc import Collection, Iterable
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
import numpy.typing as npt

from gradely.data.columns import Triples, compact, concatenate, number_ids
from gradely.data.hashing import (
    SALT,
    compare_tokens,
    end_of_better,
    find_repeated,
    has_repetition,
    hashes,
    is_among,
    is_distinct,
    match_keys,
    new_tokens,
    ranges,
    token_hashes,
)
from gradely.data.hits import EXAMPLES, Hits, Unjudged
from gradely.data.ids import Bools, Bytes, Floats, Ids, Ints, Words, are_too_long, as_tokens
from gradely.data.qrels import Qrels
from gradely.data.spool import NamedRows, NameSpool, Spool
from gradely.data.table import MERGED, IrregularText, Part, ScatteredQueries, Table, merge_rows
from gradely.data.tie_breaking import ORDERS, Documents
from gradely.settings import Settings

UNKNOWN = -1
"""index of a query that has no judgments"""
MANY = 4
"""with more judgments per line than this, lines are searched among the judgments of their own queries, as measured"""


class HashedQrels:
    """Qrels with hashes of their queries and documents, by which the judgment of a line is found."""

    def __init__(self, qrels: Qrels) -> None:
        """Store the judgments; hash their names, unless the reader has done it."""
        self.qrels, self.queries, self.docs = qrels, as_tokens(qrels.queries), as_tokens(qrels.docs)
        self.hash, self.key = qrels.hashes or self._hash_names()
        """hashes of the queries, and keys of the documents, which are hashes of query and document together"""
        self.order = np.argsort(self.hash)
        self.sorted = self.hash[self.order]
        self._shared = find_repeated(self.hash)
        """hashes that several queries share, if any; these queries are looked up by name"""

    @classmethod
    def of(cls, qrels: Qrels) -> "HashedQrels":
        """Return the judgments with hashes, which are computed once."""
        if not isinstance(qrels.hashed, HashedQrels):
            qrels.hashed = cls(qrels)
        return qrels.hashed

    def _hash_names(self) -> tuple[Words, Words]:
        query, key = token_hashes(self.queries), token_hashes(self.docs)
        key ^= np.repeat(query * SALT, np.diff(self.qrels.start))
        return query, key

    def find_queries(self, text: Bytes, start: Ints, stop: Ints) -> tuple[Ints, Words]:
        """Return the index of each query, UNKNOWN if it has no judgments, and its hash."""
        query = hashes(text, start, stop)
        index = self._look_up(query)
        is_same = (self.hash[index] == query) & (self.queries.size[index] == stop - start)
        here = np.flatnonzero(is_same)
        begins = self.queries.start[index[here]].astype(np.int64)
        is_same[here] = compare_tokens(text, start[here], self.queries.text, begins, (stop - start)[here])
        index = np.where(is_same, index, UNKNOWN)
        if len(self._shared):
            for i in np.flatnonzero(is_among(query, self._shared)).tolist():
                index[i] = self._by_name.get(text[start[i] : stop[i]].tobytes(), UNKNOWN)
        return index, query

    @cached_property
    def _by_name(self) -> dict[bytes, int]:
        """The queries whose hash is shared, by name."""
        return {self.queries.bytes_at(i): i for i in np.flatnonzero(is_among(self.hash, self._shared)).tolist()}

    def _look_up(self, query: Words) -> Ints:
        """Return the likely index of each query by its hash; most runs have queries in the order of the judgments."""
        if not len(query):
            return np.array([], np.int64)
        first = self.order[min(int(np.searchsorted(self.sorted, query[0])), len(self.order) - 1)]
        if (self.hash[first : first + len(query)] == query).all() if first + len(query) <= len(self.hash) else False:
            return np.arange(first, first + len(query))
        return self.order[np.minimum(np.searchsorted(self.sorted, query), len(self.order) - 1)]

    def confirm(self, row: Ints, query: Ints, text: Bytes, start: Ints, stop: Ints) -> Bools:
        """Return flags of the rows that are judgments of the given query and document, compared byte for byte."""
        first, last = self.qrels.start[query], self.qrels.start[query + 1]
        right: Bools = (query != UNKNOWN) & (first <= row) & (row < last) & (self.docs.size[row] == stop - start)
        here = np.flatnonzero(right)
        right[here] = compare_tokens(
            text, start[here], self.docs.text, self.docs.start[row[here]].astype(np.int64), (stop - start)[here]
        )
        return right

    def match(self, query: Ints, size: Ints, key: Words) -> tuple[Ints, Ints]:
        """Return the lines with the key of a judgment, and the rows of these judgments; matches must be confirmed.

        The arguments are the queries of the lines, by index, the number of lines of each, and the keys of the lines.
        """
        judged = query[query != UNKNOWN]
        if int((self.qrels.start[judged + 1] - self.qrels.start[judged]).sum()) > MANY * len(key):
            return self._search(query, size, key)
        rows = self._rows(judged)
        line, listed = match_keys(key, self.key[rows])
        return line, rows[listed]

    def _rows(self, queries: Ints) -> Ints:
        """Return the rows of the judgments of some queries, each once."""
        start = self.qrels.start
        if (np.diff(queries) != 1).any():
            queries = self.once(queries)
            return ranges(start[queries], start[queries + 1] - start[queries])
        return np.arange(start[queries[0]], start[queries[-1] + 1]) if len(queries) else np.zeros(0, np.int64)

    def once(self, queries: Ints) -> Ints:
        """Return queries by index, each once, ascending; flags are many times faster than sorting."""
        if (np.diff(queries) > 0).all():
            return queries
        there = np.zeros(len(self.qrels), bool)
        there[queries] = True
        return np.flatnonzero(there)

    @cached_property
    def _by_key(self) -> tuple[Ints, Words]:
        """The rows of the judgments sorted by key within each query, and the keys in that order."""
        query = np.repeat(np.arange(len(self.qrels)), np.diff(self.qrels.start))
        row = np.lexsort((self.key, query))
        return row, self.key[row]

    def _search(self, query: Ints, size: Ints, key: Words) -> tuple[Ints, Ints]:
        """Find keys by binary search among the judgments of each line's own query.

        If lines of many queries are mixed, a table of all their judgments would be far larger than the lines.
        """
        row, judged = self._by_key
        line = np.flatnonzero(np.repeat(query != UNKNOWN, size))
        owner, key = np.repeat(query, size)[line], key[line]
        first, last = self.qrels.start[owner], self.qrels.start[owner + 1]
        low = end_of_better(first, last, lambda at: judged[at] < key)
        count = np.zeros(len(line), np.int64)
        here = np.flatnonzero(low < last)
        while len(here := here[judged[(low + count)[here]] == key[here]]):
            count[here] += 1
            here = here[(low + count)[here] < last[here]]
        return np.repeat(line, count), row[ranges(low, count)]


class PartLines(NamedTuple):
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
    unjudged: tuple[Ids, Words] | None
    """the queries without judgments, and their hashes; None if there are none"""
    hits: tuple[npt.NDArray[np.int32], ...]
    """query, row, above, tied and, if ties are broken, place of each judged document"""
    merged: int
    """number of duplicates that were merged"""
    seen: Any
    """the result of the observer for the lines, if there is one"""


class Observer(Protocol):
    """Collects something from the lines of a run while it is read, in whole queries, each in rank order."""

    def look(self, lines: PartLines) -> Any:
        """Return data from some lines; called on any thread or process, so it must not change the observer."""

    def add(self, seen: Any) -> None:
        """Add a result of `look`; called in the order of the lines."""


def find_in_part(
    judgments: HashedQrels, settings: Settings, duplicates: str, observe: Observer | None, part: Part
) -> PartHits:
    """Return the judged documents of a part and their ranks; every query of the part must be whole."""
    rows, merged = part.columns(), 0
    if duplicates in MERGED:
        rows, merged = merge_rows(rows, duplicates)
    lines = match_queries(judgments, rows, settings)
    judged = lines.query[lines.judged]
    if len(judgments.once(judged)) < len(judged):
        raise ScatteredQueries
    unjudged = None if len(judged) == len(lines.query) else _unjudged_once(lines)
    if not (duplicates == "keep" or is_distinct(lines.key)) and has_repetition(
        lines.key, np.repeat(np.arange(len(lines.size)), lines.size), lines.text, lines.start, lines.stop
    ):
        raise IrregularText
    lines = _in_order(lines)
    seen = None if observe is None else observe.look(lines)
    line, row = match_documents(judgments, lines)
    owner = lines.owner(line)
    first, last = _tie_groups(lines, line)
    above, tied = first - lines.first[owner], last - first
    hits = [lines.query[owner], row, above, tied]
    hits += [above + _places(lines, line, first, last, settings)] if settings.breaks_ties else []
    columns = tuple(column.astype(np.int32) for column in hits)
    return PartHits(lines.query, lines.size, unjudged, columns, merged, seen)


def _unjudged_once(lines: PartLines) -> tuple[Ids, Words]:
    """Return the queries without judgments, and their hashes; raise ScatteredQueries for duplicates."""
    names = lines.unjudged()
    keys = hashes(*names)
    if not is_distinct(keys) and len(set(names.names())) < len(keys):
        raise ScatteredQueries
    return compact(names), keys


def match_queries(judgments: HashedQrels, rows: Triples, settings: Settings) -> PartLines:
    """Return the rows of a part with the index of each query in the qrels and the key of each document."""
    query, document, score = rows
    first = new_tokens(*query)
    size = np.diff(first, append=len(score))
    query = query.take(first)
    if are_too_long(query, document):
        raise IrregularText
    index, query_hash = judgments.find_queries(*query)
    key = hashes(*document)
    key ^= np.repeat(query_hash * SALT, size)
    return PartLines(*document, settings.round(score), key, first, size, index, query)


def match_documents(judgments: HashedQrels, lines: PartLines) -> tuple[Ints, Ints]:
    """Return the lines of judged documents, and their rows in the qrels."""
    line, row = judgments.match(lines.query, lines.size, lines.key)
    query = lines.query[lines.owner(line)]
    confirmed = judgments.confirm(row, query, lines.text, lines.start[line], lines.stop[line])
    return line[confirmed], row[confirmed]


def _in_order(lines: PartLines) -> PartLines:
    """Sort the lines of each query by descending score; tied lines keep their order."""
    falls = lines.score[1:] <= lines.score[:-1]
    falls[lines.first[1:] - 1] = True
    if falls.all():
        return lines
    order = np.lexsort((-lines.score, np.repeat(np.arange(len(lines.first)), lines.size)))
    start, stop = lines.start[order], lines.stop[order]
    return lines._replace(start=start, stop=stop, score=lines.score[order], key=lines.key[order])


def _tie_groups(lines: PartLines, line: Ints) -> tuple[Ints, Ints]:
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


def _places(lines: PartLines, line: Ints, first: Ints, last: Ints, settings: Settings) -> Ints:
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


class UnjudgedNames:
    """Collects the queries without judgments part by part.

    Their hashes, or their names if a query may be in several parts, go to a temporary file if they are many. Only if
    they count, all names are kept, in one buffer.
    """

    def __init__(self, run: str, settings: Settings, left_out: Collection[str], *, together: bool) -> None:
        """Store the name of the run, for errors, and the queries of the qrels that were left out.

        `together` is true if the lines of each query should be in one part.
        """
        self.run, self.together = run, together
        self.added = 0
        """number of queries in all parts; a query that is in several parts counts in each"""
        self._names: list[Ids] | None = [] if settings.counts_unjudged else None
        """all names, if they are needed and no query is in several parts"""
        self._examples: dict[str, None] = {}
        self._left_out = left_out
        self._met: set[str] = set()
        """the queries of the run that were left out"""

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the temporary file, if there is one."""
        if self.added:
            self._spool.__exit__()

    @cached_property
    def _spool(self) -> Spool | NameSpool:
        """The hashes or names of all parts, made when there are some: usually, every query is judged."""
        return Spool(self.run, np.uint64) if self.together else NameSpool(self.run)

    @cached_property
    def _left_out_hashes(self) -> Words:
        return np.sort(token_hashes(as_tokens(list(self._left_out))))

    def add(self, names: Ids, keys: Words) -> None:
        """Add the queries of a part, given their hashes."""
        if isinstance(self._spool, Spool):
            self._spool.add(keys, keys.astype(np.uint8))
            if self._names is not None:
                self._names.append(names)
        else:
            number = np.arange(self.added, self.added + len(keys), dtype=np.float64)
            self._spool.add(NamedRows([names], number), keys.astype(np.uint8))
        self.added += len(keys)
        if self._left_out:
            here = np.flatnonzero(is_among(keys, self._left_out_hashes))
            self._met.update(name for name in names.take(here).names() if name in self._left_out)
        if self._names is None and len(self._examples) < EXAMPLES:
            new = (name for name in map(names.name, range(len(keys))) if name not in self._left_out)
            self._examples.update(dict.fromkeys(islice(new, EXAMPLES)))

    @property
    def are_together(self) -> bool:
        """True if no query is in two parts; false if two queries share a hash, too."""
        return not self.added or isinstance(self._spool, NameSpool) or all(map(is_distinct, self._spool.parts()))

    def all(self) -> Unjudged:
        """Return the queries, each once."""
        if not self.added:
            return Unjudged()
        names, size = self._names, self.added
        if isinstance(self._spool, NameSpool):
            names, size = self._each_once(self._spool)
        size -= len(self._met)
        if names is None or not size:
            return Unjudged(size, tuple(islice(self._examples, EXAMPLES)))
        every = concatenate(names).tokens()
        return Unjudged(size, [name for name in every if name not in self._met] if self._met else every)

    def _each_once(self, spool: NameSpool) -> tuple[list[Ids] | None, int]:
        """Return all names if they are needed, in the order of first appearance, and their number."""
        size, names, numbers = 0, [], []
        for rows in spool.parts():
            first = number_ids(rows.names[0])[1]
            size += len(first)
            if self._names is not None:
                names.append(compact(rows.names[0].take(first)))
                numbers.append(rows.value[first])
        if not names:
            return None, size
        return [concatenate(names).take(np.argsort(np.concatenate(numbers)))], size


def join_hits(
    table: Table, qrels: Qrels, names: UnjudgedNames, parts: Iterable[PartHits], observe: Observer | None
) -> Hits:
    """Concatenate the hits of all parts of a table; raise ScatteredQueries if not all parts have whole queries.

    Queries without judgments are added to `names`, unless the reader has done so in the order of the run.
    """
    hits, seen, merged, retrieved = [], [], 0, np.zeros(len(qrels), np.int64)
    for part in parts:
        if names.together and part.unjudged is not None:
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
    if merged:
        table.note_merged(merged)
    query, row, above, tied, *place = map(np.concatenate, zip(*hits, strict=True))
    return Hits(query, row, above, tied, place[0] if place else None, retrieved, retrieved > 0, unjudged)
