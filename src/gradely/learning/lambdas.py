"""Lambdas: the gradients with which gradient boosting optimises a measure, averaged over all orders of ties.

For two documents of a query with labels y_i > y_j, and scores s_i and s_j,

    ρ = 1 / (1 + exp(σ(s_i - s_j)))      λ = σ·ρ·E|Δ|      h = σ²·ρ·(1 - ρ)·E|Δ|

λ pulls i up and j down, h is the second derivative, and E|Δ| is the change of the measure when the two documents swap
places, as a mean over all orders of tied documents. Burges, From RankNet to LambdaRank to LambdaMART (2010), uses |Δ|
in a single order; as all scores tie at the first iteration, the order of the rows then decides what is learned.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradely.errors import DataError, NotFinite
from gradely.evaluation.arrays import evaluate_arrays
from gradely.evaluation.scores import means
from gradely.kernel.arrays import group_documents, rank_documents
from gradely.kernel.backend import check_unmasked, device_of, namespace
from gradely.kernel.batch import Array, Levels
from gradely.learning.places import places_of, reorder
from gradely.learning.swaps import Swaps, check, swaps_of
from gradely.measures import Measure
from gradely.measures.names import MeasureLike, parse
from gradely.parallel import keep_freed
from gradely.settings import is_number

CELLS = 1 << 17
"""approximate number of pairs of documents in a block, which fit into the processor's cache"""
Ints = NDArray[np.intp]
Floats = NDArray[np.float64]


class Block(NamedTuple):
    """Queries of similar length: the row of each document, and whether the document is real; padding comes last."""

    row: Ints
    real: NDArray[np.bool_]


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
    """Return the gradient and the second derivative for the score of each row, to learn to rank by a measure.

    `scores` and `labels` have one row per document. `group` lists the sizes of consecutive queries; alternatively,
    `qid` has the query of each row, in any order. A pair of documents counts only if its upper document is in the top
    `truncation`, since the cost would otherwise grow with the square of the longest query; None counts all pairs. Tied
    scores count as the mean over all orders, so the order of rows within a query does not matter.

    >>> gradient, hessian = lambdas([0.0, 0.0], [1, 0], "nDCG", group=[2])
    >>> gradient.tolist() == [-(1 - 1 / np.log2(3)) / 2, (1 - 1 / np.log2(3)) / 2]
    True
    """
    return Lambdas(labels, measure, group=group, qid=qid, sigma=sigma, truncation=truncation)(scores)


class Lambdas:
    """Lambdas for a fixed set of labels and changing scores; whatever depends on labels alone is computed once."""

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
        """Take labels, one per row, and the query of each row."""
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
        try:  # if values overflow, so do their changes
            self.measure.compute(batch)
        except NotFinite as error:
            raise NotFinite(error.measure, int(block.row[error.row, 0]), error.label) from None
        return swaps_of(self.measure, batch)

    def __call__(self, scores: ArrayLike) -> tuple[Floats, Floats]:
        """Return the gradient and the second derivative for the score of each row."""
        values = _finite("scores", scores)
        if values.shape != self.labels.shape:
            raise DataError(f"there are {len(self.labels)} labels; found scores of the shape {values.shape}")
        gradient, hessian = np.zeros_like(values), np.zeros_like(values)
        # on one thread, since new threads in each call allocate new memory, which costs more than they save
        keep_freed()
        for block, swaps in self.blocks:
            first, second = _of_block(values[block.row], block, swaps, self.sigma, self.truncation)
            gradient[block.row[block.real]], hessian[block.row[block.real]] = first[block.real], second[block.real]
        return gradient, hessian


def fit(measure: MeasureLike, labels: Array) -> Measure:
    """Return the measure fitted to the labels; refuse one whose swaps have no closed form."""
    parsed = parse(measure)
    check(parsed)
    return parsed.fit(Levels(labels))


def check_options(sigma: Any, truncation: Any) -> None:
    """Refuse an invalid slope or truncation."""
    if not is_number(sigma) or sigma <= 0:
        raise DataError(f"sigma, the slope of the logistic function, must be a number above 0; found {sigma!r}")
    if truncation is not None and (not is_number(truncation) or truncation < 1 or truncation != int(truncation)):
        raise DataError(f"truncation must be a whole number of at least 1, or None for all pairs; found {truncation!r}")


def _finite(name: str, x: ArrayLike) -> Floats:
    check_unmasked(**{name: x})
    values = np.asarray(x, dtype=np.float64)
    if values.ndim != 1:
        raise DataError(f"{name} must have one dimension, one row per document; found the shape {values.shape}")
    if not np.all(np.isfinite(values)):
        raise DataError(f"{name} contain NaN or an infinite number; replace it")
    return values


def _of_block(
    scores: Floats, block: Block, swaps: Swaps, sigma: float, truncation: int | None
) -> tuple[Floats, Floats]:
    """Return the gradient and the second derivative of a block of queries, [Q, n]."""
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
        pair_gradient, pair_hessian = pairs.derivatives(rows, change(rows))
        gradient -= pair_gradient.sum(axis=1)
        hessian += pair_hessian.sum(axis=1)
        gradient[:, rows] += pair_gradient.sum(axis=2)
        hessian[:, rows] += pair_hessian.sum(axis=2)
    back = np.argsort(order, axis=1, kind="stable")
    return reorder(gradient, back), reorder(hessian, back)


