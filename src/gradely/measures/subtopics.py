"""Measures of diversity for judgments by subtopic: how many subtopics a ranking covers, and how little it repeats."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import count, takewhile
from math import fsum, inf, log, log2
from typing import Self, TypeAlias

from gradely.errors import MeasureError
from gradely.kernel.backend import sum_rows, to_lists
from gradely.kernel.batch import Array, Batch
from gradely.kernel.compositions import Adds
from gradely.kernel.families import additive, cascade, count_in_top, first_hit, no_discount, rank_discount, threshold
from gradely.kernel.gains import GAINS, LEAST_LOG, inverse_power
from gradely.kernel.gains import log2 as log2_discount
from gradely.kernel.parameters import CHANCE_TO_GO_ON, FROM_0_TO_1, check_flag, number, one_of, parameter
from gradely.kernel.subtopics import greedy_order, number_kinds
from gradely.kernel.ties import order_ties
from gradely.measures.base import THRESHOLD, Measure
from gradely.measures.precision import length_of
from gradely.measures.searched_measure import GroupTerms, SearchedMeasure, by_kind
from gradely.relevance import Levels

AddsOf: TypeAlias = Callable[[int, Sequence[int], Sequence[float]], float]
"""Takes a rank, the number of documents above that are relevant to each subtopic, and the entries of a document;
returns its contribution."""


class BySubtopic(Measure):
    """A measure of judgments by subtopic."""

    needs_subtopics = True
    takes_fixed = False
    takes_fixed_order = False

    def fit(self, levels: Levels) -> Self:
        """Return the measure; raise an error if the judgments have no subtopics."""
        if not levels.by_subtopic:
            raise MeasureError(
                f"{self} needs judgments by subtopic: TREC diversity qrels (query subtopic document label), a table "
                "with a column subtopic, or {query: {document: {subtopic: label}}}; to read them first, say "
                "read_qrels(…, subtopics=True)"
            )
        return super().fit(levels)

    @staticmethod
    def labels(batch: Batch) -> Array:
        """Return [Q, H, S]: the labels of retrieved documents by subtopic."""
        assert batch.subtopics is not None
        return batch.subtopics.labels

    @staticmethod
    def pool_labels(batch: Batch) -> Array:
        """Return [Q, B, S]: the labels of all judged documents by subtopic."""
        assert batch.subtopics is not None
        return batch.subtopics.pool


class RelevantBySubtopic(BySubtopic):
    """A measure of binary relevance to each subtopic."""

    rel: float = parameter(default=1, doc="labels of at least this count as relevant to the subtopic", check=THRESHOLD)

    def relevant(self, batch: Batch) -> Array:
        """Return [Q, H, S]: true if the document is relevant to the subtopic."""
        return self.labels(batch) >= self.rel

    def recall_bases(self, batch: Batch) -> Array:
        """Return [Q, S]: the number of documents of the pool that are relevant to each subtopic."""
        return batch.of_pools(
            (RelevantBySubtopic, self.rel),
            lambda pools: pools.xp.sum(pools.to_real(self.pool_labels(pools) >= self.rel), axis=1),
        )

    def count_subtopics(self, batch: Batch) -> Array:
        """Return [Q]: the number of subtopics with a relevant document; others do not count."""
        return batch.xp.sum(batch.to_real(self.recall_bases(batch) > 0), axis=1)

    def degenerate(self, batch: Batch) -> Array:
        """True if no document is relevant to any subtopic."""
        return self.count_subtopics(batch) == 0


class Diversity(RelevantBySubtopic, SearchedMeasure):
    """A sum over subtopics in which the contribution of a document depends on the documents above it.

    Sorting does not find its best order: a document that covers two subtopics is worth less below one that covers both.
    """

    @abstractmethod
    def of_subtopic(self, batch: Batch, relevant: Array) -> Array:
        """Return [Q, H]: the contribution of each document to one subtopic, given flags of its relevant documents."""

    def weights(self, batch: Batch) -> Array:
        """Return [Q, S]: the factors of the sums of subtopics."""
        return batch.xp.ones_like(self.recall_bases(batch))

    @abstractmethod
    def adds(self, batch: Batch) -> Callable[[int], AddsOf]:
        """Return a function that takes the index of a query and returns its AddsOf."""

    def plain_terms(self, batch: Batch) -> Array:
        """Return the contributions, summed over subtopics."""
        relevant, weights = self.relevant(batch), self.weights(batch)
        terms = batch.xp.zeros_like(batch.grade)
        for s in range(relevant.shape[2]):
            terms = terms + weights[:, s : s + 1] * self.of_subtopic(batch, relevant[:, :, s])
        return terms

    def bound(self, batch: Batch) -> Array:
        """Return the sum of the extremes of each subtopic by itself, which no order exceeds."""
        relevant, weights = self.relevant(batch), self.weights(batch)
        terms = batch.xp.zeros_like(batch.grade)
        for s in range(relevant.shape[2]):
            alone = order_by(batch, batch.to_real(relevant[:, :, s]))
            terms = terms + weights[:, s : s + 1] * self.of_subtopic(alone, alone.grade > 0)
        return terms

    def entries(self, batch: Batch) -> Array:
        """Return [Q, H, E]: the entries that define the kind of a document, first its relevance by subtopic."""
        return batch.to_real(self.relevant(batch))

    def kinds(self, batch: Batch) -> Array:
        """Return one kind per set of entries: documents relevant to the same subtopics are interchangeable."""
        key = (Diversity.kinds, self.key)
        if key not in batch.memo:
            batch.memo[key] = number_kinds(self.entries(batch))
        return batch.memo[key]

    def group_terms(self, batch: Batch) -> Callable[[int], GroupTerms]:
        """Return GroupTerms: contributions depend on the numbers of documents above relevant to each subtopic."""
        (entries_of,) = by_kind(self.kinds(batch), self.entries(batch))
        subtopics, adds_of = self.labels(batch).shape[2], self.adds(batch)
        return lambda row: _subtopic_terms(entries_of(row), subtopics, adds_of(row), self.k)

    def ideal_priority(self, batch: Batch) -> Array:
        """Return priorities for the greedy order, which covers something new at every rank."""
        return self.greedy_priority(batch, 0.5)

    def greedy_priority(self, batch: Batch, kept: float) -> Array:
        """Return [Q, H]: a priority that falls with the place in the greedy order; 0 for other documents."""
        relevant = batch.to_real(self.relevant(batch))
        _, taken = greedy_order(relevant, kept, relevant.shape[1])
        column = batch.xp.arange(relevant.shape[1], device=batch.device)[None, :]
        useful, priority = batch.xp.any(relevant > 0, axis=2), batch.xp.zeros_like(batch.grade)
        for place in range(taken.shape[1]):
            here = useful & (priority == 0) & (column == taken[:, place : place + 1])
            priority = batch.xp.where(here, float(taken.shape[1] - place), priority)
        return priority


def _subtopic_terms(entries: dict[int, list[float]], subtopics: int, adds_of: AddsOf, k: int | None) -> GroupTerms:
    """Return the GroupTerms of a query, given the entries of each kind."""

    def terms_of_group(start: int, kinds: tuple[int, ...], above: Counter[int]) -> Adds:
        own = [entries[kind] for kind in kinds]
        seen = [sum(n for kind, n in above.items() if entries[kind][s]) for s in range(subtopics)]

        def adds(kind: int, placed: tuple[int, ...]) -> float:
            place = start + sum(placed) + 1
            if k is not None and place > k:
                return 0.0
            before = [n + sum(p for p, entry in zip(placed, own, strict=True) if entry[s]) for s, n in enumerate(seen)]
            return adds_of(place, before, own[kind])

        return adds

    return terms_of_group


def order_by(batch: Batch, priority: Array) -> Batch:
    """Return the batch with its ties ordered by this priority according to its policy, and the priority as labels."""
    return order_ties(replace(batch, grade=priority, subtopics=None), lambda batch: batch.grade)


class Novel(Diversity):
    """A measure in which a document contributes less to a subtopic the more often it was covered above."""

    alpha: float = parameter(
        default=0.5,
        doc="the probability that a relevant document satisfies the user",
        check=number("the probability of satisfaction", FROM_0_TO_1),
    )

    @property
    def kept(self) -> float:
        """The worth of a document for a subtopic that was covered once."""
        return 1 - self.alpha

    @abstractmethod
    def discount(self, batch: Batch, rank: Array) -> Array:
        """Return the discounts of ranks."""

    @abstractmethod
    def discount_at(self, rank: int) -> float:
        """Return the discount of a rank."""

    def of_subtopic(self, batch: Batch, relevant: Array) -> Array:
        """Return (1-α)^(relevant documents above) / discount, a cascade with stopping probability α, divided by α."""
        if self.alpha == 0:
            return additive(batch, batch.to_real(relevant), self.discount, self.k)
        return cascade(batch, self.alpha * batch.to_real(relevant), self.discount, self.k) / self.alpha

    def adds(self, batch: Batch) -> Callable[[int], AddsOf]:  # noqa: ARG002 - the same for all queries
        """Return the sum over the document's subtopics of (1-α)^(relevant documents above), over the discount."""

        def adds(place: int, before: Sequence[int], entry: Sequence[float]) -> float:
            novel = sum(self.kept**n for n, flag in zip(before, entry, strict=True) if flag)
            return float(novel / self.discount_at(place))

        return lambda row: adds  # noqa: ARG005 - the same for all queries

    def ideal_priority(self, batch: Batch) -> Array:
        """Return priorities for the greedy order."""
        return self.greedy_priority(batch, self.kept)

    def full_sum(self) -> float:
        """Return the sum over the ranks for one subtopic if every document were relevant to it."""
        ranks = range(1, self.k + 1) if self.k is not None else count(1)
        lasting = takewhile(lambda rank: self.kept ** (rank - 1) > 1e-20, ranks)  # others are lost in rounding
        return fsum(self.kept ** (rank - 1) / self.discount_at(rank) for rank in lasting)


