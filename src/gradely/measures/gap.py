"""Average precision for a population of users with different thresholds: GAP, eGAP, xGAP, muAP.

Each is a weighted sum of AP numerators over the levels of a query's pool. The weight of a level depends on its share of
the users: those whose threshold is above the next lower level but not above this one.
"""

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from itertools import islice
from math import ceil, isclose
from operator import add, mul
from typing import Any, NamedTuple, Self

from gradely.errors import MeasureError
from gradely.kernel.backend import is_any, sum_rows
from gradely.kernel.batch import Array, Batch
from gradely.kernel.compositions import Adds
from gradely.kernel.families import harmonics, lower_levels, threshold
from gradely.kernel.parameters import parameter, to_python
from gradely.kernel.ties import sum_around, up_to_column
from gradely.kernel.uncertain import Chances, UncertainBatch
from gradely.measures.ap import mean_precisions
from gradely.measures.base import Binary, Expected, Graded
from gradely.measures.searched_measure import GroupTerms, SearchedMeasure, by_kind, levels_of
from gradely.relevance import Levels
from gradely.settings import is_number
from gradely.tables import count_of

EXPECTED = "g is a list of shares, like [0.2, 0.8], or a table {level: share}"
FEW = 8
"""maximum number of levels whose precisions are cached for other populations; more would need much memory"""


MANY = 150
"""with more levels, adding all at once is faster than one by one, as measured on 1 and 60 queries of 2,000 documents"""


class Users(NamedTuple):
    """A user distribution: the share of users with each level as their threshold."""

    levels: tuple[float, ...]
    shares: tuple[float, ...]
    counted: bool
    """true if the levels are the positions 1, 2, … c of a list"""

    @classmethod
    def of(cls, g: Any) -> "Users":
        """Return the distribution for a list of the shares of the levels 1 … c, or for {level: share}."""
        pairs = list(g.items()) if isinstance(g, Mapping) else list(enumerate(_list(g), 1))
        if not all(is_number(x) for pair in pairs for x in pair):
            raise MeasureError(f"{EXPECTED}; found {g!r}")
        pairs = sorted((to_python(level), to_python(share)) for level, share in pairs)
        if any(level <= 0 for level, _ in pairs):
            raise MeasureError(f"the levels of g must be above 0, since 0 is not relevant; found {g!r}")
        if any(share < 0 for _, share in pairs):
            raise MeasureError(f"the shares of g cannot be negative; found {g!r}")
        total = sum(float(share) for _, share in pairs)
        if not isclose(total, 1, abs_tol=1e-6):
            raise MeasureError(f"the shares of g must sum to 1; {g!r} sums to {total:g}")
        return cls(tuple(level for level, _ in pairs), tuple(share for _, share in pairs), not isinstance(g, Mapping))

    def up_to(self, batch: Batch, relevance: Array) -> Array:
        """Return the share of users whose threshold is at most this relevance."""
        xp, like = batch.xp, {"dtype": relevance.dtype, "device": batch.device}
        levels, shares = (
            xp.asarray([float(x) for x in self.levels], **like),
            xp.asarray([float(x) for x in self.shares], **like),
        )
        index = xp.searchsorted(levels, xp.reshape(relevance, (-1,)), side="right")
        return xp.cumulative_sum(shares, include_initial=True)[xp.reshape(index, relevance.shape)]

    def check(self, top: float) -> None:
        """Raise an error if a grade exceeds the levels of the list."""
        if top > len(self.levels):
            problem = f"g={self} has {count_of(len(self.levels), 'level')}, but there is a grade of {to_python(top)}"
            raise MeasureError(f"{problem}: give g {ceil(top)} shares, or a table {{level: share}}")

    def __str__(self) -> str:
        """Return the list or table that it was made from."""
        return repr(list(self.shares)) if self.counted else repr(dict(zip(self.levels, self.shares, strict=True)))


def _list(g: Any) -> list[Any]:
    try:
        return list(g.tolist() if hasattr(g, "tolist") else g)
    except TypeError:
        raise MeasureError(f"{EXPECTED}; found {g!r}") from None


class Spread(NamedTuple):
    """Users whose thresholds are spread evenly over all relevance from 0 to the top."""

    top: float | None = None
    """the highest relevance, or None for that of each query's pool"""

    def up_to(self, batch: Batch, relevance: Array) -> Array:
        """Return the share of users whose threshold is at most this relevance."""
        if self.top is not None:
            return batch.xp.clip(relevance / self.top, max=1.0)
        highest = batch.pool[:, :1]
        return relevance / batch.xp.where(highest > 0, highest, 1.0)


