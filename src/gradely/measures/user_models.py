"""Measures of the rate of gain of a user who decides at each rank whether to go on: INSQ, INST, BPM, NERR8-11.

The value is Σ g_i · W_i. g_i is relevance over the top of the scale. W_i is the share of the user's attention at rank
i: the probability of reaching the rank, Π_{j<i} C_j, over the sum of these probabilities. C_i is the probability of
going on from rank i.
"""

from abc import abstractmethod
from collections.abc import Callable
from itertools import product
from typing import ClassVar, NamedTuple

from gradely.errors import MeasureError
from gradely.kernel.backend import sum_rows, take_in_rows, to_lists
from gradely.kernel.batch import Array, Batch, rows_at_a_time
from gradely.kernel.compositions import (
    STATES,
    TiedQuery,
    TieGroup,
    check_compositions,
    compositions,
    replace_rows,
    tied_queries,
)
from gradely.kernel.families import additive
from gradely.kernel.parameters import CHANCE_TO_GO_ON, check_whole, parameter, to_python
from gradely.kernel.series import inverse_sums, trigamma
from gradely.kernel.ties import sum_in_parts
from gradely.kernel.uncertain import UncertainBatch
from gradely.measures.base import Expected, ScaleBased
from gradely.measures.precision import length_of
from gradely.measures.searched_measure import ArrangedMeasure, Arrangement, WholeNumbers, by_kind, levels_of
from gradely.settings import is_number


class RateOfGain(ScaleBased):
    """A measure of the gain per document that the user looks at."""

    depth: int | None = parameter(
        default=None,
        doc="the number of ranks; None: infinitely many; 1000: as in cwl_eval",
        check=check_whole,
    )

    def gain(self, batch: Batch) -> Array:
        """Return [Q, H]: relevance over the top of the scale."""
        return batch.grade / float(self.top or 1)

    @property
    def last(self) -> int | None:
        """The last rank that can contribute gain, or None."""
        ends = [end for end in (self.k, self.depth) if end is not None]
        return min(ends, default=None)

    def end(self, batch: Batch) -> Array:
        """Return [Q]: the last rank that the user looks at, k or the length of the ranking, and at most `depth`."""
        end = length_of(batch, self.k)
        return end if self.depth is None else batch.xp.clip(end, max=float(self.depth))


class Expecting(RateOfGain):
    """A measure whose user expects to gain T."""

    T: float = parameter(default=1, doc="the gain that the user expects, in documents of the highest relevance")
    least: ClassVar[float] = 0.0

    def check_parameters(self) -> None:
        """Raise MeasureError if the expectation is invalid."""
        super().check_parameters()
        if not is_number(self.T) or self.T <= 0 or self.least > self.T:
            bound = f"of at least {self.least:g}" if self.least else "above 0"
            raise MeasureError(f"T, the gain that the user expects, must be a number {bound}; found {self.T!r}")
        self._set("T", to_python(self.T))


def expect_attention(measure: "INSQ", batch: UncertainBatch) -> Expected:
    """A document contributes its mean relevance times the attention at its rank."""
    gain = batch.mean(measure.gain(measure.relevance_of_labels(batch))[0, :])
    return Expected(gain, additive(batch.places, gain, measure.attention, measure.last), measure.norm(batch.places))


class INSQ(Expecting):
    """The rate of gain of a user whose attention falls with the square of the rank.

        INSQ = Σ_i g_i / (i + 2T - 1)²  /  Σ_i 1 / (i + 2T - 1)²

    g is relevance over the top of the scale. Both sums are infinite, so the second is ψ'(2T), the trigamma function.
    The larger T, the deeper the user looks. With k, documents after rank k contribute no gain; `depth=1000` ends both
    sums at that rank.

    Ties: each document of a tie group gets the mean of 1/(i + 2T - 1)² over the group's places. No relevant document:
    0.
    Reference: Moffat, Scholer, Thomas, Models and metrics: IR evaluation as a user process (2012), as in cwl_eval.

    >>> from math import pi
    >>> from gradely import INSQ, from_arrays
    >>> value = INSQ(T=0.5)(from_arrays([3, 2, 1], [2, 0, 1])).item()
    >>> abs(value - (1 + (1 / 2) / 3**2) / (pi**2 / 6)) < 1e-15
    True
    """

    name = "INSQ"
    expectation = expect_attention

    def terms(self, batch: Batch) -> Array:
        """Return relevance times the attention at the rank."""
        return additive(batch, self.gain(batch), self.attention, self.last)

    def attention(self, batch: Batch, rank: Array) -> Array:  # noqa: ARG002 - as discounts are
        """Return (i + 2T - 1)²."""
        return (rank + (2 * self.T - 1)) ** 2

    def norm(self, batch: Batch) -> Array:
        """Return the sum of the attention at all ranks."""
        first = batch.constant(2.0 * self.T)
        all_ranks = trigamma(batch.xp, first)
        return all_ranks if self.depth is None else all_ranks - trigamma(batch.xp, first + float(self.depth))


