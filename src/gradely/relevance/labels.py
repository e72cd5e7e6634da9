"""Relevance from the label alone or from the scale it stands on."""

from gradely.errors import MeasureError
from gradely.kernel.batch import Batch
from gradely.kernel.gains import Table, is_number, to_python
from gradely.kernel.parameters import parameter
from gradely.relevance.base import Levels, Relevance


def highest_label(levels: Levels) -> float:
    """Return the highest positive label of the collection, 0 if there is none."""
    values = levels()
    return float(values[-1]) if values.shape[0] else 0.0


class Identity(Relevance):
    """The label itself."""

    def __call__(self, batch: Batch) -> Batch:
        """Return the batch as it is."""
        return batch

    def levels(self, levels: Levels) -> tuple[float, ...]:
        """Return the labels themselves."""
        return tuple(map(float, levels()))

    def top(self, levels: Levels) -> float:
        """Return the highest label."""
        return highest_label(levels)

    def __str__(self) -> str:
        """Print as in a measure's name."""
        return "'identity'"


class AtLeast(Relevance):
    """1 for labels of at least a threshold, 0 for others."""

    threshold: float = parameter(default=1, doc="the lowest label that counts", kw_only=False)

    def check_parameters(self) -> None:
        """Refuse a threshold that is not a number."""
        if not is_number(self.threshold):
            raise MeasureError(
                f"the threshold is the lowest label that counts, like binary(2); found {self.threshold!r}"
            )
        self._set("threshold", to_python(self.threshold))

    def __call__(self, batch: Batch) -> Batch:
        """Return the batch with 1 and 0 for labels."""
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
        """Print as in a measure's name."""
        return "'binary'" if self.threshold == 1 else f"binary({self.threshold!r})"


class Max(Relevance):
    """The label over the highest label of the query's pool, or over the top of a scale that is stated."""

    scale: float | None = parameter(
        default=None, doc="the top of the scale; by default that of the query's pool", kw_only=False
    )

    def check_parameters(self) -> None:
        """Refuse a scale that is not a positive number."""
        if self.scale is None:
            return
        if not is_number(self.scale) or self.scale <= 0:
            raise MeasureError(f"the top of a scale is a number above 0, like max(4); found {self.scale!r}")
        self._set("scale", to_python(self.scale))

    def __call__(self, batch: Batch) -> Batch:
        """Return the batch with its labels divided; those of a query without a positive label stay as they are."""
        xp = batch.xp
        highest = xp.max(batch.pool, axis=1, keepdims=True)
        scale = highest if self.scale is None else xp.full_like(highest, float(self.scale))
        scale = xp.where(scale > 0, scale, 1.0)
        return batch.relabel(batch.grade / scale, batch.pool / scale, batch.pooled)

    def levels(self, levels: Levels) -> tuple[float, ...] | None:
        """Return the labels over the stated scale."""
        scale = self.scale
        return None if scale is None else tuple(float(level) / scale for level in levels())

    def top(self, levels: Levels) -> float:  # noqa: ARG002 - 1 whatever the labels
        """Return 1."""
        return 1.0

    def check(self, levels: Levels) -> None:
        """Refuse labels above the stated scale."""
        if self.scale is not None and highest_label(levels) > self.scale:
            top = to_python(highest_label(levels))
            raise MeasureError(
                f"the label {top} is above the stated scale of relevance={self}: use max({top}) or 'max'"
            )

    def __str__(self) -> str:
        """Print as in a measure's name."""
        return "'max'" if self.scale is None else f"max({self.scale!r})"


class Tabled(Relevance):
    """Relevance of one's own, label by label."""

    table: Table = parameter(default=Table(()), doc="relevance by label", kw_only=False)

    def __call__(self, batch: Batch) -> Batch:
        """Return the batch with its labels looked up; the pool is sorted anew, since a table need not rise."""
        xp = batch.xp
        pool = xp.where(batch.pooled, self.table(batch, batch.pool), -1.0)
        order = xp.argsort(-pool, axis=1)
        return batch.relabel(self.table(batch, batch.grade), pool[batch.row, order], batch.pooled[batch.row, order])

    def levels(self, levels: Levels) -> tuple[float, ...]:
        """Return the distinct positive values of the labels that occur."""
        value = dict(self.table.values)
        return tuple(sorted({float(value[label]) for label in map(float, levels()) if value[label] > 0}))

    def top(self, levels: Levels) -> float:  # noqa: ARG002 - the table says it
        """Return the highest value of the table."""
        return self.table.top

    def check(self, levels: Levels) -> None:
        """Refuse labels that the table does not list."""
        self.table.check(levels())

    def __str__(self) -> str:
        """Print as in a measure's name."""
        return str(self.table)
