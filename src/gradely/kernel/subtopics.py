"""Subtopics: labels of documents by subtopic, and the greedy ideal, which has something new at every rank."""

from typing import Any, NamedTuple, TypeAlias

from gradely.kernel.backend import device_of, is_any, namespace, sum_rows, take_rows

Array: TypeAlias = Any

NEAR = 1e-12
"""gains that differ by less than this share are the same: rounding must not decide which document comes first"""
NOTHING = 1e-18
"""a share of the first gain below which later ones are lost in rounding"""


class Subtopics(NamedTuple):
    """The labels by subtopic beside those of a Batch; minus infinity where a document is not judged for a subtopic."""

    labels: Array
    """[Q, H, S] of the judged documents that were retrieved"""
    pool: Array
    """[Q, B, S] of all judged documents; of two with the same gain, the greedy ideal takes the earlier one"""
    weights: Array | None = None
    """[Q, S] how likely it is that a user means each subtopic, as the judgments state it; None if they do not"""

    def rows(self, part: slice) -> "Subtopics":
        """Return some of the queries."""
        weights = None if self.weights is None else self.weights[part]
        return Subtopics(self.labels[part], self.pool[part], weights)

    def columns(self, width: int) -> "Subtopics":
        """Return the first columns."""
        return self._replace(labels=self.labels[:, :width])

    def reorder(self, order: Array) -> "Subtopics":
        """Return the columns of each row in another order."""
        return self._replace(labels=take_documents(self.labels, order))


def take_documents(x: Array, order: Array) -> Array:
    """Return [Q, N, S]: the documents of each row of x [Q, B, S] that are in an order [Q, N]."""
    xp, (queries, width, subtopics) = namespace(x), x.shape
    at = order + width * xp.arange(queries, dtype=order.dtype, device=device_of(x))[:, None]
    flat = xp.take(xp.reshape(x, (queries * width, subtopics)), xp.reshape(at, (-1,)), axis=0)
    return xp.reshape(flat, (*order.shape, subtopics))


def greedy_order(relevant: Array, kept: float, depth: int) -> tuple[Array, Array]:
    """Return the gains of the greedy ideal, [Q, depth], and which columns it takes, [Q, depth].

    `relevant` [Q, B, S] is 1 where a document is relevant to a subtopic, else 0. At each rank the document of the
    largest gain comes next; its gain is Σ over its subtopics of kept^(how often that subtopic was seen above).
    """
    xp, device = namespace(relevant), device_of(relevant)
    worth = xp.ones_like(relevant[:, 0, :])
    left = xp.any(relevant > 0, axis=2)
    most = int(xp.max(xp.sum(xp.astype(left, xp.int64), axis=1)))
    column = xp.broadcast_to(xp.arange(relevant.shape[1], device=device), left.shape)
    row = xp.arange(relevant.shape[0], device=device)
    gains: list[Array] = []
    taken: list[Array] = []
    for step in range(depth):
        if 0 < 2 * (most - step) <= relevant.shape[1]:  # documents that a query may have left
            order = xp.argsort(xp.astype(~left, xp.int8), axis=1, stable=True)[:, : most - step]
            relevant, left, column = take_documents(relevant, order), take_rows(left, order), take_rows(column, order)
        gain = xp.where(left, (relevant @ worth[:, :, None])[:, :, 0], 0.0)
        highest = xp.max(gain, axis=1, keepdims=True)
        if gains and not is_any(highest[:, 0] > NOTHING * gains[0]):
            break
        pick = xp.argmax(xp.astype(left & (gain >= highest * (1 - NEAR)), relevant.dtype), axis=1)
        chosen = xp.where(left[row, pick][:, None], take_documents(relevant, pick[:, None])[:, 0, :], 0.0)
        gains.append(sum_rows(chosen * worth))  # in order, so that padding changes no digit
        taken.append(column[row, pick])
        worth = xp.where(chosen > 0, kept * worth, worth)
        left = left & (column != taken[-1][:, None])
    return xp.stack(gains, axis=1), xp.stack(taken, axis=1)


def number_kinds(entries: Array) -> Array:
    """Return [Q, H]: a whole number for each distinct vector of entries [Q, H, E]; 0 for those that are all 0."""
    xp = namespace(entries)
    number = xp.zeros_like(entries[:, :, 0])
    for e in range(entries.shape[2]):
        values = _rank_distinct(entries[:, :, e])
        number = _rank_distinct(number * (xp.max(values) + 1) + values)
    return xp.astype(xp.where(xp.any(entries != 0, axis=2), number + 1, 0.0), xp.int64)


def _rank_distinct(x: Array) -> Array:
    """Return the place of each number among the distinct ones, from 0 on."""
    xp = namespace(x)
    flat = xp.reshape(x, (-1,))
    ordered = xp.sort(flat)
    distinct = xp.concat([ordered[:1], ordered[1:][ordered[1:] != ordered[:-1]]])
    return xp.reshape(xp.astype(xp.searchsorted(distinct, flat), x.dtype), x.shape)
