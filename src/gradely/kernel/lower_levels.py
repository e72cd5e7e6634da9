"""For each document, what stands above and beside it on a lower level: sums over all thresholds at once.

The numerator of average precision at a threshold counts the documents of that level or above. Summed over thresholds,
with weights, a document of level r gets from another one of level s the weight of all thresholds up to min(r, s). So
it is enough to know the documents on lower levels, which takes time that hardly grows with the number of levels.
"""

from typing import NamedTuple

from gradely.kernel.batch import Array, Batch


class LowerSums(NamedTuple):
    """For each document, [Q, H], the documents on lower levels above its tie group, and in it."""

    above: Array
    """the sum of something over those above"""
    above_count: Array
    beside: Array
    """the sum of something over those in the tie group"""
    beside_count: Array


def lower_levels(batch: Batch, level: Array, x: Array, levels: int) -> LowerSums:
    """Return how many documents stand on a lower level, and the sum of x over them.

    `level` holds whole numbers from 0 to `levels`. Two of them differ first in one binary digit: for each digit, from
    the highest, documents that agree in all digits before it are put side by side, and those with a 1 there count those
    with a 0.
    """
    sums = [batch.xp.zeros_like(x) for _ in LowerSums._fields]
    for digit in range(levels.bit_length() - 1, -1, -1):
        counts = _by_digit(batch, level, x, digit)
        sums = [a + b for a, b in zip(sums, counts, strict=True)]
    return LowerSums(*sums)


def _by_digit(batch: Batch, level: Array, x: Array, digit: int) -> list[Array]:
    """Return the four sums over documents that agree in all digits before this one, have 0 there, and stand where."""
    xp, width = batch.xp, level.shape[1]

    def digits_from(by: int) -> Array:
        return level // (1 << by)

    alike = digits_from(digit + 1) * (width + 1)
    one = digits_from(digit) % 2 == 1
    key = alike + batch.first
    order = xp.argsort(key, axis=1, stable=True)
    span = (int(xp.max(alike)) + width + 1) * batch.row
    ordered = xp.reshape(key[batch.row, order] + span, (-1,))
    zero = ~one[batch.row, order]
    running = [
        xp.cumulative_sum(weight, axis=1, include_initial=True)
        for weight in (xp.where(zero, x[batch.row, order], 0.0), batch.to_real(zero))
    ]

    def place(key: Array) -> Array:
        """Return how many documents of the row have a smaller key."""
        flat = xp.searchsorted(ordered, xp.reshape(key + span, (-1,)), side="left")
        return xp.astype(xp.reshape(flat, key.shape), batch.first.dtype) - width * batch.row

    start, first, last = place(alike), place(key), place(alike + batch.last)
    return [
        xp.where(one, sums[batch.row, stop] - sums[batch.row, begin], 0.0)
        for begin, stop in ((start, first), (first, last))
        for sums in running
    ]
