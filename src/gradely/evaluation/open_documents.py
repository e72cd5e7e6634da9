"""Open documents: unjudged ones that can be in the top of a run, so that their labels could change what it scores.

All runs share the label of an open document. Other unjudged documents count as not relevant, as in a pool.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gradely.data import Qrels, Run, open_run
from gradely.data.ids import Bools, Floats, Ints
from gradely.data.locate import join_documents
from gradely.data.tops import Tops, find_tops
from gradely.errors import DataError
from gradely.evaluation.evaluate import Progress, evaluate_run, ignore
from gradely.evaluation.likely_mistakes import describe_mismatch
from gradely.evaluation.notes import Note, merge_notes, notes_of
from gradely.evaluation.stacked import StackedRuns
from gradely.evaluation.values import Evaluation
from gradely.kernel.batch import find_distinct
from gradely.kernel.parameters import is_number
from gradely.measures import Measure
from gradely.parallel import on_threads
from gradely.settings import Settings


class OpenRuns(NamedTuple):
    """Runs with their judged and their open documents."""

    stacked: StackedRuns
    """where these documents stand, on qrels that have both; the labels of open ones mean nothing"""
    is_open: Bools
    """which of the documents are open"""
    above: Ints
    """how many others stand above each document in the run that has it at the best place"""
    name: Callable[[int], str]
    """the name of each document"""
    notes: Sequence[Note] = ()
    """what happened to queries and documents of the runs"""

    def keep(self, kept: Bools) -> "OpenRuns":
        """Return the runs with some of the documents; the others are neither judged nor open."""
        if kept.all():
            return self
        rows = np.flatnonzero(kept)
        stacked = self.stacked.with_judgments(kept)
        name = self.name
        return OpenRuns(stacked, self.is_open[kept], self.above[kept], lambda row: name(int(rows[row])), self.notes)

    def down_to(self, depth: int) -> "OpenRuns":
        """Return the runs with the documents that are judged, or open down to this depth."""
        return self.keep(~self.is_open | (self.above < depth))

    def values(self, measures: Mapping[str, Measure]) -> Floats:
        """Return [runs, queries, measures]: the values as the judgments have them."""
        return self.stacked.with_judgments(~self.is_open).values(measures)


def find_open(
    qrels: Qrels, runs: Mapping[str, Any], settings: Settings, depth: int, progress: Progress = ignore
) -> OpenRuns:
    """Read runs, by name, twice: which documents are at their tops, and where these and the judged ones stand."""
    opened = {name: open_run(run) for name, run in runs.items()}
    workers = settings.workers if len(runs) == 1 else 1
    excluded = 0 if qrels.excluded is None else int(qrels.excluded.sizes.max())

    def second_half(name: str, done: float) -> None:
        progress(name, (1 + done) / 2)

    def find(item: tuple[str, Run]) -> Tops:
        return find_tops(qrels, item[1], settings, depth + excluded, workers, lambda done: progress(item[0], done / 2))

    def place(item: tuple[str, Run]) -> Evaluation:
        name, run = item
        evaluation = evaluate_run(joined, run, {}, settings, second_half, name=name, workers=workers)
        judged = row[evaluation.hits.row] < len(qrels.grade)
        evaluation.apart = describe_mismatch(qrels, run, evaluation.hits.select(judged))
        progress(name, 1.0)
        return evaluation

    tops = list(on_threads(find, opened.items(), settings.workers))
    joined, row = _join(qrels, tops)
    placed = dict(zip(opened, on_threads(place, opened.items(), settings.workers), strict=True))
    stacked = StackedRuns.of(joined, {name: evaluation.placed_hits for name, evaluation in placed.items()}, settings)
    notes = merge_notes({name: notes_of(evaluation) for name, evaluation in placed.items()})
    return open_runs(stacked, row >= len(qrels.grade), notes).down_to(depth)


def open_runs(stacked: StackedRuns, is_open: Bools, notes: Sequence[Note] = ()) -> OpenRuns:
    """Return runs of which some documents are open."""
    hits = stacked.hits
    above = np.full(len(is_open), np.iinfo(np.int64).max)
    np.minimum.at(above, hits.row, hits.above if hits.place is None else hits.place)
    return OpenRuns(stacked, is_open, above, stacked.qrels.docs.__getitem__, notes)


def _join(qrels: Qrels, tops: list[Tops]) -> tuple[Qrels, Ints]:
    """Return judged documents and those at the tops as one, and the row of each in the qrels."""
    documents: dict[str, dict[str, float]] = {}
    for top in tops:
        for query, names in top.items():
            documents.setdefault(qrels.queries[query], {}).update(dict.fromkeys(names, 0.0))
    if not any(documents.values()):
        return qrels, np.arange(len(qrels.grade))
    union, _, row = join_documents(qrels, Qrels.of(documents))
    grade = np.concatenate([qrels.grade, np.zeros(int(row.max()) + 1)])[row]
    joined = Qrels(union.queries, union.start, union.docs, grade, qrels.name)
    joined.selected, joined.excluded, joined.notes = qrels.selected, qrels.excluded, qrels.notes
    return joined, row


class Labels(NamedTuple):
    """The labels that an open document may have, ascending; or it may count as not relevant, as it does now."""

    values: tuple[float, ...]
    assumed: bool = False
    """True if the judgments have no positive label, so that 1 is taken for one"""
    top: float | None = None
    """where all numbers from 0 to this are allowed, of which `values` are those that can be extreme"""

    def __str__(self) -> str:
        """Return them in words."""
        if self.top is not None:
            return f"any label from 0 to {self.top:g}"
        rest = "" if self.values[0] <= 0 else ", or count as not relevant"
        return f"any of the labels {', '.join(f'{label:g}' for label in self.values)}{rest}"

    @classmethod
    def of(cls, qrels: Qrels, labels: Iterable[float] | None = None, top: float | None = None) -> "Labels":
        """Take them from the judgments, or as they are stated; with `top`, all numbers from 0 to that.

        Extreme values over such an interval are at its ends, or at labels of judged documents.
        """
        found = sorted(map(float, find_distinct(qrels.grade)))
        if labels is not None and top is not None:
            raise DataError("state either the labels of unjudged documents or, with top, the end of a scale; not both")
        if top is not None:
            if not is_number(top) or top <= 0:
                raise DataError(
                    f"top, the highest label of unjudged documents, must be a number above 0; found {top!r}"
                )
            return cls((0.0, *(label for label in found if 0 < label < top), float(top)), top=float(top))
        if labels is None:
            return cls(tuple(found)) if found[-1] > 0 else cls((*found, 1.0), assumed=True)
        values = [labels] if isinstance(labels, str) or not isinstance(labels, Iterable) else list(labels)
        if not all(is_number(label) for label in values) or max(values, default=0) <= 0:
            raise DataError(
                f"labels of unjudged documents must be numbers like 0, 1, 2, with one above 0; found {labels!r}"
            )
        return cls(tuple(sorted({float(label) for label in values})))