class DiscountedByLog(Novel):
    """A measure with a discount by the logarithm of the rank."""

    def discount(self, batch: Batch, rank: Array) -> Array:
        """Return log2(rank + 1)."""
        return log2_discount(batch, rank)

    def discount_at(self, rank: int) -> float:
        """Return log2(rank + 1)."""
        return log2(rank + 1)


class DiscountedByRank(Novel):
    """A measure with a discount by the rank."""

    def discount(self, batch: Batch, rank: Array) -> Array:
        """Return the rank."""
        return rank_discount(batch, rank)

    def discount_at(self, rank: int) -> float:
        """Return the rank."""
        return float(rank)


class DiscountedByPatience(Novel):
    """A measure with a discount by the probability of looking at a rank."""

    beta: float = parameter(
        default=0.5, doc="persistence: the probability of going on to the next document", check=CHANCE_TO_GO_ON
    )

    def discount(self, batch: Batch, rank: Array) -> Array:
        """Return 1 / β^(rank-1), capped where β^(rank-1) would underflow."""
        return inverse_power(batch, self.beta, rank - 1)

    def discount_at(self, rank: int) -> float:
        """Return 1 / β^(rank-1)."""
        return float(self.beta ** -min(rank - 1, LEAST_LOG / log(self.beta)))


