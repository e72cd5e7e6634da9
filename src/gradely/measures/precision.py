"""Measures of the documents in the top k as a set: how many are relevant, and how many are judged.

P, R, F1, F, SetAP, RelativeP, Rprec, Utility; Judged, Unjudged.
"""

from abc import abstractmethod
from math import inf

from gradely.errors import MeasureError
from gradely.kernel.backend import sum_rows
from gradely.kernel.batch import Array, Batch
from gradely.kernel.families import additive, count_in_top, no_discount
from gradely.kernel.parameters import NOT_NEGATIVE, number, parameter
from gradely.kernel.ties import count_within, sum_around
from gradely.kernel.uncertain import UncertainBatch, over_count, with_count
from gradely.measures.base import NO_MEAN, Binary, BinaryOrGraded, Expected, Measure, ScaleBased


def length_of(batch: Batch, k: int | None) -> Array:
    """Return [Q]: k, or the length of the ranking without k."""
    return batch.to_real(batch.retrieved) if k is None else batch.constant(float(k))


def share_in_top(batch: Batch, k: int | None) -> Array:
    """Return [Q, H]: the probability that each document is in the top k."""
    return count_in_top(batch, batch.judged, k)


class InTop(Binary):
    """A measure that depends on the number of relevant documents in the top k."""

    def terms(self, batch: Batch) -> Array:
        """Return 1 for each relevant document in the top k, or its probability of being there if it is tied."""
        return count_in_top(batch, self.relevant(batch), self.k)


class GradedInTop(BinaryOrGraded, InTop):
    """A measure that depends on the number of relevant documents in the top k or, if graded, on their relevance."""

    def terms(self, batch: Batch) -> Array:
        """Return 1 or the relevance of each document, times its probability of being in the top k."""
        if self.relevance is None:
            return super().terms(batch)
        return additive(batch, self.worth(batch), no_discount, self.k)


def expect_worth(measure: "P", batch: UncertainBatch) -> Expected:
    """A document contributes its mean worth times its probability of being in the top k."""
    worth = batch.mean(measure.worth(measure.relevance_of_labels(batch))[0, :])
    return Expected(worth, worth * share_in_top(batch.places, measure.k), measure.norm(batch.places))


class P(GradedInTop, ScaleBased):
    """Precision: the share of the top k that is relevant.

        P@k = (relevant in the top k) / k

    The divisor is k even if fewer documents are retrieved; without k, it is the length of the ranking. With
    `relevance`, it is generalised precision: relevant documents are replaced by the sum of relevance over the top of
    the scale.

    Ties: if k splits a tie group, each of its documents counts with its probability of being in the top k. No relevant
    document: 0.
    Reference: McSherry and Najork, Computing Information Retrieval Performance Measures Efficiently in the Presence of
    Tied Scores (2008); generalised: Kekäläinen and Järvelin, Using graded relevance assessments in IR evaluation
    (2002).

    >>> from gradely import P, from_arrays
    >>> P(k=2)(from_arrays([0.9, 0.5, 0.5], [1, 1, 0])).tolist() == [(1 + 1 / 2) / 2]
    True
    """

    name = "P"
    expectation = expect_worth

    def norm(self, batch: Batch) -> Array:
        """Return the cut-off."""
        return length_of(batch, self.k)


class ShareOfBase(InTop):
    """The relevant documents in the top k over a norm that depends on the number of relevant documents in the pool."""

    def norm(self, batch: Batch) -> Array:
        """Return the norm for the number of relevant documents in the pool."""
        return self.norm_of(batch, length_of(batch, self.k), self.recall_base(batch))

    @abstractmethod
    def norm_of(self, batch: Batch, length: Array, base: Array) -> Array:
        """Return the norm, given the length of the ranking and the number of relevant documents."""


