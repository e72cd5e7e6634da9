"""Average precision for a population of users, each with a threshold of their own: GAP, xGAP, eGAP.

All are sums over the levels of a query's pool of weighted AP numerators. A level's weight starts from its share of the
users: those whose threshold lies above the next lower level and not above this one.
"""

from collections import Counter
from operator import mul
from typing import Any, Self

from gradely.kernel.backend import is_any, sum_rows, to_lists
from gradely.kernel.batch import Array, Batch
from gradely.kernel.families import threshold
from gradely.kernel.orders import Adds, Group
from gradely.kernel.parameters import parameter
from gradely.kernel.tie_groups import sum_around, up_to_column
from gradely.measures.binary import Binary
from gradely.measures.population import MANY, Population, Spread, Thresholds, Users
from gradely.measures.searched_measure import Scene, SearchedMeasure
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
        fitted = super().fit(levels)
        function = fitted.relevance_function
        if self.g is None:
            relevance_levels = function.levels(levels)
            alike = (
                Users.of({x: 1 / len(relevance_levels) for x in relevance_levels})
                if relevance_levels
                else Spread(function.top(levels) or 1)
            )
            return fitted.replace(g=alike)
        if isinstance(self.g, Users) and self.g.counted:
            self.g.check(function.top(levels))
        return fitted

    def users(self) -> Users | Spread:
        """Return the distribution stated, or taken from the collection."""
        return Spread() if self.g is None else self.g


class _Absolute(UserShares):
    """Users whose thresholds lie above all of a pool find nothing there, and count."""

    has_ceiling = True

    def ceiling(self, batch: Batch) -> Array:
        """The share of users whose threshold some document of the pool reaches; the ideal ranking has it."""
        return sum_rows(self.thresholds(batch).share)


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


class eGAP(_Absolute):  # noqa: N801 - the paper's name
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