class Thresholds(NamedTuple):
    """The distinct positive levels of each pool, best first, [Q, L]; level 0 and share 0 in padding."""

    level: Array
    base: Array
    """the recall base of the level: the number of documents of the pool that reach it"""
    share: Array
    """the share of users whose threshold is above the next lower level but not above this one"""


class Population(Graded):
    """Average precision over a distribution of thresholds."""

    def users(self) -> Users | Spread:
        """Return the distribution of thresholds."""
        return Spread()

    def thresholds(self, batch: Batch) -> Thresholds:
        """Return the levels of each pool with their recall bases and shares of users, computed once per batch."""
        return batch.of_pools((Thresholds, self.key), self._thresholds_of)

    def _thresholds_of(self, batch: Batch) -> Thresholds:
        xp = batch.xp
        level, base = self._levels(batch)
        upto = self.users().up_to(batch, level)
        below = xp.concat([upto[:, 1:], xp.zeros_like(upto[:, :1])], axis=1)
        return Thresholds(level, base, upto - below)

    def _levels(self, batch: Batch) -> tuple[Array, Array]:
        """Return the levels of each pool and their recall bases, computed once per batch for all populations."""
        return batch.of_pools((Thresholds, self.relevance_function.key), _levels_of)

    def terms(self, batch: Batch) -> Array:
        """Return the sum over levels of weight × precision at each document of that level or above.

        Few levels are added one by one, many all at once. The choice depends only on the query.
        """
        xp = batch.xp
        weight = batch.of_pools((Population, self.key), lambda pools: self.weight(pools, self.thresholds(pools)))
        if batch.fixed or weight.shape[1] <= MANY:
            return self._add_by_level(batch, weight)
        many = xp.sum(batch.to_real(self._levels(batch)[0] > 0), axis=1, keepdims=True) > MANY
        at_once = self._add_at_once(batch, weight)
        return at_once if bool(xp.all(many)) else xp.where(many, at_once, self._add_by_level(batch, weight))

    def _add_by_level(self, batch: Batch, weight: Array) -> Array:
        """Return [Q, H]: the terms, added level by level."""
        if weight.shape[0] == 1 and weight.shape[1] <= FEW and batch.untied and not batch.fixed:
            return sum_rows((weight.T * self._precisions_of_one(batch)).T)[None, :]
        terms = [weight[:, i, None] * precision for i, precision in enumerate(self._precisions(batch))]
        return reduce(add, terms) if terms else batch.xp.zeros_like(batch.grade)

    def level_of(self, batch: Batch) -> Array:
        """Return [Q, H]: the level of each document in its pool, counted from 1; 0 if it is below all levels."""
        xp, level = batch.xp, self._levels(batch)[0]
        padding = xp.sum(xp.astype(level <= 0, batch.first.dtype), axis=1, keepdims=True)
        return xp.where(batch.grade > 0, levels_of(batch, level, batch.grade) - padding, 0)

    def up_to(self, batch: Batch, x: Array) -> Array:
        """Return [Q, H]: the sum of x, [Q, L], over the levels up to each document's own."""
        xp = batch.xp
        levels = xp.sum(xp.astype(self._levels(batch)[0] > 0, batch.first.dtype), axis=1, keepdims=True)
        from_lowest = xp.flip(xp.cumulative_sum(xp.flip(x, axis=1), axis=1, include_initial=True), axis=1)
        return from_lowest[batch.row, xp.clip(levels - self.level_of(batch), min=0)]

    def _add_at_once(self, batch: Batch, weight: Array) -> Array:
        """Return [Q, H]: the terms, from sums over the documents on lower levels, for any number of levels.

        Documents with at least k others above them are left out of the sums. How many of them have a column depends on
        the other queries of the batch, so they would change the last digit.
        """
        xp, own = batch.xp, batch.keep_top(self.up_to(batch, weight), self.k)
        lower = lower_levels(batch, self.level_of(batch), own, int(weight.shape[1]))
        above = lower.above + own * (batch.to_real(batch.first) - lower.above_count) + own
        alone = above / batch.rank
        alone = alone if self.k is None else xp.where(batch.above < self.k, alone, 0.0)
        if batch.untied:
            return alone
        beside = lower.beside + own * (batch.to_real(batch.last - batch.first) - lower.beside_count) - own
        places, n = harmonics(batch, self.k), batch.size
        shared = (above * places.weight + beside / xp.clip(n - 1, min=1.0) * places.offset) / n
        return xp.where(batch.tied == 1, alone, shared)

    def _precisions(self, batch: Batch) -> Iterable[Array]:
        """Return [Q, H] for each level: the precision at each document of that level or above.

        Every document reaches the level 0 of padding, which has no weight. The precisions of a few levels are cached
        with the batch, since they are the same for all populations.
        """
        key = (threshold, self.relevance_function.key, self.k)
        if key in batch.memo:
            precisions: list[Array] = batch.memo[key]
            return precisions
        places, (level, _) = None if batch.untied else harmonics(batch, self.k), self._levels(batch)
        columns = (level[:, i, None] for i in range(level.shape[1]))
        computed = (
            threshold(batch, batch.grade >= x, self.k, places) for x in islice(columns, None if batch.fixed else MANY)
        )
        return batch.memo.setdefault(key, list(computed)) if level.shape[1] <= FEW else computed

    def _precisions_of_one(self, batch: Batch) -> Array:
        """Return [L, H] for a single query: one row of precisions per level."""
        key = (threshold, self.relevance_function.key, self.k)
        if key not in batch.memo:
            level, _ = self._levels(batch)
            batch.memo[key] = threshold(batch, batch.grade >= level.T, self.k)
        return batch.memo[key]

    @abstractmethod
    def weight(self, batch: Batch, levels: Thresholds) -> Array:
        """Return [Q, L]: the weight of the AP numerator of each level."""

    def degenerate(self, batch: Batch) -> Array:
        """True if no user finds a document of the pool relevant."""
        return ~batch.xp.any(self.thresholds(batch).share > 0, axis=1)