class OverFull(Novel):
    """A measure normalised by the value of a ranking in which every document is relevant to every subtopic."""

    normalize: bool = parameter(
        default=True,
        doc="whether to divide by the value of documents that are relevant to every subtopic",
        check=check_flag,
    )

    def check_parameters(self) -> None:
        """Raise MeasureError if the sum diverges."""
        super().check_parameters()
        if self.normalize and self.alpha == 0 and self.k is None:
            raise MeasureError(
                f"{self.name}(alpha=0) needs a cut-off, as in {self.name}(alpha=0)@10: its norm diverges"
            )

    def norm(self, batch: Batch) -> Array:
        """Return the number of subtopics times the maximum for each."""
        return self.count_subtopics(batch) * self.full_sum() if self.normalize else batch.constant(1.0)


class OverGreedy(Novel):
    """A measure normalised by the value of the greedy ideal, which another ranking may exceed."""

    bounds = (0.0, inf)

    def norm(self, batch: Batch) -> Array:
        """Return the sum of the greedy ideal, down to k; its gains are cached by pool until a deeper one is needed."""
        depth = min(self.k or batch.pool.shape[1], batch.pool.shape[1])
        key = (greedy_order, self.alpha, self.rel)
        if key not in batch.pool_memo or batch.pool_memo[key][0] < depth:
            relevant = batch.to_real(self.pool_labels(batch) >= self.rel)
            batch.pool_memo[key] = depth, greedy_order(relevant, self.kept, depth)[0]
        gains = batch.pool_memo[key][1][:, :depth]
        return sum_rows(gains / self.discount(batch, batch.count_up(gains.shape[1])))