class Walk(NamedTuple):
    """How users walk down the rankings of a batch."""

    reach: Array
    """[Q, H] the probability of reaching each judged document"""
    length: Array
    """[Q] the mean number of documents that the user looks at"""


class UserModel(RateOfGain):
    """A user who decides at each rank whether to go on, given the gain at that rank and the total gain so far.

    Subclasses define `go_on` and `tail`.
    """

    takes_expected = False
    takes_fixed = False

    @abstractmethod
    def go_on(self, batch: Batch, rank: Array, gain: Array, gained: Array) -> Array:
        """Return [Q, D]: the probability of going on from each rank, [D], given the gain there and the total gain."""

    @abstractmethod
    def tail(self, batch: Batch, last: Array, gained: Array) -> Array:
        """Return [Q]: the mean number of documents viewed from the last rank, [Q], on, if nothing more is gained."""

    def terms(self, batch: Batch) -> Array:
        """Return the gain times the probability of reaching it."""
        return self._inside(batch, self.gain(batch), batch.above) * self._walk(batch).reach

    def norm(self, batch: Batch) -> Array:
        """Return the mean number of documents that the user looks at."""
        return self._walk(batch).length

    def _inside(self, batch: Batch, gain: Array, above: Array) -> Array:
        return gain if self.last is None else batch.xp.where(above < self.last, gain, 0.0)

    def _walk(self, batch: Batch) -> Walk:
        """Return the walks of all rows, computed once per batch, in blocks because each rank needs a cell."""
        key = (UserModel, self.key)
        if key not in batch.memo:
            deepest = max(batch.depth, 1) if self.depth is None else int(self.depth)
            rows, count = rows_at_a_time(deepest), int(batch.grade.shape[0])
            blocks = [batch.rows(slice(i, min(i + rows, count))) for i in range(0, count, rows)]
            parts = [self._walk_down(block, deepest) for block in blocks]
            batch.memo[key] = Walk(*(batch.xp.concat(arrays) for arrays in zip(*parts, strict=True)))
        walk: Walk = batch.memo[key]
        return walk

    def _walk_down(self, batch: Batch, deepest: int) -> Walk:
        xp, rank = batch.xp, batch.count_up(deepest)
        gain = self._inside(batch, gains_by_rank(batch, self.gain(batch), deepest), (rank - 1)[None, :])
        gained = xp.cumulative_sum(gain, axis=1)
        reach = xp.cumulative_prod(self.go_on(batch, rank[None, :], gain, gained), axis=1, include_initial=True)
        counts = batch.judged if self.k is None else batch.judged & (batch.above < self.k)
        last = xp.max(xp.where(counts, batch.above + 1, 1), axis=1, keepdims=True)
        if self.depth is not None:
            length = sum_rows(reach[:, :-1])
        else:  # the tail begins after the last document that counts, so no digit depends on other queries
            length = sum_rows(xp.where(rank[None, :] <= batch.to_real(last), reach[:, :-1], 0.0))
            left, so_far = (take_in_rows(x, at)[:, 0] for x, at in ((reach, last), (gained, last - 1)))
            length = length + left * self.tail(batch, batch.to_real(last[:, 0]), so_far)
        return Walk(take_in_rows(reach, xp.clip(batch.above, max=deepest)), length)


