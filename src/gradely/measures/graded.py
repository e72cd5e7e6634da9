"""Graded: the measures that know degrees of relevance."""

from typing import Any, Self

from gradely.kernel.backend import ignore_overflow, is_any
from gradely.kernel.batch import Array, Batch
from gradely.kernel.parameters import parameter
from gradely.measures.base import Measure
from gradely.relevance import Identity, Levels, Relevance, RelevanceLike, Shift, relevance_of

IDENTITY = Identity()
"""where no relevance function is stated"""


class Graded(Measure):
    """A measure that knows degrees of relevance."""

    relevance: RelevanceLike | None = parameter(
        default=IDENTITY,
        doc="from labels to relevance: 'identity', 'shift', shift(1), 'max', max(4), 'phi' or a table",
    )

    def check_parameters(self) -> None:
        """Settle the relevance function; a shift stands before the measure's own and does not replace it."""
        super().check_parameters()
        if self.relevance is None:
            return
        function, own = relevance_of(self.relevance), self.parameters["relevance"].default
        if isinstance(function, Shift) and function.then == IDENTITY and own is not None:
            function = function.replace(then=own)
        self._set("relevance", function)

    @property
    def relevance_function(self) -> Relevance:
        """The relevance function."""
        function: Any = self.relevance or IDENTITY
        return function  # type: ignore[no-any-return]

    def fit(self, levels: Levels) -> Self:
        """Settle the relevance function; refuse labels that it cannot take."""
        if isinstance(self.relevance_function, Identity):
            return self
        fitted = self.relevance_function.fit(levels)
        return self if fitted == self.relevance_function else self.replace(relevance=fitted)

    def apply_relevance(self, batch: Batch) -> Batch:
        """Relevance in place of labels, never below 0; measures with the same relevance share it.

        Labels that are relevance themselves, and none below 0, stay as they are.
        """
        function = self.relevance_function
        if isinstance(function, Identity) and not batch.fixed and not batch.of_pools(Graded, _has_negative):
            return batch
        if function.key not in batch.by_relevance:
            batch.by_relevance[function.key] = self._with_relevance(batch)
        return batch.by_relevance[function.key]

    def _with_relevance(self, batch: Batch) -> Batch:
        with ignore_overflow():
            batch = self.relevance_function(batch)
        return batch.relabel(
            _positive(batch, batch.grade, batch.judged), _positive(batch, batch.pool, batch.pooled), batch.pooled
        )

    def priority(self, batch: Batch) -> Array:
        """More relevant documents before less relevant ones."""
        return batch.grade

    def degenerate(self, batch: Batch) -> Array:
        """No document of positive relevance: the best of the pool has none."""
        return batch.pool[:, 0] <= 0


def _has_negative(batch: Batch) -> bool:
    return is_any(batch.pool < 0)


def _positive(batch: Batch, values: Array, real: Array) -> Array:
    if not batch.padded:
        return batch.xp.clip(values, min=0.0)
    return batch.xp.where(real & (values > 0), values, 0.0)
