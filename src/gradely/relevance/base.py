"""What a relevance function is."""

from abc import ABC, abstractmethod
from typing import Self

from gradely.kernel.batch import Batch
from gradely.kernel.levels import Levels
from gradely.kernel.parameters import Parametric

__all__ = ["Levels", "Relevance"]


class Relevance(Parametric, ABC):
    """A function from labels to relevance; it may look at the query's whole pool."""

    @abstractmethod
    def __call__(self, batch: Batch) -> Batch:
        """Return the batch with relevance in place of labels."""

    @abstractmethod
    def levels(self, levels: Levels) -> tuple[float, ...] | None:
        """Return the collection's positive levels of relevance, ascending; None where each query has its own."""

    @abstractmethod
    def top(self, levels: Levels) -> float:
        """Return the highest relevance there can be in the collection."""

    def check(self, levels: Levels) -> None:
        """Raise MeasureError where the function does not fit the collection's labels."""

    def fit(self, levels: Levels) -> Self:
        """Return the function with what it takes from the collection settled; refuse labels it cannot take."""
        self.check(levels)
        return self