def gains_by_rank(batch: Batch, gain: Array, deepest: int) -> Array:
    """Return [Q, D]: the gain at each rank of rankings without ties, 0 at ranks without a judged document."""
    xp = batch.xp
    start = batch.row * (deepest + 1)
    keys = xp.reshape(start + xp.clip(xp.where(batch.judged, batch.above, deepest), max=deepest), (-1,))
    place = xp.arange(deepest, dtype=batch.above.dtype, device=batch.device)[None, :]
    wanted = xp.reshape(start + place, (-1,))
    column = xp.clip(xp.searchsorted(keys, wanted), max=keys.shape[0] - 1)
    found = xp.take(keys, column) == wanted
    gains = xp.where(found, xp.take(xp.reshape(gain, (-1,)), column), 0.0)
    return xp.reshape(gains, (gain.shape[0], deepest))


class INST(UserModel, Expecting):
    """The rate of gain of a user who reads less deeply the more they have gained.

        INST = Σ_i g_i · W_i,  C_i = ((i + s_i - 1) / (i + s_i))²,  s_i = 2T - g_1 - … - g_i

    g is relevance over the top of the scale, C_i the probability of going on from rank i, and W_i the share of
    attention at rank i: Π_{j<i} C_j over the infinite sum of these products. Without gain, the user reads as deep as
    in INSQ. With k, documents after rank k contribute no gain; `depth=1000` ends the sum at that rank.

    Ties: the value is a ratio of two sums that both depend on the order, and no closed form is known for its mean over
    orders; ties='expected' is refused, and ties='sampled' estimates it. No relevant document: 0.
    Reference: Moffat, Bailey, Scholer, Thomas, INST: an adaptive metric for information retrieval evaluation (2015), as
    in cwl_eval.

    >>> from math import pi
    >>> from gradely import INST, from_arrays
    >>> value = INST(T=1)(from_arrays([1], [1])).item()  # s = 1 from rank 1 on
    >>> abs(value - 1 / (1 + (1 / 2) ** 2 * 2**2 * (pi**2 / 6 - 1))) < 1e-15
    True
    """

    name = "INST"
    least = 0.5

    def go_on(self, batch: Batch, rank: Array, gain: Array, gained: Array) -> Array:  # noqa: ARG002 - as all models
        """Return ((i + s - 1) / (i + s))²."""
        seen = rank + 2 * self.T - gained
        return ((seen - 1) / seen) ** 2

    def tail(self, batch: Batch, last: Array, gained: Array) -> Array:
        """Return (N + s)² · ψ'(N + s)."""
        seen = last + 2 * self.T - gained
        return seen**2 * trigamma(batch.xp, seen)


class NERR8(UserModel):
    """The rate of gain of a user who goes on until satisfied, or until rank k.

        NERR8@k = Σ_i g_i · W_i,  C_i = 1 - g_i, 0 from rank k on

    g is relevance over the top of the scale, C_i the probability of going on from rank i, and W_i the share of
    attention at rank i: Π_{j<i} C_j over the sum of these products. If every label is 0 or the top of the scale, it
    is RR@k. Without k, the length of the ranking is used.

    Ties: the value is a ratio of two sums that both depend on the order, and no closed form is known for its mean over
    orders; ties='expected' is refused, and ties='sampled' estimates it. No relevant document: 0.
    Reference: Azzopardi, Mackenzie, Moffat, ERR is not C/W/L: exploring the relationship between expected reciprocal
    rank and other metrics (2021), eq. 8; as in cwl_eval.

    >>> from gradely import NERR8, from_arrays
    >>> NERR8(k=2)(from_arrays([3, 2, 1], [1, 2, 0])).tolist() == [(1 / 2 + (1 / 2) * 1) / (1 + 1 / 2)]
    True
    """

    name = "NERR8"

    def go_on(self, batch: Batch, rank: Array, gain: Array, gained: Array) -> Array:  # noqa: ARG002 - as all models
        """Return 1 - g, and 0 from the end on."""
        return batch.xp.where(rank < self.end(batch)[:, None], 1.0 - gain, 0.0)

    def tail(self, batch: Batch, last: Array, gained: Array) -> Array:  # noqa: ARG002 - as all models
        """Return one document per rank that is left."""
        return batch.xp.clip(self.end(batch) - last, min=0.0)


