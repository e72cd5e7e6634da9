"""Evaluates runs against several qrels, such as those of several judges; each run is read once."""

from collections.abc import Mapping
from itertools import compress
from typing import Any

import numpy as np

from gradely.data import Hits, Qrels
from gradely.data.ids import Floats, Ints
from gradely.data.selection import select
from gradely.data.uncertain import UncertainQrels
from gradely.evaluation.evaluate import Evaluations, Progress, evaluate_all, ignore
from gradely.evaluation.values import Evaluation
from gradely.lazy import lazy
from gradely.measures import Measure
from gradely.measures.names import fit_all
from gradely.settings import Settings


class SeveralQrels:
    """Qrels by name, and a table of all documents that are judged in any of them."""

    def __init__(self, qrels: Mapping[str, Qrels]) -> None:
        """Join the documents of all qrels query by query, in the order in which they first appear."""
        self.qrels = dict(qrels)
        places: dict[str, dict[str, int]] = {}
        for one in self.qrels.values():
            for query in one.queries:
                known = places.setdefault(query, {})
                for doc in one.documents(query):
                    known.setdefault(doc, len(known))
        self.queries = list(places)
        self.start = np.zeros(len(places) + 1, np.int64)
        np.cumsum([len(docs) for docs in places.values()], out=self.start[1:])
        self.docs = [doc for docs in places.values() for doc in docs]
        self._places = places

    @lazy
    def rows(self) -> Ints:
        """[documents, qrels] the row of each document in each of the qrels, or -1 if it is not judged there."""
        table = np.full((len(self.docs), len(self.qrels)), -1)
        first = dict(zip(self.queries, self.start.tolist(), strict=False))
        for j, one in enumerate(self.qrels.values()):
            for query, start in zip(one.queries, one.start.tolist(), strict=False):
                place, base = self._places[query], first[query]
                for row, doc in enumerate(one.documents(query), start):
                    table[base + place[doc], j] = row
        return table

    @lazy
    def labels(self) -> Floats:
        """[documents, qrels] the labels; NaN if there is none."""
        columns = [
            np.where(rows < 0, np.nan, one.grade[rows])
            for rows, one in zip(self.rows.T, self.qrels.values(), strict=True)
        ]
        return np.stack(columns, axis=1)

    def evaluate(
        self,
        runs: Mapping[str, Any],
        measures: Mapping[str, Measure],
        settings: Settings,
        progress: Progress = ignore,
    ) -> dict[str, Evaluations]:
        """Return the evaluations of the runs against each of the qrels; a run may be a function that opens it."""
        first = next(iter(self.qrels.values()))
        grade = np.zeros(len(self.docs))
        if not isinstance(first, UncertainQrels):  # no value depends on these labels, but notes on swapped inputs do
            grade = np.where(self.rows[:, 0] < 0, 0.0, first.grade[self.rows[:, 0]])
        every = Qrels(self.queries, self.start, self.docs, grade)
        every.excluded = first.excluded
        every.selected = any(one.selected for one in self.qrels.values())
        every = select(every, exclude_self=settings.exclude_self)  # for all queries, not just those of the first qrels
        read = evaluate_all(every, runs, {}, settings, progress).evaluations
        return {name: self._take(j, name, read, measures, settings) for j, name in enumerate(self.qrels)}

    def _take(
        self, j: int, name: str, read: Mapping[str, Evaluation], measures: Mapping[str, Measure], settings: Settings
    ) -> Evaluations:
        """Return the evaluations against one of the qrels; its documents keep their places in the runs."""
        one, judged = self.qrels[name], self.rows[:, j] >= 0
        has_query = np.array([query in one.index for query in self.queries])
        counts = np.concatenate([[0], np.cumsum(judged)])
        begin = counts[self.start]
        start = np.concatenate([begin[:-1][has_query], [counts[-1]]])
        queries, docs = list(compress(self.queries, has_query)), list(compress(self.docs, judged))
        mine = one.subset(queries, start, docs, self.rows[judged, j])
        mine.whole, mine.notes, mine.segments, mine.excluded = one.whole, one.notes, one.segments, one.excluded
        fitted, numbers = fit_all(measures, mine.levels), np.cumsum(has_query) - 1

        def select(hits: Hits) -> Hits:
            chosen = hits.select(judged[hits.row])
            return chosen._replace(
                query=numbers[chosen.query],
                row=counts[chosen.row],
                retrieved=hits.retrieved[has_query],
                answered=hits.answered[has_query],
            )

        evaluations = {
            run: Evaluation(
                *(mine, select(found.hits), fitted, settings, run, found.placed, found.workers),
                id_mismatch=found.id_mismatch,
                about_run=found.about_run,
            )
            for run, found in read.items()
        }
        return Evaluations(mine, measures, settings, evaluations)
