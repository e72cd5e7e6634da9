"""Which judgment a line is about: hashes find it, bytes confirm it."""

import numpy as np

from gradely.data.fast.pieces import Odd
from gradely.data.qrels import Ints, Qrels
from gradely.data.tokens import LAST, Bools, Bytes, U, Words, as_tokens, hashes, same, words_of

UNKNOWN = -1
"""the index of a query that has no judgments"""


def new_tokens(text: Bytes, start: Ints, stop: Ints) -> Ints:
    """Return the lines whose token differs from that of the line before.

    Words are compared with whatever stands before a short token, which is mostly the same in all lines; where they
    differ, the tokens themselves decide.
    """
    size, words = stop - start, words_of(text)
    differs = size[1:] != size[:-1]
    for done in range(8, int(size.max()) + 8, 8):
        word = words[np.maximum(stop - done, 0)]
        differs |= word[1:] != word[:-1]
    maybe = np.flatnonzero(differs) + 1
    again = size[maybe] == size[maybe - 1]
    again[again] = same(text, start[maybe[again]], text, start[maybe[again] - 1], size[maybe[again]])
    return np.concatenate([[0], maybe[~again]])


def ranges(start: Ints, size: Ints) -> Ints:
    """Return start, start + 1, … start + size - 1 of all ranges in a row."""
    skipped = start - (np.cumsum(size) - size)
    return np.repeat(skipped, size) + np.arange(int(size.sum()))


class Judgments:
    """Judgments with hashes of their queries and documents."""

    def __init__(self, qrels: Qrels, query: Words, doc: Words) -> None:
        """Take the judgments and hashes of their queries and documents; refuse two queries of one hash."""
        self.qrels, self.queries, self.docs = qrels, as_tokens(qrels.queries), as_tokens(qrels.docs)
        self.order = np.argsort(query)
        self.found = query[self.order]
        if (self.found[1:] == self.found[:-1]).any():
            raise Odd
        self.salt: Words = query * LAST
        self.key = doc
        self.key ^= np.repeat(self.salt, np.diff(qrels.start))

    @classmethod
    def of(cls, qrels: Qrels) -> "Judgments":
        """Return the judgments with hashes, which are made once."""
        if not isinstance(qrels.hashed, Judgments):
            queries, docs = as_tokens(qrels.queries), as_tokens(qrels.docs)
            qrels.hashed = cls(qrels, queries.hashes(), docs.hashes())
        return qrels.hashed

    def query(self, text: Bytes, start: Ints, stop: Ints) -> tuple[Ints, Words]:
        """Return the index of each query, UNKNOWN where it has no judgments, and its salt."""
        found = hashes(text, start, stop)
        at = np.minimum(np.searchsorted(self.found, found), len(self.found) - 1)
        index = self.order[at]
        known = (self.found[at] == found) & (self.queries.size[index] == stop - start)
        here = np.flatnonzero(known)
        begins = self.queries.start[index[here]].astype(np.int64)
        confirmed = same(text, start[here], self.queries.text, begins, (stop - start)[here])
        known[here] = confirmed
        return np.where(known, index, UNKNOWN), found * LAST

    def confirm(self, row: Ints, query: Ints, text: Bytes, start: Ints, stop: Ints) -> Bools:
        """Return which judgments are those of a query and of a document, byte for byte."""
        first, last = self.qrels.start[query], self.qrels.start[query + 1]
        right: Bools = (query != UNKNOWN) & (first <= row) & (row < last) & (self.docs.size[row] == stop - start)
        here = np.flatnonzero(right)
        right[here] = same(
            text, start[here], self.docs.text, self.docs.start[row[here]].astype(np.int64), (stop - start)[here]
        )
        return right

    def match(self, queries: Ints, key: Words) -> tuple[Ints, Ints]:
        """Return the lines whose key is that of a judgment of these queries, and the rows of the judgments.

        A table of flags keeps most lines away from the search.
        """
        start = self.qrels.start
        queries = np.sort(queries)
        queries = queries[np.diff(queries, prepend=-1) > 0]
        rows = ranges(start[queries], start[queries + 1] - start[queries])
        judged = self.key[rows]
        order = np.argsort(judged)
        judged, rows = judged[order], rows[order]
        if (judged[1:] == judged[:-1]).any():
            raise Odd
        bits = min(20, max(14, int(8 * len(rows)).bit_length()))
        flags = np.zeros(1 << bits, bool)
        shift = U(64 - bits)
        flags[judged >> shift] = True
        line = np.flatnonzero(flags[(key >> shift).view(np.int64)])
        at = np.minimum(np.searchsorted(judged, key[line]), max(len(rows) - 1, 0))
        hit = judged[at] == key[line] if len(rows) else np.zeros(0, bool)
        return line[hit], rows[at[hit]]