class alpha_DCG(DiscountedByLog, OverFull):  # noqa: N801 - the field's name
    """Discounted cumulative gain with novelty: a document counts less for a subtopic that was covered above.

        α-DCG@k = Σ_{i<=k} Σ_s J_s(i)·(1-α)^c_s(i) / log2(i+1), over S·Σ_{i<=k} (1-α)^(i-1) / log2(i+1)

    J_s(i) is 1 if the document at rank i is relevant to subtopic s, c_s(i) is the number of such documents above it,
    and S is the number of subtopics with a relevant document. The norm is the value of documents that are relevant to
    every subtopic; normalize=False omits it. If no document covers all subtopics, values stay below 1.

    Ties: per subtopic, the mean of (1-α)^c over the number of relevant documents of the tie group that come before. No
    relevant document: 0.
    Reference: Clarke and others, Novelty and diversity in information retrieval evaluation (2008), as in ndeval.

    >>> from math import log2
    >>> from gradely import evaluate
    >>> qrels = {"q": {"A": {"a": 1}, "B": {"b": 1}, "C": {"a": 1, "b": 1}}}
    >>> [value] = evaluate(qrels, {"q": ["A", "C"]}, "alpha_DCG(normalize=False)@2").mean().values()
    >>> value == 1 + (1 / 2 + 1) / log2(3)
    True
    """

    name = "alpha_DCG"


class alpha_nDCG(DiscountedByLog, OverGreedy):  # noqa: N801 - the field's name
    """Discounted cumulative gain with novelty, normalised by that of a greedy ideal ranking.

        α-nDCG@k = Σ_{i<=k} Σ_s J_s(i)·(1-α)^c_s(i) / log2(i+1), divided by this sum for the greedy ideal

    J_s(i) is 1 if the document at rank i is relevant to subtopic s, and c_s(i) is the number of such documents above
    it. The greedy ideal takes from the pool, rank by rank, the document that contributes most. If several contribute
    the same, it takes one that is relevant to the first subtopics, in the order of their ids; under ties='trec', the
    last by id, as `ndeval -traditional` does. It is not always the best possible ranking, so a value may exceed 1.

    Ties: per subtopic, the mean of (1-α)^c over the number of relevant documents of the tie group that come before. No
    relevant document: 0.
    Reference: Clarke and others, Novelty and diversity in information retrieval evaluation (2008), as in ndeval.

    >>> from math import log2
    >>> from gradely import evaluate
    >>> qrels = {"q": {"A": {"a": 1}, "B": {"b": 1}, "C": {"a": 1, "b": 1}}}
    >>> value = evaluate(qrels, {"q": ["A", "C"]}, ["alpha_nDCG@2"])["alpha_nDCG@2"]
    >>> value == (1 + (1 / 2 + 1) / log2(3)) / (2 + (1 / 2) / log2(3))
    True
    """

    name = "alpha_nDCG"


