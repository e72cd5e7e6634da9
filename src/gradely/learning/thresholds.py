"""Swaps of measures of average precision: AP, GAP, eGAP, µAP.

N_t is the numerator of AP at level t. Let a < b be two places, one holding a document relevant at t, the other one
that is not, and o(x) the number of other relevant documents above place x. Whichever of the two stands above, trading
places changes N_t by

    (o(a) + 1)/a - (o(b) + 1)/b + Σ_{a<m<b} [the document at m is relevant]/m

This is linear in the relevance of the others. So the mean over orders puts in the chance of each place to hold a
relevant one, and is a difference of what the upper document's group gives (`Means.upper`) and what the lower one's
gives (`Means.lower`), or one number for both in one group (`Means.within`). A pair's levels are those above the lower
label and not above the higher: sums over levels, which are looked up, so a pair costs the same for any number of
levels.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from gradely.kernel.batch import Array
from gradely.learning.lookup import at_start, look_across, look_up, reorder, sum_between
from gradely.learning.places import Places


@dataclass(frozen=True, eq=False, repr=False)
class Harmonics:
    """Means over places of 1/m for places m up to the cut-off k, [Q, n]; `behind` of sums of 1/m over other places.

    A number `…_one` goes with a document counted for sure, `…_other` with the chance of a place to hold a relevant one.
    """

    places: Places
    k: int | None

    @cached_property
    def inverse(self) -> Array:
        """1/m at each place m."""
        rank = self.places.rank
        return 1.0 / rank if self.k is None else self.places.xp.where(rank <= self.k, 1.0 / rank, 0.0)

    @cached_property
    def ones(self) -> Array:
        """1 at each place."""
        return self.inverse * self.places.rank

    @cached_property
    def prefix(self) -> Array:
        """The sums of 1/m over the first 0, 1, … places."""
        return self.places.prefix(self.inverse)

    @cached_property
    def first(self) -> Array:
        """[Q, n] the first place of each document's group, a real number."""
        return self.places.to_real(self.places.start) + 1

    @cached_property
    def upper_one(self) -> Array:
        """The mean of 1/a."""
        return self.places.upper(self.inverse)

    @cached_property
    def upper_other(self) -> Array:
        """The mean of (places of the group above a)/a."""
        return self.places.upper(self.ones) - self.first * self.upper_one

    @cached_property
    def upper_behind(self) -> Array:
        """The mean of Σ 1/m over the places of the group below a."""
        places = self.places
        return places.share * self.prefix[places.stop] - places.upper(self.prefix[1:])

    @cached_property
    def lower_one(self) -> Array:
        """The mean of 1/b."""
        return self.places.lower(self.inverse)

    @cached_property
    def lower_other(self) -> Array:
        """The mean of (places of the group above b)/b."""
        return self.places.lower(self.ones) - self.first * self.lower_one

    @cached_property
    def lower_behind(self) -> Array:
        """The mean of -Σ 1/m over the places of the group above b."""
        return self.prefix[self.places.start] - self.places.lower(self.prefix[:-1])

    @cached_property
    def pair_upper(self) -> Array:
        """Over pairs a < b in one group, the mean of 1/a."""
        return self.places.as_upper(self.inverse)

    @cached_property
    def pair_lower(self) -> Array:
        """The mean of 1/b."""
        return self.places.as_lower(self.inverse)

    @cached_property
    def pair_other(self) -> Array:
        """The mean of (others of the group above a)/a - (others above b)/b."""
        places = self.places
        upper = places.as_upper(self.ones) - self.first * self.pair_upper
        return upper - (places.as_lower(self.ones) - (self.first + 1) * self.pair_lower)

    @cached_property
    def pair_behind(self) -> Array:
        """The mean of Σ 1/m over the places between."""
        places = self.places
        return places.to_real(places.stop) * self.pair_lower - places.as_lower(self.ones)

    @cached_property
    def one_other(self) -> Array:
        """How many other documents the group has, at least 1, a real number."""
        return self.places.xp.clip(self.places.size - 1, min=1.0)

    @cached_property
    def two_others(self) -> Array:
        """How many documents beside two the group has, at least 1."""
        return self.places.xp.clip(self.places.size - 2, min=1.0)


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


class Thresholds(NamedTuple):
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
        harmonics = Harmonics(places, self.k)
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
    chance = (sums.within - x) / harmonics.one_other
    own = (sums.before + 1) * harmonics.upper_one
    return own + chance * (harmonics.upper_other + harmonics.upper_behind) - harmonics.places.share * sums.behind_stop


def _lower(harmonics: Harmonics, x: Array, sums: LevelSums) -> Array:
    """What the group of the lower one takes away, at place b; if it is not relevant, the upper one is, and no other."""
    chance = (sums.within - x) / harmonics.one_other
    own = (sums.before + x) * harmonics.lower_one
    return own + chance * (harmonics.lower_other + harmonics.lower_behind) - sums.behind_start


def _within(harmonics: Harmonics, sums: LevelSums) -> Array:
    """The mean over pairs of places of one group that holds both, one of them relevant."""
    chance = (sums.within - 1) / harmonics.two_others
    own = (sums.before + 1) * (harmonics.pair_upper - harmonics.pair_lower)
    return own + chance * (harmonics.pair_other + harmonics.pair_behind)
