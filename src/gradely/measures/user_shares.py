"""Populations: how the thresholds of users are spread over relevance."""

from collections.abc import Mapping
from math import ceil, isclose
from typing import Any, NamedTuple

from gradely.errors import MeasureError
from gradely.kernel.batch import Array, Batch
from gradely.kernel.gains import is_number, plain
from gradely.tables import count_of

EXPECTED = "g is a list of shares, like [0.2, 0.8], or a table {level: share}"


class Users(NamedTuple):
    """A user distribution: the share of users with each level as their threshold."""

    levels: tuple[float, ...]
    shares: tuple[float, ...]
    counted: bool
    """True where the levels are 1, 2, … c by position, as in a list."""

    @classmethod
    def of(cls, g: Any) -> "Users":
        """Make it from a list over the levels 1 … c or from {level: share}."""
        pairs = list(g.items()) if isinstance(g, Mapping) else list(enumerate(_list(g), 1))
        if not all(is_number(x) for pair in pairs for x in pair):
            raise MeasureError(f"{EXPECTED}; found {g!r}")
        pairs = sorted((plain(level), plain(share)) for level, share in pairs)
        if any(level <= 0 for level, _ in pairs):
            raise MeasureError(f"the levels of g are above 0, since 0 is not relevant; found {g!r}")
        if any(share < 0 for _, share in pairs):
            raise MeasureError(f"the shares of g cannot be negative; found {g!r}")
        total = sum(float(share) for _, share in pairs)
        if not isclose(total, 1, abs_tol=1e-6):
            raise MeasureError(f"the shares of g must sum to 1; {g!r} sums to {total:g}")
        return cls(tuple(level for level, _ in pairs), tuple(share for _, share in pairs), not isinstance(g, Mapping))

    def up_to(self, batch: Batch, relevance: Array) -> Array:
        """Return the share of users whose threshold is at most this relevance."""
        xp, like = batch.xp, {"dtype": relevance.dtype, "device": batch.device}
        levels, shares = (
            xp.asarray([float(x) for x in self.levels], **like),
            xp.asarray([float(x) for x in self.shares], **like),
        )
        index = xp.searchsorted(levels, xp.reshape(relevance, (-1,)), side="right")
        return xp.cumulative_sum(shares, include_initial=True)[xp.reshape(index, relevance.shape)]

    def check(self, top: float) -> None:
        """Refuse grades above a list of levels."""
        if top > len(self.levels):
            problem = f"g={self} has {count_of(len(self.levels), 'level')}, but there is a grade of {plain(top)}"
            raise MeasureError(f"{problem}: give g {ceil(top)} shares, or a table {{level: share}}")

    def __str__(self) -> str:
        """Print as the list or table that it was made from."""
        return repr(list(self.shares)) if self.counted else repr(dict(zip(self.levels, self.shares, strict=True)))


def _list(g: Any) -> list[Any]:
    try:
        return list(g.tolist() if hasattr(g, "tolist") else g)
    except TypeError:
        raise MeasureError(f"{EXPECTED}; found {g!r}") from None


class Spread(NamedTuple):
    """Users whose thresholds are spread evenly over all relevance from 0 to the top."""

    top: float | None = None
    """None: the top of each query's own pool."""

    def up_to(self, batch: Batch, relevance: Array) -> Array:
        """Return the share of users whose threshold is at most this relevance."""
        xp = batch.xp
        top = (
            xp.max(batch.pool, axis=1, keepdims=True)
            if self.top is None
            else xp.full_like(batch.pool[:, :1], float(self.top))
        )
        return xp.clip(relevance / xp.where(top > 0, top, 1.0), max=1.0)