class ERR_IA(DiscountedByRank, OverFull):  # noqa: N801 - the field's name
    """Expected reciprocal rank over subtopics: how early users with different intents are served.

        ERR-IA@k = Σ_{i<=k} (1/i) Σ_s J_s(i)·(1-α)^c_s(i), over S·Σ_{i<=k} (1-α)^(i-1) / i

    J_s(i) is 1 if the document at rank i is relevant to subtopic s, c_s(i) is the number of such documents above it,
    and S is the number of subtopics with a relevant document. The norm is ndeval's. Chapelle's mean of ERR over
    subtopics is this value times α·Σ_{i<=k} (1-α)^(i-1)/i.

    Ties: per subtopic, the mean of (1-α)^c over the number of relevant documents of the tie group that come before. No
    relevant document: 0.
    Reference: Chapelle and others, Intent-based diversification of web search results (2011), as in ndeval.

    >>> from gradely import evaluate
    >>> qrels = {"q": {"A": {"a": 1}, "B": {"b": 1}}}
    >>> evaluate(qrels, {"q": ["A", "B"]}, ["ERR_IA@2"])["ERR_IA@2"] == (1 + 1 / 2) / (2 * (1 + (1 / 2) / 2))
    True
    """

    name = "ERR_IA"


class nERR_IA(DiscountedByRank, OverGreedy):  # noqa: N801 - the field's name
    """Expected reciprocal rank over subtopics, normalised by that of a greedy ideal ranking.

        nERR-IA@k = Σ_{i<=k} (1/i) Σ_s J_s(i)·(1-α)^c_s(i), divided by this sum for the greedy ideal

    The ideal is that of alpha_nDCG.

    Ties: per subtopic, the mean of (1-α)^c over the number of relevant documents of the tie group that come before. No
    relevant document: 0.
    Reference: Chapelle and others (2011), as in ndeval.

    >>> from gradely import evaluate
    >>> qrels = {"q": {"A": {"a": 1}, "B": {"b": 1}, "C": {"a": 1, "b": 1}}}
    >>> evaluate(qrels, {"q": ["A", "B"]}, ["nERR_IA@2"])["nERR_IA@2"] == (1 + 1 / 2) / (2 + (1 / 2) / 2)
    True
    """

    name = "nERR_IA"


class NRBP(DiscountedByPatience, OverFull):
    """Novelty- and rank-biased precision, for a user who goes on with probability β and wants something new.

        NRBP = (1-(1-α)β)/S · Σ_i β^(i-1) Σ_s J_s(i)·(1-α)^c_s(i)

    J_s(i) is 1 if the document at rank i is relevant to subtopic s, c_s(i) is the number of such documents above it,
    and S is the number of subtopics with a relevant document.

    Ties: per subtopic, the mean of (1-α)^c over the number of relevant documents of the tie group that come before. No
    relevant document: 0.
    Reference: Clarke, Kolla, Vechtomova, An effectiveness measure for ambiguous and underspecified queries (2009).

    >>> from gradely import evaluate
    >>> qrels = {"q": {"A": {"a": 1}, "B": {"b": 1}}}
    >>> evaluate(qrels, {"q": ["A", "B"]}, ["NRBP"])["NRBP"] == (1 - 1 / 4) / 2 * (1 + 1 / 2)
    True
    """

    name = "NRBP"

    def full_sum(self) -> float:
        """Return 1 / (1-(1-α)β), the sum over all ranks."""
        return 1 / (1 - self.kept * self.beta)


class nNRBP(DiscountedByPatience, OverGreedy):  # noqa: N801 - the field's name
    """Novelty- and rank-biased precision, normalised by that of a greedy ideal ranking.

        nNRBP = Σ_i β^(i-1) Σ_s J_s(i)·(1-α)^c_s(i), divided by this sum for the greedy ideal

    The ideal is that of alpha_nDCG.

    Ties: per subtopic, the mean of (1-α)^c over the number of relevant documents of the tie group that come before. No
    relevant document: 0.
    Reference: Clarke, Kolla, Vechtomova (2009), as in ndeval.

    >>> from gradely import evaluate
    >>> qrels = {"q": {"A": {"a": 1}, "B": {"b": 1}, "C": {"a": 1, "b": 1}}}
    >>> evaluate(qrels, {"q": ["A", "B"]}, ["nNRBP@2"])["nNRBP@2"] == (1 + 1 / 2) / (2 + (1 / 2) / 2)
    True
    """

    name = "nNRBP"


