"""Swaps of additive measures: |gain_i - gain_j| times the mean difference of 1/discount at their places."""

from collections.abc import Callable
from typing import NamedTuple

from gradely.kernel.batch import Array
from gradely.learning.lookup import reorder
from gradely.learning.places import Places


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
