"""The contribution of a tie group to a cascade: a user reads down and stops at each document with its probability.

E_x is the probability of passing x random documents of the n in the group: the mean of Π (1 - stop) over all sets of x
documents. For a user who reaches the group after t documents, it adds Σ_x (E_{x-1} - E_x)/D(t+x). If nobody stops at
any document, E_x is 1. Adding an m-th document changes it to (1 - x/m)·E_x + x/m·(1 - stop)·E_{x-1}. So the computation
starts with the documents at which nobody stops, and takes one step for each other document; all tie groups of a batch
take their steps in parallel.
"""

from collections.abc import Iterator
from math import log
from typing import NamedTuple

from gradely.kernel.backend import sum_rows
from gradely.kernel.batch import Array, Batch, rows_at_a_time
from gradely.kernel.ties import Discount, count_within, divisors, sum_around, up_to_column


class TieGroups(NamedTuple):
    """Tie groups with a document at which the user may stop, [G]."""

    above: Array
    """number of documents above the group"""
    idle: Array
    """number of its documents at which nobody stops, as a real number"""
    stops: Array
    """number of its documents at which somebody may stop"""
    begin: Array
    """position of the first of these among those of the whole batch"""
    reach: Array
    """number of its ranks that matter: they are in the top k, and reached with a probability above 1e-20"""

    def take(self, chosen: Array) -> "TieGroups":
        """Return some of the groups."""
        return TieGroups(*(field[chosen] for field in self))


def cascade_groups(batch: Batch, stop: Array, discount: Discount, k: int | None) -> Array:
    """Return [Q, H]: the gain of a user who reaches the tie group of a document; 0 for untied and idle documents."""
    xp = batch.xp
    stops = (stop > 0) & (batch.tied > 1)
    stops = stops if k is None else stops & (batch.above < k)
    before, among = sum_around(batch, stops)
    leads = stops & (up_to_column(batch, stops) == before + 1)
    (leader,) = xp.nonzero(xp.reshape(leads, (-1,)))
    if not leader.shape[0]:
        return xp.zeros_like(stop)
    (documents,) = xp.nonzero(xp.reshape(stops, (-1,)))
    chances = xp.reshape(stop, (-1,))[documents]
    above, size, count, reach = (
        xp.reshape(x, (-1,))[leader] for x in (batch.above, batch.size, among, _reach(batch, stop, k))
    )
    count = xp.astype(count, above.dtype)
    groups = TieGroups(above, size - batch.to_real(count), count, xp.cumulative_sum(count) - count, reach)
    order, gains = xp.argsort(_sort_key(batch, groups)), []
    for chosen in _side_by_side(batch, groups, order):
        some = groups.take(chosen)
        gains.append(_gain(batch, some, _pass(batch, some, chances), divisors(batch, discount)))
    gain = xp.concat(gains)[xp.argsort(order)]
    number = xp.cumulative_sum(xp.astype(xp.reshape(leads, (-1,)), above.dtype))
    return xp.where(stops, xp.reshape(gain[xp.clip(number - 1, min=0)], stop.shape), 0.0)


def _reach(batch: Batch, stop: Array, k: int | None) -> Array:
    """Return [Q, H]: the number of ranks of each document's tie group that matter.

    By Maclaurin's inequality, the user passes x documents with a probability of at most (1 - mean stop)^x.
    """
    xp = batch.xp
    mean = xp.clip(sum_around(batch, stop).in_group / batch.size, min=1e-300, max=1 - 2.0**-53)  # rounding may exceed 1
    # gains do not grow with the rank, so that of a rank that is reached with a lower probability is lost in rounding
    return xp.minimum(xp.ceil(log(1e-20) / xp.log1p(-mean)), count_within(batch, k))


def _sort_key(batch: Batch, groups: TieGroups) -> Array:
    """Return a key that sorts groups by their reach, rounded up to a power of 2, then by descending number of steps."""
    doublings = batch.xp.ceil(batch.xp.log2(groups.reach))
    return doublings * (batch.grade.shape[1] + 1) - batch.to_real(groups.stops)


def _side_by_side(batch: Batch, groups: TieGroups, order: Array) -> Iterator[Array]:
    """Yield the numbers of groups with about the same reach, within a factor of 2, as many as fit into the cache."""
    xp = batch.xp
    doublings = xp.ceil(xp.log2(groups.reach))
    start = 0
    for doubling in range(int(xp.max(doublings)) + 1):
        stop = start + int(xp.sum(xp.astype(doublings == doubling, order.dtype)))
        rows = rows_at_a_time(2**doubling)
        yield from (order[i : min(i + rows, stop)] for i in range(start, stop, rows))
        start = stop


def _pass(batch: Batch, groups: TieGroups, chances: Array) -> Array:
    """Return [G, reach + 1]: E_x of groups that are sorted by their number of steps, in descending order."""
    xp = batch.xp
    x = batch.count_up(int(xp.max(groups.reach)))[None, :]
    passed, done = xp.ones_like(groups.idle[:, None]) + 0.0 * x, []
    start = xp.ones_like(passed[:, :1])
    for step in range(int(groups.stops[0])):
        active = int(xp.sum(xp.astype(groups.stops > step, groups.stops.dtype)))
        if active < passed.shape[0]:
            done.append(passed[active:, :])
            passed, start = passed[:active, :], start[:active, :]
        m = groups.idle[:active, None] + (step + 1)
        share = xp.minimum(x, m) / m
        below = xp.concat([start, passed[:, :-1]], axis=1)
        below *= (1.0 - chances[groups.begin[:active] + step])[:, None]
        passed = (1.0 - share) * passed + share * below
    passed = xp.concat([passed, *done[::-1]])
    return xp.concat([xp.ones_like(passed[:, :1]), passed], axis=1)


def _gain(batch: Batch, groups: TieGroups, passed: Array, divisor: Array) -> Array:
    """Return [G]: Σ_x (E_{x-1} - E_x)/D(t+x) over the ranks that matter."""
    xp = batch.xp
    x = xp.arange(1, passed.shape[1], dtype=groups.above.dtype, device=batch.device)[None, :]
    stopped = (passed[:, :-1] - passed[:, 1:]) / divisor[xp.clip(groups.above[:, None] + x - 1, max=batch.depth - 1)]
    return sum_rows(xp.where(batch.to_real(x) <= groups.reach[:, None], stopped, 0.0))
