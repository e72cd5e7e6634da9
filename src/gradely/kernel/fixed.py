"""Batches of fixed shape: from arrays to values without asking what is in them, so that compilers can take the whole.

A Batch asks now and then: does anything tie, how deep is the ranking, how many levels are there. Each question waits
for the device, and a function that is traced (`jax.jit`, `torch.compile`, CUDA graphs) cannot ask at all. A Fixed
batch answers from shapes alone: anything may tie, the ranking is as deep as the array is wide. The formulas are the
same.
"""

from dataclasses import dataclass
from typing import Any

from gradely.kernel.arrays import real_type
from gradely.kernel.backend import as_type, device_of, equal_runs, namespace, sort_down, sort_rows
from gradely.kernel.batch import Array, Batch


@dataclass(frozen=True, eq=False, repr=False)
class Fixed(Batch):
    """A Batch of dense arrays that knows only shapes."""

    alone: bool = False
    """true where no two documents can tie"""
    whole: bool = False
    """true where every cell holds a document"""
    most_levels: int | None = None
    """how many distinct positive labels a query can have; None where nobody said"""

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
    alone = ties in ("order", "random")
    others = (labels,) if mask is None else (labels, mask)
    rising, grade, *rest = sort_rows(keys, *others, stable=alone)
    judged = rest[0] if rest else _everywhere(xp, labels)
    first, last = _columns(xp, rising) if alone else equal_runs(rising)
    length = xp.full_like(first[:, 0], labels.shape[1])
    return Fixed(
        grade=grade if mask is None else xp.where(judged, grade, 0.0),
        judged=judged,
        above=first,
        tied=last - first,
        first=first,
        last=last,
        retrieved=length if mask is None else xp.sum(xp.astype(judged, first.dtype), axis=1),
        ties=ties if ties in ("best", "worst") else "expected",
        alone=alone,
        whole=mask is None,
        most_levels=most_levels,
        **_pool(xp, labels, mask),
    )


def precision_of(xp: Any, scores: Array) -> Any:
    """Return the real numbers to compute in: those of the scores, if these are single or double, else the widest."""
    return scores.dtype if scores.dtype in (xp.float32, xp.float64) else real_type(xp)


def _pool(xp: Any, labels: Array, mask: Array | None) -> dict[str, Array]:
    if mask is None:
        return {"pool": sort_down(labels), "pooled": _everywhere(xp, labels)}
    pool = sort_down(xp.where(mask, labels, -xp.inf))
    pooled = pool > -xp.inf
    return {"pool": xp.where(pooled, pool, 0.0), "pooled": pooled}


def _everywhere(xp: Any, like: Array) -> Array:
    """Return an array of a shape that is true everywhere, and takes no memory where the library can share a cell."""
    return xp.broadcast_to(xp.ones((1, 1), dtype=xp.bool, device=device_of(like)), like.shape)


def _columns(xp: Any, like: Array) -> tuple[Array, Array]:
    """Return the columns where each document's tie group begins and ends, one column each."""
    column = xp.broadcast_to(xp.arange(like.shape[1], dtype=xp.int32, device=device_of(like)), like.shape)
    return column, column + 1
