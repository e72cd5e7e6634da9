"""Measures based on the blended ratio, which counts both relevant documents and their gain: Q and P+."""

from collections import Counter
from collections.abc import Callable
from itertools import accumulate, product
from math import inf, prod
from typing import NamedTuple

from gradely.errors import MeasureError
from gradely.kernel.backend import take_in_rows, to_lists
from gradely.kernel.batch import Array, Batch
from gradely.kernel.compositions import (
    STATES,
    TiedQuery,
    TieGroup,
    find_cut,
    hypergeometric,
    replace_rows,
    tied_queries,
)
from gradely.kernel.families import PlaceSums, threshold
from gradely.kernel.gains import headroom, units
from gradely.kernel.parameters import parameter, to_python
from gradely.kernel.series import inverse_sums
from gradely.kernel.ties import Sums, group_places, sum_in_parts
from gradely.measures.dcg import GainBased
from gradely.measures.searched_measure import ArrangedMeasure, Arrangement, by_kind, levels_of, sort_kinds
from gradely.settings import is_number


class Blend(NamedTuple):
    """The divisors of blended ratios, D_i = count·i + cg*_i at rank i, which depend on the ideal ranking."""

    count: Array
    """[Q, 1] the count of a document besides its gain: 1 in the units of gains, or 0"""
    last: Array
    """[Q, 1] the number of documents with a gain, which is the length of the ideal ranking"""
    gain: Array
    """[Q, B + 1] cg*_i, the cumulative gain of the ideal ranking at ranks 0, 1, …, constant after its end"""
    weights: Sums
    """[Q, B + 1] the sums of 1/D_i over the first 0, 1, … ranks"""
    offsets: Sums
    """[Q, B + 1] the sums of (i-1)/D_i over the first 0, 1, … ranks"""

    @classmethod
    def of(cls, batch: Batch, count: Array, ideal: Array) -> "Blend":
        """Return the divisors for an ideal ranking, [Q, B]."""
        xp = batch.xp
        ranks = batch.count_up(int(ideal.shape[1]))
        gain = xp.cumulative_sum(ideal, axis=1, include_initial=True)
        divisor = count * ranks + gain[:, 1:]
        weight = xp.where(divisor > 0, 1.0 / xp.where(divisor > 0, divisor, 1.0), 0.0)
        last = xp.sum(xp.astype(ideal > 0, batch.above.dtype), axis=1, keepdims=True, dtype=batch.above.dtype)
        return cls(count, last, gain, sum_in_parts(batch, weight), sum_in_parts(batch, (ranks - 1) * weight))

    def divisor(self, batch: Batch, rank: Array) -> Array:
        """Return D_i at some ranks, [Q, H]."""
        at = batch.xp.clip(rank, max=self.gain.shape[1] - 1)
        divisor = self.count * batch.to_real(rank) + take_in_rows(self.gain, at)
        return batch.xp.where(divisor > 0, divisor, 1.0)

    def over_places(self, batch: Batch, k: int | None) -> PlaceSums:
        """Return the sums of 1/D_i over the places of each document's tie group."""
        xp, last = batch.xp, self.last
        start, stop = group_places(batch, k)
        first, end = xp.minimum(start, last), xp.minimum(stop, last)
        weight, offset = (_between(sums, first, end) for sums in (self.weights, self.offsets))
        offset = offset - batch.to_real(batch.above) * weight
        tail = xp.maximum(start, last)
        many, before = batch.to_real(xp.maximum(stop, last) - tail), batch.to_real(tail - batch.above)
        behind = self._behind(batch, tail, many)
        return PlaceSums(weight + behind.weight, offset + behind.offset + before * behind.weight)

    def _behind(self, batch: Batch, start: Array, many: Array) -> PlaceSums:
        """Return the sums for places after the end of the ideal ranking, where D_i grows by `count` per rank."""
        xp = batch.xp
        counts = self.count > 0
        ratio = self.gain[:, -1:] / xp.where(counts, self.count, 1.0)
        most = 2.0 ** (headroom(batch) / 2)  # where D_i hardly grows, or not at all
        x = batch.to_real(start) + 1 + xp.where(counts, xp.clip(ratio, max=most), most)
        scale = x / self.divisor(batch, start + 1)
        inverse, offset = inverse_sums(xp, x, many)
        return PlaceSums(scale * inverse, scale * offset)


