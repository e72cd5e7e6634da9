"""Many ranges of an array at a time: their indices, and a binary search in each."""

from collections.abc import Callable

import numpy as np

from gradely.data.types import Bools, Ints


def ranges(start: Ints, size: Ints) -> Ints:
    """Return start, start + 1, … start + size - 1 of all ranges in a row."""
    skipped = start - (np.cumsum(size) - size)
    return np.repeat(skipped, size) + np.arange(int(size.sum()))


def end_of_better(low: Ints, high: Ints, better: Callable[[Ints], Bools]) -> Ints:
    """Return where in each stretch low … high - 1, best first, the entries end that are better; `better` tells which.

    It is asked for one entry a stretch at a time; of stretches that are done, its answer does not count.
    """
    while (searching := low < high).any():
        middle = np.where(searching, (low + high) >> 1, 0)
        up = searching & better(middle)
        low, high = np.where(up, middle + 1, low), np.where(searching & ~up, middle, high)
    return low
