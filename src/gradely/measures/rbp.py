"""Rank-biased precision, of a user who goes on with a fixed chance: RBP."""

from math import log

from gradely.errors import MeasureError
from gradely.kernel.batch import Array, Batch
from gradely.kernel.families import additive
from gradely.kernel.gains import is_number
from gradely.kernel.parameters import parameter
from gradely.measures.scale import ScaleBased
from gradely.relevance import AtLeast, Relevance, RelevanceLike, relevance_of


class RBP(ScaleBased):
    """Rank-biased precision, for a user who goes on to the next document with chance p.

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
        default=None,
        doc="graded: from labels to relevance, 'identity', 'shift', shift(1), 'max', max(4), 'phi' or a table",
    )

    def check_parameters(self) -> None:
        """Refuse a persistence outside 0 … 1, and a threshold beside a relevance function."""
        super().check_parameters()
        if not is_number(self.p) or not 0 < self.p < 1:
            raise MeasureError(f"p is the chance to go on, a number between 0 and 1; found {self.p!r}")
        if self.relevance is not None and self.rel != 1:
            raise MeasureError("RBP takes either rel (binary) or relevance (graded), not both")

    @property
    def relevance_function(self) -> Relevance:
        """The relevance function: the threshold unless one is stated."""
        return AtLeast(self.rel) if self.relevance is None else relevance_of(self.relevance)

    def terms(self, batch: Batch) -> Array:
        """The chance to look at each document, times its relevance."""
        return additive(batch, batch.grade / float(self.top or 1), self.patience, self.k)

    def factors(self, batch: Batch) -> tuple[Array, Array]:
        """The relevance, and the chance to look at each document."""
        gain = batch.grade / float(self.top or 1)
        return gain, additive(batch, batch.xp.ones_like(gain), self.patience, self.k)

    def patience(self, batch: Batch, rank: Array) -> Array:
        """1 / ((1-p) p^(rank-1)), held where p^(rank-1) would leave the range of numbers."""
        steps = batch.xp.clip(rank - 1, max=-690 / log(self.p))
        return batch.xp.pow(batch.xp.full_like(rank, self.p), -steps) / (1 - self.p)
