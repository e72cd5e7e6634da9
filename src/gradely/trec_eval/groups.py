"""qrels_jg: judgments of several judges, or groups of them, whose name stands in the second column.

A measure is taken with each group's judgments alone; of a query it is the mean over its groups.
"""

from typing import NamedTuple

import numpy as np

from gradely.data import Hits, Qrels
from gradely.data.types import Floats, Ints


class Groups(NamedTuple):
    """Each group of each query as a query of its own, in the order of the queries, and of the groups' names."""

    qrels: Qrels
    query: Ints
    """[groups] the query that a group belongs to"""
    row: Ints
    """[judgments] where the document of a judgment is among the documents of all groups"""

    @classmethod
    def of(cls, labels: dict[str, dict[bytes, dict[str, float]]], name: str) -> tuple[Qrels, "Groups"]:
        """Return {query: {group: {document: label}}} as judgments of all groups together, and one by one."""
        together: dict[str, dict[str, float]] = {}
        apart: dict[str, dict[str, float]] = {}
        query: list[int] = []
        row: list[int] = []
        start = 0
        for i, (qid, groups) in enumerate(labels.items()):
            docs = together.setdefault(qid, {})
            for group in sorted(groups):
                for doc in groups[group]:
                    docs.setdefault(doc, 0.0)
            at = {doc: start + j for j, doc in enumerate(docs)}
            start += len(docs)
            for group in sorted(groups):
                apart[str(len(apart))] = groups[group]
                query.append(i)
                row += [at[doc] for doc in groups[group]]
        return Qrels.of(together, name), cls(Qrels.of(apart, name), np.asarray(query), np.asarray(row))

    def hits(self, together: Hits) -> Hits:
        """Return where the documents of each group landed."""
        assert together.place is not None
        entry = np.full(int(self.row.max()) + 1, -1)
        entry[together.row] = np.arange(len(together.row))
        judged = np.flatnonzero(entry[self.row] >= 0)
        at = entry[self.row[judged]]
        group = np.repeat(np.arange(len(self.query)), np.diff(self.qrels.start))
        return Hits(
            group[judged],
            judged,
            together.above[at],
            together.tied[at],
            together.place[at],
            together.retrieved[self.query],
            together.answered[self.query],
            together.unjudged,
        )

    def within(self, queries: Ints) -> Ints:
        """Return the groups of some queries."""
        return np.flatnonzero(np.isin(self.query, queries))

    def means(self, values: Floats, groups: Ints, queries: Ints) -> Floats:
        """Return the mean of each query over its groups, added up in their order, from the values of these groups."""
        table = np.zeros((len(self.query), values.shape[1]))
        table[groups] = values
        count = np.bincount(self.query)[queries]
        first = np.searchsorted(self.query, queries)
        added = np.zeros((len(queries), values.shape[1]))
        for i in range(int(count.max(initial=0))):
            has = count > i
            added[has] += table[first[has] + i]
        return added / count[:, None]
