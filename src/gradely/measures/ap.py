"""Average precision of binary relevance and related measures: AP, infAP, IPrec, bpref."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from itertools import accumulate
from operator import add, mul
from typing import Any, Self

from gradely.errors import MeasureError, TooManyOrders
from gradely.kernel.backend import to_lists
from gradely.kernel.batch import Array, Batch
from gradely.kernel.compositions import Adds, TiedQuery, TieGroup, fill_groups, hypergeometric
from gradely.kernel.families import Opposition, mean_threshold, precisions, preference
from gradely.kernel.parameters import one_of, parameter, to_python
from gradely.kernel.ties import sum_around, sum_before, sum_in_group, up_to_column
from gradely.kernel.uncertain import Chances, UncertainBatch, over_count
from gradely.measures.base import Binary, Expected
from gradely.measures.searched_measure import ComposedMeasure, GroupTerms
from gradely.settings import is_number

MOST_STEPS = 50_000_000
"""maximum of values × places × relevant documents of a query for the mean of IPrec; this many take seconds"""
EPSILON = 0.00001
"""trec_eval's constant, which keeps the estimate of an empty sample defined"""
RELEVANT, OTHER, POOLED = 3, 2, 1
"""kinds of documents for infAP: judged relevant, judged non-relevant, and pooled but not judged"""


def mean_precisions(batch: Batch, relevant: Chances, k: int | None) -> Array:
    """Return [Q, H]: the mean over labels of (precision at the document if it is relevant) / (relevant documents)."""
    return over_count(batch, relevant, lambda rows, chance: mean_threshold(rows, chance, k))


def expect_precisions(measure: "AP", batch: UncertainBatch) -> Expected:
    """A document contributes its precision over the number of relevant documents; both depend on the labels."""
    relevant = measure.chances(batch)
    return Expected(relevant.chance, mean_precisions(batch.places, relevant, measure.k))


class AP(Binary):
    """Average precision: the mean of the precision at each relevant document.

        AP@k = (Σ over relevant ranks i <= k of P@i) / RB

    RB is the number of relevant documents of the pool. Its mean is MAP.

    Ties: for r relevant among the n documents of a tie group after t others, R of them relevant, the group adds
    r/n · [(R+1)·H + (r-1)/(n-1)·G], H = Σ 1/i and G = Σ (i-t-1)/i over its places i <= k. No relevant document: 0.
    Reference: McSherry and Najork (2008); the closed form is ours.

    >>> from gradely import AP, from_arrays
    >>> AP()(from_arrays([0.9, 0.5, 0.1], [1, 0, 1])).tolist() == [(1 / 1 + 2 / 3) / 2]
    True
    """

    name = "AP"
    expectation = expect_precisions

    def terms(self, batch: Batch) -> Array:
        """Return the precision at each relevant document."""
        return precisions(batch, self.relevant(batch), self.k)

    def norm(self, batch: Batch) -> Array:
        """Return the number of relevant documents."""
        return self.recall_base(batch)