class NERR9(NERR8):
    """The rate of gain of a user who goes on until satisfied or tired, or until rank k.

        NERR9@k = Σ_i g_i · W_i,  C_i = i/(i+1) · (1 - g_i), 0 from rank k on

    The symbols are those of NERR8.

    Ties: the value is a ratio of two sums that both depend on the order, and no closed form is known for its mean over
    orders; ties='expected' is refused, and ties='sampled' estimates it. No relevant document: 0.
    Reference: Azzopardi, Mackenzie, Moffat (2021), eq. 9; as in cwl_eval.

    >>> from gradely import NERR9, from_arrays
    >>> NERR9(k=2)(from_arrays([3, 2, 1], [1, 2, 0])).tolist() == [(1 / 2 + (1 / 4) * 1) / (1 + 1 / 4)]
    True
    """

    name = "NERR9"

    def go_on(self, batch: Batch, rank: Array, gain: Array, gained: Array) -> Array:
        """Return i/(i+1) · (1 - g), and 0 from the end on."""
        return rank / (rank + 1) * super().go_on(batch, rank, gain, gained)

    def tail(self, batch: Batch, last: Array, gained: Array) -> Array:
        """Return the sum of (N + 1)/i over the ranks i that are left."""
        first = last + 1
        return first * inverse_sums(batch.xp, first, super().tail(batch, last, gained)).inverse


class NERR10(UserModel):
    """The rate of gain of a user who goes on with a constant probability until satisfied.

        NERR10 = Σ_i g_i · W_i,  C_i = p · (1 - g_i)

    p is the probability that a user who is not satisfied goes on; the other symbols are those of NERR8. With k,
    documents after rank k contribute no gain; `depth=1000` ends the sum at that rank.

    Ties: the value is a ratio of two sums that both depend on the order, and no closed form is known for its mean over
    orders; ties='expected' is refused, and ties='sampled' estimates it. No relevant document: 0.
    Reference: Azzopardi, Mackenzie, Moffat (2021), eq. 10; as in cwl_eval.

    >>> from gradely import NERR10, from_arrays
    >>> NERR10(p=0.5)(from_arrays([2, 1], [0, 1])).tolist() == [0.5 / (1 + 0.5)]
    True
    """

    name = "NERR10"
    p: float = parameter(
        default=0.9,
        doc="persistence: the probability of going on if a document does not satisfy the user",
        check=CHANCE_TO_GO_ON,
    )

    def go_on(self, batch: Batch, rank: Array, gain: Array, gained: Array) -> Array:  # noqa: ARG002 - as all models
        """Return p · (1 - g)."""
        return self.p * (1.0 - gain)

    def tail(self, batch: Batch, last: Array, gained: Array) -> Array:  # noqa: ARG002 - as all models
        """Return 1/(1-p)."""
        return batch.xp.full_like(gained, 1 / (1 - self.p))


class NERR11(UserModel, Expecting):
    """The rate of gain of a user with the attention of INSQ, who goes on until satisfied.

        NERR11 = Σ_i g_i · W_i,  C_i = ((i + 2T - 1) / (i + 2T))² · (1 - g_i)

    The symbols are those of NERR8 and INSQ. With k, documents after rank k contribute no gain; `depth=1000` ends the
    sum at that rank.

    Ties: the value is a ratio of two sums that both depend on the order, and no closed form is known for its mean over
    orders; ties='expected' is refused, and ties='sampled' estimates it. No relevant document: 0.
    Reference: Azzopardi, Mackenzie, Moffat (2021), eq. 11; as in cwl_eval.

    >>> from gradely import NERR11, from_arrays
    >>> NERR11(T=1)(from_arrays([2, 1], [0, 1])).tolist() == [(2 / 3) ** 2 / (1 + (2 / 3) ** 2)]
    True
    """

    name = "NERR11"

    def go_on(self, batch: Batch, rank: Array, gain: Array, gained: Array) -> Array:  # noqa: ARG002 - as all models
        """Return the probability of INSQ times 1 - g."""
        seen = rank + 2 * self.T
        return ((seen - 1) / seen) ** 2 * (1.0 - gain)

    def tail(self, batch: Batch, last: Array, gained: Array) -> Array:  # noqa: ARG002 - as all models
        """Return (N + 2T)² · ψ'(N + 2T)."""
        seen = last + 2.0 * self.T
        return seen**2 * trigamma(batch.xp, seen)


