"""Binary: the measures that know relevant documents and others."""

from gradely.errors import MeasureError
from gradely.kernel import by_place
from gradely.kernel.batch import Array, Batch
from gradely.kernel.gains import is_number, to_python
from gradely.kernel.parameters import parameter
from gradely.measures.base import Measure


class Binary(Measure):
    """A measure that knows relevant documents and others."""

    rel: float = parameter(default=1, doc="labels of at least this count as relevant")

    def check_parameters(self) -> None:
        """Refuse a threshold that is not a number."""
        super().check_parameters()
        if not is_number(self.rel):
            raise MeasureError(f"rel is the lowest label that counts as relevant, a number; found {self.rel!r}")
        self._set("rel", to_python(self.rel))

    def relevant(self, batch: Batch) -> Array:
        """Return [Q, H]: true for relevant documents."""
        key, memo = (Binary, self.rel), batch.memo
        if key not in memo:
            relevant = batch.grade >= self.rel
            memo[key] = batch.judged & relevant if batch.padded else relevant
        return memo[key]

    def recall_base(self, batch: Batch) -> Array:
        """Return [Q]: RB, how many documents of the pool are relevant; by place, all of it is retrieved."""
        if batch.by_place:
            return by_place.total(batch, self.relevant(batch))
        return batch.of_pools((Binary, self.rel), self._count_relevant)

    def _count_relevant(self, batch: Batch) -> Array:
        return batch.xp.sum(batch.to_real(batch.pooled & (batch.pool >= self.rel)), axis=1)

    def priority(self, batch: Batch) -> Array:
        """Relevant documents before others."""
        return batch.to_real(self.relevant(batch))

    def degenerate(self, batch: Batch) -> Array:
        """No relevant document: the best of the pool is not."""
        return ~(batch.pooled[:, 0] & (batch.pool[:, 0] >= self.rel))
