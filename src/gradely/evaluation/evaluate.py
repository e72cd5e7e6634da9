"""evaluate: from judgments and a run to scores, and what there is to note about them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from gradely.data import Blocks, Hits, Qrels, Report, Rule, Run, locate, open_run, read_qrels, run_name
from gradely.data.qrels import Floats, Ints
from gradely.data.read.files import ignore
from gradely.data.trec.tokens import Bools
from gradely.evaluation.mismatch import documents_apart, labels_below
from gradely.evaluation.scores import Note, Scores, TieRange
from gradely.kernel.batch import Batch
from gradely.measures import Measure
from gradely.measures.names import MeasureLike, parse_all
from gradely.settings import check_precision, check_queries, check_ties
from gradely.threads import cores, on_threads

DEFAULT = ("nDCG@10", "AP", "RR", "P@10", "R@100", "muAP")
SHOWN = 5
"""how many of many queries a note names"""
SAME = 1e-12
"""values of a query that differ by less are the same"""


def evaluate(
    qrels: Any,
    run: Any,
    measures: MeasureLike | Iterable[MeasureLike] = DEFAULT,
    *,
    ties: str = "expected",
    queries: str = "qrels",
    judged_only: bool = False,
    precision: str = "double",
    seed: int = 0,
    threads: int | None = None,
    progress: Report = ignore,
) -> Scores:
    """Evaluate a run against judgments.

    `qrels` and `run` may be a path, a dataframe, a dict of dicts, or what read_qrels and read_run return.
    `measures` are names like "nDCG@10" or objects like gradely.nDCG(k=10).
    `ties`: expected (the default), trec, order, best, worst, random (with `seed`).
    `queries`: those that count: qrels (the default; missing ones count 0), both, run.
    `judged_only` drops unjudged documents from the run first.
    `precision`: single rounds scores first, as trec_eval 9 and older do.
    `threads`: as many as there are processors by default; results do not depend on it.
    `progress` is called with how much of the run's file is read, from 0 to 1.

    >>> qrels = {"q1": {"d1": 2, "d2": 0, "d3": 1}}
    >>> run = {"q1": {"d2": 0.7, "d1": 0.7, "d3": 0.1}}
    >>> evaluate(qrels, run, ["RR", "P@1"]).mean()
    {'RR': 0.75, 'P@1': 0.5}
    """
    chosen = Policies(ties, queries, judged_only, precision, seed, threads)
    return evaluation(read_qrels(qrels, threads=threads), run, parse_all(measures), chosen, progress).scores()


class Policies(NamedTuple):
    """What holds for all runs and measures of a call."""

    ties: str = "expected"
    queries: str = "qrels"
    judged_only: bool = False
    precision: str = "double"
    seed: int = 0
    threads: int | None = None


def evaluation(
    qrels: Qrels, run: Any, measures: dict[str, Measure], policies: Policies, progress: Report = ignore
) -> "Evaluation":
    """Find where the judged documents of a run landed, ready to be measured."""
    check_ties(policies.ties)
    check_queries(policies.queries)
    check_precision(policies.precision)
    ranking = open_run(run)
    fitted = {name: measure.fit(qrels.levels) for name, measure in measures.items()}
    rule = Rule(policies.ties, policies.seed, policies.precision == "single")
    hits = locate(qrels, ranking, rule, policies.threads, progress)
    name = ranking.name if isinstance(ranking, Run) else run_name(ranking.path)
    threads = policies.threads or cores()
    apart = documents_apart(qrels, ranking, hits)
    return Evaluation(qrels, hits, fitted, policies.ties, policies.queries, policies.judged_only, name, threads, apart)


@dataclass(eq=False, repr=False)
class Evaluation:
    """Judgments, the hits of one run, the measures by name, and the policies."""

    qrels: Qrels
    hits: Hits
    measures: dict[str, Measure]
    ties: str
    policy: str
    judged_only: bool
    name: str
    threads: int = 1
    apart: str | None = None
    """what to say where the run and the judgments have no documents in common"""

    def scores(self) -> Scores:
        """Return the scores of the queries that count."""
        return Scores(
            self.queries,
            list(self.measures),
            self.table,
            ties=self.ties,
            policy=self.policy,
            name=self.name,
            ranges=self.tie_ranges,
            notes=self.notes,
            whole=self.qrels.whole,
        )

    @cached_property
    def table(self) -> Floats:
        """The values, [queries that count, measures]."""
        values = self._values[0] if self.policy == "qrels" else self._values[0][self.counted]
        return (
            np.vstack([values, np.zeros((len(self.hits.unjudged), values.shape[1]))])
            if self.policy == "run"
            else values
        )

    @cached_property
    def kept(self) -> Hits:
        """The hits that count: all, or as if unjudged documents had not been retrieved."""
        return self.hits.judged_only() if self.judged_only else self.hits

    @cached_property
    def counted(self) -> Ints:
        """The judged queries that count, as indices."""
        return np.arange(len(self.qrels)) if self.policy == "qrels" else np.flatnonzero(self.hits.answered)

    @cached_property
    def queries(self) -> Sequence[str]:
        """All queries that count, by name; those without judgments last."""
        if self.policy == "qrels":
            return self.qrels.queries
        judged = [self.qrels.queries[i] for i in self.counted.tolist()]
        return judged + list(self.hits.unjudged) if self.policy == "run" else judged

    @cached_property
    def _blocks(self) -> Blocks:
        return Blocks(self.qrels, self.kept)

    @cached_property
    def _values(self) -> tuple[Floats, Bools]:
        """The values, [judged queries, measures], 0 where a query is not answered, and which are degenerate."""
        values = np.zeros((len(self.qrels), len(self.measures)))
        degenerate = np.zeros(values.shape, bool)

        def work(block: tuple[Ints, Batch]) -> None:
            rows, batch = block
            views = [(measure, measure.view(batch)) for measure in self.measures.values()]
            values[rows] = np.stack([measure.on(view) for measure, view in views], axis=1)
            degenerate[rows] = np.stack([measure.degenerate(view) for measure, view in views], axis=1)

        blocks = self._blocks.batches(self.ties, np.flatnonzero(self.hits.answered))
        for _ in on_threads(work, blocks, self.threads):
            pass
        return values, degenerate

    def _extreme(self, blocks: Blocks, ties: str, queries: Ints) -> Floats:
        """Return the values, [these queries, measures], with ties at their best or worst."""
        values = np.zeros((len(queries), len(self.measures)))
        for rows, batch in blocks.batches(ties, queries):
            found = np.stack([measure.measure(batch) for measure in self.measures.values()], axis=1)
            values[np.searchsorted(queries, rows)] = found
        return values

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
        mean, mine = self.table.sum(axis=0), self.table[np.searchsorted(self.counted, tied)].sum(axis=0)
        size = len(self.queries)
        lowest, highest = (((mean - mine + end.sum(axis=0)) / size).tolist() for end in (low, high))
        return [
            TieRange(name, float(mean[j]) / size, lowest[j], highest[j], int(moved[j]), size)
            for j, name in enumerate(self.measures)
            if moved[j]
        ]

    def notes(self) -> list[Note]:
        """Return what happened to queries and documents."""
        return [*self._data(), *self._missing(), *self._unjudged(), *self._dropped(), *self._degenerate()]

    def _data(self) -> list[Note]:
        """Return what was taken for granted, and what is probably a mistake."""
        below = labels_below(self.qrels, self.measures)
        texts = [*(("labels", text) for text in self.qrels.notes), ("apart", self.apart), ("labels", below)]
        return [Note(kind, len(self.qrels), len(self.qrels), text) for kind, text in texts if text]

    def _missing(self) -> list[Note]:
        fate = "count 0" if self.policy == "qrels" else "are left out"
        text = f"judged queries are not in the run and {fate}"
        return self._about("missing", np.flatnonzero(~self.hits.answered), len(self.qrels), text)

    def _unjudged(self) -> list[Note]:
        queries = self.hits.unjudged
        fate = "count 0" if self.policy == "run" else "are left out"
        total = int(self.hits.answered.sum()) + len(queries)
        return about("unjudged", len(queries), total, f"queries of the run have no judgments and {fate}", queries)

    def _dropped(self) -> list[Note]:
        before, dropped = self.hits.documents, self.hits.documents - self.kept.documents
        text = f"{dropped:,} of {before:,} documents are unjudged and were dropped"
        return [Note("dropped", dropped, before, text)] if dropped else []

    def _degenerate(self) -> list[Note]:
        """Measures for which the same queries are degenerate share a note."""
        found = self._values[1].copy()
        for rows, batch in self._blocks.batches("expected", np.flatnonzero(~self.hits.answered)):
            for j, measure in enumerate(self.measures.values()):
                found[rows, j] = measure.degenerate(measure.view(batch))
        together: dict[bytes, list[int]] = {}
        for j in range(len(self.measures)):
            together.setdefault(found[self.counted, j].tobytes(), []).append(j)
        return [note for same in together.values() for note in self._no_relevant(found, same)]

    def _no_relevant(self, found: Bools, same: list[int]) -> list[Note]:
        names = ", ".join(list(self.measures)[j] for j in same)
        text = f"queries have no relevant document for {names} and score 0 in every order"
        queries = self.counted[found[self.counted, same[0]]]
        return self._about("degenerate", queries, len(self.queries), text)

    def _about(self, kind: str, queries: Ints, of: int, text: str) -> list[Note]:
        """Return a note about some judged queries."""
        return about(kind, len(queries), of, text, [self.qrels.queries[i] for i in queries[: SHOWN + 1].tolist()])


def about(kind: str, count: int, of: int, text: str, names: Sequence[str]) -> list[Note]:
    """Return a note about some queries, the first of them named; none where there are none."""
    some = ", ".join(names[:SHOWN]) + (", …" if count > SHOWN else "")
    return [Note(kind, count, of, f"{count:,} of {of:,} {text}: {some}")] if count else []
