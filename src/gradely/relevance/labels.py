"""The base class of relevance functions, and all of them except φ: identity, binary, max, tables, shift."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Self

from gradely.errors import MeasureError
from gradely.kernel.batch import Batch, Levels
from gradely.kernel.gains import LabelTable
from gradely.kernel.parameters import POSITIVE, Parametric, number, parameter, to_python


class Relevance(Parametric, ABC):
    """A function from labels to relevance; it may depend on the whole pool of the query."""

    @property
    def by_label(self) -> bool:
        """True if the relevance of a document depends only on its own label."""
        return False

    @abstractmethod
    def __call__(self, batch: Batch) -> Batch:
        """Return the batch with labels replaced by relevance."""

    @abstractmethod
    def levels(self, levels: Levels) -> tuple[float, ...] | None:
        """Return the positive relevance levels of the collection, ascending, or None if each query has its own."""

    @abstractmethod
    def top(self, levels: Levels) -> float:
        """Return the highest relevance that is possible in the collection."""

    def check(self, levels: Levels) -> None:
        """Raise MeasureError if the function does not fit the labels of the collection."""

    def fit(self, levels: Levels) -> Self:
        """Return the function fitted to the labels of the collection; raise MeasureError for unsupported labels."""
        self.check(levels)
        return self


def highest_label(levels: Levels) -> float:
    """Return the highest positive label of the collection, or 0 if there is none."""
    values = levels()
    return float(values[-1]) if values.shape[0] else 0.0


class Identity(Relevance):
    """The label itself."""

    by_label = True

    def __call__(self, batch: Batch) -> Batch:
        """Return the batch unchanged."""
        return batch

    def levels(self, levels: Levels) -> tuple[float, ...]:
        """Return the labels themselves."""
        return tuple(map(float, levels()))

    def top(self, levels: Levels) -> float:
        """Return the highest label."""
        return highest_label(levels)

    def __str__(self) -> str:
        """Return the function as it appears in the name of a measure."""
        return "'identity'"


class AtLeast(Relevance):
    """1 for labels of at least a threshold, 0 for others."""

    threshold: float = parameter(
        default=1, doc="the lowest label that counts", kw_only=False, check=number("the lowest label that counts")
    )

    by_label = True

    def __call__(self, batch: Batch) -> Batch:
        """Return the batch with labels replaced by 1 and 0."""
        return batch.relabel(
            batch.to_real(batch.grade >= self.threshold), batch.to_real(batch.pool >= self.threshold), batch.pooled
        )

    def levels(self, levels: Levels) -> tuple[float, ...]:  # noqa: ARG002 - 1 whatever the labels
        """Return 1."""
        return (1.0,)

    def top(self, levels: Levels) -> float:  # noqa: ARG002 - 1 whatever the labels
        """Return 1."""
        return 1.0

    def __str__(self) -> str:
        """Return the function as it appears in the name of a measure."""
        return "'binary'" if self.threshold == 1 else f"binary({self.threshold!r})"


class Max(Relevance):
    """The label divided by the highest label of the query's pool, or by the given top of the scale."""

    scale: float | None = parameter(
        default=None,
        doc="the top of the scale; by default the highest label of the query's pool",
        kw_only=False,
        check=number("the highest label", POSITIVE),
    )

    @property
    def by_label(self) -> bool:
        """True if a scale is given; otherwise, relevance depends on the query's pool."""
        return self.scale is not None

    def __call__(self, batch: Batch) -> Batch:
        """Return the batch with divided labels; queries without a positive label are unchanged."""
        xp = batch.xp
        highest = xp.max(batch.pool, axis=1, keepdims=True)
        scale = highest if self.scale is None else xp.full_like(highest, float(self.scale))
        scale = xp.where(scale > 0, scale, 1.0)
        return batch.relabel(batch.grade / scale, batch.pool / scale, batch.pooled)

    def levels(self, levels: Levels) -> tuple[float, ...] | None:
        """Return the labels divided by the given scale, or None without one."""
        scale = self.scale
        return None if scale is None else tuple(float(level) / scale for level in levels())

    def top(self, levels: Levels) -> float:  # noqa: ARG002 - 1 whatever the labels
        """Return 1."""
        return 1.0

    def check(self, levels: Levels) -> None:
        """Raise MeasureError for labels above the given scale."""
        if self.scale is not None and highest_label(levels) > self.scale:
            top = to_python(highest_label(levels))
            raise MeasureError(f"the label {top} is above the scale of relevance={self}: use max({top}) or 'max'")

    def __str__(self) -> str:
        """Return the function as it appears in the name of a measure."""
        return "'max'" if self.scale is None else f"max({self.scale!r})"


