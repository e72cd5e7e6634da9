"""E|Δ|: how much a measure changes when two documents swap places, as a mean over all orders of ties.

`swaps_of` returns the part of the computation that does not depend on scores. There are three kinds:

    Additive            gains over discounts: DCG and its variants, RBP, P, R, F
    Thresholds          sums of AP numerators: AP, GAP, eGAP, muAP
    WeightedThresholds  sums of AP numerators with document weights: xGAP

Their method `changes` returns E|Δ| of each pair, given the places of documents by their scores.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from gradely.errors import MeasureError
from gradely.kernel.backend import ignore_overflow
from gradely.kernel.batch import Array, Batch
from gradely.kernel.families import no_discount
from gradely.kernel.ties import Discount
from gradely.learning.places import Places, at_start, look_across, look_up, reorder, sum_between, up_to_lower
from gradely.measures import Measure
from gradely.measures.ap import AP
from gradely.measures.dcg import Discounted, discount_of
from gradely.measures.gap import GAP, Population, eGAP, muAP, xGAP
from gradely.measures.precision import F1, F, P, R, RelativeP
from gradely.measures.rbp import RBP


class Additive(NamedTuple):
    """The gains and discounts of a block of queries, for measures that are sums of gains over discounts."""

    gain: Array
    """gains divided by the norm of the query, [Q, n]"""
    inverse: Array
    """1/discount at each place, [n]; 0 after the cut-off"""

    @property
    def worth(self) -> Array:
        """The values by which one document is better than another, [Q, n]."""
        return self.gain

    def changes(self, places: Places, order: Array) -> Callable[[slice], Array]:
        """Return a function from some columns to E|Δ| of their documents with all others, [Q, columns, n].

        The result is valid only for pairs whose other document is not above. Since 1/discount falls from place to
        place, E|Δ| depends on the difference of its means between two tie groups, or on its mean over pairs of places
        within a group.
        """
        xp, gain = places.xp, reorder(self.gain, order)
        upper, lower = places.upper(self.inverse), places.lower(self.inverse)
        within = places.as_upper(self.inverse) - places.as_lower(self.inverse)

        def change(rows: slice) -> Array:
            across = upper[:, rows, None] - places.share[:, rows, None] * lower[:, None, :]
            step = xp.where(places.ties(rows), within[:, rows, None], across)
            return step * xp.abs(gain[:, rows, None] - gain[:, None, :])

        return change


class Harmonics(NamedTuple):
    """Means over places of 1/m for places m up to the cut-off k, [Q, n]; fields `…_behind` are means of sums of 1/m.

    Fields `…_one` are multiplied by the number of documents that certainly count, and `…_other` by the probability that
    a place holds a relevant document.
    """

    places: Places
    inverse: Array
    """1/m at each place m, [n]"""
    upper_one: Array
    """the mean of 1/a"""
    upper_other: Array
    """the mean of (places of the group above a)/a"""
    upper_behind: Array
    """the mean of Σ 1/m over the places of the group below a"""
    lower_one: Array
    """the mean of 1/b"""
    lower_other: Array
    """the mean of (places of the group above b)/b"""
    lower_behind: Array
    """the mean of -Σ 1/m over the places of the group above b"""
    pair_upper: Array
    """over pairs a < b in one group, the mean of 1/a"""
    pair_lower: Array
    """the mean of 1/b"""
    pair_other: Array
    """the mean of (others of the group above a)/a - (others above b)/b"""
    pair_behind: Array
    """the mean of Σ 1/m over the places between"""

    @classmethod
    def of(cls, places: Places, k: int | None) -> "Harmonics":
        """Return the means over the places of each document's tie group."""
        inverse = 1.0 / places.rank if k is None else places.xp.where(places.rank <= k, 1.0 / places.rank, 0.0)
        ones, prefix = inverse * places.rank, places.prefix(inverse)
        first, last = places.to_real(places.start) + 1, places.to_real(places.stop)
        upper, lower = places.upper(inverse), places.lower(inverse)
        pair_upper, pair_lower = places.as_upper(inverse), places.as_lower(inverse)
        pair_ones = places.as_lower(ones)
        above_upper = places.as_upper(ones) - first * pair_upper
        return cls(
            places,
            inverse,
            upper_one=upper,
            upper_other=places.upper(ones) - first * upper,
            upper_behind=places.share * prefix[places.stop] - places.upper(prefix[1:]),
            lower_one=lower,
            lower_other=places.lower(ones) - first * lower,
            lower_behind=prefix[places.start] - places.lower(prefix[:-1]),
            pair_upper=pair_upper,
            pair_lower=pair_lower,
            pair_other=above_upper - (pair_ones - (first + 1) * pair_lower),
            pair_behind=last * pair_lower - pair_ones,
        )

    def others(self, count: int) -> Array:
        """Return the number of documents of the group besides `count` of them, at least 1, as a real number."""
        return self.places.xp.clip(self.places.size - count, min=1.0)


