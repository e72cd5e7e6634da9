"""Which judgment a line is about: hashes find it, bytes confirm it."""

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from gradely.data.columns import Triples
from gradely.data.hashing import (
    FIXED_KEYS,
    LONG,
    SALT,
    compare_names,
    end_of_better,
    find_repeated,
    hashes,
    is_among,
    is_distinct,
    ranges,
    rank_names,
    shuffle_keys,
    slots,
    token_hashes,
)
from gradely.data.ids import Bools, Bytes, Floats, Ids, Ints, Words, as_tokens, compare_tokens, words_of
from gradely.data.qrels import Qrels
from gradely.data.trec.plain import LONGEST_NAME
from gradely.data.trec.text import IrregularText, ScatteredQueries
from gradely.settings import Settings

UNKNOWN = -1
"""the index of a query that has no judgments"""
MANY = 4
"""with more judgments per line than this, lines are searched for among the judgments of their own queries; measured"""


def new_tokens(text: Bytes, start: Ints, stop: Ints) -> Ints:
    """Return the lines whose token differs from that of the line before.

    Words are compared with whatever stands before a short token, which is mostly the same in all lines; where they
    differ, or a token is long, the tokens themselves decide.
    """
    size, words = stop - start, words_of(text)
    longest = int(size.max(initial=0))
    differs = (size[1:] != size[:-1]) | (size[1:] > LONG)
    for done in range(8, min(longest, LONG) + 8, 8):
        word = words[np.maximum(stop - done, 0)]
        differs |= word[1:] != word[:-1]
    maybe = np.flatnonzero(differs) + 1
    again = size[maybe] == size[maybe - 1]
    again[again] = compare_tokens(text, start[maybe[again]], text, start[maybe[again] - 1], size[maybe[again]])
    return np.concatenate([[0], maybe[~again]]) if len(size) else maybe


