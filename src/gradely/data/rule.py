"""Rule: how documents are ranked."""

from typing import NamedTuple

import numpy as np

from gradely.data.types import Floats


class Rule(NamedTuple):
    """The tie policy, the seed of the random one, and whether scores are rounded to single precision first."""

    ties: str = "expected"
    seed: int = 0
    single: bool = False

    @property
    def breaks(self) -> bool:
        """True where the policy puts tied documents in one order, by document."""
        return self.ties in ("trec", "order", "random")

    def rounded(self, scores: Floats) -> Floats:
        """Return scores as they are compared."""
        if not self.single:
            return scores
        with np.errstate(over="ignore"):
            return scores.astype(np.float32).astype(np.float64)
