"""Expected reciprocal rank, of a user who stops when satisfied: ERR."""

from gradely.kernel.batch import Array, Batch
from gradely.kernel.families import cascade
from gradely.kernel.gains import exp, exponents, units
from gradely.measures.scale import ScaleBased


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
        return cascade(batch, self.stop(batch), self.k)

    def priority(self, batch: Batch) -> Array:
        """Those that satisfy with the highest chance first."""
        return self.stop(batch)

    def stop(self, batch: Batch) -> Array:
        """Return [Q, H]: the chance that the document satisfies."""
        top = batch.xp.full_like(batch.grade[:, :1], float(self.top or 1))
        exponent = exponents(batch, top)
        return exp(batch, batch.grade, exponent) / units(batch, -top if exponent is None else exponent - top)
