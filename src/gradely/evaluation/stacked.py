"""StackedRuns: the hits of many runs in one table, to measure the same runs again and again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np

from gradely.data import Blocks, Hits, Qrels
from gradely.data.ids import Bools, Floats
from gradely.evaluation.notes import Note, note_names
from gradely.evaluation.sampled import measure_sampled
from gradely.evaluation.values import measure_blocks
from gradely.measures import Measure
from gradely.measures.names import fit_all
from gradely.settings import Settings


@dataclass(frozen=True, eq=False)
class StackedRuns:
    """Many runs on the same qrels. With Q queries, row s·Q + q of the stack is query q of run s."""

    qrels: Qrels
    names: list[str]
    hits: Hits
    """the hits; `query` is the row of the stack, `row` that of the qrels"""
    settings: Settings
    policies: Sequence[Note] = ()
    """notes on how queries and documents were treated, and how runs were read"""

    @classmethod
    def of(
        cls, qrels: Qrels, runs: Mapping[str, Hits], settings: Settings, policies: Sequence[Note] = ()
    ) -> "StackedRuns":
        """Return the stack of the hits of runs, {name: hits}."""
        parts = list(runs.values())
        query, row, above, tied, retrieved, answered = (
            np.concatenate([getattr(hits, field) for hits in parts])
            for field in ("query", "row", "above", "tied", "retrieved", "answered")
        )
        query = query + np.repeat(np.arange(len(parts)), [len(hits.query) for hits in parts]) * len(qrels)
        places = [hits.place for hits in parts if hits.place is not None]
        place = np.concatenate(places) if places else None
        stacked = Hits(query, row, above, tied, place, retrieved, answered)
        return cls(qrels, list(runs), stacked, settings, policies)

    def values(self, measures: Mapping[str, Measure]) -> Floats:
        """Return the values, [runs, queries, measures]; queries that a run lacks count as 0."""
        fitted = fit_all(measures, self.qrels.levels)
        hits = self.hits.judged_only() if self.settings.judged_only else self.hits
        answered = np.flatnonzero(self.hits.answered)
        blocks = Blocks(self.qrels, hits)
        if self.settings.ties == "sampled":
            values = measure_sampled(blocks, answered, fitted, self.settings, self.settings.workers).values
        else:
            values = measure_blocks(blocks, self.settings.ties, answered, fitted, self.settings.workers)
        return values.reshape(len(self.names), len(self.qrels), len(measures))

    def weights(self, queries: Bools | None = None) -> list[float] | None:
        """Return the weights of all queries, or of the flagged ones; None if all are equal."""
        weights, names = self.qrels.weights, self.qrels.queries
        chosen = names if queries is None else compress(names, queries)
        numbers = [] if weights is None else [weights[query] for query in chosen]
        return numbers if len(set(numbers)) > 1 else None

    def with_judgments(self, judged: Bools) -> "StackedRuns":
        """Return the runs as if only these judgments had been made; other documents keep their places."""
        start = np.concatenate([[0], np.cumsum(judged)])
        rows, subtopics = np.flatnonzero(judged), self.qrels.subtopics
        docs = () if subtopics is None else [self.qrels.docs[row] for row in rows.tolist()]
        smaller = Qrels(self.qrels.queries, start[self.qrels.start], docs, self.qrels.grade[judged], self.qrels.name)
        if subtopics is not None:
            smaller.subtopics = subtopics.select(np.arange(len(self.qrels)), rows)
        hits = self.hits.select(judged[self.hits.row])
        return replace(self, qrels=smaller, hits=hits._replace(row=start[hits.row]))

    def notes(self) -> list[Note]:
        """Return notes on how queries were treated, runs that lack some, and queries without relevant documents."""
        answered = self.hits.answered.reshape(len(self.names), -1)
        lacking = np.flatnonzero(~answered.all(axis=1)).tolist()
        relevant = np.concatenate([[0], np.cumsum(self.qrels.grade > 0)])[self.qrels.start]
        empty = np.flatnonzero(np.diff(relevant) == 0).tolist()
        runs, queries = [self.names[i] for i in lacking], [self.qrels.queries[i] for i in empty]
        lack, none = "lack{s} some of the queries, which count as 0", "{have} no relevant document and score{s} 0"
        none = none if self.settings.empty == "zero" else "{have} no relevant document and count{s} as 1"
        return [
            *self.policies,
            *note_names("missing", len(runs), len(self.names), "run", lack, runs),
            *note_names("degenerate", len(queries), len(self.qrels), "query", none, queries),
        ]
