"""Measures of a user who stops: at the first relevant document (RR, Success), by chance (RBP), when satisfied (ERR)."""

from math import log

from gradely.errors import MeasureError
from gradely.kernel.batch import Array, Batch
from gradely.kernel.families import additive, cascade, first_hit, no_discount, rank_discount
from gradely.kernel.gains import exp, exponents, units
from gradely.kernel.parameters import is_number, parameter
from gradely.measures.base import Binary, ScaleBased
from gradely.relevance import AtLeast, Relevance, RelevanceLike, relevance_of


class RR(Binary):
    """Reciprocal rank of the first relevant document.

        RR@k = 1 / (rank of the first relevant document)

    It is 0 where that document is not in the top k. Its mean is MRR.

    Ties: in the first tie group with r relevant among n documents after t others, the mean is
    Σ_x P(x)/(t+x) with P(x) = Π_{j<x} (1 - r/(n-j+1)) · r/(n-x+1). No relevant document: 0.
    Reference: McSherry and Najork (2008); their printed sum uses Π alone, their text and enumeration give P.

    >>> from gradely import RR, from_arrays
    >>> RR()(from_arrays([0.9, 0.5, 0.5], [0, 1, 0])).tolist() == [(1 / 2 + 1 / 3) / 2]
    True
    """

    name = "RR"

    def terms(self, batch: Batch) -> Array:
        """1/rank at the first relevant document."""
        return first_hit(batch, self.relevant(batch), rank_discount, self.k)


class Success(Binary):
    """Whether there is a relevant document in the top k.

        Success@k = 1 if the top k hold a relevant document, else 0

    Also known as hit rate.

    Ties: the chance that one is inside, 1 - C(n-r, b)/C(n, b) where k leaves b places of a tie group of n with r
    relevant. No relevant document: 0.
    Reference: McSherry and Najork (2008), by the same argument as their RR.

    >>> from gradely import Success, from_arrays
    >>> Success(k=1)(from_arrays([0.5, 0.5, 0.5], [1, 1, 0])).tolist() == [2 / 3]
    True
    """

    name = "Success"

    def terms(self, batch: Batch) -> Array:
        """1 at the first relevant document."""
        return first_hit(batch, self.relevant(batch), no_discount, self.k)


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


class ERR(ScaleBased):
    """Expected reciprocal rank of the document that satisfies a user, who stops there.

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
    takes_fixed = False

    def terms(self, batch: Batch) -> Array:
        """1/rank times the chance to stop there."""
        return cascade(batch, self.stop(batch), rank_discount, self.k)

    def priority(self, batch: Batch) -> Array:
        """Those that satisfy with the highest chance first."""
        return self.stop(batch)

    def stop(self, batch: Batch) -> Array:
        """Return [Q, H]: the chance that the document satisfies."""
        top = batch.xp.full_like(batch.grade[:, :1], float(self.top or 1))
        exponent = exponents(batch, top)
        return exp(batch, batch.grade, exponent) / units(batch, -top if exponent is None else exponent - top)
