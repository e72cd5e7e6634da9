"""The agreement of judges: confusion tables, Cohen's κ and Krippendorff's α, with bootstrap intervals over queries.

The bootstrap draws whole queries, since documents of the same query are not independent. Counts are kept by query and a
draw is a weighted sum of them, so one matrix product serves all draws.
"""

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np

from gradely.comparison.tests import draw_counts
from gradely.data.ids import Floats, Ints
from gradely.errors import DataError
from gradely.settings import check_choice

WEIGHTS = ("none", "linear", "quadratic")
"""weights of a disagreement: equal, the distance of the two labels, or its square"""
METRICS = ("ordinal", "nominal", "interval")
"""distances of two labels: the number of labels given between them, equal for all, or their difference"""
DRAWS = 1_000
"""the number of bootstrap draws for intervals"""
MOST_LABELS = 100
"""the most different labels: with more, nearly all cells of a confusion table would be empty"""


class Coefficient(float):
    """A coefficient of agreement, with the ends of its interval, which are None if there is no interval."""

    low: float | None
    high: float | None

    def __new__(cls, value: float, low: float | None = None, high: float | None = None) -> Self:
        """Take the value and its interval."""
        self = super().__new__(cls, value)
        self.low, self.high = low, high
        return self

    def __reduce__(self) -> tuple[type, tuple[float, float | None, float | None]]:
        """Return the constructor and its arguments, for copies and pickles."""
        return Coefficient, (float(self), self.low, self.high)


class AgreedPair(NamedTuple):
    """The agreement of two judges; undefined coefficients are None."""

    first: str
    second: str
    documents: int
    """the number of documents that both judged"""
    same: float | None
    """the share of these documents with the same label"""
    difference: float | None
    """the mean label of the first minus that of the second"""
    kappa: Coefficient | None
    linear: Coefficient | None
    """κ with linear weights"""
    quadratic: Coefficient | None
    """κ with quadratic weights"""
    alpha: Coefficient | None
    """Krippendorff's α, ordinal"""


