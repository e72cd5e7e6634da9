"""Sums and means over tie groups, exactly and without enumerating orders."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from gradely.kernel.backend import as_type, running_sum, sums_before, take_in_rows, to_lists
from gradely.kernel.batch import Array, Batch

Discount: TypeAlias = Callable[[Batch, Array], Array]
"""Takes the ranks 1, 2, …; returns the divisor of a gain at each rank."""

SHORT = 100
"""largest depth of a ranking that counts as short; most rankings that are evaluated one at a time are not longer"""
KEPT: dict[tuple[Discount, Any], Array] = {}
"""divisors of short rankings, by discount and dtype"""


class Sums(NamedTuple):
    """Prefix sums in two parts, high + low, whose differences are exact to the last digit.

    Entry i is the sum of the first i numbers.
    """

    high: Array
    low: Array


def divisors(batch: Batch, discount: Discount) -> Array:
    """Return the divisors of gains at ranks 1, 2, …, at least down to the depth of the batch.

    They are computed once per batch; for short rankings in NumPy, once for all batches.
    """
    if batch.in_numpy and batch.depth <= SHORT and not batch.fixed:
        return _short_divisors(batch, discount)
    if discount not in batch.memo:
        batch.memo[discount] = discount(batch, batch.ranks)
    return batch.memo[discount]


def _short_divisors(batch: Batch, discount: Discount) -> Array:
    key = discount, batch.grade.dtype
    divisors = KEPT.get(key)
    if divisors is None:
        if len(KEPT) >= 64:  # RBP has a discount for each p
            KEPT.clear()
        divisors = KEPT[key] = discount(batch, batch.count_up(SHORT))
    return divisors


def sums(batch: Batch, discount: Discount) -> Sums:
    """Return the prefix sums of 1/discount; they are computed once per batch."""
    if (Sums, discount) not in batch.memo:
        batch.memo[Sums, discount] = sum_in_parts(batch, 1.0 / divisors(batch, discount))
    sums_of_discount: Sums = batch.memo[Sums, discount]
    return sums_of_discount


def sum_in_parts(batch: Batch, x: Array) -> Sums:
    """Return the prefix sums of x along its last axis; the low part is the rounding error of the high one (TwoSum)."""
    high = batch.xp.cumulative_sum(x, axis=-1, include_initial=True)
    before, after = high[..., :-1], high[..., 1:]
    step = after - before  # this is rounded as well if x is larger than the sum before it
    lost = (before - (after - step)) + (x - step)
    return Sums(high, batch.xp.cumulative_sum(lost, axis=-1, include_initial=True))


def group_places(batch: Batch, k: int | Array | None) -> tuple[Array, Array]:
    """Return the first place of each document's tie group, from 0, and one past the last, both at most k.

    k is one number, or one per query, [Q, 1].
    """
    start, stop = batch.above, batch.last if batch.fixed else batch.above + batch.tied
    return (start, stop) if k is None else (batch.xp.clip(start, max=k), batch.xp.clip(stop, max=k))


def count_within(batch: Batch, k: int | Array | None) -> Array:
    """Return the number of places of each document's tie group in the top k."""
    if k is None:
        return batch.size
    start, stop = group_places(batch, k)
    return batch.to_real(stop - start)


def sum_over_places(batch: Batch, discount: Discount, k: int | None) -> Array:
    """Return the sum of 1/discount over the places of each document's tie group in the top k."""
    start, stop = group_places(batch, k)
    high, low = sums(batch, discount)
    return (high[stop] - high[start]) + (low[stop] - low[start])


class GroupSums(NamedTuple):
    """For each document, a sum over the documents above its tie group, and over the documents in it."""

    before: Array
    in_group: Array


def sum_around(batch: Batch, x: Array) -> GroupSums:
    """Return both sums of x; if x holds flags, the number of true ones."""
    running = _prefix_sums(batch, x)
    if batch.untied:
        return GroupSums(batch.to_real(running[:, :-1]), batch.to_real(x))
    first, last = (batch.to_real(running_at) for running_at in _at_edges(batch, running))
    return GroupSums(first, last - first)


def up_to_column(batch: Batch, x: Array) -> Array:
    """Return, for each document, the sum of x over the columns up to its own."""
    return batch.to_real(running_sum(x, _sum_type(batch, x)))


