"""How far judges agree: confusion tables, Cohen's κ and Krippendorff's α, with bootstrap intervals over queries.

Documents of a query are not independent of each other, so that whole queries are drawn. Counts are kept query by query,
and a draw is a sum of them: one product serves all draws.
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
"""how a disagreement counts: all the same, by the distance of the two labels, or by its square"""
METRICS = ("ordinal", "nominal", "interval")
"""how far two labels are apart: by how many labels stand between them, all the same, or by their distance"""
DRAWS = 1_000
"""of queries, for intervals"""
MOST_LABELS = 100
"""different labels: with more of them, every cell of a confusion table would be empty"""


class Coefficient(float):
    """A coefficient of agreement, with the ends of its interval; None where there is no interval."""

    low: float | None
    high: float | None

    def __new__(cls, value: float, low: float | None = None, high: float | None = None) -> Self:
        """Take the number and its interval."""
        self = super().__new__(cls, value)
        self.low, self.high = low, high
        return self

    def __reduce__(self) -> tuple[type, tuple[float, float | None, float | None]]:
        """Return what makes it again, for copies."""
        return Coefficient, (float(self), self.low, self.high)


class AgreedPair(NamedTuple):
    """Two judges; None where a coefficient is undefined."""

    first: str
    second: str
    documents: int
    """how many both judged"""
    same: float | None
    """the share of them with the same label"""
    difference: float | None
    """the mean label of the first minus that of the second"""
    kappa: Coefficient | None
    linear: Coefficient | None
    """κ by the distance of labels"""
    quadratic: Coefficient | None
    """κ by the square of their distance"""
    alpha: Coefficient | None
    """Krippendorff's α, ordinal"""


class Agreement:
    """The labels of several judges, by document."""

    def __init__(self, labels: Floats, query: Ints, *, alpha: float, seed: int) -> None:
        """Take labels [documents, judges], NaN where there is none, and the number of each document's query."""
        self.labels, self.query, self.queries = labels, query, int(query.max()) + 1 if len(query) else 0
        self.level, self.seed = 1 - alpha, seed
        self.scale = np.unique(labels[~np.isnan(labels)])
        if len(self.scale) > MOST_LABELS:
            raise DataError(
                f"{len(self.scale):,} different labels: agreement is about labels of a scale, of at most "
                f"{MOST_LABELS}; round them first"
            )
        self._last: tuple[tuple[int, int] | None, Floats] = (None, np.zeros(0))
        self.codes = np.where(np.isnan(labels), -1, np.searchsorted(self.scale, np.nan_to_num(labels)))

    @cached_property
    def places(self) -> Floats:
        """The labels in units of a power of 2 near the largest: only the shares of their distances matter."""
        exponent = int(np.frexp(np.abs(self.scale).max())[1])
        return np.ldexp(self.scale, -exponent)

    @cached_property
    def draws(self) -> Floats:
        """[draws, queries] how often each query is drawn."""
        return np.concatenate(list(draw_counts(self.queries, DRAWS, self.seed)))

    def confusion(self, first: int, second: int) -> Floats:
        """Return [queries, labels, labels]: how often the first gives the row's label, and the second the column's."""
        size = len(self.scale)
        both = (self.codes[:, first] >= 0) & (self.codes[:, second] >= 0)
        cell = (self.query * size + self.codes[:, first]) * size + self.codes[:, second]
        counts = np.bincount(cell[both], minlength=self.queries * size**2)
        return counts.reshape(self.queries, size, size).astype(np.float64)

    @cached_property
    def coincidences(self) -> Floats:
        """[queries, labels, labels]: the pairs of labels of a document, shared out so that each label counts once."""
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
        """Return Cohen's κ of two judges; None where it is undefined, as where both give all documents one label."""
        check_choice("weights", weights, WEIGHTS)
        apart = np.abs(self.places[:, None] - self.places)
        cost = {"none": (apart > 0).astype(np.float64), "linear": apart, "quadratic": apart**2}[weights]
        return self._with_interval(self._tables(first, second), lambda tables: kappa_of(tables, cost))

    def alpha(self, metric: str = "ordinal", pair: tuple[int, int] | None = None) -> Coefficient | None:
        """Return Krippendorff's α of all judges, or of two; None where it is undefined."""
        check_choice("metric", metric, METRICS)
        if pair is None:
            return self._with_interval(
                self._draw(self.coincidences), lambda tables: alpha_of(tables, self.places, metric)
            )
        # of two labels, each coincides with the other
        return self._with_interval(
            self._tables(*pair), lambda tables: alpha_of(tables + np.swapaxes(tables, -1, -2), self.places, metric)
        )

    def _tables(self, first: int, second: int) -> Floats:
        """Return the confusion table of two judges, and those of the draws; the last ones are kept."""
        if self._last[0] != (first, second):
            self._last = ((first, second), self._draw(self.confusion(first, second)))
        return self._last[1]

    def _draw(self, tables: Floats) -> Floats:
        """Return [1 + draws, labels, labels]: the sum over all queries, and over those of each draw.

        Where fewer than two queries have any counts, nothing is drawn.
        """
        flat = tables.reshape(self.queries, -1)
        several = np.count_nonzero(flat.any(axis=1)) > 1
        sums = [flat.sum(axis=0)[None], *([self.draws @ flat] if several else [])]
        return np.concatenate(sums).reshape(-1, *tables.shape[1:])

    def _with_interval(self, tables: Floats, compute: Callable[[Floats], Floats]) -> Coefficient | None:
        """Return what is computed of the first table, and the interval that holds those of the draws."""
        value, *drawn = compute(tables).tolist()
        if np.isnan(value):
            return None
        defined = [each for each in drawn if each == each]  # noqa: PLR0124 - no NaN
        if not defined:
            return Coefficient(value)
        low, high = np.quantile(defined, [(1 - self.level) / 2, (1 + self.level) / 2])
        return Coefficient(value, float(low), float(high))


def kappa_of(tables: Floats, cost: Floats) -> Floats:
    """Return κ of confusion tables [..., labels, labels] by what each disagreement costs; NaN where chance costs 0.

    >>> round(float(kappa_of(np.array([[20.0, 5], [10, 15]]), 1 - np.eye(2))), 4)  # (.70 - .50) / (1 - .50)
    0.4
    """
    rows, columns, size = tables.sum(axis=-1), tables.sum(axis=-2), tables.sum(axis=(-2, -1))
    found = (tables * cost).sum(axis=(-2, -1)) * size
    by_chance = np.einsum("...i,ij,...j->...", rows, cost, columns)
    return np.where(by_chance > 0, 1 - found / np.where(by_chance > 0, by_chance, 1.0), np.nan)


def alpha_of(tables: Floats, scale: Floats, metric: str) -> Floats:
    """Return α of coincidence tables [..., labels, labels] (Krippendorff 2011); NaN where all labels are the same.

    Ordinal: two labels are as far apart as there are labels between them, those of their own kind counted half.
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