def expect_share(measure: ShareOfBase, batch: UncertainBatch) -> Expected:
    """A document contributes the mean of 1 / norm, which depends on how many other documents are relevant."""

    def worth(places: Batch, base: Array) -> Array:
        length = length_of(places, measure.k)[:, None]
        return share_in_top(places, measure.k).T / measure.norm_of(places, length, base[None, :])

    relevant = measure.chances(batch)
    return Expected(relevant.chance, with_count(batch.places, relevant, worth))


class R(GradedInTop, ShareOfBase):
    """Recall: the share of the relevant documents that is in the top k.

        R@k = (relevant in the top k) / RB

    RB is the number of relevant documents of the pool. Without k, the whole ranking counts. With `relevance`, it is
    generalised recall: both numbers are replaced by sums of relevance.

    Ties: if k splits a tie group, each of its documents counts with its probability of being in the top k. No relevant
    document: 0.
    Reference: McSherry and Najork (2008); generalised: Kekäläinen and Järvelin (2002).

    >>> from gradely import R, from_arrays
    >>> R(k=2)(from_arrays([0.9, 0.5, 0.5], [1, 1, 0])).tolist() == [(1 + 1 / 2) / 2]
    True
    """

    name = "R"
    expectation = expect_share

    def norm(self, batch: Batch) -> Array:
        """Return the number of relevant documents or, if graded, the total relevance of the pool."""
        if self.relevance is None:
            return super().norm(batch)
        return batch.of_pools((R, self.key), lambda pools: sum_rows(pools.pool))

    def norm_of(self, batch: Batch, length: Array, base: Array) -> Array:  # noqa: ARG002 - whatever the length
        """Return the number of relevant documents."""
        return base

    def check_expectation(self) -> None:
        """Refuse generalised recall: no formula is known if the norm is a sum of relevance."""
        super().check_expectation()
        if self.relevance is not None:
            raise MeasureError(f"{self}: {NO_MEAN}; leave out relevance")


class F1(ShareOfBase):
    """The harmonic mean of precision and recall at k.

        F1@k = 2 · (relevant in the top k) / (k + RB)

    RB is the number of relevant documents of the pool. Without a cut-off, k is the length of the ranking.

    Ties: if k splits a tie group, each of its documents counts with its probability of being in the top k. No relevant
    document: 0.
    Reference: McSherry and Najork (2008).

    >>> from gradely import F1, from_arrays
    >>> F1(k=2)(from_arrays([0.9, 0.5, 0.5], [1, 1, 0])).tolist() == [2 * (1 + 1 / 2) / (2 + 2)]
    True
    """

    name = "F1"
    expectation = expect_share

    def norm_of(self, batch: Batch, length: Array, base: Array) -> Array:  # noqa: ARG002 - no other array needed
        """Return half of k plus the number of relevant documents."""
        return (length + base) / 2


class F(ShareOfBase):
    """The weighted harmonic mean of precision and recall at k.

        F@k = (x+1)·P·R / (R + x·P) = (x+1) · (relevant in the top k) / (k + x·RB)

    x is the weight of recall against precision, the square of van Rijsbergen's β; F(x=1) is F1. Without
    a cut-off, k is the length of the ranking.

    Ties: if k splits a tie group, each of its documents counts with its probability of being in the top k. No relevant
    document: 0.
    Reference: van Rijsbergen, Information Retrieval (1979), as set_F in trec_eval.

    >>> from gradely import F, from_arrays
    >>> F(x=4, k=2)(from_arrays([0.9, 0.5, 0.5], [1, 1, 0])).tolist() == [(4 + 1) * (1 + 1 / 2) / (2 + 4 * 2)]
    True
    """

    name = "F"
    expectation = expect_share
    x: float = parameter(
        default=1,
        doc="the weight of recall relative to precision; 0: precision alone",
        check=number("the weight of recall", NOT_NEGATIVE),
    )

    def norm_of(self, batch: Batch, length: Array, base: Array) -> Array:  # noqa: ARG002 - no other array needed
        """Return k plus x times the number of relevant documents, divided by x + 1."""
        return (length + self.x * base) / (self.x + 1)


