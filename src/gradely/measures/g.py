"""Normalised gain, in which a document is discounted by the gain missed above it: G and binG."""

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
from gradely.measures.searched_measure import ComposedMeasure, GroupTerms, WholeNumbers, by_kind, levels_of


class binG(Binary):  # noqa: N801 - the field's name
    """The share of relevant documents that is found, each discounted by the non-relevant documents above it.

        binG@k = (1/RB) Σ over relevant ranks i <= k of 1/log2(2 + a)

    a is the number of non-relevant documents above the document.

    Ties: in a tie group with n' non-relevant documents, a is uniform on a … a+n'. No relevant document: 0.
    Reference: Buckley, binG in trec_eval (2008).

    >>> from gradely import binG, from_arrays
    >>> binG()(from_arrays([4, 3, 2, 1], [1, 0, 0, 1])).tolist() == [(1 + 1 / 2) / 2]
    True
    """

    name = "binG"

    def terms(self, batch: Batch) -> Array:
        """Return the mean of 1/log2(2 + a) over the places that a document can take."""
        xp, x = batch.xp, batch.to_real(self.relevant(batch))
        over = batch.to_real(batch.above) - sum_before(batch, x)
        against = Opposition(over, batch.to_real(batch.tied) - sum_in_group(batch, x) + 1)
        divisor, (high, low) = divisors(batch, log2), sums(batch, log2)

        def credit(y: Array, over: Array) -> Array:
            """Return Σ over u < y of 1/log2(2 + over + u)."""
            start, stop = (xp.astype(xp.clip(a, max=float(batch.depth)), batch.above.dtype) for a in (over, over + y))
            return xp.where(y == 1, 1.0 / divisor[start], (high[stop] - high[start]) + (low[stop] - low[start]))

        return preference(batch, x > 0, against, credit, self.k)

    def norm(self, batch: Batch) -> Array:
        """Return the number of relevant documents."""
        return self.recall_base(batch)


class Missed(NamedTuple):
    """The lead of the ideal ranking at a rank: its gains, and the number of places with a gain below 1, counted as 1.

    The two are kept apart because adding 1 to a gain of 2^53 changes nothing.
    """

    gain: Array
    places: Array

    def discount(self, batch: Batch, exponent: Array) -> Array:
        """Return log2(2 + lead); gains are in units of 2^exponent."""
        xp, unit, two = batch.xp, units(batch, exponent), 2.0 + self.places
        with ignore_overflow():  # 2 may be too small, in these units, to be told from 0
            large = exponent + xp.log2(xp.clip(self.gain + two * unit, min=0.0))
        return xp.clip(xp.where(self.gain == 0, xp.log2(two), large), min=1.0)


class Cost(NamedTuple):
    """The sums of gains of 1 or more at each rank of the ideal ranking, [Q, B + 1], and the number of these gains."""

    sums: Sums
    count: Array

    @classmethod
    def of(cls, batch: Batch, ideal: Array, exponent: Array) -> Self:
        """Sum up an ideal ranking, [Q, B], whose gains are in units of 2^exponent."""
        large = (ideal >= units(batch, exponent)) & (ideal > 0)
        count = batch.xp.sum(batch.xp.astype(large, batch.above.dtype), axis=1, keepdims=True)
        return cls(sum_in_parts(batch, batch.xp.where(large, ideal, 0.0)), count)

    def missed(self, batch: Batch, gain: Array, rank: Array) -> Missed:
        """Return the lead of the ideal ranking at some ranks, [Q, H], given the gains up to each column."""
        xp, last = batch.xp, self.sums.high.shape[1] - 1
        high, low = (part[batch.row, xp.clip(rank, max=last)] for part in self.sums)
        gained, rest = (part[:, 1:] for part in sum_in_parts(batch, gain))
        return Missed((high - gained) + (low - rest), batch.to_real(xp.clip(rank - self.count, min=0)))


