"""What GAP, xGAP, eGAP and µAP share: users with thresholds, the levels of each pool, the precision at each."""

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from functools import reduce
from itertools import islice
from math import ceil, isclose
from operator import add
from typing import Any, NamedTuple

from gradely.errors import MeasureError
from gradely.kernel.backend import is_any, sum_rows
from gradely.kernel.batch import Array, Batch
from gradely.kernel.families import harmonics, threshold
from gradely.kernel.fixed import Fixed
from gradely.kernel.gains import is_number, to_python
from gradely.kernel.lower_levels import lower_levels
from gradely.measures.graded import Graded
from gradely.tables import count_of

EXPECTED = "g is a list of shares, like [0.2, 0.8], or a table {level: share}"
FEW = 8
"""of so many levels the precisions are kept for other users; more would take much memory"""


MANY = 150
"""from more levels on, all at once is faster than one by one: measured on one and on 60 queries of 2,000 documents"""


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
        pairs = sorted((to_python(level), to_python(share)) for level, share in pairs)
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
            problem = f"g={self} has {count_of(len(self.levels), 'level')}, but there is a grade of {to_python(top)}"
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
        if self.top is not None:
            return batch.xp.clip(relevance / self.top, max=1.0)
        highest = batch.pool[:, :1]
        return relevance / batch.xp.where(highest > 0, highest, 1.0)


class Thresholds(NamedTuple):
    """The distinct positive levels of each pool, best first, [Q, L]; level 0 and share 0 in padding."""

    level: Array
    base: Array
    """How many documents of the pool reach the level: its recall base."""
    share: Array
    """The users whose threshold lies above the next lower level and not above this one."""


class Population(Graded):
    """Average precision over a distribution of thresholds."""

    def users(self) -> Users | Spread:
        """Return the distribution of thresholds."""
        return Spread()

    def thresholds(self, batch: Batch) -> Thresholds:
        """Return the levels of each pool with their recall bases and shares of users; made once a batch."""
        return batch.of_pools((Thresholds, self.key), self._thresholds_of)

    def _thresholds_of(self, batch: Batch) -> Thresholds:
        xp = batch.xp
        level, base = self._levels(batch)
        upto = self.users().up_to(batch, level)
        below = xp.concat([upto[:, 1:], xp.zeros_like(upto[:, :1])], axis=1)
        return Thresholds(level, base, upto - below)

    def _levels(self, batch: Batch) -> tuple[Array, Array]:
        """Return the levels of each pool and their recall bases; made once a batch, whatever the users."""
        return batch.of_pools((Thresholds, self.relevance_function.key), _levels_of)

    def terms(self, batch: Batch) -> Array:
        """The sum over levels of weight × precision at each document of that level or above.

        Of a few levels they are added one by one, of many all at once; which it is depends on the query alone.
        """
        xp, weight = batch.xp, batch.of_pools((Population, self.key), self._weight_of)
        if batch.fixed or weight.shape[1] <= MANY:
            return self._add_by_level(batch, weight)
        many = xp.sum(batch.to_real(self._levels(batch)[0] > 0), axis=1, keepdims=True) > MANY
        at_once = self._add_at_once(batch, weight)
        return at_once if bool(xp.all(many)) else xp.where(many, at_once, self._add_by_level(batch, weight))

    def _weight_of(self, batch: Batch) -> Array:
        return self.weight(batch, self.thresholds(batch))

    def _add_by_level(self, batch: Batch, weight: Array) -> Array:
        """Return [Q, H]: the terms, level by level; a few of one query at the same time."""
        if weight.shape[0] == 1 and weight.shape[1] <= FEW and batch.untied and not batch.fixed:
            return sum_rows((weight.T * self._precisions_of_one(batch)).T)[None, :]
        terms = [weight[:, i, None] * precision for i, precision in enumerate(self._precisions(batch))]
        return reduce(add, terms) if terms else batch.xp.zeros_like(batch.grade)

    def level_of(self, batch: Batch) -> Array:
        """Return [Q, H]: at which level of its pool each document stands, the lowest level 1, below all 0."""
        xp, level = batch.xp, self._levels(batch)[0]
        count = level.shape[1]
        order = xp.argsort(xp.concat([-level, -batch.grade], axis=1), axis=1, stable=True)
        reached = xp.cumulative_sum(xp.astype(order < count, batch.first.dtype), axis=1)
        place = reached[batch.row, xp.argsort(order, axis=1)][:, count:]
        levels = xp.sum(xp.astype(level > 0, batch.first.dtype), axis=1, keepdims=True)
        return xp.where(batch.grade > 0, levels - place + 1, 0)

    def up_to(self, batch: Batch, x: Array) -> Array:
        """Return [Q, H]: the sum of x, [Q, L], over the levels up to each document's own."""
        xp = batch.xp
        levels = xp.sum(xp.astype(self._levels(batch)[0] > 0, batch.first.dtype), axis=1, keepdims=True)
        from_lowest = xp.flip(xp.cumulative_sum(xp.flip(x, axis=1), axis=1, include_initial=True), axis=1)
        return from_lowest[batch.row, xp.clip(levels - self.level_of(batch), min=0)]

    def _add_at_once(self, batch: Batch, weight: Array) -> Array:
        """Return [Q, H]: the terms from sums over the documents on lower levels, however many levels there are.

        Documents that have k others above them are left out of the sums: how many of them have a column depends on
        the other queries of the batch, and they would change the last digit.
        """
        xp, own = batch.xp, batch.keep_top(self.up_to(batch, weight), self.k)
        lower = lower_levels(batch, self.level_of(batch), own, int(weight.shape[1]))
        above = lower.above + own * (batch.to_real(batch.first) - lower.above_count) + own
        alone = above / batch.rank
        alone = alone if self.k is None else xp.where(batch.above < self.k, alone, 0.0)
        if batch.untied:
            return alone
        beside = lower.beside + own * (batch.to_real(batch.last - batch.first) - lower.beside_count) - own
        places, n = harmonics(batch, self.k), batch.size
        shared = (above * places.inverse + beside / xp.clip(n - 1, min=1.0) * places.offset) / n
        return xp.where(batch.tied == 1, alone, shared)

    def _precisions(self, batch: Batch) -> Iterable[Array]:
        """Return [Q, H] for each level: the precision at each document of that level or above.

        Every document reaches the level 0 of padding, which has no weight.

        A few are kept with the batch: they are the same for all users, so any number of distributions share them.
        """
        key = (threshold, self.relevance_function.key, self.k)
        if key in batch.memo:
            precisions: list[Array] = batch.memo[key]
            return precisions
        places, (level, _) = None if batch.untied else harmonics(batch, self.k), self._levels(batch)
        columns = (level[:, i, None] for i in range(level.shape[1]))
        computed = (
            threshold(batch, batch.grade >= x, self.k, places) for x in islice(columns, None if batch.fixed else MANY)
        )
        return batch.memo.setdefault(key, list(computed)) if level.shape[1] <= FEW else computed

    def _precisions_of_one(self, batch: Batch) -> Array:
        """Return [L, H] for a single query: the same, one row per level, for any number of distributions."""
        key = (threshold, self.relevance_function.key, self.k)
        if key not in batch.memo:
            level, _ = self._levels(batch)
            batch.memo[key] = threshold(batch, batch.grade >= level.T, self.k)
        return batch.memo[key]

    @abstractmethod
    def weight(self, batch: Batch, levels: Thresholds) -> Array:
        """Return [Q, L]: what the AP numerator of each level counts."""

    def degenerate(self, batch: Batch) -> Array:
        """No document that any user finds relevant."""
        return ~batch.xp.any(self.thresholds(batch).share > 0, axis=1)


