"""The five families: what each judged document adds to a measure, as a mean over all orders of tied documents.

Every function returns an array [Q, H]; a measure is the sum of a row over a norm. If every tie group has one document,
the mean is the textbook formula, so there is one formula per family, not one per measure and tie policy. Batches of
fixed shape compute the same sums by rank: see by_place.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from gradely.kernel import by_place
from gradely.kernel.backend import running_sum, sum_rows
from gradely.kernel.batch import Array, Batch
from gradely.kernel.cascades import cascade_groups
from gradely.kernel.ties import (
    Discount,
    count_within,
    divisors,
    sum_around,
    sum_in_group,
    sum_over_places,
    up_to_column,
)

Credit: TypeAlias = Callable[[Array, Array], Array]
"""Takes y and a; returns the sum over u < y of the credit of a relevant document below a + u opposed ones."""


def rank_discount(_: Batch, rank: Array) -> Array:
    """Return the rank i itself: a gain there is divided by i."""
    return rank


def no_discount(batch: Batch, rank: Array) -> Array:
    """Return 1 for every rank: no gain is discounted."""
    return batch.xp.ones_like(rank)


def count_in_top(batch: Batch, flag: Array, k: int | Array | None) -> Array:
    """Return, for each flagged document, the probability that it is in the top k; 0 for other documents.

    This is the share of the places of its tie group that are in the top k.
    """
    if batch.by_place:
        return by_place.count_in_top(batch, flag, k)
    if batch.untied:
        all_count = k is None or (isinstance(k, int) and k >= batch.depth)
        return batch.to_real(flag if all_count else flag & (batch.above < k))
    return batch.to_real(flag) * count_within(batch, k) / batch.size


def additive(batch: Batch, gain: Array, discount: Discount, k: int | None) -> Array:
    """Return gain over discount, the mean over the places that a document can take; 0 below place k.

    The gain of an untied document is divided directly, so no digit differs from the plain measure. If the batch is
    computed by place, the document is a group like any other, and the last digit may differ.
    """
    if batch.by_place:
        return by_place.additive(batch, gain, discount, k)
    alone = batch.keep_top(gain / divisors(batch, discount)[batch.above], k)
    if batch.untied:
        return alone
    shared = gain * sum_over_places(batch, discount, k) / batch.size
    return batch.xp.where(batch.tied == 1, alone, shared)


class PlaceSums(NamedTuple):
    """Σ w_i and Σ (i-t-1)·w_i over the places i <= k of each document's tie group, which has t documents above it."""

    weight: Array
    offset: Array


def harmonics(batch: Batch, k: int | None) -> PlaceSums:
    """Return both sums for w_i = 1/i."""
    h = sum_over_places(batch, rank_discount, k)
    return PlaceSums(h, count_within(batch, k) - batch.rank * h)


def threshold(
    batch: Batch,
    relevant: Array,
    k: int | None,
    places: PlaceSums | None = None,
    *,
    value: Array | None = None,
    divisor: Array | None = None,
) -> Array:
    """Return, for each relevant document, the sum of the values down to it, times a weight of its place.

    By default, relevant documents have the value 1, others 0, and the weight is 1/i: the result is the precision at the
    document, its term in the numerator of average precision. `divisor` is 1/w at the best place of each document, and
    `places` holds the sums of w over the places of its group. For a relevant document of value v in a group of n whose
    values sum to V, below documents whose values sum to S, the mean is
    1/n · [(S+v)·Σ w_i + (V-v)/(n-1)·Σ (i-t-1)·w_i].
    """
    xp, x = batch.xp, batch.to_real(relevant)
    divisor = batch.rank if divisor is None else divisor
    if batch.untied:
        return batch.keep_top(x * up_to_column(batch, relevant if value is None else value) / divisor, k)
    above, among = sum_around(batch, relevant if value is None else value)
    value = x if value is None else value
    upto = above + value
    places = places or harmonics(batch, k)
    shared = (among - value) / xp.clip(batch.size - 1, min=1.0)
    shared *= places.offset
    shared += upto * places.weight
    shared *= x
    shared /= batch.size
    return shared if batch.fixed else xp.where(batch.tied == 1, batch.keep_top(x * upto / divisor, k), shared)