class BPM(ArrangedMeasure, Expecting):
    """The bejeweled player model: the rate of gain of a user who stops once T is gained, or at rank k.

        BPM@k = (g_1 + … + g_i) / i,  i the first rank with a sum of at least T, or k

    g is relevance over the top of the scale. If the ranking ends before rank k and the user has not gained T, i is k.
    Without k, the length of the ranking is used.

    Ties: only the tie group in which the user stops matters. The mean is over the numbers of documents of each
    relevance that were seen there; best and worst try all of them. If there are too many, the mean is refused
    (ties='sampled' estimates it), and the bounds are 1 and 0. No relevant document: 0.
    Reference: Zhang, Liu, Li, Zhang, Xu, Ma, Evaluating web search with a bejeweled player model (2017); the static
    model in cwl_eval, which compares rounded sums.

    >>> from gradely import BPM, from_arrays
    >>> BPM(k=4)(from_arrays([5, 4, 3, 2, 1], [1, 0, 1, 2, 0])).tolist() == [(1 / 2 + 1 / 2) / 3]
    True
    """

    name = "BPM"
    may_refuse = True
    takes_fixed = False

    def kinds(self, batch: Batch) -> Array:
        """Return the rank of each document's relevance among the values of the pool, lowest first; 0 for none."""
        return levels_of(batch, batch.pool, batch.grade)

    def end(self, batch: Batch) -> Array:
        """Return [Q]: the last rank that the user looks at, which is at least 1."""
        return batch.xp.clip(super().end(batch), min=1.0)

    @property
    def wanted(self) -> float:
        """The sum of relevance at which the user stops."""
        return float(self.T) * float(self.top or 1)

    def terms(self, batch: Batch) -> Array:
        """Return the gain of each document that is seen, divided by their number."""
        xp, end = batch.xp, self.end(batch)[:, None]
        high, low = (part[:, 1:] for part in sum_in_parts(batch, batch.grade))
        stops = batch.judged & ((high - self.wanted) + low >= 0)
        first = xp.argmax(xp.astype(stops, xp.int8), axis=1, keepdims=True)
        rank = xp.where(xp.any(stops, axis=1, keepdims=True), take_in_rows(batch.rank, first), end)
        rank = xp.minimum(rank, end)
        terms = xp.where(batch.rank <= rank, self.gain(batch), 0.0) / rank
        return terms if batch.untied else self._mean_terms(batch, terms)

    def _mean_terms(self, batch: Batch, terms: Array) -> Array:
        """Return the terms; those of queries with ties are means over the documents that are seen."""
        reading_of = self._readings(batch)
        queries = tied_queries(batch, self.kinds(batch))
        return replace_rows(batch, terms, {query.row: reading_of(query).means(self, query.kinds) for query in queries})

    def _readings(self, batch: Batch) -> "Callable[[TiedQuery], Reading]":
        ends, top = to_lists(self.end(batch)), float(self.top or 1)
        (label_of,) = by_kind(self.kinds(batch), batch.grade)
        return lambda query: Reading.of(query.groups, label_of(query.row), self.wanted, top, int(ends[query.row]))

    def too_many(self, groups: list[TieGroup]) -> bool:
        """True if a tie group has too many compositions."""
        return any(group.states > STATES for group in groups)

    def arrangements(self, batch: Batch) -> Callable[[TiedQuery], Arrangement]:
        """Return the arrangements found by trying every composition of the group in which the user stops."""
        reading_of, extreme = self._readings(batch), max if batch.ties == "best" else min

        def arrange(query: TiedQuery) -> Arrangement:
            reading = reading_of(query)
            ways = reading.ways()
            return {reading.number: extreme(ways)[1]} if ways else {}

        return arrange


