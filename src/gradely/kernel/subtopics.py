"""Subtopics: labels of documents by subtopic, and the greedy ideal ranking of α-nDCG."""

from typing import Any, NamedTuple, TypeAlias

from gradely.kernel.backend import device_of, is_any, namespace, sum_rows, take_rows

Array: TypeAlias = Any


class Subtopics(NamedTuple):
    """The labels by subtopic of a Batch; minus infinity if a document is not judged for a subtopic."""

    labels: Array
    """[Q, H, S] labels of the judged documents that were retrieved"""
    pool: Array
    """[Q, B, S] labels of all judged documents; if two have the same gain, the greedy ideal takes the first"""
    weights: Array | None = None
    """[Q, S] the probability that a user means each subtopic; None if the judgments do not state it"""

    def rows(self, part: slice) -> "Subtopics":
        """Return the labels of some queries."""
        weights = None if self.weights is None else self.weights[part]
        return Subtopics(self.labels[part], self.pool[part], weights)

    def columns(self, width: int) -> "Subtopics":
        """Return the subtopics with only the first columns of retrieved documents."""
        return self._replace(labels=self.labels[:, :width])

    def reorder(self, order: Array) -> "Subtopics":
        """Return the subtopics with the retrieved documents of each row in another order."""
        return self._replace(labels=take_documents(self.labels, order))


def take_documents(x: Array, order: Array) -> Array:
    """Return [Q, N, S]: the documents in the columns `order` [Q, N] of each row of x [Q, B, S]."""
    xp, (queries, width, subtopics) = namespace(x), x.shape
    at = order + width * xp.arange(queries, dtype=order.dtype, device=device_of(x))[:, None]
    flat = xp.take(xp.reshape(x, (queries * width, subtopics)), xp.reshape(at, (-1,)), axis=0)
    return xp.reshape(flat, (*order.shape, subtopics))


def greedy_order(relevant: Array, kept: float, depth: int) -> tuple[Array, Array]:
    """Return the gains of the greedy ideal ranking, and its documents by column; both have at most `depth` ranks.

    `relevant` [Q, B, S] is 1 if a document is relevant to a subtopic, else 0. Each rank takes the document with the
    largest gain: Σ over its subtopics of kept^(number of documents above with this subtopic).
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
        if 0 < 2 * (most - step) <= relevant.shape[1]:  # at most half of the columns are still left: drop the others
            order = xp.argsort(xp.astype(~left, xp.int8), axis=1, stable=True)[:, : most - step]
            relevant, left, column = take_documents(relevant, order), take_rows(left, order), take_rows(column, order)
        gain = xp.where(left, (relevant @ worth[:, :, None])[:, :, 0], 0.0)
        highest = xp.max(gain, axis=1, keepdims=True)
        if gains and not is_any(highest[:, 0] > 1e-18 * gains[0]):  # others are lost in rounding
            break
        # rounding must not decide which document comes first
        pick = xp.argmax(xp.astype(left & (gain >= highest * (1 - 1e-12)), relevant.dtype), axis=1)
        chosen = xp.where(left[row, pick][:, None], take_documents(relevant, pick[:, None])[:, 0, :], 0.0)
        gains.append(sum_rows(chosen * worth))  # in order, so that padding changes no digit
        taken.append(column[row, pick])
        worth = xp.where(chosen > 0, kept * worth, worth)
        left = left & (column != taken[-1][:, None])
    return xp.stack(gains, axis=1), xp.stack(taken, axis=1)


def number_kinds(entries: Array) -> Array:
    """Return [Q, H]: a number for each distinct vector of entries [Q, H, E]; 0 for the vector of zeros."""
    xp = namespace(entries)
    number = xp.zeros_like(entries[:, :, 0])
    for e in range(entries.shape[2]):
        values = _rank_distinct(entries[:, :, e])
        number = _rank_distinct(number * (xp.max(values) + 1) + values)
    return xp.astype(xp.where(xp.any(entries != 0, axis=2), number + 1, 0.0), xp.int64)


def _rank_distinct(x: Array) -> Array:
    """Return the index of each number among the sorted distinct numbers."""
    xp = namespace(x)
    flat = xp.reshape(x, (-1,))
    ordered = xp.sort(flat)
    distinct = xp.concat([ordered[:1], ordered[1:][ordered[1:] != ordered[:-1]]])
    return xp.reshape(xp.astype(xp.searchsorted(distinct, flat), x.dtype), x.shape)
