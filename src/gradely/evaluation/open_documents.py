"""Open documents: unjudged documents that can be in the top of a run, and whose labels could thus change its score.

The label of an open document is the same for all runs. Other unjudged documents count as not relevant, as in a pool.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gradely.data import Qrels, Run, open_run
from gradely.data.ids import Bools, Floats, Ints
from gradely.data.locate import join_documents
from gradely.data.tops import Tops, find_tops
from gradely.errors import DataError
from gradely.evaluation.evaluate import Progress, evaluate_run
from gradely.evaluation.likely_mistakes import describe_mismatch
from gradely.evaluation.notes import Note, merge_notes, notes_of
from gradely.evaluation.stacked import StackedRuns
from gradely.evaluation.values import Evaluation
from gradely.kernel.batch import find_distinct
from gradely.measures import Measure
from gradely.parallel import on_threads
from gradely.settings import Settings, is_number


class OpenRuns(NamedTuple):
    """Runs with their judged and open documents."""

    stacked: StackedRuns
    """the ranks of these documents, with qrels that contain both; the labels of open ones are meaningless"""
    is_open: Bools
    """flags of the documents that are open"""
    above: Ints
    """number of documents above each document in the run that ranks it highest"""
    name: Callable[[int], str]
    """the name of each document"""
    notes: Sequence[Note] = ()
    """notes on queries and documents of the runs"""

    def keep(self, kept: Bools) -> "OpenRuns":
        """Return the runs with some of the documents; the others are neither judged nor open."""
        if kept.all():
            return self
        rows = np.flatnonzero(kept)
        stacked = self.stacked.with_judgments(kept)
        name = self.name
        return OpenRuns(stacked, self.is_open[kept], self.above[kept], lambda row: name(int(rows[row])), self.notes)

    def down_to(self, depth: int) -> "OpenRuns":
        """Return the runs with the documents that are judged, or open and in the top `depth` of a run."""
        return self.keep(~self.is_open | (self.above < depth))

    def values(self, measures: Mapping[str, Measure]) -> Floats:
        """Return [runs, queries, measures]: the values by the judgments alone."""
        return self.stacked.with_judgments(~self.is_open).values(measures)


def find_open(qrels: Qrels, runs: Mapping[str, Any], settings: Settings, depth: int, progress: Progress) -> OpenRuns:
    """Return the open documents of runs, {name: run}.

    Each run is read twice: first for the documents in its top, then for the ranks of these and the judged documents.
    """
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
        evaluation.id_mismatch = describe_mismatch(qrels, run, evaluation.hits.select(judged))
        progress(name, 1.0)
        return evaluation

    tops = list(on_threads(find, opened.items(), settings.workers))
    joined, row = _join(qrels, tops)
    placed = dict(zip(opened, on_threads(place, opened.items(), settings.workers), strict=True))
    stacked = StackedRuns.of(joined, {name: evaluation.placed_hits for name, evaluation in placed.items()}, settings)
    notes = merge_notes({name: notes_of(evaluation) for name, evaluation in placed.items()})
    return with_open_documents(stacked, row >= len(qrels.grade), notes).down_to(depth)


def with_open_documents(stacked: StackedRuns, is_open: Bools, notes: Sequence[Note] = ()) -> OpenRuns:
    """Return runs some of whose documents are open."""
    hits = stacked.hits
    above = np.full(len(is_open), np.iinfo(np.int64).max)
    np.minimum.at(above, hits.row, hits.above if hits.place is None else hits.place)
    return OpenRuns(stacked, is_open, above, stacked.qrels.docs.__getitem__, notes)


def _join(qrels: Qrels, tops: list[Tops]) -> tuple[Qrels, Ints]:
    """Return qrels that also contain the documents in the tops, and the row of each document in the original qrels.

    Rows of documents that are not judged follow after those of the judged ones.
    """
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


LISTED = 10
"""largest number of labels that a caption lists"""


class Labels(NamedTuple):
    """The labels that an open document may have, besides counting as not relevant."""

    values: tuple[float, ...]
    """the labels in ascending order"""
    assumed: bool = False
    """true if the judgments have no positive label, and 1 is assumed"""
    top: float | None = None
    """if not None, all numbers from 0 to it are allowed; `values` are those at which extremes can occur"""

    def __str__(self) -> str:
        """Return a description of the labels."""
        if self.top is not None:
            return f"any label from 0 to {self.top:g}"
        rest = "" if self.values[0] <= 0 else ", or count as not relevant"
        names = [f"{label:g}" for label in self.values]
        if len(names) > LISTED:
            return f"any of the {len(names):,} labels from {names[0]} to {names[-1]}{rest}"
        return f"any of the labels {', '.join(names)}{rest}"

    @classmethod
    def of(cls, qrels: Qrels, labels: Iterable[float] | None = None, top: float | None = None) -> "Labels":
        """Return the stated labels, all numbers from 0 to `top`, or by default the labels of the judgments.

        Over an interval, extreme values occur at its ends or at labels of judged documents.
        """
        found = sorted(map(float, find_distinct(qrels.grade)))
        if labels is not None and top is not None:
            raise DataError("give the labels of unjudged documents or top, the highest label of a scale, not both")
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
