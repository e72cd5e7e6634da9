"""Lambdas: the gradients by which gradient boosting learns to rank by a measure, averaged over all orders of ties.

For two documents of a query with labels y_i > y_j, and scores s_i and s_j,

    ρ = 1 / (1 + exp(σ(s_i - s_j)))      λ = σ·ρ·E|Δ|      h = σ²·ρ·(1 - ρ)·E|Δ|

λ pulls i up and j down, h is the second derivative, and E|Δ| is by how much the measure changes when the two trade
places, as a mean over all orders of tied documents. Burges, From RankNet to LambdaRank to LambdaMART (2010), has |Δ|
in one order; at the first iteration all scores tie, and then the order of the rows decides what is learned.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gradely.errors import DataError, NotFinite
from gradely.kernel.backend import check_unmasked, device_of, namespace
from gradely.kernel.batch import Array
from gradely.kernel.from_arrays import rank_documents
from gradely.kernel.gains import is_number
from gradely.kernel.levels import Levels
from gradely.learning.blocks import Block, Floats, blocks_of, rows_at_a_time
from gradely.learning.lookup import reorder
from gradely.learning.places import places_of
from gradely.learning.swaps import Swaps, check, swaps_of
from gradely.measures import Measure
from gradely.measures.names import MeasureLike, parse
from gradely.threads import keep_freed


def lambdas(
    scores: ArrayLike,
    labels: ArrayLike,
    measure: MeasureLike = "nDCG",
    *,
    group: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    sigma: float = 1.0,
    truncation: int | None = 30,
) -> tuple[Floats, Floats]:
    """Return the gradient and the second derivative of each row's score, for learning to rank by a measure.

    `scores` and `labels` have one row per document. `group` lists the sizes of consecutive queries; `qid` has an id for
    each row instead, in any order. Of two documents, the upper one must stand in the top `truncation` for the two to
    count, or the cost grows with the square of the longest query; None counts all pairs. Where scores tie, everything
    is the mean over all orders, so the order of rows within a query changes nothing.

    >>> gradient, hessian = lambdas([0.0, 0.0], [1, 0], "nDCG", group=[2])
    >>> gradient.tolist() == [-(1 - 1 / np.log2(3)) / 2, (1 - 1 / np.log2(3)) / 2]
    True
    """
    return Lambdas(labels, measure, group=group, qid=qid, sigma=sigma, truncation=truncation)(scores)


class Lambdas:
    """Lambdas of one set of labels, for scores that change: what does not depend on them is computed once."""

    def __init__(
        self,
        labels: ArrayLike,
        measure: MeasureLike = "nDCG",
        *,
        group: ArrayLike | None = None,
        qid: ArrayLike | None = None,
        sigma: float = 1.0,
        truncation: int | None = 30,
    ) -> None:
        """Take labels, one per row, and how rows belong to queries."""
        check_options(sigma, truncation)
        self.sigma, self.truncation = float(sigma), truncation
        self.labels = _finite("labels", labels)
        self.measure = fit(measure, self.labels)
        blocks = blocks_of(self.labels, group, qid, truncation)
        self.blocks = [(block, self._swaps(block)) for block in blocks]

    def _swaps(self, block: Block) -> Swaps:
        descending = -np.arange(block.row.shape[1], dtype=np.float64)
        scores = np.broadcast_to(descending, block.row.shape)
        batch = rank_documents(scores, self.labels[block.row], block.real, "expected")
        try:  # of what is too large for a number there is no change, either
            self.measure.compute(batch)
        except NotFinite as error:
            raise NotFinite(error.measure, int(block.row[error.row, 0]), error.label) from None
        return swaps_of(self.measure, batch)

    def __call__(self, scores: ArrayLike) -> tuple[Floats, Floats]:
        """Return the gradient and the second derivative at some scores."""
        values = _finite("scores", scores)
        if values.shape != self.labels.shape:
            raise DataError(f"there are {len(self.labels)} labels; found scores of the shape {values.shape}")
        gradient, hessian = np.zeros_like(values), np.zeros_like(values)
        # On one thread: threads made for each call take new memory, whose pages cost more than the work is worth.
        keep_freed()
        for block, swaps in self.blocks:
            first, second = _of_block(values[block.row], block, swaps, self.sigma, self.truncation)
            gradient[block.row[block.real]], hessian[block.row[block.real]] = first[block.real], second[block.real]
        return gradient, hessian


def fit(measure: MeasureLike, labels: Array) -> Measure:
    """Return the measure with what it takes from the collection settled; refuse one that cannot be learned."""
    parsed = parse(measure)
    check(parsed)
    return parsed.fit(Levels(labels))


def check_options(sigma: Any, truncation: Any) -> None:
    """Refuse a slope or a truncation that makes no sense."""
    if not is_number(sigma) or sigma <= 0:
        raise DataError(f"sigma is the slope of the logistic function, a number above 0; found {sigma!r}")
    if truncation is not None and (not is_number(truncation) or truncation < 1 or truncation != int(truncation)):
        raise DataError(f"truncation is a whole number of at least 1, or None for all pairs; found {truncation!r}")


def _finite(name: str, x: ArrayLike) -> Floats:
    check_unmasked(**{name: x})
    values = np.asarray(x, dtype=np.float64)
    if values.ndim != 1:
        raise DataError(f"{name} must have one dimension, one row per document; found the shape {values.shape}")
    if not np.all(np.isfinite(values)):
        raise DataError(f"{name} hold a NaN or an infinite number; replace it")
    return values


def _of_block(
    scores: Floats, block: Block, swaps: Swaps, sigma: float, truncation: int | None
) -> tuple[Floats, Floats]:
    """Return [Q, n] gradient and second derivative of a block of queries."""
    order = np.argsort(np.where(block.real, -scores, np.inf), axis=1, kind="stable")
    scores = np.where(block.real, reorder(scores, order), 0.0)
    places = places_of(scores, block.real, truncation)
    pairs = Pairs(scores, block.real, reorder(swaps.worth, order), sigma)
    change = swaps.changes(places, order)
    width, upper = places.width, int(np.max(np.sum(block.real & (places.start < places.truncation), axis=1)))
    gradient, hessian = np.zeros_like(scores), np.zeros_like(scores)
    step = rows_at_a_time(width, truncation)
    for i in range(0, upper, step):
        rows = slice(i, min(i + step, upper))
        pull, bend = pairs.pulls(rows, change(rows))
        gradient -= pull.sum(axis=1)
        hessian += bend.sum(axis=1)
        gradient[:, rows] += pull.sum(axis=2)
        hessian[:, rows] += bend.sum(axis=2)
    back = np.argsort(order, axis=1, kind="stable")
    return reorder(gradient, back), reorder(hessian, back)


class Pairs(NamedTuple):
    """Pairs of documents that stand in the order of their scores."""

    scores: Array
    real: Array
    worth: Array
    sigma: float

    def mask_pairs(self, rows: slice, change: Array) -> Array:
        """Return the change [Q, columns, n] of some columns and those below them; 0 for the others and for padding."""
        xp = namespace(self.scores)
        column = xp.arange(self.scores.shape[1], device=device_of(self.scores))
        return xp.where((column > column[rows, None]) & self.real[:, None, :], change, 0.0)

    def pulls(self, rows: slice, change: Array) -> tuple[Array, Array]:
        """Return [Q, columns, n]: the derivative by the score of the upper document, and the second derivative.

        The upper score is the higher, so e = exp(-σ·difference) cannot overflow; ρ is e/(1+e) where the upper document
        is the better one, and 1/(1+e) where the lower is.
        """
        xp = namespace(self.scores)
        change = self.mask_pairs(rows, change)
        e = xp.exp(-self.sigma * xp.abs(self.scores[:, rows, None] - self.scores[:, None, :]))
        inverse = self.sigma / (1 + e)
        change = change * inverse
        better = self.worth[:, rows, None] > self.worth[:, None, :]
        return xp.where(better, -e, 1.0) * change, e * inverse * change