class infAP(ComposedMeasure, Binary):  # noqa: N801 - the field's name
    """Average precision, estimated from judgments of a random sample of the pool.

        infAP = (1/RB) Σ over relevant ranks i of 1/i + (i-1)/i · |pool|/(i-1) · (r + ε)/(r + n + 2ε)

    r and n are the numbers of relevant and of other judged documents above; |pool| also counts the documents of the
    pool that were not judged (those with a negative label); ε = 0.00001. Documents outside the pool count as not
    relevant. If the whole pool is judged, infAP is nearly AP.

    Ties: if x documents of a tie group are above a relevant one, the number j of judged ones among them is
    hypergeometric. Given j, the numbers of relevant documents among these and of pooled ones among the others are
    independent and enter linearly, so their means suffice. Best and worst are found by an exact search; if a tie group
    has too many orders, they are bounds that contain every order. No relevant document: 0.
    Reference: Yilmaz and Aslam, Estimating average precision with incomplete and imperfect judgments (2006).

    >>> from gradely import from_arrays, infAP
    >>> value = infAP()(from_arrays([3, 2, 1], [1, -1, 1])).item()
    >>> value == (1 + 1 / 3 + 2 / 3 * 2 / 2 * (1 + 0.00001) / (1 + 0.00002)) / 2
    True
    """

    name = "infAP"
    takes_fixed = False

    def plain_terms(self, batch: Batch) -> Array:
        """Return the estimated precision at each relevant document."""
        xp, relevant = batch.xp, self.relevant(batch)
        above = batch.to_real(batch.above)
        r, judged, pool = self._before(batch)
        estimate = (above / (above + 1)) * (pool / xp.clip(above, min=1.0)) * ((r + EPSILON) / (judged + 2 * EPSILON))
        counts = relevant if self.k is None else relevant & (batch.above < self.k)
        return xp.where(counts, 1.0 / (above + 1) + estimate, 0.0)

    def _before(self, batch: Batch) -> tuple[Array, Array, Array]:
        """Return the numbers of relevant, of judged and of pooled documents above each document, [Q, H] each."""
        judged = batch.judged & (batch.grade >= 0)
        r, judged, pool = (sum_before(batch, flag) for flag in (self.relevant(batch), judged, batch.judged))
        return r, judged, pool

    def norm(self, batch: Batch) -> Array:
        """Return the number of relevant documents."""
        return self.recall_base(batch)

    def kinds(self, batch: Batch) -> Array:
        """Return the kinds: judged relevant, judged non-relevant, and pooled but not judged.

        Documents outside the pool have no column. The best order ranks them last, since they only fill a place.
        """
        judged = batch.xp.where(batch.grade >= 0, OTHER, batch.xp.full_like(batch.first, POOLED))
        return batch.xp.where(self.relevant(batch), RELEVANT, judged)

    def group_terms(self, batch: Batch) -> Callable[[int], GroupTerms]:  # noqa: ARG002 - the counts suffice
        """Return a function that gives the contribution of a relevant document, given the counts of each kind above."""

        def terms_of_group(start: int, kinds: tuple[int, ...], above: Counter[int]) -> Adds:
            def adds(kind: int, placed: tuple[int, ...]) -> float:
                rank = start + sum(placed) + 1
                if kinds[kind] != RELEVANT or (self.k is not None and rank > self.k):
                    return 0.0
                count = above + Counter(dict(zip(kinds, placed, strict=True)))
                judged = count[RELEVANT] + count[OTHER]
                return (1 + count.total() * (count[RELEVANT] + EPSILON) / (judged + 2 * EPSILON)) / rank

            return adds

        return lambda row: terms_of_group  # noqa: ARG005 - the same for all queries

    def check_states(self, group: TieGroup) -> None:
        """Accept every group: the mean takes only (places × judged documents) steps."""

    def group_means(self, group: TieGroup, terms_of_group: GroupTerms, above: Counter[int]) -> dict[int, float]:  # noqa: ARG002 - closed
        """Return the mean contribution of a relevant document of the group.

        The sum is over x, the number of documents of the group above it, and j, the number of judged ones among these.
        """
        counts = group.by_kind
        r, judged = counts.get(RELEVANT, 0), counts.get(RELEVANT, 0) + counts.get(OTHER, 0)
        unjudged = counts.get(POOLED, 0) / max(group.size - judged, 1)
        found = (r - 1) / max(judged - 1, 1)
        before = above[RELEVANT] + above[OTHER]
        total = 0.0
        for x in range(group.places(self.k) if r else 0):
            precision = sum(
                chance
                * (above.total() + j + (x - j) * unjudged)
                * (above[RELEVANT] + j * found + EPSILON)
                / (before + j + 2 * EPSILON)
                for j, chance in hypergeometric(group.size - 1, judged - 1, x)
            )
            total += (1 + precision) / (group.above + x + 1)
        return {RELEVANT: total / group.size}

    def bound(self, batch: Batch) -> Array:
        """Return the extreme contribution of each relevant document by itself, as the j-th relevant one of the group.

        If q, the estimated share of relevant documents, is at its extreme, the term (1 + q·|pool|)/i is monotone in i
        while pooled documents fill the places above, and again while other documents do. So its extreme is at an end.
        """
        xp, relevant = batch.xp, self.relevant(batch)
        r, judged, pool = self._before(batch)
        above, among = sum_around(batch, relevant)
        j = up_to_column(batch, relevant) - above - 1
        others = sum_in_group(batch, batch.judged & (batch.grade >= 0)) - among
        pooled = batch.to_real(batch.last - batch.first) - among
        outside = batch.size - batch.to_real(batch.last - batch.first)
        q = (r + j + EPSILON) / (judged + j + (0.0 if batch.ties == "best" else others) + 2 * EPSILON)
        rank = batch.rank + j
        near, far = (1 + q * (pool + j)) / rank, (1 + q * (pool + j + pooled)) / (rank + pooled)
        last = rank + pooled + outside
        if batch.ties == "best":
            terms, counts = xp.maximum(near, far), True if self.k is None else rank <= self.k
        else:
            terms = xp.minimum((1 + q * (pool + j)) / (rank + outside), (1 + q * (pool + j + pooled)) / last)
            counts = True if self.k is None else last <= self.k
        return xp.where(relevant & counts, terms, 0.0)