def _between(sums: Sums, start: Array, stop: Array) -> Array:
    """Return the sums over some columns of each row, from two prefix sums."""
    high, low = (take_in_rows(part, stop) - take_in_rows(part, start) for part in sums)
    return high + low


class Blended(GainBased):
    """A measure based on blended ratios."""

    beta: float = parameter(
        default=1, doc="the weight of gain relative to the number of relevant documents; 0: no gain, inf: gain alone"
    )

    def check_parameters(self) -> None:
        """Raise MeasureError unless the weight is a number of at least 0 or infinite."""
        super().check_parameters()
        if self.beta in ("inf", inf):
            self._set("beta", inf)
        elif not is_number(self.beta) or self.beta < 0:
            raise MeasureError(f"beta, the weight of gain, must be at least 0, or inf; found {self.beta!r}")
        else:
            self._set("beta", to_python(self.beta))

    def relevant(self, batch: Batch) -> Array:
        """Return [Q, H]: true for documents of positive gain."""
        return self.retrieved_gains(batch) > 0

    def value(self, batch: Batch) -> Array:
        """Return [Q, H]: the count of each document plus its weighted gain."""
        value = self._count(batch) + self._weigh(self.retrieved_gains(batch))
        return batch.xp.where(self.relevant(batch), value, 0.0)

    def blend(self, batch: Batch) -> Blend:
        """Return the divisors of blended ratios, computed once per pool."""
        return batch.of_pools(
            (Blend, self.key), lambda pools: Blend.of(pools, self._count(pools), self._weigh(self.ideal(pools)))
        )

    def ratios(self, batch: Batch) -> Array:
        """Return [Q, H]: the blended ratio at each relevant document."""
        blend = self.blend(batch)
        places = None if batch.untied else blend.over_places(batch, self.k)
        divisor = blend.divisor(batch, batch.above + 1)
        return threshold(batch, self.relevant(batch), self.k, places, value=self.value(batch), divisor=divisor)

    def recall_base(self, batch: Batch) -> Array:
        """Return [Q]: RB, the number of relevant documents of the pool."""
        return batch.of_pools(
            (Blended, self.key), lambda pools: pools.xp.sum(pools.to_real(self.ideal(pools) > 0), axis=1)
        )

    def _count(self, batch: Batch) -> Array:
        """Return [Q, 1]: the count of a document besides its gain."""
        exponent = None if self.beta == 0 else self.exponent(batch)
        one = batch.xp.ones_like(batch.pool[:, :1]) if exponent is None else units(batch, exponent)
        return 0.0 * one if self.beta == inf else one

    def _weigh(self, gain: Array) -> Array:
        return gain if self.beta == inf else self.beta * gain


