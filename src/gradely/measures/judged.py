"""How much of the top k is judged at all: Judged, Unjudged."""

from gradely.kernel.batch import Array, Batch
from gradely.kernel.families import count_in_top
from gradely.measures.base import Measure
from gradely.measures.precision import length_of


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
        return count_in_top(batch, batch.judged, self.k)

    def norm(self, batch: Batch) -> Array:
        """The cut-off, or the length of a shorter ranking."""
        return batch.xp.minimum(length_of(batch, self.k), batch.to_real(batch.retrieved))

    def priority(self, batch: Batch) -> Array:
        """Judged documents before unjudged ones."""
        return batch.to_real(batch.judged)

    def degenerate(self, batch: Batch) -> Array:
        """Nothing judged."""
        return ~batch.xp.any(batch.pooled, axis=1)


class Unjudged(Measure):
    """The share of the top k that is not judged: how little the judgments say about a ranking.

        Unjudged@k = (documents in the top k without a label of at least 0) / k

    Without k, the length of the ranking stands for it.

    Ties: a document tied across k counts with its chance to be inside. No document retrieved: 0.
    Reference: unj in trec_eval 10. A negative label counts as unjudged there, and here.

    >>> import gradely
    >>> gradely.evaluate({"q": {"a": 1, "b": 0}}, {"q": ["a", "x", "b", "y"]}, ["Unjudged@2"]).mean()
    {'Unjudged@2': 0.5}
    """

    name = "Unjudged"

    def start(self, batch: Batch) -> Array:
        """All documents of the top k."""
        return batch.xp.minimum(length_of(batch, self.k), batch.to_real(batch.retrieved))

    def terms(self, batch: Batch) -> Array:
        """-1 for each judged document: it is not one of them."""
        return -count_in_top(batch, self._is_judged(batch), self.k)

    def norm(self, batch: Batch) -> Array:
        """The cut-off."""
        return length_of(batch, self.k)

    def priority(self, batch: Batch) -> Array:
        """Unjudged documents before judged ones."""
        return -batch.to_real(self._is_judged(batch))

    def degenerate(self, batch: Batch) -> Array:
        """Never: it says something of every ranking."""
        return batch.xp.zeros_like(batch.pooled[:, 0])

    def _is_judged(self, batch: Batch) -> Array:
        return batch.judged & (batch.grade >= 0)