def expect_pairs(measure: "SetAP", batch: UncertainBatch) -> Expected:
    """A document contributes the number of relevant documents beside it in the top k, over that in the pool."""

    def terms(rows: Batch, chance: Array) -> Array:
        inside, places = chance * share_in_top(rows, measure.k), count_within(rows, measure.k)
        above, among = sum_around(rows, chance)
        beside = (places - 1) * (among - chance) / rows.xp.clip(rows.size - 1, min=1.0)
        every = rows.xp.sum(inside, axis=1, keepdims=True) - inside
        return inside * (1 + rows.xp.where(places < rows.size, above + beside, every))

    relevant = measure.chances(batch)
    return Expected(relevant.chance, over_count(batch.places, relevant, terms), length_of(batch.places, measure.k))


class SetAP(InTop):
    """Precision times recall of the retrieved set, or of the top k.

        SetAP@k = P@k · R@k = (relevant in the top k)² / (k · RB)

    RB is the number of relevant documents of the pool. Without a cut-off, k is the length of the ranking.

    Ties: they matter only if k splits a tie group. If d of its n documents fit into the top k, r of them are relevant,
    and h relevant documents are above the group, then a document of the group is inside with probability d/n, together
    with (d-1)(r-1)/(n-1) other relevant ones of the group on average. No relevant document: 0.
    Reference: set_map in trec_eval, without k; named SetAP in ir_measures.

    >>> from gradely import SetAP, from_arrays
    >>> SetAP()(from_arrays([0.9, 0.5, 0.1], [1, 0, 1])).tolist() == [2**2 / (3 * 2)]
    True
    """

    name = "SetAP"
    expectation = expect_pairs

    def terms(self, batch: Batch) -> Array:
        """Return, for each relevant document in the top k, the number of relevant documents there."""
        relevant, places = self.relevant(batch), count_within(batch, self.k)
        inside = batch.to_real(relevant) * places / batch.size
        found = batch.xp.sum(inside, axis=1, keepdims=True)
        if self.k is None or batch.untied:
            return inside * found
        above, among = sum_around(batch, relevant)
        beside = (places - 1) * (among - 1) / batch.xp.clip(batch.size - 1, min=1.0)
        return inside * batch.xp.where(places < batch.size, above + 1 + beside, found)

    def norm(self, batch: Batch) -> Array:
        """Return the cut-off times the number of relevant documents."""
        return length_of(batch, self.k) * self.recall_base(batch)


class RelativeP(ShareOfBase):
    """Precision at k divided by the best possible precision at k.

        RelativeP@k = (relevant in the top k) / min(k, RB)

    Without a cut-off, k is the length of the ranking.

    Ties: if k splits a tie group, each of its documents counts with its probability of being in the top k. No relevant
    document: 0.
    Reference: relative_P and set_relative_P in trec_eval.

    >>> from gradely import RelativeP, from_arrays
    >>> RelativeP(k=3)(from_arrays([0.9, 0.5, 0.5], [1, 0, 0])).tolist() == [1 / min(3, 1)]
    True
    """

    name = "RelativeP"
    expectation = expect_share

    def norm_of(self, batch: Batch, length: Array, base: Array) -> Array:
        """Return the number of relevant documents that fit into the top k."""
        return batch.xp.minimum(length, base)


def expect_precision_at_base(measure: "Rprec", batch: UncertainBatch) -> Expected:
    """A document contributes its probability of being in the top RB over RB, which depends on the other documents."""

    def worth(places: Batch, base: Array) -> Array:
        last = base if measure.k is None else places.xp.clip(base, max=float(measure.k))
        inside = places.xp.clip(last[None, :] - places.to_real(places.above).T, min=0.0)
        return places.xp.minimum(inside, places.size.T) / places.size.T / base[None, :]

    relevant = measure.chances(batch)
    return Expected(relevant.chance, with_count(batch.places, relevant, worth))