class Tabled(Relevance):
    """A table of relevance by label."""

    table: LabelTable = parameter(default=LabelTable(()), doc="relevance by label", kw_only=False)
    by_label = True

    def __call__(self, batch: Batch) -> Batch:
        """Return the batch with its labels looked up in the table."""
        xp = batch.xp
        pool = xp.where(batch.pooled, self.table(batch, batch.pool), -1.0)
        order = xp.argsort(-pool, axis=1)  # the pool is best first, and a table may give lower labels more relevance
        return batch.relabel(self.table(batch, batch.grade), pool[batch.row, order], batch.pooled[batch.row, order])

    def levels(self, levels: Levels) -> tuple[float, ...]:
        """Return the distinct positive values of the labels that occur."""
        value = dict(self.table.values)
        return tuple(sorted({float(value[label]) for label in map(float, levels()) if value[label] > 0}))

    def top(self, levels: Levels) -> float:  # noqa: ARG002 - the table is enough
        """Return the highest value of the table."""
        return self.table.top

    def check(self, levels: Levels) -> None:
        """Raise MeasureError for labels that the table does not list."""
        self.table.check(levels())

    def __str__(self) -> str:
        """Return the function as it appears in the name of a measure."""
        return str(self.table)


def check_next(_: str, value: Any) -> Relevance:
    """Return the relevance function that follows a shift."""
    from gradely.relevance import relevance_of

    following = relevance_of(value)
    if isinstance(following, Shift):
        raise MeasureError("labels can be shifted only once: shift cannot follow shift")
    return following


class Shift(Relevance):
    """The label minus the level that means not relevant, which is the lowest label of the collection by default.

    For example, ratings of 1 to 5 stars become 0 to 4, and so do labels of -2 to 2; unjudged documents stay at 0. Do
    not shift if negative labels are marks rather than levels, like -2 for spam in TREC's Web tracks: they have no gain
    anyway. Another relevance function may follow, as in shift(1, 'max').

    Scheel, Lommatzsch, Albayrak: Performance Measures for Multi-Graded Relevance (2011).
    """

    level: float | None = parameter(
        default=None,
        doc="the label that means not relevant; by default the lowest of the collection",
        kw_only=False,
        check=number("the label that means not relevant"),
    )
    then: Any = parameter(
        default=Identity(), doc="the relevance function for the shifted labels", kw_only=False, check=check_next
    )

    @property
    def by_label(self) -> bool:
        """True if the function that follows also depends only on single labels."""
        return bool(self.then.by_label)

    def __call__(self, batch: Batch) -> Batch:
        """Return the batch with its labels shifted and transformed by the function that follows."""
        by = float(self.level or 0)
        following: Callable[[Batch], Batch] = self.then
        return following(batch.relabel(batch.grade - by, batch.pool - by, batch.pooled))

    def _shift(self, levels: Levels) -> Levels:
        return levels.lower_by(float(self.level or 0))

    def fit(self, levels: Levels) -> Self:
        """Return the function with the level set to the lowest label of the collection, unless it is given."""
        level = levels.lowest if self.level is None else self.level
        return self.replace(level=level, then=self.then.fit(levels.lower_by(float(level))))

    def levels(self, levels: Levels) -> tuple[float, ...] | None:
        """Return the relevance levels of the shifted labels."""
        shifted: tuple[float, ...] | None = self.then.levels(self._shift(levels))
        return shifted

    def top(self, levels: Levels) -> float:
        """Return the highest relevance of the shifted labels."""
        return float(self.then.top(self._shift(levels)))

    def __str__(self) -> str:
        """Return the function as it appears in the name of a measure."""
        then = "" if isinstance(self.then, Identity) else str(self.then)
        if self.level is None:
            return f"shift(then={then})" if then else "'shift'"
        return f"shift({self.level!r}, {then})" if then else f"shift({self.level!r})"
