"""Batches of fixed shape: from arrays to values without asking what is in them, so that compilers can take the whole.

A Batch asks now and then: does anything tie, how deep is the ranking, how many levels are there. Each question waits
for the device, and a function that is traced (`jax.jit`, `torch.compile`, CUDA graphs) cannot ask at all. A Fixed
batch answers from shapes alone: anything may tie, the ranking is as deep as the array is wide. The formulas are the
same.
"""

from dataclasses import dataclass
from typing import Any

from gradely.kernel.backend import device_of, namespace, running_max, sort_rows
from gradely.kernel.batch import Array, Batch
from gradely.kernel.from_arrays import real

WIDE = 1 << 31
"""tables with so many cells are counted in 64 bits"""


@dataclass(frozen=True, eq=False, repr=False)
class Fixed(Batch):
    """A Batch of dense arrays that knows only shapes."""

    alone: bool = False
    """true where no two documents can tie"""
    most_levels: int | None = None
    """how many distinct positive labels a query can have; None where nobody said"""

    fixed = True

    @property
    def untied(self) -> bool:
        """True when ties were broken before."""
        return self.alone

    @property
    def depth(self) -> int:
        """As many places as there are columns."""
        return int(self.grade.shape[1])

    @property
    def edges(self) -> tuple[Array, Array]:
        """[Q, H] where each document's tie group begins and ends in a table of one more column, counted row by row."""
        rows, width = self.grade.shape[0], self.grade.shape[1] + 1
        dtype = self.xp.int64 if rows * width >= WIDE else self.first.dtype
        start = self.xp.arange(rows, dtype=dtype, device=self.device)[:, None] * width
        return start + self.first, start + self.last

    @property
    def parts(self) -> list[Batch]:
        """The batch in one block."""
        return [self]

    def top(self, k: int | None) -> Batch:  # noqa: ARG002 - which columns can be in the top k is a question
        """Return the batch as it is."""
        return self


def fixed(scores: Array, labels: Array, mask: Array | None, ties: str, most_levels: int | None = None) -> Fixed:
    """Return the batch of aligned arrays [Q, K]; nothing is checked.

    Real numbers have the precision of the scores, at least single.
    """
    xp = namespace(scores)
    number = precision_of(xp, scores)
    keys = xp.astype(scores, number)
    keys = keys if mask is None else xp.where(mask, keys, -xp.inf)
    labels = xp.astype(labels, number)
    alone = ties in ("order", "random")
    others = (labels,) if mask is None else (labels, mask)
    keys, grade, *rest = sort_rows(keys, *others, stable=alone)
    judged = rest[0] if rest else xp.ones_like(keys, dtype=xp.bool)
    above, tied = _groups(xp, keys, judged, alone=alone)
    return Fixed(
        grade=grade if mask is None else xp.where(judged, grade, 0.0),
        judged=judged,
        above=above,
        tied=tied,
        first=above,
        last=above + tied,
        retrieved=xp.sum(xp.astype(judged, above.dtype), axis=1),
        ties=ties if ties in ("best", "worst") else "expected",
        alone=alone,
        most_levels=most_levels,
        **_pool(xp, labels, mask),
    )


def precision_of(xp: Any, scores: Array) -> Any:
    """Return the real numbers to compute in: those of the scores, if these are single or double, else the widest."""
    return scores.dtype if scores.dtype in (xp.float32, xp.float64) else real(xp)


def _pool(xp: Any, labels: Array, mask: Array | None) -> dict[str, Array]:
    if mask is not None:
        pool = -xp.sort(xp.where(mask, -labels, xp.inf), axis=1)
        return {"pool": xp.where(pool > -xp.inf, pool, 0.0), "pooled": pool > -xp.inf}
    return {"pool": -xp.sort(-labels, axis=1), "pooled": xp.ones_like(labels, dtype=xp.bool)}


def _groups(xp: Any, keys: Array, judged: Array, *, alone: bool) -> tuple[Array, Array]:
    """Return how many documents are above each one and how many share its key, from keys in rank order."""
    width = keys.shape[1]
    column = xp.broadcast_to(xp.arange(width, dtype=xp.int32, device=device_of(keys)), keys.shape)
    if alone:
        return column, xp.ones_like(column)
    same = (keys[:, 1:] == keys[:, :-1]) & judged[:, 1:]
    edge = xp.ones_like(judged[:, :1])
    above = running_max(xp.where(xp.concat([edge, ~same], axis=1), column, 0))
    ends = xp.flip(xp.where(xp.concat([~same, edge], axis=1), -1 - column, -width), axis=1)
    return above, -xp.flip(running_max(ends), axis=1) - above
