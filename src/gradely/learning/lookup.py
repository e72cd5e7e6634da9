"""Looking things up in tables, one row per document and one column per level."""

from gradely.kernel.backend import device_of, is_numpy, namespace
from gradely.kernel.batch import Array

FEW = 16
"""with so many levels or fewer, multiplying by zeros and ones is faster on NumPy than gathering: both are exact"""


def reorder(x: Array, order: Array) -> Array:
    """Return the columns of each row in another order."""
    return namespace(x).take_along_axis(x, order, axis=1)


def at_start(x: Array, start: Array) -> Array:
    """Return [L, Q, n]: what stands in the columns `start` [Q, n] of x [L, Q, n + 1]."""
    xp = namespace(x)
    levels, queries, width = x.shape
    row = xp.arange(queries, dtype=start.dtype, device=device_of(start))[:, None] * width
    cells = xp.reshape(row + start, (-1,))
    return xp.reshape(xp.take(xp.reshape(x, (levels, -1)), cells, axis=1), (levels, *start.shape))


def look_up(table: Array, level: Array) -> Array:
    """Return [Q, w, n]: for each document of table [L, Q, w], its entries at the levels [Q, n]."""
    xp = namespace(table)
    by_row = xp.permute_dims(table, (1, 2, 0))
    if is_numpy(table) and table.shape[0] <= FEW:
        return xp.matmul(by_row, _flags(table, level[:, None, :], axis=1))
    shape = (*by_row.shape[:2], level.shape[1])
    return xp.take_along_axis(by_row, xp.broadcast_to(level[:, None, :], shape), axis=2)


def look_across(table: Array, level: Array) -> Array:
    """Return [Q, w, n]: at the levels [Q, w], the entries of each document of table [L, Q, n]."""
    xp = namespace(table)
    by_column = xp.permute_dims(table, (1, 0, 2))
    if is_numpy(table) and table.shape[0] <= FEW:
        return xp.matmul(_flags(table, level[:, :, None], axis=2), by_column)
    shape = (by_column.shape[0], level.shape[1], by_column.shape[2])
    return xp.take_along_axis(by_column, xp.broadcast_to(level[:, :, None], shape), axis=1)


def _flags(table: Array, level: Array, axis: int) -> Array:
    """Return 1 where the level is the number of the row or column, else 0."""
    xp = namespace(table)
    shape = [1, 1, 1]
    shape[axis] = table.shape[0]
    return xp.astype(level == xp.reshape(xp.arange(table.shape[0]), tuple(shape)), table.dtype)


def sum_between(change: Array, level: Array) -> Array:
    """Return [L + 1, Q, n]: the sums of change [L, Q, n] over the levels between each one and the document's own.

    Entry l is the sum over the levels above the lower of the two, l and `level` [Q, n], up to the higher.
    """
    xp = namespace(change)
    running = xp.concat([xp.zeros_like(change[:1]), xp.cumulative_sum(change, axis=0)], axis=0)
    own = own_level(running, level)
    number = xp.arange(running.shape[0], device=device_of(level))[:, None, None]
    return xp.where(number >= level[None], running - own, own - running)


def up_to_lower(change: Array, level: Array) -> Array:
    """Return [L + 1, Q, n]: the sums of change [L, Q, n] over the levels up to the lower of each and the own."""
    xp = namespace(change)
    running = xp.concat([xp.zeros_like(change[:1]), xp.cumulative_sum(change, axis=0)], axis=0)
    number = xp.arange(running.shape[0], device=device_of(level))[:, None, None]
    return xp.where(number >= level[None], own_level(running, level), running)


def own_level(table: Array, level: Array) -> Array:
    """Return [1, Q, n]: the entry of table [L, Q, n] at each document's own level."""
    return namespace(table).take_along_axis(table, level[None], axis=0)
