"""Average precision for a population of users, each with a threshold of their own: GAP, xGAP, eGAP, µAP.

All are sums over the levels of a query's pool of weighted AP numerators. A level's weight starts from its share of the
users: those whose threshold lies above the next lower level and not above this one.
"""

from abc import abstractmethod
from typing import Any, NamedTuple, Self

from gradely.batch import Array, Batch
from gradely.families import Harmonics, harmonics, threshold
from gradely.measures.base import Graded
from gradely.measures.population import Spread, Users
from gradely.parametric import parameter
from gradely.relevance import Levels
from gradely.ties import total


class Thresholds(NamedTuple):
    """The distinct positive levels of each pool, best first, [Q, L]; level 0 and share 0 in padding."""

    level: Array
    base: Array
    """How many documents of the pool reach the level: its recall base."""
    share: Array
    """The users whose threshold lies above the next lower level and not above this one."""


class _Population(Graded):
    """Average precision over a distribution of thresholds."""

    def users(self) -> Users | Spread:
        """Return the distribution of thresholds."""
        return Spread()

    def thresholds(self, batch: Batch) -> Thresholds:
        """Return the levels of each pool with their recall bases and shares of users."""
        xp = batch.xp
        lower = xp.concat([batch.pool[:, 1:], xp.zeros_like(batch.pool[:, :1])], axis=1)
        ends = batch.pool > lower
        count = int(xp.max(xp.sum(xp.astype(ends, batch.first.dtype), axis=1)))
        order = xp.argsort(xp.where(ends, -batch.pool, 0.0), axis=1)[:, : max(1, count)]
        level = xp.where(ends, batch.pool, 0.0)[batch.row, order]
        upto = self.users().up_to(batch, level)
        below = xp.concat([upto[:, 1:], xp.zeros_like(upto[:, :1])], axis=1)
        return Thresholds(level, batch.number(order + 1), xp.where(level > 0, upto - below, 0.0))

    def terms(self, batch: Batch) -> Array:
        """The sum over levels of weight × precision at each document of that level or above."""
        levels = self.thresholds(batch)
        places = None if batch.untied else harmonics(batch, self.k)
        weight = self.weight(batch, levels)
        out = batch.xp.zeros_like(batch.grade)
        for i in range(levels.level.shape[1]):
            out = out + weight[:, i, None] * self._precision(batch, levels.level[:, i, None], places)
        return out

    def _precision(self, batch: Batch, level: Array, places: Harmonics | None) -> Array:
        return threshold(batch, (batch.grade >= level) & (level > 0), self.k, places)

    @abstractmethod
    def weight(self, batch: Batch, levels: Thresholds) -> Array:
        """Return [Q, L]: what the AP numerator of each level counts."""

    def norm(self, batch: Batch) -> Array:
        """Nothing to divide by."""
        return batch.xp.ones_like(batch.grade[:, 0])

    def degenerate(self, batch: Batch) -> Array:
        """No document that any user finds relevant."""
        return ~batch.xp.any(self.thresholds(batch).share > 0, axis=1)


class _Given(_Population):
    """A distribution of thresholds that can be stated."""

    g: Any = parameter(
        default=None,
        doc="users: shares over the levels 1 … c, or {level: share}; by default every positive level alike",
    )

    def settle(self) -> None:
        """Bring the distribution into one form."""
        super().settle()
        if self.g is not None and not isinstance(self.g, Users | Spread):
            self._set("g", Users.of(self.g))

    def fit(self, levels: Levels) -> Self:
        """Take the users from the collection unless they are stated; refuse grades above a list of them."""
        super().fit(levels)
        if self.g is None:
            found = self.function.levels(levels)
            alike = Users.of({x: 1 / len(found) for x in found}) if found else Spread(self.function.top(levels) or 1)
            return self.replace(g=alike)
        if isinstance(self.g, Users) and self.g.counted:
            self.g.check(self.function.top(levels))
        return self

    def users(self) -> Users | Spread:
        """Return the distribution stated, or taken from the collection."""
        return Spread() if self.g is None else self.g


class GAP(_Given):
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
        return total(batch, levels.share * levels.base)


class eGAP(_Given):  # noqa: N801 - the paper's name
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


class xGAP(_Given):  # noqa: N801 - the paper's name
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
        return super().terms(batch) * self._document_weight(batch, self.thresholds(batch))

    def _document_weight(self, batch: Batch, levels: Thresholds) -> Array:
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


class muAP(_Population):  # noqa: N801 - the paper's name
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
