"""Levels: the labels of a collection."""

from typing import Any

from gradely.kernel.backend import is_numpy, namespace
from gradely.lazy import lazy

BLOCK, FEW = 1 << 16, 8
"""labels that are looked at in one go, which fit into a cache; levels up to which comparing is quicker than sorting"""


class Levels:
    """The labels of a collection, looked at by those who need them: called, the distinct positive ones, ascending."""

    def __init__(self, labels: Any, counted: Any | None = None) -> None:
        """Take labels, and which of them count."""
        self._labels, self._counted = labels, counted

    def __call__(self) -> Any:
        """Return the distinct positive labels, ascending."""
        return self._positive

    @lazy
    def _positive(self) -> Any:
        labels, xp = self._labels, namespace(self._labels)
        if self._counted is None and is_numpy(labels):
            labels = find_distinct(labels.reshape(-1))
        positive = labels > 0 if self._counted is None else self._counted & (labels > 0)
        values = xp.sort(xp.unique_values(xp.where(positive, labels, xp.zeros_like(labels))))
        return values[1:] if values.shape[0] and float(values[0]) == 0 else values

    def lower_by(self, level: float) -> "Levels":
        """Return the labels, all lower by this much."""
        return Levels(self._labels - level, self._counted)

    @lazy
    def lowest(self) -> float:
        """The lowest label."""
        xp, highest = namespace(self._labels), float(namespace(self._labels).max(self._labels))
        return float(xp.min(self._labels if self._counted is None else xp.where(self._counted, self._labels, highest)))


def find_distinct(labels: Any) -> Any:
    """Return the distinct ones of many labels in any order.

    Most collections have few, and to compare all labels with those takes a tenth of what sorting takes, and no memory.
    """
    xp, known = namespace(labels), labels[:0]
    for start in range(0, labels.shape[0], BLOCK):
        if known.shape[0] > FEW:
            return xp.unique_values(labels)
        block = labels[start : start + BLOCK]
        new = xp.ones_like(block, dtype=xp.bool)
        for level in known:
            new &= block != level
        if xp.any(new):
            known = xp.unique_values(xp.concat([known, block[new]]))
    return known
