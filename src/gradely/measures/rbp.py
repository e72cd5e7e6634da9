"""Measures of a user who walks down the ranking: RBP and ERR."""

from math import log
from typing import Self

from gradely.errors import MeasureError
from gradely.kernel.batch import Array, Batch
from gradely.kernel.families import additive, cascade
from gradely.kernel.gains import exp, is_number, plain
from gradely.kernel.parameters import parameter
from gradely.measures.base import Graded
from gradely.relevance import AtLeast, Levels, Relevance, RelevanceLike, relevance_of


class _Topped(Graded):
    """A graded measure that needs to know the top of the scale."""

    top: float | None = parameter(
        default=None, doc="the highest relevance of the scale; by default that of the collection"
    )

    def settle(self) -> None:
        """Refuse a top that is not a positive number."""
        super().settle()
        if self.top is None:
            return
        if not is_number(self.top) or self.top <= 0:
            raise MeasureError(f"top is the highest relevance of the scale, a number above 0; found {self.top!r}")
        self._set("top", plain(self.top))

    def fit(self, levels: Levels) -> Self:
        """Take the top from the collection unless it is stated; refuse relevance above it."""
        super().fit(levels)
        highest = self.function.top(levels)
        if self.top is None:
            return self.replace(top=highest or 1)
        if highest > self.top:
            raise MeasureError(
                f"{self}: there is relevance above top={self.top} in the collection; use top={plain(highest)}"
            )
        return self

    def norm(self, batch: Batch) -> Array:
        """Nothing to divide by."""
        return batch.xp.ones_like(batch.grade[:, 0])


class ERR(_Topped):
    """Expected reciprocal rank: of where a user stops who is satisfied by relevance.

        ERR@k = Σ_{i<=k} (1/i) · p_i · Π_{j<i} (1 - p_j),  p = (2^g - 1) / 2^top

    p is the chance that a document of grade g satisfies; top is the highest grade of the scale.

    Ties: E_x is the mean of Π (1-p) over all sets of x documents of a tie group; after t others, reached with chance P,
    it adds P·Σ_x (E_{x-1} - E_x)/(t+x). No relevant document: 0.
    Reference: Chapelle, Metzler, Zhang, Grinspan, Expected reciprocal rank for graded relevance (2009).

    >>> from gradely import ERR, from_arrays
    >>> ERR()(from_arrays([0.9, 0.5, 0.1], [1, 0, 1])).tolist() == [1 / 2 + (1 / 3) * (1 / 2) * (1 - 1 / 2)]
    True
    """

    name = "ERR"

    def terms(self, batch: Batch) -> Array:
        """1/rank times the chance to stop there."""
        return cascade(batch, self.worth(batch), self.k)

    def worth(self, batch: Batch) -> Array:
        """The chance that the document satisfies."""
        return exp(batch, batch.grade) / 2.0 ** float(self.top or 1)


class RBP(_Topped):
    """Rank-biased precision: of a user who goes on to the next document with chance p.

        RBP(p) = (1-p) Σ_i p^(i-1) · rel_i

    rel_i is 1 for labels of at least `rel`, else 0. Stating `relevance` makes it graded: relevance over the top of the
    scale in place of rel_i.

    Ties: each document of a tie group gets the mean of p^(i-1) over the group's places. No relevant document: 0.
    Reference: Moffat and Zobel, Rank-biased precision for measurement of retrieval effectiveness (2008).

    >>> from gradely import RBP, from_arrays
    >>> RBP(p=0.5)(from_arrays([0.9, 0.5, 0.1], [1, 0, 1])).tolist() == [(1 - 0.5) * (1 + 0.5**2)]
    True
    """

    name = "RBP"
    p: float = parameter(default=0.8, doc="persistence: the chance to go on to the next document")
    rel: float = parameter(default=1, doc="labels of at least this count as relevant, unless `relevance` is stated")
    relevance: RelevanceLike | None = parameter(
        default=None, doc="graded: from labels to relevance, 'identity', 'max', max(4), 'phi' or a table"
    )

    def settle(self) -> None:
        """Refuse a persistence outside 0 … 1, and a threshold beside a relevance function."""
        super().settle()
        if not is_number(self.p) or not 0 < self.p < 1:
            raise MeasureError(f"p is the chance to go on, a number between 0 and 1; found {self.p!r}")
        if self.relevance is not None and self.rel != 1:
            raise MeasureError("RBP takes either rel (binary) or relevance (graded), not both")

    @property
    def function(self) -> Relevance:
        """The relevance function: the threshold unless one is stated."""
        return AtLeast(self.rel) if self.relevance is None else relevance_of(self.relevance)

    def terms(self, batch: Batch) -> Array:
        """The chance to look at each document, times its relevance."""
        return additive(batch, batch.grade / float(self.top or 1), self._patience, self.k)

    def _patience(self, batch: Batch, rank: Array) -> Array:
        """1 / ((1-p) p^(rank-1)), held where p^(rank-1) would leave the range of numbers."""
        steps = batch.xp.clip(rank - 1, max=-690 / log(self.p))
        return batch.xp.pow(batch.xp.full_like(rank, self.p), -steps) / (1 - self.p)