class Q(Blended):
    """Average precision of graded relevance, with a precision that counts both relevant documents and their gain.

        Q@k = (1/min(RB, k)) Σ over relevant ranks i <= k of (C_i + β·cg_i) / (i + β·cg*_i)

    C_i is the number of relevant documents down to rank i, cg_i their gain, and cg*_i the gain of the ideal ranking
    down to rank i. A document is relevant if its gain is positive; RB is the number of those in the pool. With β = 0,
    it is AP except for the cut-off in the norm; `Q(beta=inf)` is average weighted precision (AWP), cg_i over cg*_i.

    Ties: consider a document with the value v = 1 + β·gain in a group of n tied documents with the total value V, after
    t documents with the total value S. It contributes 1/n · [(S+v)·H + (V-v)/(n-1)·O], where H = Σ w_i and
    O = Σ (i-t-1)·w_i over the group's places, and w_i = 1/(i + β·cg*_i). No relevant document: 0.
    Reference: Sakai, New performance metrics based on multigrade relevance: their application to question answering
    (2004); as in NTCIREVAL. The closed form is ours.

    >>> from gradely import Q, from_arrays
    >>> Q()(from_arrays([3, 2, 1], [1, 0, 2])).tolist() == [((1 + 1) / (1 + 2) + (2 + 3) / (3 + 3)) / 2]
    True
    """

    name = "Q"

    def terms(self, batch: Batch) -> Array:
        """Return the blended ratio at each relevant document."""
        return self.ratios(batch)

    def norm(self, batch: Batch) -> Array:
        """Return the number of relevant documents that fit into the top k."""
        base = self.recall_base(batch)
        return base if self.k is None else batch.xp.clip(base, max=float(self.k))


class Target(NamedTuple):
    """A tie group that may contain the first of the documents with the highest gain."""

    group: TieGroup
    number: int
    """the index of the group"""
    places: int
    """the number of places of the group in the top k"""
    kind: int
    """the kind of the highest gain"""
    lower: dict[int, int]
    """the number of documents of each kind with lower gain in the group"""
    many: int
    """the number of documents with the highest gain in the group"""

    @property
    def below(self) -> int:
        """The number of documents with lower gain, or none, in the group."""
        return self.group.rest + sum(self.lower.values())

    @classmethod
    def of(cls, groups: list[TieGroup], number: int, kind: int, k: int | None) -> "Target":
        """Return the target for a group whose documents of this kind are the best in the top k."""
        group = groups[number]
        lower = {other: count for other, count in group.by_kind.items() if other < kind}
        return cls(group, number, group.places(k), kind, lower, group.by_kind[kind])


class Row(NamedTuple):
    """One query of a batch: the value of documents of each kind, and 1/D_i of each rank."""

    value: dict[int, float]
    one: float
    gain: list[float]

    def weight(self, rank: int) -> float:
        """Return 1/D_i."""
        return 1 / (self.one * rank + self.gain[min(rank, len(self.gain) - 1)])


