"""Average precision for a population of users, each with a threshold of their own: GAP, xGAP, eGAP, µAP.

All are sums over the levels of a query's pool of weighted AP numerators. A level's weight starts from its share of the
users: those whose threshold lies above the next lower level and not above this one.
"""

from typing import Any, Self

from gradely.kernel.backend import sum_rows
from gradely.kernel.batch import Array, Batch
from gradely.kernel.parameters import parameter
from gradely.measures.population import Population, Thresholds
from gradely.measures.users import Spread, Users
from gradely.relevance import Levels


class UserShares(Population):
    """A distribution of thresholds that can be stated."""

    g: Any = parameter(
        default=None,
        doc="users: shares over the levels 1 … c, or {level: share}; by default every positive level alike",
    )

    def check_parameters(self) -> None:
        """Bring the distribution into one form."""
        super().check_parameters()
        if self.g is not None and not isinstance(self.g, Users | Spread):
            self._set("g", Users.of(self.g))

    def fit(self, levels: Levels) -> Self:
        """Take the users from the collection unless they are stated; refuse grades above a list of them."""
        super().fit(levels)
        if self.g is None:
            found = self.relevance_function.levels(levels)
            alike = (
                Users.of({x: 1 / len(found) for x in found})
                if found
                else Spread(self.relevance_function.top(levels) or 1)
            )
            return self.replace(g=alike)
        if isinstance(self.g, Users) and self.g.counted:
            self.g.check(self.relevance_function.top(levels))
        return self

    def users(self) -> Users | Spread:
        """Return the distribution stated, or taken from the collection."""
        return Spread() if self.g is None else self.g


class GAP(UserShares):
    """Graded average precision, for users of whom a share g_k has level k as threshold.

        GAP = Σ_k g_k N_k / Σ_k g_k RB(k)

    N_k is the numerator of AP with threshold k, RB(k) its recall base.

    Ties: N_k is a sum of AP numerators, each exact in expectation (see AP). No document relevant to any user: 0.
    Reference: Robertson, Kanoulas, Yilmaz, Extending average precision to graded relevance judgments (2010).

    >>> from gradely import GAP, from_arrays
    >>> batch = from_arrays([0.9, 0.5, 0.1], [1, 0, 2])
    >>> GAP(g=[0.5, 0.5])(batch).tolist() == [(0.5 * (1 + 2 / 3) + 0.5 * (1 / 3)) / (0.5 * 2 + 0.5 * 1)]
    True
    """

    name = "GAP"

    def weight(self, batch: Batch, levels: Thresholds) -> Array:  # noqa: ARG002 - no other array needed
        """The share of users."""
        return levels.share

    def norm(self, batch: Batch) -> Array:
        """The mean recall base."""
        levels = self.thresholds(batch)
        return sum_rows(levels.share * levels.base)


class eGAP(UserShares):  # noqa: N801 - the paper's name
    """Expected average precision of a user whose threshold is drawn from g.

        eGAP = Σ_k g_k N_k / RB(k)

    The sum is over the levels that the pool reaches. N_k is the numerator of AP with threshold k, RB(k) its recall
    base. Users with thresholds above the pool find nothing: an ideal ranking can score below 1.

    Ties: N_k is a sum of AP numerators, each exact in expectation (see AP). No document relevant to any user: 0.
    Reference: Ferrante, Ferro, Maistro, Rethinking How to Extend Average Precision to Graded Relevance (2014).

    >>> from gradely import eGAP, from_arrays
    >>> batch = from_arrays([0.9, 0.5, 0.1], [1, 0, 2])
    >>> eGAP(g=[0.25, 0.75])(batch).tolist() == [0.25 * (1 + 2 / 3) / 2 + 0.75 * (1 / 3) / 1]
    True
    """

    name = "eGAP"

    def weight(self, batch: Batch, levels: Thresholds) -> Array:  # noqa: ARG002 - no other array needed
        """The share of users over the recall base."""
        return levels.share / levels.base


class xGAP(UserShares):  # noqa: N801 - the paper's name
    """Extended graded average precision: the threshold is drawn after the document.

        xGAP = Σ_k g_k Σ_n [r_n >= k] · w(r_n) · #{m <= n: r_m >= k} / n
        w(r) = Σ_{k<=r} g_k/RB(k) / Σ_{k<=r} g_k

    r_n is the grade at rank n, RB(k) the recall base of threshold k. Not monotone: moving a better document up can
    lower it, so `best` and `worst`, which order ties by grade, are bounds that it may miss.

    Ties: a sum of weighted AP numerators, each exact in expectation (see AP). No document relevant to any user: 0.
    Reference: Ferrante, Ferro, Maistro (2014).

    >>> from gradely import from_arrays, xGAP
    >>> batch = from_arrays([0.9, 0.5, 0.1], [1, 0, 2])
    >>> xGAP(g=[0.5, 0.5])(batch).tolist() == [0.5 * (1 * 1 / 2 + 0.75 * 2 / 3) + 0.5 * (0.75 / 3)]
    True
    """

    name = "xGAP"

    def weight(self, batch: Batch, levels: Thresholds) -> Array:  # noqa: ARG002 - no other array needed
        """The share of users."""
        return levels.share

    def terms(self, batch: Batch) -> Array:
        """The sum over levels, each document with its own weight w."""
        return super().terms(batch) * self.document_weight(batch, self.thresholds(batch))

    def document_weight(self, batch: Batch, levels: Thresholds) -> Array:
        """Return [Q, H]: w of each document's grade."""
        xp = batch.xp

        def from_lowest(x: Array) -> Array:
            return xp.flip(xp.cumulative_sum(xp.flip(x, axis=1), axis=1), axis=1)

        users = from_lowest(levels.share)
        w = from_lowest(levels.share / levels.base) / xp.where(users > 0, users, 1.0)
        out = xp.zeros_like(batch.grade)
        for i in range(w.shape[1]):
            out = xp.where(batch.grade == levels.level[:, i, None], w[:, i, None], out)
        return out


class muAP(Population):  # noqa: N801 - the paper's name
    """µAP: average precision at every level of the query, weighted by the distance to the level below.

        µAP = Σ_t d_t AP(t) / Σ_t d_t

    t runs over the distinct positive labels of the pool, d_t is the distance to the next lower one (to 0 for the
    lowest). It does not depend on the number of levels. Its mean is µMAP. It is eGAP with g_t ∝ d_t.

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