class Rprec(Binary):
    """Precision at rank R, the number of relevant documents.

        Rprec = (relevant in the top RB) / RB

    At that rank, precision and recall are the same. With k, relevant documents are counted in the top min(RB, k).

    Ties: if that rank splits a tie group, each of its documents counts with its probability of being at or above it.
    No relevant document: 0.
    Reference: Buckley and Voorhees, Retrieval system evaluation, in: TREC, Experiment and Evaluation (2005).

    >>> from gradely import Rprec, from_arrays
    >>> Rprec()(from_arrays([0.9, 0.5, 0.5], [1, 1, 0])).tolist() == [(1 + 1 / 2) / 2]
    True
    """

    name = "Rprec"
    expectation = expect_precision_at_base

    def terms(self, batch: Batch) -> Array:
        """Return 1 for each relevant document in the top RB, or its probability of being there if it is tied."""
        base = batch.xp.astype(self.recall_base(batch), batch.above.dtype)[:, None]
        return count_in_top(batch, self.relevant(batch), base if self.k is None else batch.xp.clip(base, max=self.k))

    def norm(self, batch: Batch) -> Array:
        """Return the number of relevant documents."""
        return self.recall_base(batch)


WORTH = number("the worth of a document")


def expect_utility(measure: "Utility", batch: UncertainBatch) -> Expected:
    """The value is linear in the numbers of relevant documents, retrieved or not."""
    relevant = measure.chances(batch)
    base = sum_rows(relevant.chance) + sum_rows(relevant.missed)
    terms = relevant.chance * share_in_top(batch.places, measure.k) * measure.change
    return Expected(relevant.chance, terms, start=measure.start_of(batch.places, base))


class Utility(InTop):
    """The utility of the retrieved set: a document's weight depends on whether it is relevant and retrieved.

        Utility@k = a·h + b·(n-h) + c·(RB-h) + d·(size - n - RB + h)

    h is the number of relevant documents in the top k, n = min(k, N), and N the length of the ranking.

    Ties: if k splits a tie group, each of its documents counts with its probability of being in the top k.
    Reference: utility in trec_eval; Lewis, The TREC-4 filtering track (1995).

    >>> from gradely import Utility, from_arrays
    >>> Utility(c=-0.5, k=2)(from_arrays([0.9, 0.5, 0.1], [1, 0, 1])).tolist() == [1 - 1 - 0.5]
    True
    """

    name = "Utility"
    expectation = expect_utility
    needs_relevant = False
    bounds = (-inf, inf)
    a: float = parameter(default=1, doc="the value of a relevant document that is retrieved", check=WORTH)
    b: float = parameter(default=-1, doc="the value of a non-relevant document that is retrieved", check=WORTH)
    c: float = parameter(default=0, doc="the value of a relevant document that is not retrieved", check=WORTH)
    d: float = parameter(default=0, doc="the value of a non-relevant document that is not retrieved", check=WORTH)
    size: int = parameter(
        default=0,
        doc="the number of documents in the collection, which d needs",
        check=number("the size of the collection"),
    )

    def start(self, batch: Batch) -> Array:
        """Return the value of a ranking without relevant documents."""
        return self.start_of(batch, self.recall_base(batch))

    def start_of(self, batch: Batch, base: Array) -> Array:
        """Return the value of a ranking without relevant documents, given the number of those in the pool."""
        n = batch.xp.minimum(length_of(batch, self.k), batch.to_real(batch.retrieved))
        return self.b * n + self.c * base + self.d * (self.size - n - base)

    def terms(self, batch: Batch) -> Array:
        """Return the change that each retrieved relevant document makes."""
        return super().terms(batch) * self.change

    def priority(self, batch: Batch) -> Array:
        """Rank relevant documents before others, unless they are worth less."""
        return super().priority(batch) * self.change

    @property
    def change(self) -> float:
        """The change of the value if a relevant document is retrieved."""
        return self.a - self.b - self.c + self.d

    def degenerate(self, batch: Batch) -> Array:
        """Return false: a ranking without relevant documents has a value, too."""
        return batch.xp.zeros_like(batch.pooled[:, 0])


