"""Batch: where the judged documents of a block of queries landed.

A measure needs nothing else. One row a query, one column a judged, retrieved document, in rank order.
Unjudged documents enter only through `above`, `tied` and `retrieved`.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

from gradely.namespaces import device_of, namespace

Array: TypeAlias = Any
"""An array of any library that follows the array API standard."""
KNOWN = ("xp", "device", "untied", "depth", "row", "ranks", "memo")
"""what is known of a batch whatever its labels"""


@dataclass(frozen=True, eq=False, repr=False)
class Batch:
    """Arrays of one library, on one device. Columns are sorted by `above`; padding comes last."""

    grade: Array
    """[Q, H] the label, a real number; 0 in padding"""
    judged: Array
    """[Q, H] true where the column holds a judged document"""
    above: Array
    """[Q, H] how many retrieved documents have a strictly better score"""
    tied: Array
    """[Q, H] how many share its score, itself included; 1 = no tie"""
    first: Array
    """[Q, H] the first column of its tie group"""
    last: Array
    """[Q, H] one past the last column of its tie group"""
    pool: Array
    """[Q, B] the labels of all judged documents, best first; 0 in padding"""
    pooled: Array
    """[Q, B] true where `pool` holds a label"""
    retrieved: Array
    """[Q] the length of the ranking"""
    ties: str = "expected"
    """how measures take tie groups: the mean over their orders (expected), the best or the worst order"""

    @cached_property
    def xp(self) -> Any:
        """The array namespace of the fields."""
        return namespace(self.grade)

    @cached_property
    def device(self) -> Any:
        """The device the fields live on."""
        return device_of(self.grade)

    @cached_property
    def untied(self) -> bool:
        """True when no judged document shares its score."""
        return not bool(self.xp.any(self.tied > 1))

    @cached_property
    def depth(self) -> int:
        """The deepest place that a judged document can take."""
        places = self.above + self.tied
        return int(self.xp.max(places)) if 0 not in places.shape else 0

    @cached_property
    def row(self) -> Array:
        """[Q, 1] the number of each row, to look things up row by row."""
        return self.xp.arange(self.grade.shape[0], dtype=self.first.dtype, device=self.device)[:, None]

    @cached_property
    def ranks(self) -> Array:
        """1, 2, … up to the deepest place that a judged document can take."""
        return self.xp.arange(1, self.depth + 1, dtype=self.grade.dtype, device=self.device)

    @cached_property
    def memo(self) -> dict[object, Any]:
        """What measures share: tables of discounts, and the batch as seen through a relevance function."""
        return {}

    def relabelled(self, grade: Array, pool: Array, pooled: Array) -> "Batch":
        """Return the batch with other labels; what is known of its ties stays known."""
        other = replace(self, grade=grade, pool=pool, pooled=pooled)
        other.__dict__.update({name: self.__dict__[name] for name in KNOWN if name in self.__dict__})
        return other

    def number(self, x: Array) -> Array:
        """Return an integer or boolean array as the batch's real numbers."""
        return self.xp.astype(x, self.grade.dtype)

    def levels(self) -> Array:
        """Return the distinct positive labels of all pools, ascending."""
        xp = self.xp
        values = xp.unique_values(xp.where(self.pooled & (self.pool > 0), self.pool, 0.0))
        return values[1:] if values.shape[0] and float(values[0]) == 0 else values
