"""The parts of which GAP, xGAP and eGAP are made, whatever the users."""

from gradely.kernel.batch import Array, Batch
from gradely.kernel.families import threshold
from gradely.kernel.parameters import parameter
from gradely.measures.binary import Binary


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
