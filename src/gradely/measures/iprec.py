"""Interpolated precision at levels of recall."""

from collections.abc import Iterable
from typing import Any, Self

from gradely.errors import MeasureError
from gradely.kernel.batch import Array, Batch
from gradely.kernel.gains import is_number, to_python
from gradely.kernel.parameters import parameter
from gradely.kernel.tie_groups import sum_before
from gradely.measures.binary import Binary
from gradely.settings import check_choice


def round_half_up(batch: Batch, documents: Array) -> Array:
    """The nearest whole number, halves up, as trec_eval 10 has it."""
    floor = batch.xp.floor(documents)
    return batch.xp.where(documents - floor >= 0.5, floor + 1, floor)


def round_up(batch: Batch, documents: Array) -> Array:
    """The next whole number from a tenth on, as trec_eval 9 and older have it."""
    return batch.xp.floor(documents + 0.9)


ROUNDING = {"nearest": round_half_up, "up": round_up}


def best_precision(batch: Batch, relevant: Array, needed: Array, k: int | None) -> Array:
    """Return [Q, H]: the best precision from where the `needed` [Q] relevant documents are found, in its column."""
    xp, x = batch.xp, batch.to_real(relevant)
    retrieved, rank = sum_before(batch, x) + x, batch.to_real(batch.above) + 1
    counts = relevant & (retrieved >= needed[:, None])
    precision = xp.where(counts if k is None else counts & (rank <= k), retrieved / rank, 0.0)
    column = xp.arange(x.shape[1], dtype=batch.first.dtype, device=batch.device)[None, :]
    return xp.where(column == xp.argmax(precision, axis=1, keepdims=True), precision, 0.0)


class IPrec(Binary):
    """Interpolated precision: the best precision at the ranks that reach a level of recall.

        IPrec(recall=s) = max of P@i over the ranks i with at least s·RB relevant documents in the top i

    It is 0 where there is no such rank. With several levels of recall it is the mean over them; by default these are
    0, 0.1, …, 1, which gives the eleven-point average. s·RB is rounded.

    Ties: the mean over orders has no closed form; ties='expected' is refused, other policies work. No relevant
    document: 0.
    Reference: Manning, Raghavan, Schütze, Introduction to Information Retrieval (2008), 8.4, as iprec_at_recall and
    11pt_avg in trec_eval.

    >>> from gradely import IPrec, from_arrays
    >>> IPrec(recall=0.5)(from_arrays([4, 3, 2, 1], [0, 1, 1, 0])).tolist() == [2 / 3]
    True
    """

    name = "IPrec"
    takes_expected = False
    recall: float | Iterable[float] = parameter(
        default=tuple(i / 10 for i in range(11)), doc="a level of recall, or several to average over"
    )
    rounding: str = parameter(
        default="nearest", doc="of recall times relevant documents: 'nearest', as in trec_eval 10, or 'up', as in 9"
    )

    def check_parameters(self) -> None:
        """Refuse levels that are not numbers."""
        super().check_parameters()
        levels = tuple(self.recall) if isinstance(self.recall, Iterable) else (self.recall,)
        if not levels or not all(is_number(level) and 0 <= level <= 1 for level in levels):
            raise MeasureError(f"recall is a number from 0 to 1, or a list of such; found {self.recall!r}")
        levels = tuple(to_python(level) for level in levels)
        self._set("recall", levels[0] if len(levels) == 1 else levels)
        check_choice("rounding", self.rounding, ROUNDING, MeasureError)

    def __matmul__(self, k: Any) -> Self:
        """Return the measure at a level of recall, as in IPrec @ 0.1, or with a cut-off, which is a whole number."""
        return self.replace(recall=k) if isinstance(k, float) else super().__matmul__(k)

    @property
    def levels(self) -> tuple[float, ...]:
        """The levels of recall."""
        return self.recall if isinstance(self.recall, tuple) else (float(self.recall),)  # type: ignore[arg-type]

    def at(self, batch: Batch, level: float) -> Array:
        """Return [Q, H]: the interpolated precision at a level of recall, in the column where it is reached."""
        needed = ROUNDING[self.rounding](batch, level * self.recall_base(batch))
        return best_precision(batch, self.relevant(batch), needed, self.k)

    def terms(self, batch: Batch) -> Array:
        """The precision at the documents where it is best, over all levels."""
        levels = sorted(self.levels, reverse=True)
        terms = self.at(batch, levels[0])
        for level in levels[1:]:
            terms = terms + self.at(batch, level)
        return terms

    def norm(self, batch: Batch) -> Array:
        """The levels."""
        return batch.xp.full_like(batch.grade[:, 0], float(len(self.levels)))