class LevelSums(NamedTuple):
    """Sums over relevant documents above the tie group of a document and in it, by level and document, [L, Q, n]."""

    before: Array
    within: Array
    behind_start: Array
    """the sum over the places m above the group of the probability of a relevant document at m, divided by m"""
    behind_stop: Array
    """this sum over the places down to the last one of the group"""


def sum_around(places: Places, harmonics: Harmonics, x: Array) -> LevelSums:
    """Return the sums of x [L, Q, n], the weight of each document at each level."""
    xp = places.xp
    running = xp.cumulative_sum(x, axis=2, include_initial=True)
    before = at_start(running, places.start)
    within = at_start(running, places.stop) - before
    behind = xp.cumulative_sum(within / places.size * harmonics.inverse, axis=2, include_initial=True)
    return LevelSums(before, within, at_start(behind, places.start), at_start(behind, places.stop))


def relevant_at(places: Places, level: Array, levels: int) -> Array:
    """Return [L, Q, n]: 1 where the document's level, counted from 1, is at least each of them."""
    number = places.xp.arange(1, levels + 1, device=places.device)[:, None, None]
    return places.to_real(level[None] >= number)


@dataclass(frozen=True, eq=False, repr=False)
class Thresholds:
    """The levels and weights of a block of queries, for measures that are sums of AP numerators over levels."""

    level: Array
    """the number of the query's levels that the document reaches, [Q, n]"""
    weight: Array
    """the weights of the levels, ascending, [L, Q]"""
    k: int | None

    @property
    def worth(self) -> Array:
        """The values by which one document is better than another, [Q, n]."""
        return self.level

    def changes(self, places: Places, order: Array) -> Callable[[slice], Array]:
        """Return a function from some columns to E|Δ| of their documents with all others, [Q, columns, n].

        The result is valid only for pairs whose other document is not above.
        """
        level = reorder(self.level, order)
        harmonics = Harmonics.of(places, self.k)
        x = relevant_at(places, level, self.weight.shape[0])
        weight, sums = self.weight[:, :, None], sum_around(places, harmonics, x)
        parts = (_upper(harmonics, x, sums), _lower(harmonics, x, sums), _within(harmonics, sums))
        upper, lower, within = (sum_between(weight * part, level) for part in parts)
        return lambda rows: look_up_pairs(places, level, upper, lower, within, rows)


def look_up_pairs(places: Places, level: Array, upper: Array, lower: Array, within: Array, rows: slice) -> Array:
    """Return the change of each pair, [Q, columns, n], from tables [L + 1, Q, n] by the level of the other document.

    The tables have the increase from the group of the upper document, the decrease from that of the lower one, and the
    change if one group contains both.
    """
    share = places.share[:, rows, None]
    across = look_up(upper[:, :, rows], level) - share * look_across(lower, level[:, rows])
    return places.xp.where(places.ties(rows), look_up(within[:, :, rows], level), across)


