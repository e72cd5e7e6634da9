"""The gains of relevance, which is at least 0, and discounts by logarithms and powers: parts of graded measures."""

import math
from functools import cache
from typing import Any, NamedTuple

from gradely.errors import MeasureError
from gradely.kernel.backend import is_any
from gradely.kernel.batch import Array, Batch
from gradely.kernel.parameters import to_python
from gradely.settings import is_number


class LabelTable(NamedTuple):
    """A table of values by label; labels of 0 or less that are not listed have the value 0."""

    values: tuple[tuple[float, float], ...]

    @classmethod
    def of(cls, table: dict[float, float]) -> "LabelTable":
        """Return the table of {label: value}; raise MeasureError if an entry is no number or a value is negative."""
        for label, value in table.items():
            if not is_number(label) or not is_number(value) or value < 0:
                entry = f"{label!r}: {value!r}"
                raise MeasureError(
                    f"a table must map labels to numbers of at least 0, like {{1: 1, 2: 3}}; found {entry}"
                )
        return cls(tuple(sorted((to_python(label), to_python(value)) for label, value in table.items())))

    def __call__(self, batch: Batch, labels: Array, exponent: Array | None = None) -> Array:
        """Return the value of each label, in units of 2^exponent."""
        out = batch.xp.zeros_like(labels)
        for label, value in self.values:
            out = batch.xp.where(labels == label, float(value), out)
        return linear(batch, out, exponent)

    def check(self, levels: Array) -> None:
        """Raise MeasureError unless every positive label of the collection is listed."""
        listed = {float(label) for label, _ in self.values}
        missing = next((level for level in map(float, levels) if level not in listed), None)
        if missing is not None:
            raise MeasureError(f"the table {self} has no value for the label {missing:g}; add one")

    @property
    def top(self) -> float:
        """The highest value."""
        return max((value for _, value in self.values), default=0.0)

    def __str__(self) -> str:
        """Return the table as {label: value}, which can be parsed again."""
        return repr(dict(self.values))


def headroom(batch: Batch) -> float:
    """Return half the largest exponent of two in the batch's dtype, 512 for doubles.

    Gains up to 2^headroom can be summed and discounted without overflow.
    """
    return _headroom(batch.xp, batch.grade.dtype)


@cache
def _headroom(xp: Any, dtype: Any) -> float:
    return math.log2(xp.finfo(dtype).max) / 2


def exponents(batch: Batch, power: Array) -> Array | None:
    """Return exponents of units 2^exponent in which gains up to 2^power, [Q, 1], have headroom; None if all are 0.

    Exponents are even, so scaling by units, or by their square roots, does not round. Batches of fixed shape always
    have exponents, since their values cannot be inspected.
    """
    over = power - headroom(batch)
    if not batch.fixed and not is_any(over > 0):
        return None
    return 2 * batch.xp.floor(batch.xp.clip(over, min=0.0) / 2)


def units(batch: Batch, exponent: Array) -> Array:
    """Return 1 in units of 2^exponent, or 0 if that underflows."""
    return batch.xp.pow(batch.xp.full_like(exponent, 2.0), -exponent)


def linear(batch: Batch, relevance: Array, exponent: Array | None = None) -> Array:
    """Return the relevance itself, in units of 2^exponent."""
    return relevance if exponent is None else relevance * units(batch, exponent)


def exp(batch: Batch, relevance: Array, exponent: Array | None = None) -> Array:
    """Return 2^relevance - 1, in units of 2^exponent."""
    two = batch.xp.full_like(relevance, 2.0)
    if exponent is None:
        return batch.xp.pow(two, relevance) - 1.0
    return batch.xp.pow(two, relevance - exponent) - units(batch, exponent)


GAINS = {"linear": linear, "exp": exp}


def log2(batch: Batch, rank: Array) -> Array:
    """Return the binary logarithm of i + 1 for rank i."""
    return batch.xp.log2(rank + 1.0)


LEAST_LOG = -690
"""the natural logarithm of a number close to the smallest normal double"""


def inverse_power(batch: Batch, base: float, exponent: Array) -> Array:
    """Return 1 / base^exponent for a base below 1; the exponent is limited where base^exponent would underflow."""
    held = batch.xp.clip(exponent, max=LEAST_LOG / math.log(base))
    return batch.xp.pow(batch.xp.full_like(held, base), -held)
