"""µAP: average precision over all levels of each query."""

from gradely.kernel.batch import Array, Batch
from gradely.measures.population import Population, Thresholds


class muAP(Population):  # noqa: N801 - the paper's name
    """µAP: average precision at every level of the query, weighted by the distance to the level below.

        µAP = Σ_t d_t AP(t) / Σ_t d_t

    t runs over the distinct positive labels of the pool, d_t is the distance to the next lower one (to 0 for the
    lowest). It does not depend on the number of levels. Its mean is µMAP. Query by query it is eGAP with g_t ∝ d_t;
    over a collection eGAP keeps one g, while µAP takes each query's own levels, so that every query can reach 1.

    Ties: a sum of AP numerators, each exact in expectation (see AP). No document of positive relevance: 0.
    Reference: Scheel, Lommatzsch, Albayrak, Performance Measures for Multi-Graded Relevance (2011).

    >>> from gradely import from_arrays, muAP
    >>> muAP()(from_arrays([0.9, 0.5, 0.1], [1, 0, 4])).tolist() == [(1 * (1 + 2 / 3) / 2 + 3 * (1 / 3)) / 4]
    True
    """

    name = "muAP"

    def weight(self, batch: Batch, levels: Thresholds) -> Array:  # noqa: ARG002 - no other array needed
        """The share of the distance over the recall base."""
        return levels.share / levels.base
