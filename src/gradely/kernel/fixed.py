"""Batches of fixed shape: from arrays to values without asking what is in them, so that compilers can take the whole.

A Batch asks now and then: does anything tie, how deep is the ranking, how many levels are there. Each question waits
for the device, and a function that is traced (`jax.jit`, `torch.compile`, CUDA graphs) cannot ask at all. A Fixed
batch answers from shapes alone: anything may tie, the ranking is as deep as the array is wide. The formulas are the
same.
"""

from dataclasses import dataclass
from typing import Any

from gradely.kernel.arrays import real_type
from gradely.kernel.backend import as_type, device_of, equal_runs, namespace, rank_rows
from gradely.kernel.batch import Array, Batch


@dataclass(frozen=True, eq=False, repr=False)
class Fixed(Batch):
    """A Batch of dense arrays that knows only shapes."""

    alone: bool = False
    """true where no two documents can tie"""
    whole: bool = False
    """true where every cell holds a document"""
    most_levels: int | None = None  # type: ignore[misc]
    """how many distinct positive labels a query can have; None if nobody said"""

    fixed = True

    @property
    def untied(self) -> bool:
        """True when ties were broken before."""
        return self.alone

    @property
    def padded(self) -> bool:  # type: ignore[override]
        """False where every cell holds a document."""
        return not self.whole

    @property
    def by_place(self) -> bool:  # type: ignore[override]
        """True unless ties were broken before: then a document has one place, and nothing is to be shared."""
        return not self.alone

    @property
    def depth(self) -> int:
        """As many places as there are columns."""
        return int(self.grade.shape[1])

    @property
    def size(self) -> Array:
        """[Q, H] how many documents each one's tie group has, a real number; shared by batches with other labels."""
        if "size" not in self.memo:
            self.memo["size"] = self.to_real(self.tied)
        return self.memo["size"]

    @property
    def parts(self) -> list[Batch]:
        """The batch in one block."""
        return [self]

    def top(self, k: int | None) -> Batch:  # noqa: ARG002 - which columns can be in the top k is a question
        """Return the batch as it is."""
        return self


def fix_shapes(scores: Array, labels: Array, mask: Array | None, ties: str, most_levels: int | None = None) -> Fixed:
    """Return the batch of aligned arrays [Q, K]; nothing is checked.

    Real numbers have the precision of the scores, at least single.
    """
    xp = namespace(scores)
    number = precision_of(xp, scores)
    keys, labels = as_type(scores, number), as_type(labels, number)
    if mask is not None:  # a real document stands above padding, whatever its score
        keys = xp.where(mask, xp.clip(keys, min=float(xp.finfo(number).min)), -xp.inf)
        labels = xp.where(mask, labels, -xp.inf)
    alone = ties in ("order", "random")
    rising, grade, pool = rank_rows(keys, labels, stable=alone)
    column = xp.arange(labels.shape[1], dtype=xp.int32, device=device_of(labels))
    first, last = (xp.broadcast_to(x, labels.shape) for x in (column, column + 1)) if alone else equal_runs(rising)
    if mask is None:
        real = xp.broadcast_to(xp.ones((1, 1), dtype=xp.bool, device=device_of(labels)), labels.shape)  # of one cell
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
    """Return the real numbers to compute in: those of the scores, if these are single or double, else the widest."""
    return scores.dtype if scores.dtype in (xp.float32, xp.float64) else real_type(xp)
