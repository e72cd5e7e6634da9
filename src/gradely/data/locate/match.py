"""Find the judgment that a line belongs to, by hash, and confirm it by the bytes of the names."""

from functools import cached_property

import numpy as np

from gradely.data.hashing import (
    SALT,
    compare_tokens,
    end_of_better,
    find_repeated,
    hashes,
    is_among,
    match_keys,
    ranges,
    token_hashes,
)
from gradely.data.ids import Bools, Bytes, Ints, Words, as_tokens
from gradely.data.qrels import Qrels

UNKNOWN = -1
"""index of a query that has no judgments"""
MANY = 4
"""with more judgments per line than this, lines are searched among the judgments of their own queries, as measured"""


class Judgments:
    """Judgments with hashes of their queries and documents."""

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
    def of(cls, qrels: Qrels) -> "Judgments":
        """Return the judgments with hashes, which are computed once."""
        if not isinstance(qrels.hashed, Judgments):
            qrels.hashed = cls(qrels)
        return qrels.hashed

    def _hash_names(self) -> tuple[Words, Words]:
        query, key = token_hashes(self.queries), token_hashes(self.docs)
        key ^= np.repeat(query * SALT, np.diff(self.qrels.start))
        return query, key

    def query(self, text: Bytes, start: Ints, stop: Ints) -> tuple[Ints, Words]:
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