def mean_threshold(batch: Batch, chance: Array, k: int | None) -> Array:
    """Return the mean of the terms of `threshold` if documents are relevant independently, with these probabilities.

    The terms are products over different documents. Their mean is the same formula, with probabilities for the flags of
    the document, of those above it and of the others in its tie group. The document counts itself with 1, not with its
    probability, since its term is 0 unless it is relevant.
    """
    above, among = sum_around(batch, chance)
    alone = batch.keep_top(chance * (above + 1) / batch.rank, k)
    if batch.untied:
        return alone
    places, beside = harmonics(batch, k), (among - chance) / batch.xp.clip(batch.size - 1, min=1.0)
    shared = chance * ((above + 1) * places.weight + beside * places.offset) / batch.size
    return batch.xp.where(batch.tied == 1, alone, shared)


def precisions(batch: Batch, relevant: Array, k: int | None) -> Array:
    """Return the terms of the numerator of average precision, by document or by place."""
    return by_place.threshold(batch, relevant, k) if batch.by_place else threshold(batch, relevant, k)


def first_hit(batch: Batch, relevant: Array, discount: Discount, k: int | None) -> Array:
    """Return 1 over the discount at the first relevant document.

    Only the first tie group with a relevant document matters; its relevant documents share the value equally.
    """
    xp = batch.xp
    if batch.by_place:
        return by_place.first_hit(batch, relevant, discount, k)
    if batch.untied:
        leads = relevant & (running_sum(relevant, batch.first.dtype) == 1)
        return additive(batch, batch.to_real(leads), discount, k)
    leading = xp.argmax(batch.to_real(relevant), axis=1, keepdims=True)
    leads = relevant & (batch.first == batch.first[batch.row, leading])
    r = xp.clip(xp.sum(batch.to_real(leads), axis=1, keepdims=True), min=1.0)
    return xp.where(leads, _first_of_group(batch, leads, r, discount, k) / r, 0.0)


def _first_of_group(batch: Batch, leads: Array, r: Array, discount: Discount, k: int | None) -> Array:
    """Return [Q, 1]: the mean of 1/discount at the first of the r relevant documents among the n of the group.

    This document is number x of the group with probability Π_{j<x} (1 - r/(n-j+1)) · r/(n-x+1).
    """
    xp = batch.xp
    t = xp.min(xp.where(leads, batch.above, batch.depth), axis=1, keepdims=True)
    n = xp.max(xp.where(leads, batch.tied, 1), axis=1, keepdims=True)
    reach = max(1, min(int(xp.max(batch.to_real(n) - r)) + 1, k or batch.depth))
    j = xp.arange(reach, dtype=n.dtype, device=batch.device)[None, :]
    remaining = batch.to_real(xp.clip(n - j, min=1))
    missed = xp.cumulative_prod(xp.clip(remaining - r, min=0.0) / remaining, axis=1, include_initial=True)[:, :-1]
    inverse = 1.0 / divisors(batch, discount)[xp.clip(t + j, max=batch.depth - 1)]
    inside = (j < n) & (t + j < (k or batch.depth))
    return sum_rows(xp.where(inside, missed * xp.clip(r / remaining, max=1.0) * inverse, 0.0))[:, None]


def cascade(batch: Batch, stop: Array, discount: Discount, k: int | None) -> Array:
    """Return, for each document, the mean gain there of a user who reads down and stops with probability `stop`.

    The gain at a document where the user stops is 1/discount. The documents of a tie group share its gain in proportion
    to `stop`.
    """
    xp = batch.xp
    reached = xp.cumulative_prod(1.0 - stop, axis=1, include_initial=True)
    alone = batch.keep_top(reached[:, :-1] * stop / divisors(batch, discount)[batch.above], k)
    if batch.untied:
        return alone
    every = sum_in_group(batch, stop)
    share = reached[batch.row, batch.first] * stop / xp.where(every > 0, every, 1.0)
    return xp.where(batch.tied == 1, alone, share * cascade_groups(batch, stop, discount, k))


class Opposition(NamedTuple):
    """The number of documents opposed to each relevant one, [Q, H]."""

    over: Array
    """above its tie group"""
    special: Array
    """in its tie group, plus 1"""


