"""Evaluation: where the judged documents of one run stand, measured."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from gradely.data import Blocks, Hits, Qrels
from gradely.data.details import RunDetails
from gradely.data.types import Bools, Floats, Ints
from gradely.evaluation.mismatch import labels_below
from gradely.evaluation.notes import NAMED, Note, TieRange, note_names
from gradely.evaluation.scores import Scores
from gradely.evaluation.values import find_degenerate, measure_blocks, query_of
from gradely.lazy import lazy
from gradely.measures import Measure
from gradely.settings import Settings, TiePolicy
from gradely.tables import count_of

SAME = 1e-12
"""values of a query that differ by less are the same"""


@dataclass(eq=False, repr=False)
class Evaluation:
    """Qrels, the hits of one run, the measures by name, fitted to the qrels, and the settings."""

    qrels: Qrels
    hits: Hits
    measures: Mapping[str, Measure]
    settings: Settings
    name: str
    placed: TiePolicy
    """the tie policy that the places of the hits are of"""
    workers: int = 1
    """how many threads measure"""
    details: RunDetails | None = None
    """where asked for: how many documents tie, and the tops of the rankings"""
    apart: str | None = None
    """what to say where the run and the qrels have no documents in common"""

    def scores(self) -> Scores:
        """Return the scores of the queries that count."""
        return Scores(
            self.queries,
            list(self.measures),
            self.table,
            settings=self.settings,
            name=self.name,
            ranges=self.tie_ranges,
            notes=self.notes,
            whole=self.qrels.whole,
            segment_of=self.qrels.segments,
        )

    def under(self, ties: TiePolicy) -> "Evaluation":
        """Return the evaluation under another tie policy; of those that go by document, only the one of the hits."""
        return replace(self, settings=self.settings.replace(ties=ties))

    def among(self, answered: Bools, unjudged: tuple[str, ...]) -> "Evaluation":
        """Return the evaluation as if the run had answered only these queries."""
        return replace(self, hits=self.hits._replace(answered=answered, unjudged=unjudged))

    def by(self, measures: Mapping[str, Measure]) -> "Evaluation":
        """Return the evaluation by other measures."""
        fitted = {name: measure.fit(self.qrels.levels) for name, measure in measures.items()}
        return replace(self, measures=fitted)

    @lazy
    def table(self) -> Floats:
        """The values, [queries that count, measures]."""
        policy, values = self.settings.queries, self._values
        if policy == "qrels":
            return values
        unjudged = len(self.hits.unjudged) if policy == "run" else 0
        return np.vstack([values[self.counted], np.zeros((unjudged, values.shape[1]))])

    @lazy
    def kept(self) -> Hits:
        """The hits that count: all, or as if unjudged documents had not been retrieved."""
        return self.placed_hits.judged_only() if self.settings.judged_only else self.placed_hits

    @property
    def placed_hits(self) -> Hits:
        """All hits, with places where the tie policy goes by document."""
        if not self.settings.breaks_ties:
            return self.hits if self.hits.place is None else self.hits._replace(place=None)
        if self.settings.ties != self.placed:
            raise ValueError(f"the hits are placed by {self.placed}, not by {self.settings.ties}")
        return self.hits

    @lazy
    def counted(self) -> Ints:
        """The judged queries that count, as indices."""
        return np.arange(len(self.qrels)) if self.settings.queries == "qrels" else np.flatnonzero(self.hits.answered)

    @lazy
    def queries(self) -> Sequence[str]:
        """All queries that count, by name; those without judgments last."""
        if self.settings.queries == "qrels":
            return self.qrels.queries
        judged = [self.qrels.queries[i] for i in self.counted.tolist()]
        return judged + list(self.hits.unjudged) if self.settings.queries == "run" else judged

    @lazy
    def _blocks(self) -> Blocks:
        return Blocks(self.qrels, self.kept)

    @lazy
    def _values(self) -> Floats:
        """The values, [judged queries, measures], 0 where a query is not answered."""
        blocks = self._blocks.batches(self.settings.ties, np.flatnonzero(self.hits.answered))
        return measure_blocks(blocks, self.measures, len(self.qrels), self.workers, partial(query_of, self.qrels))

    def _extreme(self, blocks: Blocks, ties: str, queries: Ints) -> Floats:
        """Return the values, [these queries, measures], with ties at their best or worst."""
        batches = blocks.batches(ties, queries)
        return measure_blocks(batches, self.measures, len(self.qrels), 1, partial(query_of, self.qrels))[queries]

    def _bounded(self, blocks: Blocks, ties: str, queries: Ints) -> Bools:
        """Return [these queries, measures]: true where the best or worst value is a bound, not that of an order."""
        bounded = np.zeros((len(queries), len(self.measures)), bool)
        some = [(j, measure) for j, measure in enumerate(self.measures.values()) if measure.may_be_bounded]
        for rows, batch in blocks.batches(ties, queries) if some else ():
            for j, measure in some:
                flags = measure.is_bounded(measure.apply_relevance(batch))
                bounded[np.searchsorted(queries, rows), j] = flags.any(axis=1)
        return bounded

    def tie_ranges(self) -> list[TieRange]:
        """Return how far each mean moves with the order of ties, for the measures that move."""
        moves = np.zeros(len(self.qrels), bool)
        moves[self.kept.query[self.kept.tied > 1]] = True
        tied = self.counted[moves[self.counted]]
        if not len(tied):
            return []
        blocks = Blocks(self.qrels, self.kept.loose(moves))
        low, high = (self._extreme(blocks, ties, tied) for ties in ("worst", "best"))
        moved = np.count_nonzero(high - low > SAME, axis=0)
        total, mine = self.table.sum(axis=0), self.table[np.searchsorted(self.counted, tied)].sum(axis=0)
        size = len(self.queries)
        lowest, highest = (((total - mine + end.sum(axis=0)) / size).tolist() for end in (low, high))
        bounds = self._bounded(blocks, "best", tied).sum(axis=0)
        return [
            TieRange(name, float(total[j]) / size, lowest[j], highest[j], int(moved[j]), size, int(bounds[j]))
            for j, name in enumerate(self.measures)
            if moved[j]
        ]

    def notes(self) -> list[Note]:
        """Return what happened to queries and documents."""
        return [
            *self._data(),
            *self._segmentless(),
            *self._missing(),
            *self._unjudged(),
            *self._dropped(),
            *self._degenerate(),
            *self._unreachable(),
            *self._bounds(),
        ]

    def _data(self) -> list[Note]:
        """Return what was taken for granted, what is probably a mistake, and what was dropped as asked."""
        gone, before = self.hits.excluded, self.hits.documents + self.hits.excluded
        were = "was" if gone == 1 else "were"
        out = f"{gone:,} of {count_of(before, 'document')} {were} excluded from the rankings" if gone else None
        below = labels_below(self.qrels, self.measures)
        texts = [*(("labels", text) for text in self.qrels.notes), ("apart", self.apart), ("labels", below)]
        notes = [Note(kind, len(self.qrels), len(self.qrels), text) for kind, text in texts if text]
        return [*notes, *([Note("excluded", gone, before, out)] if out else [])]

    def _segmentless(self) -> list[Note]:
        segments = self.qrels.segments
        lacking = [] if segments is None else [query for query in self.queries if query not in segments]
        has = "has" if len(lacking) == 1 else "have"
        return note_names("segments", len(lacking), len(self.queries), "query", f"{has} no segment", lacking)

    def _missing(self) -> list[Note]:
        fate = "count{s} 0" if self.settings.queries == "qrels" else "{are} left out"
        queries = np.flatnonzero(~self.hits.answered)
        return self._note_judged(
            "missing", queries, len(self.qrels), "judged query", f"{{are}} not in the run and {fate}"
        )

    def _unjudged(self) -> list[Note]:
        queries = self.hits.unjudged
        fate = "count{s} 0" if self.settings.queries == "run" else "{are} left out"
        total = int(self.hits.answered.sum()) + len(queries)
        has = "has" if len(queries) == 1 else "have"
        text = f"of the run {has} no judgments and {fate}"
        return note_names("unjudged", len(queries), total, "query", text, queries)

    def _dropped(self) -> list[Note]:
        before, dropped = self.hits.documents, self.hits.documents - self.kept.documents
        fate = "is unjudged and was dropped" if dropped == 1 else "are unjudged and were dropped"
        text = f"{dropped:,} of {count_of(before, 'document')} {fate}"
        return [Note("dropped", dropped, before, text)] if dropped else []

    def _degenerate(self) -> list[Note]:
        """Measures for which the same queries are degenerate share a note."""
        degenerate = find_degenerate(self.qrels, self.measures)
        together: dict[bytes, list[str]] = {}
        for name, flags in degenerate.items():
            together.setdefault(flags[self.counted].tobytes(), []).append(name)
        return [note for several in together.values() for note in self._no_relevant(degenerate[several[0]], several)]

    def _no_relevant(self, degenerate: Bools, measures: list[str]) -> list[Note]:
        queries = self.counted[degenerate[self.counted]]
        names = ", ".join(measures)
        has = "has" if len(queries) == 1 else "have"
        text = f"{has} no relevant document for {names} and score{{s}} 0 in every order"
        return self._note_judged("degenerate", queries, len(self.queries), "query", text)

    def _unreachable(self) -> list[Note]:
        """Say which queries cannot reach 1, since users ask for a level that their pool lacks, and the highest mean."""
        notes = []
        for name, measure in self.measures.items():
            ceiling = np.ones(len(self.qrels))
            for rows, batch in self._blocks.batches("expected", self.counted) if measure.has_ceiling else ():
                ceiling[rows] = measure.ceiling(measure.apply_relevance(batch))
            queries = self.counted[(ceiling[self.counted] < 1 - SAME) & (ceiling[self.counted] > 0)]
            mean = float(ceiling[self.counted].sum()) / max(1, len(self.queries))
            text = f"cannot reach 1 in {name}, since the pool lacks a level; the mean is at most {mean:.4f}"
            notes += self._note_judged("unreachable", queries, len(self.queries), "query", text)
        return notes

    def _bounds(self) -> list[Note]:
        """Say where the best or worst value is a bound, since tie groups have too many orders to search."""
        if self.settings.ties not in ("best", "worst"):
            return []
        some = np.flatnonzero(self.hits.answered)
        bounded = self._bounded(self._blocks, self.settings.ties, some)
        return [
            note
            for j, name in enumerate(self.measures)
            for note in self._note_judged(
                "bounds",
                some[bounded[:, j]],
                len(self.queries),
                "query",
                f"with tie groups too large to search: {name} is a bound there that no order may reach",
            )
        ]

    def _note_judged(self, kind: str, queries: Ints, of: int, noun: str, text: str) -> list[Note]:
        """Return a note about some judged queries."""
        names = [self.qrels.queries[i] for i in queries[: NAMED + 1].tolist()]
        return note_names(kind, len(queries), of, noun, text, names)