def _levels_of(batch: Batch) -> tuple[Array, Array]:
    """Return the distinct positive levels of each pool, best first, and their recall bases."""
    if isinstance(batch, Fixed):
        return _levels_one_by_one(batch)
    xp = batch.xp
    lower = xp.concat([batch.pool[:, 1:], xp.zeros_like(batch.pool[:, :1])], axis=1)
    ends = batch.pool > lower
    if ends.shape[0] == 1 and is_any(ends):  # of one query they are sooner found than sorted
        columns = xp.nonzero(ends[0, :])[0]
        return xp.take(batch.pool, columns, axis=1), batch.to_real(columns + 1)[None, :]
    count = int(xp.max(xp.sum(xp.astype(ends, batch.first.dtype), axis=1)))
    order = xp.argsort(xp.where(ends, -batch.pool, 0.0), axis=1)[:, : max(1, count)]
    return xp.where(ends, batch.pool, 0.0)[batch.row, order], batch.to_real(order + 1)


def _levels_one_by_one(batch: Fixed) -> tuple[Array, Array]:
    """Return the same without asking how many there are: each level is the highest label below the one before."""
    xp, level, base = batch.xp, [], []
    if batch.most_levels is None:
        raise MeasureError("how many levels there are cannot be asked here: state them, as in levels=[1, 2, 3]")
    below = xp.full_like(batch.pool[:, :1], xp.inf)
    for _ in range(max(1, batch.most_levels)):
        below = xp.max(xp.where(batch.pool < below, batch.pool, 0.0), axis=1, keepdims=True)
        level.append(below)
        base.append(xp.sum(batch.to_real(batch.pooled & (batch.pool >= below)), axis=1, keepdims=True))
    return xp.concat(level, axis=1), xp.clip(xp.concat(base, axis=1), min=1.0)
