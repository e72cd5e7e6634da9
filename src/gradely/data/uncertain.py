"""UncertainQrels: judgments whose labels are probabilities, as given by a model or by several raters."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import chain
from numbers import Real
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from gradely.data.columns import to_number
from gradely.data.ids import Bools, Floats, Ints
from gradely.data.qrels import Qrels
from gradely.errors import DataError, GradelyError, clip
from gradely.kernel.batch import Levels
from gradely.tables import count_of

ROUNDING = 0.01
"""largest difference between 1 and a sum of probabilities, as from rounding; they are then rescaled"""
EXACT = 1e-9
"""sums that differ from 1 by no more than this need no note"""


class UncertainQrels(Qrels):
    """The probability of each label, by query and document; documents are independent of one another.

    There is no `grade`: code that needs one label per document raises a clear error for these judgments.
    """

    def __init__(
        self, queries: Sequence[str], start: Ints, docs: Sequence[str], scale: Floats, chance: Floats, name: str
    ) -> None:
        """Store the columns: the labels `scale`, [L], ascending, and the probability of each label, [judgments, L]."""
        super().__init__(queries, start, docs, np.zeros(0), name)
        self.scale, self.chance = scale, chance

    @classmethod
    def checked(
        cls, queries: Sequence[str], start: Ints, docs: Sequence[str], scale: Floats, chance: Floats, name: str
    ) -> "UncertainQrels":
        """Return the judgments, with probabilities rescaled to sum to 1; raise DataError for invalid ones."""

        def refuse(row: int, problem: str) -> NoReturn:
            query = queries[int(np.searchsorted(start, row, "right")) - 1]
            raise DataError(f"{name}: query {clip(query)}, document {clip(docs[row])}: {problem}")

        odd = np.argwhere(~((chance >= 0) & (chance <= 1 + ROUNDING)))
        if len(odd):
            row, column = odd[0].tolist()
            refuse(row, f"label {scale[column]:g} has the probability {chance[row, column]:g}; it must be from 0 to 1")
        total = chance.sum(axis=1)
        off = np.flatnonzero(np.abs(total - 1) > ROUNDING + EXACT)
        if len(off):
            hint = "; names of subtopics are text" if not (chance[off[0]] % 1).any() else ""
            add_up = f"add up to {total[off[0]]:.6g}; they must add up to 1"
            refuse(int(off[0]), f"the probabilities of the labels {add_up}{hint}")
        occurs = (chance > 0).any(axis=0)
        qrels = cls(queries, start, docs, scale[occurs], (chance / total[:, None])[:, occurs], name)
        qrels.notes = _note_scaled(name, total)
        return qrels

    @classmethod
    def of_labels(cls, labels: Mapping[str, Mapping[str, Any]], name: str) -> "UncertainQrels":
        """Create it from {query: {document: label or {label: probability}}}; a label alone is certain."""
        entries = list(_entries(labels, name))
        scale = np.unique([label for entry in entries for label in entry])
        column = {label: i for i, label in enumerate(scale.tolist())}
        chance = np.zeros((len(entries), len(scale)))
        for row, entry in enumerate(entries):
            for label, probability in entry.items():
                chance[row, column[label]] = probability
        start = np.concatenate([[0], np.cumsum([len(docs) for docs in labels.values()])])
        docs = list(chain.from_iterable(labels.values()))
        return cls.checked(list(labels), start, docs, scale, chance, name)

    @property
    def uncertain(self) -> int:
        """The number of documents with more than one possible label."""
        return int(np.count_nonzero(np.count_nonzero(self.chance, axis=1) > 1))

    @property
    def grade(self) -> Floats:
        """Raise an error, for code that needs one label per document."""
        raise self._refusal("this")

    def check_certain(self, function: str) -> None:
        """Raise an error, for a function that does not support probabilistic labels."""
        raise self._refusal(function)

    def _refusal(self, function: str) -> DataError:
        supported = "which only evaluate, compare, gate, plan, estimate and explain support"
        return DataError(
            f"{self.name}: labels are probabilities, {supported}; {function} needs one label for each document"
        )

    @cached_property
    def levels(self) -> Levels:
        """The labels that occur; calling it returns the positive ones, ascending."""
        return Levels(self.scale, uncertain=True)

    @cached_property
    def possible(self) -> Qrels:
        """Qrels in which the documents of a query are the distinct labels that its documents may have."""
        found: Bools = np.zeros((len(self), len(self.scale)), bool)
        np.logical_or.at(found, np.repeat(np.arange(len(self)), self.sizes), self.chance > 0)
        start = np.concatenate([[0], np.cumsum(found.sum(axis=1))])
        return Qrels(self.queries, start, (), np.broadcast_to(self.scale, found.shape)[found], self.name)

    def judgments(self, query: str) -> dict[str, Any]:
        """Return {document: {label: probability}} of one query, without labels of probability 0."""
        at = self.index.get(query)
        rows = range(int(self.start[at]), int(self.start[at + 1])) if at is not None else range(0)
        scale = self.scale.tolist()
        return {
            self.docs[row]: {
                label: chance for label, chance in zip(scale, self.chance[row].tolist(), strict=True) if chance
            }
            for row in rows
        }

    def sort_keys(self, rows: npt.NDArray[np.integer]) -> list[Floats]:
        """Return columns that sort documents of the same score, so no digit depends on the order of the input."""
        return [-self.chance[rows, i] for i in range(self.chance.shape[1])]

    def subset(self, queries: Sequence[str], start: Ints, docs: Sequence[str], rows: Ints) -> Qrels:
        """Return some rows as the judgments of some queries."""
        return UncertainQrels(queries, start, docs, self.scale, self.chance[rows], self.name)


def _note_scaled(name: str, total: Floats) -> list[str]:
    off = np.abs(total - 1) > EXACT
    if not off.any():
        return []
    many = f"{np.count_nonzero(off):,} of {count_of(len(total), 'document')}"
    return [
        f"{name}: the probabilities of {many} do not add up to exactly 1 ({total.min():g} to {total.max():g}); scaled"
    ]


def _entries(labels: Mapping[str, Mapping[str, Any]], name: str) -> Iterator[dict[float, float]]:
    """Yield {label: probability} of each document."""
    spoken, fraction = "", False
    for query, docs in labels.items():
        for doc, value in docs.items():
            where = f"{name}: query {clip(query)}, document {clip(doc)}"
            if not isinstance(value, Mapping):
                yield {to_number(value, f"{where}: the label"): 1.0}
                continue
            if any(isinstance(label, str) for label in value):
                spoken = spoken or where
            entry = {
                _label(label, where): to_number(chance, f"{where}: the probability") for label, chance in value.items()
            }
            if not entry:
                raise DataError(f"{where}: no label has a probability")
            if len(entry) < len(value):
                raise DataError(f"{where}: duplicate label, as in {clip(str(value))}")
            fraction = fraction or any(chance % 1 for chance in entry.values())
            yield entry
    if spoken and not fraction:
        raise DataError(
            f"{spoken}: labels that are text and probabilities that are all 0 or 1 may be something else, such as "
            "subtopics; give certain labels as plain numbers, or probabilities in columns p0, p1, …"
        )


def _label(label: object, where: str) -> float:
    """Return a label of a distribution; in JSON, it is text."""
    number: float | None = None
    if isinstance(label, str | Real) and not isinstance(label, bool):
        with suppress(ValueError):
            number = float(label)
    if number is None or not np.isfinite(number):
        expected = "labels with their probabilities are numbers, as in {0: 0.2, 1: 0.8}"
        raise DataError(f"{where}: {expected}; {clip(str(label))} is not a number")
    return number


def join_columns(columns: Sequence[str], read: Callable[[str], Qrels]) -> UncertainQrels:
    """Return judgments from columns p0, p1, …; `read` returns the qrels with one column as the label."""
    parts = []
    for column in columns:
        try:
            parts.append(read(column))
        except GradelyError as error:
            raise type(error)(str(error).replace("the label", column, 1)) from None
    first, scale = parts[0], np.arange(float(len(columns)))
    chance = np.stack([part.grade for part in parts], axis=1)
    qrels = UncertainQrels.checked(first.queries, first.start, first.docs, scale, chance, first.name)
    qrels.hashes, qrels.whole, qrels.notes = first.hashes, first.whole, [*first.notes, *qrels.notes]
    return qrels