class xGAP(SearchedMeasure, _Absolute):  # noqa: N801 - the paper's name
    """Extended graded average precision: the threshold is drawn again at each document that the user finds relevant.

        xGAP = Σ_k g_k Σ_n [r_n >= k] · w(r_n) · #{m <= n: r_m >= k} / n
        w(r) = Σ_{k<=r} g_k/RB(k) / Σ_{k<=r} g_k

    r_n is the grade at rank n, RB(k) the recall base of threshold k. A user is drawn first, by g, and picks one of the
    documents that are relevant to them. At that document the threshold is drawn anew, among those that the document
    reaches, and the precision is that of the new threshold.

    xGAP is not monotone: moving a better document up can lower it. `best` and `worst` are found by an exact search;
    where a tie group has too many orders, they are bounds that contain every order, and a note says so.

    Ties: a sum of weighted AP numerators, each exact in expectation (see AP). No document relevant to any user: 0.
    Reference: Ferrante, Ferro, Maistro (2014), section 4.

    >>> from gradely import from_arrays, xGAP
    >>> batch = from_arrays([0.9, 0.5, 0.1], [1, 0, 2])
    >>> xGAP(g=[0.5, 0.5])(batch).tolist() == [0.5 * (1 * 1 / 2 + 0.75 * 2 / 3) + 0.5 * (0.75 / 3)]
    True
    """

    name = "xGAP"

    def weight(self, batch: Batch, levels: Thresholds) -> Array:  # noqa: ARG002 - no other array needed
        """The share of users."""
        return levels.share

    def plain_terms(self, batch: Batch) -> Array:
        """The sum over levels, each document with its own weight w."""
        return _Absolute.terms(self, batch) * self.document_weight(batch)

    def document_weight(self, batch: Batch) -> Array:
        """Return [Q, H]: w of each document's grade."""
        levels = self.thresholds(batch)
        users = self.up_to(batch, levels.share)
        return self.up_to(batch, levels.share / levels.base) / batch.xp.where(users > 0, users, 1.0)

    def kinds(self, batch: Batch) -> Array:
        """The level, where there are users who find it relevant."""
        relevant = self.up_to(batch, self.thresholds(batch).share) > 0
        return batch.xp.where(relevant, self.level_of(batch), 0)

    def scene(self, batch: Batch, row: int) -> Scene:
        """Each document adds w / rank times the users that it shares with those down to it, itself included."""
        shared, weight = (
            to_lists(x[row, :]) for x in (self.up_to(batch, self.thresholds(batch).share), self.document_weight(batch))
        )
        kinds = [int(kind) for kind in to_lists(batch.to_real(self.kinds(batch))[row, :])]
        users: dict[int, float] = dict(zip(kinds, shared, strict=True))
        w: dict[int, float] = dict(zip(kinds, weight, strict=True))

        def of(group: Group, above: Counter[int]) -> Adds:
            table = [[min(users[a], users[b]) for a in group.kinds] for b in group.kinds]
            start = [
                users[kind] + sum(count * min(users[kind], users[other]) for other, count in above.items())
                for kind in group.kinds
            ]

            def adds(kind: int, placed: tuple[int, ...]) -> float:
                rank = group.start + sum(placed) + 1
                if self.k is not None and rank > self.k:
                    return 0.0
                users_above = sum(map(mul, table[kind], placed), start[kind])
                return w[group.kinds[kind]] * users_above / rank

            return adds

        return of

    def bound(self, batch: Batch) -> Array:
        """The extreme of each threshold on its own.

        Its relevant documents fill the first places of the group, or the last. There precision rises from place to
        place, so that the sum is largest with the heaviest documents last, and smallest with them first: backwards,
        since columns have the best first for `best` and last for `worst`.
        """
        xp, levels, best = batch.xp, self.thresholds(batch), batch.ties == "best"
        out, weight = xp.zeros_like(batch.grade), self.document_weight(batch)
        many = xp.sum(batch.to_real(levels.level > 0), axis=1, keepdims=True) > MANY
        for i in range(min(levels.level.shape[1], MANY)):
            level = levels.level[:, i, None]
            relevant = batch.grade >= level
            above, among = sum_around(batch, relevant)
            number = above + among - up_to_column(batch, relevant) + 1
            start = batch.to_real(batch.above) if best else batch.rank - 1 + batch.size - among
            inside = among if self.k is None else xp.minimum(xp.clip(self.k - start, min=0.0), among)
            number = number - (among - inside)
            precision = (above + number) / xp.clip(start + number, min=1.0)
            out = out + xp.where(relevant & (number >= 1), levels.share[:, i, None] * precision, 0.0)
        return weight * (xp.where(many, self._coarse_bound(batch), out) if is_any(many) else out)

    def _coarse_bound(self, batch: Batch) -> Array:
        """Return [Q, H]: a bound on each document's precision, summed over users, that takes no pass for each level.

        At no threshold does precision exceed that at the last place which the documents of the group can fill, with all
        of them relevant; at each threshold the document itself is relevant, at the last place of the group at worst.
        """
        xp, relevant = batch.xp, batch.grade > 0
        users = self.up_to(batch, self.thresholds(batch).share)
        above, among = sum_around(batch, relevant)
        t, last = batch.to_real(batch.above), batch.to_real(batch.above) + batch.size
        if batch.ties == "best":
            inside = among if self.k is None else xp.minimum(xp.clip(self.k - t, min=0.0), among)
            fits = relevant & (up_to_column(batch, relevant) - above <= inside)
            return xp.where(fits, users * (above + inside) / xp.clip(t + inside, min=1.0), 0.0)
        fits = relevant if self.k is None else relevant & (last <= self.k)
        return xp.where(fits, users / last, 0.0)


class PrecisionPart(Binary):
    """The sum, over the documents of one label, of the precision for a threshold.

        T = Σ over ranks n <= k with label r of #{m <= n: r_m >= rel} / n

    Not a measure of its own: GAP, xGAP and eGAP of any population of users follow from it.
    """

    name = "PrecisionPart"
    label: float = parameter(default=1, doc="the label of the documents that are summed over, at least rel")

    def terms(self, batch: Batch) -> Array:
        """The precision at each document of the label."""
        precision = threshold(batch, self.relevant(batch), self.k)
        return batch.xp.where(batch.grade == float(self.label), precision, 0.0)