def preference(batch: Batch, relevant: Array, against: Opposition, credit: Credit, k: int | None) -> Array:
    """Return the credit of each relevant document, which depends on the number of opposed documents above it.

    If n' opposed documents are in its tie group and a' above it, that number is a' + u, with u uniform on 0 … n'.
    `credit(y, a')` is the sum over u < y.
    """
    xp = batch.xp
    mean = credit(against.special, against.over) / against.special
    if k is not None:
        inside = count_within(batch, k)
        cut = relevant & (inside > 0) & (inside < batch.size)
        mean = xp.where(inside > 0, mean, 0.0)
        mean = mean if batch.untied else xp.where(cut, _cut_credit(batch, cut, inside, against, credit), mean)
    return batch.to_real(relevant) * mean


def _cut_credit(batch: Batch, cut: Array, inside: Array, against: Opposition, credit: Credit) -> Array:
    """Return [Q, 1]: the mean credit of a relevant document in the tie group that the cut-off splits.

    The document and the n' opposed ones take y of the places inside the cut-off; y has a hypergeometric distribution.
    If u opposed documents are above it, the document is inside for u < y.
    """
    xp = batch.xp
    n, d, c, a = (
        xp.max(xp.where(cut, v, 0.0), axis=1, keepdims=True)
        for v in (batch.size, inside, against.special, against.over)
    )
    most = batch.depth + 1 if batch.fixed else int(xp.max(c))
    y = xp.arange(most + 1, dtype=c.dtype, device=batch.device)[None, :]
    lowest, highest = xp.maximum(d - (n - c), xp.zeros_like(d)), xp.minimum(c, d)
    rises = (y >= lowest) & (y < highest)
    ratio = xp.where(rises, (c - y) * (d - y), 1.0) / xp.where(rises, (y + 1) * (n - c - d + y + 1), 1.0)
    log = xp.cumulative_sum(xp.log(ratio), axis=1, include_initial=True)[:, :-1]
    chance = xp.where((y >= lowest) & (y <= highest), xp.exp(log - xp.max(log, axis=1, keepdims=True)), 0.0)
    mean = sum_rows(chance * credit(y, a)) / sum_rows(chance)
    return mean[:, None] / xp.maximum(c, xp.ones_like(c))


class LowerSums(NamedTuple):
    """The number of documents of lower levels than each document, and a sum over them, all [Q, H]."""

    above: Array
    """the sum over those above its tie group"""
    above_count: Array
    beside: Array
    """the sum over those in its tie group"""
    beside_count: Array


def lower_levels(batch: Batch, level: Array, x: Array, levels: int) -> LowerSums:
    """Return the number of documents of a lower level, and the sum of x over them.

    `level` holds whole numbers from 0 to `levels`. Of two different levels, the lower one has a 0 at the highest binary
    digit in which they differ. So for each digit, from the highest, documents with the same higher digits are put next
    to each other, and those with a 1 count those with a 0.
    """
    sums = [batch.xp.zeros_like(x) for _ in LowerSums._fields]
    for digit in range(levels.bit_length() - 1, -1, -1):
        counts = _by_digit(batch, level, x, digit)
        sums = [a + b for a, b in zip(sums, counts, strict=True)]
    return LowerSums(*sums)


def _by_digit(batch: Batch, level: Array, x: Array, digit: int) -> list[Array]:
    """Return the four fields of LowerSums over documents with the same higher digits and a 0 at this one."""
    xp, width = batch.xp, level.shape[1]

    def digits_from(by: int) -> Array:
        return level // (1 << by)

    alike = digits_from(digit + 1) * (width + 1)
    one = digits_from(digit) % 2 == 1
    key = alike + batch.first
    order = xp.argsort(key, axis=1, stable=True)
    span = (int(xp.max(alike)) + width + 1) * batch.row  # puts the keys of a row above those of the rows before it
    ordered = xp.reshape(key[batch.row, order] + span, (-1,))
    zero = ~one[batch.row, order]
    running = [
        xp.cumulative_sum(weight, axis=1, include_initial=True)
        for weight in (xp.where(zero, x[batch.row, order], 0.0), batch.to_real(zero))
    ]

    def place(key: Array) -> Array:
        """Return the number of documents of the row with a smaller key."""
        flat = xp.searchsorted(ordered, xp.reshape(key + span, (-1,)), side="left")
        return xp.astype(xp.reshape(flat, key.shape), batch.first.dtype) - width * batch.row

    start, first, last = place(alike), place(key), place(alike + batch.last)
    return [
        xp.where(one, sums[batch.row, stop] - sums[batch.row, begin], 0.0)
        for begin, stop in ((start, first), (first, last))
        for sums in running
    ]