def _levels_of(batch: Batch) -> tuple[Array, Array]:
    """Return the distinct positive levels of each pool, best first, and their recall bases."""
    if batch.fixed:
        return _levels_one_by_one(batch)
    xp = batch.xp
    lower = xp.concat([batch.pool[:, 1:], xp.zeros_like(batch.pool[:, :1])], axis=1)
    ends = batch.pool > lower
    if ends.shape[0] == 1 and is_any(ends):  # for one query, this is faster than sorting
        columns = xp.nonzero(ends[0, :])[0]
        return xp.take(batch.pool, columns, axis=1), batch.to_real(columns + 1)[None, :]
    count = int(xp.max(xp.sum(xp.astype(ends, batch.first.dtype), axis=1)))
    order = xp.argsort(xp.where(ends, -batch.pool, 0.0), axis=1)[:, : max(1, count)]
    return xp.where(ends, batch.pool, 0.0)[batch.row, order], batch.to_real(order + 1)


def _levels_one_by_one(batch: Batch) -> tuple[Array, Array]:
    """Return the levels and recall bases with fixed shapes: each level is the highest label below the one before."""
    xp, level, base = batch.xp, [], []
    if batch.most_levels is None:
        raise MeasureError("the number of levels cannot be determined here: pass the levels, as in levels=[1, 2, 3]")
    below = xp.full_like(batch.pool[:, :1], xp.inf)
    for _ in range(max(1, batch.most_levels)):
        below = xp.max(xp.where(batch.pool < below, batch.pool, 0.0), axis=1, keepdims=True)
        level.append(below)
        base.append(xp.sum(batch.to_real(batch.pooled & (batch.pool >= below)), axis=1, keepdims=True))
    return xp.concat(level, axis=1), xp.clip(xp.concat(base, axis=1), min=1.0)


class UserShares(Population):
    """A measure whose distribution of thresholds is a parameter."""

    g: Any = parameter(
        default=None,
        doc="users: shares over the levels 1 … c, or {level: share}; by default equal shares of all positive levels",
    )

    def check_parameters(self) -> None:
        """Convert the distribution to Users."""
        super().check_parameters()
        if self.g is not None and not isinstance(self.g, Users | Spread):
            self._set("g", Users.of(self.g))

    def fit(self, levels: Levels) -> Self:
        """Take the users from the collection unless given; raise an error if a grade exceeds the list."""
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
        """Return the distribution, given or taken from the collection."""
        return Spread() if self.g is None else self.g