class Judgments:
    """Judgments with hashes of their queries and documents."""

    def __init__(self, qrels: Qrels, query: Words, key: Words) -> None:
        """Take the judgments, hashes of their queries, and keys of their documents: hashes of both together."""
        self.qrels, self.queries, self.docs = qrels, as_tokens(qrels.queries), as_tokens(qrels.docs)
        self.hash, self.key = query, key
        self.order = np.argsort(query)
        self.sorted = query[self.order]
        self._shared = np.unique(self.sorted[1:][self.sorted[1:] == self.sorted[:-1]])
        """hashes that several queries share, if ever; these are looked up by name"""

    @classmethod
    def of(cls, qrels: Qrels) -> "Judgments":
        """Return the judgments with hashes, which are made once."""
        if not isinstance(qrels.hashed, Judgments):
            query, key = token_hashes(as_tokens(qrels.queries)), token_hashes(as_tokens(qrels.docs))
            key ^= np.repeat(query * SALT, np.diff(qrels.start))
            qrels.hashed = cls(qrels, query, key)
        return qrels.hashed

    def query(self, text: Bytes, start: Ints, stop: Ints) -> tuple[Ints, Words]:
        """Return the index of each query, UNKNOWN where it has no judgments, and its hash."""
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
        """Return where queries of these hashes are, if anywhere; mostly they come in the order of the judgments."""
        if not len(query):
            return np.array([], np.int64)
        first = self.order[min(int(np.searchsorted(self.sorted, query[0])), len(self.order) - 1)]
        if (self.hash[first : first + len(query)] == query).all() if first + len(query) <= len(self.hash) else False:
            return np.arange(first, first + len(query))
        return self.order[np.minimum(np.searchsorted(self.sorted, query), len(self.order) - 1)]

    def confirm(self, row: Ints, query: Ints, text: Bytes, start: Ints, stop: Ints) -> Bools:
        """Return which judgments are those of a query and of a document, byte for byte."""
        first, last = self.qrels.start[query], self.qrels.start[query + 1]
        right: Bools = (query != UNKNOWN) & (first <= row) & (row < last) & (self.docs.size[row] == stop - start)
        here = np.flatnonzero(right)
        right[here] = compare_tokens(
            text, start[here], self.docs.text, self.docs.start[row[here]].astype(np.int64), (stop - start)[here]
        )
        return right

    def match(self, query: Ints, size: Ints, key: Words) -> tuple[Ints, Ints]:
        """Return the lines whose key is that of a judgment, and the rows of the judgments, to be confirmed.

        Given are the queries of the lines, by index, and how many lines each has.
        """
        judged = query[query != UNKNOWN]
        if int((self.qrels.start[judged + 1] - self.qrels.start[judged]).sum()) > MANY * len(key):
            return self._search(query, size, key)
        return self._match(judged, key)

    def _match(self, queries: Ints, key: Words) -> tuple[Ints, Ints]:
        """Find keys in a table of the judgments of these queries.

        The judgments are put into the table by part of their key; where two have the same place, one waits for the next
        round, with another part of the key.
        """
        rows = self._rows(queries)
        judged = self.key[rows]
        lines, matches = [np.zeros(0, np.int64)], [rows[:0]]
        for top in (64, 56, 48, 40, 32):
            bits = max(12, (8 * len(rows)).bit_length())
            place, number = slots(judged, top - bits, bits), np.arange(len(rows), dtype=np.int32)
            table = np.full(1 << bits, -1, np.int32)
            table[place] = number
            there = table[slots(key, top - bits, bits)]
            line = np.flatnonzero(there >= 0)
            line = line[judged[there[line]] == key[line]]
            lines.append(line)
            matches.append(rows[there[line]])
            lost = np.flatnonzero(table[place] != number)
            if not len(lost):
                break
            judged, rows = judged[lost], rows[lost]
        else:
            line, row = _all_pairs(key, judged, rows)
            lines.append(line)
            matches.append(row)
        return _by_line(np.concatenate(lines), np.concatenate(matches))

    def _rows(self, queries: Ints) -> Ints:
        """Return the rows of the judgments of some queries, each once."""
        start = self.qrels.start
        if (np.diff(queries) != 1).any():
            queries = self.once(queries)
            return ranges(start[queries], start[queries + 1] - start[queries])
        return np.arange(start[queries[0]], start[queries[-1] + 1]) if len(queries) else np.zeros(0, np.int64)

    def once(self, queries: Ints) -> Ints:
        """Return queries by index, each once, in ascending order; flags are many times faster than sorting."""
        if (np.diff(queries) > 0).all():
            return queries
        there = np.zeros(len(self.qrels), bool)
        there[queries] = True
        return np.flatnonzero(there)

    @cached_property
    def _by_key(self) -> tuple[Ints, Words]:
        """The rows of the judgments in the order of their keys within each query, and the keys in that order."""
        query = np.repeat(np.arange(len(self.qrels)), np.diff(self.qrels.start))
        row = np.lexsort((self.key, query))
        return row, self.key[row]

    def _search(self, query: Ints, size: Ints, key: Words) -> tuple[Ints, Ints]:
        """Find keys by binary search among the judgments of each line's own query.

        Where lines of many queries are mixed, a table of all their judgments would be far larger than the lines.
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


def _all_pairs(key: Words, judged: Words, rows: Ints) -> tuple[Ints, Ints]:
    """Return all pairs of lines and rows with the same key; only keys that many judgments share come here."""
    order = np.argsort(judged, kind="stable")
    low, high = (np.searchsorted(judged[order], key, side) for side in ("left", "right"))
    return np.repeat(np.arange(len(key)), high - low), rows[order][ranges(low, high - low)]


def _by_line(line: Ints, row: Ints) -> tuple[Ints, Ints]:
    """Return both in the order of lines."""
    order = np.argsort(line, kind="stable")
    return line[order], row[order]


def has_repetition(key: Words, query: Ints, text: Bytes, start: Ints, stop: Ints) -> bool:
    """True where two lines are about the same query and document; lines that merely share their key are not.

    Given are the keys of all lines, the numbers of their queries, and where the names of their documents are.
    """
    suspects = np.flatnonzero(is_among(key, find_repeated(key)))
    names = {(int(query[i]), text[start[i] : stop[i]].tobytes()) for i in suspects.tolist()}
    return len(names) < len(suspects)


FEW = 4
"""up to so many comparisons per tied line, judged documents are compared with all others; beyond it, all are sorted"""


class Documents(NamedTuple):
    """Documents that may tie: where their names are, their lines, and their keys where ties are random."""

    text: Bytes
    start: Ints
    stop: Ints
    line: Ints
    """the number of the line in the file, or in the piece where it is compared within the piece alone"""
    key: Words | None

    @classmethod
    def of(
        cls, settings: Settings, text: Bytes, name: tuple[Ints, Ints], line: Ints, query: Words | None
    ) -> "Documents":
        """Take names by start and stop; random ties need hashes of the documents' queries, with the fixed keys."""
        start, stop = name
        key = None if query is None else shuffle_keys(settings.seed, query, hashes(text, start, stop, FIXED_KEYS))
        return cls(text, start, stop, line, key)

    def at(self, rows: Ints) -> "Documents":
        """Return some of the documents."""
        key = None if self.key is None else self.key[rows]
        return Documents(self.text, self.start[rows], self.stop[rows], self.line[rows], key)


