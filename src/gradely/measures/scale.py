"""What RBP and ERR share: the top of the scale."""

from typing import Self

from gradely.errors import MeasureError
from gradely.kernel.gains import is_number, to_python
from gradely.kernel.parameters import parameter
from gradely.measures.graded import Graded
from gradely.relevance import Levels


class ScaleBased(Graded):
    """A graded measure that needs to know the top of the scale."""

    top: float | None = parameter(
        default=None, doc="the highest relevance of the scale; by default that of the collection"
    )

    def check_parameters(self) -> None:
        """Refuse a top that is not a positive number."""
        super().check_parameters()
        if self.top is None:
            return
        if not is_number(self.top) or self.top <= 0:
            raise MeasureError(f"top is the highest relevance of the scale, a number above 0; found {self.top!r}")
        self._set("top", to_python(self.top))

    def fit(self, levels: Levels) -> Self:
        """Take the top from the collection unless it is stated; refuse relevance above it."""
        fitted = super().fit(levels)
        highest = fitted.relevance_function.top(levels)
        if self.top is None:
            return fitted.replace(top=highest or 1)
        if highest > self.top:
            raise MeasureError(
                f"{self}: there is relevance above top={self.top} in the collection; use top={to_python(highest)}"
            )
        return fitted