def gain_over_missed(batch: Batch, gain: Array, ideal: Array, exponent: Array) -> Array:
    """Return [Q, H]: each gain over log2(2 + lead of the ideal ranking, [Q, B]); gains are in units of 2^exponent."""
    missed = Cost.of(batch, ideal, exponent).missed(batch, gain, batch.above + 1)
    return gain / missed.discount(batch, exponent)


def _gain_terms(gain: dict[int, float], pool: list[float], power: float, unit: float, k: int | None) -> GroupTerms:
    """Return the GroupTerms of a query from its gains and its pool, in units of 2^power, in which 1 is `unit`."""
    ideal, whole = [gain for gain in pool if gain >= unit and gain > 0], WholeNumbers(pool)
    cost = list(accumulate(map(whole, ideal), initial=0))
    numbers = {kind: whole(value) for kind, value in gain.items()}

    def terms_of_group(start: int, kinds: tuple[int, ...], above: Counter[int]) -> Adds:
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

    return terms_of_group


class G(ComposedMeasure, GainBased):
    """The share of the total gain that is found, each gain discounted by the lead of an ideal ranking at its rank.

        G@k = Σ_{i<=k} g_i / log2(2 + C_i - S_i) / (sum of all gains of the pool)

    S_i = g_1 + … + g_i, and C_i is the same sum in the ideal ranking, where every place gains at least 1.

    Ties: a mean over the numbers of documents of each gain that may be above a document of its tie group. Best and
    worst are found by an exact search. If a tie group has too many such states, the mean is refused (ties='sampled'
    estimates it), and best and worst are bounds that contain every order. No relevant document: 0. If the
    ranking misses gains above 2^64, smaller gains that it misses lose digits.
    Reference: Buckley, G in trec_eval (2008).

    >>> from gradely import G, from_arrays
    >>> G()(from_arrays([4, 3, 2, 1], [2, 0, 0, 1])).tolist() == [(2 + 1 / 2) / (2 + 1)]
    True
    """

    name = "G"
    may_refuse = True
    takes_fixed = False

    def plain_terms(self, batch: Batch) -> Array:
        """Return the gain over its discount."""
        terms = gain_over_missed(batch, self.retrieved_gains(batch), self.ideal(batch), self._units(batch))
        return terms if self.k is None else batch.xp.where(batch.above < self.k, terms, 0.0)

    def norm(self, batch: Batch) -> Array:
        """Return the total gain of the pool."""
        return sum_rows(self.ideal(batch))

    def kinds(self, batch: Batch) -> Array:
        """Return the rank of each document's gain among the gains of the pool, lowest first; 0 for no gain."""
        return levels_of(batch, self.ideal(batch), self.retrieved_gains(batch))

    def group_terms(self, batch: Batch) -> Callable[[int], GroupTerms]:
        """Return the GroupTerms of each query: gains over their discounts."""
        exponent = self._units(batch)
        powers, ones = (to_lists(x[:, 0]) for x in (exponent, units(batch, exponent)))
        pools = to_lists(self.ideal(batch))
        (gain_of,) = by_kind(self.kinds(batch), self.retrieved_gains(batch))
        return lambda row: _gain_terms(gain_of(row), pools[row], powers[row], ones[row], self.k)

    def _units(self, batch: Batch) -> Array:
        """Return [Q, 1]: the exponent of the unit of gains."""
        exponent = self.exponent(batch)
        return batch.xp.zeros_like(batch.pool[:, :1]) if exponent is None else exponent

    def bound(self, batch: Batch) -> Array:
        """Return a bound: the extreme discount of each place by itself, paired with the gains for an extreme sum.

        The lead at the j-th place is smallest after the j largest gains, and largest after the j smallest. For `best`,
        gains and inverse discounts both descend over the columns. For `worst`, gains ascend after those that are 0, and
        the inverse discounts, which descend, start at the first gain.
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