class AP_IA(Diversity):  # noqa: N801 - the field's name
    """The mean of average precision over subtopics.

        AP-IA = (1/S) Σ_s AP of the documents that are relevant to s

    S is the number of subtopics with a relevant document.

    Ties: as for AP, per subtopic. No relevant document: 0.
    Reference: Agrawal and others, Diversifying search results (2009), as in ndeval.

    >>> from gradely import evaluate
    >>> qrels = {"q": {"A": {"a": 1}, "B": {"b": 1}, "C": {"b": 1}}}
    >>> evaluate(qrels, {"q": ["A", "B", "C"]}, ["AP_IA"])["AP_IA"] == (1 + (1 / 2 + 2 / 3) / 2) / 2
    True
    """

    name = "AP_IA"

    def of_subtopic(self, batch: Batch, relevant: Array) -> Array:
        """Return the precision at each relevant document."""
        return threshold(batch, relevant, self.k)

    def weights(self, batch: Batch) -> Array:
        """Return 1 over the number of relevant documents of each subtopic."""
        return 1.0 / batch.xp.clip(self.recall_bases(batch), min=1.0)

    def norm(self, batch: Batch) -> Array:
        """Return the number of subtopics."""
        return self.count_subtopics(batch)

    def adds(self, batch: Batch) -> Callable[[int], AddsOf]:
        """Return the sum over the document's subtopics of precision over the number of relevant documents."""
        weights = to_lists(self.weights(batch))

        def adds(own: list[float], place: int, before: Sequence[int], entry: Sequence[float]) -> float:
            found = ((n + 1) * weight for n, weight, flag in zip(before, own, entry, strict=True) if flag)
            return float(sum(found) / place)

        return lambda row: partial(adds, weights[row])


class P_IA(RelevantBySubtopic):  # noqa: N801 - the field's name
    """The mean of precision over subtopics.

        P-IA@k = (1/S) Σ_s (documents in the top k that are relevant to s) / k

    S is the number of subtopics with a relevant document. Without k, the divisor is the length of the ranking.

    Ties: if k splits a tie group, each of its documents counts with its probability of being in the top k. No relevant
    document: 0.
    Reference: Agrawal and others, Diversifying search results (2009), as in ndeval.

    >>> from gradely import evaluate
    >>> qrels = {"q": {"A": {"a": 1}, "B": {"b": 1}, "C": {"a": 1, "b": 1}}}
    >>> evaluate(qrels, {"q": ["A", "C"]}, ["P_IA@2"])["P_IA@2"] == (2 / 2 + 1 / 2) / 2
    True
    """

    name = "P_IA"

    def terms(self, batch: Batch) -> Array:
        """Return the number of subtopics of each document, times its probability of being in the top k."""
        return self.priority(batch) * count_in_top(batch, batch.judged, self.k)

    def norm(self, batch: Batch) -> Array:
        """Return the cut-off times the number of subtopics."""
        return length_of(batch, self.k) * self.count_subtopics(batch)

    def priority(self, batch: Batch) -> Array:
        """Rank documents by the number of subtopics to which they are relevant."""
        return batch.xp.sum(batch.to_real(self.relevant(batch)), axis=2)