def round_half_up(batch: Batch, documents: Array) -> Array:
    """Round to the nearest whole number, halves up, as trec_eval 10 does."""
    floor = batch.xp.floor(documents)
    return batch.xp.where(documents - floor >= 0.5, floor + 1, floor)


def round_up(batch: Batch, documents: Array) -> Array:
    """Round up from a tenth on, as trec_eval 9 and older do."""
    return batch.xp.floor(documents + 0.9)


ROUNDING = {"nearest": round_half_up, "up": round_up}


def best_precision(batch: Batch, relevant: Array, needed: Array, k: int | None) -> Array:
    """Return [Q, H]: the best precision from the rank of the `needed`-th relevant document on, in its column."""
    xp, x = batch.xp, batch.to_real(relevant)
    retrieved, rank = sum_before(batch, x) + x, batch.to_real(batch.above) + 1
    counts = relevant & (retrieved >= needed[:, None])
    precision = xp.where(counts if k is None else counts & (rank <= k), retrieved / rank, 0.0)
    column = xp.arange(x.shape[1], dtype=batch.first.dtype, device=batch.device)[None, :]
    return xp.where(column == xp.argmax(precision, axis=1, keepdims=True), precision, 0.0)


class BestPrecision:
    """The best precision of a query once enough relevant documents are found, over all orders of its ties."""

    def __init__(
        self, measure: object, batch: Batch, groups: list[TieGroup], needed: Iterable[int], k: int | None
    ) -> None:
        """Take the tie groups of a query, the numbers of relevant documents that are needed, and the cut-off."""
        self.groups, self.needed, self.k, self.xp = groups, list(needed), k, batch.xp
        self.found = list(accumulate((sum(group.counts) for group in groups), initial=0))
        values = sorted({precision for i in range(len(groups)) for precision in self._possible(i)})
        steps = len(values) * sum(group.places(k) * sum(group.counts) for group in groups if group.size > 1)
        if steps > MOST_STEPS:
            raise TooManyOrders(
                f"{measure}: the exact mean over the orders of tied documents takes {steps:,} steps, more than"
                f" {MOST_STEPS:,}; ties='sampled' estimates it, and best, worst, trec, order and random take one order"
            )
        like = {"dtype": batch.grade.dtype, "device": batch.device}
        self.values = batch.xp.asarray([0.0, *values], **like)[None, :]
        self.least = batch.xp.asarray(self.needed, **like)[:, None]

    def _possible(self, i: int) -> Iterator[float]:
        """Yield the precisions that are possible at a relevant document of group i."""
        group = self.groups[i]
        for a in range(1, sum(group.counts) + 1):
            if self.found[i] + a >= min(self.needed):
                for x in range(a, group.places(self.k) + 1):
                    yield (self.found[i] + a) / (group.above + x)

    def by_group(self) -> list[list[float]]:
        """Return the contribution of each group to the mean of the best precision, for each needed number."""
        below = self.xp.ones_like(self.least * self.values)
        best, adds = [0.0] * len(self.needed), []
        for i, group in enumerate(self.groups):
            mean = best
            if sum(group.counts) and group.places(self.k):
                below = below * self._stays_below(i)
                share = below - self.xp.concat([below[:, :1] * 0, below[:, :-1]], axis=1)
                mean = to_lists(self.xp.sum(self.values * share, axis=1))
            adds.append([after - before for after, before in zip(mean, best, strict=True)])
            best = mean
        return adds

    def _stays_below(self, i: int) -> Array:
        """Return, for each needed number, the probability that no precision exceeds each of the values.

        This walks over the places of the group. `reached` holds the probabilities of having found 0, 1, … relevant
        documents, none of them at a precision above the value.
        """
        group, found, xp = self.groups[i], self.found[i], self.xp
        r, n = sum(group.counts), group.size
        one = xp.ones_like(self.least * self.values)
        reached = [one, *(xp.zeros_like(one) for _ in range(r))]
        for x in range(1, group.places(self.k) + 1):
            for a in range(min(r, x) - 1, -1, -1):
                step = reached[a] * ((r - a) / (n - x + 1))
                early, low = found + a + 1 < self.least, (found + a + 1) / (group.above + x) <= self.values
                step = xp.where(early | low, step, 0.0)
                reached[a + 1] = reached[a + 1] * _others_left(n - x + 1, r - a - 1) + step
            reached[0] = reached[0] * _others_left(n - x + 1, r)
        return reduce(add, reached)


