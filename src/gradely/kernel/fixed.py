"""Batches of fixed shape: arrays are evaluated without inspecting their values, so the whole function can be compiled.

A Batch inspects values now and then: whether documents tie, how deep the rankings are, how many levels there are. Each
time it waits for the device, and a traced function (`jax.jit`, `torch.compile`, CUDA graphs) cannot inspect values at
all. A Fixed batch depends on shapes alone: any documents may tie, and rankings are as deep as the array is wide. The
formulas are the same.
"""

from dataclasses import dataclass
from typing import Any

from gradely.kernel.arrays import real_type
from gradely.kernel.backend import as_type, device_of, equal_runs, namespace, rank_rows
from gradely.kernel.batch import Array, Batch


@dataclass(frozen=True, eq=False, repr=False)
class Fixed(Batch):
    """A Batch of dense arrays that depends only on their shapes."""

    alone: bool = False
    """true if no two documents can tie"""
    whole: bool = False
    """true if every cell holds a document"""
    most_levels: int | None = None  # type: ignore[misc]
    """largest number of distinct positive labels of a query; None if unknown"""

    fixed = True

    @property
    def untied(self) -> bool:
        """True if ties are broken."""
        return self.alone

    @property
    def padded(self) -> bool:  # type: ignore[override]
        """False if every cell holds a document."""
        return not self.whole

    @property
    def by_place(self) -> bool:  # type: ignore[override]
        """True unless ties are broken: each document then has a single place."""
        return not self.alone

    @property
    def depth(self) -> int:
        """The number of columns."""
        return int(self.grade.shape[1])

    @property
    def size(self) -> Array:
        """[Q, H] the size of each document's tie group, as a real number; shared with batches of other labels."""
        if "size" not in self.memo:
            self.memo["size"] = self.to_real(self.tied)
        return self.memo["size"]

    @property
    def parts(self) -> list[Batch]:
        """The batch in one block."""
        return [self]

    def top(self, k: int | None) -> Batch:  # noqa: ARG002 - the columns that can be in the top k depend on values
        """Return the batch itself."""
        return self


def fix_shapes(scores: Array, labels: Array, mask: Array | None, ties: str, most_levels: int | None = None) -> Fixed:
    """Return the batch of aligned arrays [Q, K]; nothing is checked.

    Real numbers have the precision of the scores, at least single.
    """
    xp = namespace(scores)
    number = precision_of(xp, scores)
    keys, labels = as_type(scores, number), as_type(labels, number)
    if mask is not None:  # real documents rank above padding, even with a score of minus infinity
        keys = xp.where(mask, xp.clip(keys, min=float(xp.finfo(number).min)), -xp.inf)
        labels = xp.where(mask, labels, -xp.inf)
    alone = ties in ("order", "random")
    rising, grade, pool = rank_rows(keys, labels, stable=alone)
    column = xp.arange(labels.shape[1], dtype=xp.int32, device=device_of(labels))
    first, last = (xp.broadcast_to(x, labels.shape) for x in (column, column + 1)) if alone else equal_runs(rising)
    if mask is None:
        real = xp.broadcast_to(xp.ones((1, 1), dtype=xp.bool, device=device_of(labels)), labels.shape)  # one cell
        retrieved = xp.full_like(first[:, 0], labels.shape[1])
    else:
        retrieved = xp.sum(xp.astype(mask, first.dtype), axis=1)
        real = column < retrieved[:, None]
        grade, pool = (xp.where(real, x, 0.0) for x in (grade, pool))
    return Fixed(
        grade=grade,
        judged=real,
        above=first,
        tied=last - first,
        first=first,
        last=last,
        pool=pool,
        pooled=real,
        retrieved=retrieved,
        ties=ties if ties in ("best", "worst") else "expected",
        alone=alone,
        whole=mask is None,
        most_levels=most_levels,
    )


def precision_of(xp: Any, scores: Array) -> Any:
    """Return the dtype to compute in: that of the scores if it is single or double, else the widest."""
    return scores.dtype if scores.dtype in (xp.float32, xp.float64) else real_type(xp)