class StRecall(Diversity):
    """Subtopic recall: the share of subtopics for which there is a relevant document in the top k.

        StRecall@k = (subtopics with a relevant document in the top k) / S

    S is the number of subtopics with a relevant document in the pool. It is also known as I-rec and, if subtopics are
    nuggets of an answer, as coverage.

    Ties: per subtopic, the probability of a relevant document in the top k. It is 1 - C(n-r, d)/C(n, d) if d of the n
    documents of a tie group with r relevant ones fit into the top k. No relevant document: 0.
    Reference: Zhai, Cohen, Lafferty, Beyond independent relevance (2003), as strec in ndeval.

    >>> from gradely import evaluate
    >>> qrels = {"q": {"A": {"a": 1}, "B": {"b": 1}, "C": {"c": 1}}}
    >>> evaluate(qrels, {"q": ["A", "B", "C"]}, ["StRecall@2"])["StRecall@2"] == 2 / 3
    True
    """

    name = "StRecall"

    def of_subtopic(self, batch: Batch, relevant: Array) -> Array:
        """Return 1 at the first relevant document."""
        return first_hit(batch, relevant, no_discount, self.k)

    def norm(self, batch: Batch) -> Array:
        """Return the number of subtopics."""
        return self.count_subtopics(batch)

    def adds(self, batch: Batch) -> Callable[[int], AddsOf]:  # noqa: ARG002 - the same for all queries
        """Return the number of the document's subtopics that no document above covers."""

        def adds(place: int, before: Sequence[int], entry: Sequence[float]) -> float:  # noqa: ARG001
            return float(sum(not n for n, flag in zip(before, entry, strict=True) if flag))

        return lambda row: adds  # noqa: ARG005 - the same for all queries


class GainBySubtopic(BySubtopic):
    """A measure of the gain of documents over all subtopics."""

    gain: str = parameter(default="linear", doc="how labels become gain: 'linear' or 'exp'", check=one_of(GAINS))

    def gains(self, batch: Batch, labels: Array) -> Array:
        """Return the gain of each document: the sum over its subtopics, weighted by their probabilities."""
        chances, total = self.chances(batch), batch.xp.zeros_like(labels[:, :, 0])
        for s in range(labels.shape[2]):  # one after another, so that padding changes no digit
            gains = GAINS[self.gain](batch, batch.xp.clip(labels[:, :, s], min=0.0), None)
            total = total + chances[:, s : s + 1] * gains
        return total

    def chances(self, batch: Batch) -> Array:
        """Return [Q, S]: Pr(s), given with the judgments, else uniform over the subtopics with a relevant document."""
        assert batch.subtopics is not None
        if batch.subtopics.weights is not None:
            return batch.subtopics.weights
        useful = batch.to_real(batch.xp.any(self.pool_labels(batch) > 0, axis=1))
        return useful / batch.xp.clip(batch.xp.sum(useful, axis=1, keepdims=True), min=1.0)

    def ideal_gain(self, batch: Batch) -> Array:
        """Return [Q]: the discounted gain of the pool sorted by gain, down to k."""
        return batch.of_pools((GainBySubtopic, self.gain, self.k), self._ideal_gain)

    def _ideal_gain(self, batch: Batch) -> Array:
        gains = -batch.xp.sort(-self.gains(batch, self.pool_labels(batch)), axis=1)[:, : self.k]
        return sum_rows(gains / log2_discount(batch, batch.count_up(gains.shape[1])))


class D_nDCG(GainBySubtopic):  # noqa: N801 - the field's name
    """nDCG with gains summed over subtopics, weighted by the probability that a user means the subtopic.

        D-nDCG@k = nDCG@k of the gain Σ_s Pr(s)·gain_s(document)

    Pr(s) is the probability that a user means subtopic s, given with the judgments, else uniform over the subtopics
    with a relevant document. The gain is the label (`linear`) or 2^label - 1 (`exp`), the discount log2(i+1).

    Ties: each document of a tie group gets the mean of 1/log2(i+1) over the group's places. No relevant document: 0.
    Reference: Sakai and Song, Evaluating diversified search results using per-intent graded relevance (2011).

    >>> from math import log2
    >>> from gradely import evaluate
    >>> qrels = {"q": {"A": {"a": 3}, "B": {"b": 1}, "C": {"a": 1, "b": 1}}}
    >>> value = evaluate(qrels, {"q": ["C", "A"]}, ["D_nDCG@2"])["D_nDCG@2"]
    >>> value == (2 / 2 + 3 / 2 / log2(3)) / (3 / 2 + 2 / 2 / log2(3))
    True
    """

    name = "D_nDCG"

    def terms(self, batch: Batch) -> Array:
        """Return gain over discount."""
        return additive(batch, self.priority(batch), log2_discount, self.k)

    def factors(self, batch: Batch) -> tuple[Array, Array]:
        """Return the gain, and the mean of 1/discount over the places that a document can take."""
        gain = self.priority(batch)
        return gain, additive(batch, batch.xp.ones_like(gain), log2_discount, self.k)

    def norm(self, batch: Batch) -> Array:
        """Return the discounted gain of the ideal ranking."""
        return self.ideal_gain(batch)

    def priority(self, batch: Batch) -> Array:
        """Rank documents by gain."""
        return self.gains(batch, self.labels(batch))

    def degenerate(self, batch: Batch) -> Array:
        """True if no document has a positive gain."""
        return self.ideal_gain(batch) <= 0