class Reading(NamedTuple):
    """How a user reads one ranking: until the total relevance reaches a sum, or to the last rank."""

    groups: list[TieGroup]
    label: dict[int, int]
    """the relevance of each kind, in whole multiples of a common unit"""
    wanted: int
    """the sum at which the user stops, in the same unit"""
    end: int
    """the last rank"""
    top: int
    """the top of the scale, in the same unit"""
    number: int
    """the index of the tie group in which the user stops, or the number of groups if the user stops in none"""
    before: int
    """the sum of relevance above that group, in the same unit"""

    @classmethod
    def of(cls, groups: list[TieGroup], labels: dict[int, float], wanted: float, top: float, end: int) -> "Reading":
        """Find the first tie group in which the user can stop; only its order matters."""
        whole = WholeNumbers([*labels.values(), wanted, top])
        label = {kind: whole(value) for kind, value in labels.items()}
        need = whole(wanted)
        sums = [0]
        for group in groups:
            sums.append(sums[-1] + sum(count * label[kind] for kind, count in group.by_kind.items()))
        number = next(
            (i for i, group in enumerate(groups) if sums[i + 1] >= need or group.above + group.size >= end),
            len(groups),
        )
        return cls(groups, label, need, end, whole(top), number, sums[number])

    def means(self, measure: BPM, kinds: list[int]) -> list[float]:
        """Return the mean contribution of each column."""
        terms = [0.0] * len(kinds)
        inverse, inside = self._mean_of_group(measure)
        for i, group in enumerate(self.groups[: self.number + 1]):
            for c in group.columns:
                if kinds[c]:
                    share = inside[kinds[c]] if i == self.number else inverse
                    terms[c] = share * (self.label[kinds[c]] / self.top)
        return terms

    def _mean_of_group(self, measure: BPM) -> tuple[float, dict[int, float]]:
        """Return the mean of 1/rank at the stop, and the mean contribution of a document of each kind in the group."""
        if self.number == len(self.groups):
            return 1 / self.end, {}
        group = self.groups[self.number]
        if group.above >= self.end:
            return 1 / self.end, dict.fromkeys(group.kinds, 0.0)
        check_compositions(measure, group.size, group.counts)
        counts = group.by_kind
        inverse, seen = 0.0, dict.fromkeys(group.kinds, 0.0)
        for x in range(1, group.size + 1):
            rank = group.above + x
            for placed, chance in compositions(group.counts, group.size, x - 1):
                for kind, likely in self._stops(group, placed, x):
                    share = chance * likely / rank
                    inverse += share
                    for other, number in zip(group.kinds, placed, strict=True):
                        seen[other] += share * (number + (other == kind)) / counts[other]
        return inverse, seen

    def _stops(self, group: TieGroup, placed: tuple[int, ...], x: int) -> list[tuple[int, float]]:
        """Return the kinds at which the user can stop at place x, 0 for none, with their probabilities."""
        total = self.before + sum(n * self.label[kind] for kind, n in zip(group.kinds, placed, strict=True))
        rank = group.above + x
        if total >= self.wanted or rank > self.end:
            return []
        left = dict(zip(group.kinds, (n - p for n, p in zip(group.counts, placed, strict=True)), strict=True))
        left[0] = group.size - x + 1 - sum(left.values())
        return [
            (kind, count / (group.size - x + 1))
            for kind, count in left.items()
            if count and (rank == self.end or total + self.label.get(kind, 0) * (kind > 0) >= self.wanted)
        ]

    def ways(self) -> list[tuple[float, list[int]]]:
        """Return the ways to stop: the value, and the kinds that are seen; for equal values, the shortest way."""
        if self.number == len(self.groups) or self.groups[self.number].above >= self.end:
            return []
        group, ways = self.groups[self.number], []
        for placed in product(*(range(count + 1) for count in group.counts)):
            seen = [kind for kind, n in zip(group.kinds, placed, strict=True) for _ in range(n)]
            total = self.before + sum(self.label[kind] for kind in seen)
            most = min(group.rest, self.end - group.above - len(seen) - 1)
            for idle in {0, most} if most >= 0 else ():
                x = len(seen) + idle + 1
                for kind, _ in self._stops(group, placed, x) if x <= group.size else ():
                    gain = total + (self.label[kind] if kind else 0)
                    ways.append((gain / (self.top * (group.above + x)), [*([0] * idle), *seen, kind]))
        return ways