def _upper(harmonics: Harmonics, x: Array, sums: LevelSums) -> Array:
    """Return the increase at a place of the upper document's group, if the other document is below the group."""
    chance = (sums.within - x) / harmonics.others(1)
    own = (sums.before + 1) * harmonics.upper_one
    return own + chance * (harmonics.upper_other + harmonics.upper_behind) - harmonics.places.share * sums.behind_stop


def _lower(harmonics: Harmonics, x: Array, sums: LevelSums) -> Array:
    """Return the decrease at a place of the lower document's group; one document of the pair is relevant."""
    chance = (sums.within - x) / harmonics.others(1)
    own = (sums.before + x) * harmonics.lower_one
    return own + chance * (harmonics.lower_other + harmonics.lower_behind) - sums.behind_start


def _within(harmonics: Harmonics, sums: LevelSums) -> Array:
    """Return the mean change over pairs of places of a group that contains both documents, one of them relevant."""
    chance = (sums.within - 1) / harmonics.others(2)
    own = (sums.before + 1) * (harmonics.pair_upper - harmonics.pair_lower)
    return own + chance * (harmonics.pair_other + harmonics.pair_behind)


class Parts(NamedTuple):
    """The change in three parts, by level or by pair of documents."""

    own: Array
    """to be multiplied by the weight of the better document"""
    others: Array
    """to be added unweighted"""
    traded: Array
    """to be multiplied by the difference of the two weights"""


@dataclass(frozen=True, eq=False, repr=False)
class WeightedThresholds(Thresholds):
    """The levels, weights and document weights of a block of queries, for xGAP."""

    document: Array
    """the weight of each document, [Q, n]"""

    def changes(self, places: Places, order: Array) -> Callable[[slice], Array]:
        """Return the function of `Thresholds.changes` for weighted documents."""
        xp, level, document = places.xp, reorder(self.level, order), reorder(self.document, order)
        harmonics = Harmonics.of(places, self.k)
        x = relevant_at(places, level, self.weight.shape[0])
        weight = self.weight[:, :, None]
        counts, weights = sum_around(places, harmonics, x), sum_around(places, harmonics, x * document)
        upper = _tables(weight, _upper_weighted(harmonics, x, counts, weights, document), level)
        lower = _tables(weight, _lower_weighted(harmonics, x, counts, weights, document), level)
        within = _tables(weight, _within_weighted(harmonics, counts, weights), level)

        def change(rows: slice) -> Array:
            tables = zip(upper, lower, within, strict=True)
            parts = Parts(*(look_up_pairs(places, level, *table, rows) for table in tables))
            i, j = document[:, rows, None], document[:, None, :]
            return xp.abs(xp.maximum(i, j) * parts.own + parts.others + xp.abs(i - j) * parts.traded)

        return change


def _tables(weight: Array, parts: Parts, level: Array) -> Parts:
    """Return sums over the levels of a pair: over those of the better document alone, and over those of both."""
    return Parts(
        sum_between(weight * parts.own, level),
        sum_between(weight * parts.others, level),
        up_to_lower(weight * parts.traded, level),
    )


def _upper_weighted(harmonics: Harmonics, x: Array, counts: LevelSums, weights: LevelSums, document: Array) -> Parts:
    """Return the increase from the group of the upper document."""
    chance, weight = ((s.within - own) / harmonics.others(1) for s, own in ((counts, x), (weights, x * document)))
    own = (counts.before + 1) * harmonics.upper_one + chance * harmonics.upper_other
    others = weight * harmonics.upper_behind - harmonics.places.share * weights.behind_stop
    return Parts(own, others, own)


def _lower_weighted(harmonics: Harmonics, x: Array, counts: LevelSums, weights: LevelSums, document: Array) -> Parts:
    """Return the decrease from the group of the lower document."""
    chance, weight = ((s.within - own) / harmonics.others(1) for s, own in ((counts, x), (weights, x * document)))
    own = (counts.before + x) * harmonics.lower_one + chance * harmonics.lower_other
    return Parts(own, weight * harmonics.lower_behind - weights.behind_start, own)