class Dsharp_nDCG(GainBySubtopic, Diversity):  # noqa: N801 - D♯-nDCG is no name in Python
    """The weighted mean of subtopic recall and D-nDCG: how many subtopics are covered, and how well.

        D♯-nDCG@k = γ·StRecall@k + (1-γ)·D-nDCG@k

    Ties: the sum of the means of both parts over all orders. No relevant document: 0.
    Reference: Sakai and Song, Evaluating diversified search results using per-intent graded relevance (2011).

    >>> from gradely import evaluate
    >>> qrels = {"q": {"A": {"a": 1}, "B": {"b": 1}}}
    >>> evaluate(qrels, {"q": ["A", "x"]}, ["D#-nDCG@1"])["D#-nDCG@1"] == 0.5 * 1 / 2 + 0.5 * 1
    True
    """

    name = "Dsharp_nDCG"
    gamma: float = parameter(
        default=0.5,
        doc="the weight of subtopic recall; the rest is the weight of D-nDCG",
        check=number("the weight of subtopic recall", FROM_0_TO_1),
    )

    def of_subtopic(self, batch: Batch, relevant: Array) -> Array:
        """Return 1 at the first relevant document."""
        return first_hit(batch, relevant, no_discount, self.k)

    def weights(self, batch: Batch) -> Array:
        """Return γ over the number of subtopics."""
        subtopics = batch.xp.clip(self.count_subtopics(batch), min=1.0)[:, None]
        return batch.xp.ones_like(self.recall_bases(batch)) * self.gamma / subtopics

    def plain_terms(self, batch: Batch) -> Array:
        """Return the contributions to both parts."""
        return super().plain_terms(batch) + additive(batch, self._shares(batch), log2_discount, self.k)

    def bound(self, batch: Batch) -> Array:
        """Return the sum of the extremes of each subtopic and of the gains."""
        ordered = order_by(batch, self._shares(batch))
        return super().bound(batch) + additive(ordered, ordered.grade, log2_discount, self.k)

    def _shares(self, batch: Batch) -> Array:
        """Return [Q, H]: the contribution that the gain of each document would make at the first rank."""
        return self.gains(batch, self.labels(batch)) * ((1 - self.gamma) / self._ideal(batch)[:, None])

    def _ideal(self, batch: Batch) -> Array:
        """Return [Q]: the ideal gain, or 1 if it is 0."""
        ideal = self.ideal_gain(batch)
        return batch.xp.where(ideal > 0, ideal, 1.0)

    def entries(self, batch: Batch) -> Array:
        """Return the relevance to each subtopic, and the gain."""
        return batch.xp.concat([super().entries(batch), self._shares(batch)[:, :, None]], axis=2)

    def adds(self, batch: Batch) -> Callable[[int], AddsOf]:
        """Return the contributions to both parts."""
        weights = to_lists(self.weights(batch))

        def adds(own: list[float], place: int, before: Sequence[int], entry: Sequence[float]) -> float:
            new = sum(weight for n, weight, flag in zip(before, own, entry, strict=False) if flag and not n)
            return float(new + entry[-1] / log2(place + 1))

        return lambda row: partial(adds, weights[row])

    def degenerate(self, batch: Batch) -> Array:
        """True if no document is relevant to a subtopic or has a gain."""
        return super().degenerate(batch) & (self.ideal_gain(batch) <= 0)