class _Absolute(UserShares):
    """A measure that also counts users whose threshold is above the whole pool: they find nothing."""

    has_ceiling = True

    def ceiling(self, batch: Batch) -> Array:
        """Return the share of users whose threshold a document of the pool reaches, the value of the ideal ranking."""
        return sum_rows(self.thresholds(batch).share)


class GAP(UserShares):
    """Graded average precision: a share g_k of the users has level k as their threshold.

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
        """Return the share of users."""
        return levels.share

    def norm(self, batch: Batch) -> Array:
        """Return the mean recall base."""
        levels = self.thresholds(batch)
        return sum_rows(levels.share * levels.base)


def expect_thresholds(measure: "eGAP", batch: UncertainBatch) -> Expected:
    """The mean is a sum of the means of AP with each threshold.

    A level that no label of a query reaches contributes nothing, so all levels of the collection are used instead of
    those of the pool. This does not work for GAP and xGAP, whose norm or weights are sums over several levels.
    """
    view = measure.relevance_of_labels(batch)
    relevance, levels = view.grade[0, :], batch.places.xp.flip(measure.thresholds(view).level[0, :])
    upto = measure.users().up_to(view, levels)
    below = batch.places.xp.concat([0 * upto[:1], upto[:-1]])
    gain, terms = batch.mean(measure.users().up_to(view, relevance)), batch.places.xp.zeros_like(batch.places.grade)
    for i in range(levels.shape[0]):
        relevant = Chances.of(batch, (relevance >= levels[i]) & (relevance > 0))
        terms = terms + (upto[i] - below[i]) * mean_precisions(batch.places, relevant, measure.k)
    return Expected(gain, terms)


class eGAP(_Absolute):  # noqa: N801 - the paper's name
    """Expected average precision of a user whose threshold is drawn from g.

        eGAP = Σ_k g_k N_k / RB(k)

    The sum is over the levels that the pool reaches. N_k is the numerator of AP with threshold k, RB(k) its recall
    base. Users with thresholds above the pool find nothing, so an ideal ranking can score below 1.

    Ties: N_k is a sum of AP numerators, each exact in expectation (see AP). No document relevant to any user: 0.
    Reference: Ferrante, Ferro, Maistro, Rethinking How to Extend Average Precision to Graded Relevance (2014).

    >>> from gradely import eGAP, from_arrays
    >>> batch = from_arrays([0.9, 0.5, 0.1], [1, 0, 2])
    >>> eGAP(g=[0.25, 0.75])(batch).tolist() == [0.25 * (1 + 2 / 3) / 2 + 0.75 * (1 / 3) / 1]
    True
    """

    name = "eGAP"
    expectation = expect_thresholds

    def weight(self, batch: Batch, levels: Thresholds) -> Array:  # noqa: ARG002 - no other array needed
        """Return the share of users over the recall base."""
        return levels.share / levels.base


def _user_terms(users: dict[int, float], weight: dict[int, float], k: int | None) -> GroupTerms:
    """Return the GroupTerms of a query for xGAP, given the users and the weight w of each kind."""

    def terms_of_group(start: int, kinds: tuple[int, ...], above: Counter[int]) -> Adds:
        shared = [[min(users[a], users[b]) for a in kinds] for b in kinds]
        own = [
            users[kind] + sum(count * min(users[kind], users[other]) for other, count in above.items())
            for kind in kinds
        ]

        def adds(kind: int, placed: tuple[int, ...]) -> float:
            rank = start + sum(placed) + 1
            if k is not None and rank > k:
                return 0.0
            return weight[kinds[kind]] * sum(map(mul, shared[kind], placed), own[kind]) / rank

        return adds

    return terms_of_group


class xGAP(SearchedMeasure, _Absolute):  # noqa: N801 - the paper's name
    """Extended graded average precision: the threshold is drawn anew at each document that the user finds relevant.

        xGAP = Σ_k g_k Σ_n [r_n >= k] · w(r_n) · #{m <= n: r_m >= k} / n
        w(r) = Σ_{k<=r} g_k/RB(k) / Σ_{k<=r} g_k

    r_n is the grade at rank n, RB(k) the recall base of threshold k. A user is first drawn from g and picks one of the
    documents that are relevant to them. At that document, the threshold is drawn anew among those that the document
    reaches, and the precision is computed for the new threshold.

    xGAP is not monotone: moving a better document up can lower it. `best` and `worst` are found by an exact search;
    if a tie group has too many orders, they are bounds that contain every order, and a note says so.

    Ties: a sum of weighted AP numerators, each exact in expectation (see AP). No document relevant to any user: 0.
    Reference: Ferrante, Ferro, Maistro (2014), section 4.

    >>> from gradely import from_arrays, xGAP
    >>> batch = from_arrays([0.9, 0.5, 0.1], [1, 0, 2])
    >>> xGAP(g=[0.5, 0.5])(batch).tolist() == [0.5 * (1 * 1 / 2 + 0.75 * 2 / 3) + 0.5 * (0.75 / 3)]
    True
    """

    name = "xGAP"

    def weight(self, batch: Batch, levels: Thresholds) -> Array:  # noqa: ARG002 - no other array needed
        """Return the share of users."""
        return levels.share

    def plain_terms(self, batch: Batch) -> Array:
        """Return the sum over levels, each document with its own weight w."""
        return _Absolute.terms(self, batch) * self.document_weight(batch)

    def document_weight(self, batch: Batch) -> Array:
        """Return [Q, H]: w of each document's grade."""
        levels = self.thresholds(batch)
        users = self.up_to(batch, levels.share)
        return self.up_to(batch, levels.share / levels.base) / batch.xp.where(users > 0, users, 1.0)

    def kinds(self, batch: Batch) -> Array:
        """Return the level of each document if some users find it relevant, else 0."""
        relevant = self.up_to(batch, self.thresholds(batch).share) > 0
        return batch.xp.where(relevant, self.level_of(batch), 0)

    def group_terms(self, batch: Batch) -> Callable[[int], GroupTerms]:
        """Return GroupTerms: a document contributes w / rank times the users it shares with those down to it."""
        share = self.up_to(batch, self.thresholds(batch).share)
        users_of, weight_of = by_kind(self.kinds(batch), share, self.document_weight(batch))
        return lambda row: _user_terms(users_of(row), weight_of(row), self.k)

    def bound(self, batch: Batch) -> Array:
        """Return the sum of the extremes of each threshold by itself.

        For `best`, the relevant documents fill the first places of the group, for `worst` the last ones. Precision
        rises from place to place there, so the sum is largest if the heaviest documents come last, and smallest if
        they come first. This reverses the order of columns, which have the best document first for `best`.
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
        """Return [Q, H]: a bound on each document's precision, summed over users, without a pass for each level.

        From above: at no threshold does precision exceed that at the last place that the documents of the group can
        fill, with all of them relevant. From below: at each threshold, the document itself is relevant, at worst at the
        last place of the group.
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

    It is not a measure by itself: GAP, xGAP and eGAP for any population of users follow from it.
    """

    name = "PrecisionPart"
    label: float = parameter(default=1, doc="the label of the documents that are summed over, at least rel")

    def terms(self, batch: Batch) -> Array:
        """Return the precision at each document of the label."""
        precision = threshold(batch, self.relevant(batch), self.k)
        return batch.xp.where(batch.grade == float(self.label), precision, 0.0)


class muAP(Population):  # noqa: N801 - the paper's name
    """µAP: average precision at every level of the query, weighted by the distance to the level below.

        µAP = Σ_t d_t AP(t) / Σ_t d_t

    t runs over the distinct positive labels of the pool, and d_t is the distance to the next lower one (to 0 for the
    lowest). It does not depend on the number of levels. Its mean is µMAP. For a single query, it is eGAP with
    g_t ∝ d_t. Over a collection, eGAP uses one g, whereas µAP uses each query's own levels, so every query can reach 1.

    Ties: a sum of AP numerators, each exact in expectation (see AP). No document of positive relevance: 0.
    Reference: Scheel, Lommatzsch, Albayrak, Performance Measures for Multi-Graded Relevance (2011).

    >>> from gradely import from_arrays, muAP
    >>> muAP()(from_arrays([0.9, 0.5, 0.1], [1, 0, 4])).tolist() == [(1 * (1 + 2 / 3) / 2 + 3 * (1 / 3)) / 4]
    True
    """

    name = "muAP"

    def weight(self, batch: Batch, levels: Thresholds) -> Array:  # noqa: ARG002 - no other array needed
        """Return the share of the distance over the recall base."""
        return levels.share / levels.base
