"""Values of trec_eval that are not measures of the library, each from a Batch without ties to one number per query.

Numbers are added, multiplied and divided in trec_eval's order, so that no digit differs.
"""

from collections.abc import Callable
from math import log
from typing import TypeAlias

import numpy as np

from gradely.kernel.backend import sum_rows
from gradely.kernel.batch import Array, Batch
from gradely.kernel.families import count_in_top
from gradely.measures import AP, IPrec, P, R
from gradely.measures.iprec import ROUNDING, best_precision

Value: TypeAlias = Callable[[Batch], Array]
DEEPEST = 2.0**53
"""no ranking is as long"""
LEAST = -(2.0**63)
"""the least whole number of C, which becomes of what is none or too large"""


def num_ret(batch: Batch) -> Array:
    """Return how many documents are retrieved."""
    return batch.to_real(batch.retrieved)


def num_rel(level: int) -> Value:
    """Return how many documents of the pool are relevant."""
    return P(rel=level).recall_base


def num_rel_ret(level: int) -> Value:
    """Return how many relevant documents are retrieved."""
    return lambda batch: sum_rows(batch.to_real(P(rel=level).relevant(batch)))


def num_nonrel_judged_ret(level: int) -> Value:
    """Return how many judged documents are retrieved that are not relevant."""
    return lambda batch: sum_rows(batch.to_real(batch.judged & (batch.grade >= 0) & (batch.grade < level)))


def to_c_integer(number: Array) -> Array:
    """Return whole numbers as C has them: what is not finite, or too large for them, becomes the least."""
    return np.where(np.abs(number) < -LEAST, number, LEAST)


def quotient(above: Array, below: Array) -> Array:
    """Return a quotient, 0 where there is nothing to divide by."""
    return np.where(below != 0, above / np.where(below != 0, below, 1.0), 0.0)


def set_map(level: int) -> Value:
    """Return recall times precision of the retrieved set."""

    def value(batch: Batch) -> Array:
        relevant_retrieved = num_rel_ret(level)(batch)
        return quotient(relevant_retrieved * relevant_retrieved, num_ret(batch) * num_rel(level)(batch))

    return value


def set_F(level: int, x: float) -> Value:
    """Return the weighted harmonic mean of recall and precision of the retrieved set."""

    def value(batch: Batch) -> Array:
        p, r = P(rel=level).compute(batch), R(rel=level).compute(batch)
        return np.where(p > 0, (x + 1.0) * p * r / np.where(p > 0, x * p + r, 1.0), 0.0)

    return value


def utility(level: int, size: int, a: float, b: float, c: float, d: float) -> Value:
    """Return what the retrieved set is worth."""

    def value(batch: Batch) -> Array:
        relevant_retrieved, retrieved, relevant = num_rel_ret(level)(batch), num_ret(batch), num_rel(level)(batch)
        rest = size + relevant_retrieved - retrieved - relevant
        return (
            a * relevant_retrieved
            + b * (retrieved - relevant_retrieved)
            + c * (relevant - relevant_retrieved)
            + d * rest
        )

    return value


def yaap(level: int) -> Value:
    """Return Robertson's smoothed average precision."""

    def value(batch: Batch) -> Array:
        precisions = sum_rows(AP(rel=level).terms(batch))
        odds = (1.0 + precisions) / (1.0 + num_rel(level)(batch) - precisions)
        return np.array([log(ratio) for ratio in odds.tolist()])

    return value


def Rprec_mult(level: int, times: float, later: tuple[float, ...] = ()) -> Value:
    """Return the precision after some times as many documents as there are relevant ones.

    trec_eval walks up the ranking with the last multiple first, and waits for one that is too large for ever.
    """

    def value(batch: Batch) -> Array:
        depth, waits = _needs(batch, level, times, later, "up")
        depth = np.clip(np.where(waits, 0, depth), 0, DEEPEST)
        inside = count_in_top(batch, P(rel=level).relevant(batch), depth.astype(np.int64)[:, None])
        return quotient(sum_rows(inside), depth)

    return value


def _needs(batch: Batch, level: int, share: float, later: tuple[float, ...], rounding: str) -> tuple[Array, Array]:
    """Return how many documents a share of the relevant ones is, and whether a later share is too large a number."""
    relevant = num_rel(level)(batch)
    needed = [to_c_integer(ROUNDING[rounding](batch, number * relevant)) for number in (share, *later)]
    return needed[0], np.any(np.stack(needed[1:] or [np.zeros_like(relevant)]) == LEAST, axis=0)


def iprec_at_recall(level: int, recall: float, rounding: str, later: tuple[float, ...] = ()) -> Value:
    """Return the interpolated precision at a level of recall, which need not lie between 0 and 1.

    trec_eval walks up the ranking with the last level first, and to its top for one that is too large a number.
    """

    def value(batch: Batch) -> Array:
        needed, waits = _needs(batch, level, recall, later, rounding)
        return sum_rows(best_precision(batch, IPrec(rel=level).relevant(batch), np.where(waits, LEAST, needed), None))

    return value


def eleven_points(level: int, recalls: list[float], rounding: str) -> Value:
    """Return the mean of interpolated precision over levels of recall.

    trec_eval walks up the ranking with the last level first. A level that needs more relevant documents than one after
    it has been walked past: from there on it takes the best precision of all.
    """

    def value(batch: Batch) -> Array:
        relevant_retrieved, relevant = num_rel_ret(level)(batch), num_rel(level)(batch)
        best = iprec_at_recall(level, 0.0, rounding)(batch)
        remaining, out_of_reach = relevant_retrieved, np.ones_like(relevant_retrieved, bool)
        passed, added = ~out_of_reach, np.zeros_like(relevant_retrieved)
        for recall in reversed(recalls):
            needed = to_c_integer(ROUNDING[rounding](batch, recall * relevant))
            out_of_reach = out_of_reach & (needed > relevant_retrieved)
            passed = passed | ~out_of_reach & ((needed > remaining) | (needed <= 0))
            value_at = np.where(passed, best, iprec_at_recall(level, recall, rounding)(batch))
            added = added + np.where(out_of_reach, 0.0, value_at)
            remaining = needed
        return added / len(recalls)

    return value