class Pplus(ArrangedMeasure, Blended):
    """P+: the mean of the blended ratio down to the first of the best retrieved documents.

        Pplus@k = (1/C) Σ over relevant ranks i <= r of (C_i + β·cg_i) / (i + β·cg*_i)

    r is the first rank in the top k with the highest gain that occurs there, and C the number of relevant documents
    down to it; the other symbols are as in Q. It is for users who stop at the best document that a ranking offers.

    Ties: a sum over the places of the first of the best documents and the numbers of relevant documents before it in
    its tie group and, with k, over the documents that are inside. Best and worst try all compositions of that group; if
    there are too many, the bounds are 0 and 1. No relevant document retrieved: 0.
    Reference: Sakai, Bootstrap-based comparisons of IR metrics for finding one relevant document (2006), as in
    NTCIREVAL. The closed form is ours.

    >>> from gradely import Pplus, from_arrays
    >>> Pplus()(from_arrays([4, 3, 2, 1], [0, 1, 2, 1])).tolist() == [((1 + 1) / (2 + 3) + (2 + 3) / (3 + 4)) / 2]
    True
    """

    name = "Pplus"
    takes_fixed = False

    def kinds(self, batch: Batch) -> Array:
        """Return the rank of each document's gain among the gains of the pool, lowest first; 0 for no gain."""
        return levels_of(batch, self.ideal(batch), self.retrieved_gains(batch))

    def terms(self, batch: Batch) -> Array:
        """Return the blended ratios down to the best document, divided by their number."""
        xp, ratios, gain = batch.xp, self.ratios(batch), self.retrieved_gains(batch)
        gain = gain if self.k is None else xp.where(batch.above < self.k, gain, 0.0)
        best = xp.argmax(gain, axis=1, keepdims=True)
        column = xp.arange(gain.shape[1], dtype=best.dtype, device=batch.device)[None, :]
        counts = (gain > 0) & (column <= best)
        number = xp.sum(batch.to_real(counts), axis=1, keepdims=True)
        terms = xp.where(counts, ratios, 0.0) / xp.clip(number, min=1.0)
        return terms if batch.untied else self._mean_terms(batch, ratios, terms)

    def _mean_terms(self, batch: Batch, ratios: Array, terms: Array) -> Array:
        """Return the terms; those of queries with ties are means over the places of the best document."""
        row_of, expected = self._rows(batch), to_lists(ratios)
        queries = tied_queries(batch, self.kinds(batch))
        rows = {query.row: self._mean_of_query(query, row_of(query.row), expected[query.row]) for query in queries}
        return replace_rows(batch, terms, rows)

    def _rows(self, batch: Batch) -> Callable[[int], Row]:
        blend = self.blend(batch)
        counts, gains = to_lists(blend.count[:, 0]), to_lists(blend.gain)
        (value_of,) = by_kind(self.kinds(batch), self.value(batch))
        return lambda row: Row(value_of(row), counts[row], gains[row])

    def _targets(self, groups: list[TieGroup]) -> list[tuple[Target, float]]:
        """Return the possible targets, each with the probability that nothing better is in the top k."""
        whole = [i for i, group in enumerate(groups) if group.places(self.k) == group.size]
        best = max((groups[i].kinds[-1] for i in whole if groups[i].kinds), default=0)
        first = next((i for i in whole if best in groups[i].kinds), None)
        cut = find_cut(groups, self.k)
        better = [] if cut is None else [kind for kind in groups[cut].kinds if kind > best]
        chance = 1.0
        if cut is not None and better:
            group = groups[cut]
            worse = group.size - sum(group.by_kind[kind] for kind in better)
            for j in range(group.places(self.k)):
                chance *= max(worse - j, 0) / (group.size - j)
        targets = [(Target.of(groups, cut, kind, self.k), 1.0) for kind in better] if cut is not None else []
        return targets if first is None else [(Target.of(groups, first, best, None), chance), *targets]

    def _mean_of_query(self, query: TiedQuery, row: Row, ratios: list[float]) -> list[float]:
        kinds, terms = query.kinds, [0.0] * len(ratios)
        for target, scale in self._targets(query.groups):
            columns = [c for group in query.groups[: target.number] for c in group.columns if kinds[c]]
            value = sum(row.value[kinds[c]] for c in columns)
            inverse, adds = _sum_over_places(row, target, len(columns), value)
            for c in columns:
                terms[c] += scale * inverse * ratios[c]
            own = [c for c in target.group.columns if 0 < kinds[c] <= target.kind]
            for c in own:
                terms[c] += scale * adds / len(own)
        return terms

    def too_many(self, groups: list[TieGroup]) -> bool:
        """True if there are too many compositions of the documents before the best one."""
        return any(prod(n + 1 for n in target.lower.values()) > STATES for target, _ in self._targets(groups))

    def arrangements(self, batch: Batch) -> Callable[[TiedQuery], Arrangement]:
        """Return the arrangements found by trying every composition of the documents before the best one."""
        row_of, best = self._rows(batch), batch.ties == "best"
        return lambda query: self._arrange_query(query.groups, row_of(query.row), best=best)

    def _arrange_query(self, groups: list[TieGroup], own: Row, *, best: bool) -> Arrangement:
        ways: list[tuple[float, int, list[int]]] = []
        for target, chance in self._targets(groups):
            room = target.group.size - target.below - target.many  # no document with a higher gain may be inside
            if not chance or target.places > target.group.size - room:
                continue
            found, value, total = _sorted_ratios(own, groups[: target.number], best=best)
            for placed in product(*(range(count + 1) for count in target.lower.values())):
                before = [kind for kind, count in zip(target.lower, placed, strict=True) for _ in range(count)]
                spare = target.places - len(before) - 1
                if spare >= 0:
                    idle = 0 if best else min(target.group.rest, spare)
                    order = [*reversed(before), target.kind] if best else [*([0] * idle), *before, target.kind]
                    ratio, _ = _add_ratios(own, target.group.above, order, value)
                    ways.append(((total + ratio) / (found + len(before) + 1), target.number, order))
        cut = find_cut(groups, self.k)
        if cut is not None and not any(group.kinds for group in groups[:cut]) and groups[cut].rest_fills(self.k):
            ways.append((0.0, cut, []))  # nothing relevant in the top k
        if not ways:
            return {}
        _, number, order = (max if best else min)(ways)
        return self._complete(groups, number, order)

    def _complete(self, groups: list[TieGroup], number: int, order: list[int]) -> Arrangement:
        """Return the order of the deciding group, and keep documents with a higher gain out of the top k."""
        cut = find_cut(groups, self.k)
        least = {} if cut is None else {cut: _fill(groups[cut], [])}
        return least | {number: _fill(groups[number], order)}