def expect_judged(measure: "Judged", batch: UncertainBatch) -> Expected:
    """The value does not depend on the labels."""
    places = batch.places
    return Expected(places.to_real(places.judged), measure.terms(places), measure.norm(places))


class Judged(Measure):
    """The share of the top k that is judged, whatever the labels.

        Judged@k = (judged in the top k) / min(k, N)

    N is the length of the ranking. Without k, the whole ranking counts.

    Ties: if k splits a tie group, each of its documents counts with its probability of being in the top k. No document
    retrieved: 0.
    Reference: the measure of the same name in ir_measures.

    >>> import gradely
    >>> gradely.evaluate({"q": {"a": 1, "b": 0}}, {"q": ["a", "x", "b", "y"]}, ["Judged@2"]).mean()
    {'Judged@2': 0.5}
    """

    name = "Judged"
    expectation = expect_judged
    needs_relevant = False

    def terms(self, batch: Batch) -> Array:
        """Return 1 for each judged document."""
        return count_in_top(batch, batch.judged, self.k)

    def norm(self, batch: Batch) -> Array:
        """Return the cut-off, or the length of the ranking if it is shorter."""
        return batch.xp.minimum(length_of(batch, self.k), batch.to_real(batch.retrieved))

    def priority(self, batch: Batch) -> Array:
        """Rank judged documents before unjudged ones."""
        return batch.to_real(batch.judged)

    def degenerate(self, batch: Batch) -> Array:
        """True if no document of the pool is judged."""
        return ~batch.xp.any(batch.pooled, axis=1)


def expect_unjudged(measure: "Unjudged", batch: UncertainBatch) -> Expected:
    """A document is judged with the probability that its label is at least 0."""
    places, judged = batch.places, batch.mean(has_label(batch.by_label)[0, :])
    terms = -judged * share_in_top(places, measure.k)
    return Expected(judged, terms, measure.norm(places), measure.start(places))


class Unjudged(Measure):
    """The share of the top k that is not judged.

        Unjudged@k = (documents in the top k without a label of at least 0) / k

    Without a cut-off, k is the length of the ranking.

    Ties: if k splits a tie group, each of its documents counts with its probability of being in the top k. No document
    retrieved: 0.
    Reference: unj in trec_eval 10, which also counts documents with a negative label as unjudged.

    >>> import gradely
    >>> gradely.evaluate({"q": {"a": 1, "b": 0}}, {"q": ["a", "x", "b", "y"]}, ["Unjudged@2"]).mean()
    {'Unjudged@2': 0.5}
    """

    name = "Unjudged"
    expectation = expect_unjudged
    needs_relevant = False

    def start(self, batch: Batch) -> Array:
        """Return the number of documents in the top k."""
        return batch.xp.minimum(length_of(batch, self.k), batch.to_real(batch.retrieved))

    def terms(self, batch: Batch) -> Array:
        """Return -1 for each judged document, since it is not unjudged."""
        return -count_in_top(batch, has_label(batch), self.k)

    def norm(self, batch: Batch) -> Array:
        """Return the cut-off."""
        return length_of(batch, self.k)

    def priority(self, batch: Batch) -> Array:
        """Rank unjudged documents before judged ones."""
        return -batch.to_real(has_label(batch))

    def degenerate(self, batch: Batch) -> Array:
        """Return false: the measure is meaningful for every ranking."""
        return batch.xp.zeros_like(batch.pooled[:, 0])


def has_label(batch: Batch) -> Array:
    """Return [Q, H]: true for judged documents; a negative label counts as unjudged."""
    return batch.judged & (batch.grade >= 0)
