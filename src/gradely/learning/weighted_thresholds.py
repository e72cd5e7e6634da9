"""Swaps of xGAP, where a document counts by a weight of its own, which rises with its grade.

At the levels of one of the two documents alone, the better, the change is that of `thresholds`, with the better one's
own weight on its precision and the others' weights on what lies between. At the levels of both, only the weights
trade places: (w_i - w_j)·[(o(a) + 1)/a - (o(b) + 2)/b].

xGAP is not monotone, so the sum can have either sign. Its absolute value is taken of the mean over all orders of what
it brings that the better document stands above. The mean of absolute values would cost a sum over pairs of places for
each pair of documents, and differs only where the sign depends on the places.
"""

from collections.abc import Callable
from typing import NamedTuple

from gradely.kernel.batch import Array
from gradely.learning.lookup import reorder, sum_between, up_to_lower
from gradely.learning.places import Places
from gradely.learning.thresholds import Harmonics, LevelSums, look_up_pairs, relevant_at, sum_around


class Parts(NamedTuple):
    """The change in three parts, tables of levels or pairs of documents."""

    own: Array
    """goes with the weight of the better document"""
    others: Array
    """stands alone"""
    traded: Array
    """goes with the difference of the two weights"""


class WeightedThresholds(NamedTuple):
    """What xGAP needs of a block of queries, whatever the scores."""

    level: Array
    """[Q, n] how many of the query's levels the document reaches"""
    weight: Array
    """[L, Q] the share of users of each level, ascending"""
    document: Array
    """[Q, n] the weight of each document"""
    k: int | None

    @property
    def worth(self) -> Array:
        """[Q, n] what makes one document better than another."""
        return self.level

    def changes(self, places: Places, order: Array) -> Callable[[slice], Array]:
        """Return a function from some columns to [Q, columns, n]: the mean change when a document there and each trade.

        It is right where the other one is not above.
        """
        xp, level, document = places.xp, reorder(self.level, order), reorder(self.document, order)
        harmonics = Harmonics(places, self.k)
        x = relevant_at(places, level, self.weight.shape[0])
        weight = self.weight[:, :, None]
        counts, weights = sum_around(places, harmonics, x), sum_around(places, harmonics, x * document)
        upper = _tables(weight, _upper(harmonics, x, counts, weights, document), level)
        lower = _tables(weight, _lower(harmonics, x, counts, weights, document), level)
        within = _tables(weight, _within(harmonics, counts, weights), level)

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


def _upper(harmonics: Harmonics, x: Array, counts: LevelSums, weights: LevelSums, document: Array) -> Parts:
    """What the group of the upper document gives."""
    chance, weight = ((s.within - own) / harmonics.one_other for s, own in ((counts, x), (weights, x * document)))
    own = (counts.before + 1) * harmonics.upper_one + chance * harmonics.upper_other
    others = weight * harmonics.upper_behind - harmonics.places.share * weights.behind_stop
    return Parts(own, others, own)


def _lower(harmonics: Harmonics, x: Array, counts: LevelSums, weights: LevelSums, document: Array) -> Parts:
    """What the group of the lower document takes away."""
    chance, weight = ((s.within - own) / harmonics.one_other for s, own in ((counts, x), (weights, x * document)))
    own = (counts.before + x) * harmonics.lower_one + chance * harmonics.lower_other
    return Parts(own, weight * harmonics.lower_behind - weights.behind_start, own)


def _within(harmonics: Harmonics, counts: LevelSums, weights: LevelSums) -> Parts:
    """The mean over pairs of places of one group that holds both."""
    behind = harmonics.pair_behind / harmonics.two_others
    one, two = ((counts.within - n) / harmonics.two_others for n in (1, 2))
    step = (counts.before + 1) * (harmonics.pair_upper - harmonics.pair_lower)
    own = step + one * harmonics.pair_other - behind
    return Parts(own, weights.within * behind, step - harmonics.pair_lower + two * harmonics.pair_other)
