"""Normalized gain, which discounts a document by the gain that was missed before it: G and binG."""

import math
from collections import Counter
from collections.abc import Callable
from itertools import accumulate
from operator import mul
from typing import NamedTuple, Self

from gradely.kernel.backend import ignore_overflow, sum_rows, to_lists
from gradely.kernel.batch import Array, Batch
from gradely.kernel.compositions import Adds
from gradely.kernel.families import Opposition, preference
from gradely.kernel.gains import log2, units
from gradely.kernel.ties import Sums, divisors, sum_before, sum_in_group, sum_in_parts, sums
from gradely.measures.base import Binary
from gradely.measures.dcg import GainBased
from gradely.measures.searched_measure import ComposedMeasure, Scene, WholeNumbers, by_kind, levels_of


class binG(Binary):  # noqa: N801 - the field's name
    """The share of relevant documents that is found, each discounted by how many others stand above it.

        binG@k = (1/RB) Σ over relevant ranks i <= k of 1/log2(2 + a)

    a is the number of documents above that are not relevant.

    Ties: in a tie group with n' documents that are not relevant, a is uniform on a … a+n'. No relevant document: 0.
    Reference: Buckley, binG in trec_eval (2008).

    >>> from gradely import binG, from_arrays
    >>> binG()(from_arrays([4, 3, 2, 1], [1, 0, 0, 1])).tolist() == [(1 + 1 / 2) / 2]
    True
    """

    name = "binG"

    def terms(self, batch: Batch) -> Array:
        """1/log2(2 + a), the mean over the places a document can take."""
        xp, x = batch.xp, batch.to_real(self.relevant(batch))
        over = batch.to_real(batch.above) - sum_before(batch, x)
        against = Opposition(over, batch.to_real(batch.tied) - sum_in_group(batch, x) + 1)
        divisor, (high, low) = divisors(batch, log2), sums(batch, log2)

        def credit(y: Array, over: Array) -> Array:
            """Σ over u < y of 1/log2(2 + over + u)."""
            start, stop = (xp.astype(xp.clip(a, max=float(batch.depth)), batch.above.dtype) for a in (over, over + y))
            return xp.where(y == 1, 1.0 / divisor[start], (high[stop] - high[start]) + (low[stop] - low[start]))

        return preference(batch, x > 0, against, credit, self.k)

    def norm(self, batch: Batch) -> Array:
        """The relevant documents."""
        return self.recall_base(batch)


class Missed(NamedTuple):
    """How much more an ideal ranking had found by a rank: gains, and places that gain 1 since they have less.

    Apart, since 1 is lost beside a gain of 2^53.
    """

    gain: Array
    places: Array

    def discount(self, batch: Batch, exponent: Array) -> Array:
        """Return log2 of 2 and what is missed; gains are in units of 2^exponent."""
        xp, unit, two = batch.xp, units(batch, exponent), 2.0 + self.places
        with ignore_overflow():  # 2 may be too small, in these units, to be told from 0
            large = exponent + xp.log2(xp.clip(self.gain + two * unit, min=0.0))
        return xp.clip(xp.where(self.gain == 0, xp.log2(two), large), min=1.0)


class Cost(NamedTuple):
    """What an ideal ranking has found by each rank, [Q, B + 1], of gains of 1 or more; and how many these are."""

    sums: Sums
    count: Array

    @classmethod
    def of(cls, batch: Batch, ideal: Array, exponent: Array) -> Self:
        """Sum up an ideal ranking, [Q, B], whose gains are in units of 2^exponent."""
        large = (ideal >= units(batch, exponent)) & (ideal > 0)
        count = batch.xp.sum(batch.xp.astype(large, batch.above.dtype), axis=1, keepdims=True)
        return cls(sum_in_parts(batch, batch.xp.where(large, ideal, 0.0)), count)

    def missed(self, batch: Batch, gain: Array, rank: Array) -> Missed:
        """Return what is missed at some ranks, [Q, H], after the gains up to each column."""
        xp, last = batch.xp, self.sums.high.shape[1] - 1
        high, low = (part[batch.row, xp.clip(rank, max=last)] for part in self.sums)
        gained, rest = (part[:, 1:] for part in sum_in_parts(batch, gain))
        return Missed((high - gained) + (low - rest), batch.to_real(xp.clip(rank - self.count, min=0)))


def gain_over_missed(batch: Batch, gain: Array, ideal: Array, exponent: Array) -> Array:
    """Return [Q, H]: each gain over log2 of 2 and what an ideal ranking, [Q, B], had found more by then.

    Gains are in units of 2^exponent.
    """
    missed = Cost.of(batch, ideal, exponent).missed(batch, gain, batch.above + 1)
    return gain / missed.discount(batch, exponent)


