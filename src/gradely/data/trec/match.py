"""Which judgment a line is about: hashes find it, bytes confirm it."""

import numpy as np

from gradely.data.qrels import Qrels
from gradely.data.trec.chunks import Odd
from gradely.data.trec.tokens import LAST, as_tokens, hashes, same, slots, words_of
from gradely.data.types import Bools, Bytes, Ints, Words

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

    def __init__(self, qrels: Qrels, query: Words, key: Words) -> None:
        """Take the judgments, hashes of their queries, and keys of their documents; refuse queries of one hash."""
        self.qrels, self.queries, self.docs = qrels, as_tokens(qrels.queries), as_tokens(qrels.docs)
        self.hash, self.salt, self.key = query, query * LAST, key
        self.order = np.argsort(query)
        self.sorted = query[self.order]
        if (self.sorted[1:] == self.sorted[:-1]).any():
            raise Odd

    @classmethod
    def of(cls, qrels: Qrels) -> "Judgments":
        """Return the judgments with hashes, which are made once."""
        if not isinstance(qrels.hashed, Judgments):
            query, key = as_tokens(qrels.queries).hashes(), as_tokens(qrels.docs).hashes()
            key ^= np.repeat(query * LAST, np.diff(qrels.start))
            qrels.hashed = cls(qrels, query, key)
        return qrels.hashed

    def query(self, text: Bytes, start: Ints, stop: Ints) -> tuple[Ints, Words]:
        """Return the index of each query, UNKNOWN where it has no judgments, and its salt."""
        found = hashes(text, start, stop)
        index = self._look_up(found)
        known = (self.hash[index] == found) & (self.queries.size[index] == stop - start)
        here = np.flatnonzero(known)
        begins = self.queries.start[index[here]].astype(np.int64)
        known[here] = same(text, start[here], self.queries.text, begins, (stop - start)[here])
        return np.where(known, index, UNKNOWN), found * LAST

    def _look_up(self, found: Words) -> Ints:
        """Return where queries of these hashes are, if anywhere; mostly they come in the order of the judgments."""
        first = self.order[min(int(np.searchsorted(self.sorted, found[0])), len(self.order) - 1)]
        if (self.hash[first : first + len(found)] == found).all() if first + len(found) <= len(self.hash) else False:
            return np.arange(first, first + len(found))
        return self.order[np.minimum(np.searchsorted(self.sorted, found), len(self.order) - 1)]

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

        The judgments are put into a table by part of their key; where two have the same place, one waits for the next
        round, with another part of the key.
        """
        rows = self._rows(queries)
        judged = self.key[rows]
        lines, found = [np.zeros(0, np.int64)], [rows[:0]]
        for top in (64, 56, 48, 40, 32):
            bits = max(12, (8 * len(rows)).bit_length())
            place, number = slots(judged, top - bits, bits), np.arange(len(rows), dtype=np.int32)
            table = np.full(1 << bits, -1, np.int32)
            table[place] = number
            there = table[slots(key, top - bits, bits)]
            line = np.flatnonzero(there >= 0)
            line = line[judged[there[line]] == key[line]]
            lines.append(line)
            found.append(rows[there[line]])
            lost = np.flatnonzero(table[place] != number)
            if not len(lost):
                return _by_line(np.concatenate(lines), np.concatenate(found))
            judged, rows = judged[lost], rows[lost]
        raise Odd

    def _rows(self, queries: Ints) -> Ints:
        """Return the rows of the judgments of some queries, each once."""
        start = self.qrels.start
        if (np.diff(queries) != 1).any():
            queries = np.sort(queries)
            queries = queries[np.diff(queries, prepend=-1) > 0]
            return ranges(start[queries], start[queries + 1] - start[queries])
        return np.arange(start[queries[0]], start[queries[-1] + 1]) if len(queries) else np.zeros(0, np.int64)


def _by_line(line: Ints, row: Ints) -> tuple[Ints, Ints]:
    """Return both in the order of lines."""
    order = np.argsort(line, kind="stable")
    return line[order], row[order]