def stands_before(settings: Settings, mine: Documents, other: Documents) -> Bools:
    """Return for each pair of tied documents whether the first one stands before the second."""
    if settings.ties == "order":
        return mine.line < other.line
    if mine.key is None or other.key is None:
        return _compare(mine, other) > 0
    before: Bools = mine.key < other.key
    alike = np.flatnonzero(mine.key == other.key)
    before[alike] = _compare(mine.at(alike), other.at(alike)) < 0
    return before


def _compare(mine: Documents, other: Documents) -> np.ndarray:
    return compare_names(mine.text, mine.start, mine.stop, other.text, other.start, other.stop)


def sort_tied(settings: Settings, docs: Documents, group: Ints) -> Ints:
    """Return the order that puts groups in order, and in each group the documents as the policy has it."""
    if settings.ties == "order":
        return np.lexsort((docs.line, group))
    name = rank_names(docs.text, docs.start, docs.stop, group if docs.key is None else _number_alike(docs.key, group))
    return np.lexsort((-name, group) if docs.key is None else (name, docs.key, group))


def _number_alike(key: Words, group: Ints) -> Ints:
    """Return numbers that are the same for documents of the same group and key; names decide among those alone."""
    order = np.lexsort((key, group))
    new = (np.diff(group[order], prepend=-1) != 0) | np.append(True, np.diff(key[order]) != 0)[: len(key)]
    out = np.empty(len(key), np.int64)
    out[order] = np.cumsum(new)
    return out


def place_among_tied(settings: Settings, docs: Documents, line: Ints, first: Ints, last: Ints) -> Ints:
    """Return how many of the tied documents first … last - 1 stand before each of some.

    The tie groups of these ascend. `docs` are those of all tie groups in a row.
    """
    new = np.flatnonzero(np.diff(first, prepend=-1))
    size = (last - first)[new]
    offset = np.repeat(np.cumsum(size) - size, np.diff(new, append=len(first)))
    own = offset + line - first
    if int((last - first).sum()) <= FEW * int(size.sum()):
        mine, other = np.repeat(np.arange(len(own)), last - first), ranges(offset, last - first)
        before = stands_before(settings, docs.at(other), docs.at(own[mine]))
        return np.bincount(mine[before], minlength=len(own))
    place = np.empty(int(size.sum()), np.int64)
    place[sort_tied(settings, docs, np.repeat(np.arange(len(size)), size))] = np.arange(len(place))
    out: Ints = place[own] - offset
    return out


class Rows(Protocol):
    """Lines of a file or rows of a table, as arrays when asked for."""

    @property
    def number(self) -> int:
        """How many pieces were before it."""

    def columns(self) -> Triples:
        """Return query, document and score of each row."""


class Lines(NamedTuple):
    """The lines of a piece. Those of its query number i are first[i] … first[i] + size[i] - 1."""

    text: Bytes
    start: Ints
    """where each document's name begins"""
    stop: Ints
    score: Floats
    key: Words
    """hash of query and document"""
    first: Ints
    size: Ints
    query: Ints
    """index of each query in the judgments, or UNKNOWN"""
    name: Ids
    """where each query's name is"""

    def owner(self, line: Ints) -> Ints:
        """Return which of the piece's queries lines are about."""
        return np.searchsorted(self.first, line, side="right") - 1

    def unjudged(self) -> Ids:
        """Return the names of the queries that have no judgments."""
        return self.name.take(np.flatnonzero(self.query == UNKNOWN))

    def documents(self, settings: Settings, line: Ints, base: int = 0) -> Documents:
        """Return what breaks ties between some lines; `base` lines stand before the piece."""
        query = None
        if settings.ties == "random":
            query = hashes(*self.name, FIXED_KEYS)[self.owner(line)]
        return Documents.of(settings, self.text, (self.start[line], self.stop[line]), line + base, query)


