"""Normalized gain, which discounts a document by the gain that was missed before it: G and binG."""

import math
from collections import Counter
from operator import mul

from gradely.kernel.backend import ignore_overflow, sum_rows, to_lists
from gradely.kernel.batch import Array, Batch
from gradely.kernel.families import Opposition, preference
from gradely.kernel.gains import log2, units
from gradely.kernel.orders import Adds, Group
from gradely.kernel.tie_groups import divisors, sum_before, sum_in_group, sums, up_to_column
from gradely.measures.binary import Binary
from gradely.measures.dcg import GainBased
from gradely.measures.searched_measure import Scene, SearchedMeasure


class binG(Binary):  # noqa: N801 - the field's name
    """Each relevant document discounted by the documents that stand above it and are not relevant.

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


def gain_over_missed(batch: Batch, gain: Array, ideal: Array, exponent: Array | None = None) -> Array:
    """Return [Q, H]: each gain over log2 of 2 and what an ideal ranking, [Q, B], had found more by then.

    Gains are in units of 2^exponent.
    """
    xp = batch.xp
    unit = xp.ones_like(ideal[:, :1]) if exponent is None else units(batch, exponent)
    reached = _reach(batch, _cost(batch, ideal, unit), unit, batch.above + 1)
    missed = xp.clip(reached - (sum_before(batch, gain) + gain), min=0.0)
    return gain / (log2(batch, missed + 1) if exponent is None else _discount(batch, missed, unit, exponent))


def _cost(batch: Batch, ideal: Array, unit: Array) -> Array:
    """Return [Q, B + 1]: what an ideal ranking has found by each rank, at least 1 at a place."""
    return batch.xp.cumulative_sum(batch.xp.maximum(ideal, unit), axis=1, include_initial=True)


def _reach(batch: Batch, cost: Array, unit: Array, rank: Array) -> Array:
    """Return [Q, H]: what an ideal ranking has found by the rank of each document, also beyond the pool."""
    xp, last = batch.xp, cost.shape[1] - 1
    return cost[batch.row, xp.clip(rank, max=last)] + batch.to_real(xp.clip(rank - last, min=0)) * unit


def _discount(batch: Batch, missed: Array, unit: Array, exponent: Array) -> Array:
    """Return log2 of 2 and what is missed, in units of 2^exponent, in which 2 may be too small to be told from 0."""
    with ignore_overflow():
        return batch.xp.clip(exponent + batch.xp.log2(missed + 2 * unit), min=1.0)


class G(SearchedMeasure, GainBased):
    """Each gain discounted by how much more gain an ideal ranking had found by then.

        G@k = Σ_{i<=k} g_i / log2(2 + C_i - S_i) / (sum of all gains of the pool)

    S_i = g_1 + … + g_i, and C_i is the same of the ideal ranking, where a place gains at least 1.

    Ties: the mean over orders has no closed form; ties='expected' is refused, other policies work. Best and worst
    search the order of a tie group, exactly; of one with too many orders they are bounds that contain every order. No
    relevant document: 0.
    Reference: Buckley, G in trec_eval (2008).

    >>> from gradely import G, from_arrays
    >>> G()(from_arrays([4, 3, 2, 1], [2, 0, 0, 1])).tolist() == [(2 + 1 / 2) / (2 + 1)]
    True
    """

    name = "G"
    takes_expected = False

    def plain_terms(self, batch: Batch) -> Array:
        """The gain over its discount."""
        terms = gain_over_missed(batch, self.retrieved_gains(batch), self.ideal(batch), self.exponent(batch))
        return terms if self.k is None else batch.xp.where(batch.above < self.k, terms, 0.0)

    def norm(self, batch: Batch) -> Array:
        """All gains of the pool."""
        return sum_rows(self.ideal(batch))

    def kinds(self, batch: Batch) -> Array:
        """Which of the gains it is, those of the pool counted from the lowest; 0 for none."""
        xp, gains, gained = batch.xp, self.ideal(batch), self.retrieved_gains(batch)
        order = xp.argsort(xp.concat([gains, gained], axis=1), axis=1, stable=True)
        placed = xp.cumulative_sum(xp.astype(order < gains.shape[1], batch.first.dtype), axis=1)
        kinds = placed[batch.row, xp.argsort(order, axis=1)][:, gains.shape[1] :]
        return xp.where(gained > 0, kinds, 0)

    def scene(self, batch: Batch, row: int) -> Scene:
        """A gain over what is missed by then."""
        one, exponent = self._units(batch)
        cost = to_lists(_cost(batch, self.ideal(batch), one)[row, :])
        unit, power = float(one[row, 0]), float(exponent[row, 0])
        kinds = [int(kind) for kind in to_lists(batch.to_real(self.kinds(batch))[row, :])]
        gain: dict[int, float] = dict(zip(kinds, to_lists(self.retrieved_gains(batch)[row, :]), strict=True))

        def of(group: Group, above: Counter[int]) -> Adds:
            gains = [gain[kind] for kind in group.kinds]
            start = sum(count * gain[kind] for kind, count in above.items())

            def adds(kind: int, placed: tuple[int, ...]) -> float:
                rank = group.start + sum(placed) + 1
                if self.k is not None and rank > self.k:
                    return 0.0
                reached = cost[min(rank, len(cost) - 1)] + max(0, rank - len(cost) + 1) * unit
                missed = max(0.0, reached - (start + sum(map(mul, gains, placed)) + gains[kind]))
                weight = missed + 2 * unit
                return gains[kind] / (power + math.log2(weight) if weight > 0 else 1.0)

            return adds

        return of

    def _units(self, batch: Batch) -> tuple[Array, Array]:
        """Return [Q, 1]: 1 in the units of the gains, and the exponent of these."""
        exponent = self.exponent(batch)
        exponent = batch.xp.zeros_like(batch.pool[:, :1]) if exponent is None else exponent
        return units(batch, exponent), exponent

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
        unit, exponent = self._units(batch)
        reached = _reach(batch, _cost(batch, self.ideal(batch), unit), unit, rank)
        missed = xp.clip(reached - up_to_column(batch, gain), min=0.0)
        credit = 1.0 / _discount(batch, missed, unit, exponent)
        credit = credit if self.k is None else xp.where(rank <= self.k, credit, 0.0)
        credit = xp.where(gain > 0, credit, -1.0)
        order = xp.argsort(-credit, axis=1, stable=True)
        order = order[batch.row, xp.argsort(batch.first[batch.row, order], axis=1, stable=True)]
        credit = credit[batch.row, order]
        if best:
            return gain * credit
        zeros = inside - xp.astype(sum_in_group(batch, gain > 0), inside.dtype)
        return gain * credit[batch.row, xp.maximum(column - zeros, batch.first)]
