"""Relevance from labels whose lowest level is not 0: the scale is shifted first."""

from collections.abc import Callable
from typing import Any, Self

from gradely.errors import MeasureError
from gradely.kernel.batch import Batch
from gradely.kernel.gains import is_number, to_python
from gradely.kernel.levels import Levels
from gradely.kernel.parameters import parameter
from gradely.relevance.base import Relevance
from gradely.relevance.labels import Identity


class Shift(Relevance):
    """The label less the level that means not relevant: a stated one, or the lowest label of the collection.

    Judgments of 1 to 5 stars, say, become 0 to 4; unjudged documents stay at 0. Labels are never shifted up: where the
    lowest of the collection is 0 or less, `shift` changes nothing. Another relevance function may follow, as in
    shift(1, 'max').

    Scheel, Lommatzsch, Albayrak: Performance Measures for Multi-Graded Relevance (2011).
    """

    level: float | None = parameter(
        default=None, doc="the label that means not relevant; by default the lowest of the collection", kw_only=False
    )
    then: Any = parameter(default=Identity(), doc="the relevance function for the labels that are left", kw_only=False)

    def check_parameters(self) -> None:
        """Refuse a level that is not a number, and what cannot follow."""
        if self.level is not None:
            if not is_number(self.level):
                raise MeasureError(
                    f"shift takes the label that means not relevant, like shift(1); found {self.level!r}"
                )
            self._set("level", to_python(self.level))
        from gradely.relevance import relevance_of

        self._set("then", relevance_of(self.then))
        if isinstance(self.then, Shift):
            raise MeasureError("labels are shifted once: shift cannot follow shift")

    def __call__(self, batch: Batch) -> Batch:
        """Return the batch with its labels shifted, as the function that follows has them."""
        by = float(self.level or 0)
        following: Callable[[Batch], Batch] = self.then
        return following(batch.relabel(batch.grade - by, batch.pool - by, batch.pooled))

    def _shift(self, levels: Levels) -> Levels:
        return levels.lower_by(float(self.level or 0))

    def fit(self, levels: Levels) -> Self:
        """Take the level from the collection unless it is stated."""
        level = max(0.0, levels.lowest) if self.level is None else self.level
        return self.replace(level=level, then=self.then.fit(levels.lower_by(float(level))))

    def levels(self, levels: Levels) -> tuple[float, ...] | None:
        """Return the levels that follow from the labels less the shift."""
        shifted: tuple[float, ...] | None = self.then.levels(self._shift(levels))
        return shifted

    def top(self, levels: Levels) -> float:
        """Return the highest relevance there can be."""
        return float(self.then.top(self._shift(levels)))

    def __str__(self) -> str:
        """Print as in a measure's name."""
        then = "" if isinstance(self.then, Identity) else str(self.then)
        if self.level is None:
            return f"shift(then={then})" if then else "'shift'"
        return f"shift({self.level!r}, {then})" if then else f"shift({self.level!r})"
