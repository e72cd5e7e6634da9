"""By how much a measure changes when two documents trade places, as a mean over all orders of ties.

`swaps_of` returns what a measure needs of a block of queries whatever their scores, of one of three kinds:

    Additive            gains over discounts: DCG and its kin, RBP, P, R, F
    Thresholds          sums of AP numerators: AP, GAP, eGAP, muAP
    WeightedThresholds  the same with a weight of each document: xGAP

Its `changes` gives E|Δ| of each pair for the places that documents have by their scores.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from gradely.errors import MeasureError
from gradely.kernel.backend import ignore_overflow
from gradely.kernel.batch import Array, Batch
from gradely.kernel.families import no_discount
from gradely.kernel.gains import discount_of
from gradely.kernel.ties import Discount
from gradely.learning.places import Places, at_start, look_across, look_up, reorder, sum_between, up_to_lower
from gradely.measures import Measure
from gradely.measures.ap import AP
from gradely.measures.dcg import Discounted
from gradely.measures.gap import GAP, Population, eGAP, muAP, xGAP
from gradely.measures.precision import F1, F, P, R, RelativeP
from gradely.measures.rbp import RBP


class Additive(NamedTuple):
    """What a measure of gains over discounts needs of a block of queries, whatever the scores."""

    gain: Array
    """[Q, n] gains over the norm of the query"""
    inverse: Array
    """[n] 1/discount at each place; 0 after the cut-off"""

    @property
    def worth(self) -> Array:
        """[Q, n] what makes one document better than another."""
        return self.gain

    def changes(self, places: Places, order: Array) -> Callable[[slice], Array]:
        """Return a function from some columns to [Q, columns, n]: the mean change when a document there and each trade.

        It is right where the other one is not above. 1/discount falls from place to place, so between two groups it is
        the difference of their means, and within a group the mean over pairs of places.
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
    """Means over places of 1/m for places m up to the cut-off k, [Q, n]; `behind` of sums of 1/m over other places.

    A number `…_one` goes with a document counted for sure, `…_other` with the chance of a place to hold a relevant one.
    """

    places: Places
    inverse: Array
    """[n] 1/m at each place m"""
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
        """Take the means over the places of each document's tie group."""
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
        """Return how many documents beside one, or two, the group has, at least 1, a real number."""
        return self.places.xp.clip(self.places.size - count, min=1.0)


class LevelSums(NamedTuple):
    """For every level and document, [L, Q, n]: sums over relevant documents, above its tie group and in it."""

    before: Array
    within: Array
    behind_start: Array
    """the sum, over the places above the group, of the chance to hold a relevant document over the place"""
    behind_stop: Array
    """the same over the places down to the group's last"""


def sum_around(places: Places, harmonics: Harmonics, x: Array) -> LevelSums:
    """Return the sums of x [L, Q, n], what each document counts at each level."""
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
    """What a measure of AP numerators needs of a block of queries, whatever the scores."""

    level: Array
    """[Q, n] how many of the query's levels the document reaches"""
    weight: Array
    """[L, Q] what each level's numerator counts, ascending"""
    k: int | None

    @property
    def worth(self) -> Array:
        """[Q, n] what makes one document better than another."""
        return self.level

    def changes(self, places: Places, order: Array) -> Callable[[slice], Array]:
        """Return a function from some columns to [Q, columns, n]: the mean change when a document there and each trade.

        It is right where the other one is not above.
        """
        level = reorder(self.level, order)
        harmonics = Harmonics.of(places, self.k)
        x = relevant_at(places, level, self.weight.shape[0])
        weight, sums = self.weight[:, :, None], sum_around(places, harmonics, x)
        parts = (_upper(harmonics, x, sums), _lower(harmonics, x, sums), _within(harmonics, sums))
        upper, lower, within = (sum_between(weight * part, level) for part in parts)
        return lambda rows: look_up_pairs(places, level, upper, lower, within, rows)


def look_up_pairs(places: Places, level: Array, upper: Array, lower: Array, within: Array, rows: slice) -> Array:
    """Return [Q, columns, n]: what each pair changes, from tables [L + 1, Q, n] by the level of the other document.

    They hold what the group of the upper document gives, what that of the lower one takes away, and what one group that
    holds both gives.
    """
    share = places.share[:, rows, None]
    across = look_up(upper[:, :, rows], level) - share * look_across(lower, level[:, rows])
    return places.xp.where(places.ties(rows), look_up(within[:, :, rows], level), across)


def _upper(harmonics: Harmonics, x: Array, sums: LevelSums) -> Array:
    """What the group of the upper document gives, at place a: the other one stands below the group."""
    chance = (sums.within - x) / harmonics.others(1)
    own = (sums.before + 1) * harmonics.upper_one
    return own + chance * (harmonics.upper_other + harmonics.upper_behind) - harmonics.places.share * sums.behind_stop


