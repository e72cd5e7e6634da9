"""Values of trec_eval that are not measures of the library, each from a Batch without ties to one number per query.

Numbers are added, multiplied and divided in trec_eval's order, so that no digit differs.
"""

from collections.abc import Callable, Sequence
from math import log
from typing import TypeAlias

import numpy as np

from gradely.kernel.backend import sum_rows
from gradely.kernel.batch import Array, Batch
from gradely.kernel.families import count_in_top
from gradely.measures import AP, IPrec, P, R
from gradely.measures.iprec import ROUNDING, best_precision
from gradely.trec_eval.options import IMPOSSIBLE, Options, Quit

Value: TypeAlias = Callable[[Batch], Array]
"""what a column is of each query; those below are values once their other arguments are given"""
DEEPEST = 2.0**53
"""no ranking is as long"""
LEAST = -(2.0**63)
"""the least whole number of C, which becomes of what is none or too large"""


def num_ret(batch: Batch) -> Array:
    """Return how many documents are retrieved."""
    return batch.to_real(batch.retrieved)


def num_rel(batch: Batch, options: Options) -> Array:
    """Return how many documents of the pool are relevant."""
    return P(rel=options.level).recall_base(batch)


def num_rel_ret(batch: Batch, options: Options) -> Array:
    """Return how many relevant documents are retrieved."""
    return sum_rows(batch.to_real(P(rel=options.level).relevant(batch)))


def num_nonrel_judged_ret(batch: Batch, options: Options) -> Array:
    """Return how many judged documents are retrieved that are not relevant."""
    return sum_rows(batch.to_real(batch.judged & (batch.grade >= 0) & (batch.grade < options.level)))


def to_c_integer(number: Array) -> Array:
    """Return whole numbers as C has them: what is not finite, or too large for them, becomes the least."""
    return np.where(np.abs(number) < -LEAST, number, LEAST)


def quotient(above: Array, below: Array) -> Array:
    """Return a quotient, 0 where there is nothing to divide by."""
    return np.where(below != 0, above / np.where(below != 0, below, 1.0), 0.0)


def set_map(batch: Batch, options: Options) -> Array:
    """Return recall times precision of the retrieved set."""
    relevant_retrieved = num_rel_ret(batch, options)
    return quotient(relevant_retrieved * relevant_retrieved, num_ret(batch) * num_rel(batch, options))


def set_F(batch: Batch, options: Options, numbers: Sequence[float]) -> Array:
    """Return the weighted harmonic mean of recall and precision of the retrieved set."""
    x, p, r = numbers[0], P(rel=options.level).compute(batch), R(rel=options.level).compute(batch)
    return np.where(p > 0, (x + 1.0) * p * r / np.where(p > 0, x * p + r, 1.0), 0.0)


def utility(batch: Batch, options: Options, numbers: Sequence[float]) -> Array:
    """Return what the retrieved set is worth."""
    if len(numbers) != 4:
        raise Quit(IMPOSSIBLE, f"-m utility takes four parameters, as in utility.1,-1,0,0; found {len(numbers)}")
    a, b, c, d = numbers
    relevant_retrieved, retrieved, relevant = num_rel_ret(batch, options), num_ret(batch), num_rel(batch, options)
    rest = options.size + relevant_retrieved - retrieved - relevant
    missed = relevant - relevant_retrieved
    return a * relevant_retrieved + b * (retrieved - relevant_retrieved) + c * missed + d * rest


def yaap(batch: Batch, options: Options) -> Array:
    """Return Robertson's smoothed average precision."""
    precisions = sum_rows(AP(rel=options.level).terms(batch))
    odds = (1.0 + precisions) / (1.0 + num_rel(batch, options) - precisions)
    return np.array([log(ratio) for ratio in odds.tolist()])


def Rprec_mult(batch: Batch, options: Options, number: float, later: tuple[float, ...]) -> Array:
    """Return the precision after some times as many documents as there are relevant ones.

    trec_eval walks up the ranking with the last multiple first, and waits for one that is too large for ever.
    """
    depth, waits = _needs(batch, options, number, later, "up")
    depth = np.clip(np.where(waits, 0, depth), 0, DEEPEST)
    inside = count_in_top(batch, P(rel=options.level).relevant(batch), depth.astype(np.int64)[:, None])
    return quotient(sum_rows(inside), depth)


def _needs(
    batch: Batch, options: Options, share: float, later: tuple[float, ...], rounding: str
) -> tuple[Array, Array]:
    """Return how many documents a share of the relevant ones is, and whether a later share is too large a number."""
    relevant = num_rel(batch, options)
    needed = [to_c_integer(ROUNDING[rounding](batch, number * relevant)) for number in (share, *later)]
    return needed[0], np.any(np.stack(needed[1:] or [np.zeros_like(relevant)]) == LEAST, axis=0)


def iprec_at_recall(batch: Batch, options: Options, number: float, later: tuple[float, ...]) -> Array:
    """Return the interpolated precision at a level of recall, which need not lie between 0 and 1.

    trec_eval walks up the ranking with the last level first, and to its top for one that is too large a number.
    """
    needed, waits = _needs(batch, options, number, later, options.rounding)
    relevant = IPrec(rel=options.level).relevant(batch)
    return sum_rows(best_precision(batch, relevant, np.where(waits, LEAST, needed), None))


def eleven_points(batch: Batch, options: Options, numbers: Sequence[float]) -> Array:
    """Return the mean of interpolated precision over levels of recall.

    trec_eval walks up the ranking with the last level first. A level that needs more relevant documents than one after
    it has been walked past: from there on it takes the best precision of all.
    """
    relevant_retrieved, relevant = num_rel_ret(batch, options), num_rel(batch, options)
    best = iprec_at_recall(batch, options, 0.0, ())
    remaining, out_of_reach = relevant_retrieved, np.ones_like(relevant_retrieved, bool)
    passed, added = ~out_of_reach, np.zeros_like(relevant_retrieved)
    for recall in reversed(numbers):
        needed = to_c_integer(ROUNDING[options.rounding](batch, recall * relevant))
        out_of_reach = out_of_reach & (needed > relevant_retrieved)
        passed = passed | ~out_of_reach & ((needed > remaining) | (needed <= 0))
        value_at = np.where(passed, best, iprec_at_recall(batch, options, recall, ()))
        added = added + np.where(out_of_reach, 0.0, value_at)
        remaining = needed
    return added / len(numbers)
