"""Evaluation: where the judged documents of one run stand, measured."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from gradely.data import Blocks, Hits, Qrels
from gradely.data.details import RunDetails
from gradely.data.read.files import clip
from gradely.data.types import Bools, Floats, Ints
from gradely.errors import NotFinite
from gradely.evaluation.mismatch import labels_below
from gradely.evaluation.notes import NAMED, Note, TieRange, note_names
from gradely.evaluation.scores import Scores
from gradely.kernel.batch import Batch
from gradely.measures import Measure
from gradely.settings import Settings, TiePolicy
from gradely.tables import count_of
from gradely.threads import on_threads

SAME = 1e-12
"""values of a query that differ by less are the same"""


@contextmanager
def named(queries: Callable[[int], tuple[str, float]], rows: Ints) -> Iterator[None]:
    """Say of which query a value is too large for a number: `queries` gives the name and highest label of a row."""
    try:
        yield
    except NotFinite as error:
        query, label = queries(int(rows[error.row]))
        raise NotFinite(error.measure, error.row, label, clip(query)) from None


def query_of(qrels: Qrels, row: int) -> tuple[str, float]:
    """Return the name of a query and its highest label; rows of several runs, one after the other, have the same."""
    i = row % len(qrels)
    return qrels.queries[i], float(qrels.grade[qrels.start[i] : qrels.start[i + 1]].max())


def measure_blocks(
    blocks: Iterable[tuple[Ints, Batch]],
    measures: Mapping[str, Measure],
    queries: int,
    workers: int,
    names: Callable[[int], tuple[str, float]],
) -> tuple[Floats, Bools]:
    """Return the values, [queries, measures], 0 for queries in no block, and which of them are degenerate.

    Where a value is not finite, `names` says of a query what it is called, and its highest label.
    """
    values = np.zeros((queries, len(measures)))
    degenerate = np.zeros(values.shape, bool)
    if not measures:
        return values, degenerate

    def measure_block(block: tuple[Ints, Batch]) -> None:
        rows, batch = block
        views = [(measure, measure.apply_relevance(batch)) for measure in measures.values()]
        with named(names, rows):
            values[rows] = np.stack([measure.compute_from_relevance(view) for measure, view in views], axis=1)
        degenerate[rows] = np.stack([measure.degenerate(view) for measure, view in views], axis=1)

    for _ in on_threads(measure_block, blocks, workers):
        pass
    return values, degenerate


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

    @cached_property
    def table(self) -> Floats:
        """The values, [queries that count, measures]."""
        policy, (values, _) = self.settings.queries, self._values
        if policy == "qrels":
            return values
        unjudged = len(self.hits.unjudged) if policy == "run" else 0
        return np.vstack([values[self.counted], np.zeros((unjudged, values.shape[1]))])

    @cached_property
    def kept(self) -> Hits:
        """The hits that count: all, or as if unjudged documents had not been retrieved."""
        return self.placed_hits.judged_only() if self.settings.judged_only else self.placed_hits

    @property
    def placed_hits(self) -> Hits:
        """All hits, with places where the tie policy goes by document."""
        if not self.settings.breaks_ties:
            return self.hits._replace(place=None)
        if self.settings.ties != self.placed:
            raise ValueError(f"the hits are placed by {self.placed}, not by {self.settings.ties}")
        return self.hits

    @cached_property
    def counted(self) -> Ints:
        """The judged queries that count, as indices."""
        return np.arange(len(self.qrels)) if self.settings.queries == "qrels" else np.flatnonzero(self.hits.answered)

    @cached_property
    def queries(self) -> Sequence[str]:
        """All queries that count, by name; those without judgments last."""
        if self.settings.queries == "qrels":
            return self.qrels.queries
        judged = [self.qrels.queries[i] for i in self.counted.tolist()]
        return judged + list(self.hits.unjudged) if self.settings.queries == "run" else judged

    @cached_property
    def _blocks(self) -> Blocks:
        return Blocks(self.qrels, self.kept)

    @cached_property
    def _values(self) -> tuple[Floats, Bools]:
        """The values, [judged queries, measures], 0 where a query is not answered, and which are degenerate."""
        blocks = self._blocks.batches(self.settings.ties, np.flatnonzero(self.hits.answered))
        return measure_blocks(blocks, self.measures, len(self.qrels), self.workers, partial(query_of, self.qrels))

    def _extreme(self, blocks: Blocks, ties: str, queries: Ints) -> Floats:
        """Return the values, [these queries, measures], with ties at their best or worst."""
        values = np.zeros((len(queries), len(self.measures)))
        for rows, batch in blocks.batches(ties, queries):
            with named(partial(query_of, self.qrels), rows):
                columns = [measure.compute(batch) for measure in self.measures.values()]
            values[np.searchsorted(queries, rows)] = np.stack(columns, axis=1)
        return values

    def _bounded(self, blocks: Blocks, ties: str, queries: Ints) -> Bools:
        """Return [these queries, measures]: true where the best or worst value is a bound, not that of an order."""
        bounded = np.zeros((len(queries), len(self.measures)), bool)
        some = [(j, measure) for j, measure in enumerate(self.measures.values()) if measure.may_be_bounded]
        for rows, batch in blocks.batches(ties, queries) if some else ():
            for j, measure in some:
                flags = measure.bounded(measure.apply_relevance(batch))
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
        degenerate = self._values[1].copy()
        for rows, batch in self._blocks.batches("expected", np.flatnonzero(~self.hits.answered)):
            for j, measure in enumerate(self.measures.values()):
                degenerate[rows, j] = measure.degenerate(measure.apply_relevance(batch))
        together: dict[bytes, list[int]] = {}
        for j in range(len(self.measures)):
            together.setdefault(degenerate[self.counted, j].tobytes(), []).append(j)
        return [note for columns in together.values() for note in self._no_relevant(degenerate, columns)]

    def _no_relevant(self, degenerate: Bools, columns: list[int]) -> list[Note]:
        queries = self.counted[degenerate[self.counted, columns[0]]]
        names = ", ".join(list(self.measures)[j] for j in columns)
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