def _lower(harmonics: Harmonics, x: Array, sums: LevelSums) -> Array:
    """What the group of the lower one takes away, at place b; if it is not relevant, the upper one is, and no other."""
    chance = (sums.within - x) / harmonics.others(1)
    own = (sums.before + x) * harmonics.lower_one
    return own + chance * (harmonics.lower_other + harmonics.lower_behind) - sums.behind_start


def _within(harmonics: Harmonics, sums: LevelSums) -> Array:
    """The mean over pairs of places of one group that holds both, one of them relevant."""
    chance = (sums.within - 1) / harmonics.others(2)
    own = (sums.before + 1) * (harmonics.pair_upper - harmonics.pair_lower)
    return own + chance * (harmonics.pair_other + harmonics.pair_behind)


class Parts(NamedTuple):
    """The change in three parts, tables of levels or pairs of documents."""

    own: Array
    """goes with the weight of the better document"""
    others: Array
    """stands alone"""
    traded: Array
    """goes with the difference of the two weights"""


@dataclass(frozen=True, eq=False, repr=False)
class WeightedThresholds(Thresholds):
    """What xGAP needs of a block of queries, whatever the scores; a level weighs the share of its users."""

    document: Array
    """[Q, n] the weight of each document"""

    def changes(self, places: Places, order: Array) -> Callable[[slice], Array]:
        """Return the same, with the weight of each document."""
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
    """Return the sums over the levels of a pair: those of the better one alone, and those of both."""
    return Parts(
        sum_between(weight * parts.own, level),
        sum_between(weight * parts.others, level),
        up_to_lower(weight * parts.traded, level),
    )


def _upper_weighted(harmonics: Harmonics, x: Array, counts: LevelSums, weights: LevelSums, document: Array) -> Parts:
    """What the group of the upper document gives."""
    chance, weight = ((s.within - own) / harmonics.others(1) for s, own in ((counts, x), (weights, x * document)))
    own = (counts.before + 1) * harmonics.upper_one + chance * harmonics.upper_other
    others = weight * harmonics.upper_behind - harmonics.places.share * weights.behind_stop
    return Parts(own, others, own)


def _lower_weighted(harmonics: Harmonics, x: Array, counts: LevelSums, weights: LevelSums, document: Array) -> Parts:
    """What the group of the lower document takes away."""
    chance, weight = ((s.within - own) / harmonics.others(1) for s, own in ((counts, x), (weights, x * document)))
    own = (counts.before + x) * harmonics.lower_one + chance * harmonics.lower_other
    return Parts(own, weight * harmonics.lower_behind - weights.behind_start, own)


def _within_weighted(harmonics: Harmonics, counts: LevelSums, weights: LevelSums) -> Parts:
    """The mean over pairs of places of one group that holds both."""
    behind = harmonics.pair_behind / harmonics.others(2)
    one, two = ((counts.within - n) / harmonics.others(2) for n in (1, 2))
    step = (counts.before + 1) * (harmonics.pair_upper - harmonics.pair_lower)
    own = step + one * harmonics.pair_other - behind
    return Parts(own, weights.within * behind, step - harmonics.pair_lower + two * harmonics.pair_other)


Swaps: TypeAlias = Additive | Thresholds
COUNTED = (P, R, F1, F, RelativeP)
TAUGHT = (Discounted, RBP, AP, GAP, xGAP, eGAP, muAP, *COUNTED)
"""measures that can be learned; the others of their families derive from them"""


def check(measure: Measure) -> None:
    """Refuse a measure whose swaps have no closed form."""
    if not isinstance(measure, TAUGHT):
        raise MeasureError(
            f"{measure}: no closed form is known of what a swap changes on average over ties;"
            " learn by nDCG, DCG, NDCNG, nDCGphi, RBP, AP, GAP, xGAP, eGAP, muAP, P, R or F1"
        )


def swaps_of(measure: Measure, batch: Batch) -> Swaps:
    """Return what a fitted measure needs of a batch whose documents stand by label; their scores do not matter."""
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
    """Return [Q, n], the gain of each document, and the discount."""
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

    A query with fewer levels than others of the block has levels of 0 below its own, which all documents reach and
    which weigh nothing.
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
    """Return gains over the norm; where one over that is too large for a number, their quotient need not be."""
    with ignore_overflow():
        product = gain * _inverse(batch, norm)[:, None]
        return batch.xp.where(batch.xp.isfinite(product), product, gain / norm[:, None])


def _inverse(batch: Batch, norm: Array) -> Array:
    """Return 1/norm; 0 where that is 0, since every ranking then scores 0."""
    return batch.xp.where(norm > 0, 1.0 / batch.xp.where(norm > 0, norm, 1.0), 0.0)
