"""Measures of the set of documents in the top k: P, R, F1, Judged."""

from gradely.kernel.batch import Array, Batch
from gradely.kernel.families import counted
from gradely.measures.base import Binary, Measure


def length_of(batch: Batch, k: int | None) -> Array:
    """Return [Q]: k, or the length of the ranking."""
    length = batch.number(batch.retrieved)
    return length if k is None else batch.xp.full_like(length, float(k))


class InTop(Binary):
    """What counts is how many relevant documents are in the top k."""

    def terms(self, batch: Batch) -> Array:
        """1 for each relevant document; tied across k, the chance to be inside."""
        return counted(batch, self.relevant(batch), self.k)


class P(InTop):
    """Precision: the share of the top k that is relevant.

        P@k = (relevant in the top k) / k

    It is divided by k also where fewer are retrieved; without k, by the length of the ranking.

    Ties: a document tied across k counts with its chance to be inside. No relevant document: 0.
    Reference: McSherry and Najork, Computing Information Retrieval Performance Measures Efficiently in the Presence of
    Tied Scores (2008).

    >>> from gradely import P, from_arrays
    >>> P(k=2)(from_arrays([0.9, 0.5, 0.5], [1, 1, 0])).tolist() == [(1 + 1 / 2) / 2]
    True
    """

    name = "P"

    def norm(self, batch: Batch) -> Array:
        """The cut-off."""
        return length_of(batch, self.k)


class R(InTop):
    """Recall: the share of the relevant documents that is in the top k.

        R@k = (relevant in the top k) / RB

    RB is the number of relevant documents of the pool. Without k, the whole ranking counts.

    Ties: a document tied across k counts with its chance to be inside. No relevant document: 0.
    Reference: McSherry and Najork (2008).

    >>> from gradely import R, from_arrays
    >>> R(k=2)(from_arrays([0.9, 0.5, 0.5], [1, 1, 0])).tolist() == [(1 + 1 / 2) / 2]
    True
    """

    name = "R"

    def norm(self, batch: Batch) -> Array:
        """The relevant documents."""
        return self.recall_base(batch)


class F1(InTop):
    """The harmonic mean of precision and recall at k.

        F1@k = 2 · (relevant in the top k) / (k + RB)

    RB is the number of relevant documents of the pool. Without k, the length of the ranking stands for it.

    Ties: a document tied across k counts with its chance to be inside. No relevant document: 0.
    Reference: McSherry and Najork (2008).

    >>> from gradely import F1, from_arrays
    >>> F1(k=2)(from_arrays([0.9, 0.5, 0.5], [1, 1, 0])).tolist() == [2 * (1 + 1 / 2) / (2 + 2)]
    True
    """

    name = "F1"

    def norm(self, batch: Batch) -> Array:
        """Half of k plus the relevant documents."""
        return (length_of(batch, self.k) + self.recall_base(batch)) / 2


class Judged(Measure):
    """The share of the top k that is judged at all, whatever the label.

        Judged@k = (judged in the top k) / min(k, N)

    N is the length of the ranking, and stands for k where there is none.

    Ties: a document tied across k counts with its chance to be inside. No document retrieved: 0.
    Reference: the measure of the same name in ir_measures.

    >>> import gradely
    >>> gradely.evaluate({"q": {"a": 1, "b": 0}}, {"q": ["a", "x", "b", "y"]}, ["Judged@2"]).mean()
    {'Judged@2': 0.5}
    """

    name = "Judged"

    def terms(self, batch: Batch) -> Array:
        """1 for each judged document."""
        return counted(batch, batch.judged, self.k)

    def norm(self, batch: Batch) -> Array:
        """The cut-off, or the length of a shorter ranking."""
        return batch.xp.minimum(length_of(batch, self.k), batch.number(batch.retrieved))

    def worth(self, batch: Batch) -> Array:
        """Judged documents before unjudged ones."""
        return batch.number(batch.judged)

    def degenerate(self, batch: Batch) -> Array:
        """Nothing judged."""
        return ~batch.xp.any(batch.pooled, axis=1)