class PieceHits(NamedTuple):
    """What is left of a piece: its queries, and its judged documents."""

    query: Ints
    size: Ints
    unjudged: list[str]
    """names of queries without judgments"""
    hits: tuple[npt.NDArray[np.int32], ...]
    """query, row, above, tied and, where ties are broken, place of each judged document"""


class RunQueries:
    """The queries of a run, gathered piece by piece."""

    def __init__(self, judged: int) -> None:
        """Begin with none; so many have judgments."""
        self.retrieved = np.zeros(judged, np.int64)
        """[judged queries] how many lines each one has"""
        self.unjudged: dict[str, None] = {}

    def add(self, part: PieceHits) -> None:
        """Take the queries of a piece, in which each is there once; one that was in an earlier piece is scattered."""
        judged = part.query != UNKNOWN
        query, before = part.query[judged], len(self.unjudged)
        self.unjudged.update(dict.fromkeys(part.unjudged))
        if self.retrieved[query].any() or len(self.unjudged) < before + len(part.unjudged):
            raise ScatteredQueries
        self.retrieved[query] = part.size[judged]


Observer: TypeAlias = Callable[[Lines], None]
"""is shown the lines of each piece, with whole queries in rank order"""


def find_hits(
    judgments: Judgments,
    piece: Rows,
    settings: Settings,
    observe: Observer | None = None,
    duplicates: Observer | None = None,
) -> PieceHits:
    """Return where the judged documents of a piece stand; every query of it must be whole.

    Lines among which a document is there twice for a query are shown to `duplicates`, or irregular without it.
    """
    lines = read_lines(judgments, piece, settings)
    unjudged = lines.unjudged().names()
    judged = lines.query[lines.query != UNKNOWN]
    if len(judgments.once(judged)) < len(judged) or len(set(unjudged)) < len(unjudged):
        raise ScatteredQueries
    if not is_distinct(lines.key) and has_repetition(
        lines.key, np.repeat(np.arange(len(lines.size)), lines.size), lines.text, lines.start, lines.stop
    ):
        if duplicates is None:
            raise IrregularText
        duplicates(lines)
    lines = _in_order(lines)
    if observe is not None:
        observe(lines)
    line, row = match_lines(judgments, lines)
    owner = lines.owner(line)
    first, last = _tie_groups(lines, line)
    above, tied = first - lines.first[owner], last - first
    hits = [lines.query[owner], row, above, tied]
    hits += [above + _places(lines, line, first, last, settings)] if settings.breaks_ties else []
    return PieceHits(lines.query, lines.size, unjudged, tuple(column.astype(np.int32) for column in hits))


def read_lines(judgments: Judgments, piece: Rows, settings: Settings) -> Lines:
    """Return the lines of a piece."""
    query, document, score = piece.columns()
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
    """Return the lines that are about judged documents, and the rows of the judgments."""
    line, row = judgments.match(lines.query, lines.size, lines.key)
    query = lines.query[lines.owner(line)]
    confirmed = judgments.confirm(row, query, lines.text, lines.start[line], lines.stop[line])
    return line[confirmed], row[confirmed]


def _in_order(lines: Lines) -> Lines:
    """Return the lines with each query's scores descending; where they tie, as they were."""
    falls = lines.score[1:] <= lines.score[:-1]
    falls[lines.first[1:] - 1] = True
    if falls.all():
        return lines
    order = np.lexsort((-lines.score, np.repeat(np.arange(len(lines.first)), lines.size)))
    start, stop = lines.start[order], lines.stop[order]
    return lines._replace(start=start, stop=stop, score=lines.score[order], key=lines.key[order])


def _tie_groups(lines: Lines, line: Ints) -> tuple[Ints, Ints]:
    """Return the first line of the tie group that each line is in, and one past the last."""
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
    """Return how many of the tied lines first … last - 1 stand before each line."""
    if settings.ties == "order":
        return line - first
    out = np.zeros(len(line), np.int64)
    tied = np.flatnonzero(last - first > 1)
    if len(tied):
        line, first, last = line[tied], first[tied], last[tied]
        group = np.flatnonzero(np.diff(first, prepend=-1))
        docs = lines.documents(settings, ranges(first[group], (last - first)[group]))
        out[tied] = place_among_tied(settings, docs, line, first, last)
    return out