def _others_left(left: int, relevant: int) -> float:
    """Return the probability that the next document is not relevant, given how many are left and relevant."""
    return max(left - relevant, 0) / left


def check_recall(name: str, value: Any) -> float | tuple[float, ...]:
    """Check a level of recall, or a list of them."""
    levels = tuple(value) if isinstance(value, Iterable) else (value,)
    if not levels or not all(is_number(level) and 0 <= level <= 1 for level in levels):
        raise MeasureError(f"{name} must be a number from 0 to 1, or a list of them; found {value!r}")
    levels = tuple(to_python(level) for level in levels)
    return levels[0] if len(levels) == 1 else levels


class IPrec(Binary):
    """Interpolated precision: the best precision at the ranks that reach a level of recall.

        IPrec(recall=s) = max of P@i over the ranks i with at least s·RB relevant documents in the top i

    It is 0 if there is no such rank. With several levels of recall, it is the mean over them; the default levels
    0, 0.1, …, 1 give the eleven-point average. s·RB is rounded.

    Ties: the probability that no precision exceeds v is a product over tie groups, each computed by a walk over its
    places and the number of relevant documents so far; the mean follows from these probabilities. If that takes too
    many steps, the mean is refused, and ties='sampled' estimates it. No relevant document: 0.
    Reference: Manning, Raghavan, Schütze, Introduction to Information Retrieval (2008), 8.4, as iprec_at_recall and
    11pt_avg in trec_eval.

    >>> from gradely import IPrec, from_arrays
    >>> IPrec(recall=0.5)(from_arrays([4, 3, 2, 1], [0, 1, 1, 0])).tolist() == [2 / 3]
    True
    """

    name = "IPrec"
    may_refuse = True
    takes_fixed = False
    recall: float | Iterable[float] = parameter(
        default=tuple(i / 10 for i in range(11)),
        doc="a level of recall, or several to average over",
        check=check_recall,
    )
    rounding: str = parameter(
        default="nearest",
        doc="how recall times the relevant documents is rounded: 'nearest', as in trec_eval 10, or 'up', as in 9",
        check=one_of(ROUNDING),
    )

    def __matmul__(self, k: Any) -> Self:
        """Return the measure at a level of recall, as in IPrec @ 0.1, or with a cut-off, which is a whole number."""
        return self.replace(recall=k) if isinstance(k, float) else super().__matmul__(k)

    @property
    def levels(self) -> tuple[float, ...]:
        """The levels of recall."""
        return self.recall if isinstance(self.recall, tuple) else (float(self.recall),)  # type: ignore[arg-type]

    def needed(self, batch: Batch, level: float) -> Array:
        """Return [Q]: the number of relevant documents that reach a level of recall."""
        return ROUNDING[self.rounding](batch, level * self.recall_base(batch))

    def at(self, batch: Batch, level: float) -> Array:
        """Return [Q, H]: the interpolated precision at a level of recall, in the column where it is reached."""
        return best_precision(batch, self.relevant(batch), self.needed(batch, level), self.k)

    def terms(self, batch: Batch) -> Array:
        """Return the sum of the interpolated precisions over all levels, in the columns where they are reached."""
        levels = sorted(self.levels, reverse=True)
        terms = self.at(batch, levels[0])
        for level in levels[1:]:
            terms = terms + self.at(batch, level)
        return terms if batch.untied else self._mean_terms(batch, terms)

    def _mean_terms(self, batch: Batch, terms: Array) -> Array:
        """Return the terms with those of tied queries replaced by each group's share in the mean best precision."""
        relevant = self.relevant(batch)
        needed = [to_lists(self.needed(batch, level)) for level in self.levels]

        def mean(query: TiedQuery) -> dict[int, dict[int, float]]:
            times = Counter(int(level[query.row]) for level in needed)
            adds = BestPrecision(self, batch, query.groups, times, self.k).by_group()
            sums = [sum(map(mul, times.values(), of_group)) for of_group in adds]
            counts = [sum(group.counts) for group in query.groups]
            return {i: {1: sums[i] / count} if count else {} for i, count in enumerate(counts)}

        return fill_groups(batch, terms, batch.xp.astype(relevant, batch.first.dtype), mean)

    def norm(self, batch: Batch) -> Array:
        """Return the number of levels."""
        return batch.xp.full_like(batch.grade[:, 0], float(len(self.levels)))