def _fill(group: TieGroup, order: list[int]) -> list[int]:
    """Return the order of a group that begins with these kinds and continues with those of the lowest gain."""
    left = Counter(group.by_kind | {0: group.rest})
    left.subtract(order)
    return order + [kind for kind in sorted(left) for _ in range(left[kind])]


def _sum_over_places(row: Row, target: Target, found: int, value: float) -> tuple[float, float]:
    """Return the mean of 1/C, and the mean contribution to P+ of the group with the best document.

    `found` relevant documents with the total value `value` are above the group. The first best document has place x in
    the group, with a relevant documents before it in the group, each of which has their mean value.
    """
    group, d, below = target.group, target.places, target.below
    m = sum(target.lower.values())
    mean = sum(row.value[kind] * count for kind, count in target.lower.items()) / max(m, 1)
    weights = [row.weight(group.above + x) for x in range(1, d + 1)]
    sums = list(accumulate(weights, initial=0.0))
    offsets = list(accumulate((y * w for y, w in enumerate(weights)), initial=0.0))
    rest = [1.0] * (d + 1)
    for x in range(d - 1, 0, -1):
        rest[x] = rest[x + 1] * max(below + target.many - x, 0) / (group.size - x)
    inverse = adds = 0.0
    before = 1.0
    for x in range(1, min(d, below + 1) + 1):
        chance = before * target.many / (group.size - x + 1) * rest[x]
        for a, likely in hypergeometric(below, m, x - 1):
            slope = mean * (a - 1) / (x - 2) if x > 2 else 0.0
            inside = a / (x - 1) * ((value + mean) * sums[x - 1] + slope * offsets[x - 1]) if a else 0.0
            last = (value + a * mean + row.value[target.kind]) * weights[x - 1]
            inverse += chance * likely / (found + a + 1)
            adds += chance * likely / (found + a + 1) * (inside + last)
        before *= (below - x + 1) / (group.size - x + 1)
    return inverse, adds


def _add_ratios(row: Row, above: int, order: list[int], value: float) -> tuple[float, float]:
    """Return the sum of the blended ratios of an order of kinds, after documents worth `value`, and the new value."""
    total = 0.0
    for rank, kind in enumerate(order, above + 1):
        if kind:
            value += row.value[kind]
            total += value * row.weight(rank)
    return total, value


def _sorted_ratios(row: Row, groups: list[TieGroup], *, best: bool) -> tuple[int, float, float]:
    """Return the number of relevant documents in some sorted groups, their total value, and the sum of their ratios."""
    found, value, total = 0, 0.0, 0.0
    for group in groups:
        ratios, value = _add_ratios(row, group.above, sort_kinds(group, best=best), value)
        total, found = total + ratios, found + sum(group.counts)
    return found, value, total