class Pairs(NamedTuple):
    """Pairs of documents, which are sorted by score."""

    scores: Array
    real: Array
    worth: Array
    sigma: float

    def mask_pairs(self, rows: slice, change: Array) -> Array:
        """Return the change [Q, columns, n] for pairs of a column and a later one, and 0 for others and for padding."""
        xp = namespace(self.scores)
        column = xp.arange(self.scores.shape[1], device=device_of(self.scores))
        return xp.where((column > column[rows, None]) & self.real[:, None, :], change, 0.0)

    def derivatives(self, rows: slice, change: Array) -> tuple[Array, Array]:
        """Return the first and second derivatives by the score of the upper document, [Q, columns, n].

        The upper document has the higher score, so e = exp(-σ·difference) cannot overflow. ρ is e/(1+e) if the upper
        document is the better one, and 1/(1+e) if the lower one is.
        """
        xp = namespace(self.scores)
        change = self.mask_pairs(rows, change)
        e = xp.exp(-self.sigma * xp.abs(self.scores[:, rows, None] - self.scores[:, None, :]))
        inverse = self.sigma / (1 + e)
        change = change * inverse
        better = self.worth[:, rows, None] > self.worth[:, None, :]
        return xp.where(better, -e, 1.0) * change, e * inverse * change


def blocks_of(
    labels: Floats, group: ArrayLike | None, qid: ArrayLike | None, truncation: int | None = None
) -> Iterator[Block]:
    """Yield the queries in blocks, with the documents of each query sorted by label in descending order.

    `group` and `qid` say which rows belong to a query, as in from_groups; they may be empty. Results depend neither on
    the order of rows, since documents are sorted by label, nor on other queries, since the width of a query's row
    depends on its own length alone.
    """
    queries = qid if group is None else group
    if not len(labels) and queries is not None and not np.size(queries):
        return
    _, _, order, starts, sizes = group_documents(labels, labels, group, qid, "expected", 0)
    order = np.arange(len(labels)) if order is None else order
    by_label = order[np.lexsort((-labels[order], np.repeat(np.arange(len(sizes)), sizes)))]
    widths = np.array([width_for(int(size)) for size in sizes], dtype=np.intp)
    for width in np.unique(widths[sizes > 0]):
        fitting = np.flatnonzero((widths == width) & (sizes > 0))
        step = max(1, CELLS // (int(width) * rows_at_a_time(int(width), truncation)))
        for i in range(0, len(fitting), step):
            rows = fitting[i : i + step, None]
            real = np.arange(width) < sizes[rows]
            at = starts[rows] + np.where(real, np.arange(width), 0)
            yield Block(by_label[at], real)


def rows_at_a_time(width: int, truncation: int | None) -> int:
    """Return how many columns to process as upper documents at a time."""
    return min(width, max(8, min(truncation or width, CELLS // width)))


def width_for(size: int) -> int:
    """Return the width of a query's row: a multiple of 8, and of an eighth of the next lower power of two.

    >>> [width_for(size) for size in (1, 8, 9, 100, 1000)]
    [8, 8, 16, 104, 1024]
    """
    step = max(8, 1 << max(0, size.bit_length() - 4))
    return -(-size // step) * step


class Objective:
    """Lambdas for labels that may change between calls; results that depend on labels alone are cached."""

    def __init__(self, measure: MeasureLike, sigma: float = 1.0, truncation: int | None = 30) -> None:
        """Take a measure and options; refuse invalid ones before training begins."""
        self.measure, self.sigma, self.truncation = parse(measure), sigma, truncation
        check(self.measure)
        check_options(sigma, truncation)
        self._kept: tuple[Any, Any, Lambdas] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the cache, which would store training data in saved models."""
        return vars(self) | {"_kept": None}

    def __call__(self, scores: Any, labels: Any, group: Any) -> tuple[Floats, Floats]:
        """Return the gradient and the second derivative for the score of each row."""
        if self._kept is None or not (np.array_equal(self._kept[0], labels) and np.array_equal(self._kept[1], group)):
            lambdas = Lambdas(labels, self.measure, group=group, sigma=self.sigma, truncation=self.truncation)
            self._kept = (np.array(labels), np.array(group), lambdas)
        return self._kept[2](scores)


def mean_values(
    scores: ArrayLike,
    labels: ArrayLike,
    measures: Sequence[Measure],
    *,
    group: ArrayLike | None = None,
    qid: ArrayLike | None = None,
) -> list[float]:
    """Return the mean of each measure over the queries, to the last digit independent of their order.

    Ties count as means over all orders.

    >>> import gradely
    >>> mean_values([0.9, 0.4, 0.4, 0.1], [0, 2, 1, 1], [gradely.RR()], group=[3, 1])
    [0.75]
    """
    check_unmasked(scores=scores, labels=labels)
    flat, truth = np.asarray(scores, dtype=np.float64).ravel(), np.asarray(labels, dtype=np.float64).ravel()
    if flat.shape != truth.shape:
        raise DataError(f"there are {len(truth)} labels and {len(flat)} scores; every row needs one of each")
    fitted = [measure.fit(Levels(truth)) for measure in measures]
    values: list[list[Floats]] = [[] for _ in measures]
    for block in blocks_of(truth, group, qid):
        by_name = evaluate_arrays(flat[block.row], truth[block.row], fitted, block.real, threads=1)
        for parts, measure in zip(values, fitted, strict=True):
            parts.append(by_name[str(measure)])
    return means(np.stack([np.concatenate(parts) for parts in values], axis=1)) if values[0] else [0.0] * len(values)