class bpref(Binary):  # noqa: N801 - the field's name
    """Binary preference: how rarely judged non-relevant documents are ranked above relevant ones.

        bpref = (1/RB) Σ over retrieved relevant documents of 1 - min(a, RB) / min(RB, NR)

    a is the number of judged non-relevant documents above the document, NR the number of those in the pool, and RB the
    number of relevant documents of the pool. Unjudged documents do not matter. A negative label counts as unjudged, as
    in trec_eval.

    Ties: with n' judged non-relevant documents in the same tie group, a is uniform on a … a+n'. No relevant
    document: 0.
    Reference: Buckley and Voorhees, Retrieval evaluation with incomplete information (2004), as in trec_eval.

    >>> from gradely import bpref, from_arrays
    >>> bpref()(from_arrays([4, 3, 2, 1], [1, 0, 1, 0])).tolist() == [(1 + (1 - 1 / 2)) / 2]
    True
    """

    name = "bpref"

    def is_opposed(self, real: Array, labels: Array) -> Array:
        """Return true for judged non-relevant documents."""
        return real & (labels >= 0) & (labels < self.rel)

    def terms(self, batch: Batch) -> Array:
        """Return 1 minus the share of violated preferences."""
        xp = batch.xp
        base = self.recall_base(batch)[:, None]
        opposed = xp.sum(batch.to_real(self.is_opposed(batch.pooled, batch.pool)), axis=1, keepdims=True)
        norm = xp.clip(xp.minimum(base, opposed), min=1.0)

        def credit(y: Array, over: Array) -> Array:
            """Return Σ over u < y of 1 - min(over + u, RB)/norm, an arithmetic series."""
            rising = xp.minimum(xp.maximum(base - over, xp.zeros_like(over)), y)
            return y - (rising * over + rising * (rising - 1) / 2 + (y - rising) * base) / norm

        x = batch.to_real(self.is_opposed(batch.judged, batch.grade))
        against = Opposition(sum_before(batch, x), sum_in_group(batch, x) + 1)
        return preference(batch, self.relevant(batch), against, credit, self.k)

    def norm(self, batch: Batch) -> Array:
        """Return the number of relevant documents."""
        return self.recall_base(batch)

    def priority(self, batch: Batch) -> Array:
        """Rank relevant documents first, then unjudged, then judged non-relevant ones."""
        return batch.to_real(self.relevant(batch)) - batch.to_real(self.is_opposed(batch.judged, batch.grade))