def _gain_scene(gain: dict[int, float], pool: list[float], power: float, unit: float, k: int | None) -> Scene:
    """Return what documents of a query add, by kind and pool; gains are in units of 2^power, in which 1 is `unit`."""
    ideal, whole = [gain for gain in pool if gain >= unit and gain > 0], WholeNumbers(pool)
    cost = list(accumulate(map(whole, ideal), initial=0))
    numbers = {kind: whole(value) for kind, value in gain.items()}

    def scene(start: int, kinds: tuple[int, ...], above: Counter[int]) -> Adds:
        gains = [numbers[kind] for kind in kinds]
        found = sum(count * numbers[kind] for kind, count in above.items())

        def adds(kind: int, placed: tuple[int, ...]) -> float:
            rank = start + sum(placed) + 1
            if k is not None and rank > k:
                return 0.0
            gained = found + sum(map(mul, gains, placed)) + gains[kind]
            missed = float((cost[min(rank, len(ideal))] - gained) / whole.scale)
            two = 2.0 + max(0, rank - len(ideal))
            discount = power + math.log2(missed + two * unit) if missed else math.log2(two)
            return gain[kinds[kind]] / discount

        return adds

    return scene


class G(ComposedMeasure, GainBased):
    """The share of all gain that is found, each gain discounted by how far an ideal ranking is ahead by then.

        G@k = Σ_{i<=k} g_i / log2(2 + C_i - S_i) / (sum of all gains of the pool)

    S_i = g_1 + … + g_i, and C_i is the same sum in the ideal ranking, where every place gains at least 1.

    Ties: a mean over how many documents of each gain stand above a document of its tie group. Best and worst are found
    by an exact search. Where a tie group has too many such states, the mean is refused (ties='sampled' estimates it),
    and best and worst are bounds that contain every order. No relevant document: 0. Where gains above 2^64 are missed,
    smaller gains that are missed lose digits.
    Reference: Buckley, G in trec_eval (2008).

    >>> from gradely import G, from_arrays
    >>> G()(from_arrays([4, 3, 2, 1], [2, 0, 0, 1])).tolist() == [(2 + 1 / 2) / (2 + 1)]
    True
    """

    name = "G"
    may_refuse = True
    takes_fixed = False

    def plain_terms(self, batch: Batch) -> Array:
        """The gain over its discount."""
        terms = gain_over_missed(batch, self.retrieved_gains(batch), self.ideal(batch), self._units(batch))
        return terms if self.k is None else batch.xp.where(batch.above < self.k, terms, 0.0)

    def norm(self, batch: Batch) -> Array:
        """All gains of the pool."""
        return sum_rows(self.ideal(batch))

    def kinds(self, batch: Batch) -> Array:
        """Which of the gains it is, those of the pool counted from the lowest; 0 for none."""
        return levels_of(batch, self.ideal(batch), self.retrieved_gains(batch))

    def scenes(self, batch: Batch) -> Callable[[int], Scene]:
        """A gain over what is missed by then."""
        exponent = self._units(batch)
        powers, ones = (to_lists(x[:, 0]) for x in (exponent, units(batch, exponent)))
        pools = to_lists(self.ideal(batch))
        (gain_of,) = by_kind(self.kinds(batch), self.retrieved_gains(batch))
        return lambda row: _gain_scene(gain_of(row), pools[row], powers[row], ones[row], self.k)

    def _units(self, batch: Batch) -> Array:
        """Return [Q, 1]: the exponent of the units of the gains."""
        exponent = self.exponent(batch)
        return batch.xp.zeros_like(batch.pool[:, :1]) if exponent is None else exponent

    def bound(self, batch: Batch) -> Array:
        """The extreme of each place of the group on its own, paired with the gains so that the sum is extreme, too.

        What is missed at the j-th place is least after the j largest gains, and most after the j smallest. Columns have
        the gains descending for `best`, and so are the credits; ascending for `worst`, behind those that are 0, and
        there the credits, which descend, start at the first gain.
        """
        xp, best, gain = batch.xp, batch.ties == "best", self.retrieved_gains(batch)
        column = xp.arange(gain.shape[1], dtype=batch.first.dtype, device=batch.device)[None, :]
        inside = batch.last - batch.first
        rank = batch.above + column - batch.first + 1 + (0 if best else batch.tied - inside)
        exponent = self._units(batch)
        missed = Cost.of(batch, self.ideal(batch), exponent).missed(batch, gain, rank)
        credit = 1.0 / missed.discount(batch, exponent)
        credit = credit if self.k is None else xp.where(rank <= self.k, credit, 0.0)
        credit = xp.where(gain > 0, credit, -1.0)
        order = xp.argsort(-credit, axis=1, stable=True)
        order = order[batch.row, xp.argsort(batch.first[batch.row, order], axis=1, stable=True)]
        credit = credit[batch.row, order]
        if best:
            return gain * credit
        zeros = inside - xp.astype(sum_in_group(batch, gain > 0), inside.dtype)
        return gain * credit[batch.row, xp.maximum(column - zeros, batch.first)]