def _within_weighted(harmonics: Harmonics, counts: LevelSums, weights: LevelSums) -> Parts:
    """Return the mean change over pairs of places of a group that contains both documents."""
    behind = harmonics.pair_behind / harmonics.others(2)
    one, two = ((counts.within - n) / harmonics.others(2) for n in (1, 2))
    step = (counts.before + 1) * (harmonics.pair_upper - harmonics.pair_lower)
    own = step + one * harmonics.pair_other - behind
    return Parts(own, weights.within * behind, step - harmonics.pair_lower + two * harmonics.pair_other)


Swaps: TypeAlias = Additive | Thresholds
COUNTED = (P, R, F1, F, RelativeP)
TAUGHT = (Discounted, RBP, AP, GAP, xGAP, eGAP, muAP, *COUNTED)
"""the measures that can be learned, and with them those that derive from them"""


def check(measure: Measure) -> None:
    """Refuse a measure whose swaps have no closed form."""
    if not isinstance(measure, TAUGHT):
        raise MeasureError(
            f"{measure}: no closed form is known for the mean change of a swap over the orders of ties;"
            " use nDCG, DCG, NDCNG, nDCGphi, RBP, AP, GAP, xGAP, eGAP, muAP, P, R or F1"
        )


def swaps_of(measure: Measure, batch: Batch) -> Swaps:
    """Return the swaps of a fitted measure for a batch of documents sorted by label; scores do not matter."""
    batch = measure.apply_relevance(batch)
    if isinstance(measure, AP):
        level = batch.xp.astype(measure.relevant(batch), batch.first.dtype)
        return Thresholds(level, _inverse(batch, measure.norm(batch))[None, :], measure.k)
    if isinstance(measure, Population):
        return _threshold_swaps(measure, batch)
    gain, discount = _gain(measure, batch)
    rank = batch.xp.arange(1, batch.grade.shape[1] + 1, dtype=batch.grade.dtype, device=batch.device)
    value = 1.0 / discount(batch, rank)
    value = value if measure.k is None else batch.xp.where(rank <= measure.k, value, 0.0)
    return Additive(_over(batch, gain, measure.norm(batch)), value)


def _gain(measure: Measure, batch: Batch) -> tuple[Array, Discount]:
    """Return the gain of each document, [Q, n], and the discount."""
    if isinstance(measure, Discounted):
        return measure.retrieved_gains(batch), discount_of(measure.discount)
    if isinstance(measure, RBP):
        return measure.worth(batch), measure.patience
    if isinstance(measure, P | R):
        return measure.worth(batch), no_discount
    if isinstance(measure, COUNTED):
        return batch.to_real(measure.relevant(batch)), no_discount
    raise AssertionError(measure)


def _threshold_swaps(measure: Population, batch: Batch) -> Swaps:
    """Return the swaps of GAP, xGAP, eGAP or µAP.

    A query with fewer levels than others of the block has extra levels of 0, which all documents reach and whose weight
    is 0.
    """
    xp, thresholds = batch.xp, measure.thresholds(batch)
    reached = batch.grade[:, :, None] >= thresholds.level[:, None, :]
    level = xp.sum(xp.astype(reached, batch.first.dtype), axis=2)
    weight = measure.weight(batch, thresholds) * _inverse(batch, measure.norm(batch))[:, None]
    ascending = xp.flip(xp.permute_dims(weight, (1, 0)), axis=0)
    if isinstance(measure, xGAP):
        return WeightedThresholds(level, ascending, measure.k, measure.document_weight(batch))
    return Thresholds(level, ascending, measure.k)


def _over(batch: Batch, gain: Array, norm: Array) -> Array:
    """Return gains divided by the norm."""
    with ignore_overflow():  # 1/norm may overflow where the quotient does not
        product = gain * _inverse(batch, norm)[:, None]
        return batch.xp.where(batch.xp.isfinite(product), product, gain / norm[:, None])


def _inverse(batch: Batch, norm: Array) -> Array:
    """Return 1/norm, or 0 for a norm of 0, with which every ranking scores 0."""
    return batch.xp.where(norm > 0, 1.0 / batch.xp.where(norm > 0, norm, 1.0), 0.0)