def sum_before(batch: Batch, x: Array) -> Array:
    """Return, for each document, the sum of x over the documents above its tie group."""
    return sum_around(batch, x).before


def sum_in_group(batch: Batch, x: Array) -> Array:
    """Return, for each document, the sum of x over the judged documents of its tie group."""
    return batch.to_real(x) if batch.untied else sum_around(batch, x).in_group


def _prefix_sums(batch: Batch, x: Array) -> Array:
    """Return the sums of the first 0, 1, … columns."""
    if batch.fixed:
        return sums_before(x, batch.grade.dtype)
    dtype = _sum_type(batch, x)
    return batch.xp.cumulative_sum(as_type(x, dtype), axis=1, dtype=dtype, include_initial=True)


def _at_edges(batch: Batch, table: Array) -> tuple[Array, Array]:
    """Return the entries of a table of prefix sums at the first column of each tie group, and one past its last."""
    if batch.fixed:
        return take_in_rows(table, batch.first), take_in_rows(table, batch.last)
    start, stop = batch.edges
    return _cells(batch, table, start), _cells(batch, table, stop)


def _sum_type(batch: Batch, x: Array) -> Any:
    """Return the dtype in which x is summed; flags are counted in integers, which is far faster."""
    return batch.first.dtype if x.dtype == batch.judged.dtype else x.dtype


def _cells(batch: Batch, table: Array, at: Array) -> Array:
    """Return the cells of a table at flat positions, which is faster than by row and column."""
    xp = batch.xp
    return xp.reshape(xp.take(xp.reshape(table, (-1,)), xp.reshape(at, (-1,)), axis=0), at.shape)


def order_ties(batch: Batch, priority_of: Callable[[Batch], Array], tied: Array | None = None) -> Batch:
    """Return the batch with ties ordered by its policy: `best` by descending priority, `worst` by ascending priority.

    Unjudged documents have priority 0; judged documents of priority 0 may come before or after them. Groups whose
    documents are flagged in `tied` stay tied, with their columns in order.
    """
    if batch.ties == "expected" or batch.untied:
        return batch
    xp = batch.xp
    priority = priority_of(batch)
    priority = xp.where(batch.judged, priority if batch.ties == "best" else -priority, 0.0)
    order = xp.argsort(-priority, axis=1, stable=True)
    order = order[batch.row, xp.argsort(batch.first[batch.row, order], axis=1, stable=True)]
    column = xp.broadcast_to(xp.arange(order.shape[1], dtype=batch.first.dtype, device=batch.device), order.shape)
    unjudged = batch.tied - (batch.last - batch.first)
    place = batch.above + column - batch.first + xp.where(priority[batch.row, order] < 0, unjudged, 0)
    unsorted = xp.zeros_like(batch.judged) if tied is None else tied
    ordered = batch.reorder(
        grade=batch.grade[batch.row, order],
        judged=batch.judged[batch.row, order],
        above=xp.where(unsorted, batch.above, place),
        tied=xp.where(unsorted, batch.tied, 1),
        first=xp.where(unsorted, batch.first, column),
        last=xp.where(unsorted, batch.last, column + 1),
        subtopics=None if batch.subtopics is None else batch.subtopics.reorder(order),
        **({"alone": True} if batch.fixed and tied is None else {}),
    )
    if tied is None:
        ordered.set_cached(untied=True)
    return ordered


def place_columns(ordered: Batch, batch: Batch, places: Mapping[int, Sequence[tuple[int, int]]]) -> Batch:
    """Return an ordered batch with the documents of some queries in another order.

    `places` maps such a query to the place and the column in `batch` of each document.
    """
    rows = [to_lists(batch.to_real(x)) for x in (ordered.grade, ordered.above)]
    own = to_lists(batch.grade)
    for q, documents in places.items():
        for c, (place, column) in enumerate(documents):
            rows[0][q][c], rows[1][q][c] = own[q][column], place
    grade = batch.xp.asarray(rows[0], dtype=batch.grade.dtype, device=batch.device)
    above = batch.xp.astype(batch.xp.asarray(rows[1], dtype=batch.grade.dtype, device=batch.device), batch.above.dtype)
    return ordered.reorder(grade=grade, above=above)
