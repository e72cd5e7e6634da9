"""Objective: the lambdas of a measure for libraries that pass labels and queries again at every iteration."""

from typing import Any

import numpy as np

from gradely.learning.blocks import Floats
from gradely.learning.lambdas import Lambdas, check_options
from gradely.learning.swaps import check
from gradely.measures.names import MeasureLike, parse


class Objective:
    """Lambdas of whatever labels come; what does not depend on scores is kept for as long as they stay the same."""

    def __init__(self, measure: MeasureLike, sigma: float = 1.0, truncation: int | None = 30) -> None:
        """Refuse what cannot be learned before the training begins."""
        self.measure, self.sigma, self.truncation = parse(measure), sigma, truncation
        check(self.measure)
        check_options(sigma, truncation)
        self._kept: tuple[Any, Any, Lambdas] | None = None

    def __call__(self, scores: Any, labels: Any, group: Any) -> tuple[Floats, Floats]:
        """Return gradient and second derivative."""
        if self._kept is None or not (np.array_equal(self._kept[0], labels) and np.array_equal(self._kept[1], group)):
            lambdas = Lambdas(labels, self.measure, group=group, sigma=self.sigma, truncation=self.truncation)
            self._kept = (np.array(labels), np.array(group), lambdas)
        return self._kept[2](scores)