class Agreement:
    """The labels of several judges, by document."""

    def __init__(self, labels: Floats, query: Ints, *, alpha: float, seed: int) -> None:
        """Take labels [documents, judges], NaN if missing, and the index of each document's query."""
        self.labels, self.query, self.queries = labels, query, int(query.max()) + 1 if len(query) else 0
        self.level, self.seed = 1 - alpha, seed
        self.scale = np.unique(labels[~np.isnan(labels)])
        if len(self.scale) > MOST_LABELS:
            raise DataError(
                f"there are {len(self.scale):,} different labels; agreement needs a scale of at most {MOST_LABELS}: "
                "round the labels first"
            )
        self._last: tuple[tuple[int, int] | None, Floats] = (None, np.zeros(0))
        self.codes = np.where(np.isnan(labels), -1, np.searchsorted(self.scale, np.nan_to_num(labels)))

    @cached_property
    def places(self) -> Floats:
        """The labels divided by a power of 2 near the largest, which changes no coefficient and avoids overflow."""
        exponent = int(np.frexp(np.abs(self.scale).max())[1])
        return np.ldexp(self.scale, -exponent)

    @cached_property
    def draws(self) -> Floats:
        """How often each query is drawn, [draws, queries]."""
        return np.concatenate(list(draw_counts(self.queries, DRAWS, self.seed)))

    def confusion(self, first: int, second: int) -> Floats:
        """Return the confusion table of two judges by query, [queries, labels of the first, labels of the second]."""
        size = len(self.scale)
        both = (self.codes[:, first] >= 0) & (self.codes[:, second] >= 0)
        cell = (self.query * size + self.codes[:, first]) * size + self.codes[:, second]
        counts = np.bincount(cell[both], minlength=self.queries * size**2)
        return counts.reshape(self.queries, size, size).astype(np.float64)

    @cached_property
    def coincidences(self) -> Floats:
        """The coincidence matrices of Krippendorff's α by query, [queries, labels, labels]; each label counts once."""
        size = len(self.scale)
        counts = (self.codes[:, :, None] == np.arange(size)).sum(axis=1).astype(np.float64)
        given = counts.sum(axis=1)
        counts, query = counts[given > 1], self.query[given > 1]
        share = counts / (counts.sum(axis=1, keepdims=True) - 1)
        pairs = np.zeros((self.queries, size, size))
        for number in np.unique(query).tolist():
            mine = query == number
            pairs[number] = counts[mine].T @ share[mine] - np.diag(share[mine].sum(axis=0))
        return pairs

    def kappa(self, first: int, second: int, weights: str = "none") -> Coefficient | None:
        """Return Cohen's κ of two judges, or None if it is undefined, as it is if all labels are the same."""
        check_choice("weights", weights, WEIGHTS)
        apart = np.abs(self.places[:, None] - self.places)
        cost = {"none": (apart > 0).astype(np.float64), "linear": apart, "quadratic": apart**2}[weights]
        return self._with_interval(self._tables(first, second), lambda tables: kappa_of(tables, cost))

    def alpha(self, metric: str = "ordinal", pair: tuple[int, int] | None = None) -> Coefficient | None:
        """Return Krippendorff's α of all judges, or of two, or None if it is undefined."""
        check_choice("metric", metric, METRICS)
        if pair is None:
            return self._with_interval(
                self._draw(self.coincidences), lambda tables: alpha_of(tables, self.places, metric)
            )
        # the coincidence matrix of two judges is their confusion table plus its transpose
        return self._with_interval(
            self._tables(*pair), lambda tables: alpha_of(tables + np.swapaxes(tables, -1, -2), self.places, metric)
        )

    def _tables(self, first: int, second: int) -> Floats:
        """Return the confusion table of two judges, followed by those of the draws."""
        if self._last[0] != (first, second):  # several coefficients of the same pair are asked for in turn
            self._last = ((first, second), self._draw(self.confusion(first, second)))
        return self._last[1]

    def _draw(self, tables: Floats) -> Floats:
        """Return [1 + draws, labels, labels]: the sum over all queries, and the sums over the queries of each draw.

        If fewer than two queries have any counts, there are no draws.
        """
        flat = tables.reshape(self.queries, -1)
        several = np.count_nonzero(flat.any(axis=1)) > 1
        sums = [flat.sum(axis=0)[None], *([self.draws @ flat] if several else [])]
        return np.concatenate(sums).reshape(-1, *tables.shape[1:])

    def _with_interval(self, tables: Floats, compute: Callable[[Floats], Floats]) -> Coefficient | None:
        """Return the coefficient of the first table, with an interval from those of the draws."""
        value, *drawn = compute(tables).tolist()
        if np.isnan(value):
            return None
        defined = [number for number in drawn if not np.isnan(number)]
        if not defined:
            return Coefficient(value)
        low, high = np.quantile(defined, [(1 - self.level) / 2, (1 + self.level) / 2])
        return Coefficient(value, float(low), float(high))


def kappa_of(tables: Floats, cost: Floats) -> Floats:
    """Return κ of confusion tables [..., labels, labels] with weights of disagreement, or NaN if it is undefined.

    >>> round(float(kappa_of(np.array([[20.0, 5], [10, 15]]), 1 - np.eye(2))), 4)  # (.70 - .50) / (1 - .50)
    0.4
    """
    rows, columns, size = tables.sum(axis=-1), tables.sum(axis=-2), tables.sum(axis=(-2, -1))
    found = (tables * cost).sum(axis=(-2, -1)) * size
    by_chance = np.einsum("...i,ij,...j->...", rows, cost, columns)
    return np.where(by_chance > 0, 1 - found / np.where(by_chance > 0, by_chance, 1.0), np.nan)


def alpha_of(tables: Floats, scale: Floats, metric: str) -> Floats:
    """Return α of coincidence tables [..., labels, labels] (Krippendorff 2011), or NaN if all labels are the same.

    The ordinal distance of two labels is the number of labels given between them, plus half of those equal to either.
    """
    given = tables.sum(axis=-1)
    size = given.sum(axis=-1)
    if metric == "nominal":
        apart = 1 - np.eye(len(scale))
    else:
        place = scale if metric == "interval" else np.cumsum(given, axis=-1) - given / 2
        apart = (place[..., :, None] - place[..., None, :]) ** 2
    found = (tables * apart).sum(axis=(-2, -1)) * (size - 1)
    by_chance = (given[..., :, None] * given[..., None, :] * apart).sum(axis=(-2, -1))
    return np.where(by_chance > 0, 1 - found / np.where(by_chance > 0, by_chance, 1.0), np.nan)
